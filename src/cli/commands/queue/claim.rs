//! `queue claim` and `queue release`: who holds what.

use super::super::super::args;
use super::super::super::error::{Code, Failure};
use super::super::super::queue::Decided;
use super::super::super::session::Session;
use super::add::{act, report};
use crate::log::AppendError;
use crate::model::queue::{ClaimMode, Claiming, Lease, Manner, Span};
use crate::ui::Ui;

/// Claims a continuation, or renews the claim.
///
/// # Errors
/// When it is not ready, somebody else holds it, or the body of its handoff is missing.
pub(super) fn claim(session: &Session<'_>, args: &args::Claim, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let lease = lease(&args.lease)?;
    let actor = session.actor(args.acting.name.as_deref())?;
    let exclusive = !args.offline && !session.repo.remotes().is_empty();
    let mode = if exclusive { ClaimMode::Exclusive } else { ClaimMode::Offline };
    let stamp = session.stamp();
    let own = |decide: &mut dyn FnMut(_) -> _| session.log().append(&stamp, decide);
    let through_remote = |_: &mut dyn FnMut(_) -> _| {
        Err(AppendError::Decision(super::super::super::queue::Stop::Failed(
            Failure::new(Code::RemoteUnreachable, "a claim that the remote confirms cannot be made by this version")
                .hint("claim it here alone with --offline; such a claim can lose, and you are told if it does"),
        )))
    };
    let append: super::super::super::queue::AppendTo<'_> = if exclusive { &through_remote } else { &own };
    let changed = session.change_by(ui, append, |queue, index| {
        let at = session.find_item(index, queue, &args.acting.item)?;
        let item = queue.item(at);
        let action = queue.claim(at, &actor, Claiming { lease, mode })?;
        session.stored_bytes(&session.summary_of(index, &item.handoff)?)?;
        Ok(Decided { actions: vec![action], subject: format!("queue claim {}", item.label()), value: item.id })
    })?;
    report(session, &changed.queue, &changed.value, "Claimed", ui)
}

/// The lease that a text means.
pub(super) fn lease(text: &str) -> Result<Lease, Failure> {
    let span: Span = text.parse().map_err(|error| Failure::because(Code::Usage, &error))?;
    Lease::new(span.seconds()).map_err(|error| Failure::because(Code::Usage, &error))
}

/// Gives a claim back.
///
/// # Errors
/// When nobody holds it, or somebody else does.
pub(super) fn release(session: &Session<'_>, args: &args::Release, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let actor = session.actor(args.acting.name.as_deref())?;
    let manner = if args.force { Manner::Forced } else { Manner::Own };
    act(
        session,
        &args.acting.item,
        ("release", "Released"),
        |queue, _, at| Ok(Some(queue.release(at, &actor, manner)?)),
        ui,
    )
}
