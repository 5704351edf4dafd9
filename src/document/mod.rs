//! The document: one value, two faces. Pure: no I/O, no clock, no git.
//!
//! JSON is what is stored and hashed, Markdown what people and agents read and write. Both hold the whole
//! document: each can be made again from the other, byte for byte. What an author hands in is read separately
//! and generously, because nothing of it is a document yet.

mod body;
mod bounds;
mod content;
mod error;
mod evidence;
mod fields;
mod files;
mod input;
mod json;
mod list;
mod metadata;
mod normal;
mod older;
mod parse;
mod render;
mod scope;
mod sections;
mod span;
mod typed;
mod yaml;

pub use bounds::within_bounds;
pub use error::{BoundsError, DocumentError, ValueError};
pub use input::{Input, MAX_INPUT, read_input};
pub use json::{canonical, from_json, id, is_canonical, to_value};
pub use metadata::Claims;
pub use older::{Found, OlderError, read_older};
pub use parse::{ParsedView, parse_view};
pub use render::render;

use crate::model::{EventId, SessionName};

/// The schema of the documents that this version writes.
pub const SCHEMA: &str = "handoff/v1";
/// What a document may do by itself: inform.
const AUTHORITY: &str = "inform_only";
/// The title of a rendered document.
const TITLE: &str = "Session Handoff";

/// What the Markdown says of a handoff and of those before it that is not part of the document: the id, and the
/// names that the log's order gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The handoff's id.
    pub id: EventId,
    /// Its session name.
    pub session: SessionName,
    /// The session name of the handoff that it continues.
    pub previous: Option<SessionName>,
    /// The file of the handoff that its session was resumed from.
    pub resumed_from: Option<String>,
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod properties;
