//! The decision: from the signals to one agent, with the reason.
//!
//! 1. `HANDOFF_AGENT`: a person's word beats everything.
//! 2. The variables that a runtime sets for what it starts. When two runtimes are told (agents start agents, and
//!    terminals keep stale variables), the one nearest in the process ancestry; when the ancestry shows neither,
//!    nobody is chosen by this step and both are recorded as ambiguous.
//! 3. `--agent`.
//! 4. `AI_AGENT`, then `AGENT` with a name from the table: runtimes that name themselves.
//! 5. The unknown agent. A directory such as `.codex` never decides: it belongs to the project, not to the runtime.

use std::collections::BTreeMap;
use std::fmt;

use super::runtimes::{self, OVERRIDE, RUNTIMES, Runtime, SELF_NAMED};
use crate::model::{AgentName, AgentNameError, visible_line};

/// All that detection may look at.
pub struct Signals<'a> {
    /// The variables of [`super::all_variables`] that are set.
    pub vars: &'a BTreeMap<String, String>,
    /// The agent that `--agent` names.
    pub explicit: Option<AgentName>,
    /// This process's ancestors, the nearest first. Asked only when the variables tell two runtimes.
    pub ancestors: &'a dyn Fn() -> Vec<Ancestor>,
    /// Agents' directories that are present in the work tree; recorded, never decisive.
    pub directories: &'a [String],
}

/// A process that this one descends from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its process id.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
}

/// The agent of a session, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The agent; [`AgentName::unknown`] when nothing tells.
    pub agent: AgentName,
    /// What decided.
    pub why: Why,
    /// The agent's own id for the session: an opaque text of harmless characters.
    pub session_id: Option<String>,
    /// The runtimes that the variables tell, when there are several and nothing told them apart.
    pub ambiguous: Vec<AgentName>,
    /// The agent that `--agent` named in vain.
    pub overruled: Option<Overruled>,
    /// Every signal that was seen, also those that did not decide.
    pub signals: Vec<Signal>,
}

/// What decided who the agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// `HANDOFF_AGENT` names it.
    Override,
    /// A variable that only this runtime sets.
    Marker(&'static str),
    /// Variables tell several runtimes; this one is the nearest ancestor.
    Nearest {
        /// The variable that tells it.
        variable: &'static str,
        /// The others.
        others: Vec<AgentName>,
    },
    /// `--agent` names it.
    Option,
    /// The runtime names itself in this variable.
    SelfNamed(&'static str),
    /// Variables tell several runtimes and the ancestry shows none of them.
    Ambiguous(Vec<AgentName>),
    /// There is no signal.
    NoSignal,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Override => write!(f, "{OVERRIDE} names it"),
            Self::Marker(variable) => write!(f, "{variable} is set, which this runtime does itself"),
            Self::Nearest { variable, others } => write!(
                f,
                "{variable} is set and it is the nearest of the processes that started this one (variables of {} are \
                 set too)",
                list(others)
            ),
            Self::Option => f.write_str("--agent names it"),
            Self::SelfNamed(variable) => write!(f, "{variable} names it"),
            Self::Ambiguous(agents) => write!(
                f,
                "variables of {} are set and the process ancestry does not tell which one is meant; {OVERRIDE} decides",
                list(agents)
            ),
            Self::NoSignal => write!(f, "no runtime is known to have started this; {OVERRIDE} or --agent names it"),
        }
    }
}

/// `--agent` did not decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overruled {
    /// The agent that it named.
    pub asked: AgentName,
    /// The agent that was chosen instead.
    pub agent: AgentName,
    /// What decided.
    pub by: Why,
}

impl fmt::Display for Overruled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, agent, by } = self;
        write!(f, "--agent {asked} is overruled: the agent is {agent}, since {by}")?;
        match by {
            Why::Override => Ok(()),
            Why::Marker(_)
            | Why::Nearest { .. }
            | Why::Option
            | Why::SelfNamed(_)
            | Why::Ambiguous(_)
            | Why::NoSignal => write!(f, "; {OVERRIDE}={asked} forces it"),
        }
    }
}

