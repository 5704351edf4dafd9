//! Streams: closed, full, and what `--json` promises about errors.

use crate::sandbox::{Sandbox, body};

fn shell(sandbox: &Sandbox, script: &str) -> crate::sandbox::Ran {
    sandbox.run("bash", &["-c", script], b"")
}

fn sixty() -> Sandbox {
    let sandbox = Sandbox::repository();
    for n in 0..60 {
        sandbox.create(&format!("h{n}"), &[]);
    }
    sandbox
}

#[test]
fn a_reader_that_is_gone_is_no_error_and_a_full_device_is_one() {
    let sandbox = sixty();
    for command in ["list", "list --json", "resume", "resume --json", "status", "log", "show"] {
        let piped = shell(&sandbox, &format!("git-handoff {command} | head -n 1 >/dev/null; echo ${{PIPESTATUS[0]}}"));
        assert_eq!((piped.out.trim(), piped.err.contains("panick")), ("0", false), "{command}: {}", piped.err);
        let closed = shell(&sandbox, &format!("git-handoff {command} >&-"));
        assert_eq!(closed.code, 0, "{command}: {}", closed.err);
        let full = shell(&sandbox, &format!("git-handoff {command} >/dev/full"));
        assert_eq!(full.code, 1, "{command}");
        assert!(full.err.contains("error") && !full.err.contains("panick"), "{command}: {}", full.err);
    }
}

#[test]
fn a_handoff_whose_answer_nobody_reads_is_stored_whole() {
    let sandbox = Sandbox::repository();
    sandbox.write("body.md", body("x"));
    shell(&sandbox, "git-handoff create --from body.md piped | true").ok();
    shell(&sandbox, "git-handoff create --from body.md closed >&-").ok();
    let list = sandbox.handoff(&["list"]).ok();
    assert!(list.contains("piped") && list.contains("closed"), "{list}");
}

#[test]
fn there_is_no_colour_in_a_pipe() {
    let mut sandbox = Sandbox::repository();
    sandbox.create("h", &[]);
    sandbox.git(&["config", "color.ui", "always"]);
    sandbox.set("CLICOLOR_FORCE", "1");
    assert!(!sandbox.handoff(&["list"]).ok().contains('\u{1b}'));
}

#[test]
fn the_users_configuration_does_not_change_what_is_recorded() {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T10:00:00Z");
    sandbox.commit("naïve file.txt", "é\n");
    sandbox.write("naïve file.txt", "changed\n");
    let dry = ["create", "--dry-run", "--json", "--from", "-", "t"];
    let before = sandbox.handoff_with(&dry, body("x")).json();
    for setting in [
        "color.ui=always",
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "core.quotePath=true",
        "status.short=true",
        "status.branch=true",
        "log.decorate=full",
        "log.date=relative",
        "core.abbrev=5",
        "core.pager=sed s/^/PAGER:/",
        "diff.external=false",
        "format.pretty=%H weird",
        "column.ui=always",
        "notes.displayRef=*",
        "status.showUntrackedFiles=no",
        "diff.renames=false",
        "status.relativePaths=true",
        "core.commentChar=auto",
        "log.showSignature=true",
    ] {
        let (key, value) = setting.split_once('=').expect("key=value");
        sandbox.git(&["config", key, value]);
    }
    sandbox.set("LANGUAGE", "de");
    sandbox.set("GIT_TRACE", "1");
    let after = sandbox.handoff_with(&dry, body("x")).json();
    assert_eq!(after["document"], before["document"]);
}

#[test]
fn completions_and_the_manual_are_printed_without_a_repository() {
    let mut sandbox = Sandbox::empty();
    assert!(sandbox.handoff(&["completions", "bash"]).ok().contains("_git_handoff()"));
    assert!(sandbox.handoff(&["completions", "zsh"]).ok().contains("#compdef git-handoff"));
    assert!(sandbox.handoff(&["man"]).ok().contains(".TH git-handoff"));
    let out = sandbox.handoff(&["man", "--install", "share/man"]).ok();
    assert!(out.contains("share/man/man1/git-handoff.1"), "{out}");
    sandbox.enter("share");
    assert!(sandbox.exists("man/man1/git-handoff.1"));
}

#[test]
fn the_demo_shows_the_whole_path() {
    let sandbox = Sandbox::empty();
    let out = sandbox.handoff(&["demo"]).ok();
    for part in
        ["git handoff create", "git handoff resume", "refs/handoffs/log", "--notes=handoffs", "git fsck --strict"]
    {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
}

#[test]
fn without_a_command_the_status_is_shown() {
    let sandbox = Sandbox::repository();
    assert_eq!(sandbox.handoff(&[]).ok(), sandbox.handoff(&["status"]).ok());
}
