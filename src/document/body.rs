//! The body of a section, both ways.
//!
//! A body has a readable form, which holds whatever people usually write, and an exact form: a code block that
//! holds the value. The readable form is only used where reading it gives the very value back, so that no text
//! can be lost or become another by being rendered.

use std::borrow::Cow;

use serde_json::Value;

use super::content::{decode_field, encode_field, join};
use super::error::DocumentError;
use super::fields::{Field, Kind, Meaning, NOT_RECORDED, OTHER_SECTIONS, Presence, meaning};
use super::list::{self, Form, blocks, closes, fence};
use super::sections::{Levels, cut, headings};
use super::yaml::escaped;
use super::{evidence, files, scope, typed};
use crate::model::{Content, normalised, visible};

/// What follows the language in the first line of a code block that holds a value.
const VALUE: &str = "handoff-value";

/// The section of a field; `None` when it is left out.
pub(super) fn render_field(field: &Field, content: &Content) -> Option<String> {
    let Some(value) = encode_field(field, content) else {
        return (field.presence == Presence::Always).then(|| NOT_RECORDED.to_owned());
    };
    let faithful = |body: &String| {
        stands_alone(body) && {
            let mut read = Content::default();
            read_field(field, field.heading, body, &mut read).is_ok()
                && read.extra.is_empty()
                && encode_field(field, &read).as_ref() == Some(&value)
        }
    };
    let readable = readable(field, content).filter(faithful);
    Some(readable.or_else(|| verbatim(&value).filter(faithful)).unwrap_or_else(|| exact(&value)))
}

/// A section of `extra`; `None` when its heading cannot stand in a document.
pub(super) fn render_extra(heading: &str, text: &str) -> Option<String> {
    let unmistakable = matches!(meaning(heading), Meaning::Unknown) && reads_as_heading(heading);
    if !unmistakable {
        return None;
    }
    let value = Value::from(text);
    let faithful = |body: &String| stands_alone(body) && matches!(read_text(body), Ok(Some(read)) if read == text);
    let readable = Some(text.to_owned()).filter(faithful);
    Some(readable.or_else(|| verbatim(&value).filter(faithful)).unwrap_or_else(|| exact(&value)))
}

/// A value in the form that can hold everything.
pub(super) fn exact(value: &Value) -> String {
    format!("```json {VALUE}\n{}\n```", escaped(&format!("{value:#}")))
}

/// A text, line by line, in a code block; `None` for other values.
fn verbatim(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    Some(format!("{fence}text {VALUE}\n{text}\n{fence}"))
}

/// The form that people like to read; `None` when there is none.
fn readable(field: &Field, content: &Content) -> Option<String> {
    let body = match &field.kind {
        Kind::Prose(slot) => (slot.get)(content).clone()?,
        Kind::List(marker, slot) => list::render((slot.get)(content), *marker),
        Kind::Scope => scope::render(&content.scope),
        Kind::Files => bullets(content.files_changed.iter().map(files::render_entry))?,
        Kind::Evidence => bullets(content.verification_evidence.iter().map(evidence::render_entry))?,
    };
    Some(body.strip_suffix('\n').map_or(body.clone(), str::to_owned))
}

fn bullets(entries: impl Iterator<Item = Option<String>>) -> Option<String> {
    Some(list::render(&entries.collect::<Option<Vec<_>>>()?, super::fields::Marker::Bullet))
}

/// Whether nothing in the body is invisible, begins a section or swallows the heading that follows it.
fn stands_alone(body: &str) -> bool {
    if !matches!(visible(body), Cow::Borrowed(_)) {
        return false;
    }
    // Without these no code block or HTML can be open at the end, and no heading of this level can be inside.
    if !["##", "```", "~~~", "<"].iter().any(|risk| body.contains(risk)) {
        return true;
    }
    let text = format!("## A\n\n{body}\n\n## Z\n");
    let found = cut(&text, &headings(&text), Levels::Second);
    found.sections.len() == 2 && found.sections[0].body.len() == body.len() + "\n\n\n".len()
}

/// Whether a line `## heading` gives this heading back.
fn reads_as_heading(heading: &str) -> bool {
    if heading.contains(['\n', '\t']) || !matches!(visible(heading), Cow::Borrowed(_)) {
        return false;
    }
    let text = format!("## {heading}\n");
    let found = cut(&text, &headings(&text), Levels::Second);
    matches!(found.sections.as_slice(), [only] if only.heading == heading)
}

