//! Which coding agent is this? The facts on each runtime, one row an agent.
