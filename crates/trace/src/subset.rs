//! Which units of a trace together have published statistics: an exact search, branch and bound.
//!
//! Requests, reads, bytes and sequential requests (each within its unit) add up over units, so a
//! subset is judged by sums. Units are decided one by one, the largest first; a branch is left as
//! soon as no way of deciding the rest can come nearer than the best subsets known, which the
//! bounds of every sum tell. All 2^n subsets are considered, but few are looked at: the number of
//! requests alone rules most out.

use std::collections::BTreeMap;

use crate::error::{Result, TraceError};
use crate::record::Record;
use crate::stand_in::WorkloadFile;
use crate::statistics::{Statistic, Statistics};

/// Units that a search takes; Financial1 has 24.
pub const SUBSET_UNITS_MAX: usize = 48;
/// Branches looked at before the search gives up being exact.
const BRANCHES_MAX: u64 = 200_000_000;
/// Subsets reported.
const KEPT: usize = 5;

/// The statistics of each unit of a trace.
#[derive(Clone, Debug, Default)]
pub struct UnitStatistics {
    units: BTreeMap<u32, (Statistics, Option<u64>)>,
}

impl UnitStatistics {
    /// Counts every record. `noted` is called behind each, and may end the pass.
    ///
    /// # Errors
    /// The first error of the records, or of `noted`; more units than a search takes.
    pub fn of<E: From<TraceError>>(
        records: impl Iterator<Item = Result<Record>>,
        mut noted: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Self, E> {
        let mut all = Self::default();
        for record in records {
            let record = record?;
            noted()?;
            let (counted, end) = all.units.entry(record.unit).or_default();
            counted.note(&record, *end);
            *end = Some(record.end_bytes());
            if all.units.len() > SUBSET_UNITS_MAX {
                let error = TraceError::new("the trace has too many units for a search");
                return Err(error.with_legal(format!("up to {SUBSET_UNITS_MAX}")).into());
            }
        }
        Ok(all)
    }

    /// Units present.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Is there no unit?
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The statistics of some units together; gaps are not among them.
    pub fn together(&self, units: &[u32]) -> Statistics {
        let mut sum = Statistics::default();
        for (_, (one, _)) in self.units.iter().filter(|(unit, _)| units.contains(unit)) {
            sum.requests += one.requests;
            sum.reads += one.reads;
            sum.writes += one.writes;
            sum.bytes += one.bytes;
            sum.sequential += one.sequential;
        }
        sum
    }
}

/// What a subset should have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsetTarget {
    /// Number of requests; none where nothing published decides it.
    pub requests: Option<f64>,
    /// Mean size, bytes.
    pub mean_bytes: f64,
    /// Reads among them, percent.
    pub read_percent: f64,
    /// Sequential requests among them, percent.
    pub sequential_percent: f64,
}

impl SubsetTarget {
    /// What a stand-in was fitted to, with the number of its requests unless that is a choice of
    /// its file, which says nothing about the trace.
    ///
    /// # Errors
    /// A stand-in whose source does not print all of them.
    pub fn of(name: &str, file: &WorkloadFile, requests: u64) -> Result<Self> {
        let published = |statistic: Statistic| {
            let found = file.published.iter().find(|one| one.statistic == statistic);
            found.map(|one| one.value).filter(|value| *value > 0.0).ok_or_else(|| {
                TraceError::new(format!("the source of the stand-in prints no {}", statistic.key()))
                    .with_value(name.as_bytes())
                    .with_legal("a stand-in of DFTL 2014, Table 4, such as financial")
            })
        };
        let chosen = file.chosen.iter().any(|(key, _)| key == "count");
        Ok(Self {
            requests: (!chosen).then_some(requests as f64),
            mean_bytes: published(Statistic::MeanBytes)?,
            read_percent: published(Statistic::ReadPercent)?,
            sequential_percent: published(Statistic::SequentialPercent)?,
        })
    }

    /// The root of the sum of the squares of the deviations, each relative to its target.
    /// Infinite for no requests.
    pub fn distance(&self, of: &Statistics) -> f64 {
        if of.requests == 0 {
            return f64::INFINITY;
        }
        let sums = Sums::of(of);
        self.least(sums, sums).sqrt()
    }

