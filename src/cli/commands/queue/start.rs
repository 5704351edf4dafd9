//! `queue start` and `queue run`: the packet is handed over, once, to whoever may have it.

use std::io;

use serde_json::{Value, json};

use super::super::super::args;
use super::super::super::error::{Code, Failure};
use super::super::super::marker::Marker;
use super::super::super::queue::{Decided, prerequisite_line};
use super::super::super::session::Session;
use super::super::resume::{Body, Choice, Packet};
use super::add::{act, superseded_by};
use super::claim::lease;
use super::face::Shown;
use crate::git::caller;
use crate::model::queue::{Ending, Lease};
use crate::ui::{Fact, Page, Report, Ui, printable};

/// Starts a continuation and prints its packet. Nothing is run.
///
/// # Errors
/// When it is not ready, somebody else holds it, or the pinned handoff is missing, damaged or superseded.
pub(super) fn start(session: &Session<'_>, args: &args::Start, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let started = begin(session, args, ui)?;
    Ok(ui.answer(&started)?)
}

/// A started continuation and what its starter gets.
struct Started {
    packet: Packet,
    item: Value,
    id: String,
}

fn begin(session: &Session<'_>, args: &args::Start, ui: &mut Ui<'_>) -> Result<Started, Failure> {
    let lease = lease(&args.lease)?;
    let actor = session.actor(args.acting.name.as_deref())?;
    let head = session.head()?;
    let changed = session.change(ui, |queue, index| {
        let at = session.find_item(index, queue, &args.acting.item)?;
        let item = queue.item(at);
        let summary = session.summary_of(index, &item.handoff)?;
        session.stored_bytes(&summary)?;
        let accepted = args.accept_superseded || item.accepted.superseded;
        // Whether it may be started at all comes first.
        queue.start(at, &actor, queue.start_facts(at, head.commit, lease, None))?;
        let superseded_by = superseded_by(index, &summary, accepted)?;
        let action = queue.start(at, &actor, queue.start_facts(at, head.commit, lease, superseded_by))?;
        Ok(Decided { actions: vec![action], subject: format!("queue start {}", item.label()), value: item.id })
    })?;
    let (queue, index) = (&changed.queue, &changed.index);
    let at =
        queue.find(&changed.value).ok_or_else(|| Failure::new(Code::Git, "the continuation cannot be read back"))?;
    let item = queue.item(at);
    let summary = session.summary_of(index, &item.handoff)?;
    // Without the marker the next handoff is merely not linked.
    drop(Marker::of(&summary, &session.detect(None)?.agent).save(&session.repo.state_dir()));
    let choice = Choice::because(summary, format!("it is what continuation {} continues", item.label()));
    let mut packet = Packet::open(session, index, choice, &head, Body::Shown)?;
    let fact = |name, value| Fact { name, value };
    packet.more.push(fact("Continuation", format!("{} ({}): {}", item.id, item.label(), item.topic)));
    let after = item.after.iter().map(|each| fact("Prerequisite", prerequisite_line(queue, item, each)));
    packet.more.extend(after);
    let accepted = item.accepted.words();
    if !accepted.is_empty() {
        packet.more.push(fact("Accepted", format!("although it is {}", accepted.join(" and "))));
    }
    let shown = Shown::new(queue, at, &[], session.now());
    Ok(Started { packet, item: shown.json(), id: item.id.to_string() })
}

impl Report for Started {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.packet.text(page)
    }

    fn json(&self) -> Value {
        let mut json = self.packet.json();
        let after = self.item["after"].as_array().cloned().unwrap_or_default();
        let own = json["authoritative"]["prerequisites"].as_array().cloned().unwrap_or_default();
        let stated = own.into_iter().map(|text| json!({"prerequisite": text, "outcome": "stated", "evidence": null}));
        json["authoritative"]["prerequisites"] = after.into_iter().chain(stated).collect();
        json["continuation"] = self.item.clone();
        json
    }

    fn quiet(&self) -> Option<String> {
        Some(self.id.clone())
    }
}

/// Starts a continuation, runs the caller's command with the packet on its input, and finishes by its exit status.
///
/// # Errors
/// When it cannot be started, or the command fails.
pub(super) fn run(session: &Session<'_>, args: &args::Run, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let started = begin(session, &args.start, ui)?;
    let packet = printable(&started.json()) + "\n";
    let ended = caller::run_with_input(&args.command, &session.cwd, packet.into_bytes());
    let code = ended.as_ref().ok().and_then(|ended| ended.code);
    let ending = if code == Some(0) { Ending::Succeeded } else { Ending::Failed };
    let actor = session.actor(args.start.acting.name.as_deref())?;
    let id = started.id.clone();
    let decide = |queue: &crate::model::queue::Queue, _: &crate::views::cache::Index, at| {
        let facts = queue.start_facts(at, None, Lease::default(), None);
        Ok(Some(queue.finish(at, &actor, ending, code, facts)?))
    };
    act(session, &id, ("finish", "Finished"), decide, ui)?;
    command_failure(&args.command, ended.map(|ended| ended.code)).map_or(Ok(()), Err)
}

/// What is said of a command that did not succeed.
pub(in crate::cli) fn command_failure(
    command: &[std::ffi::OsString],
    code: io::Result<Option<i32>>,
) -> Option<Failure> {
    let name = command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let failure = |what: String| Failure::new(Code::CommandFailed, format!("'{name}' {what}"));
    match code {
        Ok(Some(0)) => None,
        Ok(Some(code)) => Some(failure(format!("ended with exit status {code}")).detail("exit_code", code)),
        Ok(None) => Some(failure("was ended by a signal".into())),
        Err(error) => Some(failure(format!("cannot be run: {error}"))),
    }
}
