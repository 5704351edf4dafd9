//! `queue wait`: blocks until a continuation can be started, or cannot.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::super::args;
use super::super::super::error::{Code, Failure};
use super::super::super::session::Session;
use super::face::{Done, Shown};
use crate::model::queue::{At, Queue, Span, State};
use crate::model::{ObjectName, Timestamp};
use crate::ui::Ui;

/// How often the refs are looked at.
const PAUSE: Duration = Duration::from_millis(250);

/// Waits.
///
/// # Errors
/// `WRONG_STATE` when it is stopped, has failed or was cancelled; `TIMED_OUT`.
pub(super) fn wait(session: &Session<'_>, args: &args::Wait, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let timeout = args.timeout.as_deref().map(str::parse::<Span>).transpose();
    let timeout = timeout.map_err(|error| Failure::because(Code::Usage, &error))?;
    let timeout = timeout.map(|span| Duration::from_secs(span.seconds().into()));
    let begin = Instant::now();
    let mut seen = None;
    let mut look = None;
    loop {
        let now = later(session.now(), begin.elapsed());
        let places = places(session)?;
        // Nothing is read as long as no ref has moved.
        if look.is_none() || seen.as_ref() != Some(&places) {
            look = Some(self::look(session, &args.item)?);
            seen = Some(places);
        }
        let Some((queue, at)) = &look else { continue };
        let item = queue.item(*at);
        let state = queue.state_at(item, now);
        let shown = Shown::new(queue, *at, &[], now);
        match state {
            State::Waiting | State::Claimed => {}
            State::Ready | State::Started | State::Succeeded => {
                let done = Done::new(queue, *at, format!("{}: {state}", item.label()), now);
                return Ok(ui.answer(&done)?);
            }
            State::Stopped | State::Failed | State::Cancelled => {
                let why = shown.why().map(|why| format!(" ({why})")).unwrap_or_default();
                return Err(Failure::new(Code::WrongState, format!("{} is {state}{why}", item.label()))
                    .hint("when its prerequisites can succeed again: git handoff queue retry ITEM")
                    .detail("state", state.as_str()));
            }
        }
        let left = timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
        if left == Some(Duration::ZERO) {
            let why = shown.why().map(|why| format!(" {why}")).unwrap_or_default();
            return Err(Failure::new(Code::TimedOut, format!("{} is still {state}{why}", item.label()))
                .detail("state", state.as_str()));
        }
        sleep(left.unwrap_or(PAUSE).min(PAUSE));
    }
}

/// Where everything stands that can change the answer.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    logs: Vec<ObjectName>,
    default: Option<ObjectName>,
    head: Option<ObjectName>,
}

fn places(session: &Session<'_>) -> Result<Places, Failure> {
    let default = session.repo.default_branch()?.map(|(_, tip)| tip);
    Ok(Places { logs: session.log().tips()?.all(), default, head: session.head()?.commit })
}

/// Reads the queue. A branch or commit that somebody waits for and that has arrived is recorded first.
fn look(session: &Session<'_>, text: &str) -> Result<(Queue, At), Failure> {
    let (queue, at) = session.read_queue(|index, queue| {
        let at = session.find_item(index, &queue, text)?;
        Ok((queue, at))
    })?;
    let arrived = queue.to_be_observed().into_iter().any(|prerequisite| {
        let last = queue.observation(&prerequisite).map(|seen| seen.commit);
        let sighting = session.sighting(&prerequisite, last);
        matches!(sighting, Ok(Some((_, crate::model::queue::Sighting::Met))))
    });
    if !arrived {
        return Ok((queue, at));
    }
    let mut index = session.own_index(session.repo.read_ref(crate::log::REF)?)?;
    session.observe(&mut index)?;
    session.read_queue(|index, queue| {
        let at = session.find_item(index, &queue, text)?;
        Ok((queue, at))
    })
}

fn later(begin: Timestamp, elapsed: Duration) -> Timestamp {
    let millis = begin.millis().saturating_add(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX));
    Timestamp::new(millis, begin.offset_minutes()).unwrap_or(begin)
}
