//! `hooks`: installed beside what is there, harmless in every trouble, and gone without a trace.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::sandbox::{Sandbox, body};

const HOOKS: [&str; 5] = ["post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-push"];

fn repository() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T10:00:00Z");
    sandbox
}

/// A bare remote `R.git` and a clone `A` of it, in which commands run.
fn with_remote() -> Sandbox {
    let mut sandbox = repository();
    sandbox.git(&["clone", "-q", "--bare", ".", "../R.git"]);
    sandbox.git(&["clone", "-q", "../R.git", "../A"]);
    sandbox.enter("A");
    sandbox
}

/// Names, modes and bytes of the files of a directory, samples left out.
fn listing(dir: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let entries = fs::read_dir(dir).expect("readable").map(|entry| entry.expect("readable"));
    let named = entries.map(|entry| (entry.file_name().into_string().expect("a Unicode name"), entry.path()));
    let kept = named.filter(|(name, _)| !name.ends_with(".sample"));
    kept.map(|(name, path)| {
        let mode = fs::metadata(&path).expect("readable").permissions().mode();
        (name, (mode, fs::read(&path).expect("readable")))
    })
    .collect()
}

fn hook(sandbox: &Sandbox, path: &str, text: &str) {
    sandbox.write(path, text);
    fs::set_permissions(sandbox.cwd().join(path), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn recorded(sandbox: &Sandbox) -> usize {
    sandbox.handoff(&["list", "--all", "--json"]).json().as_array().expect("a list").len()
}

fn commit_files(sandbox: &Sandbox, dir: &str, count: usize) -> String {
    for number in 0..count {
        sandbox.write(&format!("{dir}/f{number}.rs"), format!("fn {dir}{number}() {{}}\n"));
    }
    sandbox.git(&["add", "."]);
    let committed = sandbox.run("git", &["commit", "-qm", &format!("Add {dir}")], b"");
    let err = committed.err.clone();
    committed.ok();
    err
}

#[test]
fn existing_hooks_run_once_with_their_input_and_verdict_and_come_back_byte_for_byte() {
    let sandbox = with_remote();
    let log = sandbox.root().join("log");
    let log = log.display();
    hook(&sandbox, ".git/hooks/post-commit", &format!("#!/bin/sh\necho post-commit $# >>'{log}'\n"));
    let check = format!(
        "#!/usr/bin/env bash\nlines=$(cat; echo .)\nprintf 'pre-push %s %s\\n' \"$1\" \"${{#lines}}\" >>'{log}'\n\
         case $lines in *forbidden*) exit 3 ;; esac\n"
    );
    hook(&sandbox, ".git/hooks/pre-push", &check);
    hook(
        &sandbox,
        ".git/hooks/post-rewrite",
        &format!("#!/bin/sh\nread a b\necho post-rewrite $1 ${{#a}} >>'{log}'\n"),
    );
    let hooks = sandbox.cwd().join(".git/hooks");
    let before = listing(&hooks);
    let config = sandbox.read(".git/config");
    sandbox.handoff(&["hooks", "install"]).ok();
    let second = sandbox.handoff(&["hooks", "install", "--json"]).json();
    assert!(second["hooks"].as_array().expect("a list").iter().all(|hook| hook["change"] == "unchanged"), "{second}");
    sandbox.commit("b.txt", "b\n");
    sandbox.git(&["push", "-q", "origin", "main"]);
    assert_ne!(sandbox.run("git", &["push", "-q", "origin", "HEAD:refs/heads/forbidden"], b"").code, 0);
    sandbox.git(&["commit", "-q", "--amend", "-m", "again"]);
    let lines = sandbox.run("cat", &["../log"], b"").ok();
    let words: Vec<&str> = lines.lines().map(|line| line.split(' ').next().expect("a word")).collect();
    assert_eq!(words, ["post-commit", "pre-push", "pre-push", "post-commit", "post-rewrite"], "{lines}");
    assert!(lines.contains("post-rewrite amend 40\n") && lines.contains("pre-push origin "), "{lines}");
    for _ in 0..2 {
        sandbox.handoff(&["hooks", "uninstall"]).ok();
        assert_eq!(listing(&hooks), before);
        assert_eq!(sandbox.read(".git/config"), config);
    }
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let sandbox = repository();
    let before = listing(&sandbox.cwd().join(".git/hooks"));
    let text = sandbox.handoff(&["hooks", "install", "--dry-run"]).ok();
    assert!(text.starts_with("post-commit: would be installed\n"), "{text}");
    assert_eq!(listing(&sandbox.cwd().join(".git/hooks")), before);
    assert_eq!(sandbox.handoff(&["hooks", "status", "--quiet"]).ok(), "absent\n");
}

#[test]
fn one_installation_serves_every_worktree() {
    let mut sandbox = repository();
    sandbox.git(&["worktree", "add", "-q", "../wt", "-b", "wt"]);
    sandbox.enter("wt");
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.create("from the worktree", &[]);
    sandbox.git(&["commit", "-q", "--amend", "-m", "amended here"]);
    assert!(sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]).contains("from the worktree"));
    sandbox.enter("r");
    assert_eq!(sandbox.handoff(&["status", "--json"]).json()["hooks"]["installed"], true);
    sandbox.handoff(&["hooks", "uninstall"]).ok();
    assert_eq!(listing(&sandbox.cwd().join(".git/hooks")).into_keys().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_submodule_has_hooks_of_its_own() {
    let mut sandbox = repository();
    sandbox.git(&["init", "-q", "-b", "main", "../top"]);
    sandbox.enter("top");
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../r", "sub"]);
    sandbox.enter("top/sub");
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.enter("top");
    let installed: Vec<String> = listing(&sandbox.cwd().join(".git/modules/sub/hooks")).into_keys().collect();
    assert_eq!(installed, HOOKS);
    sandbox.enter("top/sub");
    commit_files(&sandbox, "inside", 5);
    assert_eq!(recorded(&sandbox), 1);
}

#[test]
fn a_program_that_is_gone_is_not_missed() {
    let mut sandbox = with_remote();
    sandbox.handoff(&["hooks", "install"]).ok();
    for name in HOOKS {
        let path = format!(".git/hooks/{name}");
        let script = sandbox.read(&path);
        let line = script.lines().find(|line| line.starts_with("program=")).expect("it names the program").to_owned();
        sandbox.write(&path, script.replace(&line, "program='/nowhere/git-handoff'"));
    }
    sandbox.set("PATH", "/usr/bin:/bin");
    sandbox.write("z", "z");
    sandbox.git(&["add", "z"]);
    for args in
        [&["commit", "-qm", "gui"][..], &["push", "-q", "origin", "main"], &["commit", "-q", "--amend", "-m", "x"]]
    {
        let ran = sandbox.run("git", args, b"");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn a_tracked_or_foreign_hooks_directory_is_left_alone_unless_forced() {
    let sandbox = repository();
    sandbox.commit(".githooks/pre-commit", "#!/bin/sh\n");
    sandbox.git(&["config", "core.hooksPath", ".githooks"]);
    let refused = sandbox.handoff(&["hooks", "install"]).refused(4);
    assert!(refused.contains("is tracked") && refused.contains("git-handoff hook pre-push"), "{refused}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let elsewhere = sandbox.root().join("elsewhere");
    sandbox.git(&["config", "core.hooksPath", elsewhere.to_str().expect("a Unicode path")]);
    assert!(sandbox.handoff(&["hooks", "install"]).refused(4).contains("outside this repository"));
    assert!(!elsewhere.exists());
    sandbox.handoff(&["hooks", "install", "--force"]).ok();
    assert_eq!(listing(&elsewhere).into_keys().collect::<Vec<_>>(), HOOKS);
    sandbox.handoff(&["hooks", "uninstall"]).ok();
    assert_eq!(listing(&elsewhere).len(), 0);
}

#[test]
fn husky_keeps_its_generated_directory_and_gets_sections() {
    let sandbox = repository();
    sandbox.write(".husky/_/pre-push", "#!/bin/sh\nsh \"${0%/_/*}/pre-push\" \"$@\"\n");
    sandbox.write(".husky/pre-push", "echo mine");
    sandbox.git(&["config", "core.hooksPath", ".husky/_"]);
    let generated = listing(&sandbox.cwd().join(".husky/_"));
    sandbox.handoff(&["hooks", "install"]).ok();
    assert!(sandbox.read(".husky/pre-push").starts_with("echo mine\n# >>> git-handoff"));
    assert_eq!(listing(&sandbox.cwd().join(".husky/_")), generated);
    assert_eq!(sandbox.handoff(&["hooks", "status", "--quiet"]).ok(), "installed\n");
    sandbox.handoff(&["hooks", "uninstall"]).ok();
    assert_eq!(sandbox.read(".husky/pre-push"), "echo mine");
    assert!(!sandbox.exists(".husky/post-commit"));
    assert_eq!(listing(&sandbox.cwd().join(".husky/_")), generated);
}

#[test]
fn a_hook_that_another_tool_put_over_ours_is_reported_and_kept() {
    let sandbox = repository();
    hook(&sandbox, ".git/hooks/pre-push", "#!/bin/sh\n# first\n");
    sandbox.handoff(&["hooks", "install"]).ok();
    hook(&sandbox, ".git/hooks/pre-push", "#!/bin/sh\n# lefthook\n");
    assert_eq!(sandbox.handoff(&["hooks", "install", "--json"]).code, 4);
    let removed = sandbox.handoff(&["hooks", "uninstall"]);
    assert!(removed.err.contains("is not ours any more"), "{}", removed.err);
    assert_eq!(sandbox.read(".git/hooks/pre-push"), "#!/bin/sh\n# lefthook\n");
    assert_eq!(sandbox.read(".git/hooks/pre-push.handoff-chained"), "#!/bin/sh\n# first\n");
}

#[test]
fn substantial_commits_are_handed_over_once_and_the_others_never() {
    let mut sandbox = repository();
    sandbox.handoff(&["hooks", "install"]).ok();
    for round in 0..3 {
        sandbox.clock(&format!("2026-08-18T1{round}:00:00Z"));
        for small in 0..8 {
            sandbox.write("notes.rs", format!("fn note() {{ {round}{small} }}\n"));
            sandbox.git(&["add", "."]);
            assert_eq!(sandbox.run("git", &["commit", "-qm", "Small step"], b"").err, "");
        }
        let said = commit_files(&sandbox, &format!("part{round}"), 5);
        assert_eq!(said, format!("note: handoff recorded: .codex/handoffs/2026-08-18-1{round}00.md\n"));
    }
    let all = sandbox.handoff(&["list", "--all", "--json"]).json();
    let triggers: Vec<&str> =
        all.as_array().expect("a list").iter().filter_map(|each| each["trigger"].as_str()).collect();
    assert_eq!(triggers, ["substantial-work"; 3]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn small_commits_that_add_up_are_handed_over_at_the_fifth_file() {
    let sandbox = repository();
    sandbox.handoff(&["hooks", "install"]).ok();
    for number in 0..4 {
        sandbox.commit(&format!("f{number}.rs"), "fn f() {}\n");
    }
    assert_eq!(recorded(&sandbox), 0);
    sandbox.commit("f4.rs", "fn f() {}\n");
    assert_eq!(recorded(&sandbox), 1);
    sandbox.git(&["commit", "-q", "--amend", "-m", "amended"]);
    sandbox.commit("f5.rs", "fn f() {}\n");
    assert_eq!(recorded(&sandbox), 1, "what the amended commit holds is covered");
}

#[test]
fn a_goal_holds_the_hooks_back() {
    let sandbox = repository();
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.handoff(&["goal", "start", "Ship it soon"]).ok();
    commit_files(&sandbox, "part", 6);
    assert_eq!(recorded(&sandbox), 0);
    sandbox.handoff(&["goal", "close", "--status", "completed"]).ok();
    commit_files(&sandbox, "small", 1);
    assert_eq!(recorded(&sandbox), 1);
}

#[test]
fn replayed_commits_are_not_new_work() {
    let sandbox = repository();
    sandbox.handoff(&["hooks", "install"]).ok();
    for number in 1..5 {
        sandbox.commit(&format!("f{number}"), &format!("{number}\n"));
    }
    sandbox.create("h", &[]);
    sandbox.git(&["branch", "side", "HEAD~4"]);
    sandbox.git(&["checkout", "-q", "side"]);
    sandbox.commit("f2", "conflict\n");
    sandbox.git(&["checkout", "-q", "main"]);
    let stopped = sandbox.run("git", &["rebase", "side"], b"");
    assert_ne!(stopped.code, 0);
    sandbox.write("f2", "mine\n");
    sandbox.git(&["add", "f2"]);
    let ended = sandbox.run("git", &["rebase", "--continue"], b"");
    let said = format!("{}{}{}{}", stopped.out, stopped.err, ended.out, ended.err).to_lowercase();
    assert!(!said.contains("fatal") && !said.contains("handoff"), "{said}");
    ended.ok();
    assert_eq!(recorded(&sandbox), 1);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert!(sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]).ends_with(" h"));
    sandbox.git(&["checkout", "-q", "-b", "picked", "side"]);
    sandbox.git(&["cherry-pick", "main~3..main"]);
    assert_eq!(recorded(&sandbox), 1);
}

#[test]
fn a_push_takes_the_log_along_and_calls_itself_never() {
    let sandbox = with_remote();
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.create("along", &[]);
    fs::rename(sandbox.cwd().join(".git/hooks/pre-push"), sandbox.cwd().join(".git/hooks/pre-push.real"))
        .expect("it is there");
    hook(&sandbox, ".git/hooks/pre-push", "#!/bin/sh\necho x >>\"$0.count\"\nexec \"$0.real\" \"$@\"\n");
    sandbox.commit("b.txt", "b\n");
    sandbox.git(&["push", "-q", "origin", "main"]);
    assert_eq!(sandbox.read(".git/hooks/pre-push.count"), "x\n");
    let refs = sandbox.git(&["ls-remote", "../R.git"]);
    for name in ["refs/heads/main", "refs/handoffs/log", "refs/notes/handoffs"] {
        assert!(refs.contains(name), "{refs}");
    }
    assert_eq!(sandbox.handoff(&["status", "--json"]).json()["unpublished"], 0);
    // A plain fetch elsewhere brings them, and one from a remote without a log is no failure.
    sandbox.git(&["clone", "-q", "../R.git", "../B"]);
    sandbox.handoff(&["-C", "../B", "hooks", "install"]).ok();
    sandbox.git(&["-C", "../B", "fetch", "-q"]);
    let there = sandbox.handoff(&["-C", "../B", "list", "--json"]).json();
    assert_eq!(there[0]["topic"], "along");
    sandbox.git(&["init", "-q", "--bare", "../empty.git"]);
    sandbox.git(&["remote", "add", "empty", "../empty.git"]);
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.git(&["fetch", "-q", "empty"]);
}

#[test]
fn a_remote_that_refuses_our_refs_costs_one_warning() {
    let sandbox = with_remote();
    hook(&sandbox, "../R.git/hooks/update", "#!/bin/sh\ncase $1 in refs/heads/*) exit 0 ;; esac\nexit 1\n");
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.create("refused", &[]);
    sandbox.commit("b.txt", "b\n");
    let pushed = sandbox.run("git", &["push", "-q", "origin", "main"], b"");
    assert_eq!(pushed.code, 0);
    assert_eq!(pushed.err.matches("warning: ").count(), 1, "{}", pushed.err);
    assert!(pushed.err.contains("the remote 'origin' refused the log and the notes"), "{}", pushed.err);
}

#[test]
fn a_damaged_log_stops_nobody() {
    let sandbox = with_remote();
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.create("h", &[]);
    sandbox.write(".git/refs/handoffs/log", "garbage");
    sandbox.commit("b", "b\n");
    let pushed = sandbox.run("git", &["push", "-q", "origin", "main"], b"");
    assert_eq!((pushed.code, pushed.err.matches("warning: ").count()), (0, 1), "{}", pushed.err);
}

#[test]
fn a_secret_stays_at_home_and_the_users_push_goes_on() {
    let sandbox = with_remote();
    sandbox.handoff(&["hooks", "install"]).ok();
    let token = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    let text = format!("{}\n## Notes\nuse {token}\n", body("leak"));
    let refused = sandbox.handoff_with(&["create", "--from", "-", "leak", "--json"], &text).refused(5);
    let at = refused.find('{').expect("JSON");
    let error: serde_json::Value = serde_json::from_str(&refused[at..]).expect("JSON");
    let fingerprint =
        error["error"]["details"]["findings"][0]["fingerprint"].as_str().expect("a fingerprint").to_owned();
    sandbox.handoff_with(&["create", "--from", "-", "leak", "--allow-finding", &fingerprint], &text).ok();
    sandbox.commit("b", "b\n");
    sandbox.git(&["push", "-q", "origin", "main"]);
    assert!(sandbox.git(&["ls-remote", "../R.git"]).contains("refs/handoffs/log"), "what was allowed may leave");
    // A handoff that got in before the rule existed: its document allows nothing.
    let bytes = sandbox.handoff(&["show", "--document"]).ok().replace(&format!("\"{fingerprint}\""), "");
    let id = sha256(&sandbox, &bytes);
    let blob = sandbox.run("git", &["hash-object", "-w", "--stdin"], bytes.as_bytes()).ok();
    let folder = sandbox.run("git", &["mktree"], format!("100644 blob {}\t{id}.json\n", blob.trim()).as_bytes()).ok();
    let tree = sandbox.run("git", &["mktree"], format!("040000 tree {}\thandoff\n", folder.trim()).as_bytes()).ok();
    let commit = sandbox.git(&["commit-tree", "-p", "refs/handoffs/log", "-m", "old", tree.trim()]);
    sandbox.git(&["update-ref", "refs/handoffs/log", &commit]);
    sandbox.commit("c", "c\n");
    let pushed = sandbox.run("git", &["push", "-q", "origin", "main"], b"");
    assert_eq!(pushed.code, 0);
    assert!(pushed.err.contains("contains a secret") && pushed.err.contains(&id[..12]), "{}", pushed.err);
    assert!(!pushed.err.contains(&token));
    assert!(!sandbox.git(&["ls-remote", "../R.git"]).contains(&commit));
}

fn sha256(sandbox: &Sandbox, text: &str) -> String {
    let said = sandbox.run("sha256sum", &[], text.as_bytes()).ok();
    said.split(' ').next().expect("a digest").to_owned()
}

#[test]
fn views_follow_a_new_worktree_and_a_fetch() {
    let mut sandbox = repository();
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.create("seen elsewhere", &[]);
    sandbox.git(&["worktree", "add", "-q", "../wt", "-b", "wt"]);
    sandbox.enter("wt");
    assert!(sandbox.read(".session-transfer/INDEX.md").contains("seen elsewhere"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn purging_takes_the_private_state_and_leaves_the_refs() {
    let sandbox = repository();
    let exclude = sandbox.read(".git/info/exclude");
    sandbox.handoff(&["hooks", "install"]).ok();
    sandbox.create("kept", &[]);
    sandbox.handoff(&["hooks", "uninstall", "--purge"]).ok();
    assert!(!sandbox.exists(".git/git-handoff-state"));
    assert_eq!(sandbox.read(".git/info/exclude"), exclude);
    assert_eq!(recorded(&sandbox), 1);
}

#[test]
fn an_unknown_hook_and_odd_arguments_do_nothing() {
    let sandbox = repository();
    for args in [&["hook", "pre-commit"][..], &["hook", "post-commit", "--nonsense"], &["hook", "pre-push"]] {
        let ran = sandbox.handoff(args);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{args:?}");
    }
}

#[test]
fn the_fetch_refspec_is_the_one_that_sync_adds() {
    let sandbox = with_remote();
    let fetch = || sandbox.git(&["config", "--get-all", "remote.origin.fetch"]);
    let before = fetch();
    let added = |args: &[&str]| sandbox.handoff(args).json()["refspecs"].clone();
    assert_eq!(added(&["hooks", "install", "--json"]), serde_json::json!(["origin"]));
    let ours = "+refs/handoffs/log*:refs/handoffs-remote/origin/log*";
    assert_eq!(fetch(), format!("{before}\n{ours}"));
    sandbox.handoff(&["sync", "--setup"]).ok();
    assert_eq!(fetch(), format!("{before}\n{ours}"));
    assert_eq!(added(&["hooks", "install", "--json"]), serde_json::json!([]));
    let ran = sandbox.handoff(&["doctor", "--json"]);
    assert!(!ran.out.contains("refspec"), "{}", ran.out);
    assert_eq!(added(&["hooks", "uninstall", "--json"]), serde_json::json!(["origin"]));
    assert_eq!(fetch(), before);
}
