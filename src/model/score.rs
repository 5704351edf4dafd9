//! What a handoff is worth: 0 to 100 points, each explained.
//!
//! The rules, all on parsed content and none on words of one language:
//!
//! - A part counts when its section has substance: at least two different words and eight letters (an ideograph
//!   counts as three), outside placeholders, headings and comments.
//! - A placeholder (`TODO`, `[TODO: …]`, `<fill in>`, …) beside real text halves its part. In a section without
//!   points it costs 2 like a missing file, at most 10. Code, links, check boxes and "todo" as a word are none.
//! - "None" or "N/A" is no answer where something has to be said. The next action of a completed handoff may be none.
//! - Filler earns nothing: three-word sequences that mostly repeat, and a section that says what an earlier one
//!   already said. Only the remaining work may be the next action again.
//! - Evidence of which every check was not run halves its part.
//! - Before the first commit there is no revision to know and no commit to list: these parts are not judged
//!   (the work only when nothing is said of it), and the points of the others are scaled to 100.
//! - A section whose heading is not known, in another language for example, is kept as an extra section and earns
//!   nothing. What the tool collects from git in its stead counts.
//! - A file that does not exist costs 2 once, at most 10 in all, unless the text says that it is still to come or gone.

use std::fmt;

use super::{Content, Evidence, Outcome, Status, Topic};

mod files;
mod judge;
mod parts;
mod placeholder;
mod sections;

pub use files::named_in;
use judge::{Finding, Judgement};
pub use parts::{Part, PartName};
use sections::Section;

/// What the score is computed from.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The content.
    pub content: &'a Content,
    /// How far the work is.
    pub status: Status,
    /// What it is about.
    pub topic: &'a Topic,
    /// What is known of the source commit.
    pub revision: Revision,
    /// Whether a path, relative to the repository's top, is a file or directory there.
    pub path_exists: &'a dyn Fn(&str) -> bool,
}

/// What is known of the source commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// The handoff names it.
    Known,
    /// The handoff does not name it.
    Unknown,
    /// There was none yet: the branch was unborn.
    Unborn,
}

/// The points of a handoff, with what they were given for and what is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// Each part, in the order of the documentation.
    pub parts: Vec<Part>,
    /// What costs points beside the parts, one by one.
    pub penalties: Vec<Penalty>,
    /// Remarks that cost nothing.
    pub notes: Vec<String>,
    /// The points: granted of possible, scaled to 100, less the penalties.
    pub total: u8,
    /// What to add or to correct: one sentence each, beginning with the heading of its section.
    pub missing: Vec<String>,
}

impl Score {
    /// The fewest points with which a handoff is recorded.
    pub const THRESHOLD: u8 = 70;

    /// Whether the handoff is worth recording.
    pub fn is_sufficient(&self) -> bool {
        self.total >= Self::THRESHOLD
    }
}

/// Something that costs points beside the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Penalty {
    /// What it is.
    pub fault: Fault,
    /// The points that it costs; 0 once the most that its kind can cost is reached.
    pub points: u8,
}

/// A fault that costs points beside the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The section refers to a file that does not exist.
    MissingFile {
        /// The heading of the section.
        heading: String,
        /// The path.
        path: String,
    },
    /// The section holds a placeholder.
    Placeholder {
        /// The heading of the section.
        heading: String,
        /// The placeholder.
        text: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingFile { heading, path } => {
                write!(
                    f,
                    "{heading}: the file '{path}' does not exist; correct the path, or say that it is still to be \
                     created or was removed."
                )
            }
            Self::Placeholder { heading, text } => {
                write!(f, "{heading}: replace the placeholder '{text}' or leave the section out.")
            }
        }
    }
}

/// The most that all missing files, or all placeholders, can cost.
const MOST_BY_KIND: u8 = 10;

/// What one missing file or placeholder costs.
const PENALTY: u8 = 2;

