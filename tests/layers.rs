//! The dependency table of the house and its seams. `rustc` does not keep modules acyclic; this does.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the modules that it may name. `error` and `lib` are not modules of the house.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("env", &["model"]),
    ("document", &["model"]),
    ("secrets", &["model"]),
    ("git", &["model"]),
    ("log", &["model", "document", "git"]),
    ("views", &["model", "document", "git"]),
    ("sync", &["model", "git", "log"]),
    ("agents", &["model", "git"]),
    ("hooks", &["model", "git", "sync"]),
    ("ui", &["model", "document"]),
    ("cli", &["model", "env", "document", "secrets", "git", "log", "views", "sync", "agents", "hooks", "ui"]),
    ("main", &[]),
];

/// What only some modules may say: the text, who may, and why.
const SEAMS: &[(&str, &[&str], &str)] = &[
    ("gix::", &["git"], "git/ is the one door to git"),
    ("Command::new", &["git"], "git/ is the one door to child processes"),
    ("std::env", &["env"], "env.rs is the only reader of the environment"),
    ("SystemTime::now", &["env"], "env.rs is the only reader of the clock"),
    ("Utc::now", &["env"], "env.rs is the only reader of the clock"),
    ("chrono::", &["env", "model"], "the time library stays replaceable"),
    ("clap::", &["cli"], "the command line is parsed in one place"),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The module of the house that a file belongs to: the first part of its path below `src`.
fn module_of(path: &Path, src: &Path) -> String {
    let relative = path.strip_prefix(src).expect("found below src");
    let first = relative.components().next().expect("a file has a name").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The lines of code before the file's tests, with their numbers; comments are left out.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| line.trim_start() != "#[cfg(test)]")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(at, line)| (at + 1, line))
}

/// The modules that a line names as `crate::module`.
fn named(line: &str) -> Vec<&str> {
    line.match_indices("crate::")
        .map(|(at, text)| &line[at + text.len()..])
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(""))
        .filter(|name| MAY_NAME.iter().any(|(module, _)| module == name))
        .collect()
}

#[test]
fn no_module_names_one_that_stands_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 20, "the scan found the sources");
    let mut faults = Vec::new();
    // A fixture is only compiled for tests.
    let exempt = |file: &&PathBuf| file.ends_with("src/lib.rs") || file.ends_with("fixture.rs");
    for file in files.iter().filter(|file| !exempt(file)) {
        let module = module_of(file, &src);
        let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == module) else {
            faults.push(format!("{}: module '{module}' is not in the table", file.display()));
            continue;
        };
        let text = fs::read_to_string(file).expect("a source is readable");
        for (number, line) in code(&text) {
            for name in named(line).into_iter().filter(|name| *name != module && !allowed.contains(name)) {
                faults.push(format!("{}:{number}: {module} may not name {name}", file.display()));
            }
            for (word, who, why) in SEAMS.iter().filter(|(word, ..)| line.contains(word)) {
                if !who.contains(&module.as_str()) {
                    faults.push(format!("{}:{number}: '{word}' in {module}: {why}", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_module_of_the_table_comes_after_those_it_names() {
    for (at, (module, allowed)) in MAY_NAME.iter().enumerate() {
        for name in *allowed {
            let place = MAY_NAME.iter().position(|(other, _)| other == name);
            assert!(place.is_some_and(|place| place < at), "{module} names {name}");
        }
    }
}
