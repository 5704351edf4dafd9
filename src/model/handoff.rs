//! The handoff document: what is recorded, with every field optional that may be unknown.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::text::is_deceptive;
use super::{AgentName, EventId, ObjectName, Timestamp};

/// A handoff: an immutable, bounded record of where a session stopped (`schema: "handoff/v1"`).
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    /// When it was made.
    pub created: Timestamp,
    /// The agent whose session it closes.
    pub agent: AgentName,
    /// Why it was made.
    pub trigger: Trigger,
    /// How far the work is.
    pub status: Status,
    /// What it is about, in a few words.
    pub topic: Topic,
    /// Who, where, which revision, lineage: what may be unknown.
    pub metadata: Metadata,
    /// What the successor needs.
    pub content: Content,
    /// Whether somebody may continue from this document alone.
    pub completeness: Completeness,
    /// Top-level fields of the JSON that this version does not know, or of which it understands less than they
    /// hold; they are kept as they are and come before what the other fields say when the document is written.
    pub unknown: Map<String, Value>,
}

impl Handoff {
    /// The most bytes that the canonical JSON may have.
    pub const MAX_BYTES: usize = 256 * 1024;
    /// The most entries that a list may have.
    pub const MAX_ENTRIES: usize = 1000;
    /// How many changed files the tool itself collects before it only counts.
    pub const MAX_COLLECTED_FILES: usize = 200;
}

/// The part of a handoff that says where it comes from and may be unknown, field by field.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// The model, as its runtime names it.
    pub model: Option<String>,
    /// The agent's own session id, an opaque text.
    pub agent_session: Option<String>,
    /// The agent's own turn id, an opaque text.
    pub agent_turn: Option<String>,
    /// How the goal of the session ended.
    pub goal_status: Option<Status>,
    /// Where the session worked, relative to the repository's top; `.` for the top itself.
    pub working_directory: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The source commit.
    pub commit: Option<ObjectName>,
    /// Whether there were changes that no commit held.
    pub dirty: Option<bool>,
    /// The handoff that this one continues.
    pub previous: Option<Link>,
    /// The handoff that the session was resumed from.
    pub resumed_from: Option<Link>,
    /// The handoffs that this one corrects.
    pub supersedes: Vec<Link>,
    /// The boundary that an automatic handoff stands for.
    pub boundary: Option<String>,
    /// Fingerprints of findings that the author allowed.
    pub allowed_findings: Vec<String>,
}

/// The part of a handoff that a successor works from. Absent and empty both mean unknown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    /// What the work is for.
    pub objective: Option<String>,
    /// What belongs to the work and what does not.
    pub scope: Scope,
    /// Where things stand.
    pub current_state: Option<String>,
    /// The steps that somebody agreed to.
    pub approved_plan: Vec<String>,
    /// What is done.
    pub completed_steps: Vec<String>,
    /// Files that changed or matter.
    pub files_changed: Vec<FileEntry>,
    /// How many more changed files there were than are listed.
    pub files_omitted: u64,
    /// What was decided, and why.
    pub decisions: Vec<String>,
    /// Changes of the database.
    pub database_changes: Option<String>,
    /// Changes of interfaces.
    pub api_changes: Option<String>,
    /// Changes of the front end.
    pub frontend_changes: Option<String>,
    /// Commands that were run. They are never run again by this tool.
    pub commands: Vec<String>,
    /// What shows that the work is right.
    pub verification_evidence: Vec<Evidence>,
    /// What is known not to work, and risks.
    pub known_failures: Vec<String>,
    /// What must hold.
    pub constraints: Vec<String>,
    /// What must be there first.
    pub prerequisites: Vec<String>,
    /// What remains to be done.
    pub pending_steps: Vec<String>,
    /// The one thing to do next.
    pub next_action: Option<String>,
    /// What to know or set up before going on.
    pub resume_instructions: Option<String>,
    /// History that may help and need not be read.
    pub context_refs: Vec<String>,
    /// Any other section, verbatim, by its heading.
    pub extra: BTreeMap<String, String>,
}

/// What belongs to the work and what does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// What belongs to it.
    pub included: Vec<String>,
    /// What does not.
    pub excluded: Vec<String>,
}

/// A file that changed or matters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileEntry {
    /// Its path relative to the repository's top, with `/`.
    pub path: String,
    /// What happened to it; unknown when an author merely named it.
    pub change: Option<Change>,
    /// Its earlier path, when it was renamed or copied.
    pub from: Option<String>,
    /// Its content at the time, as a blob.
    pub blob: Option<ObjectName>,
    /// What the author says of it.
    pub note: Option<String>,
}

/// Something that shows whether the work is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The command or check; unknown when the author wrote prose.
    pub command: Option<String>,
    /// How it ended; unknown when the author wrote prose.
    pub outcome: Option<Outcome>,
    /// More about it, or the prose.
    pub detail: Option<String>,
    /// Who saw it.
    pub observed_by: Observer,
}

/// A link to another handoff: its id or, where the log does not know it, the text as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Link {
    /// A handoff by its id.
    Id(EventId),
    /// What somebody wrote, kept as it is.
    Text(String),
}

impl Link {
    /// The id, where it is one.
    pub fn id(&self) -> Option<EventId> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Text(_) => None,
        }
    }
}

impl From<&str> for Link {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Text(text.into()), Self::Id)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A word that is none of those allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a {what}; use one of {allowed}", super::visible_line(.word))]
pub struct UnknownWord {
    /// The word as given.
    pub word: String,
    /// What it should have been.
    pub what: &'static str,
    /// The words that are allowed.
    pub allowed: String,
}

