//! A judged handoff goes into the log, and the views follow. What every command that makes one does at its end.

use super::marker::Marker;
use super::session::Session;
use super::store::{Novelty, Stored};
use super::views::GlobalIndex;
use crate::model::{Handoff, SessionName};
use crate::ui::Ui;
use crate::views::cache::Index;
use crate::views::files::Mode;

/// Brings the views up to a handoff that was stored, and uses up the mark that a resume left.
pub(super) fn follow_up(
    session: &Session<'_>,
    index: &mut Index,
    handoff: &Handoff,
    stored: &Stored,
    mode: Mode,
    ui: &mut Ui<'_>,
) -> GlobalIndex {
    let views = match stored {
        Stored::Log { summary, novelty } => {
            if *novelty == Novelty::Known {
                ui.warn(format!("this very document is already recorded, as {}", summary.session()));
            }
            let views = session.refresh_views(index, mode, ui);
            session.add_notes(std::slice::from_ref(summary.as_ref()), ui);
            views
        }
        Stored::Spool { file, .. } => {
            ui.warn(format!(
                "git's directory cannot be written here; the handoff is sealed in {} and the next command that can \
                 write takes it into the log",
                file.display()
            ));
            GlobalIndex::Spooled
        }
    };
    if handoff.metadata.resumed_from.is_some() {
        // One that stays would at worst link the next handoff of the same work again.
        drop(Marker::remove(&session.repo.state_dir()));
    }
    views
}

/// The file of a stored handoff, where there is one.
pub(super) fn file_of(session: &Session<'_>, stored: &Stored) -> Option<String> {
    match stored {
        Stored::Log { summary, .. } => session.file_on_disk(summary),
        Stored::Spool { file, .. } => Some(file.display().to_string()),
    }
}

/// The handoff's id and readable name.
pub(super) fn names_of(stored: &Stored) -> (String, SessionName) {
    match stored {
        Stored::Log { summary, .. } => (summary.id.to_string(), summary.session()),
        Stored::Spool { id, session, .. } => (id.to_string(), session.clone()),
    }
}
