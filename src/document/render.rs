//! The document as Markdown: what people and agents read.

use std::collections::BTreeMap;

use serde_json::json;

use super::body::{exact, render_extra, render_field};
use super::fields::{FIELDS, METADATA, OTHER_SECTIONS};
use super::{Names, TITLE, metadata};
use crate::model::Handoff;

/// Renders a document with the names that the log's order gives it.
///
/// [`parse_view`](super::parse_view) gives the very same document back, whatever its texts contain.
pub fn render(handoff: &Handoff, names: &Names) -> String {
    let mut out = format!("# {TITLE}\n");
    let block = metadata::render(handoff, names);
    section(&mut out, METADATA, &format!("```yaml\n{block}```"));
    for field in FIELDS {
        if let Some(body) = render_field(field, &handoff.content) {
            section(&mut out, field.heading, &body);
        }
    }
    let mut others = BTreeMap::new();
    for (heading, text) in &handoff.content.extra {
        match render_extra(heading, text) {
            Some(body) => section(&mut out, heading, &body),
            None => {
                others.insert(heading, text);
            }
        }
    }
    if !others.is_empty() {
        section(&mut out, OTHER_SECTIONS, &exact(&json!(others)));
    }
    out
}

fn section(out: &mut String, heading: &str, body: &str) {
    out.push_str("\n## ");
    out.push_str(heading);
    out.push_str("\n\n");
    out.push_str(body);
    out.push('\n');
}
