//! The program seen from outside: real repositories, the real binary, its output and its exit codes.

#[path = "../sandbox/mod.rs"]
mod sandbox;

mod agent;
mod concurrency;
mod create;
mod doctor;
mod hostile;
mod import;
mod input;
mod list;
mod output;
mod recover;
mod resume;
mod shapes;
mod show;
mod verify;
mod views;
