//! What an author hands in: a JSON packet or a Markdown document, read as generously as its meaning is clear.
//!
//! Nothing is lost: what has no place of its own is kept verbatim in `extra`. And nothing is believed: the
//! metadata stay claims, and evidence was seen by the author, whatever the text says.

use serde_json::{Map, Value};

use super::body::add_extra;
use super::content::decode_field;
use super::error::DocumentError;
use super::fields::FIELDS;
use super::metadata::{self, Block, Claims, Slot};
use super::normal::{normalise, stored_numbers};
use super::parse::{has_metadata, read_document};
use super::sections::{Document, Levels, cut, headings};
use super::typed::{self, Object, mismatch, parsed, truth};
use super::{SCHEMA, TITLE};
use crate::model::{Completeness, Content, Timestamp};

/// The most bytes that are read as input. What can be sealed is less; see [`within_bounds`](super::within_bounds).
pub const MAX_INPUT: usize = 4 * 1024 * 1024;

/// What an author handed in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Input {
    /// What the document says about itself, unchecked.
    pub claims: Claims,
    /// When it says that it was made.
    pub created: Option<Timestamp>,
    /// Whether the author asks for a handoff from which alone somebody may continue.
    pub complete: bool,
    /// The title, unless it only says that this is a handoff.
    pub title: Option<String>,
    /// The content, in the normal form of stored texts.
    pub content: Content,
    /// Fields that are neither text nor known.
    pub unknown: Map<String, Value>,
}

/// Reads what an author handed in.
///
/// # Errors
/// When it is too large, not text, not the JSON that it begins as, or has a field of the wrong kind.
pub fn read_input(bytes: &[u8]) -> Result<Input, DocumentError> {
    let text = text_of(bytes)?;
    if text.trim_start().starts_with('{') { read_packet(text) } else { read_markdown(text) }
}

fn text_of(bytes: &[u8]) -> Result<&str, DocumentError> {
    if bytes.len() > MAX_INPUT {
        return Err(DocumentError::TooLarge { bytes: bytes.len(), limit: MAX_INPUT });
    }
    let line_at = |offset: usize| bytes[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
    let text = std::str::from_utf8(bytes).map_err(|source| {
        let offset = source.valid_up_to();
        DocumentError::NotUtf8 { line: line_at(offset), offset, source }
    })?;
    if let Some(offset) = text.find('\0') {
        return Err(DocumentError::Nul { line: line_at(offset), offset });
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn read_packet(text: &str) -> Result<Input, DocumentError> {
    let map: Map<String, Value> = serde_json::from_str(text).map_err(DocumentError::Json)?;
    let mut block = Block::default();
    for (name, value) in map {
        match block.claims.slot(&name) {
            _ if value.is_null() => {}
            Some(_) if name == "unknown" => {
                block.other.insert(name, value);
            }
            Some(Slot::Text(text)) => *text = Some(scalar(&name, &value)?),
            Some(Slot::Texts(texts)) => *texts = typed::texts(&value, &name)?,
            None => {
                block.other.insert(name, value);
            }
        }
    }
    if let Some(schema) = block.claims.schema.as_ref().filter(|schema| *schema != SCHEMA) {
        return Err(DocumentError::Schema { found: schema.clone() });
    }
    let created = block.claims.created.as_deref().map(|text| parsed(text, "created")).transpose()?;
    let input = Input { created, ..Input::default() };
    complete(input, block)
}

/// A claim of a packet as text.
fn scalar(name: &str, value: &Value) -> Result<String, DocumentError> {
    match (name, value) {
        (_, Value::String(text)) => Ok(text.clone()),
        ("dirty" | "complete", Value::Bool(flag)) => Ok(flag.to_string()),
        ("files_omitted", Value::Number(number)) => Ok(number.to_string()),
        ("dirty" | "complete", other) => Err(mismatch(name, "true or false", other)),
        ("files_omitted", other) => Err(mismatch(name, "a number", other)),
        (_, other) => Err(mismatch(name, "a string", other)),
    }
}

fn read_markdown(text: &str) -> Result<Input, DocumentError> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (front, text) = split_front_matter(&text);
    let mut block = front.map(|yaml| metadata::read(yaml, 2)).transpose()?.unwrap_or_default();
    let headings = headings(&text);
    let ours = cut(&text, &headings, Levels::Second);
    let document = if has_metadata(&ours) { ours } else { cut(&text, &headings, Levels::Known) };
    let mut input = Input { title: title(&document), ..Input::default() };
    if let Some(located) = read_document(&document, &mut input.content)? {
        block = located.block;
    }
    match block.claims.created.as_deref().map(str::parse) {
        Some(Ok(created)) => input.created = Some(created),
        // Older tools wrote times without an offset, which name no moment.
        Some(Err(_)) => block.other.extend(block.claims.created.take().map(|text| ("created".into(), text.into()))),
        None => {}
    }
    complete(input, block)
}

/// The YAML between two lines `---` at the beginning, and the document with blank lines in its place, so that
/// line numbers stay true.
fn split_front_matter(text: &str) -> (Option<&str>, std::borrow::Cow<'_, str>) {
    let split = || {
        let rest = text.strip_prefix("---")?.trim_start_matches([' ', '\t']).strip_prefix('\n')?;
        let is_key = |line: &str| line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && !key.contains(' '));
        let first = rest.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
        if !is_key(first) {
            return None;
        }
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if matches!(line.trim_end(), "---" | "...") {
                return Some((&rest[..end], &rest[end + line.len()..]));
            }
            end += line.len();
        }
        None
    };
    match split() {
        Some((yaml, rest)) => {
            let lines = text[..text.len() - rest.len()].matches('\n').count();
            (Some(yaml), format!("{}{rest}", "\n".repeat(lines)).into())
        }
        None => (None, text.into()),
    }
}

