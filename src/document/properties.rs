//! What holds for every document, whatever its texts contain.

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::normal::normalise;
use super::*;
use crate::model::{
    AgentName, Change, Completeness, Content, Evidence, FileEntry, Handoff, Link, Metadata, ObjectName, Observer,
    Outcome, Scope, Status, Timestamp, Topic, Trigger,
};

/// Pieces of text of which each means something to some part of Markdown, YAML or JSON.
const PIECES: &[&str] = &[
    "a",
    "word",
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "```",
    "````",
    "~~~",
    "`",
    "``",
    "## ",
    "# ",
    "### ",
    "## Objective",
    "## Metadata",
    "\n## Z\n",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "[ ] ",
    "[x] ",
    "> ",
    "<!--",
    "-->",
    "<div>",
    "<script>",
    "<pre>",
    "---",
    "===",
    "***",
    ":",
    ": ",
    "#",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "|",
    "| a |",
    "no",
    "null",
    "~",
    "1e3",
    "2026-08-18",
    "&",
    "!",
    "%",
    "@",
    "é",
    "日本",
    "😀",
    "👩\u{200d}💻",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{200b}",
    "\u{1b}[2J",
    "\0",
    "\u{7f}",
    "\u{fffe}",
    "\u{e0041}",
    "Not recorded.",
    "TODO",
    "passed",
    "passed: ",
    "failed",
    "not run",
    " (observed)",
    "(blob ",
    "(from ",
    ")",
    "src/a.rs",
    " -> ",
    "M ",
    "Included:",
    "Excluded:",
    "None",
    "```json handoff-value",
    "```text handoff-value",
    "[a]: b",
    "${HOME}",
    "*",
    "_",
    "**",
    "\u{a0}",
    "...",
];

fn text() -> impl Strategy<Value = String> {
    let soup = vec(prop::sample::select(PIECES), 0..10).prop_map(|pieces| pieces.concat());
    prop_oneof![6 => soup, 1 => any::<String>(), 1 => "[a-z]{1,8}".prop_map(|line| line.repeat(700))]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..4)
}

fn word<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn object_name() -> impl Strategy<Value = ObjectName> {
    prop_oneof![vec(any::<u8>(), 20), vec(any::<u8>(), 32)]
        .prop_map(|bytes| ObjectName::from_bytes(&bytes).expect("a length that git has"))
}

fn link() -> impl Strategy<Value = Link> {
    let id = any::<[u8; 32]>().prop_map(|bytes| Link::Id(EventId::from_bytes(bytes)));
    prop_oneof![id, text().prop_map(|text| Link::from(text.as_str()))]
}

fn topic() -> impl Strategy<Value = Topic> {
    text().prop_map(|text| text.parse().unwrap_or_else(|_| "billing".parse().expect("a topic")))
}

fn created() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_102_444_800_000, -1439_i16..1440)
        .prop_map(|(millis, offset)| Timestamp::new(millis, offset).expect("a year before 2100"))
}

/// Values as they come back from canonical JSON.
fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>().prop_filter("a fraction", |float| float.fract() != 0.0).prop_map(|float| json!(float)),
        text().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    btree_map(text().prop_map(|name| format!("x{name}")), value, 0..3).prop_map(|map| map.into_iter().collect())
}

fn file() -> impl Strategy<Value = FileEntry> {
    let path = prop_oneof![text(), Just("src/gateway.rs".to_owned())];
    (path, of(word(Change::ALL)), of(text()), of(object_name()), of(text()))
        .prop_map(|(path, change, from, blob, note)| FileEntry { path, change, from, blob, note })
}

fn evidence() -> impl Strategy<Value = Evidence> {
    (of(text()), of(word(Outcome::ALL)), of(text()), word(Observer::ALL))
        .prop_map(|(command, outcome, detail, observed_by)| Evidence { command, outcome, detail, observed_by })
}

prop_compose! {
    fn metadata()(
        texts in [of(text()), of(text()), of(text()), of(text()), of(text()), of(text())],
        goal_status in of(word(Status::ALL)),
        commit in of(object_name()),
        dirty in of(any::<bool>()),
        links in [of(link()), of(link())],
        supersedes in vec(link(), 0..3),
        allowed_findings in texts(),
    ) -> Metadata {
        let [model, agent_session, agent_turn, working_directory, branch, boundary] = texts;
        let [previous, resumed_from] = links;
        Metadata {
            model, agent_session, agent_turn, goal_status, working_directory, branch, commit, dirty, previous,
            resumed_from, supersedes, boundary, allowed_findings,
        }
    }
}

