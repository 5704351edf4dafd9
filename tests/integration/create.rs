//! `create`: what it prints, what it stores, what it refuses.

use serde_json::json;

use crate::sandbox::{Sandbox, body};

fn at_a_fixed_time() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:09:00+03:00");
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox
}

#[test]
fn the_answer_is_the_four_lines_of_the_contract() {
    let sandbox = at_a_fixed_time();
    let out = sandbox.handoff_with(&["create", "billing", "--status", "done"], body("billing")).ok();
    assert_eq!(
        out,
        "Session handoff created.\nStatus: completed\nHandoff: .codex/handoffs/2026-08-18-1709.md\n\
         Global index updated: .session-transfer/INDEX.md\n"
    );
}

#[test]
fn quiet_prints_the_id_and_json_the_record() {
    let sandbox = at_a_fixed_time();
    let id = sandbox.create("one", &[]);
    assert_eq!(id.len(), 64);
    let record = sandbox.handoff_with(&["create", "--json", "two"], body("two")).json();
    assert_eq!(record["session"], "codex/2026-08-18-1709-2");
    assert_eq!(record["file"], ".codex/handoffs/2026-08-18-1709-2.md");
    assert_eq!((&record["status"], &record["stored"]), (&json!("in-progress"), &json!("log")));
    assert!(record["score"].as_u64().is_some_and(|score| (70..=100).contains(&score)));
}

#[test]
fn the_blob_in_the_log_is_named_by_its_own_hash() {
    let sandbox = at_a_fixed_time();
    let id = sandbox.create("one", &[]);
    let path = sandbox.git(&["ls-tree", "-r", "--name-only", "refs/handoffs/log"]);
    assert_eq!(path, format!("handoff/{id}.json"));
    sandbox.git(&["cat-file", "blob", &format!("refs/handoffs/log:{path}")]);
    let stored = sandbox.run("git", &["cat-file", "blob", &format!("refs/handoffs/log:{path}")], b"").ok();
    let sum = sandbox.run("sha256sum", &[], stored.as_bytes()).ok();
    assert!(sum.starts_with(&id), "{sum}");
    let subject = sandbox.git(&["log", "--format=%s", "refs/handoffs/log"]);
    assert_eq!(subject, "handoff codex/2026-08-18-1709 one (in-progress)");
    sandbox.git(&["fsck", "--strict"]);
}

