//! `git handoff create`: record a handoff.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::args;
use super::super::compose::{Composed, Sources, compose, has_content, lay_over};
use super::super::drafts::Drafts;
use super::super::error::{Code, Failure, io_code};
use super::super::judge::judge;
use super::super::marker::Marker;
use super::super::place::{Place, Stated};
use super::super::record::{file_of, follow_up, names_of};
use super::super::session::Session;
use super::super::store::{Stored, store};
use super::super::views::GlobalIndex;
use crate::agents::Detection;
use crate::document::{self, MAX_INPUT};
use crate::model::score::Score;
use crate::model::{Handoff, SessionName, visible};
use crate::secrets::{self, Fingerprint};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::Index;

/// How many changed and untracked files are asked of git.
const MAX_OPEN_FILES: usize = Handoff::MAX_COLLECTED_FILES;

/// How long standard input may stay silent where flags give content already.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// When the handoff is refused or cannot be stored. What was typed is then kept as a draft.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Create, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let typed = Typed::read(session, args)?;
    let mut draft = typed.bytes.clone();
    let outcome = attempt(session, args, &typed, &mut draft, ui);
    outcome.map_err(|failure| keep_draft(session, args, &draft, failure))
}

/// What was handed in, before it is understood.
struct Typed {
    bytes: Vec<u8>,
    file: Option<PathBuf>,
}

impl Typed {
    fn read(session: &Session<'_>, args: &args::Create) -> Result<Self, Failure> {
        let limit = MAX_INPUT as u64;
        match args.from.as_deref() {
            Some("-") => Ok(Self { bytes: session.env.read_stdin(limit)?, file: None }),
            Some(name) => {
                let path = session.cwd.join(name);
                let bytes = read_file(&path, limit).map_err(|error| {
                    Failure::because(io_code(&error), &error).while_doing(&format!("cannot read {name}"))
                })?;
                Ok(Self { bytes, file: Some(path) })
            }
            None if session.env.stdin_is_terminal => Ok(Self { bytes: Vec::new(), file: None }),
            None if args.draft || has_content(&args.content) => {
                // The flags may be all that there is: nobody waits for ever for an input that was never meant.
                let offered = session.env.read_offered_stdin(limit, PATIENCE)?;
                Ok(Self { bytes: offered.unwrap_or_default(), file: None })
            }
            None => Ok(Self { bytes: session.env.read_stdin(limit)?, file: None }),
        }
    }
}

fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Everything between what was typed and the answer. `draft` is what should be kept if it fails.
fn attempt(
    session: &Session<'_>,
    args: &args::Create,
    typed: &Typed,
    draft: &mut Vec<u8>,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let status = session.repo.start_status(MAX_OPEN_FILES)?;
    let mut input = document::read_input(&typed.bytes).map_err(|error| Failure::because(input_code(&error), &error))?;
    lay_over(&mut input.content, &args.content);
    let detection = session.detect(args.origin.agent.as_deref().or(input.claims.agent.as_deref()))?;
    let allowed = allowed_findings(args)?;
    let stated = stated(session, args)?;
    let mut index = session.prepare(ui)?;
    let place = Place::observe(session, &index, stated, status)?;
    let sources = Sources {
        input,
        args,
        agent: detection.agent.clone(),
        agent_session: detection.session_id.clone(),
        marker: Marker::load(&session.repo.state_dir()),
    };
    let mut composed = compose(session, &index, &place, sources)?;
    *draft = composed.draft().into_bytes();
    if args.draft {
        return write_draft(session, &composed, ui);
    }
    announce(&detection, &composed, args, ui);
    let score = judge(session, &place, &mut composed.handoff, &allowed)?;
    if args.dry_run {
        let preview = Preview::of(session, &index, composed.handoff, score)?;
        return Ok(ui.answer(&preview)?);
    }
    let stored = store(session, &mut index, &composed.handoff)?;
    finish(session, args, typed, &mut index, Recorded { stored, handoff: composed.handoff, score: score.total }, ui)
}

fn input_code(error: &document::DocumentError) -> Code {
    if matches!(error, document::DocumentError::TooLarge { .. }) { Code::TooLarge } else { Code::BadInput }
}

fn allowed_findings(args: &args::Create) -> Result<Vec<Fingerprint>, Failure> {
    let parsed = args.allow_finding.iter().map(|text| text.parse::<Fingerprint>());
    parsed.collect::<Result<_, _>>().map_err(|error| Failure::because(Code::Usage, &error))
}

fn stated(session: &Session<'_>, args: &args::Create) -> Result<Stated, Failure> {
    let commit = match &args.origin.commit {
        Some(revision) => Some(session.repo.resolve_commit(revision)?.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("'{revision}' is no commit of this repository"))
                .detail("commit", revision.as_str())
        })?),
        None => None,
    };
    Ok(Stated { branch: args.origin.branch.clone(), commit, ..Stated::default() })
}

/// Says what the user may not expect.
fn announce(detection: &Detection, composed: &Composed, args: &args::Create, ui: &mut Ui<'_>) {
    if let Some(overruled) = detection.overruled.as_ref().filter(|_| args.origin.agent.is_some()) {
        ui.warn(overruled.to_string());
    }
    if !detection.ambiguous.is_empty() {
        ui.warn(format!("the agent is ambiguous: {}", detection.why));
    }
    for text in &composed.unresolved {
        ui.warn(format!("'{text}' is not in this log; the link is recorded as it was written"));
    }
}

