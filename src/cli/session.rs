//! What every command stands on: the repository, the configuration that concerns us, the log read through the cache.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use super::args::Global;
use super::error::{Code, Failure, io_code};
use super::unrecorded::FileOnly;
use crate::agents::{self, Ancestor, Detection, Signals};
use crate::document;
use crate::env::Env;
use crate::git::{Heed, Locate, ObjectError, OpenError, Repo};
use crate::log::{Log, Spool, Spooled, Walk};
use crate::model::reference::Reference;
use crate::model::{
    AgentName, Anomaly, AnomalyKind, By, EventId, Handoff, Lanes, LogCommit, ObjectName, Origin, Summary, Timestamp,
    paths,
};
use crate::views::cache::{CacheError, Index};
use crate::views::files::{Layout, Look};

/// The surroundings and the repository of one command.
pub(super) struct Session<'e> {
    /// The surroundings.
    pub(super) env: &'e Env,
    /// Where the user stands.
    pub(super) cwd: PathBuf,
    /// The repository.
    pub(super) repo: Repo,
    /// Which agent writes where.
    pub(super) lanes: Lanes,
    /// Whether and how files are written into the work tree.
    pub(super) layout: Layout,
    /// Whether the cache turned out to be damaged.
    distrusts_cache: Cell<bool>,
    /// What stands only in files, as the last look of a command that only reads found it.
    pub(super) file_only: RefCell<Vec<FileOnly>>,
}

/// How many log commits the cache may lag behind before a command that only reads saves it all the same. Below, a
/// reader touches no file.
const TOLERATED_LAG: usize = 1000;

impl<'e> Session<'e> {
    /// Opens the repository of the current directory, or of `-C`, or that `GIT_DIR` names.
    ///
    /// # Errors
    /// When there is none, it is not trusted, or the configuration makes no sense.
    pub(super) fn open(env: &'e Env, global: &Global) -> Result<Self, Failure> {
        let cwd = match &global.directory {
            Some(directory) => env.cwd.join(directory),
            None => env.cwd.clone(),
        };
        let identity = [
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL",
            "EMAIL",
            "GIT_CONFIG_PARAMETERS",
        ];
        let locate = Locate {
            dir: cwd.clone(),
            git_dir: env.var("GIT_DIR").map(Into::into),
            work_tree: env.var("GIT_WORK_TREE").map(Into::into),
            env: identity.iter().filter_map(|name| Some(((*name).into(), env.var(name)?.into()))).collect(),
        };
        let repo = Repo::open(&locate).map_err(open_failure)?;
        let lanes = lanes(&repo)?;
        let layout = layout(&repo)?;
        Ok(Self { env, cwd, repo, lanes, layout, distrusts_cache: Cell::new(false), file_only: RefCell::default() })
    }

