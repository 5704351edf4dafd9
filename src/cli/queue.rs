//! The queue of a session: read from the log through its snapshot, changed by events.

mod lineage;
mod lost;
mod refusals;

use std::cell::RefCell;
use std::fmt;

use super::error::{Code, Failure};
use super::session::Session;
use super::store::append_failure;
use crate::log::{self, Append, AppendError, Appended, Description};
use crate::model::queue::{Action, Actor, At, Ending, Prerequisite, Queue, QueueEvent, Sighting, Spoken, State};
use crate::model::{AnomalyKind, EventId, ObjectName};
use crate::ui::Ui;
use crate::views::cache::{Index, OtherEvent};
use crate::views::files::{Continuation, Mode};
use crate::views::queue::Snapshot;

pub(super) use lineage::superseding;
use lineage::{completion, handoffs_named};
pub(super) use lost::{Losses, LostClaim};

/// How many events the snapshot may lag behind before a command that only reads saves it all the same.
const TOLERATED_LAG: u32 = 1000;
/// How many continuations the index in the work tree names.
const SHOWN_IN_INDEX: usize = 100;

/// What is to be recorded, and what the caller wants back.
pub(super) struct Decided<T> {
    /// What is done; nothing to record when empty.
    pub(super) actions: Vec<Action>,
    /// What the log says of it to people.
    pub(super) subject: String,
    /// For the caller.
    pub(super) value: T,
}

/// What a change left.
pub(super) struct Changed<T> {
    /// What the decision gave.
    pub(super) value: T,
    /// The events that were recorded.
    pub(super) events: Vec<EventId>,
    /// The queue after it.
    pub(super) queue: Queue,
    /// The index after it.
    pub(super) index: Index,
}

/// Why nothing was recorded.
#[derive(Debug)]
pub(super) enum Stop {
    /// There is nothing to record.
    Nothing,
    /// The decision was against it, or failed.
    Failed(Failure),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("there is nothing to record"),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for Stop {}

/// Decides on a tip of the log.
pub(super) type Decide<'d> = &'d mut dyn FnMut(Option<ObjectName>) -> Result<Append, Stop>;
/// Appends what is decided: to the own log, or so that a remote has taken it.
pub(super) type AppendTo<'a> = &'a mut dyn FnMut(Decide<'_>, &mut Ui<'_>) -> Result<Appended, AppendError<Stop>>;

impl Session<'_> {
    /// The queue as the log that the index shows has it. Nothing is written.
    ///
    /// # Errors
    /// When the cache is damaged.
    pub(super) fn queue(&self, index: &Index) -> Result<Queue, Failure> {
        Ok(self.snapshot(index)?.queue)
    }

    fn snapshot(&self, index: &Index) -> Result<Snapshot, Failure> {
        let count = index.other_event_count();
        if count == 0 {
            return Ok(Snapshot::default());
        }
        let directory = self.repo.shared_state_dir();
        let saved = Snapshot::load(&directory).unwrap_or_default();
        let had = saved.events;
        let mut snapshot = match self.caught_up(index, saved)? {
            Some(snapshot) => snapshot,
            None => self.caught_up(index, Snapshot::default())?.unwrap_or_default(),
        };
        for handoff in snapshot.queue.open_handoffs() {
            if let Some(completion) = completion(index, &handoff)? {
                snapshot.queue.complete(handoff, completion);
            }
        }
        if snapshot.events.saturating_sub(had) > TOLERATED_LAG && index.basis().is_some() {
            // A snapshot that cannot be saved costs time, not truth.
            drop(snapshot.save(&directory));
        }
        Ok(snapshot)
    }

    /// A snapshot with what the log has gained; nothing when it does not fit the log.
    fn caught_up(&self, index: &Index, mut snapshot: Snapshot) -> Result<Option<Snapshot>, Failure> {
        let count = index.other_event_count();
        let Some(new) = count.checked_sub(snapshot.events) else { return Ok(None) };
        let overlap = u32::from(snapshot.events > 0);
        let mut events = index.last_other_events(new + overlap)?;
        if overlap == 1 {
            let Some(first) = events.first() else { return Ok(None) };
            if Some((first.effective, first.id)) != snapshot.last {
                return Ok(None);
            }
            events.remove(0);
        }
        let Some(last) = events.last() else { return Ok(Some(snapshot)) };
        let place = (last.effective, last.id);
        let read: Vec<QueueEvent> = events.iter().filter_map(|event| self.queue_event(event)).collect();
        for handoff in handoffs_named(&read) {
            if let Some(completion) = completion(index, &handoff)? {
                snapshot.queue.complete(handoff, completion);
            }
        }
        if snapshot.queue.extend(read).is_err() {
            return Ok(None);
        }
        (snapshot.events, snapshot.last) = (count, Some(place));
        Ok(Some(snapshot))
    }

