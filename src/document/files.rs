//! Files in Markdown: `- M src/gateway.rs (blob 3f78…): why`, and the ways in which authors write the same.

use super::list::{Block, Form};
use super::span;
use crate::model::{Change, FileEntry, ObjectName};

/// A file as the text of a list entry. `None` when it has no form that reads back.
pub(super) fn render_entry(file: &FileEntry) -> Option<String> {
    let bare = |path: &str| path.to_owned();
    let candidates = [with_paths(file, bare), with_paths(file, span::render)];
    candidates.into_iter().find(|text| read_entry(text).as_ref() == Some(file))
}

fn with_paths(file: &FileEntry, path: impl Fn(&str) -> String) -> String {
    let mut text = file.change.map_or_else(String::new, |change| format!("{} ", change.letter()));
    text.push_str(&path(&file.path));
    if let Some(from) = &file.from {
        text.push_str(&format!(" (from {})", path(from)));
    }
    if let Some(blob) = &file.blob {
        text.push_str(&format!(" (blob {blob})"));
    }
    if let Some(note) = &file.note {
        text.push_str(&format!(": {note}"));
    }
    text
}

/// The files that a section's entry names, and the text of it that names none.
pub(super) fn read_block(block: &Block<'_>) -> (Vec<FileEntry>, Option<String>) {
    if block.form != Form::Paragraph {
        return match read_entry(&block.text) {
            Some(file) => (vec![file], None),
            None => (Vec::new(), Some(block.raw.to_owned())),
        };
    }
    if block.text.starts_with('|') {
        return read_table(&block.text);
    }
    let files: Option<Vec<FileEntry>> = block.text.lines().map(read_entry).collect();
    files.map_or_else(|| (Vec::new(), Some(block.raw.to_owned())), |files| (files, None))
}

/// The rows of a table whose first cell is a path; the others stay text.
fn read_table(table: &str) -> (Vec<FileEntry>, Option<String>) {
    let is_ruler = |line: &str| line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let lines: Vec<&str> = table.lines().collect();
    let head = if lines.get(1).is_some_and(|line| is_ruler(line)) { 2 } else { 0 };
    let (mut files, mut rest) = (Vec::new(), Vec::new());
    for line in &lines[head..] {
        let mut cells = line.trim().trim_matches('|').split('|').map(str::trim);
        match cells.next().and_then(read_entry).filter(|file| file.note.is_none()) {
            Some(file) => {
                let note = cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" — ");
                files.push(FileEntry { note: Some(note).filter(|note| !note.is_empty()), ..file });
            }
            None => rest.push(*line),
        }
    }
    let head = if rest.is_empty() { &[] } else { &lines[..head] };
    let rest = [head, &rest].concat().join("\n");
    (files, Some(rest).filter(|rest| !rest.is_empty()))
}

/// The file that an entry begins with. `None` when it begins with something else.
pub(super) fn read_entry(text: &str) -> Option<FileEntry> {
    let (first, further) = text.split_once('\n').map_or((text, None), |(first, further)| (first, Some(further)));
    let (change, rest) = split_change(first);
    let (path, line, mut rest) = split_path(rest, change)?;
    let mut file = FileEntry { path, change, ..FileEntry::default() };
    if let Some((to, _, after)) = rest.strip_prefix(" -> ").and_then(|rest| split_path(rest, change)) {
        file.from = Some(std::mem::replace(&mut file.path, to));
        rest = after;
    }
    if let Some((from, after)) = rest.strip_prefix(" (from ").and_then(split_origin) {
        file.from = Some(from);
        rest = after;
    }
    if let Some((hex, after)) = rest.strip_prefix(" (blob ").and_then(|rest| rest.split_once(')'))
        && let Ok(blob) = hex.parse::<ObjectName>()
    {
        file.blob = Some(blob);
        rest = after;
    }
    let remark = remark(rest).map(str::to_owned);
    let note: Vec<String> = [line, remark].into_iter().flatten().collect();
    let note = (!note.is_empty()).then(|| note.join(": "));
    file.note = match (note, further) {
        (Some(note), Some(further)) => Some(format!("{note}\n{further}")),
        (None, Some(further)) => Some(further.to_owned()),
        (note, None) => note,
    };
    Some(file)
}

/// The change that a letter or word stands for.
pub(super) fn change_of(word: &str) -> Option<Change> {
    let mut letters = word.chars();
    if let Some(change) = letters.next().and_then(Change::from_letter)
        && letters.all(|c| c.is_ascii_digit())
    {
        return Some(change);
    }
    match word.to_ascii_lowercase().as_str() {
        "added" | "new" | "created" | "add" => Some(Change::Added),
        "modified" | "changed" | "edited" | "updated" | "modify" => Some(Change::Modified),
        "deleted" | "removed" | "delete" => Some(Change::Deleted),
        "renamed" | "moved" | "rename" => Some(Change::Renamed),
        "copied" | "copy" => Some(Change::Copied),
        "type-changed" => Some(Change::TypeChanged),
        _ => None,
    }
}

/// A leading change and what follows it.
fn split_change(line: &str) -> (Option<Change>, &str) {
    let Some((word, rest)) = line.split_once(' ') else { return (None, line) };
    match change_of(word.trim_end_matches(':')) {
        Some(change) => (Some(change), rest.trim_start()),
        None => (None, line),
    }
}

