//! One word of a text: could it be a path, and how surely?

use super::{Certainty, leads_outside, normal_form};

/// A word that could be a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: String,
    pub(super) line: Option<u32>,
    pub(super) certainty: Certainty,
}

/// Endings that files have and hardly anything else does. What is not here is only a possible file.
const ENDINGS: &[&str] = &[
    "adoc",
    "asm",
    "astro",
    "avif",
    "awk",
    "bash",
    "bat",
    "bazel",
    "bib",
    "bmp",
    "bzl",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cljs",
    "cmake",
    "cmd",
    "conf",
    "cpp",
    "cs",
    "csproj",
    "css",
    "csv",
    "cts",
    "cu",
    "cue",
    "cxx",
    "dart",
    "db",
    "diff",
    "dockerfile",
    "edn",
    "ejs",
    "el",
    "elm",
    "env",
    "eps",
    "erb",
    "erl",
    "ex",
    "exs",
    "fish",
    "fs",
    "fsx",
    "gd",
    "gemspec",
    "gif",
    "glsl",
    "go",
    "gql",
    "gradle",
    "graphql",
    "groovy",
    "gz",
    "h",
    "haml",
    "hbs",
    "hcl",
    "hh",
    "hpp",
    "hrl",
    "hs",
    "htm",
    "html",
    "hxx",
    "ico",
    "iml",
    "ini",
    "ino",
    "ipynb",
    "java",
    "jl",
    "jpeg",
    "jpg",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lhs",
    "liquid",
    "lisp",
    "lock",
    "log",
    "lua",
    "m",
    "make",
    "md",
    "mdc",
    "mdx",
    "mjs",
    "mk",
    "ml",
    "mli",
    "mm",
    "mod",
    "mp3",
    "mp4",
    "mts",
    "nim",
    "nix",
    "odt",
    "org",
    "pas",
    "patch",
    "pb",
    "pdf",
    "php",
    "pkl",
    "pl",
    "plist",
    "pm",
    "png",
    "po",
    "pot",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "psm1",
    "pug",
    "py",
    "pyi",
    "pyx",
    "qml",
    "r",
    "rake",
    "rb",
    "rego",
    "rkt",
    "rmd",
    "rs",
    "rst",
    "s",
    "sass",
    "sbt",
    "scala",
    "scm",
    "scss",
    "service",
    "sh",
    "sln",
    "snap",
    "sol",
    "sql",
    "sqlite",
    "styl",
    "sum",
    "sv",
    "svelte",
    "svg",
    "swift",
    "tar",
    "tcl",
    "tex",
    "tf",
    "tfvars",
    "tgz",
    "thrift",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "ttf",
    "twig",
    "txt",
    "typ",
    "v",
    "vb",
    "vhd",
    "vim",
    "vue",
    "wasm",
    "wat",
    "webp",
    "wgsl",
    "woff",
    "woff2",
    "xcodeproj",
    "xlsx",
    "xml",
    "xsd",
    "yaml",
    "yml",
    "zig",
    "zip",
    "zsh",
];

/// Files that have no ending.
const NAMES: &[&str] = &[
    "BUILD",
    "CHANGELOG",
    "CODEOWNERS",
    "Brewfile",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
    "WORKSPACE",
    "justfile",
];

/// First parts of ref names.
const REF_ROOTS: &[&str] = &["refs", "origin", "upstream", "heads", "remotes", "tags"];

/// First parts of MIME types.
const MIME_ROOTS: &[&str] =
    &["application", "audio", "font", "image", "message", "model", "multipart", "text", "video"];

/// Last parts of host names that could be taken for files.
const HOST_ENDINGS: &[&str] = &[
    "ai", "app", "ch", "co", "com", "de", "dev", "edu", "eu", "fr", "gov", "info", "io", "jp", "local", "me", "net",
    "org", "rs", "sh", "test", "uk",
];

/// Characters that stand between words, besides white space, without being part of a path.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || ",;|=→⇒\"“”„«»‹›（）「」『』【】《》、。，；：！？".contains(c)
}

/// The words of running text, without their punctuation. URLs are left out whole, and so is what braces hold.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(link_target).filter(|word| !is_foreign(word)).flat_map(|word| {
        let pieces = word.split(is_separator).flat_map(|piece| piece.split("->")).flat_map(|piece| piece.split("=>"));
        pieces.map(bare).flat_map(without_script)
    })
}