    /// An event of the queue, its bytes checked against its id. What cannot be read has no effect; `verify` names it.
    fn queue_event(&self, event: &OtherEvent) -> Option<QueueEvent> {
        let OtherEvent { id, kind, blob, effective, .. } = event;
        let bytes = match blob {
            Some(blob) => self.repo.read_blob(blob, log::MAX_EVENT_BYTES).ok()?,
            None => {
                let spooled = self.spooled().ok()?;
                let holds = |spooled: &&log::Spooled| spooled.commit.entries.iter().any(|entry| entry.id == *id);
                std::fs::read(&spooled.iter().find(holds)?.path).ok()?
            }
        };
        if EventId::of(&bytes) != *id {
            return None;
        }
        let (origin, action) = log::queue::decode(kind, &bytes).ok()??;
        Some(QueueEvent { id: *id, effective: *effective, origin, action })
    }

    /// Reads the index and the queue and, should the cache turn out to be damaged, once more without it.
    ///
    /// # Errors
    /// Those of the work.
    pub(super) fn read_queue<T>(&self, work: impl Fn(&Index, Queue) -> Result<T, Failure>) -> Result<T, Failure> {
        self.read(|index| work(index, self.queue(index)?))
    }

    /// Records what is decided on the present queue, in the own log.
    ///
    /// # Errors
    /// Those of the decision, and those of the log.
    pub(super) fn change<T>(
        &self,
        ui: &mut Ui<'_>,
        decide: impl FnMut(&Queue, &Index) -> Result<Decided<T>, Failure>,
    ) -> Result<Changed<T>, Failure> {
        let stamp = self.stamp();
        self.change_by(ui, &mut |decide, _| self.log().append(&stamp, decide), decide)
    }

    /// [`Session::change`] by another way to append, such as one that asks a remote.
    ///
    /// # Errors
    /// Those of the decision, and those of the log.
    pub(super) fn change_by<T>(
        &self,
        ui: &mut Ui<'_>,
        append: AppendTo<'_>,
        mut decide: impl FnMut(&Queue, &Index) -> Result<Decided<T>, Failure>,
    ) -> Result<Changed<T>, Failure> {
        let origin = self.origin()?;
        let mut index = self.prepare(ui)?;
        self.observe(&mut index)?;
        let shared = RefCell::new(index);
        let mut value = None;
        let appended = append(
            &mut |tip| {
                let mut index = shared.borrow_mut();
                self.bring_to(&mut index, tip).map_err(Stop::Failed)?;
                let queue = self.queue(&index).map_err(Stop::Failed)?;
                let decided = decide(&queue, &index).map_err(Stop::Failed)?;
                value = Some(decided.value);
                if decided.actions.is_empty() {
                    return Err(Stop::Nothing);
                }
                let events: Vec<_> = decided.actions.iter().map(|action| log::queue::encode(&origin, action)).collect();
                Ok(Append { events, description: Description { subject: decided.subject, trailers: Vec::new() } })
            },
            ui,
        );
        let mut index = shared.into_inner();
        let events = match appended {
            Ok(appended) => {
                let events = appended.entries.iter().map(|entry| entry.id).collect();
                self.take_in(&mut index, appended)?;
                events
            }
            Err(AppendError::Decision(Stop::Nothing)) => Vec::new(),
            Err(AppendError::Decision(Stop::Failed(failure))) => return Err(failure),
            Err(other) => return Err(append_failure(&other)),
        };
        let snapshot = self.snapshot(&index)?;
        if !events.is_empty() {
            // A snapshot that cannot be saved costs time, not truth.
            drop(snapshot.save(&self.repo.shared_state_dir()));
            self.refresh_views(&mut index, Mode::Incremental, ui);
        }
        let value = value.expect("every way out of the append but failures has decided");
        Ok(Changed { value, events, queue: snapshot.queue, index })
    }

