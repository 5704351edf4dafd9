//! The commands: the only part that touches the world.

pub mod args;
mod error;

pub use error::{Code, Failure};
