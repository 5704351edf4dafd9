//! `queue finish`, `cancel`, `retry` and `approve`: how things end and begin again.

use super::super::super::args;
use super::super::super::error::Failure;
use super::super::super::queue::ending;
use super::super::super::session::Session;
use super::add::act;
use crate::model::queue::Lease;
use crate::ui::Ui;

/// Says how a continuation ended. One that was not started is started by the same event.
///
/// # Errors
/// When it cannot be started or has ended, or somebody else holds it.
pub(super) fn finish(session: &Session<'_>, args: &args::Finish, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let actor = session.actor(args.acting.name.as_deref())?;
    let ending = ending(&args.outcome)?;
    let revision = session.head()?.commit;
    let decide = |queue: &crate::model::queue::Queue, index: &crate::views::cache::Index, at| {
        let item = queue.item(at);
        if item.is_open() {
            // What is started by the way is checked like any other start.
            session.stored_bytes(&session.summary_of(index, &item.handoff)?)?;
        }
        let facts = queue.start_facts(at, revision, Lease::default(), None);
        Ok(Some(queue.finish(at, &actor, ending, None, facts)?))
    };
    act(session, &args.acting.item, ("finish", "Finished"), decide, ui)
}

/// Gives a continuation up.
///
/// # Errors
/// When it has ended, or somebody else holds it.
pub(super) fn cancel(session: &Session<'_>, args: &args::Acting, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let actor = session.actor(args.name.as_deref())?;
    act(session, &args.item, ("cancel", "Cancelled"), |queue, _, at| Ok(Some(queue.cancel(at, &actor)?)), ui)
}

/// Lets a continuation be tried again.
///
/// # Errors
/// When it runs or has succeeded, or what stopped it has not changed.
pub(super) fn retry(session: &Session<'_>, item: &str, ui: &mut Ui<'_>) -> Result<(), Failure> {
    act(session, item, ("retry", "To be tried again"), |queue, _, at| Ok(queue.retry(at)?), ui)
}

/// Approves of a continuation.
///
/// # Errors
/// When it has started or ended.
pub(super) fn approve(session: &Session<'_>, item: &str, ui: &mut Ui<'_>) -> Result<(), Failure> {
    act(session, item, ("approve", "Approved"), |queue, _, at| Ok(queue.approve(at)?), ui)
}
