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
