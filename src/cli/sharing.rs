//! Sharing as commands see it: which remote, what is not shared yet, and whether what would leave may leave.

use std::collections::HashSet;
use std::time::Duration;

use super::error::{Code, Failure};
use super::judge::{Located, find_secrets};
use super::session::Session;
use super::store::append_failure;
use crate::document;
use crate::git::{Dialling, RemoteError};
use crate::log::{self, MAX_EVENT_BYTES};
use crate::model::{Event, LogCommit, ObjectName, Summary};
use crate::secrets;
use crate::sync::{self, Direction, Exchange, Part, Sync, SyncError};
use crate::ui::Ui;
use crate::views::cache::Index;
use crate::views::notes;

/// How long everything with a remote may take together, unless `handoff.timeout` says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// What this repository and the chosen remote do not have in common, as far as is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shared {
    /// The remote's name.
    pub(super) remote: String,
    /// How many handoffs and other events it is not known to have.
    pub(super) unpublished: usize,
    /// How many fetched ones the own log does not hold yet, from whatever remote.
    pub(super) unjoined: usize,
}

impl Session<'_> {
    /// The remote that is meant when none is named: `handoff.remote`, else the current branch's, else the only one, else
    /// `origin`.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub(super) fn chosen_remote(&self) -> Result<Option<String>, Failure> {
        if let Some(remote) = self.repo.config_string("handoff.remote") {
            return Ok(Some(remote));
        }
        let remotes = self.repo.remotes();
        let known = |name: &String| remotes.contains(name);
        let branch = self.head()?.branch;
        let of_branch = branch.and_then(|branch| self.repo.config_string(&format!("branch.{branch}.remote")));
        Ok(of_branch.filter(known).or_else(|| match remotes.as_slice() {
            [only] => Some(only.clone()),
            _ => remotes.iter().find(|name| *name == "origin").cloned(),
        }))
    }

    /// What is not shared yet; nothing where there is no remote.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn shared(&self) -> Result<Option<Shared>, Failure> {
        let Some(remote) = self.chosen_remote()? else { return Ok(None) };
        let tips = self.log().tips()?;
        let theirs: Vec<ObjectName> =
            tips.remotes.iter().filter(|(name, _)| *name == remote).map(|(_, tip)| *tip).collect();
        let count = |tip: Option<ObjectName>, without: &[ObjectName]| match tip.filter(|tip| !without.contains(tip)) {
            Some(tip) => self.repo.count_commits(&tip, without),
            None => Ok(0),
        };
        let mut unjoined = 0;
        let mut held: Vec<ObjectName> = tips.own.into_iter().collect();
        for (_, tip) in &tips.remotes {
            unjoined += count(Some(*tip), &held)?;
            held.push(*tip);
        }
        Ok(Some(Shared { remote, unpublished: count(tips.own, &theirs)?, unjoined }))
    }

    /// Where handoffs may be that are not here, as long as nothing was ever fetched from the chosen remote.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn elsewhere(&self) -> Result<Option<String>, Failure> {
        let Some(remote) = self.chosen_remote()? else { return Ok(None) };
        if self.repo.read_ref(&sync::log_of(&remote))?.is_some() {
            return Ok(None);
        }
        let named = self.repo.read_ref(log::REF)?.is_none() && self.repo.read_ref(log::NOTES_REF)?.is_some();
        let remote = crate::model::visible_line(&remote);
        Ok(Some(if named {
            format!("refs/notes/handoffs names handoffs that are not fetched yet: git handoff sync {remote}")
        } else {
            format!("teammates may have some: git handoff sync {remote}")
        }))
    }

    /// How long a remote may take.
    ///
    /// # Errors
    /// When `handoff.timeout` is no duration.
    pub(super) fn patience(&self) -> Result<Duration, Failure> {
        let Some(text) = self.repo.config_string("handoff.timeout") else { return Ok(PATIENCE) };
        let seconds = text.parse().ok().or_else(|| super::duration::seconds(&text)).filter(|seconds| *seconds > 0);
        seconds.map(Duration::from_secs).ok_or_else(|| {
            Failure::new(Code::Usage, format!("handoff.timeout is '{text}'; use a duration such as 60s or 2m"))
        })
    }

    /// A remote, ready to share with.
    ///
    /// # Errors
    /// When none has this name.
    pub(super) fn sync_with(&self, name: &str, patience: Duration) -> Result<Sync<'_>, Failure> {
        let set = self.env.var("GIT_SSH_COMMAND").map(str::to_owned);
        let set = set.or_else(|| self.repo.config_string("core.sshCommand"));
        let ssh = set.or_else(|| self.env.var("GIT_SSH").is_none().then(|| "ssh".to_owned()));
        let remote = self.repo.remote(name, &Dialling { ssh, patience }).ok_or_else(|| no_remote(self, name))?;
        Ok(Sync { repo: &self.repo, remote, stamp: self.stamp(), union: &notes::union })
    }
}

