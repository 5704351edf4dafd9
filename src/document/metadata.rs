//! The metadata block: what a document says about itself, as YAML in Markdown and as it was claimed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::error::DocumentError;
use super::json::canonical_bytes;
use super::typed::malformed;
use super::yaml::scalar;
use super::{AUTHORITY, Names};
use crate::model::{Handoff, Link};

/// What a document says about itself, as it is written there: nothing of it has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the fields have the names of the document's fields")]
pub struct Claims {
    pub session_id: Option<String>,
    pub created: Option<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub agent_session: Option<String>,
    pub agent_turn: Option<String>,
    pub trigger: Option<String>,
    pub status: Option<String>,
    pub goal_status: Option<String>,
    pub topic: Option<String>,
    pub working_directory: Option<String>,
    pub branch: Option<String>,
    pub commit: Option<String>,
    pub dirty: Option<String>,
    /// The handoff that it continues, by its id or as the author wrote it.
    pub previous: Option<String>,
    /// The same by its session name, for people.
    pub previous_session: Option<String>,
    /// The handoff that its session was resumed from, by its id or as the author wrote it.
    pub resumed_handoff: Option<String>,
    /// The same by its file, for people; in a JSON packet also its id.
    pub resumed_from: Option<String>,
    pub supersedes: Vec<String>,
    pub boundary: Option<String>,
    /// Fingerprints; whether a document may allow its own findings is for the caller to decide.
    pub allowed_findings: Vec<String>,
    /// The id that the document says it has.
    pub handoff_id: Option<String>,
    pub authority: Option<String>,
    pub completeness: Option<String>,
    /// Whether the author asks for an authoritative handoff, in so many words.
    pub complete: Option<String>,
    pub files_omitted: Option<String>,
    /// Fields that this version does not know, as JSON text.
    pub unknown: Option<String>,
    /// The schema that a JSON packet names.
    pub schema: Option<String>,
}

/// Where the value of a key goes.
pub(super) enum Slot<'a> {
    /// A single text.
    Text(&'a mut Option<String>),
    /// Several texts.
    Texts(&'a mut Vec<String>),
}

impl Claims {
    /// Where the value of this key goes, which may be the one of the YAML block or the one of the JSON.
    pub(super) fn slot(&mut self, key: &str) -> Option<Slot<'_>> {
        Some(Slot::Text(match key {
            "session_id" => &mut self.session_id,
            "created" => &mut self.created,
            "source_agent" | "agent" => &mut self.agent,
            "source_model" | "model" => &mut self.model,
            "agent_session" => &mut self.agent_session,
            "agent_turn" => &mut self.agent_turn,
            "trigger" => &mut self.trigger,
            "status" => &mut self.status,
            "goal_status" => &mut self.goal_status,
            "topic" => &mut self.topic,
            "working_directory" => &mut self.working_directory,
            "branch" => &mut self.branch,
            "commit" => &mut self.commit,
            "dirty" => &mut self.dirty,
            "previous_handoff" | "previous" => &mut self.previous,
            "previous_session" => &mut self.previous_session,
            "resumed_handoff" => &mut self.resumed_handoff,
            "resumed_from" => &mut self.resumed_from,
            "boundary" => &mut self.boundary,
            "handoff_id" => &mut self.handoff_id,
            "authority" => &mut self.authority,
            "completeness" => &mut self.completeness,
            "complete" => &mut self.complete,
            "files_omitted" => &mut self.files_omitted,
            "unknown" => &mut self.unknown,
            "schema" => &mut self.schema,
            "supersedes" => return Some(Slot::Texts(&mut self.supersedes)),
            "allowed_findings" => return Some(Slot::Texts(&mut self.allowed_findings)),
            _ => return None,
        }))
    }

    /// Refuses a document that claims to do more than inform.
    pub(super) fn check_authority(&self) -> Result<(), DocumentError> {
        let other = self.authority.as_deref().filter(|authority| *authority != AUTHORITY);
        let expected = "'inform_only', the only authority that a document has by itself";
        other.map_or(Ok(()), |authority| Err(malformed(authority, "authority", expected)))
    }

    /// How many more files there were than are listed.
    pub(super) fn files_omitted(&self) -> Result<u64, DocumentError> {
        let Some(text) = self.files_omitted.as_deref() else { return Ok(0) };
        text.parse().map_err(|_| malformed(text, "files_omitted", "a number"))
    }

    /// The fields that this version does not know.
    pub(super) fn unknown(&self) -> Result<Map<String, Value>, DocumentError> {
        let read = |json: &str| serde_json::from_str(json).map_err(DocumentError::Json);
        self.unknown.as_deref().map_or_else(|| Ok(Map::new()), read)
    }
}

