//! File paths that prose mentions, told apart from what only looks like one.
//!
//! Prose is not a file list: it holds versions, branch names, links, object ids and "and/or". A mention is
//! [`Certainty::Certain`] only when it has a directory and an ending that files have; everything else that could be
//! a path, a bare `parser.rs` too (people name files without their directory), is [`Certainty::Possible`]: it
//! counts when such a file exists and is no mistake when none does. What lies outside the repository, URLs,
//! patterns and ranges are no references at all.

use unicode_normalization::UnicodeNormalization;

use super::text::{Span, lines_with_fences, spans};

mod candidate;
mod mention;

pub use mention::{Mention, of_line as mention_in};

/// A file that a text mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathReference {
    /// The path relative to the repository's top, in [`normal_form`].
    pub path: String,
    /// The first line meant, from 1.
    pub line: Option<u32>,
    /// How sure it is that a file is meant.
    pub certainty: Certainty,
    /// What the text says of the file's existence.
    pub mention: Mention,
}

/// How sure it is that a file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It may be something else: only a file that exists makes it a reference.
    Possible,
    /// It is a path, whether or not the file exists.
    Certain,
}

/// Every file that a text mentions, in order. Fenced code is left out: what it names, it need not mean.
pub fn references(text: &str) -> Vec<PathReference> {
    let mut found = Vec::new();
    let mut mentions = mention::Reader::default();
    for (line, fenced) in lines_with_fences(text) {
        let mention = mentions.read(line);
        if fenced {
            continue;
        }
        let mut push = |candidate: Option<candidate::Candidate>| {
            found.extend(candidate.map(|c| PathReference {
                path: c.path,
                line: c.line,
                certainty: c.certainty,
                mention,
            }));
        };
        for span in spans(line) {
            match span {
                Span::Code(code) if !code.trim().contains(char::is_whitespace) => {
                    push(candidate::mentioned(code.trim()))
                }
                // A command names files that it makes as well as files that it reads.
                Span::Code(code) => candidate::words(code)
                    .filter_map(candidate::mentioned)
                    .for_each(|c| push(Some(candidate::Candidate { certainty: Certainty::Possible, ..c }))),
                Span::Prose(prose) => candidate::words(prose).for_each(|word| push(candidate::mentioned(word))),
            }
        }
    }
    found
}

/// The path that stands alone in a field, such as the entry of a file list: `None` when it cannot be a path inside
/// the repository, or is prose.
pub fn entry(text: &str) -> Option<PathReference> {
    let text = text.trim().trim_matches('`').trim();
    let read = candidate::read(text)?;
    let prose = text.contains(char::is_whitespace) && !candidate::has_known_ending(&read.path);
    (!prose).then_some(PathReference {
        path: read.path,
        line: read.line,
        certainty: Certainty::Certain,
        mention: Mention::Present,
    })
}

/// The form in which paths are compared: composed accents (NFC), `/` only, no `.` parts, no doubled or final `/`.
pub fn normal_form(path: &str) -> String {
    let composed: String = path.nfc().collect();
    let parts: Vec<&str> = composed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let joined = parts.join("/");
    if composed.starts_with('/') { format!("/{joined}") } else { joined }
}

/// Whether two paths mean one file, whatever the composition of their accents.
pub fn same_path(a: &str, b: &str) -> bool {
    normal_form(a) == normal_form(b)
}

/// Whether a file of that path exists under any composition of its accents. `exists` is asked with each.
pub fn exists(path: &str, exists: &dyn Fn(&str) -> bool) -> bool {
    spellings(path).iter().any(|spelling| exists(spelling))
}

