//! The process: its surroundings in, its exit code out.

use std::io::{self, BufWriter};
use std::process::ExitCode;

use git_handoff::cli;
use git_handoff::env::Env;

fn main() -> ExitCode {
    let exit = match Env::of_process() {
        Ok(env) => cli::run(&env, &mut BufWriter::new(io::stdout().lock()), &mut io::stderr().lock()),
        Err(error) => cli::unreadable(&error, &mut io::stderr().lock()),
    };
    ExitCode::from(exit)
}
