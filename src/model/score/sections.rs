//! The content as sections of text, under the headings that people know them by.

use std::borrow::Cow;

use crate::model::{Content, Evidence, FileEntry, Outcome};

pub(super) const OBJECTIVE: &str = "Objective";
pub(super) const CURRENT_STATE: &str = "Current State";
pub(super) const WORK_COMPLETED: &str = "Work Completed";
pub(super) const FILES: &str = "Files Changed";
pub(super) const DECISIONS: &str = "Architecture & Decisions";
pub(super) const VERIFICATION: &str = "Verification";
pub(super) const REMAINING: &str = "Remaining Work";
pub(super) const NEXT_ACTION: &str = "Next Recommended Action";
pub(super) const RESUME: &str = "Resume Instructions";

/// A section that is not empty.
pub(super) struct Section<'a> {
    pub(super) heading: &'a str,
    /// Its text; the entries of a list stand on lines of their own.
    pub(super) text: Cow<'a, str>,
    pub(super) speaks_of: SpeaksOf,
}

/// What the files that a section mentions have to do with the work tree as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeaksOf {
    /// They should be there.
    Present,
    /// They may be still to come: what is left to do makes files.
    Future,
    /// Nothing: commands and their output make and name all sorts of files, and the file list is judged on its own.
    Elsewhere,
}

/// Every section that is not empty, in the order of the Markdown.
pub(super) fn of(content: &Content) -> Vec<Section<'_>> {
    use SpeaksOf::{Elsewhere, Future, Present};
    let files: Vec<String> = content.files_changed.iter().map(file_line).collect();
    let evidence: Vec<String> = content.verification_evidence.iter().map(evidence_line).collect();
    let mut sections = vec![
        section(OBJECTIVE, text(content.objective.as_ref()), Future),
        section("Scope", list(&[&content.scope.included[..], &content.scope.excluded].concat()), Future),
        section(CURRENT_STATE, text(content.current_state.as_ref()), Present),
        section("Approved Plan", list(&content.approved_plan), Future),
        section(WORK_COMPLETED, list(&content.completed_steps), Present),
        section(FILES, list(&files), Elsewhere),
        section(DECISIONS, list(&content.decisions), Present),
        section("Database Changes", text(content.database_changes.as_ref()), Present),
        section("API Changes", text(content.api_changes.as_ref()), Present),
        section("Frontend Changes", text(content.frontend_changes.as_ref()), Present),
        section("Commands Executed", list(&content.commands), Elsewhere),
        section(VERIFICATION, list(&evidence), Elsewhere),
        section("Issues / Risks", list(&content.known_failures), Present),
        section("Constraints", list(&content.constraints), Present),
        section("Prerequisites", list(&content.prerequisites), Future),
        section(REMAINING, list(&content.pending_steps), Future),
        section(NEXT_ACTION, text(content.next_action.as_ref()), Future),
        section(RESUME, text(content.resume_instructions.as_ref()), Present),
        section("Context References", list(&content.context_refs), Present),
    ];
    sections
        .extend(content.extra.iter().map(|(heading, body)| section(heading, Cow::Borrowed(body.as_str()), Present)));
    sections.retain(|section| !section.text.trim().is_empty());
    sections
}

fn section<'a>(heading: &'a str, text: Cow<'a, str>, speaks_of: SpeaksOf) -> Section<'a> {
    Section { heading, text, speaks_of }
}

fn text(field: Option<&String>) -> Cow<'_, str> {
    Cow::Borrowed(field.map_or("", String::as_str))
}

fn list<'a>(entries: &[String]) -> Cow<'a, str> {
    Cow::Owned(entries.join("\n"))
}

fn file_line(entry: &FileEntry) -> String {
    match &entry.note {
        Some(note) => format!("{}: {note}", entry.path),
        None => entry.path.clone(),
    }
}

/// The outcome counts as a word: "passed: make" says something.
fn evidence_line(evidence: &Evidence) -> String {
    let outcome = evidence.outcome.map(Outcome::as_str);
    let parts = [evidence.command.as_deref(), outcome, evidence.detail.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
