//! File paths that prose mentions, told apart from what only looks like one.
