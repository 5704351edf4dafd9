//! The fold of operations: one run at a time, and the latest decides.

use super::Queue;
use super::event::{QueueEvent, RunStep};
use super::fold::{Reach, conflict};
use super::item::{Operation, RunEnd};
use super::refusal::Refusal;
use super::words::{Ending, Label, Prerequisite};

impl Queue {
    pub(super) fn run_operation(&mut self, event: &QueueEvent, name: &Label, step: &RunStep) {
        let created = event.origin.created;
        if let Err(refusal) = self.may_run(name, step) {
            let verb = match step {
                RunStep::Start => "op start",
                RunStep::End { .. } => "op end",
            };
            let conflict = conflict(event, verb, &event.origin.by.identity, &refusal);
            if let Some(operation) = self.operations.get_mut(name) {
                operation.last = event.id;
                operation.conflicts.push(conflict);
            }
            return;
        }
        let by = event.origin.by.clone();
        let operation = self.operations.entry(name.clone()).or_insert_with(|| Operation {
            last: event.id,
            started: created,
            by: by.clone(),
            ended: None,
            conflicts: Vec::new(),
        });
        operation.last = event.id;
        match step {
            RunStep::Start => {
                (operation.started, operation.by, operation.ended) = (created, by, None);
            }
            RunStep::End { ending, run } => {
                operation.ended = Some(RunEnd { ending: *ending, created, run: run.clone() });
                if *ending != Ending::Succeeded {
                    self.stop_dependents(Prerequisite::Operation(name.clone()), ending.outcome(), Reach::ToTheDone);
                }
            }
        }
    }

    pub(super) fn may_run(&self, name: &Label, step: &RunStep) -> Result<(), Refusal> {
        let Some(operation) = self.operations.get(name) else { return Ok(()) };
        match (step, &operation.ended) {
            (RunStep::Start, None) => Err(Refusal::Running { name: name.to_string(), since: operation.started }),
            (RunStep::End { .. }, Some(end)) => {
                Err(Refusal::NotRunning { name: name.to_string(), outcome: end.ending.outcome() })
            }
            (RunStep::Start, Some(_)) | (RunStep::End { .. }, None) => Ok(()),
        }
    }
}
