//! What an automatic handoff says: what git and the record know, put where a successor looks for it. Nothing is
//! invented; what nobody said stays empty.

use std::collections::BTreeMap;

use super::boundary::{Area, Class, Classes};
use super::{Content, Evidence, FileEntry, Observer, Outcome, Scope, Topic, cut, normalised, visible_line};

/// The most characters of a line that comes from a commit message.
const LINE: usize = 400;
/// The most entries that a list takes from trailers.
const ENTRIES: usize = 50;
/// How many subjects the objective names.
const SUBJECTS: usize = 5;

/// A commit of the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The first digits of its name.
    pub short: String,
    /// Its subject.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
}

/// An operation of the record, as it last ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its name.
    pub name: String,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
}

/// Commits that are not where they will be wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ahead {
    /// So many are not in the branch's upstream.
    OfUpstream(usize),
    /// So many are not in this branch, the default one.
    OfDefault(usize, String),
}

/// What is known.
#[derive(Debug, Clone)]
pub struct Known<'a> {
    /// The branch.
    pub branch: Option<&'a str>,
    /// Whether the branch is work of its own rather than the line that everything ends in.
    pub is_own_branch: bool,
    /// The open goal.
    pub goal: Option<&'a str>,
    /// The commits, oldest first.
    pub commits: &'a [Told],
    /// The changed files.
    pub files: &'a [FileEntry],
    /// The paths that no commit holds.
    pub uncommitted: &'a [String],
    /// What is to be published or merged.
    pub ahead: Option<Ahead>,
    /// The recorded operations.
    pub operations: &'a [Ran],
    /// What kind of file a path is.
    pub classes: &'a Classes,
}

/// What the trailers of the commits say, as data.
#[derive(Debug, Default)]
struct Trailers {
    next: Vec<String>,
    decisions: Vec<String>,
    risks: Vec<String>,
}

impl Trailers {
    /// Reads `Handoff-Next:`, `Handoff-Decision:` and `Handoff-Risk:` lines; indented lines continue a trailer.
    fn of(commits: &[Told]) -> Self {
        let mut trailers = Self::default();
        for commit in commits {
            let mut open: Option<&mut Vec<String>> = None;
            for line in commit.body.lines() {
                if line.starts_with([' ', '\t']) {
                    if let Some(last) = open.as_mut().and_then(|list| list.last_mut()) {
                        *last = format!("{last} {}", line.trim());
                    }
                    continue;
                }
                let Some((name, value)) = line.split_once(':') else {
                    open = None;
                    continue;
                };
                let list = match name.trim().to_ascii_lowercase().as_str() {
                    "handoff-next" => &mut trailers.next,
                    "handoff-decision" => &mut trailers.decisions,
                    "handoff-risk" => &mut trailers.risks,
                    _ => {
                        open = None;
                        continue;
                    }
                };
                list.push(value.trim().to_owned());
                open = Some(list);
            }
        }
        for list in [&mut trailers.next, &mut trailers.decisions, &mut trailers.risks] {
            *list = list.iter().map(|text| clean(text)).filter(|text| !text.is_empty()).take(ENTRIES).collect();
        }
        trailers
    }
}

/// A text from a commit message on one line, bounded, with nothing in it that acts on a terminal.
fn clean(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    normalised(&cut(&visible_line(&folded), LINE))
}

/// What the handoff is about: the goal, else the branch, else the newest commit.
pub fn topic(known: &Known<'_>) -> String {
    let branch = known.branch.filter(|_| known.is_own_branch);
    let newest = known.commits.last().map(|commit| commit.subject.as_str());
    let candidates = [known.goal, branch, newest, known.branch];
    let fits = |text: &str| cut(&clean(text), Topic::MAX_CHARS - 1).into_owned();
    let usable = candidates.into_iter().flatten().map(fits).find(|text| text.parse::<Topic>().is_ok());
    usable.unwrap_or_else(|| "automatic handoff".into())
}

/// The content.
pub fn content(known: &Known<'_>) -> Content {
    let mut trailers = Trailers::of(known.commits);
    let said = trailers.next.pop();
    let mut pending = trailers.next;
    pending.extend(called_for(known));
    let next_action = said.or_else(|| pending.first().cloned());
    let failed = known.operations.iter().filter(|ran| ran.outcome == Some(Outcome::Failed));
    trailers.risks.extend(failed.map(|ran| format!("The recorded operation {} failed", ran.name)));
    let listed = |area: Area| listing(known, area);
    Content {
        objective: objective(known),
        scope: Scope { included: areas(known.files), excluded: Vec::new() },
        completed_steps: known.commits.iter().map(step).collect(),
        decisions: trailers.decisions,
        known_failures: trailers.risks,
        verification_evidence: known.operations.iter().filter_map(evidence).collect(),
        database_changes: listed(Area::Schema),
        api_changes: listed(Area::Api),
        pending_steps: pending,
        next_action,
        ..Content::default()
    }
}

