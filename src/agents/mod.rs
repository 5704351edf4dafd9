//! Which coding agent is this? The facts on each runtime, one row an agent, and the decision.
//!
//! A prefix test would be wrong: several agents export Claude's variables for compatibility, and most `CODEX_*` names
//! are settings that people export in their profile. Only variables that a runtime itself sets are in the table.

mod detection;
mod runtimes;

pub use detection::{Ancestor, Detection, DetectionError, Meaning, Overruled, Signal, Signals, Why, detect};
pub use runtimes::{Marker, RUNTIMES, Runtime, Sign, all_variables};
