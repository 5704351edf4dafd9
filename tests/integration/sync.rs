//! Sharing with real remotes.

use std::path::Path;

use crate::sandbox::Sandbox;

/// A bare remote `R.git` and the clones `A` and `B` with one commit; commands run in `A`.
pub(crate) fn team() -> Sandbox {
    let mut sandbox = Sandbox::empty();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox.init("seed", &[]);
    sandbox.enter("");
    sandbox.git(&["clone", "-q", "--bare", "seed", "R.git"]);
    for name in ["A", "B"] {
        sandbox.git(&["clone", "-q", "R.git", name]);
    }
    sandbox.enter("A");
    sandbox
}

fn hook(sandbox: &Sandbox, name: &str, body: &str) {
    let path = sandbox.root().join("R.git/hooks").join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("writable");
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
}

fn tips(sandbox: &Sandbox) -> String {
    sandbox.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/handoffs/", "refs/notes/"])
}

fn remote_refs(sandbox: &Sandbox) -> Vec<String> {
    let all = sandbox.git(&["ls-remote", "--refs", "origin"]);
    all.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect()
}

/// Every file below a directory with its bytes.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.push((name, std::fs::read(&path).expect("readable")));
        }
    }
    found.sort();
    found
}

#[test]
fn two_clones_share_everything_and_a_third_gets_it_with_one_command() {
    let mut sandbox = team();
    let alpha = sandbox.create("alpha", &[]);
    sandbox.enter("B");
    sandbox.set("HANDOFF_AGENT", "claude");
    let beta = sandbox.create("beta", &[]);
    sandbox.enter("A");
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: received 0, sent 1\n");
    sandbox.enter("B");
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: received 1, sent 1\n");
    sandbox.enter("A");
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: received 1, sent 0\n");
    sandbox.enter("");
    sandbox.git(&["clone", "-q", "R.git", "C"]);
    sandbox.enter("C");
    let said = sandbox.handoff(&["resume"]).refused(3);
    assert!(said.ends_with("\nhint: teammates may have some: git handoff sync origin\n"), "{said}");
    sandbox.git(&["fetch", "-q", "origin", "refs/notes/handoffs:refs/notes/handoffs"]);
    let said = sandbox.handoff(&["list"]).err;
    assert!(said.contains("names handoffs that are not fetched yet: git handoff sync origin\n"), "{said}");
    let answer = sandbox.handoff(&["sync", "--json"]).json();
    let expected = serde_json::json!({
        "remote": "origin", "received": 2, "sent": 0, "unpublished": 0, "lost_claims": [], "dry_run": false,
    });
    assert_eq!(answer, expected);
    let note = sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]);
    assert!(note.contains(&alpha[..12]) && note.contains(&beta[..12]), "{note}");
    let lists: Vec<String> = ["A", "B", "C"]
        .map(|name| {
            sandbox.enter(name);
            assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: up to date\n");
            format!("{}\n{}", tips(&sandbox), sandbox.handoff(&["list", "--json"]).ok())
        })
        .into();
    assert_eq!(lists, vec![lists[0].clone(); 3]);
    let views = |name: &str, dir: &str| files(&sandbox.root().join(name).join(dir));
    for dir in [".codex", ".claude", ".session-transfer"] {
        assert_eq!(views("A", dir), views("C", dir), "{dir}");
        assert_eq!(views("B", dir), views("C", dir), "{dir}");
    }
}

#[test]
fn the_same_minute_on_two_machines_gives_the_same_names_everywhere_and_moves_are_told() {
    let mut sandbox = team();
    sandbox.clock("2026-08-18T17:04:40Z");
    sandbox.create("late", &[]);
    sandbox.enter("B");
    sandbox.clock("2026-08-18T17:04:10Z");
    sandbox.create("early", &[]);
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("A");
    let ran = sandbox.handoff(&["sync"]);
    let expected = "warning: .codex/handoffs/2026-08-18-1704.md is now .codex/handoffs/2026-08-18-1704-2.md\n";
    assert_eq!((ran.code, ran.err.as_str()), (0, expected));
    sandbox.enter("B");
    sandbox.handoff(&["sync"]).ok();
    let views = |name: &str| files(&sandbox.root().join(name).join(".codex"));
    assert_eq!(views("A"), views("B"));
    assert!(views("A").iter().any(|(name, _)| name == "handoffs/2026-08-18-1704-2.md"));
}

