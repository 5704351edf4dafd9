//! Which agent a handoff is recorded for.

use crate::sandbox::{Sandbox, body};

/// The directory that a handoff made under these variables appears in, and what was said about it.
fn lane(vars: &[(&str, &str)], options: &[&str]) -> (String, String) {
    let mut sandbox = Sandbox::repository();
    for dir in [".codex", ".claude", ".opencode"] {
        std::fs::create_dir(sandbox.cwd().join(dir)).expect("writable");
    }
    for (name, value) in vars {
        sandbox.set(name, value);
    }
    let mut args = vec!["create", "--json", "--from", "-", "t"];
    args.extend(options);
    let ran = sandbox.handoff_with(&args, body("t"));
    let talk = ran.err.clone();
    let file = ran.json()["file"].as_str().expect("a file").to_owned();
    (file.split('/').next().expect("a directory").to_owned(), talk)
}

#[test]
fn a_runtime_is_known_by_the_variable_that_it_sets() {
    assert_eq!(lane(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")], &[]).0, ".claude");
    assert_eq!(lane(&[("CODEX_THREAD_ID", "t"), ("CODEX_SANDBOX", "seatbelt")], &[]).0, ".codex");
    assert_eq!(lane(&[("OPENCODE", "1")], &[]).0, ".opencode");
}

#[test]
fn neither_directories_nor_settings_nor_empty_variables_decide() {
    assert_eq!(lane(&[], &[]).0, ".agent");
    assert_eq!(lane(&[("CODEX_HOME", "/somewhere"), ("CLAUDE_CONFIG_DIR", "/else")], &[]).0, ".agent");
    assert_eq!(lane(&[("CLAUDECODE", "")], &[]).0, ".agent");
}

#[test]
fn the_runtime_beats_the_option_and_says_how_to_beat_it() {
    let (lane_of_runtime, talk) = lane(&[("CLAUDECODE", "1")], &["--agent", "codex"]);
    assert_eq!(lane_of_runtime, ".claude");
    assert!(talk.contains("CLAUDECODE") && talk.contains("HANDOFF_AGENT"), "{talk}");
    assert_eq!(lane(&[("CLAUDECODE", "1"), ("HANDOFF_AGENT", "codex")], &[]).0, ".codex");
    assert_eq!(lane(&[], &["--agent", "Codex"]).0, ".codex");
}

#[test]
fn two_runtimes_at_once_are_recorded_as_ambiguous() {
    let (lane, talk) = lane(&[("CLAUDECODE", "1"), ("CODEX_THREAD_ID", "t")], &[]);
    assert_eq!(lane, ".agent");
    assert!(talk.contains("claude") && talk.contains("codex"), "{talk}");
}

#[test]
fn the_decision_is_explained() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("CODEX_THREAD_ID", "thread-7");
    let decision = sandbox.handoff(&["agent", "--json"]).json();
    assert_eq!((&decision["agent"], &decision["session"]), (&"codex".into(), &"thread-7".into()));
    assert!(decision["why"].as_str().is_some_and(|why| why.contains("CODEX_THREAD_ID")), "{decision}");
}

#[test]
fn an_agent_can_be_given_a_directory_of_its_own() {
    let mut sandbox = Sandbox::repository();
    sandbox.git(&["config", "handoff.agent.amp.dir", ".amp"]);
    sandbox.set("HANDOFF_AGENT", "amp");
    sandbox.create("t", &[]);
    assert!(sandbox.exists(".amp/INDEX.md"));
    sandbox.git(&["config", "handoff.agent.amp.dir", "../out"]);
    let err = sandbox.handoff(&["list"]).refused(2);
    assert!(err.contains("handoff.agent.amp.dir"), "{err}");
}
