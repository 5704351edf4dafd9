//! A Markdown document cut at its headings.
//!
//! Only headings of the form `## …` that stand on their own count: not those in code, in HTML comments, in
//! quotations or in list items.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::fields::{Meaning, meaning};
use super::list::is_rule;

/// A document cut into its sections.
pub(super) struct Document<'a> {
    /// The heading of the first level with which it begins.
    pub(super) title: Option<&'a str>,
    /// What precedes the first section, without the title.
    pub(super) preamble: &'a str,
    /// The sections, in order.
    pub(super) sections: Vec<Section<'a>>,
}

/// A heading and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// The heading, without its marks.
    pub(super) heading: &'a str,
    /// The lines below it.
    pub(super) body: &'a str,
    /// The line of the heading, from 1.
    pub(super) line: usize,
}

/// Which headings begin a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Levels {
    /// Those of the second level: the form in which this tool writes.
    Second,
    /// Also those of the first and third level that mean a field, as other tools and authors write.
    Known,
}

/// A heading on its own line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heading<'a> {
    level: HeadingLevel,
    name: &'a str,
    /// Where its line begins.
    start: usize,
    /// Where the next line begins.
    end: usize,
}

/// The headings of the first three levels that stand on their own.
pub(super) fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        if let Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) = event {
            depth += 1;
        } else if let Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) = event {
            depth = depth.saturating_sub(1);
        } else if let Event::Start(Tag::Heading { level, .. }) = event
            && depth == 0
            && level <= HeadingLevel::H3
        {
            found.extend(heading(text, level, range.start));
        }
    }
    found
}

/// The heading in the line around `at`; `None` when it is underlined instead of marked by `#`.
fn heading(text: &str, level: HeadingLevel, at: usize) -> Option<Heading<'_>> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
    let line = text[start..end].trim();
    let name = line.strip_prefix(&"######"[..level as usize])?.trim();
    let unmarked = name.trim_end_matches('#');
    let closed = unmarked.is_empty() || unmarked.ends_with([' ', '\t']);
    Some(Heading { level, name: if closed { unmarked.trim_end() } else { name }, start, end })
}

/// Cuts a document at its headings.
pub(super) fn cut<'a>(text: &'a str, headings: &[Heading<'a>], levels: Levels) -> Document<'a> {
    let title = headings.first().filter(|first| is_title(text, first, levels));
    let mut within = HeadingLevel::H2;
    let mut starts = Vec::new();
    for heading in &headings[usize::from(title.is_some())..] {
        if begins(heading, levels, within) {
            within = heading.level;
            starts.push(heading);
        }
    }
    let mut line = 1;
    let mut counted = 0;
    let mut sections = Vec::with_capacity(starts.len());
    for (at, start) in starts.iter().enumerate() {
        line += text[counted..start.start].matches('\n').count();
        counted = start.start;
        let end = starts.get(at + 1).map_or(text.len(), |next| next.start);
        let body = &text[start.end..end];
        let body = if levels == Levels::Known { without_rule(body) } else { body };
        sections.push(Section { heading: start.name, body, line });
    }
    let first = starts.first().map_or(text.len(), |first| first.start);
    Document {
        title: title.map(|title| title.name),
        preamble: &text[title.map_or(0, |title| title.end)..first],
        sections,
    }
}

fn is_title(text: &str, first: &Heading<'_>, levels: Levels) -> bool {
    let alone = text[..first.start].trim().is_empty();
    first.level == HeadingLevel::H1 && alone && (levels == Levels::Second || !is_known(first))
}

fn begins(heading: &Heading<'_>, levels: Levels, within: HeadingLevel) -> bool {
    if heading.level == HeadingLevel::H2 || levels == Levels::Second {
        return heading.level == HeadingLevel::H2;
    }
    // What follows a known heading of the third level is not part of it.
    heading.level == HeadingLevel::H1 || within == HeadingLevel::H3 || is_known(heading)
}

fn is_known(heading: &Heading<'_>) -> bool {
    !matches!(meaning(heading.name), Meaning::Unknown)
}

/// A body without the thematic break by which authors part their sections.
fn without_rule(body: &str) -> &str {
    let trimmed = body.trim_end();
    let (before, last) = trimmed.rsplit_once('\n').unwrap_or(("", trimmed));
    if is_rule(last) && (before.is_empty() || before.ends_with('\n')) { before } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, levels: Levels) -> Vec<&str> {
        cut(text, &headings(text), levels).sections.iter().map(|section| section.heading).collect()
    }

    #[test]
    fn only_headings_that_stand_on_their_own_count() {
        let text = "# T\n\n## A\n\n```\n## code\n```\n\n<!--\n## comment\n-->\n\n> ## quote\n\n- ## item\n\n    ## indented\n\n## B ##\n\nUnderlined\n---\n\n## C#\n";
        assert_eq!(names(text, Levels::Second), ["A", "B", "C#"]);
    }

    #[test]
    fn a_section_knows_its_line_and_text() {
        let text = "# T\nintro\n\n## A\nx\n\n## B\ny";
        let document = cut(text, &headings(text), Levels::Second);
        assert_eq!((document.title, document.preamble), (Some("T"), "intro\n\n"));
        let expected = [Section { heading: "A", body: "x\n\n", line: 4 }, Section { heading: "B", body: "y", line: 7 }];
        assert_eq!(document.sections, expected);
    }

    #[test]
    fn known_headings_of_the_third_level_are_sections_of_their_own() {
        let text =
            "## Work Completed\n\n### Tasks Finished\n\n- x\n\n### Elsewhere\n\ny\n\n## Other\n\n### Part\n\nz\n";
        assert_eq!(names(text, Levels::Known), ["Work Completed", "Tasks Finished", "Elsewhere", "Other"]);
        assert_eq!(names(text, Levels::Second), ["Work Completed", "Other"]);
    }
}
