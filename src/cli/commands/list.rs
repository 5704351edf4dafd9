//! `git handoff list`: one line a handoff, newest first.

use std::io;

use serde_json::{Value, json};

use super::super::args;
use super::super::duration;
use super::super::error::{Code, Failure};
use super::super::session::Session;
use super::super::unrecorded::OnlyIn;
use crate::model::selection::TopicMatch;
use crate::model::{AgentName, Lanes, Status, Summary, Timestamp};
use crate::ui::{Page, Report, Table, Tone, Ui};
use crate::views::cache::{Index, Row};

/// How many handoffs are listed without `--all` or `--limit`.
const DEFAULT_LIMIT: usize = 20;

/// Runs the command.
///
/// # Errors
/// When a filter makes no sense or git cannot be read.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::List, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let filter = Filter::parse(args, session.now())?;
    let limit = args.limit.unwrap_or(if args.all { usize::MAX } else { DEFAULT_LIMIT });
    let (mut items, anomalies, recorded) =
        session.read(|index| Ok((filter.select(index, args, limit)?, index.anomalies()?, index.handoff_count())))?;
    for item in &mut items {
        item.only = OnlyIn::of(session, &item.summary);
    }
    super::warn_of_anomalies(&anomalies, ui);
    super::warn_of_file_only(session, ui);
    if items.is_empty() {
        ui.note(if recorded == 0 { "there are no handoffs here yet" } else { "no handoff matches" });
        session.elsewhere()?.into_iter().for_each(|hint| ui.hint(hint));
    }
    Ok(ui.answer(&Listing { items, lanes: &session.lanes })?)
}

/// What is asked for.
struct Filter {
    agent: Option<AgentName>,
    topic: Option<String>,
    status: Option<Status>,
    branch: Option<String>,
    unfinished: bool,
    since: Option<i64>,
}

impl Filter {
    fn parse(args: &args::List, now: Timestamp) -> Result<Self, Failure> {
        let usage = |error: &dyn std::error::Error| Failure::because(Code::Usage, error);
        Ok(Self {
            agent: args
                .agent
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(|error: crate::model::AgentNameError| usage(&error))?,
            topic: args.topic.clone(),
            status: args
                .status
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(|error: crate::model::UnknownWord| usage(&error))?,
            branch: args.branch.clone(),
            unfinished: args.unfinished,
            since: args.since.as_deref().map(|text| since(text, now)).transpose()?,
        })
    }

    fn select(&self, index: &Index, args: &args::List, limit: usize) -> Result<Vec<Item>, Failure> {
        let mut items = Vec::new();
        for row in index.newest_first() {
            let row = row?;
            if items.len() >= limit {
                break;
            }
            if (row.live() || args.all) && self.may_match(&row) {
                let summary = index.summary(row.position)?;
                if self.matches(&summary) {
                    items.push(Item { summary, live: row.live(), only: None });
                }
            }
        }
        Ok(items)
    }

    /// Whether the fixed part of a row leaves it possible that the whole matches.
    fn may_match(&self, row: &Row) -> bool {
        self.status.is_none_or(|status| row.status == status)
            && (!self.unfinished || row.status.is_unfinished())
            && self.since.is_none_or(|since| row.created.millis() >= since)
    }

    fn matches(&self, summary: &Summary) -> bool {
        self.agent.as_ref().is_none_or(|agent| summary.agent == *agent)
            && (self.branch.is_none() || summary.branch == self.branch)
            && self.topic.as_ref().is_none_or(|topic| TopicMatch::of(topic, summary.topic.as_str()) != TopicMatch::None)
    }
}

/// The moment, in milliseconds since the epoch, that a text names: a time, a date (its beginning, where we are),
/// or how long ago.
fn since(text: &str, now: Timestamp) -> Result<i64, Failure> {
    let date = || {
        let offset = now.to_string().split_off(now.to_string().len() - 6);
        format!("{text}T00:00:00{offset}").parse::<Timestamp>().ok()
    };
    let ago = || {
        let seconds = i64::try_from(duration::seconds(text)?).ok()?;
        now.millis().checked_sub(seconds.checked_mul(1000)?)
    };
    text.parse::<Timestamp>().ok().or_else(date).map(|time| time.millis()).or_else(ago).ok_or_else(|| {
        Failure::new(
            Code::Usage,
            format!("'{text}' is neither a time, nor a date, nor a duration such as 90s, 15m, 2h or 7d"),
        )
    })
}

/// A handoff of the list.
struct Item {
    summary: Summary,
    live: bool,
    only: Option<OnlyIn>,
}

struct Listing<'l> {
    items: Vec<Item>,
    lanes: &'l Lanes,
}

impl Report for Listing<'_> {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::default();
        for Item { summary, live, only } in &self.items {
            let closed = if *live { "" } else { " (closed)" };
            let mark = only.as_ref().map_or("", OnlyIn::mark);
            let status = format!("{}{closed}{mark}", summary.status);
            let branch = summary.branch.as_deref().unwrap_or("-");
            table.row([&summary.id.short(), &summary.session().to_string(), &status, branch, summary.topic.as_str()]);
        }
        for line in table.lines() {
            let (id, rest) = line.split_at(12);
            page.line(format!("{}{rest}", page.toned(Tone::Name, id)))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let row = |item: &Item| {
            let mut row = item_json(&item.summary, item.live, self.lanes);
            row["file_only"] = item.only.is_some().into();
            if let Some(only) = &item.only {
                row["file"] = only.path.as_str().into();
                row["spooled"] = false.into();
                row["edited"] = only.claim.broken().is_some().into();
            }
            row
        };
        self.items.iter().map(row).collect()
    }

    fn quiet(&self) -> Option<String> {
        let ids: Vec<String> = self.items.iter().map(|item| item.summary.id.to_string()).collect();
        (!ids.is_empty()).then(|| ids.join("\n"))
    }
}

/// The names that `list` gives a handoff in JSON.
pub(super) fn item_json(summary: &Summary, live: bool, lanes: &Lanes) -> Value {
    json!({
        "id": summary.id.to_string(),
        "session": summary.session().to_string(),
        "created": summary.created.to_string(),
        "agent": summary.agent.as_str(),
        "topic": summary.topic.as_str(),
        "status": summary.status.as_str(),
        "trigger": summary.trigger.as_str(),
        "branch": summary.branch,
        "commit": summary.commit.map(|commit| commit.to_string()),
        "file": summary.file(lanes),
        "live": live,
        "objective": summary.objective,
        "next_action": summary.next_action,
        "completeness": summary.completeness.as_str(),
        "spooled": summary.recorded_in.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_takes_a_time_a_date_and_a_duration() {
        let now: Timestamp = "2026-08-18T17:04:00+03:00".parse().expect("valid");
        let millis = |text: &str| text.parse::<Timestamp>().expect("valid").millis();
        let read = |text: &str| since(text, now).ok();
        assert_eq!(read("2026-08-18T00:00:00Z"), Some(millis("2026-08-18T00:00:00Z")));
        assert_eq!(read("2026-08-18"), Some(millis("2026-08-18T00:00:00+03:00")));
        assert_eq!(read("2h"), Some(millis("2026-08-18T15:04:00+03:00")));
        assert_eq!([read(""), read("soon"), read("-3h"), read("é")], [None; 4]);
    }
}
