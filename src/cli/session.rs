//! What every command stands on: the repository, the configuration that concerns us, the log read through the cache.

use std::path::PathBuf;

use super::args::Global;
use super::error::{Code, Failure};
use crate::agents::{self, Detection, Signals};
use crate::document;
use crate::env::Env;
use crate::git::{Locate, ObjectError, OpenError, Repo};
use crate::log::{Log, Walk};
use crate::model::reference::Reference;
use crate::model::{AgentName, Handoff, Lanes, ObjectName, Summary, Timestamp};
use crate::views::cache::Index;
use crate::views::files::Layout;

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
        let identity = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"];
        let locate = Locate {
            dir: cwd.clone(),
            git_dir: env.var("GIT_DIR").map(Into::into),
            work_tree: env.var("GIT_WORK_TREE").map(Into::into),
            env: identity.iter().filter_map(|name| Some(((*name).into(), env.var(name)?.into()))).collect(),
        };
        let repo = Repo::open(&locate).map_err(open_failure)?;
        let lanes = lanes(&repo)?;
        let layout = layout(&repo)?;
        Ok(Self { env, cwd, repo, lanes, layout })
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
        let mut index = Index::load(&directory, &self.lanes);
        if index.basis() == own {
            return Ok(index);
        }
        let mut walk = self.walk(own, &index)?;
        if index.basis().is_some_and(|basis| !walk.reached.contains(&basis)) {
            // The ref was moved to where the cached history is not part of its past.
            index = Index::empty(&self.lanes);
            walk = self.walk(own, &index)?;
        }
        let lag = walk.commits.len();
        index.extend(walk.commits, own);
        if lag > TOLERATED_LAG {
            // A cache that cannot be saved costs time, not truth.
            drop(index.save(&directory));
        }
        Ok(index)
    }

    fn walk(&self, tip: Option<ObjectName>, index: &Index) -> Result<Walk, Failure> {
        Ok(self.log().commits_since(tip.as_slice(), &|commit| index.known(commit))?)
    }

    /// The log joined in memory with the fetched logs of remotes and with the spool. Nothing is written.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn index(&self) -> Result<Index, Failure> {
        let log = self.log();
        let tips = log.tips()?;
        let mut index = self.own_index(tips.own)?;
        for (_, tip) in &tips.remotes {
            if index.known(tip).is_none() {
                let walk = self.walk(Some(*tip), &index)?;
                index.overlay(walk.commits);
            }
        }
        let spooled = log.spool_read();
        if !spooled.is_empty() {
            index.overlay(spooled);
        }
        Ok(index)
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
            Some(blob) => self.repo.read_blob(blob, Handoff::MAX_BYTES as u64).map_err(|error| missing(summary, &error))?,
            None => self.log().spooled_bytes(&id).map_err(|error| Failure::because(Code::HandoffMissing, &error))?,
        };
        if crate::model::EventId::of(&bytes) == id {
            Ok(bytes)
        } else {
            Err(Failure::new(Code::HandoffTampered, format!("the body of {id} does not match its id"))
                .detail("id", id.to_string()))
        }
    }

    /// The handoff that a text refers to.
    ///
    /// # Errors
    /// When the text is no reference, nothing matches, or several handoffs do.
    pub(super) fn resolve(&self, index: &Index, text: &str) -> Result<Summary, Failure> {
        let reference = Reference::parse(text).map_err(|error| Failure::because(Code::Usage, &error))?;
        let positions = match &reference {
            Reference::Id(id) => index.find(id).into_iter().collect(),
            Reference::Prefix(prefix) => index.find_prefix(prefix),
            Reference::Session { agent, stem } => index.find_session(agent, stem),
            Reference::File { path } => index.find_file(path),
            Reference::Latest => index.newest_first().take(1).map(|row| row.position).collect(),
        };
        match positions.as_slice() {
            [position] => Ok(index.summary(*position)?),
            [] => Err(Failure::new(Code::NotFound, format!("no handoff is known as '{text}'"))
                .hint("'git handoff list --all' shows those that there are")
                .detail("ref", text)),
            several => Err(self.ambiguous(index, text, several)?),
        }
    }

    fn ambiguous(&self, index: &Index, text: &str, positions: &[usize]) -> Result<Failure, Failure> {
        let summaries = positions.iter().map(|at| index.summary(*at)).collect::<Result<Vec<_>, _>>()?;
        let lines: Vec<String> = summaries.iter().map(|each| one_line(each)).collect();
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

    /// The moment that this command calls now.
    pub(super) fn now(&self) -> Timestamp {
        self.env.now
    }
}

/// Which agent this is, inside a repository or not.
///
/// # Errors
/// When `HANDOFF_AGENT` or the explicit name is no name.
pub(super) fn detect(env: &Env, explicit: Option<&str>, top: Option<PathBuf>) -> Result<Detection, Failure> {
    let explicit = explicit.map(str::parse::<AgentName>).transpose().map_err(|error| Failure::because(Code::Usage, &error))?;
    let present = |dir: &&str| top.as_ref().is_some_and(|top| top.join(dir).is_dir());
    let directories = [".codex", ".claude", ".opencode", ".agent"].iter().filter(|dir| present(dir)).map(|dir| (*dir).to_owned()).collect();
    let signals = Signals { vars: &env.vars, explicit, ancestors: &|| env.ancestors(), directories };
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

fn missing(summary: &Summary, error: &ObjectError) -> Failure {
    let id = summary.id;
    match error {
        ObjectError::Missing { .. } => Failure::new(Code::HandoffMissing, format!("the body of {id} is missing in this repository"))
            .hint("fetch it from a remote that has it: 'git fetch <remote> refs/handoffs/log'")
            .detail("id", id.to_string()),
        other => Failure::because(Code::HandoffTampered, other).detail("id", id.to_string()),
    }
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
        let bad = |why: String| Failure::new(Code::Usage, format!("the configuration handoff.agent.{name}.dir is not usable: {why}"));
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
        Some(other) => Err(Failure::new(Code::Usage, format!("handoff.layout is '{other}'; use exclude, track or off"))),
    }
}
