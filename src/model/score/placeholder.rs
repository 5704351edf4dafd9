//! Placeholders: what a template left and nobody filled in.

use crate::model::text::{Span, lines_with_fences, spans};
use crate::model::{cut, visible_line};

/// A text taken apart.
pub(super) struct Extraction {
    /// What is left without placeholders, headings and comments.
    pub(super) rest: String,
    /// The placeholders as they stand there, each once, in order.
    pub(super) found: Vec<String>,
}

/// Words that mark what is to be filled in. In capitals they count at the beginning of a line as well.
const MARKERS: &[&str] = &["todo", "tbd", "tba", "fixme", "xxx"];

/// Lines and bracketed texts that say nothing but "to be filled in".
const UNFILLED: &[&str] = &[
    "coming soon",
    "fill in",
    "fill me in",
    "fill out",
    "fill this in",
    "insert here",
    "lorem ipsum",
    "placeholder",
    "text here",
    "to be added",
    "to be completed",
    "to be decided",
    "to be defined",
    "to be determined",
    "to be filled in",
    "to be written",
    "your text here",
];

/// How the instructions of a template begin, when brackets hold them.
const INSTRUCTIONS: &[&str] =
    &["describe ", "enter ", "explain ", "fill in ", "insert ", "replace ", "summarise ", "summarize ", "your "];

/// How far a closing bracket is looked for, in characters.
const LONGEST: usize = 300;

/// The most characters of a placeholder that are named.
const NAMED: usize = 60;

/// Takes a text apart. Code, in a fence or between backticks, holds no placeholders.
pub(super) fn extract(text: &str) -> Extraction {
    let text = without_comments(text);
    let mut extraction = Extraction { rest: String::with_capacity(text.len()), found: Vec::new() };
    for (line, fenced) in lines_with_fences(&text) {
        match (fenced, unfilled_line(line)) {
            (true, _) => extraction.rest.push_str(line),
            (false, Some(placeholder)) => extraction.add(placeholder),
            (false, None) if is_heading(line) => {}
            (false, None) => extraction.read_prose(line),
        }
        extraction.rest.push('\n');
    }
    extraction
}

impl Extraction {
    fn add(&mut self, placeholder: &str) {
        let named = cut(&visible_line(placeholder.trim()), NAMED).into_owned();
        if !self.found.contains(&named) {
            self.found.push(named);
        }
    }

    /// Copies a line, leaving out the placeholders in brackets.
    fn read_prose(&mut self, line: &str) {
        for span in spans(line) {
            match span {
                Span::Code(code) => {
                    self.rest.push('`');
                    self.rest.push_str(code);
                    self.rest.push('`');
                }
                Span::Prose(mut prose) => {
                    while let Some((start, end)) = bracketed(prose) {
                        self.rest.push_str(&prose[..start]);
                        self.add(&prose[start..end]);
                        prose = &prose[end..];
                    }
                    self.rest.push_str(prose);
                }
            }
        }
    }
}

fn is_heading(line: &str) -> bool {
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&hashes) && (line.len() == hashes || line[hashes..].starts_with(' '))
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some((before, after)) = rest.split_once("<!--") {
        let Some((_, behind)) = after.split_once("-->") else { break };
        kept.push_str(before);
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

/// A line's own text, without what makes it an entry, and without emphasis.
pub(super) fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '+', '>', ' ']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = digits > 0 && line[digits..].starts_with(['.', ')']);
    let line = if numbered { &line[digits + 1..] } else { line };
    let line = line.trim_start();
    let line = ["[ ]", "[x]", "[X]"].iter().find_map(|tick| line.strip_prefix(tick)).unwrap_or(line);
    line.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c))
}

