//! `git handoff log`: which handoff continues which, as a graph.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use renderdag::{Ancestor, GraphRowRenderer, Renderer};
use serde_json::{Value, json};

use super::super::args;
use super::super::error::Failure;
use super::super::session::Session;
use crate::model::queue::Queue;
use crate::model::{EventId, ObjectName, Summary, visible_line};
use crate::ui::{Page, Report, Tone, Ui};
use crate::views::cache::Index;

/// How many handoffs are shown without `--limit`.
const DEFAULT_LIMIT: usize = 50;

/// Runs the command.
///
/// # Errors
/// When the reference names no single handoff or git cannot be read.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Log, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let limit = args.limit.unwrap_or(DEFAULT_LIMIT);
    let nodes = session.read(|index| {
        let mut nodes = match &args.reference {
            None => newest(index, limit)?,
            Some(text) => family(index, session.resolve(index, text)?.id)?,
        };
        nodes.truncate(limit);
        let queue = session.queue(index)?;
        for node in &mut nodes {
            node.queued = queued(&queue, node.summary.id);
        }
        Ok(nodes)
    })?;
    if nodes.is_empty() && limit > 0 {
        ui.note("there are no handoffs here yet");
    }
    let lines = if draws_boxes(session) { Lines::Boxes } else { Lines::Ascii };
    Ok(ui.answer(&Graph { nodes, lines })?)
}

/// Whether the user's locale can show line-drawing characters.
pub(super) fn draws_boxes(session: &Session<'_>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| session.env.var(name)).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// A handoff in the graph.
struct Node {
    summary: Summary,
    live: bool,
    queued: Vec<Queued>,
}

/// Work that was queued to continue a handoff.
struct Queued {
    label: String,
    id: String,
    topic: String,
    state: &'static str,
    /// Who started it, when, and at which commit.
    start: Option<(String, String, Option<ObjectName>)>,
}

impl Queued {
    fn line(&self) -> String {
        let start = self.start.as_ref().map(|(by, at, revision)| {
            let revision = revision.map(|commit| format!(" at {}", commit.short())).unwrap_or_default();
            format!(", started {at} by {by}{revision}")
        });
        format!("-> {} {}{}: {}", self.label, self.state, start.unwrap_or_default(), self.topic)
    }
}

fn queued(queue: &Queue, handoff: EventId) -> Vec<Queued> {
    let of_it = queue.items().iter().filter(|item| item.handoff == handoff);
    of_it
        .map(|item| Queued {
            label: item.label(),
            id: item.id.to_string(),
            topic: item.topic.to_string(),
            state: queue.state(item).as_str(),
            start: item
                .start
                .as_ref()
                .map(|start| (start.holder.clone(), start.created.to_string(), start.facts.revision)),
        })
        .collect()
}

fn newest(index: &Index, limit: usize) -> Result<Vec<Node>, Failure> {
    let nodes = index.newest_first().take(limit);
    nodes
        .map(|row| {
            row.and_then(|row| Ok(Node { summary: index.summary(row.position)?, live: row.live(), queued: Vec::new() }))
        })
        .map(|node| Ok(node?))
        .collect()
}

/// All handoffs that are linked with this one, however far, newest first.
fn family(index: &Index, of: EventId) -> Result<Vec<Node>, Failure> {
    let all = newest(index, usize::MAX)?;
    let mut neighbours: BTreeMap<EventId, Vec<EventId>> = BTreeMap::new();
    for Node { summary, .. } in &all {
        for closed in summary.closes() {
            neighbours.entry(summary.id).or_default().push(closed);
            neighbours.entry(closed).or_default().push(summary.id);
        }
    }
    let mut found = BTreeSet::from([of]);
    let mut open = vec![of];
    while let Some(id) = open.pop() {
        let next = neighbours.get(&id).into_iter().flatten().filter(|next| found.insert(**next));
        open.extend(next.copied().collect::<Vec<_>>());
    }
    Ok(all.into_iter().filter(|node| found.contains(&node.summary.id)).collect())
}

/// What lines are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Boxes,
    Ascii,
}

struct Graph {
    nodes: Vec<Node>,
    lines: Lines,
}

