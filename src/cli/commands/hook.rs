//! `git handoff hook NAME`: what the installed hooks call.
//!
//! It never fails and never holds git up: what goes wrong is at most one line, and after a deadline it gives up and
//! leaves the work to the next command.

use std::ffi::OsString;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::super::args::Global;
use super::super::automatic::{Counting, Request, Storing, classes, evaluate, measured, operations_since};
use super::super::error::{Code, Failure};
use super::super::goal::Goal;
use super::super::place;
use super::super::publish::publish;
use super::super::record::{file_of, names_of};
use super::super::session::Session;
use super::super::watch::Watch;
use crate::env::Env;
use crate::git::{GUARD, Head};
use crate::hooks::Hook;
use crate::log;
use crate::model::boundary::{Class, Covered, FILES, Facts, decide};
use crate::model::{ObjectName, Trigger, rewrite};
use crate::ui::{Colour, Face, Ui};
use crate::views::files::{ALL_INDEX, Layout, Mode};

/// How long git waits for us at most, all in all.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long a push waits for us at most, all in all.
const PUSH_DEADLINE: Duration = Duration::from_secs(25);
/// How long the remote may take to accept the log.
const PUBLISHING: Duration = Duration::from_secs(15);
/// The most bytes of a map of rewritten commits.
const MAX_MAP: u64 = 64 * 1024 * 1024;

/// Runs the hook with what git gives it. A hook that this version does not know does nothing.
pub(in crate::cli) fn run(env: &Env, name: &str, args: &[OsString], err: &mut dyn Write) {
    let Some(hook) = Hook::named(name).filter(|_| env.var(GUARD).is_none()) else { return };
    let deadline = if hook == Hook::PrePush { PUSH_DEADLINE } else { DEADLINE };
    let (sender, receiver) = mpsc::channel();
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let env = env.clone();
    thread::spawn(move || {
        let mut said = Vec::new();
        let mut answers = std::io::sink();
        let outcome = work(&env, hook, &args, &mut Ui::new(Face::Text, Colour::Off, &mut answers, &mut said));
        if let Err(failure) = outcome
            && failure.code() != Code::NoRepository
        {
            let line = format!("{hook} of git handoff: {}", failure.message());
            Ui::new(Face::Text, Colour::Off, &mut answers, &mut said).warn(line.replace('\n', " "));
        }
        // Nobody listens any more after the deadline.
        sender.send(said).ok();
    });
    if let Ok(said) = receiver.recv_timeout(deadline) {
        // Whoever does not listen misses nothing that counts.
        err.write_all(&said).ok();
    }
}

fn work(env: &Env, hook: Hook, args: &[String], ui: &mut Ui<'_>) -> Result<(), Failure> {
    let session = Session::open(env, &Global { directory: None, json: false, quiet: false })?;
    match hook {
        Hook::PostCommit => after_commit(&session, ui),
        Hook::PrePush => {
            // A handoff that cannot be made is no reason not to publish those that are.
            let made = due(&session, ui);
            let remote = args.first().map(String::as_str).unwrap_or_default();
            publish(&session, remote, PUBLISHING, ui)?;
            made
        }
        Hook::PostRewrite => {
            let map = env.read_stdin(MAX_MAP)?;
            let pairs = rewrite::pairs(&String::from_utf8_lossy(&map));
            let command = args.first().map_or("rewrite", String::as_str);
            session.follow(command, &pairs, ui)
        }
        Hook::PostMerge | Hook::PostCheckout => refresh(&session, ui),
    }
}

fn after_commit(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    // An amended commit is the one that was looked at before; what it became is known after post-rewrite.
    let amended = || session.repo.last_move().is_some_and(|last| last.starts_with("commit (amend)"));
    if amended() { Ok(()) } else { due(session, ui) }
}

