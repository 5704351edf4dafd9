//! The log goes along with the user's own push: without force, within a deadline, and never with a secret in it.

use std::time::Duration;

use super::error::Failure;
use super::session::Session;
use super::sharing::{Sharing, verdict};
use crate::log::{NOTES_REF, REF, REMOTES};
use crate::model::visible_line;
use crate::sync::{Direction, log_of};
use crate::ui::Ui;

/// Publishes log and notes to a remote, unless it is known to have them. What goes wrong is one line of warning: the
/// user's own push goes on.
///
/// # Errors
/// When git cannot be read.
pub(super) fn publish(session: &Session<'_>, remote: &str, patience: Duration, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let repo = &session.repo;
    // A bare URL has no place where we could remember what it has.
    if !repo.remotes().iter().any(|name| name == remote) {
        return Ok(());
    }
    let (log, notes) = (repo.read_ref(REF)?, repo.read_ref(NOTES_REF)?);
    let has_log = log.is_none() || log == repo.read_ref(&log_of(remote))?;
    if has_log && (notes.is_none() || notes == repo.read_ref(&format!("{REMOTES}{remote}/notes"))?) {
        return Ok(());
    }
    let mut index = session.own_index(log)?;
    let sync = session.sync_with(remote, patience)?;
    let outcome = Sharing::new(session, &mut index, ui).run(&sync, Direction::Push);
    if let Err(failure) = outcome.and_then(|exchange| verdict(remote, &exchange)) {
        // Of several secrets the first is enough here; sync names them all.
        let why: Vec<&str> = failure.message().lines().take(2).map(str::trim).collect();
        let remote = visible_line(remote);
        ui.warn(format!(
            "handoffs: {}; your own push goes on, and they go with the next one or with 'git handoff sync {remote}'",
            why.join(": ")
        ));
    }
    Ok(())
}