fn no_remote(session: &Session<'_>, name: &str) -> Failure {
    let shown = secrets::mask(&crate::git::without_credentials(name)).into_owned();
    let known = session.repo.remotes();
    let hint = if known.is_empty() {
        "add one: git remote add NAME URL".to_owned()
    } else {
        format!("configured are: {}", known.join(", "))
    };
    Failure::new(Code::NotFound, format!("there is no remote '{shown}'")).hint(hint).detail("remote", shown)
}

/// Shares with a remote and keeps the index and the notes up to the log meanwhile.
pub(super) struct Sharing<'s, 'u, 'w> {
    session: &'s Session<'s>,
    index: &'u mut Index,
    ui: &'u mut Ui<'w>,
}

impl<'s, 'u, 'w> Sharing<'s, 'u, 'w> {
    /// For this session, whose own log the index holds.
    pub(super) fn new(session: &'s Session<'s>, index: &'u mut Index, ui: &'u mut Ui<'w>) -> Self {
        Self { session, index, ui }
    }

    /// One round with the remote. What was fetched is joined also when publishing fails.
    ///
    /// # Errors
    /// When the remote cannot be reached, or a secret keeps the log at home.
    pub(super) fn run(&mut self, sync: &Sync<'_>, direction: Direction) -> Result<Exchange, Failure> {
        sync.exchange(direction, self).map_err(|error| failure(&error))?
    }

    /// Takes in what the log gained and gives its new handoffs.
    fn take_up(&mut self) -> Result<Vec<Summary>, Failure> {
        let tip = self.session.repo.read_ref(log::REF)?;
        if tip == self.index.basis() {
            return Ok(Vec::new());
        }
        let mut ids = Vec::new();
        if self.index.is_empty() {
            *self.index = self.session.own_index(tip)?;
            for row in self.index.newest_first() {
                ids.extend(self.index.id_at(row?.position)?);
            }
        } else {
            let walk = self.session.walk(tip, self.index)?;
            for entry in walk.commits.iter().flat_map(|commit| &commit.entries) {
                ids.extend(matches!(entry.event, Event::Handoff(_)).then_some(entry.id));
            }
            self.index.extend(walk.commits, tip)?;
        }
        ids.iter().map(|id| self.session.summary_of(self.index, id)).collect()
    }

    /// The secrets of a commit of the log that nobody has allowed.
    fn secrets_of(&self, commit: &LogCommit, allowed: &HashSet<String>) -> Result<Vec<(String, Located)>, Failure> {
        let mut found = Vec::new();
        for entry in &commit.entries {
            let (document, own) = match &entry.event {
                Event::Handoff(handoff) => (document::to_value(handoff), handoff.metadata.allowed_findings.as_slice()),
                Event::Opaque { .. } => {
                    let Some(blob) = &entry.blob else { continue };
                    let bytes = self.session.repo.read_blob(blob, MAX_EVENT_BYTES)?;
                    (serde_json::from_slice(&bytes).unwrap_or_default(), &[][..])
                }
            };
            let open = |located: &Located| {
                let name = located.finding.fingerprint.as_str();
                !own.iter().any(|each| each == name) && !allowed.contains(name)
            };
            found.extend(
                find_secrets(&document, None).into_iter().filter(open).map(|located| (entry.id.to_string(), located)),
            );
        }
        Ok(found)
    }

    /// The fingerprints that people have waived.
    fn waived(&self) -> Result<HashSet<String>, Failure> {
        let mut waived = HashSet::new();
        for event in self.index.other_events()?.iter().filter(|event| event.kind.as_str() == log::WAIVER) {
            let Some(blob) = &event.blob else { continue };
            let bytes = self.session.repo.read_blob(blob, MAX_EVENT_BYTES)?;
            // What is no waiver waives nothing; `verify` reports it.
            waived.extend(log::waived(&bytes));
        }
        Ok(waived)
    }
}

impl sync::Host for Sharing<'_, '_, '_> {
    type Error = Failure;

    fn joined(&mut self) -> Result<(), Failure> {
        let arrived = self.take_up()?;
        self.session.add_notes(&arrived, self.ui);
        Ok(())
    }

    fn may_publish(&mut self, tip: &ObjectName, known: &[ObjectName]) -> Result<(), Failure> {
        let waived = self.waived()?;
        let leaving: HashSet<ObjectName> = self.session.repo.names_without(tip, known)?.into_iter().collect();
        let mut found = Vec::new();
        let mut outcome = Ok(());
        self.session.log().visit_since(&[*tip], &|commit| (!leaving.contains(commit)).then_some(0), &mut |commit| {
            if outcome.is_ok() {
                outcome = self.secrets_of(&commit, &waived).map(|secrets| found.extend(secrets));
            }
        });
        outcome?;
        if found.is_empty() { Ok(()) } else { Err(withheld(&found)) }
    }
}