/// Computes the score. The same facts always give the same score.
pub fn score(facts: &Facts<'_>) -> Score {
    let sections = sections::of(facts.content);
    let files = files::survey(facts, &sections);
    let mut scoring =
        Scoring { facts, sections: &sections, seen: Vec::new(), charged: Vec::new(), missing: Vec::new() };
    let parts: Vec<Part> = PartName::ALL.iter().map(|part| scoring.part(*part, &files)).collect();
    let mut faults = files.missing;
    faults.extend(scoring.stray_placeholders());
    let mut missing = scoring.missing;
    missing.extend(faults.iter().map(ToString::to_string));
    let penalties = priced(faults);
    let total = total(&parts, &penalties);
    Score { parts, penalties, notes: files.notes, total, missing }
}

fn priced(faults: Vec<Fault>) -> Vec<Penalty> {
    let (mut files, mut placeholders) = (0, 0);
    let price = |fault: Fault| {
        let spent = match fault {
            Fault::MissingFile { .. } => &mut files,
            Fault::Placeholder { .. } => &mut placeholders,
        };
        let points = PENALTY.min(MOST_BY_KIND - *spent);
        *spent += points;
        Penalty { fault, points }
    };
    faults.into_iter().map(price).collect()
}

fn total(parts: &[Part], penalties: &[Penalty]) -> u8 {
    let granted: u32 = parts.iter().map(|part| u32::from(part.granted)).sum();
    let possible: u32 = parts.iter().map(|part| u32::from(part.possible)).sum();
    let lost: u32 = penalties.iter().map(|penalty| u32::from(penalty.points)).sum();
    let scaled = (granted * 100).checked_div(possible).unwrap_or(0);
    u8::try_from(scaled.saturating_sub(lost)).expect("no more is granted than is possible")
}

/// The work in progress: parts are judged in order, since a later section may not repeat an earlier one.
struct Scoring<'a> {
    facts: &'a Facts<'a>,
    sections: &'a [Section<'a>],
    /// The headings and words of the sections that earned points.
    seen: Vec<(&'static str, Vec<String>)>,
    /// The headings of the sections whose placeholders already cost their part points.
    charged: Vec<&'static str>,
    missing: Vec<String>,
}

