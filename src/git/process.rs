//! Child `git` processes: told explicitly which repository they work on, and shielded from every setting that
//! could change what they print.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Repo;

/// What `git rev-parse --local-env-vars` names, so that no child works on another repository than ours, and what
/// else would change what a child prints or does.
///
/// `GIT_CONFIG_PARAMETERS` and `GIT_CONFIG_COUNT` stay: they carry the user's own `git -c`, as for a proxy, and our
/// settings come after them. git itself keeps them for the children that it starts in submodules.
const SCRUBBED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_BRIEF",
    "GIT_TRACE2_CONFIG_PARAMS",
    "GIT_TRACE2_ENV_VARS",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_TRACE2_SETUP",
    "GIT_TRACE_BARE",
    "GIT_TRACE_BITMAP",
    "GIT_TRACE_CREDENTIAL",
    "GIT_TRACE_CURL",
    "GIT_TRACE_FSMONITOR",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACKFILE",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_REFS",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_SHALLOW",
    "GIT_WORK_TREE",
    "LANGUAGE",
];

/// Variables that every child gets.
const SET: &[(&str, &str)] = &[
    ("GIT_EDITOR", ":"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// How long a command with a deadline is listened to after its end, should something that it left behind, such as a
/// daemon of ssh, still hold its output open.
const LEFT_BEHIND: Duration = Duration::from_millis(500);

/// Settings that every child gets, before those of the command itself.
const CONFIG: &[&str] = &["color.ui=false", "core.quotePath=false", "log.showSignature=false", "advice.all=false"];

/// Why a child `git` gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("cannot run 'git {verb}'")]
    NotStarted {
        /// The git command.
        verb: &'static str,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It failed.
    #[error("'git {verb}' failed: {}", last_line(stderr))]
    Failed {
        /// The git command.
        verb: &'static str,
        /// The exit status; `None` when a signal ended it.
        code: Option<i32>,
        /// Everything that it said on standard error.
        stderr: String,
    },
    /// It took longer than the deadline and was stopped.
    #[error("'git {verb}' took longer than {} s and was stopped", after.as_secs())]
    TimedOut {
        /// The git command.
        verb: &'static str,
        /// The deadline.
        after: Duration,
    },
    /// Its output could not be read.
    #[error("cannot read what 'git {verb}' says")]
    Unreadable {
        /// The git command.
        verb: &'static str,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// The last line that says something, made safe for a terminal.
fn last_line(stderr: &str) -> String {
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    crate::model::visible_line(line.trim()).into_owned()
}

/// How a child ended and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit status; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, lossy where it is not UTF-8.
    pub stderr: String,
}

/// A `git` command that is being put together.
#[derive(Debug)]
pub struct Command {
    verb: &'static str,
    process: std::process::Command,
    before_verb: Vec<OsString>,
    args: Vec<OsString>,
    stdin: Option<Vec<u8>>,
    deadline: Option<Duration>,
}

/// What git says when it refuses to work in a directory; `None` when it does not refuse.
///
/// Only git knows every place from which `safe.directory` may come.
pub(super) fn refusal_in(dir: &Path) -> Option<String> {
    let mut process = std::process::Command::new("git");
    process.args(["rev-parse", "--git-dir"]).current_dir(dir).env("LC_ALL", "C");
    for name in SCRUBBED {
        process.env_remove(name);
    }
    match process.output() {
        Ok(out) if out.status.success() => None,
        Ok(out) => Some(String::from_utf8_lossy(&out.stderr).trim_start_matches("fatal: ").trim_end().to_owned()),
        Err(error) => Some(format!("git cannot be asked whether the repository is safe: {error}")),
    }
}

impl Repo {
    /// A git command that works on this repository: in its work tree or, without one, in its git directory.
    pub fn command(&self, verb: &'static str) -> Command {
        let mut command = Command::in_directory(self.work_dir().unwrap_or(self.git_dir()), verb);
        command.before_verb.push(joined("--git-dir=", self.git_dir().as_os_str()));
        if let Some(top) = self.work_dir() {
            command.before_verb.push(joined("--work-tree=", top.as_os_str()));
        }
        command
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    let mut whole = OsString::from(option);
    whole.push(value);
    whole
}

impl Command {
    /// A git command in a directory, which finds its repository itself, if there is one.
    pub fn in_directory(directory: &Path, verb: &'static str) -> Self {
        let mut process = std::process::Command::new("git");
        for name in SCRUBBED {
            process.env_remove(name);
        }
        process.envs(SET.iter().copied());
        process.current_dir(directory);
        let before_verb = vec!["--no-pager".into(), "--no-optional-locks".into(), "--no-replace-objects".into()];
        let command = Self { verb, process, before_verb, args: Vec::new(), stdin: None, deadline: None };
        CONFIG.iter().fold(command, |command, setting| command.config(setting))
    }

    /// A command for `sh` in a directory. It is no git command, but it is started, fed and stopped like one; `name` stands
    /// for it in errors.
    pub(super) fn shell(directory: &Path, name: &'static str, command: &str) -> Self {
        let mut process = std::process::Command::new("sh");
        for scrubbed in SCRUBBED {
            process.env_remove(scrubbed);
        }
        process.current_dir(directory);
        // As git does it: what follows the command line are its arguments.
        let before_verb = vec!["-c".into(), format!("{command} \"$@\"").into()];
        Self { verb: name, process, before_verb, args: Vec::new(), stdin: None, deadline: None }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a setting (`key=value`) for this one run.
    #[must_use]
    pub fn config(mut self, setting: &str) -> Self {
        self.before_verb.extend(["-c".into(), setting.into()]);
        self
    }

    /// Sets a variable for this one run.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.process.env(name, value);
        self
    }

    /// Leaves a variable out for this one run.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.process.env_remove(name);
        self
    }

    /// Gives it these bytes on standard input; without this it has none.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Stops it, with all that it started, after this time.
    #[must_use]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// Starts it and returns at once.
    ///
    /// # Errors
    /// [`CommandError::NotStarted`].
    pub fn start(mut self) -> Result<Running, CommandError> {
        self.process.args(&self.before_verb).arg(self.verb).args(&self.args);
        self.process.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        self.process.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        if self.deadline.is_some() {
            // A group of its own, so that the deadline ends ssh and credential helpers too.
            std::os::unix::process::CommandExt::process_group(&mut self.process, 0);
        }
        let verb = self.verb;
        let mut child = self.process.spawn().map_err(|source| CommandError::NotStarted { verb, source })?;
        let stdout = child.stdout.take().map(reader);
        let stderr = child.stderr.take().map(reader);
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.stdin) {
            // A child that stops reading early says why by its exit status; the closed pipe adds nothing.
            std::thread::spawn(move || pipe.write_all(&bytes).ok());
        }
        let deadline = self.deadline.map(|after| (Instant::now() + after, after));
        Ok(Running { verb, child: Some(child), stdout, stderr, deadline })
    }

    /// Runs it to its end, whatever its exit status.
    ///
    /// # Errors
    /// When it cannot be started, runs out of time, or cannot be read.
    pub fn output(self) -> Result<Output, CommandError> {
        self.start()?.finish()
    }

    /// Runs it and returns what it printed.
    ///
    /// # Errors
    /// Also [`CommandError::Failed`], when its exit status is not 0.
    pub fn run(self) -> Result<Vec<u8>, CommandError> {
        let verb = self.verb;
        self.output()?.success(verb)
    }
}

impl Output {
    fn success(self, verb: &'static str) -> Result<Vec<u8>, CommandError> {
        match self.code {
            Some(0) => Ok(self.stdout),
            code => Err(CommandError::Failed { verb, code, stderr: self.stderr }),
        }
    }
}

/// Reads a pipe beside us.
#[derive(Debug)]
struct Reader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<io::Result<()>>,
}

fn reader(mut pipe: impl Read + Send + 'static) -> Reader {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&bytes);
    let thread = std::thread::spawn(move || {
        let mut chunk = [0; 16 * 1024];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => shared.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    });
    Reader { bytes, thread }
}

impl Reader {
    /// What the child wrote. Where something that it left behind holds the pipe open, the end is not waited for
    /// beyond `end`.
    fn finish(self, end: Option<Instant>) -> io::Result<Vec<u8>> {
        let is_late = || end.is_some_and(|end| Instant::now() >= end);
        while end.is_some() && !self.thread.is_finished() && !is_late() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if end.is_none() || self.thread.is_finished() {
            self.thread.join().expect("reading a pipe does not panic")?;
        }
        Ok(std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// A `git` command that runs beside us. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    verb: &'static str,
    child: Option<Child>,
    stdout: Option<Reader>,
    stderr: Option<Reader>,
    deadline: Option<(Instant, Duration)>,
}

impl Running {
    /// Waits for its end.
    ///
    /// # Errors
    /// When it runs out of time or cannot be read.
    pub fn finish(mut self) -> Result<Output, CommandError> {
        let verb = self.verb;
        let unreadable = |source| CommandError::Unreadable { verb, source };
        let mut child = self.child.take().expect("only this method takes the child, and it takes self");
        let status = match self.deadline {
            None => child.wait().map_err(unreadable)?,
            Some((end, after)) => match wait_until(&mut child, end).map_err(unreadable)? {
                Some(status) => status,
                None => {
                    // The readers are left behind: what the child started may hold the pipes open.
                    stop(&mut child);
                    return Err(CommandError::TimedOut { verb, after });
                }
            },
        };
        let end = self.deadline.map(|_| Instant::now() + LEFT_BEHIND);
        let read = |reader: Option<Reader>| reader.map_or(Ok(Vec::new()), |reader| reader.finish(end));
        let stdout = read(self.stdout.take()).map_err(unreadable)?;
        let stderr = read(self.stderr.take()).map_err(unreadable)?;
        Ok(Output { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }

    /// Waits for its end and returns what it printed.
    ///
    /// # Errors
    /// Also [`CommandError::Failed`], when its exit status is not 0.
    pub fn finish_successfully(self) -> Result<Vec<u8>, CommandError> {
        let verb = self.verb;
        self.finish()?.success(verb)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            stop(&mut child);
        }
    }
}

fn wait_until(child: &mut Child, end: Instant) -> io::Result<Option<std::process::ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Ends a child and its process group, if it has one of its own, and collects it.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // Without a group of its own there is no group with this number, which is an error to be passed over.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
    // It may have ended by itself; both calls then have nothing left to do.
    child.kill().ok();
    child.wait().ok();
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_the_last_line_that_git_said() {
        let fixture = Fixture::new();
        let error = fixture.repo().command("rev-parse").args(["--verify", "nowhere"]).run().expect_err("no such ref");
        assert_eq!(error.to_string(), "'git rev-parse' failed: fatal: Needed a single revision");
    }

    #[test]
    fn a_command_that_takes_too_long_is_stopped_with_what_it_started() {
        let fixture = Fixture::new();
        let slow = fixture.repo().command("slow").config("alias.slow=!sleep 600").deadline(Duration::from_millis(50));
        assert!(matches!(slow.output(), Err(CommandError::TimedOut { verb: "slow", .. })));
    }

    #[test]
    fn what_a_command_leaves_behind_does_not_hold_us() {
        let fixture = Fixture::new();
        let command = fixture.repo().command("leave").config("alias.leave=!echo said; sleep 5 &");
        let out = command.deadline(Duration::from_secs(4)).run().expect("it ends at once");
        assert_eq!(String::from_utf8_lossy(&out), "said\n");
    }

    #[test]
    fn what_goes_in_comes_out() {
        let fixture = Fixture::new();
        let many = vec![b'x'; 300_000];
        let name = fixture.repo().command("hash-object").args(["--stdin", "-w"]).stdin(many.clone()).run();
        let name = String::from_utf8(name.expect("hash-object works")).expect("hex");
        let out = fixture.repo().command("cat-file").args(["blob", name.trim()]).run().expect("cat-file works");
        assert!(out == many);
    }

    #[test]
    fn the_scrubbed_names_cover_what_git_lists() {
        let fixture = Fixture::new();
        let listed = fixture.repo().command("rev-parse").arg("--local-env-vars").run().expect("git lists them");
        let listed = String::from_utf8(listed).expect("names");
        let kept: Vec<&str> = listed.lines().filter(|name| !SCRUBBED.contains(name)).collect();
        assert_eq!(kept, ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"]);
    }
}
