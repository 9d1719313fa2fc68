//! The page of a workload that was looked into: `ftlab trace inspect --html`.
//!
//! It is made from the JSON of the inspection alone, embeds it, and names every number by its path
//! there: members and places in arrays, joined by dots.

use crate::format::{Quantity, count};
use crate::writers::page::{self, Charts, Kind};
use serde::Serialize;
use serde_json::Value;

use Quantity::{Bytes, BytesPerSecond, Count, Fraction, Nanoseconds, PerSecond, Ratio};

/// Most units with a row each.
const UNITS_SHOWN: usize = 50;

const PAGE: Kind = Kind {
    template: include_str!("../assets/inspection.html"),
    extends: None,
    charts: Charts::Within(&[
        include_str!("../assets/inspection.js"),
        include_str!("../assets/inspection_time.js"),
    ]),
    after: &[],
};

/// A row of the summary: label, path and how the number is read.
type Row = (&'static str, &'static str, Quantity);

/// The summary: title, note and rows of each group. A row whose number the inspection lacks, or has
/// as null, is left out.
const SUMMARY: &[(&str, &str, &[Row])] = &[
    (
        "Requests",
        "what a run would see, in the order in which it comes",
        &[
            ("Requests", "requests", Count),
            ("Reads", "reads", Count),
            ("Writes", "writes", Count),
            ("Trims", "trims", Count),
            ("Flushes", "flushes", Count),
            ("Read ratio", "read_ratio", Fraction),
            ("Read", "bytes_read", Bytes),
            ("Written", "bytes_written", Bytes),
            ("Mean size", "sizes.mean_bytes", Bytes),
            ("Smallest", "sizes.min_bytes", Bytes),
            ("Largest", "sizes.max_bytes", Bytes),
            ("Small, up to 4 KiB", "size_classes.0.share", Fraction),
            ("Medium, below 16 KiB", "size_classes.1.share", Fraction),
            ("Large", "size_classes.2.share", Fraction),
            ("Sequential", "sequentiality", Fraction),
        ],
    ),
    (
        "Arrivals",
        "CV: 0 = even, 1 = Poisson, more = bursts",
        &[
            ("Time span", "span_ns", Nanoseconds),
            ("Requests a second, mean", "load_over_time.iops_mean", PerSecond),
            ("Requests a second, busiest window", "load_over_time.iops_max", PerSecond),
            ("Bytes a second, mean", "load_over_time.bytes_per_s_mean", BytesPerSecond),
            ("Bytes a second, busiest window", "load_over_time.bytes_per_s_max", BytesPerSecond),
            ("Mean time between requests", "interarrival_mean_ns", Nanoseconds),
            ("Its standard deviation", "interarrival.stddev_ns", Nanoseconds),
            ("Its coefficient of variation (CV)", "interarrival.cv", Ratio),
            ("Longest", "interarrival.max_ns", Nanoseconds),
            ("Gaps of 0", "interarrival.zero_gaps", Count),
        ],
    ),
    (
        "Addresses",
        "distinct pages, and the capacity that a device needs",
        &[
            ("Page", "page_bytes", Bytes),
            ("Footprint, pages", "footprint_pages", Count),
            ("Written footprint, pages", "written_footprint_pages", Count),
            ("Capacity for --address strict", "strict_capacity_bytes", Bytes),
            ("Capacity for --address dense", "dense_capacity_bytes", Bytes),
        ],
    ),
    (
        "Updates",
        "writes by page",
        &[
            ("Pages written", "update_frequency.written_pages", Count),
            ("Pages rewritten", "update_frequency.rewritten_pages", Count),
            ("Writes a page, mean", "update_frequency.writes_per_page_mean", Ratio),
            ("Writes of the page with most", "update_frequency.writes_per_page_max", Count),
            (
                "Writes to the hottest 1 % of pages",
                "update_frequency.hottest.0.share_of_page_writes",
                Fraction,
            ),
            (
                "Writes to the hottest 10 % of pages",
                "update_frequency.hottest.2.share_of_page_writes",
                Fraction,
            ),
            (
                "Writes to the hottest 20 % of pages",
                "update_frequency.hottest.3.share_of_page_writes",
                Fraction,
            ),
        ],
    ),
    (
        "Reuse",
        "page by page, reads and writes",
        &[
            ("Page accesses", "lru_stack.page_accesses", Count),
            ("First touches", "lru_stack.first_touches", Count),
            ("Entries of a translation page", "map_cache.entries_per_page", Count),
            (
                "First touches of a translation page",
                "map_cache.translation_pages.compulsory_misses",
                Count,
            ),
        ],
    ),
];

