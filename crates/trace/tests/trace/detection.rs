//! Formats and units are found out from the content, or the flag that decides is demanded.

use crate::common::{Files, error_of, format, inspect};
use ftlab_trace::{Options, SizeUnit, TimeUnit, Workload};

/// Five columns: time, address and size of each line from its number; op alternates.
fn five(lines: u64, time: impl Fn(u64) -> String, place: impl Fn(u64) -> (u64, u64)) -> String {
    let line = |number| {
        let (lba, size) = place(number);
        format!("{} 0 {lba} {size} {}\n", time(number), number % 2)
    };
    (0..lines).map(line).collect()
}

fn noise(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34
}

/// Sizes of 4 to 64 KiB in sectors at addresses aligned to 8: sectors without doubt.
fn clear_sectors(number: u64) -> (u64, u64) {
    (noise(number) / 8 * 8, (noise(number) % 8 + 1) * 8)
}

fn detected(text: &str, options: &Options) -> Result<(String, String, String), String> {
    let files = Files::new();
    // The name says something else on purpose: it must not matter.
    let path = files.write("trace.spc.csv", text);
    let workload = Workload::parse(&path, options, 0).map_err(|error| error.to_string())?;
    let found = workload.detection().expect("a trace");
    Ok((
        found.format.name.to_owned(),
        found.time_unit.name().to_owned(),
        found.size_unit.name().to_owned(),
    ))
}

fn triple(format: &str, time: &str, size: &str) -> Result<(String, String, String), String> {
    Ok((format.into(), time.into(), size.into()))
}

#[test]
fn formats_with_columns_of_their_own_need_no_flag() {
    let options = Options::default();
    assert_eq!(detected("0,1,512,R,0.5,7\n", &options), triple("spc", "s", "bytes"));
    assert_eq!(detected("5,h,0,Write,0,512,9\n", &options), triple("msr", "filetime", "bytes"));
    assert_eq!(detected("5,w,0,512\n", &options), triple("csv", "us", "bytes"));
    let header = " TIME_US, op ,offset_bytes,size_bytes\r\n5,read,0,512\r\n";
    assert_eq!(detected(header, &options), triple("csv", "us", "bytes"));
}

#[test]
fn fractions_mean_milliseconds_and_large_integers_nanoseconds() {
    let ms = five(200, |n| format!("{}.250000", n * 7), clear_sectors);
    assert_eq!(detected(&ms, &Options::default()), triple("disksim", "ms", "sectors"));
    let ns = five(200, |n| (n * 2_400_000).to_string(), clear_sectors);
    assert_eq!(detected(&ns, &Options::default()), triple("ssdsim", "ns", "sectors"));
}

#[test]
fn integers_that_could_be_either_demand_the_unit_and_say_what_each_implies() {
    // One request in 500 units: 2 per second in ms, 2 million per second in ns.
    let text = five(200, |n| (n * 500).to_string(), clear_sectors);
    let error = detected(&text, &Options::default()).unwrap_err();
    assert!(error.contains("unit of time is in doubt"), "{error}");
    assert!(error.contains("--time-unit ms (the first lines span 99.50 s, 2.00"), "{error}");
    assert!(error.contains("--time-unit ns (the first lines span 99.50 us, 2000000.00"), "{error}");
    let stated = Options { time_unit: Some(TimeUnit::Milliseconds), ..Options::default() };
    assert_eq!(detected(&text, &stated), triple("disksim", "ms", "sectors"));
    assert_eq!(detected(&text, &format("mqsim")), triple("mqsim", "ns", "sectors"));
}

#[test]
fn seconds_with_six_decimals_are_not_taken_for_milliseconds() {
    let text = five(200, |n| format!("{}.{:06}", n / 40, n % 40 * 24_391), clear_sectors);
    let error = detected(&text, &Options::default()).unwrap_err();
    assert!(error.contains("unit of time is in doubt"), "{error}");
    assert!(error.contains("--time-unit s "), "{error}");
}

