//! Questions in git's own revision syntax, which git itself answers.

use super::{CommandError, Repo};
use crate::model::ObjectName;

impl Repo {
    /// The commit that a text names in git's revision syntax; `None` when it names none.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn resolve_commit(&self, revision: &str) -> Result<Option<ObjectName>, CommandError> {
        let asked = format!("{revision}^{{commit}}");
        let output = self.command("rev-parse").args(["--verify", "--quiet", "--end-of-options", &asked]).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().parse().ok().filter(|_| output.code == Some(0)))
    }

    /// How many commits that record something `tip` reaches and none of the others does. Joins are not counted.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn count_commits(&self, tip: &ObjectName, others: &[ObjectName]) -> Result<usize, CommandError> {
        let others = others.iter().map(|other| format!("^{other}"));
        let args = ["--count", "--no-merges"].map(str::to_owned).into_iter().chain([tip.to_string()]).chain(others);
        let output = self.command("rev-list").args(args).run()?;
        Ok(String::from_utf8_lossy(&output).trim().parse().unwrap_or_default())
    }

    /// The commits that `tip` reaches and none of the others does.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn names_without(&self, tip: &ObjectName, others: &[ObjectName]) -> Result<Vec<ObjectName>, CommandError> {
        let others = others.iter().filter(|other| self.exists(other)).map(|other| format!("^{other}"));
        let output = self.command("rev-list").arg(tip.to_string()).args(others).run()?;
        Ok(String::from_utf8_lossy(&output).lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// The names of the configured remotes, sorted.
    pub fn remotes(&self) -> Vec<String> {
        let mut names = self.config_names("remote");
        names.sort();
        names.dedup();
        names
    }
}
