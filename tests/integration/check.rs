//! `check`: how far a handoff still fits, why, and that every clone says the same.

use serde_json::Value;

use crate::sandbox::{Sandbox, body};

/// The level and the codes of the reasons, after checking that the exit code fits the level.
#[track_caller]
fn verdict(sandbox: &Sandbox, args: &[&str]) -> (String, Vec<String>) {
    let answer = answer(sandbox, args);
    let codes = answer["reasons"].as_array().expect("a list").iter();
    let codes = codes.map(|reason| reason["code"].as_str().expect("a text").to_owned()).collect();
    (answer["level"].as_str().expect("a text").to_owned(), codes)
}

#[track_caller]
fn answer(sandbox: &Sandbox, args: &[&str]) -> Value {
    let mut all = vec!["check", "--json"];
    all.extend(args);
    let ran = sandbox.handoff(&all);
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("no JSON: {ran:?}"));
    let stale = ["STALE", "VERY_STALE"].contains(&answer["level"].as_str().expect("a text"));
    assert_eq!(ran.code, if stale { 6 } else { 0 }, "{ran:?}");
    answer
}

fn level(sandbox: &Sandbox, id: &str) -> String {
    verdict(sandbox, &[id]).0
}

fn texts(answer: &Value) -> String {
    let reasons = answer["reasons"].as_array().expect("a list").iter();
    reasons.map(|reason| reason["text"].as_str().expect("a text")).collect::<Vec<_>>().join("\n")
}

/// A repository with a handoff of codex about `a.txt`.
fn with_handoff() -> (Sandbox, String) {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T10:00:00Z");
    let id = sandbox.create("h", &[]);
    (sandbox, id)
}

#[test]
fn only_what_the_handoff_speaks_of_makes_it_stale() {
    let (mut sandbox, id) = with_handoff();
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec![]));
    sandbox.git(&["add", "-f", ".codex", ".session-transfer"]);
    sandbox.git(&["commit", "-qm", "handoff files"]);
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec![]));
    sandbox.git(&["worktree", "add", "-q", "../wt", "-b", "w"]);
    sandbox.enter("wt");
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec!["BRANCH_MERGED".into()]));
    sandbox.clock("2026-08-18T10:01:00Z");
    sandbox.create("h2", &[]);
    assert_eq!(level(&sandbox, &id), "FRESH");
    sandbox.enter("r");
    sandbox.write("a.txt", "a\nchange\n");
    sandbox.write("unrelated", "x");
    assert_eq!(verdict(&sandbox, &[&id]), ("SLIGHTLY_STALE".into(), vec!["FILE_UNCOMMITTED".into()]));
    sandbox.git(&["commit", "-qam", "c"]);
    let expected = vec!["FILE_CHANGED".to_owned(), "COMMITS_SINCE".into()];
    assert_eq!(verdict(&sandbox, &[&id]), ("SLIGHTLY_STALE".into(), expected));
    sandbox.git(&["rm", "-q", "a.txt"]);
    let staged = answer(&sandbox, &[&id]);
    assert_eq!((&staged["level"], &staged["reasons"][0]["paths"][0]), (&"STALE".into(), &"a.txt".into()));
    sandbox.git(&["commit", "-qm", "rm"]);
    let committed = answer(&sandbox, &[&id]);
    assert_eq!(committed["level"], "STALE");
    assert!(texts(&committed).contains("1 referenced file is gone: a.txt"), "{committed}");
    for n in 0..20 {
        sandbox.git(&["commit", "-q", "--allow-empty", "-m", &format!("e{n}")]);
    }
    assert_eq!(level(&sandbox, &id), "VERY_STALE");
    sandbox.git(&["reset", "-q", "--hard", "HEAD~22"]);
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec![]));
}

