//! Lists in Markdown: the entries of a section, whether they are bullets, numbers, check boxes or paragraphs.

use super::fields::Marker;

/// One entry of a list section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// What it says, without marker and indentation.
    pub(super) text: String,
    /// The lines as they stand in the document.
    pub(super) raw: &'a str,
    /// Whether it has a marker, and which.
    pub(super) form: Form,
}

/// How an entry is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Not at all: it is a paragraph or a code block.
    Paragraph,
    /// By a bullet or number.
    Item,
    /// By a check box that is empty.
    Open,
    /// By a check box that is ticked.
    Done,
}

/// The texts of a section's entries; those without any text are left out.
pub(super) fn texts(body: &str) -> Vec<String> {
    blocks(body).into_iter().map(|block| block.text).filter(|text| !text.is_empty()).collect()
}

/// The entries of a section, in order.
pub(super) fn blocks(body: &str) -> Vec<Block<'_>> {
    let lines = Lines::of(body);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.count() {
        let line = lines.get(at);
        let (end, block) = if line.trim().is_empty() || is_rule(line) {
            (at + 1, None)
        } else if let Some(mark) = mark(line) {
            let (end, block) = item(&lines, at, mark);
            (end, Some(block))
        } else {
            let end = paragraph_end(&lines, at);
            let raw = lines.range(at, end);
            (end, Some(Block { text: raw.trim().to_owned(), raw, form: Form::Paragraph }))
        };
        blocks.extend(block);
        at = end;
    }
    blocks
}

