//! Reading the Markdown that this tool wrote: strict about the metadata, as generous as input about the rest.

use super::TITLE;
use super::body::{add_extra, read_extra, read_field, read_others};
use super::error::DocumentError;
use super::fields::{METADATA, Meaning, PREAMBLE, meaning};
use super::metadata::{self, Block, Claims};
use super::sections::{Document, Levels, Section, cut, headings};
use super::typed::{parsed, truth};
use crate::model::{Content, EventId, Handoff, Link, Metadata, normalised};

/// A handoff read from its Markdown, with what the file says about itself and the log decides.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedView {
    /// The document.
    pub handoff: Handoff,
    /// The id that the file says the document has; [`id`](super::id) tells whether that is still true.
    pub claimed_id: Option<EventId>,
    /// The session's name that the file gives, without the agent.
    pub session_id: Option<String>,
}

/// Reads a rendered document. Line ends and a byte-order mark do not matter.
///
/// # Errors
/// When it does not begin like one, or its metadata lacks something or holds what is not allowed. Every error
/// names the line.
pub fn parse_view(text: &str) -> Result<ParsedView, DocumentError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let document = cut(&text, &headings(&text), Levels::Second);
    if document.title != Some(TITLE) {
        return Err(DocumentError::NotAView { line: 1, expected: "'# Session Handoff'" });
    }
    let mut content = Content::default();
    let block = read_document(&document, &mut content)?;
    let Some(Located { block, line }) = block else {
        let expected = "'## Metadata' with a code block in YAML";
        return Err(DocumentError::NotAView { line: 1, expected });
    };
    handoff(block, content).map_err(|error| error.at(line))
}

/// A metadata block and the line of its heading.
pub(super) struct Located {
    pub(super) block: Block,
    pub(super) line: usize,
}

/// Reads every section into the content, but for the metadata, which is returned.
pub(super) fn read_document(document: &Document<'_>, content: &mut Content) -> Result<Option<Located>, DocumentError> {
    let mut metadata = None;
    let preamble = normalised(document.preamble);
    if !preamble.is_empty() {
        add_extra(PREAMBLE, preamble, content);
    }
    for section in &document.sections {
        let Section { heading, body, line } = *section;
        let read = match meaning(heading) {
            Meaning::Metadata => match yaml_block(section) {
                Some(yaml) if metadata.is_none() => {
                    metadata = Some(Located { block: metadata::read(yaml.text, yaml.line)?, line });
                    read_extra(heading, yaml.rest, content)
                }
                _ => read_extra(heading, body, content),
            },
            Meaning::Field(field) => read_field(field, heading, body, content),
            Meaning::OtherSections => read_others(heading, body, content),
            Meaning::Unknown => read_extra(heading, body, content),
        };
        read.map_err(|error| error.at(line))?;
    }
    Ok(metadata)
}

/// The YAML in the metadata's section.
pub(super) struct YamlBlock<'a> {
    text: &'a str,
    /// The line of the document on which it begins.
    line: usize,
    /// What follows it in the section.
    rest: &'a str,
}

/// The code block in YAML with which a section begins.
pub(super) fn yaml_block<'a>(section: &Section<'a>) -> Option<YamlBlock<'a>> {
    let body = section.body;
    let start = body.find(|c: char| !c.is_whitespace())?;
    let (first, rest) = body[start..].split_once('\n')?;
    let open = super::list::fence(first)?;
    let language = first[open.1..].trim();
    if !["yaml", "yml", ""].contains(&language) {
        return None;
    }
    let line = section.line + 2 + body[..start].matches('\n').count();
    let mut end = 0;
    for inner in rest.split_inclusive('\n') {
        if super::list::closes(inner, open) {
            return Some(YamlBlock { text: &rest[..end], line, rest: &rest[end + inner.len()..] });
        }
        end += inner.len();
    }
    None
}

