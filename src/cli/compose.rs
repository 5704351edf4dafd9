//! A handoff made of what its author says and of what git knows.

use super::args::{self, ContentFlags};
use super::error::{Code, Failure};
use super::marker::Marker;
use super::place::Place;
use super::session::Session;
use crate::document::{self, Claims, Input, Names};
use crate::model::reference::Reference;
use crate::model::{
    AgentName, Completeness, Content, Evidence, FileEntry, Handoff, Link, Metadata, Observer, Outcome, SessionName,
    Status, Topic, TopicError, Trigger, normalised, paths,
};
use crate::views::cache::Index;

/// A handoff that nobody has judged yet.
#[derive(Debug, Clone)]
pub(super) struct Composed {
    /// The handoff, with what git knows filled in.
    pub(super) handoff: Handoff,
    /// The content as its author gave it, for the draft.
    pub(super) authored: Content,
    /// The links that could not be resolved, as they were written.
    pub(super) unresolved: Vec<String>,
}

/// What the author and the surroundings say.
pub(super) struct Sources<'a> {
    /// The document that was handed in, the flags already laid over its content.
    pub(super) input: Input,
    /// The command line.
    pub(super) args: &'a args::Create,
    /// The agent.
    pub(super) agent: AgentName,
    /// The agent's session, where its environment tells.
    pub(super) agent_session: Option<String>,
    /// What was resumed in this worktree.
    pub(super) marker: Option<Marker>,
}

/// Lays the flags over the content of the document: a text replaces, a list replaces the whole list.
pub(super) fn lay_over(content: &mut Content, flags: &ContentFlags) {
    let text = |field: &mut Option<String>, flag: &Option<String>| {
        if let Some(flag) = flag {
            *field = Some(normalised(flag)).filter(|text| !text.is_empty());
        }
    };
    let list = |field: &mut Vec<String>, flag: &[String]| {
        if !flag.is_empty() {
            *field = flag.iter().map(|item| normalised(item)).filter(|item| !item.is_empty()).collect();
        }
    };
    text(&mut content.objective, &flags.objective);
    text(&mut content.current_state, &flags.state);
    text(&mut content.next_action, &flags.next_action);
    text(&mut content.resume_instructions, &flags.resume_instructions);
    list(&mut content.approved_plan, &flags.plan);
    list(&mut content.completed_steps, &flags.done);
    list(&mut content.pending_steps, &flags.todo);
    list(&mut content.decisions, &flags.decision);
    list(&mut content.known_failures, &flags.risk);
    list(&mut content.constraints, &flags.constraint);
    list(&mut content.prerequisites, &flags.prerequisite);
    list(&mut content.commands, &flags.ran);
    list(&mut content.scope.included, &flags.included);
    list(&mut content.scope.excluded, &flags.excluded);
    list(&mut content.context_refs, &flags.context);
    if !flags.file.is_empty() {
        let entry = |path: &String| FileEntry { path: path.clone(), ..FileEntry::default() };
        content.files_changed = flags.file.iter().map(entry).collect();
    }
    if !flags.verified.is_empty() {
        content.verification_evidence = flags.verified.iter().map(|text| evidence(text)).collect();
    }
}

/// `passed: cargo test`, or prose.
fn evidence(text: &str) -> Evidence {
    let outcome = |word: &str| word.parse::<Outcome>().ok();
    match text.split_once(':').and_then(|(word, command)| Some((outcome(word)?, command.trim().trim_matches('`')))) {
        Some((outcome, command)) if !command.is_empty() => Evidence {
            command: Some(command.into()),
            outcome: Some(outcome),
            detail: None,
            observed_by: Observer::Author,
        },
        _ => Evidence { command: None, outcome: None, detail: Some(normalised(text)), observed_by: Observer::Author },
    }
}

/// Whether any flag gives content, so that standard input need not be waited for.
pub(super) fn has_content(flags: &ContentFlags) -> bool {
    let mut content = Content::default();
    lay_over(&mut content, flags);
    content != Content::default()
}

/// The words and names of the metadata, checked before anything else is looked at.
struct Words {
    topic: Topic,
    status: Status,
    trigger: Trigger,
    goal_status: Option<Status>,
}