#[test]
fn prose_is_not_a_file_list() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.write("src/lib.rs", "x");
    sandbox.write("src/cafe\u{301}.rs", "x");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "s"]);
    let references = "## References\n\
        See src/lib.rs:42, src/lib.rs#L10-L20, `src/lib.rs`, (src/lib.rs), ./src/lib.rs, src/, src/*.rs, café is src/café.rs\n\
        Versions 1.2.3 and v0.5.0, e.g. and/or, origin/main, refs/heads/main, https://example.com/src/gone.rs, \
        /tmp/archive.tar.gz, user@host, text/html, 10.0.0.1/24\n\
        To be created: src/new_module.rs (does not exist yet)\n";
    let text = format!("{}{references}", body("refs"));
    let id = sandbox.handoff_with(&["create", "--quiet", "--from", "-", "refs"], text).ok().trim().to_owned();
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec![]));
    sandbox.write("src/new_module.rs", "new");
    assert_eq!(level(&sandbox, &id), "FRESH");
    sandbox.git(&["mv", "src/lib.rs", "src/library.rs"]);
    let moved = answer(&sandbox, &[&id]);
    assert_eq!(texts(&moved), "1 referenced file moved: src/lib.rs (now src/library.rs)");
    sandbox.git(&["commit", "-qm", "mv"]);
    assert!(texts(&answer(&sandbox, &[&id])).contains("moved: src/lib.rs (now src/library.rs)"));
    sandbox.git(&["rm", "-q", "src/cafe\u{301}.rs"]);
    assert_eq!(level(&sandbox, &id), "STALE");
}

