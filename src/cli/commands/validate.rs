//! `git handoff validate`: what a handoff is worth and what stands against it, judged as `create` would. Writes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::args;
use super::super::compose::{Sources, compose};
use super::super::drafts::Drafts;
use super::super::error::{Code, Failure};
use super::super::judge::{Judgement, Subject, Text};
use super::super::marker::Marker;
use super::super::place::{Place, Stated};
use super::super::session::Session;
use super::create::{allowed_findings, read_input, read_named};
use crate::document::{self, MAX_INPUT};
use crate::model::reference::Reference;
use crate::model::score::{PartName, Score};
use crate::model::{Handoff, visible_line};
use crate::secrets::Fingerprint;
use crate::ui::{Page, Report, Ui};

/// How long standard input may stay silent where nobody named it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// When something cannot be judged, or what is judged could not be stored; of several the worst.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Validate, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let allowed = allowed_findings(&args.allow_finding)?;
    let targets = if args.references.is_empty() { vec![default_target(session)?] } else { targets(session, args)? };
    let mut answers = Vec::with_capacity(targets.len());
    for Target { name, source } in targets {
        let outcome = source.and_then(|source| judged(session, &source, &allowed));
        answers.push(Answer { name, outcome });
    }
    if let [Answer { outcome: Err(_), .. }] = answers.as_slice() {
        return answers.remove(0).outcome.map(|_| ());
    }
    let report = Answers(answers);
    ui.answer(&report)?;
    report.worst().map_or(Ok(()), Err)
}

/// What is to be judged.
struct Target {
    name: String,
    source: Result<Source, Failure>,
}

/// Where it stands.
enum Source {
    /// In the log.
    Recorded(String),
    /// In a text, under this name.
    Text { name: String, bytes: Vec<u8> },
}

/// Standard input if somebody gives one, else the newest handoff.
fn default_target(session: &Session<'_>) -> Result<Target, Failure> {
    let offered = if session.env.stdin_is_terminal {
        None
    } else {
        session.env.read_offered_stdin(MAX_INPUT as u64, PATIENCE)?
    };
    let bytes = offered.filter(|bytes| !bytes.iter().all(u8::is_ascii_whitespace));
    Ok(match bytes {
        Some(bytes) => Target { name: "-".into(), source: Ok(Source::Text { name: "untitled".into(), bytes }) },
        None => Target { name: "@latest".into(), source: Ok(Source::Recorded("@latest".into())) },
    })
}

fn targets(session: &Session<'_>, args: &args::Validate) -> Result<Vec<Target>, Failure> {
    let mut stdin = None;
    let mut targets = Vec::with_capacity(args.references.len());
    for name in &args.references {
        let source = if name == "-" {
            if stdin.is_none() {
                stdin = Some(session.env.read_stdin(MAX_INPUT as u64)?);
            }
            Ok(Source::Text { name: "untitled".into(), bytes: stdin.clone().unwrap_or_default() })
        } else {
            source(session, name)
        };
        targets.push(Target { name: name.clone(), source });
    }
    Ok(targets)
}

/// What a name on the command line means: a reference of another form than a path, else a file.
fn source(session: &Session<'_>, name: &str) -> Result<Source, Failure> {
    match Reference::parse(name) {
        Ok(Reference::Id(_) | Reference::Prefix(_) | Reference::Session { .. } | Reference::Latest) => {
            return Ok(Source::Recorded(name.into()));
        }
        Ok(Reference::File { .. }) | Err(_) => {}
    }
    match file_inside(session, name)? {
        Some(path) => {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            Ok(Source::Text { name: stem, bytes: read_named(&path, name)? })
        }
        None => Ok(Source::Recorded(name.into())),
    }
}

/// The real path of an ordinary file inside the work tree, or of a draft; `None` when there is none of this name.
/// Every other file is refused: a reading command must not be a way to look at it.
fn file_inside(session: &Session<'_>, name: &str) -> Result<Option<PathBuf>, Failure> {
    let shown = visible_line(name).into_owned();
    let refused = |why: &str| Failure::new(Code::Usage, format!("'{shown}' {why}")).detail("ref", name);
    let Ok(real) = fs::canonicalize(session.cwd.join(name)) else { return Ok(None) };
    let drafts = Drafts::new(&session.repo.state_dir());
    if drafts.holds(&real) {
        return Ok(Some(real));
    }
    let top = session.repo.work_dir().and_then(|top| fs::canonicalize(top).ok());
    let Some(inside) = top.as_deref().and_then(|top| real.strip_prefix(top).ok()) else {
        return Err(refused("is outside the repository; only its own handoffs and files are read"));
    };
    let of_git = inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    let below = |dir: &Path| fs::canonicalize(dir).is_ok_and(|dir| real.starts_with(dir));
    if of_git || below(session.repo.git_dir()) || below(session.repo.common_dir()) {
        return Err(refused("is inside git's own directory, where no handoff stands"));
    }
    if !real.is_file() {
        return Err(refused("is no ordinary file"));
    }
    Ok(Some(real))
}

