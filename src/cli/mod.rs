//! The commands: the only part that touches the world.

mod approvals;
pub mod args;
mod automatic;
mod commands;
mod compose;
mod drafts;
mod duration;
mod error;
mod goal;
mod judge;
mod last_tip;
mod marker;
mod place;
mod publish;
mod queue;
mod record;
mod rewrites;
mod scanner;
mod session;
mod sharing;
mod staleness;
mod state;
mod store;
mod unrecorded;
mod views;
mod watch;

use std::io::Write;

use clap::Parser;
use clap::error::ErrorKind;

pub use error::{Code, Failure};

use crate::env::{Env, EnvError};
use crate::model::Lanes;
use crate::secrets;
use crate::ui::{Colour, Face, Ui, printable};
use args::{Cli, Command};
use session::Session;

/// Runs the command that the arguments name and returns the exit code of the process.
pub fn run(env: &Env, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    // Hooks run after every commit: they go past the command line's grammar, which takes as long as all the rest.
    if let [_, command, name, rest @ ..] = env.args.as_slice()
        && command == "hook"
    {
        commands::hook::run(env, &name.to_string_lossy(), rest, err);
        return 0;
    }
    let cli = match Cli::try_parse_from(&env.args) {
        Ok(cli) => cli,
        Err(error) => return not_a_command(env, &error, out, err),
    };
    let face = match (cli.global.json, cli.global.quiet) {
        (true, _) => Face::Json,
        (false, true) => Face::Quiet,
        (false, false) => Face::Text,
    };
    let colour = if env.colour() { Colour::On } else { Colour::Off };
    let outcome = dispatch(env, &cli, &mut Ui::new(face, colour, out, err));
    match outcome {
        Ok(()) => 0,
        Err(failure) => say(&failure, face, err),
    }
}

/// Says why the surroundings cannot be read, and returns the exit code of the process.
pub fn unreadable(error: &EnvError, err: &mut dyn Write) -> u8 {
    let code = match error {
        EnvError::Now(_) => Code::Usage,
        EnvError::Directory(_) | EnvError::Clock => Code::Io,
    };
    say(&Failure::because(code, error), Face::Text, err)
}

fn dispatch(env: &Env, cli: &Cli, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let open = || Session::open(env, &cli.global);
    match cli.command.as_ref().unwrap_or(&Command::Status) {
        Command::Create(args) => commands::create::run(&open()?, args, ui),
        Command::Resume(args) => commands::resume::run(&open()?, args, ui),
        Command::List(args) => commands::list::run(&open()?, args, ui),
        Command::Show(args) => commands::show::run(&open()?, args, ui),
        Command::Log(args) => commands::log::run(&open()?, args, ui),
        Command::Status => commands::status::run(&open()?, ui),
        Command::Agent(args) => {
            let lanes = open().map_or_else(|_| Lanes::default(), |session| session.lanes);
            commands::agent::run(env, args, &lanes, ui)
        }
        Command::Demo => commands::demo::run(env, ui),
        Command::Completions(args) => commands::shell::completions(args, ui),
        Command::Import(args) => commands::import::run(&open()?, args, ui),
        Command::Verify => commands::verify::run(&open()?, ui),
        Command::Doctor => commands::doctor::run(&open()?, ui),
        Command::Recover(args) => commands::recover::run(&open()?, args, ui),
        Command::Man(args) => commands::shell::man(args, ui),
        Command::Check(args) => commands::check::run(&open()?, args, ui),
        Command::Validate(args) => commands::validate::run(&open()?, args, ui),
        Command::Edit(args) => commands::edit::run(&open()?, args, ui),
        Command::Approve(args) => commands::approve::run(&open()?, args, ui),
        Command::Auto(args) => commands::auto::run(&open()?, args, ui),
        Command::Goal(args) => commands::goal::run(&open()?, args, ui),
        Command::Hooks(args) => commands::hooks::run(&open()?, args, ui),
        Command::Queue(args) => commands::queue::run(&open()?, args, ui),
        Command::Op(args) => commands::op::run(&open()?, args, ui),
        Command::Sync(args) => commands::sync::run(&open()?, args, ui),
        Command::Waive(args) => commands::waive::run(&open()?, args, ui),
    }
}

/// Help, the version, or a usage error.
fn not_a_command(env: &Env, error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return match write!(out, "{}", error.render()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => say(&error.into(), Face::Text, err),
            Ok(()) | Err(_) => 0,
        };
    }
    let face = if env.args.iter().any(|arg| arg == "--json") { Face::Json } else { Face::Text };
    let text = error.render().to_string();
    let text = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
    say(&Failure::new(Code::Usage, text), face, err)
}

/// Says a failure and returns its exit code.
fn say(failure: &Failure, face: Face, err: &mut dyn Write) -> u8 {
    let text = match face {
        Face::Json => printable(&failure.json()),
        Face::Text | Face::Quiet => failure.to_string(),
    };
    // What was refused may quote what was given, and that may be a secret.
    let text = secrets::mask(&text);
    // Where nobody hears the message, the exit code still says it.
    writeln!(err, "{text}").map_or(failure.code().exit(), |()| failure.code().exit())
}