#[test]
fn a_rewrite_that_no_hook_saw_is_proved_by_the_tree() {
    let (sandbox, _) = with_handoff();
    sandbox.git(&["checkout", "-q", "-b", "feat"]);
    sandbox.commit("f1", "f1");
    let id = sandbox.create("no hooks", &[]);
    let new = sandbox.git(&["commit-tree", "-p", "HEAD~1", "-m", "rewritten elsewhere", "HEAD^{tree}"]);
    sandbox.git(&["update-ref", "refs/heads/feat", &new]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    let answer = answer(&sandbox, &[&id]);
    assert_eq!((&answer["level"], &answer["reasons"][0]["code"]), (&"FRESH".into(), &"COMMIT_REWRITTEN".into()));
    assert!(texts(&answer).contains(&new[..12]), "{answer}");
}

#[test]
fn a_commit_that_is_gone_is_at_best_stale() {
    let (sandbox, _) = with_handoff();
    sandbox.commit("f1", "f1");
    let id = sandbox.create("dropped", &[]);
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(verdict(&sandbox, &[&id]).1[..2], ["HEAD_BEHIND".to_owned(), "FILE_DELETED".into()]);
    sandbox.commit("other", "other");
    let elsewhere = answer(&sandbox, &[&id]);
    assert!(texts(&elsewhere).contains("is not in the history of HEAD, nor on its branch any more"), "{elsewhere}");
    let notes = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/notes"]);
    notes.lines().for_each(|name| drop(sandbox.git(&["update-ref", "-d", name])));
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git(&["prune", "--expire=now"]);
    assert_eq!(verdict(&sandbox, &[&id]).1[0], "COMMIT_MISSING");
    assert_eq!(level(&sandbox, &id), "STALE");
}

#[test]
fn a_squash_merge_is_recognised_and_the_deleted_branch_named() {
    let (sandbox, _) = with_handoff();
    sandbox.git(&["checkout", "-q", "-b", "feat"]);
    sandbox.commit("f1", "f1");
    sandbox.commit("f2", "f2");
    let id = sandbox.create("squashed work", &[]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit("unrelated", "u");
    let open = answer(&sandbox, &[&id]);
    assert_eq!(open["level"], "STALE");
    assert!(texts(&open).contains("it is on branch feat"), "{open}");
    sandbox.git(&["merge", "-q", "--squash", "feat"]);
    sandbox.git(&["commit", "-qm", "feat (#1)"]);
    sandbox.git(&["branch", "-qD", "feat"]);
    let merged = answer(&sandbox, &[&id]);
    let head = &sandbox.git(&["rev-parse", "HEAD"])[..12];
    assert_eq!(merged["level"], "FRESH");
    let text = texts(&merged);
    assert!(
        text.contains(&format!("{head} stands for it there, which makes the change of the whole branch")),
        "{text}"
    );
    assert!(text.contains("the recorded branch feat is neither here nor on a remote"), "{text}");
}

#[test]
fn a_clone_says_the_same() {
    let (mut sandbox, id) = with_handoff();
    sandbox.commit("a.txt", "changed\n");
    sandbox.commit("b", "b");
    let here = answer(&sandbox, &[&id]);
    sandbox.enter(".");
    sandbox.git(&["clone", "-q", "r", "c"]);
    sandbox.enter("c");
    sandbox.git(&["fetch", "-q", "origin", "+refs/handoffs/log:refs/handoffs-remote/origin/log"]);
    assert_eq!(answer(&sandbox, &[&id]), here);
    sandbox.enter(".");
    sandbox.git(&["clone", "-q", "--bare", "r", "bare"]);
    sandbox.enter("bare");
    sandbox.git(&["fetch", "-q", "../r", "+refs/handoffs/log:refs/handoffs/log"]);
    assert_eq!(answer(&sandbox, &[&id]), here);
    sandbox.enter(".");
    let url = format!("file://{}", sandbox.root().join("r").display());
    sandbox.git(&["clone", "-q", "--depth=1", &url, "shallow"]);
    sandbox.enter("shallow");
    sandbox.git(&["fetch", "-q", "origin", "+refs/handoffs/log:refs/handoffs-remote/origin/log"]);
    let shallow = answer(&sandbox, &[&id]);
    assert_eq!((&shallow["level"], &shallow["reasons"][0]["code"]), (&"STALE".into(), &"COMMIT_MISSING".into()));
    assert!(texts(&shallow).contains("the clone is shallow"), "{shallow}");
}

#[test]
fn uncommitted_work_of_then_is_compared_by_content() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.write("a.txt", "open\n");
    sandbox.write("new.txt", "new\n");
    let id = sandbox.create("open work", &[]);
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec!["UNCOMMITTED_THEN".into()]));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "as it was"]);
    assert_eq!(level(&sandbox, &id), "FRESH");
    sandbox.write("new.txt", "other\n");
    assert_eq!(verdict(&sandbox, &[&id]).1[0], "FILE_UNCOMMITTED");
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let lost = answer(&sandbox, &[&id]);
    assert_eq!(lost["level"], "SLIGHTLY_STALE");
    assert_eq!(lost["reasons"][0]["paths"], serde_json::json!(["a.txt", "new.txt"]));
    assert_eq!(lost["reasons"][0]["code"], "UNCOMMITTED_LOST");
}

#[test]
fn repositories_of_every_shape_are_judged() {
    let mut sandbox = Sandbox::empty();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.git(&["init", "-q", "-b", "main", "unborn"]);
    sandbox.enter("unborn");
    sandbox.write("a.txt", "a\n");
    let id = sandbox.create("unborn", &[]);
    assert_eq!(level(&sandbox, &id), "FRESH");
    sandbox.git(&["add", "a.txt"]);
    sandbox.git(&["commit", "-qm", "first"]);
    assert_eq!(verdict(&sandbox, &[&id]).1[0], "NO_COMMIT_RECORDED");
    sandbox.init("sha256", &["--object-format=sha256"]);
    let id = sandbox.create("sha256", &[]);
    sandbox.git(&["checkout", "-q", "--detach"]);
    assert_eq!(verdict(&sandbox, &[&id]), ("FRESH".into(), vec!["BRANCH_MERGED".into()]));
    sandbox.commit("a.txt", "changed");
    assert_eq!(level(&sandbox, &id), "SLIGHTLY_STALE");
}

