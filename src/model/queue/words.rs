//! The words of the queue: names, prerequisites, leases, states and how things ended.

use std::fmt;
use std::str::FromStr;

use crate::model::text::is_deceptive;
use crate::model::{EventId, IdError, ObjectName, Timestamp, visible_line};

/// The name of a continuation or an operation: one line of 1 to 100 characters without control characters. White
/// space and emoji are welcome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

/// The text cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// There is nothing in it.
    #[error("the name is empty")]
    Empty,
    /// It is longer than [`Label::MAX_CHARS`].
    #[error("the name has {0} characters; at most {max} are allowed", max = Label::MAX_CHARS)]
    TooLong(usize),
    /// It holds a control or invisible character.
    #[error("the name contains U+{0:04X}; a name is one line without control or invisible characters")]
    Control(u32),
}

impl Label {
    /// The most characters that a name may have.
    pub const MAX_CHARS: usize = 100;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let text = text.trim();
        let length = text.chars().count();
        if text.is_empty() {
            return Err(LabelError::Empty);
        }
        if length > Self::MAX_CHARS {
            return Err(LabelError::TooLong(length));
        }
        match text.chars().find(|c| is_deceptive(*c)) {
            Some(c) => Err(LabelError::Control(c.into())),
            None => Ok(Self(text.into())),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What must have succeeded before a continuation may start.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prerequisite {
    /// The work of a handoff is completed, in it or in one that supersedes or continues it.
    Handoff(EventId),
    /// Another continuation.
    Continuation(EventId),
    /// An operation; its latest run decides.
    Operation(Label),
    /// A branch is merged into the default branch.
    Merged(String),
    /// A commit is in the history of the default branch or of HEAD.
    Commit(ObjectName),
    /// A person approves of the continuation.
    Approval,
}

impl Prerequisite {
    /// Whether it can end in another way than well.
    pub(super) fn can_fail(&self) -> bool {
        match self {
            Self::Continuation(_) | Self::Operation(_) => true,
            Self::Handoff(_) | Self::Merged(_) | Self::Commit(_) | Self::Approval => false,
        }
    }
}

/// The text is not a prerequisite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrerequisiteError {
    /// It has none of the forms.
    #[error(
        "'{}' is not a prerequisite; use handoff:REF, continuation:ITEM, op:NAME, merged:BRANCH, commit:REV or approval",
        visible_line(.0)
    )]
    Form(String),
    /// The operation's name cannot be one.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// The id is none.
    #[error(transparent)]
    Id(#[from] IdError),
}

/// A prerequisite as a person says it, before it is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// A reference to a handoff.
    Handoff(String),
    /// A name, id or prefix of a continuation.
    Continuation(String),
    /// An operation.
    Operation(Label),
    /// A branch.
    Merged(String),
    /// A revision.
    Commit(String),
    /// A person's approval.
    Approval,
}

impl FromStr for Spoken {
    type Err = PrerequisiteError;

    fn from_str(text: &str) -> Result<Self, PrerequisiteError> {
        let form = || PrerequisiteError::Form(text.into());
        if text == "approval" {
            return Ok(Self::Approval);
        }
        let (kind, rest) = text.split_once(':').ok_or_else(form)?;
        if rest.trim().is_empty() || rest.chars().any(is_deceptive) {
            return Err(form());
        }
        match kind {
            "handoff" => Ok(Self::Handoff(rest.into())),
            "continuation" => Ok(Self::Continuation(rest.into())),
            "op" => Ok(Self::Operation(rest.parse()?)),
            "merged" => Ok(Self::Merged(rest.into())),
            "commit" => Ok(Self::Commit(rest.into())),
            _ => Err(form()),
        }
    }
}

impl FromStr for Prerequisite {
    type Err = PrerequisiteError;

    fn from_str(text: &str) -> Result<Self, PrerequisiteError> {
        Ok(match text.parse()? {
            Spoken::Handoff(id) => Self::Handoff(id.parse()?),
            Spoken::Continuation(id) => Self::Continuation(id.parse()?),
            Spoken::Operation(name) => Self::Operation(name),
            Spoken::Merged(branch) => Self::Merged(branch),
            Spoken::Commit(commit) => Self::Commit(commit.parse()?),
            Spoken::Approval => Self::Approval,
        })
    }
}

impl fmt::Display for Prerequisite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handoff(id) => write!(f, "handoff:{id}"),
            Self::Continuation(id) => write!(f, "continuation:{id}"),
            Self::Operation(name) => write!(f, "op:{name}"),
            Self::Merged(branch) => write!(f, "merged:{branch}"),
            Self::Commit(commit) => write!(f, "commit:{commit}"),
            Self::Approval => f.write_str("approval"),
        }
    }
}

/// A length of time as people write it: `90s 15m 2h 7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    seconds: u32,
}

/// The text is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a duration such as 90s, 15m, 2h or 7d", visible_line(.0))]
pub struct SpanError(pub String);

