//! The table of runtimes: what each sets in the shells that it starts.

/// The variable by which a person names the agent; it beats every other signal.
pub(super) const OVERRIDE: &str = "HANDOFF_AGENT";

/// Variables by which any runtime may name itself, in the order in which they count.
pub(super) const SELF_NAMED: [&str; 2] = ["AI_AGENT", "AGENT"];

/// What is known of one coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runtime {
    /// The agent's name in handoffs.
    pub name: &'static str,
    /// Variables that this runtime and no other sets for what it starts.
    pub markers: &'static [Marker],
    /// Variables that hold the runtime's own session id, the best first.
    pub sessions: &'static [&'static str],
    /// The variable that holds the runtime's process id.
    pub pid: Option<&'static str>,
    /// Names of its process, without an ending.
    pub processes: &'static [&'static str],
    /// Names that it goes by in `AI_AGENT` and `AGENT`, besides its own.
    pub aliases: &'static [&'static str],
}

/// A variable that tells a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Its name.
    pub variable: &'static str,
    /// Which values tell the runtime.
    pub sign: Sign,
}

/// Which values of a variable tell its runtime. An empty one never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A switch: every value but `0`, `false`, `no` and `off`.
    Switch,
    /// An id or a name: every value.
    Value,
    /// This value only.
    Only(&'static str),
}

impl Sign {
    /// Whether the variable with this value tells the runtime.
    pub fn is_given_by(self, value: &str) -> bool {
        let off = || ["0", "false", "no", "off"].iter().any(|word| value.eq_ignore_ascii_case(word));
        match self {
            Self::Switch => !value.is_empty() && !off(),
            Self::Value => !value.is_empty(),
            Self::Only(expected) => value == expected,
        }
    }
}

const fn switch(variable: &'static str) -> Marker {
    Marker { variable, sign: Sign::Switch }
}

const fn value(variable: &'static str) -> Marker {
    Marker { variable, sign: Sign::Value }
}

const BARE: Runtime = Runtime { name: "", markers: &[], sessions: &[], pid: None, processes: &[], aliases: &[] };

/// Every runtime that leaves a mark. Aider, Droid and Devin leave none in their shells: they are told by
/// `HANDOFF_AGENT` or `--agent`.
pub const RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "claude",
        markers: &[
            switch("CLAUDECODE"),
            switch("CLAUDE_CODE_CHILD_SESSION"),
            switch("CLAUDE_CODE_REMOTE"),
            value("CLAUDE_CODE_SESSION_ID"),
            value("CLAUDE_PID"),
        ],
        sessions: &["CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_REMOTE_SESSION_ID"],
        pid: Some("CLAUDE_PID"),
        processes: &["claude", "claude-code"],
        aliases: &["claude-code"],
    },
    Runtime {
        name: "codex",
        markers: &[
            value("CODEX_THREAD_ID"),
            value("CODEX_SANDBOX"),
            switch("CODEX_SANDBOX_NETWORK_DISABLED"),
            switch("CODEX_CI"),
            Marker { variable: "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", sign: Sign::Only("codex_web_agent") },
        ],
        sessions: &["CODEX_THREAD_ID"],
        pid: None,
        processes: &["codex"],
        aliases: &["codex-cli"],
    },
    Runtime {
        name: "opencode",
        markers: &[switch("OPENCODE"), value("OPENCODE_PID")],
        sessions: &["OPENCODE_SESSION_ID"],
        pid: Some("OPENCODE_PID"),
        processes: &["opencode"],
        aliases: &["open-code"],
    },
    Runtime {
        name: "gemini",
        markers: &[switch("GEMINI_CLI"), value("GEMINI_SESSION_ID")],
        sessions: &["GEMINI_SESSION_ID"],
        processes: &["gemini"],
        aliases: &["gemini-cli"],
        ..BARE
    },
    Runtime { name: "qwen", markers: &[switch("QWEN_CODE")], processes: &["qwen"], aliases: &["qwen-code"], ..BARE },
    Runtime {
        name: "copilot",
        markers: &[switch("COPILOT_CLI"), value("COPILOT_AGENT_SESSION_ID")],
        sessions: &["COPILOT_AGENT_SESSION_ID"],
        processes: &["copilot"],
        aliases: &["github-copilot", "copilot-cli"],
        ..BARE
    },
    Runtime {
        name: "cursor",
        markers: &[
            switch("CURSOR_AGENT"),
            value("CURSOR_SANDBOX"),
            Marker { variable: "CURSOR_EXTENSION_HOST_ROLE", sign: Sign::Only("agent-exec") },
        ],
        processes: &["cursor-agent", "cursor"],
        aliases: &["cursor-agent", "cursor-cli"],
        ..BARE
    },
    Runtime {
        name: "amp",
        markers: &[value("AMP_CURRENT_THREAD_ID")],
        sessions: &["AMP_CURRENT_THREAD_ID", "AGENT_THREAD_ID"],
        processes: &["amp"],
        ..BARE
    },
    Runtime { name: "goose", markers: &[switch("GOOSE_TERMINAL")], processes: &["goose", "goosed"], ..BARE },
    Runtime { name: "crush", markers: &[switch("CRUSH")], processes: &["crush"], ..BARE },
    Runtime { name: "cline", markers: &[switch("CLINE_ACTIVE")], processes: &["cline"], ..BARE },
    Runtime { name: "roo", markers: &[switch("ROO_ACTIVE")], aliases: &["roo-code"], ..BARE },
    Runtime {
        name: "pi",
        markers: &[switch("PI_CODING_AGENT")],
        processes: &["pi"],
        aliases: &["pi-coding-agent"],
        ..BARE
    },
    Runtime {
        name: "auggie",
        markers: &[switch("AUGMENT_AGENT")],
        processes: &["auggie"],
        aliases: &["augment", "augment-cli"],
        ..BARE
    },
    Runtime { name: "antigravity", markers: &[switch("ANTIGRAVITY_AGENT")], processes: &["antigravity"], ..BARE },
    Runtime { name: "warp", markers: &[value("OZ_RUN_ID")], processes: &["warp", "oz"], ..BARE },
    Runtime { name: "openclaw", markers: &[value("OPENCLAW_SHELL")], processes: &["openclaw"], ..BARE },
    Runtime { name: "hermes", markers: &[switch("HERMES_AGENT")], processes: &["hermes"], ..BARE },
    Runtime { name: "trae", markers: &[value("TRAE_AI_SHELL_ID")], processes: &["trae"], ..BARE },
    Runtime { name: "junie", markers: &[value("JUNIE_DATA")], processes: &["junie"], ..BARE },
];

