//! The event log over git: the only truth.
