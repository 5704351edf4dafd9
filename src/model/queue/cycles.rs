//! Continuations that wait for each other. Joining two logs can make such a loop; it blocks only its members.

use std::collections::BTreeMap;

use super::{At, Prerequisite, Queue};

impl Queue {
    /// The unfinished continuations that a continuation waits for directly.
    fn waits_for(&self, at: At) -> impl Iterator<Item = At> {
        let item = &self.items[at];
        let upstream = item.after.iter().filter(|_| item.is_open()).filter_map(|prerequisite| match prerequisite {
            Prerequisite::Continuation(id) => self.find(id),
            Prerequisite::Handoff(_)
            | Prerequisite::Operation(_)
            | Prerequisite::Merged(_)
            | Prerequisite::Commit(_)
            | Prerequisite::Approval => None,
        });
        upstream.filter(|at| self.items[*at].end.is_none())
    }

    /// The unfinished continuations that a continuation waits for, however far, in the order in which they were queued.
    pub fn open_ancestors(&self, at: At) -> Vec<At> {
        let mut found = std::collections::BTreeSet::new();
        let mut open = vec![at];
        while let Some(next) = open.pop() {
            open.extend(self.waits_for(next).filter(|upstream| found.insert(*upstream)).collect::<Vec<_>>());
        }
        found.remove(&at);
        found.into_iter().collect()
    }

    /// Whether a continuation waits for something, directly or through others.
    pub(super) fn is_upstream(&self, at: At, cause: &Prerequisite) -> bool {
        let mut seen = std::collections::BTreeSet::from([at]);
        let mut open = vec![at];
        while let Some(next) = open.pop() {
            for prerequisite in &self.items[next].after {
                if prerequisite == cause {
                    return true;
                }
                if let Prerequisite::Continuation(id) = prerequisite
                    && let Some(upstream) = self.find(id)
                    && seen.insert(upstream)
                {
                    open.push(upstream);
                }
            }
        }
        false
    }

    /// The loops, each as the places of its members in ascending order.
    pub fn cycles(&self) -> Vec<Vec<At>> {
        let rest = self.entangled();
        if rest.is_empty() { Vec::new() } else { self.components(&rest) }
    }

    /// What is left when everything is taken away, again and again, that waits for nothing of the rest: the loops and
    /// what waits for them.
    fn entangled(&self) -> Vec<At> {
        let mut open: Vec<usize> = vec![0; self.items.len()];
        let mut dependents: Vec<Vec<At>> = vec![Vec::new(); self.items.len()];
        for (at, count) in open.iter_mut().enumerate() {
            for upstream in self.waits_for(at) {
                *count += 1;
                dependents[upstream].push(at);
            }
        }
        let mut free: Vec<At> = (0..open.len()).filter(|at| open[*at] == 0).collect();
        while let Some(at) = free.pop() {
            for dependent in &dependents[at] {
                open[*dependent] -= 1;
                if open[*dependent] == 0 {
                    free.push(*dependent);
                }
            }
        }
        (0..open.len()).filter(|at| open[*at] > 0).collect()
    }

    /// The strongly connected components that are loops (Kosaraju, with stacks of our own: a chain may be long).
    fn components(&self, rest: &[At]) -> Vec<Vec<At>> {
        let mut up: BTreeMap<At, Vec<At>> = rest.iter().map(|at| (*at, Vec::new())).collect();
        let mut down = up.clone();
        for at in rest {
            for upstream in self.waits_for(*at) {
                if let Some(dependents) = down.get_mut(&upstream) {
                    dependents.push(*at);
                    up.entry(*at).or_default().push(upstream);
                }
            }
        }
        let mut order = Vec::new();
        let mut unseen = up.clone();
        for at in rest {
            order.extend(visit(*at, &mut unseen));
        }
        let mut unseen = down;
        let mut loops = Vec::new();
        for at in order.iter().rev() {
            let mut members = visit(*at, &mut unseen);
            members.sort_unstable();
            let waits_for_itself = || up.get(at).is_some_and(|upstream| upstream.contains(at));
            if members.len() > 1 || (members.len() == 1 && waits_for_itself()) {
                loops.push(members);
            }
        }
        loops.sort();
        loops
    }

    /// The loop that would arise if the continuation waited for another one: from it back to it.
    pub(super) fn loop_through(&self, at: At, upstream: At) -> Option<Vec<String>> {
        let mut came_from: BTreeMap<At, Option<At>> = BTreeMap::from([(upstream, None)]);
        let mut open = vec![upstream];
        while let Some(next) = open.pop() {
            if next == at {
                break;
            }
            for further in self.waits_for(next) {
                came_from.entry(further).or_insert_with(|| {
                    open.push(further);
                    Some(next)
                });
            }
        }
        let mut path = vec![at];
        let mut step = *came_from.get(&at)?;
        while let Some(place) = step {
            path.push(place);
            step = came_from.get(&place).copied().flatten();
        }
        path.reverse();
        path.insert(0, at);
        Some(path.into_iter().map(|at| self.items[at].label()).collect())
    }
}

/// What can be reached, in the order in which it was left. What is reached is no longer unseen.
fn visit(from: At, unseen: &mut BTreeMap<At, Vec<At>>) -> Vec<At> {
    let mut left = Vec::new();
    let mut stack: Vec<(At, Vec<At>)> = unseen.remove(&from).map(|next| (from, next)).into_iter().collect();
    while let Some((at, next)) = stack.last_mut() {
        match next.pop() {
            Some(other) => {
                if let Some(further) = unseen.remove(&other) {
                    stack.push((other, further));
                }
            }
            None => {
                left.push(*at);
                stack.pop();
            }
        }
    }
    left
}
