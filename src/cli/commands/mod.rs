//! One file a command. Each computes a report; [`crate::ui::Ui`] says it.

pub(super) mod agent;
pub(super) mod approve;
pub(super) mod auto;
pub(super) mod check;
pub(super) mod create;
pub(super) mod demo;
pub(super) mod doctor;
pub(super) mod edit;
pub(super) mod goal;
pub(super) mod hook;
pub(super) mod hooks;
pub(super) mod import;
pub(super) mod list;
pub(super) mod log;
pub(super) mod op;
pub(super) mod queue;
pub(super) mod recover;
pub(super) mod resume;
pub(super) mod shell;
pub(super) mod show;
pub(super) mod status;
pub(super) mod sync;
pub(super) mod validate;
pub(super) mod verify;
pub(super) mod waive;

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::session::Session;
use super::unrecorded::Refused;
use crate::model::{Anomaly, EventId};
use crate::ui::Ui;

/// Names what the log holds that is no good event, once each.
pub(super) fn warn_of_anomalies(anomalies: &[Anomaly], ui: &mut Ui<'_>) {
    for anomaly in anomalies {
        let commit =
            anomaly.commit.map_or_else(|| "the spool".into(), |commit| format!("commit {} of the log", commit.short()));
        let place = if anomaly.path.is_empty() { commit } else { format!("{commit}: {}", anomaly.path) };
        ui.warn(format!("{place}: {}", anomaly.kind));
    }
}

/// Says that handoffs stand only in files, where a command that reads has found some.
fn warn_of_file_only(session: &Session<'_>, ui: &mut Ui<'_>) {
    let count = session.file_only.borrow().len();
    let what = match count {
        0 => return,
        1 => "a handoff stands only in a file".to_owned(),
        count => format!("{count} handoffs stand only in files"),
    };
    ui.note(format!("{what}, not in the log; 'git handoff recover' takes in what is sound"));
}

/// Says which files are left out, and why.
fn warn_of_refused(refused: &[Refused], ui: &mut Ui<'_>) {
    for Refused { path, code, reason } in refused {
        let text = format!("{path} is not taken in: {reason}");
        if *code == Code::BadInput { ui.note(text) } else { ui.warn(text) }
    }
}

/// Says that a file is left out because it is not what it says it is.
fn warn_of_edited(path: &str, claimed: &EventId, ui: &mut Ui<'_>) {
    ui.warn(format!(
        "{path} is not taken in: it was edited, and what it holds is not {} any more; 'git handoff import {path}' \
         takes it as a handoff of its own",
        claimed.short()
    ));
}

/// Edited files as `--json` gives them.
fn edited_json(edited: &[(String, EventId)]) -> Value {
    edited.iter().map(|(path, claimed)| json!({"path": path, "claimed": claimed.to_string()})).collect()
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
