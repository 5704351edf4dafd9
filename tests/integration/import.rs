//! Files of older tools, and files that came without the log.

use crate::sandbox::Sandbox;

/// What the session-handoff skill wrote: metadata as a list, sections inside sections, tables.
fn session_handoff() -> &'static str {
    "# Handoff: Billing filter\n\n## Session Metadata\n- Created: 2026-01-15 10:30:00\n- Project: shop\n\
     - Branch: feat/billing\n- Session duration: [estimate]\n\n### Recent Commits (for context)\n  - abc1234 add filter\n\n\
     ## Handoff Chain\n- **Continues from**: None\n\n## Current State Summary\nThe filter works; refunds are open.\n\n\
     ## Codebase Understanding\n### Architecture Overview\nOne adapter a gateway.\n### Critical Files\n\
     | File | Purpose | Relevance |\n|------|---------|-----------|\n| a.txt | sample input | high |\n\n\
     ## Work Completed\n### Tasks Finished\n- [x] Added the filter\n### Files Modified\n- a.txt: the filter\n\
     ### Decisions Made\n- One retry only\n\n## Pending Work\n### Immediate Next Steps\n1. Wire refunds\n\n\
     ## Context for Resuming Agent\n### Important Context\nUse the sandbox gateway.\n### Potential Gotchas\n- It drops calls\n"
}

/// What the session-transfer skill wrote: metadata in YAML, and no id.
fn session_transfer() -> &'static str {
    "# Session Handoff\n\n## Metadata\n\n```yaml\nsession_id: 2026-02-01-0900\ncreated: 2026-02-01T09:00:00+03:00\n\
     source_agent: codex\nsource_model: gpt-5\ntrigger: goal-completion\nstatus: completed\ntopic: search\n\
     working_directory: .\nbranch: main\nprevious_session: claude/2026-01-31-1200\n```\n\n## Objective\n\nFind things.\n\n\
     ## Current State\n\nDone.\n\n## Next Recommended Action\n\nRelease it.\n"
}

fn with_old_files() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox.write(".claude/handoffs/2026-01-15-103000-billing-filter.md", session_handoff());
    sandbox.write(".codex/handoffs/2026-02-01-0900.md", session_transfer());
    sandbox
}

#[test]
fn files_of_older_tools_are_listed_and_taken_in_under_the_same_ids() {
    let sandbox = with_old_files();
    let listed = sandbox.handoff(&["list", "--json"]).json();
    let row = |at: usize| {
        let row = &listed[at];
        ["agent", "topic", "created", "status", "branch", "file"].map(|key| row[key].as_str().unwrap_or("-").to_owned())
    };
    assert_eq!(
        [row(0), row(1)],
        [
            ["codex", "search", "2026-02-01T09:00:00+03:00", "completed", "main", ".codex/handoffs/2026-02-01-0900.md"],
            [
                "claude",
                "Billing filter",
                "2026-01-15T10:30:00+00:00",
                "in-progress",
                "feat/billing",
                ".claude/handoffs/2026-01-15-103000-billing-filter.md"
            ],
        ]
    );
    let shown = sandbox.handoff(&["show", "--json", ".claude/handoffs/2026-01-15-103000-billing-filter.md"]).json();
    let document = &shown["document"];
    assert_eq!(document["current_state"], "The filter works; refunds are open.");
    assert_eq!(document["decisions"], serde_json::json!(["One retry only"]));
    assert!(document["extra"]["Session Metadata"].as_str().is_some_and(|text| text.contains("Project: shop")));
    let imported = sandbox.handoff(&["import", "--json"]).json();
    let ids = |answer: &serde_json::Value| -> Vec<String> {
        answer.as_array().expect("a list").iter().map(|it| it["id"].as_str().expect("an id").to_owned()).collect()
    };
    let mut expected = ids(&listed);
    expected.reverse();
    assert_eq!(ids(&imported["imported"]), expected);
    assert_eq!(sandbox.handoff(&["list"]).ok().matches("(file only)").count(), 0);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 2);
    assert!(sandbox.exists(".claude/handoffs/2026-01-15-1030.md"));
    assert!(sandbox.exists(".claude/handoffs/2026-01-15-103000-billing-filter.md"), "nothing is deleted");
    assert!(sandbox.handoff(&["import"]).ok().starts_with("Nothing to import"));
}

#[test]
fn what_is_taken_in_late_stands_at_the_place_of_its_own_time() {
    let sandbox = with_old_files();
    let id = sandbox.create("today", &[]);
    sandbox.handoff(&["import"]).ok();
    assert_eq!(sandbox.handoff(&["list", "--quiet"]).ok().lines().next(), Some(id.as_str()));
    assert_eq!(sandbox.handoff(&["resume", "--quiet"]).ok().trim_end(), id);
}

#[test]
fn an_edited_file_is_taken_in_when_it_is_named_and_as_a_handoff_of_its_own() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    let id = sandbox.create("h", &[]);
    let file = ".codex/handoffs/2026-08-18-1704.md";
    sandbox.write(file, sandbox.read(file).replace("half done", "three quarters done"));
    assert!(sandbox.handoff(&["import"]).ok().starts_with("Nothing to import"));
    let ran = sandbox.handoff(&["import", "--quiet", file]);
    assert!(ran.err.contains(&id[..12]), "{}", ran.err);
    assert_ne!(ran.ok().trim_end(), id);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 2);
}

#[test]
fn what_is_no_handoff_is_refused_by_name_and_the_others_go_on() {
    let sandbox = with_old_files();
    sandbox.write("notes.md", "# Notes\n");
    let err = sandbox.handoff(&["import", "notes.md", ".codex/handoffs/2026-02-01-0900.md", "gone.md"]).refused(1);
    assert!(err.contains("notes.md is not taken in: neither its content nor its name says when it was made"), "{err}");
    assert!(err.contains("gone.md"), "{err}");
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "1");
    sandbox.handoff(&["import", "notes.md"]).refused(2);
}

#[test]
fn stored_json_is_taken_in_under_its_id() {
    let mut sandbox = Sandbox::repository();
    let id = sandbox.create("h", &[]);
    let stored = sandbox.handoff(&["show", "--document", &id]).ok();
    sandbox.init("other", &[]);
    sandbox.write("saved.json", stored);
    assert_eq!(sandbox.handoff(&["import", "--quiet", "saved.json"]).ok().trim_end(), id);
}
