//! Finding and opening the repository, and where things are in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::config::from_parameters;
use super::refs::RefError;
use crate::model::ObjectName;

/// Which repository is meant, and who the user is.
#[derive(Debug, Clone, Default)]
pub struct Locate {
    /// Where to begin: the directory and its parents are searched for a repository. Relative paths count from
    /// the process's own directory.
    pub dir: PathBuf,
    /// The repository itself, as `GIT_DIR` or `--git-dir` give it (relative to [`Locate::dir`]); no search then.
    pub git_dir: Option<PathBuf>,
    /// The work tree, as `GIT_WORK_TREE` or `--work-tree` give it (relative to [`Locate::dir`]).
    pub work_tree: Option<PathBuf>,
    /// The variables that name the user (`GIT_AUTHOR_NAME`, `GIT_AUTHOR_EMAIL`, `GIT_COMMITTER_NAME`,
    /// `GIT_COMMITTER_EMAIL`, `EMAIL`) and `GIT_CONFIG_PARAMETERS`, in which git hands over the settings of
    /// `git -c …`. Others are not looked at.
    pub env: Vec<(OsString, OsString)>,
}

impl Locate {
    /// The repository that this directory belongs to, for a user whose identity comes from configuration.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), ..Self::default() }
    }
}

/// Why a repository could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is none.
    #[error("not a git repository (or any of the parent directories): {}", dir.display())]
    NotARepository {
        /// Where the search began.
        dir: PathBuf,
        /// What gix says.
        #[source]
        source: Box<gix::Error>,
    },
    /// It belongs to somebody else and `safe.directory` does not name it.
    #[error("{sentence}")]
    Untrusted {
        /// What git itself says, with the command that makes an exception.
        sentence: String,
    },
    /// Its format is newer than this program.
    #[error("the repository uses '{extension}', which this version does not understand")]
    Unsupported {
        /// The configuration key, with its value where that is what is unknown.
        extension: String,
    },
    /// It is there but cannot be used.
    #[error("cannot open the repository at {}", path.display())]
    Corrupt {
        /// Where it is.
        path: PathBuf,
        /// What gix says.
        #[source]
        source: Box<gix::Error>,
    },
    /// A directory cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

/// How the repository stores its refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefStorage {
    /// Loose files and `packed-refs`: gix reads and writes them.
    Files,
    /// Another backend, such as reftable: only git itself may touch it.
    GitOnly,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch's short name, also when it has no commit yet; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The commit; `None` when there is none yet.
    pub commit: Option<ObjectName>,
}

/// An open repository.
pub struct Repo {
    pub(super) gix: gix::Repository,
    pub(super) storage: RefStorage,
    pub(super) env: Vec<(OsString, OsString)>,
    /// Whether a remote failed to give an object that it had promised.
    pub(super) promises_broken: std::cell::Cell<bool>,
    /// The turn at moving refs, while this process has it.
    pub(super) turn: std::cell::RefCell<Option<super::turn::Turn>>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_dir: Option<PathBuf>,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir).finish_non_exhaustive()
    }
}

/// The directory of private state, inside the git directory and inside the common directory. The name
/// `git-handoff` is taken by another tool.
const STATE: &str = "git-handoff-state";

