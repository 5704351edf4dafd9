//! The configuration, as it was when the repository was opened.

use gix::bstr::ByteSlice;

use super::Repo;

/// A value that cannot be read as what it should be.
#[derive(Debug, thiserror::Error)]
#[error("bad value '{value}' of the configuration key '{key}': it must be true or false")]
pub struct ConfigError {
    /// The key.
    pub key: String,
    /// The value, made visible.
    pub value: String,
}

/// Which way a refspec goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the remote.
    Fetch,
    /// To the remote.
    Push,
}

impl Repo {
    /// The last value of a key such as `handoff.remote`; lossy where it is not UTF-8.
    pub fn config_string(&self, key: &str) -> Option<String> {
        self.gix.config_snapshot().string(key).map(|value| value.to_str_lossy().into_owned())
    }

    /// Every value of a key, in the order of the configuration files; lossy where one is not UTF-8.
    pub fn config_strings(&self, key: &str) -> Vec<String> {
        let values = self.gix.config_snapshot().plumbing().strings(key).unwrap_or_default();
        values.iter().map(|value| value.to_str_lossy().into_owned()).collect()
    }

    /// The value of a key as git understands true and false.
    ///
    /// # Errors
    /// When there is a value that is neither.
    pub fn config_bool(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        self.gix.config_snapshot().try_boolean(key).map_err(|_| ConfigError {
            key: key.into(),
            value: crate::model::visible_line(&self.config_string(key).unwrap_or_default()).into_owned(),
        })
    }

    /// Every value of the keys `<section>.<prefix>.<name>.<key>` as (name, key, value), in the order of the
    /// configuration files: of two values of one key the later wins. Keys are in lower case; names keep theirs.
    pub fn config_subsections(&self, section: &str, prefix: &str) -> Vec<(String, String, String)> {
        let config = self.gix.config_snapshot();
        let Some(sections) = config.plumbing().sections_by_name(section) else { return Vec::new() };
        let mut found = Vec::new();
        for section in sections {
            let Some(subsection) = section.header().subsection_name().and_then(|name| name.to_str().ok()) else {
                continue;
            };
            let Some(name) = subsection.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')) else { continue };
            let mut keys: Vec<String> = section.value_names().collect();
            keys.dedup();
            for key in keys {
                for value in section.values(&key) {
                    found.push((name.to_owned(), key.to_ascii_lowercase(), value.to_str_lossy().into_owned()));
                }
            }
        }
        found
    }

    /// The configured refspecs of every remote.
    pub fn refspecs(&self) -> Vec<(String, Direction, String)> {
        let config = self.gix.config_snapshot();
        let mut found = Vec::new();
        for section in config.plumbing().sections_by_name("remote").into_iter().flatten() {
            let Some(remote) = section.header().subsection_name().map(|name| name.to_str_lossy().into_owned()) else {
                continue;
            };
            for (key, direction) in [("fetch", Direction::Fetch), ("push", Direction::Push)] {
                let specs = section.values(key).into_iter().map(|value| value.to_str_lossy().into_owned());
                found.extend(specs.map(|spec| (remote.clone(), direction, spec)));
            }
        }
        found
    }

    /// The names of the subsections of a section, such as the remotes of `remote`.
    pub(super) fn config_names(&self, section: &str) -> Vec<String> {
        let config = self.gix.config_snapshot();
        let sections = config.plumbing().sections_by_name(section).into_iter().flatten();
        let names =
            sections.filter_map(|section| Some(section.header().subsection_name()?.to_str_lossy().into_owned()));
        names.collect()
    }

    /// Every value of `<section>.<any subsection>.<key>` in which the subsection is not looked at.
    pub(super) fn config_of_any(&self, section: &str, key: &str) -> Vec<String> {
        let config = self.gix.config_snapshot();
        let sections = config.plumbing().sections_by_name(section).into_iter().flatten();
        let values = sections.flat_map(|section| section.values(key));
        values.map(|value| value.to_str_lossy().into_owned()).collect()
    }
}

/// The settings of `git -c key=value`, as git hands them to the programs that it starts: the value of
/// `GIT_CONFIG_PARAMETERS`, which gix does not read. What is malformed is left out.
pub(super) fn from_parameters(parameters: &str) -> Vec<String> {
    let mut settings = Vec::new();
    let mut rest = parameters.trim_start();
    while let Some((key, after)) = unquoted(rest) {
        // git 2.31 and later quote key and value apart, earlier versions as one.
        let (setting, after) = match after.strip_prefix('=') {
            Some(after) => match unquoted(after) {
                Some((value, after)) => (format!("{key}={value}"), after),
                None => (key, after),
            },
            None => (key, after),
        };
        settings.push(setting);
        rest = after.trim_start();
    }
    settings
}

/// The text in the single quotes at the beginning, as a shell reads it, and what follows.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut rest = text.strip_prefix('\'')?;
    loop {
        let (inside, after) = rest.split_once('\'')?;
        out.push_str(inside);
        // A quote or exclamation mark in the text stands outside the quotes, behind a backslash.
        match after.strip_prefix('\\').and_then(|after| after.split_at_checked(1)) {
            Some((escaped, after)) if after.starts_with('\'') => {
                out.push_str(escaped);
                rest = &after[1..];
            }
            Some(_) | None => return Some((out, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_command_line_are_read_as_git_writes_them() {
        let fixture = super::super::fixture::Fixture::new();
        let settings = ["user.name=Bob O'Hara!", "handoff.layout=off", "handoff.agent.x.dir=a b", "core.bare"];
        let mut args: Vec<&str> = settings.iter().flat_map(|setting| ["-c", *setting]).collect();
        args.extend(["-c", "alias.show-parameters=!printenv GIT_CONFIG_PARAMETERS", "show-parameters"]);
        let read = from_parameters(&fixture.git(&args));
        assert_eq!(read[..3], settings[..3]);
        assert!(read[3].starts_with("core.bare"));
        assert_eq!(from_parameters("'a.b=old form' 'c.d'"), ["a.b=old form", "c.d"]);
        assert_eq!(from_parameters("'torn"), Vec::<String>::new());
    }
}
