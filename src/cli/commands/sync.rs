//! `git handoff sync`: share handoffs with a remote.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::args;
use super::super::error::{Code, Failure};
use super::super::queue::{Losses, LostClaim};
use super::super::session::Session;
use super::super::sharing::{self, Sharing};
use crate::model::{ObjectName, visible_line};
use crate::sync::{self, Direction, Exchange, Part, Sync};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::Index;
use crate::views::files::Mode;

/// Runs the command.
///
/// # Errors
/// When there is no such remote, it cannot be reached or refuses, or a secret keeps the log at home. What was fetched is
/// joined and shown all the same.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Sync, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let patience = session.patience()?;
    let remotes = targets(session, args)?;
    if args.dry_run {
        let previews = remotes.iter().map(|remote| preview(session, remote, patience)).collect::<Result<_, _>>()?;
        return Ok(ui.answer(&Answer { rounds: previews, every: args.all_remotes, dry: true })?);
    }
    let mut before = session.repo.read_ref(crate::log::REF)?;
    let mut losses = Losses::since(session, before)?;
    let mut index = session.prepare(ui)?;
    let direction = match (args.fetch, args.push) {
        (true, _) => Direction::Fetch,
        (false, true) => Direction::Push,
        (false, false) => Direction::Both,
    };
    let command = Command { session, direction, patience, setup: args.setup };
    let mut rounds: Vec<Round> = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    for remote in &remotes {
        let shared = command.share(remote, before, &mut index, ui);
        let lost = losses.look(session, &index)?;
        match shared {
            Ok(round) => rounds.push(Round { lost, ..round }),
            Err(failure) => {
                lost.iter().for_each(|claim| ui.note(claim.sentence()));
                failures.push(failure);
            }
        }
        before = session.repo.read_ref(crate::log::REF)?;
    }
    if direction == Direction::Both && rounds.len() > 1 {
        command.share_what_others_gave(&mut rounds, &mut index, ui)?;
    }
    session.refresh_views(&mut index, Mode::Incremental, ui);
    super::warn_of_anomalies(&index.anomalies()?, ui);
    let mut failures = failures.into_iter();
    let first = failures.next();
    failures.for_each(|failure| ui.warn(failure.message()));
    if !rounds.is_empty() || first.is_none() {
        ui.answer(&Answer { rounds, every: args.all_remotes, dry: false })?;
    }
    first.map_or(Ok(()), Err)
}

fn targets(session: &Session<'_>, args: &args::Sync) -> Result<Vec<String>, Failure> {
    if args.all_remotes {
        let all = session.repo.remotes();
        return if all.is_empty() { Err(nowhere()) } else { Ok(all) };
    }
    match &args.remote {
        Some(remote) => Ok(vec![remote.clone()]),
        None => session.chosen_remote()?.map(|remote| vec![remote]).ok_or_else(nowhere),
    }
}

fn nowhere() -> Failure {
    Failure::new(Code::NotFound, "there is no remote to share with")
        .hint("add one with 'git remote add', or name one: git handoff sync REMOTE")
}

/// What one remote and this repository gave each other.
struct Round {
    remote: String,
    received: usize,
    sent: usize,
    unpublished: usize,
    lost: Vec<LostClaim>,
}

struct Command<'s> {
    session: &'s Session<'s>,
    direction: Direction,
    patience: Duration,
    setup: bool,
}

