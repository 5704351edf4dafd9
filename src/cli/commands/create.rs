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
use super::super::judge::{Judgement, Subject, Text, judge};
use super::super::marker::Marker;
use super::super::place::{Place, Stated};
use super::super::record::{follow_up, names_of};
use super::super::session::Session;
use super::super::store::{Novelty, Stored, store};
use super::super::views::GlobalIndex;
use crate::agents::Detection;
use crate::document::{self, MAX_INPUT};
use crate::git::is_branch_name;
use crate::model::score::Score;
use crate::model::{Content, Handoff, SessionName, Summary, visible, visible_line};
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
    let topic = args.topic.as_deref().unwrap_or_default();
    outcome.map_err(|failure| match kept {
        Kept::Draft(_) if args.dry_run => failure,
        Kept::Draft(text) => {
            match typed.file.as_deref().filter(|file| Drafts::new(&session.repo.state_dir()).holds(file)) {
                Some(file) => failure.draft(file),
                None => keep_draft(session, topic, &text, failure),
            }
        }
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
                Ok(Self { bytes: read_named(&path, name)?, file: Some(path) })
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

/// The bytes of a file that the user named, up to one more than any input may have.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read_named(path: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_INPUT as u64 + 1).read_to_end(&mut bytes));
    let failed = |error: io::Error| {
        Failure::because(io_code(&error), &error).while_doing(&format!("cannot read {}", visible_line(name)))
    };
    read.map(|_| bytes).map_err(failed)
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
    let mut input = read_input(&typed.bytes)?;
    lay_over(&mut input.content, &args.content);
    let detection = session.detect(args.origin.agent.as_deref().or(input.claims.agent.as_deref()))?;
    let allowed = allowed_findings(&args.allow_finding)?;
    let stated = stated(session, args)?;
    let mut index = session.prepare(ui)?;
    if let Some(summary) = sealed_before(session, &index, typed, args, ui)? {
        let handoff = session.document(&summary)?;
        let stored = Stored::Log { summary: Box::new(summary), novelty: Novelty::Known };
        let subject = Subject::sealed(&handoff, Text::None, &allowed);
        let score = Judgement::of(session, &subject)?.total();
        return finish(session, args, typed, &mut index, Recorded { stored, handoff, score }, ui);
    }
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
    let score = judge(session, &place, &mut composed.handoff, text_of(&typed.bytes), &allowed)?;
    if args.dry_run {
        let preview = Preview::of(session, &index, composed.handoff, score)?;
        return Ok(ui.answer(&preview)?);
    }
    let stored = store(session, &mut index, &composed.handoff)?;
    *kept = Kept::Recorded(document::id(&composed.handoff).to_string());
    finish(session, args, typed, &mut index, Recorded { stored, handoff: composed.handoff, score: score.total }, ui)
}

/// Reads what an author handed in.
///
/// # Errors
/// `TOO_LARGE` or `BAD_INPUT`.
pub(super) fn read_input(bytes: &[u8]) -> Result<document::Input, Failure> {
    document::read_input(bytes).map_err(|error| {
        let too_large = matches!(error, document::DocumentError::TooLarge { .. });
        Failure::because(if too_large { Code::TooLarge } else { Code::BadInput }, &error)
    })
}

/// What was given as the text that a handoff stands in.
pub(super) fn text_of(bytes: &[u8]) -> Text<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.trim().is_empty() => Text::Given(text),
        Ok(_) | Err(_) => Text::None,
    }
}

/// The fingerprints given with `--allow-finding`.
///
/// # Errors
/// When one is none.
pub(super) fn allowed_findings(texts: &[String]) -> Result<Vec<Fingerprint>, Failure> {
    let parsed = texts.iter().map(|text| text.parse::<Fingerprint>());
    parsed.collect::<Result<_, _>>().map_err(|error| Failure::because(Code::Usage, &error))
}