#[test]
fn half_of_the_refs_accepted_is_told_exactly_and_healed_by_the_same_command() {
    let sandbox = team();
    hook(&sandbox, "update", "case $1 in refs/notes/*) exit 1;; esac");
    sandbox.create("half", &[]);
    let said = sandbox.handoff(&["sync"]).refused(8);
    let expected =
        "error: the remote 'origin' has the log, which is enough to resume, but refused the notes (hook declined)\n";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(remote_refs(&sandbox), ["refs/handoffs/log", "refs/heads/main"]);
    std::fs::remove_file(sandbox.root().join("R.git/hooks/update")).expect("it is there");
    sandbox.handoff(&["sync"]).ok();
    assert_eq!(remote_refs(&sandbox), ["refs/handoffs/log", "refs/heads/main", "refs/notes/handoffs"]);
}

#[test]
fn an_empty_server_gets_no_branch_from_us() {
    let mut sandbox = Sandbox::repository();
    sandbox.git(&["init", "-q", "--bare", "../E.git"]);
    sandbox.git(&["remote", "add", "origin", "../E.git"]);
    sandbox.create("first", &[]);
    sandbox.handoff(&["sync", "--setup"]).ok();
    assert_eq!(remote_refs(&sandbox), ["refs/handoffs/log", "refs/notes/handoffs"]);
    sandbox.enter("");
    sandbox.git(&["init", "-q", "nothing"]);
    sandbox.enter("nothing");
    sandbox.git(&["remote", "add", "origin", "../E.git"]);
    assert_eq!(sandbox.handoff(&["sync", "--dry-run"]).ok(), "origin: would receive 1, would send 0\n");
    assert_eq!(sandbox.git(&["for-each-ref"]), "");
}

#[test]
fn a_remote_log_that_was_deleted_or_set_back_is_given_back() {
    let mut sandbox = team();
    sandbox.create("one", &[]);
    sandbox.handoff(&["sync"]).ok();
    let first = sandbox.git(&["rev-parse", "refs/handoffs/log"]);
    sandbox.create("two", &[]);
    sandbox.handoff(&["sync", "--setup"]).ok();
    let healed = tips(&sandbox);
    let damage: [&[&str]; 2] =
        [&["update-ref", "-d", "refs/handoffs/log"], &["update-ref", "refs/handoffs/log", &first]];
    for (args, word, sent) in [(damage[0], "deleted", 2), (damage[1], "set back", 1)] {
        sandbox.enter("R.git");
        sandbox.git(args);
        sandbox.enter("A");
        // An ordinary fetch follows the remote and must hide nothing.
        sandbox.git(&["fetch", "-q"]);
        let ran = sandbox.handoff(&["sync"]);
        let warning = format!("warning: the log of 'origin' had been {word}; it has everything again\n");
        assert_eq!((ran.out, ran.err), (format!("origin: received 0, sent {sent}\n"), warning));
        assert_eq!(tips(&sandbox), healed);
    }
}

#[test]
fn an_ordinary_fetch_brings_handoffs_after_the_setup_and_the_next_command_joins_them() {
    let mut sandbox = team();
    sandbox.enter("B");
    let ran = sandbox.handoff(&["sync", "--setup"]);
    assert_eq!((ran.out.as_str(), ran.code), ("origin: up to date\n", 0));
    assert_eq!(ran.err, "note: 'git fetch origin' brings handoffs from now on\n");
    // With a remote that has no log yet an ordinary fetch still works.
    sandbox.git(&["fetch", "-q"]);
    let again = sandbox.handoff(&["sync", "--setup"]);
    assert_eq!(again.err, "note: 'git fetch origin' brings handoffs already; nothing was changed\n");
    sandbox.enter("A");
    let id = sandbox.create("shared", &[]);
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("B");
    sandbox.git(&["fetch", "-q"]);
    let status = sandbox.handoff(&["status", "--json"]).json();
    let counts = ["remote", "unjoined", "unpublished"].map(|name| status[name].clone());
    assert_eq!(counts, [serde_json::json!("origin"), serde_json::json!(1), serde_json::json!(0)]);
    assert_eq!(sandbox.handoff(&["list", "--json"]).json()[0]["id"], id);
    assert_eq!(sandbox.git(&["for-each-ref", "refs/handoffs/"]), "");
    sandbox.create("more", &[]);
    let status = sandbox.handoff(&["status"]).ok();
    assert!(status.ends_with("\nUnpublished: 1 (to share with origin: git handoff sync)\n"), "{status}");
}

