//! Hooks by configuration, as git 2.54 and later have them: they run beside every hook file, wherever
//! `core.hooksPath` points.
//!
//! The script itself lies in the shared private state. A missing command would make git refuse a push, and an event
//! without a command a commit; so the command guards itself, is written before the event, and goes with its section.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Change, Hook, HooksError, Mode, State, Step, io_error, quoted, write_executable};
use crate::git::Repo;

fn section(hook: Hook) -> String {
    format!("hook.git-handoff-{hook}")
}

fn file(repo: &Repo, hook: Hook) -> PathBuf {
    repo.shared_state_dir().join("hooks").join(hook.as_str())
}

/// The command that git runs, with the hook's arguments added at its end.
fn command(repo: &Repo, hook: Hook) -> String {
    format!(r#"sh -c 'if [ -f "$0" ]; then exec sh "$0" "$@"; fi' {}"#, quoted(&file(repo, hook)))
}

pub(super) fn state(repo: &Repo, hook: Hook, program: &Path) -> State {
    match repo.config_string(&format!("{}.command", section(hook))) {
        None => State::Absent,
        Some(set) if set == command(repo, hook) => match fs::read(file(repo, hook)) {
            Ok(script) if script == hook.script(program).as_bytes() => State::Installed,
            Ok(_) | Err(_) => State::Outdated,
        },
        Some(_) => State::Outdated,
    }
}

pub(super) fn install(repo: &Repo, hook: Hook, program: &Path, mode: Mode) -> Result<Step, HooksError> {
    let change = match state(repo, hook, program) {
        State::Installed => Change::Unchanged,
        State::Outdated => Change::Updated,
        State::Absent => Change::Installed,
    };
    let section = section(hook);
    if mode == Mode::Apply && change != Change::Unchanged {
        let file = file(repo, hook);
        write_executable(&file, hook.script(program).as_bytes()).map_err(io_error(&file))?;
        let set = |key: &str, value: &str| {
            repo.command("config").args(["--local", "--replace-all", &format!("{section}.{key}"), value]).run()
        };
        set("command", &command(repo, hook))?;
        set("event", hook.as_str())?;
    }
    Ok(Step { hook, change, at: section })
}

pub(super) fn uninstall(repo: &Repo, hook: Hook, mode: Mode) -> Result<Option<Step>, HooksError> {
    let section = section(hook);
    if repo.config_string(&format!("{section}.command")).is_none() {
        return Ok(None);
    }
    if mode == Mode::Apply {
        repo.command("config").args(["--local", "--remove-section", &section]).run()?;
        // A script that nothing calls does no harm, should it stay.
        fs::remove_file(file(repo, hook)).ok();
    }
    Ok(Some(Step { hook, change: Change::Removed, at: section }))
}