prop_compose! {
    fn content()(
        prose in [of(text()), of(text()), of(text()), of(text()), of(text()), of(text()), of(text())],
        lists in [texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts()],
        files_changed in vec(file(), 0..3),
        files_omitted in 0_u64..9_007_199_254_740_991,
        verification_evidence in vec(evidence(), 0..3),
        extra in btree_map(text(), text(), 0..4),
    ) -> Content {
        let [objective, current_state, database_changes, api_changes, frontend_changes, next_action,
            resume_instructions] = prose;
        let [included, excluded, approved_plan, completed_steps, decisions, commands, known_failures, constraints,
            prerequisites, pending_steps, context_refs] = lists;
        Content {
            objective, scope: Scope { included, excluded }, current_state, approved_plan, completed_steps,
            files_changed, files_omitted, decisions, database_changes, api_changes, frontend_changes, commands,
            verification_evidence, known_failures, constraints, prerequisites, pending_steps, next_action,
            resume_instructions, context_refs, extra,
        }
    }
}

prop_compose! {
    fn handoff()(
        created in created(),
        agent in "[a-z0-9][a-z0-9._-]{0,20}[a-z0-9]",
        trigger in word(Trigger::ALL),
        status in word(Status::ALL),
        topic in topic(),
        metadata in metadata(),
        content in content(),
        completeness in word(Completeness::ALL),
        unknown in unknown(),
    ) -> Handoff {
        let agent = agent.parse().expect("a name");
        Handoff { created, agent, trigger, status, topic, metadata, content, completeness, unknown }
    }
}

fn names(handoff: &Handoff) -> Names {
    let session = SessionName::new(handoff.agent.clone(), handoff.created, 2);
    let previous =
        handoff.metadata.previous.as_ref().map(|_| SessionName::new(AgentName::unknown(), handoff.created, 1));
    Names { id: id(handoff), session, previous, resumed_from: Some(".agent/handoffs/x: y.md".into()) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_gives_the_document_back(handoff in handoff()) {
        let bytes = canonical(&handoff);
        let read = from_json(&bytes).expect("our own JSON");
        prop_assert_eq!(&read, &handoff);
        prop_assert_eq!(canonical(&read), bytes);
    }

    #[test]
    fn markdown_gives_the_document_back(handoff in handoff()) {
        let names = names(&handoff);
        let rendered = render(&handoff, &names);
        let view = parse_view(&rendered).expect("our own Markdown");
        prop_assert_eq!(&view.handoff, &handoff, "{}", rendered);
        prop_assert_eq!(view.claimed_id, Some(names.id));
        prop_assert_eq!(view.session_id, Some(names.session.stem()));
    }

    #[test]
    fn nothing_in_the_markdown_can_act_on_a_terminal(handoff in handoff()) {
        let rendered = render(&handoff, &names(&handoff));
        prop_assert_eq!(crate::model::visible(&rendered), rendered.as_str());
    }

    #[test]
    fn a_checkout_with_other_line_ends_is_the_same_document(handoff in handoff()) {
        let rendered = format!("\u{feff}{}", render(&handoff, &names(&handoff)).replace('\n', "\r\n"));
        prop_assert_eq!(parse_view(&rendered).expect("our own Markdown").handoff, handoff);
    }

    #[test]
    fn our_own_markdown_as_input_has_the_same_content(handoff in handoff()) {
        let input = read_input(render(&handoff, &names(&handoff)).as_bytes()).expect("our own Markdown");
        let mut expected = handoff.content;
        normalise(&mut expected);
        prop_assert_eq!(input.content, expected);
    }

    #[test]
    fn our_own_json_as_input_has_the_same_content(handoff in handoff()) {
        let packet = Handoff { unknown: Map::new(), ..handoff };
        let bytes = canonical(&packet);
        let mut expected = packet.content;
        normalise(&mut expected);
        prop_assert_eq!(read_input(&bytes).expect("our own JSON").content, expected);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused(bytes in vec(any::<u8>(), 0..400)) {
        let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
        prop_assert!(is_text || read_input(&bytes).is_err());
    }

    #[test]
    fn any_markdown_keeps_its_words(pieces in vec(prop::sample::select(PIECES), 0..40)) {
        let numbered = pieces.iter().enumerate().map(|(at, piece)| format!("{piece}word{at}."));
        let text = format!("## Notes\n\n{}", numbered.collect::<String>());
        if let Ok(input) = read_input(text.as_bytes()) {
            let kept = format!("{input:?}");
            let headings = text.lines().filter(|line| line.trim_start().starts_with('#'));
            let headings: String = headings.collect();
            for at in 0..pieces.len() {
                let word = format!("word{at}.");
                prop_assert!(kept.contains(&word) || headings.contains(&word), "{word} of {text}");
            }
        }
    }
}
