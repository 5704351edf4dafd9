//! Which handoff to resume.
//!
//! The current agent's unfinished handoff on the current branch; else the current agent's newest unfinished
//! one; else the newest unfinished one of any agent, the current branch first; else the newest of all. Only live
//! handoffs are chosen: one that a later handoff closes is history. A topic narrows the choice before these
//! tiers apply; with a topic two candidates may be equal, and then nothing is guessed.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use super::{AgentName, visible_line};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The agent that asks.
    pub agent: &'a AgentName,
    /// The current branch; `None` on a detached HEAD and in a bare repository.
    pub branch: Option<&'a str>,
    /// The topic, as a person typed it.
    pub topic: Option<&'a str>,
}

/// What selection needs to know of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its place in the caller's list, which is newest first.
    pub position: usize,
    /// Whether no later handoff closes it.
    pub live: bool,
    /// Whether something is left to do.
    pub unfinished: bool,
    /// Whether it is of the agent that asks.
    pub mine: bool,
    /// Whether it was made on the current branch.
    pub here: bool,
    /// How its topic answers the one asked for; ignored when none is.
    pub topic: TopicMatch,
}

/// How well a topic answers what was asked, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopicMatch {
    /// Not at all.
    None,
    /// It contains the text somewhere.
    Substring,
    /// It contains each word of the text.
    Words,
    /// It is the text.
    Exact,
}

impl TopicMatch {
    /// How well `topic` answers `query`, whatever the case and the composition of accents.
    pub fn of(query: &str, topic: &str) -> Self {
        let fold = |text: &str| text.trim().nfc().collect::<String>().to_lowercase();
        let (query, topic) = (fold(query), fold(topic));
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(Into::into).collect()
        };
        let (asked, present) = (words(&query), words(&topic));
        if query.is_empty() {
            Self::None
        } else if query == topic {
            Self::Exact
        } else if !asked.is_empty() && asked.iter().all(|word| present.contains(word)) {
            Self::Words
        } else if topic.contains(&query) {
            Self::Substring
        } else {
            Self::None
        }
    }
}

/// What was found. Positions are those of the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// One handoff.
    Chosen {
        /// Which.
        position: usize,
        /// Why this one.
        reason: Reason,
        /// Further candidates, best first; at most [`OTHERS`], and not all that there are.
        others: Vec<usize>,
    },
    /// Several that answer equally well; nothing is guessed.
    Ambiguous {
        /// Which, newest first; at least two, at most one more than [`OTHERS`].
        positions: Vec<usize>,
    },
    /// None.
    Nothing {
        /// What there is none of.
        what: Absent,
    },
}

/// How many candidates are named besides the chosen one.
pub const OTHERS: usize = 5;

/// How far to look on for other candidates once none can be better than the one found.
const LOOK_AHEAD: usize = 64;

/// What there is none of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// No live handoff at all.
    Handoff,
    /// None whose topic answers the text.
    Topic(String),
    /// Some whose topic answers the text, but later handoffs close all of them.
    Open {
        /// The text.
        topic: String,
        /// The newest of those that are closed.
        closed: usize,
    },
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handoff => f.write_str("there is no handoff to resume"),
            Self::Topic(topic) => write!(f, "no handoff has a topic that matches '{}'", visible_line(topic)),
            Self::Open { topic, .. } => write!(
                f,
                "every handoff whose topic matches '{}' is closed by a later one with another topic",
                visible_line(topic)
            ),
        }
    }
}

/// The tiers of preference, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Unfinished, of the agent that asks, on the current branch.
    MineHere,
    /// Unfinished, of the agent that asks.
    Mine,
    /// Unfinished, on the current branch.
    Here,
    /// Unfinished.
    Unfinished,
    /// Any.
    Any,
}

impl Tier {
    fn of(candidate: &Candidate) -> Self {
        match (candidate.unfinished, candidate.mine, candidate.here) {
            (true, true, true) => Self::MineHere,
            (true, true, false) => Self::Mine,
            (true, false, true) => Self::Here,
            (true, false, false) => Self::Unfinished,
            (false, _, _) => Self::Any,
        }
    }
}

/// Why a handoff was chosen; its text completes the sentence "this is …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The tier that decided.
    pub tier: Tier,
    /// The agent that asked.
    pub agent: AgentName,
    /// The current branch.
    pub branch: Option<String>,
    /// The topic asked for, and how well it is answered.
    pub topic: Option<(String, TopicMatch)>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = &self.agent;
        let branch = visible_line(self.branch.as_deref().unwrap_or("(none)"));
        match self.tier {
            Tier::MineHere => write!(f, "the newest unfinished handoff of {agent} on branch {branch}"),
            Tier::Mine => write!(f, "the newest unfinished handoff of {agent}"),
            Tier::Here => write!(f, "the newest unfinished handoff of any agent on branch {branch}"),
            Tier::Unfinished => f.write_str("the newest unfinished handoff of any agent"),
            Tier::Any => f.write_str("the newest handoff, none being unfinished"),
        }?;
        let Some((topic, how)) = &self.topic else { return Ok(()) };
        let how = match how {
            TopicMatch::Exact => "is",
            TopicMatch::Words => "has the words of",
            TopicMatch::Substring | TopicMatch::None => "contains",
        };
        write!(f, ", among those whose topic {how} '{}'", visible_line(topic))
    }
}

