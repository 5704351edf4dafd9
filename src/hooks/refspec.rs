//! The fetch refspec by which an ordinary `git fetch` brings teammates' handoffs.

use super::{HooksError, Mode};
use crate::git::Repo;
use crate::sync;

/// Adds the refspec to every remote that lacks it, and returns their names.
///
/// # Errors
/// When the configuration cannot be written.
pub fn add_refspecs(repo: &Repo, mode: Mode) -> Result<Vec<String>, HooksError> {
    let mut lacking = Vec::new();
    for remote in repo.remotes() {
        let added = match mode {
            Mode::Apply => sync::set_up(repo, &remote)?,
            Mode::DryRun => !has(repo, &remote),
        };
        lacking.extend(added.then_some(remote));
    }
    Ok(lacking)
}

/// Removes the refspec from every remote that has it, and returns their names.
///
/// # Errors
/// When the configuration cannot be written.
pub fn remove_refspecs(repo: &Repo, mode: Mode) -> Result<Vec<String>, HooksError> {
    let remotes: Vec<String> = repo.remotes().into_iter().filter(|remote| has(repo, remote)).collect();
    if mode == Mode::Apply {
        for remote in &remotes {
            let (key, refspec) = (format!("remote.{remote}.fetch"), sync::fetch_refspec(remote));
            repo.command("config").args(["--local", "--fixed-value", "--unset-all", &key, &refspec]).run()?;
        }
    }
    Ok(remotes)
}

fn has(repo: &Repo, remote: &str) -> bool {
    repo.config_strings(&format!("remote.{remote}.fetch")).contains(&sync::fetch_refspec(remote))
}
