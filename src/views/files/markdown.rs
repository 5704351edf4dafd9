//! The indexes that people read: `<lane>/INDEX.md` and `.session-transfer/INDEX.md`.

use std::fmt::Write as _;

use crate::model::{Lane, Lanes, Summary, cut, visible_line};

use super::Continuation;

/// How many rows a lane's table has at most.
pub(super) const LANE_ROWS: usize = 10;
/// How many rows the table over all lanes has at most.
pub(super) const ALL_ROWS: usize = 12;
/// How long a next action may be.
const NEXT_ACTION: usize = 200;
const UNKNOWN: &str = "—";

const LANE_TABLE: &str = "| Date | Session | Topic | Status | Branch |\n|---|---|---|---|---|\n";
const ALL_TABLE: &str = "| Date | Agent | Session | Topic | Status | Branch |\n|---|---|---|---|---|---|\n";
const QUEUE_TABLE: &str = "| Continuation | Topic | State | Waits on |\n|---|---|---|---|\n";

/// What an index shows: the one to go on with, and the newest ones.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) current: Option<Summary>,
    /// Newest first.
    pub(super) recent: Vec<Summary>,
}

/// The index of a lane.
pub(super) fn lane_index(lane: &Lane, listing: &Listing) -> String {
    let mut out = format!("# {} Session Index\n\n{}", lane.title, last_updated(listing));
    out += "## Current Session\n\n";
    if let Some(current) = &listing.current {
        item(&mut out, "Handoff", &format!("`handoffs/{}.md`", current.session().stem()));
        what(&mut out, current, "Next Action");
    }
    out += "\n## Recent Sessions\n\n";
    out += LANE_TABLE;
    for summary in &listing.recent {
        let [date, session, topic, status, branch] = cells(summary);
        row(&mut out, &[date, session, topic, status, branch]);
    }
    out
}

/// The index over all lanes.
pub(super) fn all_index(lanes: &Lanes, listing: &Listing, continuations: &[Continuation]) -> String {
    let mut out = format!("# Session Transfer Index\n\n{}", last_updated(listing));
    out += "## Current / Recommended\n\n";
    if let Some(current) = &listing.current {
        item(&mut out, "Handoff", &format!("`{}`", visible_line(&current.file(lanes))));
        item(&mut out, "Source agent", current.agent.as_str());
        what(&mut out, current, "Next recommended action");
    }
    out += "\n## Recent Cross-Agent Handoffs\n\n";
    out += ALL_TABLE;
    for summary in &listing.recent {
        let [date, session, topic, status, branch] = cells(summary);
        row(&mut out, &[date, summary.agent.to_string(), session, topic, status, branch]);
    }
    if !continuations.is_empty() {
        out += "\n## Continuations\n\n";
        out += QUEUE_TABLE;
        for Continuation { name, topic, state, waits_on } in continuations {
            row(&mut out, &[cell(name), cell(topic), cell(state), waits_on.as_deref().map_or(UNKNOWN.into(), cell)]);
        }
    }
    out
}

fn last_updated(listing: &Listing) -> String {
    let newest = listing.recent.first().map_or(UNKNOWN.into(), |summary| summary.created.minute_for_people());
    format!("Last updated: {newest}\n\n")
}

fn what(out: &mut String, summary: &Summary, next_action: &str) {
    item(out, "Topic", &visible_line(summary.topic.as_str()));
    item(out, "Status", summary.status.as_str());
    item(out, "Branch", &summary.branch.as_deref().map_or(UNKNOWN.into(), visible_line));
    let next = summary.next_action.as_deref().filter(|text| !text.trim().is_empty());
    item(out, next_action, &next.map_or(UNKNOWN.into(), |text| cut(&visible_line(text), NEXT_ACTION).into_owned()));
}

fn item(out: &mut String, label: &str, value: &str) {
    writeln!(out, "- {label}: {value}").expect("a String takes every write");
}