/// A path at the beginning of a line, the line number that hangs on it, and what follows both.
fn split_path(line: &str, change: Option<Change>) -> Option<(String, Option<String>, &str)> {
    if let Some((inner, rest)) = line.strip_prefix("**").and_then(|line| line.split_once("**")) {
        let (path, number, after) = split_path(inner.trim_end_matches(':'), change)?;
        return after.is_empty().then_some((path, number, rest));
    }
    if let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once("](")) {
        let (path, number, after) = split_path(name, change)?;
        return after.is_empty().then_some((path, number, rest.split_once(')')?.1));
    }
    if let Some((path, rest)) = span::split(line) {
        let (path, number) = split_line_number(path);
        return (!path.is_empty() && !path.contains(char::is_whitespace) || change.is_some() || is_path(path))
            .then(|| (path.to_owned(), number, rest));
    }
    let token = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
    let path = token.trim_end_matches([':', ',']);
    let rest = &line[path.len()..];
    let (path, number) = split_line_number(path);
    // After a change's letter any name may be a path, but `A new adapter` is prose.
    let ends = rest.is_empty() || rest.starts_with(" (blob ");
    let plausible = is_path(path) || (change.is_some() && ends && is_bare(path));
    plausible.then(|| (path.to_owned(), number, rest))
}

/// The path in `… (from PATH)` and what follows the bracket.
fn split_origin(line: &str) -> Option<(String, &str)> {
    if let Some((path, rest)) = span::split(line) {
        return Some((path.to_owned(), rest.strip_prefix(')')?));
    }
    let (path, rest) = line.split_once(')')?;
    (!path.is_empty() && !path.contains(char::is_whitespace)).then(|| (path.to_owned(), rest))
}

/// A path without the `:42` or `:42-50` that people hang on it, and that number in words.
fn split_line_number(path: &str) -> (&str, Option<String>) {
    let Some((file, number)) = path.rsplit_once(':') else { return (path, None) };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if !file.is_empty() && digits(number) { (file, Some(format!("line {number}"))) } else { (path, None) }
}

/// What an author says after a path.
fn remark(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix([':', ',']).unwrap_or(rest).trim_start();
    let separators = ["-- ", "- ", "– ", "— ", "→ "];
    let said = separators.iter().find_map(|separator| rest.strip_prefix(separator)).unwrap_or(rest).trim();
    (!said.is_empty()).then_some(said)
}

/// Whether a word without quotation looks like a path: it has a directory or a file's ending.
fn is_path(word: &str) -> bool {
    const NAMES: [&str; 6] = ["Makefile", "Dockerfile", "Justfile", "LICENSE", "README", "CODEOWNERS"];
    let ending = |name: &str| {
        let (stem, ending) = name.rsplit_once('.').unwrap_or_default();
        (!stem.is_empty() || !ending.is_empty()) && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let name = word.rsplit('/').next().unwrap_or_default();
    is_bare(word) && !word.contains("://") && (word.contains('/') || ending(name) || NAMES.contains(&word))
}

/// Whether a word can stand as a path without quotation.
fn is_bare(word: &str) -> bool {
    let begins = word.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '@' | '~'));
    begins && !word.ends_with(['.', ')', ';', '!', '?']) && !word.contains(['`', '*', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, change: Option<Change>, note: Option<&str>) -> FileEntry {
        FileEntry { path: path.into(), change, note: note.map(str::to_owned), ..FileEntry::default() }
    }

    #[test]
    fn what_authors_write_is_understood() {
        let lines = [
            ("M src/gateway.rs", file("src/gateway.rs", Some(Change::Modified), None)),
            ("`src/gateway.rs` - adds it", file("src/gateway.rs", None, Some("adds it"))),
            ("src/gateway.rs: adds it", file("src/gateway.rs", None, Some("adds it"))),
            ("**`src/gateway.rs`** — adds it", file("src/gateway.rs", None, Some("adds it"))),
            ("[gateway.rs](src/gateway.rs) (new)", file("gateway.rs", None, Some("(new)"))),
            ("Modified: `Makefile`", file("Makefile", Some(Change::Modified), None)),
            ("D Makefile", file("Makefile", Some(Change::Deleted), None)),
            ("src/gateway.rs:42 the loop", file("src/gateway.rs", None, Some("line 42: the loop"))),
        ];
        for (line, expected) in lines {
            assert_eq!(read_entry(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn prose_is_not_a_file() {
        for line in [
            "None",
            "n/a.",
            "A new adapter",
            "Added tests for refunds",
            "R2 buckets are new",
            "See https://example.org/x",
            "https://example.org/x",
            "the gateway",
            "",
        ] {
            assert_eq!(read_entry(line), None, "{line}");
        }
    }

    #[test]
    fn every_part_of_an_entry_reads_back() {
        let blob = "3f786850e387550fdab836ed7e6dc881de23001b".parse().expect("a blob");
        let entry = FileEntry {
            path: "src/new name.rs".into(),
            change: Some(Change::Renamed),
            from: Some("src/old.rs".into()),
            blob: Some(blob),
            note: Some("moved\nand split".into()),
        };
        let text = render_entry(&entry).expect("it has a form");
        assert_eq!(text, format!("R `src/new name.rs` (from `src/old.rs`) (blob {blob}): moved\nand split"));
    }

    #[test]
    fn a_table_gives_its_paths_and_keeps_the_rest() {
        let table = "| File | Purpose | Why |\n|---|---|---|\n| `src/a.rs` | the loop | hot |\n| nothing | x | y |";
        let (files, rest) = read_table(table);
        assert_eq!(files, [file("src/a.rs", None, Some("the loop — hot"))]);
        assert_eq!(rest.as_deref(), Some("| File | Purpose | Why |\n|---|---|---|\n| nothing | x | y |"));
    }
}
