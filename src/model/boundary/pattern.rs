//! Patterns for paths, as `.gitignore` writes them: the part of its rules that says which paths are meant.

/// A list of patterns, of which the last that fits a path decides; `!` before a pattern takes paths out again.
#[derive(Debug, Clone, Default)]
pub struct Patterns(Vec<Pattern>);

/// One pattern, in lower case: on half of all systems paths that differ in case are one path.
#[derive(Debug, Clone)]
struct Pattern {
    segments: Vec<String>,
    takes_out: bool,
}

impl Patterns {
    /// The patterns of these texts; empty ones say nothing.
    pub fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        Self(texts.into_iter().filter_map(|text| Pattern::parse(text.as_ref())).collect())
    }

    /// Whether a path (relative to the top, with `/`) is meant.
    pub fn fit(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let parts: Vec<&str> = path.split('/').collect();
        let last = self.0.iter().rev().find(|pattern| pattern.fits(&parts));
        last.is_some_and(|pattern| !pattern.takes_out)
    }
}

impl Pattern {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (text, takes_out) = text.strip_prefix('!').map_or((text.as_str(), false), |rest| (rest, true));
        // A slash at the beginning or in the middle ties the pattern to the top; one at the end does not.
        let tied = text.trim_end_matches('/').contains('/');
        let mut segments: Vec<String> =
            text.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect();
        if segments.is_empty() {
            return None;
        }
        if !tied {
            segments.insert(0, "**".into());
        }
        Some(Self { segments, takes_out })
    }

    /// Whether the pattern fits the path or one of the directories that it lies in.
    fn fits(&self, parts: &[&str]) -> bool {
        (1..=parts.len()).any(|length| segments_fit(&self.segments, &parts[..length]))
    }
}

fn segments_fit(segments: &[String], parts: &[&str]) -> bool {
    match (segments.split_first(), parts.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((first, rest)), _) if first == "**" => {
            segments_fit(rest, parts) || (!parts.is_empty() && segments_fit(segments, &parts[1..]))
        }
        (Some(_), None) => false,
        (Some((first, rest)), Some((part, others))) => {
            characters_fit(first.as_bytes(), part.as_bytes()) && segments_fit(rest, others)
        }
    }
}

/// Whether a name fits a pattern with `*` and `?`, in time proportional to the product of their lengths at most.
fn characters_fit(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    let mut retry = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, in_name));
                at += 1;
            }
            Some(c) if *c == b'?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match retry {
                Some((after_star, tried)) => {
                    at = after_star;
                    in_name = tried + 1;
                    retry = Some((after_star, tried + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_gitignore_means_by_them() {
        let fits = |pattern: &str, path: &str| Patterns::new([pattern]).fit(path);
        let cases = [
            ("*.sql", "db/a/schema.SQL", true),
            ("Dockerfile*", "deploy/Dockerfile.prod", true),
            ("migrations/", "app/migrations/0001.py", true),
            ("/infra", "infra/main.tf", true),
            ("/infra", "app/infra/main.tf", false),
            ("docs/**/adr", "docs/x/y/adr/1.md", true),
            ("docs/*.md", "docs/deep/a.md", false),
            ("**/auth/**", "src/auth/login.rs", true),
            ("a?c", "abc", true),
            ("a*b*c", "axxbyyd", false),
            ("", "anything", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(fits(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn the_last_pattern_that_fits_decides() {
        let patterns = Patterns::new(["*.sql", "!seed.sql"]);
        assert!(patterns.fit("db/schema.sql"));
        assert!(!patterns.fit("db/seed.sql"));
    }
}