#[test]
fn a_remote_that_is_gone_hangs_or_refuses_costs_an_exit_code_and_nothing_else() {
    let sandbox = team();
    let id = sandbox.create("kept", &[]);
    sandbox.git(&["remote", "set-url", "origin", "../gone.git"]);
    assert_eq!(sandbox.handoff(&["sync", "--json"]).error_code(8), "REMOTE_UNREACHABLE");
    sandbox.git(&["remote", "set-url", "origin", "../R.git"]);
    hook(&sandbox, "update", "sleep 600");
    sandbox.git(&["config", "handoff.timeout", "1s"]);
    let said = sandbox.handoff(&["sync"]).refused(8);
    assert!(said.starts_with("error: the remote 'origin' did not answer within 1 s\n"), "{said}");
    sandbox.git(&["config", "handoff.timeout", "60"]);
    hook(&sandbox, "update", "exit 1");
    assert_eq!(sandbox.handoff(&["sync", "--json"]).error_code(8), "REMOTE_REJECTED");
    assert_eq!(sandbox.handoff(&["sync", "nowhere", "--json"]).error_code(3), "NOT_FOUND");
    assert_eq!(sandbox.handoff(&["list", "--json"]).json()[0]["id"], id);
    let status = sandbox.handoff(&["status", "--json"]).json();
    assert_eq!(status["unpublished"], 1);
}

