//! Handoffs that stand only in files of the work tree: what commands that read show of them, and what `recover` and
//! `import` take into the log.

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::judge;
use super::session::Session;
use super::store::{append_failure, describe};
use crate::document::{self, Found};
use crate::log::{Append, NewEvent, effective};
use crate::model::{AgentName, Entry, Event, EventId, EventKind, Handoff, LogCommit, SessionName, Summary};
use crate::secrets::Fingerprint;
use crate::views::cache::Index;
use crate::views::files::{Layout, Look, read_file, unknown_files};

/// A handoff that a file holds.
#[derive(Debug, Clone)]
pub(super) struct FileOnly {
    /// The file, relative to the top of the work tree where it stands in it.
    pub(super) path: String,
    /// The id that its content has.
    pub(super) id: EventId,
    /// The handoff.
    pub(super) handoff: Handoff,
    /// What the file says of itself.
    pub(super) claim: Claim,
    /// The how-manieth of its minute the file's name says that it is.
    ordinal: u32,
}

/// What a file says of the id of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It names the id that its content has: nobody has changed it.
    Sound,
    /// It names none, as the files of other and older tools do.
    None,
    /// It names another id: somebody has changed it since.
    Broken(EventId),
}

/// A file, or one side of it, that is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The file.
    pub(super) path: String,
    /// The kind of the refusal.
    pub(super) code: Code,
    /// Why.
    pub(super) reason: String,
}

impl Refused {
    /// As `--json` gives it.
    pub(super) fn json(&self) -> Value {
        json!({"path": self.path, "code": self.code.name(), "reason": self.reason})
    }
}

/// What stands only in files, by what becomes of it.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// What can be recorded.
    pub(super) accepted: Vec<FileOnly>,
    /// What is not taken.
    pub(super) refused: Vec<Refused>,
    /// Files that give an id which is not their content's, with that id.
    pub(super) edited: Vec<(String, EventId)>,
}

impl Sorted {
    /// Leaves edited files out: nobody has said that they are meant.
    pub(super) fn of(session: &Session<'_>, mut found: Unrecorded) -> Self {
        let (edited, others) = found.handoffs.into_iter().partition(|file| file.claim.broken().is_some());
        found.handoffs = others;
        let edited: Vec<FileOnly> = edited;
        Self { edited: claims(&edited), ..Self::with_edited(session, found) }
    }

    /// Takes edited files as what they hold now.
    pub(super) fn with_edited(session: &Session<'_>, found: Unrecorded) -> Self {
        let mut sorted = Self { refused: found.refused, edited: claims(&found.handoffs), ..Self::default() };
        for file in found.handoffs {
            match session.acceptable(&file) {
                Ok(()) => sorted.accepted.push(file),
                Err(refusal) => sorted.refused.push(refusal),
            }
        }
        sorted
    }
}

/// The files that give another id than their content has.
fn claims(files: &[FileOnly]) -> Vec<(String, EventId)> {
    files.iter().filter_map(|file| Some((file.path.clone(), file.claim.broken()?))).collect()
}

/// What the files of a work tree hold that the log does not.
#[derive(Debug, Default)]
pub(super) struct Unrecorded {
    /// Handoffs, oldest first.
    pub(super) handoffs: Vec<FileOnly>,
    /// Files that cannot be read as handoffs.
    pub(super) refused: Vec<Refused>,
}

impl Unrecorded {
    /// Adds what was read of a file.
    pub(super) fn add(&mut self, read: Result<FileOnly, Refused>) {
        match read {
            Ok(found) => self.handoffs.push(found),
            Err(refused) => self.refused.push(refused),
        }
    }

    /// Drops what the log has under the id of the content or, where a file was edited, under the one that it names.
    fn without_known(mut self, index: &Index) -> Result<Self, Failure> {
        let mut kept: Vec<FileOnly> = Vec::new();
        for found in self.handoffs {
            let names = [Some(found.id), found.claim.broken()];
            let mut known = false;
            for id in names.into_iter().flatten() {
                known |= index.find(&id)?.is_some();
            }
            if !known && !kept.iter().any(|other| other.id == found.id) {
                kept.push(found);
            }
        }
        self.handoffs = kept;
        Ok(self.in_order())
    }
}

impl Unrecorded {
    /// The oldest first, each once.
    pub(super) fn in_order(mut self) -> Self {
        // Within a minute the names of the files tell the order in which the log had them.
        self.handoffs.sort_by_key(|found| (found.handoff.created.millis(), found.ordinal, found.id));
        self.handoffs.dedup_by_key(|found| found.id);
        self
    }
}

impl Claim {
    /// The id that is named and is not the content's.
    pub(super) fn broken(self) -> Option<EventId> {
        match self {
            Self::Broken(claimed) => Some(claimed),
            Self::Sound | Self::None => None,
        }
    }
}

