//! The program seen from outside: real repositories, the real binary, its output and its exit codes.

#[path = "../sandbox/mod.rs"]
mod sandbox;

mod agent;
mod concurrency;
mod create;
mod hostile;
mod input;
mod list;
mod output;
mod resume;
mod shapes;
mod show;
mod sync;
mod views;
