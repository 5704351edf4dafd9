//! The network, through the user's own git: with their credentials, ssh and proxies. Nothing here ever asks a question,
//! and everything ends by a deadline.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::{Command, CommandError, Output, RefError, Repo};
use crate::model::{ObjectName, visible_line};

/// The variable that tells our hooks that we ourselves started git.
pub const GUARD: &str = "GIT_HANDOFF_HOOK";

/// How remotes are called.
#[derive(Debug, Clone)]
pub struct Dialling {
    /// The ssh command that the user has set, or `ssh`; `None` to leave it all to git.
    pub ssh: Option<String>,
    /// How long everything together may take.
    pub patience: Duration,
}

/// Why a remote gave nothing or took nothing.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It cannot be reached, or it cannot be used at all.
    #[error("the remote '{remote}' cannot be reached: {why}")]
    Unreachable {
        /// The remote's name.
        remote: String,
        /// git's sentence, without credentials.
        why: String,
    },
    /// It wants a password or a key, and nobody is asked.
    #[error("the remote '{remote}' asks for credentials that git does not have: {why}")]
    NeedsCredentials {
        /// The remote's name.
        remote: String,
        /// git's sentence, without credentials.
        why: String,
    },
    /// It took longer than the deadline.
    #[error("the remote '{remote}' did not answer within {} s", after.as_secs())]
    TimedOut {
        /// The remote's name.
        remote: String,
        /// The deadline.
        after: Duration,
    },
    /// git could not be run.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A ref that stands for the remote cannot be read or moved.
    #[error(transparent)]
    Ref(#[from] RefError),
}

/// A ref of the remote and the ref that stands for it here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// Its name there.
    pub theirs: String,
    /// Its name here.
    pub ours: String,
}

/// What the remote did with a ref that it was offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It has it now.
    Taken,
    /// It had it already.
    Current,
    /// Somebody else has moved it: fetch, join and offer again.
    Moved,
    /// It does not want it; the reason as it gave it.
    Refused(String),
}

/// A configured remote. Its deadline is for the time that all calls take together.
#[derive(Debug)]
pub struct Remote<'r> {
    repo: &'r Repo,
    name: String,
    ssh: Option<String>,
    patience: Duration,
    /// How much of it the network has taken. What this process does between two calls does not count.
    spent: Cell<Duration>,
}

impl Repo {
    /// The remote with this name; `None` when none is configured.
    pub fn remote(&self, name: &str, dialling: &Dialling) -> Option<Remote<'_>> {
        let known = self.remotes().iter().any(|remote| remote == name) && !name.starts_with('-');
        known.then(|| Remote {
            repo: self,
            name: name.to_owned(),
            ssh: dialling.ssh.as_deref().and_then(batch_mode),
            patience: dialling.patience,
            spent: Cell::default(),
        })
    }

    /// Adds a fetch refspec to a remote, unless it is there; whether it was added.
    ///
    /// # Errors
    /// When the configuration cannot be written.
    pub fn add_fetch_refspec(&self, remote: &str, refspec: &str) -> Result<bool, CommandError> {
        let key = format!("remote.{remote}.fetch");
        let present = self.command("config").args(["--get-all", &key]).output()?;
        if String::from_utf8_lossy(&present.stdout).lines().any(|line| line == refspec) {
            return Ok(false);
        }
        self.command("config").args(["--add", &key, refspec]).run()?;
        Ok(true)
    }
}

/// A plain ssh that never asks. What is not plain ssh is left as it is: its options are unknown.
fn batch_mode(command: &str) -> Option<String> {
    let program = command.split_whitespace().next()?;
    let name = program.rsplit(['/', '\\']).next()?;
    matches!(name, "ssh" | "ssh.exe").then(|| format!("{command} -oBatchMode=yes"))
}

