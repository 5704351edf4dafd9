//! The process: its environment in, its exit code out.
fn main() {}