fn cells(summary: &Summary) -> [String; 5] {
    [
        summary.created.minute_for_people(),
        format!("`{}`", summary.session().stem()),
        cell(summary.topic.as_str()),
        summary.status.to_string(),
        summary.branch.as_deref().map_or(UNKNOWN.into(), cell),
    ]
}

fn row(out: &mut String, cells: &[String]) {
    writeln!(out, "| {} |", cells.join(" | ")).expect("a String takes every write");
}

/// A text that cannot end its cell: pipes are escaped, and so are the backslashes that would undo that.
fn cell(text: &str) -> String {
    let text = visible_line(text);
    let (mut out, mut backslashes) = (String::with_capacity(text.len()), 0);
    for c in text.chars() {
        match c {
            '\\' => backslashes += 1,
            '|' => {
                out.push_str(&"\\".repeat(backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        out.push(c);
    }
    out + &"\\".repeat(backslashes)
}

/// Whether a text may be an index that some version of this module wrote for some state of the log: every line has
/// a shape that only generated lines have.
pub(super) fn is_generated(text: &str) -> bool {
    let mut lines = text.lines();
    let title = lines.next().unwrap_or_default();
    let titled = title == "# Session Transfer Index"
        || title
            .strip_prefix("# ")
            .and_then(|rest| rest.strip_suffix(" Session Index"))
            .is_some_and(|word| ["Codex", "Claude", "OpenCode", "Agent"].contains(&word));
    titled && lines.all(is_generated_line)
}

fn is_generated_line(line: &str) -> bool {
    const HEADINGS: [&str; 5] = [
        "## Current Session",
        "## Recent Sessions",
        "## Current / Recommended",
        "## Recent Cross-Agent Handoffs",
        "## Continuations",
    ];
    const LABELS: [&str; 7] =
        ["Handoff", "Source agent", "Topic", "Status", "Branch", "Next Action", "Next recommended action"];
    let is_item = |rest: &str| rest.split_once(": ").is_some_and(|(label, _)| LABELS.contains(&label));
    let is_table = || [LANE_TABLE, ALL_TABLE, QUEUE_TABLE].iter().any(|table| table.lines().any(|head| head == line));
    line.is_empty()
        || HEADINGS.contains(&line)
        || line.starts_with("Last updated: ")
        || line.strip_prefix("- ").is_some_and(is_item)
        || is_table()
        || (line.starts_with("| ") && line.ends_with(" |") && matches!(columns(line), 4..=6))
}

/// How many cells a table row has.
fn columns(line: &str) -> usize {
    let (mut pipes, mut escaped) = (0_usize, false);
    for c in line.chars() {
        pipes += usize::from(c == '|' && !escaped);
        escaped = c == '\\' && !escaped;
    }
    pipes.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_cell() {
        let hostile = ["|", "a|b", "\\|", "\\\\|x", "end\\", "a\nb", "`|`", "\u{202e}|", ""];
        for text in hostile {
            let mut line = String::new();
            row(&mut line, &[cell(text), cell(text), cell(text), cell(text)]);
            assert_eq!(columns(line.trim_end()), 4, "{line:?}");
            assert_eq!(line.lines().count(), 1);
        }
        assert_eq!(cell("C:\\dir a|b"), "C:\\dir a\\|b");
    }

    #[test]
    fn a_persons_line_is_not_taken_for_a_generated_one() {
        let lane = Lane { dir: ".codex".into(), title: "Codex".into() };
        let text = lane_index(&lane, &Listing::default());
        assert!(is_generated(&text));
        for line in
            ["Ask Kim before touching the parser.", "## Team remarks", "<<<<<<< HEAD", "- remember: milk", "| a |"]
        {
            assert!(!is_generated(&format!("{text}{line}\n")), "{line}");
        }
        assert!(!is_generated(&format!("<!-- pinned by hand -->\n{text}")));
    }
}