impl Remote<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long everything together may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// How much time is left.
    pub fn time_left(&self) -> Duration {
        self.patience.saturating_sub(self.spent.get())
    }

    /// Brings these refs and says where they stand there, in the same order; `None` for one that it does not have. Only
    /// the refs named here move, whatever the configuration says.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub fn fetch(&self, refs: &[Tracked]) -> Result<Vec<Option<ObjectName>>, RemoteError> {
        let mut missing: Vec<&str> = Vec::new();
        loop {
            let wanted: Vec<&Tracked> = refs.iter().filter(|tracked| !missing.contains(&&*tracked.theirs)).collect();
            if wanted.is_empty() {
                break;
            }
            let output = self.call(self.fetch_command(&wanted))?;
            if output.code == Some(0) {
                break;
            }
            // git stops at the first ref that the remote does not have.
            match wanted.iter().find(|tracked| lacks(&output.stderr, &tracked.theirs)) {
                Some(tracked) => missing.push(&tracked.theirs),
                None => return Err(self.failed(&output)),
            }
        }
        let stands = |tracked: &Tracked| match self.repo.read_ref(&tracked.ours)? {
            Some(stale) if missing.contains(&&*tracked.theirs) => {
                self.repo.command("update-ref").args(["-d", &tracked.ours, &stale.to_string()]).run()?;
                Ok(None)
            }
            found => Ok(found),
        };
        refs.iter().map(stands).collect()
    }

    fn fetch_command(&self, wanted: &[&Tracked]) -> Command {
        let options = [
            "--quiet",
            "--refmap=",
            "--no-tags",
            "--no-prune",
            "--no-prune-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            // In a partial clone the events would stay behind.
            "--no-filter",
            "--end-of-options",
        ];
        let refspecs = wanted.iter().map(|tracked| format!("+{}:{}", tracked.theirs, tracked.ours));
        self.command("fetch")
            .config("maintenance.auto=false")
            .config("gc.auto=0")
            .config("fetch.writeCommitGraph=false")
            .args(options)
            .arg(&self.name)
            .args(refspecs)
    }

    /// Where refs that match these names stand there, without bringing anything.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub fn look(&self, names: &[&str]) -> Result<Vec<Option<ObjectName>>, RemoteError> {
        let command = self.command("ls-remote").args(["--quiet", "--refs", "--end-of-options"]).arg(&self.name);
        let output = self.call(command.args(names.iter().copied()))?;
        if output.code != Some(0) {
            return Err(self.failed(&output));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stands = |name: &str| {
            text.lines().find_map(|line| line.split_once('\t').filter(|(_, found)| *found == name)?.0.parse().ok())
        };
        Ok(names.iter().map(|name| stands(name)).collect())
    }

    /// Brings the objects of a ref there, and moves no ref here.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub fn fetch_objects(&self, theirs: &str) -> Result<(), RemoteError> {
        let nowhere = Tracked { theirs: theirs.to_owned(), ours: String::new() };
        let output = self.call(self.fetch_command(&[&nowhere]))?;
        if output.code == Some(0) { Ok(()) } else { Err(self.failed(&output)) }
    }

    /// Offers objects for refs, never by force, and says what the remote did with each, in the same order.
    ///
    /// The remote compares each ref with what it told at the beginning of the push, so that a race is lost, not won by
    /// accident. Hooks of this repository do not run: what our refs may hold is decided before.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub fn push(&self, offered: &[(ObjectName, &str)]) -> Result<Vec<Verdict>, RemoteError> {
        let refspecs = offered.iter().map(|(object, name)| format!("{object}:{name}"));
        let options = [
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--no-signed",
            "--end-of-options",
        ];
        let command = self
            .command("push")
            .config("push.pushOption=")
            .config(&format!("remote.{}.mirror=false", self.name))
            .args(options)
            .arg(&self.name)
            .args(refspecs);
        let output = self.call(command)?;
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let verdicts: Option<Vec<Verdict>> =
            offered.iter().map(|(_, name)| report.lines().find_map(|line| verdict(line, name, &output))).collect();
        match verdicts {
            Some(verdicts) => Ok(verdicts),
            None => Err(self.failed(&output)),
        }
    }

    fn command(&self, verb: &'static str) -> Command {
        let command = self
            .repo
            .command(verb)
            .env(GUARD, "1")
            .env("GCM_INTERACTIVE", "never")
            .env("SSH_ASKPASS", "")
            .env("SSH_ASKPASS_REQUIRE", "never")
            .deadline(self.time_left());
        match &self.ssh {
            Some(ssh) => command.env("GIT_SSH_COMMAND", ssh),
            None => command,
        }
    }

    fn call(&self, command: Command) -> Result<Output, RemoteError> {
        let begin = Instant::now();
        let output = command.output();
        self.spent.set(self.spent.get() + begin.elapsed());
        output.map_err(|error| match error {
            CommandError::TimedOut { .. } => RemoteError::TimedOut { remote: self.name.clone(), after: self.patience },
            other @ (CommandError::NotStarted { .. }
            | CommandError::Failed { .. }
            | CommandError::Unreadable { .. }) => RemoteError::Command(other),
        })
    }

    fn failed(&self, output: &Output) -> RemoteError {
        let (remote, why) = (self.name.clone(), sentence(&output.stderr));
        let asks =
            ["could not read Username", "could not read Password", "Permission denied (", "Authentication failed"];
        if asks.iter().any(|text| output.stderr.contains(text)) {
            RemoteError::NeedsCredentials { remote, why }
        } else {
            RemoteError::Unreachable { remote, why }
        }
    }
}

