//! The fetch refspec by which an ordinary `git fetch` brings teammates' handoffs.

use super::{HooksError, Mode};
use crate::git::Repo;

/// The refspec of a remote. It is a pattern because git refuses the whole fetch when a ref that is named in full is not
/// there, as in a remote that no handoff has reached yet.
fn refspec(remote: &str) -> String {
    format!("+refs/handoffs/*:refs/handoffs-remote/{remote}/*")
}

/// Adds the refspec to every remote that lacks it, and returns their names.
///
/// # Errors
/// When the configuration cannot be written.
pub fn add_refspecs(repo: &Repo, mode: Mode) -> Result<Vec<String>, HooksError> {
    let lacking = |remote: &String| {
        let set = repo.config_strings(&format!("remote.{remote}.fetch"));
        !set.iter().any(|spec| spec.contains(&format!("refs/handoffs-remote/{remote}/")))
    };
    let remotes: Vec<String> = repo.remotes().into_iter().filter(lacking).collect();
    if mode == Mode::Apply {
        for remote in &remotes {
            let key = format!("remote.{remote}.fetch");
            repo.command("config").args(["--local", "--add", &key, &refspec(remote)]).run()?;
        }
    }
    Ok(remotes)
}

/// Removes the refspec from every remote that has it, and returns their names.
///
/// # Errors
/// When the configuration cannot be written.
pub fn remove_refspecs(repo: &Repo, mode: Mode) -> Result<Vec<String>, HooksError> {
    let ours = |remote: &str| {
        [refspec(remote), format!("+refs/handoffs/log:refs/handoffs-remote/{remote}/log")]
            .into_iter()
            .filter(|spec| repo.config_strings(&format!("remote.{remote}.fetch")).contains(spec))
            .collect::<Vec<_>>()
    };
    let mut removed = Vec::new();
    for remote in repo.remotes() {
        for spec in ours(&remote) {
            if mode == Mode::Apply {
                let key = format!("remote.{remote}.fetch");
                repo.command("config").args(["--local", "--fixed-value", "--unset-all", &key, &spec]).run()?;
            }
            removed.push(remote.clone());
        }
    }
    removed.dedup();
    Ok(removed)
}