    /// The event log.
    pub(super) fn log(&self) -> Log<'_> {
        Log::new(&self.repo)
    }

    /// The log as it is on our own ref, through the cache.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn own_index(&self, own: Option<ObjectName>) -> Result<Index, Failure> {
        let directory = self.repo.shared_state_dir();
        let mut index =
            if self.distrusts_cache.get() { Index::empty(&self.lanes) } else { Index::load(&directory, &self.lanes) };
        if index.basis() == own && own.is_some() {
            return Ok(index);
        }
        if let Some(tip) = own {
            self.check_tip(&tip)?;
        }
        let lag = match self.catch_up(&mut index, own) {
            Ok(Some(lag)) => lag,
            // The ref was moved to where the cached history is not part of its past, or the cache is damaged.
            Ok(None) | Err(CacheError::Damaged) => {
                index = self.rebuilt_index(own)?;
                index.len() as usize
            }
            Err(error) => return Err(error.into()),
        };
        if lag > TOLERATED_LAG {
            // A cache that cannot be saved costs time, not truth.
            drop(index.save(&directory));
        }
        let holds_nothing = index.handoff_count() == 0 && index.other_events()?.is_empty();
        if own.is_some() && holds_nothing && !index.anomalies()?.is_empty() {
            return Err(log_damaged("none of the commits that it leads to holds an event that can be read"));
        }
        Ok(index)
    }

    /// Refuses a log that is only another name of some branch.
    ///
    /// # Errors
    /// `LOG_DAMAGED`.
    pub(super) fn check_ref(&self) -> Result<(), Failure> {
        match self.repo.read_symbolic(crate::log::REF)? {
            Some(target) => Err(log_damaged(&format!("it is a symbolic ref to {target}"))),
            None => Ok(()),
        }
    }

    /// Refuses to go on from a tip that is no commit: whatever follows it could not be read by git either.
    ///
    /// # Errors
    /// `LOG_DAMAGED`.
    pub(super) fn check_tip(&self, tip: &ObjectName) -> Result<(), Failure> {
        self.repo.read_commit(tip).map(drop).map_err(|error| log_damaged(&error.to_string()))
    }

    /// Adds what the log gained; returns how many commits that was, or nothing when the index does not fit the log.
    fn catch_up(&self, index: &mut Index, own: Option<ObjectName>) -> Result<Option<usize>, CacheError> {
        if index.is_empty() {
            return Ok(None);
        }
        let walk = self.walk(own, index)?;
        let fits = index.basis().is_none_or(|basis| walk.reached.contains(&basis));
        let count = walk.commits.len();
        index.extend(walk.commits, own)?;
        Ok(fits.then_some(count))
    }

    /// The own log read from its beginning, in batches, so that never more than a few documents are in memory.
    /// Makes the metadata cache anew from the own log, whatever stands there now.
    ///
    /// # Errors
    /// When it cannot be built. One that cannot be saved costs time, not truth.
    pub(super) fn rebuild_cache(&self) -> Result<(), Failure> {
        let mut index = self.rebuilt_index(self.log().tips()?.own)?;
        drop(index.save(&self.repo.shared_state_dir()));
        Ok(())
    }

    fn rebuilt_index(&self, own: Option<ObjectName>) -> Result<Index, CacheError> {
        const BATCH: usize = 256;
        let mut index = Index::empty(&self.lanes);
        let mut batch = Vec::with_capacity(BATCH);
        let mut outcome = Ok(());
        let walk = self.log().visit_since(own.as_slice(), &|_| None, &mut |commit| {
            batch.push(commit);
            if batch.len() == BATCH && outcome.is_ok() {
                outcome = index.extend(std::mem::take(&mut batch), None);
            }
        });
        outcome?;
        batch.extend(unreadable(own, walk.anomalies));
        index.extend(batch, own)?;
        Ok(index)
    }

    /// What the own index does not have of this log.
    ///
    /// # Errors
    /// When the cache is damaged.
    pub(super) fn walk(&self, tip: Option<ObjectName>, index: &Index) -> Result<Walk, CacheError> {
        let damage = Cell::new(None);
        let known = |commit: &ObjectName| {
            index.known(commit).unwrap_or_else(|error| {
                damage.set(Some(error));
                None
            })
        };
        let walk = self.log().commits_since(tip.as_slice(), &known);
        damage.into_inner().map_or(Ok(walk), Err)
    }

    /// The log joined in memory with the fetched logs of remotes, with the spool, and with the handoffs that stand only
    /// in files of the work tree. Nothing is written.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn index(&self) -> Result<Index, Failure> {
        self.index_with(Look::Quick)
    }

    /// [`Session::index`] after as thorough a look at the files.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn index_with(&self, look: Look) -> Result<Index, Failure> {
        let tips = self.log().tips()?;
        let mut index = self.own_index(tips.own)?;
        for (_, tip) in &tips.remotes {
            if index.known(tip)?.is_none() {
                let walk = self.walk(Some(*tip), &index)?;
                index.overlay(walk.commits.into_iter().chain(unreadable(Some(*tip), walk.anomalies)))?;
            }
        }
        let spooled = self.spooled()?;
        if !spooled.is_empty() {
            index.overlay(spooled.into_iter().map(|spooled| spooled.commit))?;
        }
        self.overlay_files(&mut index, look)?;
        Ok(index)
    }

    /// What waits in the spool of this worktree.
    ///
    /// # Errors
    /// When the spool cannot be read.
    pub(super) fn spooled(&self) -> Result<Vec<Spooled>, Failure> {
        let Some(spool) = Spool::of(&self.repo) else { return Ok(Vec::new()) };
        let mut spooled = spool.read()?;
        spooled.retain(|spooled| !spooled.commit.entries.is_empty() && self.is_own_spool_file(&spooled.path));
        Ok(spooled)
    }

    /// Reads through the cache and, should it turn out to be damaged, once more without it.
    ///
    /// # Errors
    /// Those of the work.
    pub(super) fn read<T>(&self, work: impl Fn(&Index) -> Result<T, Failure>) -> Result<T, Failure> {
        match self.index().and_then(|index| work(&index)) {
            Err(failure) if failure.code() == Code::CacheDamaged && !self.distrusts_cache.get() => {
                self.distrusts_cache.set(true);
                self.index().and_then(|index| work(&index))
            }
            outcome => outcome,
        }
    }

    /// The document of a handoff, its bytes checked against its id.
    ///
    /// # Errors
    /// `HANDOFF_MISSING` when the bytes are not here, `HANDOFF_TAMPERED` when they do not match.
    pub(super) fn document(&self, summary: &Summary) -> Result<Handoff, Failure> {
        let bytes = self.stored_bytes(summary)?;
        document::from_json(&bytes).map_err(|error| Failure::because(Code::HandoffTampered, &error))
    }

    /// The stored bytes of a handoff, checked against its id.
    ///
    /// # Errors
    /// As [`Session::document`].
    pub(super) fn stored_bytes(&self, summary: &Summary) -> Result<Vec<u8>, Failure> {
        let id = summary.id;
        let bytes = match &summary.blob {
            Some(blob) => {
                self.repo.read_blob(blob, Handoff::MAX_BYTES as u64).map_err(|error| missing(summary, &error))?
            }
            None => self.spooled_bytes(summary)?,
        };
        if crate::model::EventId::of(&bytes) == id {
            Ok(bytes)
        } else {
            Err(Failure::new(Code::HandoffTampered, format!("the body of {id} does not match its id"))
                .detail("id", id.to_string()))
        }
    }

    fn spooled_bytes(&self, summary: &Summary) -> Result<Vec<u8>, Failure> {
        if let Some(found) = self.file_only.borrow().iter().find(|found| found.id == summary.id) {
            return Ok(document::canonical(&found.handoff));
        }
        let holds = |spooled: &Spooled| spooled.commit.entries.iter().any(|entry| entry.id == summary.id);
        match self.spooled()?.iter().find(|spooled| holds(spooled)) {
            Some(spooled) => Ok(std::fs::read(&spooled.path)?),
            None => Err(body_is_missing(summary.id)),
        }
    }

    /// The handoff that a text refers to.
    ///
    /// # Errors
    /// When the text is no reference, nothing matches, or several handoffs do.
    pub(super) fn resolve(&self, index: &Index, text: &str) -> Result<Summary, Failure> {
        let here = self.path_from_top(text);
        let text = here.as_deref().unwrap_or(text);
        let reference = Reference::parse(text).map_err(|error| Failure::because(Code::Usage, &error))?;
        let positions = match &reference {
            Reference::Id(id) => index.find(id)?.into_iter().collect(),
            Reference::Prefix(prefix) => index.find_prefix(prefix)?,
            Reference::Session { agent, stem } => index.find_session(agent, stem)?.into_iter().collect(),
            Reference::File { path } => {
                let only_here = self.file_only.borrow().iter().find(|found| found.path == *path).map(|found| found.id);
                let position = only_here.map_or_else(|| index.find_file(path), |id| index.find(&id))?;
                position.into_iter().collect()
            }
            Reference::Latest => {
                index.newest_first().take(1).map(|row| Ok(row?.position)).collect::<Result<Vec<_>, CacheError>>()?
            }
        };
        match positions.as_slice() {
            [position] => Ok(index.summary(*position)?),
            [] => match self.missing_body(index, &reference)? {
                Some(id) => Err(body_is_missing(id)),
                None => Err(Failure::new(Code::NotFound, format!("no handoff is known as '{text}'"))
                    .hint("'git handoff list --all' shows those that there are")
                    .detail("ref", text)),
            },
            several => Err(self.ambiguous(index, text, several)?),
        }
    }

    /// The id of a handoff that the log names and whose body is not here, if the reference means it.
    fn missing_body(&self, index: &Index, reference: &Reference) -> Result<Option<EventId>, Failure> {
        let means = |id: &EventId| match reference {
            Reference::Id(wanted) => id == wanted,
            Reference::Prefix(prefix) => prefix.matches(id),
            Reference::Session { .. } | Reference::File { .. } | Reference::Latest => false,
        };
        let named = |path: &str| path.strip_prefix("handoff/")?.strip_suffix(".json")?.parse().ok();
        let anomalies = index.anomalies()?;
        let missing = anomalies.iter().filter(|anomaly| anomaly.kind == AnomalyKind::Missing);
        Ok(missing.filter_map(|anomaly| named(&anomaly.path)).find(means))
    }

    /// A path as the user gives it, relative to where they stand or absolute, as a path from the top of the work tree.
    fn path_from_top(&self, text: &str) -> Option<String> {
        let path = self.cwd.join(text);
        let is_file = text.ends_with(".md") && path.is_file();
        self.repo.prefix_of(&path).filter(|_| is_file)
    }

    fn ambiguous(&self, index: &Index, text: &str, positions: &[u32]) -> Result<Failure, Failure> {
        let summaries = positions.iter().map(|at| index.summary(*at)).collect::<Result<Vec<_>, _>>()?;
        let lines: Vec<String> = summaries.iter().map(one_line).collect();
        let ids: Vec<String> = summaries.iter().map(|each| each.id.to_string()).collect();
        Ok(Failure::new(Code::Ambiguous, format!("'{text}' may be any of\n  {}", lines.join("\n  ")))
            .hint("give more digits of the id")
            .detail("ref", text)
            .detail("candidates", ids))
    }

    /// Which agent this is.
    ///
    /// # Errors
    /// When `HANDOFF_AGENT` or `--agent` is no name.
    pub(super) fn detect(&self, explicit: Option<&str>) -> Result<Detection, Failure> {
        detect(self.env, explicit, self.repo.work_dir().map(PathBuf::from))
    }

    /// The current branch and commit.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub(super) fn head(&self) -> Result<crate::git::Head, Failure> {
        Ok(self.repo.head()?)
    }

    /// Whether a file or directory stands at a path of the work tree or, without one, of the commit.
    pub(super) fn path_exists(&self, path: &str, commit: Option<ObjectName>) -> bool {
        let in_work_tree = self.repo.work_dir().is_some_and(|top| top.join(path).symlink_metadata().is_ok());
        in_work_tree || self.blob_at(commit, path).is_some()
    }

    /// The blob that a commit has at a path.
    pub(super) fn blob_at(&self, commit: Option<ObjectName>, path: &str) -> Option<ObjectName> {
        commit.and_then(|commit| self.repo.blob_at(&commit, path).ok().flatten())
    }

    /// Whether an untracked path is nothing but our own views.
    pub(super) fn is_ours(&self, path: &str) -> bool {
        let directory = path.trim_end_matches('/');
        paths::is_own_view(path)
            || directory == ".session-transfer"
            || self.lanes.all().iter().any(|lane| lane.dir == directory)
    }

    /// Whether a path is that of a view, in whatever directory the agents write here.
    pub(super) fn is_view(&self, path: &str) -> bool {
        let mut below = self.lanes.custom().filter_map(|(_, dir)| path.strip_prefix(dir)?.strip_prefix('/'));
        paths::is_own_view(path)
            || below
                .any(|rest| rest.starts_with("handoffs/") || ["handoffs", "handoffs.jsonl", "INDEX.md"].contains(&rest))
    }

    /// Whether a change at a path is somebody's work, and not only a view written anew.
    pub(super) fn heeds(&self, path: &str) -> Heed {
        let lane_below = || self.lanes.custom().any(|(_, dir)| dir == path || dir.starts_with(&format!("{path}/")));
        if self.is_view(path) {
            Heed::Ignored
        } else if path.starts_with('.') || lane_below() {
            Heed::LookInside
        } else {
            Heed::Counts
        }
    }

    /// A handoff that the index has, as Markdown.
    ///
    /// # Errors
    /// When the cache is damaged.
    pub(super) fn markdown(&self, index: &Index, summary: &Summary, handoff: &Handoff) -> Result<String, Failure> {
        self.render(index, handoff, &summary.session())
    }

    /// Who makes an event now: the agent as far as it is known, and the git identity.
    ///
    /// # Errors
    /// When `HANDOFF_AGENT` is no name.
    pub(super) fn origin(&self) -> Result<Origin, Failure> {
        let detection = self.detect(None)?;
        let known = detection.agent.as_str() != AgentName::UNKNOWN;
        let identity = self.repo.identity();
        Ok(Origin {
            created: self.now(),
            by: By {
                agent: known.then_some(detection.agent),
                agent_session: detection.session_id,
                identity: format!("{} <{}>", identity.name(), identity.email()),
            },
        })
    }

    /// Refuses where git's directory cannot be written.
    ///
    /// # Errors
    /// `NOT_WRITABLE` and why.
    pub(super) fn check_writable(&self) -> Result<(), Failure> {
        for dir in [self.repo.common_dir().to_owned(), self.repo.common_dir().join("objects")] {
            // It has no name, and so leaves nothing behind.
            tempfile::tempfile_in(&dir).map(drop).map_err(|error| {
                Failure::because(io_code(&error), &error).while_doing(&format!("{} cannot be written", dir.display()))
            })?;
        }
        Ok(())
    }

    /// The moment that this command calls now.
    pub(super) fn now(&self) -> Timestamp {
        self.env.now
    }
}

