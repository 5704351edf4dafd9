//! `git handoff resume`: the handoff to continue from, in its envelope.
//!
//! It writes nothing but a private marker, from which the next `create` here takes its lineage.

use std::io;

use serde_json::{Map, Value, json};

use super::super::approvals::{authority_json, authority_line};
use super::super::args;
use super::super::error::{Code, Failure};
use super::super::marker::Marker;
use super::super::session::{Session, one_line};
use super::super::staleness::{Standing, refusal};
use super::super::unrecorded::{Claim, OnlyIn};
use super::list::item_json;
use crate::document;
use crate::git::Head;
use crate::model::selection::{Absent, Candidate, Request, Selection, TopicMatch, select};
use crate::model::{AgentName, Approvals, Handoff, Lanes, Link, Summary};
use crate::ui::{Envelope, Fact, Page, Report, Ui};
use crate::views::cache::{Index, Row};

/// Runs the command.
///
/// # Errors
/// When nothing matches, several handoffs match equally, or the body is missing or damaged.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Resume, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let head = session.head()?;
    let agent = session.detect(args.agent.as_deref())?.agent;
    let packet = session.read(|index| {
        let choice = match &args.reference {
            Some(text) => Choice::named(session.resolve(index, text)?),
            None => choose(session, index, &agent, &head, args.topic.as_deref())?,
        };
        Packet::open(session, index, choice, &head, Body::wanted(args))
    })?;
    if packet.leaves_marker {
        // Without the marker the next handoff is merely not linked.
        drop(Marker::of(&packet.summary, &agent).save(&session.repo.state_dir()));
    }
    super::warn_of_stale_views(packet.views_are_behind, ui);
    super::warn_of_file_only(session, ui);
    ui.answer(&packet)?;
    if args.strict && packet.standing.is_stale() { Err(refusal(&packet.summary, &packet.standing)) } else { Ok(()) }
}

/// Whether the body is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Body {
    Shown,
    LeftOut,
}

impl Body {
    fn wanted(args: &args::Resume) -> Self {
        if args.brief { Self::LeftOut } else { Self::Shown }
    }
}

/// A handoff and why it was chosen.
pub(in crate::cli) struct Choice {
    /// The handoff.
    pub(super) summary: Summary,
    reason: String,
    others: Vec<Summary>,
}

impl Choice {
    fn named(summary: Summary) -> Self {
        Self::because(summary, "it was named")
    }

    /// A handoff that something else chose.
    pub(in crate::cli) fn because(summary: Summary, reason: impl Into<String>) -> Self {
        Self { summary, reason: reason.into(), others: Vec::new() }
    }
}

/// The handoff that this agent should continue from here.
///
/// # Errors
/// When nothing matches or several handoffs match equally.
pub(super) fn choose(
    session: &Session<'_>,
    index: &Index,
    agent: &AgentName,
    head: &Head,
    topic: Option<&str>,
) -> Result<Choice, Failure> {
    let request = Request { agent, branch: head.branch.as_deref(), topic };
    let mut failure = None;
    let candidates = index.newest_first().map_while(|row| {
        match row.map_err(Failure::from).and_then(|row| candidate(index, &row, &request)) {
            Ok(candidate) => Some(candidate),
            Err(error) => {
                failure = Some(error);
                None
            }
        }
    });
    let selection = select(&request, candidates);
    if let Some(error) = failure {
        return Err(error);
    }
    match selection {
        Selection::Chosen { position, reason, others } => Ok(Choice {
            summary: summary_at(index, position)?,
            reason: reason.to_string(),
            others: others.into_iter().map(|at| summary_at(index, at)).collect::<Result<_, _>>()?,
        }),
        Selection::Ambiguous { positions } => Err(equal_candidates(index, &positions, topic.unwrap_or_default())?),
        Selection::Nothing { what } => Err(nothing(session, index, &what)?),
    }
}

/// What selection needs of a row. Only with a topic, or where hashes agree, is the summary read.
fn candidate(index: &Index, row: &Row, request: &Request<'_>) -> Result<Candidate, Failure> {
    let mine = row.may_be_of(request.agent);
    let here = request.branch.is_some_and(|branch| row.may_be_on(branch));
    let mut candidate = Candidate {
        position: row.position as usize,
        live: row.live(),
        unfinished: row.status.is_unfinished(),
        mine,
        here,
        topic: TopicMatch::None,
    };
    if mine || here || request.topic.is_some() {
        let summary = index.summary(row.position)?;
        candidate.mine = summary.agent == *request.agent;
        candidate.here = request.branch.is_some() && summary.branch.as_deref() == request.branch;
        candidate.topic = request.topic.map_or(TopicMatch::None, |topic| TopicMatch::of(topic, summary.topic.as_str()));
    }
    Ok(candidate)
}

fn summary_at(index: &Index, position: usize) -> Result<Summary, Failure> {
    Ok(index.summary(position as u32)?)
}