impl Span {
    /// The number of seconds.
    pub fn seconds(self) -> u32 {
        self.seconds
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
        let read = || {
            let (count, unit) = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)))?;
            let digits = count.bytes().all(|byte| byte.is_ascii_digit());
            count.parse::<u32>().ok().filter(|_| digits)?.checked_mul(unit)
        };
        read().map(|seconds| Self { seconds }).ok_or_else(|| SpanError(text.into()))
    }
}

/// How long a claim holds unless it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lease {
    seconds: u32,
}

/// The lease is out of bounds; the number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a lease of {0} s is out of bounds: at least 1 second and at most 30 days are allowed")]
pub struct LeaseError(pub u32);

impl Lease {
    /// The most seconds of a lease: 30 days.
    pub const MAX_SECONDS: u32 = 30 * 86_400;

    /// A lease of so many seconds.
    ///
    /// # Errors
    /// Outside 1 second to 30 days.
    pub fn new(seconds: u32) -> Result<Self, LeaseError> {
        if (1..=Self::MAX_SECONDS).contains(&seconds) { Ok(Self { seconds }) } else { Err(LeaseError(seconds)) }
    }

    /// The number of seconds.
    pub fn seconds(self) -> u32 {
        self.seconds
    }

    /// When a lease that begins then ends.
    pub fn end(self, begin: Timestamp) -> Timestamp {
        let end = begin.millis().saturating_add(i64::from(self.seconds) * 1000);
        // Only in the last days of the year 9999 is there no such moment.
        Timestamp::new(end, begin.offset_minutes()).unwrap_or(begin)
    }
}

impl Default for Lease {
    /// Four hours.
    fn default() -> Self {
        Self { seconds: 4 * 3600 }
    }
}

/// A closed set of words with one spelling each.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
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

            /// The value with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Where a continuation stands.
    State {
        /// Some prerequisite is open.
        Waiting = "waiting",
        /// All prerequisites have succeeded.
        Ready = "ready",
        /// Somebody holds it.
        Claimed = "claimed",
        /// Its packet was handed over.
        Started = "started",
        /// It ended well.
        Succeeded = "succeeded",
        /// It ended badly.
        Failed = "failed",
        /// Nobody will do it.
        Cancelled = "cancelled",
        /// A prerequisite failed or was cancelled.
        Stopped = "stopped",
    }
}

impl State {
    /// Whether nothing more is to be expected of it.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

words! {
    /// How a prerequisite stands.
    Outcome {
        /// Nothing has been decided.
        Open = "open",
        /// It is met.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// It waits for something that failed or was cancelled.
        Stopped = "stopped",
        /// This log does not know it.
        Unknown = "unknown",
    }
}

impl Outcome {
    /// Whether it stops what waits for it.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled | Self::Stopped)
    }
}

words! {
    /// How a continuation or a run of an operation ended.
    Ending {
        /// Well.
        Succeeded = "succeeded",
        /// Badly.
        Failed = "failed",
        /// It was given up.
        Cancelled = "cancelled",
    }
}

impl Ending {
    /// What it means to those who wait.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Succeeded => Outcome::Succeeded,
            Self::Failed => Outcome::Failed,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}

words! {
    /// How sure a claim is.
    ClaimMode {
        /// The remote took it, so that no other clone can hold it too.
        Exclusive = "exclusive",
        /// It was made here alone and may lose.
        Offline = "offline",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_number_and_a_unit() {
        let read = ["90s", "15m", "2h", "7d", "0s"].map(|text| text.parse::<Span>().map(Span::seconds));
        assert_eq!(read, [Ok(90), Ok(900), Ok(7200), Ok(604_800), Ok(0)]);
        for text in ["", "2", "h", "-1h", "+1h", "1w", "1.5h", "99999999d", "é"] {
            assert_eq!(text.parse::<Span>(), Err(SpanError(text.into())));
        }
    }

    #[test]
    fn a_lease_of_nothing_and_one_of_ten_years_are_refused() {
        let ten_years = 3652 * 86_400;
        assert_eq!(
            [0, 1, 604_800, ten_years].map(|seconds| Lease::new(seconds).map(Lease::seconds)),
            [Err(LeaseError(0)), Ok(1), Ok(604_800), Err(LeaseError(ten_years))]
        );
    }

    #[test]
    fn names_may_have_spaces_and_emoji_and_no_control_characters() {
        let read = ["  the disk 💽 ", "", "a\nb"].map(|text| text.parse::<Label>().map(|label| label.0));
        assert_eq!(read, [Ok("the disk 💽".into()), Err(LabelError::Empty), Err(LabelError::Control(10))]);
        assert_eq!("x".repeat(101).parse::<Label>(), Err(LabelError::TooLong(101)));
    }

    #[test]
    fn prerequisites_are_read_as_they_are_written() {
        let id = EventId::of(b"x");
        for text in [format!("handoff:{id}"), format!("continuation:{id}"), "op:re format".into(), "merged:a/b".into()]
        {
            assert_eq!(text.parse::<Prerequisite>().map(|read| read.to_string()), Ok(text));
        }
        for text in ["", "op:", "nothing:x", "disk", "op:\u{1b}[31m"] {
            assert_eq!(text.parse::<Prerequisite>(), Err(PrerequisiteError::Form(text.into())));
        }
    }
}
