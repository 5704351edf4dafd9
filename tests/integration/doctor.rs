//! What is found wrong, and what is said to mend it.

use crate::sandbox::Sandbox;

fn codes(sandbox: &Sandbox, exit: i32) -> Vec<String> {
    let ran = sandbox.handoff(&["doctor", "--json"]);
    assert_eq!(ran.code, exit, "{}{}", ran.out, ran.err);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let found = answer.as_array().expect("a list");
    found.iter().map(|found| found["code"].as_str().expect("a code").to_owned()).collect()
}

fn healthy() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox.create("h", &[]);
    sandbox
}

#[test]
fn a_healthy_repository_has_no_findings() {
    assert_eq!(healthy().handoff(&["doctor"]).ok(), "Nothing is wrong here.\n");
    assert_eq!(Sandbox::repository().handoff(&["doctor"]).ok(), "Nothing is wrong here.\n");
}

#[test]
fn a_forced_refspec_is_a_problem_and_the_command_given_mends_it() {
    let sandbox = healthy();
    sandbox.git(&["remote", "add", "origin", "../nowhere"]);
    sandbox.git(&["config", "--add", "remote.origin.fetch", "+refs/handoffs/*:refs/handoffs/*"]);
    let ran = sandbox.handoff(&["doctor", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((ran.code, &answer[0]["code"]), (1, &"forced-refspec".into()));
    let fix = answer[0]["fix"].as_str().expect("a command");
    sandbox.run("bash", &["-c", fix], b"").ok();
    assert_eq!(codes(&sandbox, 0), ["unpublished"]);
}

#[test]
fn edited_missing_and_foreign_views_are_told_apart() {
    let sandbox = healthy();
    let file = ".codex/handoffs/2026-08-18-1704.md";
    let whole = sandbox.read(file);
    sandbox.write(file, whole.replace("half done", "three quarters done"));
    assert_eq!(codes(&sandbox, 1), ["view-edited"]);
    sandbox.write(file, &whole);
    std::fs::remove_file(sandbox.cwd().join(".codex/INDEX.md")).expect("removable");
    assert_eq!(codes(&sandbox, 1), ["views-behind"]);
    sandbox.handoff(&["recover"]).ok();
    sandbox.write(".codex/handoffs/2026-01-15-103000-old.md", "## Current State\nOld.\n");
    assert!(codes(&sandbox, 1).contains(&"file-only".to_owned()));
}

#[test]
fn a_rewound_log_and_a_lost_one_are_problems() {
    let sandbox = healthy();
    sandbox.create("h2", &[]);
    sandbox.git(&["update-ref", "refs/handoffs/log", "refs/handoffs/log~1"]);
    assert!(codes(&sandbox, 1).contains(&"log-rewound".to_owned()));
    sandbox.handoff(&["recover"]).ok();
    assert_eq!(codes(&sandbox, 0), Vec::<String>::new());
}

#[test]
fn clocks_and_zones_are_looked_at() {
    let mut sandbox = healthy();
    sandbox.clock("2026-08-18T16:04:00+03:00");
    assert_eq!(codes(&sandbox, 1), ["clock"]);
    sandbox.clock("2026-08-18T17:00:00+03:00");
    sandbox.set("TZ", "Foo/Bar");
    assert_eq!(codes(&sandbox, 1), ["zone-unknown"]);
}

#[cfg(unix)]
#[test]
fn a_second_program_and_a_lane_outside_are_problems() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mut sandbox = healthy();
    sandbox.write("../bin/git-handoff", "#!/bin/sh\n");
    let second = sandbox.root().join("bin");
    std::fs::set_permissions(second.join("git-handoff"), PermissionsExt::from_mode(0o755)).expect("writable");
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_git-handoff")).parent().expect("a directory");
    let path = format!("{}:{}:{}", own.display(), second.display(), std::env::var("PATH").expect("a path"));
    sandbox.set("PATH", &path);
    assert_eq!(codes(&sandbox, 1), ["second-program"]);
    symlink(sandbox.root(), sandbox.cwd().join(".claude")).expect("writable");
    assert_eq!(codes(&sandbox, 1), ["second-program", "lane-outside"]);
}

#[test]
fn looking_changes_nothing() {
    let sandbox = healthy();
    sandbox.write(".codex/INDEX.md", "<<<<<<< HEAD\n");
    let state = || sandbox.run("bash", &["-c", "find . -type f | sort | xargs sha1sum"], b"").ok();
    let before = state();
    assert_eq!(codes(&sandbox, 1), ["view-corrupt", "views-behind"]);
    assert_eq!(state(), before);
}