fn judged(session: &Session<'_>, source: &Source, allowed: &[Fingerprint]) -> Result<Verdict, Failure> {
    match source {
        Source::Recorded(reference) => session.read(|index| {
            let summary = session.resolve(index, reference)?;
            let handoff = session.document(&summary)?;
            let markdown = session.markdown(index, &summary, &handoff)?;
            let allowed = with_recorded(allowed, &handoff);
            let judgement = Judgement::of(session, &Subject::sealed(&handoff, Text::Rendered(&markdown), &allowed))?;
            Ok(Verdict { id: Some(summary.id.to_string()), judgement })
        }),
        Source::Text { name, bytes } => match std::str::from_utf8(bytes) {
            Ok(text) => match document::parse_view(text) {
                Ok(view) => as_it_stands(session, &view, text, allowed),
                Err(_) => as_create_would(session, name, text, allowed),
            },
            // The reader says where and why it is no text.
            Err(_) => Err(read_input(bytes).err().unwrap_or_else(|| Failure::new(Code::BadInput, "this is no text"))),
        },
    }
}

/// The allowed findings of the command line and those that a recorded handoff carries.
fn with_recorded(allowed: &[Fingerprint], handoff: &Handoff) -> Vec<Fingerprint> {
    let recorded = handoff.metadata.allowed_findings.iter().filter_map(|text| text.parse().ok());
    allowed.iter().cloned().chain(recorded).collect()
}

/// A rendered handoff, whether or not somebody has edited it since.
fn as_it_stands(
    session: &Session<'_>,
    view: &document::ParsedView,
    text: &str,
    allowed: &[Fingerprint],
) -> Result<Verdict, Failure> {
    // What a text says of itself is not believed; what the log has of the handoff that it names is.
    let recorded = session.read(|index| {
        let Some(position) = view.claimed_id.map(|id| index.find(&id)).transpose()?.flatten() else { return Ok(None) };
        Ok(session.document(&index.summary(position)?).ok())
    })?;
    let allowed = recorded.map_or_else(|| allowed.to_vec(), |recorded| with_recorded(allowed, &recorded));
    let subject = Subject::sealed(&view.handoff, Text::Given(text), &allowed);
    Ok(Verdict { id: None, judgement: Judgement::of(session, &subject)? })
}

/// A body that `create` would take, completed from git as it would be there.
fn as_create_would(session: &Session<'_>, name: &str, text: &str, allowed: &[Fingerprint]) -> Result<Verdict, Failure> {
    let mut input = read_input(text.as_bytes())?;
    if input.claims.topic.is_none() && input.title.is_none() {
        let topic =
            name.parse::<crate::model::Topic>().map_or_else(|_| "untitled".to_owned(), |topic| topic.to_string());
        input.claims.topic = Some(topic);
    }
    let detection = session.detect(input.claims.agent.as_deref())?;
    session.read(|index| {
        let status = session.repo.start_status(Handoff::MAX_COLLECTED_FILES)?;
        let place = Place::observe(session, index, Stated::default(), status)?;
        let sources = Sources {
            input: input.clone(),
            args: &args::Create::default(),
            agent: detection.agent.clone(),
            agent_session: detection.session_id.clone(),
            marker: Marker::load(&session.repo.state_dir()),
        };
        let handoff = compose(session, index, &place, sources)?.handoff;
        let judgement = Judgement::of(session, &Subject::at(&place, &handoff, Text::Given(text), allowed))?;
        Ok(Verdict { id: None, judgement })
    })
}

/// A judgement and the handoff that it is about, where it is a recorded one.
struct Verdict {
    id: Option<String>,
    judgement: Judgement,
}

struct Answer {
    name: String,
    outcome: Result<Verdict, Failure>,
}

struct Answers(Vec<Answer>);

impl Answers {
    /// The failure with the highest exit code, as short as it can be said: all has been told.
    fn worst(&self) -> Option<Failure> {
        let refusals = self.0.iter().filter_map(|answer| {
            let failure = match &answer.outcome {
                Ok(verdict) => verdict.judgement.refusal()?,
                Err(failure) => Failure::new(failure.code(), failure.message()),
            };
            let first = failure.message().lines().next().unwrap_or_default().to_owned();
            Some(Failure::new(failure.code(), format!("{}: {first}", visible_line(&answer.name))))
        });
        // The first of the worst.
        refusals.reduce(|worst, next| if next.code().exit() > worst.code().exit() { next } else { worst })
    }
}