#[test]
fn seconds_read_as_nanoseconds_are_refused_with_the_likely_unit() {
    let text = five(200, |n| n.to_string(), clear_sectors);
    let error = detected(&text, &format("ssdsim")).unwrap_err();
    assert!(error.contains("absurd"), "{error}");
    assert!(error.contains("--time-unit ms"), "{error}");
    let stated = Options { time_unit: Some(TimeUnit::Seconds), ..format("ssdsim") };
    assert_eq!(detected(&text, &stated), triple("ssdsim", "s", "sectors"));
}

#[test]
fn spans_of_centuries_are_refused() {
    let text: String =
        (0..9u64).map(|n| format!("0,{n},512,w,{}.0\n", n * 1_000_000_000)).collect();
    let error = detected(&text, &Options::default()).unwrap_err();
    assert!(error.contains("absurd") && error.contains("years"), "{error}");
    assert!(error.contains("--time-unit"), "{error}");
}

#[test]
fn sizes_above_a_gibibyte_are_refused_with_the_likely_unit() {
    // Bytes in a column of sectors, at unaligned addresses that decide nothing.
    let text =
        five(200, |n| (n * 2_400_000).to_string(), |n| (noise(n), (noise(n) % 9 + 1) * 4_194_304));
    let error = detected(&text, &format("mqsim")).unwrap_err();
    assert!(error.contains("absurd") && error.contains("--size-unit bytes"), "{error}");
    let stated = Options { size_unit: Some(SizeUnit::Bytes), ..format("mqsim") };
    assert_eq!(detected(&text, &stated), triple("mqsim", "ns", "bytes"));
}

#[test]
fn sizes_in_pages_are_recognised_by_alignment_and_never_taken_for_sectors() {
    let pages = |n| (noise(n) / 16 * 16, noise(n) % 8 + 1);
    let text = five(500, |n| format!("{}.125000", n * 7), pages);
    assert_eq!(detected(&text, &Options::default()), triple("disksim", "ms", "pages4k"));
    let unaligned = five(500, |n| format!("{}.125000", n * 7), |n| (noise(n), noise(n) % 3 + 1));
    for options in [Options::default(), format("disksim")] {
        let error = detected(&unaligned, &options).unwrap_err();
        assert!(error.contains("--size-unit sectors (mean"), "{error}");
        assert!(error.contains("--size-unit pages4k (mean"), "{error}");
    }
    let stated = Options { size_unit: Some(SizeUnit::Sectors), ..format("disksim") };
    assert_eq!(detected(&unaligned, &stated), triple("disksim", "ms", "sectors"));
}

/// A file of 64 KiB requests was taken for one of 512 KiB: its first thousand addresses are all
/// multiples of 8, and some sizes are not.
#[test]
fn requests_that_begin_where_the_one_before_ended_tell_sectors_from_pages() {
    let mut next = 0;
    let mut line = |n: u64| {
        let first = if n.is_multiple_of(4) { next } else { noise(n) / 8 * 8 };
        next = first + 128;
        (first, if n % 37 == 5 { 127 } else { 128 })
    };
    let requests: Vec<(u64, u64)> = (0..900).map(&mut line).collect();
    let text = five(900, |n| (n * 2_400_000).to_string(), |n| requests[n as usize]);
    assert_eq!(detected(&text, &Options::default()), triple("ssdsim", "ns", "sectors"));
    let files = Files::new();
    let why = inspect(&files.write("t", &text), &Options::default()).unwrap().size_unit_why;
    assert!(why.contains("start where the one before ends if sizes are sectors, 0"), "{why}");
}

/// Aligned addresses speak for pages and continuations for sectors: nothing is guessed.
#[test]
fn evidence_that_contradicts_itself_asks() {
    let mut next = 0;
    let mut requests = Vec::new();
    for n in 0..900u64 {
        let first = if n % 4 == 1 { next } else { noise(n) / 8 * 8 };
        let size = if n.is_multiple_of(4) { 8 } else { 1 + n % 7 };
        next = first + size;
        requests.push((first, size));
    }
    let text = five(900, |n| (n * 2_400_000).to_string(), |n| requests[n as usize]);
    let error = detected(&text, &Options::default()).unwrap_err();
    assert!(error.contains("unit of the size column is in doubt"), "{error}");
    assert!(error.contains("225 requests start where the one before ends"), "{error}");
    assert!(error.contains("every address is a multiple of 8 sectors"), "{error}");
    assert!(error.contains("--size-unit sectors") && error.contains("--size-unit pages4k"));
    let stated = Options { size_unit: Some(SizeUnit::Sectors), ..Options::default() };
    assert_eq!(detected(&text, &stated), triple("ssdsim", "ns", "sectors"));
}

