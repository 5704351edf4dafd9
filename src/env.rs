//! The only reader of the process's surroundings: clock, environment, arguments, directory, terminals.
//!
//! Everything is read once, at the start, into a value. What happens afterwards depends on that value alone, so
//! that a test can say what time it is and which agent it runs in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{Local, Offset, TimeZone};

use crate::model::{TimeError, Timestamp};

/// The variable that sets the clock, as an RFC 3339 time.
pub const NOW: &str = "HANDOFF_NOW";

/// What a command may know of its surroundings.
#[derive(Debug, Clone)]
pub struct Env {
    /// The arguments, the program's name first.
    pub args: Vec<OsString>,
    /// The variables whose names and values are Unicode.
    pub vars: BTreeMap<String, String>,
    /// The current directory.
    pub cwd: PathBuf,
    /// The one moment that the whole command calls "now".
    pub now: Timestamp,
    /// Whether the local zone could not be found out, so that [`Env::now`] has the offset of UTC instead.
    pub zone_unknown: bool,
    /// Whether the answers go to a person.
    pub stdout_is_terminal: bool,
    /// Whether standard input is a person.
    pub stdin_is_terminal: bool,
    /// The id of this process, from which [`Env::ancestors`] begins.
    pub process: u32,
}

/// The surroundings could not be read.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// `HANDOFF_NOW` is set and is not a time.
    #[error("{NOW} is set, but {0}")]
    Now(#[from] TimeError),
    /// The current directory is gone or forbidden.
    #[error("the current directory cannot be read")]
    Directory(#[source] io::Error),
    /// The clock stands before 1970 or after 9999.
    #[error("the system's clock shows a time that no handoff can have")]
    Clock,
}

impl Env {
    /// Reads the surroundings of this process.
    ///
    /// # Errors
    /// When the current directory cannot be read, or when the clock or `HANDOFF_NOW` makes no sense.
    pub fn of_process() -> Result<Self, EnvError> {
        let unicode = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let vars: BTreeMap<_, _> = std::env::vars_os().filter_map(unicode).collect();
        let zone_unknown = !zone_is_known(&vars);
        let now = match vars.get(NOW).filter(|text| !text.is_empty()) {
            Some(text) => set_clock(text, zone_unknown)?,
            None => {
                let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| EnvError::Clock)?;
                let millis = i64::try_from(elapsed.as_millis()).map_err(|_| EnvError::Clock)?;
                localised(millis, zone_unknown).ok_or(EnvError::Clock)?
            }
        };
        Ok(Self {
            args: std::env::args_os().collect(),
            vars,
            cwd: std::env::current_dir().map_err(EnvError::Directory)?,
            now,
            zone_unknown,
            stdout_is_terminal: io::stdout().is_terminal(),
            stdin_is_terminal: io::stdin().is_terminal(),
            process: std::process::id(),
        })
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether output may be coloured: on a terminal, and the user has not said otherwise.
    pub fn colour(&self) -> bool {
        self.stdout_is_terminal && self.var("NO_COLOR").is_none() && self.var("TERM") != Some("dumb")
    }

    /// Where this program lies, as far as the system tells.
    pub fn program(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// Where temporary files go.
    pub fn temporary_directory(&self) -> PathBuf {
        self.var("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from)
    }

    /// Every program of this name on the search path, in its order; one that several directories lead to counts once.
    pub fn programs(&self, name: &str) -> Vec<PathBuf> {
        let mut found: Vec<(PathBuf, PathBuf)> = Vec::new();
        for directory in std::env::split_paths(self.var("PATH").unwrap_or_default()) {
            let path = self.cwd.join(directory).join(name);
            let Ok(real) = path.canonicalize() else { continue };
            if is_program(&real) && !found.iter().any(|(_, known)| *known == real) {
                found.push((path, real));
            }
        }
        found.into_iter().map(|(path, _)| path).collect()
    }

    /// All of standard input, up to one byte more than `limit`, so that the caller can tell that it is too long.
    ///
    /// # Errors
    /// When reading fails.
    pub fn read_stdin(&self, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Standard input, if anything comes or it ends within `patience`; nothing if it stays open and silent, as it does
    /// where somebody started this program without saying what its input is.
    ///
    /// # Errors
    /// When reading fails.
    pub fn read_offered_stdin(&self, limit: u64, patience: Duration) -> io::Result<Option<Vec<u8>>> {
        let (first, offered) = mpsc::channel();
        let reader = thread::spawn(move || {
            let mut bytes = vec![0];
            let count = io::stdin().lock().read(&mut bytes)?;
            bytes.truncate(count);
            // When patience has ended nobody listens any more, and the bytes are nobody's.
            let listened = first.send(()).is_ok();
            if listened && count > 0 {
                io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        });
        match offered.recv_timeout(patience) {
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => match reader.join() {
                Ok(bytes) => bytes.map(Some),
                Err(_) => Err(io::Error::other("the reader of standard input stopped")),
            },
        }
    }

    /// The processes above this one (id and name), nearest first, as far as the system tells (`/proc`).
    pub fn ancestors(&self) -> Vec<(u32, String)> {
        let mut ancestors = Vec::new();
        let mut process = self.process;
        // The depth is bounded because the tree may change while it is read.
        for _ in 0..64 {
            let Some((_, parent)) = process_stat(process) else { break };
            let Some((name, _)) = process_stat(parent) else { break };
            ancestors.push((parent, name));
            process = parent;
        }
        ancestors
    }
}

#[cfg(unix)]
fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &std::path::Path) -> bool {
    path.is_file()
}

/// A process's name and the process above it.
fn process_stat(process: u32) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let parent = stat[close + 1..].split_whitespace().nth(1)?.parse().ok()?;
    Some((stat[open + 1..close].to_owned(), parent))
}

/// The moment that `HANDOFF_NOW` names. Its offset is kept, unless it is `Z`: that names an instant and says
/// nothing about where we are.
fn set_clock(text: &str, zone_unknown: bool) -> Result<Timestamp, TimeError> {
    let time: Timestamp = text.parse()?;
    if text.ends_with(['Z', 'z']) {
        localised(time.millis(), zone_unknown).ok_or_else(|| TimeError(text.into()))
    } else {
        Ok(time)
    }
}

/// A moment with the offset that holds then on this machine.
fn localised(millis: i64, zone_unknown: bool) -> Option<Timestamp> {
    let seconds = match Local.timestamp_millis_opt(millis).single() {
        Some(time) if !zone_unknown => time.offset().fix().local_minus_utc(),
        _ => 0,
    };
    Timestamp::new(millis, i16::try_from(seconds / 60).ok()?)
}

/// Whether the local zone can be believed. The time library reads an unknown name such as `TZ=Foo/Bar` as UTC
/// without a word.
fn zone_is_known(vars: &BTreeMap<String, String>) -> bool {
    let Some(zone) = vars.get("TZ").map(|zone| zone.strip_prefix(':').unwrap_or(zone)) else { return true };
    // A POSIX rule such as EST5EDT or <+03>-3 has a digit after its name.
    let is_rule = || {
        zone.starts_with(|c: char| c.is_ascii_alphabetic() || c == '<') && zone.contains(|c: char| c.is_ascii_digit())
    };
    let directories = vars.get("TZDIR").map(String::as_str).into_iter().chain([
        "/usr/share/zoneinfo",
        "/usr/lib/zoneinfo",
        "/etc/zoneinfo",
    ]);
    let is_file = || directories.map(std::path::Path::new).any(|dir| dir.join(zone).is_file());
    matches!(zone, "" | "UTC" | "UTC0" | "GMT") || is_file() || (!zone.contains("..") && is_rule())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_zone_is_noticed() {
        let known = |zone: &str| zone_is_known(&BTreeMap::from([("TZ".to_owned(), zone.to_owned())]));
        assert_eq!(["Foo/Bar", "UTC", "EST5EDT", "<+03>-3", ""].map(known), [false, true, true, true, true]);
        assert!(zone_is_known(&BTreeMap::new()));
    }

    #[test]
    fn a_clock_that_is_set_keeps_its_offset() {
        let time = set_clock("2026-08-18T17:04:00+03:00", false).expect("valid");
        assert_eq!(time.to_string(), "2026-08-18T17:04:00+03:00");
        let instant = set_clock("2026-08-18T17:04:00Z", true).expect("valid");
        assert_eq!(instant.to_string(), "2026-08-18T17:04:00+00:00");
    }

    #[test]
    fn the_process_above_this_one_has_a_name() {
        if std::path::Path::new("/proc/self/stat").exists() {
            let env = Env::of_process().expect("a test runs in readable surroundings");
            assert!(!env.ancestors().is_empty());
        }
    }
}
