//! Links that survive rewriting: the note follows where git itself says so.

use crate::sandbox::Sandbox;

fn repository() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T10:00:00Z");
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.git(&["checkout", "-qb", "feat"]);
    sandbox
}

fn note(sandbox: &Sandbox, revision: &str) -> String {
    sandbox.git(&["notes", "--ref=handoffs", "show", revision])
}

#[test]
fn amend_and_rebase_with_both_backends_keep_the_link() {
    let sandbox = repository();
    sandbox.commit("f1", "1\n");
    let one = sandbox.create("one", &[]);
    sandbox.commit("f2", "2\n");
    let two = sandbox.create("two", &[]);
    let recorded = sandbox.git(&["rev-parse", "HEAD"]);
    let file = sandbox.read(".codex/handoffs/2026-08-18-1000.md");
    sandbox.git(&["commit", "-q", "--amend", "-m", "c:f2 reworded"]);
    assert!(note(&sandbox, "HEAD").starts_with(&two[..12]));
    for (number, backend) in ["--merge", "--apply"].into_iter().enumerate() {
        sandbox.git(&["checkout", "-q", "main"]);
        sandbox.commit(&format!("m{number}"), "m\n");
        sandbox.git(&["checkout", "-q", "feat"]);
        sandbox.git(&["rebase", "-q", backend, "main"]);
        assert!(note(&sandbox, "HEAD").starts_with(&two[..12]), "{backend}");
        assert!(note(&sandbox, "HEAD~1").starts_with(&one[..12]), "{backend}");
    }
    assert!(note(&sandbox, &recorded).starts_with(&two[..12]), "the recorded commit keeps its note, as history");
    assert_eq!(sandbox.read(".codex/handoffs/2026-08-18-1000.md"), file);
    let log = sandbox.git(&["log", "--format=%s", "refs/handoffs/log"]);
    assert_eq!(log.matches("rewrite of ").count(), 3, "{log}");
    assert_eq!(sandbox.handoff(&["list"]).err, "", "the views are up to the log");
}

#[test]
fn a_fixup_brings_the_notes_of_all_commits_that_it_joins() {
    let sandbox = repository();
    sandbox.commit("f1", "1\n");
    let one = sandbox.create("one", &[]);
    sandbox.write("f1", "11\n");
    sandbox.git(&["commit", "-qam", "fixup! c:f1"]);
    let two = sandbox.create("two", &[]);
    sandbox.git(&["-c", "sequence.editor=true", "rebase", "-q", "-i", "--autosquash", "main"]);
    let note = note(&sandbox, "HEAD");
    assert!(note.contains(&one[..12]) && note.contains(&two[..12]), "{note}");
}

#[test]
fn a_rewrite_that_concerns_no_handoff_leaves_no_trace() {
    let sandbox = repository();
    sandbox.create("elsewhere", &[]);
    let tip = sandbox.git(&["rev-parse", "refs/handoffs/log"]);
    sandbox.commit("f1", "1\n");
    sandbox.git(&["commit", "-q", "--amend", "-m", "reworded"]);
    assert_eq!(sandbox.git(&["rev-parse", "refs/handoffs/log"]), tip);
    assert_eq!(sandbox.run("git", &["notes", "--ref=handoffs", "show", "HEAD"], b"").code, 1);
}

#[test]
fn what_was_rebased_is_still_covered() {
    let mut sandbox = repository();
    for number in 0..5 {
        sandbox.write(&format!("src/f{number}.rs"), "fn f() {}\n");
    }
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", "Add the parser"]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit("m", "m\n");
    sandbox.git(&["checkout", "-q", "feat"]);
    sandbox.git(&["rebase", "-q", "main"]);
    sandbox.clock("2026-08-18T10:05:00Z");
    sandbox.commit("one-more.rs", "fn g() {}\n");
    let all = sandbox.handoff(&["list", "--all", "--json"]).json();
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
}

#[test]
fn what_an_amend_changed_is_followed_by_what_the_log_says_of_it() {
    let sandbox = repository();
    sandbox.commit("f1", "1\n");
    let id = sandbox.create("amended", &[]);
    sandbox.write("f1", "another text\n");
    sandbox.write("f2", "2\n");
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-q", "--amend", "-m", "f1 and f2"]);
    let ran = sandbox.handoff(&["check", &id, "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let codes: Vec<&str> =
        answer["reasons"].as_array().into_iter().flatten().filter_map(|each| each["code"].as_str()).collect();
    assert_eq!(codes, ["FILE_CHANGED", "COMMIT_REWRITTEN"], "{answer}");
    let now = sandbox.handoff(&["resume", &id]).out;
    assert!(now.contains("another commit in the history of HEAD stands for the recorded one"), "{now}");
}
