//! `git handoff goal`: what is being worked on, and the one handoff that closes it.

use std::io;

use serde_json::{Value, json};

use super::super::args;
use super::super::automatic::{Counting, Work};
use super::super::compose::{compose, lay_over};
use super::super::error::{Code, Failure};
use super::super::goal::Goal;
use super::super::judge::{Text, judge};
use super::super::place::Stated;
use super::super::record::{file_of, follow_up};
use super::super::session::Session;
use super::super::store::{Novelty, Stored, store};
use super::super::views::GlobalIndex;
use crate::document::Input;
use crate::model::{Content, EventId, Handoff, Outcome, Status, Topic, cut, normalised, visible_line};
use crate::secrets::{self, Fingerprint};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::Index;
use crate::views::files::Mode;

/// How many notes a goal takes.
const MAX_NOTES: usize = 200;

/// Runs the command.
///
/// # Errors
/// When there is no goal, or already one, or closing cannot record the handoff.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Goal, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let state_dir = session.repo.state_dir();
    match args {
        args::Goal::Start { text, phases } => start(session, text, *phases, ui),
        args::Goal::Note { text } => {
            let mut goal = open_goal(session)?;
            if goal.notes.len() >= MAX_NOTES {
                return Err(Failure::new(Code::TooLarge, format!("a goal takes at most {MAX_NOTES} notes")));
            }
            goal.notes.push(secrets::mask(&normalised(text)).into_owned());
            goal.save(&state_dir)?;
            Ok(ui.answer(&Shown { goal: Some(goal), line: "Noted." })?)
        }
        args::Goal::Status => {
            let goal = Goal::load(&state_dir)?;
            Ok(ui.answer(&Shown { goal, line: "No goal is open." })?)
        }
        args::Goal::Close(args) => close(session, args, ui),
        args::Goal::Abandon => {
            let goal = open_goal(session)?;
            Goal::remove(&state_dir)?;
            Ok(ui.answer(&Abandoned(goal))?)
        }
    }
}

fn open_goal(session: &Session<'_>) -> Result<Goal, Failure> {
    Goal::load(&session.repo.state_dir())?.ok_or_else(|| {
        Failure::new(Code::NotFound, "no goal is open in this worktree")
            .hint("to begin one: git handoff goal start TEXT")
    })
}

fn start(session: &Session<'_>, text: &str, phases: u32, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let state_dir = session.repo.state_dir();
    if let Some(goal) = Goal::load(&state_dir)? {
        return Err(Failure::new(Code::GoalOpen, format!("a goal is open already: {}", visible_line(&goal.text)))
            .hint("close it with 'git handoff goal close --status …', or drop it with 'git handoff goal abandon'"));
    }
    let text = normalised(text);
    text.parse::<Topic>().map_err(|error| Failure::because(Code::Usage, &error))?;
    if !secrets::scan(&text).is_empty() {
        return Err(Failure::new(Code::SecretFound, "the text of the goal contains a secret; nothing was stored"));
    }
    let goal = Goal::new(text, phases.max(1), session.now(), session.head()?);
    goal.save(&state_dir)?;
    Ok(ui.answer(&Shown { goal: Some(goal), line: "Goal started; automatic handoffs wait until it is closed." })?)
}

/// A goal that is closed by a handoff.
struct Closing {
    goal: Goal,
    status: Status,
    verification: String,
    handoff: String,
    id: String,
    views: GlobalIndex,
}

