//! Kinds of repositories.

use crate::sandbox::{Sandbox, body};

/// Create, list, resume, show and the notes work; git finds nothing wrong.
fn works(sandbox: &Sandbox) -> String {
    let id = sandbox.create("h", &[]);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
    assert!(sandbox.handoff(&["resume"]).ok().contains("half done"));
    assert!(sandbox.handoff(&["show", &id]).ok().contains("half done"));
    assert!(sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]).starts_with(&id[..12]));
    sandbox.git(&["fsck", "--strict"]);
    id
}

#[test]
fn sha256_repositories() {
    let mut sandbox = Sandbox::empty();
    sandbox.init("s", &["--object-format=sha256"]);
    works(&sandbox);
}

#[test]
fn reftable_repositories() {
    let mut sandbox = Sandbox::empty();
    sandbox.init("r", &["--ref-format=reftable"]);
    works(&sandbox);
    assert_eq!(sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/handoffs"]), "refs/handoffs/log");
    assert!(!sandbox.exists(".git/refs/handoffs"), "no loose file that git would not see");
    assert!(sandbox.git(&["reflog", "show", "refs/handoffs/log"]).contains("handoff"));
}

#[test]
fn the_id_does_not_depend_on_the_object_format() {
    let ids = [vec![], vec!["--object-format=sha256"]].map(|options| {
        let mut sandbox = Sandbox::empty();
        sandbox.init("r", &options);
        sandbox.clock("2026-08-18T17:04:00Z");
        sandbox.git(&["checkout", "-q", "--orphan", "empty"]);
        sandbox.git(&["rm", "-rqf", "--cached", "."]);
        std::fs::remove_file(sandbox.cwd().join("a.txt")).expect("removable");
        sandbox.create("same", &[])
    });
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn a_repository_without_a_commit() {
    let mut sandbox = Sandbox::empty();
    sandbox.git(&["init", "-q", "-b", "main", "u"]);
    sandbox.enter("u");
    let id = sandbox.create("unborn", &[]);
    let document = sandbox.handoff(&["show", &id, "--json"]).json()["document"].clone();
    assert_eq!((document.get("commit"), &document["branch"]), (None, &"main".into()));
    assert!(sandbox.handoff(&["resume"]).ok().contains("no commit was recorded"));
    assert_eq!(sandbox.git(&["for-each-ref", "refs/notes"]), "");
    sandbox.commit("a.txt", "a");
    let document = sandbox.handoff(&["show", &id, "--json"]).json()["document"].clone();
    assert_eq!(document.get("commit"), None, "the link is not invented later");
}

#[test]
fn a_detached_head_has_no_branch() {
    let sandbox = Sandbox::repository();
    sandbox.git(&["checkout", "-q", "--detach"]);
    let id = sandbox.create("detached", &[]);
    let document = sandbox.handoff(&["show", &id, "--json"]).json()["document"].clone();
    assert_eq!((document.get("branch"), &document["commit"]), (None, &sandbox.git(&["rev-parse", "HEAD"]).into()));
}

#[test]
fn outside_a_repository_is_refused_and_nothing_is_made() {
    let mut sandbox = Sandbox::empty();
    std::fs::create_dir(sandbox.root().join("plain")).expect("writable");
    sandbox.enter("plain");
    sandbox.set("GIT_CEILING_DIRECTORIES", sandbox.root().to_str().expect("Unicode").to_owned().as_str());
    let ran = sandbox.handoff_with(&["create", "--from", "-", "nogit"], body("nogit"));
    let err = ran.refused(9);
    assert!(err.contains("not in a git repository") && err.contains("hint: "), "{err}");
    for command in ["list", "resume", "status"] {
        assert_eq!(sandbox.handoff(&[command, "--json"]).error_code(9), "NO_REPOSITORY");
    }
    assert_eq!(std::fs::read_dir(sandbox.cwd()).expect("readable").count(), 0);
}

#[test]
fn a_bare_repository_has_a_log_and_no_files() {
    let mut sandbox = Sandbox::repository();
    sandbox.git(&["clone", "-q", "--bare", ".", "../b.git"]);
    sandbox.enter("b.git");
    let before: Vec<_> =
        std::fs::read_dir(sandbox.cwd()).expect("readable").map(|e| e.expect("readable").file_name()).collect();
    let out = sandbox.handoff_with(&["create", "--from", "-", "bare"], body("bare")).ok();
    assert!(out.contains("Global index updated: no (bare repository)"), "{out}");
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
    let mut after: Vec<_> =
        std::fs::read_dir(sandbox.cwd()).expect("readable").map(|e| e.expect("readable").file_name()).collect();
    after.retain(|name| !before.contains(name));
    after.retain(|name| name != "git-handoff-state" && name != "logs");
    assert_eq!(after, Vec::<std::ffi::OsString>::new());
}

#[test]
fn inside_the_git_directory_reading_works() {
    let mut sandbox = Sandbox::repository();
    sandbox.create("h", &[]);
    sandbox.enter("r/.git");
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
}

#[test]
fn linked_worktrees_share_the_log_and_keep_their_files_apart() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.create("from main", &[]);
    sandbox.git(&["worktree", "add", "-q", "../w1", "-b", "w1"]);
    sandbox.git(&["worktree", "add", "-q", "--detach", "../w2"]);
    let files = |sandbox: &Sandbox| {
        sandbox.run("bash", &["-c", "ls .codex/handoffs 2>/dev/null | wc -l"], b"").ok().trim().to_owned()
    };
    sandbox.enter("w1");
    sandbox.create("from w1", &[]);
    assert_eq!((sandbox.handoff(&["list"]).ok().lines().count(), files(&sandbox)), (2, "2".into()));
    sandbox.enter("w2");
    assert_eq!((sandbox.handoff(&["list"]).ok().lines().count(), files(&sandbox)), (2, "0".into()));
    sandbox.enter("r");
    assert_eq!(files(&sandbox), "1", "nothing is written into another worktree's directory");
    for worktree in ["r", "w1", "w2"] {
        sandbox.enter(worktree);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{worktree}");
    }
    assert!(sandbox.git(&["rev-parse", "refs/handoffs/log"]).len() >= 40);
}

#[test]
fn git_dir_and_work_tree_choose_the_repository_as_for_git() {
    let mut sandbox = Sandbox::repository();
    sandbox.create("h", &[]);
    let top = sandbox.cwd().to_str().expect("Unicode").to_owned();
    sandbox.enter("home");
    sandbox.handoff(&["list"]).refused(9);
    assert_eq!(sandbox.handoff(&["-C", &top, "list"]).ok().lines().count(), 1);
    assert_eq!(sandbox.handoff(&["list", "--workspace", &top]).ok().lines().count(), 1);
    sandbox.set("GIT_DIR", &format!("{top}/.git"));
    sandbox.set("GIT_WORK_TREE", &top);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.handoff_with(&["create", "--from", "-", "from outside"], body("x")).ok();
    sandbox.enter("r");
    assert!(sandbox.exists(".codex/INDEX.md"));
}

#[test]
fn a_submodule_has_its_own_log() {
    let mut sandbox = Sandbox::repository();
    sandbox.git(&["-c", "protocol.file.allow=always", "clone", "-q", ".", "../lib"]);
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib"]);
    sandbox.enter("r/lib");
    sandbox.create("in the submodule", &[]);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
    sandbox.enter("r");
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 0);
}

