//! What a handoff is worth: 0 to 100 points, each explained (section 6 of the design).
