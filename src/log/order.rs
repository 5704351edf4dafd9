//! The order of the log, a pure function of the commit graph.

/// The effective time of a commit in milliseconds: its own time, or one more than that of its latest parent if
/// that is later. So no wrong clock puts an effect before its cause.
///
/// All events are ordered by (effective time of their commit, id).
pub fn effective(own: i64, parents: impl IntoIterator<Item = i64>) -> i64 {
    parents.into_iter().map(|parent| parent.saturating_add(1)).fold(own, i64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_never_before_its_parents() {
        assert_eq!([effective(5, []), effective(5, [3]), effective(5, [3, 9]), effective(5, [5])], [5, 5, 10, 6]);
        assert_eq!(effective(0, [i64::MAX]), i64::MAX);
    }
}