/// Whether git says that the remote does not have this ref.
fn lacks(stderr: &str, name: &str) -> bool {
    stderr.lines().any(|line| line.strip_suffix(name).is_some_and(|rest| rest.ends_with("couldn't find remote ref ")))
}

/// What a line of `git push --porcelain` says of a ref, if it speaks of it.
fn verdict(line: &str, name: &str, output: &Output) -> Option<Verdict> {
    let mut parts = line.splitn(3, '\t');
    let (flag, refs, summary) = (parts.next()?, parts.next()?, parts.next()?);
    if refs.rsplit_once(':')?.1 != name {
        return None;
    }
    Some(match flag {
        "=" => Verdict::Current,
        "!" => refusal(summary, &output.stderr),
        _ => Verdict::Taken,
    })
}

fn refusal(summary: &str, stderr: &str) -> Verdict {
    let reason = summary.split_once('(').map_or(summary, |(_, rest)| rest.trim_end_matches(')'));
    let races = ["incorrect old value", "failed to update ref", "cannot lock ref", "failed to lock", "fetch first"];
    if summary.starts_with("[rejected]") || races.iter().any(|race| reason.contains(race)) {
        return Verdict::Moved;
    }
    let cause = stderr.lines().find_map(|line| line.strip_prefix("error: remote unpack failed: "));
    Verdict::Refused(safe(cause.filter(|_| reason.contains("unpacker error")).unwrap_or(reason)))
}