/// Something that was looked at and was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// The variable, `--agent`, or the directory.
    pub source: String,
    /// What it means.
    pub meaning: Meaning,
}

/// What a signal means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A person names the agent.
    Named(AgentName),
    /// This runtime sets it for what it starts.
    Runtime(&'static str),
    /// It holds this runtime's session id.
    Session(&'static str),
    /// It should hold a session id of this runtime, but holds something that cannot be one.
    UnusableSession(&'static str),
    /// The runtime names itself.
    SelfNamed(AgentName),
    /// A variable that should name an agent names none that is known.
    Nobody,
    /// A directory of the project; it says nothing of the runtime.
    Directory,
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(agent) => write!(f, "names {agent}"),
            Self::Runtime(name) => write!(f, "set by {name} itself"),
            Self::Session(name) => write!(f, "the session id of {name}"),
            Self::UnusableSession(name) => write!(f, "not usable as a session id of {name}"),
            Self::SelfNamed(agent) => write!(f, "the runtime calls itself {agent}"),
            Self::Nobody => f.write_str("names no agent that is known"),
            Self::Directory => f.write_str("present; a directory never decides"),
        }
    }
}

/// `HANDOFF_AGENT` does not hold the name of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {OVERRIDE} is not usable")]
pub struct DetectionError(#[source] pub AgentNameError);

/// Decides who the agent is. The same signals always give the same answer.
///
/// # Errors
///
/// When `HANDOFF_AGENT` is set and cannot name an agent: going on would record somebody else.
pub fn detect(signals: &Signals<'_>) -> Result<Detection, DetectionError> {
    let named = match var(signals, OVERRIDE) {
        Some(text) => Some(text.parse::<AgentName>().map_err(DetectionError)?),
        None => None,
    };
    let told = told_runtimes(signals);
    let (agent, why, ambiguous) = decide(signals, named.as_ref(), &told);
    let overruled = signals.explicit.clone().filter(|asked| *asked != agent).map(|asked| Overruled {
        asked,
        agent: agent.clone(),
        by: why.clone(),
    });
    Ok(Detection {
        session_id: session_id(signals, &agent),
        signals: seen(signals, named.as_ref()),
        agent,
        why,
        ambiguous,
        overruled,
    })
}

/// A runtime that a variable tells, and the first such variable.
type Told = (&'static Runtime, &'static str);

fn decide(signals: &Signals<'_>, named: Option<&AgentName>, told: &[Told]) -> (AgentName, Why, Vec<AgentName>) {
    if let Some(agent) = named {
        return (agent.clone(), Why::Override, Vec::new());
    }
    if let [(runtime, variable)] = told {
        return (name_of(runtime), Why::Marker(variable), Vec::new());
    }
    let all: Vec<AgentName> = told.iter().map(|(runtime, _)| name_of(runtime)).collect();
    if let Some((runtime, variable)) = nearest(signals, told) {
        let agent = name_of(runtime);
        let others = all.into_iter().filter(|other| *other != agent).collect();
        return (agent, Why::Nearest { variable, others }, Vec::new());
    }
    if let Some(agent) = &signals.explicit {
        return (agent.clone(), Why::Option, all);
    }
    if !all.is_empty() {
        return (AgentName::unknown(), Why::Ambiguous(all.clone()), all);
    }
    let self_named = SELF_NAMED.into_iter().find_map(|variable| Some((variable, self_named(signals, variable)?)));
    match self_named {
        Some((variable, agent)) => (agent, Why::SelfNamed(variable), Vec::new()),
        None => (AgentName::unknown(), Why::NoSignal, Vec::new()),
    }
}

fn var<'a>(signals: &'a Signals<'_>, name: &str) -> Option<&'a str> {
    signals.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

fn name_of(runtime: &Runtime) -> AgentName {
    runtime.name.parse().expect("a test checks that every name in the table is valid")
}

fn told_runtimes(signals: &Signals<'_>) -> Vec<Told> {
    let telling = |runtime: &'static Runtime| {
        let marker = runtime.markers.iter().find(|marker| is_given(signals, marker))?;
        Some((runtime, marker.variable))
    };
    RUNTIMES.iter().filter_map(telling).collect()
}

fn is_given(signals: &Signals<'_>, marker: &runtimes::Marker) -> bool {
    var(signals, marker.variable).is_some_and(|value| marker.sign.is_given_by(value))
}

/// The told runtime that is the nearest ancestor, by its process id or the name of its program.
fn nearest(signals: &Signals<'_>, told: &[Told]) -> Option<Told> {
    if told.len() < 2 {
        return None;
    }
    let is = |ancestor: &Ancestor, runtime: &Runtime| {
        let pid = runtime.pid.and_then(|name| var(signals, name)).and_then(|text| text.parse::<u32>().ok());
        pid == Some(ancestor.pid) || is_program_of(&ancestor.name, runtime)
    };
    let ancestors = (signals.ancestors)();
    ancestors.iter().find_map(|ancestor| told.iter().find(|(runtime, _)| is(ancestor, runtime)).copied())
}

/// How the platform begins in the name of a release file.
const PLATFORMS: [&str; 6] = ["x86", "aarch64", "arm64", "linux", "darwin", "win"];

/// Whether a program's name is one of the runtime's: alone, with an ending, or with the platform that release files
/// carry (`codex-x86_64-unknown-linux-musl`, which Linux cuts at 15 characters).
fn is_program_of(program: &str, runtime: &Runtime) -> bool {
    let file = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let stem = file.strip_suffix(".exe").unwrap_or(&file);
    runtime.processes.iter().any(|name| {
        stem.strip_prefix(name).is_some_and(|rest| {
            rest.is_empty()
                || rest
                    .strip_prefix('-')
                    .is_some_and(|tail| PLATFORMS.iter().any(|platform| tail.starts_with(platform)))
        })
    })
}

/// The agent that a runtime names itself. `AI_AGENT` may hold any name; `AGENT`, which unrelated software uses too,
/// only one from the table.
fn self_named(signals: &Signals<'_>, variable: &str) -> Option<AgentName> {
    let value = var(signals, variable)?;
    if let Some(runtime) = runtimes::self_named(value) {
        return Some(name_of(runtime));
    }
    let free = variable == SELF_NAMED[0] && value.contains(|c: char| c.is_ascii_alphabetic());
    let switch = ["true", "yes", "on", "false", "no", "off"].iter().any(|word| value.eq_ignore_ascii_case(word));
    if free && !switch { runtimes::self_given_name(value).parse().ok() } else { None }
}

/// The chosen agent's own session id.
fn session_id(signals: &Signals<'_>, agent: &AgentName) -> Option<String> {
    let runtime = RUNTIMES.iter().find(|runtime| runtime.name == agent.as_str())?;
    let ids = runtime.sessions.iter().filter_map(|variable| var(signals, variable));
    ids.into_iter().find(|value| is_session_id(value)).map(Into::into)
}

/// Whether a text is harmless enough for an id that may end up in a file or on a terminal. One that is not is
/// dropped whole: what is left of a changed id would be another session's.
fn is_session_id(value: &str) -> bool {
    value.len() <= 128
        && value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
}

/// Every signal that is there, in the order in which they count.
fn seen(signals: &Signals<'_>, named: Option<&AgentName>) -> Vec<Signal> {
    let signal = |source: &str, meaning| Signal { source: visible_line(source).into_owned(), meaning };
    let mut all = Vec::new();
    all.extend(named.map(|agent| signal(OVERRIDE, Meaning::Named(agent.clone()))));
    for runtime in RUNTIMES {
        for variable in runtime.sessions {
            if let Some(value) = var(signals, variable) {
                let meaning = if is_session_id(value) { Meaning::Session } else { Meaning::UnusableSession };
                all.push(signal(variable, meaning(runtime.name)));
            }
        }
        let markers = runtime.markers.iter().filter(|marker| is_given(signals, marker));
        let markers = markers.filter(|marker| !runtime.sessions.contains(&marker.variable));
        all.extend(markers.map(|marker| signal(marker.variable, Meaning::Runtime(runtime.name))));
    }
    all.extend(signals.explicit.clone().map(|agent| signal("--agent", Meaning::Named(agent))));
    for variable in SELF_NAMED {
        if var(signals, variable).is_some() {
            all.push(signal(variable, self_named(signals, variable).map_or(Meaning::Nobody, Meaning::SelfNamed)));
        }
    }
    all.extend(signals.directories.iter().map(|directory| signal(directory, Meaning::Directory)));
    all
}

fn list(agents: &[AgentName]) -> String {
    let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
    match names.split_last() {
        Some((last, [])) => (*last).into(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "no runtime".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        text.parse().expect("valid")
    }

    fn vars(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    fn run(
        pairs: &[(&str, &str)],
        explicit: Option<&str>,
        ancestors: &[(u32, &str)],
    ) -> Result<Detection, DetectionError> {
        let vars = vars(pairs);
        let ancestors = || ancestors.iter().map(|(pid, name)| Ancestor { pid: *pid, name: (*name).into() }).collect();
        detect(&Signals { vars: &vars, explicit: explicit.map(name), ancestors: &ancestors, directories: &[] })
    }

    fn agent(pairs: &[(&str, &str)], explicit: Option<&str>) -> (String, String) {
        let detection = run(pairs, explicit, &[]).expect("valid");
        (detection.agent.to_string(), detection.why.to_string())
    }

    #[test]
    fn each_letter_of_res_01_has_its_agent() {
        let marker = |agent: &str, variable: &str| {
            (agent.to_owned(), format!("{variable} is set, which this runtime does itself"))
        };
        assert_eq!(agent(&[("CLAUDECODE", "1")], None), marker("claude", "CLAUDECODE"));
        assert_eq!(
            agent(&[("CODEX_THREAD_ID", "t"), ("CODEX_SANDBOX", "seatbelt")], None),
            marker("codex", "CODEX_THREAD_ID")
        );
        assert_eq!(agent(&[("OPENCODE", "1")], None), marker("opencode", "OPENCODE"));
        let none = (
            "agent".to_owned(),
            "no runtime is known to have started this; HANDOFF_AGENT or --agent names it".to_owned(),
        );
        assert_eq!(agent(&[], None), none);
        assert_eq!(agent(&[("CLAUDECODE", "")], None), none);
        let both = "variables of claude and codex are set and the process ancestry does not tell which one is meant; \
                    HANDOFF_AGENT decides";
        assert_eq!(
            agent(&[("CLAUDECODE", "1"), ("CODEX_THREAD_ID", "t")], None),
            ("agent".to_owned(), both.to_owned())
        );
    }

    #[test]
    fn a_runtime_overrules_the_option_and_says_how_to_force_it() {
        let detection = run(&[("CLAUDECODE", "1")], Some("codex"), &[]).expect("valid");
        let expected = Detection {
            agent: name("claude"),
            why: Why::Marker("CLAUDECODE"),
            session_id: None,
            ambiguous: Vec::new(),
            overruled: Some(Overruled { asked: name("codex"), agent: name("claude"), by: Why::Marker("CLAUDECODE") }),
            signals: vec![
                Signal { source: "CLAUDECODE".into(), meaning: Meaning::Runtime("claude") },
                Signal { source: "--agent".into(), meaning: Meaning::Named(name("codex")) },
            ],
        };
        assert_eq!(detection, expected);
        assert_eq!(
            detection.overruled.expect("it is").to_string(),
            "--agent codex is overruled: the agent is claude, since CLAUDECODE is set, which this runtime does itself; \
             HANDOFF_AGENT=codex forces it"
        );
    }

    #[test]
    fn a_persons_word_beats_everything_or_is_an_error() {
        let detection = run(&[("CLAUDECODE", "1"), ("HANDOFF_AGENT", "Codex")], Some("gemini"), &[]).expect("valid");
        assert_eq!((detection.agent, detection.why), (name("codex"), Why::Override));
        assert_eq!(
            detection.overruled.expect("it is").to_string(),
            "--agent gemini is overruled: the agent is codex, since HANDOFF_AGENT names it"
        );
        let error = run(&[("HANDOFF_AGENT", "../x")], None, &[]).expect_err("invalid");
        assert_eq!(error, DetectionError(AgentNameError("../x".into())));
        assert_eq!(agent(&[("HANDOFF_AGENT", "")], None).0, "agent");
    }

    #[test]
    fn of_two_runtimes_the_nearest_ancestor_is_meant() {
        let both = [("CLAUDECODE", "1"), ("CODEX_THREAD_ID", "t-1"), ("CLAUDE_PID", "40")];
        let found = |ancestors| {
            let detection = run(&both, None, ancestors).expect("valid");
            (detection.agent.to_string(), detection.session_id)
        };
        let codex = ("codex".to_owned(), Some("t-1".to_owned()));
        assert_eq!(found(&[(50, "bash"), (45, "codex-x86_64-un"), (40, "node"), (1, "init")]), codex);
        assert_eq!(found(&[(50, "bash"), (40, "node"), (30, "/opt/codex.exe")]), ("claude".into(), None));
        assert_eq!(found(&[(50, "codex-helper"), (1, "init")]), ("agent".into(), None));
        let detection = run(&both, None, &[(45, "codex")]).expect("valid");
        assert_eq!(detection.why, Why::Nearest { variable: "CODEX_THREAD_ID", others: vec![name("claude")] });
    }

    #[test]
    fn the_option_decides_between_runtimes_that_nothing_else_tells_apart() {
        let detection = run(&[("CLAUDECODE", "1"), ("OPENCODE", "1")], Some("opencode"), &[]).expect("valid");
        let expected = (name("opencode"), Why::Option, vec![name("claude"), name("opencode")], None);
        assert_eq!((detection.agent, detection.why, detection.ambiguous, detection.overruled), expected);
    }

    #[test]
    fn ancestors_are_not_asked_for_without_need() {
        let vars = vars(&[("CLAUDECODE", "1")]);
        let ancestors = || unreachable!("one runtime is told");
        let signals = Signals { vars: &vars, explicit: None, ancestors: &ancestors, directories: &[] };
        assert_eq!(detect(&signals).expect("valid").agent, name("claude"));
    }

    #[test]
    fn runtimes_that_name_themselves_come_after_the_option() {
        let ai = [("AI_AGENT", "claude-code_2-1-170_agent"), ("AGENT", "amp")];
        assert_eq!(agent(&ai, None), ("claude".into(), "AI_AGENT names it".into()));
        assert_eq!(agent(&ai, Some("aider")), ("aider".into(), "--agent names it".into()));
        assert_eq!(agent(&[("AI_AGENT", "v0@2")], None).0, "v0");
        assert_eq!(agent(&[("AI_AGENT", "true"), ("AGENT", "goose")], None), ("goose".into(), "AGENT names it".into()));
        assert_eq!(agent(&[("AGENT", "1")], None).0, "agent");
        assert_eq!(agent(&[("AGENT", "jenkins")], None).0, "agent");
    }

    #[test]
    fn directories_are_recorded_and_never_decide() {
        let (vars, directories) = (BTreeMap::new(), [".codex".to_owned()]);
        let signals = Signals { vars: &vars, explicit: None, ancestors: &Vec::new, directories: &directories };
        let detection = detect(&signals).expect("valid");
        let expected = vec![Signal { source: ".codex".into(), meaning: Meaning::Directory }];
        assert_eq!((detection.agent, detection.why, detection.signals), (name("agent"), Why::NoSignal, expected));
    }

    #[test]
    fn a_session_id_with_other_characters_or_too_long_is_dropped_and_told() {
        let session = |value: &str| {
            let detection = run(&[("CODEX_THREAD_ID", value)], None, &[]).expect("valid");
            (detection.session_id, detection.signals[0].meaning.clone())
        };
        assert_eq!(session("0199-ab.c:d_e"), (Some("0199-ab.c:d_e".into()), Meaning::Session("codex")));
        for value in ["../x", "a b", "a\u{1b}[31m", "-rf", "ü", &"x".repeat(129)] {
            assert_eq!(session(value), (None, Meaning::UnusableSession("codex")));
        }
    }
}
