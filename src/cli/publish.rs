//! The log goes along with the user's own push: without force, within a deadline, and never with a secret in it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::error::Failure;
use super::judge::{Located, find_secrets};
use super::session::Session;
use crate::document;
use crate::git::Expected;
use crate::log::{self, NOTES_REF, REF, REMOTES, envelope};
use crate::model::{Entry, Event, ObjectName, visible_line};
use crate::ui::Ui;

/// The variable that tells our hooks that we ourselves started git.
pub(super) const GUARD: &str = "GIT_HANDOFF_HOOK";

/// Something that must not leave.
struct Held {
    what: String,
    found: Vec<Located>,
}

/// Publishes log and notes to a remote, unless it is known to have them. What goes wrong is one line of warning: the
/// user's own push goes on.
///
/// # Errors
/// When git cannot be read.
pub(super) fn publish(session: &Session<'_>, remote: &str, patience: Duration, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let repo = &session.repo;
    // A bare URL has no place where we could remember what it has.
    if !repo.remotes().iter().any(|name| name == remote) {
        return Ok(());
    }
    let mut refs = Vec::new();
    for (own, name) in [(REF, "log"), (NOTES_REF, "notes")] {
        let tracking = format!("{REMOTES}{remote}/{name}");
        match (repo.read_ref(own)?, repo.read_ref(&tracking)?) {
            (Some(tip), known) if known != Some(tip) => refs.push(Outgoing { own, tip, tracking, known }),
            _ => {}
        }
    }
    if refs.is_empty() {
        return Ok(());
    }
    if let Some(held) = held(session)? {
        ui.warn(refusal(&held));
        return Ok(());
    }
    let pushed = repo
        .command("push")
        .args(["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed", remote])
        .args(refs.iter().map(|outgoing| format!("{0}:{0}", outgoing.own)))
        .env(GUARD, "1")
        .deadline(patience)
        .output();
    let later = format!("it goes with the next push, or with 'git handoff sync {remote}'");
    match pushed {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            for outgoing in refs.iter().filter(|outgoing| outgoing.arrived(&said)) {
                outgoing.remember(session)?;
            }
            if output.code != Some(0) {
                let why = why(&said).unwrap_or_else(|| last_line(&output.stderr));
                ui.warn(format!("the handoffs were not published to {remote}: {why}; {later}"));
            }
        }
        Err(error) => ui.warn(format!("the handoffs were not published to {remote}: {error}; {later}")),
    }
    Ok(())
}

/// A ref that goes out.
struct Outgoing {
    own: &'static str,
    tip: ObjectName,
    tracking: String,
    known: Option<ObjectName>,
}

impl Outgoing {
    /// Whether the remote took it, by what `git push --porcelain` says.
    fn arrived(&self, said: &str) -> bool {
        let ours = format!("{0}:{0}", self.own);
        said.lines().any(|line| line.split('\t').nth(1) == Some(&ours) && !line.starts_with('!'))
    }

    /// Remembers that the remote has it.
    fn remember(&self, session: &Session<'_>) -> Result<(), Failure> {
        // With our fetch refspec git has moved the tracking ref itself.
        let known = session.repo.read_ref(&self.tracking)?;
        if known == Some(self.tip) || known != self.known {
            return Ok(());
        }
        let stamp = session.stamp();
        let reflog = stamp.reflog("git handoff: published");
        Ok(session.repo.compare_and_swap(&self.tracking, Expected::from(known), &self.tip, &reflog)?)
    }
}

fn why(said: &str) -> Option<String> {
    let line = said.lines().find(|line| line.starts_with('!'))?;
    Some(visible_line(line.rsplit('\t').next()?.trim()).into_owned())
}

fn last_line(stderr: &str) -> String {
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("git gave no reason");
    visible_line(line.trim()).into_owned()
}

/// The first event that no remote has and that holds a secret which nobody allowed.
fn held(session: &Session<'_>) -> Result<Option<Held>, Failure> {
    let tips = session.log().tips()?;
    let Some(own) = tips.own else { return Ok(None) };
    let published: Vec<ObjectName> = tips.remotes.iter().map(|(_, tip)| *tip).collect();
    let unpublished = session.repo.commits_without(&published, own, usize::MAX)?;
    let unpublished: BTreeSet<ObjectName> = unpublished.into_iter().map(|commit| commit.name).collect();
    let known = |commit: &ObjectName| (!unpublished.contains(commit)).then_some(0);
    let (mut found, mut waived) = (Vec::new(), BTreeSet::new());
    session.log().visit_since(&[own], &known, &mut |commit| {
        for entry in &commit.entries {
            if entry.kind.as_str() == "waiver" {
                waived.extend(fingerprint(session, entry));
            }
            found.extend(secrets_of(session, entry));
        }
    });
    for held in &mut found {
        held.found.retain(|located| !waived.contains(&located.finding.fingerprint.to_string()));
    }
    Ok(found.into_iter().find(|held| !held.found.is_empty()))
}

fn secrets_of(session: &Session<'_>, entry: &Entry) -> Option<Held> {
    let id = entry.id.short();
    let (what, value, allowed) = match &entry.event {
        Event::Handoff(handoff) => (
            format!("handoff {id} ({})", visible_line(handoff.topic.as_str())),
            document::to_value(handoff),
            handoff.metadata.allowed_findings.clone(),
        ),
        Event::Opaque { .. } => (format!("{} {id}", entry.kind.as_str()), stored(session, entry)?, Vec::new()),
    };
    let found = find_secrets(&value, None);
    let found = found.into_iter().filter(|located| !allowed.contains(&located.finding.fingerprint.to_string()));
    Some(Held { what, found: found.collect() })
}

fn stored(session: &Session<'_>, entry: &Entry) -> Option<Value> {
    let bytes = session.repo.read_blob(&entry.blob?, log::MAX_EVENT_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn fingerprint(session: &Session<'_>, entry: &Entry) -> Option<String> {
    let bytes = session.repo.read_blob(&entry.blob?, log::MAX_EVENT_BYTES).ok()?;
    let (_, fields) = envelope::decode(&bytes).ok()?;
    fields.get("fingerprint").and_then(Value::as_str).map(str::to_owned)
}

fn refusal(held: &Held) -> String {
    let Held { what, found } = held;
    let first = found.first().map(|located| format!("{} [{}]", located.finding.rule, located.finding.fingerprint));
    let which = first.unwrap_or_default();
    format!(
        "{what} contains a secret: {which}. The handoffs stay here; your own push goes on. Take the secret out of the \
         log with 'git handoff redact', or record that it is none"
    )
}