impl Words {
    fn of(claims: &Claims, title: Option<&str>, args: &args::Create) -> Result<Self, Failure> {
        let word = |flag: &Option<String>, claim: &Option<String>| flag.clone().or_else(|| claim.clone());
        let topic = word(&args.topic, &claims.topic)
            .or_else(|| title.map(Into::into))
            .ok_or_else(|| Failure::new(Code::Usage, "no topic is given: say in a few words what the work is about"))?;
        let status = word(&args.status, &claims.status).map_or(Ok(Status::InProgress), |text| text.parse());
        let trigger = word(&args.trigger, &claims.trigger).map_or(Ok(Trigger::Manual), |text| text.parse());
        let goal_status = word(&args.goal_status, &claims.goal_status).map(|text| text.parse()).transpose();
        let usage = |error| Failure::because(Code::Usage, &error);
        Ok(Self {
            topic: topic.parse().map_err(|error| topic_failure(&error))?,
            status: status.map_err(usage)?,
            trigger: trigger.map_err(usage)?,
            goal_status: goal_status.map_err(usage)?,
        })
    }
}

fn topic_failure(error: &TopicError) -> Failure {
    let code = match error {
        TopicError::TooLong(_) => Code::TooLarge,
        TopicError::Empty | TopicError::Control(_) | TopicError::Traversal => Code::Usage,
    };
    Failure::because(code, error)
}

/// Makes the handoff.
///
/// # Errors
/// When a word of the metadata is not allowed, or a link given on the command line names nothing.
pub(super) fn compose(
    session: &Session<'_>,
    index: &Index,
    place: &Place,
    sources: Sources<'_>,
) -> Result<Composed, Failure> {
    let Sources { input, args, agent, agent_session, marker } = sources;
    let Input { claims, complete, title, content, unknown, .. } = input;
    let words = Words::of(&claims, title.as_deref(), args)?;
    let authored = content.clone();
    let mut unresolved = Vec::new();
    let mut metadata = Metadata {
        model: args.origin.model.clone().or(claims.model.clone()).filter(|model| !model.trim().is_empty()),
        agent_session: args.origin.session.clone().or(agent_session).or(claims.agent_session.clone()),
        agent_turn: args.origin.turn.clone().or(claims.agent_turn.clone()),
        goal_status: words.goal_status,
        working_directory: place.working_directory.clone(),
        branch: place.branch.clone(),
        commit: place.commit,
        dirty: place.working_directory.is_some().then(|| place.worktree.is_dirty()),
        boundary: claims.boundary.clone(),
        ..Metadata::default()
    };
    link(session, index, &claims, args, &mut metadata, &mut unresolved)?;
    if let Some(marker) =
        marker.filter(|marker| marker.covers(&agent, words.topic.as_str(), metadata.branch.as_deref()))
    {
        let resumed = marker.id().map(Link::Id);
        metadata.resumed_from = metadata.resumed_from.or(resumed.clone());
        metadata.previous = metadata.previous.or(resumed);
    }
    let asked = complete || args.complete;
    let handoff = Handoff {
        created: session.now(),
        agent,
        trigger: words.trigger,
        status: words.status,
        topic: words.topic,
        metadata,
        content: filled(content, session, place),
        completeness: if asked { Completeness::Authoritative } else { Completeness::Partial },
        unknown,
    };
    Ok(Composed { handoff, authored, unresolved })
}

