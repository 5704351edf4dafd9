//! `git handoff doctor`: what is not as it should be here, and the command that mends it.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::super::drafts::Drafts;
use super::super::error::{Code, Failure};
use super::super::session::Session;
use super::super::unrecorded::Claim;
use crate::git::{Direction, Identity};
use crate::log::{NOTES_REF, REF};
use crate::model::{Anomaly, visible_line};
use crate::ui::{Page, Report, Tone, Ui};
use crate::views::cache::Index;
use crate::views::files::{Finding as View, Layout, Look};

/// How far ahead of this machine's clock another one's may be before it is worth a word, in milliseconds.
const TOLERATED_CLOCK: i64 = 5 * 60 * 1000;

/// Variables that a sandbox sets in which git's directory may be out of reach.
const SANDBOXES: [&str; 3] = ["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "SANDBOX_RUNTIME"];

/// Runs the command.
///
/// # Errors
/// `PROBLEMS_FOUND` when there is one; what is merely worth knowing is no error.
pub(in crate::cli) fn run(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut checkup = Checkup::default();
    refspecs(session, &mut checkup);
    programs(session, &mut checkup);
    repository(session, &mut checkup);
    surroundings(session, &mut checkup);
    log(session, &mut checkup)?;
    let index = session.index_with(Look::Thorough)?;
    waiting(session, &mut checkup)?;
    clock(session, &index, &mut checkup)?;
    files(session, &mut checkup, ui);
    ui.answer(&checkup)?;
    match checkup.0.iter().filter(|finding| finding.severity == Severity::Problem).count() {
        0 => Ok(()),
        1 => Err(Failure::new(Code::ProblemsFound, "a problem was found")),
        count => Err(Failure::new(Code::ProblemsFound, format!("{count} problems were found"))),
    }
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    /// Something should be mended.
    Problem,
    /// Worth knowing.
    Info,
}

struct Finding {
    code: &'static str,
    severity: Severity,
    text: String,
    fix: Option<String>,
}

#[derive(Default)]
struct Checkup(Vec<Finding>);

impl Checkup {
    fn problem(&mut self, code: &'static str, text: impl Into<String>, fix: impl Into<String>) {
        let (severity, fix) = (Severity::Problem, Some(fix.into()));
        self.0.push(Finding { code, severity, text: text.into(), fix });
    }

    fn info(&mut self, code: &'static str, text: impl Into<String>, fix: Option<&str>) {
        let fix = fix.map(str::to_owned);
        self.0.push(Finding { code, severity: Severity::Info, text: text.into(), fix });
    }
}

/// Refspecs with which git itself would overwrite our refs.
fn refspecs(session: &Session<'_>, checkup: &mut Checkup) {
    for (remote, direction, spec) in session.repo.refspecs() {
        let Some((_, to)) = spec.strip_prefix('+').and_then(|spec| spec.split_once(':')) else { continue };
        if ![REF, NOTES_REF].iter().any(|name| covers(to, name)) {
            continue;
        }
        let (code, key, harm) = match direction {
            Direction::Fetch => ("forced-refspec", "fetch", "a plain 'git fetch' overwrites what only this clone has"),
            Direction::Push => {
                ("forced-push-refspec", "push", "a plain 'git push' overwrites what only the remote has")
            }
        };
        checkup.problem(
            code,
            format!("the {key} refspec '{spec}' of {remote} is forced on the log or the notes: {harm}"),
            format!("git config --fixed-value --unset-all remote.{remote}.{key} '{spec}'"),
        );
    }
}

/// Whether the right side of a refspec names this ref, itself or by a pattern.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => pattern == name,
    }
}

/// Whether `git handoff` runs this program.
fn programs(session: &Session<'_>, checkup: &mut Checkup) {
    let found = session.env.programs("git-handoff");
    let shown = |path: &Path| path.display().to_string();
    match found.as_slice() {
        [] => checkup.info(
            "not-on-path",
            "no git-handoff is on the search path, so that 'git handoff' and hooks do not find it",
            Some("add the directory of this program to PATH"),
        ),
        [_] => {}
        [first, rest @ ..] => checkup.problem(
            "second-program",
            format!(
                "there is more than one git-handoff on the search path: {} runs, and not {}",
                shown(first),
                rest.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
            ),
            format!("remove {}, or change the order of PATH", shown(&rest[0])),
        ),
    }
}

