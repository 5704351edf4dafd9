//! Refs through git itself, for the repositories in which gix may not move or read them.

use std::io;
use std::path::PathBuf;

use super::repo::RefStorage;
use super::{CommandError, Expected, RefError, Reflog, Repo};
use crate::model::ObjectName;

impl Repo {
    /// Whether only git may move refs here.
    pub(super) fn git_must_move_refs(&self) -> bool {
        self.storage == RefStorage::GitOnly || self.is_shared() || self.has_transaction_hook()
    }

    /// Whether `core.sharedRepository` asks for permissions that gix does not give.
    fn is_shared(&self) -> bool {
        self.shared_permissions() != 0
    }

    /// `core.sharedRepository` in git's encoding; 0 when the process's umask decides.
    pub(super) fn shared_permissions(&self) -> i32 {
        let value = self.gix.config_snapshot().string("core.sharedRepository");
        let parsed =
            value.map(|value| gix::config::tree::Core::SHARED_REPOSITORY.try_into_shared_repository(Some(value)));
        parsed.and_then(Result::ok).unwrap_or(0)
    }

    /// Whether a `reference-transaction` hook wants to see every ref update: a script in the hooks directory, or
    /// (git 2.54) a command in the configuration.
    pub fn has_transaction_hook(&self) -> bool {
        const HOOK: &str = "reference-transaction";
        is_executable(&self.hooks_dir().join(HOOK))
            || self.config_of_any("hook", "event").iter().any(|event| event == HOOK)
    }

    /// Where git looks for hooks: `core.hooksPath`, relative to the directory that hooks run in, else `hooks` in the
    /// common directory.
    pub fn hooks_dir(&self) -> PathBuf {
        match self.gix.config_snapshot().trusted_path("core.hooksPath") {
            Ok(Some(path)) => self.work_dir().unwrap_or(self.git_dir()).join(path),
            Ok(None) | Err(_) => self.common_dir().join("hooks"),
        }
    }

    pub(super) fn read_ref_with_git(&self, name: &str) -> Result<Option<ObjectName>, RefError> {
        let out = self.command("rev-parse").args(["-q", "--verify", name]).output()?;
        if out.code != Some(0) {
            return Ok(None);
        }
        Ok(String::from_utf8_lossy(&out.stdout).trim().parse().ok())
    }

    pub(super) fn refs_under_with_git(&self, prefix: &str) -> Result<Vec<(String, ObjectName)>, RefError> {
        let format = "--format=%(if)%(symref)%(then)%(else)%(objectname) %(refname)%(end)";
        // for-each-ref matches whole components: without the last slash it finds the prefix itself, too.
        let out = self.command("for-each-ref").args([format, prefix.trim_end_matches('/')]).run()?;
        let text = String::from_utf8_lossy(&out);
        let line = |line: &str| {
            let (object, name) = line.split_once(' ')?;
            Some((name.to_owned(), object.parse().ok()?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    pub(super) fn swap_with_git(
        &self,
        name: &str,
        expected: Expected,
        new: &ObjectName,
        reflog: &Reflog<'_>,
    ) -> Result<(), RefError> {
        let old = match expected {
            Expected::Absent => "0".repeat(self.object_hex_len()),
            Expected::Is(old) => old.to_string(),
        };
        let message = reflog.message.replace(['\n', '\r'], " ");
        // git refuses an empty reason, which it would not write anyway.
        let reason = (!message.trim().is_empty()).then_some(["-m", &message]);
        let out = self
            .command("update-ref")
            .args(["--create-reflog", "--no-deref"])
            .args(reason.into_iter().flatten())
            .arg("--stdin")
            .env("GIT_COMMITTER_NAME", reflog.identity.name())
            .env("GIT_COMMITTER_EMAIL", reflog.identity.email())
            .env("GIT_COMMITTER_DATE", date(reflog))
            .stdin(format!("update {name} {new} {old}\n"))
            .output()?;
        if out.code == Some(0) {
            return Ok(());
        }
        let error = CommandError::Failed { verb: "update-ref", code: out.code, stderr: out.stderr.clone() };
        Err(match refusal(name, &out.stderr) {
            Some(known) => known,
            // Messages differ between versions of git; where the ref stands does not.
            None if Expected::from(self.read_ref(name)?) != expected => RefError::Moved(name.into()),
            None if out.stderr.contains("lock") => RefError::Locked { name: name.into(), source: Box::new(error) },
            None => RefError::Command(error),
        })
    }
}

/// `<seconds> <+hhmm>`, the form that git reads in any locale.
fn date(reflog: &Reflog<'_>) -> String {
    let minutes = i32::from(reflog.offset_minutes);
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("@{} {sign}{:02}{:02}", reflog.seconds.max(0), minutes.abs() / 60, minutes.abs() % 60)
}

/// What `git update-ref` says that needs no second look.
fn refusal(name: &str, stderr: &str) -> Option<RefError> {
    let says = |text: &str| stderr.contains(text);
    if says("aborted by hook") || says("reference-transaction hook") {
        return Some(RefError::Vetoed { name: name.into(), stderr: stderr.into() });
    }
    let system = |kind: io::ErrorKind| io::Error::new(kind, crate::model::visible_line(stderr.trim()).into_owned());
    if says("Permission denied") || says("Operation not permitted") {
        return Some(RefError::NotWritable(system(io::ErrorKind::PermissionDenied)));
    }
    if says("Read-only file system") {
        return Some(RefError::NotWritable(system(io::ErrorKind::ReadOnlyFilesystem)));
    }
    if says("No space left on device") || says("Disk quota exceeded") {
        return Some(RefError::StorageFull(system(io::ErrorKind::StorageFull)));
    }
    None
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &std::path::Path) -> bool {
    path.is_file()
}
