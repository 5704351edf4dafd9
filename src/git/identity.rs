//! Who writes to the log: the user's git identity, or one that names this tool and nobody.

use std::ffi::OsString;

use super::Repo;

/// A name and an address as git's commits hold them: without control characters, `<` and `>`, and never empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    name: String,
    email: String,
}

impl Identity {
    /// The name that stands in where the user has none.
    pub const FALLBACK_NAME: &'static str = "git-handoff";
    /// The address that stands in where the user has none.
    pub const FALLBACK_EMAIL: &'static str = "git-handoff@localhost";

    /// The identity with this name and address, as far as they hold anything that git would keep.
    pub fn new(name: &str, email: &str) -> Self {
        let or = |text: String, fallback: &str| if text.is_empty() { fallback.to_owned() } else { text };
        Self { name: or(kept(name), Self::FALLBACK_NAME), email: or(kept(email), Self::FALLBACK_EMAIL) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address.
    pub fn email(&self) -> &str {
        &self.email
    }

    /// The identity as a commit's signature at a moment.
    pub(super) fn signature(&self, seconds: i64, offset_minutes: i16) -> gix::actor::Signature {
        // git reads seconds as unsigned: a time before 1970 would make the commit invalid.
        let time = gix::date::Time { seconds: seconds.max(0), offset: i32::from(offset_minutes) * 60 };
        gix::actor::Signature { name: self.name.as_str().into(), email: self.email.as_str().into(), time }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// What git keeps of a name or address: no control characters and brackets anywhere, no punctuation at the edges.
fn kept(text: &str) -> String {
    let crud = |c: char| c.is_whitespace() || ".,:;\"\\'".contains(c);
    let text: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    text.trim_matches(crud).to_owned()
}

/// The first of these variables and then configuration keys that says something.
fn first(
    env: &[(OsString, OsString)],
    variables: &[&str],
    keys: &[&str],
    config: &dyn Fn(&str) -> Option<String>,
) -> String {
    let variable = |wanted: &&str| {
        let value = env.iter().find(|(name, _)| name == *wanted).map(|(_, value)| value);
        value.map(|value| value.to_string_lossy().into_owned())
    };
    let said = |text: &String| !kept(text).is_empty();
    let from_env = variables.iter().filter_map(variable).find(said);
    from_env.or_else(|| keys.iter().filter_map(|key| config(key)).find(said)).unwrap_or_default()
}

fn chosen(env: &[(OsString, OsString)], config: &dyn Fn(&str) -> Option<String>) -> Identity {
    let name = first(env, &["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"], &["author.name", "user.name"], config);
    let email = first(env, &["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"], &["author.email", "user.email"], config);
    let email = if email.is_empty() { first(env, &["EMAIL"], &[], config) } else { email };
    Identity::new(&name, &email)
}

impl Repo {
    /// The user's git identity: the variables that git reads (author before committer), else the configuration,
    /// else the fallback. It is never made up from the host or the login, and `user.useConfigOnly` is irrelevant.
    pub fn identity(&self) -> Identity {
        chosen(&self.env, &|key| self.config_string(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(env: &[(&str, &str)], config: &[(&str, &str)]) -> String {
        let env: Vec<_> = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let lookup = |key: &str| config.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned());
        chosen(&env, &lookup).to_string()
    }

    #[test]
    fn variables_win_over_configuration_part_by_part() {
        let config = [("user.name", "Con Fig"), ("user.email", "con@example.com")];
        assert_eq!(identity(&[], &config), "Con Fig <con@example.com>");
        assert_eq!(identity(&[("GIT_AUTHOR_NAME", "En Vee")], &config), "En Vee <con@example.com>");
        assert_eq!(identity(&[("GIT_COMMITTER_EMAIL", "c@example.com")], &config), "Con Fig <c@example.com>");
        assert_eq!(identity(&[("EMAIL", "m@example.com")], &[("user.name", "N")]), "N <m@example.com>");
    }

    #[test]
    fn without_any_identity_the_fallback_names_the_tool() {
        assert_eq!(identity(&[], &[]), "git-handoff <git-handoff@localhost>");
        assert_eq!(identity(&[("GIT_AUTHOR_NAME", " ")], &[]), "git-handoff <git-handoff@localhost>");
    }

    #[test]
    fn what_would_break_a_commit_header_is_removed() {
        assert_eq!(Identity::new("A <b>\nc.", "<x@y>\0").to_string(), "A bc <x@y>");
    }
}
