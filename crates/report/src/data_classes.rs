//! What became of each class of data of a placement policy (`gc.placement`), as a table for text
//! and page.

use crate::describe::labels;
use crate::format::{NOT_APPLICABLE, Quantity, count};
use crate::result::{DataClass, RunResult};
use crate::slowest::Table;

const WORDS: bool = true;
const NUMBERS: bool = false;

macro_rules! note {
    () => {
        "What the host wrote to each class and what was programmed to it in all, moved pages included \
         (pages times their size); blocks of it that were collected, the share of their pages that was \
         valid, and the host pages written from opening them to collecting them."
    };
}
const NOTE: &str = note!();
const GROUPS_NOTE: &str = concat!(
    note!(),
    " Of groups that the policy gives a size: their segments, and the valid share that its model \
     expects and that was found in the last epoch."
);

/// A row for each class of each run that has any; none where no run has. Classes that took no page
/// and of which no block was collected are left out.
#[must_use]
pub fn table(runs: &[RunResult]) -> Option<Table> {
    let of_runs = || runs.iter().flat_map(|run| &run.classes);
    let has_groups = of_runs().any(|class| class.group.is_some());
    let rows: Vec<Vec<String>> = runs
        .iter()
        .zip(labels(runs))
        .flat_map(|(run, label)| {
            let used = |class: &(usize, &DataClass)| class.1.media_bytes > 0 || class.1.victims > 0;
            let classes = run.classes.iter().enumerate().filter(used);
            let row = move |(number, class)| {
                let mut row = row(&label, number, class);
                row.extend(group(class).into_iter().filter(|_| has_groups));
                row
            };
            classes.map(row).collect::<Vec<_>>()
        })
        .collect();
    let mut columns = vec![
        ("", WORDS),
        ("class", NUMBERS),
        ("host wrote", NUMBERS),
        ("programmed", NUMBERS),
        ("moved pages", NUMBERS),
        ("victims", NUMBERS),
        ("valid in them", NUMBERS),
        ("mean lifespan", NUMBERS),
    ];
    if has_groups {
        columns.extend(GROUP_COLUMNS);
    }
    (!rows.is_empty()).then_some(Table {
        title: "Classes of data",
        note: if has_groups { GROUPS_NOTE } else { NOTE },
        columns,
        rows,
    })
}

const GROUP_COLUMNS: [(&str, bool); 3] =
    [("segments", NUMBERS), ("valid, expected", NUMBERS), ("valid, last epoch", NUMBERS)];

fn group(class: &DataClass) -> [String; 3] {
    let share = |share: Option<f64>| {
        share.map_or(NOT_APPLICABLE.to_owned(), |share| Quantity::Fraction.format(share))
    };
    match &class.group {
        None => [NOT_APPLICABLE; 3].map(str::to_owned),
        Some(group) => [
            count(group.segments.into()),
            share(group.expected_valid_share),
            share(group.valid_share),
        ],
    }
}

fn row(label: &str, number: usize, class: &DataClass) -> Vec<String> {
    let bytes = |bytes: u64| Quantity::Bytes.format(bytes as f64);
    let or_not = |text: Option<String>| text.unwrap_or_else(|| NOT_APPLICABLE.to_owned());
    vec![
        label.to_owned(),
        number.to_string(),
        bytes(class.host_bytes),
        bytes(class.media_bytes),
        count(class.moved_pages),
        count(class.victims),
        or_not(class.victim_valid_share.map(|share| Quantity::Fraction.format(share))),
        or_not(class.lifespan_pages_mean.map(|pages| count(pages.round() as u64))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::DataGroup;
    use crate::writers::{Document, writer};

    fn run(classes: Vec<DataClass>) -> RunResult {
        RunResult { scheme: "ideal_page".to_owned(), classes, ..RunResult::default() }
    }

    /// A class that took pages, one that did not, and one that lost blocks of before the
    /// measurement.
    fn three() -> RunResult {
        let used = DataClass {
            host_pages: 3,
            moved_pages: 1,
            host_bytes: 3 * 4096,
            media_bytes: 4 * 4096,
            victims: 2,
            victim_valid_share: Some(0.25),
            lifespan_pages_mean: Some(1234.4),
            group: None,
        };
        let emptied =
            DataClass { victims: 7, victim_valid_share: Some(0.5), ..DataClass::default() };
        run(vec![used, DataClass::default(), emptied])
    }

    #[test]
    fn every_class_that_took_a_page_or_lost_a_block_has_a_row() {
        assert!(table(&[run(Vec::new())]).is_none());
        let table = table(&[three()]).expect("a class is used");
        let expected = [
            ["ideal_page", "0", "12 KiB", "16 KiB", "1", "2", "25.00 %", "1,234"],
            ["ideal_page", "2", "0 B", "0 B", "0", "7", "50.00 %", NOT_APPLICABLE],
        ];
        assert_eq!(table.rows, expected);
        assert_eq!(table.columns.len(), expected[0].len());
    }

    /// Where one run has groups, all rows say what they are or are not.
    #[test]
    fn groups_have_columns_of_their_own() {
        let mut grouped = three();
        grouped.classes[2].group =
            Some(DataGroup { segments: 47, expected_valid_share: Some(0.5), valid_share: None });
        let table = table(&[grouped]).expect("a class is used");
        assert_eq!(table.columns.len(), 11);
        assert_eq!(table.rows[0][8..], [NOT_APPLICABLE; 3]);
        assert_eq!(table.rows[1][8..], ["47", "50.00 %", NOT_APPLICABLE]);
    }

    /// Headings, what they mean, and a row for each.
    #[test]
    fn the_table_stands_in_text() {
        let document = Document { title: "t", runs: &[three()], comparison: false };
        let writer = writer("text").expect("a row of the table");
        let text = String::from_utf8((writer.write)(&document)).expect("text");
        let (_, behind) = text.split_once("\nClasses of data\n").expect("its title");
        let lines: Vec<&str> = behind.lines().take(4).collect();
        assert!(lines[0].contains("mean lifespan") && lines[3].contains("times their size"));
        assert!(lines[1].contains("16 KiB") && lines[2].contains("50.00 %"), "{lines:?}");
    }
}
