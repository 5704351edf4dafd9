//! Commands that the caller gives on the command line: run as they are, in the caller's own environment.
//!
//! They share the door to child processes with git and nothing else. What they are comes from the command line alone,
//! never from a handoff.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many bytes at the end of the output are kept.
const TAIL: usize = 4096;

/// How a command of the caller ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; `None` when a signal ended it.
    pub code: Option<i32>,
    /// How long it took.
    pub took: Duration,
    /// The end of its output on both streams, lossy where it is not UTF-8; empty when it was not kept.
    pub tail: String,
}

/// Runs a command with these bytes on its standard input. Its output goes where ours goes.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run_with_input(command: &[OsString], dir: &Path, input: Vec<u8>) -> io::Result<Ended> {
    let begin = Instant::now();
    let mut child = prepared(command, dir)?.stdin(Stdio::piped()).spawn()?;
    let writer = child.stdin.take().map(|mut pipe| {
        // A command that does not read its input closes the pipe: that is its own affair.
        std::thread::spawn(move || pipe.write_all(&input).ok())
    });
    let status = child.wait()?;
    // The writer ends with the pipe; a grandchild that keeps it open is not waited for.
    drop(writer);
    Ok(ended(status, begin, String::new()))
}

/// Runs a command whose output goes where ours goes, and keeps the end of it.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run_keeping_tail(command: &[OsString], dir: &Path) -> io::Result<Ended> {
    let begin = Instant::now();
    let mut child = prepared(command, dir)?.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let tail = Arc::new(Mutex::new(Vec::new()));
    let copies = [
        child.stdout.take().zip(unlocked(io::stdout())).map(|(pipe, to)| copied(pipe, to, &tail)),
        child.stderr.take().zip(unlocked(io::stderr())).map(|(pipe, to)| copied(pipe, to, &tail)),
    ];
    let status = child.wait()?;
    for copy in copies.into_iter().flatten() {
        // A copy that failed has shown what it could.
        drop(copy.join());
    }
    let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(ended(status, begin, String::from_utf8_lossy(&tail).into_owned()))
}

/// One of our streams by another handle: the program's own answers hold the stream's lock all the time.
#[cfg(unix)]
fn unlocked(stream: impl std::os::fd::AsFd) -> Option<File> {
    stream.as_fd().try_clone_to_owned().ok().map(File::from)
}

/// One of our streams by another handle: the program's own answers hold the stream's lock all the time.
#[cfg(windows)]
fn unlocked(stream: impl std::os::windows::io::AsHandle) -> Option<File> {
    stream.as_handle().try_clone_to_owned().ok().map(File::from)
}

fn prepared(command: &[OsString], dir: &Path) -> io::Result<Command> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut prepared = Command::new(program);
    prepared.args(args).current_dir(dir);
    Ok(prepared)
}

fn ended(status: ExitStatus, begin: Instant, tail: String) -> Ended {
    Ended { code: status.code(), took: begin.elapsed(), tail }
}

fn copied(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    tail: &Arc<Mutex<Vec<u8>>>,
) -> JoinHandle<()> {
    let tail = Arc::clone(tail);
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            // When nobody reads our output any more, the command goes on all the same.
            to.write_all(&buffer[..count]).and_then(|()| to.flush()).ok();
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(&buffer[..count]);
            let excess = tail.len().saturating_sub(TAIL);
            tail.drain(..excess);
        }
    })
}