/// Every variable that detection looks at, each once: what has to be read, and what a test has to clear.
pub fn all_variables() -> Vec<&'static str> {
    let of_runtime = |runtime: &'static Runtime| {
        let markers = runtime.markers.iter().map(|marker| marker.variable);
        markers.chain(runtime.sessions.iter().copied()).chain(runtime.pid)
    };
    let mut all: Vec<&str> =
        std::iter::once(OVERRIDE).chain(SELF_NAMED).chain(RUNTIMES.iter().flat_map(of_runtime)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The agent that a runtime means by `AI_AGENT` or `AGENT`, such as `claude-code_2-1-170_agent` or `Crush@1.2`.
pub(super) fn self_named(value: &str) -> Option<&'static Runtime> {
    let name = self_given_name(value);
    let is_called = |alias: &str| name.strip_prefix(alias).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    RUNTIMES.iter().find(|runtime| runtime.aliases.iter().any(|alias| is_called(alias)) || is_called(runtime.name))
}

/// A name as a runtime gives it, without its version and in one spelling.
pub(super) fn self_given_name(value: &str) -> String {
    let name = value.split('@').next().unwrap_or_default().trim();
    name.to_lowercase().replace(['_', ' ', '/'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_valid_name_of_its_own_and_a_marker() {
        let mut names: Vec<&str> = RUNTIMES.iter().map(|runtime| runtime.name).collect();
        for runtime in RUNTIMES {
            assert!(runtime.name.parse::<crate::model::AgentName>().is_ok() && !runtime.markers.is_empty());
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RUNTIMES.len());
    }

    #[test]
    fn no_variable_tells_two_runtimes_and_settings_tell_none() {
        let mut markers: Vec<&str> =
            RUNTIMES.iter().flat_map(|runtime| runtime.markers).map(|marker| marker.variable).collect();
        let settings = ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "ANTHROPIC_MODEL", "COPILOT_MODEL", "CURSOR_TRACE_ID"];
        assert!(settings.iter().all(|name| !all_variables().contains(name)));
        let count = markers.len();
        markers.sort_unstable();
        markers.dedup();
        assert_eq!(markers.len(), count);
    }

    #[test]
    fn names_that_runtimes_give_themselves_are_recognised() {
        let name = |value| self_named(value).map(|runtime| runtime.name);
        assert_eq!(name("claude-code_2-1-170_agent"), Some("claude"));
        assert_eq!(name("github_copilot_vscode_agent"), Some("copilot"));
        assert_eq!(name("Crush@1.2"), Some("crush"));
        assert_eq!(name("pipeline"), None);
        assert_eq!(name("1"), None);
    }

    #[test]
    fn a_switch_that_is_off_is_no_signal() {
        let given = ["1", "true", "0", "False", "off", ""].map(|value| Sign::Switch.is_given_by(value));
        assert_eq!(given, [true, true, false, false, false, false]);
    }
}
