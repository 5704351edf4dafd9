//! How a command fails: what failed, what to do, and the exit code. The one place for all three.

use std::error::Error;
use std::fmt;
use std::io;

use serde_json::{Map, Value, json};

use crate::git::{ChangesError, CommandError, HistoryError, NotesError, ObjectError, RefError};
use crate::log::SpoolError;
use crate::model::visible;
use crate::views::cache::CacheError;

/// The kinds of failure. Name and exit code are contract (section 11 of the design, `docs/json.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Input or output failed.
    Io,
    /// The device is full.
    StorageFull,
    /// Something cannot be written for lack of permission.
    NotWritable,
    /// Git, or reading what git holds, failed.
    Git,
    /// The command line makes no sense.
    Usage,
    /// The document given cannot be read.
    BadInput,
    /// Nothing matches.
    NotFound,
    /// More than one thing matches.
    Ambiguous,
    /// The score is below the threshold.
    ScoreTooLow,
    /// The document, or one of its fields, is too large.
    TooLarge,
    /// Something is missing that a complete handoff must have.
    NotAuthoritative,
    /// There is a secret in it.
    SecretFound,
    /// Others were faster, again and again.
    Contended,
    /// This is not a repository.
    NoRepository,
    /// Git does not trust the repository's owner.
    UnsafeRepository,
    /// The log's ref does not lead to a log that can be read.
    LogDamaged,
    /// The metadata cache is damaged: a command that meets it starts again without it.
    CacheDamaged,
    /// The document of a handoff is not in this repository.
    HandoffMissing,
    /// The document of a handoff does not match its id.
    HandoffTampered,
    /// The handoff is stale.
    Stale,
    /// The scanner of `handoff.secretScanner` gives no answer.
    ScannerFailed,
    /// Git could not sign what was to be recorded.
    SigningFailed,
    /// The editor failed, or there is no terminal for it.
    EditorFailed,
    /// Something here should be mended.
    ProblemsFound,
    /// A goal is open, or stays open.
    GoalOpen,
    /// Hooks are not written where somebody else's files are.
    HooksInTheWay,
    /// A later handoff supersedes the one that is pinned.
    HandoffSuperseded,
    /// The state of a continuation or an operation does not allow it.
    WrongState,
    /// A continuation would wait for itself.
    Cycle,
    /// Another unfinished continuation has the name.
    NameTaken,
    /// Somebody else holds the continuation.
    NotHolder,
    /// What was waited for did not happen in time.
    TimedOut,
    /// The caller's own command failed.
    CommandFailed,
    /// The remote gives no answer.
    RemoteUnreachable,
    /// The remote does not take what it is offered.
    RemoteRejected,
}

impl Code {
    /// Every code, for the documentation's test.
    pub const ALL: &'static [Self] = &[
        Self::Io,
        Self::StorageFull,
        Self::NotWritable,
        Self::Git,
        Self::Usage,
        Self::BadInput,
        Self::NotFound,
        Self::Ambiguous,
        Self::ScoreTooLow,
        Self::TooLarge,
        Self::NotAuthoritative,
        Self::SecretFound,
        Self::Contended,
        Self::NoRepository,
        Self::UnsafeRepository,
        Self::LogDamaged,
        Self::CacheDamaged,
        Self::HandoffMissing,
        Self::HandoffTampered,
        Self::Stale,
        Self::ScannerFailed,
        Self::SigningFailed,
        Self::EditorFailed,
        Self::ProblemsFound,
        Self::GoalOpen,
        Self::HooksInTheWay,
        Self::HandoffSuperseded,
        Self::WrongState,
        Self::Cycle,
        Self::NameTaken,
        Self::NotHolder,
        Self::TimedOut,
        Self::CommandFailed,
        Self::RemoteUnreachable,
        Self::RemoteRejected,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Io => "IO",
            Self::StorageFull => "STORAGE_FULL",
            Self::NotWritable => "NOT_WRITABLE",
            Self::Git => "GIT",
            Self::Usage => "USAGE",
            Self::BadInput => "BAD_INPUT",
            Self::NotFound => "NOT_FOUND",
            Self::Ambiguous => "AMBIGUOUS",
            Self::ScoreTooLow => "SCORE_TOO_LOW",
            Self::TooLarge => "TOO_LARGE",
            Self::NotAuthoritative => "NOT_AUTHORITATIVE",
            Self::SecretFound => "SECRET_FOUND",
            Self::Contended => "CONTENDED",
            Self::NoRepository => "NO_REPOSITORY",
            Self::UnsafeRepository => "UNSAFE_REPOSITORY",
            Self::LogDamaged => "LOG_DAMAGED",
            Self::CacheDamaged => "CACHE_DAMAGED",
            Self::HandoffMissing => "HANDOFF_MISSING",
            Self::HandoffTampered => "HANDOFF_TAMPERED",
            Self::Stale => "STALE",
            Self::ScannerFailed => "SCANNER_FAILED",
            Self::SigningFailed => "SIGNING_FAILED",
            Self::EditorFailed => "EDITOR_FAILED",
            Self::ProblemsFound => "PROBLEMS_FOUND",
            Self::GoalOpen => "GOAL_OPEN",
            Self::HooksInTheWay => "HOOKS_IN_THE_WAY",
            Self::HandoffSuperseded => "HANDOFF_SUPERSEDED",
            Self::WrongState => "WRONG_STATE",
            Self::Cycle => "CYCLE",
            Self::NameTaken => "NAME_TAKEN",
            Self::NotHolder => "NOT_HOLDER",
            Self::TimedOut => "TIMED_OUT",
            Self::CommandFailed => "COMMAND_FAILED",
            Self::RemoteUnreachable => "REMOTE_UNREACHABLE",
            Self::RemoteRejected => "REMOTE_REJECTED",
        }
    }

    /// The exit code of the process.
    pub fn exit(self) -> u8 {
        match self {
            Self::Io | Self::StorageFull | Self::NotWritable | Self::Git | Self::CacheDamaged => 1,
            Self::ProblemsFound | Self::CommandFailed => 1,
            Self::Usage | Self::BadInput => 2,
            Self::NotFound | Self::Ambiguous => 3,
            Self::ScoreTooLow | Self::TooLarge | Self::NotAuthoritative | Self::GoalOpen | Self::HooksInTheWay => 4,
            Self::HandoffSuperseded | Self::WrongState | Self::Cycle | Self::NameTaken => 4,
            Self::SecretFound => 5,
            Self::Stale => 6,
            Self::Contended | Self::NotHolder | Self::TimedOut => 7,
            Self::RemoteUnreachable | Self::RemoteRejected => 8,
            Self::NoRepository | Self::UnsafeRepository => 9,
            Self::HandoffMissing | Self::HandoffTampered | Self::LogDamaged => 10,
            Self::ScannerFailed | Self::SigningFailed | Self::EditorFailed => 1,
        }
    }
}