/// Chooses among candidates, which come newest first and are read no further than needed.
pub fn select(request: &Request<'_>, candidates: impl Iterator<Item = Candidate>) -> Selection {
    let survey = Survey::of(request, candidates);
    let Some((best, others)) = survey.ranked.split_first() else {
        return Selection::Nothing { what: survey.absent(request) };
    };
    if request.topic.is_some() && is_open_elsewhere(best) {
        let equal = survey.elsewhere.iter().filter(|other| other.topic == best.topic);
        let positions: Vec<usize> = equal.map(|each| each.position).collect();
        if positions.len() > 1 {
            return Selection::Ambiguous { positions };
        }
    }
    let reason = Reason {
        tier: Tier::of(best),
        agent: request.agent.clone(),
        branch: request.branch.map(Into::into),
        topic: request.topic.map(|topic| (topic.into(), best.topic)),
    };
    Selection::Chosen { position: best.position, reason, others: others.iter().map(|each| each.position).collect() }
}

/// Two of these are equal when they match the topic equally.
fn is_open_elsewhere(candidate: &Candidate) -> bool {
    candidate.unfinished && !candidate.here
}

/// The best candidates, and what was seen on the way to them.
struct Survey {
    /// Best first; at most one more than [`OTHERS`].
    ranked: Vec<Candidate>,
    /// Those that are open elsewhere and answer the topic best, newest first; at most one more than [`OTHERS`].
    elsewhere: Vec<Candidate>,
    /// The newest closed candidate that answers the topic.
    closed: Option<usize>,
}

impl Survey {
    fn of(request: &Request<'_>, candidates: impl Iterator<Item = Candidate>) -> Self {
        let mut survey = Self { ranked: Vec::new(), elsewhere: Vec::new(), closed: None };
        let mut looked_ahead = 0;
        for candidate in candidates {
            survey.see(request, candidate);
            if survey.is_settled() {
                looked_ahead += 1;
                if survey.ranked.len() > OTHERS || looked_ahead > LOOK_AHEAD {
                    break;
                }
            }
        }
        survey
    }

    fn see(&mut self, request: &Request<'_>, mut candidate: Candidate) {
        match request.topic {
            None => candidate.topic = TopicMatch::Exact,
            Some(_) if candidate.topic == TopicMatch::None => return,
            Some(_) => {}
        }
        if !candidate.live {
            self.closed = self.closed.or(Some(candidate.position));
            return;
        }
        if is_open_elsewhere(&candidate) {
            self.note_elsewhere(candidate);
        }
        let rank = |each: &Candidate| (std::cmp::Reverse(each.topic), Tier::of(each));
        let at = self.ranked.partition_point(|each| rank(each) <= rank(&candidate));
        self.ranked.insert(at, candidate);
        self.ranked.truncate(OTHERS + 1);
    }

    fn note_elsewhere(&mut self, candidate: Candidate) {
        let known = self.elsewhere.first().map_or(TopicMatch::None, |each| each.topic);
        if candidate.topic > known {
            self.elsewhere.clear();
        }
        if candidate.topic >= known && self.elsewhere.len() <= OTHERS {
            self.elsewhere.push(candidate);
        }
    }

    /// Whether no later candidate can be better than the best so far.
    fn is_settled(&self) -> bool {
        self.ranked.first().is_some_and(|best| best.topic == TopicMatch::Exact && Tier::of(best) == Tier::MineHere)
    }

