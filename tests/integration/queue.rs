//! `queue` and `op`: what waits for what, who holds it, how it ends.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A repository with one handoff that is complete enough to be queued as it is.
pub(crate) fn planned() -> (Sandbox, String) {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    let plan = sandbox.create("plan", &["--status", "completed", "--complete", "--objective", "Move the data"]);
    (sandbox, plan)
}

/// Queues a continuation and gives its id.
#[track_caller]
pub(crate) fn queue(sandbox: &Sandbox, name: &str, options: &[&str]) -> String {
    let mut args = vec!["queue", "add", "--quiet", "--name", name];
    args.extend(options);
    sandbox.handoff(&args).ok().trim_end().to_owned()
}

#[track_caller]
fn shown(sandbox: &Sandbox, item: &str) -> Value {
    sandbox.handoff(&["queue", "show", item, "--json"]).json()
}

#[track_caller]
fn state(sandbox: &Sandbox, item: &str) -> String {
    shown(sandbox, item)["state"].as_str().expect("a state").to_owned()
}

#[track_caller]
fn ready(sandbox: &Sandbox) -> Vec<String> {
    let items = sandbox.handoff(&["queue", "ready", "--json"]).json();
    items.as_array().expect("a list").iter().map(|item| item["name"].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn the_packet_of_a_start_is_that_of_resume_with_the_outcomes_of_the_prerequisites() {
    let (sandbox, plan) = planned();
    queue(&sandbox, "copy", &["--after", "op:disk"]);
    sandbox.handoff(&["op", "start", "disk"]).ok();
    sandbox.handoff(&["op", "succeed", "disk"]).ok();
    let packet = sandbox.handoff(&["queue", "start", "copy", "--as", "carla", "--json"]).json();
    let resumed = sandbox.handoff(&["resume", &plan, "--json"]).json();
    for group in ["handoff", "trust", "context"] {
        assert_eq!(packet[group], resumed[group], "{group}");
    }
    assert_eq!(packet["authoritative"]["next_action"], resumed["authoritative"]["next_action"]);
    let met = &packet["authoritative"]["prerequisites"][0];
    assert_eq!((&met["prerequisite"], &met["outcome"]), (&"op:disk".into(), &"succeeded".into()));
    let started = &packet["continuation"]["started"];
    assert_eq!((&started["by"], &started["handoff"]), (&"carla".into(), &plan.into()));
    assert_eq!(started["revision"], sandbox.git(&["rev-parse", "HEAD"]));
    assert!(started["evidence"][0]["event"].is_string());
}

#[test]
fn it_is_started_once() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    sandbox.handoff(&["queue", "start", "copy", "--as", "carla"]).ok();
    assert_eq!(sandbox.handoff(&["queue", "start", "copy", "--as", "carla", "--json"]).error_code(4), "WRONG_STATE");
    assert_eq!(sandbox.handoff(&["queue", "start", "copy", "--as", "dan", "--json"]).error_code(7), "NOT_HOLDER");
    assert_eq!(sandbox.handoff(&["queue", "finish", "copy", "--as", "dan", "--json"]).error_code(7), "NOT_HOLDER");
    sandbox.handoff(&["queue", "finish", "copy", "--as", "carla"]).ok();
    assert_eq!(sandbox.handoff(&["queue", "finish", "copy", "--as", "carla", "--json"]).error_code(4), "WRONG_STATE");
    assert_eq!(state(&sandbox, "copy"), "succeeded");
}

#[test]
fn names_are_unique_among_what_is_unfinished() {
    let (sandbox, _) = planned();
    queue(&sandbox, "the disk 💽", &[]);
    let again = ["queue", "add", "--name", "the disk 💽", "--json"];
    assert_eq!(sandbox.handoff(&again).error_code(4), "NAME_TAKEN");
    sandbox.handoff(&["queue", "cancel", "the disk 💽"]).ok();
    sandbox.handoff(&again).ok();
}

#[test]
fn two_continuations_alike_are_two() {
    let (sandbox, _) = planned();
    let add = || sandbox.handoff(&["queue", "add", "--quiet"]).ok();
    assert_ne!(add(), add());
    let all = sandbox.handoff(&["queue", "list", "--json"]).json();
    assert_eq!(all.as_array().map(Vec::len), Some(2));
}

#[test]
fn a_claim_after_a_release_at_the_same_moment_counts() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    for _ in 0..3 {
        sandbox.handoff(&["queue", "claim", "copy", "--as", "carla"]).ok();
        assert_eq!(state(&sandbox, "copy"), "claimed");
        sandbox.handoff(&["queue", "release", "copy", "--as", "carla"]).ok();
        assert_eq!(state(&sandbox, "copy"), "ready");
    }
}

