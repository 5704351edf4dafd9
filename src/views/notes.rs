//! The lines that `refs/notes/handoffs` carries on a source commit, one a handoff.
//!
//! A line is a function of the document alone, without names that a join could change, so that joined notes never
//! hold two lines of one handoff.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Summary, cut, visible_line};

/// The most characters that a line may have.
const WIDTH: usize = 160;
/// The digits of the id that a line begins with.
const DIGITS: usize = 12;

/// The line of a handoff: `<id12> codex 2026-08-18T17:04 in-progress billing-system: Ship the filter`.
pub fn line(summary: &Summary) -> String {
    let Summary { agent, created, status, topic, objective, .. } = summary;
    let head = format!("{} {agent} {} {status} ", summary.id.short(), created.minute_for_notes());
    let text = match objective {
        Some(objective) => format!("{}: {}", one_line(topic.as_str()), one_line(objective)),
        None => one_line(topic.as_str()),
    };
    let room = WIDTH.saturating_sub(head.chars().count()).max(40);
    head + &cut(&text, room)
}

/// The note with this line in it, in the form that git's own `cat_sort_uniq` gives: lines in the order of their
/// bytes, each once, none empty. What a person wrote stays; another line of ours for the same handoff goes.
pub fn merge_lines(existing: Option<&[u8]>, line: &str) -> Vec<u8> {
    let line = line.as_bytes();
    let id = id_of(line);
    written(lines_of(existing).filter(|other| id.is_none() || id_of(other) != id).chain([line]).collect())
}

/// The union of two notes, such as those of two clones, in the form of [`merge_lines`]. Whichever comes first, the
/// result is the same: of two different lines of one handoff the greater counts.
pub fn union(one: &[u8], other: &[u8]) -> Vec<u8> {
    let mut lines: BTreeSet<&[u8]> = lines_of(Some(one)).chain(lines_of(Some(other))).collect();
    let greatest: BTreeMap<&[u8], &[u8]> = lines.iter().filter_map(|line| Some((id_of(line)?, *line))).collect();
    lines.retain(|line| id_of(line).is_none_or(|id| greatest.get(id) == Some(line)));
    written(lines)
}

fn lines_of(note: Option<&[u8]>) -> impl Iterator<Item = &[u8]> {
    note.unwrap_or_default().split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn written(lines: BTreeSet<&[u8]>) -> Vec<u8> {
    lines.into_iter().flat_map(|line| [line, b"\n"]).flatten().copied().collect()
}

/// The id that one of our lines begins with; `None` for a person's line.
fn id_of(line: &[u8]) -> Option<&[u8]> {
    let (id, rest) = line.split_at_checked(DIGITS)?;
    let hexadecimal = id.iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte));
    let mut words = rest.strip_prefix(b" ")?.split(|byte| *byte == b' ');
    let _agent = words.next()?;
    let minute = words.next()?;
    let shape = b"0000-00-00T00:00";
    let is_minute = minute.len() == shape.len()
        && minute
            .iter()
            .zip(shape)
            .all(|(byte, like)| if *like == b'0' { byte.is_ascii_digit() } else { byte == like });
    (hexadecimal && is_minute).then_some(id)
}

fn one_line(text: &str) -> String {
    visible_line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Completeness, Content, EventId, Handoff, Metadata, Status, Trigger};

    fn summary(objective: Option<&str>) -> Summary {
        let document = Handoff {
            created: "2026-08-18T17:04:10+03:00".parse().expect("valid"),
            agent: "codex".parse().expect("valid"),
            trigger: Trigger::Manual,
            status: Status::InProgress,
            topic: "billing-system".parse().expect("valid"),
            metadata: Metadata::default(),
            content: Content { objective: objective.map(str::to_owned), ..Content::default() },
            completeness: Completeness::Partial,
            unknown: serde_json::Map::new(),
        };
        Summary::of(EventId::of(b"abc"), &document, None, None, 0)
    }

    #[test]
    fn a_line_says_who_when_how_far_and_what() {
        let with = line(&summary(Some("Ship the\nfilter \u{1b}[2J")));
        assert_eq!(with, "ba7816bf8f01 codex 2026-08-18T17:04 in-progress billing-system: Ship the filter \\u{1b}[2J");
        assert_eq!(line(&summary(None)), "ba7816bf8f01 codex 2026-08-18T17:04 in-progress billing-system");
        assert_eq!(line(&summary(Some(&"é".repeat(500)))).chars().count(), WIDTH);
    }

    #[test]
    fn a_persons_lines_stay_and_one_handoff_has_one_line() {
        let ours = line(&summary(None));
        let first = merge_lines(Some(b"reviewed by Kim\n\nreviewed by Kim\nAsk first\xff"), &ours);
        let expected = [&b"Ask first\xff\n"[..], ours.as_bytes(), b"\nreviewed by Kim\n"].concat();
        assert_eq!(first, expected);
        assert_eq!(merge_lines(Some(&first), &ours), first);
        let changed = line(&summary(Some("Ship it")));
        let expected = [&b"Ask first\xff\n"[..], changed.as_bytes(), b"\nreviewed by Kim\n"].concat();
        assert_eq!(merge_lines(Some(&first), &changed), expected);
        assert_eq!(union(&first, &expected), expected);
        assert_eq!(union(&expected, &first), expected);
        assert_eq!(merge_lines(None, &ours), (ours + "\n").into_bytes());
    }
}
