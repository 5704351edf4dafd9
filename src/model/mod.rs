//! What handoffs mean, decided without any I/O.
//!
//! Nothing here reads a clock, a file or git: facts come in as values, decisions go out as values, so that
//! every rule can be tested with a literal.

mod agent;
mod approval;
pub mod automatic;
pub mod boundary;
mod event;
mod handoff;
mod id;
pub mod paths;
pub mod queue;
pub mod reference;
pub mod rewrite;
pub mod score;
pub mod selection;
pub mod staleness;
mod summary;
mod text;
mod time;

pub use agent::{AgentName, AgentNameError, Lane, Lanes, SessionName};
pub use approval::{Approval, Approvals, Authority, GivenApproval, Signature};
pub use event::{Anomaly, AnomalyKind, By, Entry, Event, EventKind, LogCommit, Origin};
pub use handoff::{
    Change, Completeness, Content, Evidence, FileEntry, Handoff, Link, Metadata, Observer, Outcome, Scope, Status,
    Topic, TopicError, Trigger, UnknownWord,
};
pub use id::{EventId, IdError, IdPrefix, ObjectName};
pub use summary::Summary;
pub use text::{cut, normalised, visible, visible_line};
pub use time::{TimeError, Timestamp};
