//! The files of the handoffs: each where the log's order puts it, and none over what somebody else wrote.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::model::{Lane, Link, Summary};

use super::survey::is_conflicted;
use super::tree::Tree;
use super::{FileNames, Finding, ParsedFile, Refresh, ViewError};
use crate::views::cache::Index;

/// Puts handoffs in their files.
pub(super) struct Placing<'a> {
    pub(super) request: &'a Refresh<'a>,
    pub(super) index: &'a Index,
    pub(super) tree: &'a Tree,
    pub(super) findings: Vec<Finding>,
    pub(super) written: usize,
    pending: VecDeque<Task>,
    placed: HashSet<u32>,
}

/// Something to be put in its file.
enum Task {
    /// The handoff at a position.
    Handoff(u32),
    /// A person's version of the handoff at a position, which stood in a file that another handoff has now.
    Edited { position: u32, from: String, bytes: Vec<u8>, kept: PathBuf },
}

/// What stands in a handoff's file, seen from that handoff.
enum Occupant {
    Nothing,
    /// Its rendering, whatever the line ends.
    Itself,
    /// Its content, with names that have changed.
    Outdated,
    /// A person's version of it.
    Edited,
    /// Another handoff of the log, as generated.
    Other(u32),
    /// A person's version of another handoff of the log.
    OtherEdited(u32, Vec<u8>),
    /// A handoff that the log does not know.
    Unknown,
    /// No handoff.
    Garbage(Vec<u8>),
}

impl<'a> Placing<'a> {
    pub(super) fn new(request: &'a Refresh<'a>, index: &'a Index, tree: &'a Tree) -> Self {
        Self {
            request,
            index,
            tree,
            findings: Vec::new(),
            written: 0,
            pending: VecDeque::new(),
            placed: HashSet::new(),
        }
    }

    /// Puts these handoffs in their files, and what they displace in its own.
    pub(super) fn place(&mut self, positions: impl IntoIterator<Item = u32>) -> Result<(), ViewError> {
        self.pending.extend(positions.into_iter().map(Task::Handoff));
        while let Some(task) = self.pending.pop_front() {
            match task {
                Task::Handoff(position) if self.placed.insert(position) => self.place_one(position)?,
                Task::Handoff(_) => {}
                Task::Edited { position, from, bytes, kept } => self.place_edited(position, &from, &bytes, &kept)?,
            }
        }
        Ok(())
    }

    fn place_one(&mut self, position: u32) -> Result<(), ViewError> {
        let summary = self.index.summary(position)?;
        let path = summary.file(self.request.lanes);
        let document = match (self.request.document)(&summary) {
            Ok(document) => document,
            Err(error) => {
                self.findings.push(Finding::Unloadable { id: summary.id, error });
                return Ok(());
            }
        };
        let text = (self.request.render)(&document, &self.names(&summary)?);
        match self.occupant(&summary, &path, &text)? {
            Ok(occupant) => self.settle(&summary, path, text.as_bytes(), occupant),
            Err(finding) => {
                self.findings.push(finding);
                Ok(())
            }
        }
    }

    /// Does to the file what its occupant calls for.
    fn settle(&mut self, summary: &Summary, path: String, text: &[u8], now: Occupant) -> Result<(), ViewError> {
        match now {
            Occupant::Nothing | Occupant::Outdated => self.write(&path, text),
            Occupant::Itself => {}
            Occupant::Edited => self.findings.push(Finding::Edited { path }),
            Occupant::Unknown => self.findings.push(Finding::Occupied { path, wanted_by: summary.id }),
            Occupant::Other(other) => {
                let to = self.index.summary(other)?.file(self.request.lanes);
                self.findings.push(Finding::Renamed { from: path.clone(), to });
                self.write(&path, text);
                self.pending.push_back(Task::Handoff(other));
            }
            Occupant::OtherEdited(other, bytes) => match self.tree.keep(self.request.state_dir, &path, &bytes) {
                Ok(kept) => {
                    self.write(&path, text);
                    // Before anything else writes to the file that it moves to.
                    self.pending.push_front(Task::Edited { position: other, from: path, bytes, kept });
                }
                Err(error) => self.findings.push(Finding::Failed { path, error }),
            },
            Occupant::Garbage(bytes) => match self.tree.keep(self.request.state_dir, &path, &bytes) {
                Ok(kept) => {
                    self.write(&path, text);
                    self.findings.push(Finding::Corrupt { path, kept });
                }
                Err(error) => self.findings.push(Finding::Failed { path, error }),
            },
        }
        Ok(())
    }

    /// Moves a person's version to the file that its handoff has now, unless another stands there.
    fn place_edited(&mut self, position: u32, from: &str, bytes: &[u8], kept: &Path) -> Result<(), ViewError> {
        let summary = self.index.summary(position)?;
        let path = summary.file(self.request.lanes);
        self.placed.insert(position);
        let occupant = match self.occupant(&summary, &path, "")? {
            Ok(occupant) => occupant,
            Err(finding) => {
                self.findings.push(finding);
                return Ok(());
            }
        };
        match occupant {
            Occupant::Edited | Occupant::Unknown | Occupant::Garbage(_) => {
                self.findings.push(Finding::Displaced { path: from.into(), kept: kept.to_owned() });
                return Ok(());
            }
            Occupant::Nothing | Occupant::Itself | Occupant::Outdated => {}
            Occupant::Other(other) => {
                let to = self.index.summary(other)?.file(self.request.lanes);
                self.findings.push(Finding::Renamed { from: path.clone(), to });
                self.placed.remove(&other);
                self.pending.push_back(Task::Handoff(other));
            }
            Occupant::OtherEdited(other, bytes) => match self.tree.keep(self.request.state_dir, &path, &bytes) {
                Ok(kept) => {
                    self.pending.push_front(Task::Edited { position: other, from: path.clone(), bytes, kept });
                }
                Err(error) => {
                    self.findings.push(Finding::Failed { path, error });
                    return Ok(());
                }
            },
        }
        self.write(&path, bytes);
        self.findings.push(Finding::Renamed { from: from.into(), to: path.clone() });
        self.findings.push(Finding::Edited { path });
        Ok(())
    }

