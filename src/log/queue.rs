//! The stored JSON of what happens in the queue.
//!
//! An event about a continuation names it in `continuation` and its latest event at the time in `seen`; see
//! `docs/queue.md` for the fields of each kind.

use serde_json::{Map, Value, json};

use super::{NewEvent, envelope};
use crate::model::queue::{
    Accepted, Action, ClaimMode, Ending, Evidence, Lease, Manner, NewItem, Prerequisite, Run, RunStep, Sighting,
    StartFacts, Step,
};
use crate::model::{AnomalyKind, EventKind, Origin, visible_line};

type Fields = Map<String, Value>;

/// The most characters of a holder's name.
const MAX_HOLDER: usize = 300;

/// The event that this is when somebody does it.
pub fn encode(origin: &Origin, action: &Action) -> NewEvent {
    let (kind, fields) = match action {
        Action::Add(new) => ("continuation", new_item(new)),
        Action::Item { item, seen, step } => {
            let (kind, mut fields) = step_fields(step);
            fields.insert("continuation".into(), json!(item.to_string()));
            put(&mut fields, "seen", seen.map(|id| id.to_string()));
            (kind, fields)
        }
        Action::Operation { name, seen, step } => {
            let mut fields = run_fields(step);
            fields.insert("operation".into(), json!(name.as_str()));
            put(&mut fields, "seen", seen.map(|id| id.to_string()));
            ("operation", fields)
        }
        Action::Observed { prerequisite, commit, met, seen } => {
            let mut fields = Fields::new();
            fields.insert("observed".into(), json!(prerequisite.to_string()));
            fields.insert("commit".into(), json!(commit.to_string()));
            fields.insert("met".into(), json!(*met == Sighting::Met));
            put(&mut fields, "seen", seen.map(|id| id.to_string()));
            ("operation", fields)
        }
    };
    NewEvent::new(EventKind::from_folder(kind), envelope::encode(origin, fields))
}

/// What an event of this kind says; `None` when it is none of the queue's.
///
/// # Errors
/// When it is one and cannot be read.
pub fn decode(kind: &EventKind, bytes: &[u8]) -> Result<Option<(Origin, Action)>, AnomalyKind> {
    let known = [
        "continuation",
        "dependency",
        "claim",
        "release",
        "start",
        "finish",
        "cancel",
        "retry",
        "approval",
        "operation",
    ];
    if !known.contains(&kind.as_str()) {
        return Ok(None);
    }
    let (origin, fields) = envelope::decode(bytes)?;
    let fields = Reader(&fields);
    let action = match kind.as_str() {
        "continuation" => Action::Add(Box::new(fields.new_item()?)),
        "operation" => fields.operation()?,
        // Handoffs are approved of too, by events that have no continuation.
        "approval" if fields.0.get("continuation").is_none() => return Ok(None),
        kind => Action::Item {
            item: fields.parsed("continuation")?,
            seen: fields.optional("seen")?,
            step: fields.step(kind)?,
        },
    };
    Ok(Some((origin, action)))
}

fn put(fields: &mut Fields, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(name.into(), value.into());
    }
}

