//! `git handoff approve`: somebody vouches for a handoff, which by itself only informs.

use std::cell::RefCell;
use std::io;

use serde_json::{Value, json};

use super::super::approvals::who;
use super::super::args;
use super::super::error::{Code, Failure};
use super::super::judge::refuse_secrets;
use super::super::session::Session;
use super::super::store::append_failure;
use crate::git::WriteError;
use crate::log::{Append, AppendError, Description, NewEvent, Signing, Spool, approval};
use crate::model::{Approval, Origin, Summary, normalised, visible_line};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::{CacheError, Index};
use crate::views::files::Mode;

/// Runs the command.
///
/// # Errors
/// When the handoff is not known here, the note is refused, or the approval cannot be signed or stored.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Approve, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let note = args.note.as_deref().map(note).transpose()?.flatten();
    let signing = signing(session)?;
    let mut index = session.prepare(ui)?;
    let summary = session.resolve(&index, &args.reference)?;
    let origin = session.origin()?;
    let approval = Approval { handoff: summary.id, note };
    let event = approval::encode(&origin, &approval);
    let place = record(session, &mut index, &summary, &event, signing)?;
    match place {
        Place::Log => {}
        Place::Known => ui.warn("this very approval is recorded already"),
        Place::Spool if signing == Signing::Signed => {
            ui.warn("git's directory cannot be written here; the approval waits in the spool and is not signed");
        }
        Place::Spool => ui.warn("git's directory cannot be written here; the approval waits in the spool"),
    }
    if place == Place::Log {
        session.refresh_views(&mut index, Mode::Incremental, ui);
    }
    Ok(ui.answer(&Approved { summary, approval, origin, event, place, signing })?)
}

/// The note in the form in which it is stored; a blank one is none.
fn note(text: &str) -> Result<Option<String>, Failure> {
    let text = normalised(text.trim());
    let length = text.chars().count();
    if length > Approval::MAX_NOTE {
        let most = Approval::MAX_NOTE;
        return Err(Failure::new(
            Code::TooLarge,
            format!("the note has {length} characters; at most {most} are allowed"),
        ));
    }
    refuse_secrets(&json!({"note": text}))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Whether the user signs: `handoff.sign`, else `commit.gpgSign`.
fn signing(session: &Session<'_>) -> Result<Signing, Failure> {
    let setting = |key: &str| session.repo.config_bool(key).map_err(|error| Failure::because(Code::Usage, &error));
    let wanted = match setting("handoff.sign")? {
        Some(wanted) => wanted,
        None => setting("commit.gpgSign")?.unwrap_or(false),
    };
    Ok(if wanted { Signing::Signed } else { Signing::Unsigned })
}

/// Where the approval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Log,
    Spool,
    /// It was in the log before.
    Known,
}

/// Why the approval was not appended.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("the approval is recorded already")]
    Known,
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("{}", .0.message())]
    Failed(Failure),
}

fn record(
    session: &Session<'_>,
    index: &mut Index,
    summary: &Summary,
    event: &NewEvent,
    signing: Signing,
) -> Result<Place, Failure> {
    let subject = format!("approval of {} {}", summary.session(), summary.topic);
    let trailers = vec![("Handoff-Id".to_owned(), summary.id.to_string())];
    let description = Description { subject, trailers };
    let shared = RefCell::new(&mut *index);
    let appended = session.log().signing(signing).append(&session.stamp(), |tip| {
        let mut index = shared.borrow_mut();
        session.bring_to(&mut index, tip).map_err(Stop::Failed)?;
        let known = index.other_events()?.iter().any(|other| other.id == event.id() && other.recorded_in.is_some());
        if known {
            return Err(Stop::Known);
        }
        Ok(Append { events: vec![event.clone()], description: description.clone() })
    });
    match appended {
        Ok(appended) => {
            let parent = appended.parent.map(|parent| index.known(&parent)).transpose()?.flatten();
            let tip = appended.tip;
            index.extend([appended.into_commit(parent)], Some(tip))?;
            Ok(Place::Log)
        }
        Err(AppendError::Decision(Stop::Known)) => Ok(Place::Known),
        Err(AppendError::Decision(Stop::Cache(error))) => Err(error.into()),
        Err(AppendError::Decision(Stop::Failed(failure))) => Err(failure),
        Err(AppendError::NotWritable(why)) => {
            let cannot = |what: &str| {
                Failure::new(Code::NotWritable, format!("git's directory cannot be written ({why}), and {what}"))
            };
            let spool =
                Spool::of(&session.repo).ok_or_else(|| cannot("there is no work tree to keep the approval in"))?;
            spool.write(event).map_err(|error| cannot(&format!("the spool neither: {error}")))?;
            Ok(Place::Spool)
        }
        Err(AppendError::Write(WriteError::Signing(source))) => Err(Failure::because(
            Code::SigningFailed,
            source.as_ref(),
        )
        .while_doing("the approval was not recorded, since it cannot be signed")
        .hint("see gpg.format and user.signingKey; without a signature: git -c handoff.sign=false handoff approve …")),
        Err(other) => Err(append_failure(&other)),
    }
}

struct Approved {
    summary: Summary,
    approval: Approval,
    origin: Origin,
    event: NewEvent,
    place: Place,
    signing: Signing,
}

impl Approved {
    fn is_signed(&self) -> bool {
        self.signing == Signing::Signed && self.place == Place::Log
    }
}

impl Report for Approved {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("Approved: {} {}", self.summary.session(), visible_line(self.summary.topic.as_str())))?;
        page.line(format!("By: {}", visible_line(&who(&self.origin.by))))?;
        if let Some(note) = &self.approval.note {
            page.line(format!("Note: {}", visible_line(note)))?;
        }
        page.line(format!("Signed: {}", if self.is_signed() { "yes" } else { "no" }))
    }

    fn json(&self) -> Value {
        json!({
            "id": self.event.id().to_string(),
            "handoff": self.summary.id.to_string(),
            "session": self.summary.session().to_string(),
            "by": who(&self.origin.by),
            "created": self.origin.created.to_string(),
            "note": self.approval.note,
            "signed": self.is_signed(),
            "stored": if self.place == Place::Spool { "spool" } else { "log" },
        })
    }

    fn quiet(&self) -> Option<String> {
        Some(self.event.id().to_string())
    }
}
