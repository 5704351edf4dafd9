//! Whole documents, compared whole.

use serde_json::json;

use super::*;
use crate::model::{
    Change, Completeness, Content, Evidence, FileEntry, Handoff, Link, Metadata, Observer, Outcome, Status, Trigger,
};

const PREVIOUS: &str = "04be71c204be71c204be71c204be71c204be71c204be71c204be71c204be71c2";

/// The handoff of the example.
pub(super) fn billing() -> Handoff {
    let previous = Link::from(PREVIOUS);
    let file = |path: &str, change| FileEntry { path: path.into(), change: Some(change), ..FileEntry::default() };
    let evidence = |command: &str, outcome, observed_by| Evidence {
        command: Some(command.into()),
        outcome: Some(outcome),
        detail: None,
        observed_by,
    };
    Handoff {
        created: "2026-08-18T17:04:00+03:00".parse().expect("a time"),
        agent: "codex".parse().expect("a name"),
        trigger: Trigger::SubstantialWork,
        status: Status::InProgress,
        topic: "billing-system".parse().expect("a topic"),
        metadata: Metadata {
            model: Some("gpt-5.6".into()),
            working_directory: Some(".".into()),
            branch: Some("feat/billing".into()),
            commit: Some("3f786850e387550fdab836ed7e6dc881de23001b".parse().expect("a commit")),
            previous: Some(previous.clone()),
            resumed_from: Some(previous),
            ..Metadata::default()
        },
        content: Content {
            objective: Some("Charge cards through the new gateway.".into()),
            current_state: Some("The adapter compiles; refunds are not wired.".into()),
            completed_steps: vec!["Added the gateway adapter in `src/gateway.rs`".into()],
            files_changed: vec![file("src/gateway.rs", Change::Modified), file("tests/gateway.rs", Change::Added)],
            decisions: vec!["One retry only: the gateway is not idempotent without a key.".into()],
            verification_evidence: vec![
                evidence("cargo test gateway", Outcome::Passed, Observer::Tool),
                evidence("cargo clippy", Outcome::NotRun, Observer::Author),
            ],
            known_failures: vec!["The sandbox gateway drops one call in ten.".into()],
            pending_steps: vec!["Wire refunds".into()],
            next_action: Some("Write the failing refund test in `tests/gateway.rs`, then make it pass.".into()),
            resume_instructions: Some("Use the sandbox key from the vault, never the live one.".into()),
            ..Content::default()
        },
        completeness: Completeness::Partial,
        unknown: serde_json::Map::new(),
    }
}

pub(super) fn names(handoff: &Handoff) -> Names {
    let earlier = "2026-08-18T14:01:00+03:00".parse().expect("a time");
    Names {
        id: id(handoff),
        session: SessionName::new(handoff.agent.clone(), handoff.created, 1),
        previous: Some(SessionName::new("claude".parse().expect("a name"), earlier, 1)),
        resumed_from: Some(".claude/handoffs/2026-08-18-1401.md".into()),
    }
}

const EXAMPLE: &str = "\
# Session Handoff

## Metadata

```yaml
session_id: 2026-08-18-1704
created: 2026-08-18T17:04:00+03:00
source_agent: codex
source_model: gpt-5.6
trigger: substantial-work
status: in-progress
topic: billing-system
working_directory: .
branch: feat/billing
commit: 3f786850e387550fdab836ed7e6dc881de23001b
previous_session: claude/2026-08-18-1401
resumed_from: .claude/handoffs/2026-08-18-1401.md
handoff_id: {id}
previous_handoff: 04be71c204be71c204be71c204be71c204be71c204be71c204be71c204be71c2
resumed_handoff: 04be71c204be71c204be71c204be71c204be71c204be71c204be71c204be71c2
authority: inform_only
completeness: partial
```

## Objective

Charge cards through the new gateway.

## Current State

The adapter compiles; refunds are not wired.

## Work Completed

- Added the gateway adapter in `src/gateway.rs`

## Files Changed

- M src/gateway.rs
- A tests/gateway.rs

## Architecture & Decisions

- One retry only: the gateway is not idempotent without a key.

## Verification

- passed: `cargo test gateway` (observed)
- not-run: `cargo clippy`

## Issues / Risks

- The sandbox gateway drops one call in ten.

## Remaining Work

1. Wire refunds

## Next Recommended Action

Write the failing refund test in `tests/gateway.rs`, then make it pass.

## Resume Instructions

Use the sandbox key from the vault, never the live one.
";

const GOLDEN_ID: &str = "abf713ab7832c36900c41bb06f8bc0970d3907020d7248e1f5313c6ea98c10ed";
const GOLDEN: &str = "\
{\"agent\":\"codex\",\"authority\":\"inform_only\",\"branch\":\"feat/billing\",\"commit\":\"3f786850e387550fdab836e\
d7e6dc881de23001b\",\"completed_steps\":[\"Added the gateway adapter in `src/gateway.rs`\"],\"completeness\
\":\"partial\",\"created\":\"2026-08-18T17:04:00+03:00\",\"current_state\":\"The adapter compiles; refunds ar\
e not wired.\",\"decisions\":[\"One retry only: the gateway is not idempotent without a key.\"],\"files_ch\
anged\":[{\"change\":\"M\",\"path\":\"src/gateway.rs\"},{\"change\":\"A\",\"path\":\"tests/gateway.rs\"}],\"known_fail\
ures\":[\"The sandbox gateway drops one call in ten.\"],\"model\":\"gpt-5.6\",\"next_action\":\"Write the fail\
ing refund test in `tests/gateway.rs`, then make it pass.\",\"objective\":\"Charge cards through the ne\
w gateway.\",\"pending_steps\":[\"Wire refunds\"],\"previous\":\"04be71c204be71c204be71c204be71c204be71c204b\
e71c204be71c204be71c2\",\"resume_instructions\":\"Use the sandbox key from the vault, never the live one\
.\",\"resumed_from\":\"04be71c204be71c204be71c204be71c204be71c204be71c204be71c204be71c2\",\"schema\":\"hando\
ff/v1\",\"status\":\"in-progress\",\"topic\":\"billing-system\",\"trigger\":\"substantial-work\",\"verification_ev\
idence\":[{\"command\":\"cargo test gateway\",\"observed_by\":\"tool\",\"outcome\":\"passed\"},{\"command\":\"cargo \
clippy\",\"observed_by\":\"author\",\"outcome\":\"not-run\"}],\"working_directory\":\".\"}";