    /// The least squared distance of any sums between `low` and `high`.
    fn least(&self, low: Sums, high: Sums) -> f64 {
        let off = |low: f64, high: f64, target: f64| {
            let nearest = target.clamp(low, high.max(low));
            let off = (nearest - target) / target;
            off * off
        };
        let ratio = |low_part: f64, high_part: f64, low_whole: f64, high_whole: f64| {
            let high = if low_whole > 0.0 { high_part / low_whole } else { f64::INFINITY };
            (if high_whole > 0.0 { low_part / high_whole } else { 0.0 }, high)
        };
        let (low_mean, high_mean) = ratio(low.bytes, high.bytes, low.requests, high.requests);
        let (low_read, high_read) = ratio(low.reads, high.reads, low.accesses, high.accesses);
        let (low_follow, high_follow) =
            ratio(low.sequential, high.sequential, low.requests, high.requests);
        self.requests.map_or(0.0, |requests| off(low.requests, high.requests, requests))
            + off(low_mean, high_mean, self.mean_bytes)
            + off(100.0 * low_read, (100.0 * high_read).min(100.0), self.read_percent)
            + off(100.0 * low_follow, (100.0 * high_follow).min(100.0), self.sequential_percent)
    }
}

/// The sums that a distance is made of. Whole numbers below 2^53, so exact.
#[derive(Clone, Copy, Default)]
struct Sums {
    requests: f64,
    accesses: f64,
    reads: f64,
    bytes: f64,
    sequential: f64,
}

impl Sums {
    fn of(one: &Statistics) -> Self {
        Self {
            requests: one.requests as f64,
            accesses: (one.reads + one.writes) as f64,
            reads: one.reads as f64,
            bytes: one.bytes as f64,
            sequential: one.sequential as f64,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            accesses: self.accesses + other.accesses,
            reads: self.reads + other.reads,
            bytes: self.bytes + other.bytes,
            sequential: self.sequential + other.sequential,
        }
    }
}

/// A subset and how far it is from the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Subset {
    /// Its units, in order of their numbers.
    pub units: Vec<u32>,
    /// Its distance.
    pub distance: f64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SubsetSearch {
    /// The nearest subsets, nearest first.
    pub nearest: Vec<Subset>,
    /// Branches looked at.
    pub branches: u64,
    /// Was the whole tree considered? Otherwise these are only the nearest ones met.
    pub exact: bool,
}

/// The subsets of units that come nearest to `target`. `noted` is called at each branch, and may
/// end the search.
///
/// # Errors
/// What `noted` gives.
pub fn find_subset<E>(
    units: &UnitStatistics,
    target: &SubsetTarget,
    noted: impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<SubsetSearch, E> {
    let mut order: Vec<(u32, Sums)> =
        units.units.iter().map(|(unit, (one, _))| (*unit, Sums::of(one))).collect();
    // A stable sort: units of equal size stay in order of their numbers.
    order.sort_by(|a, b| b.1.requests.total_cmp(&a.1.requests));
    let mut rest = vec![Sums::default(); order.len() + 1];
    for place in (0..order.len()).rev() {
        rest[place] = rest[place + 1].plus(order[place].1);
    }
    let mut search = Search {
        target,
        order,
        rest,
        taken: Vec::new(),
        found: SubsetSearch { nearest: Vec::new(), branches: 0, exact: true },
        noted,
    };
    search.decide(0, Sums::default())?;
    Ok(search.found)
}

struct Search<'a, N> {
    target: &'a SubsetTarget,
    order: Vec<(u32, Sums)>,
    /// All units from a place on.
    rest: Vec<Sums>,
    taken: Vec<u32>,
    found: SubsetSearch,
    noted: N,
}