impl Scoring<'_> {
    fn part(&mut self, part: PartName, files: &files::Survey) -> Part {
        let unborn = self.facts.revision == Revision::Unborn;
        match part {
            PartName::Revision if unborn => unjudged(part),
            PartName::WorkCompleted if unborn && self.section(part.heading()).is_none() => unjudged(part),
            PartName::Revision => {
                let known = self.facts.revision == Revision::Known;
                self.settle(part, if known { part.possible() } else { 0 }, Vec::new())
            }
            PartName::Files => self.files(files),
            PartName::Remaining => self.remaining(),
            PartName::CurrentState
            | PartName::WorkCompleted
            | PartName::NextAction
            | PartName::Objective
            | PartName::Decisions
            | PartName::Verification => {
                let judgement = self.judge(part.heading());
                self.charge(part.heading(), &judgement);
                self.grant(part, judgement)
            }
        }
    }

    fn section(&self, heading: &str) -> Option<&Section<'_>> {
        self.sections.iter().find(|section| section.heading == heading)
    }

    /// Judges a section by its text alone and by what earlier ones already said.
    fn judge(&mut self, heading: &'static str) -> Judgement {
        let judgement = self.section(heading).map_or_else(Judgement::absent, |section| judge::judge(&section.text));
        if judgement.finding != Finding::Substance {
            return judgement;
        }
        let repeated = self.seen.iter().find(|(earlier, words)| {
            let allowed = (*earlier, heading) == (sections::NEXT_ACTION, sections::REMAINING);
            !allowed && *words == judgement.words
        });
        if let Some((earlier, _)) = repeated {
            return Judgement { finding: Finding::Repeats(earlier), ..judgement };
        }
        self.seen.push((heading, judgement.words.clone()));
        judgement
    }

    fn charge(&mut self, heading: &'static str, judgement: &Judgement) {
        if !judgement.placeholders.is_empty() {
            self.charged.push(heading);
        }
    }

    /// Turns a judgement into points, with what is special to each part.
    fn grant(&mut self, part: PartName, judgement: Judgement) -> Part {
        let nothing_left = part == PartName::NextAction
            && self.facts.status == Status::Completed
            && judgement.finding == Finding::NoAnswer;
        let mut granted = if nothing_left { part.possible() } else { points(&judgement, part.possible()) };
        let mut reasons = if nothing_left { Vec::new() } else { judgement.reasons() };
        if part == PartName::Objective && granted > 0 && only_repeats(&judgement.words, self.facts.topic) {
            granted = granted.min(part.possible() / 2);
            reasons.push("only repeats the topic".into());
        }
        if part == PartName::Verification && granted > 0 && all_not_run(&self.facts.content.verification_evidence) {
            granted = granted.min(part.possible() / 2);
            reasons.push("no check was run".into());
        }
        self.settle(part, granted, reasons)
    }

    /// The remaining work or the resume instructions, whichever earns more.
    fn remaining(&mut self) -> Part {
        let part = PartName::Remaining;
        if self.facts.status == Status::Completed {
            return self.settle(part, part.possible(), Vec::new());
        }
        let work = self.judge(sections::REMAINING);
        let instructions = self.judge(sections::RESUME);
        let worth = |judgement: &Judgement| points(judgement, part.possible());
        let by_work = worth(&work) >= worth(&instructions) && work.finding != Finding::Absent;
        let by_work = by_work || instructions.finding == Finding::Absent;
        let (heading, judgement) = if by_work { (sections::REMAINING, work) } else { (sections::RESUME, instructions) };
        self.charge(heading, &judgement);
        self.grant(part, judgement)
    }

    fn files(&mut self, files: &files::Survey) -> Part {
        let part = PartName::Files;
        let placeholders = self.section(part.heading()).map(|section| placeholder::extract(&section.text).found);
        let mut granted = if files.existing { part.possible() } else { 0 };
        let mut reasons = Vec::new();
        if !files.existing {
            reasons.push("no file that exists is named".into());
        }
        if let Some(found) = placeholders.filter(|found| !found.is_empty()) {
            granted /= 2;
            reasons.extend(judge::placeholder_reasons(&found));
            self.charged.push(part.heading());
        }
        self.settle(part, granted, reasons)
    }

    /// A part with its points; what it lacks is added to what is missing.
    fn settle(&mut self, part: PartName, granted: u8, mut reasons: Vec<String>) -> Part {
        let possible = part.possible();
        if granted < possible {
            if reasons.is_empty() {
                reasons.push("missing".into());
            }
            self.missing.push(format!("{}: {}; {}.", part.heading(), reasons.join(", "), part.advice()));
        }
        Part { part, granted, possible, reasons }
    }

    /// Placeholders in sections whose part, if any, lost nothing by them.
    fn stray_placeholders(&self) -> Vec<Fault> {
        let others = self.sections.iter().filter(|section| !self.charged.contains(&section.heading));
        let faults = |section: &Section<'_>| -> Vec<Fault> {
            let found = placeholder::extract(&section.text).found.into_iter();
            found.map(|text| Fault::Placeholder { heading: section.heading.into(), text }).collect()
        };
        others.flat_map(faults).collect()
    }
}

fn unjudged(part: PartName) -> Part {
    Part { part, granted: 0, possible: 0, reasons: vec!["not judged: there is no commit yet".into()] }
}

fn points(judgement: &Judgement, possible: u8) -> u8 {
    match (judgement.finding, judgement.placeholders.is_empty()) {
        (Finding::Substance, true) => possible,
        (Finding::Substance, false) => possible / 2,
        (
            Finding::Absent
            | Finding::Placeholders
            | Finding::NoAnswer
            | Finding::Wordless
            | Finding::Thin
            | Finding::Filler
            | Finding::Repeats(_),
            _,
        ) => 0,
    }
}

fn only_repeats(words: &[String], topic: &Topic) -> bool {
    let topic = judge::words(topic.as_str());
    words.iter().all(|word| topic.contains(word))
}

fn all_not_run(evidence: &[Evidence]) -> bool {
    !evidence.is_empty() && evidence.iter().all(|each| each.outcome == Some(Outcome::NotRun))
}

#[cfg(test)]
mod tests;