/// What the data alone decided is marked; what is stated or documented is not.
#[test]
fn guesses_are_marked() {
    let text = five(200, |n| (n * 2_400_000).to_string(), clear_sectors);
    let files = Files::new();
    let path = files.write("t", &text);
    let guesses = |options: &Options| {
        let described = Workload::parse(&path, options, 0).unwrap().describe().unwrap();
        (described.time_guess.map(|one| one.unit), described.size_guess.map(|one| one.unit))
    };
    let (ns, sectors) = (Some("ns".to_owned()), Some("sectors".to_owned()));
    assert_eq!(guesses(&Options::default()), (ns.clone(), sectors));
    let stated = Options { size_unit: Some(SizeUnit::Sectors), ..Options::default() };
    assert_eq!(guesses(&stated), (ns, None));
    assert_eq!(guesses(&format("ssdsim")), (None, None));
    let both = Workload::parse(&format!("phases:a=({path}),b=({path})"), &Options::default(), 0);
    let guess = both.unwrap().describe().unwrap().size_guess.unwrap();
    assert_eq!(guess.unit, "sectors, sectors");
    assert!(guess.why.starts_with("a: ") && guess.why.contains(" | b: "), "{}", guess.why);
}

#[test]
fn a_named_sector_format_whose_data_say_pages_demands_the_flag() {
    let pages = |n| (noise(n) / 16 * 16, noise(n) % 8 + 1);
    let text = five(500, |n| (n * 2_400_000).to_string(), pages);
    let error = detected(&text, &format("ssdsim")).unwrap_err();
    assert!(error.contains("--size-unit pages4k"), "{error}");
}

#[test]
fn the_header_of_our_csv_cannot_be_contradicted() {
    let text = "time_us,op,offset_bytes,size_bytes\n5,read,0,512\n";
    let wrong = Options { time_unit: Some(TimeUnit::Seconds), ..Options::default() };
    let error = detected(text, &wrong).unwrap_err();
    assert!(error.contains("states its own units"), "{error}");
    let same = Options { time_unit: Some(TimeUnit::Microseconds), ..Options::default() };
    assert!(detected(text, &same).is_ok());
}

#[test]
fn one_bad_line_does_not_hide_the_format() {
    let mut text = five(200, |n| (n * 2_400_000).to_string(), clear_sectors);
    text.insert_str(0, "broken\n");
    let files = Files::new();
    let path = files.write("trace", text);
    let error = error_of(&path, &Options::default());
    assert_eq!(error.line(), Some(1), "{error}");
    assert!(error.problem().contains("time is not a number"), "{error}");
}

#[test]
fn unknown_formats_and_misspelt_workloads_name_the_nearest() {
    let files = Files::new();
    let path = files.write("trace", "5,w,0,512\n");
    let error = error_of(&path, &format("mrs")).to_string();
    assert!(error.contains("did you mean 'msr'"), "{error}");
    let error = error_of("randwrit:bs=4k", &Options::default()).to_string();
    assert!(error.contains("did you mean 'randwrite'"), "{error}");
}

#[test]
fn the_text_of_an_inspection_says_why() {
    let files = Files::new();
    let path = files.write("trace", five(200, |n| (n * 2_400_000).to_string(), clear_sectors));
    let found = inspect(&path, &Options::default()).unwrap();
    let text = found.to_string();
    for part in ["ssdsim", "share these columns", "every size is a multiple of 8", &found.sha256] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["requests"], 200);
    assert_eq!(json["format"], "ssdsim");
}
