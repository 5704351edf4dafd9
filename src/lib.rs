//! `git handoff`: how work passes from one coding-agent session to the next.
//!
//! A pure model decides, a git-backed log remembers, views show, and the command line is the only part that
//! touches the world. The modules, each of which may name only those above it in this list:
//!
//! - [`model`]: what handoffs mean; decisions without I/O
//! - [`mod@env`]: the only reader of the surroundings
//! - [`document`]: the handoff as JSON and as Markdown
//! - [`secrets`]: findings in text, masking
//! - [`git`]: the one door to git
//! - [`log`]: the append-only event log under `refs/handoffs/log`
//! - [`views`]: files in the work tree, notes, the metadata cache
//! - [`sync`]: sharing over git remotes
//! - [`agents`]: which runtime is this
//! - [`hooks`]: the git hooks: install, inspect, remove
//! - [`ui`]: how answers and talk are written
//! - [`cli`]: the commands; the only part that touches the world

pub mod model;

pub mod env;

pub mod document;
pub mod secrets;

pub mod git;

pub mod log;
pub mod views;

pub mod sync;

pub mod agents;
pub mod hooks;

pub mod ui;

pub mod cli;
