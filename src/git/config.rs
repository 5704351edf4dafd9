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

impl Repo {
    /// The last value of a key such as `handoff.remote`; lossy where it is not UTF-8.
    pub fn config_string(&self, key: &str) -> Option<String> {
        self.gix.config_snapshot().string(key).map(|value| value.to_str_lossy().into_owned())
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