#[test]
fn without_an_identity_a_neutral_one_is_used() {
    let mut sandbox = Sandbox::repository();
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        sandbox.set(name, "");
    }
    sandbox.git(&["config", "user.useConfigOnly", "true"]);
    sandbox.create("h", &[]);
    let who = sandbox.git(&["log", "-1", "--format=%an <%ae> %cn <%ce>", "refs/handoffs/log"]);
    assert_eq!(who, "git-handoff <git-handoff@localhost> git-handoff <git-handoff@localhost>");
    sandbox.set("GIT_AUTHOR_NAME", "Real Me");
    sandbox.set("GIT_AUTHOR_EMAIL", "me@example.com");
    sandbox.create("h2", &[]);
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an <%ae>", "refs/handoffs/log"]), "Real Me <me@example.com>");
}

#[test]
fn a_reference_transaction_hook_sees_only_our_refs_and_may_veto() {
    let sandbox = Sandbox::repository();
    let hook = sandbox.cwd().join(".git/hooks/reference-transaction");
    let install = |script: &str| {
        sandbox.write(".git/hooks/reference-transaction", script);
        sandbox.run("chmod", &["+x", hook.to_str().expect("Unicode")], b"").ok();
    };
    install(&format!("#!/bin/sh\n[ \"$1\" = committed ] && cat >>'{}/seen'\nexit 0\n", sandbox.root().display()));
    sandbox.create("seen", &[]);
    let seen = std::fs::read_to_string(sandbox.root().join("seen")).expect("the hook ran");
    let refs: Vec<&str> = seen.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(refs, ["refs/handoffs/log", "refs/notes/handoffs"]);
    install("#!/bin/sh\n[ \"$1\" = prepared ] && exit 1\nexit 0\n");
    let err = sandbox.handoff_with(&["create", "--from", "-", "vetoed"], body("vetoed")).refused(1);
    assert!(err.contains("hook") && err.contains("draft"), "{err}");
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
}