fn equal_candidates(index: &Index, positions: &[usize], topic: &str) -> Result<Failure, Failure> {
    let summaries = positions.iter().map(|at| summary_at(index, *at)).collect::<Result<Vec<_>, _>>()?;
    let lines: Vec<String> = summaries.iter().map(one_line).collect();
    let ids: Vec<String> = summaries.iter().map(|each| each.id.to_string()).collect();
    Ok(Failure::new(
        Code::Ambiguous,
        format!("'{topic}' matches several handoffs equally well\n  {}", lines.join("\n  ")),
    )
    .hint("say which: git handoff resume <id>")
    .detail("topic", topic)
    .detail("candidates", ids))
}

fn nothing(session: &Session<'_>, index: &Index, what: &Absent) -> Result<Failure, Failure> {
    let failure = Failure::new(Code::NotFound, what.to_string());
    Ok(match what {
        Absent::Handoff => {
            failure.hint(session.elsewhere()?.unwrap_or_else(|| "make one with 'git handoff create'".to_owned()))
        }
        Absent::Topic(topic) => {
            let hint = session.elsewhere()?.unwrap_or_else(|| "'git handoff list' shows what there is".to_owned());
            failure.hint(hint).detail("topic", topic.as_str())
        }
        Absent::Open { topic, closed } => {
            let closed = summary_at(index, *closed)?;
            failure
                .hint(format!("to read it all the same: git handoff resume {}", closed.id.short()))
                .detail("topic", topic.as_str())
                .detail("closed", closed.id.to_string())
        }
    })
}

/// A handoff with all that its reader needs to know about it.
pub(in crate::cli) struct Packet {
    pub(in crate::cli) summary: Summary,
    /// What else the envelope says.
    pub(in crate::cli) more: Vec<Fact>,
    handoff: Handoff,
    markdown: String,
    lineage: Vec<String>,
    standing: Standing,
    approvals: Approvals,
    now: String,
    reason: String,
    others: Vec<Summary>,
    lanes: Lanes,
    body: Body,
    leaves_marker: bool,
    views_are_behind: bool,
    only: Option<OnlyIn>,
}

impl Packet {
    /// Reads the handoff, checked against its id, and compares it with where we are.
    ///
    /// # Errors
    /// When the body is missing or damaged.
    pub(in crate::cli) fn open(
        session: &Session<'_>,
        index: &Index,
        choice: Choice,
        head: &Head,
        body: Body,
    ) -> Result<Self, Failure> {
        let Choice { summary, reason, others } = choice;
        let handoff = session.document(&summary)?;
        let markdown = session.markdown(index, &summary, &handoff)?;
        let position = index.find(&summary.id)?;
        let live = position.map(|position| index.is_live(position)).transpose()?.unwrap_or_default();
        let standing = Standing::of(session, index, &handoff, head);
        Ok(Self {
            lineage: lineage(index, &summary)?,
            now: reconciled(&standing, &summary, head),
            standing,
            approvals: session.approvals(index, |id| *id == summary.id)?,
            leaves_marker: live && summary.status.is_unfinished(),
            lanes: session.lanes.clone(),
            views_are_behind: session.views_are_behind(index),
            only: OnlyIn::of(session, &summary),
            more: Vec::new(),
            summary,
            handoff,
            markdown,
            reason,
            others,
            body,
        })
    }

    /// Its file, which has another name than the log would give it where it stands only there.
    fn file(&self) -> String {
        self.only.as_ref().map_or_else(|| self.summary.file(&self.lanes), |only| only.path.clone())
    }

    fn facts(&self) -> Vec<Fact> {
        let Self { summary, handoff, .. } = self;
        let unknown = || "unknown".to_owned();
        let mut facts = vec![
            fact("Topic", summary.topic.to_string()),
            fact("Handoff", format!("{} ({})", summary.session(), self.file())),
            fact("Id", summary.id.to_string()),
            fact("Status", format!("{} (trigger: {})", summary.status, summary.trigger)),
            fact("From", source(handoff)),
            fact("Created", summary.created.to_string()),
            fact(
                "Revision",
                format!(
                    "branch {}, commit {}",
                    summary.branch.clone().unwrap_or_else(unknown),
                    summary.commit.map_or_else(unknown, |commit| commit.to_string())
                ),
            ),
        ];
        facts.extend(self.lineage.iter().map(|line| fact("Lineage", line.clone())));
        facts.extend([
            fact("Authority", authority_line(self.approvals.authority(&summary.id))),
            fact("Completeness", summary.completeness.to_string()),
            fact(
                "Integrity",
                self.only.as_ref().map_or("verified: the content matches its id", OnlyIn::integrity).into(),
            ),
            fact("Staleness", self.standing.level_name().into()),
        ]);
        facts.extend(self.standing.sentences().into_iter().map(|sentence| fact("Because", sentence)));
        facts.extend([fact("Now", self.now.clone()), fact("Chosen", self.reason.clone())]);
        facts.extend(self.others.iter().map(|other| fact("Also", one_line(other))));
        facts.extend(self.more.iter().map(|more| fact(more.name, more.value.clone())));
        facts
    }
}

