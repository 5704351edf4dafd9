use super::*;

const TABLE: &str = include_str!("../../../docs/automatic.md");

/// The files of a cell: `path:lines`, with `{1..5}` for five of them.
fn files(cell: &str) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    for word in cell.trim_matches('`').split_whitespace() {
        let (path, what) = word.rsplit_once(':').unwrap_or_else(|| panic!("'{word}' says nothing of the change"));
        let substance = match what {
            "format" => Substance::Formatting,
            "moved" => Substance::None,
            "binary" => Substance::Opaque,
            lines => Substance::Lines(lines.parse().unwrap_or_else(|_| panic!("'{lines}' is no number of lines"))),
        };
        let several = path.split_once("{1..").and_then(|(before, rest)| {
            let (count, after) = rest.split_once('}')?;
            Some((before, count.parse::<u32>().ok()?, after))
        });
        let paths = match several {
            Some((before, count, after)) => (1..=count).map(|number| format!("{before}{number}{after}")).collect(),
            None => vec![path.to_owned()],
        };
        files.extend(paths.into_iter().map(|path| ChangedFile { path, substance }));
    }
    files
}

struct Situation {
    occasion: Trigger,
    operation: Option<Operation>,
    goal: Option<OpenGoal>,
    recorded_operations: usize,
    boundary: Covered,
}

fn situation(cell: &str) -> Situation {
    let mut situation = Situation {
        occasion: Trigger::SubstantialWork,
        operation: None,
        goal: None,
        recorded_operations: 0,
        boundary: Covered::No,
    };
    let mut words = cell.split_whitespace();
    let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).expect("a number follows");
    while let Some(word) = words.next() {
        match word {
            "rebase" => situation.operation = Some(Operation::Rebase),
            "cherry-pick" => situation.operation = Some(Operation::CherryPick),
            "revert" => situation.operation = Some(Operation::Revert),
            "merge" => situation.operation = Some(Operation::Merge),
            "bisect" => situation.operation = Some(Operation::Bisect),
            "covered" => situation.boundary = Covered::Yes,
            "goal" => situation.goal = Some(OpenGoal { phases: number(words.next()) }),
            "operations" => situation.recorded_operations = number(words.next()) as usize,
            trigger => situation.occasion = trigger.parse().unwrap_or_else(|_| panic!("unknown situation '{trigger}'")),
        }
    }
    situation
}

#[test]
fn every_row_of_the_documented_table_is_what_is_decided() {
    let classes = Classes::new(&["src/billing/".into()], &["*.csv".into()]);
    let rows = TABLE.lines().skip_while(|line| !line.starts_with("| Change |")).skip(2);
    let mut count = 0;
    let mut faults = Vec::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [change, changed, where_, decision, reason] = cells[..] else { panic!("five cells are needed: {row}") };
        let files = files(changed);
        let Situation { occasion, operation, goal, recorded_operations, boundary } = situation(where_);
        let facts =
            Facts { occasion, operation, goal, files: &files, recorded_operations, boundary, classes: &classes };
        let decided = decide(&facts);
        let said = (if decided.create { "create" } else { "skip" }, decided.reasons[0].code);
        if said != (decision, reason) {
            faults.push(format!("{change}: {said:?}"));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 40, "the table has {count} rows");
}

#[test]
fn all_reasons_are_given_and_the_one_that_holds_it_back_comes_first() {
    let classes = Classes::new(&[], &[]);
    let files = files("Dockerfile:2 src/{1..5}.rs:9");
    let facts = Facts {
        occasion: Trigger::SubstantialWork,
        operation: None,
        goal: Some(OpenGoal { phases: 2 }),
        files: &files,
        recorded_operations: 1,
        boundary: Covered::No,
        classes: &classes,
    };
    let decided = decide(&facts);
    let codes: Vec<&str> = decided.reasons.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, ["goal-open", "critical-path", "many-files", "recorded-operations", "phased-goal"]);
    assert!(!decided.create);
}

#[test]
fn a_boundary_is_branch_session_and_the_last_handoffs_commit() {
    let commit: ObjectName = "0123456789abcdef0123456789abcdef01234567".parse().expect("a name");
    assert_eq!(boundary(Some("feat"), Some("s-1"), Some(&commit)), "feat|s-1|0123456789ab");
    assert_eq!(boundary(None, None, None), "-|-|-");
}
