//! `queue add` and `queue link`: what waits for what.

use super::super::super::args;
use super::super::super::error::{Code, Failure};
use super::super::super::judge::refuse_secrets;
use super::super::super::queue::{Decided, superseding};
use super::super::super::session::{Session, one_line};
use super::face::{Done, Shown};
use crate::model::queue::{Accepted, Action, Addition, At, Label, NewItem, Queue, State};
use crate::model::{AgentName, Completeness, EventId, Summary, Topic};
use crate::ui::Ui;
use crate::views::cache::Index;

/// Queues a continuation.
///
/// # Errors
/// When the handoff may not be queued, a prerequisite is unknown, or the name is taken.
pub(super) fn add(session: &Session<'_>, args: &args::Add, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let words = Words::parse(args)?;
    let origin = session.origin()?;
    let changed = session.change(ui, |queue, index| {
        let summary = session.resolve(index, &args.handoff)?;
        // What is pinned must be here and be what it says.
        session.stored_bytes(&summary)?;
        let accepted = accepted(index, &summary, args)?;
        let after = session.prerequisites(index, queue, &args.after)?;
        let mut new = NewItem {
            handoff: summary.id,
            topic: words.topic.clone().unwrap_or_else(|| summary.topic.clone()),
            name: words.name.clone(),
            agent: words.agent.clone(),
            after,
            accepted,
            copy: 0,
        };
        let mut action = queue.add(Addition { new: new.clone(), called: args.name.clone() })?;
        while queue.find(&crate::log::queue::encode(&origin, &action).id()).is_some() {
            new.copy += 1;
            action = queue.add(Addition { new: new.clone(), called: None })?;
        }
        let subject = format!("queue add {}: {}", new.name.as_ref().map_or("", Label::as_str), new.topic);
        let mut actions = vec![action];
        for prerequisite in &new.after {
            if let Some((commit, met)) = session.sighting(prerequisite, None)? {
                actions.extend(queue.observe(prerequisite, commit, met));
            }
        }
        Ok(Decided { actions, subject, value: () })
    })?;
    let queue = &changed.queue;
    let added = changed.events.iter().find_map(|id| queue.find(id));
    let at = added.ok_or_else(|| Failure::new(Code::Git, "what was queued cannot be read back"))?;
    let item = queue.item(at);
    let shown = Shown::new(queue, at, &[], session.now());
    if !item.accepted.words().is_empty() {
        ui.note(format!("accepted of the handoff: {}", item.accepted.words().join(", ")));
    }
    if shown.state == State::Stopped {
        ui.warn(format!("it is stopped from the beginning: {}", shown.why().unwrap_or_default()));
    }
    let why = shown.why().map(|why| format!(" {why}")).unwrap_or_default();
    let sentence = format!("Queued {} ({}): {}{why}", item.id.short(), item.topic, shown.state);
    Ok(ui.answer(&Done::new(queue, at, sentence, session.now()))?)
}

/// The words of the command line.
struct Words {
    topic: Option<Topic>,
    name: Option<Label>,
    agent: Option<AgentName>,
}

impl Words {
    fn parse(args: &args::Add) -> Result<Self, Failure> {
        fn parsed<T: std::str::FromStr<Err: std::error::Error>>(text: Option<&String>) -> Result<Option<T>, Failure> {
            text.map(|text| text.parse().map_err(|error: T::Err| Failure::because(Code::Usage, &error))).transpose()
        }
        refuse_secrets(&serde_json::json!({"topic": args.topic, "name": args.name}))?;
        Ok(Self {
            topic: parsed(args.topic.as_ref())?,
            name: parsed(args.name.as_ref())?,
            agent: parsed(args.agent.as_ref())?,
        })
    }
}

/// What has to be accepted of the handoff, when it was.
fn accepted(index: &Index, summary: &Summary, args: &args::Add) -> Result<Accepted, Failure> {
    let partial = summary.completeness != Completeness::Authoritative;
    if partial && !args.accept_partial {
        return Err(Failure::new(
            Code::NotAuthoritative,
            format!("{} is {}: its author does not vouch that it suffices", one_line(summary), summary.completeness),
        )
        .hint("complete it with 'git handoff create --complete', or queue it as it is with --accept-partial")
        .detail("handoff", summary.id.to_string())
        .detail("completeness", summary.completeness.as_str()));
    }
    let superseded = superseded_by(index, summary, args.accept_superseded)?.is_some();
    Ok(Accepted { partial, superseded })
}