impl FileOnly {
    /// The handoff as if a commit without a name held it, after one with this effective time.
    fn commit(&self, after: i64) -> LogCommit {
        let event = Event::Handoff(Box::new(self.handoff.clone()));
        let entry = Entry { id: self.id, kind: EventKind::Handoff, blob: None, event };
        LogCommit {
            name: None,
            effective: effective(self.handoff.created.millis(), [after]),
            entries: vec![entry],
            anomalies: Vec::new(),
        }
    }
}

/// The file in which alone a handoff stands.
#[derive(Debug, Clone)]
pub(super) struct OnlyIn {
    /// The file.
    pub(super) path: String,
    /// What it says of itself.
    pub(super) claim: Claim,
}

impl OnlyIn {
    /// Where a handoff stands, if it is in no log and in no spool.
    pub(super) fn of(session: &Session<'_>, summary: &Summary) -> Option<Self> {
        if summary.recorded_in.is_some() {
            return None;
        }
        let files = session.file_only.borrow();
        let found = files.iter().find(|found| found.id == summary.id)?;
        Some(Self { path: found.path.clone(), claim: found.claim })
    }

    /// The mark in lists.
    pub(super) fn mark(&self) -> &'static str {
        match self.claim {
            Claim::Sound | Claim::None => " (file only)",
            Claim::Broken(_) => " (file only, edited)",
        }
    }

    /// What can be said of the content's integrity.
    pub(super) fn integrity(&self) -> &'static str {
        match self.claim {
            Claim::Sound => "matches the id that its file gives; not in the log",
            Claim::None => "unverified: its file gives no id; not in the log",
            Claim::Broken(_) => "unverified: its file was edited; not in the log",
        }
    }
}

impl Session<'_> {
    /// What stands only in the lanes' files, seen from an index of all that the log holds.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(super) fn unrecorded(&self, index: &Index, look: Look) -> Result<Unrecorded, Failure> {
        let mut found = Unrecorded::default();
        let Some(top) = self.repo.work_dir().filter(|_| self.layout != Layout::Off) else { return Ok(found) };
        // Where the work tree cannot be entered there is nothing to be shown.
        let paths = unknown_files(top, &self.repo.state_dir(), &self.lanes, index, look).unwrap_or_default();
        for path in paths {
            match read_file(top, &path) {
                Ok(Some(bytes)) => self.read_handoffs(&path, &bytes).into_iter().for_each(|read| found.add(read)),
                Ok(None) => {}
                Err(finding) => {
                    found.add(Err(Refused { path, code: Code::Io, reason: finding.to_string() }));
                }
            }
        }
        found.without_known(index)
    }

    /// Shows what stands only in files as if the log had it, for commands that only read.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(super) fn overlay_files(&self, index: &mut Index, look: Look) -> Result<(), Failure> {
        let found = self.unrecorded(index, look)?;
        if !found.handoffs.is_empty() {
            let mut last = i64::MIN;
            index.overlay(found.handoffs.iter().map(|file| {
                let commit = file.commit(last);
                last = commit.effective;
                commit
            }))?;
        }
        self.file_only.replace(found.handoffs);
        Ok(())
    }

    /// The handoffs that a file holds: one, or one on each side of a merge that was left unfinished.
    pub(super) fn read_handoffs(&self, path: &str, bytes: &[u8]) -> Vec<Result<FileOnly, Refused>> {
        match sides(bytes) {
            Some(sides) => {
                let both: Vec<_> = sides.iter().map(|side| self.read_handoff(path, side.as_bytes())).collect();
                // The text as it is may be a handoff that speaks of conflict markers.
                let whole = self.read_handoff(path, bytes);
                if whole.as_ref().is_ok_and(|whole| whole.claim == Claim::Sound) { vec![whole] } else { both }
            }
            None => vec![self.read_handoff(path, bytes)],
        }
    }

    fn read_handoff(&self, path: &str, bytes: &[u8]) -> Result<FileOnly, Refused> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let refused = |error: &dyn std::error::Error| Refused {
            path: path.into(),
            code: Code::BadInput,
            reason: Failure::because(Code::BadInput, error).message().into(),
        };
        if let Ok(handoff) = document::from_json(bytes.trim_ascii()) {
            let id = document::id(&handoff);
            let claim = if EventId::of(bytes.trim_ascii()) == id { Claim::Sound } else { Claim::None };
            return Ok(FileOnly { path: path.into(), id, handoff, claim, ordinal: 1 });
        }
        let ours = std::str::from_utf8(bytes).ok().and_then(|text| document::parse_view(text).ok());
        let (handoff, claimed) = match ours {
            Some(view) => (view.handoff, view.claimed_id),
            None => {
                let agent = self.agent_of(path);
                let handoff = document::read_older(bytes, &Found { stem, agent: &agent }).map_err(|e| refused(&e))?;
                let input = document::read_input(bytes).ok();
                (handoff, input.and_then(|input| input.claims.handoff_id?.parse().ok()))
            }
        };
        let id = document::id(&handoff);
        let claim = match claimed {
            Some(claimed) if claimed == id => Claim::Sound,
            Some(claimed) => Claim::Broken(claimed),
            None => Claim::None,
        };
        Ok(FileOnly { path: path.into(), id, handoff, claim, ordinal: ordinal(stem) })
    }

    /// The agent in whose lane a file stands.
    fn agent_of(&self, path: &str) -> AgentName {
        let dir = path.split_once("/handoffs/").map(|(dir, _)| dir);
        let custom = self.lanes.custom().find(|(_, lane)| Some(*lane) == dir).map(|(agent, _)| agent.clone());
        let fixed = || ["codex", "claude", "opencode"].into_iter().find(|name| dir == Some(&format!(".{name}")));
        custom.or_else(|| fixed()?.parse().ok()).unwrap_or_else(AgentName::unknown)
    }

    /// Records the handoffs of files at the places in the order that their own times give them, and brings the index up
    /// to it. The caller has asked whether they are [acceptable](Self::acceptable).
    ///
    /// # Errors
    /// When they cannot be recorded.
    pub(super) fn record_files(&self, index: &mut Index, found: &[FileOnly]) -> Result<(), Failure> {
        if found.is_empty() {
            return Ok(());
        }
        let (log, stamp) = (self.log(), self.stamp());
        let append = |found: &FileOnly| {
            let handoff = &found.handoff;
            let session = SessionName::new(handoff.agent.clone(), handoff.created, found.ordinal);
            Append {
                events: vec![NewEvent::new(EventKind::Handoff, document::canonical(handoff))],
                description: describe(handoff, found.id, &session),
            }
        };
        let apart = log.write_apart(&stamp, found.iter().map(append)).map_err(|error| append_failure(&error))?;
        if let Some(apart) = apart {
            let moved = log.take_in_logs(&stamp, &[apart]).map_err(|error| append_failure(&error))?;
            self.bring_to(index, moved.map(|(_, tip)| tip))?;
        }
        Ok(())
    }

    /// Whether a handoff may be recorded.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn acceptable(&self, found: &FileOnly) -> Result<(), Refused> {
        let refused = |failure: &Failure| Refused {
            path: found.path.clone(),
            code: failure.code(),
            reason: failure.message().into(),
        };
        document::within_bounds(&found.handoff).map_err(|error| refused(&Failure::because(Code::TooLarge, &error)))?;
        // What its author allowed when it was sealed is part of the document that the id stands for.
        let allowed: Vec<Fingerprint> = match found.claim {
            Claim::Sound => {
                found.handoff.metadata.allowed_findings.iter().filter_map(|text| text.parse().ok()).collect()
            }
            Claim::None | Claim::Broken(_) => Vec::new(),
        };
        judge::without_secrets(&found.handoff, &allowed).map_err(|failure| refused(&failure))
    }
}

