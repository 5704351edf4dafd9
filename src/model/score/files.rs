//! The files that a handoff names: do they exist?

use std::collections::{BTreeMap, BTreeSet};

use super::sections::{self, Section, SpeaksOf};
use super::{Facts, Fault};
use crate::model::paths::{self, Certainty, Mention, PathReference};
use crate::model::{Change, Content, FileEntry, visible_line};

/// What is known of the files that a handoff names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// Whether at least one of them exists, or is gone as the handoff says.
    pub(super) existing: bool,
    /// Those that should exist and do not, each once, in order.
    pub(super) missing: Vec<Fault>,
    /// Those that are still to come.
    pub(super) notes: Vec<String>,
}

/// Verbs that make a file, in lower case: what is left to do may speak of files that it will make.
const MAKING: &[&str] = &[
    "add",
    "create",
    "draft",
    "generate",
    "implement",
    "introduce",
    "new",
    "scaffold",
    "write",
    "anlegen",
    "erstellen",
];

pub(super) fn survey(facts: &Facts<'_>, sections: &[Section<'_>]) -> Survey {
    let mut ledger = Ledger {
        facts,
        existing: false,
        absent: BTreeMap::new(),
        known: BTreeMap::new(),
        excused: BTreeMap::new(),
        order: 0,
    };
    for entry in &facts.content.files_changed {
        ledger.entry(entry);
    }
    for section in sections {
        for reference in references(section) {
            ledger.note(section.heading, &reference);
        }
    }
    ledger.close()
}

/// The files that the prose of a content names, in order. The entries of its file list are not among them.
pub fn named_in(content: &Content) -> Vec<PathReference> {
    sections::of(content).iter().flat_map(references).collect()
}

/// The files that a section mentions, line by line, with what the section itself says of their existence.
fn references(section: &Section<'_>) -> Vec<PathReference> {
    let mut all = paths::references(&section.text);
    match section.speaks_of {
        SpeaksOf::Present => {}
        SpeaksOf::Elsewhere => all.iter_mut().for_each(|each| each.certainty = Certainty::Possible),
        SpeaksOf::Future => announce(&section.text, &mut all),
    }
    all
}

/// Marks as planned what stands on a line that speaks of making something.
fn announce(text: &str, all: &mut [PathReference]) {
    let makes = |line: &&str| super::judge::words(line).iter().any(|word| MAKING.contains(&word.as_str()));
    let made: BTreeSet<String> =
        text.lines().filter(makes).flat_map(paths::references).map(|reference| reference.path).collect();
    let plain = all.iter_mut().filter(|each| each.mention == Mention::Present && made.contains(&each.path));
    plain.for_each(|each| each.mention = Mention::Planned);
}

/// Names as they are met; a file that one place excuses is excused everywhere.
struct Ledger<'a> {
    facts: &'a Facts<'a>,
    existing: bool,
    /// Path → (when it was first met, heading).
    absent: BTreeMap<String, (usize, String)>,
    /// Path → whether it exists.
    known: BTreeMap<String, bool>,
    excused: BTreeMap<String, Mention>,
    order: usize,
}

impl Ledger<'_> {
    /// An entry of the file list. What the tool collected (it has a blob) was there at the time.
    fn entry(&mut self, entry: &FileEntry) {
        self.excused.extend(entry.from.as_deref().map(|from| (paths::normal_form(from), Mention::Gone)));
        self.existing |= entry.blob.is_some();
        let Some(mut reference) = paths::entry(&entry.path) else { return };
        reference.mention = match entry.change {
            Some(Change::Deleted) => Mention::Gone,
            Some(Change::Added) => Mention::Planned,
            Some(Change::Modified | Change::Renamed | Change::Copied | Change::TypeChanged) | None => {
                let note = entry.note.as_deref().unwrap_or_default();
                paths::mention_in(note)
            }
        };
        if entry.blob.is_some() {
            self.excused.insert(reference.path.clone(), Mention::Gone);
        }
        if reference.mention == Mention::Gone && !self.exists(&reference.path) {
            self.existing = true;
        }
        self.note(sections::FILES, &reference);
    }

    fn note(&mut self, heading: &str, reference: &PathReference) {
        if self.exists(&reference.path) {
            self.existing = true;
            return;
        }
        if reference.certainty == Certainty::Possible || paths::is_own_view(&reference.path) {
            return;
        }
        if reference.mention != Mention::Present {
            self.excused.entry(reference.path.clone()).or_insert(reference.mention);
        }
        self.order += 1;
        self.absent.entry(reference.path.clone()).or_insert((self.order, heading.into()));
    }

    /// Asks the caller once a path: it may have to look at the disk.
    fn exists(&mut self, path: &str) -> bool {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        let exists = paths::exists(path, self.facts.path_exists);
        self.known.insert(path.into(), exists);
        exists
    }

    fn close(self) -> Survey {
        let mut absent: Vec<(usize, String, String)> =
            self.absent.into_iter().map(|(path, (order, heading))| (order, heading, path)).collect();
        absent.sort_unstable();
        let mut survey = Survey { existing: self.existing, ..Survey::default() };
        for (_, heading, path) in absent {
            let excuse = self.excused.get(&path).copied().unwrap_or(Mention::Present);
            let path = visible_line(&path).into_owned();
            match excuse {
                Mention::Present => survey.missing.push(Fault::MissingFile { heading, path }),
                Mention::Planned => survey.notes.push(format!("{heading}: the file '{path}' is still to be created.")),
                Mention::Gone => {}
            }
        }
        survey
    }
}