/// An enum of fixed words: `as_str`, `ALL`, `Display` and a `FromStr` that takes the aliases too and names the
/// allowed words when it refuses.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$doc:meta])* $variant:ident = $word:literal $(| $alias:literal)*),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it is stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                match text.trim().to_ascii_lowercase().as_str() {
                    $($word $(| $alias)* => Ok(Self::$variant),)+
                    _ => Err(UnknownWord {
                        word: text.into(),
                        what: $what,
                        allowed: Self::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", "),
                    }),
                }
            }
        }
    };
}

words! {
    /// How far the work is.
    Status, "status" {
        /// All of it is done.
        Completed = "completed" | "done" | "complete",
        /// Somebody should go on.
        InProgress = "in-progress" | "wip" | "progress" | "in_progress",
        /// A usable part is done, the rest is open.
        Partial = "partial",
        /// It cannot go on before something else happens.
        Blocked = "blocked",
        /// It was stopped from outside.
        Interrupted = "interrupted" | "abort" | "aborted",
    }
}

impl Status {
    /// Whether something is left to do.
    pub fn is_unfinished(self) -> bool {
        self != Self::Completed
    }
}

words! {
    /// Why a handoff was made.
    Trigger, "trigger" {
        /// Somebody asked for it.
        Manual = "manual",
        /// A goal was closed.
        GoalCompletion = "goal-completion",
        /// Substantial work ended.
        SubstantialWork = "substantial-work",
        /// The context was about to run out.
        ContextPressure = "context-pressure",
        /// Another agent takes over.
        AgentTransfer = "agent-transfer",
        /// The session was stopped from outside.
        Interrupted = "interrupted",
    }
}

words! {
    /// How a check ended.
    Outcome, "outcome" {
        /// It passed.
        Passed = "passed",
        /// It failed.
        Failed = "failed",
        /// It was not run.
        NotRun = "not-run" | "not run",
    }
}

words! {
    /// Who saw how a check ended.
    Observer, "observer" {
        /// This tool ran it itself.
        Tool = "tool",
        /// The author says so.
        Author = "author",
    }
}

words! {
    /// Whether somebody may continue from the document alone.
    Completeness, "completeness" {
        /// The author vouches that nothing else is needed.
        Authoritative = "authoritative_for_continuation",
        /// More may be needed.
        Partial = "partial",
    }
}

/// What happened to a file, by git's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// It is new.
    Added,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It moved.
    Renamed,
    /// It was copied.
    Copied,
    /// It became another type of file.
    TypeChanged,
}

impl Change {
    /// Every value.
    pub const ALL: &'static [Self] =
        &[Self::Added, Self::Modified, Self::Deleted, Self::Renamed, Self::Copied, Self::TypeChanged];

    /// The letter that `git diff --name-status` gives it.
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
            Self::Renamed => 'R',
            Self::Copied => 'C',
            Self::TypeChanged => 'T',
        }
    }

    /// The change that this letter stands for.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.iter().copied().find(|change| change.letter() == letter)
    }
}

/// What a handoff is about: one line of 1 to 200 characters without control characters, kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(String);

/// The text cannot be a topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// There is nothing in it.
    #[error("the topic is empty; say in a few words what the work is about")]
    Empty,
    /// It is longer than [`Topic::MAX_CHARS`].
    #[error("the topic has {0} characters; at most {max} are allowed", max = Topic::MAX_CHARS)]
    TooLong(usize),
    /// It holds a control or invisible character.
    #[error("the topic contains U+{0:04X}; a topic is one line without control or invisible characters")]
    Control(u32),
    /// It looks like a path that climbs out of a directory.
    #[error("the topic contains the path component '..'")]
    Traversal,
}

impl Topic {
    /// The most characters (Unicode scalar values) that a topic may have.
    pub const MAX_CHARS: usize = 200;

    /// The topic as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Topic {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let length = text.chars().count();
        if text.trim().is_empty() {
            return Err(TopicError::Empty);
        }
        if length > Self::MAX_CHARS {
            return Err(TopicError::TooLong(length));
        }
        if let Some(c) = text.chars().find(|c| is_deceptive(*c)) {
            return Err(TopicError::Control(c.into()));
        }
        if (text.contains('/') || text.contains('\\')) && text.split(['/', '\\']).any(|part| part.trim() == "..") {
            return Err(TopicError::Traversal);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_does_not_exist_is_refused_with_those_that_do() {
        let error = "whenever".parse::<Status>().expect_err("not a status");
        assert_eq!(
            error.to_string(),
            "'whenever' is not a status; use one of completed, in-progress, partial, blocked, interrupted"
        );
    }

    #[test]
    fn the_aliases_of_the_seed_are_accepted() {
        let read = ["done", "complete", "wip", "progress", "in_progress", "abort", "aborted"]
            .map(|word| word.parse::<Status>().expect("an alias").as_str());
        let meant =
            ["completed", "completed", "in-progress", "in-progress", "in-progress", "interrupted", "interrupted"];
        assert_eq!(read, meant);
    }

    #[test]
    fn topics_are_kept_byte_for_byte_or_refused() {
        for text in ["  spaces  ", "fix: parser (part 2)", "-- dash", "| pipe |", "😀 مرحبا", "{a: [b]}", "a..b", "..."]
        {
            assert_eq!(text.parse::<Topic>().map(|topic| topic.to_string()), Ok(text.into()));
        }
        assert_eq!(" ".parse::<Topic>(), Err(TopicError::Empty));
        assert_eq!("x".repeat(10_000).parse::<Topic>(), Err(TopicError::TooLong(10_000)));
        assert_eq!("two\nlines".parse::<Topic>(), Err(TopicError::Control(10)));
        assert_eq!("../../etc".parse::<Topic>(), Err(TopicError::Traversal));
    }
}