/// The two texts that a merge left in one, if it did.
fn sides(bytes: &[u8]) -> Option<[String; 2]> {
    #[derive(PartialEq)]
    enum Side {
        Both,
        Ours,
        Base,
        Theirs,
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let mut sides = [String::new(), String::new()];
    let (mut side, mut conflicts) = (Side::Both, 0);
    for line in text.split_inclusive('\n') {
        match (line.trim_end(), &side) {
            (marker, Side::Both) if marker.starts_with("<<<<<<< ") => side = Side::Ours,
            (marker, Side::Ours) if marker.starts_with("||||||| ") => side = Side::Base,
            ("=======", Side::Ours | Side::Base) => side = Side::Theirs,
            (marker, Side::Theirs) if marker.starts_with(">>>>>>> ") => {
                conflicts += 1;
                side = Side::Both;
            }
            _ => {
                let [ours, theirs] = &mut sides;
                if matches!(side, Side::Both | Side::Ours) {
                    ours.push_str(line);
                }
                if matches!(side, Side::Both | Side::Theirs) {
                    theirs.push_str(line);
                }
            }
        }
    }
    (conflicts > 0 && side == Side::Both).then_some(sides)
}

/// The `2` of a name such as `2026-08-18-1704-2`.
fn ordinal(stem: &str) -> u32 {
    let rest = stem.get("0000-00-00-0000".len()..).and_then(|rest| rest.strip_prefix('-'));
    rest.and_then(|rest| rest.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_an_unfinished_merge_are_read() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> other\nd\n";
        assert_eq!(sides(text.as_bytes()), Some(["a\nb\nd\n".into(), "a\nc\nd\n".into()]));
        for whole in ["a\n", "a\n<<<<<<< HEAD\nb\n", "=======\n"] {
            assert_eq!(sides(whole.as_bytes()), None, "{whole}");
        }
    }

    #[test]
    fn the_name_tells_the_order_within_a_minute() {
        assert_eq!(["2026-08-18-1704", "2026-08-18-1704-3", "x", "2026-08-18-170400-a"].map(ordinal), [1, 3, 1, 1]);
    }
}