/// The entries as a list, each with its marker and with its further lines indented below its text.
pub(super) fn render(texts: &[String], marker: Marker) -> String {
    let mut out = String::new();
    for (at, text) in texts.iter().enumerate() {
        let mark = match marker {
            Marker::Bullet => "- ".to_owned(),
            Marker::Number => format!("{}. ", at + 1),
        };
        let indent = " ".repeat(mark.len());
        for (row, line) in text.split('\n').enumerate() {
            let lead = if row == 0 { &mark } else { &indent };
            if row == 0 || !line.is_empty() {
                out.push_str(lead);
            }
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// A marker at the beginning of a line.
#[derive(Clone, Copy)]
struct Mark {
    /// The column of the marker.
    column: usize,
    /// The column at which the text begins.
    content: usize,
    /// The byte at which the text begins.
    text_at: usize,
    /// Whether it may end a paragraph that it follows without a blank line.
    interrupts: bool,
}

fn mark(line: &str) -> Option<Mark> {
    let column = indentation(line);
    let trimmed = line.trim_start_matches([' ', '\t']);
    let lead = line.len() - trimmed.len();
    let (width, interrupts) = marker_width(trimmed)?;
    let after = &trimmed[width..];
    let spaces = after.len() - after.trim_start_matches([' ', '\t']).len();
    if spaces == 0 && !after.is_empty() {
        return None;
    }
    let gap = if (1..=4).contains(&spaces) && spaces < after.len() { spaces } else { 1 };
    let columns = trimmed[..width].chars().count();
    Some(Mark { column, content: column + columns + gap, text_at: lead + width + spaces, interrupts })
}

/// How many bytes the marker takes, and whether it may interrupt a paragraph.
fn marker_width(line: &str) -> Option<(usize, bool)> {
    let first = line.chars().next()?;
    if matches!(first, '-' | '*' | '+' | '•') {
        return Some((first.len_utf8(), true));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let ends = matches!(line.as_bytes().get(digits), Some(b'.' | b')'));
    ((1..=9).contains(&digits) && ends).then(|| (digits + 1, &line[..digits] == "1"))
}

/// An item from its first line on, and the line after its last.
fn item<'a>(lines: &Lines<'a>, start: usize, mark: Mark) -> (usize, Block<'a>) {
    let (form, first) = check_box(&lines.get(start)[mark.text_at..]);
    let mut text = first.to_owned();
    let mut end = start + 1;
    let mut at = end;
    while at < lines.count() {
        let line = lines.get(at);
        if line.trim().is_empty() {
            at += 1;
            continue;
        }
        let blanks = at - end;
        if !continues(line, mark, blanks) {
            break;
        }
        text.extend(std::iter::repeat_n('\n', blanks + 1));
        text.push_str(outdented(line, mark.content));
        at += 1;
        end = at;
    }
    let raw = lines.range(start, end);
    (end, Block { text: text.trim_matches('\n').trim_end().to_owned(), raw, form })
}

/// Whether a line belongs to the item above it.
fn continues(line: &str, item: Mark, blanks: usize) -> bool {
    let column = indentation(line);
    if column >= item.column + 2 {
        return true;
    }
    let lazy = mark(line).is_none() && fence(line).is_none() && !line.trim_start().starts_with('#') && !is_rule(line);
    blanks == 0 && lazy
}

/// A tick box at the beginning of an item, and the text after it.
fn check_box(text: &str) -> (Form, &str) {
    let boxes = [("[ ]", Form::Open), ("[x]", Form::Done), ("[X]", Form::Done)];
    for (mark, form) in boxes {
        if let Some(rest) = text.strip_prefix(mark)
            && (rest.is_empty() || rest.starts_with([' ', '\t']))
        {
            return (form, rest.trim_start());
        }
    }
    (Form::Item, text)
}

/// The line after the paragraph or code block that begins at `start`.
fn paragraph_end(lines: &Lines<'_>, start: usize) -> usize {
    let rest = start + 1..lines.count();
    if let Some(open) = fence(lines.get(start)) {
        let closes = |at: &usize| closes(lines.get(*at), open);
        return rest.clone().find(closes).map_or(rest.end, |at| at + 1);
    }
    let interrupts = |line: &str| mark(line).is_some_and(|mark| mark.interrupts) || fence(line).is_some();
    let ends = |at: &usize| lines.get(*at).trim().is_empty() || interrupts(lines.get(*at));
    rest.clone().find(ends).unwrap_or(rest.end)
}

/// The fence character and length when the line opens a code block.
pub(super) fn fence(line: &str) -> Option<(u8, usize)> {
    let trimmed = line.trim_start_matches(' ');
    let kind = *trimmed.as_bytes().first()?;
    let length = trimmed.bytes().take_while(|byte| *byte == kind).count();
    let opens = match kind {
        b'`' => !trimmed[length..].contains('`'),
        b'~' => true,
        _ => false,
    };
    (opens && length >= 3).then_some((kind, length))
}

/// Whether the line closes a code block that this fence opened.
pub(super) fn closes(line: &str, (kind, length): (u8, usize)) -> bool {
    let trimmed = line.trim();
    trimmed.len() >= length && trimmed.bytes().all(|byte| byte == kind)
}

/// Whether the line is a thematic break.
pub(super) fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let Some(kind @ (b'-' | b'*' | b'_')) = marks.next() else { return false };
    let further = marks.clone().count();
    further >= 2 && marks.all(|byte| byte == kind)
}

/// The column at which a line's text begins; a tab counts as four.
fn indentation(line: &str) -> usize {
    line.bytes().map_while(columns).sum()
}

/// The line without indentation, at most up to this column.
fn outdented(line: &str, limit: usize) -> &str {
    let mut column = 0;
    let mut at = 0;
    while column < limit {
        let Some(width) = line.as_bytes().get(at).copied().and_then(columns) else { break };
        column += width;
        at += 1;
    }
    &line[at..]
}

fn columns(byte: u8) -> Option<usize> {
    match byte {
        b' ' => Some(1),
        b'\t' => Some(4),
        _ => None,
    }
}

/// A text's lines, which can also be had as the stretch of text that they are.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn count(&self) -> usize {
        self.starts.len()
    }

    fn get(&self, at: usize) -> &'a str {
        self.range(at, at + 1)
    }

    /// The lines from `from` up to, not including, `to`, without the last line end.
    fn range(&self, from: usize, to: usize) -> &'a str {
        let end = self.starts.get(to).map_or(self.text.len(), |next| next - 1);
        &self.text[self.starts[from]..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_numbers_boxes_and_paragraphs_are_entries() {
        let body = "Intro:\n- one\n* two\n  more\n\n  after a blank\n1. three\n2) four\n- [x] five\n- [ ] six\nlazy\n\nA\nparagraph\n\n---\n";
        let expected =
            ["Intro:", "one", "two\nmore\n\nafter a blank", "three", "four", "five", "six\nlazy", "A\nparagraph"];
        assert_eq!(texts(body), expected);
    }

    #[test]
    fn nested_items_stay_in_their_parent() {
        assert_eq!(texts("- a\n  - b\n    c\n- d\n\t- e"), ["a\n- b\n  c", "d\n- e"]);
    }

    #[test]
    fn a_code_block_is_one_entry() {
        assert_eq!(texts("```sh\n- a\n\n- b\n```\n- c"), ["```sh\n- a\n\n- b\n```", "c"]);
    }

    #[test]
    fn a_year_or_a_rule_is_not_an_item() {
        assert_eq!(texts("released in\n2024. Then\n\n* * *\n\n-x"), ["released in\n2024. Then", "-x"]);
    }

    #[test]
    fn further_lines_stand_below_the_text() {
        let texts = ["a\n\nb".to_owned(), "c".to_owned()];
        assert_eq!(render(&texts, Marker::Number), "1. a\n\n   b\n2. c\n");
    }
}