/// The two halves of `text](target)`, which are words of their own.
fn link_target(word: &str) -> Vec<&str> {
    match word.split_once("](") {
        Some((text, target)) => vec![text, target],
        None => vec![word],
    }
}

/// Whether the whole word is a URL, an option or a pattern, so that no part of it can be a path.
fn is_foreign(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '[', '<', '"', '\'', '*', '_']);
    word.contains("://") || word.starts_with('-') || word.contains(['{', '}']) || word.starts_with("mailto:")
}

/// A word without the punctuation and emphasis around it.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| "()[]<>'‘’*_!?:;,\"".contains(c));
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    word.trim_end_matches('.')
}

/// Cuts a word where a script that is written without spaces touches plain ASCII.
fn without_script(word: &str) -> Vec<&str> {
    if !word.contains(is_unspaced) {
        return vec![word];
    }
    let mut pieces: Vec<&str> = word.split(is_unspaced).map(bare).filter(|piece| piece.contains('/')).collect();
    pieces.retain(|piece| has_known_ending(piece));
    if pieces.is_empty() { vec![word] } else { pieces }
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// Reads one word of a text: like [`read`], but an ordinary word is no path.
pub(super) fn mentioned(word: &str) -> Option<Candidate> {
    let path_like = word.contains(['/', '\\', '.']) || NAMES.contains(&word);
    if path_like { read(word) } else { None }
}

/// Reads one word as a path with an optional line.
pub(super) fn read(word: &str) -> Option<Candidate> {
    let (path, line) = split_line(word);
    let windows = path.contains('\\') && !path.contains('/');
    if leads_outside(path) || is_impossible(path) {
        return None;
    }
    let path = normal_form(&if windows { path.replace('\\', "/") } else { path.into() });
    if path.is_empty() || !path.contains(char::is_alphanumeric) {
        return None;
    }
    let sure = !windows && is_certain(&path);
    Some(Candidate { path, line, certainty: if sure { Certainty::Certain } else { Certainty::Possible } })
}

/// Whether no file of a repository is written like that.
fn is_impossible(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    path.contains("://")
        || path.contains("..")
        || path.contains(['*', '?', '<', '>', '{', '}', '|', '$', '"', ':', '%', '\0'])
        || path.starts_with(['-', '@', '#', '['])
        || (path.contains('@') && !has_known_ending(path))
        || (path.contains('/') && REF_ROOTS.contains(&first))
        || is_mime(path)
        || path.chars().all(|c| c.is_ascii_digit() || "./-+".contains(c))
}

fn is_mime(path: &str) -> bool {
    path.split_once('/')
        .is_some_and(|(kind, rest)| MIME_ROOTS.contains(&kind) && !rest.contains('/') && !has_known_ending(path))
}

/// Whether the path can hardly be anything but a file: it has a directory and a file's ending.
fn is_certain(path: &str) -> bool {
    let Some((first, _)) = path.split_once('/') else { return false };
    has_known_ending(path) && !path.contains(['@', '[', ']', '(', ')']) && !is_host(first)
}

/// Whether the first part is a host name, as in `example.com/index.html`.
fn is_host(first: &str) -> bool {
    let host = first.trim_start_matches('.');
    host.len() == first.len() && host.rsplit_once('.').is_some_and(|(_, ending)| HOST_ENDINGS.contains(&ending))
}

/// Whether the last part ends as files do.
pub(super) fn has_known_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let known = |ending: &str| ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok();
    NAMES.contains(&name) || name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && known(ending))
}

/// Splits `path:42:7`, `path:10-20`, `path#L10-L20`, `path::item` and `path(12)` into the path and the first line.
fn split_line(word: &str) -> (&str, Option<u32>) {
    let number = |text: &str| {
        let digits = text.trim_start_matches(['L', 'l']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<u32>().ok().filter(|line| *line > 0)
    };
    if let Some((path, fragment)) = word.split_once('#') {
        return (path, number(fragment));
    }
    match word.split_once(':') {
        Some((path, _)) if path.len() < 2 => (word, None),
        Some((path, rest)) if rest.starts_with(':') || rest.is_empty() => (path, None),
        Some((path, rest)) => match number(rest) {
            Some(line) => (path, Some(line)),
            None => (word, None),
        },
        None => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endings_are_sorted_for_the_search() {
        assert!(ENDINGS.is_sorted());
    }
}
