//! Refs: reading them, and moving one only if it still stands where the caller saw it.
//!
//! gix does both in an ordinary repository. git itself does it (one child each time) where only git can: a ref
//! storage that gix does not know, a `reference-transaction` hook that may veto, a repository shared by several
//! users, whose files need git's permissions.

use std::io;
use std::time::Duration;

use gix::bstr::ByteSlice;
use gix::refs::transaction::{LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::objects::named;
use super::repo::RefStorage;
use super::turn::Turn;
use super::write::{Refusal, sync, system_error};
use super::{CommandError, Identity, ObjectError, Repo, WriteError};
use crate::model::ObjectName;

/// What a ref must be for an update to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It must not exist.
    Absent,
    /// It must name this object.
    Is(ObjectName),
}

impl From<Option<ObjectName>> for Expected {
    fn from(seen: Option<ObjectName>) -> Self {
        seen.map_or(Self::Absent, Self::Is)
    }
}

/// What the reflog says of an update: who, when, and why on one line.
#[derive(Debug, Clone, Copy)]
pub struct Reflog<'a> {
    /// Who.
    pub identity: &'a Identity,
    /// When, in seconds since the epoch.
    pub seconds: i64,
    /// Minutes east of UTC.
    pub offset_minutes: i16,
    /// Why, on one line.
    pub message: &'a str,
    /// What the move must survive.
    pub durability: Durability,
}

/// What a move of a ref must survive once it has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A power cut: the ref is synced with the disk.
    PowerCut,
    /// The end of the process. Enough for what can be made again.
    Process,
}

/// Why a ref could not be read or moved.
#[derive(Debug, thiserror::Error)]
pub enum RefError {
    /// It does not stand where the caller saw it: read again, decide again.
    #[error("the ref {0} was moved by somebody else")]
    Moved(String),
    /// Somebody holds its lock, longer than git's own time-out.
    #[error("the ref {name} is locked by another process")]
    Locked {
        /// The ref.
        name: String,
        /// What gix or git says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A `reference-transaction` hook refused.
    #[error("a reference-transaction hook refused to move {name}: {}", crate::model::visible_line(stderr.trim()))]
    Vetoed {
        /// The ref.
        name: String,
        /// What the hook and git said.
        stderr: String,
    },
    /// The repository does not take files from this process: permissions, a read-only file system, a sandbox.
    #[error("the repository cannot be written")]
    NotWritable(#[source] io::Error),
    /// The disk, or the user's share of it, is full.
    #[error("there is no space left for the repository")]
    StorageFull(#[source] io::Error),
    /// The text cannot name a ref.
    #[error("'{}' cannot name a ref", crate::model::visible_line(.0))]
    Name(String),
    /// The object has another format than this repository.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// git was asked and gave no usable answer.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// It cannot be brought to the disk.
    #[error(transparent)]
    Sync(WriteError),
    /// Anything else.
    #[error("cannot read or write the ref {name}")]
    Git {
        /// The ref.
        name: String,
        /// What gix says.
        #[source]
        source: Box<gix::Error>,
    },
}

/// The turn of this process, which ends when this is dropped.
#[must_use = "the turn ends when this is dropped"]
pub struct TurnHeld<'r> {
    repo: &'r Repo,
}

impl Drop for TurnHeld<'_> {
    fn drop(&mut self) {
        self.repo.turn.borrow_mut().take();
    }
}

fn busy(name: &str, source: io::Error) -> RefError {
    RefError::Locked { name: name.into(), source: source.into() }
}

/// How deep a chain of symbolic refs may be, as in git.
const MAX_SYMBOLIC_DEPTH: usize = 5;

/// One step of resolving a ref.
enum Step {
    Object(ObjectName),
    Symbolic(String),
}

impl Repo {
    /// The object that a full ref name (or `HEAD`) leads to; `None` when there is no such ref.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_ref(&self, name: &str) -> Result<Option<ObjectName>, RefError> {
        if self.storage == RefStorage::GitOnly {
            return self.read_ref_with_git(name);
        }
        let mut name = name.to_owned();
        for _ in 0..=MAX_SYMBOLIC_DEPTH {
            match self.step(&name)? {
                Some(Step::Object(object)) => return Ok(Some(object)),
                Some(Step::Symbolic(next)) => name = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The ref that a symbolic ref (such as `HEAD`) names; `None` when it is not symbolic or does not exist.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_symbolic(&self, name: &str) -> Result<Option<String>, RefError> {
        if self.storage == RefStorage::GitOnly {
            let out = self.command("symbolic-ref").args(["-q", name]).output()?;
            return Ok((out.code == Some(0)).then(|| String::from_utf8_lossy(&out.stdout).trim_end().to_owned()));
        }
        Ok(match self.step(name)? {
            Some(Step::Symbolic(target)) => Some(target),
            Some(Step::Object(_)) | None => None,
        })
    }

    /// Every ref below a prefix such as `refs/handoffs-remote/`, by name. Symbolic refs are left out.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn refs_under(&self, prefix: &str) -> Result<Vec<(String, ObjectName)>, RefError> {
        let mut found = match self.storage {
            RefStorage::GitOnly => self.refs_under_with_git(prefix)?,
            RefStorage::Files => self.refs_under_with_gix(prefix)?,
        };
        found.retain(|(name, _)| name.starts_with(prefix));
        found.sort();
        Ok(found)
    }

    /// Where a ref stood before, the newest first, as far as its reflog tells and is kept in a file.
    pub fn reflog_of(&self, name: &str) -> Vec<ObjectName> {
        let text = std::fs::read_to_string(self.common_dir().join("logs").join(name)).unwrap_or_default();
        let entry = |line: &str| {
            let mut names = line.split(' ');
            let (old, new) = (names.next()?, names.next()?);
            Some([new.parse().ok()?, old.parse().ok()?])
        };
        let mut tips: Vec<ObjectName> = text.lines().rev().filter_map(entry).flatten().collect();
        tips.dedup();
        tips
    }

    /// Moves a ref to `new` if it is what `expected` says, and keeps a reflog. Once this returns the ref survives what
    /// `reflog` says; the caller has made the objects durable before.
    ///
    /// # Errors
    /// [`RefError::Moved`] when it is not; else see [`RefError`].
    pub fn compare_and_swap(
        &self,
        name: &str,
        expected: Expected,
        new: &ObjectName,
        reflog: &Reflog<'_>,
    ) -> Result<(), RefError> {
        let full = full_name(name)?;
        self.object_id(new)?;
        if self.git_must_move_refs() {
            return self.swap_with_git(name, expected, new, reflog);
        }
        let _own = if self.turn.borrow().is_none() { Some(self.take_turn(name)?) } else { None };
        let note = |new: Option<&ObjectName>| match self.turn.borrow_mut().as_mut() {
            Some(turn) => turn.note(name, new).map_err(|source| busy(name, source)),
            None => Ok(()),
        };
        note(Some(new))?;
        let swapped = self.swap_with_gix(full, expected, new, reflog);
        note(None)?;
        swapped
    }

    /// Waits until no other process of ours moves a ref. Whoever takes the turn before deciding what to write does not
    /// write in vain. Held until the answer is dropped; where git itself moves the refs there are no turns.
    ///
    /// # Errors
    /// [`RefError::Locked`] when others keep it too long.
    pub fn take_turn(&self, name: &str) -> Result<TurnHeld<'_>, RefError> {
        if !self.git_must_move_refs() {
            let taken = Turn::take(&self.shared_state_dir(), self.common_dir());
            *self.turn.borrow_mut() = taken.map_err(|source| busy(name, source))?;
        }
        Ok(TurnHeld { repo: self })
    }

