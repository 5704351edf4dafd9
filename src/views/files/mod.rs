//! The files that agents and people read in the work tree.

mod write;

pub use write::write_atomically;