/// A tip that cannot be read, as a commit that holds nothing but what is wrong with it.
fn unreadable(tip: Option<ObjectName>, anomalies: Vec<Anomaly>) -> Option<LogCommit> {
    let commit = LogCommit { name: tip, effective: 0, entries: Vec::new(), anomalies };
    (!commit.anomalies.is_empty()).then_some(commit)
}

/// Which agent this is, inside a repository or not.
///
/// # Errors
/// When `HANDOFF_AGENT` or the explicit name is no name.
pub(super) fn detect(env: &Env, explicit: Option<&str>, top: Option<PathBuf>) -> Result<Detection, Failure> {
    let explicit =
        explicit.map(str::parse::<AgentName>).transpose().map_err(|error| Failure::because(Code::Usage, &error))?;
    let present = |dir: &&str| top.as_ref().is_some_and(|top| top.join(dir).is_dir());
    let directories: Vec<String> = [".codex", ".claude", ".opencode", ".agent"]
        .iter()
        .filter(|dir| present(dir))
        .map(|dir| (*dir).to_owned())
        .collect();
    let ancestors = || env.ancestors().into_iter().map(|(pid, name)| Ancestor { pid, name }).collect();
    let signals = Signals { vars: &env.vars, explicit, ancestors: &ancestors, directories: &directories };
    agents::detect(&signals).map_err(|error| Failure::because(Code::Usage, &error))
}

