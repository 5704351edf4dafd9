//! `git handoff edit`: correct a handoff. The log never changes: the corrected text becomes a handoff of its own that
//! supersedes the old one.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::args;
use super::super::drafts::Drafts;
use super::super::error::{Code, Failure};
use super::super::judge::{Judgement, Subject, Text};
use super::super::session::Session;
use super::super::store::{Stored, store};
use super::create::{Created, Print, Recorded, allowed_findings, keep_draft, read_named};
use super::resume::choose;
use crate::document;
use crate::model::{EventId, Handoff, Link, Observer, Summary, visible_line};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::Index;
use crate::views::files::{Mode, keep_copy};

/// Runs the command.
///
/// # Errors
/// When there is nothing to edit, no editor, or the new text is refused. What was written is then kept as a draft.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Edit, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut index = session.prepare(ui)?;
    let edited = match &args.from {
        Some(name) => Edited::from_file(session, &index, args, name)?,
        None => Edited::in_editor(session, &index, args)?,
    };
    let outcome = attempt(session, &mut index, args, &edited, ui);
    outcome.map_err(|failure| keep_draft(session, edited.original.topic.as_str(), edited.text.as_bytes(), failure))
}

/// A text that somebody changed, and the handoff that it is to supersede.
struct Edited {
    summary: Summary,
    original: Handoff,
    /// The Markdown before; what a file held before is not known.
    before: Option<String>,
    text: String,
    file: Option<PathBuf>,
}

impl Edited {
    fn from_file(session: &Session<'_>, index: &Index, args: &args::Edit, name: &str) -> Result<Self, Failure> {
        let (bytes, file) = match name {
            "-" => (session.env.read_stdin(document::MAX_INPUT as u64)?, None),
            name => (read_named(&session.cwd.join(name), name)?, Some(session.cwd.join(name))),
        };
        let text = String::from_utf8(bytes)
            .map_err(|error| Failure::because(Code::BadInput, &error).while_doing("the text is no UTF-8"))?;
        let summary = match &args.reference {
            Some(reference) => session.resolve(index, reference)?,
            None => named_in(index, &text, name)?,
        };
        Ok(Self { original: session.document(&summary)?, summary, before: None, text, file })
    }

    fn in_editor(session: &Session<'_>, index: &Index, args: &args::Edit) -> Result<Self, Failure> {
        let given = session.env.var("GIT_EDITOR");
        if given.is_none() && !session.env.stdin_is_terminal {
            return Err(Failure::new(Code::EditorFailed, "there is no terminal for an editor")
                .hint("give the new text with --from FILE, or name an editor that needs no terminal in GIT_EDITOR"));
        }
        let summary = match &args.reference {
            Some(reference) => session.resolve(index, reference)?,
            None => recommended(session, index, args)?,
        };
        let original = session.document(&summary)?;
        let before = session.markdown(index, &summary, &original)?;
        let editor = session.repo.editor(given).map_err(|error| editor_failure(&error))?;
        let state = session.repo.state_dir();
        let open =
            |directory: PathBuf| tempfile::Builder::new().prefix("HANDOFF-").suffix(".md").tempfile_in(directory);
        let made = fs::create_dir_all(&state).and_then(|()| open(state));
        let mut file = made.or_else(|_| open(session.env.temporary_directory()))?;
        file.write_all(before.as_bytes())?;
        // Closed before the editor opens it; the path is removed when all is done.
        let path = file.into_temp_path();
        let ended = session.repo.edit(&editor, &path).map_err(|error| editor_failure(&error));
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        match ended {
            Err(failure) if text != before => {
                Err(keep_draft(session, original.topic.as_str(), text.as_bytes(), failure))
            }
            Err(failure) => Err(failure),
            Ok(()) => Ok(Self { summary, original, before: Some(before), text, file: None }),
        }
    }

    /// Whether the text says what the handoff says already.
    fn is_unchanged(&self) -> bool {
        let same =
            |before: &String| before.replace("\r\n", "\n").trim_end() == self.text.replace("\r\n", "\n").trim_end();
        self.before.as_ref().is_some_and(same)
            || document::parse_view(&self.text).is_ok_and(|view| view.handoff == self.original)
    }
}

/// The handoff that `resume` would take, else the newest.
fn recommended(session: &Session<'_>, index: &Index, args: &args::Edit) -> Result<Summary, Failure> {
    let head = session.head()?;
    let agent = session.detect(args.agent.as_deref())?.agent;
    choose(session, index, &agent, &head, None)
        .map(|choice| choice.summary)
        .or_else(|_| session.resolve(index, "@latest"))
}

/// The handoff whose id an edited file carries.
fn named_in(index: &Index, text: &str, name: &str) -> Result<Summary, Failure> {
    let name = visible_line(name);
    let claims =
        document::read_input(text.as_bytes()).map_err(|error| Failure::because(Code::BadInput, &error))?.claims;
    let claimed = claims.handoff_id.ok_or_else(|| {
        Failure::new(Code::BadInput, format!("{name} does not say which handoff it corrects: 'handoff_id' is missing"))
            .hint("name the handoff too: git handoff edit REF --from FILE; a new one is made by 'git handoff create --from FILE'")
    })?;
    let id: EventId = claimed.parse().map_err(|error| Failure::because(Code::BadInput, &error))?;
    match index.find(&id)? {
        Some(position) => Ok(index.summary(position)?),
        None => Err(Failure::new(Code::NotFound, format!("{name} corrects {id}, which is not in this log"))
            .hint("a handoff that is in no log is taken in by 'git handoff create --from FILE'")
            .detail("ref", id.to_string())),
    }
}

