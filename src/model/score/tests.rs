use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::{Change, FileEntry, Observer};

fn lines(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|entry| (*entry).to_owned()).collect()
}

fn evidence(command: &str, outcome: Outcome) -> Evidence {
    Evidence { command: Some(command.into()), outcome: Some(outcome), detail: None, observed_by: Observer::Author }
}

fn named(path: &str) -> FileEntry {
    FileEntry { path: path.into(), ..FileEntry::default() }
}

/// The body that the acceptance cases use, as it is after reading; the tool has added the work from git.
fn body() -> Content {
    Content {
        current_state: Some("Work on x is half done: the parser accepts the new form and its tests pass.".into()),
        completed_steps: lines(&["3f78685 c1"]),
        resume_instructions: Some(
            "The old form must stay readable until the next release; a.txt is the only caller.".into(),
        ),
        files_changed: vec![FileEntry { note: Some("holds the sample input for x".into()), ..named("a.txt") }],
        decisions: lines(&["Kept the single-pass design because a second pass doubled the run time."]),
        verification_evidence: vec![evidence("unit tests", Outcome::Passed), evidence("lint", Outcome::NotRun)],
        pending_steps: lines(&["Add the error path for empty input", "Update the reference page"]),
        next_action: Some("Write the failing test for empty input in a.txt, then make it pass.".into()),
        ..Content::default()
    }
}

fn full() -> Content {
    Content { objective: Some("Accept the new form so that the release can drop the old one.".into()), ..body() }
}

struct Case<'a> {
    content: &'a Content,
    status: Status,
    revision: Revision,
    present: &'a [&'a str],
}

impl<'a> Case<'a> {
    fn of(content: &'a Content) -> Self {
        Self { content, status: Status::InProgress, revision: Revision::Known, present: &["a.txt", "src/lib.rs"] }
    }

    fn score(&self) -> Score {
        let topic: Topic = "parser rewrite".parse().expect("valid");
        let path_exists = |path: &str| self.present.contains(&path);
        score(&Facts {
            content: self.content,
            status: self.status,
            topic: &topic,
            revision: self.revision,
            path_exists: &path_exists,
        })
    }

    fn granted(&self) -> Vec<u8> {
        self.score().parts.iter().map(|part| part.granted).collect()
    }
}

fn total(content: &Content) -> u8 {
    Case::of(content).score().total
}

#[test]
fn a_complete_handoff_has_all_points() {
    let content = full();
    let parts =
        PartName::ALL.map(|part| Part { part, granted: part.possible(), possible: part.possible(), reasons: vec![] });
    let expected = Score { parts: parts.to_vec(), penalties: vec![], notes: vec![], total: 100, missing: vec![] };
    assert_eq!(Case::of(&content).score(), expected);
}

#[test]
fn the_body_of_the_cases_suffices_with_and_without_new_commits_and_before_the_first() {
    let with = body();
    let without = Content { completed_steps: vec![], ..body() };
    assert_eq!((total(&with), total(&without)), (90, 75));
    let unborn = Case { revision: Revision::Unborn, present: &[], ..Case::of(&without) };
    let score = unborn.score();
    assert_eq!((unborn.granted(), score.total), (vec![15, 0, 15, 0, 10, 10, 10, 0, 0], 78));
    let unjudged: Vec<PartName> = score.parts.iter().filter(|part| part.possible == 0).map(|part| part.part).collect();
    assert_eq!(unjudged, [PartName::WorkCompleted, PartName::Revision]);
}

#[test]
fn nothing_but_what_the_tool_collects_does_not_suffice() {
    let content = Content {
        current_state: Some("Branch main at 3f78685, no uncommitted files.".into()),
        completed_steps: lines(&["3f78685 c1"]),
        files_changed: vec![FileEntry { change: Some(Change::Added), ..named("a.txt") }],
        ..Content::default()
    };
    let score = Case::of(&content).score();
    assert_eq!(score.total, 45);
    assert_eq!(
        score.missing,
        [
            "Next Recommended Action: missing; name the one thing to do next.",
            "Objective: missing; say what the work is for, beyond its topic.",
            "Remaining Work: missing; list what is left to do, or say under Resume Instructions how to go on.",
            "Architecture & Decisions: missing; note what was decided and why.",
            "Verification: missing; say what was checked and how it ended.",
        ]
    );
}

#[test]
fn padding_earns_nothing() {
    let filler = "lorem ipsum dolor sit amet ".repeat(9);
    let padded = Content {
        current_state: Some(filler.clone()),
        completed_steps: lines(&["3f78685 c1"]),
        resume_instructions: Some(filler.clone()),
        files_changed: vec![named(&filler)],
        decisions: vec![filler.clone()],
        verification_evidence: vec![Evidence { command: None, outcome: None, ..evidence("", Outcome::Passed) }],
        pending_steps: vec![filler.clone()],
        next_action: Some(filler),
        ..Content::default()
    };
    assert_eq!(Case::of(&padded).granted(), [0, 15, 0, 0, 0, 0, 0, 10, 0]);
}