#[test]
fn without_a_name_the_handoff_is_that_which_resume_would_choose() {
    let (mut sandbox, id) = with_handoff();
    sandbox.clock("2026-08-18T10:01:00Z");
    sandbox.create("done", &["--status", "completed"]);
    let answer = answer(&sandbox, &[]);
    assert_eq!((&answer["id"], &answer["session"]), (&id.clone().into(), &"codex/2026-08-18-1000".into()));
    let text = sandbox.handoff(&["check"]).ok();
    assert_eq!(text, format!("FRESH {} codex/2026-08-18-1000\n", &id[..12]));
    assert_eq!(sandbox.handoff(&["check", "--quiet"]).ok(), "FRESH\n");
    assert_eq!(sandbox.handoff(&["check", "ffffffff", "--json"]).error_code(3), "NOT_FOUND");
}

#[test]
fn a_file_speaks_of_the_handoff_whose_id_it_carries() {
    let (mut sandbox, id) = with_handoff();
    let file = ".codex/handoffs/2026-08-18-1000.md";
    let text = sandbox.read(file);
    sandbox.write("copy.md", text.replace('\n', "\r\n"));
    for path in [file, "copy.md"] {
        let answer = answer(&sandbox, &[path]);
        assert_eq!((&answer["id"], &answer["file_edited"]), (&id.clone().into(), &false.into()), "{path}");
    }
    sandbox.write("copy.md", text.replace("single-pass", "two-pass"));
    sandbox.write("sub/x", "x");
    sandbox.enter("r/sub");
    let answer = answer(&sandbox, &["../copy.md"]);
    assert_eq!((&answer["id"], &answer["file_edited"]), (&id.clone().into(), &true.into()));
    let said = sandbox.handoff(&["check", "../copy.md"]).ok();
    assert!(said.contains("The file was edited"), "{said}");
    assert_eq!(sandbox.handoff(&["check", "../a.txt", "--json"]).error_code(2), "BAD_INPUT");
    let outside = sandbox.root().join("copy.md");
    std::fs::write(&outside, &text).expect("writable");
    sandbox.handoff(&["check", outside.to_str().expect("a text")]).refused(2);
}

#[test]
fn every_reason_and_level_is_documented() {
    let text = include_str!("../../docs/staleness.md");
    let rows: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let levels = git_handoff::model::staleness::Level::ALL.iter().map(|level| level.as_str());
    let codes = git_handoff::model::staleness::ReasonCode::ALL.iter().map(|code| code.as_str());
    let mut expected: Vec<&str> = levels.chain(["UNKNOWN"]).chain(codes).chain(["UNREADABLE"]).collect();
    let mut documented = rows;
    expected.sort_unstable();
    documented.sort_unstable();
    assert_eq!(documented, expected);
}

#[test]
fn a_rebase_is_proved_by_the_change_and_large_files_and_hostile_names_do_no_harm() {
    let (sandbox, _) = with_handoff();
    sandbox.commit("long.txt", &format!("first\n{}last\n", "middle\n".repeat(20)));
    sandbox.git(&["checkout", "-q", "-b", "feat"]);
    sandbox.commit("long.txt", &format!("first\n{}last of feat\n", "middle\n".repeat(20)));
    let hostile =
        format!("{}\n## Files Changed\n- ../../etc/passwd\n- .git/config\n- /etc/hosts\n- long.txt\n", body("x"));
    let id = sandbox.handoff_with(&["create", "--quiet", "--from", "-", "rebased"], hostile).ok().trim().to_owned();
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit("long.txt", &format!("first of main\n{}last\n", "middle\n".repeat(20)));
    sandbox.git(&["rebase", "-q", "main", "feat"]);
    let answer = answer(&sandbox, &[&id]);
    assert_eq!(answer["level"], "SLIGHTLY_STALE");
    assert!(texts(&answer).contains("which makes the same change"), "{answer}");
    assert!(texts(&answer).contains("1 referenced file changed since: long.txt"), "{answer}");
}
