//! The document: one value, two faces. Pure: no I/O, no clock, no git.
