//! The parts of a handoff that earn points, and what each can earn.

use super::sections;

/// The points of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which part.
    pub part: PartName,
    /// The points given.
    pub granted: u8,
    /// The points that could be given; 0 when the part is not judged.
    pub possible: u8,
    /// Why not more, or why it is not judged.
    pub reasons: Vec<String>,
}

/// The parts that points are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartName {
    /// Where things stand.
    CurrentState,
    /// What is done.
    WorkCompleted,
    /// The one thing to do next.
    NextAction,
    /// What the work is for.
    Objective,
    /// What is left, or how to go on.
    Remaining,
    /// What was decided.
    Decisions,
    /// What shows that the work is right.
    Verification,
    /// The source commit.
    Revision,
    /// Files that matter.
    Files,
}

impl PartName {
    /// Every part, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::CurrentState,
        Self::WorkCompleted,
        Self::NextAction,
        Self::Objective,
        Self::Remaining,
        Self::Decisions,
        Self::Verification,
        Self::Revision,
        Self::Files,
    ];

    /// The heading of the section that the part is judged by.
    pub fn heading(self) -> &'static str {
        match self {
            Self::CurrentState => sections::CURRENT_STATE,
            Self::WorkCompleted => sections::WORK_COMPLETED,
            Self::NextAction => sections::NEXT_ACTION,
            Self::Objective => sections::OBJECTIVE,
            Self::Remaining => sections::REMAINING,
            Self::Decisions => sections::DECISIONS,
            Self::Verification => sections::VERIFICATION,
            Self::Revision => "Metadata",
            Self::Files => sections::FILES,
        }
    }

    /// The most points that it can have.
    pub fn possible(self) -> u8 {
        match self {
            Self::CurrentState | Self::WorkCompleted | Self::NextAction => 15,
            Self::Objective | Self::Remaining | Self::Decisions | Self::Verification | Self::Revision => 10,
            Self::Files => 5,
        }
    }

    /// What to do to get the points.
    pub fn advice(self) -> &'static str {
        match self {
            Self::CurrentState => "say where things stand: what works and what does not",
            Self::WorkCompleted => "list what was done",
            Self::NextAction => "name the one thing to do next",
            Self::Objective => "say what the work is for, beyond its topic",
            Self::Remaining => "list what is left to do, or say under Resume Instructions how to go on",
            Self::Decisions => "note what was decided and why",
            Self::Verification => "say what was checked and how it ended",
            Self::Revision => "record the commit that the work stands on",
            Self::Files => "name files that matter, by their path in the repository",
        }
    }
}
