//! The program seen from outside: real repositories, the real binary, its output and its exit codes.

#[path = "../sandbox/mod.rs"]
mod sandbox;

mod agent;
mod auto;
mod concurrency;
mod create;
mod goal;
mod hooks;
mod hostile;
mod input;
mod list;
mod output;
mod resume;
mod rewrites;
mod shapes;
mod show;
mod views;