/// What the title says besides that this is a handoff.
fn title(document: &Document<'_>) -> Option<String> {
    let title = document.title?;
    let prefix = [TITLE, "Handoff"]
        .into_iter()
        .find(|prefix| title.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)));
    let said = match prefix.map(|prefix| title[prefix.len()..].trim_start()) {
        None => title,
        Some("") => "",
        Some(rest) => rest.strip_prefix([':', '-', '–', '—']).map_or(title, str::trim_start),
    };
    (!said.is_empty()).then(|| said.to_owned())
}

/// Gives every field that was read its place.
fn complete(mut input: Input, block: Block) -> Result<Input, DocumentError> {
    let Block { claims, other } = block;
    claims.check_authority()?;
    let asked = claims.complete.as_deref().map(|text| truth(text, "complete")).transpose()?.unwrap_or_default();
    let claimed =
        claims.completeness.as_deref().map(|text| parsed::<Completeness>(text, "completeness")).transpose()?;
    input.complete = asked || claimed == Some(Completeness::Authoritative);
    input.content.files_omitted = claims.files_omitted()?;
    input.unknown = claims.unknown()?;
    for (name, value) in other {
        place(name, value, &mut input)?;
    }
    // A value that stood beside a field which this author has edited would hide the edit.
    input.unknown.retain(|name, _| !is_known(name));
    input.unknown.values_mut().for_each(stored_numbers);
    normalise(&mut input.content);
    Ok(Input { claims: Claims { unknown: None, ..claims }, ..input })
}

/// Puts a field where it belongs: its own place, or `extra` when it is text.
fn place(name: String, value: Value, input: &mut Input) -> Result<(), DocumentError> {
    if let Some(field) = FIELDS.iter().find(|field| field.json == name) {
        return decode_field(field, &value, &mut input.content);
    }
    if name == "extra" {
        let extra = Object::at(&value, &name)?;
        for heading in extra.names() {
            if let Some(text) = extra.text(heading)? {
                add_extra(heading, text.to_owned(), &mut input.content);
            }
        }
        return Ok(());
    }
    match value {
        Value::Null => {}
        Value::String(text) => add_extra(&name, text, &mut input.content),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            input.unknown.insert(name, other);
        }
    }
    Ok(())
}

/// Whether the name is one of the document's own.
fn is_known(name: &str) -> bool {
    name == "extra" || FIELDS.iter().any(|field| field.json == name) || Claims::default().slot(name).is_some()
}
