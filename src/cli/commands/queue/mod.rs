//! `git handoff queue`: work that waits for its prerequisites, one file a group of verbs.

mod add;
mod claim;
mod face;
mod finish;
mod graph;
mod list;
mod start;
mod wait;

use super::super::args::{self, QueueCommand};
use super::super::error::Failure;
use super::super::session::Session;
use crate::ui::Ui;

pub(super) use face::conflict_json;
pub(super) use start::command_failure;

/// Runs the command.
///
/// # Errors
/// When it is refused, or the log cannot be read or written.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Queue, ui: &mut Ui<'_>) -> Result<(), Failure> {
    match &args.command {
        None => list::list(session, &args::QueueList::default(), ui),
        Some(QueueCommand::Add(args)) => add::add(session, args, ui),
        Some(QueueCommand::List(args)) => list::list(session, args, ui),
        Some(QueueCommand::Show(args)) => list::show(session, &args.item, ui),
        Some(QueueCommand::Ready) => list::ready(session, ui),
        Some(QueueCommand::Claim(args)) => claim::claim(session, args, ui),
        Some(QueueCommand::Release(args)) => claim::release(session, args, ui),
        Some(QueueCommand::Start(args)) => start::start(session, args, ui),
        Some(QueueCommand::Run(args)) => start::run(session, args, ui),
        Some(QueueCommand::Finish(args)) => finish::finish(session, args, ui),
        Some(QueueCommand::Cancel(args)) => finish::cancel(session, args, ui),
        Some(QueueCommand::Retry(args)) => finish::retry(session, &args.item, ui),
        Some(QueueCommand::Link(args)) => add::link(session, args, ui),
        Some(QueueCommand::Approve(args)) => finish::approve(session, &args.item, ui),
        Some(QueueCommand::Wait(args)) => wait::wait(session, args, ui),
    }
}