    /// Reads the loose file before `packed-refs`, as git does: `git pack-refs` writes the one before it removes the
    /// other, so that in this order a ref cannot be missed. gix's own lookup has the order the other way round.
    fn step(&self, name: &str) -> Result<Option<Step>, RefError> {
        let full = full_name(name)?;
        let failed = |source| RefError::Git { name: name.into(), source: Box::new(source) };
        let loose = self.gix.refs.try_find_loose(&full).map_err(failed)?;
        if let Some(loose) = loose.filter(|found| found.name == full) {
            return Ok(Some(match loose.target {
                Target::Object(id) => Step::Object(named(id)),
                Target::Symbolic(target) => Step::Symbolic(target.as_bstr().to_str_lossy().into_owned()),
            }));
        }
        let Some(packed) = self.gix.refs.open_packed_buffer().map_err(failed)? else { return Ok(None) };
        let found = packed.try_find(&full).map_err(failed)?.filter(|found| found.name == full.as_ref());
        Ok(found.map(|found| Step::Object(named(found.target()))))
    }

    fn refs_under_with_gix(&self, prefix: &str) -> Result<Vec<(String, ObjectName)>, RefError> {
        let failed = |source| RefError::Git { name: prefix.into(), source: Box::new(source) };
        let platform = self.gix.references().map_err(failed)?;
        let mut found = Vec::new();
        for reference in platform.prefixed(prefix).map_err(failed)? {
            let reference = reference.map_err(failed)?;
            if let Some(id) = reference.try_id() {
                found.push((reference.name().as_bstr().to_str_lossy().into_owned(), named(id.detach())));
            }
        }
        Ok(found)
    }

