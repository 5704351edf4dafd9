//! How a refusal of the queue reaches the user: its code, its details, and what to do.

use super::super::error::{Code, Failure};
use crate::model::queue::{Outcome, Refusal, State};

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let failure = |code| Self::because(code, &refusal);
        match &refusal {
            Refusal::NotHolder { holder, until, .. } => failure(Code::NotHolder)
                .hint("wait until the lease ends, or take it away with 'git handoff queue release --force'")
                .detail("holder", holder.as_str())
                .detail("until", until.to_string()),
            Refusal::Beaten { holder, .. } => failure(Code::NotHolder).detail("holder", holder.as_str()),
            Refusal::Cycle { path } => failure(Code::Cycle)
                .hint("drop one of the dependencies: git handoff queue link ITEM --drop continuation:OTHER")
                .detail("cycle", path.clone()),
            Refusal::NameTaken { name, item } => failure(Code::NameTaken)
                .hint("to let it wait for more: git handoff queue link ITEM --after PREREQ")
                .detail("name", name.as_str())
                .detail("item", item.as_str()),
            Refusal::WrongState { state, .. } => {
                let failure = failure(Code::WrongState).detail("state", state.as_str());
                if *state == State::Stopped {
                    failure.hint("when its prerequisites can succeed again: git handoff queue retry ITEM")
                } else {
                    failure
                }
            }
            Refusal::StillBad { prerequisite, outcome, .. } => {
                let hint = if *outcome == Outcome::Stopped { "what stopped that one" } else { "that" };
                failure(Code::WrongState)
                    .hint(format!(
                        "retry {hint} first, or drop the dependency: git handoff queue link ITEM --drop PREREQ"
                    ))
                    .detail("prerequisite", prerequisite.as_str())
                    .detail("outcome", outcome.as_str())
            }
            Refusal::NoSuchPrerequisite { .. } => failure(Code::NotFound),
            Refusal::NotClaimed { .. }
            | Refusal::Running { .. }
            | Refusal::NotRunning { .. }
            | Refusal::OtherHandoff { .. } => failure(Code::WrongState),
        }
    }
}
