//! `git handoff show`: one handoff, as Markdown or as it is stored.

use std::io;

use serde_json::{Value, json};

use super::super::approvals::{approval_json, approval_line};
use super::super::args;
use super::super::error::Failure;
use super::super::session::Session;
use crate::document;
use crate::model::{GivenApproval, Handoff, Summary, visible};
use crate::ui::{Face, Page, Report, Ui};

/// Runs the command.
///
/// # Errors
/// When the reference names no single handoff, or its body is missing or damaged.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Show, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if args.document {
        let bytes = session.read(|index| session.stored_bytes(&session.resolve(index, &args.reference)?))?;
        return Ok(ui.answer(&Stored(bytes))?);
    }
    let shown = session.read(|index| {
        let summary = session.resolve(index, &args.reference)?;
        let handoff = session.document(&summary)?;
        let markdown = session.markdown(index, &summary, &handoff)?;
        let approvals = session.approvals(index, |id| *id == summary.id)?.of(&summary.id).to_vec();
        Ok(Shown { summary, handoff, markdown, approvals })
    })?;
    if ui.face() == Face::Text {
        // On standard error: what stands on standard output is the document and nothing else.
        shown.approvals.iter().for_each(|given| ui.note(approval_line(given)));
    }
    Ok(ui.answer(&shown)?)
}

/// The stored bytes, whatever face is asked for.
struct Stored(Vec<u8>);

impl Report for Stored {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.raw(&self.0)
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.0).unwrap_or(Value::Null)
    }
}

struct Shown {
    summary: Summary,
    handoff: Handoff,
    markdown: String,
    approvals: Vec<GivenApproval>,
}

impl Report for Shown {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.raw(visible(&self.markdown).as_bytes())
    }

    fn json(&self) -> Value {
        json!({
            "id": self.summary.id.to_string(),
            "session": self.summary.session().to_string(),
            "document": document::to_value(&self.handoff),
            "approvals": self.approvals.iter().map(approval_json).collect::<Vec<_>>(),
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(self.summary.id.to_string())
    }
}
