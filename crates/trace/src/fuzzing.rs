//! Entry points for fuzzing, shared by the libFuzzer targets and by the smoke test on the stable
//! toolchain. Each must neither panic nor break the rules that it checks, whatever the bytes.

use std::io::Cursor;
use std::sync::Arc;

use ftlab_flash::request::Content;

use crate::combination::Combination;
use crate::compression;
use crate::detect::{self, Sample};
use crate::error::TraceError;
use crate::events::Files;
use crate::filter::{EventFilter, Filter};
use crate::footprint::PageSet;
use crate::formats::context::{Context, Scales};
use crate::formats::line::Line;
use crate::formats::{self, FORMATS, compact};
use crate::layout::{AddressMap, AddressMode};
use crate::options::{Options, Parts, SizeUnit, TimeUnit};
use crate::records::Records;
use crate::source::{Source, Text};
use crate::survey::Survey;
use crate::synthetic::Synthetic;

/// Requests taken from one input at most.
const RECORDS_MAX: usize = 1 << 14;

/// Every line parser on every line of the input.
pub fn fuzz_lines(data: &[u8]) {
    for line in data.split(|&byte| byte == b'\n') {
        for (format, text) in formats::texts() {
            for scales in [
                Scales::new(format.time_unit, format.size_unit),
                Scales::new(TimeUnit::Seconds, SizeUnit::Pages16k),
            ] {
                let _ = (text.shape)(line);
                let mut context = Context::new(scales, EventFilter::default());
                if let Ok(Line::Request(record)) = (text.parse)(line, &mut context) {
                    assert!(record.end_bytes() >= record.offset_bytes, "an end before its start");
                }
            }
        }
    }
}

/// Decompression, detection and the whole pipeline; the first byte picks the options.
pub fn fuzz_trace(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let options = Options {
        format: (choice & 7 != 0)
            .then(|| FORMATS[usize::from(choice) % FORMATS.len()].name.to_owned()),
        size_unit: (choice & 8 != 0).then_some(SizeUnit::Sectors),
        time_unit: (choice & 16 != 0).then_some(TimeUnit::Milliseconds),
        keep_zero_size_flushes: choice & 32 != 0,
        any_order: choice & 64 != 0,
        skip_bad: u64::from(choice >> 7) * 3,
        ..Options::default()
    };
    let any_order = options.any_order;
    let Ok(first) = Text::open("fuzz", Box::new(Cursor::new(data.to_vec()))) else {
        return;
    };
    let detection = match formats::binary_of(first.head()) {
        Some(format) => detect::binary("fuzz", format, &options),
        None => {
            let sample = Sample::new(first.head(), first.head_is_whole());
            if sample.is_empty() {
                return;
            }
            detect::detect("fuzz", &sample, &options)
        }
    };
    let Ok(detection) = detection else {
        return;
    };
    let names: Arc<[String]> = ["fuzz".to_owned()].into();
    let source = Arc::new(Source::Parts(vec!["fuzz".into()]));
    let files = Files { source, names, parts: 0..1, first: Some(first) };
    let Ok(mut records) = Records::of_trace(files, &detection, options) else {
        return;
    };
    let mut previous_ns = 0;
    let mut maps = maps();
    let mut requests = Vec::new();
    let mut pages = PageSet::new();
    for record in records.by_ref().take(RECORDS_MAX) {
        let Ok(record) = record else { break };
        assert!(any_order || record.time_ns >= previous_ns, "time steps back");
        previous_ns = record.time_ns;
        // Large trims are legal, but would make the fuzzer slow in dense mode.
        if record.size_bytes > 1 << 24 {
            continue;
        }
        if record.size_bytes > 0 {
            pages.insert(record.unit, record.offset_bytes >> 12, (record.end_bytes() - 1) >> 12);
        }
        for map in &mut maps {
            requests.clear();
            if map.map(&record, &mut requests).is_ok() {
                assert!(!requests.is_empty(), "a record without a request");
            }
        }
    }
    let summary = records.summary();
    assert!(summary.requests + summary.dropped_lines() <= summary.lines_read, "more than read");
}

