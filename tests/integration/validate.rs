//! `validate`: what it explains, what it refuses, which files it reads, and that it writes nothing.

use serde_json::json;

use crate::sandbox::{Sandbox, body};

fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.clock("2026-08-18T17:09:00+03:00");
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox
}

fn token() -> String {
    format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7")
}

#[test]
fn every_point_is_explained() {
    let out = sandbox().handoff_with(&["validate", "-"], body("filter")).ok();
    assert_eq!(
        out,
        "-: 90 of 100, 70 needed: accepted\n  15/15 Current State\n  15/15 Work Completed\n  \
         15/15 Next Recommended Action\n   0/10 Objective: missing; say what the work is for, beyond its topic\n  \
         10/10 Remaining Work\n  10/10 Architecture & Decisions\n  10/10 Verification\n  10/10 Source commit\n   \
         5/5  Files Changed\n"
    );
}

#[test]
fn a_body_has_the_score_that_create_gives_it() {
    let sandbox = sandbox();
    let judged = sandbox.handoff_with(&["validate", "--json", "-"], body("one")).json();
    let created = sandbox.handoff_with(&["create", "--json", "one"], body("one")).json();
    assert_eq!(judged["score"], created["score"]);
    let recorded = sandbox.handoff(&["validate", "--json", "@latest"]).json();
    assert_eq!((&recorded["score"], &recorded["id"]), (&created["score"], &created["id"]));
    let file = sandbox.handoff(&["validate", "--json", ".codex/handoffs/2026-08-18-1709.md"]).json();
    assert_eq!((&file["score"], &file["accepted"], &file["findings"]), (&created["score"], &json!(true), &json!([])));
}

#[test]
fn without_a_name_the_newest_handoff_is_judged_when_nothing_comes_in() {
    let sandbox = sandbox();
    let id = sandbox.create("one", &[]);
    assert_eq!(sandbox.handoff(&["validate", "--json"]).json()["id"], json!(id));
    assert_eq!(sandbox.handoff_with(&["validate", "--json"], body("x")).json()["target"], "-");
    assert_eq!(sandbox.handoff(&["validate", "--json", "-"]).error_code(4), "SCORE_TOO_LOW");
}

#[test]
fn padding_headings_without_content_and_placeholders_are_refused() {
    let sandbox = sandbox();
    let filler = "lorem ipsum dolor sit amet ".repeat(9);
    let headings = ["Current State Summary", "Important Context", "Decisions Made", "Verification", "Pending Work"];
    let padded: String = headings.iter().map(|heading| format!("## {heading}\n{filler}\n")).collect();
    let empty: String = headings.iter().map(|heading| format!("## {heading}\n\n")).collect();
    let todo = body("x")
        .lines()
        .map(|line| if line.starts_with("##") { format!("{line}\n[TODO: fill in]\n") } else { line.into() })
        .collect::<String>();
    for text in [padded, empty, todo, body("x").replace('#', "=")] {
        let ran = sandbox.handoff_with(&["validate", "--json", "-"], &text);
        assert_eq!(ran.code, 4, "{text}\n{}", ran.out);
    }
}

#[test]
fn a_secret_is_named_by_the_line_of_the_text_and_never_shown() {
    let sandbox = sandbox();
    let text = format!("{}\n## Environment\n\n```\nlogin {}\n```\n", body("x"), token());
    let line = text.lines().position(|line| line.contains("ghp_")).expect("it is there") + 1;
    let ran = sandbox.handoff_with(&["validate", "--json", "-"], &text);
    assert_eq!(ran.code, 5);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let finding = &answer["findings"][0];
    assert_eq!((&finding["rule"], &finding["line"]), (&json!("github-pat"), &json!(line)));
    assert!(!ran.out.contains(&token()) && !ran.err.contains(&token()));
    let fingerprint = finding["fingerprint"].as_str().expect("a fingerprint");
    let allowed = sandbox.handoff_with(&["validate", "--json", "--allow-finding", fingerprint, "-"], &text).json();
    assert_eq!((&allowed["findings"], &allowed["allowed"]), (&json!([]), &json!([fingerprint])));
}