/// Writes the page. `inspection` is the JSON of `ftlab trace inspect --json`.
#[must_use]
pub fn write(title: &str, inspection: &Value) -> Vec<u8> {
    let own = Own {
        facts: facts(inspection),
        warnings: warnings(inspection),
        sections: sections(inspection),
        map_note: map_note(inspection),
        cache_sizes: cache_sizes(inspection),
        common_sizes: common_sizes(inspection),
        units_note: units_note(inspection),
        units: units(inspection),
    };
    page::render(&PAGE, title, inspection.to_string().as_bytes(), &own)
}

/// What the template names.
#[derive(Serialize)]
struct Own {
    facts: Vec<(&'static str, String)>,
    warnings: Vec<String>,
    sections: Vec<Section>,
    map_note: String,
    cache_sizes: Vec<Vec<Cell>>,
    common_sizes: Vec<Vec<Cell>>,
    units_note: String,
    units: Vec<Vec<Cell>>,
}

#[derive(Serialize)]
struct Section {
    title: &'static str,
    note: &'static str,
    rows: Vec<SummaryRow>,
}

#[derive(Serialize)]
struct SummaryRow {
    label: &'static str,
    path: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Cell {
    path: String,
    text: String,
}

impl Cell {
    /// The number at a path.
    fn new(found: &Value, path: String, quantity: Quantity) -> Self {
        let number = at(found, &path).and_then(Value::as_f64).unwrap_or(f64::NAN);
        Self { text: quantity.format(number), path }
    }
}

/// What is at a path; places in arrays are numbers.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    })
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

fn whole(value: &Value, path: &str) -> u64 {
    at(value, path).and_then(Value::as_u64).unwrap_or_default()
}

fn items<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn facts(found: &Value) -> Vec<(&'static str, String)> {
    let with_reason =
        |key: &str| format!("{} - {}", text(found, key), text(found, &format!("{key}_why")));
    let parts = items(found, "files").len();
    let mut facts = vec![
        ("Workload", text(found, "name").to_owned()),
        ("SHA-256", text(found, "sha256").to_owned()),
        ("Format", with_reason("format")),
        ("Compression", text(found, "compression").to_owned()),
        ("Unit of time", with_reason("time_unit")),
        ("Unit of size", with_reason("size_unit")),
        ("Sequential", text(found, "sequentiality_definition").to_owned()),
        ("Units", format!("{} (ASU, volume, disk)", items(found, "units").len())),
    ];
    if parts > 1 {
        facts.insert(1, ("Parts", count(parts as u64)));
    }
    facts
}

fn warnings(found: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    let stand_in = text(found, "stand_in");
    if !stand_in.is_empty() {
        warnings.push(format!(
            "The workload is a synthetic stand-in: generated to published statistics, not recorded \
             ({stand_in})."
        ));
    } else if text(found, "format") == "synthetic" {
        warnings.push("The workload is synthetic: it was generated, not recorded.".to_owned());
    }
    let through = match at(found, "filter").and_then(Value::as_str) {
        Some(filter) => format!("that --filter {filter} lets through "),
        None => String::new(),
    };
    if at(found, "prefix").and_then(Value::as_bool) == Some(true) {
        let requests = count(whole(found, "requests"));
        warnings.push(format!("Only the first {requests} requests {through}were read (--head)."));
    } else if !through.is_empty() {
        warnings.push(format!("Only the requests {through}were read."));
    }
    let sorted = whole(found, "out_of_order_lines");
    if sorted > 0 {
        warnings.push(format!(
            "{} lines came before an earlier line's time and were sorted; the first is line {}, \
             the largest step {}.",
            count(sorted),
            whole(found, "first_out_of_order_line"),
            Nanoseconds.format(whole(found, "backward_step_ns_max") as f64)
        ));
    }
    let own = items(found, "warnings").iter().filter_map(Value::as_str).map(str::to_owned);
    warnings.extend(own);
    for drop in items(found, "dropped") {
        warnings.push(format!(
            "{} lines were dropped ({}); the first is {}:{}.",
            count(whole(drop, "lines")),
            text(drop, "reason").replace('_', " "),
            text(drop, "first_file"),
            whole(drop, "first_line")
        ));
    }
    warnings
}

fn sections(found: &Value) -> Vec<Section> {
    let row = |&(label, path, quantity): &Row| {
        let number = at(found, path)?.as_f64()?;
        Some(SummaryRow { label, path, text: quantity.format(number) })
    };
    let section = |&(title, note, rows): &(&'static str, &'static str, &[Row])| Section {
        title,
        note,
        rows: rows.iter().filter_map(row).collect(),
    };
    SUMMARY.iter().map(section).collect()
}

fn map_note(found: &Value) -> String {
    let best = |cache: &str| {
        let part = |key: &str| whole(found, &format!("map_cache.{cache}.{key}")) as f64;
        Fraction.format(part("compulsory_misses") / part("lookups").max(1.0))
    };
    format!(
        "Every page that is read or written is looked up, in order of address within a request; \
         trims, prefetching and what a scheme looks up for itself are left out. Whatever its size, \
         a cache of entries misses {}, one of translation pages, of {} entries each, {}: look-ups \
         of what was never looked up before. Bytes are those of the map on flash: {} an entry, \
         and a translation page as large as a page; what a cache needs to find them comes on top.",
        best("entries"),
        count(whole(found, "map_cache.entries_per_page")),
        best("translation_pages"),
        Bytes
            .format(at(found, "map_cache.entry_bytes").and_then(Value::as_f64).unwrap_or(f64::NAN))
    )
}

/// A row per share: the share, then size and misses of both caches.
fn cache_sizes(found: &Value) -> Vec<Vec<Cell>> {
    let shares = |cache: &str| items(found, &format!("map_cache.{cache}.sizes_for_hits")).len();
    let (entries, pages) = (shares("entries"), shares("translation_pages"));
    // A cache in which nothing is hit again has no rows of its own.
    let named = if entries < pages { "translation_pages" } else { "entries" };
    let row = |index: usize| {
        let of = |cache: &str, key: &str| format!("map_cache.{cache}.sizes_for_hits.{index}.{key}");
        let cell = |path: String, quantity| Cell::new(found, path, quantity);
        let mut cells = vec![cell(of(named, "share_of_possible_hits"), Fraction)];
        for cache in ["entries", "translation_pages"] {
            cells.push(cell(of(cache, "size"), Count));
            cells.push(cell(of(cache, "size_bytes"), Bytes));
            cells.push(cell(of(cache, "miss_ratio"), Fraction));
        }
        cells
    };
    (0..entries.max(pages)).map(row).collect()
}

/// A row per size: the size in full, then how often it came.
fn common_sizes(found: &Value) -> Vec<Vec<Cell>> {
    let row = |place: usize| {
        let cell = |(key, quantity): (&str, Quantity)| {
            Cell::new(found, format!("sizes.common.{place}.{key}"), quantity)
        };
        let columns =
            [("bytes", Bytes), ("requests", Count), ("share", Fraction), ("reads", Count)];
        columns.into_iter().chain([("writes", Count)]).map(cell).collect()
    };
    (0..items(found, "sizes.common").len()).map(row).collect()
}

/// A row per unit, in order of their numbers; none where there is but one. Of many only those with
/// most requests.
fn units(found: &Value) -> Vec<Vec<Cell>> {
    let requests = |place: &usize| whole(found, &format!("units.{place}.requests"));
    let mut places: Vec<usize> = (0..items(found, "units").len()).collect();
    if places.len() < 2 {
        return Vec::new();
    }
    places.sort_by_key(|place| std::cmp::Reverse(requests(place)));
    places.truncate(UNITS_SHOWN);
    places.sort_unstable();
    let columns = [
        ("requests", Count),
        ("read_ratio", Fraction),
        ("bytes_read", Bytes),
        ("bytes_written", Bytes),
        ("footprint_pages", Count),
        ("written_footprint_pages", Count),
        ("first_ns", Nanoseconds),
        ("last_ns", Nanoseconds),
        ("iops", PerSecond),
    ];
    let row = |place: usize| {
        let cell = |key: &str, quantity| Cell::new(found, format!("units.{place}.{key}"), quantity);
        let number = whole(found, &format!("units.{place}.unit")).to_string();
        let name = Cell { path: format!("units.{place}.unit"), text: number };
        let numbers = columns.iter().map(|&(key, quantity)| cell(key, quantity));
        std::iter::once(name).chain(numbers).collect()
    };
    places.into_iter().map(row).collect()
}

fn units_note(found: &Value) -> String {
    let all = items(found, "units").len();
    let left_out = match all {
        0..=UNITS_SHOWN => String::new(),
        _ => format!(
            " Of {} units, the {UNITS_SHOWN} with most requests; the JSON holds all.",
            count(all as u64)
        ),
    };
    format!(
        "ASUs, volumes or disks of the trace. Footprints are in pages of {}, times since the first \
         request of all, requests a second over the whole time span.{left_out}",
        Bytes.format(whole(found, "page_bytes") as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::NOT_APPLICABLE;
    use serde_json::json;

    #[test]
    fn paths_name_members_and_places() {
        let value = json!({"a": [{"b": 1}, {"b": 2}], "c": {"d": "e"}});
        assert_eq!(at(&value, "a.1.b"), Some(&json!(2)));
        assert_eq!((text(&value, "c.d"), whole(&value, "a.0.b")), ("e", 1));
        assert_eq!((at(&value, "a.2.b"), at(&value, "a.x"), at(&value, "d")), (None, None, None));
    }

    /// One pass in order: no entry is used twice, but every map page is.
    #[test]
    fn sizes_of_map_pages_are_shown_where_no_entry_is_hit_again() {
        let row = json!({"share_of_possible_hits": 0.5, "size": 1, "size_bytes": 4096,
            "miss_ratio": 0.25});
        let found = json!({"map_cache": {
            "entries": {"sizes_for_hits": []},
            "translation_pages": {"sizes_for_hits": [row]},
        }});
        let rows = cache_sizes(&found);
        let texts: Vec<&str> = rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(texts[1..6], [NOT_APPLICABLE, NOT_APPLICABLE, NOT_APPLICABLE, "1", "4 KiB"]);
        assert!(texts[0].contains("50") && texts[6].contains("25"), "{texts:?}");
    }

    #[test]
    fn of_many_units_those_with_most_requests_have_rows() {
        let unit = |number: u64| json!({"unit": number, "requests": number * 7 % 61, "iops": null});
        let of = |count: u64| json!({"units": (0..count).map(unit).collect::<Vec<_>>()});
        assert!(units(&of(1)).is_empty());
        let few = units(&of(3));
        let texts: Vec<&str> = few[2].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((few.len(), &texts[..2], texts[9]), (3, &["2", "14"][..], NOT_APPLICABLE));
        assert_eq!(few[2][1].path, "units.2.requests");
        let many = units(&of(61));
        let numbers: Vec<u64> = many.iter().map(|row| row[0].text.parse().unwrap()).collect();
        assert!(numbers.len() == 50 && numbers.is_sorted());
        assert!(numbers.iter().all(|number| number * 7 % 61 >= 11));
        assert!(
            units_note(&of(61))
                .ends_with("Of 61 units, the 50 with most requests; the JSON holds all.")
        );
        assert!(!units_note(&of(50)).contains("most requests"));
    }

    #[test]
    fn a_page_says_what_was_left_out_of_the_trace() {
        let found = json!({
            "format": "synthetic", "prefix": true, "requests": 1000, "out_of_order_lines": 2,
            "first_out_of_order_line": 7, "backward_step_ns_max": 1500,
            "dropped": [{"reason": "zero_size_flush", "lines": 3, "first_file": "<t>",
                "first_line": 9}],
        });
        let page = String::from_utf8(write("Test", &found)).unwrap();
        for part in [
            "it was generated",
            "first 1,000 requests",
            "first is line 7, the largest step 1.500 µs",
            "3 lines were dropped (zero size flush); the first is &lt;t&gt;:9.",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<t>"), "text from outside is no markup");
        let made = json!({"format": "synthetic", "stand_in": "Table 4"});
        let page = String::from_utf8(write("Test", &made)).unwrap();
        assert!(page.contains("synthetic stand-in: generated to published statistics"));
        assert!(page.contains("not recorded (Table 4)."));
        assert!(
            !String::from_utf8(write("Test", &json!({})))
                .unwrap()
                .contains("class=\"warning\">Only")
        );
    }
}