fn close(session: &Session<'_>, args: &args::GoalClose, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let status: Status = args.status.parse().map_err(|error| Failure::because(Code::Usage, &error))?;
    if status == Status::InProgress {
        let hint = "use completed, partial, blocked or interrupted";
        return Err(Failure::new(Code::Usage, "a goal that is in progress is not closed").hint(hint));
    }
    let mut goal = open_goal(session)?;
    let open = session.repo.start_status(Handoff::MAX_COLLECTED_FILES)?;
    let mut index = session.prepare(ui)?;
    let (stored, views) = match recorded(session, &index, &goal)? {
        // An earlier attempt got as far as the log: only the views are missing.
        Some(stored) => (stored, session.refresh_views(&mut index, Mode::Full, ui)),
        None => {
            let stated = Stated { from: goal.commit(), ..Stated::default() };
            let work = Work::observe(session, &index, Counting::Everything, stated, open)?;
            let handoff = compose_closing(session, &index, &work, &goal, args, status)?;
            let stored = store(session, &mut index, &handoff)?;
            goal.handoff = Some(super::super::record::names_of(&stored).0);
            // Should the goal stay open, the next attempt finds the handoff by this.
            goal.save(&session.repo.state_dir())?;
            let views = follow_up(session, &mut index, &handoff, &stored, Mode::Incremental, ui);
            (stored, views)
        }
    };
    let failed = |why: &str| {
        Failure::new(Code::GoalOpen, format!("the goal stays open: {why}"))
            .hint("run 'git handoff goal close' again when that is repaired; it makes no second handoff")
    };
    if let Stored::Spool { .. } = &stored {
        return Err(failed("git's directory cannot be written, so that the handoff is only in the spool"));
    }
    match views {
        GlobalIndex::Updated | GlobalIndex::NoWorkTree | GlobalIndex::Off => {}
        GlobalIndex::Failed | GlobalIndex::Spooled => {
            return Err(failed("the handoff is in the log, but the indexes could not be written"));
        }
    }
    Goal::remove(&session.repo.state_dir())?;
    let (id, name) = super::super::record::names_of(&stored);
    let handoff = file_of(session, &stored).unwrap_or_else(|| name.to_string());
    let verification = verification(session, &stored);
    Ok(ui.answer(&Closing { goal, status, verification, handoff, id, views })?)
}

/// What the handoff says of checks, in a few words.
fn verification(session: &Session<'_>, stored: &Stored) -> String {
    let document = match stored {
        Stored::Log { summary, .. } => session.document(summary).ok(),
        Stored::Spool { .. } => None,
    };
    let evidence = document.map(|document| document.content.verification_evidence).unwrap_or_default();
    let count = |outcome| evidence.iter().filter(|each| each.outcome == outcome).count();
    let parts = [
        (count(Some(Outcome::Passed)), "passed"),
        (count(Some(Outcome::Failed)), "failed"),
        (count(Some(Outcome::NotRun)), "not run"),
        (count(None), "described"),
    ];
    let said: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if said.is_empty() { "none was recorded".into() } else { said.join(", ") }
}

/// The handoff that an earlier attempt to close this goal recorded.
fn recorded(session: &Session<'_>, index: &Index, goal: &Goal) -> Result<Option<Stored>, Failure> {
    let Some(id) = goal.handoff.as_deref().and_then(|id| id.parse::<EventId>().ok()) else { return Ok(None) };
    match index.find(&id)? {
        Some(_) => {
            let summary = session.summary_of(index, &id)?;
            if summary.recorded_in.is_none() {
                return Err(Failure::new(
                    Code::NotWritable,
                    "the handoff that closes the goal still waits in the spool",
                ));
            }
            Ok(Some(Stored::Log { summary: Box::new(summary), novelty: Novelty::Known }))
        }
        None => Ok(None),
    }
}

