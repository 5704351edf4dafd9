//! What the README and the guide show is what the program does: every `console` block is run, in order, in one
//! fresh directory a document, and its output compared.
//!
//! A line `$ command` is run by `bash`; the lines below it are what it prints on both streams. `[..]` stands for
//! anything within a line, `...` alone for any lines.

mod sandbox;

use std::fs;
use std::path::{Path, PathBuf};

use sandbox::Sandbox;
use snapbox::IntoData;
use snapbox::assert_data_eq;

/// A command and what it is said to print.
struct Step {
    line: usize,
    command: String,
    output: String,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        match (line.trim_end(), inside) {
            ("```console", false) => inside = true,
            ("```", true) => inside = false,
            (_, true) => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { line: at + 1, command: command.into(), output: String::new() }),
                (None, Some(step)) if line.starts_with("> ") && step.output.is_empty() => {
                    step.command = format!("{}\n{}", step.command, &line[2..]);
                }
                (None, Some(step)) => step.output += &format!("{line}\n"),
                (None, None) => panic!("line {}: output without a command", at + 1),
            },
            _ => {}
        }
    }
    steps
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = vec![root.join("README.md")];
    let guide = fs::read_dir(root.join("docs/guide")).into_iter().flatten();
    documents.extend(guide.map(|entry| entry.expect("docs/guide is readable").path()));
    documents.sort();
    documents
}

#[test]
fn every_transcript_of_the_documentation_is_what_the_program_prints() {
    let mut run = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document is readable");
        let mut sandbox = Sandbox::empty();
        sandbox.clock("2026-08-18T17:04:00+03:00");
        sandbox.set("GIT_AUTHOR_DATE", "2026-08-18T17:00:00+03:00");
        sandbox.set("GIT_COMMITTER_DATE", "2026-08-18T17:00:00+03:00");
        let state = sandbox.root().join("shell-state");
        for Step { line, command, output } in steps(&text) {
            // The directory, the exported variables and the exit status go on from step to step, as in one shell.
            let script = format!(
                "[ -f '{state}' ] && . '{state}'\n{command}\nstatus=$?\n{{ export -p; printf 'cd %q\\n(exit %d)\\n' \"$PWD\" \"$status\"; }} >'{state}'\nexit $status",
                state = state.display()
            );
            let ran = sandbox.run("bash", &["-c", &format!("exec 2>&1\n{script}")], b"");
            let place = format!("{}, line {line}:\n", document.file_name().expect("a file").to_string_lossy());
            let actual = format!("{place}{}", ran.out);
            assert_data_eq!(actual, format!("{place}{output}").into_data());
            run += 1;
        }
    }
    assert!(run > 5, "the documentation has transcripts");
}