impl Repo {
    /// Opens the repository that `locate` names. It never makes one.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(locate: &Locate) -> Result<Self, OpenError> {
        let dir =
            std::path::absolute(&locate.dir).map_err(|source| OpenError::Io { path: locate.dir.clone(), source })?;
        let parameters = locate.env.iter().find(|(name, _)| name == "GIT_CONFIG_PARAMETERS");
        let parameters = parameters.map(|(_, value)| from_parameters(&value.to_string_lossy())).unwrap_or_default();
        let (mut gix, given) = match &locate.git_dir {
            Some(git_dir) => (open_given(&dir.join(git_dir), parameters)?, true),
            None => (discover(&dir, parameters)?, false),
        };
        let storage = check_format(&gix)?;
        choose_work_tree(&mut gix, &dir, locate.work_tree.as_deref(), given)?;
        // Every clone must see the same log, whatever namespace this process was started in.
        gix.clear_namespace();
        // A bare repository keeps no reflog by default; ours ask for one, which `Disable` would silently ignore.
        if gix.refs.write_reflog == gix::refs::store::WriteReflog::Disable {
            gix.refs.write_reflog = gix::refs::store::WriteReflog::Normal;
        }
        let git_dir = resolved(gix.git_dir())?;
        let common_dir = resolved(gix.common_dir())?;
        let work_dir = gix.workdir().map(resolved).transpose()?;
        Ok(Self {
            gix,
            storage,
            env: locate.env.clone(),
            promises_broken: std::cell::Cell::default(),
            turn: std::cell::RefCell::default(),
            git_dir,
            common_dir,
            work_dir,
        })
    }

    /// The repository's own directory (in a linked worktree: `.git/worktrees/<name>`), absolute.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The directory that all worktrees share, absolute and without `..`.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top of the work tree, absolute; `None` in a bare repository.
    pub fn work_dir(&self) -> Option<&Path> {
        self.work_dir.as_deref()
    }

    /// Whether there is no work tree.
    pub fn is_bare(&self) -> bool {
        self.work_dir.is_none()
    }

    /// The directory of this worktree's private state. It need not exist yet.
    pub fn state_dir(&self) -> PathBuf {
        self.git_dir.join(STATE)
    }

    /// The directory of the private state that all worktrees share. It need not exist yet.
    pub fn shared_state_dir(&self) -> PathBuf {
        self.common_dir.join(STATE)
    }

    /// How many hex digits an object name has here: 40 or 64.
    pub fn object_hex_len(&self) -> usize {
        self.gix.object_hash().len_in_hex()
    }

    /// A path relative to the top of the work tree, with `/`; `.` for the top itself. `None` when the path lies
    /// outside or there is no work tree. Symbolic links on the way are followed, as git does for its prefix.
    pub fn prefix_of(&self, path: &Path) -> Option<String> {
        let top = self.work_dir.as_deref()?;
        let path = gix::path::realpath(std::path::absolute(path).ok()?).ok()?;
        let inside = path.strip_prefix(top).ok()?;
        let text = gix::path::to_unix_separators_on_windows(gix::path::into_bstr(inside).ok()?);
        Some(if text.is_empty() { ".".into() } else { super::path::readable(text.as_ref()) })
    }

    /// What is checked out.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn head(&self) -> Result<Head, RefError> {
        let branch = match self.read_symbolic("HEAD")? {
            Some(target) => Some(target),
            None => return Ok(Head { branch: None, commit: self.read_ref("HEAD")? }),
        };
        let commit = branch.as_deref().map(|name| self.read_ref(name)).transpose()?.flatten();
        let short = |name: String| name.strip_prefix("refs/heads/").map(str::to_owned).unwrap_or(name);
        Ok(Head { branch: branch.map(short), commit })
    }
}

/// Whether a repository that belongs to somebody else is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Only with `safe.directory`, as far as gix looks for it.
    MustBeTrusted,
    /// Whoever it is: git has been asked, or the user has named the repository, after which git does not ask.
    Anybody,
}

fn options(owner: Owner, parameters: Vec<String>) -> gix::open::Options {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.identity = gix::sec::Permission::Deny;
    permissions.env.objects = gix::sec::Permission::Deny;
    permissions.env.http_transport = gix::sec::Permission::Deny;
    permissions.env.ssh_prefix = gix::sec::Permission::Deny;
    let options = gix::open::Options::default()
        .permissions(permissions)
        .lossy_config(true)
        .cli_overrides(parameters)
        // A replacement known to one clone only would give it another log than the others.
        .config_overrides(["core.useReplaceRefs=false"]);
    match owner {
        Owner::MustBeTrusted => options.bail_if_untrusted(true),
        Owner::Anybody => options.filter_config_section(|_| true),
    }
}

fn discover(dir: &Path, parameters: Vec<String>) -> Result<gix::Repository, OpenError> {
    let attempt = |owner| {
        let upwards = gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() };
        let options = options(owner, parameters.clone());
        let trusts = gix::sec::trust::Mapping { full: options.clone(), reduced: options };
        gix::ThreadSafeRepository::discover_opts(dir, upwards.apply_environment(), trusts)
    };
    let opened = attempt(Owner::MustBeTrusted).or_else(|error| {
        let about_owner = error.is_permission_denied() && super::write::system_error(&error).is_none();
        if !about_owner {
            return Err(explained(error, dir));
        }
        match super::process::refusal_in(dir) {
            None => attempt(Owner::Anybody).map_err(|error| explained(error, dir)),
            Some(sentence) => Err(OpenError::Untrusted { sentence }),
        }
    });
    opened.map(|repo| repo.to_thread_local())
}

fn open_given(git_dir: &Path, parameters: Vec<String>) -> Result<gix::Repository, OpenError> {
    // What GIT_DIR names may be a `.git` file, as in a linked worktree, but never the directory above it.
    let options = options(Owner::Anybody, parameters).open_path_as_is(true);
    gix::ThreadSafeRepository::open_opts(git_dir, options)
        .map(|repo| repo.to_thread_local())
        .map_err(|error| explained(error, git_dir))
}

