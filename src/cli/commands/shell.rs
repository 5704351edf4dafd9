//! `git handoff completions` and `git handoff man`: what makes the command at home in a shell.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::CommandFactory;
use serde_json::{Value, json};

use super::super::args;
use super::super::error::Failure;
use crate::ui::{Page, Report, Ui};

/// Prints a completion script. For bash it also completes `git handoff`: git's own completion calls
/// `_git_handoff` for that.
///
/// # Errors
/// When it cannot be written.
pub(in crate::cli) fn completions(args: &args::Completions, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::Cli::command().bin_name("git-handoff"), "git-handoff", &mut script);
    if args.shell == clap_complete::Shell::Bash {
        script.extend_from_slice(GIT_HANDOFF_IN_BASH.as_bytes());
    }
    Ok(ui.answer(&Script(script))?)
}

/// git's completion offers the words of `git handoff …` through a function of this name. The words before the
/// command belong to git and are dropped.
const GIT_HANDOFF_IN_BASH: &str = r#"
_git_handoff() {
    local words=("git-handoff" "${COMP_WORDS[@]:__git_cmd_idx+1}")
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$((COMP_CWORD - __git_cmd_idx))
    _git-handoff git-handoff "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
}
"#;

/// Prints the manual, or installs its pages where `git handoff --help` and `git help handoff-create` find them.
///
/// # Errors
/// When it cannot be written.
pub(in crate::cli) fn man(args: &args::Man, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let command = args::Cli::command().bin_name("git-handoff").disable_help_subcommand(true);
    let Some(directory) = &args.install else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let sub = clap_mangen::Man::new(sub.clone().bin_name(format!("git handoff {}", sub.get_name())));
            sub.render_synopsis_section(&mut page)?;
            sub.render_description_section(&mut page)?;
            sub.render_options_section(&mut page)?;
        }
        return Ok(ui.answer(&Script(page))?);
    };
    let section = directory.join("man1");
    let cannot = |error: io::Error| Failure::from(error).while_doing(&format!("cannot write {}", section.display()));
    fs::create_dir_all(&section).map_err(cannot)?;
    clap_mangen::generate_to(command, &section).map_err(cannot)?;
    ui.note(format!("if 'git handoff --help' does not find it, add {} to MANPATH", directory.display()));
    Ok(ui.answer(&Installed(section.join("git-handoff.1")))?)
}

/// A text that is what it is in every face.
struct Script(Vec<u8>);

impl Report for Script {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.raw(&self.0)
    }

    fn json(&self) -> Value {
        json!({"text": String::from_utf8_lossy(&self.0)})
    }

    fn quiet(&self) -> Option<String> {
        Some(String::from_utf8_lossy(&self.0).trim_end().to_owned())
    }
}

struct Installed(PathBuf);

impl Report for Installed {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format!("Manual page: {}", self.0.display()))
    }

    fn json(&self) -> Value {
        json!({"path": self.0.display().to_string()})
    }

    fn quiet(&self) -> Option<String> {
        Some(self.0.display().to_string())
    }
}