impl Report for Answers {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for (at, Answer { name, outcome }) in self.0.iter().enumerate() {
            if at > 0 {
                page.line("")?;
            }
            match outcome {
                Ok(verdict) => verdict.text(name, page)?,
                Err(failure) => page.line(format!("{}: {}", visible_line(name), visible_line(failure.message())))?,
            }
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let one = |answer: &Answer| {
            let mut value = match &answer.outcome {
                Ok(verdict) => verdict.json(),
                Err(failure) => failure.json(),
            };
            value["target"] = json!(answer.name);
            value
        };
        match self.0.as_slice() {
            [answer] => one(answer),
            several => several.iter().map(one).collect(),
        }
    }

    fn quiet(&self) -> Option<String> {
        let total =
            |answer: &Answer| answer.outcome.as_ref().map_or(0, |verdict| verdict.judgement.total()).to_string();
        Some(self.0.iter().map(total).collect::<Vec<_>>().join("\n"))
    }
}

impl Verdict {
    fn text(&self, name: &str, page: &mut Page<'_>) -> io::Result<()> {
        let Judgement { bounds, findings, allowed, complaint, score, lacking } = &self.judgement;
        let name = visible_line(name);
        if let Some(bounds) = bounds {
            return page.line(format!("{name}: too large to be judged: {}", visible_line(&bounds.to_string())));
        }
        let verdict = if self.judgement.refusal().is_none() { "accepted" } else { "refused" };
        page.line(format!("{name}: {} of 100, {} needed: {verdict}", self.judgement.total(), Score::THRESHOLD))?;
        for line in score.iter().flat_map(explained) {
            page.line(format!("  {}", visible_line(&line)))?;
        }
        for what in lacking {
            page.line(format!("  completeness: to continue from it alone it lacks {what}"))?;
        }
        for located in findings {
            page.line(format!("  secret: {}", visible_line(&located.line())))?;
        }
        for line in
            complaint.iter().flat_map(|complaint| complaint.line().lines().map(str::to_owned).collect::<Vec<_>>())
        {
            page.line(format!("  secret: {}", visible_line(&line)))?;
        }
        for fingerprint in allowed {
            page.line(format!("  allowed: {fingerprint}"))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let Judgement { bounds, findings, allowed, complaint, score, lacking } = &self.judgement;
        let parts = score.iter().flat_map(|score| &score.parts).map(|part| {
            json!({"part": part.part.heading(), "points": part.granted, "of": part.possible, "reasons": part.reasons})
        });
        let penalties = score.iter().flat_map(|score| &score.penalties);
        let penalties = penalties.map(|penalty| json!({"text": penalty.fault.to_string(), "points": penalty.points}));
        let findings = findings.iter().map(super::super::judge::Located::json);
        let findings = findings.chain(complaint.iter().map(super::super::scanner::Complaint::json));
        json!({
            "id": self.id,
            "score": self.judgement.total(),
            "threshold": Score::THRESHOLD,
            "accepted": self.judgement.refusal().is_none(),
            "missing": self.judgement.missing(),
            "findings": findings.collect::<Vec<_>>(),
            "allowed": allowed,
            "parts": parts.collect::<Vec<_>>(),
            "penalties": penalties.collect::<Vec<_>>(),
            "notes": score.as_ref().map(|score| score.notes.clone()).unwrap_or_default(),
            "bounds": bounds.as_ref().map(ToString::to_string),
            "lacking": lacking,
        })
    }
}

/// Every point of a score, one line each.
fn explained(score: &Score) -> Vec<String> {
    let mut lines = Vec::new();
    for part in &score.parts {
        let mut line = format!("{:>2}/{:<2} {}", part.granted, part.possible, part_name(part.part));
        if !part.reasons.is_empty() {
            line += &format!(": {}", part.reasons.join(", "));
        }
        if part.granted < part.possible {
            line += &format!("; {}", part.part.advice());
        }
        lines.push(line);
    }
    lines.extend(
        score.penalties.iter().map(|penalty| format!("{:>5} {}", format!("-{}", penalty.points), penalty.fault)),
    );
    lines.extend(score.notes.iter().map(|note| format!("note: {note}")));
    lines
}

/// A part as people read it: the revision stands in no section of its own.
fn part_name(part: PartName) -> &'static str {
    if part == PartName::Revision { "Source commit" } else { part.heading() }
}