/// A failure as the user meets it.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    message: String,
    hint: Option<String>,
    drafts: Option<String>,
    details: Map<String, Value>,
}

impl Failure {
    /// A failure with this message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, drafts: None, details: Map::new() }
    }

    /// A failure whose message is the error and everything that caused it.
    pub fn because(code: Code, error: &dyn Error) -> Self {
        Self::new(code, chain(error))
    }

    /// Says what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a detail for programs.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    /// Says where what was typed is kept.
    #[must_use]
    pub fn draft(mut self, path: &std::path::Path) -> Self {
        self.details.insert("draft".into(), path.display().to_string().into());
        self.drafts = Some(format!("what was given is kept as a draft: {}", path.display()));
        self
    }

    /// Gives back what was typed, since it can be kept nowhere.
    #[must_use]
    pub fn draft_text(mut self, text: &str) -> Self {
        self.details.insert("draft_text".into(), text.into());
        self.drafts = Some(format!("what was given can be kept nowhere; here it is as a draft:\n{text}"));
        self
    }

    /// Puts what was being done before the message.
    #[must_use]
    pub fn while_doing(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// What failed.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The kind of failure.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The object of JSON mode.
    pub fn json(&self) -> Value {
        json!({"error": {
            "code": self.code.name(),
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        }})
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", visible(&self.message))?;
        let mut say = |kind: &str, text: &Option<String>| match text {
            Some(text) => write!(f, "\n{kind}: {}", visible(text)),
            None => Ok(()),
        };
        say("hint", &self.hint)?;
        say("note", &self.drafts)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::because(io_code(&error), &error)
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        match &error {
            CacheError::Damaged => Self::because(Code::CacheDamaged, &error),
            CacheError::Io(source) => Self::because(io_code(source), &error),
            CacheError::Full => Self::because(Code::TooLarge, &error),
        }
    }
}

/// Failures of git, whose causes are said and whose code is the same.
macro_rules! git_failures {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::because(Code::Git, &error)
            }
        }
    )+};
}

git_failures!(ChangesError, CommandError, HistoryError, NotesError, ObjectError);

impl From<RefError> for Failure {
    fn from(error: RefError) -> Self {
        let code = match &error {
            RefError::Moved(_) | RefError::Locked { .. } => Code::Contended,
            RefError::NotWritable(_) => Code::NotWritable,
            RefError::StorageFull(_) => Code::StorageFull,
            RefError::Vetoed { .. }
            | RefError::Sync(_)
            | RefError::Name(_)
            | RefError::Object(_)
            | RefError::Command(_)
            | RefError::Git { .. } => Code::Git,
        };
        Self::because(code, &error)
    }
}

impl From<SpoolError> for Failure {
    fn from(error: SpoolError) -> Self {
        let code = match &error {
            SpoolError::LeadsOutside(_) => Code::NotWritable,
            SpoolError::Io { source, .. } => io_code(source),
        };
        Self::because(code, &error)
    }
}

/// The code for an error of the operating system.
pub(super) fn io_code(error: &io::Error) -> Code {
    use io::ErrorKind as Kind;
    if matches!(error.kind(), Kind::StorageFull | Kind::QuotaExceeded) {
        Code::StorageFull
    } else if matches!(error.kind(), Kind::PermissionDenied | Kind::ReadOnlyFilesystem) {
        Code::NotWritable
    } else {
        Code::Io
    }
}

/// An error and its causes on one line, without saying anything twice.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_the_message_repeats_is_said_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("reading failed")]
        struct Outer(#[source] io::Error);
        let error = Outer(io::Error::other("no such thing"));
        assert_eq!(Failure::because(Code::Io, &error).to_string(), "error: reading failed: no such thing");
    }

    #[test]
    fn the_json_object_has_all_four_fields() {
        let failure = Failure::new(Code::NotFound, "nothing").hint("look elsewhere").detail("ref", "abc");
        let expected = json!({"error": {
            "code": "NOT_FOUND", "message": "nothing", "hint": "look elsewhere", "details": {"ref": "abc"},
        }});
        assert_eq!(failure.json(), expected);
    }
}