    fn absent(&self, request: &Request<'_>) -> Absent {
        match (request.topic, self.closed) {
            (None, _) => Absent::Handoff,
            (Some(topic), None) => Absent::Topic(topic.into()),
            (Some(topic), Some(closed)) => Absent::Open { topic: topic.into(), closed },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const NEUTRAL: Candidate =
        Candidate { position: 0, live: true, unfinished: true, mine: false, here: false, topic: TopicMatch::None };

    fn codex() -> AgentName {
        "codex".parse().expect("valid")
    }

    fn choose(topic: Option<&str>, candidates: &[Candidate]) -> Selection {
        let agent = codex();
        let numbered = candidates.iter().enumerate().map(|(position, each)| Candidate { position, ..*each });
        select(&Request { agent: &agent, branch: Some("billing"), topic }, numbered)
    }

    fn chosen(position: usize, tier: Tier, topic: Option<(&str, TopicMatch)>, others: &[usize]) -> Selection {
        let reason = Reason {
            tier,
            agent: codex(),
            branch: Some("billing".into()),
            topic: topic.map(|(text, how)| (text.into(), how)),
        };
        Selection::Chosen { position, reason, others: others.to_vec() }
    }

    #[test]
    fn without_a_topic_the_tiers_decide() {
        let finished = Candidate { unfinished: false, mine: true, here: true, ..NEUTRAL };
        let here = Candidate { here: true, ..NEUTRAL };
        let mine = Candidate { mine: true, ..NEUTRAL };
        let best = Candidate { mine: true, here: true, ..NEUTRAL };
        let all = [finished, NEUTRAL, here, mine, best];
        assert_eq!(choose(None, &all), chosen(4, Tier::MineHere, None, &[3, 2, 1, 0]));
        assert_eq!(choose(None, &all[..4]), chosen(3, Tier::Mine, None, &[2, 1, 0]));
        assert_eq!(choose(None, &all[..3]), chosen(2, Tier::Here, None, &[1, 0]));
        assert_eq!(choose(None, &all[..2]), chosen(1, Tier::Unfinished, None, &[0]));
        assert_eq!(choose(None, &all[..1]), chosen(0, Tier::Any, None, &[]));
        assert_eq!(choose(None, &[]), Selection::Nothing { what: Absent::Handoff });
    }

    #[test]
    fn without_a_topic_the_newest_of_equals_is_taken() {
        assert_eq!(choose(None, &[NEUTRAL, NEUTRAL]), chosen(0, Tier::Unfinished, None, &[1]));
    }

    #[test]
    fn a_closed_handoff_is_never_chosen() {
        let closed = Candidate { live: false, mine: true, here: true, topic: TopicMatch::Exact, ..NEUTRAL };
        assert_eq!(choose(None, &[closed, NEUTRAL]), chosen(1, Tier::Unfinished, None, &[]));
        let what = Absent::Open { topic: "parser".into(), closed: 0 };
        assert_eq!(choose(Some("parser"), &[closed, NEUTRAL]), Selection::Nothing { what });
    }

    #[test]
    fn the_current_branch_wins_among_equal_topics_and_the_other_is_named() {
        let search = Candidate { mine: true, topic: TopicMatch::Exact, ..NEUTRAL };
        let billing = Candidate { here: true, ..search };
        let topic = Some(("parser", TopicMatch::Exact));
        assert_eq!(choose(Some("parser"), &[search, billing]), chosen(1, Tier::MineHere, topic, &[0]));
    }

    #[test]
    fn two_open_ones_of_a_topic_on_other_branches_are_both_shown_whoever_made_them() {
        let theirs = Candidate { topic: TopicMatch::Words, ..NEUTRAL };
        let mine = Candidate { mine: true, ..theirs };
        assert_eq!(choose(Some("x"), &[theirs, mine]), Selection::Ambiguous { positions: vec![0, 1] });
    }

    #[test]
    fn a_better_match_or_an_open_one_is_not_equal_to_a_worse() {
        let substring = Candidate { mine: true, topic: TopicMatch::Substring, ..NEUTRAL };
        let words = Candidate { topic: TopicMatch::Words, ..NEUTRAL };
        let done = Candidate { unfinished: false, ..words };
        assert_eq!(
            choose(Some("x"), &[substring, done, words]),
            chosen(2, Tier::Unfinished, Some(("x", TopicMatch::Words)), &[1, 0])
        );
    }

    #[test]
    fn nothing_that_matches_is_no_reason_to_choose_something_else() {
        let what = Absent::Topic("nothing-like-this".into());
        assert_eq!(choose(Some("nothing-like-this"), &[NEUTRAL]), Selection::Nothing { what });
    }

    #[test]
    fn a_long_history_is_read_only_as_far_as_needed() {
        let read = Cell::new(0);
        let best = Candidate { mine: true, here: true, ..NEUTRAL };
        let endless = (0..).map(|position| {
            read.set(read.get() + 1);
            Candidate { position, ..best }
        });
        let agent = codex();
        let selection = select(&Request { agent: &agent, branch: Some("billing"), topic: None }, endless);
        assert_eq!((selection, read.get()), (chosen(0, Tier::MineHere, None, &[1, 2, 3, 4, 5]), 6));
    }

    #[test]
    fn topics_match_by_text_then_words_then_anywhere() {
        let of = TopicMatch::of;
        assert_eq!(of(" PARSER ", "Parser"), TopicMatch::Exact);
        assert_eq!(of("cafe\u{301}", "Café"), TopicMatch::Exact);
        assert_eq!(of("system billing", "billing-system v2"), TopicMatch::Words);
        assert_eq!(of("bill", "billing-system"), TopicMatch::Substring);
        assert_eq!(of("--", "a -- b"), TopicMatch::Substring);
        assert_eq!(of("解析", "構文解析器"), TopicMatch::Substring);
        assert_eq!(of("", "anything"), TopicMatch::None);
        assert_eq!(of("search", "billing"), TopicMatch::None);
    }

    #[test]
    fn the_reason_reads_as_a_sentence() {
        let reason = |tier, topic: Option<(String, TopicMatch)>| {
            Reason { tier, agent: codex(), branch: Some("billing".into()), topic }.to_string()
        };
        assert_eq!(reason(Tier::MineHere, None), "the newest unfinished handoff of codex on branch billing");
        assert_eq!(
            reason(Tier::Unfinished, Some(("par".into(), TopicMatch::Substring))),
            "the newest unfinished handoff of any agent, among those whose topic contains 'par'"
        );
    }
}