/// Sorts gix's one error type into ours.
fn explained(error: gix::Error, path: &Path) -> OpenError {
    let (path, source) = (path.to_owned(), Box::new(error));
    match super::write::system_error(&source) {
        Some(io) if io.kind() == std::io::ErrorKind::PermissionDenied => OpenError::Io { path, source: io },
        _ if source.is_not_found() && !source.is_corrupted() => OpenError::NotARepository { dir: path, source },
        _ => OpenError::Corrupt { path, source },
    }
}

/// Refuses what git itself refuses: a repository whose format says that older programs must keep away.
fn check_format(gix: &gix::Repository) -> Result<RefStorage, OpenError> {
    /// The extensions that git 2.50 knows, in lower case.
    const KNOWN: [&str; 8] = [
        "noop",
        "noop-v1",
        "partialclone",
        "preciousobjects",
        "worktreeconfig",
        "objectformat",
        "refstorage",
        "relativeworktrees",
    ];
    let config = gix.config_snapshot();
    let version = config.integer("core.repositoryFormatVersion").unwrap_or(0);
    if version > 1 {
        return Err(OpenError::Unsupported { extension: format!("core.repositoryFormatVersion={version}") });
    }
    let Some(sections) = config.plumbing().sections_by_name("extensions") else { return Ok(RefStorage::Files) };
    let mut storage = RefStorage::Files;
    for section in sections.filter(|section| section.header().subsection_name().is_none()) {
        for name in section.value_names() {
            let lower = name.to_ascii_lowercase();
            if version == 1 && !KNOWN.contains(&lower.as_str()) {
                return Err(OpenError::Unsupported { extension: format!("extensions.{name}") });
            }
            let value = section.value(&name).unwrap_or_default();
            if lower == "refstorage" && !value.trim().eq_ignore_ascii_case(b"files") {
                storage = RefStorage::GitOnly;
            }
        }
    }
    Ok(storage)
}

/// Applies git's rule for the work tree: what the caller gives; else what gix found; else, for a git directory
/// that was given by name and is not bare, the directory that the user stands in.
fn choose_work_tree(
    gix: &mut gix::Repository,
    dir: &Path,
    work_tree: Option<&Path>,
    given: bool,
) -> Result<(), OpenError> {
    let config = gix.config_snapshot();
    let fixed = config.string("core.worktree").is_some();
    let bare = config.boolean("core.bare").unwrap_or(false);
    let chosen = match work_tree {
        Some(work_tree) => dir.join(work_tree),
        None if given && !fixed && !bare => dir.to_owned(),
        None => return Ok(()),
    };
    gix.set_workdir(chosen.clone())
        .map(drop)
        .map_err(|error| OpenError::Corrupt { path: chosen, source: Box::new(error) })
}