#[test]
fn no_credential_of_a_url_is_said() {
    let sandbox = Sandbox::repository();
    let token = format!("gho_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let url = format!("http://x-access-token:{token}@127.0.0.1:1/o/r.git");
    sandbox.git(&["remote", "add", "origin", &url]);
    for args in [&["sync"][..], &["sync", "--dry-run", "--json"], &["sync", &url], &["sync", "--all-remotes"]] {
        let ran = sandbox.handoff(args);
        assert!(ran.code == 8 || ran.code == 3, "{ran:?}");
        assert!(!ran.err.contains(&token) && !ran.out.contains(&token), "{ran:?}");
    }
}

#[test]
fn garbage_in_the_remote_log_is_named_and_joined_around() {
    let mut sandbox = team();
    sandbox.create("good", &[]);
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("B");
    sandbox.handoff(&["sync"]).ok();
    let bad = sandbox.run("git", &["hash-object", "-w", "--stdin"], b"<<<<<<< not json\0\xff").ok();
    let listing = format!("100644 blob {}\tzzz-bad.json\n", bad.trim_end());
    let tree = sandbox.run("git", &["mktree"], listing.as_bytes()).ok();
    let junk = sandbox.git(&["commit-tree", "-p", "refs/handoffs/log", "-m", "junk", tree.trim_end()]);
    sandbox.git(&["push", "-q", "origin", &format!("{junk}:refs/handoffs/log")]);
    sandbox.enter("A");
    let ran = sandbox.handoff(&["sync"]);
    let warning =
        format!("warning: commit {} of the log: zzz-bad.json: it is not a file named <kind>/<id>.json\n", &junk[..12]);
    assert_eq!((ran.code, ran.err), (0, warning));
    sandbox.create("next", &[]);
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: received 0, sent 1\n");
    let blob = sandbox.git(&["rev-parse", "HEAD:a.txt"]);
    sandbox.enter("R.git");
    sandbox.git(&["update-ref", "refs/handoffs/log", &blob]);
    sandbox.enter("A");
    assert_eq!(sandbox.handoff(&["sync", "--json"]).error_code(10), "LOG_DAMAGED");
    assert_eq!(sandbox.handoff(&["list", "--json"]).json().as_array().map(Vec::len), Some(2));
}

#[test]
fn a_secret_that_is_recorded_stays_at_home_until_it_is_waived() {
    let mut sandbox = team();
    let secret = format!("ghp_{}", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    let document = format!(
        "{{\"agent\":\"codex\",\"authority\":\"inform_only\",\"completeness\":\"partial\",\
         \"created\":\"2026-08-18T17:04:00+03:00\",\"current_state\":\"{secret}\",\"schema\":\"handoff/v1\",\
         \"status\":\"in-progress\",\"topic\":\"leak\",\"trigger\":\"manual\"}}"
    );
    sandbox.create("before", &[]);
    // As a version records it that does not know the rule yet.
    let id = sandbox.run("sh", &["-c", "sha256sum | cut -c1-64"], document.as_bytes()).ok();
    let blob = sandbox.run("git", &["hash-object", "-w", "--stdin"], document.as_bytes()).ok();
    let entry = format!("100644 blob {}\t{}.json\n", blob.trim(), id.trim());
    let folder = sandbox.run("git", &["mktree"], entry.as_bytes()).ok();
    let tree = sandbox.run("git", &["mktree"], format!("040000 tree {}\thandoff\n", folder.trim()).as_bytes()).ok();
    let commit = sandbox.git(&["commit-tree", "-p", "refs/handoffs/log", "-m", "leak", tree.trim()]);
    sandbox.git(&["update-ref", "refs/handoffs/log", &commit]);
    let refusal = sandbox.handoff(&["sync", "--json"]);
    assert!(!refusal.err.contains(&secret), "{refusal:?}");
    let error: serde_json::Value = serde_json::from_str(&refusal.err).expect("only the error is said");
    assert_eq!((refusal.code, &error["error"]["code"]), (5, &serde_json::json!("SECRET_FOUND")));
    assert_eq!(remote_refs(&sandbox), ["refs/heads/main"]);
    let fingerprint = error["error"]["details"]["findings"][0]["fingerprint"].as_str().expect("a text").to_owned();
    sandbox.handoff(&["waive", &fingerprint, "--reason", "a sample of the documentation"]).ok();
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: received 0, sent 3\n");
    // What is published already holds nobody back.
    sandbox.enter("B");
    sandbox.create("fine", &[]);
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "origin: received 3, sent 1\n");
}

#[test]
fn several_remotes_end_with_the_same_log() {
    let mut sandbox = team();
    sandbox.git(&["init", "-q", "--bare", "../private.git"]);
    sandbox.git(&["remote", "add", "private", "../private.git"]);
    sandbox.git(&["config", "handoff.remote", "private"]);
    sandbox.create("one", &[]);
    assert_eq!(sandbox.handoff(&["sync"]).ok(), "private: received 0, sent 1\n");
    sandbox.enter("B");
    sandbox.create("two", &[]);
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("A");
    let answer = sandbox.handoff(&["sync", "--all-remotes", "--json"]).json();
    let counts = |at: usize| (answer[at]["remote"].clone(), answer[at]["sent"].clone(), answer[at]["received"].clone());
    let expected = |name: &str, sent: u8, received: u8| (name.into(), sent.into(), received.into());
    assert_eq!([counts(0), counts(1)], [expected("origin", 1, 1), expected("private", 1, 0)]);
    let tip = |remote: &str| sandbox.git(&["ls-remote", remote, "refs/handoffs/log"]);
    assert_eq!(tip("origin"), tip("private"));
}

#[test]
fn only_one_way_when_asked() {
    let mut sandbox = team();
    sandbox.create("mine", &[]);
    sandbox.enter("B");
    sandbox.create("theirs", &[]);
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("A");
    assert_eq!(sandbox.handoff(&["sync", "--push", "--json"]).error_code(7), "CONTENDED");
    assert_eq!(sandbox.handoff(&["sync", "--fetch"]).ok(), "origin: received 1, 1 unpublished\n");
    assert_eq!(sandbox.handoff(&["sync", "--push"]).ok(), "origin: received 0, sent 1\n");
}
