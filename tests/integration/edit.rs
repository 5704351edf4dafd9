//! `edit`: a correction is a handoff of its own.

use serde_json::json;

use crate::sandbox::{Sandbox, body};

fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:09:00+03:00");
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox
}

const FILE: &str = ".codex/handoffs/2026-08-18-1709.md";

#[test]
fn the_edited_text_supersedes_the_handoff_and_keeps_its_lineage_and_revision() {
    let mut sandbox = sandbox();
    let first = sandbox.create("one", &[]);
    let second = sandbox.create("two", &["--continues-from", &first, "--model", "m-1"]);
    let commit = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.commit("later.txt", "x\n");
    sandbox.clock("2026-08-18T18:00:00+03:00");
    sandbox.set("GIT_EDITOR", "sed -i 's/Write the failing test/Ring Kim, then write the failing test/'");
    let out = sandbox.handoff(&["edit", &second]).ok();
    assert!(
        out.starts_with("Session handoff created.\nStatus: in-progress\nHandoff: .codex/handoffs/2026-08-18-1800.md\n"),
        "{out}"
    );
    let shown = sandbox.handoff(&["show", "--json"]).json();
    let document = &shown["document"];
    assert_eq!(document["supersedes"], json!([second]));
    assert_eq!((&document["previous"], &document["commit"]), (&json!(first), &json!(commit)));
    assert_eq!((&document["topic"], &document["model"]), (&json!("two"), &json!("m-1")));
    assert_eq!(document["created"], "2026-08-18T18:00:00+03:00");
    assert!(document["next_action"].as_str().is_some_and(|text| text.starts_with("Ring Kim")));
    let old = sandbox.handoff(&["show", "--json", &second]).json();
    assert!(old["document"]["next_action"].as_str().is_some_and(|text| text.starts_with("Write")));
    let live = sandbox.handoff(&["list", "--json"]).json();
    assert_eq!(live.as_array().map(Vec::len), Some(1));
}

#[test]
fn without_a_name_the_handoff_that_resume_would_take_is_edited() {
    let mut sandbox = sandbox();
    let open = sandbox.create("open", &[]);
    sandbox.create("done", &["--status", "completed"]);
    sandbox.set("GIT_EDITOR", "sed -i 's/half done/nearly done/'");
    sandbox.handoff(&["edit"]).ok();
    assert_eq!(sandbox.handoff(&["show", "--json"]).json()["document"]["supersedes"], json!([open]));
}

#[test]
fn an_unchanged_text_does_nothing() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    let tip = sandbox.git(&["rev-parse", "refs/handoffs/log"]);
    assert_eq!(sandbox.handoff(&["edit"]).ok(), "Nothing was changed: codex/2026-08-18-1709 stays as it is.\n");
    assert_eq!(sandbox.handoff(&["edit", "--json", "--from", FILE]).json()["id"], json!(id));
    assert_eq!(sandbox.git(&["rev-parse", "refs/handoffs/log"]), tip);
    let leftovers =
        std::fs::read_dir(sandbox.cwd().join(".git/git-handoff-state")).expect("there").filter_map(Result::ok);
    assert!(!leftovers.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("HANDOFF-")));
}

#[test]
fn a_refused_text_is_kept_as_a_draft_and_can_be_taken_in_later() {
    let mut sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    sandbox.set("GIT_EDITOR", "sed -i '/^## Current State/,$d'");
    let ran = sandbox.handoff(&["edit", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&ran.refused(4)).expect("JSON");
    let draft = error["error"]["details"]["draft"].as_str().expect("a draft").to_owned();
    let text = std::fs::read_to_string(&draft).expect("readable");
    assert!(text.contains(&format!("handoff_id: {id}")), "{text}");
    let mended = body("one").replace("Current State Summary", "Current State");
    std::fs::write(&draft, format!("{text}\n{mended}")).expect("writable");
    sandbox.handoff(&["edit", "--from", &draft]).ok();
    assert!(!std::path::Path::new(&draft).exists());
    assert_eq!(sandbox.handoff(&["show", "--json"]).json()["document"]["supersedes"], json!([id]));
}

#[test]
fn an_edited_view_file_is_taken_in_and_the_old_file_is_made_again() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    let before = sandbox.read(FILE);
    sandbox.write(FILE, before.replace("half done", "nearly done"));
    let ran = sandbox.handoff(&["edit", "--from", FILE]);
    assert!(ran.err.contains("git-handoff-state/kept/"), "{}", ran.err);
    assert!(ran.ok().contains("Handoff: .codex/handoffs/2026-08-18-1709-2.md"));
    assert_eq!(sandbox.read(FILE), before);
    let new = sandbox.read(".codex/handoffs/2026-08-18-1709-2.md");
    assert!(new.contains("nearly done") && new.contains(&id));
    let kept = std::fs::read_dir(sandbox.cwd().join(".git/git-handoff-state/kept")).expect("there").count();
    assert_eq!(kept, 1);
}

#[test]
fn create_from_an_unchanged_view_file_says_that_it_is_recorded() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    let ran = sandbox.handoff(&["create", "--json", "--from", FILE]);
    assert!(ran.err.contains("already recorded, as codex/2026-08-18-1709"), "{}", ran.err);
    assert_eq!(ran.json()["id"], json!(id));
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "1");
}

#[test]
fn without_a_terminal_an_editor_must_be_named() {
    let mut sandbox = sandbox();
    sandbox.create("one", &[]);
    sandbox.set("GIT_EDITOR", "");
    assert_eq!(sandbox.handoff(&["edit", "--json"]).error_code(1), "EDITOR_FAILED");
    sandbox.set("GIT_EDITOR", "false");
    assert_eq!(sandbox.handoff(&["edit", "--json"]).error_code(1), "EDITOR_FAILED");
}

#[test]
fn a_file_that_corrects_nothing_is_refused() {
    let sandbox = sandbox();
    sandbox.write("body.md", body("x"));
    assert_eq!(sandbox.handoff(&["edit", "--json", "--from", "body.md"]).error_code(2), "BAD_INPUT");
    let id = sandbox.create("one", &[]);
    let text = sandbox.read(FILE).replace(&id, &"0".repeat(64));
    assert_eq!(sandbox.handoff_with(&["edit", "--json", "--from", "-"], text).error_code(3), "NOT_FOUND");
}

#[test]
fn nobody_can_make_evidence_look_observed() {
    let mut sandbox = sandbox();
    sandbox.create("one", &["--verified", "passed: cargo test"]);
    sandbox.set("GIT_EDITOR", "sed -i 's/^- passed: `cargo test`$/- passed: `cargo test` (observed)/'");
    sandbox.handoff(&["edit"]).ok();
    let evidence = sandbox.handoff(&["show", "--json"]).json()["document"]["verification_evidence"][0].clone();
    assert_eq!((&evidence["command"], &evidence["observed_by"]), (&json!("cargo test"), &json!("author")));
}