fn repository(session: &Session<'_>, checkup: &mut Checkup) {
    let repo = &session.repo;
    if let Err(failure) = session.check_writable() {
        checkup.problem(
            "not-writable",
            format!("{}; handoffs go to .session-transfer/spool until it can be", failure.message()),
            format!("chmod -R u+rwX '{}', or run outside the sandbox", repo.common_dir().display()),
        );
    }
    if let Some(format) = repo.config_string("extensions.refStorage").filter(|format| format != "files") {
        checkup.info(
            "ref-storage",
            format!("refs are stored as {format}: they are moved through git, which takes longer"),
            None,
        );
    }
    if repo.has_transaction_hook() {
        checkup.info(
            "transaction-hook",
            "a reference-transaction hook sees every move of the log and may veto it",
            None,
        );
    }
    if repo.identity().email() == Identity::FALLBACK_EMAIL {
        checkup.info(
            "no-identity",
            "git has no identity for you: the log's commits are signed as git-handoff",
            Some("git config --global user.email you@example.com"),
        );
    }
}

fn surroundings(session: &Session<'_>, checkup: &mut Checkup) {
    let env = session.env;
    if env.zone_unknown {
        let zone = env.var("TZ").unwrap_or_default();
        checkup.problem(
            "zone-unknown",
            format!("TZ is '{zone}', which is no zone of this system: times are recorded in UTC"),
            "set TZ to a name below /usr/share/zoneinfo, or unset it",
        );
    }
    for name in SANDBOXES.iter().filter(|name| env.var(name).is_some()) {
        checkup.info(
            "sandbox",
            format!("{name} is set: git's directory and the network may be out of reach here"),
            None,
        );
    }
    let Some(top) = session.repo.work_dir().filter(|_| session.layout != Layout::Off) else { return };
    let lanes = session.lanes.all().into_iter().map(|lane| lane.dir);
    for dir in lanes.chain([".session-transfer".to_owned()]) {
        let real = top.join(&dir).canonicalize();
        let outside = |real: &Path| !top.canonicalize().is_ok_and(|top| real.starts_with(top));
        if let Some(real) = real.ok().filter(|real| outside(real)) {
            checkup.problem(
                "lane-outside",
                format!("{dir} leads out of the work tree, to {}: nothing is written there", real.display()),
                format!("replace the link {dir} by a directory, or set handoff.agent.<name>.dir"),
            );
        }
    }
}

/// What is wrong with the log itself.
fn log(session: &Session<'_>, checkup: &mut Checkup) -> Result<(), Failure> {
    const RECOVER: &str = "git handoff recover";
    if let Some(tip) = session.log().broken_tip()? {
        checkup.problem("log-tip", format!("the newest commit of the log, {}, cannot be read", tip.short()), RECOVER);
        return Ok(());
    }
    let own = session.own_index(session.log().tips()?.own)?;
    if let Some(tip) = session.lost_tip(&own)? {
        let text = format!("the log does not hold {} any more, the tip that was seen last here", tip.short());
        match session.repo.exists(&tip) {
            true => {
                checkup.problem("log-rewound", format!("{text}; the next command that writes joins it back"), RECOVER)
            }
            false => checkup.problem("log-lost", format!("{text}, nor does the repository"), RECOVER),
        }
    }
    for Anomaly { commit, path, kind } in own.anomalies()? {
        let commit = commit.map_or_else(|| "the spool".to_owned(), |commit| format!("commit {}", commit.short()));
        checkup.problem("log-entry", format!("in {commit} of the log, {path}: {kind}"), "git handoff verify");
    }
    Ok(())
}

/// What waits to be done.
fn waiting(session: &Session<'_>, checkup: &mut Checkup) -> Result<(), Failure> {
    let of = |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    let spooled = session.spooled()?;
    let sound: usize = spooled.iter().map(|spooled| spooled.commit.entries.len()).sum();
    if sound > 0 {
        checkup.problem("spooled", format!("{} in the spool", of(sound, "handoff")), "git handoff recover");
    }
    for bad in spooled.iter().flat_map(|spooled| &spooled.commit.anomalies) {
        checkup.problem(
            "spool-entry",
            format!("{}: {}", bad.path, bad.kind),
            format!("look at {} and remove it", bad.path),
        );
    }
    if let Some(count @ 1..) = session.shared()?.map(|shared| shared.unpublished) {
        checkup.info(
            "unpublished",
            format!("{} of the log that no remote is known to have", of(count, "entry").replace("entrys", "entries")),
            Some("git handoff sync"),
        );
    }
    match Drafts::new(&session.repo.state_dir()).count() {
        0 => {}
        count => checkup.info("drafts", of(count, "draft"), Some("git handoff create --from FILE")),
    }
    Ok(())
}