fn withheld(found: &[(String, Located)]) -> Failure {
    let line = |(id, located): &(String, Located)| {
        let finding = &located.finding;
        format!(
            "  {} in {} of {}: {} [{}]",
            finding.rule,
            located.field.as_deref().unwrap_or("its text"),
            &id[..12],
            finding.masked,
            finding.fingerprint
        )
    };
    let json = |(id, located): &(String, Located)| {
        let mut value = located.json();
        value["id"] = id.as_str().into();
        value
    };
    let lines: Vec<String> = found.iter().take(20).map(line).collect();
    let what = if found.len() == 1 { "a secret".to_owned() } else { format!("{} secrets", found.len()) };
    Failure::new(
        Code::SecretFound,
        format!("what would be published contains {what}; the log stays at home\n{}", lines.join("\n")),
    )
    .hint(
        "for a false alarm: git handoff waive FINGERPRINT --reason TEXT (recorded); for a real secret: rotate it; \
         the log stays here until it is waived or no longer holds it",
    )
    .detail("findings", found.iter().map(json).collect::<Vec<_>>())
}

/// The failure that a remote's refusal of the log is, without credentials.
pub(super) fn rejected(remote: &str, why: &str) -> Failure {
    let message = format!("the remote '{}' refused the log ({why})", crate::model::visible_line(remote));
    Failure::new(Code::RemoteRejected, secrets::mask(&message).into_owned())
}

/// Whether the remote took what it was offered.
///
/// # Errors
/// When it did not take everything.
pub(super) fn verdict(remote: &str, exchange: &Exchange) -> Result<(), Failure> {
    let remote = crate::model::visible_line(remote);
    let hint = "handoffs are safe in this repository; when the remote takes them, 'git handoff sync' sends the rest";
    let rejected = |message: String| {
        Err(Failure::new(Code::RemoteRejected, secrets::mask(&message).into_owned())
            .hint(hint)
            .detail("log", word(&exchange.log))
            .detail("notes", word(&exchange.notes)))
    };
    match (&exchange.log, &exchange.notes) {
        (Part::Refused(log), Part::Refused(_)) => {
            rejected(format!("the remote '{remote}' refused the log and the notes ({log}); nothing was published"))
        }
        (Part::Refused(log), _) => rejected(format!("the remote '{remote}' refused the log ({log})")),
        (Part::Sent | Part::Current, Part::Refused(notes)) => rejected(format!(
            "the remote '{remote}' has the log, which is enough to resume, but refused the notes ({notes})"
        )),
        (Part::Moved, _) | (_, Part::Moved) => Err(Failure::new(
            Code::Contended,
            format!("others publish to '{remote}' too, and were faster; it has not taken everything"),
        )
        .hint("run 'git handoff sync' again")),
        (Part::Kept, Part::Refused(notes)) => rejected(format!("the remote '{remote}' refused the notes ({notes})")),
        (Part::Kept | Part::Current | Part::Sent, Part::Kept | Part::Current | Part::Sent) => Ok(()),
    }
}

fn word(part: &Part) -> &'static str {
    match part {
        Part::Kept => "kept",
        Part::Current => "current",
        Part::Sent => "sent",
        Part::Moved => "moved",
        Part::Refused(_) => "refused",
    }
}

/// The failure that sharing ended in, without credentials.
pub(super) fn failure(error: &SyncError) -> Failure {
    let safely = |code| {
        let plain = Failure::because(code, error);
        Failure::new(code, secrets::mask(&crate::git::without_credentials(plain.message())).into_owned())
    };
    let local = "handoffs are safe in this repository; run 'git handoff sync' again later";
    match error {
        SyncError::Remote(RemoteError::NeedsCredentials { .. }) => safely(Code::RemoteUnreachable).hint(
            "sync never asks: let git know the credentials (a credential helper or an ssh agent); handoffs are safe here",
        ),
        SyncError::Remote(RemoteError::TimedOut { .. }) => {
            safely(Code::RemoteUnreachable).hint(format!("{local}; 'git config handoff.timeout 5m' waits longer"))
        }
        SyncError::Remote(RemoteError::Unreachable { .. }) => safely(Code::RemoteUnreachable).hint(local),
        SyncError::NotALog { .. } => safely(Code::LogDamaged),
        SyncError::Log(error) => append_failure(error),
        SyncError::Remote(RemoteError::Command(_) | RemoteError::Ref(_))
        | SyncError::Notes(_)
        | SyncError::Ref(_)
        | SyncError::History(_)
        | SyncError::Command(_) => safely(Code::Git),
    }
}
