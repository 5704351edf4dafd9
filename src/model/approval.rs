//! Approvals: what raises the authority of a handoff, which by itself only informs.
//!
//! An approval never changes the document. It is an event of its own, and the authority that a handoff has is
//! decided from the approvals that the log holds.

use std::collections::BTreeMap;

use super::{EventId, Origin};

/// What somebody approves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The handoff.
    pub handoff: EventId,
    /// What they say about it.
    pub note: Option<String>,
}

impl Approval {
    /// The folder of these events in the log's trees.
    pub const KIND: &'static str = "approval";
    /// The most characters that a note may have.
    pub const MAX_NOTE: usize = 2000;
}

/// What is known of the signature of the log's commit that recorded something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// There is none.
    Absent,
    /// It is there; whether it is good cannot be told here.
    Unverified,
    /// It is good.
    Good,
    /// It does not fit, or its key was revoked.
    Bad,
}

impl Signature {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "none",
            Self::Unverified => "unverified",
            Self::Good => "good",
            Self::Bad => "bad",
        }
    }

    /// Whether there is one that is not known to be wrong.
    pub fn is_credible(self) -> bool {
        match self {
            Self::Good | Self::Unverified => true,
            Self::Absent | Self::Bad => false,
        }
    }
}

/// An approval as the log holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenApproval {
    /// The event's id.
    pub id: EventId,
    /// What was approved.
    pub approval: Approval,
    /// By whom, and when.
    pub origin: Origin,
    /// The signature of the commit that recorded it.
    pub signature: Signature,
}

/// What a handoff may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority<'a> {
    /// Inform.
    InformOnly,
    /// Somebody approved it.
    Approved(&'a GivenApproval),
}

/// All approvals, by handoff, each handoff's in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvals {
    by_handoff: BTreeMap<EventId, Vec<GivenApproval>>,
}

impl Approvals {
    /// The approvals of one handoff, in the order of the log.
    pub fn of(&self, handoff: &EventId) -> &[GivenApproval] {
        self.by_handoff.get(handoff).map_or(&[], Vec::as_slice)
    }

    /// The authority of one handoff: the first approval whose signature is not known to be wrong raises it; later
    /// ones confirm it.
    pub fn authority(&self, handoff: &EventId) -> Authority<'_> {
        let raised = self.of(handoff).iter().find(|given| given.signature != Signature::Bad);
        raised.map_or(Authority::InformOnly, Authority::Approved)
    }

    /// The handoffs that have approvals.
    pub fn handoffs(&self) -> impl Iterator<Item = &EventId> {
        self.by_handoff.keys()
    }
}

impl FromIterator<GivenApproval> for Approvals {
    fn from_iter<I: IntoIterator<Item = GivenApproval>>(given: I) -> Self {
        let mut approvals = Self::default();
        for each in given {
            approvals.by_handoff.entry(each.approval.handoff).or_default().push(each);
        }
        approvals
    }
}

#[cfg(test)]
mod tests {
    use super::super::By;
    use super::*;

    fn given(handoff: &[u8], note: &str, signature: Signature) -> GivenApproval {
        GivenApproval {
            id: EventId::of(note.as_bytes()),
            approval: Approval { handoff: EventId::of(handoff), note: Some(note.into()) },
            origin: Origin {
                created: "2026-08-18T17:04:00+03:00".parse().expect("a time"),
                by: By { agent: None, agent_session: None, identity: "Kim <kim@example.com>".into() },
            },
            signature,
        }
    }

    #[test]
    fn a_handoff_without_approval_informs_only() {
        let approvals: Approvals = [given(b"other", "fine", Signature::Good)].into_iter().collect();
        assert_eq!(approvals.authority(&EventId::of(b"one")), Authority::InformOnly);
    }

    #[test]
    fn the_first_approval_raises_the_authority_and_a_bad_signature_does_not() {
        let all = [
            given(b"one", "forged", Signature::Bad),
            given(b"one", "fine", Signature::Absent),
            given(b"one", "again", Signature::Good),
        ];
        let approvals: Approvals = all.clone().into_iter().collect();
        assert_eq!(approvals.of(&EventId::of(b"one")), all);
        assert_eq!(approvals.authority(&EventId::of(b"one")), Authority::Approved(&all[1]));
    }
}