fn resolved(path: &Path) -> Result<PathBuf, OpenError> {
    gix::path::realpath(path).map_err(|error| OpenError::Corrupt { path: path.into(), source: Box::new(error) })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn a_repository_is_found_from_below_from_inside_its_git_directory_and_by_name() {
        let fixture = Fixture::new();
        fixture.write("a/b/file", "x");
        let top = fixture.top().to_owned();
        let given = Locate { git_dir: Some(top.join(".git")), ..Locate::at(&top) };
        for locate in [Locate::at(top.join("a/b")), Locate::at(top.join(".git/objects")), given] {
            let repo = Repo::open(&locate).expect("it is one");
            assert_eq!((repo.git_dir(), repo.common_dir()), (top.join(".git").as_path(), top.join(".git").as_path()));
        }
        assert_eq!(fixture.repo().work_dir(), Some(top.as_path()));
        assert_eq!(fixture.repo().state_dir(), top.join(".git/git-handoff-state"));
    }

    #[test]
    fn a_work_tree_that_is_given_by_name_is_used() {
        let fixture = Fixture::new();
        let other = fixture.outside().join("other");
        std::fs::create_dir(&other).expect("it can be made");
        let locate = Locate {
            git_dir: Some("repo/.git".into()),
            work_tree: Some("other".into()),
            ..Locate::at(fixture.outside())
        };
        let repo = Repo::open(&locate).expect("it is one");
        assert_eq!(repo.work_dir(), Some(other.as_path()));
        std::fs::write(other.join("seen"), "x").expect("it can be written");
        assert_eq!(repo.worktree_state(9).expect("git answers").untracked, ["seen"]);
    }

    #[test]
    fn no_repository_is_an_error_and_none_is_made() {
        let dir = tempfile::tempdir().expect("a directory");
        let error = Repo::open(&Locate::at(dir.path())).expect_err("there is none");
        assert!(matches!(error, OpenError::NotARepository { .. }), "{error:?}");
        assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn linked_worktrees_share_the_common_directory_and_have_their_own_state() {
        let fixture = Fixture::new();
        fixture.commit("one");
        fixture.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
        let repo = Repo::open(&Locate::at(fixture.outside().join("linked"))).expect("it is one");
        let common = fixture.top().join(".git");
        assert_eq!(repo.common_dir(), common);
        assert_eq!(repo.state_dir(), common.join("worktrees/linked/git-handoff-state"));
        assert_eq!(repo.shared_state_dir(), common.join("git-handoff-state"));
        assert_eq!(repo.head().expect("readable").branch.as_deref(), Some("side"));
    }

    #[test]
    fn head_says_branch_and_commit_born_unborn_and_detached() {
        for form in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
            let fixture = Fixture::with(form);
            let head = |fixture: &Fixture| fixture.repo().head().expect("readable");
            assert_eq!(head(&fixture), Head { branch: Some("main".into()), commit: None });
            let one = fixture.commit("one");
            assert_eq!(head(&fixture), Head { branch: Some("main".into()), commit: Some(one) });
            fixture.git(&["checkout", "-q", "--detach"]);
            assert_eq!(head(&fixture), Head { branch: None, commit: Some(one) });
        }
    }

    #[test]
    fn a_bare_repository_has_no_work_tree() {
        let fixture = Fixture::with(&["--bare"]);
        let repo = fixture.repo();
        assert!(repo.is_bare());
        assert_eq!((repo.git_dir(), repo.prefix_of(fixture.top())), (fixture.top(), None));
        assert_eq!(Fixture::with(&["--object-format=sha256"]).repo().object_hex_len(), 64);
    }

    #[test]
    fn prefixes_are_relative_to_the_top() {
        let fixture = Fixture::new();
        fixture.write("a/b/file", "x");
        let repo = fixture.repo();
        let prefix = |path: &str| repo.prefix_of(&fixture.top().join(path));
        assert_eq!(
            [prefix("a/b"), prefix("a/../a"), prefix(""), prefix("..")].map(|p| p.unwrap_or("none".into())),
            ["a/b", "a", ".", "none"]
        );
    }

    #[test]
    fn a_format_from_the_future_is_refused_by_its_name() {
        let fixture = Fixture::new();
        fixture.git(&["config", "core.repositoryFormatVersion", "1"]);
        fixture.git(&["config", "extensions.teleport", "true"]);
        let error = Repo::open(&Locate::at(fixture.top())).expect_err("unknown extension");
        assert!(
            matches!(&error, OpenError::Unsupported { extension } if extension == "extensions.teleport"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn somebody_elses_repository_is_refused_with_gits_own_sentence() {
        let fixture = Fixture::new();
        // Only root can give a directory away; elsewhere there is nothing to test.
        if std::os::unix::fs::chown(fixture.top(), Some(12345), None).is_err() {
            return;
        }
        std::os::unix::fs::chown(fixture.top().join(".git"), Some(12345), None).expect("the first one worked");
        let error = Repo::open(&Locate::at(fixture.top())).expect_err("not ours");
        let git = fixture.command(fixture.top(), &["status"]).output().expect("git runs");
        assert_eq!(format!("fatal: {error}\n"), String::from_utf8_lossy(&git.stderr));
        // Who names the repository has decided, as with git.
        let given = Locate { git_dir: Some(".git".into()), ..Locate::at(fixture.top()) };
        let repo = Repo::open(&given).expect("it is named");
        assert_eq!(repo.identity().name(), "Ada");
    }

    #[test]
    fn settings_of_the_command_line_win() {
        let fixture = Fixture::new();
        let env = vec![("GIT_CONFIG_PARAMETERS".into(), "'user.name'='Bob' 'handoff.layout'='off'".into())];
        let repo = Repo::open(&Locate { env, ..Locate::at(fixture.top()) }).expect("it is one");
        assert_eq!(repo.identity().to_string(), "Bob <ada@example.com>");
        assert_eq!(repo.config_string("handoff.layout").as_deref(), Some("off"));
    }

    #[test]
    fn configuration_is_read_by_key_and_by_subsection() {
        let fixture = Fixture::new();
        for (key, value) in [
            ("handoff.remote", "team"),
            ("handoff.auto", "yes"),
            ("handoff.bad", "maybe"),
            ("handoff.agent.Amp.dir", ".amp"),
            ("handoff.other.x.dir", "no"),
        ] {
            fixture.git(&["config", key, value]);
        }
        let repo = fixture.repo();
        assert_eq!(repo.config_string("handoff.remote").as_deref(), Some("team"));
        assert_eq!(repo.config_bool("handoff.auto").expect("a boolean"), Some(true));
        assert_eq!(repo.config_bool("handoff.none").expect("absent"), None);
        assert_eq!(repo.config_bool("handoff.bad").expect_err("not a boolean").value, "maybe");
        assert_eq!(repo.config_subsections("handoff", "agent"), [("Amp".into(), "dir".into(), ".amp".into())]);
    }
}
