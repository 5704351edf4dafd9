//! The scope in Markdown: two lists below `Included:` and `Excluded:`, and the ways in which authors write them.

use super::fields::Marker;
use super::list::{self, blocks};
use crate::model::Scope;

/// The two lists.
pub(super) fn render(scope: &Scope) -> String {
    let lists = [("Included:", &scope.included), ("Excluded:", &scope.excluded)];
    let filled = lists.iter().filter(|(_, list)| !list.is_empty());
    filled
        .map(|(label, list)| format!("{label}\n\n{}", list::render(list, Marker::Bullet)))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Reads both lists; what precedes every label is included.
pub(super) fn read(body: &str) -> Scope {
    let mut scope = Scope::default();
    let mut side = Side::Included;
    for block in blocks(body) {
        let (named, rest) = label(&block.text).map_or((side, None), |(named, rest)| (named, Some(rest)));
        side = named;
        let list = match side {
            Side::Included => &mut scope.included,
            Side::Excluded => &mut scope.excluded,
        };
        match rest {
            Some(rest) => list.extend(list::texts(rest)),
            None if block.text.is_empty() => {}
            None => list.push(block.text),
        }
    }
    scope
}

#[derive(Clone, Copy)]
enum Side {
    Included,
    Excluded,
}

/// The side that an entry names at its beginning, and what follows the name.
fn label(text: &str) -> Option<(Side, &str)> {
    let is_heading = text.starts_with('#');
    let first = text.split('\n').next().unwrap_or_default();
    let end = match first.find(':') {
        Some(colon) => colon + 1,
        None if is_heading => first.len(),
        None => return None,
    };
    let name = first[..end].trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let side = match name.as_str() {
        "included" | "includes" | "include" | "in scope" | "in" => Side::Included,
        "excluded" | "excludes" | "exclude" | "out of scope" | "not in scope" | "not included" | "out"
        | "non-goals" => Side::Excluded,
        _ => return None,
    };
    Some((side, text[end..].trim_start_matches(['*', '_']).trim_start_matches([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_every_usual_form_part_the_lists() {
        let expected = Scope { included: vec!["a".into(), "b".into()], excluded: vec!["c".into()] };
        for body in [
            "Included:\n\n- a\n- b\n\nExcluded:\n\n- c\n",
            "**In scope:**\n- a\n- b\n\n**Out of scope**: c",
            "- a\n- b\n\n### Out of scope\n\n- c",
            "- Included:\n  - a\n  - b\n- Excluded: c",
        ] {
            assert_eq!(read(body), expected, "{body}");
        }
    }

    #[test]
    fn an_empty_side_is_not_written() {
        let scope = Scope { included: Vec::new(), excluded: vec!["c".into()] };
        assert_eq!(render(&scope), "Excluded:\n\n- c\n");
    }
}
