//! Commands that the user has configured and that are no git commands: the editor, a scanner of secrets. They are
//! started as git starts them, through `sh`.

use std::path::Path;
use std::process::Stdio;

use super::Repo;
use super::process::{Command, CommandError};

impl Repo {
    /// A command of the configuration, which runs at the top of the work tree or in the git directory. `name` is the
    /// configuration key.
    pub fn configured_command(&self, name: &'static str, command: &str) -> Command {
        Command::shell(self.work_dir().unwrap_or(self.git_dir()), name, command)
    }

    /// The command of the user's editor, as git finds it. `given` is the value of `GIT_EDITOR`.
    ///
    /// # Errors
    /// When git knows none, as on a terminal that cannot show one.
    pub fn editor(&self, given: Option<&str>) -> Result<String, CommandError> {
        let command = self.command("var").arg("GIT_EDITOR");
        let command = match given {
            Some(given) => command.env("GIT_EDITOR", given),
            None => command.without_env("GIT_EDITOR"),
        };
        Ok(String::from_utf8_lossy(&command.run()?).trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Runs an editor on a file, on the terminal of this process and with its whole environment, to its end.
    ///
    /// # Errors
    /// When it cannot be started or ends with another status than 0.
    pub fn edit(&self, editor: &str, file: &Path) -> Result<(), CommandError> {
        let verb = "editor";
        let mut process = std::process::Command::new("sh");
        process.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
        process.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        match process.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(CommandError::Failed { verb, code: status.code(), stderr: String::new() }),
            Err(source) => Err(CommandError::NotStarted { verb, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn a_configured_command_reads_its_input_and_its_status_counts() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let run = |command: &str| {
            let command = repo.configured_command("handoff.secretScanner", command).stdin("a secret");
            command.deadline(Duration::from_secs(20)).output().expect("it runs")
        };
        let found = run("grep -c secret; pwd; exit 3");
        assert_eq!(found.code, Some(3));
        assert_eq!(String::from_utf8_lossy(&found.stdout), format!("1\n{}\n", fixture.top().display()));
        assert_eq!(run("grep -q 'a secret'").code, Some(0));
    }

    #[test]
    fn the_editor_is_the_one_that_git_would_take() {
        let fixture = Fixture::new();
        fixture.git(&["config", "core.editor", "from-config"]);
        let repo = fixture.repo();
        assert_eq!(repo.editor(None).expect("git knows"), "from-config");
        assert_eq!(repo.editor(Some("given -f")).expect("git knows"), "given -f");
    }

    #[test]
    fn the_editor_gets_the_file_and_its_failure_is_told() {
        let fixture = Fixture::new();
        fixture.write("a file.md", "old\n");
        let repo = fixture.repo();
        let file = fixture.top().join("a file.md");
        repo.edit("f() { echo new >>\"$1\"; }; f", &file).expect("it works");
        assert_eq!(std::fs::read_to_string(&file).expect("readable"), "old\nnew\n");
        assert!(matches!(repo.edit("exit 2; :", &file), Err(CommandError::Failed { code: Some(2), .. })));
    }
}