    fn write(&mut self, path: &str, bytes: &[u8]) {
        match self.tree.write(path, bytes) {
            Ok(()) => self.written += 1,
            Err(finding) => self.findings.push(finding),
        }
    }

    fn occupant(&self, summary: &Summary, path: &str, text: &str) -> Result<Result<Occupant, Finding>, ViewError> {
        let bytes = match self.tree.read(path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Ok(Occupant::Nothing)),
            Err(finding) => return Ok(Err(finding)),
        };
        let Some(found) = std::str::from_utf8(&bytes).ok() else { return Ok(Ok(Occupant::Garbage(bytes))) };
        if plain(found) == text {
            return Ok(Ok(Occupant::Itself));
        }
        let Some(ParsedFile { id, claimed }) = (self.request.parse)(found) else {
            return Ok(Ok(Occupant::Garbage(bytes)));
        };
        if id == summary.id {
            return Ok(Ok(Occupant::Outdated));
        }
        if let Some(other) = self.index.find(&id)? {
            return Ok(Ok(Occupant::Other(other)));
        }
        Ok(Ok(match claimed {
            // A person has not edited what a merge left unfinished.
            Some(claimed) if claimed == summary.id && is_conflicted(found) && !is_conflicted(text) => {
                Occupant::Garbage(bytes)
            }
            Some(claimed) if claimed == summary.id => Occupant::Edited,
            Some(claimed) => match self.index.find(&claimed)? {
                Some(other) => Occupant::OtherEdited(other, bytes),
                None => Occupant::Unknown,
            },
            None => Occupant::Unknown,
        }))
    }

    /// Moves generated files whose handoffs have other names now. Everything was placed before, so that what goes
    /// stands in its new place already.
    pub(super) fn remove_stale(&mut self, lane: &Lane, expected: &HashSet<String>) -> Result<(), ViewError> {
        let dir = format!("{}/handoffs", lane.dir);
        let names = match self.tree.names(&dir) {
            Ok(names) => names,
            Err(finding) => {
                self.findings.push(finding);
                return Ok(());
            }
        };
        for name in names.iter().filter(|name| is_session_file(name) && !expected.contains(*name)) {
            let path = format!("{dir}/{name}");
            let Ok(Some(bytes)) = self.tree.read(&path) else { continue };
            let Some(parsed) = std::str::from_utf8(&bytes).ok().and_then(self.request.parse) else { continue };
            let Some(position) = self.index.find(&parsed.id)? else { continue };
            let to = self.index.summary(position)?.file(self.request.lanes);
            if !matches!(self.tree.read(&to), Ok(Some(_))) {
                continue;
            }
            match self.tree.remove(&path) {
                Ok(()) => self.findings.push(Finding::Renamed { from: path, to }),
                Err(finding) => self.findings.push(finding),
            }
        }
        Ok(())
    }

    fn names(&self, summary: &Summary) -> Result<FileNames, ViewError> {
        Ok(FileNames {
            id: summary.id,
            session: summary.session(),
            previous: linked(self.index, summary.previous.as_ref())?.map(|previous| previous.session()),
            resumed_from: linked(self.index, summary.resumed_from.as_ref())?
                .map(|source| source.file(self.request.lanes)),
        })
    }
}

/// The handoff that a link leads to, where the log knows it.
pub(super) fn linked(index: &Index, link: Option<&Link>) -> Result<Option<Summary>, ViewError> {
    let Some(id) = link.and_then(Link::id) else { return Ok(None) };
    Ok(index.find(&id)?.map(|position| index.summary(position)).transpose()?)
}

/// A text without what `core.autocrlf` and some editors add.
fn plain(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

/// Whether a file has a name such as `2026-08-18-1704-2.md`.
fn is_session_file(name: &str) -> bool {
    let shape = "0000-00-00-0000";
    let fits = |stem: &str| {
        stem.bytes()
            .zip(shape.bytes())
            .all(|(byte, like)| if like == b'0' { byte.is_ascii_digit() } else { byte == b'-' })
    };
    let parts = name.strip_suffix(".md").and_then(|stem| stem.split_at_checked(shape.len()));
    parts.is_some_and(|(stem, rest)| {
        let ordinal = rest.strip_prefix('-').unwrap_or_default();
        fits(stem) && (rest.is_empty() || (!ordinal.is_empty() && ordinal.bytes().all(|byte| byte.is_ascii_digit())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_order_gives_are_taken_for_generated_ones() {
        for name in ["2026-08-18-1704.md", "2026-08-18-1704-12.md"] {
            assert!(is_session_file(name), "{name}");
        }
        for name in ["2026-08-18-170400-slug.md", "2026-08-18-1704-.md", "notes.md", "2026-08-18-1704.txt", "é"] {
            assert!(!is_session_file(name), "{name}");
        }
    }
}
