//! Why the slowest requests are slow, in words: tables for text and page, and the story of a
//! request, told from its numbers alone.

use serde::Serialize;

use crate::derive::{shares, total};
use crate::describe::labels;
use crate::format::{NOT_APPLICABLE, Quantity, count};
use crate::metrics::stage_labels;
use crate::result::{ByCause, RunResult, Slowest, Stages, Tail, Worst};

/// Rows under a heading.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: &'static str,
    /// What its words mean.
    pub note: &'static str,
    /// Heading of every column, and whether it holds words rather than numbers.
    pub columns: Vec<(&'static str, bool)>,
    /// The first cell of each names the run.
    pub rows: Vec<Vec<String>>,
}

/// Heading of the column of stories, always the last.
pub const STORY: &str = "story";

const WORDS: bool = true;
const NUMBERS: bool = false;

/// Causes that are named of a work, at most.
const CAUSES_NAMED: usize = 3;

/// The tables of the runs that have a tail, with so many of its slowest requests one by one; none
/// where no run has.
#[must_use]
pub fn tables(runs: &[RunResult], one_by_one: usize) -> Vec<Table> {
    let labels = labels(runs);
    let with_tail = runs.iter().zip(&labels).filter_map(|(run, label)| {
        let tail = run.tail.as_ref()?;
        Some((label.as_str(), run, tail))
    });
    let told: Vec<(&str, &RunResult, &Tail)> = with_tail.collect();
    match told.is_empty() {
        true => Vec::new(),
        false => vec![times(&told), work(&told), worst(&told, one_by_one)],
    }
}

