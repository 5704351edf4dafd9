//! Durations as people write them: `90s 15m 2h 7d`.

/// The seconds of a duration; `None` when it is none.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    Some(u64::from(count.parse::<u32>().ok()?) * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_a_duration() {
        let read = ["90s", "15m", "2h", "7d", "7", "d", "", "-1s", "1w", "é"].map(seconds);
        let [none, none2, none3, none4, none5, none6] = [None; 6];
        assert_eq!(read, [Some(90), Some(900), Some(7200), Some(604_800), none, none2, none3, none4, none5, none6]);
    }
}
