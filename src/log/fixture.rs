//! Events and appends for tests.

use std::convert::Infallible;

use super::{Append, Appended, Description, Log, NewEvent, Stamp};
use crate::git::Identity;
use crate::model::{EventKind, Timestamp};

/// The moment that lies so many seconds after 2026-08-18T17:04:00+03:00.
pub(super) fn moment(second: i64) -> Timestamp {
    Timestamp::new((1_787_061_840 + second) * 1000, 180).expect("it is in this century")
}

/// Ada at that moment.
pub(super) fn stamp(second: i64) -> Stamp {
    Stamp { identity: Identity::new("Ada", "ada@example.com"), now: moment(second) }
}

/// The handoff with this number, made that many seconds after the minute.
pub(super) fn handoff(number: i64) -> NewEvent {
    let text = format!(
        "{{\"agent\":\"codex\",\"authority\":\"inform_only\",\"completeness\":\"partial\",\"created\":\"{}\",\
         \"schema\":\"handoff/v1\",\"status\":\"in-progress\",\"topic\":\"topic {number}\",\"trigger\":\"manual\"}}",
        moment(number)
    );
    NewEvent::new(EventKind::Handoff, text.into_bytes())
}

/// Appends the handoff with this number.
pub(super) fn append(log: &Log<'_>, number: i64) -> Appended {
    let event = handoff(number);
    let trailers = vec![("Handoff-Id".to_owned(), event.id().to_string())];
    let description = Description { subject: format!("handoff {number}"), trailers };
    let append = Append { events: vec![event], description };
    log.append(&stamp(number), |_| Ok::<_, Infallible>(append.clone())).expect("the log can be written")
}