fn parts(tail: &Tail) -> [(&'static str, &Slowest); 2] {
    [("slowest 1 %", &tail.slowest_1_percent), ("slowest 0.1 %", &tail.slowest_0_1_percent)]
}

fn time(nanos: f64) -> String {
    Quantity::Nanoseconds.format(nanos)
}

/// Response time and its stages, of all requests and of the slowest.
fn times(told: &[(&str, &RunResult, &Tail)]) -> Table {
    let rows = told.iter().flat_map(|(label, run, tail)| {
        let all = &run.latency_ns.all.system;
        let ours = ("all", all.count, all.min, all.mean, run.stages_ns);
        let others = parts(tail).map(|(name, part)| {
            (name, part.requests, part.from_ns, part.response_ns_mean, part.stages_ns)
        });
        [ours].into_iter().chain(others).map(move |row| (*label, row))
    });
    let rows: Vec<_> = rows.collect();
    let used = |stage: &usize| rows.iter().any(|(_, row)| row.4.values()[*stage] > 0.0);
    let stages: Vec<usize> = (0..Stages::<f64>::default().values().len()).filter(used).collect();
    let names: Vec<&'static str> = stage_labels().collect();
    let mut columns = vec![("", WORDS), ("requests", WORDS), ("how many", NUMBERS)];
    columns.extend([("from", NUMBERS), ("mean", NUMBERS)]);
    columns.extend(stages.iter().map(|&stage| (names[stage], NUMBERS)));
    let cells =
        |(label, (name, requests, from, mean, of)): (&str, (&str, u64, u64, f64, Stages))| {
            let mut row = vec![label.to_owned(), name.to_owned(), count(requests)];
            let at =
                |nanos: f64| if requests == 0 { NOT_APPLICABLE.to_owned() } else { time(nanos) };
            row.extend([at(from as f64), at(mean)]);
            row.extend(stages.iter().map(|&stage| at(of.values()[stage])));
            row
        };
    Table {
        title: "Why the slowest are slow",
        note: "Mean time of the slowest requests in each stage, waits included, beside that of \
               all: the stages sum to the mean.",
        columns,
        rows: rows.into_iter().map(cells).collect(),
    }
}

/// What the device did for the slowest, and for those in front of them.
fn work(told: &[(&str, &RunResult, &Tail)]) -> Table {
    let row = |label: &str, name: &str, part: &Slowest| {
        let (own, ahead) = (&part.work_ns, &part.ahead.work_ns);
        vec![
            label.to_owned(),
            name.to_owned(),
            time(total(own)),
            or_nothing(causes(own)),
            Quantity::Ratio.format(part.ahead.requests),
            time(total(ahead)),
            or_nothing(causes(ahead)),
        ]
    };
    let rows = told
        .iter()
        .flat_map(|(label, _, tail)| parts(tail).map(|(name, part)| row(label, name, part)));
    Table {
        title: "What the flash did for the slowest, and for those in front of them",
        note: "Means per request: how long dies and channels worked for it and in the idle gap \
               before it; how many requests the device was not done with when it arrived, and how \
               long it worked for these in all.",
        columns: vec![
            ("", WORDS),
            ("requests", WORDS),
            ("own work", NUMBERS),
            ("by cause", WORDS),
            ("in front", NUMBERS),
            ("their work", NUMBERS),
            ("by cause", WORDS),
        ],
        rows: rows.collect(),
    }
}

fn or_nothing(text: String) -> String {
    if text.is_empty() { NOT_APPLICABLE.to_owned() } else { text }
}

/// The slowest requests one by one.
fn worst(told: &[(&str, &RunResult, &Tail)], most: usize) -> Table {
    let row = |label: &str, one: &Worst| {
        let sum = |of: &ByCause<u64>| count(of.values().iter().sum());
        vec![
            label.to_owned(),
            count(one.index),
            time(one.arrival_ns as f64),
            one.op.clone(),
            count(one.first_sector),
            count(one.sectors),
            time(one.system_ns as f64),
            count(one.ahead.requests),
            sum(&one.reads),
            sum(&one.programs),
            sum(&one.erases),
            story(one),
        ]
    };
    let rows = told
        .iter()
        .flat_map(|(label, _, tail)| tail.worst.iter().take(most).map(|one| row(label, one)));
    Table {
        title: "The slowest requests, and what became of them",
        note: "Numbers are those of --probe, from 0. Reads, programs and erases are those of the \
               request and of the idle gap before it.",
        columns: vec![
            ("", WORDS),
            ("number", NUMBERS),
            ("arrival", NUMBERS),
            ("asks", WORDS),
            ("sector", NUMBERS),
            ("sectors", NUMBERS),
            ("response", NUMBERS),
            ("in front", NUMBERS),
            ("reads", NUMBERS),
            ("programs", NUMBERS),
            ("erases", NUMBERS),
            (STORY, WORDS),
        ],
        rows: rows.collect(),
    }
}

/// What a request's time went into, in a sentence.
#[must_use]
pub fn story(one: &Worst) -> String {
    const WHERE: [&str; 7] = [
        "Waited {} in the driver's queue",
        "Spent {} on the host link",
        "Spent {} in the controller",
        "Spent {} in the write buffer",
        "Spent {} on the map",
        "Spent {} in the flash cells",
        "Spent {} on the channels",
    ];
    const QUEUE: usize = 0;
    const MAP: usize = 4;
    const FLASH: usize = 5;
    const CHANNEL: usize = 6;
    let stages = one.stages_ns.values();
    let longest = stages.iter().max().copied().unwrap_or(0);
    let stage = stages.iter().position(|&time| time == longest).unwrap_or(0);
    let share = longest as f64 / one.system_ns.max(1) as f64;
    let spent = format!("{} ({})", time(longest as f64), percent(share));
    let begun = WHERE[stage].replace("{}", &spent);
    let own = total(&in_floats(&one.work_ns));
    let why = match stage {
        QUEUE if one.ahead.requests > 0 => format!(" behind {}", in_front(one, "")),
        QUEUE => ", while the device ended what it did in the idle gap before".to_owned(),
        MAP => own_work(one),
        FLASH | CHANNEL if 2.0 * own >= longest as f64 => own_work(one),
        FLASH | CHANNEL if one.ahead.requests > 0 => {
            format!(", most of it waiting, with {}", in_front(one, " in front"))
        }
        FLASH | CHANNEL => ", most of it waiting, with nobody in front".to_owned(),
        _ => match one.ahead.requests {
            0 => ", with nobody in front".to_owned(),
            _ => format!(", with {}", in_front(one, " in front")),
        },
    };
    format!("{begun}{why}.")
}

fn in_floats(work: &ByCause<u64>) -> ByCause<f64> {
    ByCause::from(work.values().map(|nanos| nanos as f64))
}

/// Who was in front, and what the device did for them.
fn in_front(one: &Worst, place: &str) -> String {
    let causes = causes(&in_floats(&one.ahead.work_ns));
    let work = if causes.is_empty() { String::new() } else { format!(", whose work was {causes}") };
    format!("{}{place}{work}", counted(one.ahead.requests, "request"))
}

/// What the device did for the request itself.
fn own_work(one: &Worst) -> String {
    let sum = |of: &ByCause<u64>| of.values().iter().sum::<u64>();
    let merges = match (one.full_merges, one.merged_data_blocks) {
        (0, _) => None,
        (merges, blocks) => {
            let merges = counted(merges, "full merge");
            Some(format!("{merges} of {}", counted(blocks, "data block")))
        }
    };
    let some = |number: u64, text: String| (number > 0).then_some(text);
    let (reads, programs, erases) = (sum(&one.reads), sum(&one.programs), sum(&one.erases));
    let done = [
        merges,
        some(one.map_misses, counted(one.map_misses, "map miss")),
        some(reads, format!("{} read", counted(reads, "page"))),
        some(programs, format!("{} programmed", counted(programs, "page"))),
        some(erases, format!("{} erased", counted(erases, "block"))),
    ];
    let done: Vec<String> = done.into_iter().flatten().collect();
    let causes = causes(&in_floats(&one.work_ns));
    match (causes.is_empty(), done.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("; its own work was {causes}"),
        (false, false) => format!("; its own work was {causes} ({})", done.join(", ")),
    }
}

/// What a work was done for, the most of it first; empty of no work.
fn causes(work: &ByCause<f64>) -> String {
    let named =
        |(name, share): &(&str, f64)| format!("{} {}", percent(*share), name.replace('_', " "));
    let all = shares(work);
    all.iter().take(CAUSES_NAMED).map(named).collect::<Vec<_>>().join(", ")
}

/// In whole percent; all of it is 100 %, and nothing less.
fn percent(share: f64) -> String {
    match (100.0 * share).round() {
        rounded if rounded >= 100.0 && share < 1.0 => ">99 %".to_owned(),
        rounded => format!("{rounded:.0} %"),
    }
}

fn counted(number: u64, word: &str) -> String {
    let plural = if word.ends_with('s') { "es" } else { "s" };
    format!("{} {word}{}", count(number), if number == 1 { "" } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Ahead;

    fn one(stages_ns: Stages<u64>) -> Worst {
        let system_ns = stages_ns.values().iter().sum();
        Worst { system_ns, stages_ns, ..Worst::default() }
    }

    #[test]
    fn a_wait_in_the_queue_is_told_with_those_in_front() {
        let stages = Stages { driver_queue: 93_000_000, flash: 1_000_000, ..Stages::default() };
        let work_ns = ByCause { merge: 81_000_000, host: 19_000_000, ..ByCause::default() };
        let ahead = Ahead { requests: 31, work_ns };
        assert_eq!(
            story(&Worst { ahead, ..one(stages) }),
            "Waited 93.00 ms (99 %) in the driver's queue behind 31 requests, whose work was \
             81 % merge, 19 % host."
        );
        assert!(story(&one(stages)).ends_with("ended what it did in the idle gap before."));
    }

    #[test]
    fn time_in_the_flash_is_own_work_or_a_wait() {
        let stages = Stages { channel: 10, flash: 990, ..Stages::default() };
        let slow = Worst {
            work_ns: ByCause { merge: 900, host: 100, ..ByCause::default() },
            reads: ByCause { merge: 1984, ..ByCause::default() },
            programs: ByCause { merge: 1984, host: 1, ..ByCause::default() },
            erases: ByCause { merge: 1, ..ByCause::default() },
            full_merges: 2,
            merged_data_blocks: 31,
            ..one(stages)
        };
        assert_eq!(
            story(&slow),
            "Spent 990.0 ns (99 %) in the flash cells; its own work was 90 % merge, 10 % host (2 \
             full merges of 31 data blocks, 1,984 pages read, 1,985 pages programmed, 1 block \
             erased)."
        );
        let ahead = Ahead { requests: 1, work_ns: ByCause { gc: 700, ..ByCause::default() } };
        let waits = Worst { work_ns: ByCause { host: 20, ..ByCause::default() }, ..one(stages) };
        assert_eq!(
            story(&Worst { ahead, ..waits.clone() }),
            "Spent 990.0 ns (99 %) in the flash cells, most of it waiting, with 1 request in \
             front, whose work was 100 % gc."
        );
        assert!(story(&waits).ends_with("most of it waiting, with nobody in front."));
    }

    #[test]
    fn shares_are_whole_and_sum_to_no_more_than_there_is() {
        assert_eq!([1.0, 0.999, 0.5, 0.014].map(percent), ["100 %", ">99 %", "50 %", "1 %"]);
        let work = ByCause { gc: 995.0, host: 5.0, ..ByCause::default() };
        assert_eq!(causes(&work), ">99 % gc", "half a hundredth is not named");
        assert_eq!(causes(&ByCause::default()), "");
    }
}