/// A handoff on one line, as candidates are listed.
pub(super) fn one_line(summary: &Summary) -> String {
    format!(
        "{} {} {} {} on {}: {}",
        summary.id.short(),
        summary.session(),
        summary.created.minute_for_people(),
        summary.status,
        summary.branch.as_deref().unwrap_or("no branch"),
        summary.topic,
    )
}

fn log_damaged(why: &str) -> Failure {
    Failure::new(Code::LogDamaged, format!("{} cannot be read as a log: {why}", crate::log::REF)).hint(format!(
        "'git fsck' names damaged objects, which a clone that has them can give back; where the log stood before: 'git reflog \
         show {name}', and 'git update-ref {name} <commit>' sets it back",
        name = crate::log::REF
    ))
}

fn missing(summary: &Summary, error: &ObjectError) -> Failure {
    if matches!(error, ObjectError::Missing { .. }) {
        body_is_missing(summary.id)
    } else {
        Failure::because(Code::HandoffTampered, error).detail("id", summary.id.to_string())
    }
}

fn body_is_missing(id: EventId) -> Failure {
    Failure::new(Code::HandoffMissing, format!("the body of {id} is missing in this repository"))
        .hint("fetch it from a remote that has it: 'git fetch <remote> refs/handoffs/log'")
        .detail("id", id.to_string())
}

