//! `handoff.secretScanner`: a scanner that a team already runs, asked beside our own.
//!
//! It comes from git's configuration alone, never from what the repository holds. It gets the text on its standard
//! input; any exit status but 0 is a finding. What it prints is shown without a word of the text.

use std::time::Duration;

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::judge::Text;
use super::session::Session;
use crate::document::{self, Names};
use crate::git::CommandError;
use crate::model::{Handoff, SessionName, cut};
use crate::secrets;

/// The configuration key.
const KEY: &str = "handoff.secretScanner";
/// How long it may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// The shortest word of the text that is masked in the output.
const SHORTEST: usize = 5;
/// How many lines of its output are shown, and how long they may be.
const LINES: usize = 10;
const LINE: usize = 200;

/// What the scanner objects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    output: String,
}

impl Complaint {
    /// The refusal.
    pub(super) fn failure(&self) -> Failure {
        let said = if self.output.is_empty() { String::new() } else { format!("\n{}", self.output) };
        Failure::new(Code::SecretFound, format!("the scanner of {KEY} refuses the handoff; nothing was stored{said}"))
            .hint("take out what it found; a false alarm is allowed in that scanner's own configuration")
            .detail("findings", vec![self.json()])
    }

    /// A finding as `validate` gives it. Which line it is about only the output may say.
    pub(super) fn json(&self) -> Value {
        json!({"rule": KEY, "line": 1, "fingerprint": null, "output": self.output})
    }

    /// The same for people.
    pub(super) fn line(&self) -> String {
        format!("{KEY}: {}", self.output)
    }
}

/// Asks the scanner, where one is configured.
///
/// # Errors
/// When it cannot be run or does not end: then nobody knows whether the text is clean.
pub(super) fn ask(session: &Session<'_>, handoff: &Handoff, text: Text<'_>) -> Result<Option<Complaint>, Failure> {
    let Some(command) = session.repo.config_string(KEY).filter(|command| !command.trim().is_empty()) else {
        return Ok(None);
    };
    let given = match text {
        Text::Given(given) => given,
        Text::Rendered(_) | Text::None => "",
    };
    // What git adds to what the author gave stands only in the document.
    let text = format!("{given}\n{}", rendered(handoff));
    let run = session.repo.configured_command(KEY, &command).stdin(text.as_str()).deadline(DEADLINE).output();
    let output = run.map_err(|error| failed(&error))?;
    match output.code {
        Some(0) => Ok(None),
        Some(126 | 127) | None => {
            let said = masked(&output.stderr, &text);
            Err(not_run(&format!("it cannot be run: {said}")))
        }
        Some(_) => {
            let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), output.stderr);
            Ok(Some(Complaint { output: masked(&said, &text) }))
        }
    }
}

fn rendered(handoff: &Handoff) -> String {
    let session = SessionName::new(handoff.agent.clone(), handoff.created, 1);
    document::render(handoff, &Names { id: document::id(handoff), session, previous: None, resumed_from: None })
}

fn failed(error: &CommandError) -> Failure {
    match error {
        CommandError::TimedOut { after, .. } => not_run(&format!("it took longer than {} s", after.as_secs())),
        CommandError::NotStarted { source, .. } | CommandError::Unreadable { source, .. } => {
            not_run(&source.to_string())
        }
        CommandError::Failed { code, .. } => not_run(&format!("it ended with status {code:?}")),
    }
}

fn not_run(why: &str) -> Failure {
    Failure::new(Code::ScannerFailed, format!("the scanner of {KEY} gives no answer ({why}); nothing was stored"))
        .hint(format!("mend the command, or take it out: git config --unset {KEY}"))
}

/// What a scanner printed, without any word of the text that it scanned.
fn masked(output: &str, text: &str) -> String {
    let inside = |c: char| c.is_alphanumeric() || "_-+/=.~$%!@#&*".contains(c);
    let clean = |line: &str| {
        let mut out = String::new();
        let mut rest = line;
        while !rest.is_empty() {
            let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let is_known = word.chars().count() >= SHORTEST && text.contains(word);
            out += &if is_known { format!("…({} characters)", word.chars().count()) } else { word.to_owned() };
            let separator = after.chars().next().map_or(0, char::len_utf8);
            out += &after[..separator];
            rest = &after[separator..];
        }
        cut(&out, LINE).into_owned()
    };
    let masked = secrets::mask(output);
    let lines = masked.lines().filter(|line| !line.trim().is_empty()).take(LINES);
    lines.map(clean).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_the_text_is_shown() {
        let text = "the pass is hunter2butlong\n";
        assert_eq!(
            masked("leak at line 3: \"hunter2butlong\" (rule: corp-42)\n\n", text),
            "leak at line 3: \"…(14 characters)\" (rule: corp-42)"
        );
    }

    #[test]
    fn only_the_beginning_of_a_long_output_is_shown() {
        assert_eq!(masked(&"x\n".repeat(50), "").lines().count(), LINES);
    }
}
