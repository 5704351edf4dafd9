//! Everything that can be deleted and made again from the log: work-tree files, notes, the metadata cache.
//!
//! Nothing here is ever the truth: what is missing, stale or damaged is rebuilt, and what a person put there is
//! kept and reported.

pub mod cache;
pub mod files;
pub mod notes;
pub mod queue;
