//! Getting back what was lost: views, the cache, the log.

use crate::sandbox::{Sandbox, body};

fn at_a_fixed_time() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox
}

/// Three handoffs: two of one minute and one of another agent.
fn three() -> (Sandbox, Vec<String>) {
    let mut sandbox = at_a_fixed_time();
    let mut ids = vec![sandbox.create("h1", &[]), sandbox.create("h2", &[])];
    sandbox.set("HANDOFF_AGENT", "claude");
    sandbox.clock("2026-08-18T17:06:00+03:00");
    ids.push(sandbox.create("h3", &[]));
    (sandbox, ids)
}

fn delete_the_log(sandbox: &Sandbox) {
    sandbox.git(&["update-ref", "-d", "refs/handoffs/log"]);
    sandbox.git(&["update-ref", "-d", "refs/notes/handoffs"]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git(&["gc", "-q", "--prune=now"]);
}

fn views(sandbox: &Sandbox) -> String {
    sandbox.run("bash", &["-c", "cat $(find .codex .claude .session-transfer -type f | sort)"], b"").ok()
}

#[test]
fn a_log_that_is_gone_is_made_again_from_the_files() {
    let (sandbox, _) = three();
    let (list, shown) = (sandbox.handoff(&["list"]).ok(), views(&sandbox));
    let note = sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]);
    delete_the_log(&sandbox);
    let from_files = sandbox.handoff(&["list"]).ok();
    assert_eq!(from_files.replace(" (file only)", ""), list);
    let ran = sandbox.handoff(&["recover"]);
    assert!(ran.err.contains("is gone"), "{}", ran.err);
    ran.ok();
    assert_eq!(sandbox.handoff(&["list"]).ok(), list);
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "3");
    assert_eq!(sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]), note);
    assert_eq!(views(&sandbox), shown);
}

#[test]
fn a_log_that_was_deleted_comes_back_as_it_was_while_git_has_its_objects() {
    let (mut sandbox, _) = three();
    let tip = sandbox.git(&["rev-parse", "refs/handoffs/log"]);
    sandbox.git(&["update-ref", "-d", "refs/handoffs/log"]);
    let ran = sandbox.handoff(&["recover"]);
    assert!(ran.err.contains("had been moved away"), "{}", ran.err);
    ran.ok();
    assert_eq!(sandbox.git(&["rev-parse", "refs/handoffs/log"]), tip);
    sandbox.git(&["update-ref", "refs/handoffs/log", "refs/handoffs/log~2"]);
    sandbox.clock("2026-08-18T18:00:00+03:00");
    let ran = sandbox.handoff_with(&["create", "--from", "-", "h4"], body("h4"));
    assert!(ran.err.contains("had been moved away"), "{}", ran.err);
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "4");
}

#[test]
fn a_file_whose_content_no_longer_matches_its_id_is_listed_as_edited_and_not_taken_in() {
    let (sandbox, ids) = three();
    let file = ".codex/handoffs/2026-08-18-1704.md";
    let edited = sandbox.read(file).replace("half done", "three quarters done");
    sandbox.write(file, &edited);
    delete_the_log(&sandbox);
    let listed = sandbox.handoff(&["list"]).ok();
    assert!(listed.lines().any(|line| line.contains("h1") && line.contains("(file only, edited)")), "{listed}");
    let ran = sandbox.handoff(&["recover"]);
    assert!(ran.err.contains(file) && ran.err.contains(&ids[0][..12]), "{}", ran.err);
    ran.ok();
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "2");
    assert_eq!(sandbox.read(file), edited);
}

#[test]
fn every_view_comes_back_from_the_log() {
    let (sandbox, _) = three();
    let (shown, tip) = (views(&sandbox), sandbox.git(&["rev-parse", "refs/handoffs/log"]));
    std::fs::remove_file(sandbox.cwd().join(".session-transfer/INDEX.md")).expect("removable");
    std::fs::remove_file(sandbox.cwd().join(".claude/handoffs/2026-08-18-1706.md")).expect("removable");
    std::fs::remove_dir_all(sandbox.cwd().join(".git/git-handoff-state")).expect("removable");
    sandbox.git(&["update-ref", "-d", "refs/notes/handoffs"]);
    let torn = format!("<<<<<<< HEAD\n{}=======\n{{\"id\":\"2026-", sandbox.read(".codex/handoffs.jsonl"));
    sandbox.write(".codex/handoffs.jsonl", torn);
    let ran = sandbox.handoff(&["recover"]);
    assert!(ran.err.contains("lines 1, 4, 5"), "{}", ran.err);
    ran.ok();
    assert_eq!(views(&sandbox), shown);
    assert_eq!(sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]).lines().count(), 3);
    assert_eq!(sandbox.git(&["rev-parse", "refs/handoffs/log"]), tip);
}

