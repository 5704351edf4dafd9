//! Whether a line says that a file is still to come, or is gone.

/// What a text says of a file's existence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mention {
    /// Nothing in particular: the file should be there.
    Present,
    /// It is still to be made.
    Planned,
    /// It was removed, renamed or is known to be missing.
    Gone,
}

/// Phrases that announce a file, in lower case.
const PLANNED: &[&str] = &[
    "to be created",
    "to be added",
    "to be written",
    "will be created",
    "will be added",
    "will be written",
    "should be created",
    "needs to be created",
    "must be created",
    "not exist yet",
    "doesn't exist yet",
    "not yet",
    "not created",
    "yet to be",
    "new file",
    "new module",
    "new test",
    "(new)",
    "planned",
    "noch nicht",
    "anzulegen",
    "neue datei",
    "à créer",
    "por crear",
    "da creare",
    "新規",
    "未作成",
    "待创建",
    "待新建",
];

/// Phrases that take leave of a file, in lower case.
const GONE: &[&str] = &[
    "deleted",
    "removed",
    "renamed",
    "moved",
    "dropped",
    "no longer",
    "not exist",
    "doesn't exist",
    "is missing",
    "is gone",
    "gelöscht",
    "entfernt",
    "umbenannt",
    "supprimé",
    "renommé",
    "eliminado",
    "削除",
    "删除",
];

/// Reads lines in order: a line such as `New files:` speaks for the list below it.
#[derive(Default)]
pub(super) struct Reader {
    heading: Option<Mention>,
}

impl Reader {
    pub(super) fn read(&mut self, line: &str) -> Mention {
        let own = of_line(line);
        let trimmed = line.trim();
        let is_item = trimmed.starts_with(['-', '*', '+']) || trimmed.starts_with(|c: char| c.is_ascii_digit());
        if trimmed.ends_with(':') {
            self.heading = Some(own);
        } else if !is_item {
            self.heading = None;
        }
        if own == Mention::Present { self.heading.unwrap_or(own) } else { own }
    }
}

/// What one line says of the files that it names.
pub fn of_line(line: &str) -> Mention {
    let line = line.to_lowercase().replace('’', "'");
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| line.contains(phrase));
    if says(PLANNED) {
        Mention::Planned
    } else if says(GONE) {
        Mention::Gone
    } else {
        Mention::Present
    }
}