/// The handoff that supersedes one, when that is accepted.
///
/// # Errors
/// `HANDOFF_SUPERSEDED` when it is not.
pub(super) fn superseded_by(index: &Index, summary: &Summary, accepted: bool) -> Result<Option<EventId>, Failure> {
    let later = superseding(index, summary)?;
    match later.first() {
        Some(newest) if !accepted => {
            let lines: Vec<String> = later.iter().map(one_line).collect();
            let ids: Vec<String> = later.iter().map(|each| each.id.to_string()).collect();
            Err(Failure::new(
                Code::HandoffSuperseded,
                format!("{} is superseded by\n  {}", one_line(summary), lines.join("\n  ")),
            )
            .hint(format!(
                "queue the newer one with '--handoff {}', or keep to the older one with --accept-superseded",
                newest.id.short()
            ))
            .detail("handoff", summary.id.to_string())
            .detail("superseded_by", ids))
        }
        newest => Ok(newest.map(|newest| newest.id)),
    }
}

/// Adds or drops prerequisites.
///
/// # Errors
/// When the continuation has started, or would wait for itself.
pub(super) fn link(session: &Session<'_>, args: &args::Link, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let changed = session.change(ui, |queue, index| {
        let at = session.find_item(index, queue, &args.item)?;
        let added = session.prerequisites(index, queue, &args.after)?;
        let dropped = dropped(session, index, queue, at, &args.drop)?;
        let mut actions = vec![queue.link(at, added.clone(), dropped)?];
        for prerequisite in &added {
            if let Some((commit, met)) = session.sighting(prerequisite, None)? {
                actions.extend(queue.observe(prerequisite, commit, met));
            }
        }
        let subject = format!("queue link {}", queue.item(at).label());
        Ok(Decided { actions, subject, value: queue.item(at).id })
    })?;
    report(session, &changed.queue, &changed.value, "Linked", ui)
}

/// The prerequisites that are to be dropped: those of the continuation that the texts name, even where what they
/// name is gone.
fn dropped(
    session: &Session<'_>,
    index: &Index,
    queue: &Queue,
    at: At,
    texts: &[String],
) -> Result<Vec<crate::model::queue::Prerequisite>, Failure> {
    let item = queue.item(at);
    let one = |text: &String| {
        let known = item.after.iter().find(|each| each.to_string() == *text || queue.spoken(each) == *text);
        known.cloned().map_or_else(|| session.prerequisite(index, queue, text), Ok)
    };
    texts.iter().map(one).collect()
}

/// Says what became of a continuation.
pub(super) fn report(
    session: &Session<'_>,
    queue: &Queue,
    id: &EventId,
    verb: &str,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let at = queue.find(id).ok_or_else(|| Failure::new(Code::Git, "the continuation cannot be read back"))?;
    let shown = Shown::new(queue, at, &queue.cycles(), session.now());
    let why = shown.why().map(|why| format!(" {why}")).unwrap_or_default();
    let item = shown.item;
    let sentence = format!("{verb} {}: {}{why}", item.label(), shown.state);
    Ok(ui.answer(&Done::new(queue, at, sentence, session.now()))?)
}

/// One action on a continuation.
pub(super) fn act(
    session: &Session<'_>,
    text: &str,
    (verb, said): (&str, &str),
    decide: impl Fn(&Queue, &Index, At) -> Result<Option<Action>, Failure>,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let changed = session.change(ui, |queue, index| {
        let at = session.find_item(index, queue, text)?;
        let actions: Vec<Action> = decide(queue, index, at)?.into_iter().collect();
        let subject = format!("queue {verb} {}", queue.item(at).label());
        Ok(Decided { actions, subject, value: queue.item(at).id })
    })?;
    if changed.events.is_empty() {
        ui.note("there was nothing to do");
    }
    report(session, &changed.queue, &changed.value, said, ui)
}