#[test]
fn what_is_unknown_cannot_be_waited_for() {
    let (sandbox, _) = planned();
    for unknown in ["continuation:nothing", "handoff:abcdef", "merged:no-such-branch", "commit:abcdef"] {
        let code = sandbox.handoff(&["queue", "add", "--after", unknown, "--json"]).error_code(3);
        assert_eq!(code, "NOT_FOUND", "{unknown}");
    }
    for nonsense in ["disk", "op:", "later:tomorrow"] {
        assert_eq!(sandbox.handoff(&["queue", "add", "--after", nonsense, "--json"]).error_code(2), "USAGE");
    }
}

#[test]
fn leases_are_bounded_and_end() {
    let (mut sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    for lease in ["0s", "3652d", "soon", "-2h"] {
        let args = ["queue", "claim", "copy", &format!("--lease={lease}"), "--json"];
        assert_eq!(sandbox.handoff(&args).error_code(2), "USAGE", "{lease}");
    }
    sandbox.handoff(&["queue", "claim", "copy", "--as", "carla", "--lease", "15m"]).ok();
    assert_eq!(shown(&sandbox, "copy")["claim"]["until"], "2026-08-18T17:19:00+03:00");
    let dan = ["queue", "claim", "copy", "--as", "dan", "--json"];
    assert_eq!(sandbox.handoff(&dan).error_code(7), "NOT_HOLDER");
    assert_eq!(sandbox.handoff(&["queue", "release", "copy", "--as", "dan", "--json"]).error_code(7), "NOT_HOLDER");
    sandbox.clock("2026-08-18T17:19:00+03:00");
    assert_eq!((state(&sandbox, "copy").as_str(), ready(&sandbox)), ("ready", vec!["copy".to_owned()]));
    assert_eq!(sandbox.handoff(&dan).json()["claim"]["by"], "dan");
    let erin = ["queue", "release", "copy", "--as", "erin", "--force"];
    sandbox.handoff(&erin).ok();
    assert_eq!(ready(&sandbox), ["copy"]);
}

#[test]
fn a_clock_that_is_a_year_off_breaks_nothing() {
    let (mut sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    queue(&sandbox, "after", &["--after", "continuation:copy"]);
    sandbox.clock("2027-08-18T17:04:00+03:00");
    sandbox.handoff(&["queue", "claim", "copy", "--as", "carla"]).ok();
    sandbox.clock("2026-08-18T17:05:00+03:00");
    assert_eq!(sandbox.handoff(&["queue", "claim", "copy", "--as", "dan", "--json"]).error_code(7), "NOT_HOLDER");
    sandbox.handoff(&["queue", "finish", "copy", "--as", "carla"]).ok();
    assert_eq!(ready(&sandbox), ["after"]);
}

#[test]
fn a_branch_that_was_merged_is_seen_by_the_next_command_that_writes() {
    let (sandbox, _) = planned();
    sandbox.git(&["checkout", "-qb", "feature"]);
    sandbox.commit("f.txt", "f");
    sandbox.git(&["checkout", "-q", "main"]);
    queue(&sandbox, "release", &["--after", "merged:feature"]);
    assert_eq!(sandbox.handoff(&["queue", "start", "release", "--json"]).error_code(4), "WRONG_STATE");
    sandbox.git(&["merge", "-q", "feature"]);
    sandbox.git(&["branch", "-qd", "feature"]);
    assert_eq!(state(&sandbox, "release"), "waiting");
    let packet = sandbox.handoff(&["queue", "start", "release", "--json"]).json();
    assert_eq!(packet["continuation"]["after"][0]["outcome"], "succeeded");
}

#[test]
fn a_commit_is_waited_for_until_it_is_in_the_history() {
    let (sandbox, _) = planned();
    sandbox.git(&["checkout", "-qb", "feature"]);
    sandbox.commit("f.txt", "f");
    let commit = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["checkout", "-q", "main"]);
    queue(&sandbox, "release", &["--after", &format!("commit:{commit}")]);
    assert_eq!(state(&sandbox, "release"), "waiting");
    sandbox.git(&["merge", "-q", "feature"]);
    sandbox.handoff(&["queue", "claim", "release"]).ok();
    assert_eq!(state(&sandbox, "release"), "claimed");
}

#[test]
fn work_that_continues_a_handoff_completes_it() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    let open = sandbox.create("open work", &[]);
    queue(&sandbox, "next", &["--accept-partial", "--after", &format!("handoff:{open}")]);
    assert_eq!(state(&sandbox, "next"), "waiting");
    sandbox.clock("2026-08-18T17:10:00+03:00");
    let middle = sandbox.create("more of it", &["--continues-from", &open]);
    sandbox.create("the rest", &["--continues-from", &middle, "--status", "completed"]);
    assert_eq!(state(&sandbox, "next"), "ready");
    sandbox.handoff(&["queue", "start", "next"]).ok();
}

