//! Claims by several clones of one remote.

use std::thread;

use serde_json::json;

use crate::queue::queue;
use crate::sandbox::Sandbox;
use crate::sync::team;

/// A bare remote and its clones `A` and `B`, where all of `items` are queued; commands run in `A`.
fn clones(items: &[&str]) -> Sandbox {
    let mut sandbox = team();
    sandbox.create("plan", &["--status", "completed", "--complete", "--objective", "Move the data"]);
    for item in items {
        queue(&sandbox, item, &[]);
    }
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("B");
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("A");
    sandbox
}

#[test]
fn of_two_clones_one_claims_and_the_other_learns_who() {
    let mut sandbox = clones(&["copy"]);
    sandbox.handoff(&["queue", "claim", "copy", "--as", "kim"]).ok();
    sandbox.enter("B");
    let refused = sandbox.handoff(&["queue", "claim", "copy", "--as", "lee"]).refused(7);
    assert!(refused.contains("kim"), "{refused}");
    let claim = &sandbox.handoff(&["queue", "show", "copy", "--json"]).json()["claim"];
    assert_eq!((&claim["by"], &claim["mode"]), (&json!("kim"), &json!("exclusive")));
    let refused = sandbox.handoff(&["queue", "claim", "copy", "--as", "lee", "--json"]);
    assert_eq!(refused.error_code(7), "NOT_HOLDER");
}

#[test]
fn a_remote_that_refuses_the_log_confirms_no_claim() {
    let sandbox = clones(&["copy"]);
    sandbox.git(&["-C", "../R.git", "config", "receive.hideRefs", "refs/handoffs"]);
    let refused = sandbox.handoff(&["queue", "claim", "copy", "--as", "kim"]).refused(8);
    assert!(refused.contains("--offline"), "{refused}");
    assert!(sandbox.handoff(&["queue", "show", "copy", "--json"]).json()["claim"].is_null());
}

#[test]
fn each_of_ten_races_has_one_winner() {
    let names: Vec<String> = (0..10).map(|number| format!("item-{number}")).collect();
    let mut sandbox = clones(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for item in &names {
        let claim = |clone: &str, who: &str| {
            let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-handoff"));
            command.current_dir(sandbox.root().join(clone)).args(["queue", "claim", item, "--as", who]);
            let output = command.output().expect("the program runs");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (kim, lee) = thread::scope(|scope| {
            let kim = scope.spawn(|| claim("A", "kim"));
            let lee = claim("B", "lee");
            (kim.join().expect("no panic"), lee)
        });
        let (winner, loser) = match (kim.0, lee.0) {
            (Some(0), Some(7)) => ("kim", lee.1),
            (Some(7), Some(0)) => ("lee", kim.1),
            _ => panic!("{item}: {kim:?} {lee:?}"),
        };
        assert!(loser.contains(winner), "{loser}");
    }
    let mut holders = Vec::new();
    for clone in ["A", "B"] {
        sandbox.enter(clone);
        sandbox.handoff(&["sync"]).ok();
        let items = sandbox.handoff(&["queue", "list", "--json"]).json();
        let items = items.as_array().expect("a list").clone();
        assert!(items.iter().all(|item| item["conflicts"] == json!([])), "{items:?}");
        holders.push(items.iter().map(|item| item["claim"]["by"].clone()).collect::<Vec<_>>());
    }
    assert_eq!(holders[0], holders[1]);
}

#[test]
fn the_sync_that_shows_an_offline_claim_to_be_lost_says_so_once() {
    let mut sandbox = clones(&["copy"]);
    sandbox.handoff(&["queue", "claim", "copy", "--as", "kim"]).ok();
    sandbox.enter("B");
    sandbox.handoff(&["queue", "claim", "copy", "--as", "lee", "--offline"]).ok();
    let item = sandbox.handoff(&["queue", "show", "copy", "--json"]).json()["id"].clone();
    let first = sandbox.handoff(&["sync", "--json"]).json();
    assert_eq!(first["lost_claims"], json!([{ "item": item, "name": "copy", "by": "lee", "lost_to": "kim" }]));
    assert_eq!(sandbox.handoff(&["sync", "--json"]).json()["lost_claims"], json!([]));
    sandbox.enter("A");
    assert_eq!(sandbox.handoff(&["sync", "--json"]).json()["lost_claims"], json!([]));
}

#[test]
fn of_two_offline_claims_the_loser_is_told_wherever_it_was_published() {
    let mut sandbox = clones(&["copy"]);
    sandbox.clock("2026-08-18T17:06:00+03:00");
    sandbox.handoff(&["queue", "claim", "copy", "--as", "kim", "--offline"]).ok();
    sandbox.handoff(&["sync"]).ok();
    sandbox.enter("B");
    sandbox.clock("2026-08-18T17:05:00+03:00");
    sandbox.handoff(&["queue", "claim", "copy", "--as", "lee", "--offline"]).ok();
    assert!(!sandbox.handoff(&["sync"]).ok().contains("lost"));
    sandbox.enter("A");
    let told = sandbox.handoff(&["sync"]).ok();
    assert!(told.contains("the claim of copy by kim is lost: lee has it"), "{told}");
}
