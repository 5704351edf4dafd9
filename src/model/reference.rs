//! What a person may type to mean a handoff.
