//! The bytes of a snapshot: every value in its fixed order, numbers little-endian, lengths before what they count.

use std::collections::BTreeMap;

use crate::model::queue::{
    Accepted, Claim, ClaimMode, Completion, Conflict, End, Ending, Evidence, Item, Label, Lease, Mark, Observation,
    Operation, Outcome, Parts, Prerequisite, Run, RunEnd, Start, StartFacts, Stop,
};
use crate::model::{AgentName, By, EventId, ObjectName, Timestamp, Topic};

/// Something that can be written and read again. What cannot be read gives nothing.
pub(super) trait Pack: Sized {
    fn pack(&self, out: &mut Vec<u8>);
    fn unpack(from: &mut &[u8]) -> Option<Self>;
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Pack for $number {
            fn pack(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                take(from, size_of::<Self>())?.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )+};
}

numbers!(u8, i16, i32, u32, i64, u64);

impl Pack for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        u8::from(*self).pack(out);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(u8::unpack(from)? != 0)
    }
}

fn pack_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as u32).pack(out);
    out.extend_from_slice(bytes);
}

fn unpack_text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    let length = u32::unpack(from)?;
    std::str::from_utf8(take(from, length as usize)?).ok()
}

impl Pack for String {
    fn pack(&self, out: &mut Vec<u8>) {
        pack_bytes(self.as_bytes(), out);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        unpack_text(from).map(str::to_owned)
    }
}

macro_rules! texts {
    ($($text:ty),+) => {$(
        impl Pack for $text {
            fn pack(&self, out: &mut Vec<u8>) {
                pack_bytes(self.as_str().as_bytes(), out);
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                unpack_text(from)?.parse().ok()
            }
        }
    )+};
}

texts!(AgentName, Label, Topic);

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.is_some().pack(out);
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        if bool::unpack(from)? { T::unpack(from).map(Some) } else { Some(None) }
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u32).pack(out);
        self.iter().for_each(|value| value.pack(out));
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let count = u32::unpack(from)?;
        // A count that is not true must not reserve memory: each value takes a byte at least.
        let mut values = Self::with_capacity((count as usize).min(from.len()));
        for _ in 0..count {
            values.push(T::unpack(from)?);
        }
        Some(values)
    }
}

impl<K: Pack + Ord, V: Pack> Pack for BTreeMap<K, V> {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u32).pack(out);
        for (key, value) in self {
            key.pack(out);
            value.pack(out);
        }
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let count = u32::unpack(from)?;
        (0..count).map(|_| Some((K::unpack(from)?, V::unpack(from)?))).collect()
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
        self.1.pack(out);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some((A::unpack(from)?, B::unpack(from)?))
    }
}

impl Pack for EventId {
    fn pack(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        take(from, 32)?.try_into().ok().map(Self::from_bytes)
    }
}

impl Pack for ObjectName {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.as_bytes().len() as u8).pack(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let length = u8::unpack(from)?;
        Self::from_bytes(take(from, length.into())?)
    }
}

impl Pack for Timestamp {
    fn pack(&self, out: &mut Vec<u8>) {
        self.millis().pack(out);
        self.offset_minutes().pack(out);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Self::new(Pack::unpack(from)?, Pack::unpack(from)?)
    }
}

impl Pack for Lease {
    fn pack(&self, out: &mut Vec<u8>) {
        self.seconds().pack(out);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Self::new(Pack::unpack(from)?).ok()
    }
}

impl Pack for Prerequisite {
    fn pack(&self, out: &mut Vec<u8>) {
        match self {
            Self::Handoff(id) => (0_u8, *id).pack(out),
            Self::Continuation(id) => (1_u8, *id).pack(out),
            Self::Operation(name) => (2_u8, name.clone()).pack(out),
            Self::Merged(branch) => (3_u8, branch.clone()).pack(out),
            Self::Commit(commit) => (4_u8, *commit).pack(out),
            Self::Approval => 5_u8.pack(out),
        }
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::unpack(from)? {
            0 => Self::Handoff(Pack::unpack(from)?),
            1 => Self::Continuation(Pack::unpack(from)?),
            2 => Self::Operation(Pack::unpack(from)?),
            3 => Self::Merged(Pack::unpack(from)?),
            4 => Self::Commit(Pack::unpack(from)?),
            5 => Self::Approval,
            _ => return None,
        })
    }
}

macro_rules! words {
    ($($word:ty),+) => {$(
        impl Pack for $word {
            fn pack(&self, out: &mut Vec<u8>) {
                (*self as u8).pack(out);
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Self::ALL.get(usize::from(u8::unpack(from)?)).copied()
            }
        }
    )+};
}

words!(ClaimMode, Ending, Outcome);

macro_rules! structs {
    ($($name:ident { $($field:ident),+ })+) => {$(
        impl Pack for $name {
            fn pack(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($field.pack(out);)+
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                $(let $field = Pack::unpack(from)?;)+
                Some(Self { $($field),+ })
            }
        }
    )+};
}

structs! {
    By { agent, agent_session, identity }
    Accepted { partial, superseded }
    Mark { event, by, created }
    Claim { event, holder, by, until, mode }
    Evidence { prerequisite, event }
    StartFacts { handoff, revision, lease, evidence, superseded_by }
    Start { event, holder, created, facts }
    End { event, ending, holder, created, exit_code }
    Stop { prerequisite, outcome }
    Conflict { event, verb, by, created, why, lost_to }
    Item {
        id, created, by, name, topic, handoff, agent, accepted, after, approved, claim, start, end, stopped, last, conflicts
    }
    Run { command, exit_code, milliseconds, tail }
    RunEnd { ending, created, run }
    Operation { last, started, by, ended, conflicts }
    Observation { event, commit, met }
    Completion { place }
    Parts { items, operations, observations, completions, strays, folded, last }
}