#[test]
fn one_text_in_every_section_counts_once() {
    let text = "The parser accepts the new form and its tests pass.";
    let same = Content {
        objective: Some(text.into()),
        current_state: Some(text.into()),
        completed_steps: lines(&[text]),
        decisions: lines(&[text]),
        pending_steps: lines(&[text]),
        next_action: Some(text.into()),
        resume_instructions: Some(text.into()),
        ..Content::default()
    };
    assert_eq!(Case::of(&same).granted(), [15, 0, 0, 0, 0, 0, 0, 10, 0]);
}

#[test]
fn the_remaining_work_may_be_the_next_action() {
    let content = Content {
        pending_steps: lines(&["Wire the refund path"]),
        resume_instructions: None,
        next_action: Some("Wire the refund path".into()),
        ..full()
    };
    assert_eq!(total(&content), 100);
}

#[test]
fn a_placeholder_beside_real_text_halves_its_part_and_is_named() {
    let left = |text: &str| format!("[TODO: fill in]\n{text}");
    let clean = body();
    let content = Content {
        current_state: clean.current_state.as_deref().map(left),
        resume_instructions: clean.resume_instructions.as_deref().map(left),
        files_changed: [vec![named("[TODO: fill in]")], clean.files_changed.clone()].concat(),
        decisions: [lines(&["[TODO: fill in]"]), clean.decisions.clone()].concat(),
        verification_evidence: [
            vec![Evidence {
                command: None,
                outcome: None,
                detail: Some("[TODO: fill in]".into()),
                observed_by: Observer::Author,
            }],
            clean.verification_evidence.clone(),
        ]
        .concat(),
        pending_steps: [lines(&["[TODO: fill in]"]), clean.pending_steps.clone()].concat(),
        next_action: clean.next_action.as_deref().map(left),
        ..clean
    };
    let case = Case::of(&content);
    assert_eq!(case.granted(), [7, 15, 7, 0, 5, 5, 5, 10, 2]);
    let score = case.score();
    assert_eq!(score.total, 54);
    let fault = Fault::Placeholder { heading: "Resume Instructions".into(), text: "[TODO: fill in]".into() };
    assert_eq!(score.penalties, [Penalty { fault, points: 2 }]);
    assert_eq!(
        score.missing[0],
        "Current State: holds the placeholder '[TODO: fill in]'; say where things stand: what works and what does not."
    );
}

#[test]
fn a_template_that_nobody_filled_in_has_no_points_for_its_sections() {
    let content = Content {
        current_state: Some("[TODO: describe]".into()),
        next_action: Some("Not recorded.".into()),
        decisions: lines(&["None"]),
        objective: Some("…".into()),
        ..Content::default()
    };
    let score = Case::of(&content).score();
    let reasons: Vec<String> = score.parts.iter().map(|part| part.reasons.join(", ")).collect();
    assert_eq!(
        (score.total, reasons),
        (
            10,
            lines(&[
                "holds the placeholder '[TODO: describe]'",
                "missing",
                "'none' is no answer here",
                "holds the placeholder '…'",
                "missing",
                "'none' is no answer here",
                "missing",
                "",
                "no file that exists is named"
            ])
        )
    );
}

#[test]
fn a_missing_file_costs_two_points_and_all_of_them_ten() {
    let missing = |count: usize| {
        let notes =
            (0..count).map(|n| format!("see src/gone{n}.rs and src/gone{n}.rs:7")).collect::<Vec<_>>().join("\n");
        Content { extra: BTreeMap::from([("References".into(), notes)]), ..full() }
    };
    assert_eq!([0, 1, 5, 6, 50].map(|count| total(&missing(count))), [100, 98, 90, 90, 90]);
    let score = Case::of(&missing(1)).score();
    assert_eq!(
        score.missing,
        [
            "References: the file 'src/gone0.rs' does not exist; correct the path, or say that it is still to be created \
          or was removed."
        ]
    );
}

#[test]
fn a_dead_entry_of_the_file_list_is_named_and_a_removed_planned_or_generated_one_is_not() {
    let dead = Content { files_changed: vec![named("src/does_not_exist.rs")], ..full() };
    let fault = Fault::MissingFile { heading: "Files Changed".into(), path: "src/does_not_exist.rs".into() };
    assert_eq!(Case::of(&dead).score().penalties, [Penalty { fault, points: 2 }]);
    let fine = Content {
        files_changed: vec![
            FileEntry { change: Some(Change::Deleted), ..named("src/old.rs") },
            FileEntry { change: Some(Change::Renamed), from: Some("src/before.rs".into()), ..named("src/lib.rs") },
            FileEntry { note: Some("new file, to be created".into()), ..named("src/later.rs") },
        ],
        decisions: lines(&["Merged src/old.rs and src/before.rs into one because nobody else used them."]),
        next_action: Some("Write tests/refund.rs so that it fails.".into()),
        context_refs: lines(&[".claude/handoffs/2026-08-18-1401.md", "https://example.com/src/x.rs"]),
        ..full()
    };
    let score = Case::of(&fine).score();
    assert_eq!((score.total, score.penalties), (100, vec![]));
    let later = ["Files Changed: the file 'src/later.rs'", "Next Recommended Action: the file 'tests/refund.rs'"];
    assert_eq!(score.notes, later.map(|start| format!("{start} is still to be created.")));
}