#[test]
fn the_trailers_name_handoff_agent_and_source() {
    let sandbox = at_a_fixed_time();
    let id = sandbox.create("one", &[]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let trailers = sandbox.git(&["log", "--format=%(trailers:only,unfold)", "refs/handoffs/log"]);
    assert_eq!(trailers.trim(), format!("Handoff-Id: {id}\nHandoff-Agent: codex\nSource-Commit: {head}"));
}

#[test]
fn the_note_stands_on_the_source_commit() {
    let sandbox = at_a_fixed_time();
    let id = sandbox.create("one", &["--objective", "Ship the filter"]);
    let note = sandbox.git(&["log", "-1", "--notes=handoffs", "--format=%N"]);
    assert_eq!(note.trim(), format!("{} codex 2026-08-18T17:09 in-progress one: Ship the filter", &id[..12]));
}

#[test]
fn neither_index_nor_branch_nor_configuration_is_touched() {
    let sandbox = at_a_fixed_time();
    let state = |sandbox: &Sandbox| {
        let index = std::fs::read(sandbox.cwd().join(".git/index")).expect("there is an index");
        let modified = sandbox.cwd().join(".git/index").metadata().and_then(|meta| meta.modified()).expect("a time");
        (index, modified, sandbox.read(".git/config"), sandbox.git(&["for-each-ref", "refs/heads"]))
    };
    let before = state(&sandbox);
    sandbox.create("one", &[]);
    assert_eq!(state(&sandbox), before);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn flags_beat_the_document() {
    let sandbox = at_a_fixed_time();
    let id = sandbox.create("one", &["--next-action", "Ring Kim", "--objective", "Ship"]);
    let shown = sandbox.handoff(&["show", &id, "--json"]).json();
    assert_eq!(shown["document"]["next_action"], "Ring Kim");
    assert_eq!(shown["document"]["objective"], "Ship");
}

#[test]
fn a_json_packet_is_taken_and_its_unknown_fields_are_kept() {
    let sandbox = at_a_fixed_time();
    let packet = json!({
        "topic": "from json", "status": "blocked", "objective": "Ship the filter to everyone",
        "current_state": "The parser accepts the new form and its tests pass.",
        "next_action": "Write the failing test for empty input, then make it pass.",
        "pending_steps": ["Add the error path"], "decisions": ["One pass only, because two were slow"],
        "verification_evidence": [{"command": "cargo test", "outcome": "passed", "observed_by": "tool"}],
        "x_ticket": "ABC-1", "x_number": 7,
    });
    let out = sandbox.handoff_with(&["create", "--json", "--from", "-"], packet.to_string()).json();
    let shown = sandbox.handoff(&["show", "--json"]).json();
    assert_eq!((&out["status"], &shown["document"]["topic"]), (&json!("blocked"), &json!("from json")));
    assert_eq!(shown["document"]["extra"]["x_ticket"], "ABC-1");
    assert_eq!(shown["document"]["x_number"], 7);
    assert_eq!(shown["document"]["verification_evidence"][0]["observed_by"], "author");
}

#[test]
fn git_fills_in_what_the_author_left_out() {
    let sandbox = at_a_fixed_time();
    sandbox.git(&["checkout", "-qb", "feat"]);
    sandbox.commit("src/gateway.rs", "x\n");
    sandbox.write("open.txt", "not committed\n");
    sandbox.create("one", &[]);
    let document = sandbox.handoff(&["show", "--json"]).json()["document"].clone();
    assert_eq!((&document["branch"], &document["dirty"]), (&json!("feat"), &json!(true)));
    assert_eq!(document["commit"], sandbox.git(&["rev-parse", "HEAD"]));
    assert_eq!(document["working_directory"], ".");
    let steps = document["completed_steps"].to_string();
    assert!(steps.contains("c:src/gateway.rs") && !steps.contains("c:a.txt"), "{steps}");
    let files = document["files_changed"].to_string();
    assert!(files.contains("src/gateway.rs") && files.contains("open.txt"), "{files}");
    let blob = sandbox.git(&["rev-parse", "HEAD:src/gateway.rs"]);
    assert!(files.contains(&blob), "{files}");
}

#[test]
fn the_second_handoff_of_a_branch_lists_only_what_came_since() {
    let mut sandbox = at_a_fixed_time();
    sandbox.git(&["checkout", "-qb", "feat"]);
    sandbox.commit("one.txt", "1\n");
    sandbox.create("first", &[]);
    sandbox.commit("two.txt", "2\n");
    sandbox.clock("2026-08-18T17:15:00+03:00");
    sandbox.create("second", &[]);
    let document = sandbox.handoff(&["show", "--json"]).json()["document"].clone();
    let files: Vec<_> =
        document["files_changed"].as_array().expect("a list").iter().map(|f| f["path"].clone()).collect();
    assert_eq!(files, [json!("a.txt"), json!("two.txt")]);
}

#[test]
fn a_dry_run_shows_the_document_and_stores_nothing() {
    let sandbox = at_a_fixed_time();
    let out = sandbox.handoff_with(&["create", "--dry-run", "one"], body("one")).ok();
    assert!(out.starts_with("# Session Handoff\n"), "{out}");
    assert_eq!(sandbox.git(&["for-each-ref", "refs/handoffs", "refs/notes"]), "");
    assert!(!sandbox.exists(".codex") && !sandbox.exists(".session-transfer"));
}

#[test]
fn a_draft_is_written_filled_in_and_sealed() {
    let sandbox = at_a_fixed_time();
    let path = sandbox.handoff(&["create", "--draft", "one", "--quiet"]).ok();
    let path = path.trim_end();
    let draft = std::fs::read_to_string(path).expect("the draft is there");
    assert!(draft.contains("## Next Recommended Action"), "{draft}");
    assert_eq!(sandbox.handoff(&["status", "--json"]).json()["drafts"], 1);
    sandbox.handoff(&["create", "--from", path]).refused(4);
    std::fs::write(path, format!("{}\n{}", "# Session Handoff", body("one"))).expect("writable");
    sandbox.handoff(&["create", "--from", path, "one"]).ok();
    assert_eq!(
        sandbox.handoff(&["status", "--json"]).json()["drafts"],
        0,
        "a draft that is refused stays one, and one that is sealed is gone"
    );
}

#[test]
fn print_shows_the_document_after_the_answer() {
    let sandbox = at_a_fixed_time();
    let out = sandbox.handoff_with(&["create", "--print", "one"], body("one")).ok();
    assert!(out.contains("Global index updated: .session-transfer/INDEX.md\n\n# Session Handoff\n"), "{out}");
}

#[test]
fn a_weak_handoff_is_refused_told_what_is_missing_and_kept() {
    let sandbox = at_a_fixed_time();
    let err = sandbox.handoff_with(&["create", "one"], "## Current State\nHalf of it works.\n").refused(4);
    assert!(err.contains("Next Recommended Action"), "{err}");
    let drafts = sandbox.cwd().join(".git/git-handoff-state/drafts");
    let draft = std::fs::read_dir(drafts).expect("a draft").next().expect("one").expect("readable").path();
    assert!(err.contains(draft.to_str().expect("Unicode")), "{err}");
    assert!(std::fs::read_to_string(draft).expect("readable").contains("Half of it works."));
    assert_eq!(sandbox.git(&["for-each-ref", "refs/handoffs"]), "");
}

#[test]
fn a_complete_handoff_must_have_what_a_successor_needs() {
    let sandbox = at_a_fixed_time();
    let refused = sandbox.handoff_with(&["create", "one", "--complete", "--json"], body("one"));
    assert_eq!(refused.error_code(4), "NOT_AUTHORITATIVE");
    let args = ["create", "one", "--complete", "--objective", "Ship the filter to all users", "--json"];
    sandbox.handoff_with(&args, body("one")).ok();
    let shown = sandbox.handoff(&["show", "--json"]).json();
    assert_eq!(shown["document"]["completeness"], "authoritative_for_continuation");
}

#[test]
fn a_secret_is_refused_before_anything_is_written() {
    let sandbox = at_a_fixed_time();
    let secret = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    let objects = || sandbox.git(&["count-objects"]);
    let before = objects();
    let text = format!("{}\n## Environment\nexport TOKEN={secret}\n", body("one"));
    let ran = sandbox.handoff_with(&["create", "one"], text);
    assert!(!ran.out.contains(&secret) && !ran.err.contains(&secret));
    let err = ran.refused(5);
    assert_eq!(objects(), before);
    let found = sandbox.run("grep", &["-r", &secret, "."], b"");
    assert_eq!(found.out, "", "the draft is masked too: {err}");
}

#[test]
fn one_finding_can_be_allowed_and_is_recorded() {
    let sandbox = at_a_fixed_time();
    let secret = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    let text = format!("{}\n## Environment\nexport TOKEN={secret}\n", body("one"));
    let ran = sandbox.handoff_with(&["create", "one", "--json"], &text);
    let error: serde_json::Value = serde_json::from_str(&ran.clone().refused(5)).expect("JSON");
    let findings = error["error"]["details"]["findings"].as_array().expect("findings").clone();
    let mut args = vec!["create".to_owned(), "one".into()];
    for finding in &findings {
        args.extend(["--allow-finding".into(), finding["fingerprint"].as_str().expect("text").to_owned()]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    sandbox.handoff_with(&args, &text).ok();
    let shown = sandbox.handoff(&["show", "--json"]).json();
    assert_eq!(shown["document"]["allowed_findings"][0], findings[0]["fingerprint"]);
}

#[test]
fn the_same_document_twice_is_one_entry_and_said_to_be() {
    let sandbox = at_a_fixed_time();
    sandbox.create("before", &[]);
    let first = sandbox.create("same", &[]);
    let ran = sandbox.handoff_with(&["create", "--quiet", "--from", "-", "same"], body("same"));
    assert!(ran.err.contains("already recorded"), "{}", ran.err);
    assert_eq!(ran.ok().trim(), first);
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "2");
}
