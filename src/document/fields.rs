//! The one table of a document's sections, from which JSON, rendering and reading are derived.

use crate::model::Content;

/// One field of the content: its name in JSON, its heading in Markdown, its kind.
pub(super) struct Field {
    /// The name in JSON.
    pub(super) json: &'static str,
    /// The heading that rendering gives it.
    pub(super) heading: &'static str,
    /// Whether a reader always looks for the section.
    pub(super) presence: Presence,
    /// What it holds.
    pub(super) kind: Kind,
    /// Headings that mean the same, in the form that [`folded`] gives; the first is the field's own heading.
    synonyms: &'static [&'static str],
}

/// Whether a section without content is rendered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is left out.
    WhenFilled,
    /// It says that nothing is recorded.
    Always,
}

/// What a field holds, and how to reach it.
pub(super) enum Kind {
    /// Text.
    Prose(Slot<Option<String>>),
    /// A list of texts.
    List(Marker, Slot<Vec<String>>),
    /// The two lists of the scope.
    Scope,
    /// The files.
    Files,
    /// The evidence.
    Evidence,
}

/// How the entries of a list are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// `- `
    Bullet,
    /// `1. `
    Number,
}

/// A place in the content.
pub(super) struct Slot<T> {
    /// Reads it.
    pub(super) get: fn(&Content) -> &T,
    /// Reaches it for writing.
    pub(super) get_mut: fn(&mut Content) -> &mut T,
}

/// What stands in a section that is always there and has no content.
pub(super) const NOT_RECORDED: &str = "Not recorded.";
/// The heading of the metadata.
pub(super) const METADATA: &str = "Metadata";
/// The heading under which sections stand, as JSON, whose own headings cannot stand in the document.
pub(super) const OTHER_SECTIONS: &str = "Other Sections";
/// The key of `extra` for text that precedes every heading.
pub(super) const PREAMBLE: &str = "Preamble";

