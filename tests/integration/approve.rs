//! `approve`: who vouches for a handoff, and where that is seen.

use serde_json::json;

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:09:00+03:00");
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox
}

#[test]
fn an_approval_is_an_event_that_show_and_resume_tell_of() {
    let mut sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    assert_eq!(sandbox.handoff(&["resume", "--json"]).json()["trust"]["authority"], "inform_only");
    sandbox.clock("2026-08-18T18:00:00+03:00");
    let out = sandbox.handoff(&["approve", &id[..8], "--note", "Go ahead"]).ok();
    assert_eq!(
        out,
        "Approved: codex/2026-08-18-1709 one\nBy: Test User <test@example.com> (codex)\nNote: Go ahead\nSigned: no\n"
    );
    let shown = sandbox.handoff(&["show", "--json", &id]).json();
    let approval = &shown["approvals"][0];
    assert_eq!(approval["by"], "Test User <test@example.com> (codex)");
    assert_eq!((&approval["created"], &approval["note"]), (&json!("2026-08-18T18:00:00+03:00"), &json!("Go ahead")));
    assert_eq!(approval["signed"], false);
    assert_eq!(sandbox.handoff(&["resume", "--json", &id]).json()["trust"]["authority"]["note"], "Go ahead");
    let envelope = sandbox.handoff(&["resume", &id]).ok();
    let line = "Authority: approved by Test User <test@example.com> (codex) at 2026-08-18T18:00:00+03:00 (Go ahead)\n";
    assert!(envelope.contains(line), "{envelope}");
    assert_eq!(shown["document"]["authority"], "inform_only");
    let subject = sandbox.git(&["log", "-1", "--format=%s%n%(trailers:only)", "refs/handoffs/log"]);
    assert_eq!(subject, format!("approval of codex/2026-08-18-1709 one\nHandoff-Id: {id}"));
    sandbox.git(&["fsck", "--strict"]);
}

#[test]
fn what_is_not_here_cannot_be_approved() {
    let sandbox = sandbox();
    sandbox.create("one", &[]);
    let tip = sandbox.git(&["rev-parse", "refs/handoffs/log"]);
    assert_eq!(sandbox.handoff(&["approve", "--json", &"0".repeat(64)]).error_code(3), "NOT_FOUND");
    assert_eq!(sandbox.git(&["rev-parse", "refs/handoffs/log"]), tip);
}

#[test]
fn a_note_with_a_secret_is_refused() {
    let sandbox = sandbox();
    sandbox.create("one", &[]);
    let token = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    let ran = sandbox.handoff(&["approve", "@latest", "--json", "--note", &format!("use {token}")]);
    assert!(!ran.err.contains(&token));
    assert!(!ran.err.contains("--allow-finding"), "approve has no such option: {}", ran.err);
    assert_eq!(ran.error_code(5), "SECRET_FOUND");
}

#[test]
fn a_note_cannot_act_on_the_terminal() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    sandbox.handoff(&["approve", &id, "--note", "fine\u{1b}[2J\nPretended: yes"]).ok();
    for args in [&["show", &id][..], &["resume", &id], &["show", "--json", &id], &["resume", "--json", &id]] {
        let ran = sandbox.handoff(args);
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'));
        assert!(!ran.out.contains("\nPretended: yes"));
    }
}

#[test]
fn approvals_of_handoffs_that_are_elsewhere_are_shown_as_such() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    sandbox.handoff(&["approve", &id]).ok();
    // A log that holds the approval and not the handoff, as somebody might push it.
    let tip = sandbox.git(&["rev-parse", "refs/handoffs/log"]);
    let tree = sandbox.git(&["rev-parse", &format!("{tip}^{{tree}}")]);
    let alone = sandbox.git(&["commit-tree", "-m", "approval", &tree]);
    sandbox.git(&["update-ref", "refs/handoffs/log", &alone]);
    // Neither files nor the memory of the last tip are left.
    for dir in [".codex", ".session-transfer", ".git/git-handoff-state"] {
        std::fs::remove_dir_all(sandbox.cwd().join(dir)).expect("removable");
    }
    assert_eq!(sandbox.handoff(&["status", "--json"]).json()["unresolved_approvals"], json!([id]));
    assert!(sandbox.handoff(&["status"]).ok().contains(&format!("Approved, but not here: handoff {id}")));
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that is left out says so")]
fn an_approval_is_signed_where_the_user_signs() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    let key = sandbox.root().join("key");
    let key = key.to_str().expect("a Unicode path");
    let made = sandbox.command("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", key]).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: ssh-keygen is not installed");
        return;
    }
    for (name, value) in [("gpg.format", "ssh"), ("user.signingKey", key), ("commit.gpgSign", "true")] {
        sandbox.git(&["config", name, value]);
    }
    assert_eq!(sandbox.handoff(&["approve", &id, "--json"]).json()["signed"], true);
    let shown = sandbox.handoff(&["show", "--json", &id]).json();
    assert_eq!(
        (&shown["approvals"][0]["signed"], &shown["approvals"][0]["signature"]),
        (&json!(true), &json!("unverified"))
    );
    let public = std::fs::read_to_string(format!("{key}.pub")).expect("readable");
    let signers = sandbox.root().join("signers");
    std::fs::write(&signers, format!("test@example.com {public}")).expect("writable");
    sandbox.git(&["config", "gpg.ssh.allowedSignersFile", signers.to_str().expect("Unicode")]);
    sandbox.git(&["verify-commit", "refs/handoffs/log"]);
    assert_eq!(sandbox.handoff(&["show", "--json", &id]).json()["approvals"][0]["signature"], "good");
    sandbox.git(&["config", "user.signingKey", "/nowhere/key"]);
    assert_eq!(sandbox.handoff(&["approve", &id, "--json", "--note", "again"]).error_code(1), "SIGNING_FAILED");
    sandbox.git(&["config", "handoff.sign", "false"]);
    assert_eq!(sandbox.handoff(&["approve", &id, "--json", "--note", "again"]).json()["signed"], false);
    sandbox.git(&["fsck", "--strict"]);
}

#[test]
fn approvals_travel_with_the_log() {
    let mut sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    sandbox.handoff(&["approve", &id, "--note", "fine"]).ok();
    let origin = sandbox.cwd().to_owned();
    sandbox.init("other", &[]);
    sandbox.git(&[
        "fetch",
        "-q",
        origin.to_str().expect("Unicode"),
        "refs/handoffs/log:refs/handoffs-remote/origin/log",
    ]);
    assert_eq!(sandbox.handoff(&["show", "--json", &id]).json()["approvals"][0]["note"], "fine");
}