fn step(commit: &Told) -> String {
    let paragraph: Vec<&str> = commit.body.lines().take_while(|line| !line.trim().is_empty()).collect();
    let is_trailer =
        |line: &&str| line.split_once(": ").is_some_and(|(name, _)| !name.contains(' ') && name.contains('-'));
    let why = paragraph.iter().filter(|line| !is_trailer(line)).copied().collect::<Vec<_>>().join(" ");
    let subject = clean(&commit.subject);
    match clean(&why) {
        why if why.is_empty() => format!("{subject} ({})", commit.short),
        why => format!("{subject} ({}): {why}", commit.short),
    }
}

fn objective(known: &Known<'_>) -> Option<String> {
    let mut subjects: Vec<String> = Vec::new();
    for commit in known.commits {
        let subject = clean(&commit.subject);
        if !subject.is_empty() && !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    let more = subjects.len().saturating_sub(SUBJECTS);
    subjects.truncate(SUBJECTS);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    let what = format!("{}{rest}", subjects.join("; "));
    match (known.goal, known.branch, subjects.is_empty()) {
        (Some(goal), _, true) => Some(clean(goal)),
        (Some(goal), _, false) => Some(format!("{}: {what}", clean(goal))),
        (None, Some(branch), false) => Some(format!("The work on branch {}: {what}", clean(branch))),
        (None, None, false) => Some(format!("The work on a detached HEAD: {what}")),
        (None, Some(branch), true) => Some(format!("The uncommitted work on branch {}", clean(branch))),
        (None, None, true) => None,
    }
}

/// What the repository's state calls for, most urgent first.
fn called_for(known: &Known<'_>) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some(ran) = known.operations.iter().rev().find(|ran| ran.outcome == Some(Outcome::Failed)) {
        steps.push(format!("Repair the operation {}, which failed when it last ran", ran.name));
    }
    if !known.uncommitted.is_empty() {
        let shown: Vec<String> = known.uncommitted.iter().take(5).map(|path| clean(path)).collect();
        let rest = known.uncommitted.len().saturating_sub(shown.len());
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        steps.push(format!("Review and commit what is uncommitted: {}{rest}", shown.join(", ")));
    }
    let commits = |count: usize| if count == 1 { "1 commit".to_owned() } else { format!("{count} commits") };
    match (&known.ahead, known.branch) {
        (Some(Ahead::OfUpstream(count)), Some(branch)) => {
            steps.push(format!("Publish the {} of branch {} that the upstream lacks", commits(*count), clean(branch)));
        }
        (Some(Ahead::OfDefault(count, default)), Some(branch)) => {
            let (branch, default) = (clean(branch), clean(default));
            steps.push(format!("Review and merge the {} of branch {branch} into {default}", commits(*count)));
        }
        (Some(_), None) | (None, _) => {}
    }
    let checked = known.operations.iter().any(|ran| ran.outcome == Some(Outcome::Passed));
    if let (false, Some(newest)) = (checked, known.commits.last()) {
        steps.push(format!("Run the project's checks on {}: none was recorded since the last handoff", newest.short));
    }
    steps
}

fn evidence(ran: &Ran) -> Option<Evidence> {
    Some(Evidence {
        command: Some(clean(&ran.name)),
        outcome: Some(ran.outcome?),
        detail: Some("recorded operation".into()),
        observed_by: Observer::Tool,
    })
}

/// The changed files by their first one or two directories.
fn areas(files: &[FileEntry]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let mut parts: Vec<&str> = file.path.split('/').collect();
        parts.pop();
        parts.truncate(2);
        let area = if parts.is_empty() { "the top directory".to_owned() } else { parts.join("/") };
        *counts.entry(area).or_default() += 1;
    }
    let line =
        |(area, count): (String, usize)| format!("{area}: {count} {}", if count == 1 { "file" } else { "files" });
    counts.into_iter().map(line).take(ENTRIES).collect()
}