#[test]
fn recovering_again_adds_no_objects() {
    let (sandbox, _) = three();
    sandbox.handoff(&["recover"]).ok();
    let objects = sandbox.git(&["count-objects"]);
    let answer = sandbox.handoff(&["recover", "--json"]).json();
    assert_eq!((&answer["taken_in"], &answer["rewritten"]), (&serde_json::json!([]), &serde_json::json!(0)));
    assert_eq!(sandbox.git(&["count-objects"]), objects);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let (sandbox, ids) = three();
    delete_the_log(&sandbox);
    std::fs::remove_file(sandbox.cwd().join(".session-transfer/INDEX.md")).expect("removable");
    let state = || sandbox.run("bash", &["-c", "find . -type f | sort | xargs sha1sum"], b"").ok();
    let before = state();
    let answer = sandbox.handoff(&["recover", "--dry-run", "--json"]).json();
    let taken: Vec<&str> =
        answer["taken_in"].as_array().expect("a list").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(taken, ids);
    assert!(answer["rewritten"].as_u64() >= Some(1), "{answer}");
    assert_eq!(state(), before);
}

#[test]
fn a_merge_of_tracked_indexes_leaves_no_marker_and_loses_no_entry() {
    let mut sandbox = at_a_fixed_time();
    sandbox.git(&["config", "handoff.layout", "track"]);
    let track = |sandbox: &Sandbox, what: &str| {
        sandbox.git(&["add", "-fA", ".codex", ".session-transfer"]);
        sandbox.git(&["commit", "-qm", what]);
    };
    sandbox.create("base", &[]);
    track(&sandbox, "base");
    sandbox.git(&["checkout", "-qb", "x"]);
    sandbox.clock("2026-08-18T17:05:00+03:00");
    sandbox.create("on x", &[]);
    track(&sandbox, "x");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.create("on main", &[]);
    track(&sandbox, "main");
    assert_ne!(sandbox.run("git", &["merge", "-q", "x"], b"").code, 0);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 3);
    sandbox.handoff(&["recover"]).ok();
    let marked = sandbox.run("grep", &["-rnE", "^(<<<<<<<|=======|>>>>>>>)", ".codex", ".session-transfer"], b"");
    assert_eq!((marked.code, marked.out), (1, String::new()));
    assert_eq!(sandbox.read(".codex/handoffs.jsonl").lines().count(), 3);
    assert_eq!(sandbox.run("ls", &[".codex/handoffs"], b"").ok().lines().count(), 3);
    assert!(sandbox.git(&["status", "--short"]).contains("UU "), "the user ends the merge");
}

#[test]
fn handoffs_that_came_with_the_files_alone_are_listed_and_survive() {
    let (mut sandbox, ids) = three();
    sandbox.git(&["add", "-f", ".codex", ".claude", ".session-transfer"]);
    sandbox.git(&["commit", "-qm", "handoff files only"]);
    sandbox.git(&["clone", "-q", ".", "../other"]);
    sandbox.enter("other");
    sandbox.clock("2026-08-18T18:00:00+03:00");
    assert_eq!(sandbox.handoff(&["list"]).ok().matches("(file only)").count(), 3);
    sandbox.create("own", &[]);
    let listed = sandbox.handoff(&["list", "--json"]).json();
    let only: Vec<bool> =
        listed.as_array().expect("a list").iter().filter_map(|it| it["file_only"].as_bool()).collect();
    assert_eq!(only, [false, true, true, true]);
    assert!(sandbox.read(".codex/handoffs.jsonl").contains("\"h1\""));
    let resumed = sandbox.handoff(&["resume", "--json", &ids[0]]).json();
    assert_eq!(resumed["handoff"]["id"], ids[0].as_str());
    sandbox.handoff(&["recover"]).ok();
    assert_eq!(sandbox.handoff(&["list"]).ok().matches("(file only)").count(), 0);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 4);
}

#[test]
fn a_repository_made_anew_gets_its_log_again() {
    let (sandbox, _) = three();
    let list = sandbox.handoff(&["list", "--quiet"]).ok();
    std::fs::remove_dir_all(sandbox.cwd().join(".git")).expect("removable");
    sandbox.handoff(&["list"]).refused(9);
    sandbox.git(&["init", "-q"]);
    assert_eq!(sandbox.handoff(&["list", "--quiet"]).ok(), list);
    sandbox.handoff(&["recover"]).ok();
    assert_eq!(sandbox.handoff(&["list", "--quiet"]).ok(), list);
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "3");
}