#[test]
fn a_person_approves() {
    let (sandbox, _) = planned();
    queue(&sandbox, "ship", &["--after", "approval"]);
    assert_eq!(ready(&sandbox), Vec::<String>::new());
    sandbox.handoff(&["queue", "approve", "ship"]).ok();
    assert_eq!(ready(&sandbox), ["ship"]);
    assert_eq!(shown(&sandbox, "ship")["approved"]["by"], "Test User <test@example.com>");
}

#[test]
fn a_partial_handoff_is_queued_only_when_that_is_accepted() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.create("half", &[]);
    assert_eq!(sandbox.handoff(&["queue", "add", "--json"]).error_code(4), "NOT_AUTHORITATIVE");
    queue(&sandbox, "half", &["--accept-partial"]);
    assert_eq!(shown(&sandbox, "half")["accepted"], serde_json::json!(["partial"]));
}

#[test]
fn a_superseded_handoff_is_started_only_when_that_is_accepted() {
    let (mut sandbox, plan) = planned();
    queue(&sandbox, "copy", &[]);
    sandbox.clock("2026-08-18T17:10:00+03:00");
    let newer = sandbox.create("plan, corrected", &["--supersedes", &plan]);
    assert_eq!(sandbox.handoff(&["queue", "start", "copy", "--json"]).error_code(4), "HANDOFF_SUPERSEDED");
    assert_eq!(sandbox.handoff(&["queue", "add", "--handoff", &plan, "--json"]).error_code(4), "HANDOFF_SUPERSEDED");
    let packet = sandbox.handoff(&["queue", "start", "copy", "--accept-superseded", "--json"]).json();
    assert_eq!(packet["continuation"]["started"]["superseded_by"], newer);
}

#[test]
fn a_missing_or_damaged_handoff_is_an_error_and_never_a_guess() {
    let (sandbox, plan) = planned();
    let item = queue(&sandbox, "copy", &[]);
    let blob = sandbox.git(&["rev-parse", &format!("refs/handoffs/log~1:handoff/{plan}.json")]);
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    let bytes = std::fs::read(sandbox.cwd().join(&object)).expect("a loose object");
    std::fs::remove_file(sandbox.cwd().join(&object)).expect("removable");
    for verb in ["claim", "start", "finish"] {
        assert_eq!(sandbox.handoff(&["queue", verb, &item, "--json"]).error_code(10), "HANDOFF_MISSING", "{verb}");
    }
    assert_eq!(state(&sandbox, "copy"), "ready");
    let other = sandbox.git(&["hash-object", "-w", "a.txt"]);
    let other = format!(".git/objects/{}/{}", &other[..2], &other[2..]);
    std::fs::copy(sandbox.cwd().join(other), sandbox.cwd().join(&object)).expect("copied");
    assert_eq!(sandbox.handoff(&["queue", "start", &item, "--json"]).error_code(10), "HANDOFF_TAMPERED");
    std::fs::remove_file(sandbox.cwd().join(&object)).expect("removable");
    std::fs::write(sandbox.cwd().join(&object), bytes).expect("writable");
    sandbox.handoff(&["queue", "start", &item]).ok();
}