impl Graph {
    /// What a handoff continues, as far as it is shown and stands below it; and whether there is more.
    fn parents(&self, at: usize) -> Vec<Ancestor<usize>> {
        let mut parents = BTreeSet::new();
        let mut hidden = false;
        for closed in self.nodes[at].summary.closes() {
            match self.nodes.iter().position(|node| node.summary.id == closed) {
                Some(below) if below > at => _ = parents.insert(below),
                _ => hidden = true,
            }
        }
        let mut ancestors: Vec<_> = parents.into_iter().map(Ancestor::Parent).collect();
        if hidden && ancestors.is_empty() {
            ancestors.push(Ancestor::Anonymous);
        }
        ancestors
    }

    fn rows(&self, page: &Page<'_>) -> Vec<GraphRow> {
        let row = |(at, Node { summary, live, queued }): (usize, &Node)| {
            let branch =
                summary.branch.as_deref().map(|branch| format!(" on {}", visible_line(branch))).unwrap_or_default();
            let commit = summary.commit.map(|commit| format!(" at {}", commit.short())).unwrap_or_default();
            let queued: String = queued.iter().map(|each| format!("\n{}", visible_line(&each.line()))).collect();
            let message = format!(
                "{} {} {}{branch}{commit}\n{}{queued}",
                page.toned(Tone::Name, summary.id.short()),
                summary.session(),
                summary.status,
                visible_line(summary.topic.as_str()),
            );
            GraphRow { parents: self.parents(at), glyph: if *live { "o" } else { "x" }, message }
        };
        self.nodes.iter().enumerate().map(row).collect()
    }
}

/// A row of a graph, which is numbered by its place.
pub(super) struct GraphRow {
    /// Rows below that it hangs on.
    pub(super) parents: Vec<Ancestor<usize>>,
    /// The knot.
    pub(super) glyph: &'static str,
    /// What stands beside it: visible text of one or more lines.
    pub(super) message: String,
}

impl Lines {
    /// Draws a graph.
    pub(super) fn draw(self, page: &mut Page<'_>, rows: Vec<GraphRow>) -> io::Result<()> {
        let renderer = GraphRowRenderer::new().output().with_min_row_height(2);
        match self {
            Self::Boxes => draw(page, renderer.build_box_drawing(), rows),
            Self::Ascii => draw(page, renderer.build_ascii(), rows),
        }
    }
}

fn draw(
    page: &mut Page<'_>,
    mut renderer: impl Renderer<usize, Output = String>,
    rows: Vec<GraphRow>,
) -> io::Result<()> {
    for (at, GraphRow { parents, glyph, message }) in rows.into_iter().enumerate() {
        let drawn = renderer.next_row(at, parents, glyph.into(), message);
        drawn.lines().try_for_each(|line| page.line(line.trim_end()))?;
    }
    Ok(())
}

impl Report for Graph {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let rows = self.rows(page);
        self.lines.draw(page, rows)
    }

    fn json(&self) -> Value {
        let node = |Node { summary, live, queued }: &Node| {
            json!({
                "id": summary.id.to_string(),
                "session": summary.session().to_string(),
                "created": summary.created.to_string(),
                "agent": summary.agent.as_str(),
                "topic": summary.topic.as_str(),
                "status": summary.status.as_str(),
                "branch": summary.branch,
                "commit": summary.commit.map(|commit| commit.to_string()),
                "live": live,
                "recorded_in": summary.recorded_in.map(|commit| commit.to_string()),
                "previous": summary.previous.as_ref().map(ToString::to_string),
                "resumed_from": summary.resumed_from.as_ref().map(ToString::to_string),
                "supersedes": summary.supersedes.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "continuations": queued.iter().map(|each| json!({
                    "id": each.id,
                    "topic": each.topic,
                    "state": each.state,
                    "started": each.start.as_ref().map(|(by, at, revision)| json!({
                        "by": by,
                        "at": at,
                        "revision": revision.map(|commit| commit.to_string()),
                    })),
                })).collect::<Vec<_>>(),
            })
        };
        self.nodes.iter().map(node).collect()
    }

    fn quiet(&self) -> Option<String> {
        let ids: Vec<String> = self.nodes.iter().map(|node| node.summary.id.to_string()).collect();
        (!ids.is_empty()).then(|| ids.join("\n"))
    }
}
