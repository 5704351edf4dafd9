//! `git handoff demo`: the main job from end to end, in a temporary repository that is removed again.
//!
//! It runs the real commands in this process, each with surroundings of its own, and the real git.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::super::error::{Code, Failure};
use crate::env::Env;
use crate::git::Command;
use crate::ui::{Page, Report, Tone, Ui};

/// Runs the command.
///
/// # Errors
/// When a step fails; the message says which.
pub(in crate::cli) fn run(env: &Env, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let directory = tempfile::tempdir_in(env.temporary_directory())?;
    let mut demo = Demo { env, top: directory.path(), steps: Vec::new() };
    demo.play()?;
    let steps = demo.steps;
    Ok(ui.answer(&Played(steps))?)
}

/// What was run and what it printed.
struct Step {
    title: Option<&'static str>,
    command: String,
    output: String,
}

struct Demo<'a> {
    env: &'a Env,
    top: &'a Path,
    steps: Vec<Step>,
}

impl Demo<'_> {
    fn play(&mut self) -> Result<(), Failure> {
        self.git("A repository with some work on a branch", "init", &["-q", "-b", "main", "."])?;
        self.commit("README.md", "A shop\n", "Begin the shop")?;
        self.git("", "checkout", &["-q", "-b", "feat/billing"])?;
        self.commit("gateway.rs", "pub fn charge() {}\n", "Add the gateway adapter")?;
        let codex = [
            "create",
            "billing-system",
            "--objective=Charge cards through the new gateway",
            "--decision=One retry only, since the gateway is not idempotent without a key",
            "--verified=passed: cargo test gateway",
            "--todo=Wire refunds",
            "--next-action=Write the failing refund test in gateway.rs, then make it pass",
        ];
        self.handoff("Codex ends its session and leaves a handoff", "codex", &codex)?;
        self.handoff("Claude opens the repository and continues without the chat", "claude", &["resume"])?;
        self.commit("refund.rs", "pub fn refund() {}\n", "Wire refunds")?;
        let claude = [
            "create",
            "billing-system",
            "--status=completed",
            "--objective=Charge cards through the new gateway",
            "--decision=Refunds share the adapter of charges",
            "--verified=passed: cargo test",
            "--next-action=Open the pull request for feat/billing",
        ];
        self.handoff("Claude finishes the work; the link to Codex's handoff is recorded", "claude", &claude)?;
        self.handoff("Who continued whom", "claude", &["log"])?;
        self.files()?;
        self.git(
            "What git sees: an append-only log",
            "log",
            &["--format=%h %s%n%w(0,4,4)%(trailers)", "refs/handoffs/log"],
        )?;
        self.git(
            "What git sees: notes on the commits",
            "log",
            &["--notes=handoffs", "--format=%h %s%n    %N", "feat/billing"],
        )?;
        self.git("What git sees: a sound repository, and nothing to commit", "fsck", &["--strict"])?;
        self.git("", "status", &["--short"])
    }

    fn commit(&mut self, file: &str, content: &str, subject: &str) -> Result<(), Failure> {
        fs::write(self.top.join(file), content)?;
        self.git("", "add", &[file])?;
        self.git("", "commit", &["-q", "-m", subject])
    }

    fn git(&mut self, title: &'static str, verb: &'static str, args: &[&str]) -> Result<(), Failure> {
        let command = Command::in_directory(self.top, verb)
            .config("user.name=Demo")
            .config("user.email=demo@example.com")
            .config("commit.gpgSign=false")
            .config("core.hooksPath=/dev/null")
            .args(args.iter().map(OsString::from));
        let output = command.run()?;
        self.push(title, format!("git {verb} {}", shown(args)), String::from_utf8_lossy(&output).into_owned());
        Ok(())
    }

    fn handoff(&mut self, title: &'static str, agent: &str, args: &[&str]) -> Result<(), Failure> {
        let mut env = self.env.clone();
        env.args = std::iter::once("git-handoff").chain(args.iter().copied()).map(OsString::from).collect();
        for name in ["GIT_DIR", "GIT_WORK_TREE"] {
            env.vars.remove(name);
        }
        env.vars.insert("HANDOFF_AGENT".into(), agent.into());
        env.cwd = self.top.to_owned();
        env.stdout_is_terminal = false;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = super::super::run(&env, &mut out, &mut err);
        if exit != 0 {
            return Err(Failure::new(Code::Git, format!("git handoff {}: {}", args[0], String::from_utf8_lossy(&err))));
        }
        let command = format!("HANDOFF_AGENT={agent} git handoff {}", shown(args));
        self.push(title, command, String::from_utf8_lossy(&out).into_owned());
        Ok(())
    }

    /// The files that agents read.
    fn files(&mut self) -> Result<(), Failure> {
        let mut found = Vec::new();
        for lane in [".codex", ".claude", ".session-transfer"] {
            list(&self.top.join(lane), lane, &mut found)?;
        }
        self.push(
            "The files that agents read",
            "find .codex .claude .session-transfer -type f".into(),
            found.join("\n"),
        );
        let index = fs::read_to_string(self.top.join(".session-transfer/INDEX.md"))?;
        self.push("", "cat .session-transfer/INDEX.md".into(), index);
        Ok(())
    }

    fn push(&mut self, title: &'static str, command: String, output: String) {
        let title = Some(title).filter(|title| !title.is_empty());
        self.steps.push(Step { title, command, output });
    }
}

fn list(directory: &Path, name: &str, found: &mut Vec<String>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &name, found)?;
        } else {
            found.push(name);
        }
    }
    Ok(())
}

/// Arguments as a shell would need them.
fn shown(args: &[&str]) -> String {
    let quoted = |arg: &&str| match arg.split_once('=') {
        Some((option, value)) if value.contains(' ') => format!("{option}='{value}'"),
        _ if arg.contains([' ', '%']) => format!("'{arg}'"),
        _ => (*arg).to_owned(),
    };
    args.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

struct Played(Vec<Step>);

impl Report for Played {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for Step { title, command, output } in &self.0 {
            if let Some(title) = title {
                page.line("")?;
                page.line(page.toned(Tone::Strong, format!("# {title}")))?;
            }
            page.line(format!("$ {command}"))?;
            for line in output.trim_end().lines() {
                page.line(format!("  {line}").trim_end())?;
            }
        }
        page.line("")?;
        page.line("Done; the temporary repository is removed. In your own repository: git handoff create")
    }

    fn json(&self) -> Value {
        self.0.iter().map(|step| json!({"title": step.title, "command": step.command, "output": step.output})).collect()
    }
}
