//! One file a command. Each computes a report; [`crate::ui::Ui`] says it.

pub(super) mod agent;
pub(super) mod create;
pub(super) mod demo;
pub(super) mod list;
pub(super) mod log;
pub(super) mod recover;
pub(super) mod resume;
pub(super) mod shell;
pub(super) mod show;
pub(super) mod status;

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::unrecorded::Refused;
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

/// The failure in which a command ends that had to leave out a file: the gravest of its refusals. A file that is simply
/// no handoff is none.
fn refusal_of(refused: &[Refused]) -> Result<(), Failure> {
    let grave: Vec<&Refused> = refused.iter().filter(|refused| refused.code != Code::BadInput).collect();
    let Some(first) = grave.iter().find(|refused| refused.code == Code::SecretFound).or(grave.first()) else {
        return Ok(());
    };
    let what = if grave.len() == 1 { "a file was".to_owned() } else { format!("{} files were", grave.len()) };
    Err(Failure::new(first.code, format!("{what} not taken in; the warnings above say why"))
        .detail("refused", grave.into_iter().map(Refused::json).collect::<Vec<_>>()))
}

/// An anomaly as `--json` gives it.
fn anomaly_json(anomaly: &Anomaly) -> Value {
    json!({
        "commit": anomaly.commit.map(|commit| commit.to_string()),
        "path": anomaly.path,
        "text": anomaly.kind.to_string(),
    })
}

/// Says that the files in the work tree are behind the log, where a cheap look shows it.
pub(super) fn warn_of_stale_views(behind: bool, ui: &mut Ui<'_>) {
    if behind {
        ui.note("the files in the work tree are behind the log; the next 'git handoff create' or 'git handoff recover' brings them up");
    }
}