fn compose_closing(
    session: &Session<'_>,
    index: &Index,
    work: &Work,
    goal: &Goal,
    args: &args::GoalClose,
    status: Status,
) -> Result<Handoff, Failure> {
    let (_, known) = work.told();
    let mut content = Content::default();
    if !goal.notes.is_empty() {
        let notes: Vec<String> = goal.notes.iter().map(|note| format!("- {}", note.replace('\n', "\n  "))).collect();
        content.extra.insert("Notes".into(), notes.join("\n"));
    }
    lay_over(&mut content, &args.content);
    fill(&mut content, known, status);
    let create = args::Create {
        topic: Some(cut(&goal.text, Topic::MAX_CHARS - 1).into_owned()),
        status: Some(status.as_str().into()),
        trigger: Some(crate::model::Trigger::GoalCompletion.as_str().into()),
        goal_status: Some(status.as_str().into()),
        complete: args.complete,
        origin: args::Origin {
            agent: args.origin.agent.clone(),
            model: args.origin.model.clone(),
            session: args.origin.session.clone(),
            turn: args.origin.turn.clone(),
            branch: None,
            commit: None,
        },
        ..args::Create::default()
    };
    let input = Input { content, ..Input::default() };
    let mut sources = work.sources(session, input, &create);
    if let Some(agent) = create.origin.agent.as_deref() {
        sources.agent = session.detect(Some(agent))?.agent;
    }
    let mut composed = compose(session, index, &work.place, sources)?;
    let allowed = args.allow_finding.iter().map(|text| text.parse::<Fingerprint>()).collect::<Result<Vec<_>, _>>();
    let allowed = allowed.map_err(|error| Failure::because(Code::Usage, &error))?;
    judge(session, &work.place, &mut composed.handoff, Text::None, &allowed)
        .map_err(|failure| failure.while_doing("the goal stays open"))?;
    Ok(composed.handoff)
}

/// What git and the record know, where the author said nothing.
fn fill(content: &mut Content, known: Content, status: Status) {
    let list = |field: &mut Vec<String>, value: Vec<String>| {
        if field.is_empty() {
            *field = value;
        }
    };
    content.objective = content.objective.take().or(known.objective);
    content.next_action = content.next_action.take().or(known.next_action);
    content.database_changes = content.database_changes.take().or(known.database_changes);
    content.api_changes = content.api_changes.take().or(known.api_changes);
    list(&mut content.completed_steps, known.completed_steps);
    list(&mut content.decisions, known.decisions);
    list(&mut content.known_failures, known.known_failures);
    list(&mut content.scope.included, known.scope.included);
    if status.is_unfinished() {
        list(&mut content.pending_steps, known.pending_steps);
    }
    if content.verification_evidence.is_empty() {
        content.verification_evidence = known.verification_evidence;
    }
}

impl Report for Closing {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("Implementation: {}", self.status))?;
        page.line(format!("Verification: {}", self.verification))?;
        page.line(format!("Handoff: {}", self.handoff))?;
        page.line(format!("Index update: {}", self.views))?;
        page.line("GOAL DONE")
    }

    fn json(&self) -> Value {
        json!({
            "closed": true,
            "id": self.id,
            "handoff": self.handoff,
            "status": self.status.as_str(),
            "verification": self.verification,
            "goal": self.goal.json(),
            "views_updated": matches!(self.views, GlobalIndex::Updated),
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(self.id.clone())
    }
}

struct Shown {
    goal: Option<Goal>,
    line: &'static str,
}

impl Report for Shown {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let Some(goal) = &self.goal else { return page.line(self.line) };
        if self.line != "No goal is open." {
            page.line(self.line)?;
        }
        let phases = if goal.phases > 1 { format!(" ({} phases)", goal.phases) } else { String::new() };
        page.line(format!("Goal: {}{phases}", visible_line(&goal.text)))?;
        page.line(format!("Since: {}", goal.started))?;
        for note in &goal.notes {
            page.line(format!("Note: {}", visible_line(note)))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        json!({"goal": self.goal.as_ref().map(Goal::json)})
    }

    fn quiet(&self) -> Option<String> {
        self.goal.as_ref().map(|goal| goal.text.clone())
    }
}

struct Abandoned(Goal);

impl Report for Abandoned {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("Goal abandoned: {}", visible_line(&self.0.text)))
    }

    fn json(&self) -> Value {
        json!({"goal": null, "abandoned": self.0.json()})
    }
}