#[test]
fn a_continuation_whose_event_is_missing_is_said_to_be_missing() {
    let (sandbox, _) = planned();
    let item = queue(&sandbox, "copy", &[]);
    let blob = sandbox.git(&["rev-parse", &format!("refs/handoffs/log:continuation/{item}.json")]);
    std::fs::remove_file(sandbox.cwd().join(format!(".git/objects/{}/{}", &blob[..2], &blob[2..])))
        .expect("a loose object");
    std::fs::remove_dir_all(sandbox.cwd().join(".git/git-handoff-state")).expect("the cache");
    let failed = sandbox.handoff(&["queue", "claim", &item, "--as", "w"]);
    assert!(failed.err.contains(&format!("the body of {item} is missing in this repository")), "{}", failed.err);
    assert_eq!(failed.code, 10);
}

#[test]
fn run_gives_the_packet_to_the_callers_command_and_finishes_by_its_status() {
    let (sandbox, plan) = planned();
    queue(&sandbox, "good", &[]);
    sandbox.handoff(&["queue", "run", "good", "--", "sh", "-c", "cat >packet.json"]).ok();
    let packet: Value = serde_json::from_str(&sandbox.read("packet.json")).expect("JSON");
    assert_eq!(packet["handoff"]["id"], plan);
    assert_eq!(
        (state(&sandbox, "good").as_str(), &shown(&sandbox, "good")["finished"]["exit_code"]),
        ("succeeded", &0.into())
    );
    queue(&sandbox, "bad", &[]);
    queue(&sandbox, "behind", &["--after", "continuation:bad"]);
    assert_eq!(sandbox.handoff(&["queue", "run", "bad", "--json", "--", "false"]).code, 1);
    assert_eq!(["bad", "behind"].map(|item| state(&sandbox, item)), ["failed", "stopped"]);
    queue(&sandbox, "absent", &[]);
    let err = sandbox.handoff(&["queue", "run", "absent", "--", "no-such-command-here"]).refused(1);
    assert!(err.contains("'no-such-command-here' cannot be run"), "{err}");
    assert_eq!(state(&sandbox, "absent"), "failed");
}

#[test]
fn an_operation_run_records_how_it_went_without_secrets() {
    let (sandbox, _) = planned();
    let secret = format!("{}{}", "ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let script = format!("echo token {secret}; echo gone wrong >&2; exit 3");
    assert_eq!(sandbox.handoff(&["op", "run", "disk", "--json", "--", "sh", "-c", &script]).code, 1);
    let disk = sandbox.handoff(&["op", "list", "--json"]).json()[0].clone();
    assert_eq!((&disk["state"], &disk["exit_code"]), (&"failed".into(), &3.into()));
    let tail = disk["tail"].as_str().expect("a tail");
    assert!(tail.contains("wrong") && !disk.to_string().contains(&secret), "{disk}");
    let log = sandbox.git(&["log", "-p", "refs/handoffs/log"]);
    assert!(!log.contains(&secret));
    sandbox.handoff(&["op", "run", "disk", "--", "true"]).ok();
    assert_eq!(sandbox.handoff(&["op", "list", "--json"]).json()[0]["state"], "succeeded");
}

#[test]
fn an_operation_has_one_run_at_a_time() {
    let (sandbox, _) = planned();
    sandbox.handoff(&["op", "start", "disk"]).ok();
    assert_eq!(sandbox.handoff(&["op", "start", "disk", "--json"]).error_code(4), "WRONG_STATE");
    sandbox.handoff(&["op", "cancel", "disk"]).ok();
    assert_eq!(sandbox.handoff(&["op", "succeed", "disk", "--json"]).error_code(4), "WRONG_STATE");
}

#[test]
fn waiting_ends_when_it_is_ready_or_stopped_or_takes_too_long() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &["--after", "op:disk"]);
    assert_eq!(sandbox.handoff(&["queue", "wait", "copy", "--timeout", "0s", "--json"]).error_code(7), "TIMED_OUT");
    let mut waiting = sandbox.command(env!("CARGO_BIN_EXE_git-handoff"));
    waiting.args(["queue", "wait", "copy", "--timeout", "60s"]);
    let child = waiting.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    sandbox.handoff(&["op", "run", "disk", "--", "true"]).ok();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "copy: ready\n");
    sandbox.handoff(&["op", "run", "disk", "--", "false"]).refused(1);
    assert_eq!(sandbox.handoff(&["queue", "wait", "copy", "--json"]).error_code(4), "WRONG_STATE");
}