/// The metadata as it was read: the keys that have a meaning, and the others.
#[derive(Default)]
pub(super) struct Block {
    /// The keys that have a meaning.
    pub(super) claims: Claims,
    /// The others.
    pub(super) other: Map<String, Value>,
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(BlockVisitor)
    }
}

/// Reads every scalar with a meaning as the text that it was written as: a branch may be called `no` or `1e3`.
struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = Block;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Block, A::Error> {
        let mut block = Block::default();
        while let Some(key) = map.next_key::<String>()? {
            match block.claims.slot(&key) {
                Some(Slot::Text(text)) => *text = map.next_value()?,
                Some(Slot::Texts(texts)) => *texts = map.next_value::<Option<_>>()?.unwrap_or_default(),
                None => {
                    block.other.insert(key, map.next_value()?);
                }
            }
        }
        Ok(block)
    }

    fn visit_unit<E>(self) -> Result<Block, E> {
        Ok(Block::default())
    }
}

/// Reads a block whose first line is this line of the document.
pub(super) fn read(yaml: &str, first_line: usize) -> Result<Block, DocumentError> {
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Block::default());
    }
    super::yaml::read(yaml, first_line)
}

/// The block of a handoff: first the keys for people, then those which make the document complete.
pub(super) fn render(handoff: &Handoff, names: &Names) -> String {
    let metadata = &handoff.metadata;
    let mut out = String::new();
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let gap = if value.starts_with('\n') { "" } else { " " };
            out.push_str(&format!("{key}:{gap}{value}\n"));
        }
    };
    let text = |text: &Option<String>| text.as_deref().map(scalar);
    line("session_id", Some(names.session.stem()));
    line("created", Some(handoff.created.to_string()));
    line("source_agent", Some(scalar(handoff.agent.as_str())));
    line("source_model", text(&metadata.model));
    line("trigger", Some(handoff.trigger.to_string()));
    line("status", Some(handoff.status.to_string()));
    line("goal_status", metadata.goal_status.map(|status| status.to_string()));
    line("topic", Some(scalar(handoff.topic.as_str())));
    line("working_directory", text(&metadata.working_directory));
    line("branch", text(&metadata.branch));
    line("commit", metadata.commit.map(|commit| scalar(&commit.to_string())));
    let previous = names.previous.as_ref().map(ToString::to_string);
    let resumed_from = names.resumed_from.clone();
    line("previous_session", name_of(metadata.previous.as_ref(), previous));
    line("resumed_from", name_of(metadata.resumed_from.as_ref(), resumed_from));
    line("handoff_id", Some(scalar(&names.id.to_string())));
    line("previous_handoff", id_of(metadata.previous.as_ref()));
    line("resumed_handoff", id_of(metadata.resumed_from.as_ref()));
    line("supersedes", sequence(metadata.supersedes.iter().map(Link::to_string)));
    line("agent_session", text(&metadata.agent_session));
    line("agent_turn", text(&metadata.agent_turn));
    line("boundary", text(&metadata.boundary));
    line("dirty", metadata.dirty.map(|dirty| dirty.to_string()));
    line("allowed_findings", sequence(metadata.allowed_findings.iter().cloned()));
    line("authority", Some(AUTHORITY.into()));
    line("completeness", Some(handoff.completeness.to_string()));
    let omitted = handoff.content.files_omitted;
    line("files_omitted", (omitted > 0).then(|| omitted.to_string()));
    line("unknown", unknown(&handoff.unknown));
    out
}

/// What people read of a link: its name where it is known, or the text that it consists of.
fn name_of(link: Option<&Link>, name: Option<String>) -> Option<String> {
    match link? {
        Link::Id(_) => name.as_deref().map(scalar),
        Link::Text(text) => Some(scalar(text)),
    }
}

fn id_of(link: Option<&Link>) -> Option<String> {
    link.and_then(Link::id).map(|id| scalar(&id.to_string()))
}

fn sequence(texts: impl Iterator<Item = String>) -> Option<String> {
    let lines: String = texts.map(|text| format!("\n  - {}", scalar(&text))).collect();
    (!lines.is_empty()).then_some(lines)
}

fn unknown(fields: &Map<String, Value>) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let bytes = canonical_bytes(&Value::Object(fields.clone()));
    Some(scalar(&String::from_utf8(bytes).expect("canonical JSON is UTF-8")))
}