/// The sentence of git's talk that says what is wrong.
fn sentence(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let general = |line: &&&str| line.contains("Could not read from remote repository") || line.starts_with("hint:");
    let blames = |line: &&&str| ["fatal: ", "error: "].iter().any(|word| line.starts_with(word));
    let specific = lines.iter().filter(|line| !general(line)).find(blames);
    // ssh and the like speak before git sums up.
    let line = specific.or_else(|| lines.iter().find(|line| !general(line))).or(lines.first());
    let line = line.copied().unwrap_or("git gave no reason");
    let bare = ["fatal: ", "error: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    safe(bare)
}

fn safe(text: &str) -> String {
    visible_line(&without_credentials(text)).into_owned()
}

/// The text with the user information of every URL taken out.
pub fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let authority = after.find(|c: char| c == '/' || c == '\'' || c == '"' || c.is_whitespace());
        let authority = &after[..authority.unwrap_or(after.len())];
        rest = &after[authority.rfind('@').map_or(0, |at| at + 1)..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    const LOG: &str = "refs/handoffs/log";

    fn dialling() -> Dialling {
        Dialling { ssh: None, patience: Duration::from_secs(60) }
    }

    fn tracked(theirs: &str) -> Tracked {
        Tracked { theirs: theirs.into(), ours: theirs.replace("refs/", "refs/theirs/") }
    }

    /// A repository with a commit and the bare remote `origin`.
    fn with_remote() -> Fixture {
        let fixture = Fixture::new();
        fixture.commit("one");
        fixture.git(&["init", "-q", "--bare", "../remote.git"]);
        fixture.git(&["remote", "add", "origin", "../remote.git"]);
        fixture
    }

    fn hook(fixture: &Fixture, name: &str, body: &str) {
        let path = fixture.outside().join("remote.git/hooks").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the hook can be written");
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
    }

    #[test]
    fn what_the_remote_does_not_have_is_no_error_and_its_trace_goes() {
        let fixture = with_remote();
        fixture.git(&["push", "-q", "origin", "HEAD:refs/notes/handoffs"]);
        let (log, notes) = (tracked(LOG), tracked("refs/notes/handoffs"));
        fixture.git(&["update-ref", &log.ours, "HEAD"]);
        let repo = fixture.repo();
        let remote = repo.remote("origin", &dialling()).expect("it is configured");
        let found = remote.fetch(&[log.clone(), notes.clone()]).expect("it answers");
        assert_eq!(found, [None, Some(fixture.name("HEAD"))]);
        assert_eq!(fixture.git(&["for-each-ref", "--format=%(refname)", "refs/theirs"]), notes.ours);
        assert_eq!(remote.look(&[LOG, "refs/notes/handoffs"]).expect("it answers"), found);
        assert!(repo.remote("nowhere", &dialling()).is_none());
    }

    #[test]
    fn each_ref_has_its_own_verdict() {
        let fixture = with_remote();
        hook(&fixture, "update", "case $1 in refs/notes/*) exit 1;; esac");
        let (one, two) = (fixture.name("HEAD"), fixture.commit("two"));
        let repo = fixture.repo();
        let remote = repo.remote("origin", &dialling()).expect("it is configured");
        let push = |refs: &[(ObjectName, &str)]| remote.push(refs).expect("it answers");
        let refused = Verdict::Refused("hook declined".into());
        assert_eq!(push(&[(two, LOG), (two, "refs/notes/x")]), [Verdict::Taken, refused]);
        assert_eq!(push(&[(two, LOG)]), [Verdict::Current]);
        assert_eq!(push(&[(one, LOG), (one, "refs/x/y")]), [Verdict::Moved, Verdict::Taken]);
    }

    #[test]
    fn a_remote_that_is_not_there_is_told_in_one_sentence() {
        let fixture = with_remote();
        fixture.git(&["remote", "set-url", "origin", "../gone.git"]);
        let repo = fixture.repo();
        let remote = repo.remote("origin", &dialling()).expect("it is configured");
        let said = |error: RemoteError| error.to_string();
        let expected = "the remote 'origin' cannot be reached: '../gone.git' does not appear to be a git repository";
        assert_eq!(remote.fetch(&[tracked(LOG)]).map_err(said), Err(expected.into()));
        assert_eq!(remote.push(&[(fixture.name("HEAD"), LOG)]).map_err(said), Err(expected.into()));
    }

    #[test]
    fn a_remote_that_hangs_is_left_after_the_deadline() {
        let fixture = with_remote();
        hook(&fixture, "update", "sleep 600");
        let repo = fixture.repo();
        let hasty = Dialling { patience: Duration::from_millis(300), ..dialling() };
        let remote = repo.remote("origin", &hasty).expect("it is configured");
        assert!(matches!(remote.push(&[(fixture.name("HEAD"), LOG)]), Err(RemoteError::TimedOut { .. })));
    }

    #[test]
    fn what_git_says_is_cut_down_to_what_is_wrong() {
        let ssh = "ssh: connect to host h port 22: Connection refused\n\
                   fatal: Could not read from remote repository.\n\nPlease make sure\n";
        assert_eq!(sentence(ssh), "ssh: connect to host h port 22: Connection refused");
        let http = "remote: hello\nfatal: unable to access 'https://user:word@h/o/r.git/': refused\n";
        assert_eq!(sentence(http), "unable to access 'https://h/o/r.git/': refused");
        assert_eq!(sentence(""), "git gave no reason");
        let odd = "a https://u:p@ss@h/x@y and ssh://git@h:22 end";
        assert_eq!(without_credentials(odd), "a https://h/x@y and ssh://h:22 end");
    }

    #[test]
    fn only_a_plain_ssh_is_told_not_to_ask() {
        let modes = ["ssh", "/usr/bin/ssh -i key", "plink", ""].map(batch_mode);
        let expected = [Some("ssh -oBatchMode=yes"), Some("/usr/bin/ssh -i key -oBatchMode=yes"), None, None];
        assert_eq!(modes, expected.map(|mode| mode.map(str::to_owned)));
    }

    #[test]
    fn a_refspec_is_added_once() {
        let fixture = with_remote();
        let repo = fixture.repo();
        let add = || repo.add_fetch_refspec("origin", "+refs/a*:refs/b*").expect("the configuration is ours");
        assert_eq!([add(), add()], [true, false]);
        assert!(fixture.git(&["config", "--get-all", "remote.origin.fetch"]).ends_with("\n+refs/a*:refs/b*"));
    }
}
