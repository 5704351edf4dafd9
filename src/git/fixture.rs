//! Real repositories for tests, each in a directory of its own that goes away with it.

use std::path::{Path, PathBuf};

use super::{Locate, Repo};
use crate::model::ObjectName;

/// A repository in a temporary directory.
pub(crate) struct Fixture {
    dir: tempfile::TempDir,
    top: PathBuf,
}

impl Fixture {
    /// An ordinary repository with the branch `main` and no commit.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// A repository made by `git init` with these options.
    pub(crate) fn with(options: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let top = dir.path().canonicalize().expect("it exists").join("repo");
        let fixture = Self { top, dir };
        let mut args = vec!["init", "-q", "-b", "main"];
        args.extend(options);
        args.push("repo");
        fixture.git_in(fixture.dir.path(), &args);
        fixture.git(&["config", "user.name", "Ada"]);
        fixture.git(&["config", "user.email", "ada@example.com"]);
        fixture
    }

    /// The repository's directory.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// The directory that the repository stands in.
    pub(crate) fn outside(&self) -> PathBuf {
        self.top.parent().expect("it was joined to one").to_owned()
    }

    /// The repository, opened anew.
    pub(crate) fn repo(&self) -> Repo {
        Repo::open(&Locate::at(&self.top)).expect("the fixture is a repository")
    }

    /// What git prints for this command, without the line end.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.top, args)
    }

    /// [`Self::git`] in another directory.
    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let out = self.command(dir, args).output().expect("git runs");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "git {args:?}: {said}");
        String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
    }

    /// A git command that no configuration and variable of the machine reaches.
    pub(crate) fn command(&self, dir: &Path, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(dir)
            .args(args)
            .env("HOME", self.dir.path())
            .env("GIT_CONFIG_GLOBAL", self.dir.path().join("no-such-config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "@1787061899 +0300")
            .env("GIT_COMMITTER_DATE", "@1787061899 +0300");
        command
    }

    /// Writes a file in the work tree.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.top.join(path);
        std::fs::create_dir_all(path.parent().expect("below the top")).expect("the directory can be made");
        std::fs::write(path, text).expect("the file can be written");
    }

    /// Commits everything in the work tree.
    pub(crate) fn commit(&self, message: &str) -> ObjectName {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.name("HEAD")
    }

    /// The object that a revision names.
    pub(crate) fn name(&self, revision: &str) -> ObjectName {
        self.git(&["rev-parse", revision]).parse().expect("git prints object names")
    }
}

/// Makes an SSH key without a passphrase; says so and returns false where `ssh-keygen` is not installed.
#[allow(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn make_ssh_key(path: &str) -> bool {
    let made = std::process::Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", path]).status();
    let made = made.is_ok_and(|status| status.success());
    if !made {
        eprintln!("skipped: ssh-keygen is not installed");
    }
    made
}
