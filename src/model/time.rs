//! Moments with their offset. Only this module and `env` name the time library, so that replacing it stays small.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, FixedOffset, SecondsFormat, TimeZone};

/// A moment with the offset of the place where it was noted, in milliseconds.
///
/// The offset is part of the value: session names and tables show the author's own clock, while order uses
/// [`Timestamp::millis`] alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timestamp {
    millis: i64,
    offset_minutes: i16,
}

/// The text is not an RFC 3339 time with an offset of whole minutes, in a year from 1 to 9999.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an RFC 3339 time such as 2026-08-18T17:04:00+03:00")]
pub struct TimeError(pub String);

impl Timestamp {
    /// The moment that lies `millis` after 1970-01-01T00:00:00Z, seen with an offset east of UTC.
    ///
    /// `None` outside the years 1 to 9999 or when the offset is a day or more.
    pub fn new(millis: i64, offset_minutes: i16) -> Option<Self> {
        let offset = FixedOffset::east_opt(i32::from(offset_minutes) * 60)?;
        let time = offset.timestamp_millis_opt(millis).single()?;
        let year = chrono::Datelike::year(&time);
        (1..=9999).contains(&year).then_some(Self { millis, offset_minutes })
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(&self) -> i64 {
        self.millis
    }

    /// Minutes east of UTC.
    pub fn offset_minutes(&self) -> i16 {
        self.offset_minutes
    }

    /// `2026-08-18-1704`: the minute as session names have it.
    pub fn minute_name(&self) -> String {
        self.date_time().format("%Y-%m-%d-%H%M").to_string()
    }

    /// `2026-08-18 17:04`: the minute as tables have it.
    pub fn minute_for_people(&self) -> String {
        self.date_time().format("%Y-%m-%d %H:%M").to_string()
    }

    /// `2026-08-18T17:04`: the minute as note lines have it.
    pub fn minute_for_notes(&self) -> String {
        self.date_time().format("%Y-%m-%dT%H:%M").to_string()
    }

    /// Whole seconds since the epoch, rounded down: git's unit.
    pub fn seconds(&self) -> i64 {
        self.millis.div_euclid(1000)
    }

    fn date_time(&self) -> DateTime<FixedOffset> {
        FixedOffset::east_opt(i32::from(self.offset_minutes) * 60)
            .and_then(|offset| offset.timestamp_millis_opt(self.millis).single())
            .expect("every constructor checked that the parts make a time")
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 with a numeric offset; the fraction is written only when there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.date_time().to_rfc3339_opts(SecondsFormat::AutoSi, false))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| TimeError(text.into()))?;
        let offset = time.offset().local_minus_utc();
        if offset % 60 != 0 {
            return Err(TimeError(text.into()));
        }
        Self::new(time.timestamp_millis(), (offset / 60) as i16).ok_or_else(|| TimeError(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_it_was_read() {
        for text in ["2026-08-18T17:04:00+03:00", "2026-08-18T17:04:00.250-05:30", "0001-01-01T00:00:00+00:00"] {
            assert_eq!(text.parse::<Timestamp>().expect("valid").to_string(), text);
        }
    }

    #[test]
    fn names_use_the_authors_own_clock() {
        let time: Timestamp = "2026-08-18T17:04:59.999+03:00".parse().expect("valid");
        assert_eq!(
            (time.minute_name(), time.minute_for_people(), time.seconds()),
            ("2026-08-18-1704".into(), "2026-08-18 17:04".into(), 1_787_061_899)
        );
    }

    #[test]
    fn what_is_not_a_time_is_refused_with_its_text() {
        for text in ["", "yesterday", "2026-08-18", "2026-08-18T17:04:00", "2026-13-01T00:00:00Z"] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimeError(text.into())));
        }
    }
}