fn fields<const N: usize>(pairs: [(&str, Value); N]) -> Fields {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn texts(prerequisites: &[Prerequisite]) -> Value {
    prerequisites.iter().map(|each| Value::String(each.to_string())).collect()
}

fn new_item(new: &NewItem) -> Fields {
    let NewItem { handoff, topic, name, agent, after, accepted, copy } = new;
    let mut fields =
        fields([("handoff", json!(handoff.to_string())), ("topic", json!(topic.as_str())), ("after", texts(after))]);
    put(&mut fields, "name", name.as_ref().map(|name| name.as_str()));
    put(&mut fields, "agent", agent.as_ref().map(|agent| agent.as_str()));
    put(&mut fields, "accepted", Some(accepted.words()).filter(|words| !words.is_empty()));
    put(&mut fields, "copy", Some(*copy).filter(|copy| *copy > 0));
    fields
}

fn step_fields(step: &Step) -> (&'static str, Fields) {
    match step {
        Step::Link { added, dropped } => ("dependency", fields([("added", texts(added)), ("dropped", texts(dropped))])),
        Step::Claim { holder, lease, mode, over, nonce } => {
            let mut fields =
                fields([("holder", json!(holder)), ("lease", json!(lease.seconds())), ("mode", json!(mode.as_str()))]);
            put(&mut fields, "over", over.map(|id| id.to_string()));
            put(&mut fields, "nonce", *nonce);
            ("claim", fields)
        }
        Step::Release { holder, manner } => {
            let mut fields = fields([("holder", json!(holder))]);
            put(&mut fields, "forced", (*manner == Manner::Forced).then_some(true));
            ("release", fields)
        }
        Step::Start { holder, facts } => {
            let mut fields = start_fields(facts);
            fields.insert("holder".into(), json!(holder));
            ("start", fields)
        }
        Step::Finish { holder, ending, exit_code, start } => {
            let mut fields = fields([("holder", json!(holder)), ("outcome", json!(ending.as_str()))]);
            put(&mut fields, "exit_code", *exit_code);
            put(&mut fields, "start", start.as_ref().map(start_fields));
            ("finish", fields)
        }
        Step::Cancel { holder } => ("cancel", fields([("holder", json!(holder))])),
        Step::Retry => ("retry", Fields::new()),
        Step::Approve => ("approval", Fields::new()),
    }
}

fn start_fields(facts: &StartFacts) -> Fields {
    let StartFacts { handoff, revision, lease, evidence, superseded_by } = facts;
    let evidence = evidence.iter().map(|Evidence { prerequisite, event }| {
        let mut fields = fields([("prerequisite", json!(prerequisite.to_string()))]);
        put(&mut fields, "event", event.map(|id| id.to_string()));
        Value::Object(fields)
    });
    let mut fields = fields([
        ("handoff", json!(handoff.to_string())),
        ("lease", json!(lease.seconds())),
        ("evidence", evidence.collect()),
    ]);
    put(&mut fields, "revision", revision.map(|commit| commit.to_string()));
    put(&mut fields, "superseded_by", superseded_by.map(|id| id.to_string()));
    fields
}

fn run_fields(step: &RunStep) -> Fields {
    match step {
        RunStep::Start => fields([("step", json!("started"))]),
        RunStep::End { ending, run } => {
            let mut fields = fields([("step", json!(ending.as_str()))]);
            if let Some(Run { command, exit_code, milliseconds, tail }) = run {
                put(&mut fields, "command", Some(command.as_str()));
                put(&mut fields, "exit_code", *exit_code);
                put(&mut fields, "milliseconds", Some(*milliseconds));
                put(&mut fields, "tail", Some(tail.as_str()));
            }
            fields
        }
    }
}

/// The fields of an event while they are being read.
struct Reader<'a>(&'a Fields);

fn unreadable(why: impl std::fmt::Display) -> AnomalyKind {
    AnomalyKind::Unreadable(visible_line(&why.to_string()).into_owned())
}