fn clock(session: &Session<'_>, index: &Index, checkup: &mut Checkup) -> Result<(), Failure> {
    let Some(newest) = index.newest_first().next().transpose()? else { return Ok(()) };
    if newest.created.millis() > session.now().millis() + TOLERATED_CLOCK {
        let summary = index.summary(newest.position)?;
        checkup.problem(
            "clock",
            format!(
                "{} ({}) was made at {}, which is still to come: this machine's clock is behind, or that one's was ahead",
                summary.session(),
                summary.id.short(),
                summary.created
            ),
            "set the clocks by the network, as with 'timedatectl set-ntp true'",
        );
    }
    Ok(())
}

/// What is not as generated in the work tree.
fn files(session: &Session<'_>, checkup: &mut Checkup, ui: &mut Ui<'_>) {
    for file in session.file_only.borrow().iter() {
        let path = &file.path;
        match file.claim {
            Claim::Sound | Claim::None => {
                checkup.problem("file-only", format!("the handoff in {path} is not in the log"), "git handoff recover");
            }
            Claim::Broken(claimed) => checkup.problem(
                "file-unverified",
                format!("{path} was edited and is not {} any more, which the log does not have", claimed.short()),
                format!("git handoff import {path}"),
            ),
        }
    }
    let Some(report) = session.rehearse_refresh(ui) else { return };
    for finding in &report.findings {
        let (code, fix) = match finding {
            View::Edited { path } => ("view-edited", format!("git handoff edit --from {path}")),
            View::Corrupt { .. } | View::Foreign { .. } | View::Skipped { .. } => {
                ("view-corrupt", "git handoff recover".into())
            }
            View::Refused { .. } => continue,
            View::FileOnly { .. } if !session.file_only.borrow().is_empty() => continue,
            View::FileOnly { .. } => {
                ("list-only", "put the files back that the list names, and run git handoff recover".into())
            }
            View::Displaced { .. } | View::Occupied { .. } | View::Renamed { .. } => {
                ("view-moved", "git handoff recover".into())
            }
            View::NotOurs { path } => ("view-not-ours", format!("move {path} away, and run git handoff recover")),
            View::Failed { .. } => ("view-unwritable", "make the file writable, and run git handoff recover".into()),
            View::Unloadable { .. } => ("body-missing", "git handoff verify".into()),
        };
        checkup.problem(code, finding.to_string(), fix);
    }
    let views_are_made = report.written > 0 && session.views_exist();
    if views_are_made {
        let count = report.written;
        let what = if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") };
        checkup.problem("views-behind", format!("{what} not as the log says"), "git handoff recover");
    }
}

impl Report for Checkup {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for Finding { code, severity, text, fix } in &self.0 {
            let word = match severity {
                Severity::Problem => page.toned(Tone::Strong, "problem"),
                Severity::Info => "info".to_owned(),
            };
            page.line(format!("{word}: {code}: {}", visible_line(text)))?;
            if let Some(fix) = fix {
                page.line(format!("  to mend: {}", visible_line(fix)))?;
            }
        }
        if self.0.is_empty() { page.line("Nothing is wrong here.") } else { Ok(()) }
    }

    fn json(&self) -> Value {
        let row = |Finding { code, severity, text, fix }: &Finding| {
            let severity = match severity {
                Severity::Problem => "problem",
                Severity::Info => "info",
            };
            json!({"code": code, "severity": severity, "text": text, "fix": fix})
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_refspec_covers_neither_log_nor_notes() {
        let refspec = crate::sync::fetch_refspec("origin");
        let (_, to) = refspec.split_once(':').expect("it has two sides");
        assert!(![REF, NOTES_REF].iter().any(|name| covers(to, name)), "{to}");
    }

    #[test]
    fn a_refspec_covers_the_refs_that_its_pattern_fits() {
        for pattern in ["refs/*", "refs/handoffs/*", "refs/handoffs/log", "refs/h*/log"] {
            assert!(covers(pattern, REF), "{pattern}");
        }
        for pattern in
            ["refs/handoffs-remote/origin/log", "refs/remotes/origin/*", "refs/heads/*", "refs/handoffs/logs"]
        {
            assert!(!covers(pattern, REF), "{pattern}");
        }
    }
}