#[test]
fn a_secret_in_a_json_packet_is_found_on_its_line() {
    let packet = format!("{{\n  \"topic\": \"x\",\n  \"next_action\": \"call \\\"{}\\\" now\"\n}}\n", token());
    let ran = sandbox().handoff_with(&["validate", "--json", "-"], packet);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((ran.code, &answer["findings"][0]["line"]), (5, &json!(3)));
}

#[test]
fn an_allowed_finding_stays_allowed_in_the_recorded_handoff_and_in_its_file() {
    let sandbox = sandbox();
    let text = format!("{}\n## Environment\n{}\n", body("x"), token());
    let refused = sandbox.handoff_with(&["create", "--json", "x"], &text);
    let error: serde_json::Value = serde_json::from_str(&refused.refused(5)).expect("JSON");
    let fingerprint = error["error"]["details"]["findings"][0]["fingerprint"].as_str().expect("one").to_owned();
    sandbox.handoff_with(&["create", "x", "--allow-finding", &fingerprint], &text).ok();
    sandbox.handoff(&["validate", "@latest"]).ok();
    sandbox.handoff(&["validate", ".codex/handoffs/2026-08-18-1709.md"]).ok();
    // An edited copy of another name is somebody's text: what it says of itself is not believed.
    let file = sandbox.read(".codex/handoffs/2026-08-18-1709.md");
    let forged: String =
        file.lines().filter(|line| !line.starts_with("handoff_id")).map(|line| format!("{line}\n")).collect();
    sandbox.handoff_with(&["validate", "-"], forged).refused(5);
}

#[test]
fn several_are_answered_in_order_and_the_worst_exit_code_wins() {
    let sandbox = sandbox();
    sandbox.write("good.md", body("good"));
    sandbox.write("thin.md", "## Current State\n\nIt works.\n");
    sandbox.write("leak.md", format!("{}\n{}\n", body("x"), token()));
    let ran = sandbox.handoff(&["validate", "--json", "good.md", "thin.md", "leak.md", "absent.md"]);
    let answers: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let targets: Vec<&str> =
        answers.as_array().expect("a list").iter().filter_map(|each| each["target"].as_str()).collect();
    assert_eq!(targets, ["good.md", "thin.md", "leak.md", "absent.md"]);
    assert_eq!((ran.code, &answers[3]["error"]["code"]), (5, &json!("NOT_FOUND")));
    assert_eq!(sandbox.handoff(&["validate", "good.md", "thin.md"]).code, 4);
}

#[test]
fn only_files_of_the_work_tree_are_read() {
    let sandbox = sandbox();
    std::fs::write(sandbox.root().join("outside.md"), body("private")).expect("writable");
    std::os::unix::fs::symlink("../outside.md", sandbox.cwd().join("link.md")).expect("writable");
    std::os::unix::fs::symlink(".git/config", sandbox.cwd().join("config.md")).expect("writable");
    let outside = sandbox.root().join("outside.md");
    let names = [
        "../outside.md",
        "link.md",
        "config.md",
        ".git/config",
        ".git",
        "../../../../etc/hosts",
        "/etc/hosts",
        "~/x.md",
        outside.to_str().expect("Unicode"),
        ".codex/handoffs/../../../outside.md",
        ".",
    ];
    for name in names {
        let ran = sandbox.handoff(&["validate", name]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}: {}", ran.err);
        assert!(!ran.err.contains("private"), "{name}");
    }
    sandbox.write("docs/handoff.md", body("x"));
    let absolute = sandbox.cwd().join("docs/handoff.md");
    sandbox.handoff(&["validate", absolute.to_str().expect("Unicode")]).ok();
}