impl<'a> Reader<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn required(&self, name: &str) -> Result<&'a str, AnomalyKind> {
        self.text(name).ok_or_else(|| unreadable(format!("'{name}' is missing")))
    }

    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, AnomalyKind> {
        self.required(name)?.parse().map_err(unreadable)
    }

    fn optional<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<Option<T>, AnomalyKind> {
        self.text(name).map(|text| text.parse().map_err(unreadable)).transpose()
    }

    fn number<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        self.0.get(name).and_then(Value::as_i64).and_then(|number| T::try_from(number).ok())
    }

    fn holder(&self) -> Result<String, AnomalyKind> {
        let holder = self.required("holder")?;
        if holder.is_empty() || holder.chars().count() > MAX_HOLDER {
            return Err(unreadable("'holder' is no name"));
        }
        Ok(visible_line(holder).into_owned())
    }

    fn lease(&self) -> Result<Lease, AnomalyKind> {
        let seconds = self.number("lease").ok_or_else(|| unreadable("'lease' is missing"))?;
        Lease::new(seconds).map_err(unreadable)
    }

    fn prerequisites(&self, name: &str) -> Result<Vec<Prerequisite>, AnomalyKind> {
        let listed = self.0.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let read = |value: &Value| value.as_str().unwrap_or_default().parse().map_err(unreadable);
        listed.iter().map(read).collect()
    }

    fn new_item(&self) -> Result<NewItem, AnomalyKind> {
        let accepted = self.0.get("accepted").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_accepted = |word: &str| accepted.iter().any(|each| each.as_str() == Some(word));
        Ok(NewItem {
            handoff: self.parsed("handoff")?,
            topic: self.parsed("topic")?,
            name: self.optional("name")?,
            agent: self.optional("agent")?,
            after: self.prerequisites("after")?,
            accepted: Accepted { partial: is_accepted("partial"), superseded: is_accepted("superseded") },
            copy: self.number("copy").unwrap_or_default(),
        })
    }

    fn start(&self) -> Result<StartFacts, AnomalyKind> {
        let listed = self.0.get("evidence").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let evidence = |value: &Value| {
            let fields = Reader(value.as_object().ok_or_else(|| unreadable("the evidence is no object"))?);
            Ok(Evidence { prerequisite: fields.parsed("prerequisite")?, event: fields.optional("event")? })
        };
        Ok(StartFacts {
            handoff: self.parsed("handoff")?,
            revision: self.optional("revision")?,
            lease: self.lease()?,
            evidence: listed.iter().map(evidence).collect::<Result<_, AnomalyKind>>()?,
            superseded_by: self.optional("superseded_by")?,
        })
    }

    fn ending(&self, name: &str) -> Result<Ending, AnomalyKind> {
        let word = self.required(name)?;
        Ending::from_word(word).ok_or_else(|| unreadable(format!("'{word}' is no outcome")))
    }

    fn step(&self, kind: &str) -> Result<Step, AnomalyKind> {
        Ok(match kind {
            "dependency" => Step::Link { added: self.prerequisites("added")?, dropped: self.prerequisites("dropped")? },
            "claim" => {
                let word = self.required("mode")?;
                let mode =
                    ClaimMode::from_word(word).ok_or_else(|| unreadable(format!("'{word}' is no way to claim")))?;
                Step::Claim {
                    holder: self.holder()?,
                    lease: self.lease()?,
                    mode,
                    over: self.optional("over")?,
                    nonce: self.number("nonce"),
                }
            }
            "release" => {
                let forced = self.0.get("forced").and_then(Value::as_bool).unwrap_or_default();
                let manner = if forced { Manner::Forced } else { Manner::Own };
                Step::Release { holder: self.holder()?, manner }
            }
            "start" => Step::Start { holder: self.holder()?, facts: self.start()? },
            "finish" => {
                let start = self.0.get("start").and_then(Value::as_object).map(|fields| Reader(fields).start());
                Step::Finish {
                    holder: self.holder()?,
                    ending: self.ending("outcome")?,
                    exit_code: self.number("exit_code"),
                    start: start.transpose()?,
                }
            }
            "cancel" => Step::Cancel { holder: self.holder()? },
            "retry" => Step::Retry,
            "approval" => Step::Approve,
            other => return Err(unreadable(format!("'{other}' is no step of a continuation"))),
        })
    }

    fn operation(&self) -> Result<Action, AnomalyKind> {
        let seen = self.optional("seen")?;
        if self.0.contains_key("observed") {
            let met = self.0.get("met").and_then(Value::as_bool).unwrap_or_default();
            return Ok(Action::Observed {
                prerequisite: self.parsed("observed")?,
                commit: self.parsed("commit")?,
                met: if met { Sighting::Met } else { Sighting::NotYet },
                seen,
            });
        }
        let step = if self.required("step")? == "started" {
            RunStep::Start
        } else {
            let run = self.text("command").map(|command| Run {
                command: command.into(),
                exit_code: self.number("exit_code"),
                milliseconds: self.number("milliseconds").unwrap_or_default(),
                tail: self.text("tail").unwrap_or_default().into(),
            });
            RunStep::End { ending: self.ending("step")?, run }
        };
        Ok(Action::Operation { name: self.parsed("operation")?, seen, step })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{By, EventId};

    fn origin() -> Origin {
        Origin {
            created: "2026-08-18T17:04:00+03:00".parse().expect("a time"),
            by: By { agent: None, agent_session: None, identity: "Kim <kim@example.com>".into() },
        }
    }

    fn every_action() -> Vec<Action> {
        let id = EventId::of(b"item");
        let facts = StartFacts {
            handoff: id,
            revision: "3f786850e387550fdab836ed7e6dc881de23001b".parse().ok(),
            lease: Lease::default(),
            evidence: vec![Evidence { prerequisite: Prerequisite::Approval, event: Some(id) }],
            superseded_by: Some(id),
        };
        let new = NewItem {
            handoff: id,
            topic: "back up".parse().expect("a topic"),
            name: "the phone 📱".parse().ok(),
            agent: "codex".parse().ok(),
            after: vec![Prerequisite::Approval, Prerequisite::Merged("feat/x".into())],
            accepted: Accepted { partial: true, superseded: false },
            copy: 1,
        };
        let holder = || "Kim".to_owned();
        let steps = [
            Step::Link { added: vec![Prerequisite::Continuation(id)], dropped: vec![Prerequisite::Approval] },
            Step::Claim {
                holder: holder(),
                lease: Lease::default(),
                mode: ClaimMode::Exclusive,
                over: Some(id),
                nonce: Some((1 << 53) - 1),
            },
            Step::Release { holder: holder(), manner: Manner::Forced },
            Step::Start { holder: holder(), facts: facts.clone() },
            Step::Finish { holder: holder(), ending: Ending::Failed, exit_code: Some(3), start: Some(facts) },
            Step::Cancel { holder: holder() },
            Step::Retry,
            Step::Approve,
        ];
        let run = Run { command: "mkfs".into(), exit_code: Some(0), milliseconds: 12, tail: "done\n".into() };
        let name = "disk".parse().expect("a name");
        let mut actions = vec![Action::Add(Box::new(new))];
        actions.extend(steps.map(|step| Action::Item { item: id, seen: Some(id), step }));
        actions.extend([
            Action::Operation { name, seen: None, step: RunStep::End { ending: Ending::Succeeded, run: Some(run) } },
            Action::Observed {
                prerequisite: Prerequisite::Merged("x".into()),
                commit: "3f786850e387550fdab836ed7e6dc881de23001b".parse().expect("a commit"),
                met: Sighting::Met,
                seen: None,
            },
        ]);
        actions
    }

    #[test]
    fn every_action_is_read_as_it_was_written() {
        for action in every_action() {
            let event = encode(&origin(), &action);
            assert_eq!(decode(event.kind(), event.bytes()), Ok(Some((origin(), action))));
        }
    }

    #[test]
    fn other_kinds_and_approvals_of_handoffs_are_not_of_the_queue() {
        let bytes = envelope::encode(&origin(), fields([("handoff", json!("x"))]));
        for kind in ["approval", "waiver", "handoff"] {
            assert_eq!(decode(&EventKind::from_folder(kind), &bytes), Ok(None));
        }
    }

    #[test]
    fn what_is_damaged_is_said_and_never_guessed() {
        let bytes = envelope::encode(&origin(), fields([("handoff", json!("x"))]));
        let read = decode(&EventKind::from_folder("claim"), &bytes);
        assert_eq!(read, Err(AnomalyKind::Unreadable("'continuation' is missing".into())));
    }
}