fn fact(name: &'static str, value: String) -> Fact {
    Fact { name, value }
}

/// Who made it: agent, model and session as far as they are known.
fn source(handoff: &Handoff) -> String {
    let mut source = handoff.agent.to_string();
    if let Some(model) = &handoff.metadata.model {
        source += &format!(", model {model}");
    }
    if let Some(session) = &handoff.metadata.agent_session {
        source += &format!(", session {session}");
    }
    source
}

/// What the handoff continues, was resumed from and corrects, one line each.
fn lineage(index: &Index, summary: &Summary) -> Result<Vec<String>, Failure> {
    let resumed = summary.resumed_from.as_ref().filter(|link| summary.previous.as_ref() != Some(*link));
    let links = summary.previous.iter().map(|link| ("continues", link));
    let links = links
        .chain(resumed.map(|link| ("resumed from", link)))
        .chain(summary.supersedes.iter().map(|link| ("corrects", link)));
    links.map(|(verb, link)| Ok(format!("{verb} {}", link_name(index, link)?))).collect()
}

fn link_name(index: &Index, link: &Link) -> Result<String, Failure> {
    match link.id().map(|id| index.find(&id)).transpose()?.flatten() {
        Some(position) => {
            let linked = index.summary(position)?;
            Ok(format!("{} ({})", linked.session(), linked.id.short()))
        }
        None => Ok(format!("{link} (not in this log)")),
    }
}

/// How the recorded place compares with where we are.
fn reconciled(standing: &Standing, summary: &Summary, head: &Head) -> String {
    let branch = match (&head.branch, &summary.branch) {
        (Some(now), Some(then)) if now == then => format!("on the same branch, {now}"),
        (Some(now), _) => format!("on branch {now}"),
        (None, _) => "on no branch".into(),
    };
    format!("{branch}; {}", standing.commit_sentence())
}

impl Report for Packet {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let content = (self.body == Body::Shown).then(|| self.markdown.clone());
        Envelope { id: self.summary.id.short(), facts: self.facts(), content }.write(page)
    }

    fn json(&self) -> Value {
        let Self { summary, .. } = self;
        let document = document::to_value(&self.handoff);
        let field = |name: &str| document.get(name).cloned().unwrap_or(Value::Null);
        let mut packet = json!({
            "handoff": {
                "id": summary.id.to_string(),
                "session": summary.session().to_string(),
                "file": self.file(),
                "topic": summary.topic.as_str(),
                "status": summary.status.as_str(),
                "trigger": summary.trigger.as_str(),
                "goal_status": field("goal_status"),
                "source_agent": summary.agent.as_str(),
                "source_model": summary.model,
                "source_session": summary.agent_session,
                "branch": summary.branch,
                "revision": summary.commit.map(|commit| commit.to_string()),
                "dirty": field("dirty"),
                "working_directory": field("working_directory"),
                "created": summary.created.to_string(),
                "lineage": {
                    "previous": field("previous"),
                    "resumed_from": field("resumed_from"),
                    "supersedes": field("supersedes"),
                },
            },
            "trust": {
                "authority": authority_json(self.approvals.authority(&summary.id)),
                "completeness": summary.completeness.as_str(),
                "integrity": match self.only.as_ref().map(|only| only.claim) {
                    None | Some(Claim::Sound) => "verified",
                    Some(Claim::None | Claim::Broken(_)) => "unverified",
                },
                "file_only": self.only.is_some(),
                "staleness": self.standing.json(),
                "now": self.now,
            },
            "selection": {
                "reason": self.reason,
                "others": self.others.iter().map(|other| item_json(other, true, &self.lanes)).collect::<Vec<_>>(),
            },
        });
        if self.body == Body::Shown {
            packet["authoritative"] = group(&document, AUTHORITATIVE);
            packet["context"] = group(&document, CONTEXT);
        }
        packet
    }

    fn quiet(&self) -> Option<String> {
        Some(self.summary.id.to_string())
    }
}

/// The fields that a successor works from.
const AUTHORITATIVE: &[&str] = &[
    "objective",
    "current_state",
    "resume_instructions",
    "scope",
    "approved_plan",
    "completed_steps",
    "pending_steps",
    "decisions",
    "constraints",
    "prerequisites",
    "next_action",
];

/// The fields that are optional history.
const CONTEXT: &[&str] = &[
    "known_failures",
    "verification_evidence",
    "files_changed",
    "files_omitted",
    "database_changes",
    "api_changes",
    "frontend_changes",
    "commands",
    "context_refs",
    "extra",
];

/// Some fields of a document; those that it does not have are null.
fn group(document: &Value, names: &[&str]) -> Value {
    let field = |name: &&str| ((*name).to_owned(), document.get(*name).cloned().unwrap_or(Value::Null));
    Value::Object(names.iter().map(field).collect::<Map<_, _>>())
}
