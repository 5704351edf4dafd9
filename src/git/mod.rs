//! The one door to git: the only module that names gix or starts a `git` process.