#[test]
fn a_draft_can_be_judged_before_it_is_sealed() {
    let sandbox = sandbox();
    let draft = sandbox.handoff_with(&["create", "--draft", "--quiet", "x"], body("x")).ok();
    assert_eq!(sandbox.handoff(&["validate", draft.trim()]).code, 0);
}

#[test]
fn nothing_is_written() {
    let sandbox = sandbox();
    sandbox.handoff_with(&["validate", "-"], body("x")).ok();
    sandbox.handoff_with(&["validate", "-"], "thin").refused(4);
    assert!(
        !sandbox.exists(".codex") && !sandbox.exists(".session-transfer") && !sandbox.exists(".git/git-handoff-state")
    );
    assert_eq!(sandbox.git(&["for-each-ref", "refs/handoffs"]), "");
}

#[test]
fn what_is_too_large_is_refused_for_its_size() {
    let text = format!("{}\n## Log\n{}\n", body("x"), "word ".repeat(60_000));
    let ran = sandbox().handoff_with(&["validate", "--json", "-"], text);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((ran.code, &answer["score"], &answer["accepted"]), (4, &json!(0), &json!(false)));
    assert!(answer["bounds"].as_str().is_some_and(|text| text.contains("262144")), "{answer}");
}

#[test]
fn completeness_that_is_claimed_and_lacking_is_named() {
    let text = format!("---\ncompleteness: authoritative_for_continuation\ntopic: x\n---\n{}", body("x"));
    let ran = sandbox().handoff_with(&["validate", "--json", "-"], text);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((ran.code, &answer["lacking"]), (4, &json!(["an objective"])));
}

#[test]
fn the_configured_scanner_is_asked_and_its_output_is_masked() {
    let sandbox = sandbox();
    sandbox.git(&["config", "handoff.secretScanner", "grep -n hunter2butlong && exit 1 || exit 0"]);
    sandbox.handoff_with(&["validate", "-"], body("x")).ok();
    let text = body("x").replace("half done", "half done with hunter2butlong");
    for verb in [&["validate", "-"][..], &["create", "x"]] {
        let ran = sandbox.handoff_with(verb, &text);
        assert_eq!(ran.code, 5, "{}", ran.err);
        assert!(ran.err.contains("handoff.secretScanner") && !ran.err.contains("hunter2"), "{}", ran.err);
        assert!(!ran.out.contains("hunter2"));
    }
    assert_eq!(sandbox.git(&["for-each-ref", "refs/handoffs"]), "");
    sandbox.git(&["config", "handoff.secretScanner", "no-such-scanner-here"]);
    assert_eq!(sandbox.handoff_with(&["validate", "--json", "-"], body("x")).error_code(1), "SCANNER_FAILED");
}

#[test]
fn a_branch_that_looks_like_a_key_is_refused_with_what_to_do() {
    let sandbox = sandbox();
    sandbox.git(&["checkout", "-qb", &format!("fix/{}{}", "AKIA", "QX7ZB2M4K6P8R0T1")]);
    let error = sandbox.handoff_with(&["create", "x"], body("x")).refused(5);
    assert!(error.contains("in branch") && error.contains("git branch -m"), "{error}");
    sandbox.handoff_with(&["create", "x", "--branch", "fix"], body("x")).ok();
}

#[test]
fn commit_subjects_and_paths_that_git_collects_are_scanned() {
    let sandbox = sandbox();
    sandbox.git(&["checkout", "-qb", "feat"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", &format!("use {}", token())]);
    let error = sandbox.handoff_with(&["create", "x"], body("x")).refused(5);
    assert!(error.contains("github-pat in completed_steps[0]"), "{error}");
}

#[test]
fn the_name_of_a_draft_gives_no_secret_away() {
    let sandbox = sandbox();
    let error = sandbox.handoff_with(&["create", &format!("deploy with {}", token())], body("x")).refused(5);
    assert!(!error.to_lowercase().contains("zk4qm7xw"), "{error}");
}