/// The path as it is, with composed and with decomposed accents; each once.
pub fn spellings(path: &str) -> Vec<String> {
    let mut all = vec![path.to_owned()];
    for other in [path.nfc().collect(), path.nfd().collect()] {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// Whether a path is absolute, begins in a home directory or on a drive, or climbs with `..`.
pub fn leads_outside(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    drive || path.starts_with(['/', '\\', '~']) || path.split(['/', '\\']).any(|part| part == "..")
}

/// Whether a path is one of the views that this tool generates in a work tree. They can always be made again,
/// so their absence says nothing about a handoff.
pub fn is_own_view(path: &str) -> bool {
    let path = normal_form(path);
    let Some((dir, rest)) = path.split_once('/') else { return false };
    let lane = dir.starts_with('.') && dir != ".github";
    dir == ".session-transfer"
        || lane && (rest.starts_with("handoffs/") || matches!(rest, "handoffs" | "handoffs.jsonl" | "INDEX.md"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn certain(text: &str) -> Vec<(String, Option<u32>)> {
        let all = references(text).into_iter();
        all.filter(|each| each.certainty == Certainty::Certain).map(|each| (each.path, each.line)).collect()
    }

    fn possible(text: &str) -> Vec<String> {
        let all = references(text).into_iter();
        all.filter(|each| each.certainty == Certainty::Possible).map(|each| each.path).collect()
    }

    #[test]
    fn a_path_is_found_in_every_dress() {
        let text = "See src/lib.rs:42, src/lib.rs:42:7: src/lib.rs#L10-L20, `src/lib.rs`, (src/lib.rs), ./src/lib.rs, \
                    \"src/lib.rs\", **src/lib.rs**, [the library](src/lib.rs#L3), src/lib.rs's end, src/lib.rs::tests, \
                    `src/lib.rs:5-9`, path=src/lib.rs, src/lib.rs→src/lib.rs.";
        let lines: Vec<Option<u32>> = certain(text)
            .into_iter()
            .map(|(path, line)| {
                assert_eq!(path, "src/lib.rs");
                line
            })
            .collect();
        let none = None;
        let expected = [
            Some(42),
            Some(42),
            Some(10),
            none,
            none,
            none,
            none,
            none,
            Some(3),
            none,
            none,
            Some(5),
            none,
            none,
            none,
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_only_looks_like_a_path_is_no_certain_reference() {
        let text = "Versions 1.2.3 and v0.5.0, e.g. and/or, read/write, origin/main, `origin/main`, refs/heads/main.rs, \
                    https://example.com/src/gone.rs, <https://example.com/a.rs>, [x](https://e.com/a/b.rs), \
                    /tmp/archive.tar.gz, ~/notes/a.md, ../up/a.md, a/../b.md, user@host, me@example.com/a.md, \
                    text/html, image/svg+xml, application/vnd.api.v1, 10.0.0.1/24, 3f786850e387550fdab836ed7e6dc881de23001b, \
                    main..dev/x.rs, src/*.rs, src/{a,b}.rs, docs/<topic>.md, $HOME/x.rs, --config=a/b.toml, Node.js, \
                    docs.rs/serde/index.html, example.com/x.html, C:\\a\\b.rs, git@github.com:a/b.rs, encoding/json.Marshal, \
                    https://e.com/(a/b.rs), ssh://x/y.rs, src/, crate::a::b, TCP/IP, 12/31/2026, obj.method().x";
        assert_eq!(certain(text), []);
    }

    #[test]
    fn a_possible_path_is_offered_to_whoever_knows_what_exists() {
        assert_eq!(
            possible("In src/ and parser.rs, `Makefile` and a.txt; src\\win.rs"),
            ["src", "parser.rs", "Makefile", "a.txt", "src/win.rs"]
        );
        assert_eq!(possible("`cargo run -- tests/new.rs`"), ["tests/new.rs"]);
    }

    #[test]
    fn other_scripts_may_touch_a_path() {
        assert_eq!(
            certain("編集しました：src/lib.rsを、（src/a.py）。"),
            [("src/lib.rs".into(), None), ("src/a.py".into(), None)]
        );
        assert_eq!(certain("siehe »src/größe.rs«"), [("src/größe.rs".into(), None)]);
    }

    #[test]
    fn names_may_begin_with_a_stop_or_an_underscore() {
        let text = "(see src/a.rs). __tests__/b.test.ts, _src/c.rs_ and .github/workflows/ci.yml…";
        let expected = ["src/a.rs", "__tests__/b.test.ts", "src/c.rs", ".github/workflows/ci.yml"];
        assert_eq!(certain(text), expected.map(|path| (path.into(), None)));
    }

    proptest! {
        #[test]
        fn whatever_is_found_lies_in_the_repository_in_normal_form(text in "([a-zé./\\\\:#`*\\[\\]() ~0-9-]{0,40}|\\PC{0,40})") {
            for found in references(&text).into_iter().chain(entry(&text)) {
                prop_assert!(!leads_outside(&found.path) && !found.path.is_empty());
                prop_assert_eq!(normal_form(&found.path), found.path);
            }
        }
    }

    #[test]
    fn fenced_code_mentions_nothing() {
        assert_eq!(references("```\nsrc/a.rs\n```\n"), []);
    }

    #[test]
    fn what_is_planned_or_gone_is_marked() {
        let text = "To be created: src/new.rs (does not exist yet)\nRemoved `src/old.rs`.\nNew files:\n- src/a.rs\n- src/b.rs\n\nsrc/c.rs";
        let marks: Vec<(String, Mention)> =
            references(text).into_iter().map(|each| (each.path, each.mention)).collect();
        let expected = [
            ("src/new.rs", Mention::Planned),
            ("src/old.rs", Mention::Gone),
            ("src/a.rs", Mention::Planned),
            ("src/b.rs", Mention::Planned),
            ("src/c.rs", Mention::Present),
        ];
        assert_eq!(marks, expected.map(|(path, mention)| (path.into(), mention)));
    }

    #[test]
    fn accents_may_be_composed_or_not() {
        let (composed, decomposed) = ("src/caf\u{e9}.rs", "src/cafe\u{301}.rs");
        assert!(same_path(composed, &format!("./{decomposed}")));
        assert!(exists(composed, &|path| path == decomposed));
        assert!(exists(decomposed, &|path| path == composed));
        assert_eq!(certain(decomposed), [(composed.into(), None)]);
    }

    #[test]
    fn an_entry_of_a_file_list_may_have_no_ending_but_is_no_prose() {
        let path = |text| entry(text).map(|each| each.path);
        assert_eq!(path("./LICENSE"), Some("LICENSE".into()));
        assert_eq!(path("my file.txt"), Some("my file.txt".into()));
        assert_eq!(path("src/lib.rs:42"), Some("src/lib.rs".into()));
        assert_eq!(path("see the documentation"), None);
        assert_eq!(path("/etc/hosts"), None);
        assert_eq!(path("[TODO: fill in]"), None);
    }

    #[test]
    fn own_views_are_known() {
        let known = [".codex/handoffs/2026-08-18-1704.md", ".session-transfer/INDEX.md", ".agent/handoffs.jsonl"];
        assert!(known.iter().all(|path| is_own_view(path)));
        assert!(
            [".github/workflows/ci.yml", "src/handoffs/a.rs", ".claude/settings.json"].iter().all(|p| !is_own_view(p))
        );
    }
}
