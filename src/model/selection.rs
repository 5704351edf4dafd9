//! Which handoff to resume (section 7 of the design).
