//! `git handoff check`: how far a handoff still fits the repository, and why. It writes nothing.

use std::io;

use serde_json::Value;

use super::super::args;
use super::super::error::{Code, Failure};
use super::super::session::Session;
use super::super::staleness::{Standing, refusal};
use super::resume::choose;
use crate::document;
use crate::model::reference::Reference;
use crate::model::{Handoff, Summary};
use crate::ui::{Page, Report, Tone, Ui};
use crate::views::cache::Index;

/// Runs the command.
///
/// # Errors
/// `STALE` after the answer when the handoff is stale or worse; otherwise when the reference names no single handoff, or
/// its body is missing or damaged.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Check, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let head = session.head()?;
    let checked = session.read(|index| {
        let Subject { summary, file } = match &args.reference {
            Some(text) => Subject::named(session, index, text)?,
            None => {
                let agent = session.detect(args.agent.as_deref())?.agent;
                Subject { summary: choose(session, index, &agent, &head, None)?.summary, file: None }
            }
        };
        let handoff = session.document(&summary)?;
        Ok(Checked { standing: Standing::of(session, index, &handoff, &head), summary, file })
    })?;
    ui.answer(&checked)?;
    if checked.standing.is_stale() { Err(refusal(&checked.summary, &checked.standing)) } else { Ok(()) }
}

/// Whether a file holds what the handoff says whose id it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    AsRecorded,
    Edited,
}

/// The handoff that is judged, and the file through which it was named.
struct Subject {
    summary: Summary,
    file: Option<FileState>,
}

impl Subject {
    fn named(session: &Session<'_>, index: &Index, text: &str) -> Result<Self, Failure> {
        let view = match Reference::parse(text) {
            // A file that happens to be called like an id or a session does not stand in its way.
            Ok(Reference::Id(_) | Reference::Prefix(_) | Reference::Session { .. } | Reference::Latest) => None,
            Ok(Reference::File { .. }) | Err(_) => read_view(session, text)?,
        };
        match view {
            Some(view) => Self::in_file(index, text, &view),
            None => Ok(Self { summary: session.resolve(index, text)?, file: None }),
        }
    }

    fn in_file(index: &Index, text: &str, view: &document::ParsedView) -> Result<Self, Failure> {
        let own = document::id(&view.handoff);
        let id = view.claimed_id.unwrap_or(own);
        let position = index.find(&id)?.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("'{text}' carries the id {id}, which this log does not have"))
                .hint("if teammates have it, fetch their log; if only the file is left, import it")
                .detail("ref", text)
                .detail("id", id.to_string())
        })?;
        let state = if own == id { FileState::AsRecorded } else { FileState::Edited };
        Ok(Self { summary: index.summary(position)?, file: Some(state) })
    }
}

/// The handoff file inside the work tree that the text names, from where the user stands or from the top; `None` when
/// the text names no file.
fn read_view(session: &Session<'_>, text: &str) -> Result<Option<document::ParsedView>, Failure> {
    let tops = session.repo.work_dir().map(std::path::PathBuf::from);
    for base in [Some(session.cwd.clone()), tops].into_iter().flatten() {
        let path = base.join(text);
        if !path.is_file() || session.repo.prefix_of(&path).is_none() {
            continue;
        }
        let too_large = path.metadata()?.len() > (4 * Handoff::MAX_BYTES) as u64;
        let read = if too_large { None } else { std::fs::read_to_string(&path).ok() };
        let view = read.map(|text| document::parse_view(&text)).transpose();
        return match view {
            Ok(Some(view)) => Ok(Some(view)),
            Ok(None) => {
                Err(Failure::new(Code::BadInput, format!("'{text}' is no handoff's file: it is too large or no text")))
            }
            Err(error) => {
                Err(Failure::because(Code::BadInput, &error).while_doing(&format!("'{text}' is no handoff's file")))
            }
        };
    }
    Ok(None)
}

/// The answer.
struct Checked {
    summary: Summary,
    standing: Standing,
    file: Option<FileState>,
}

impl Report for Checked {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let level = page.toned(Tone::Strong, self.standing.level_name());
        page.line(format!("{level} {} {}", self.summary.id.short(), self.summary.session()))?;
        for sentence in self.standing.sentences() {
            page.line(format!("- {sentence}"))?;
        }
        if self.file == Some(FileState::Edited) {
            page.line("The file was edited; this is about the handoff as it is recorded.")?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let mut answer = self.standing.json();
        answer["id"] = self.summary.id.to_string().into();
        answer["session"] = self.summary.session().to_string().into();
        answer["file_edited"] = self.file.map(|state| state == FileState::Edited).into();
        answer
    }

    fn quiet(&self) -> Option<String> {
        Some(self.standing.level_name().into())
    }
}
