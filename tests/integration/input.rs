//! What people type and what files contain, when it makes no sense.

use crate::sandbox::{Sandbox, body};

fn refused(input: impl AsRef<[u8]>, args: &[&str], exit: i32) -> String {
    let sandbox = Sandbox::repository();
    let mut all = vec!["create", "--from", "-"];
    all.extend(args);
    let err = sandbox.handoff_with(&all, &input).refused(exit);
    assert_eq!(sandbox.git(&["for-each-ref", "refs/handoffs", "refs/notes"]), "", "nothing is half written");
    assert!(!sandbox.exists(".agent") && !sandbox.exists(".session-transfer"), "nothing is half written");
    if !input.as_ref().iter().all(u8::is_ascii_whitespace) {
        let drafts = sandbox.cwd().join(".git/git-handoff-state/drafts");
        assert_eq!(std::fs::read_dir(drafts).expect("drafts").count(), 1, "what was typed is kept: {err}");
    }
    err
}

#[test]
fn an_empty_topic() {
    assert!(refused(body("x"), &[""], 2).contains("the topic is empty"));
}

#[test]
fn a_missing_topic() {
    assert!(refused(body("x"), &[], 2).contains("topic"));
}

#[test]
fn a_topic_with_control_characters_traversal_or_ten_thousand_characters() {
    assert!(refused(body("x"), &["two\nlines"], 2).contains("U+000A"));
    assert!(refused(body("x"), &["../../etc"], 2).contains("'..'"));
    assert!(refused(body("x"), &[&"x".repeat(10_000)], 4).contains("10000 characters"));
}

#[test]
fn words_that_do_not_exist_are_refused_with_those_that_do() {
    assert!(
        refused(body("x"), &["t", "--status", "finished?"], 2)
            .contains("completed, in-progress, partial, blocked, interrupted")
    );
    assert!(
        refused(body("x"), &["t", "--trigger", "whenever"], 2).contains("manual, goal-completion, substantial-work")
    );
}

#[test]
fn input_that_is_no_text() {
    assert!(refused(b"## Current State\nnul \0 byte", &["t"], 2).contains("NUL"));
    assert!(refused(b"## Current State\n\xff\xfe", &["t"], 2).contains("UTF-8"));
}