/// The placeholder that makes up a line: `TODO`, `FIXME: …`, `Owner: TBD`, `...`.
fn unfilled_line(line: &str) -> Option<&str> {
    let text = bare(line);
    if text.is_empty() {
        return None;
    }
    if says_unfilled(text) || is_dots(text) {
        return Some(text);
    }
    // "TODO: wire the refunds" is work that is left; "TODO: describe" is a template.
    if let Some((before, after)) = text.split_once(':') {
        let opens = MARKERS.iter().any(|marker| before.trim() == marker.to_ascii_uppercase());
        if opens && (is_template_remark(after)) {
            return Some(text);
        }
    }
    let last = text.rsplit_once(':').map(|(_, last)| last.trim().trim_end_matches('.'));
    let ends = last.is_some_and(|last| MARKERS.iter().any(|marker| last == marker.to_ascii_uppercase()));
    ends.then_some(text)
}

/// Whether what follows a marker is nothing, dots, or fewer words than a task has.
fn is_template_remark(text: &str) -> bool {
    let text = text.trim();
    is_dots(text) || says_unfilled(text) || starts_an_instruction(text) || super::judge::words(text).len() < 2
}

fn says_unfilled(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!', '…', ':']).trim().to_lowercase();
    MARKERS.contains(&text.as_str()) || UNFILLED.contains(&text.as_str())
}

fn starts_an_instruction(text: &str) -> bool {
    let text = text.to_lowercase();
    INSTRUCTIONS.iter().any(|beginning| text.starts_with(beginning))
}

fn is_dots(text: &str) -> bool {
    text.chars().all(|c| ".…?".contains(c)) && (text.chars().count() > 2 || text.contains('…'))
}

/// The first `[…]` or `<…>` that is a placeholder, with its brackets.
fn bracketed(text: &str) -> Option<(usize, usize)> {
    text.match_indices(['[', '<']).find_map(|(start, open)| {
        let closing = if open == "[" { ']' } else { '>' };
        let body = start + 1;
        let length = text[body..].char_indices().take(LONGEST).find(|(_, c)| *c == closing)?.0;
        let end = body + length + 1;
        let before = text[..start].chars().next_back();
        let attached = before.is_some_and(|c| c.is_alphanumeric() || "_])!&".contains(c));
        let linked = text[end..].starts_with(['(', '[', ':']);
        (!attached && !linked && is_template_text(&text[body..end - 1])).then_some((start, end))
    })
}

fn is_template_text(text: &str) -> bool {
    let text = text.trim();
    let word_end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (first, rest) = text.split_at(word_end);
    let marker = MARKERS.contains(&first.to_lowercase().as_str());
    let capitals = first.chars().all(char::is_uppercase);
    let marked =
        marker && (rest.is_empty() || rest.trim_start().starts_with([':', '…']) || (capitals && rest.starts_with(' ')));
    marked || is_dots(text) || says_unfilled(text) || starts_an_instruction(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        extract(text).found
    }

    #[test]
    fn placeholders_are_found_in_every_dress() {
        for text in [
            "TODO",
            "- tbd.",
            "FIXME: …",
            "1. [ ] **TODO: describe**",
            "TODO: fill in the state of the parser here",
            "[TODO: fill in]",
            "[todo]",
            "[...]",
            "[…]",
            "<fill in>",
            "<TODO>",
            "[Describe the current state]",
            "...",
            "???",
            "Rollback: TBD",
            "To be determined.",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn code_links_check_boxes_and_ordinary_words_are_none() {
        let text = "arr[…] and `[TODO]` in [text](url), [todo](notes.md), a todo list app, [x] done, [ ] open, Vec<T>, \
                    <https://example.com>, git show <id>, [1, 2, ...], see TODO markers, wait... then go\n\
                    - TODO: wire the refund path to the adapter\n- [todo-app]\n```\nTODO\n[...]\n```";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn what_stands_beside_a_placeholder_is_kept() {
        let extraction = extract("### Heading\n[TODO: fill in]\nReal text, [TBD] and `code`.<!-- hint -->");
        assert_eq!(extraction.found, ["[TODO: fill in]", "[TBD]"]);
        assert_eq!(extraction.rest, "\n\nReal text,  and `code`.\n");
    }

    #[test]
    fn a_placeholder_is_named_once_and_short() {
        let long = format!("[TODO: {}]", "x".repeat(100));
        assert_eq!(found(&format!("{long}\n{long}")), [format!("[TODO: {}…", "x".repeat(52))]);
    }
}