#[cfg(unix)]
fn damage(sandbox: &Sandbox, object: &str) {
    let path = sandbox.cwd().join(".git/objects").join(&object[..2]).join(&object[2..]);
    std::fs::remove_file(&path).expect("loose");
    std::fs::write(&path, b"").expect("writable");
}

#[cfg(unix)]
#[test]
fn a_damaged_body_is_mended_from_its_file() {
    let (sandbox, ids) = three();
    let blob = sandbox.git(&["rev-parse", &format!("refs/handoffs/log~1:handoff/{}.json", ids[1])]);
    damage(&sandbox, &blob);
    sandbox.handoff(&["recover"]).ok();
    assert_eq!(sandbox.git(&["fsck", "--full"]), "");
    let shown = sandbox.handoff(&["show", "--document", &ids[1]]).ok();
    assert!(shown.contains("\"topic\":\"h2\""), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_log_whose_newest_commit_is_damaged_goes_on_from_the_one_before() {
    let (sandbox, _) = three();
    let list = sandbox.handoff(&["list"]).ok();
    damage(&sandbox, &sandbox.git(&["rev-parse", "refs/handoffs/log"]));
    let ran = sandbox.handoff(&["recover"]);
    assert!(ran.err.contains("cannot be read; the log goes on from an earlier tip"), "{}", ran.err);
    ran.ok();
    assert_eq!(sandbox.handoff(&["list"]).ok(), list);
    assert_eq!(sandbox.git(&["rev-list", "--count", "--no-merges", "refs/handoffs/log"]), "3");
}

#[test]
fn a_secret_in_a_file_is_refused_and_the_others_are_taken_in() {
    let sandbox = at_a_fixed_time();
    let token = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    sandbox.write(".claude/handoffs/2026-01-15-103000-bad.md", format!("## Current State\n{token}\n"));
    sandbox.write(".claude/handoffs/2026-01-15-103100-good.md", "## Current State\nFine.\n");
    sandbox.write(".claude/handoffs/README.md", "# What this is\n");
    let err = sandbox.handoff(&["recover"]).refused(5);
    assert!(err.contains("2026-01-15-103000-bad.md") && !err.contains(&token), "{err}");
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 2);
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "1");
}

#[cfg(unix)]
#[test]
fn a_pack_that_was_cut_off_is_made_good_from_the_files() {
    let (sandbox, _) = three();
    let list = sandbox.handoff(&["list", "--quiet"]).ok();
    for cut in ["truncate -s -300", "truncate -s 0"] {
        sandbox.git(&["gc", "-q"]);
        sandbox.run("bash", &["-c", &format!("p=$(ls .git/objects/pack/*.pack); chmod u+w $p; {cut} $p")], b"").ok();
        sandbox.handoff(&["recover"]).ok();
        assert_eq!(sandbox.handoff(&["list", "--quiet"]).ok(), list, "{cut}");
        assert_eq!(sandbox.handoff(&["list"]).ok().matches("(file only)").count(), 0, "{cut}");
        sandbox.handoff(&["verify"]).ok();
        sandbox.run("bash", &["-c", "rm -rf .git; git init -q -b main"], b"").ok();
        sandbox.handoff(&["recover"]).ok();
    }
}

#[test]
fn a_note_is_brought_to_the_commit_of_a_tool_that_runs_no_hooks() {
    let sandbox = at_a_fixed_time();
    sandbox.git(&["checkout", "-q", "-b", "feat"]);
    sandbox.commit("f1", "1\n");
    let id = sandbox.create("no hooks", &[]);
    let old = sandbox.git(&["rev-parse", "HEAD"]);
    let new = sandbox.git(&["commit-tree", "-p", "HEAD~1", "-m", "rewritten elsewhere", "HEAD^{tree}"]);
    sandbox.git(&["update-ref", "refs/heads/feat", &new]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    let said = format!("Note of {} attached to {} (the same tree)", &old[..12], &new[..12]);
    let text = sandbox.handoff(&["recover"]).ok();
    assert!(text.lines().any(|line| line == said), "{text}");
    assert!(sandbox.git(&["notes", "--ref=handoffs", "show", &new]).starts_with(&id[..12]));
    let answer = sandbox.handoff(&["recover", "--json"]).json();
    assert_eq!(answer["reattached"], serde_json::json!([{"from": old, "to": new, "proof": "the same tree"}]));
}
