//! The files that agents read.

use crate::sandbox::{Sandbox, body};

fn at_a_fixed_time() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox
}

#[test]
fn the_four_files_have_the_shape_that_readers_expect() {
    let sandbox = at_a_fixed_time();
    let id = sandbox.create("billing-system", &[]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let next = "Write the failing test for empty input in a.txt, then make it pass.";
    assert_eq!(
        sandbox.read(".codex/INDEX.md"),
        format!(
            "# Codex Session Index\n\nLast updated: 2026-08-18 17:04\n\n## Current Session\n\n\
             - Handoff: `handoffs/2026-08-18-1704.md`\n- Topic: billing-system\n- Status: in-progress\n- Branch: main\n\
             - Next Action: {next}\n\n## Recent Sessions\n\n| Date | Session | Topic | Status | Branch |\n|---|---|---|---|---|\n\
             | 2026-08-18 17:04 | `2026-08-18-1704` | billing-system | in-progress | main |\n"
        )
    );
    assert_eq!(
        sandbox.read(".session-transfer/INDEX.md"),
        format!(
            "# Session Transfer Index\n\nLast updated: 2026-08-18 17:04\n\n## Current / Recommended\n\n\
             - Handoff: `.codex/handoffs/2026-08-18-1704.md`\n- Source agent: codex\n- Topic: billing-system\n\
             - Status: in-progress\n- Branch: main\n- Next recommended action: {next}\n\n## Recent Cross-Agent Handoffs\n\n\
             | Date | Agent | Session | Topic | Status | Branch |\n|---|---|---|---|---|---|\n\
             | 2026-08-18 17:04 | codex | `2026-08-18-1704` | billing-system | in-progress | main |\n"
        )
    );
    assert_eq!(
        sandbox.read(".codex/handoffs.jsonl"),
        format!(
            "{{\"id\":\"2026-08-18-1704\",\"created\":\"2026-08-18T17:04:00+03:00\",\"agent\":\"codex\",\
             \"topic\":\"billing-system\",\"status\":\"in-progress\",\"trigger\":\"manual\",\"branch\":\"main\",\
             \"commit\":\"{head}\",\"file\":\"handoffs/2026-08-18-1704.md\"}}\n"
        )
    );
    let markdown = sandbox.read(".codex/handoffs/2026-08-18-1704.md");
    assert!(
        markdown.starts_with("# Session Handoff\n\n## Metadata\n\n```yaml\nsession_id: 2026-08-18-1704\n"),
        "{markdown}"
    );
    assert!(markdown.contains(&format!("\nhandoff_id: {id}\n")), "{markdown}");
}

#[test]
fn two_clones_with_the_same_log_have_the_same_bytes() {
    let mut sandbox = at_a_fixed_time();
    for n in 0..3 {
        sandbox.set("HANDOFF_AGENT", ["codex", "claude"][n % 2]);
        sandbox.create(&format!("h{n}"), &[]);
    }
    sandbox.git(&["clone", "-q", ".", "../other"]);
    sandbox.enter("other");
    sandbox.git(&["fetch", "-q", "origin", "refs/handoffs/log:refs/handoffs/log"]);
    sandbox.set("TZ", "Asia/Tokyo");
    sandbox.clock("2026-08-19T17:04:00+03:00");
    sandbox.create("h3", &[]);
    sandbox.git(&["push", "-q", "origin", "refs/handoffs/log:refs/handoffs/log"]);
    sandbox.enter("r");
    sandbox.clock("2026-08-20T17:04:00+03:00");
    sandbox.create("h4", &[]);
    sandbox.git(&["push", "-q", "../other", "refs/handoffs/log:refs/handoffs/log"]);
    sandbox.enter("other");
    sandbox.clock("2026-08-21T17:04:00+03:00");
    sandbox.create("h5", &[]);
    sandbox.git(&["push", "-q", "origin", "refs/handoffs/log:refs/handoffs/log"]);
    sandbox.enter("r");
    sandbox.handoff(&["recover"]).ok();
    for dir in [".codex", ".claude", ".session-transfer"] {
        sandbox.run("diff", &["-r", dir, &format!("../other/{dir}")], b"").ok();
    }
}

#[test]
fn generated_files_are_excluded_and_others_in_the_directory_are_not() {
    let sandbox = at_a_fixed_time();
    sandbox.create("h", &[]);
    sandbox.write(".codex/config.toml", "x = 1\n");
    assert_eq!(sandbox.git(&["status", "--porcelain", "-uall"]), "?? .codex/config.toml");
}

#[test]
fn layout_track_does_not_exclude_and_off_writes_nothing() {
    let sandbox = at_a_fixed_time();
    sandbox.git(&["config", "handoff.layout", "track"]);
    sandbox.create("h", &[]);
    assert!(sandbox.git(&["status", "--porcelain", "-uall"]).contains("?? .codex/INDEX.md"));
    let sandbox = at_a_fixed_time();
    sandbox.git(&["config", "handoff.layout", "off"]);
    sandbox.create("h", &[]);
    assert!(!sandbox.exists(".codex") && !sandbox.exists(".session-transfer"));
}

#[test]
fn a_handoff_file_that_a_person_edited_is_kept_and_reported() {
    let mut sandbox = at_a_fixed_time();
    sandbox.create("h", &[]);
    let file = ".codex/handoffs/2026-08-18-1704.md";
    let edited = sandbox.read(file).replace("half done", "three quarters done");
    sandbox.write(file, &edited);
    sandbox.clock("2026-08-18T17:05:00+03:00");
    sandbox.create("h2", &[]);
    assert_eq!(sandbox.read(file), edited);
}

#[test]
fn a_persons_remarks_in_an_index_are_not_lost() {
    let mut sandbox = at_a_fixed_time();
    sandbox.create("h", &[]);
    let index = ".session-transfer/INDEX.md";
    sandbox.write(index, format!("{}\n## Team remarks\nAsk Kim before touching the parser.\n", sandbox.read(index)));
    sandbox.clock("2026-08-18T17:05:00+03:00");
    let ran = sandbox.handoff_with(&["create", "--from", "-", "h2"], body("h2"));
    assert!(ran.err.contains("INDEX.md"), "{}", ran.err);
    let kept = sandbox.run("grep", &["-rl", "Ask Kim", ".session-transfer", ".git/git-handoff-state"], b"").ok();
    assert!(!kept.trim().is_empty());
    assert!(sandbox.read(index).contains("h2"));
}

#[test]
fn views_that_were_deleted_come_back_with_the_next_handoff() {
    let mut sandbox = at_a_fixed_time();
    sandbox.create("h", &[]);
    let before = sandbox.read(".codex/handoffs/2026-08-18-1704.md");
    for dir in [".codex", ".session-transfer"] {
        std::fs::remove_dir_all(sandbox.cwd().join(dir)).expect("removable");
    }
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
    sandbox.clock("2026-08-18T17:05:00+03:00");
    sandbox.create("h2", &[]);
    assert_eq!(sandbox.read(".codex/handoffs/2026-08-18-1704.md"), before);
    assert_eq!(sandbox.read(".codex/handoffs.jsonl").lines().count(), 2);
}

#[test]
fn lines_that_a_person_added_to_a_note_are_kept() {
    let mut sandbox = at_a_fixed_time();
    sandbox.git(&["notes", "--ref=handoffs", "add", "-m", "Kim: looks good", "HEAD"]);
    sandbox.create("h", &[]);
    sandbox.clock("2026-08-18T17:05:00+03:00");
    sandbox.create("h2", &[]);
    let note = sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]);
    assert_eq!(note.lines().count(), 3);
    assert!(note.contains("Kim: looks good"), "{note}");
}