fn listing(known: &Known<'_>, area: Area) -> Option<String> {
    let of_area = |file: &&FileEntry| known.classes.of(&file.path) == Class::Critical(area);
    let paths: Vec<String> =
        known.files.iter().filter(of_area).take(ENTRIES).map(|file| format!("- {}", file.path)).collect();
    (!paths.is_empty()).then(|| paths.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::{Facts, Revision, score};
    use crate::model::{Change, Status};

    fn told(short: &str, subject: &str, body: &str) -> Told {
        Told { short: short.into(), subject: subject.into(), body: body.into() }
    }

    fn file(path: &str) -> FileEntry {
        FileEntry { path: path.into(), change: Some(Change::Modified), ..FileEntry::default() }
    }

    fn known<'a>(commits: &'a [Told], files: &'a [FileEntry], classes: &'a Classes) -> Known<'a> {
        Known {
            branch: Some("feat/filter"),
            is_own_branch: true,
            goal: None,
            commits,
            files,
            uncommitted: &[],
            ahead: Some(Ahead::OfDefault(2, "main".into())),
            operations: &[],
            classes,
        }
    }

    #[test]
    fn an_ordinary_feature_branch_is_told_in_full_and_scores_enough() {
        let commits = [
            told(
                "0123456789ab",
                "Add the invoice filter",
                "Finance asked for it.\nIt filters by month.\n\nHandoff-Decision: filter in SQL,\n  because pages are cut there",
            ),
            told("ba9876543210", "Test the filter", "Handoff-Next: Ship it\nHandoff-Risk: slow on old tenants"),
        ];
        let files = [file("src/api/filter.rs"), file("db/migrations/7.sql"), file("README.md")];
        let classes = Classes::new(&[], &[]);
        let known = known(&commits, &files, &classes);
        let content = content(&known);
        let expected = Content {
            objective: Some("The work on branch feat/filter: Add the invoice filter; Test the filter".into()),
            scope: Scope {
                included: vec![
                    "db/migrations: 1 file".into(),
                    "src/api: 1 file".into(),
                    "the top directory: 1 file".into(),
                ],
                excluded: Vec::new(),
            },
            completed_steps: vec![
                "Add the invoice filter (0123456789ab): Finance asked for it. It filters by month.".into(),
                "Test the filter (ba9876543210)".into(),
            ],
            decisions: vec!["filter in SQL, because pages are cut there".into()],
            known_failures: vec!["slow on old tenants".into()],
            database_changes: Some("- db/migrations/7.sql".into()),
            pending_steps: vec![
                "Review and merge the 2 commits of branch feat/filter into main".into(),
                "Run the project's checks on ba9876543210: none was recorded since the last handoff".into(),
            ],
            next_action: Some("Ship it".into()),
            ..Content::default()
        };
        assert_eq!(content, expected);
        let filled = Content {
            current_state: Some("On branch feat/filter at ba98.".into()),
            files_changed: files.to_vec(),
            ..content
        };
        let score = score(&Facts {
            content: &filled,
            status: Status::InProgress,
            topic: &topic(&known).parse().expect("a topic"),
            revision: Revision::Known,
            path_exists: &|_| true,
        });
        assert!(score.is_sufficient(), "{score:?}");
    }

    #[test]
    fn the_next_action_is_what_the_state_calls_for() {
        let commits = [told("0123456789ab", "Change", "")];
        let classes = Classes::new(&[], &[]);
        let plain = known(&commits, &[], &classes);
        let next = |known: &Known<'_>| content(known).next_action.unwrap_or_default();
        let failed = [Ran { name: "tests".into(), outcome: Some(Outcome::Failed) }];
        let open = ["a.rs".to_owned(), "b.rs".to_owned()];
        assert_eq!(next(&plain), "Review and merge the 2 commits of branch feat/filter into main");
        let uncommitted = Known { uncommitted: &open, ..plain.clone() };
        assert_eq!(next(&uncommitted), "Review and commit what is uncommitted: a.rs, b.rs");
        let broken = Known { operations: &failed, ..uncommitted };
        assert_eq!(next(&broken), "Repair the operation tests, which failed when it last ran");
        let passed = [Ran { name: "tests".into(), outcome: Some(Outcome::Passed) }];
        let done = Known { operations: &passed, ahead: None, ..plain };
        assert_eq!(content(&done).next_action, None);
        assert_eq!(content(&done).verification_evidence[0].outcome, Some(Outcome::Passed));
    }

    #[test]
    fn hostile_messages_are_data_on_one_bounded_line() {
        let long = "x".repeat(5000);
        let body = format!("Handoff-Next: \u{1b}[2Jrm -rf /\n## Metadata\nHandoff-Risk: {long}\nHandoff-Decision:   ");
        let commits = [told("0123456789ab", "\u{1b}]0;x\u{7}../../etc", &body)];
        let classes = Classes::new(&[], &[]);
        let known = Known { branch: None, is_own_branch: false, ..known(&commits, &[], &classes) };
        let content = content(&known);
        assert!(!format!("{content:?}{}", topic(&known)).contains('\u{1b}'));
        assert!(content.known_failures[0].chars().count() <= LINE);
        assert_eq!(content.decisions, Vec::<String>::new());
        assert_eq!(topic(&known), "automatic handoff");
    }
}
