//! What a person or a program sees: answers on standard output, talk on standard error.
//!
//! Commands compute a [`Report`]; text and JSON are two faces of it. Everything that comes from a handoff passes
//! [`crate::model::visible`] or [`crate::model::visible_line`] on its way to a terminal.

mod envelope;
mod table;

use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};
use serde_json::Value;

use crate::model::visible_line;

pub use envelope::{Envelope, Fact};
pub use table::Table;

/// What a command found out, in every face that it may be asked for.
pub trait Report {
    /// For people.
    ///
    /// # Errors
    /// When the page cannot be written.
    fn text(&self, page: &mut Page<'_>) -> io::Result<()>;

    /// For programs: stable names, documented in `docs/json.md`.
    fn json(&self) -> Value;

    /// The one thing that a script wants, such as an id; nothing by default.
    fn quiet(&self) -> Option<String> {
        None
    }
}

/// Which face of an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Text for people.
    Text,
    /// JSON.
    Json,
    /// As little as possible.
    Quiet,
}

/// Whether text may be coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// A terminal that wants colours.
    On,
    /// A file, a pipe, or `NO_COLOR`.
    Off,
}

/// Where the answer is written as text.
pub struct Page<'w> {
    out: &'w mut dyn Write,
    colour: Colour,
}

/// How a piece of text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// What the eye should find.
    Strong,
    /// What may be skipped.
    Faint,
    /// An identifier.
    Name,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Strong => Style::new().effects(Effects::BOLD),
            Self::Faint => Style::new().effects(Effects::DIMMED),
            Self::Name => AnsiColor::Yellow.on_default(),
        }
    }
}

impl Page<'_> {
    /// Writes one line. The text must already be visible text.
    ///
    /// # Errors
    /// When writing fails.
    pub fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", text.as_ref())
    }

    /// The text in a tone, or unchanged where there are no colours.
    pub fn toned(&self, tone: Tone, text: impl AsRef<str>) -> String {
        let text = text.as_ref();
        match self.colour {
            Colour::On => format!("{style}{text}{style:#}", style = tone.style()),
            Colour::Off => text.to_owned(),
        }
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// When writing fails.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }
}

/// JSON in which every character that could act on a terminal is written as an escape. Only strings can hold one, and
/// the escape stands for the same character.
pub fn printable(json: &Value) -> String {
    let text = format!("{json:#}");
    if text.is_ascii() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() || visible_line(c.encode_utf8(&mut [0; 4])).chars().eq([c]) {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// The two streams of a command and what is wanted on them.
pub struct Ui<'w> {
    face: Face,
    colour: Colour,
    out: &'w mut dyn Write,
    err: &'w mut dyn Write,
}

impl<'w> Ui<'w> {
    /// A user interface that answers on `out` and talks on `err`.
    pub fn new(face: Face, colour: Colour, out: &'w mut dyn Write, err: &'w mut dyn Write) -> Self {
        Self { face, colour, out, err }
    }

    /// Which face was asked for.
    pub fn face(&self) -> Face {
        self.face
    }

    /// Gives the answer. A reader that has gone away has seen enough: that is no error.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn answer(&mut self, report: &dyn Report) -> io::Result<()> {
        match self.write(report) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn write(&mut self, report: &dyn Report) -> io::Result<()> {
        match self.face {
            Face::Text => report.text(&mut Page { out: self.out, colour: self.colour })?,
            Face::Json => writeln!(self.out, "{}", printable(&report.json()))?,
            Face::Quiet => {
                if let Some(text) = report.quiet() {
                    writeln!(self.out, "{text}")?;
                }
            }
        }
        self.out.flush()
    }

    /// Says that something is not as it should be, although the command goes on.
    pub fn warn(&mut self, text: impl AsRef<str>) {
        self.talk("warning", text.as_ref());
    }

    /// Says what may help next. Not with `--quiet`.
    pub fn hint(&mut self, text: impl AsRef<str>) {
        if self.face != Face::Quiet {
            self.talk("hint", text.as_ref());
        }
    }

    /// Says what the user may want to know. Not with `--quiet`.
    pub fn note(&mut self, text: impl AsRef<str>) {
        if self.face != Face::Quiet {
            self.talk("note", text.as_ref());
        }
    }

    /// Writes a line of talk. When nobody can hear it there is nothing better to do than to go on.
    fn talk(&mut self, kind: &str, text: &str) {
        let text = crate::model::visible(text);
        if writeln!(self.err, "{kind}: {text}").is_err() {
            self.colour = Colour::Off;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes_what_could_act_on_a_terminal_and_keeps_its_meaning() {
        let value = serde_json::json!(["\u{9b}31m", "\u{202e}", "\u{e0001}", "é😀"]);
        let text = printable(&value);
        assert_eq!(text, "[\n  \"\\u009b31m\",\n  \"\\u202e\",\n  \"\\udb40\\udc01\",\n  \"é😀\"\n]");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
