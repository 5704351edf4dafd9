//! `queue` and `op`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

/// `queue`
#[derive(Debug, Args)]
pub struct Queue {
    /// What to do; `list` when nothing is said.
    #[command(subcommand)]
    pub command: Option<QueueCommand>,
}

/// The commands of `queue`.
#[derive(Debug, Subcommand)]
pub enum QueueCommand {
    /// Queue work that continues a handoff once its prerequisites have succeeded
    Add(Add),
    /// List continuations that are not finished
    List(QueueList),
    /// Show one continuation
    Show(Item),
    /// List the continuations that can be started now
    Ready,
    /// Take a continuation, or renew the claim
    Claim(Claim),
    /// Give a claim back
    Release(Release),
    /// Hand the packet over; nothing is run
    Start(Start),
    /// Start a continuation, run COMMAND with the packet on its input, and finish by its exit status
    Run(Run),
    /// Say how a continuation ended
    Finish(Finish),
    /// Give a continuation up
    Cancel(Acting),
    /// Let a failed, cancelled or stopped continuation be tried again
    Retry(Item),
    /// Add a prerequisite to a continuation that has not started, or drop one
    Link(Link),
    /// Approve of a continuation that waits for approval
    Approve(Item),
    /// Block until a continuation is ready (exit 0) or stopped (exit 4)
    Wait(Wait),
}

/// `queue add`
#[derive(Debug, Args)]
#[command(
    after_help = "PREREQ: handoff:REF (its work is completed), continuation:ITEM, op:NAME (an operation's latest \
    run), merged:BRANCH (into the default branch), commit:REV (in the history of the default branch or HEAD), or \
    approval (by a person)."
)]
pub struct Add {
    /// The handoff to continue; it is pinned by its id
    #[arg(long, value_name = "REF", default_value = "@latest")]
    pub handoff: String,
    /// What must have succeeded first (repeat for several)
    #[arg(long, value_name = "PREREQ", allow_hyphen_values = true)]
    pub after: Vec<String>,
    /// What the work is about; the handoff's topic when nothing is said
    #[arg(long, value_name = "TOPIC", allow_hyphen_values = true)]
    pub topic: Option<String>,
    /// A name to call it by, unlike that of any unfinished continuation
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// The agent that is meant to do it
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub agent: Option<String>,
    /// Queue a handoff that is not authoritative for continuation (recorded and shown)
    #[arg(long)]
    pub accept_partial: bool,
    /// Queue a handoff that a later one supersedes (recorded and shown)
    #[arg(long)]
    pub accept_superseded: bool,
}

/// `queue list`
#[derive(Debug, Default, Args)]
pub struct QueueList {
    /// Finished ones too
    #[arg(long)]
    pub all: bool,
    /// Show as a graph what waits on what
    #[arg(long)]
    pub graph: bool,
}

/// A continuation.
#[derive(Debug, Args)]
pub struct Item {
    /// The continuation: name, id, or unique prefix of the id
    #[arg(value_name = "ITEM")]
    pub item: String,
}

/// A continuation, and who acts on it.
#[derive(Debug, Args)]
pub struct Acting {
    /// The continuation: name, id, or unique prefix of the id
    #[arg(value_name = "ITEM")]
    pub item: String,
    /// Who acts (default: agent and session, else the git identity)
    #[arg(long = "as", value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
}

/// `queue claim`
#[derive(Debug, Args)]
pub struct Claim {
    /// What and who
    #[command(flatten)]
    pub acting: Acting,
    /// How long the claim holds unless it is renewed: 90s, 15m, 2h, 7d (at most 30 days)
    #[arg(long, value_name = "D", default_value = "4h")]
    pub lease: String,
    /// Claim without asking the remote; such a claim can lose
    #[arg(long)]
    pub offline: bool,
}

/// `queue release`
#[derive(Debug, Args)]
pub struct Release {
    /// What and who
    #[command(flatten)]
    pub acting: Acting,
    /// Take away a claim that somebody else holds (recorded)
    #[arg(long)]
    pub force: bool,
}

/// `queue start`
#[derive(Debug, Args)]
pub struct Start {
    /// What and who
    #[command(flatten)]
    pub acting: Acting,
    /// How long the start holds when nothing claimed it before
    #[arg(long, value_name = "D", default_value = "4h")]
    pub lease: String,
    /// Start although a later handoff supersedes the pinned one (recorded and shown)
    #[arg(long)]
    pub accept_superseded: bool,
}

/// `queue run`
#[derive(Debug, Args)]
pub struct Run {
    /// What and how
    #[command(flatten)]
    pub start: Start,
    /// The command, which is yours: nothing that stands in a handoff is ever run
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<OsString>,
}

/// `queue finish`
#[derive(Debug, Args)]
pub struct Finish {
    /// What and who
    #[command(flatten)]
    pub acting: Acting,
    /// How it ended
    #[arg(long, value_name = "OUTCOME", value_parser = ["succeeded", "failed"], default_value = "succeeded")]
    pub outcome: String,
}

/// `queue link`
#[derive(Debug, Args)]
pub struct Link {
    /// The continuation: name, id, or unique prefix of the id
    #[arg(value_name = "ITEM")]
    pub item: String,
    /// What else must have succeeded first
    #[arg(long, value_name = "PREREQ", required_unless_present = "drop", allow_hyphen_values = true)]
    pub after: Vec<String>,
    /// A prerequisite that no longer counts
    #[arg(long, value_name = "PREREQ", allow_hyphen_values = true)]
    pub drop: Vec<String>,
}

/// `queue wait`
#[derive(Debug, Args)]
pub struct Wait {
    /// The continuation: name, id, or unique prefix of the id
    #[arg(value_name = "ITEM")]
    pub item: String,
    /// Give up after D (exit 7): 90s, 15m, 2h, 7d
    #[arg(long, value_name = "D")]
    pub timeout: Option<String>,
}

/// `op`
#[derive(Debug, Args)]
pub struct Op {
    /// What to do; `list` when nothing is said.
    #[command(subcommand)]
    pub command: Option<OpCommand>,
}

/// The commands of `op`.
#[derive(Debug, Subcommand)]
pub enum OpCommand {
    /// Say that a run of an operation begins
    Start(Operation),
    /// Say that it succeeded
    Succeed(Operation),
    /// Say that it failed
    Fail(Operation),
    /// Say that it was given up
    Cancel(Operation),
    /// Run COMMAND as the operation and record how it ended
    Run(OpRun),
    /// List the operations
    List,
}

/// An operation.
#[derive(Debug, Args)]
pub struct Operation {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// `op run`
#[derive(Debug, Args)]
pub struct OpRun {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The command
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<OsString>,
}
