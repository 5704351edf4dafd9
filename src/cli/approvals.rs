//! The approvals that the log holds, read when somebody asks for them: in most repositories there are none.

use serde_json::{Value, json};

use super::error::Failure;
use super::session::Session;
use crate::log::{MAX_EVENT_BYTES, approval};
use crate::model::{Approval, Approvals, Authority, By, EventId, GivenApproval, ObjectName, Signature};
use crate::views::cache::{Index, OtherEvent};

impl Session<'_> {
    /// The approvals of those handoffs that are wanted. One that cannot be read approves nothing; `verify` reports it.
    ///
    /// # Errors
    /// When the cache is damaged or the spool cannot be read.
    pub(super) fn approvals(&self, index: &Index, wanted: impl Fn(&EventId) -> bool) -> Result<Approvals, Failure> {
        let events = index.other_events()?;
        let of_kind = events.iter().filter(|event| event.kind.as_str() == Approval::KIND);
        let mut given = Vec::new();
        for event in of_kind {
            let bytes = self.event_bytes(event)?;
            let decoded = bytes.as_deref().and_then(|bytes| approval::decode(bytes).ok());
            if let Some((origin, approval)) = decoded.filter(|(_, approval)| wanted(&approval.handoff)) {
                let signature = self.signature(event.recorded_in);
                given.push(GivenApproval { id: event.id, approval, origin, signature });
            }
        }
        Ok(given.into_iter().collect())
    }

    /// The bytes of an event, in the log or in the spool.
    fn event_bytes(&self, event: &OtherEvent) -> Result<Option<Vec<u8>>, Failure> {
        match &event.blob {
            Some(blob) => Ok(self.repo.read_blob(blob, MAX_EVENT_BYTES).ok()),
            None => {
                let spooled = self.spooled()?.into_iter();
                let mut of_event =
                    spooled.filter(|spooled| spooled.commit.entries.iter().any(|entry| entry.id == event.id));
                Ok(of_event.next().and_then(|spooled| std::fs::read(spooled.path).ok()))
            }
        }
    }

    fn signature(&self, commit: Option<ObjectName>) -> Signature {
        commit.map_or(Signature::Absent, |commit| self.repo.signature_of(&commit).unwrap_or(Signature::Absent))
    }
}

/// Who gave an approval: the identity, and the agent if one did it.
pub(super) fn who(by: &By) -> String {
    match &by.agent {
        Some(agent) => format!("{} ({agent})", by.identity),
        None => by.identity.clone(),
    }
}

/// An approval as JSON gives it.
pub(super) fn approval_json(given: &GivenApproval) -> Value {
    json!({
        "id": given.id.to_string(),
        "by": who(&given.origin.by),
        "created": given.origin.created.to_string(),
        "note": given.approval.note,
        "signed": given.signature.is_credible(),
        "signature": given.signature.as_str(),
    })
}

/// An approval on one line.
pub(super) fn approval_line(given: &GivenApproval) -> String {
    let note = given.approval.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    let signature = match given.signature {
        Signature::Absent => "",
        Signature::Unverified => ", signed (not verified here)",
        Signature::Good => ", signed",
        Signature::Bad => ", with a BAD signature, which counts for nothing",
    };
    format!("approved by {} at {}{note}{signature}", who(&given.origin.by), given.origin.created)
}

/// The authority as the packet gives it: `inform_only`, or the approval that raised it.
pub(super) fn authority_json(authority: Authority<'_>) -> Value {
    match authority {
        Authority::InformOnly => json!("inform_only"),
        Authority::Approved(given) => approval_json(given),
    }
}

/// The authority as the envelope states it.
pub(super) fn authority_line(authority: Authority<'_>) -> String {
    match authority {
        Authority::InformOnly => "inform_only: it grants nothing by itself".into(),
        Authority::Approved(given) => approval_line(given),
    }
}
