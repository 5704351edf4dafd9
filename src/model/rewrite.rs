//! Which commit stands for which after history was rewritten, as far as it is proved.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectName;

/// What proves that a commit stands for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Git said so when it rewrote (the map that `post-rewrite` gets).
    Map,
    /// It has the same tree.
    SameTree,
    /// It makes the same change.
    SamePatch,
    /// It makes the change of the whole range that ends in the other.
    SameRange,
}

impl Proof {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Map => "git's own record of the rewrite",
            Self::SameTree => "the same tree",
            Self::SamePatch => "the same patch",
            Self::SameRange => "the same patch of the whole range",
        }
    }
}

/// One rewrite: the old commit and the one that replaced it.
pub type Pair = (ObjectName, ObjectName);

/// The lines `<old> <new>` that git gives to `post-rewrite`, once each. Lines of another shape are passed over.
pub fn pairs(input: &str) -> Vec<Pair> {
    let mut seen = BTreeSet::new();
    let pair = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    input.lines().filter_map(pair).filter(|(old, new)| old != new && seen.insert((*old, *new))).collect()
}

/// All recorded rewrites of a repository.
#[derive(Debug, Clone, Default)]
pub struct Rewrites(BTreeMap<ObjectName, Vec<ObjectName>>);

impl Rewrites {
    /// These rewrites, in the order in which they were made.
    pub fn new(pairs: impl IntoIterator<Item = Pair>) -> Self {
        let mut map: BTreeMap<ObjectName, Vec<ObjectName>> = BTreeMap::new();
        for (old, new) in pairs {
            map.entry(old).or_default().push(new);
        }
        Self(map)
    }

    /// What a commit became, one rewrite after the other; the latest come last. A circle, which undoing a rewrite
    /// makes, is walked once.
    pub fn successors(&self, commit: &ObjectName) -> Vec<ObjectName> {
        let mut seen = BTreeSet::from([*commit]);
        let mut found = Vec::new();
        let mut open = vec![*commit];
        while let Some(next) = open.pop() {
            for new in self.0.get(&next).into_iter().flatten() {
                if seen.insert(*new) {
                    found.push(*new);
                    open.push(*new);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(digit: char) -> ObjectName {
        digit.to_string().repeat(40).parse().expect("a name")
    }

    #[test]
    fn the_lines_of_git_are_read_and_others_passed_over() {
        let (a, b) = (name('a'), name('b'));
        let input = format!("{a} {b} extra\n{a} {b}\n{a} {a}\nnonsense\n\n{b} zz\n");
        assert_eq!(pairs(&input), [(a, b)]);
    }

    #[test]
    fn rewrites_are_followed_to_the_end_and_a_circle_once() {
        let [a, b, c, d] = ['a', 'b', 'c', 'd'].map(name);
        let rewrites = Rewrites::new([(a, b), (d, b), (b, c), (c, a)]);
        assert_eq!(rewrites.successors(&a), [b, c]);
        assert_eq!(rewrites.successors(&d), [b, c, a]);
        assert_eq!(Rewrites::default().successors(&a), []);
    }
}