/// The handoff of the log whose own file was handed in unchanged. For one that was edited, says how its change is
/// recorded.
fn sealed_before(
    session: &Session<'_>,
    index: &Index,
    typed: &Typed,
    args: &args::Create,
    ui: &mut Ui<'_>,
) -> Result<Option<Summary>, Failure> {
    let words = [&args.topic, &args.status, &args.trigger, &args.goal_status];
    let more = has_content(&args.content) || words.iter().any(|word| word.is_some()) || args.complete || args.draft;
    let view = std::str::from_utf8(&typed.bytes).ok().and_then(|text| document::parse_view(text).ok());
    let Some(view) = view.filter(|_| !args.dry_run) else { return Ok(None) };
    if let Some(position) = index.find(&document::id(&view.handoff))?.filter(|_| !more) {
        let summary = index.summary(position)?;
        return Ok(summary.recorded_in.is_some().then_some(summary));
    }
    if let (Some(claimed), Some(file)) = (view.claimed_id, &args.from)
        && index.find(&claimed)?.is_some()
    {
        let name = session.cwd.join(file);
        ui.hint(format!(
            "{} is an edited copy of {}; 'git handoff edit --from {file}' records it as its correction",
            name.display(),
            claimed.short()
        ));
    }
    Ok(None)
}

fn stated(session: &Session<'_>, args: &args::Create) -> Result<Stated, Failure> {
    let commit = match &args.origin.commit {
        Some(revision) => Some(session.repo.resolve_commit(revision)?.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("'{revision}' is no commit of this repository"))
                .detail("commit", revision.as_str())
        })?),
        None => None,
    };
    if let Some(branch) = args.origin.branch.as_deref().filter(|branch| !is_branch_name(branch)) {
        return Err(Failure::new(Code::Usage, format!("'{}' cannot be the name of a branch", visible_line(branch))));
    }
    Ok(Stated { branch: args.origin.branch.clone(), commit, ..Stated::default() })
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
pub(super) struct Recorded {
    pub(super) stored: Stored,
    pub(super) handoff: Handoff,
    pub(super) score: u8,
}

fn finish(
    session: &Session<'_>,
    args: &args::Create,
    typed: &Typed,
    index: &mut Index,
    recorded: Recorded,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let views = recorded.show(session, index, Mode::Incremental, ui);
    if let Some(file) = &typed.file {
        Drafts::new(&session.repo.state_dir()).sealed(file)?;
    }
    let print = if args.print { Print::Document } else { Print::Record };
    Ok(ui.answer(&Created::of(session, index, recorded, views, print)?)?)
}

/// What is printed of a handoff that was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Print {
    /// That it was.
    Record,
    /// The document too.
    Document,
}

impl Recorded {
    /// Brings the views up to it and says what the user may not expect.
    pub(super) fn show(&self, session: &Session<'_>, index: &mut Index, mode: Mode, ui: &mut Ui<'_>) -> GlobalIndex {
        follow_up(session, index, &self.handoff, &self.stored, mode, ui)
    }

    /// The id and the readable name.
    fn names(&self) -> (String, SessionName) {
        names_of(&self.stored)
    }
}

/// The answer: the four lines of the contract.
pub(super) struct Created {
    recorded: Recorded,
    file: Option<String>,
    views: GlobalIndex,
    document: Option<String>,
}

impl Created {
    pub(super) fn of(
        session: &Session<'_>,
        index: &Index,
        recorded: Recorded,
        views: GlobalIndex,
        print: Print,
    ) -> Result<Self, Failure> {
        let (_, name) = recorded.names();
        let document = match print {
            Print::Document => Some(session.render(index, &recorded.handoff, &name)?),
            Print::Record => None,
        };
        let file = match &recorded.stored {
            Stored::Log { summary, .. } => session.file_on_disk(summary),
            Stored::Spool { file, .. } => Some(file.display().to_string()),
        };
        Ok(Self { recorded, file, views, document })
    }
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
pub(super) fn keep_draft(session: &Session<'_>, topic: &str, draft: &[u8], failure: Failure) -> Failure {
    if draft.iter().all(u8::is_ascii_whitespace) {
        return failure;
    }
    // What is no text cannot be masked in place: it is kept as it is only when nothing is found in it.
    let lossy = String::from_utf8_lossy(draft);
    let masked = secrets::mask(&lossy);
    let kept = if masked == lossy { draft } else { masked.as_bytes() };
    let drafts = Drafts::new(&session.repo.state_dir());
    // The topic becomes a part of the file's name, which is printed.
    match drafts.keep(kept, &secrets::mask(topic), session.now(), &session.env.temporary_directory()) {
        Ok(path) => failure.draft(&path),
        Err(_) => failure.draft_text(&String::from_utf8_lossy(kept)),
    }
}
