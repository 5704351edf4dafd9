//! One file a command. Each computes a report; [`crate::ui::Ui`] says it.

pub(super) mod agent;
pub(super) mod create;
pub(super) mod demo;
pub(super) mod list;
pub(super) mod log;
pub(super) mod resume;
pub(super) mod shell;
pub(super) mod show;
pub(super) mod status;
pub(super) mod sync;
pub(super) mod waive;

use crate::model::Anomaly;
use crate::ui::Ui;

/// Names what the log holds that is no good event, once each.
pub(super) fn warn_of_anomalies(anomalies: &[Anomaly], ui: &mut Ui<'_>) {
    for anomaly in anomalies {
        let commit =
            anomaly.commit.map_or_else(|| "the spool".into(), |commit| format!("commit {} of the log", commit.short()));
        ui.warn(format!("{commit}: {}: {}", anomaly.path, anomaly.kind));
    }
}

/// Says that the files in the work tree are behind the log, where a cheap look shows it.
pub(super) fn warn_of_stale_views(behind: bool, ui: &mut Ui<'_>) {
    if behind {
        ui.note("the files in the work tree are behind the log; the next 'git handoff create' or 'git handoff recover' brings them up");
    }
}
