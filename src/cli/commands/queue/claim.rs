//! `queue claim` and `queue release`: who holds what.

use super::super::super::args;
use super::super::super::error::{Code, Failure};
use super::super::super::queue::{Decide, Decided, Losses, Stop};
use super::super::super::session::Session;
use super::super::super::sharing::{self, Sharing};
use super::add::{act, report};
use crate::log::{AppendError, Appended};
use crate::model::queue::{ClaimMode, Claiming, Lease, Manner, Span};
use crate::sync::{Exclusive, SyncError};
use crate::ui::Ui;
use crate::views::files::Mode;

/// What to do when the remote cannot say who was first.
const ALONE: &str = "claim it here alone with --offline; such a claim can lose, and the next sync tells if it does";

/// Claims a continuation, or renews the claim.
///
/// # Errors
/// When it is not ready, somebody else holds it, or the body of its handoff is missing.
pub(super) fn claim(session: &Session<'_>, args: &args::Claim, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let lease = lease(&args.lease)?;
    let actor = session.actor(args.acting.name.as_deref())?;
    let remote = if args.offline { None } else { asked_remote(session)? };
    let (mode, nonce) = match remote {
        Some(_) => (ClaimMode::Exclusive, Some(nonce())),
        None => (ClaimMode::Offline, None),
    };
    let mut append = |decide: Decide<'_>, ui: &mut Ui<'_>| match &remote {
        Some(remote) => through_remote(session, remote, decide, ui),
        None => session.log().append(&session.stamp(), decide),
    };
    let changed = session.change_by(ui, &mut append, |queue, index| {
        let at = session.find_item(index, queue, &args.acting.item)?;
        let item = queue.item(at);
        let action = queue.claim(at, &actor, Claiming { lease, mode, nonce })?;
        session.stored_bytes(&session.summary_of(index, &item.handoff)?)?;
        Ok(Decided { actions: vec![action], subject: format!("queue claim {}", item.label()), value: item.id })
    })?;
    report(session, &changed.queue, &changed.value, "Claimed", ui)
}

/// The remote that decides who was first; nothing where there is none to ask.
fn asked_remote(session: &Session<'_>) -> Result<Option<String>, Failure> {
    let chosen = session.chosen_remote()?;
    if chosen.is_none() && !session.repo.remotes().is_empty() {
        return Err(Failure::new(Code::NotFound, "several remotes are configured, and none is the one to ask")
            .hint("choose it: git config handoff.remote NAME; or claim it here alone with --offline"));
    }
    Ok(chosen)
}

/// Below 2^53, so that every reader of JSON has the same number.
fn nonce() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id()) >> 11
}

/// Appends what is decided on the log joined with that of the remote, once the remote has taken it.
fn through_remote(
    session: &Session<'_>,
    remote: &str,
    decide: Decide<'_>,
    ui: &mut Ui<'_>,
) -> Result<Appended, AppendError<Stop>> {
    let failed = |failure| AppendError::Decision(Stop::Failed(failure));
    let patience = session.patience().map_err(failed)?;
    let sync = session.sync_with(remote, patience).map_err(failed)?;
    let mut index = session.prepare(ui).map_err(failed)?;
    let mut losses = Losses::since(session, index.basis()).map_err(failed)?;
    let asked = sync.exclusive(&mut Sharing::new(session, &mut index, ui), decide);
    // A claim that the remote has confirmed stands, whatever else cannot be told.
    let lost = losses.look(session, &index).unwrap_or_default();
    lost.iter().for_each(|claim| ui.note(claim.sentence()));
    let stop = match asked {
        Ok(Exclusive::Won(appended)) => return Ok(appended),
        Ok(Exclusive::Lost(stop)) => stop,
        Ok(Exclusive::Withheld(failure)) => Stop::Failed(failure),
        Ok(Exclusive::Unreachable(error)) => {
            Stop::Failed(sharing::failure(&SyncError::Remote(error)).while_doing("nothing is claimed").hint(ALONE))
        }
        Ok(Exclusive::Refused(why)) => Stop::Failed(sharing::rejected(remote, &why).hint(ALONE)),
        Err(error) => Stop::Failed(sharing::failure(&error)),
    };
    // What the remote had is here all the same.
    session.refresh_views(&mut index, Mode::Incremental, ui);
    Err(AppendError::Decision(stop))
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
