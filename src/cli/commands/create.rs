//! `git handoff create`: record a handoff.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::args;
use super::super::compose::{Composed, Sources, bare_draft, compose, has_content, lay_over};
use super::super::drafts::Drafts;
use super::super::error::{Code, Failure, io_code};
use super::super::judge::judge;
use super::super::marker::Marker;
use super::super::place::{Place, Stated};
use super::super::session::Session;
use super::super::store::{Novelty, Stored, store};
use super::super::views::GlobalIndex;
use crate::agents::Detection;
use crate::document::{self, MAX_INPUT};
use crate::model::score::Score;
use crate::model::{Content, Handoff, SessionName, visible};
use crate::secrets::{self, Fingerprint};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::Index;
use crate::views::files::Mode;

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
    let mut kept = Kept::Draft(typed.bytes.clone());
    let outcome = attempt(session, args, &typed, &mut kept, ui);
    outcome.map_err(|failure| match kept {
        Kept::Draft(text) => keep_draft(session, args, &typed, &text, failure),
        Kept::Recorded(id) => failure
            .while_doing(&format!("handoff {id} is recorded, but its answer could not be given"))
            .detail("id", id),
    })
}

/// Where what was typed is, should the command fail.
enum Kept {
    /// Nowhere yet: this text must be kept as a draft.
    Draft(Vec<u8>),
    /// It is recorded, under this id.
    Recorded(String),
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

/// Everything between what was typed and the answer. `kept` says at any time where what was typed is.
fn attempt(
    session: &Session<'_>,
    args: &args::Create,
    typed: &Typed,
    kept: &mut Kept,
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
    let content = sources.input.content.clone();
    if content != Content::default() {
        // Should a word of the metadata be wrong, the content is kept all the same.
        *kept = Kept::Draft(bare_draft(session, &content).into_bytes());
    }
    let mut composed = compose(session, &index, &place, sources)?;
    if content != Content::default() {
        *kept = Kept::Draft(composed.draft().into_bytes());
    }
    if args.draft {
        return write_draft(session, &composed, ui);
    }
    announce(session, &detection, &composed, args, ui);
    let score = judge(session, &place, &mut composed.handoff, &allowed)?;
    if args.dry_run {
        let preview = Preview::of(session, &index, composed.handoff, score)?;
        return Ok(ui.answer(&preview)?);
    }
    let stored = store(session, &mut index, &composed.handoff)?;
    *kept = Kept::Recorded(document::id(&composed.handoff).to_string());
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
    Ok(Stated { branch: args.origin.branch.clone(), commit })
}

/// Says what the user may not expect.
fn announce(session: &Session<'_>, detection: &Detection, composed: &Composed, args: &args::Create, ui: &mut Ui<'_>) {
    if let Some(overruled) = detection.overruled.as_ref().filter(|_| args.origin.agent.is_some()) {
        ui.warn(overruled.to_string());
    }
    if session.env.zone_unknown {
        ui.warn("the local time zone cannot be found out; the time is recorded in UTC");
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
    let views = match &recorded.stored {
        Stored::Log { summary, novelty } => {
            if *novelty == Novelty::Known {
                ui.warn(format!("this very document is already recorded, as {}", summary.session()));
            }
            let views = session.refresh_views(index, Mode::Incremental, ui);
            session.add_notes(std::slice::from_ref(summary.as_ref()), ui);
            views
        }
        Stored::Spool { file, .. } => {
            ui.warn(format!(
                "git's directory cannot be written here; the handoff is sealed in {} and the next command that can \
                 write takes it into the log",
                file.display()
            ));
            GlobalIndex::Spooled
        }
    };
    if recorded.handoff.metadata.resumed_from.is_some() {
        // One that stays would at worst link the next handoff of the same work again.
        drop(Marker::remove(&session.repo.state_dir()));
    }
    if let Some(file) = &typed.file {
        Drafts::new(&session.repo.state_dir()).sealed(file)?;
    }
    let (_, name) = recorded.names();
    let document = args.print.then(|| session.render(index, &recorded.handoff, &name)).transpose()?;
    let file = match &recorded.stored {
        Stored::Log { summary, .. } => session.file_on_disk(summary),
        Stored::Spool { file, .. } => Some(file.display().to_string()),
    };
    Ok(ui.answer(&Created { recorded, file, views, document })?)
}

impl Recorded {
    /// The id and the readable name.
    fn names(&self) -> (String, SessionName) {
        match &self.stored {
            Stored::Log { summary, .. } => (summary.id.to_string(), summary.session()),
            Stored::Spool { id, session, .. } => (id.to_string(), session.clone()),
        }
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
        &secrets::mask(composed.handoff.topic.as_str()),
        session.now(),
        &session.env.temporary_directory(),
    )?;
    Ok(ui.answer(&Draft(path))?)
}

/// Keeps what was typed and says where; the failure goes on.
fn keep_draft(session: &Session<'_>, args: &args::Create, typed: &Typed, draft: &[u8], failure: Failure) -> Failure {
    let drafts = Drafts::new(&session.repo.state_dir());
    if draft.iter().all(u8::is_ascii_whitespace) || args.dry_run {
        return failure;
    }
    if let Some(file) = typed.file.as_deref().filter(|file| drafts.holds(file)) {
        return failure.draft(file);
    }
    // What is no text cannot be masked in place: it is kept as it is only when nothing is found in it.
    let lossy = String::from_utf8_lossy(draft);
    let masked = secrets::mask(&lossy);
    let kept = if masked == lossy { draft } else { masked.as_bytes() };
    let topic = secrets::mask(args.topic.as_deref().unwrap_or_default());
    match drafts.keep(kept, &topic, session.now(), &session.env.temporary_directory()) {
        Ok(path) => failure.draft(&path),
        Err(_) => failure.draft_text(&String::from_utf8_lossy(kept)),
    }
}
