//! CSV: a row per run; columns are the paths of the JSON joined by dots, arrays left out.

use super::Document;
use crate::flatten::{Flat, text};
use crate::metrics::flatten_all;

/// Writes the union of all columns; what a run does not have is an empty cell.
pub fn write(document: &Document<'_>) -> Vec<u8> {
    let flats = flatten_all(document.runs);
    let columns = columns(&flats);
    let mut table = csv::Writer::from_writer(Vec::new());
    let memory = "memory takes every byte, and rows have equal lengths";
    table.write_record(&columns).expect(memory);
    for flat in &flats {
        table.write_record(columns.iter().map(|path| text(flat.get(path)))).expect(memory);
    }
    table.into_inner().expect(memory)
}

/// Columns in the order of the JSON; one that only a later run has comes behind its neighbour.
fn columns(flats: &[Flat]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for flat in flats {
        let mut next = 0;
        for path in flat.keys() {
            match columns.iter().position(|column| column == path) {
                Some(position) => next = position + 1,
                None => {
                    columns.insert(next, path.clone());
                    next += 1;
                }
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::RunResult;

    #[test]
    fn columns_of_a_later_run_come_beside_their_neighbours() {
        let mut runs = [RunResult::default(), RunResult::default()];
        runs[0].events.insert("converted".to_owned(), 1);
        runs[1].events.insert("second_chance".to_owned(), 2);
        let bytes = write(&Document { title: "", runs: &runs, comparison: true });
        let mut table = csv::Reader::from_reader(bytes.as_slice());
        let header = table.headers().unwrap().clone();
        let position = |name: &str| header.iter().position(|column| column == name).unwrap();
        assert_eq!(position("audit"), position("events.second_chance") + 2);
        let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
        assert_eq!(&rows[0][position("events.second_chance")], "");
        assert_eq!(&rows[1][position("events.second_chance")], "2");
        assert_eq!(&rows[0][position("waf")], "");
    }
}
