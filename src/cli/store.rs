//! From a judged handoff to a stored one: the log (or the spool), then the cache, the work-tree files and the notes.

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

use super::error::{Code, Failure};
use super::session::Session;
use crate::document;
use crate::log::{Append, AppendError, Description, NewEvent, Spool, Stamp};
use crate::model::{EventId, EventKind, Handoff, SessionName, Summary};
use crate::views::cache::Index;

/// Where a handoff was stored.
#[derive(Debug)]
pub(super) enum Stored {
    /// In the log.
    Log {
        /// The handoff as lists show it.
        summary: Box<Summary>,
        /// Whether it was new.
        novelty: Novelty,
    },
    /// In the spool, because git's directory cannot be written.
    Spool {
        /// The handoff's id.
        id: EventId,
        /// The name that it will probably have.
        session: SessionName,
        /// The file, relative to the top of the work tree where possible.
        file: PathBuf,
    },
}

/// Whether the log had the same document before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Novelty {
    /// No.
    New,
    /// Yes: the same bytes, and so the same id.
    Known,
}

/// Why the decision to append was not to.
#[derive(Debug)]
enum Stop {
    /// The log has it already.
    Known(Box<Summary>),
    /// Something failed.
    Failed(Failure),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(summary) => write!(f, "{} is recorded already", summary.id),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for Stop {}

/// Stores a handoff. On return it is durable; views are the caller's next step.
///
/// # Errors
/// When neither the log nor the spool takes it.
pub(super) fn store(session: &Session<'_>, index: &mut Index, handoff: &Handoff) -> Result<Stored, Failure> {
    store_unless(session, index, handoff, &|_| Ok(None))
}

/// A look at the log as it is at the moment of recording: the handoff there that makes ours needless, if there is one.
pub(super) type Needless<'a> = dyn Fn(&Index) -> Result<Option<Summary>, Failure> + 'a;

/// Stores a handoff unless one that was recorded meanwhile makes it needless; that one is then given as known.
///
/// # Errors
/// As [`store`].
pub(super) fn store_unless(
    session: &Session<'_>,
    index: &mut Index,
    handoff: &Handoff,
    needless: &Needless<'_>,
) -> Result<Stored, Failure> {
    let bytes = document::canonical(handoff);
    let event = NewEvent::new(EventKind::Handoff, bytes);
    let stamp = session.stamp();
    let shared = RefCell::new(index);
    let appended = session.log().append(&stamp, |tip| {
        let mut index = shared.borrow_mut();
        session.check_ref().map_err(Stop::Failed)?;
        if let Some(tip) = &tip {
            session.check_tip(tip).map_err(Stop::Failed)?;
        }
        session.bring_to(&mut index, tip).map_err(Stop::Failed)?;
        if let Some(other) = needless(&index).map_err(Stop::Failed)? {
            return Err(Stop::Known(Box::new(other)));
        }
        decide(&index, handoff, &event).map_err(|stop| *stop)
    });
    let index = shared.into_inner();
    match appended {
        Ok(appended) => {
            let parent = appended.parent.map(|parent| index.known(&parent)).transpose()?.flatten();
            let tip = appended.tip;
            index.extend([appended.into_commit(parent)], Some(tip))?;
            Ok(Stored::Log { summary: Box::new(session.summary_of(index, &event.id())?), novelty: Novelty::New })
        }
        Err(AppendError::Decision(Stop::Known(summary))) => Ok(Stored::Log { summary, novelty: Novelty::Known }),
        Err(AppendError::Decision(Stop::Failed(failure))) => Err(failure),
        Err(AppendError::NotWritable(why)) => spool(session, index, handoff, &event, &why),
        Err(other) => Err(append_failure(&other)),
    }
}

fn decide(index: &Index, handoff: &Handoff, event: &NewEvent) -> Result<Append, Box<Stop>> {
    let failed = |error| Box::new(Stop::Failed(Failure::from(error)));
    if let Some(position) = index.find_made_at(&event.id(), handoff.created).map_err(failed)? {
        let summary = index.summary(position).map_err(failed)?;
        if summary.recorded_in.is_some() {
            return Err(Box::new(Stop::Known(Box::new(summary))));
        }
    }
    let ordinal = index.next_ordinal(&handoff.agent, handoff.created).map_err(failed)?;
    let session = SessionName::new(handoff.agent.clone(), handoff.created, ordinal);
    Ok(Append { events: vec![event.clone()], description: describe(handoff, event.id(), &session) })
}

/// What the log's commit says to people.
pub(super) fn describe(handoff: &Handoff, id: EventId, session: &SessionName) -> Description {
    let mut trailers =
        vec![("Handoff-Id".to_owned(), id.to_string()), ("Handoff-Agent".into(), handoff.agent.to_string())];
    if let Some(commit) = handoff.metadata.commit {
        trailers.push(("Source-Commit".into(), commit.to_string()));
    }
    Description { subject: format!("handoff {session} {} ({})", handoff.topic, handoff.status), trailers }
}

fn spool(
    session: &Session<'_>,
    index: &Index,
    handoff: &Handoff,
    event: &NewEvent,
    why: &std::io::Error,
) -> Result<Stored, Failure> {
    let cannot = |what: String| {
        Failure::new(Code::NotWritable, format!("git's directory cannot be written ({why}), and {what}"))
    };
    let spool =
        Spool::of(&session.repo).ok_or_else(|| cannot("there is no work tree to keep the handoff in".into()))?;
    let file = spool.write(event).map_err(|error| cannot(format!("the spool neither: {error}")))?;
    let top = session.repo.work_dir().map(PathBuf::from).unwrap_or_default();
    let file = file.strip_prefix(&top).map(PathBuf::from).unwrap_or(file);
    let ordinal = index.next_ordinal(&handoff.agent, handoff.created)?;
    Ok(Stored::Spool {
        id: event.id(),
        session: SessionName::new(handoff.agent.clone(), handoff.created, ordinal),
        file,
    })
}

/// The failure that an append ended in.
pub(super) fn append_failure<E: std::error::Error + 'static>(error: &AppendError<E>) -> Failure {
    let code = match error {
        AppendError::Contended { .. } => Code::Contended,
        AppendError::NotWritable(_) => Code::NotWritable,
        AppendError::StorageFull(_) => Code::StorageFull,
        AppendError::Decision(_) | AppendError::Event { .. } | AppendError::Write(_) | AppendError::Ref(_) => Code::Git,
    };
    let failure = Failure::because(code, error);
    if code == Code::Contended {
        failure.hint("others are writing to the log; try again")
    } else if code == Code::StorageFull {
        failure.hint("the file system is full: make room and try again")
    } else {
        failure
    }
}

impl Session<'_> {
    /// Who appends, and when.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp { identity: self.repo.identity(), now: self.now() }
    }

    /// The summary of a handoff that must be in the index.
    ///
    /// # Errors
    /// When it is not, or the cache is damaged.
    pub(super) fn summary_of(&self, index: &Index, id: &EventId) -> Result<Summary, Failure> {
        match index.find(id)? {
            Some(position) => Ok(index.summary(position)?),
            None => {
                Err(Failure::new(Code::HandoffMissing, format!("{id} is not in the log")).detail("id", id.to_string()))
            }
        }
    }
}