/// A stored handoff and what is to be said of it.
struct Recorded {
    stored: Stored,
    handoff: Handoff,
    score: u8,
}

fn finish(
    session: &Session<'_>,
    args: &args::Create,
    typed: &Typed,
    index: &mut Index,
    recorded: Recorded,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let views = follow_up(session, index, &recorded.handoff, &recorded.stored, ui);
    if let Some(file) = &typed.file {
        Drafts::new(&session.repo.state_dir()).sealed(file)?;
    }
    let (_, name) = recorded.names();
    let document = args.print.then(|| session.render(index, &recorded.handoff, &name)).transpose()?;
    let file = file_of(session, &recorded.stored);
    Ok(ui.answer(&Created { recorded, file, views, document })?)
}

impl Recorded {
    /// The id and the readable name.
    fn names(&self) -> (String, SessionName) {
        names_of(&self.stored)
    }
}

/// The answer: the four lines of the contract.
struct Created {
    recorded: Recorded,
    file: Option<String>,
    views: GlobalIndex,
    document: Option<String>,
}

impl Report for Created {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let (_, session) = self.recorded.names();
        page.line("Session handoff created.")?;
        page.line(format!("Status: {}", self.recorded.handoff.status))?;
        page.line(format!("Handoff: {}", self.file.clone().unwrap_or_else(|| session.to_string())))?;
        page.line(format!("Global index updated: {}", self.views))?;
        match &self.document {
            Some(document) => {
                page.line("")?;
                page.raw(visible(document).as_bytes())
            }
            None => Ok(()),
        }
    }

    fn json(&self) -> Value {
        let (id, session) = self.recorded.names();
        let stored = match &self.recorded.stored {
            Stored::Log { .. } => "log",
            Stored::Spool { .. } => "spool",
        };
        let mut record = json!({
            "id": id,
            "session": session.to_string(),
            "file": self.file,
            "status": self.recorded.handoff.status.as_str(),
            "score": self.recorded.score,
            "stored": stored,
            "views_updated": matches!(self.views, GlobalIndex::Updated),
        });
        if self.document.is_some() {
            record["document"] = document::to_value(&self.recorded.handoff);
        }
        record
    }

    fn quiet(&self) -> Option<String> {
        Some(self.recorded.names().0)
    }
}

/// What would be stored.
struct Preview {
    handoff: Handoff,
    markdown: String,
    session: SessionName,
    score: Score,
}

impl Preview {
    fn of(session: &Session<'_>, index: &Index, handoff: Handoff, score: Score) -> Result<Self, Failure> {
        let name = SessionName::new(
            handoff.agent.clone(),
            handoff.created,
            index.next_ordinal(&handoff.agent, handoff.created)?,
        );
        let markdown = session.render(index, &handoff, &name)?;
        Ok(Self { handoff, markdown, session: name, score })
    }
}

impl Report for Preview {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.raw(visible(&self.markdown).as_bytes())
    }

    fn json(&self) -> Value {
        json!({
            "id": document::id(&self.handoff).to_string(),
            "session": self.session.to_string(),
            "status": self.handoff.status.as_str(),
            "score": self.score.total,
            "stored": null,
            "document": document::to_value(&self.handoff),
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(document::id(&self.handoff).to_string())
    }
}

/// A draft that was written.
struct Draft(PathBuf);

impl Report for Draft {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("Draft: {}", self.0.display()))?;
        page.line(format!("To seal it: git handoff create --from {}", self.0.display()))
    }

    fn json(&self) -> Value {
        json!({"draft": self.0.display().to_string()})
    }

    fn quiet(&self) -> Option<String> {
        Some(self.0.display().to_string())
    }
}

fn write_draft(session: &Session<'_>, composed: &Composed, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let text = composed.template();
    let path = Drafts::new(&session.repo.state_dir()).keep(
        secrets::mask(&text).as_bytes(),
        composed.handoff.topic.as_str(),
        session.now(),
        &session.env.temporary_directory(),
    )?;
    Ok(ui.answer(&Draft(path))?)
}

/// Keeps what was typed and says where; the failure goes on.
fn keep_draft(session: &Session<'_>, args: &args::Create, draft: &[u8], failure: Failure) -> Failure {
    if draft.iter().all(u8::is_ascii_whitespace) || args.dry_run {
        return failure;
    }
    // What is no text cannot be masked in place: it is kept as it is only when nothing is found in it.
    let lossy = String::from_utf8_lossy(draft);
    let masked = secrets::mask(&lossy);
    let kept = if masked == lossy { draft } else { masked.as_bytes() };
    let topic = args.topic.as_deref().unwrap_or_default();
    let drafts = Drafts::new(&session.repo.state_dir());
    match drafts.keep(kept, topic, session.now(), &session.env.temporary_directory()) {
        Ok(path) => failure.draft(&path),
        Err(_) => failure.draft_text(&String::from_utf8_lossy(kept)),
    }
}
