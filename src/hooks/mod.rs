//! The git hooks: where they go, how they are put beside what is there, and how they are taken away again.
//!
//! Three ways, the first that applies: configuration (`hook.<name>.command`, git 2.54 and later), which touches no
//! file of anybody; a marked section in husky's own file; else our script in the hooks directory, with the hook that was
//! there moved beside it. Nothing is written where it would be somebody else's: a directory outside the repository, or
//! one that the repository tracks.

mod chained;
mod configured;
mod place;
mod refspec;
mod section;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::{CommandError, Repo};

pub use place::{Place, Survey, Unfit, survey};
pub use refspec::{add_refspecs, remove_refspecs};

/// A hook that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    /// After a commit: is a handoff due?
    PostCommit,
    /// Before a push: is a handoff due? And the log goes along.
    PrePush,
    /// After an amend or a rebase: the notes follow.
    PostRewrite,
    /// After a merge: the views follow.
    PostMerge,
    /// After a checkout: the views follow.
    PostCheckout,
}

impl Hook {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::PostCommit, Self::PrePush, Self::PostRewrite, Self::PostMerge, Self::PostCheckout];

    /// Git's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PostCommit => "post-commit",
            Self::PrePush => "pre-push",
            Self::PostRewrite => "post-rewrite",
            Self::PostMerge => "post-merge",
            Self::PostCheckout => "post-checkout",
        }
    }

    /// The hook with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.as_str() == name)
    }

    /// The script of this hook, for the program at this path.
    pub fn script(self, program: &Path) -> String {
        const SCRIPT: &str = include_str!("../../hooks/hook.sh");
        SCRIPT.replace("@HOOK@", self.as_str()).replace("@PROGRAM@", &quoted(program))
    }

    /// The line for the file of another hook manager.
    pub fn line(self) -> String {
        const LINE: &str = include_str!("../../hooks/husky.sh");
        LINE.replace("@HOOK@", self.as_str())
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Yes.
    Apply,
    /// No: it is only found out what would be.
    DryRun,
}

/// What became of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was installed where nothing was.
    Installed,
    /// It was installed, and what was there runs first.
    Chained,
    /// An older version of it was replaced.
    Updated,
    /// It was as it should be.
    Unchanged,
    /// It was removed.
    Removed,
    /// It was removed, and what had been there is back.
    Restored,
    /// A file is in the way that must not be touched.
    InTheWay,
}

impl Change {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Chained => "chained",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Restored => "restored",
            Self::InTheWay => "in-the-way",
        }
    }
}

/// What became of a hook, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The hook.
    pub hook: Hook,
    /// What became of it.
    pub change: Change,
    /// The file, or the configuration section.
    pub at: String,
}

/// How a hook stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is there and current.
    Installed,
    /// It is there, written for another program or by another version.
    Outdated,
    /// It is not there.
    Absent,
}

impl State {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Outdated => "outdated",
            Self::Absent => "absent",
        }
    }
}

/// Why hooks could not be installed, removed or looked at.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// git failed.
    #[error(transparent)]
    Git(#[from] CommandError),
    /// A file cannot be read or written.
    #[error("cannot change the hook {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> HooksError {
    let path = path.to_owned();
    move |source| HooksError::Io { path: path.clone(), source }
}

/// Installs every hook.
///
/// # Errors
/// When a file or the configuration cannot be written.
pub fn install(repo: &Repo, place: &Place, program: &Path, mode: Mode) -> Result<Vec<Step>, HooksError> {
    Hook::ALL
        .into_iter()
        .map(|hook| match place {
            Place::Configuration => configured::install(repo, hook, program, mode),
            Place::Sections(dir) => section::install(dir, hook, mode),
            Place::Directory(dir) => chained::install(dir, hook, program, mode),
        })
        .collect()
}

/// Removes every hook of ours from every place where one may be, whatever the place is that would be used now.
///
/// # Errors
/// When a file or the configuration cannot be written.
pub fn uninstall(repo: &Repo, survey: &Survey, mode: Mode) -> Result<Vec<Step>, HooksError> {
    let mut steps = Vec::new();
    for hook in Hook::ALL {
        steps.extend(configured::uninstall(repo, hook, mode)?);
        for dir in &survey.directories {
            steps.extend(chained::uninstall(dir, hook, mode)?);
        }
        if let Some(dir) = &survey.husky {
            steps.extend(section::uninstall(dir, hook, mode)?);
        }
    }
    Ok(steps)
}

/// How every hook stands.
pub fn states(repo: &Repo, survey: &Survey, program: &Path) -> Vec<(Hook, State)> {
    let state = |hook: Hook| {
        let mut found = vec![configured::state(repo, hook, program)];
        // Git looks for hooks in one directory only.
        found.extend(survey.active.iter().map(|dir| chained::state(dir, hook, program)));
        found.extend(survey.husky.iter().map(|dir| section::state(dir, hook)));
        found.into_iter().find(|state| *state != State::Absent).unwrap_or(State::Absent)
    };
    Hook::ALL.into_iter().map(|hook| (hook, state(hook))).collect()
}

/// A path as one word of a POSIX shell, with `/` on every system.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes a file that everybody may execute, in one step.
fn write_executable(path: &Path, text: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().prefix(".handoff-").tempfile_in(dir)?;
    io::Write::write_all(&mut file, text)?;
    #[cfg(unix)]
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_hook_and_its_program_whatever_the_path() {
        let script = Hook::PrePush.script(Path::new("/opt/it's here/git-handoff"));
        assert!(script.contains("\nhook=pre-push\nprogram='/opt/it'\\''s here/git-handoff'\n"), "{script}");
        assert!(!script.contains('@') || !script.contains("@HOOK@"));
        assert!(!script.contains('\r'));
    }
}
