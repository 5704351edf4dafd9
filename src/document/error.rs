//! Why a document cannot be read or may not be sealed.

use std::str::Utf8Error;

use crate::model::{AgentNameError, IdError, TimeError, TopicError, UnknownWord};

/// A text is not the document that it should be.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// There is more of it than anybody could seal; refused before it is parsed.
    #[error("the input has {bytes} bytes; at most {limit} are read: put long material into a file and reference it")]
    TooLarge {
        /// How many bytes there are.
        bytes: usize,
        /// How many are read at most.
        limit: usize,
    },
    /// It is not UTF-8.
    #[error("line {line} is not valid UTF-8 (byte {offset} of the input)")]
    NotUtf8 {
        /// The line, from 1.
        line: usize,
        /// Where the first wrong byte is, from 0.
        offset: usize,
        /// What is wrong with it.
        source: Utf8Error,
    },
    /// It contains a NUL byte.
    #[error("line {line} contains a NUL byte (byte {offset} of the input): a handoff is text")]
    Nul {
        /// The line, from 1.
        line: usize,
        /// Where the first one is, from 0.
        offset: usize,
    },
    /// It is not JSON.
    #[error("the JSON cannot be read")]
    Json(#[source] serde_json::Error),
    /// It is a document of another schema.
    #[error("the schema is '{}'; this version reads {}", crate::model::visible_line(.found), super::SCHEMA)]
    Schema {
        /// The schema that it names; empty when it names none.
        found: String,
    },
    /// A field that every handoff has is not there.
    #[error("'{field}' is missing")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A field holds another kind of value.
    #[error("'{}' must be {expected}, not {found}", crate::model::visible_line(.field))]
    Type {
        /// Its name, with the place inside it such as `files_changed[3].path`.
        field: String,
        /// The kind of value that belongs there.
        expected: &'static str,
        /// The kind of value that is there.
        found: &'static str,
    },
    /// A field's value is not one of those that are allowed.
    #[error("'{field}' has a value that is not allowed")]
    Value {
        /// Its name.
        field: &'static str,
        /// What is wrong with it.
        source: ValueError,
    },
    /// The metadata is not YAML of the expected form.
    #[error("the metadata cannot be read as YAML")]
    Yaml {
        /// What is wrong with it, and on which line of the document.
        source: Box<serde_saphyr::Error>,
    },
    /// The Markdown is not a handoff as this tool renders it.
    #[error("line {line}: expected {expected}")]
    NotAView {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// Something that begins on this line of a Markdown document.
    #[error("on line {line}")]
    At {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        source: Box<Self>,
    },
}

impl DocumentError {
    /// The same error with the line on which its cause begins.
    pub(super) fn at(self, line: usize) -> Self {
        Self::At { line, source: Box::new(self) }
    }
}

/// What is wrong with one value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is none of the words that are allowed.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// It cannot name an agent.
    #[error(transparent)]
    Agent(#[from] AgentNameError),
    /// It is not a time.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// It cannot be a topic.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// It is not an id.
    #[error(transparent)]
    Id(#[from] IdError),
    /// It is none of a few fixed forms.
    #[error("'{}' is not {expected}", crate::model::visible_line(.found))]
    Form {
        /// The text that is there.
        found: String,
        /// What belongs there.
        expected: &'static str,
    },
}

/// The document is larger than what may be sealed, or holds a number that JSON readers disagree about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// A list is too long.
    #[error(
        "'{}' has {found} entries; at most {limit} are allowed: put the list into a file and reference it",
        crate::model::visible_line(.field)
    )]
    Entries {
        /// The field.
        field: String,
        /// How many entries it has.
        found: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The whole is too large.
    #[error(
        "the document has {bytes} bytes of canonical JSON; at most {limit} are allowed. The largest field is '{}' with \
         {largest} bytes: put long material into a file and reference it", crate::model::visible_line(.field)
    )]
    Bytes {
        /// How many bytes the canonical JSON has.
        bytes: usize,
        /// How many it may have.
        limit: usize,
        /// The largest field.
        field: String,
        /// How many of the bytes it takes.
        largest: usize,
    },
    /// A number is outside the range in which every JSON reader sees the same value (RFC 8785).
    #[error(
        "'{}' holds the number {number}, which canonical JSON would round: write it as a string",
        crate::model::visible_line(.field)
    )]
    Number {
        /// The field.
        field: String,
        /// The number as written.
        number: String,
    },
    /// Values are nested deeper than a reader follows.
    #[error("'{}' is nested more than {limit} levels deep", crate::model::visible_line(.field))]
    Depth {
        /// The field.
        field: String,
        /// How many levels are allowed.
        limit: usize,
    },
}

/// What is wrong, with every cause.
#[cfg(test)]
pub(super) fn told(error: &DocumentError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