#[test]
fn the_bytes_and_the_id_of_a_document_never_change() {
    let handoff = billing();
    assert_eq!(String::from_utf8(canonical(&handoff)).expect("UTF-8"), GOLDEN);
    assert_eq!(id(&handoff).to_string(), GOLDEN_ID);
}

#[test]
fn the_example_is_rendered_as_the_format_says() {
    let handoff = billing();
    assert_eq!(render(&handoff, &names(&handoff)), EXAMPLE.replace("{id}", GOLDEN_ID));
}

#[test]
fn the_example_reads_back_with_what_it_claims() {
    let handoff = billing();
    let view = parse_view(&EXAMPLE.replace("{id}", GOLDEN_ID)).expect("a view");
    let claimed_id = Some(id(&handoff));
    assert_eq!(view, ParsedView { handoff, claimed_id, session_id: Some("2026-08-18-1704".into()) });
}

#[test]
fn what_is_always_looked_for_is_there_even_when_nothing_is_known() {
    let handoff = Handoff { content: Content::default(), metadata: Metadata::default(), ..billing() };
    let names = Names { previous: None, resumed_from: None, ..names(&handoff) };
    let rendered = render(&handoff, &names);
    let (_, sections) = rendered.split_once("```\n\n").expect("the metadata");
    let expected = "\
## Objective

Not recorded.

## Current State

Not recorded.

## Next Recommended Action

Not recorded.
";
    assert_eq!(sections, expected);
    assert_eq!(parse_view(&rendered).expect("a view").handoff, handoff);
}

#[test]
fn everything_that_is_hashed_stands_in_the_markdown() {
    let mut handoff = billing();
    handoff.metadata = Metadata {
        agent_session: Some("0198".into()),
        agent_turn: Some("no".into()),
        goal_status: Some(Status::Blocked),
        branch: Some("1e3".into()),
        dirty: Some(true),
        previous: Some(Link::Text("codex/yesterday: or so".into())),
        resumed_from: None,
        supersedes: vec![Link::from(PREVIOUS), Link::Text("null".into())],
        boundary: Some("main\u{1b}[2J".into()),
        allowed_findings: vec!["aws-access-token:0123456789abcdef".into()],
        ..handoff.metadata
    };
    handoff.content = Content {
        files_omitted: 12,
        files_changed: vec![FileEntry {
            path: "src/new.rs".into(),
            change: Some(Change::Renamed),
            from: Some("src/old.rs".into()),
            blob: Some("3f786850e387550fdab836ed7e6dc881de23001b".parse().expect("a blob")),
            note: Some("moved".into()),
        }],
        current_state: Some("## Objective\n\nis a heading".into()),
        next_action: Some("Not recorded.".into()),
        known_failures: vec!["bell \u{7}".into()],
        extra: [("Notes", "as\n\nwritten"), ("Objective", "a second one"), ("a\nb", "")]
            .map(|(heading, text)| (heading.to_owned(), text.to_owned()))
            .into(),
        ..Content::default()
    };
    handoff.unknown = json!({"later": {"n": 1, "s": "\u{202e}"}}).as_object().expect("an object").clone();
    let rendered = render(&handoff, &names(&handoff)).replace(&id(&handoff).to_string(), "{id}");
    let expected = r#"# Session Handoff

## Metadata

```yaml
session_id: 2026-08-18-1704
created: 2026-08-18T17:04:00+03:00
source_agent: codex
source_model: gpt-5.6
trigger: substantial-work
status: in-progress
goal_status: blocked
topic: billing-system
working_directory: .
branch: "1e3"
commit: 3f786850e387550fdab836ed7e6dc881de23001b
previous_session: "codex/yesterday: or so"
handoff_id: {id}
supersedes:
  - 04be71c204be71c204be71c204be71c204be71c204be71c204be71c204be71c2
  - "null"
agent_session: "0198"
agent_turn: "no"
boundary: "main\u001b[2J"
dirty: true
allowed_findings:
  - "aws-access-token:0123456789abcdef"
authority: inform_only
completeness: partial
files_omitted: 12
unknown: "{\"later\":{\"n\":1,\"s\":\"\u202e\"}}"
```

## Objective

Not recorded.

## Current State

```text handoff-value
## Objective

is a heading
```

## Files Changed

- R src/new.rs (from src/old.rs) (blob 3f786850e387550fdab836ed7e6dc881de23001b): moved

## Issues / Risks

```json handoff-value
[
  "bell \u0007"
]
```

## Next Recommended Action

```text handoff-value
Not recorded.
```

## Notes

as

written

## Other Sections

```json handoff-value
{
  "Objective": "a second one",
  "a\nb": ""
}
```
"#;
    assert_eq!(rendered, expected);
    let read = parse_view(&rendered.replace("{id}", &id(&handoff).to_string())).expect("a view");
    assert_eq!(read.handoff, handoff);
}