/// Records of the compact form, whatever they say, in blocks whose checksums are right: one file,
/// or two that are merged. The first four bytes choose parts, block, filter and head.
pub fn fuzz_compact(data: &[u8]) {
    const FILTERS: [&str; 6] = [
        "op=read+write+trim+flush",
        "op=read",
        "op=write+trim,every=3",
        "from=1us,to=1h",
        "from=1ms",
        "to=1s,every=2",
    ];
    let Some((&[which, block, filter, head], data)) = data.split_first_chunk() else {
        return;
    };
    let (records, _) = data.as_chunks::<{ compact::RECORD_BYTES }>();
    let files = match which & 1 {
        0 => vec![records],
        _ => <[_; 2]>::from(records.split_at(records.len() / 2)).to_vec(),
    };
    let written = |(part, records): (usize, &&[[u8; compact::RECORD_BYTES]])| {
        // Units of the second file are given too, or not: then the two are refused together.
        let given = which & 2 != 0 || (part > 0 && which & 4 != 0);
        let (origin_ns, block) = (u64::from(which >> 3), 1 + u32::from(block));
        let mut writer = compact::Writer::with_blocks(Vec::new(), origin_ns, given, block)?;
        records.iter().try_for_each(|record| {
            let content = record[24].is_multiple_of(3).then(|| Content::new(record[25].into()));
            writer.write_bytes(record, content)
        })?;
        writer.finish()
    };
    let files: Vec<Vec<u8>> =
        files.iter().enumerate().map(|one| written(one).expect("written to memory")).collect();
    let options = Options {
        filter: FILTERS[usize::from(filter) % FILTERS.len()].parse().expect("a legal filter"),
        head: (head > 0).then_some(u64::from(head)),
        parts: Some(Parts::ByTime),
        ..Options::default()
    };
    let detection = detect::binary("0", &compact::FORMAT, &options).expect("no units are stated");
    let source = Arc::new(Source::Memory(files));
    let names: Arc<[String]> = source.names().into();
    let files = Files { source, parts: 0..names.len(), names, first: None };
    let Ok(mut read) = Records::of_trace(files, &detection, options.clone()) else {
        return;
    };
    let mut previous_ns = 0;
    let mut count = 0;
    for record in read.by_ref() {
        let Ok(record) = record else { break };
        assert!(record.time_ns >= previous_ns, "time steps back");
        assert!(record.end_bytes() >= record.offset_bytes, "an end before its start");
        assert!(options.filter.refuses(&record).is_none(), "a request that was not asked for");
        previous_ns = record.time_ns;
        count += 1;
    }
    assert!(count <= options.head.unwrap_or(u64::MAX), "more than the head");
    assert!(count <= records.len() as u64, "more than there are");
    let summary = read.summary();
    assert!(summary.requests + summary.dropped_lines() <= summary.lines_read, "more than read");
}

fn maps() -> [AddressMap; 3] {
    let capacity = 64 << 20;
    [AddressMode::Strict, AddressMode::Modulo, AddressMode::Dense].map(|mode| {
        AddressMap::new(mode, capacity, 128 << 10, None).expect("capacity and extent are legal")
    })
}

/// The inline spec: parsing, its canonical form, and some of its requests.
pub fn fuzz_spec(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let capacity = 1 << 30;
    let Ok(spec) = Synthetic::parse(text, capacity) else {
        return;
    };
    let again = Synthetic::parse(&spec.to_string(), capacity).expect("canonical form is legal");
    assert_eq!(again, spec, "the canonical form means something else");
    let mut records = Records::generated(&spec, Some(256), "spec");
    let survey = Survey::of(&mut records, None, || Ok::<_, TraceError>(()))
        .expect("generated records are no errors");
    assert!(survey.strict_bytes() <= capacity, "a request beyond the device");
}

/// The text behind `--filter`.
pub fn fuzz_filter(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(filter) = text.parse::<Filter>()
    {
        assert!(filter.from_ns < filter.to_ns && filter.every > 0, "{text}");
    }
}

/// The text of a combination: what it says is what its canonical parts say.
pub fn fuzz_combination(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(Some(combination)) = Combination::parse(text) {
        assert!(!combination.parts.is_empty(), "{text}: a combination of nothing");
    }
}

/// Decompression alone.
pub fn fuzz_compression(data: &[u8]) {
    let Ok((_, mut text)) = compression::open(Box::new(Cursor::new(data.to_vec()))) else {
        return;
    };
    let mut buffer = [0; 4096];
    for _ in 0..1024 {
        match text.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => assert!(count <= buffer.len()),
        }
    }
}