/// Sets the links to other handoffs. A link of the command line must name something; one of the document is kept as it
/// is written where the log does not know it.
fn link(
    session: &Session<'_>,
    index: &Index,
    claims: &Claims,
    args: &args::Create,
    metadata: &mut Metadata,
    unresolved: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut claimed = |text: &Option<String>, name: &Option<String>| -> Option<Link> {
        let text = text.as_ref().or(name.as_ref())?;
        Some(session.resolve(index, text).map_or_else(
            |_| {
                unresolved.push(text.clone());
                Link::from(text.as_str())
            },
            |summary| Link::Id(summary.id),
        ))
    };
    metadata.previous = claimed(&claims.previous, &claims.previous_session);
    metadata.resumed_from = claimed(&claims.resumed_handoff, &claims.resumed_from);
    metadata.supersedes = claims.supersedes.iter().filter_map(|text| claimed(&Some(text.clone()), &None)).collect();
    let named = |text: &String| match Reference::parse(text) {
        // A full id may belong to a handoff that has not arrived yet.
        Ok(Reference::Id(id)) => Ok(Link::Id(id)),
        _ => session.resolve(index, text).map(|summary| Link::Id(summary.id)),
    };
    if let Some(text) = &args.lineage.continues_from {
        metadata.previous = Some(named(text)?);
    }
    if let Some(text) = &args.lineage.resumed_from {
        metadata.resumed_from = Some(named(text)?);
        metadata.previous = metadata.previous.take().or_else(|| metadata.resumed_from.clone());
    }
    if !args.lineage.supersedes.is_empty() {
        metadata.supersedes = args.lineage.supersedes.iter().map(named).collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// The content with what git knows in the places that the author left empty.
fn filled(mut content: Content, session: &Session<'_>, place: &Place) -> Content {
    if content.current_state.is_none() {
        content.current_state = Some(place.description());
    }
    if content.completed_steps.is_empty() {
        content.completed_steps = place.steps();
    }
    for file in &mut content.files_changed {
        let git = place.files.iter().find(|collected| paths::same_path(&collected.path, &file.path));
        match git {
            Some(git) => {
                file.change = file.change.or(git.change);
                file.from = file.from.take().or_else(|| git.from.clone());
                file.blob = file.blob.or(git.blob);
            }
            None => file.blob = file.blob.or_else(|| session.blob_at(place.commit, &file.path)),
        }
    }
    let named = content.files_changed.len();
    for git in &place.files {
        if !content.files_changed[..named].iter().any(|file| paths::same_path(&git.path, &file.path)) {
            content.files_changed.push(git.clone());
        }
    }
    content.files_omitted += place.files_omitted;
    content
}

/// Content alone as a document, for what cannot become a handoff.
pub(super) fn bare_draft(session: &Session<'_>, content: &Content) -> String {
    let handoff = Handoff {
        created: session.now(),
        agent: AgentName::unknown(),
        trigger: Trigger::Manual,
        status: Status::InProgress,
        topic: "draft".parse().expect("this is a topic"),
        metadata: Metadata::default(),
        content: content.clone(),
        completeness: Completeness::Partial,
        unknown: serde_json::Map::new(),
    };
    let session = SessionName::new(handoff.agent.clone(), handoff.created, 1);
    let names = Names { id: document::id(&handoff), session, previous: None, resumed_from: None };
    document::render(&handoff, &names)
}

impl Composed {
    /// The author's own words as a document, to be kept when the handoff is refused.
    pub(super) fn draft(&self) -> String {
        self.rendered(self.authored.clone())
    }

    /// A document to be filled in: what is known, and a placeholder wherever something should be said.
    pub(super) fn template(&self) -> String {
        let mut content = self.handoff.content.clone();
        let text = |field: &mut Option<String>, ask: &str| {
            field.get_or_insert_with(|| format!("[TODO: {ask}]"));
        };
        text(&mut content.objective, "what the work is for");
        text(&mut content.next_action, "the one thing to do next");
        text(&mut content.resume_instructions, "what to know or set up before going on");
        let list = |field: &mut Vec<String>, ask: &str| {
            if field.is_empty() {
                field.push(format!("[TODO: {ask}]"));
            }
        };
        list(&mut content.decisions, "what was decided, and why");
        list(&mut content.pending_steps, "what remains to be done");
        list(&mut content.known_failures, "what does not work, or might not");
        if content.verification_evidence.is_empty() {
            content
                .verification_evidence
                .push(evidence("[TODO: what shows that it is right, such as passed: `cargo test`]"));
        }
        self.rendered(content)
    }

    fn rendered(&self, content: Content) -> String {
        let handoff = Handoff { content, ..self.handoff.clone() };
        let session = SessionName::new(handoff.agent.clone(), handoff.created, 1);
        let names = Names { id: document::id(&handoff), session, previous: None, resumed_from: None };
        document::render(&handoff, &names)
    }
}