fn open_failure(error: OpenError) -> Failure {
    match &error {
        OpenError::NotARepository { dir, .. } => {
            Failure::new(Code::NoRepository, format!("{} is not in a git repository", dir.display()))
                .hint("handoffs live in a repository: run this in one, name one with -C, or make one with 'git init'")
        }
        OpenError::Untrusted { .. } => Failure::new(Code::UnsafeRepository, error.to_string()),
        OpenError::Unsupported { .. } | OpenError::Corrupt { .. } => Failure::because(Code::NoRepository, &error),
        OpenError::Io { source, .. } => Failure::because(super::error::io_code(source), &error),
    }
}

/// The directories of agents that `handoff.agent.<name>.dir` maps. Only plain directories below the top are taken.
fn lanes(repo: &Repo) -> Result<Lanes, Failure> {
    let mut custom = std::collections::BTreeMap::new();
    for (name, key, value) in repo.config_subsections("handoff", "agent") {
        if key != "dir" {
            continue;
        }
        let bad = |why: String| {
            Failure::new(Code::Usage, format!("the configuration handoff.agent.{name}.dir is not usable: {why}"))
        };
        let agent: AgentName = name.parse().map_err(|error: crate::model::AgentNameError| bad(error.to_string()))?;
        let plain = |part: &str| part.strip_prefix('.').unwrap_or(part).parse::<AgentName>().is_ok();
        if value.split('/').any(|part| !plain(part) || part.eq_ignore_ascii_case(".git")) {
            return Err(bad(format!("'{value}' is not a plain directory below the top of the work tree")));
        }
        custom.insert(agent, value);
    }
    Ok(Lanes::new(custom))
}

fn layout(repo: &Repo) -> Result<Layout, Failure> {
    match repo.config_string("handoff.layout").as_deref() {
        None | Some("exclude") => Ok(Layout::Exclude),
        Some("track") => Ok(Layout::Track),
        Some("off") => Ok(Layout::Off),
        Some(other) => {
            Err(Failure::new(Code::Usage, format!("handoff.layout is '{other}'; use exclude, track or off")))
        }
    }
}