#[test]
fn the_references_of_res_07_are_no_faults() {
    let text = "See src/lib.rs:42, src/lib.rs#L10-L20, `src/lib.rs`, (src/lib.rs), ./src/lib.rs, src/, src/*.rs, caf\u{e9} \
                is src/caf\u{e9}.rs\nVersions 1.2.3 and v0.5.0, e.g. and/or, origin/main, refs/heads/main, \
                https://example.com/src/gone.rs, /tmp/archive.tar.gz, user@host, text/html, 10.0.0.1/24\n\
                To be created: src/new_module.rs (does not exist yet)";
    let content = Content { extra: BTreeMap::from([("References".into(), text.into())]), ..full() };
    let case = Case { present: &["a.txt", "src/lib.rs", "src", "src/cafe\u{301}.rs"], ..Case::of(&content) };
    let score = case.score();
    assert_eq!((score.total, score.penalties), (100, vec![]));
    assert_eq!(score.notes, ["References: the file 'src/new_module.rs' is still to be created."]);
}

#[test]
fn completed_work_needs_no_remaining_work_and_may_have_no_next_action() {
    let content =
        Content { pending_steps: vec![], resume_instructions: None, next_action: Some("None.".into()), ..full() };
    assert_eq!(total(&content), 75);
    assert_eq!(Case { status: Status::Completed, ..Case::of(&content) }.score().total, 100);
}

#[test]
fn an_objective_that_repeats_the_topic_and_evidence_of_nothing_have_half() {
    let content = Content {
        objective: Some("Rewrite: parser rewrite".into()),
        verification_evidence: vec![evidence("cargo test", Outcome::NotRun)],
        ..full()
    };
    let content = Content { objective: Some("Parser rewrite".into()), ..content };
    assert_eq!(Case::of(&content).granted(), [15, 15, 15, 5, 10, 10, 5, 10, 5]);
}

#[test]
fn an_unknown_revision_costs_its_points() {
    let content = full();
    let case = Case { revision: Revision::Unknown, ..Case::of(&content) };
    assert_eq!(case.score().total, 90);
}

#[test]
fn text_of_any_language_has_all_points() {
    let german = Content {
        objective: Some("Karten über das neue Tor belasten.".into()),
        current_state: Some("Der Adapter übersetzt; Rückzahlungen fehlen noch.".into()),
        decisions: lines(&["Nur ein neuer Versuch, weil das Tor nicht idempotent ist."]),
        pending_steps: lines(&["Rückzahlungen anschließen"]),
        next_action: Some("Den fehlschlagenden Test schreiben.".into()),
        resume_instructions: None,
        ..body()
    };
    let japanese = Content {
        objective: Some("新しい決済を使う。".into()),
        current_state: Some("アダプタは動くが返金は未実装。".into()),
        decisions: lines(&["再試行は一回のみ。冪等でないため。"]),
        pending_steps: lines(&["返金を実装する"]),
        next_action: Some("失敗するテストを書く。".into()),
        resume_instructions: None,
        ..body()
    };
    let arabic = Content {
        objective: Some("خصم البطاقات عبر البوابة الجديدة".into()),
        current_state: Some("المحول يعمل والاسترداد غير جاهز".into()),
        decisions: lines(&["محاولة واحدة فقط لأن البوابة لا تكرر بأمان"]),
        pending_steps: lines(&["إضافة الاسترداد"]),
        next_action: Some("كتابة الاختبار الفاشل أولا".into()),
        resume_instructions: None,
        ..body()
    };
    assert_eq!([german, japanese, arabic].map(|content| total(&content)), [100, 100, 100]);
}

proptest! {
    #[test]
    fn one_text_in_three_sections_earns_no_more_than_one_of_them(
        text in "\\PC{0,60}", path in "\\PC{0,30}", times in 1_usize..12,
    ) {
        let text = format!("{text}\n").repeat(times);
        let content = Content {
            current_state: Some(text.clone()),
            decisions: vec![text.clone()],
            next_action: Some(text),
            files_changed: vec![named(&path)],
            ..Content::default()
        };
        let score = Case::of(&content).score();
        let earned: Vec<u8> = score.parts.iter().map(|part| part.granted).filter(|granted| *granted == 15).collect();
        prop_assert!(earned.len() <= 1 && score.total <= 15 + 10 + 5, "{score:?}");
    }
}
