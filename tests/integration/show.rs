//! `show` and `log`: one handoff, and how they hang together.

use crate::sandbox::{Sandbox, body};

#[test]
fn a_handoff_is_found_by_id_prefix_name_file_and_latest() {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox.set("HANDOFF_AGENT", "codex");
    let id = sandbox.create("one", &[]);
    for reference in [&id[..], &id[..6], "codex/2026-08-18-1704", ".codex/handoffs/2026-08-18-1704.md", "@latest"] {
        assert_eq!(sandbox.handoff(&["show", reference, "--quiet"]).ok().trim(), id, "{reference}");
    }
}

#[test]
fn an_ambiguous_name_lists_the_candidates() {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:04:00+03:00");
    let mut first = std::collections::BTreeMap::new();
    let pair = loop {
        let id = sandbox.create(&format!("topic {}", first.len()), &[]);
        if let Some(other) = first.insert(id[..1].to_owned(), id.clone()) {
            break (other, id);
        }
    };
    // Ids of four equal digits are too rare to wait for; what is tested is that three are refused and four looked up.
    sandbox.handoff(&["show", &pair.0[..3]]).refused(2);
    assert_eq!(sandbox.handoff(&["show", &pair.0[..4], "--quiet"]).ok().trim(), pair.0);
}

#[test]
fn what_is_not_there_is_not_guessed() {
    let sandbox = Sandbox::repository();
    assert_eq!(sandbox.handoff(&["show", "--json"]).error_code(3), "NOT_FOUND");
    assert_eq!(sandbox.handoff(&["show", "deadbeef", "--json"]).error_code(3), "NOT_FOUND");
    assert_eq!(sandbox.handoff(&["show", "no such thing", "--json"]).error_code(2), "USAGE");
}

#[test]
fn the_stored_bytes_are_printed_as_they_are() {
    let sandbox = Sandbox::repository();
    let id = sandbox.create("one", &[]);
    let stored = sandbox.git(&["cat-file", "blob", &format!("refs/handoffs/log:handoff/{id}.json")]);
    assert_eq!(sandbox.handoff(&["show", "--document"]).ok().trim_end(), stored);
}

#[test]
fn a_body_that_is_missing_is_an_error_and_never_an_empty_body() {
    let sandbox = Sandbox::repository();
    let id = sandbox.create("one", &[]);
    let blob = sandbox.git(&["rev-parse", &format!("refs/handoffs/log:handoff/{id}.json")]);
    std::fs::remove_file(sandbox.cwd().join(format!(".git/objects/{}/{}", &blob[..2], &blob[2..])))
        .expect("a loose object");
    assert_eq!(sandbox.handoff(&["show", &id, "--json"]).error_code(10), "HANDOFF_MISSING");
    let err = sandbox.handoff(&["resume", "--topic", "one"]).refused(10);
    assert!(err.contains(&format!("the body of {id} is missing in this repository")), "{err}");
}

#[test]
fn the_log_draws_which_handoff_continues_which() {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T10:00:00Z");
    sandbox.set("HANDOFF_AGENT", "codex");
    let first = sandbox.create("plan", &[]);
    sandbox.clock("2026-08-18T10:01:00Z");
    let other = sandbox.create("other", &[]);
    sandbox.clock("2026-08-18T10:02:00Z");
    sandbox.set("HANDOFF_AGENT", "claude");
    let second = sandbox.create("build", &["--continues-from", &first]);
    let head = &sandbox.git(&["rev-parse", "HEAD"])[..12];
    let node = |id: &str, session: &str| format!("{} {session} in-progress on main at {head}", &id[..12]);
    assert_eq!(
        sandbox.handoff(&["log"]).ok(),
        format!(
            "o  {}\n|  build\n| o  {}\n|    other\nx  {}\n   plan\n",
            node(&second, "claude/2026-08-18-1002"),
            node(&other, "codex/2026-08-18-1001"),
            node(&first, "codex/2026-08-18-1000"),
        )
    );
    let family = sandbox.handoff(&["log", &second, "--json"]).json();
    let ids: Vec<_> =
        family.as_array().expect("a list").iter().map(|node| node["id"].as_str().expect("text")).collect();
    assert_eq!(ids, [&second[..], &first[..]]);
    assert_eq!(family[0]["previous"], first);
}

#[test]
fn what_was_created_with_crlf_and_a_byte_order_mark_is_the_same_document() {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T10:00:00Z");
    let text = body("x");
    sandbox.create("before", &[]);
    sandbox.handoff_with(&["create", "--from", "-", "x"], &text).ok();
    let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let ran = sandbox.handoff_with(&["create", "--from", "-", "x"], crlf);
    assert!(ran.err.contains("already recorded"), "{}", ran.err);
}
