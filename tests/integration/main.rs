//! The program seen from outside: real repositories, the real binary, its output and its exit codes.

#[path = "../sandbox/mod.rs"]
mod sandbox;

mod acceptance;
mod agent;
mod approve;
mod auto;
mod check;
mod claims;
mod concurrency;
mod create;
mod doctor;
mod edit;
mod goal;
mod hooks;
mod hostile;
mod import;
mod input;
mod list;
mod output;
mod queue;
mod recover;
mod resume;
mod rewrites;
mod shapes;
mod show;
mod sync;
mod validate;
mod verify;
mod views;