/// What a heading means.
pub(super) enum Meaning {
    /// A field of the content.
    Field(&'static Field),
    /// The metadata.
    Metadata,
    /// Sections that could not have headings of their own.
    OtherSections,
    /// Nothing that this tool knows: the section is kept verbatim.
    Unknown,
}

/// What a heading means. Case, punctuation, emphasis and leading numbers do not matter.
pub(super) fn meaning(heading: &str) -> Meaning {
    let folded = folded(heading);
    match folded.as_str() {
        "metadata" => Meaning::Metadata,
        "other sections" => Meaning::OtherSections,
        other => FIELDS.iter().find(|field| field.synonyms.contains(&other)).map_or(Meaning::Unknown, Meaning::Field),
    }
}

/// A heading in small letters, words separated by one space, without punctuation and leading numbers.
fn folded(heading: &str) -> String {
    let spelled = heading.to_lowercase().replace('&', " and ");
    let words = spelled.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

macro_rules! slot {
    ($field:ident) => {
        Slot { get: |content| &content.$field, get_mut: |content| &mut content.$field }
    };
}

macro_rules! fields {
    ($($json:literal $heading:literal $presence:ident $kind:expr, [$($synonym:literal),+ $(,)?];)+) => {
        &[$(Field {
            json: $json, heading: $heading, presence: Presence::$presence, kind: $kind, synonyms: &[$($synonym),+],
        }),+]
    };
}

/// Every field of the content, in the order in which rendering writes them. The synonyms hold the headings of
/// the older skills and others that authors use for the same thing.
pub(super) static FIELDS: &[Field] = fields! {
    "objective" "Objective" Always Kind::Prose(slot!(objective)),
        ["objective", "objectives", "goal", "goals", "purpose", "mission", "task", "session objective", "session goal"];
    "scope" "Scope" WhenFilled Kind::Scope, ["scope"];
    "current_state" "Current State" Always Kind::Prose(slot!(current_state)),
        ["current state", "current state summary", "current status", "state", "state summary", "where things stand",
         "summary", "session summary"];
    "approved_plan" "Approved Plan" WhenFilled Kind::List(Marker::Number, slot!(approved_plan)),
        ["approved plan", "plan", "agreed plan", "implementation plan"];
    "completed_steps" "Work Completed" WhenFilled Kind::List(Marker::Bullet, slot!(completed_steps)),
        ["work completed", "completed work", "completed", "completed steps", "completed tasks", "tasks completed",
         "tasks finished", "work done", "done", "what was done", "what was accomplished", "accomplishments",
         "progress", "changes made"];
    "files_changed" "Files Changed" WhenFilled Kind::Files,
        ["files changed", "changed files", "files modified", "modified files", "files", "critical files", "key files",
         "important files", "relevant files", "files touched", "files created modified", "files modified created"];
    "decisions" "Architecture & Decisions" WhenFilled Kind::List(Marker::Bullet, slot!(decisions)),
        ["architecture and decisions", "decisions", "decisions made", "key decisions", "important decisions",
         "architecture decisions", "architectural decisions", "design decisions", "technical decisions",
         "decision log"];
    "database_changes" "Database Changes" WhenFilled Kind::Prose(slot!(database_changes)),
        ["database changes", "db changes", "schema changes"];
    "api_changes" "API Changes" WhenFilled Kind::Prose(slot!(api_changes)), ["api changes", "interface changes"];
    "frontend_changes" "Frontend Changes" WhenFilled Kind::Prose(slot!(frontend_changes)),
        ["frontend changes", "front end changes", "ui changes"];
    "commands" "Commands Executed" WhenFilled Kind::List(Marker::Bullet, slot!(commands)),
        ["commands executed", "commands", "commands run", "executed commands", "commands used"];
    "verification_evidence" "Verification" WhenFilled Kind::Evidence,
        ["verification", "verification evidence", "verification results", "verified", "tests", "tests run", "testing",
         "test results", "test status", "checks", "validation"];
    "known_failures" "Issues / Risks" WhenFilled Kind::List(Marker::Bullet, slot!(known_failures)),
        ["issues risks", "issues", "risks", "issues and risks", "risks and issues", "known issues", "known failures",
         "known problems", "open issues", "problems", "potential gotchas", "gotchas", "pitfalls", "caveats",
         "blockers", "blockers open questions"];
    "constraints" "Constraints" WhenFilled Kind::List(Marker::Bullet, slot!(constraints)), ["constraints"];
    "prerequisites" "Prerequisites" WhenFilled Kind::List(Marker::Bullet, slot!(prerequisites)),
        ["prerequisites", "preconditions"];
    "pending_steps" "Remaining Work" WhenFilled Kind::List(Marker::Number, slot!(pending_steps)),
        ["remaining work", "remaining", "remaining steps", "remaining tasks", "pending work", "pending",
         "pending steps", "pending tasks", "open tasks", "open items", "outstanding work", "unfinished work",
         "what remains", "todo", "todos", "to do", "deferred items"];
    "next_action" "Next Recommended Action" Always Kind::Prose(slot!(next_action)),
        ["next recommended action", "recommended next action", "next action", "next actions", "next step",
         "next steps", "immediate next step", "immediate next steps", "recommended next step",
         "recommended next steps", "what to do next"];
    "resume_instructions" "Resume Instructions" WhenFilled Kind::Prose(slot!(resume_instructions)),
        ["resume instructions", "resumption instructions", "resume", "how to resume", "important context",
         "context for resuming agent", "continuation instructions"];
    "context_refs" "Context References" WhenFilled Kind::List(Marker::Bullet, slot!(context_refs)),
        ["context references", "context refs", "references", "related resources", "related documents"];
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_means_its_own_field_and_no_synonym_means_two() {
        for field in FIELDS {
            assert_eq!(field.synonyms.first(), Some(&folded(field.heading).as_str()));
            for synonym in field.synonyms {
                let holders = FIELDS.iter().filter(|other| other.synonyms.contains(synonym)).count();
                assert_eq!((holders, folded(synonym)), (1, (*synonym).to_owned()));
            }
        }
    }

    #[test]
    fn case_emphasis_numbers_and_punctuation_do_not_matter() {
        for heading in ["DECISIONS made", "**Decisions Made:**", "3. Decisions Made", "⚖️ Decisions — made"] {
            assert!(matches!(meaning(heading), Meaning::Field(field) if field.json == "decisions"), "{heading}");
        }
        assert!(matches!(meaning("Decisions nobody made"), Meaning::Unknown));
    }
}
