//! Everything that can be deleted and made again from the log: work-tree files, notes, the metadata cache.