fn editor_failure(error: &crate::git::CommandError) -> Failure {
    use crate::git::CommandError as E;
    let why = match error {
        E::Failed { verb: "editor", code: Some(code), .. } => format!("it ended with status {code}"),
        E::Failed { verb: "editor", code: None, .. } => "a signal ended it".into(),
        E::Failed { stderr, .. } if stderr.trim().is_empty() => "git knows none for this terminal".into(),
        E::Failed { stderr, .. } => visible_line(stderr.trim()).into_owned(),
        E::NotStarted { source, .. } | E::Unreadable { source, .. } => source.to_string(),
        E::TimedOut { .. } => error.to_string(),
    };
    Failure::new(Code::EditorFailed, format!("the editor failed ({why}); nothing was recorded"))
        .hint("set one with 'git config core.editor', or give the new text with --from FILE")
}

fn attempt(
    session: &Session<'_>,
    index: &mut Index,
    args: &args::Edit,
    edited: &Edited,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    if edited.is_unchanged() {
        return Ok(ui.answer(&Unchanged(edited.summary.clone()))?);
    }
    let mut handoff = corrected(session, args, edited)?;
    let mut allowed = allowed_findings(&args.allow_finding)?;
    // What the author of the original allowed stays allowed.
    allowed.extend(edited.original.metadata.allowed_findings.iter().filter_map(|text| text.parse().ok()));
    let subject = Subject::sealed(&handoff, Text::Given(&edited.text), &allowed);
    let score = Judgement::of(session, &subject)?.accept(&mut handoff)?.total;
    let stored = store(session, index, &handoff)?;
    let mode = make_room(session, edited, &stored, ui);
    let recorded = Recorded { stored, handoff, score };
    let views = recorded.show(session, index, mode, ui);
    if let Some(file) = &edited.file {
        Drafts::new(&session.repo.state_dir()).sealed(file)?;
    }
    Ok(ui.answer(&Created::of(session, index, recorded, views, Print::Record)?)?)
}

/// The handoff that the edited text is: the same work at the same revision, told anew by whoever edits.
fn corrected(session: &Session<'_>, args: &args::Edit, edited: &Edited) -> Result<Handoff, Failure> {
    let view = document::parse_view(&edited.text).map_err(|error| {
        Failure::because(Code::BadInput, &error).hint("keep the title and the block of metadata as they were")
    })?;
    let mut handoff = view.handoff;
    let original = &edited.original;
    let detection = session.detect(args.agent.as_deref().or(Some(handoff.agent.as_str())))?;
    if detection.agent != original.agent {
        handoff.metadata.model = None;
    }
    handoff.agent = detection.agent;
    handoff.created = session.now();
    handoff.metadata.agent_session = detection.session_id;
    handoff.metadata.agent_turn = None;
    handoff.metadata.supersedes = vec![Link::Id(edited.summary.id)];
    handoff.metadata.allowed_findings = Vec::new();
    for evidence in &mut handoff.content.verification_evidence {
        // Only what this tool saw, word for word, is still what it saw.
        if !original.content.verification_evidence.contains(evidence) {
            evidence.observed_by = Observer::Author;
        }
    }
    Ok(handoff)
}

/// The edited file of the old handoff goes away once its text is in the log, so that the refresh can make the file
/// again as it was. A copy stays in private state.
fn make_room(session: &Session<'_>, edited: &Edited, stored: &Stored, ui: &mut Ui<'_>) -> Mode {
    let (Some(file), Stored::Log { .. }, Some(top)) = (&edited.file, stored, session.repo.work_dir()) else {
        return Mode::Incremental;
    };
    let view = edited.summary.file(&session.lanes);
    let is_view =
        fs::canonicalize(file).is_ok_and(|file| fs::canonicalize(top.join(&view)).is_ok_and(|view| view == file));
    if !is_view {
        return Mode::Incremental;
    }
    let moved = keep_copy(&session.repo.state_dir(), &view, edited.text.as_bytes())
        .and_then(|kept| fs::remove_file(file).map(|()| kept));
    match moved {
        Ok(kept) => ui.note(format!("{view} shows the old handoff again; your version is kept in {}", kept.display())),
        Err(error) => ui.warn(format!("{view} could not be put back: {error}")),
    }
    Mode::Full
}

/// Nothing was done.
struct Unchanged(Summary);

impl Report for Unchanged {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("Nothing was changed: {} stays as it is.", self.0.session()))
    }

    fn json(&self) -> Value {
        json!({
            "id": self.0.id.to_string(),
            "session": self.0.session().to_string(),
            "status": self.0.status.as_str(),
            "stored": null,
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(self.0.id.to_string())
    }
}