    fn take_in(&self, index: &mut Index, appended: Appended) -> Result<(), Failure> {
        let parent = appended.parent.map(|parent| index.known(&parent)).transpose()?.flatten();
        let tip = appended.tip;
        Ok(index.extend([appended.into_commit(parent)], Some(tip))?)
    }

    /// Looks whether the branches and commits that somebody waits for are there, and records what is new.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn observe(&self, index: &mut Index) -> Result<(), Failure> {
        let queue = self.queue(index)?;
        let mut actions = Vec::new();
        for prerequisite in queue.to_be_observed() {
            let last = queue.observation(&prerequisite).map(|seen| seen.commit);
            if let Some((commit, met)) = self.sighting(&prerequisite, last)? {
                actions.extend(queue.observe(&prerequisite, commit, met));
            }
        }
        if actions.is_empty() {
            return Ok(());
        }
        let origin = self.origin()?;
        let events: Vec<_> = actions.iter().map(|action| log::queue::encode(&origin, action)).collect();
        let description = Description { subject: "queue observe".into(), trailers: Vec::new() };
        let append = Append { events, description };
        match self.log().append(&self.stamp(), |_| Ok::<_, std::convert::Infallible>(append.clone())) {
            Ok(appended) => {
                self.bring_to(index, appended.parent)?;
                self.take_in(index, appended)
            }
            // Whatever comes next says why nothing can be written.
            Err(AppendError::NotWritable(_)) => Ok(()),
            Err(error) => Err(append_failure(&error)),
        }
    }

    /// Where a branch or commit is now, and whether it has arrived. A branch that is gone counts as it was last seen.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn sighting(
        &self,
        prerequisite: &Prerequisite,
        last: Option<ObjectName>,
    ) -> Result<Option<(ObjectName, Sighting)>, Failure> {
        let commit = match prerequisite {
            Prerequisite::Merged(branch) => self.repo.resolve_commit(branch)?.or(last),
            Prerequisite::Commit(commit) => Some(*commit).filter(|commit| self.repo.exists(commit)),
            Prerequisite::Handoff(_)
            | Prerequisite::Continuation(_)
            | Prerequisite::Operation(_)
            | Prerequisite::Approval => None,
        };
        let Some(commit) = commit else { return Ok(None) };
        let default = self.repo.default_branch()?;
        let into_head = matches!(prerequisite, Prerequisite::Commit(_)) || default.is_none();
        let head = self.head()?.commit.filter(|_| into_head);
        for into in default.map(|(_, tip)| tip).into_iter().chain(head) {
            if self.repo.is_ancestor(&commit, &into)? {
                return Ok(Some((commit, Sighting::Met)));
            }
        }
        Ok(Some((commit, Sighting::NotYet)))
    }

    /// Who acts, and when.
    ///
    /// # Errors
    /// When `HANDOFF_AGENT` or the name is none.
    pub(super) fn actor(&self, name: Option<&str>) -> Result<Actor, Failure> {
        let by = self.origin()?.by;
        let default = match (&by.agent, &by.agent_session) {
            (Some(agent), Some(session)) => format!("{agent} ({session})"),
            _ => by.identity.clone(),
        };
        let name = name.map(str::parse::<crate::model::queue::Label>).transpose();
        let name = name.map_err(|error| Failure::because(Code::Usage, &error))?;
        Ok(Actor { name: name.map(|name| name.to_string()), default, by, now: self.now() })
    }

    /// The continuation that a text means.
    ///
    /// # Errors
    /// When none or several may be meant, or the event that queued it is missing here.
    pub(super) fn find_item(&self, index: &Index, queue: &Queue, text: &str) -> Result<At, Failure> {
        match queue.named(text).as_slice() {
            [at] => Ok(*at),
            [] => Err(self.no_item(index, text)?),
            several => {
                let lines: Vec<String> = several.iter().map(|at| item_line(queue, *at)).collect();
                let ids: Vec<String> = several.iter().map(|at| queue.item(*at).id.to_string()).collect();
                Err(Failure::new(Code::Ambiguous, format!("'{text}' may be any of\n  {}", lines.join("\n  ")))
                    .hint("give more digits of the id")
                    .detail("item", text)
                    .detail("candidates", ids))
            }
        }
    }

    fn no_item(&self, index: &Index, text: &str) -> Result<Failure, Failure> {
        let digits = text.parse::<crate::model::IdPrefix>().ok();
        let is_meant = |path: &str| {
            let id = path.strip_prefix("continuation/").and_then(|name| name.strip_suffix(".json"));
            let id = id.and_then(|id| id.parse::<EventId>().ok());
            id.filter(|id| digits.as_ref().is_some_and(|digits| digits.matches(id)))
        };
        let anomalies = index.anomalies()?;
        let mut missing = anomalies.iter().filter(|anomaly| anomaly.kind == AnomalyKind::Missing);
        if let Some(id) = missing.find_map(|anomaly| is_meant(&anomaly.path)) {
            return Ok(Failure::new(Code::HandoffMissing, format!("the body of {id} is missing in this repository"))
                .hint("get it from a remote that has it: 'git handoff sync'")
                .detail("id", id.to_string()));
        }
        Ok(Failure::new(Code::NotFound, format!("no continuation is known as '{text}'"))
            .hint("'git handoff queue list --all' shows those that there are")
            .detail("item", text))
    }

    /// A prerequisite as the log has it, looked up from what somebody said.
    ///
    /// # Errors
    /// When it makes no sense or is unknown here.
    pub(super) fn prerequisite(&self, index: &Index, queue: &Queue, text: &str) -> Result<Prerequisite, Failure> {
        let spoken: Spoken = text.parse().map_err(|error| Failure::because(Code::Usage, &error))?;
        let unknown = |what: &str| {
            Failure::new(Code::NotFound, format!("the prerequisite {text} is unknown: {what}"))
                .detail("prerequisite", text)
        };
        Ok(match spoken {
            Spoken::Handoff(reference) => Prerequisite::Handoff(self.resolve(index, &reference)?.id),
            Spoken::Continuation(item) => {
                Prerequisite::Continuation(queue.item(self.find_item(index, queue, &item)?).id)
            }
            Spoken::Operation(name) => Prerequisite::Operation(name),
            Spoken::Merged(branch) => {
                self.repo.resolve_commit(&branch)?.ok_or_else(|| unknown("there is no such branch here"))?;
                Prerequisite::Merged(branch)
            }
            Spoken::Commit(revision) => Prerequisite::Commit(
                self.repo.resolve_commit(&revision)?.ok_or_else(|| unknown("there is no such commit here"))?,
            ),
            Spoken::Approval => Prerequisite::Approval,
        })
    }

    /// [`Session::prerequisite`] for several.
    ///
    /// # Errors
    /// As there.
    pub(super) fn prerequisites(
        &self,
        index: &Index,
        queue: &Queue,
        texts: &[String],
    ) -> Result<Vec<Prerequisite>, Failure> {
        texts.iter().map(|text| self.prerequisite(index, queue, text)).collect()
    }

    /// The rows of the index in the work tree: what is ready, stopped and waiting. They depend on the events alone.
    ///
    /// # Errors
    /// When the cache is damaged.
    pub(super) fn queued_work(&self, index: &Index) -> Result<Vec<Continuation>, Failure> {
        let queue = self.queue(index)?;
        let mut rows = Vec::new();
        for state in [State::Ready, State::Stopped, State::Waiting] {
            for item in queue.items().iter().filter(|item| queue.state(item) == state) {
                let waits_on = queue.stopped_because(item).or_else(|| queue.waits_on(item));
                rows.push(Continuation {
                    name: item.label(),
                    topic: item.topic.to_string(),
                    state: state.to_string(),
                    waits_on,
                });
            }
        }
        if let Some(more) = rows.len().checked_sub(SHOWN_IN_INDEX).filter(|more| *more > 0) {
            rows.truncate(SHOWN_IN_INDEX);
            let topic = format!("{more} more: git handoff queue list");
            rows.push(Continuation { name: "…".into(), topic, state: "…".into(), waits_on: None });
        }
        Ok(rows)
    }
}

/// A continuation on one line, as candidates are listed.
pub(super) fn item_line(queue: &Queue, at: At) -> String {
    let item = queue.item(at);
    let name = item.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    format!("{}{name} {}: {}", item.id.short(), queue.state(item), item.topic)
}

/// How a prerequisite stands, with what it is.
pub(super) fn prerequisite_line(queue: &Queue, item: &crate::model::queue::Item, each: &Prerequisite) -> String {
    format!("{} {}", queue.spoken(each), queue.outcome(item, each))
}

/// The end that a word means.
pub(super) fn ending(word: &str) -> Result<Ending, Failure> {
    Ending::from_word(word)
        .ok_or_else(|| Failure::new(Code::Usage, format!("'{word}' is not an outcome; use succeeded or failed")))
}
