//! Code spans: how paths and commands stand in a line of Markdown.

/// The text as a code span, with as many backticks as it takes.
pub(super) fn render(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let padded = text.starts_with('`') || text.ends_with('`') || (text.starts_with(' ') && text.ends_with(' '));
    let pad = if padded { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The code span at the beginning of a line, and what follows it.
pub(super) fn split(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start_matches('`');
    let length = line.len() - rest.len();
    if length == 0 {
        return None;
    }
    let mut at = 0;
    while let Some(found) = rest[at..].find('`') {
        let start = at + found;
        let run = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        if run == length {
            return Some((unpadded(&rest[..start]), &rest[start + run..]));
        }
        at = start + run;
    }
    None
}

fn unpadded(text: &str) -> &str {
    let inner = text.strip_prefix(' ').and_then(|text| text.strip_suffix(' '));
    inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_on_one_line_reads_back() {
        for text in ["cargo test", "echo `date`", "`", "``x`", " padded ", "a ``` b"] {
            let line = format!("{} rest", render(text));
            assert_eq!(split(&line), Some((text, " rest")), "{line}");
        }
    }

    #[test]
    fn what_does_not_close_is_not_a_span() {
        assert_eq!(split("`open"), None);
        assert_eq!(split("``open`"), None);
        assert_eq!(split("plain"), None);
    }
}