    fn swap_with_gix(
        &self,
        full: FullName,
        expected: Expected,
        new: &ObjectName,
        reflog: &Reflog<'_>,
    ) -> Result<(), RefError> {
        let name = full.as_bstr().to_str_lossy().into_owned();
        let previous = match expected {
            Expected::Absent => PreviousValue::MustNotExist,
            Expected::Is(old) => PreviousValue::MustExistAndMatch(Target::Object(self.object_id(&old)?)),
        };
        let log = LogChange {
            mode: RefLog::AndReference,
            force_create_reflog: true,
            message: reflog.message.replace(['\n', '\r'], " ").into(),
        };
        let edit = RefEdit::update_with_log(full, self.object_id(new)?, previous, log);
        let (for_ref, for_packed) = self.lock_patience();
        let prepared =
            self.gix.refs.transaction().prepare([edit], for_ref, for_packed).map_err(|e| explained(&name, e))?;
        // gix compared with a copy of `packed-refs` that it had read before it took the lock. Now that we hold the
        // lock the value cannot change, and what we read is what it is.
        if Expected::from(self.read_ref(&name)?) != expected {
            return Err(RefError::Moved(name));
        }
        let path = self.common_dir().join(&name);
        let durable = reflog.durability == Durability::PowerCut;
        if durable {
            sync(&path.with_file_name(lock_name(&name))).map_err(RefError::from)?;
        }
        let signature = reflog.identity.signature(reflog.seconds, reflog.offset_minutes);
        let mut time = gix::date::parse::TimeBuf::default();
        prepared.commit(signature.to_ref(&mut time)).map_err(|e| explained(&name, e))?;
        path.parent().filter(|_| durable).map_or(Ok(()), sync).map_err(RefError::from)
    }

    /// How long to wait for a held lock: `core.filesRefLockTimeout` and `core.packedRefsTimeout`, as in git.
    fn lock_patience(&self) -> (gix::lock::acquire::Fail, gix::lock::acquire::Fail) {
        let patience = |key, default| {
            let millis = self.gix.config_snapshot().integer(key).unwrap_or(default);
            // git waits without end for a negative value; no process of ours does.
            let millis = u64::try_from(millis).unwrap_or(60_000);
            gix::lock::acquire::Fail::from(Duration::from_millis(millis))
        };
        (patience("core.filesRefLockTimeout", 100), patience("core.packedRefsTimeout", 1000))
    }
}

/// Waits before another attempt: longer each time up to `most`, by a random part so that rivals do not meet again.
pub(crate) fn pause(attempt: u32, most: Duration) {
    let ceiling = Duration::from_millis(1 << attempt.min(16)).min(most);
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), attempt);
    std::thread::sleep(ceiling.mul_f64(0.5 + 0.5 * (random as f64 / u64::MAX as f64)));
}

/// Whether git takes this text as the name of a branch.
pub fn is_branch_name(name: &str) -> bool {
    !name.starts_with('-') && full_name(&format!("refs/heads/{name}")).is_ok()
}

fn lock_name(name: &str) -> String {
    format!("{}.lock", name.rsplit('/').next().unwrap_or(name))
}

fn full_name(name: &str) -> Result<FullName, RefError> {
    FullName::try_from(name).map_err(|_| RefError::Name(name.into()))
}

impl From<WriteError> for RefError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::NotWritable(source) => Self::NotWritable(source),
            WriteError::StorageFull(source) => Self::StorageFull(source),
            WriteError::Object(source) => Self::Object(source),
            other @ (WriteError::Git(_) | WriteError::Sync { .. } | WriteError::Signing(_)) => Self::Sync(other),
        }
    }
}

