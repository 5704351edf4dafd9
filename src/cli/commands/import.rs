//! `git handoff import`: handoffs that stand only in files, taken into the log.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::super::args;
use super::super::error::{Code, Failure, io_code};
use super::super::session::Session;
use super::super::unrecorded::{FileOnly, Refused, Sorted, Unrecorded};
use crate::document::MAX_INPUT;
use crate::model::{EventId, Lanes, Summary, visible_line};
use crate::ui::{Page, Report, Tone, Ui};
use crate::views::files::{Look, Mode};

/// Runs the command.
///
/// # Errors
/// When the log cannot be written, or a file was refused; the others are taken in all the same.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Import, ui: &mut Ui<'_>) -> Result<(), Failure> {
    session.check_writable()?;
    let mut index = session.prepare(ui)?;
    let (sorted, known) = if args.paths.is_empty() {
        (Sorted::of(session, session.unrecorded(&index, Look::Thorough)?), Vec::new())
    } else {
        let named = read_named(session, args);
        let mut known = Vec::new();
        let mut fresh = Unrecorded { refused: named.refused, ..Unrecorded::default() };
        for found in named.handoffs {
            match index.find(&found.id)? {
                Some(position) => known.push((found.path, index.summary(position)?)),
                None => fresh.handoffs.push(found),
            }
        }
        (Sorted::with_edited(session, fresh.in_order()), known)
    };
    session.record_files(&mut index, &sorted.accepted)?;
    let taken = |found: &FileOnly| Ok((found.path.clone(), session.summary_of(&index, &found.id)?));
    let imported = sorted.accepted.iter().map(taken).collect::<Result<Vec<_>, Failure>>()?;
    let summaries: Vec<Summary> = imported.iter().map(|(_, summary)| summary.clone()).collect();
    session.refresh_views(&mut index, Mode::Incremental, ui);
    session.add_notes(&summaries, ui);
    let Sorted { refused, edited, .. } = sorted;
    let answer = Imported { imported, known, refused, edited, lanes: session.lanes.clone() };
    answer.warn(args, ui);
    ui.answer(&answer)?;
    match answer.refused.iter().find(|refused| refused.code == Code::BadInput) {
        // A file that was named was meant.
        Some(first) if !args.paths.is_empty() => super::refusal_of(&answer.refused)
            .and_then(|()| Err(Failure::new(first.code, format!("{} is no handoff: {}", first.path, first.reason)))),
        Some(_) | None => super::refusal_of(&answer.refused),
    }
}

/// The handoffs in the files that were named.
fn read_named(session: &Session<'_>, args: &args::Import) -> Unrecorded {
    let mut found = Unrecorded::default();
    for path in &args.paths {
        let file = session.cwd.join(path);
        let shown = session.repo.prefix_of(&file).unwrap_or_else(|| path.display().to_string());
        match read(&file) {
            Ok(bytes) => session.read_handoffs(&shown, &bytes).into_iter().for_each(|read| found.add(read)),
            Err(error) => found.refused.push(Refused {
                path: shown,
                code: io_code(&error),
                reason: format!("it cannot be read: {error}"),
            }),
        }
    }
    found
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(std::fs::File::open(path)?, MAX_INPUT as u64 + 1), &mut bytes)?;
    Ok(bytes)
}

struct Imported {
    imported: Vec<(String, Summary)>,
    known: Vec<(String, Summary)>,
    refused: Vec<Refused>,
    edited: Vec<(String, EventId)>,
    lanes: Lanes,
}

impl Imported {
    fn warn(&self, args: &args::Import, ui: &mut Ui<'_>) {
        super::warn_of_refused(&self.refused, ui);
        for (path, claimed) in &self.edited {
            if args.paths.is_empty() {
                super::warn_of_edited(path, claimed, ui);
            } else {
                ui.warn(format!(
                    "{path} was edited: it is recorded as a handoff of its own, and not as {}, whose id it gives",
                    claimed.short()
                ));
            }
        }
    }
}

impl Report for Imported {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut line = |(path, summary): &(String, Summary), what: &str| {
            let id = page.toned(Tone::Name, summary.id.short());
            page.line(format!("{what} {id} {} from {}", summary.session(), visible_line(path)))
        };
        self.imported.iter().try_for_each(|taken| line(taken, "Imported"))?;
        self.known.iter().try_for_each(|known| line(known, "Known already"))?;
        if self.imported.is_empty() && self.known.is_empty() {
            page.line("Nothing to import: the log has every handoff that stands in the files.")?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let row = |(path, summary): &(String, Summary)| {
            json!({
                "id": summary.id.to_string(),
                "session": summary.session().to_string(),
                "file": summary.file(&self.lanes),
                "path": path,
            })
        };
        json!({
            "imported": self.imported.iter().map(row).collect::<Vec<_>>(),
            "known": self.known.iter().map(row).collect::<Vec<_>>(),
            "refused": self.refused.iter().map(Refused::json).collect::<Vec<_>>(),
            "edited": super::edited_json(&self.edited),
        })
    }

    fn quiet(&self) -> Option<String> {
        let ids: Vec<String> = self.imported.iter().map(|(_, summary)| summary.id.to_string()).collect();
        (!ids.is_empty()).then(|| ids.join("\n"))
    }
}