/// The document that consists of these metadata and this content.
fn handoff(block: Block, mut content: Content) -> Result<ParsedView, DocumentError> {
    let Block { claims, other } = block;
    claims.check_authority()?;
    content.files_omitted = claims.files_omitted()?;
    let mut unknown = claims.unknown()?;
    unknown.extend(other);
    let need = |value: &Option<String>, field| value.clone().ok_or(DocumentError::Missing { field });
    let handoff = Handoff {
        created: parsed(&need(&claims.created, "created")?, "created")?,
        agent: parsed(&need(&claims.agent, "source_agent")?, "source_agent")?,
        trigger: parsed(&need(&claims.trigger, "trigger")?, "trigger")?,
        status: parsed(&need(&claims.status, "status")?, "status")?,
        topic: parsed(&need(&claims.topic, "topic")?, "topic")?,
        completeness: parsed(&need(&claims.completeness, "completeness")?, "completeness")?,
        metadata: metadata_of(&claims)?,
        content,
        unknown,
    };
    let claimed_id = claims.handoff_id.as_deref().map(|text| parsed(text, "handoff_id")).transpose()?;
    Ok(ParsedView { handoff, claimed_id, session_id: claims.session_id })
}

fn metadata_of(claims: &Claims) -> Result<Metadata, DocumentError> {
    let link = |id: &Option<String>, name: &Option<String>| id.as_deref().or(name.as_deref()).map(Link::from);
    Ok(Metadata {
        model: claims.model.clone(),
        agent_session: claims.agent_session.clone(),
        agent_turn: claims.agent_turn.clone(),
        goal_status: claims.goal_status.as_deref().map(|text| parsed(text, "goal_status")).transpose()?,
        working_directory: claims.working_directory.clone(),
        branch: claims.branch.clone(),
        commit: claims.commit.as_deref().map(|text| parsed(text, "commit")).transpose()?,
        dirty: claims.dirty.as_deref().map(|text| truth(text, "dirty")).transpose()?,
        previous: link(&claims.previous, &claims.previous_session),
        resumed_from: link(&claims.resumed_handoff, &claims.resumed_from),
        supersedes: claims.supersedes.iter().map(|text| Link::from(text.as_str())).collect(),
        boundary: claims.boundary.clone(),
        allowed_findings: claims.allowed_findings.clone(),
    })
}

/// Whether a document has the metadata block that this tool writes.
pub(super) fn has_metadata(document: &Document<'_>) -> bool {
    document.sections.iter().any(|section| section.heading == METADATA && yaml_block(section).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::error::told;

    const VIEW: &str = "# Session Handoff\n\n## Metadata\n\n```yaml\ncreated: 2026-08-18T17:04:00+03:00\nsource_agent: codex\ntrigger: manual\nstatus: in-progress\ntopic: billing\nprevious_session: claude/2026-08-18-1401\ncompleteness: partial\n```\n";

    fn refusal(text: &str) -> String {
        told(&parse_view(text).expect_err("no view"))
    }

    #[test]
    fn a_name_stands_for_the_link_where_no_id_does() {
        let view = parse_view(VIEW).expect("a view");
        assert_eq!(view.handoff.metadata.previous, Some(Link::Text("claude/2026-08-18-1401".into())));
        assert_eq!((view.claimed_id, view.session_id), (None, None));
    }

    #[test]
    fn what_a_person_adds_makes_it_another_document() {
        let edited =
            VIEW.replace("topic:", "mood: good\ntopic:").replace("# Session Handoff\n", "# Session Handoff\n\nHello\n");
        let handoff = parse_view(&edited).expect("a view").handoff;
        assert_eq!(handoff.unknown["mood"], "good");
        assert_eq!(handoff.content.extra["Preamble"], "Hello");
    }

    #[test]
    fn every_refusal_names_its_line() {
        let cases = [
            ("# Another\n".to_owned(), "line 1: expected '# Session Handoff'"),
            ("# Session Handoff\n".to_owned(), "line 1: expected '## Metadata' with a code block in YAML"),
            (VIEW.replace("topic: billing\n", ""), "on line 3: 'topic' is missing"),
            (
                VIEW.replace("partial", "full"),
                "on line 3: 'completeness' has a value that is not allowed: 'full' is not a completeness; use one of authoritative_for_continuation, partial",
            ),
            (
                VIEW.replace("codex", "[a]"),
                "the metadata cannot be read as YAML: expected string scalar at line 7, column 15",
            ),
            (
                format!("{VIEW}\n## Risks\n\n```json handoff-value\n{{}}\n```\n"),
                "on line 15: 'known_failures' must be a list of strings, not an object",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(refusal(&text), expected);
        }
    }
}