/// Sorts gix's one error type into ours.
fn explained(name: &str, error: gix::Error) -> RefError {
    let name = name.to_owned();
    let system = system_error(&error);
    match (system.as_ref().and_then(Refusal::of), system) {
        (Some(Refusal::NotWritable), Some(source)) => RefError::NotWritable(source),
        (Some(Refusal::Full), Some(source)) => RefError::StorageFull(source),
        (Some(_), None) | (None, _) if error.is_conflict() => RefError::Moved(name),
        (Some(_), None) | (None, _) if error.can_retry() => RefError::Locked { name, source: Box::new(error) },
        (Some(_), None) | (None, _) if error.is_not_found() => RefError::Moved(name),
        (Some(_), None) | (None, _) => RefError::Git { name, source: Box::new(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    const NAME: &str = "refs/handoffs/log";

    fn log<'a>(identity: &'a Identity, message: &'a str) -> Reflog<'a> {
        Reflog { identity, seconds: 1_787_061_899, offset_minutes: 180, message, durability: Durability::PowerCut }
    }

    /// Every form of repository in which refs are moved in another way.
    fn repositories() -> Vec<Fixture> {
        let hook = Fixture::new();
        install_hook(&hook, "exit 0");
        let shared = Fixture::with(&["--shared=group"]);
        let forms: [&[&str]; 4] = [&[], &["--object-format=sha256"], &["--ref-format=reftable"], &["--bare"]];
        forms.into_iter().map(Fixture::with).chain([hook, shared]).collect()
    }

    fn install_hook(fixture: &Fixture, body: &str) {
        let path = fixture.top().join(".git/hooks/reference-transaction");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the hook can be written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
    }

    fn commit(repo: &Repo, parents: &[ObjectName], message: &str) -> ObjectName {
        let (writer, identity) = (repo.writer(), Identity::new("A", "a@b"));
        let tree = writer.tree(&[]).expect("it can be written");
        let new = super::super::NewCommit {
            tree,
            parents,
            identity: &identity,
            seconds: 1_787_061_899,
            offset_minutes: 0,
            message,
        };
        let name = writer.commit(&new).expect("it can be written");
        writer.make_durable().expect("it can be synced");
        name
    }

    #[test]
    fn a_ref_moves_only_from_where_it_was_seen_and_keeps_a_reflog() {
        for fixture in repositories() {
            let repo = fixture.repo();
            let identity = Identity::new("A", "a@b");
            let (one, two) = (commit(&repo, &[], "one"), commit(&repo, &[], "two"));
            let swap = |expected, new| repo.compare_and_swap(NAME, expected, new, &log(&identity, "a\nb"));
            assert_eq!(repo.read_ref(NAME).expect("readable"), None);
            assert!(matches!(swap(Expected::Is(one), &two), Err(RefError::Moved(_))));
            swap(Expected::Absent, &one).expect("it is absent");
            assert!(matches!(swap(Expected::Absent, &two), Err(RefError::Moved(_))));
            swap(Expected::Is(one), &two).expect("it is there");
            assert!(matches!(swap(Expected::Is(one), &two), Err(RefError::Moved(_))));
            assert_eq!(repo.read_ref(NAME).expect("readable"), Some(two));
            assert_eq!(fixture.name(NAME), two);
            assert_eq!(repo.refs_under("refs/handoffs/").expect("readable"), [(NAME.to_owned(), two)]);
            assert_eq!(fixture.git(&["reflog", "show", "--format=%gs|%gn", NAME]), "a b|A\na b|A");
        }
    }

    #[test]
    fn a_packed_ref_moves_too() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let identity = Identity::new("A", "a@b");
        let (one, two) = (commit(&repo, &[], "one"), commit(&repo, &[], "two"));
        repo.compare_and_swap(NAME, Expected::Absent, &one, &log(&identity, "x")).expect("it is absent");
        fixture.git(&["pack-refs", "--all"]);
        assert_eq!(repo.read_ref(NAME).expect("readable"), Some(one));
        repo.compare_and_swap(NAME, Expected::Is(one), &two, &log(&identity, "x")).expect("it is there");
        assert_eq!(fixture.name(NAME), two);
    }

    #[test]
    fn a_hook_sees_every_move_and_its_veto_stands() {
        let fixture = Fixture::new();
        install_hook(&fixture, "test \"$1\" != prepared || { cat >&2; echo 'not on Fridays' >&2; exit 1; }");
        let repo = fixture.repo();
        let one = commit(&repo, &[], "one");
        let identity = Identity::new("A", "a@b");
        let error = repo.compare_and_swap(NAME, Expected::Absent, &one, &log(&identity, "x")).expect_err("vetoed");
        assert!(
            matches!(&error, RefError::Vetoed { stderr, .. }
            if stderr.contains("not on Fridays") && stderr.contains(NAME)),
            "{error}"
        );
        assert_eq!(repo.read_ref(NAME).expect("readable"), None);
    }

    #[test]
    fn a_held_lock_is_told_apart() {
        for form in [&[][..], &["--shared=group"]] {
            let fixture = Fixture::with(form);
            let repo = fixture.repo();
            let one = commit(&repo, &[], "one");
            fixture.write(".git/refs/handoffs/log.lock", "");
            let identity = Identity::new("A", "a@b");
            let error = repo.compare_and_swap(NAME, Expected::Absent, &one, &log(&identity, "x"));
            assert!(matches!(error, Err(RefError::Locked { .. })), "{error:?}");
        }
    }

    #[test]
    fn a_name_that_git_would_refuse_is_refused() {
        let repo = Fixture::new().repo();
        for name in ["", "refs/a..b", "refs/a b", "refs/a.lock", "-x"] {
            assert!(matches!(repo.read_ref(name), Err(RefError::Name(_))), "{name}");
        }
    }
}