const PENDING: &str = "pending_steps";
const COMPLETED: &str = "completed_steps";

/// Whether an entry belongs to the field under whose heading it stands: a ticked box is no work that remains, and an
/// empty one no work that is done.
fn stays(field: &Field, form: Form) -> bool {
    !(field.json == PENDING && form == Form::Done || field.json == COMPLETED && form == Form::Open)
}

/// Adds what a section's body says to the content. `heading` is where text goes that a list of files cannot hold.
pub(super) fn read_field(field: &Field, heading: &str, body: &str, content: &mut Content) -> Result<(), DocumentError> {
    if let Some(value) = read_value(body)? {
        return decode_field(field, &value, content);
    }
    match &field.kind {
        Kind::Prose(slot) => {
            let text = normalised(body);
            let absent = text.is_empty() || (field.presence == Presence::Always && text == NOT_RECORDED);
            if !absent {
                join((slot.get_mut)(content), text);
            }
        }
        Kind::List(_, slot) => {
            let (here, elsewhere): (Vec<_>, Vec<_>) = blocks(body)
                .into_iter()
                .filter(|block| !block.text.is_empty())
                .partition(|block| stays(field, block.form));
            (slot.get_mut)(content).extend(here.into_iter().map(|block| block.text));
            let other = if field.json == PENDING { &mut content.completed_steps } else { &mut content.pending_steps };
            other.extend(elsewhere.into_iter().map(|block| block.text));
        }
        Kind::Scope => {
            let read = scope::read(body);
            content.scope.included.extend(read.included);
            content.scope.excluded.extend(read.excluded);
        }
        Kind::Files => {
            let (files, rest): (Vec<_>, Vec<_>) = blocks(body).iter().map(files::read_block).unzip();
            content.files_changed.extend(files.into_iter().flatten());
            let rest: Vec<String> = rest.into_iter().flatten().collect();
            if !rest.is_empty() {
                add_extra(heading, rest.join("\n"), content);
            }
        }
        Kind::Evidence => {
            let blocks = blocks(body).into_iter().filter(|block| !block.text.is_empty());
            content.verification_evidence.extend(blocks.map(|block| evidence::read_block(&block.text, block.form)));
        }
    }
    Ok(())
}

/// Adds a section that no field holds.
pub(super) fn read_extra(heading: &str, body: &str, content: &mut Content) -> Result<(), DocumentError> {
    if let Some(text) = read_text(body)? {
        add_extra(heading, text, content);
    }
    Ok(())
}

/// Adds the sections that could not have headings of their own.
pub(super) fn read_others(heading: &str, body: &str, content: &mut Content) -> Result<(), DocumentError> {
    let Some(value) = read_value(body)? else {
        return read_extra(heading, body, content);
    };
    let others = typed::Object::at(&value, OTHER_SECTIONS)?;
    for name in others.names() {
        if let Some(text) = others.text(name)? {
            add_extra(name, text.to_owned(), content);
        }
    }
    Ok(())
}

/// Adds text under a heading of `extra`.
pub(super) fn add_extra(heading: &str, text: String, content: &mut Content) {
    let mut slot = content.extra.remove(heading);
    join(&mut slot, text);
    content.extra.extend(slot.map(|text| (heading.to_owned(), text)));
}

/// The text of a section; `None` when there is none.
fn read_text(body: &str) -> Result<Option<String>, DocumentError> {
    match read_value(body)? {
        Some(value) => typed::text(&value, "the section").map(|text| Some(text.to_owned())),
        None => Ok(Some(normalised(body)).filter(|text| !text.is_empty())),
    }
}

/// The value in a body that consists of one code block with a value.
fn read_value(body: &str) -> Result<Option<Value>, DocumentError> {
    let Some((open, inner)) = code_block(body) else { return Ok(None) };
    let mut words = open.split_whitespace();
    match (words.next(), words.next()) {
        (Some("json"), Some(VALUE)) => serde_json::from_str(inner).map(Some).map_err(DocumentError::Json),
        (Some("text"), Some(VALUE)) => Ok(Some(inner.into())),
        _ => Ok(None),
    }
}

/// What follows the fence in the first line, and the text, of a body that is one code block.
pub(super) fn code_block(body: &str) -> Option<(&str, &str)> {
    let (first, rest) = body.trim().split_once('\n')?;
    let open = fence(first)?;
    let (inner, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
    let whole = closes(last, open) && !inner.split('\n').any(|line| closes(line, open));
    whole.then(|| (first[open.1..].trim(), inner))
}
