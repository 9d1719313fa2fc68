//! The parameters of a twin, and how one of several is drawn by how often it was counted.

use rustc_hash::FxHashMap;

use super::class::{Class, Within};
use super::history::EXTENT_SECTORS;
use super::tables::Tables;
use crate::error::{Result, TraceError};
use crate::synthetic::random::Stream;

/// Farthest that a new extent is from those used last to count as near them, in extents.
pub(super) const RECENT_EXTENTS_MAX: u64 = 256;
/// Largest request, in bytes.
const BYTES_MAX: u64 = 1 << 30;

/// What a twin is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(super) span_bytes: u64,
    pub(super) tables: Tables,
}

/// Rows of a table, drawn by their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    /// Cumulative counts, and what stands between the key and the count of each row.
    rows: Vec<(u64, Vec<u64>)>,
}

impl Drawn {
    fn add(&mut self, row: &[u64]) {
        let (count, values) = row.split_last().expect("a row has a count");
        let before = self.rows.last().map_or(0, |(until, _)| *until);
        self.rows.push((before + count, values.to_vec()));
    }

    /// A row; none where there is none.
    pub fn draw(&self, stream: &mut Stream) -> Option<&[u64]> {
        let (all, _) = self.rows.last()?;
        let drawn = stream.below(*all);
        let index = self.rows.partition_point(|(until, _)| *until <= drawn);
        Some(&self.rows[index].1)
    }
}

/// Rows by their first columns.
pub(super) type Keyed = FxHashMap<Vec<u64>, Drawn>;

impl Model {
    /// Checks what the tables say.
    ///
    /// # Errors
    /// A span that is no multiple of an extent or holds none; no classes or sizes; numbers beyond
    /// what their column may be.
    pub(super) fn new(span_bytes: u64, tables: Tables) -> Result<Self> {
        if span_bytes == 0
            || !span_bytes.is_multiple_of(EXTENT_SECTORS * 512)
            || span_bytes >> 60 > 0
        {
            return Err(TraceError::new("span_bytes of the twin is illegal")
                .with_value(span_bytes.to_string().as_bytes())
                .with_legal("a multiple of 131072 bytes below 2^60"));
        }
        let model = Self { span_bytes, tables };
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<()> {
        let classes = Class::ALL.len() as u64;
        let (end, within) = (u64::MAX, Within::ALL.len() as u64);
        let limits: [(&str, &[u64]); 10] = [
            ("classes", &[64, classes, 2, classes, 2]),
            ("follow", &[classes, 2, 4, 4, 22, end, end, 64]),
            ("again", &[2, 2, 64, end, end, end, end]),
            ("beside", &[2, 64, within, 4, 3, end, end]),
            ("fresh", &[2, 2, 4, 1 << 52, 1 << 52]),
            ("offsets", &[classes, within, EXTENT_SECTORS]),
            ("sizes_kept", &[classes, 2, 2, 64, 2]),
            ("sizes", &[classes, 2, 64, BYTES_MAX + 1, 4]),
            ("gaps", &[64, end, end]),
            ("paces", &[64, 64]),
        ];
        for (name, limits) in limits {
            for row in self.tables.rows(name) {
                let wrong = row.iter().zip(limits).position(|(number, limit)| number >= limit);
                let size = name == "sizes" && (row[3] == 0 || !row[3].is_multiple_of(512));
                if wrong.is_some() || size {
                    return Err(TraceError::new(format!("{name}: a row of the twin is illegal"))
                        .with_value(format!("{row:?}").as_bytes())
                        .with_legal(format!("numbers below {limits:?}; bytes in sectors of 512")));
                }
            }
        }
        for (name, from) in
            [("follow", 5), ("again", 3), ("again", 5), ("beside", 5), ("fresh", 3), ("gaps", 1)]
        {
            if let Some(row) = self.tables.rows(name).iter().find(|row| row[from] > row[from + 1]) {
                return Err(TraceError::new(format!(
                    "{name}: a range of the twin ends before it begins"
                ))
                .with_value(format!("{row:?}").as_bytes())
                .with_legal("_from up to _to"));
            }
        }
        for name in ["classes", "sizes"] {
            if self.tables.rows(name).is_empty() {
                return Err(TraceError::new(format!("[twin.{name}] is missing or empty"))
                    .with_legal("what `ftlab trace fit` writes"));
            }
        }
        Ok(())
    }

    /// The rows of a table by their first `columns`.
    pub(super) fn keyed(&self, table: &str, columns: usize) -> Keyed {
        let mut keyed = Keyed::default();
        for row in self.tables.rows(table) {
            keyed.entry(row[..columns].to_vec()).or_default().add(&row[columns..]);
        }
        keyed
    }

    /// How often requests of the class beside began at each sector of an extent.
    pub(super) fn weights(&self) -> [[u64; EXTENT_SECTORS as usize]; 3] {
        let mut weights = [[0; EXTENT_SECTORS as usize]; 3];
        for row in self.tables.rows("offsets").iter().filter(|row| row[0] == Class::Beside as u64) {
            weights[row[1] as usize][row[2] as usize] += row[3];
        }
        weights
    }

    /// How often they began at each sector of eight.
    pub(super) fn phases(&self) -> [u64; 8] {
        let mut phases = [0; 8];
        for (sector, weight) in self.weights().iter().flat_map(|within| within.iter().enumerate()) {
            phases[sector % 8] += weight;
        }
        phases
    }

    /// At which of `count` requests each part ends, as their shares were in the trace.
    pub(super) fn part_ends(&self, count: u64) -> Vec<u64> {
        let mut parts = Vec::new();
        for row in self.tables.rows("classes") {
            let part = row[0] as usize;
            if parts.len() <= part {
                parts.resize(part + 1, 0u128);
            }
            parts[part] += u128::from(row[row.len() - 1]);
        }
        let all: u128 = parts.iter().sum();
        let mut until = 0;
        let end = |requests: u128| {
            until += requests;
            (until * u128::from(count) / all) as u64
        };
        parts.into_iter().map(end).collect()
    }
}
