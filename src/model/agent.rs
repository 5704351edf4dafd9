//! Agents, the directories that their handoffs appear in, and the readable names of sessions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::Timestamp;

/// The name of a coding agent: 1 to 64 characters of `a-z 0-9 . _ -`, beginning with a letter or digit and not
/// ending with a full stop. Upper case is folded, so that `Codex` and `codex` are one agent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

/// The text cannot name an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' cannot name an agent: use 1 to 64 of the characters a-z, 0-9, '.', '_' and '-', beginning with a letter \
     or digit and not ending with '.'", super::visible_line(.0)
)]
pub struct AgentNameError(pub String);

impl AgentName {
    /// The name that stands for a runtime that is not known.
    pub const UNKNOWN: &'static str = "agent";

    /// The name of a runtime that is not known.
    pub fn unknown() -> Self {
        Self(Self::UNKNOWN.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = AgentNameError;

    fn from_str(text: &str) -> Result<Self, AgentNameError> {
        let name = text.to_ascii_lowercase();
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        let well_formed = (1..=64).contains(&name.len())
            && name.bytes().all(allowed)
            && name.as_bytes()[0].is_ascii_alphanumeric()
            && !name.ends_with('.');
        if well_formed { Ok(Self(name)) } else { Err(AgentNameError(text.into())) }
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentName({self})")
    }
}

/// A work-tree directory in which the handoffs of one or several agents appear, and the title of its index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    /// The directory, relative to the top of the work tree, such as `.codex`.
    pub dir: String,
    /// The first word of the index's title, such as `Codex`.
    pub title: String,
}

/// Which directory each agent writes to: four fixed ones, and those that `handoff.agent.<name>.dir` adds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lanes {
    custom: BTreeMap<AgentName, String>,
}

impl Lanes {
    /// The agents that have a directory of their own without any configuration.
    const FIXED: [(&'static str, &'static str, &'static str); 3] =
        [("codex", ".codex", "Codex"), ("claude", ".claude", "Claude"), ("opencode", ".opencode", "OpenCode")];
    /// Where every other agent's handoffs appear.
    const SHARED: (&'static str, &'static str) = (".agent", "Agent");

    /// The fixed directories and these further ones (agent and directory).
    ///
    /// The caller has checked that each directory is a plain relative path inside the work tree.
    pub fn new(custom: BTreeMap<AgentName, String>) -> Self {
        Self { custom }
    }

    /// The lane of an agent.
    pub fn of(&self, agent: &AgentName) -> Lane {
        let lane = |dir: &str, title: &str| Lane { dir: dir.into(), title: title.into() };
        let fixed = Self::FIXED.iter().find(|(name, ..)| *name == agent.as_str());
        match (self.custom.get(agent), fixed) {
            (Some(dir), _) => self.known(dir).unwrap_or_else(|| lane(dir, Self::SHARED.1)),
            (None, Some((_, dir, title))) => lane(dir, title),
            (None, None) => lane(Self::SHARED.0, Self::SHARED.1),
        }
    }

    /// Every lane that can occur, each once, in a fixed order.
    pub fn all(&self) -> Vec<Lane> {
        let mut lanes: Vec<Lane> =
            Self::FIXED.iter().map(|(_, dir, title)| Lane { dir: (*dir).into(), title: (*title).into() }).collect();
        lanes.push(Lane { dir: Self::SHARED.0.into(), title: Self::SHARED.1.into() });
        for agent in self.custom.keys() {
            let lane = self.of(agent);
            if !lanes.contains(&lane) {
                lanes.push(lane);
            }
        }
        lanes
    }

    /// The agents that configuration maps, with their directories, in the order of their names.
    pub fn custom(&self) -> impl Iterator<Item = (&AgentName, &str)> {
        self.custom.iter().map(|(agent, dir)| (agent, dir.as_str()))
    }

    /// The fixed lane that has this directory.
    fn known(&self, dir: &str) -> Option<Lane> {
        let (_, dir, title) = Self::FIXED.iter().find(|(_, fixed, _)| *fixed == dir)?;
        Some(Lane { dir: (*dir).into(), title: (*title).into() })
    }
}

/// The readable name of a handoff, `<agent>/<YYYY-MM-DD-HHmm[-N]>`: what people type, never the identity.
///
/// It is derived from the log's order (the first handoff of a minute in a lane has the plain name, the next
/// `-2`, …) and therefore not part of the hashed document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName {
    agent: AgentName,
    minute: String,
    ordinal: u32,
}

impl SessionName {
    /// The name of the `ordinal`-th handoff (from 1) that its lane has in that minute.
    pub fn new(agent: AgentName, created: Timestamp, ordinal: u32) -> Self {
        Self { agent, minute: created.minute_name(), ordinal }
    }

    /// The agent, the first part of the name.
    pub fn agent(&self) -> &AgentName {
        &self.agent
    }

    /// `2026-08-18-1704` or `2026-08-18-1704-2`: the second part, and the file's name without its ending.
    pub fn stem(&self) -> String {
        match self.ordinal {
            0 | 1 => self.minute.clone(),
            n => format!("{}-{n}", self.minute),
        }
    }

    /// The handoff's file, relative to the top of the work tree, such as `.codex/handoffs/2026-08-18-1704.md`.
    pub fn file(&self, lane: &Lane) -> String {
        format!("{}/handoffs/{}.md", lane.dir, self.stem())
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.agent, self.stem())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_a_directory_or_break_a_file_system_are_refused() {
        for text in
            ["", ".", "..", "a/b", "../x", "/abs", "a\\b", "a:b", "a b", "a\n", "-rf", "~", "ünï", "end.", ".git"]
        {
            assert_eq!(text.parse::<AgentName>(), Err(AgentNameError(text.into())));
        }
        assert!("x".repeat(65).parse::<AgentName>().is_err());
    }

    #[test]
    fn case_is_folded() {
        assert_eq!("Codex".parse::<AgentName>().expect("valid").as_str(), "codex");
    }

    #[test]
    fn unknown_agents_share_one_lane_and_configuration_adds_others() {
        let name = |text: &str| text.parse::<AgentName>().expect("valid");
        let lanes = Lanes::new(BTreeMap::from([(name("amp"), ".amp".into()), (name("gpt"), ".codex".into())]));
        let dirs = ["codex", "con", "amp", "gpt"].map(|agent| lanes.of(&name(agent)).dir);
        assert_eq!(dirs, [".codex", ".agent", ".amp", ".codex"]);
        assert_eq!(lanes.all().len(), 5);
    }

    #[test]
    fn the_second_handoff_of_a_minute_has_a_suffix() {
        let name = |ordinal| {
            let created = "2026-08-18T17:04:10+03:00".parse().expect("valid");
            SessionName::new("codex".parse().expect("valid"), created, ordinal)
        };
        assert_eq!(name(1).to_string(), "codex/2026-08-18-1704");
        assert_eq!(name(2).to_string(), "codex/2026-08-18-1704-2");
        let lane = Lane { dir: ".codex".into(), title: "Codex".into() };
        assert_eq!(name(3).file(&lane), ".codex/handoffs/2026-08-18-1704-3.md");
    }
}
