//! What a person may type to mean a handoff.
//!
//! Only the form is decided here. Whether a prefix is ambiguous, or the file belongs to a handoff, is for the
//! caller, who has the log.

use super::{AgentName, EventId, IdPrefix, paths, visible_line};

/// What a person typed to mean a handoff, by its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A full id: 64 hex digits.
    Id(EventId),
    /// The beginning of an id: 4 to 63 hex digits.
    Prefix(IdPrefix),
    /// A session name such as `codex/2026-08-18-1704`.
    Session {
        /// The agent.
        agent: AgentName,
        /// The second part, such as `2026-08-18-1704-2`.
        stem: String,
    },
    /// A file of the work tree, such as `.codex/handoffs/2026-08-18-1704.md`.
    File {
        /// Its path relative to the repository's top, with `/` and without `.` or `..`.
        path: String,
    },
    /// `@latest`: the newest of all.
    Latest,
}

/// Why a text cannot mean a handoff.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It has none of the five forms.
    #[error("'{}' does not name a handoff; use {FORMS}", visible_line(.0))]
    Form(String),
    /// It has too few hex digits to stand for an id.
    #[error(
        "'{0}' is too short for the beginning of an id, which needs at least {shortest} hex digits; use {FORMS}",
        shortest = IdPrefix::SHORTEST
    )]
    Short(String),
    /// It is the second part of a session name.
    #[error("'{0}' lacks the agent of a session name; write for example 'codex/{0}'")]
    Agent(String),
    /// It is a path that leads out of the repository.
    #[error(
        "'{}' is outside the repository; only handoffs of this repository can be read, by {FORMS}", visible_line(.0)
    )]
    Outside(String),
    /// It is a path inside git's own directory.
    #[error("'{}' is inside git's own directory, where no handoff file stands; use {FORMS}", visible_line(.0))]
    GitDirectory(String),
}

/// The five forms, for messages.
const FORMS: &str = "a full id, at least 4 hex digits of one, a session name such as codex/2026-08-18-1704, the path \
                     of a handoff's .md file in the work tree, or @latest";

impl Reference {
    /// Tells which form the text has.
    ///
    /// # Errors
    ///
    /// When it has none, or is a path that leads out of the repository or into git's own directory.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let form = || ReferenceError::Form(text.into());
        if text == "@latest" {
            return Ok(Self::Latest);
        }
        if paths::leads_outside(text) {
            return Err(ReferenceError::Outside(text.into()));
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Self::hexadecimal(text);
        }
        if text.contains(char::is_control) {
            return Err(form());
        }
        if text.ends_with(".md") {
            return Self::file(text);
        }
        if is_stem(text) {
            return Err(ReferenceError::Agent(text.into()));
        }
        let (agent, stem) = text.split_once('/').ok_or_else(form)?;
        match agent.parse() {
            Ok(agent) if is_stem(stem) => Ok(Self::Session { agent, stem: stem.into() }),
            Ok(_) | Err(_) => Err(form()),
        }
    }

    fn hexadecimal(digits: &str) -> Result<Self, ReferenceError> {
        if digits.len() < IdPrefix::SHORTEST {
            return Err(ReferenceError::Short(digits.into()));
        }
        let digits = digits.to_ascii_lowercase();
        digits
            .parse()
            .map(Self::Id)
            .or_else(|_| digits.parse().map(Self::Prefix))
            .map_err(|_| ReferenceError::Form(digits.clone()))
    }

    fn file(text: &str) -> Result<Self, ReferenceError> {
        let path = paths::normal_form(text);
        if path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(ReferenceError::GitDirectory(text.into()));
        }
        Ok(Self::File { path })
    }
}

/// Whether the text is the second part of a session name: a date, a minute and perhaps more, of which the
/// files of older tools have seconds and a few words.
fn is_stem(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut digits = |lengths: &[usize]| {
        parts.next().is_some_and(|part| lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    digits(&[4])
        && digits(&[2])
        && digits(&[2])
        && digits(&[4, 6])
        && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str) -> AgentName {
        name.parse().expect("valid")
    }

    #[test]
    fn each_form_is_recognised() {
        let id = EventId::of(b"x");
        let read = [
            &id.to_string(),
            &id.to_string().to_uppercase(),
            "9F3c",
            "2026",
            "codex/2026-08-18-1704",
            "Claude/2026-08-18-1704-12",
            "agent/2026-08-18-170455-fix-parser",
            ".codex/handoffs/2026-08-18-1704.md",
            "./notes//old.md",
            "@latest",
        ]
        .map(|text| Reference::parse(text).expect("a form"));
        let session = |name, stem: &str| Reference::Session { agent: agent(name), stem: stem.into() };
        let file = |path: &str| Reference::File { path: path.into() };
        let meant = [
            Reference::Id(id),
            Reference::Id(id),
            Reference::Prefix("9f3c".parse().expect("valid")),
            Reference::Prefix("2026".parse().expect("valid")),
            session("codex", "2026-08-18-1704"),
            session("claude", "2026-08-18-1704-12"),
            session("agent", "2026-08-18-170455-fix-parser"),
            file(".codex/handoffs/2026-08-18-1704.md"),
            file("notes/old.md"),
            Reference::Latest,
        ];
        assert_eq!(read, meant);
    }

    #[test]
    fn paths_that_leave_the_repository_are_refused() {
        for text in [
            "../../../etc/passwd",
            "/etc/hosts",
            ".codex/handoffs/../../../home/.gitconfig",
            "~/notes.md",
            "~",
            "C:\\x.md",
            "c:x.md",
            "\\\\server\\x.md",
            "..\\x.md",
            "..",
        ] {
            assert_eq!(Reference::parse(text), Err(ReferenceError::Outside(text.into())));
        }
        assert_eq!(Reference::parse(".Git/x.md"), Err(ReferenceError::GitDirectory(".Git/x.md".into())));
    }

    #[test]
    fn what_has_no_form_is_refused() {
        for text in ["", " ", "HEAD", "@{u}", "-rf", "codex/latest", "a/b/c", "codex/", "xyz1", "a\n.md"] {
            assert_eq!(Reference::parse(text), Err(ReferenceError::Form(text.into())));
        }
        assert_eq!(Reference::parse("abc"), Err(ReferenceError::Short("abc".into())));
    }

    #[test]
    fn an_error_explains_the_five_forms() {
        let error = Reference::parse("a\u{1b}b").expect_err("no form");
        assert_eq!(
            error.to_string(),
            "'a\\u{1b}b' does not name a handoff; use a full id, at least 4 hex digits of one, a session name such as \
             codex/2026-08-18-1704, the path of a handoff's .md file in the work tree, or @latest"
        );
        let error = Reference::parse("2026-08-18-1704").expect_err("half a name");
        assert_eq!(
            error.to_string(),
            "'2026-08-18-1704' lacks the agent of a session name; write for example 'codex/2026-08-18-1704'"
        );
    }
}
