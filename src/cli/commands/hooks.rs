//! `git handoff hooks`: install, remove and show the git hooks.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::args;
use super::super::error::{Code, Failure};
use super::super::session::Session;
use crate::hooks::{self, Change, Hook, HooksError, Mode, State, Step, Survey, Unfit};
use crate::ui::{Page, Report, Ui};
use crate::views::files;

/// Runs the command.
///
/// # Errors
/// When hooks cannot be read or written, or must not be written where git looks for them.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Hooks, ui: &mut Ui<'_>) -> Result<(), Failure> {
    match args {
        args::Hooks::Install(args) => install(session, args, ui),
        args::Hooks::Uninstall(args) => uninstall(session, args, ui),
        args::Hooks::Status => {
            let state = HooksState::of(session)?;
            Ok(ui.answer(&state)?)
        }
    }
}

impl From<HooksError> for Failure {
    fn from(error: HooksError) -> Self {
        let code = match &error {
            HooksError::Git(_) => Code::Git,
            HooksError::Io { source, .. } => super::super::error::io_code(source),
        };
        Self::because(code, &error)
    }
}

fn program(session: &Session<'_>) -> PathBuf {
    session.env.program().unwrap_or_else(|| PathBuf::from("git-handoff"))
}

fn mode(dry_run: bool) -> Mode {
    if dry_run { Mode::DryRun } else { Mode::Apply }
}

fn install(session: &Session<'_>, args: &args::HooksChange, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let survey = hooks::survey(&session.repo)?;
    let mode = mode(args.dry_run);
    let remotes = hooks::add_refspecs(&session.repo, mode)?;
    if let Some(unfit) = survey.unfit.filter(|_| !args.force) {
        return Err(by_hand(&survey, unfit));
    }
    let steps = hooks::install(&session.repo, &survey.place, &program(session), mode)?;
    if let Some(manager) = survey.manager.filter(|_| !matches!(survey.place, hooks::Place::Configuration)) {
        ui.note(format!(
            "{manager} is used here: when it installs its own hooks again, run 'git handoff hooks install' again"
        ));
    }
    let in_the_way: Vec<String> =
        steps.iter().filter(|step| step.change == Change::InTheWay).map(|step| step.at.clone()).collect();
    ui.answer(&Changed { steps, remotes, mode, verb: "installed" })?;
    if in_the_way.is_empty() {
        return Ok(());
    }
    let message = format!("not installed, because two hooks stand there: {}", in_the_way.join(", "));
    Err(Failure::new(Code::HooksInTheWay, message)
        .hint("another tool replaced the hook after it was installed; keep one of it and its .handoff-chained file"))
}

/// What a person must do where we may not write.
fn by_hand(survey: &Survey, unfit: Unfit) -> Failure {
    let why = match unfit {
        Unfit::Outside => "lies outside this repository, and other repositories may use it",
        Unfit::Tracked => "is tracked: what is written there will be committed",
    };
    let lines: Vec<String> =
        Hook::ALL.into_iter().map(|hook| format!("  {hook}:\n    {}", hook.line().trim_end())).collect();
    Failure::new(Code::HooksInTheWay, format!("no hook was written: {} {why}", survey.target()))
        .hint(format!("add these lines at the end of the hooks there, or use --force:\n{}", lines.join("\n")))
        .detail("directory", survey.target())
}

fn uninstall(session: &Session<'_>, args: &args::HooksRemove, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let survey = hooks::survey(&session.repo)?;
    let mode = mode(args.dry_run);
    let steps = hooks::uninstall(&session.repo, &survey, mode)?;
    let remotes = hooks::remove_refspecs(&session.repo, mode)?;
    if args.purge && mode == Mode::Apply {
        purge(session)?;
    }
    for step in steps.iter().filter(|step| step.change == Change::InTheWay) {
        ui.warn(format!(
            "{} is not ours any more; what was there before it is kept in {}.handoff-chained",
            step.at, step.at
        ));
    }
    Ok(ui.answer(&Changed { steps, remotes, mode, verb: "removed" })?)
}

/// Removes the private state and the lines in `info/exclude`; never the refs.
fn purge(session: &Session<'_>) -> Result<(), Failure> {
    files::remove_exclude_lines(&session.repo.common_dir().join("info/exclude"))?;
    for dir in [session.repo.state_dir(), session.repo.shared_state_dir()] {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

struct Changed {
    steps: Vec<Step>,
    remotes: Vec<String>,
    mode: Mode,
    verb: &'static str,
}

impl Report for Changed {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let would = if self.mode == Mode::DryRun { "would be " } else { "" };
        if self.steps.is_empty() && self.remotes.is_empty() {
            return page.line("No hook of git handoff is installed here.");
        }
        for step in &self.steps {
            let what = match step.change {
                Change::Installed => "installed".into(),
                Change::Chained => "installed; the hook that was there runs first".into(),
                Change::Updated => "updated".into(),
                Change::Unchanged => "already installed".into(),
                Change::Removed => "removed".into(),
                Change::Restored => "removed; what was there is back".into(),
                Change::InTheWay => format!("not {}: {} is in the way", self.verb, step.at),
            };
            page.line(format!("{}: {would}{what}", step.hook))?;
        }
        for remote in &self.remotes {
            page.line(format!(
                "fetch refspec of {remote}: {would}{}",
                if self.verb == "removed" { "removed" } else { "added" }
            ))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let step = |step: &Step| json!({"hook": step.hook.as_str(), "change": step.change.as_str(), "at": step.at});
        json!({
            "dry_run": self.mode == Mode::DryRun,
            "hooks": self.steps.iter().map(step).collect::<Vec<_>>(),
            "refspecs": self.remotes,
        })
    }
}

/// How the hooks stand.
pub(in crate::cli) struct HooksState {
    target: String,
    states: Vec<(Hook, State)>,
}

impl HooksState {
    /// Looks at them.
    ///
    /// # Errors
    /// When git fails.
    pub(in crate::cli) fn of(session: &Session<'_>) -> Result<Self, Failure> {
        let survey = hooks::survey(&session.repo)?;
        let states = hooks::states(&session.repo, &survey, &program(session));
        Ok(Self { target: survey.target(), states })
    }

    /// Whether every hook is there.
    pub(in crate::cli) fn complete(&self) -> bool {
        self.states.iter().all(|(_, state)| *state != State::Absent)
    }

    /// As `status` and `hooks status` give it.
    pub(in crate::cli) fn json(&self) -> Value {
        let states = self.states.iter().map(|(hook, state)| (hook.as_str().to_owned(), json!(state.as_str())));
        json!({
            "installed": self.complete(),
            "at": self.target,
            "hooks": states.collect::<serde_json::Map<_, _>>(),
        })
    }
}

impl Report for HooksState {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for (hook, state) in &self.states {
            page.line(format!("{hook}: {}", state.as_str()))?;
        }
        page.line(format!("Where: {}", self.target))
    }

    fn json(&self) -> Value {
        Self::json(self)
    }

    fn quiet(&self) -> Option<String> {
        Some(if self.complete() { "installed" } else { "absent" }.into())
    }
}