/// Makes the handoff that is due. Cheap facts first: nearly always nothing is.
fn due(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let state_dir = session.repo.state_dir();
    if session.repo.operation().is_some() || Goal::is_open(&state_dir) {
        return Ok(());
    }
    let head = session.head()?;
    let Some(commit) = head.commit else { return Ok(()) };
    let log = session.repo.read_ref(log::REF)?;
    let (mut watch, certain) = match Watch::load(&state_dir, head.branch.as_deref(), log.as_ref()) {
        Some(watch) => (watch, false),
        None => begin_watch(session, &head, log)?,
    };
    if watch.drafted || !(certain || may_be_due(session, watch.since(), &commit)?) {
        return Ok(());
    }
    let request = Request {
        occasion: Trigger::SubstantialWork,
        counting: Counting::Committed,
        storing: Storing::Yes,
        since: watch.since(),
    };
    let evaluated = evaluate(session, &request, ui)?;
    match (&evaluated.stored, &evaluated.draft) {
        (Some(stored), _) => {
            let name = file_of(session, stored).unwrap_or_else(|| names_of(stored).1.to_string());
            ui.note(format!("handoff recorded: {name}"));
        }
        (None, draft) => {
            watch = Watch::new(head.branch, log, evaluated.start);
            watch.drafted = draft.is_some();
            // Without it the next commit works it out again.
            watch.save(&state_dir).ok();
            if let Some(draft) = draft {
                let why = evaluated.reasons.first().map(|reason| reason.code).unwrap_or_default();
                ui.note(format!("a handoff is due, but it is only a draft yet ({why}): {}", draft.display()));
            }
        }
    }
    Ok(())
}

/// Works out from where the branch's work counts, and whether it is certain that a closer look is needed.
fn begin_watch(session: &Session<'_>, head: &Head, log: Option<ObjectName>) -> Result<(Watch, bool), Failure> {
    let index = session.own_index(log)?;
    let since = place::start(session, &index, head)?;
    let last = head.branch.as_deref().map(|branch| index.newest_on_branch(branch, None)).transpose()?.flatten();
    let ran = !operations_since(session, &index, last.as_ref())?.is_empty();
    let watch = Watch::new(head.branch.clone(), log, since);
    // Without it the next commit works it out again.
    watch.save(&session.repo.state_dir()).ok();
    Ok((watch, ran))
}

/// Whether the files of the range may make the work substantial. What is said no to here is not substantial.
fn may_be_due(session: &Session<'_>, since: Option<ObjectName>, commit: &ObjectName) -> Result<bool, Failure> {
    let since = since.filter(|since| session.repo.exists(since));
    let classes = classes(session);
    let counts = |path: &str| matches!(classes.of(path), Class::Critical(_) | Class::Prose | Class::Work);
    let critical = |path: &String| matches!(classes.of(path), Class::Critical(_));
    // Without looking for renames there are more paths, never fewer.
    let mut paths = session.repo.paths_between(since.as_ref(), commit)?;
    paths.retain(|path| counts(path));
    if paths.len() < FILES && !paths.iter().any(critical) {
        return Ok(false);
    }
    let mut files = session.repo.changes_between(since.as_ref(), commit, usize::MAX)?.files;
    files.retain(|file| counts(&file.path));
    let files = measured(session, since.as_ref(), commit, &files)?;
    let facts = Facts {
        occasion: Trigger::SubstantialWork,
        operation: None,
        goal: None,
        files: &files,
        recorded_operations: 0,
        boundary: Covered::No,
        classes: &classes,
    };
    Ok(decide(&facts).create)
}

/// Brings the views up after HEAD moved. Where they are tracked, a merge or a checkout has just written them.
fn refresh(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if session.repo.operation().is_some() || session.layout != Layout::Exclude {
        return Ok(());
    }
    let Some(top) = session.repo.work_dir() else { return Ok(()) };
    let tips = session.log().tips()?;
    if tips.own.is_none() && tips.remotes.is_empty() {
        return Ok(());
    }
    let mut index = session.prepare(ui)?;
    if !top.join(ALL_INDEX).exists() || session.views_are_behind(&index) {
        session.refresh_views(&mut index, Mode::Incremental, ui);
    }
    Ok(())
}
