//! Whether a handoff is made without anybody asking for it: once at the end of substantial work, and never in between.
//!
//! A pure policy over facts. `docs/automatic.md` shows it on many changes; a test of this module runs that table.

mod class;
mod pattern;
mod substance;

pub use class::{Area, Class, Classes};
pub use pattern::Patterns;
pub use substance::Substance;

use super::{ObjectName, Trigger};

/// How many meaningful files make work substantial.
pub const FILES: usize = 5;
/// Up to so many changed lines of text for people are a tiny copy change.
const TINY: u32 = 3;

/// What git is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A rebase, with either backend, or `git am`.
    Rebase,
    /// A cherry-pick or a series of them.
    CherryPick,
    /// A revert or a series of them.
    Revert,
    /// A merge that is not concluded.
    Merge,
    /// A bisection.
    Bisect,
}

impl Operation {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Merge => "merge",
            Self::Bisect => "bisect",
        }
    }
}

/// A file that changed since the last handoff of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// What was done to it.
    pub substance: Substance,
}

/// The goal that is open in the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenGoal {
    /// How many phases it has.
    pub phases: u32,
}

/// Everything that the decision looks at.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// Why it is asked for now. [`Trigger::SubstantialWork`] is the ordinary case: a hook looked.
    pub occasion: Trigger,
    /// What git is in the middle of.
    pub operation: Option<Operation>,
    /// The open goal.
    pub goal: Option<OpenGoal>,
    /// The files that changed and no handoff covers yet.
    pub files: &'a [ChangedFile],
    /// How many operations were recorded since the last handoff.
    pub recorded_operations: usize,
    /// Whether a live automatic handoff stands for this boundary.
    pub boundary: Covered,
    /// What kind of file a path is.
    pub classes: &'a Classes,
}

/// Whether a live automatic handoff stands for a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// The outcome, with every reason that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether a handoff is made.
    pub create: bool,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// A reason, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Its stable name.
    pub code: &'static str,
    /// The sentence.
    pub text: String,
}

impl Reason {
    /// A reason.
    pub fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }
}

/// The boundary of automatic handoffs: branch, agent session or none, commit of the branch's last handoff.
pub fn boundary(branch: Option<&str>, agent_session: Option<&str>, last: Option<&ObjectName>) -> String {
    let last = last.map_or_else(|| "-".to_owned(), ObjectName::short);
    format!("{}|{}|{last}", branch.unwrap_or("-"), agent_session.unwrap_or("-"))
}

/// Decides.
pub fn decide(facts: &Facts<'_>) -> Decision {
    let refused = |reason: Reason, mut reasons: Vec<Reason>| {
        reasons.insert(0, reason);
        Decision { create: false, reasons }
    };
    let findings = findings(facts);
    if let Some(operation) = facts.operation {
        let word = operation.as_str();
        return refused(Reason::new(operation_code(operation), format!("a {word} is going on")), findings.reasons);
    }
    if facts.occasion != Trigger::SubstantialWork {
        let said = Reason::new("asked-for", format!("it was asked for: {}", facts.occasion));
        return Decision { create: true, reasons: std::iter::once(said).chain(findings.reasons).collect() };
    }
    if facts.goal.is_some() {
        let text = "a goal is open; closing it makes the handoff ('git handoff goal close')";
        return refused(Reason::new("goal-open", text), findings.reasons);
    }
    if facts.boundary == Covered::Yes {
        let text = "an automatic handoff already stands for this boundary";
        return refused(Reason::new("already-covered", text), findings.reasons);
    }
    Decision { create: findings.substantial, reasons: findings.reasons }
}

fn operation_code(operation: Operation) -> &'static str {
    match operation {
        Operation::Rebase => "during-rebase",
        Operation::CherryPick => "during-cherry-pick",
        Operation::Revert => "during-revert",
        Operation::Merge => "during-merge",
        Operation::Bisect => "during-bisect",
    }
}

/// What the changed files and the recorded operations amount to.
struct Findings {
    substantial: bool,
    reasons: Vec<Reason>,
}

fn findings(facts: &Facts<'_>) -> Findings {
    let judged: Vec<(&ChangedFile, Class)> =
        facts.files.iter().map(|file| (file, facts.classes.of(&file.path))).collect();
    let meaningful: Vec<&(&ChangedFile, Class)> =
        judged.iter().filter(|(file, class)| is_meaningful(*class, file.substance)).collect();
    let mut reasons: Vec<Reason> = Vec::new();
    for (file, class) in &meaningful {
        if let Class::Critical(area) = class {
            reasons.push(Reason::new("critical-path", format!("{} ({area})", file.path)));
        }
    }
    if meaningful.len() >= FILES {
        reasons.push(Reason::new("many-files", format!("{} meaningful files changed", meaningful.len())));
    }
    if facts.recorded_operations > 0 {
        let text = format!(
            "{} recorded since the last handoff",
            counted(facts.recorded_operations, "operation was", "operations were")
        );
        reasons.push(Reason::new("recorded-operations", text));
    }
    if facts.goal.is_some_and(|goal| goal.phases > 1) {
        reasons.push(Reason::new("phased-goal", "the open goal has several phases"));
    }
    let substantial = !reasons.is_empty();
    if !substantial {
        reasons.push(insubstantial(&judged, meaningful.len()));
    }
    Findings { substantial, reasons }
}

/// Whether a change of this kind of file counts.
fn is_meaningful(class: Class, substance: Substance) -> bool {
    let changes = match substance {
        Substance::None | Substance::Formatting => false,
        Substance::Lines(_) | Substance::Opaque => true,
    };
    let tiny = matches!(substance, Substance::Lines(lines) if lines <= TINY);
    match class {
        Class::Ours | Class::Ignored | Class::Lock | Class::Generated | Class::Vendored => false,
        Class::Prose | Class::Critical(Area::Architecture) => changes && !tiny,
        Class::Critical(_) | Class::Work => changes,
    }
}

/// Why it is not substantial, in one sentence.
fn insubstantial(judged: &[(&ChangedFile, Class)], meaningful: usize) -> Reason {
    let all = |wanted: &dyn Fn(&ChangedFile, Class) -> bool| judged.iter().all(|(file, class)| wanted(file, *class));
    if judged.is_empty() {
        return Reason::new("nothing-new", "nothing changed that no handoff covers");
    }
    if all(&|_, class| class == Class::Ours) {
        return Reason::new("own-files", "only git handoff's own files changed");
    }
    if all(&|file, _| matches!(file.substance, Substance::None | Substance::Formatting)) {
        return Reason::new("formatting", "only white space, names or modes changed");
    }
    if all(&|_, class| matches!(class, Class::Prose | Class::Critical(Area::Architecture))) && meaningful == 0 {
        return Reason::new("copy", "only a few lines of text for people changed");
    }
    if meaningful == 0 {
        return Reason::new("not-meaningful", "only lock, generated, vendored or ignored files changed");
    }
    let text = format!(
        "{} changed; {FILES} make work substantial",
        counted(meaningful, "meaningful file", "meaningful files")
    );
    Reason::new("few-files", text)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