impl Command<'_> {
    /// `before` is where the own log stood before anything came from this remote.
    fn share(
        &self,
        remote: &str,
        before: Option<ObjectName>,
        index: &mut Index,
        ui: &mut Ui<'_>,
    ) -> Result<Round, Failure> {
        let sync = self.session.sync_with(remote, self.patience)?;
        if self.setup {
            set_up(&sync, ui)?;
        }
        let outcome = Sharing::new(self.session, index, ui).run(&sync, self.direction);
        let outcome = outcome.and_then(|exchange| {
            say_what_was_lost(remote, &exchange, ui);
            if let Some(fault) = &exchange.notes_fault {
                ui.warn(sharing::failure(fault).while_doing("the notes could not be joined").message());
            }
            sharing::verdict(remote, &exchange).map(|()| exchange)
        });
        match outcome {
            Ok(exchange) => {
                let fetched = exchange.fetched.theirs.log;
                let received = self.count(fetched, before)?;
                let missing = self.count(exchange.own.log, fetched)?;
                let (sent, unpublished) = if exchange.log == Part::Kept { (0, missing) } else { (missing, 0) };
                Ok(Round { remote: remote.to_owned(), received, sent, unpublished, lost: Vec::new() })
            }
            Err(failure) => {
                let theirs = self.session.repo.read_ref(&sync::log_of(remote))?;
                let received = self.count(theirs, before)?;
                if received > 0 && self.direction != Direction::Push {
                    ui.note(format!("received {received} from {}", visible_line(remote)));
                }
                Err(failure)
            }
        }
    }

    /// A later remote may have given what an earlier one lacks.
    fn share_what_others_gave(&self, rounds: &mut [Round], index: &mut Index, ui: &mut Ui<'_>) -> Result<(), Failure> {
        let own = self.session.repo.read_ref(crate::log::REF)?;
        for round in rounds {
            if self.session.repo.read_ref(&sync::log_of(&round.remote))? != own {
                let again = self.share(&round.remote, own, index, ui)?;
                round.sent += again.sent;
            }
        }
        Ok(())
    }

    fn count(&self, tip: Option<ObjectName>, without: Option<ObjectName>) -> Result<usize, Failure> {
        match tip.filter(|tip| without != Some(*tip)) {
            Some(tip) => Ok(self.session.repo.count_commits(&tip, without.as_slice())?),
            None => Ok(0),
        }
    }
}

fn set_up(sync: &Sync<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let remote = sync.remote.name();
    let added = sync::set_up(sync.repo, remote)?;
    let shown = visible_line(remote);
    ui.note(if added {
        format!("'git fetch {shown}' brings handoffs from now on")
    } else {
        format!("'git fetch {shown}' brings handoffs already; nothing was changed")
    });
    Ok(())
}

fn say_what_was_lost(remote: &str, exchange: &Exchange, ui: &mut Ui<'_>) {
    if exchange.fetched.lost.is_some() {
        let how = if exchange.fetched.theirs.log.is_none() { "deleted" } else { "set back" };
        let now = if exchange.log == Part::Sent { "it has everything again" } else { "nothing is lost here" };
        ui.warn(format!("the log of '{}' had been {how}; {now}", visible_line(remote)));
    }
}

fn preview(session: &Session<'_>, remote: &str, patience: Duration) -> Result<Round, Failure> {
    let sync = session.sync_with(remote, patience)?;
    let found = sync.preview().map_err(|error| sharing::failure(&error))?;
    let count = |tip: Option<ObjectName>, without: Option<ObjectName>| match tip {
        Some(tip) => session.repo.count_commits(&tip, without.as_slice()),
        None => Ok(0),
    };
    let (own, theirs) = (found.own.log, found.theirs.log);
    let sent = count(own, theirs)?;
    Ok(Round { remote: remote.to_owned(), received: count(theirs, own)?, sent, unpublished: sent, lost: Vec::new() })
}

/// The answer.
struct Answer {
    rounds: Vec<Round>,
    every: bool,
    dry: bool,
}

impl Report for Answer {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for Round { remote, received, sent, unpublished, lost } in &self.rounds {
            let remote = visible_line(remote);
            match (self.dry, received, sent) {
                (_, 0, 0) if *unpublished == 0 => page.line(format!("{remote}: up to date"))?,
                (true, ..) => page.line(format!("{remote}: would receive {received}, would send {sent}"))?,
                (false, _, 0) if *unpublished > 0 => {
                    page.line(format!("{remote}: received {received}, {unpublished} unpublished"))?;
                }
                (false, ..) => page.line(format!("{remote}: received {received}, sent {sent}"))?,
            }
            lost.iter().try_for_each(|claim| page.line(claim.sentence()))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let round = |round: &Round| {
            json!({
                "remote": round.remote,
                "received": round.received,
                "sent": round.sent,
                "unpublished": round.unpublished,
                "lost_claims": round.lost.iter().map(LostClaim::json).collect::<Vec<_>>(),
                "dry_run": self.dry,
            })
        };
        match self.rounds.as_slice() {
            [only] if !self.every => round(only),
            rounds => Value::Array(rounds.iter().map(round).collect()),
        }
    }
}
