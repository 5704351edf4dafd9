//! `git handoff op`: operations outside the queue, whose outcomes queued work waits for.

use std::ffi::OsString;
use std::io;

use serde_json::{Value, json};

use super::super::args::{self, OpCommand};
use super::super::error::{Code, Failure};
use super::super::judge::refuse_secrets;
use super::super::queue::Decided;
use super::super::session::Session;
use super::queue::{command_failure, conflict_json};
use crate::git::caller;
use crate::model::queue::{Action, Ending, Label, Operation, Queue, Refusal, Run, RunEnd};
use crate::model::{cut, visible_line};
use crate::secrets;
use crate::ui::{Page, Report, Table, Ui};

/// The most characters of a command that are recorded.
const MAX_COMMAND: usize = 500;

/// Runs the command.
///
/// # Errors
/// When it is refused, or the log cannot be read or written.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Op, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let end = |name: &args::Operation, ending: Ending, ui: &mut Ui<'_>| {
        record(session, &name.name, ending.as_str(), |queue, name| queue.end_operation(name, ending, None), ui)
    };
    match &args.command {
        None | Some(OpCommand::List) => list(session, ui),
        Some(OpCommand::Start(name)) => {
            record(session, &name.name, "started", |queue, name| queue.begin_operation(name), ui)
        }
        Some(OpCommand::Succeed(name)) => end(name, Ending::Succeeded, ui),
        Some(OpCommand::Fail(name)) => end(name, Ending::Failed, ui),
        Some(OpCommand::Cancel(name)) => end(name, Ending::Cancelled, ui),
        Some(OpCommand::Run(args)) => run_command(session, args, ui),
    }
}

fn parsed(name: &str) -> Result<Label, Failure> {
    refuse_secrets(&json!({"name": name}))?;
    name.parse().map_err(|error| Failure::because(Code::Usage, &error))
}

fn record(
    session: &Session<'_>,
    name: &str,
    verb: &str,
    decide: impl Fn(&Queue, &Label) -> Result<Action, Refusal>,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let name = parsed(name)?;
    let changed = change(session, &name, verb, decide, ui)?;
    let stopped = stopped_by(&changed, &name);
    if !stopped.is_empty() {
        ui.note(format!("stopped by it: {}", stopped.join(", ")));
    }
    Ok(ui.answer(&Named::of(&changed, name))?)
}

fn change(
    session: &Session<'_>,
    name: &Label,
    verb: &str,
    decide: impl Fn(&Queue, &Label) -> Result<Action, Refusal>,
    ui: &mut Ui<'_>,
) -> Result<Queue, Failure> {
    let changed = session.change(ui, |queue, _| {
        let actions = vec![decide(queue, name)?];
        Ok(Decided { actions, subject: format!("op {name} {verb}"), value: () })
    })?;
    Ok(changed.queue)
}

fn stopped_by(queue: &Queue, name: &Label) -> Vec<String> {
    let operation = crate::model::queue::Prerequisite::Operation(name.clone());
    let by_this =
        |item: &&crate::model::queue::Item| item.stopped.as_ref().is_some_and(|stop| stop.prerequisite == operation);
    queue.items().iter().filter(by_this).map(crate::model::queue::Item::label).collect()
}

fn run_command(session: &Session<'_>, args: &args::OpRun, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let name = parsed(&args.name)?;
    change(session, &name, "started", |queue, name| queue.begin_operation(name), ui)?;
    let ended = caller::run_keeping_tail(&args.command, &session.cwd);
    let (exit_code, milliseconds, tail) = match &ended {
        Ok(ended) => (ended.code, u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX), ended.tail.as_str()),
        Err(_) => (None, 0, ""),
    };
    let ending = if exit_code == Some(0) { Ending::Succeeded } else { Ending::Failed };
    let run = Run {
        command: recorded_command(&args.command),
        exit_code,
        milliseconds: milliseconds.min(1 << 52),
        tail: secrets::mask(tail).into_owned(),
    };
    let end = |queue: &Queue, name: &Label| queue.end_operation(name, ending, Some(run.clone()));
    let queue = change(session, &name, ending.as_str(), end, ui)?;
    match command_failure(&args.command, ended.map(|ended| ended.code)) {
        Some(failure) => Err(failure),
        None => Ok(ui.answer(&Named::of(&queue, name))?),
    }
}

/// The command on one line, without secrets.
fn recorded_command(command: &[OsString]) -> String {
    let line: Vec<String> = command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    cut(&secrets::mask(&line.join(" ")), MAX_COMMAND).into_owned()
}

fn list(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let queue = session.read_queue(|_, queue| Ok(queue))?;
    if queue.operations().is_empty() {
        ui.note("no operation is recorded");
    }
    let operations = queue.operations().iter().map(|(name, operation)| Named::new(name.clone(), operation.clone()));
    Ok(ui.answer(&Operations(operations.collect()))?)
}

/// An operation with its name.
struct Named {
    name: Label,
    operation: Option<Operation>,
}

impl Named {
    fn new(name: Label, operation: Operation) -> Self {
        Self { name, operation: Some(operation) }
    }

    fn of(queue: &Queue, name: Label) -> Self {
        Self { operation: queue.operations().get(&name).cloned(), name }
    }

    fn end(&self) -> Option<&RunEnd> {
        self.operation.as_ref().and_then(|operation| operation.ended.as_ref())
    }

    fn state(&self) -> &'static str {
        match (&self.operation, self.end()) {
            (None, _) => "open",
            (Some(_), None) => "running",
            (Some(_), Some(end)) => end.ending.as_str(),
        }
    }

    fn detail(&self) -> String {
        let since = self.operation.as_ref().map(|operation| operation.started.to_string()).unwrap_or_default();
        match self.end() {
            None => format!("since {since}"),
            Some(end) => match end.run.as_ref() {
                Some(run) => {
                    let code =
                        run.exit_code.map_or_else(|| "no exit status".into(), |code| format!("exit status {code}"));
                    format!("{} ({code}, {} ms): {}", end.created, run.milliseconds, run.command)
                }
                None => end.created.to_string(),
            },
        }
    }
}

impl Report for Named {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(visible_line(&format!("op {}: {}", self.name, self.state())))
    }

    fn json(&self) -> Value {
        let run = self.end().and_then(|end| end.run.as_ref());
        let conflicts = self.operation.iter().flat_map(|operation| &operation.conflicts).map(conflict_json);
        json!({
            "name": self.name.as_str(),
            "state": self.state(),
            "started": self.operation.as_ref().map(|operation| operation.started.to_string()),
            "by": self.operation.as_ref().map(|operation| operation.by.identity.as_str()),
            "ended": self.end().map(|end| end.created.to_string()),
            "command": run.map(|run| run.command.as_str()),
            "exit_code": run.and_then(|run| run.exit_code),
            "milliseconds": run.map(|run| run.milliseconds),
            "tail": run.map(|run| run.tail.as_str()),
            "conflicts": conflicts.collect::<Vec<_>>(),
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(self.name.to_string())
    }
}

struct Operations(Vec<Named>);

impl Report for Operations {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::default();
        for named in &self.0 {
            table.row([named.name.as_str(), named.state(), &named.detail()]);
        }
        table.lines().iter().try_for_each(|line| page.line(line))
    }

    fn json(&self) -> Value {
        self.0.iter().map(Named::json).collect()
    }

    fn quiet(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|named| named.name.to_string()).collect();
        (!names.is_empty()).then(|| names.join("\n"))
    }
}