#[test]
fn json_that_is_cut_off_or_of_the_wrong_kind() {
    assert!(refused(r#"{"topic": "x", "objective": "#, &["t"], 2).contains("JSON"));
    assert!(refused(r#"{"decisions": "one"}"#, &["t"], 2).contains("decisions"));
    assert!(refused("{".repeat(100_000), &["t"], 2).contains("JSON"));
}

#[test]
fn empty_blank_and_placeholder_bodies() {
    refused("", &["empty"], 4);
    refused("\n\n", &["blank"], 4);
    refused(
        "## Current State Summary\n[TODO: describe]\n## Next Recommended Action\n[TODO: one action]\n",
        &["template"],
        4,
    );
}

#[test]
fn more_than_256_kib_or_a_thousand_entries() {
    let large = format!("{}\n## Notes\n{}\n", body("x"), "long line of notes. ".repeat(14_000));
    assert!(refused(large, &["t"], 4).contains("bytes"));
    let many = format!("{}\n## Constraints\n{}\n", body("x"), "- one more\n".repeat(1001));
    assert!(refused(many, &["t"], 4).contains("1001 entries"));
}

#[test]
fn a_file_that_is_not_there() {
    let sandbox = Sandbox::repository();
    let err = sandbox.handoff(&["create", "--from", "missing.md", "t"]).refused(1);
    assert!(err.contains("missing.md"), "{err}");
}

#[test]
fn topics_of_every_kind_come_back_as_they_were() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    let topics = [
        "fix: parser (part 2)",
        "it's \"quoted\"",
        "- dash first",
        "@handle and `tick`",
        "# hash",
        "{a: [b]}",
        "yes",
        "null",
        "2026-01-01",
        "1e3",
        "| pipe | cell |",
        "back\\slash\\n",
        "😀 emoji",
        "مرحبا",
        "  spaces  ",
        "<!-- x -->",
        "%d %s",
        "--",
    ];
    for (at, topic) in topics.iter().enumerate() {
        sandbox.clock(&format!("2026-08-18T10:{at:02}:00Z"));
        let id = sandbox.create(topic, &[]);
        let shown = sandbox.handoff(&["show", &id, "--json"]).json();
        assert_eq!(shown["document"]["topic"], *topic);
    }
    let listed = sandbox.handoff(&["list", "--all", "--json"]).json();
    let mut listed: Vec<_> =
        listed.as_array().expect("a list").iter().map(|item| item["topic"].as_str().expect("text")).collect();
    listed.reverse();
    assert_eq!(listed, topics);
    let lines = sandbox.read(".codex/handoffs.jsonl");
    let read: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("one record a line")).collect();
    assert_eq!(read.iter().map(|record| record["topic"].as_str().expect("text")).collect::<Vec<_>>(), topics);
    let index = sandbox.read(".codex/INDEX.md");
    assert_eq!(index.lines().filter(|line| line.starts_with('|')).count(), 2 + 10);
}

#[test]
fn agents_names_that_break_file_systems_are_refused_or_share_the_common_directory() {
    let mut sandbox = Sandbox::repository();
    for (agent, exit) in [
        ("con", 0),
        ("aux", 0),
        ("NUL", 0),
        ("Codex", 0),
        ("codex", 0),
        ("my agent", 2),
        ("trailing.", 2),
        ("a:b", 2),
        ("ünï", 2),
        ("../../x", 2),
        ("/tmp/abs", 2),
        ("..", 2),
        (".git", 2),
        ("-rf", 2),
        ("~", 2),
        ("$(touch pwn)", 2),
    ] {
        sandbox.clock("2026-08-18T10:00:00Z");
        let ran = sandbox.handoff_with(
            &["create", "--agent", agent, "--from", "-", &format!("by {exit} {}", agent.len())],
            body(agent),
        );
        assert_eq!(ran.code, exit, "{agent}: {}", ran.err);
    }
    let found = sandbox.run("find", &[".", "-path", "./.git", "-prune", "-o", "-print"], b"").ok();
    assert!(!found.to_lowercase().contains("con/") && !found.contains("pwn"), "{found}");
    let list = sandbox.handoff(&["list", "--json"]).json();
    let agents: Vec<_> =
        list.as_array().expect("a list").iter().map(|item| item["agent"].as_str().expect("text")).collect();
    assert_eq!(agents.iter().filter(|agent| **agent == "codex").count(), 2);
    assert!(agents.contains(&"con") && agents.contains(&"nul"));
}

#[test]
fn an_unknown_option_is_a_usage_error_in_both_faces() {
    let sandbox = Sandbox::repository();
    assert!(sandbox.handoff(&["list", "--frobnicate"]).refused(2).contains("--frobnicate"));
    assert_eq!(sandbox.handoff(&["list", "--frobnicate", "--json"]).error_code(2), "USAGE");
}

#[test]
fn a_clock_that_is_no_time_is_refused() {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("yesterday");
    assert!(sandbox.handoff(&["list"]).refused(2).contains("HANDOFF_NOW"));
}

#[test]
fn the_hour_that_happens_twice_is_ordered_by_instants() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.set("TZ", "America/New_York");
    for (at, topic) in [("05:30", "first"), ("06:10", "second"), ("06:30", "third")] {
        sandbox.clock(&format!("2026-11-01T{at}:00Z"));
        sandbox.create(topic, &[]);
    }
    let names: Vec<String> = sandbox
        .handoff(&["list"])
        .ok()
        .lines()
        .map(|line| line.split_whitespace().nth(1).expect("a name").into())
        .collect();
    assert_eq!(names, ["codex/2026-11-01-0130-2", "codex/2026-11-01-0110", "codex/2026-11-01-0130"]);
    sandbox.set("TZ", "UTC");
    assert_eq!(sandbox.handoff(&["resume", "--json"]).json()["handoff"]["topic"], "third");
}
