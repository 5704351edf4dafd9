//! A place to try the program in: a temporary directory with its own home, a clean environment, real git.
//!
//! Nothing of the machine's user, of an agent that runs the tests, or of the network gets in.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assert_fs::TempDir;

/// A body that is complete and clean, made unique by a word.
pub fn body(word: &str) -> String {
    format!(
        "## Current State Summary\nWork on {word} is half done: the parser accepts the new form and its tests pass.\n\
         ## Important Context\nThe old form must stay readable until the next release; a.txt is the only caller.\n\
         ## Critical Files\n- a.txt: holds the sample input for {word}\n\
         ## Decisions Made\nKept the single-pass design because a second pass doubled the run time.\n\
         ## Verification\n- unit tests: passed\n- lint: not run\n\
         ## Pending Work\n1. Add the error path for empty input\n2. Update the reference page\n\
         ## Next Recommended Action\nWrite the failing test for empty input in a.txt, then make it pass.\n"
    )
}

/// A temporary directory and the environment of the commands that run in it.
pub struct Sandbox {
    dir: TempDir,
    cwd: PathBuf,
    vars: Vec<(String, String)>,
}

/// What a command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The standard output, after checking that the command succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.out, self.err);
        self.out
    }

    /// The standard error, after checking the exit code.
    #[track_caller]
    pub fn refused(self, code: i32) -> String {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self.err
    }

    /// The standard output as JSON, after checking that the command succeeded.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("the answer is JSON")
    }

    /// The code of the JSON error on standard error, after checking the exit code.
    #[track_caller]
    pub fn error_code(self, exit: i32) -> String {
        let text = self.refused(exit);
        let at = text.find('{').unwrap_or_else(|| panic!("no JSON on standard error: {text}"));
        let value: serde_json::Value = serde_json::from_str(&text[at..]).expect("the error is JSON");
        value["error"]["code"].as_str().expect("a code").to_owned()
    }
}

impl Sandbox {
    /// An empty directory.
    pub fn empty() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// An empty directory that lies in memory where the system has a place for that: for tests in which bringing
    /// everything to the disk would take most of the time.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if TempDir::new_in(memory).is_ok() { Self::within(memory) } else { Self::empty() }
    }

    fn within(parent: &Path) -> Self {
        let dir = TempDir::new_in(parent).expect("a temporary directory");
        let home = dir.path().join("home");
        std::fs::create_dir(&home).expect("writable");
        let path = std::env::var("PATH").expect("a search path");
        let own = Path::new(env!("CARGO_BIN_EXE_git-handoff")).parent().expect("the program lies in a directory");
        let config = home.join(".gitconfig");
        let vars = [
            ("HOME", home.to_str().expect("a Unicode path")),
            ("PATH", &format!("{}:{path}", own.display())),
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", config.to_str().expect("a Unicode path")),
            ("GIT_AUTHOR_NAME", "Test User"),
            ("GIT_AUTHOR_EMAIL", "test@example.com"),
            ("GIT_COMMITTER_NAME", "Test User"),
            ("GIT_COMMITTER_EMAIL", "test@example.com"),
            ("GIT_EDITOR", "true"),
            ("GIT_TERMINAL_PROMPT", "0"),
        ];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let cwd = dir.path().to_owned();
        Self { dir, cwd, vars }
    }

    /// A repository `r` with one commit of `a.txt` on `main`; commands run in it.
    pub fn repository() -> Self {
        let mut sandbox = Self::empty();
        sandbox.init("r", &[]);
        sandbox
    }

    /// Makes a repository with one commit and moves into it.
    pub fn init(&mut self, name: &str, options: &[&str]) {
        self.cwd = self.dir.path().to_owned();
        let mut args = vec!["init", "-q", "-b", "main"];
        args.extend(options);
        args.push(name);
        self.git(&args);
        self.cwd = self.dir.path().join(name);
        self.commit("a.txt", "a\n");
    }

    /// Moves the commands into a directory below the sandbox.
    pub fn enter(&mut self, path: impl AsRef<Path>) {
        self.cwd = self.dir.path().join(path);
    }

    /// Where the commands run.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The sandbox's own directory.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Sets a variable for every later command.
    pub fn set(&mut self, name: &str, value: &str) {
        self.vars.retain(|(known, _)| known != name);
        self.vars.push((name.into(), value.into()));
    }

    /// Sets the clock of every later command.
    pub fn clock(&mut self, time: &str) {
        self.set("HANDOFF_NOW", time);
    }

    /// A command in this sandbox, not started yet.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.vars.iter().map(|(name, value)| (name, value))).current_dir(&self.cwd);
        command
    }

    /// Runs a program with this standard input.
    pub fn run(&self, program: impl AsRef<OsStr>, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("piped");
        // A program that does not read its input closes the pipe: not a failure of the test.
        stdin.write_all(input).or_else(ignore_closed_pipe).expect("the input is taken");
        drop(stdin);
        Self::ran(child.wait_with_output().expect("the program ends"))
    }

    fn ran(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs git, which must succeed, and gives its output without the last line end.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        self.run("git", args, b"").ok().trim_end().to_owned()
    }

    /// Runs `git-handoff` without input.
    pub fn handoff(&self, args: &[&str]) -> Ran {
        self.run(env!("CARGO_BIN_EXE_git-handoff"), args, b"")
    }

    /// Runs `git-handoff` with this standard input.
    pub fn handoff_with(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        self.run(env!("CARGO_BIN_EXE_git-handoff"), args, input.as_ref())
    }

    /// Creates a handoff with the usual body and gives its id.
    #[track_caller]
    pub fn create(&self, topic: &str, options: &[&str]) -> String {
        let mut args = vec!["create", "--quiet", "--from", "-"];
        args.extend(options);
        args.extend(["--", topic]);
        self.handoff_with(&args, body(topic)).ok().trim_end().to_owned()
    }

    /// Writes a file below the current directory.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.cwd.join(path);
        std::fs::create_dir_all(path.parent().expect("below the sandbox")).expect("writable");
        std::fs::write(path, content).expect("writable");
    }

    /// Reads a file below the current directory.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.cwd.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Whether a file or directory exists below the current directory.
    pub fn exists(&self, path: &str) -> bool {
        self.cwd.join(path).symlink_metadata().is_ok()
    }

    /// Writes a file and commits it.
    pub fn commit(&self, path: &str, content: &str) {
        self.write(path, content);
        self.git(&["add", "--", path]);
        self.git(&["commit", "-qm", &format!("c:{path}")]);
    }
}

fn ignore_closed_pipe(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}
