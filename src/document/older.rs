//! Handoffs that other and older tools wrote as Markdown files, taken as documents.
//!
//! The result depends on the file's name and bytes alone, never on the machine's zone or clock: two clones that take
//! in the same file make the same document, and so the same id.

use super::error::DocumentError;
use super::input::{Input, read_input};
use crate::model::{
    AgentName, Completeness, Content, Handoff, Link, Metadata, Status, Timestamp, TopicError, Trigger, normalised,
};

/// The section in which the session-handoff skill kept its metadata.
const SESSION_METADATA: &str = "Session Metadata";

/// What is known of a file besides its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// Its name without the ending `.md`, such as `2026-01-15-103000-billing`.
    pub stem: &'a str,
    /// The agent in whose directory it stands; a document that names its agent knows better.
    pub agent: &'a AgentName,
}

/// Why a file is no handoff of an older tool.
#[derive(Debug, thiserror::Error)]
pub enum OlderError {
    /// It cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Neither its content nor its name says when it was made.
    #[error("neither its content nor its name says when it was made")]
    Undated,
    /// It has nothing that a handoff has.
    #[error("it has no section that a handoff has")]
    Empty,
    /// Nothing in it can be the topic.
    #[error("it has no topic")]
    Topic(#[from] TopicError),
}

/// Reads a file of an older tool. A time without an offset is read as UTC.
///
/// # Errors
/// When it is no handoff.
pub fn read_older(bytes: &[u8], found: &Found<'_>) -> Result<Handoff, OlderError> {
    let Input { claims, created, title, mut content, unknown, .. } = read_input(bytes)?;
    let noted = |key: &str| noted(&content, key);
    let created = created
        .or_else(|| content.extra.get("created").and_then(|text| moment(text)))
        .or_else(|| noted("created").or_else(|| noted("date")).and_then(|text| moment(&text)))
        .or_else(|| moment_of_name(found.stem))
        .ok_or(OlderError::Undated)?;
    let word = |claim: &Option<String>, key: &str| claim.clone().or_else(|| noted(key));
    let topic = claims.topic.clone().or(title).or_else(|| topic_of_name(found.stem)).unwrap_or_default();
    let branch = word(&claims.branch, "branch");
    let commit = word(&claims.commit, "commit");
    let status = word(&claims.status, "status");
    let named = claims.agent.as_deref().and_then(|name| name.parse().ok());
    let metadata = Metadata {
        model: claims.model.clone(),
        agent_session: claims.agent_session.clone(),
        agent_turn: claims.agent_turn.clone(),
        goal_status: parsed(&claims.goal_status),
        working_directory: claims.working_directory.clone(),
        branch,
        commit: parsed(&commit),
        previous: claims.previous.or(claims.previous_session).as_deref().map(Link::from),
        resumed_from: claims.resumed_handoff.or(claims.resumed_from).as_deref().map(Link::from),
        supersedes: claims.supersedes.iter().map(|text| Link::from(text.as_str())).collect(),
        boundary: claims.boundary,
        ..Metadata::default()
    };
    if content == Content::default() {
        return Err(OlderError::Empty);
    }
    // What has no place of its own in a document is kept as it was written.
    keep(&mut content, "Commit", commit.filter(|_| metadata.commit.is_none()));
    keep(&mut content, "Status", status.clone().filter(|_| parsed::<Status>(&status).is_none()));
    Ok(Handoff {
        created,
        agent: named.unwrap_or_else(|| found.agent.clone()),
        trigger: parsed(&claims.trigger).unwrap_or(Trigger::Manual),
        status: parsed(&status).unwrap_or(Status::InProgress),
        topic: one_line(&topic).parse()?,
        metadata,
        content,
        completeness: Completeness::Partial,
        unknown,
    })
}

fn parsed<T: std::str::FromStr>(text: &Option<String>) -> Option<T> {
    text.as_deref().and_then(|text| text.trim().parse().ok())
}

fn keep(content: &mut Content, heading: &str, text: Option<String>) {
    if let Some(text) = text {
        content.extra.entry(heading.into()).or_insert_with(|| normalised(&text));
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value of the session-handoff skill's list `- Key: value`; what its template left to fill in is no value.
fn noted(content: &Content, key: &str) -> Option<String> {
    let section = content.extra.iter().find(|(heading, _)| heading.eq_ignore_ascii_case(SESSION_METADATA))?.1;
    section.lines().find_map(|line| {
        let (name, value) = line.trim_start().trim_start_matches(['-', '*']).split_once(':')?;
        let plain = |text: &str| text.trim_matches(|c: char| c.is_whitespace() || c == '*' || c == '`').to_owned();
        let value = plain(value);
        let is_wanted = plain(name).eq_ignore_ascii_case(key) && !value.is_empty() && !value.starts_with('[');
        is_wanted.then_some(value)
    })
}

/// A time as people and scripts write it: `2026-01-15 10:30:00`, with or without seconds, `T` and offset.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let clock = clock.trim().trim_end_matches("UTC").trim_end();
    let (clock, offset) = match clock.find(['+', 'Z']) {
        Some(at) => (clock[..at].trim_end(), &clock[at..]),
        None => (clock, ""),
    };
    let seconds = if clock.matches(':').count() < 2 { ":00" } else { "" };
    let offset = match offset.len() {
        0 | 1 => "+00:00".to_owned(),
        5 if offset.is_ascii() => format!("{}:{}", &offset[..3], &offset[3..]),
        _ => offset.to_owned(),
    };
    format!("{date}T{clock}{seconds}{offset}").parse().ok()
}

/// The parts of a name such as `2026-01-15-103000-billing` or `2026-01-15-1030`: date, clock, rest.
fn parts_of_name(stem: &str) -> Option<(&str, &str, &str)> {
    let (date, rest) = (stem.get(..10)?, stem.get(10..)?.strip_prefix('-')?);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (clock, rest) = rest.split_at(digits);
    matches!(clock.len(), 4 | 6).then_some((date, clock, rest.trim_start_matches('-')))
}

fn moment_of_name(stem: &str) -> Option<Timestamp> {
    let (date, clock, _) = parts_of_name(stem)?;
    let seconds = if clock.len() == 6 { &clock[4..] } else { "00" };
    format!("{date}T{}:{}:{seconds}+00:00", &clock[..2], &clock[2..4]).parse().ok()
}

fn topic_of_name(stem: &str) -> Option<String> {
    let slug = parts_of_name(stem)?.2;
    let is_slug = slug.contains(|c: char| !c.is_ascii_digit());
    is_slug.then(|| slug.replace(['-', '_'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::id;

    fn read(stem: &str, text: &str) -> Result<Handoff, String> {
        let agent: AgentName = "claude".parse().expect("a name");
        read_older(text.as_bytes(), &Found { stem, agent: &agent }).map_err(|error| error.to_string())
    }

    #[test]
    fn the_session_handoff_skill_is_read() {
        let text = "# Handoff: Billing filter\n\n## Session Metadata\n- **Created**: 2026-01-15 10:30:00\n\
                    - Project: /srv/shop\n- Branch: feat/billing\n\n## Current State Summary\nHalf done.\n\n\
                    ## Work Completed\n### Decisions Made\n- One retry only\n\n## Pending Work\n\
                    ### Immediate Next Steps\n1. Wire refunds\n";
        let handoff = read("2026-01-15-103000-billing", text).expect("a handoff");
        assert_eq!(handoff.created.to_string(), "2026-01-15T10:30:00+00:00");
        assert_eq!((handoff.agent.as_str(), handoff.topic.as_str()), ("claude", "Billing filter"));
        assert_eq!(handoff.metadata.branch.as_deref(), Some("feat/billing"));
        assert_eq!(handoff.content.current_state.as_deref(), Some("Half done."));
        assert_eq!(handoff.content.decisions, ["One retry only"]);
        assert!(handoff.content.next_action.as_deref().is_some_and(|next| next.contains("Wire refunds")));
        assert_eq!(id(&handoff), id(&read("another-name", text).expect("a handoff")));
    }

    #[test]
    fn the_name_says_when_and_what_about_where_the_text_does_not() {
        let handoff = read("2026-01-15-103059-fix-login_page", "## Current State\nBroken.\n").expect("a handoff");
        assert_eq!(handoff.created.to_string(), "2026-01-15T10:30:59+00:00");
        assert_eq!(handoff.topic.as_str(), "fix login page");
    }

    #[test]
    fn what_is_no_handoff_says_why() {
        assert_eq!(read("README", "# Notes\n").expect_err("none"), OlderError::Undated.to_string());
        assert_eq!(read("2026-01-15-1030-x", "").expect_err("none"), OlderError::Empty.to_string());
        assert!(read("2026-01-15-1030", "## Current State\nx\n").is_err(), "nothing says what it is about");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let read = |text: &str| moment(text).map(|time| time.to_string());
        assert_eq!(read("2026-01-15 10:30").as_deref(), Some("2026-01-15T10:30:00+00:00"));
        assert_eq!(read("2026-01-15T10:30:05Z").as_deref(), Some("2026-01-15T10:30:05+00:00"));
        assert_eq!(read("2026-01-15 10:30:05 +0300").as_deref(), Some("2026-01-15T10:30:05+03:00"));
        assert_eq!(read("2026-01-15").as_deref(), Some("2026-01-15T00:00:00+00:00"));
        assert_eq!([read("soon"), read("é"), read("")], [None, None, None]);
    }
}
