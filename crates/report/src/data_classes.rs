//! What became of each class of data of a placement policy (`gc.placement`), as a table for text and
//! page.

use crate::describe::labels;
use crate::format::{NOT_APPLICABLE, Quantity, count};
use crate::result::{DataClass, RunResult};
use crate::slowest::Table;

const WORDS: bool = true;
const NUMBERS: bool = false;

/// A row for each class of each run that has any; none where no run has. Classes that took no page
/// are left out.
#[must_use]
pub fn table(runs: &[RunResult]) -> Option<Table> {
    let rows: Vec<Vec<String>> = runs
        .iter()
        .zip(labels(runs))
        .flat_map(|(run, label)| {
            let used = |class: &(usize, &DataClass)| class.1.media_bytes > 0;
            let classes = run.classes.iter().enumerate().filter(used);
            classes.map(move |(number, class)| row(&label, number, class)).collect::<Vec<_>>()
        })
        .collect();
    let columns = vec![
        ("", WORDS),
        ("class", NUMBERS),
        ("host wrote", NUMBERS),
        ("programmed", NUMBERS),
        ("moved pages", NUMBERS),
        ("victims", NUMBERS),
        ("valid in them", NUMBERS),
        ("mean lifespan", NUMBERS),
    ];
    (!rows.is_empty()).then_some(Table {
        title: "Classes of data",
        note: "What the host wrote to each class and what was programmed to it in all, moved pages \
               included; blocks of it that were collected, the share of their pages that was valid, \
               and the host pages written from opening them to collecting them.",
        columns,
        rows,
    })
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

    fn run(classes: Vec<DataClass>) -> RunResult {
        RunResult { scheme: "ideal_page".to_owned(), classes, ..RunResult::default() }
    }

    #[test]
    fn every_class_that_took_a_page_has_a_row() {
        let used = DataClass {
            host_pages: 3,
            moved_pages: 1,
            host_bytes: 3 * 4096,
            media_bytes: 4 * 4096,
            victims: 2,
            victim_valid_share: Some(0.25),
            lifespan_pages_mean: Some(1234.4),
        };
        assert!(table(&[run(Vec::new())]).is_none());
        let table = table(&[run(vec![used, DataClass::default()])]).expect("a class is used");
        assert_eq!(table.rows.len(), 1, "{table:?}");
        let cells: Vec<&str> = table.rows[0].iter().map(String::as_str).collect();
        assert_eq!(cells.len(), table.columns.len());
        assert_eq!(cells[1], "0");
        assert_eq!((cells[4], cells[5], cells[6]), ("1", "2", "25.00 %"));
        assert_eq!(cells[7], "1,234");
    }
}