impl<E, N: FnMut() -> std::result::Result<(), E>> Search<'_, N> {
    /// Decides the unit at `place` and all after it.
    fn decide(&mut self, place: usize, sums: Sums) -> std::result::Result<(), E> {
        self.found.branches += 1;
        if self.found.branches > BRANCHES_MAX {
            self.found.exact = false;
            return Ok(());
        }
        (self.noted)()?;
        let least = self.target.least(sums, sums.plus(self.rest[place])).sqrt();
        let full = self.found.nearest.len() == KEPT;
        if full && self.found.nearest.last().is_some_and(|worst| least >= worst.distance) {
            return Ok(());
        }
        if place == self.order.len() {
            if sums.requests > 0.0 {
                self.keep(least);
            }
            return Ok(());
        }
        let (unit, own) = self.order[place];
        // The nearer side first: good subsets early cut more later.
        let requests = sums.requests + own.requests;
        let wanted = self.target.requests.is_none_or(|target| requests <= target);
        for take in [wanted, !wanted] {
            if take {
                self.taken.push(unit);
                self.decide(place + 1, sums.plus(own))?;
                self.taken.pop();
            } else {
                self.decide(place + 1, sums)?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, distance: f64) {
        let mut units = self.taken.clone();
        units.sort_unstable();
        let nearest = &mut self.found.nearest;
        nearest.push(Subset { units, distance });
        nearest.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.units.cmp(&b.units)));
        nearest.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::SyntheticSpec;

    /// Units of random size and kind.
    fn units(count: u32, seed: u64) -> UnitStatistics {
        let spec = format!("randrw:bs=4k,span=1G,count={},seed={seed}", 4 * count);
        let mut draws = SyntheticSpec::parse(&spec, 0).unwrap().records();
        let mut draw = |bound: u64| draws.next().unwrap().offset_bytes / 4096 % bound;
        let mut all = UnitStatistics::default();
        for unit in 0..count {
            let requests = 100 + draw(10_000);
            let reads = draw(requests + 1);
            let one = Statistics {
                requests,
                reads,
                writes: requests - reads,
                bytes: requests * (512 + draw(8192)),
                sequential: draw(1 + requests / 10),
                ..Statistics::default()
            };
            all.units.insert(unit, (one, None));
        }
        all
    }

    fn all_of(units: &UnitStatistics, target: &SubsetTarget) -> SubsetSearch {
        let mut branches = 0;
        let noted = || {
            branches += 1;
            Ok::<(), TraceError>(())
        };
        let found = find_subset(units, target, noted).unwrap();
        assert_eq!(found.branches, branches);
        found
    }

    #[test]
    fn the_search_finds_what_trying_all_subsets_finds() {
        for seed in 1..6 {
            let units = units(12, seed);
            let target = SubsetTarget {
                requests: Some(14_000.0),
                mean_bytes: 4485.0,
                read_percent: 30.0,
                sequential_percent: 4.0,
            };
            let found = all_of(&units, &target);
            let mut all: Vec<f64> = (1u32..1 << 12)
                .map(|set| {
                    let chosen: Vec<u32> = (0..12).filter(|unit| set >> unit & 1 == 1).collect();
                    target.distance(&units.together(&chosen))
                })
                .collect();
            all.sort_by(f64::total_cmp);
            let distances: Vec<f64> = found.nearest.iter().map(|one| one.distance).collect();
            assert_eq!(distances, all[..KEPT], "seed {seed}");
            for one in &found.nearest {
                assert_eq!(target.distance(&units.together(&one.units)), one.distance);
            }
            assert!(found.exact && found.branches < 1 << 12, "{} branches", found.branches);
        }
    }

    #[test]
    fn a_subset_hidden_among_24_units_is_found_with_few_branches() {
        let units = units(24, 9);
        let hidden = [3, 7, 11, 20];
        let sums = units.together(&hidden);
        let value = |statistic| sums.value(statistic).unwrap();
        let target = SubsetTarget {
            requests: Some(sums.requests as f64),
            mean_bytes: value(Statistic::MeanBytes),
            read_percent: value(Statistic::ReadPercent),
            sequential_percent: value(Statistic::SequentialPercent),
        };
        let found = all_of(&units, &target);
        assert_eq!(found.nearest[0].units, hidden);
        assert!(found.nearest[0].distance < 1e-9 && found.exact);
        assert!(found.branches < 1 << 22, "{} branches", found.branches);
    }
    /// Ten times the requests are no deviation where their number is the file's own choice.
    #[test]
    fn a_chosen_number_of_requests_is_no_target() {
        let file = |count: &str, keys: &str| {
            let published = |name: &str, value: f64, keys: &str| {
                format!(
                    "[published.{name}]\nvalue = {value}\ntolerance = 1.0\nfrom = \"T\"\n\
                     why = \"w\"\nkeys = \"{keys}\"\n"
                )
            };
            let text = format!(
                "about = \"a\"\nsource = \"s\"\n\
                 spec = \"randrw:rwmixread=90,bs=4k,span=1M,count=1000,seq_fraction=0.1\"\n{}{}{}\
                 [chosen]\nrandrw = \"r\"\nspan = \"s\"\n{count}",
                published("read_percent", 90.0, keys),
                published("mean_bytes", 4096.0, "bs"),
                published("sequential_percent", 10.0, "seq_fraction"),
            );
            WorkloadFile::parse("f.toml", &text).unwrap()
        };
        let target = |file: &WorkloadFile| SubsetTarget::of("f", file, 1000).unwrap();
        let own = Statistics {
            requests: 10_000,
            reads: 9000,
            writes: 1000,
            bytes: 40_960_000,
            sequential: 1000,
            ..Statistics::default()
        };
        let chosen = target(&file("count = \"not printed\"", "rwmixread"));
        assert_eq!((chosen.requests, chosen.distance(&own)), (None, 0.0));
        let printed = target(&file("", "rwmixread, count"));
        assert_eq!((printed.requests, printed.distance(&own)), (Some(1000.0), 9.0));
    }
}
