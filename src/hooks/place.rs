//! Where hooks go in this repository.

use std::path::{Path, PathBuf};

use super::HooksError;
use crate::git::{GitVersion, Repo};

/// The first git that runs hooks by configuration.
const CONFIGURED_SINCE: GitVersion = GitVersion { major: 2, minor: 54 };

/// Where the hooks are put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Into the configuration.
    Configuration,
    /// As sections into the files in husky's directory.
    Sections(PathBuf),
    /// As files into the hooks directory.
    Directory(PathBuf),
}

/// Why a place is not written without being told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It lies outside the repository, and other repositories may use it.
    Outside,
    /// Its files are tracked: what is written there will be committed.
    Tracked,
}

/// What was found out about hooks here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Where hooks go.
    pub place: Place,
    /// What speaks against that place.
    pub unfit: Option<Unfit>,
    /// Every directory that may hold scripts of ours.
    pub directories: Vec<PathBuf>,
    /// The directory in which git looks for hooks.
    pub active: Option<PathBuf>,
    /// Husky's directory, where husky is used.
    pub husky: Option<PathBuf>,
    /// A hook manager that writes hook files itself and may replace ours.
    pub manager: Option<&'static str>,
}

impl Survey {
    /// The directory or files that would be written, for people.
    pub fn target(&self) -> String {
        match &self.place {
            Place::Configuration => "the configuration (hook.git-handoff-*)".into(),
            Place::Sections(dir) | Place::Directory(dir) => dir.display().to_string(),
        }
    }
}

/// Finds out where hooks go.
///
/// # Errors
/// When git fails.
pub fn survey(repo: &Repo) -> Result<Survey, HooksError> {
    let active = hooks_dir(repo)?;
    let usual = repo.common_dir().join("hooks");
    let husky = husky_dir(repo, &active);
    let place = chosen(GitVersion::installed(repo)?, husky.as_deref(), &active);
    let unfit = match &place {
        Place::Configuration => None,
        Place::Sections(dir) | Place::Directory(dir) => unfit(repo, dir)?,
    };
    let mut directories = vec![usual];
    if husky.is_none() && !directories.contains(&active) {
        directories.push(active.clone());
    }
    let manager = manager(repo);
    let active = husky.is_none().then_some(active);
    Ok(Survey { place, unfit, directories, active, husky, manager })
}

fn chosen(version: Option<GitVersion>, husky: Option<&Path>, active: &Path) -> Place {
    match (version, husky) {
        (Some(version), _) if version >= CONFIGURED_SINCE => Place::Configuration,
        (_, Some(husky)) => Place::Sections(husky.to_owned()),
        (_, None) => Place::Directory(active.to_owned()),
    }
}

/// The directory in which git looks for hooks: that of the common directory, or what `core.hooksPath` says.
fn hooks_dir(repo: &Repo) -> Result<PathBuf, HooksError> {
    let said = repo.command("rev-parse").args(["--git-path", "hooks"]).run()?;
    let said = String::from_utf8_lossy(&said);
    let path = Path::new(said.trim_end_matches(['\n', '\r']));
    let base = repo.work_dir().unwrap_or(repo.git_dir());
    Ok(plain(&base.join(path)))
}

/// The path without `.` and `..`, and without symbolic links as far as it exists.
fn plain(path: &Path) -> PathBuf {
    let mut existing = path;
    let mut rest = Vec::new();
    loop {
        if let Ok(real) = existing.canonicalize() {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name);
                existing = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

/// `.husky`, when git is told to look for hooks in husky's generated directory `.husky/_`.
fn husky_dir(repo: &Repo, active: &Path) -> Option<PathBuf> {
    let parent = active.parent()?;
    let generated = active.file_name()? == "_" && parent.file_name()? == ".husky";
    // Before version 9, hooks stood in `.husky` itself.
    let older = active.file_name()? == ".husky";
    let dir = if generated {
        parent
    } else if older {
        active
    } else {
        return None;
    };
    repo.work_dir().is_some_and(|top| dir.starts_with(top)).then(|| dir.to_owned())
}

fn unfit(repo: &Repo, dir: &Path) -> Result<Option<Unfit>, HooksError> {
    if dir.starts_with(repo.common_dir()) || dir.starts_with(repo.git_dir()) {
        return Ok(None);
    }
    let Some(inside) = repo.work_dir().and_then(|top| dir.strip_prefix(top).ok()) else {
        return Ok(Some(Unfit::Outside));
    };
    let tracked = repo.command("ls-files").args(["-z", "--"]).arg(inside.as_os_str()).run()?;
    Ok((!tracked.is_empty()).then_some(Unfit::Tracked))
}

fn manager(repo: &Repo) -> Option<&'static str> {
    let top = repo.work_dir()?;
    let table = [
        ("lefthook", &["lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook.toml", "lefthook.json"][..]),
        ("pre-commit", &[".pre-commit-config.yaml", ".pre-commit-config.yml"][..]),
    ];
    table.into_iter().find(|(_, files)| files.iter().any(|file| top.join(file).is_file())).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_used_where_git_knows_it_and_husky_is_left_its_own_directory() {
        let version = |minor| Some(GitVersion { major: 2, minor });
        let (dir, husky) = (Path::new("/r/.husky/_"), Path::new("/r/.husky"));
        assert_eq!(chosen(version(54), Some(husky), dir), Place::Configuration);
        assert_eq!(chosen(version(60), None, dir), Place::Configuration);
        assert_eq!(chosen(version(53), Some(husky), dir), Place::Sections(husky.to_owned()));
        assert_eq!(chosen(version(47), None, dir), Place::Directory(dir.to_owned()));
        assert_eq!(chosen(None, None, dir), Place::Directory(dir.to_owned()));
    }
}
