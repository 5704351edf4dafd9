//! The work tree as far as views may touch it: links are honoured while they stay inside, and never followed out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::stamps;
use super::write::{replace, sweep};
use super::{Effect, Finding};

/// More links than any sane path goes through.
const MAX_LINKS: u32 = 40;

/// A work tree.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    effect: Effect,
}

impl Tree {
    /// The work tree with this top directory, which exists.
    pub(super) fn new(work_dir: &Path, effect: Effect) -> io::Result<Self> {
        Ok(Self { root: work_dir.canonicalize()?, effect })
    }

    /// Keeps a copy of what stood in a file, and says where.
    pub(super) fn keep(&self, state_dir: &Path, path: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        match self.effect {
            Effect::Writes => stamps::keep(state_dir, path, bytes),
            Effect::Rehearses => Ok(stamps::kept_as(state_dir, path, bytes)),
        }
    }

    /// At most this many of the first bytes of a file; none when it is no ordinary file inside the work tree.
    pub(super) fn beginning(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        let real = self.resolve(path).ok().filter(|real| real.is_file())?;
        let mut bytes = Vec::new();
        fs::File::open(real).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// When a name in a directory was last added or removed, in nanoseconds since the epoch.
    pub(super) fn dir_modified(&self, path: &str) -> Option<u128> {
        let found = fs::metadata(self.resolve(path).ok()?).ok().filter(fs::Metadata::is_dir)?;
        Some(found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos())
    }

    /// The bytes of a file; `None` when there is none.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Finding> {
        let real = self.resolve(path)?;
        self.failing(path, || match fs::metadata(&real) {
            Ok(found) if found.is_file() => fs::read(&real).map(Some),
            Ok(_) => Err(io::Error::new(ErrorKind::InvalidInput, "it is not an ordinary file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Replaces a file, making its directories. A link that is the file itself stays a link.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Finding> {
        let real = self.resolve(path)?;
        self.changing(path, || {
            real.parent().map_or(Ok(()), fs::create_dir_all)?;
            replace(&real, bytes)
        })
    }

    /// Removes what a killed process left in a directory. What cannot be removed stands in nobody's way.
    pub(super) fn sweep(&self, dir: &str) {
        if let (Effect::Writes, Ok(real)) = (self.effect, self.resolve(dir)) {
            sweep(&real).ok();
        }
    }

    /// Adds to the end of a file in one write.
    pub(super) fn append(&self, path: &str, bytes: &[u8]) -> Result<(), Finding> {
        let real = self.resolve(path)?;
        self.changing(path, || {
            let mut file = fs::OpenOptions::new().append(true).open(&real)?;
            let length = file.metadata()?.len();
            file.write_all(bytes).inspect_err(|_| {
                // What was written in part would be a torn line; should this fail too, the next refresh finds it.
                file.set_len(length).ok();
            })
        })
    }

    /// Removes a file.
    pub(super) fn remove(&self, path: &str) -> Result<(), Finding> {
        let real = self.resolve(path)?;
        self.changing(path, || fs::remove_file(&real))
    }

    /// The names in a directory, in the order of their bytes; none when there is no directory.
    pub(super) fn names(&self, path: &str) -> Result<Vec<String>, Finding> {
        let real = self.resolve(path)?;
        self.failing(path, || {
            let entries = match fs::read_dir(&real) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            let names: io::Result<Vec<OsString>> = entries.map(|entry| Ok(entry?.file_name())).collect();
            let mut names: Vec<String> = names?.into_iter().filter_map(|name| name.into_string().ok()).collect();
            names.sort_unstable();
            Ok(names)
        })
    }

    /// Size and time of a file, if it is an ordinary one inside the work tree.
    pub(super) fn metadata(&self, path: &str) -> Option<fs::Metadata> {
        fs::metadata(self.resolve(path).ok()?).ok().filter(fs::Metadata::is_file)
    }

    /// Where a path leads, with every link on the way followed by hand; it need not exist.
    fn resolve(&self, path: &str) -> Result<PathBuf, Finding> {
        let mut real = self.root.clone();
        let mut pending: VecDeque<OsString> = parts(Path::new(path)).collect();
        let mut links = 0;
        while let Some(part) = pending.pop_front() {
            match Path::new(&part).components().next() {
                Some(Component::ParentDir) => {
                    real.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => real.push(&part),
                Some(Component::CurDir) | None => {}
                Some(Component::Normal(_)) => {
                    real.push(&part);
                    let Ok(target) = fs::read_link(&real) else { continue };
                    links += 1;
                    if links > MAX_LINKS {
                        let error = io::Error::new(ErrorKind::InvalidInput, "too many symbolic links");
                        return Err(Finding::Failed { path: path.into(), error });
                    }
                    real.pop();
                    for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                        pending.push_front(part);
                    }
                }
            }
        }
        let inside = real.strip_prefix(&self.root).is_ok_and(|rest| !rest.components().any(is_git_dir));
        if inside { Ok(real) } else { Err(Finding::Refused { path: path.into(), resolved: real }) }
    }

    fn changing(&self, path: &str, act: impl FnOnce() -> io::Result<()>) -> Result<(), Finding> {
        match self.effect {
            Effect::Writes => self.failing(path, act),
            Effect::Rehearses => Ok(()),
        }
    }

    fn failing<T>(&self, path: &str, act: impl FnOnce() -> io::Result<T>) -> Result<T, Finding> {
        act().map_err(|error| Finding::Failed { path: path.into(), error })
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().map(|part| part.as_os_str().to_owned())
}

fn is_git_dir(part: Component<'_>) -> bool {
    part.as_os_str().eq_ignore_ascii_case(".git")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_inside_work_and_remain_links() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let top = dir.path().join("top");
        fs::create_dir_all(top.join(".agents/codex")).expect("made");
        symlink(".agents/codex", top.join(".codex")).expect("made");
        symlink("../.st/INDEX.md", top.join(".agents/codex/INDEX.md")).expect("made");
        let tree = Tree::new(&top, Effect::Writes).expect("there");
        tree.write(".codex/INDEX.md", b"x").expect("written");
        assert!(top.join(".codex").is_symlink() && top.join(".agents/codex/INDEX.md").is_symlink());
        assert_eq!(fs::read(top.join(".agents/.st/INDEX.md")).expect("there"), b"x");
        assert_eq!(tree.read(".codex/INDEX.md").expect("inside"), Some(b"x".to_vec()));
    }

    #[test]
    fn links_that_lead_out_or_into_the_git_directory_are_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (top, victim) = (dir.path().join("top"), dir.path().join("victim"));
        fs::create_dir_all(top.join(".git")).expect("made");
        fs::create_dir_all(&victim).expect("made");
        symlink(&victim, top.join(".codex")).expect("made");
        symlink("../victim/new", top.join(".claude")).expect("made");
        symlink(".git", top.join(".agent")).expect("made");
        symlink(".opencode", top.join(".opencode")).expect("made");
        let tree = Tree::new(&top, Effect::Writes).expect("there");
        let real = victim.canonicalize().expect("there");
        let refused = |path: &str| match tree.write(path, b"x") {
            Err(Finding::Refused { resolved, .. }) => resolved,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(".codex/INDEX.md"), real.join("INDEX.md"));
        assert_eq!(refused(".claude/INDEX.md"), real.join("new/INDEX.md"));
        assert!(refused(".agent/INDEX.md").ends_with("top/.git/INDEX.md"));
        assert!(matches!(tree.write(".opencode/INDEX.md", b"x"), Err(Finding::Failed { .. })));
        assert_eq!(fs::read_dir(&victim).expect("there").count(), 0);
    }

    #[test]
    fn a_new_file_has_the_umasks_permissions_and_no_temporary_file_stays() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let tree = Tree::new(dir.path(), Effect::Writes).expect("there");
        fs::write(dir.path().join("plain"), b"").expect("written");
        tree.write("a/b", b"x").expect("written");
        let mode = |path: &str| fs::metadata(dir.path().join(path)).expect("there").permissions().mode();
        assert_eq!(mode("a/b"), mode("plain"));
        fs::create_dir(dir.path().join("a/dir")).expect("made");
        assert!(matches!(tree.write("a/dir", b"x"), Err(Finding::Failed { .. })));
        assert_eq!(tree.names("a").expect("there"), ["b", "dir"]);
    }
}