#[test]
fn the_global_index_shows_what_is_queued_and_no_clock_changes_it() {
    let (mut sandbox, _) = planned();
    queue(&sandbox, "copy", &["--after", "op:disk"]);
    queue(&sandbox, "now", &[]);
    queue(&sandbox, "held", &[]);
    sandbox.handoff(&["queue", "claim", "held", "--lease", "1s"]).ok();
    let table = |sandbox: &Sandbox| {
        let text = sandbox.read(".session-transfer/INDEX.md");
        text.split_once("\n## Continuations\n\n").expect("there is such a section").1.to_owned()
    };
    let expected = "| Continuation | Topic | State | Waits on |\n|---|---|---|---|\n| now | plan | ready | — |\n\
                    | copy | plan | waiting | op:disk |\n";
    assert_eq!(table(&sandbox), expected);
    sandbox.clock("2026-08-18T18:04:00+03:00");
    sandbox.handoff(&["op", "fail", "disk"]).ok();
    assert_eq!(table(&sandbox), expected.replace("waiting | op:disk", "stopped | op:disk failed"));
    assert_eq!(
        sandbox.handoff(&["status", "--json"]).json()["queue"],
        serde_json::json!({"ready": 2, "waiting": 0, "stopped": 1})
    );
}

#[test]
fn reading_the_queue_touches_nothing() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &["--after", "op:disk"]);
    let state = |sandbox: &Sandbox| {
        let script = "git for-each-ref; find . -type f -not -path './.git/objects/*' -exec sha256sum {} + | sort";
        sandbox.run("bash", &["-c", script], b"").ok()
    };
    let before = state(&sandbox);
    for args in
        [&["queue", "list", "--graph"][..], &["queue"], &["queue", "ready"], &["queue", "show", "copy"], &["op"]]
    {
        sandbox.handoff(args).ok();
    }
    assert_eq!(state(&sandbox), before);
}

#[test]
fn a_graph_shows_what_waits_on_what() {
    let (sandbox, _) = planned();
    queue(&sandbox, "disk", &[]);
    queue(&sandbox, "copy", &["--after", "continuation:disk"]);
    queue(&sandbox, "phone", &["--after", "continuation:copy", "--after", "continuation:disk"]);
    let graph = sandbox.handoff(&["queue", "list", "--graph"]).ok();
    assert_eq!(
        graph,
        "o    phone waiting (on continuation:copy, continuation:disk)\n|\\   plan\n\
         o |  copy waiting (on continuation:disk)\n|/   plan\no  disk ready\n   plan\n"
    );
}

#[test]
fn a_remote_without_the_means_to_ask_it_is_said_plainly() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    sandbox.git(&["remote", "add", "origin", "../nowhere.git"]);
    assert_eq!(sandbox.handoff(&["queue", "claim", "copy", "--json"]).error_code(8), "REMOTE_UNREACHABLE");
    let refused = sandbox.handoff(&["queue", "claim", "copy"]).refused(8);
    assert!(refused.contains("--offline"), "{refused}");
    assert!(shown(&sandbox, "copy")["claim"].is_null());
    sandbox.handoff(&["queue", "claim", "copy", "--offline"]).ok();
    assert_eq!(shown(&sandbox, "copy")["claim"]["mode"], "offline");
}
