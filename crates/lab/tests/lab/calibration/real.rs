//! Figures of a real drive, and of a served one, are read and fitted, and the misfit is told.

use ftlab_lab::Silent;
use ftlab_lab::calibrate::Request;
use ftlab_report::calibration::Parameter;

use crate::calibration::bench::{Bench, parameter, told};

/// A SATA drive of three-bit cells, no particular one.
const SATA: &str = "about = \"a SATA drive\"
source = \"a test\"
[device]
channels = 4
dies = 4
blocks_per_plane = 64
pages_per_block = 32
page_bytes = \"16KiB\"
mapping_unit = \"4KiB\"
over_provisioning = 0.5
endurance_cycles = 3000
[timing]
profile = \"parallel\"
read = \"60us\"
program = \"900us\"
erase = \"3ms\"
page_transfer = \"20us\"
[host]
queue_depth = 32
link_bandwidth = \"550MB\"
[energy]
model = \"none\"
";

/// What fio measured on a real drive, as published: fourteen documents, one behind another
/// (fio/README.md says what of them is left out).
const S4610: &str = include_str!("../fio/intel_d3_s4610.json");

/// Those of these depths, both patterns, as a file.
fn published(bench: &Bench, depths: &[u32]) -> Vec<String> {
    let is_at = |document: &&str| {
        depths.iter().any(|depth| document.contains(&format!("\"iodepth\": \"{depth}\",")))
    };
    let found: Vec<&str> = S4610.split_inclusive("\n}\n").filter(is_at).collect();
    assert_eq!(found.len(), 2 * depths.len(), "{depths:?}");
    std::fs::write(bench.path("s4610.json"), found.concat()).unwrap();
    vec![bench.text("s4610.json")]
}

/// What the book tells of all fourteen: reads are met, writes are not, and what the fit bends for
/// them lies on an end of where it is looked for, which is no measurement.
#[test]
#[ignore = "minutes of simulations: make test-long"]
fn the_published_drive_of_the_book_has_no_interval_where_there_is_no_optimum_or_an_end() {
    let bench = Bench::new();
    let request = Request {
        files: published(&bench, &[1, 2, 4, 8, 16, 32, 64]),
        base: "tlc_nvme".to_owned(),
        set: ["host.queue_depth=32"].into_iter().collect(),
        channels: vec![4],
        dies: vec![4],
        planes: vec![2],
        precondition: Some("fill".parse().unwrap()),
        requests: Some(500),
        ..bench.request("none.json")
    };
    let done = request.run(&Silent).unwrap();
    println!("{}", told(&done));
    assert_eq!((done.found.probes.len(), done.found.left_out.len()), (14, 0));
    for probe in done.found.probes.iter().filter(|probe| probe.pattern == "randread") {
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        assert!(probe.fitted && off < 0.05, "{probe:?}");
    }
    let said = done.found.words.join("\n");
    let ran_out = said.contains("its steps ran out");
    let ended = |one: &Parameter| one.why.contains("of where it is looked for");
    for one in &done.found.parameters {
        assert!(one.interval.is_none() || !(ran_out || ended(one)), "{one:?}\n{said}");
        let others = done.found.parameters.iter().filter(|one| ended(one));
        let others: Vec<String> = others.map(|one| one.key.clone()).collect();
        assert!(one.interval.is_none() || one.given == others, "{one:?}");
    }
    // Writes come within a factor of two only with programs of a tenth of the base's: they are left
    // out.
    for probe in done.found.probes.iter().filter(|one| one.pattern == "randwrite") {
        let times = probe.simulated.mean_ns / probe.measured.mean_ns;
        assert!(!probe.fitted && (2.7..11.0).contains(&times), "{times}: {probe:?}");
    }
    for key in ["timing.program", "timing.erase"] {
        let one = parameter(&done, key);
        assert!(one.interval.is_none() && one.value == one.base, "{one:?}");
    }
    // Seven reads of one size: what is told of the rest is told of the model alone.
    for key in ["timing.page_transfer", "host.command_overhead"] {
        assert_eq!(parameter(&done, key).interval, None, "{}", told(&done));
    }
    let within = [("timing.read", [37e3, 92e3]), ("host.link_bandwidth", [201e6, 408e6])];
    for (key, expected) in within {
        let one = parameter(&done, key);
        let interval = one.interval.unwrap_or_else(|| panic!("{one:?}"));
        let near = |(a, b): (f64, f64)| (a / b - 1.0).abs() < 0.02;
        assert!(interval.into_iter().zip(expected).all(near) && one.given.is_empty(), "{one:?}");
        assert!(one.doubt.starts_with("all probes that are fitted are of one size"), "{one:?}");
        assert!(one.range().unwrap().starts_with("of the model alone, "), "{one:?}");
    }
}

/// Figures of a real drive as they were published, whose state nobody tells. Its writes are
/// answered from memory, which the base lacks: no program comes near them, so that they are left
/// out, in words.
#[test]
fn a_real_drive_is_read_and_fitted_and_what_is_off_is_told() {
    let bench = Bench::new();
    std::fs::write(bench.path("sata.toml"), SATA).unwrap();
    // More depths, on a larger base, as in the book: in the next test.
    let request = Request {
        files: published(&bench, &[1, 4, 16]),
        base: bench.text("sata.toml"),
        channels: vec![4],
        dies: vec![4],
        planes: vec![1],
        precondition: Some("none".parse().unwrap()),
        requests: Some(200),
        ..bench.request("fio.json")
    };
    let done = request.run(&Silent).unwrap();
    println!("{}", told(&done));
    assert_eq!((done.found.probes.len(), done.found.left_out.len()), (6, 0));
    let read = parameter(&done, "timing.read");
    // One size of requests does not tell a page's read from what else each of them takes.
    assert!((80e3..140e3).contains(&read.value), "{read:?}");
    assert_eq!(read.interval, None, "{read:?}");
    assert!(!read.why.is_empty(), "{read:?}");
    let said = done.found.words.join("\n");
    let program = parameter(&done, "timing.program");
    assert_eq!(program.value, program.base, "{program:?}");
    assert!(program.why.contains("all curves of writes lie too far off"), "{program:?}");
    for probe in &done.found.probes {
        assert_eq!(probe.fitted, probe.pattern == "randread", "{probe:?}");
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        assert!(!probe.fitted || off < 0.1, "{probe:?}");
    }
    for words in [
        "4 KiB randwrite: off by",
        "So far off it is not fitted",
        "A drive that answers before cells are programmed looks so",
        "lat_percentiles=1",
    ] {
        assert!(said.contains(words), "'{words}' is not in: {said}");
    }
    assert!((0.01..0.15).contains(&done.found.misfit), "{}", done.found.misfit);
}

/// The figures of the book's example.
fn of_the_book() -> String {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/calibrate.md");
    let text = std::fs::read_to_string(book).unwrap();
    let (_, behind) = text.split_once("cat > drive.json <<'END'\n").expect("its figures");
    let (figures, _) = behind.split_once("\nEND\n").expect("their end");
    figures.to_owned()
}

/// The book's own command, and what the book says of what came out.
#[test]
#[ignore = "minutes of simulations: make test-long"]
fn the_books_own_run_comes_out_as_the_book_says() {
    let bench = Bench::new();
    std::fs::write(bench.path("drive.json"), of_the_book()).unwrap();
    let request = Request {
        base: "tlc_nvme".to_owned(),
        set: ["host.queue_depth=32"].into_iter().collect(),
        channels: vec![4, 8],
        dies: vec![2, 4],
        planes: vec![2],
        precondition: Some("fill".parse().unwrap()),
        requests: Some(1000),
        ..bench.request("drive.json")
    };
    let done = request.run(&Silent).unwrap();
    println!("{}\n{}", told(&done), done.found.topology_verdict());
    let found = &done.found;
    assert_eq!((found.probes.len(), found.left_out.len(), found.topologies.len()), (6, 0, 4));
    // By depth: how far the simulated mean and rate lie off at most.
    let most = [(1, 0.06), (4, 0.02), (16, 0.02), (64, 0.045)];
    for probe in &found.probes {
        let (measured, simulated) = (&probe.measured, &probe.simulated);
        let mean = simulated.mean_ns / measured.mean_ns;
        if probe.pattern == "randwrite" {
            let times = if probe.depth == 1 { 11.0..13.0 } else { 4.5..5.5 };
            assert!(!probe.fitted && times.contains(&mean), "{probe:?}");
            continue;
        }
        let (_, most) = most.into_iter().find(|(depth, _)| *depth == probe.depth).unwrap();
        let off = mean.ln().abs().max((simulated.iops / measured.iops).ln().abs());
        assert!(probe.fitted && off < most, "{off}: {probe:?}");
    }
    // So few figures measure none of the drive's parts.
    assert!(found.parameters.iter().all(|one| one.interval.is_none()), "{}", told(&done));
    assert!(found.alike().len() == 4, "{}", found.topology_verdict());
    // What is shown is what they are ranked by.
    assert!(found.topologies.is_sorted_by(|a, b| a.misfit <= b.misfit), "{:?}", found.topologies);
    assert!(told(&done).contains("answers before cells are programmed"), "{}", told(&done));
}

/// A drive of `ftlab serve` that answers when its simulated device would, on a busy machine: what a
/// request costs on its way through sockets and sleeps, one after the other, is a command's time.
/// Its random writes wait for more than that, and its probes are too few for any of the times,
/// which is told.
#[test]
#[ignore = "half a minute of simulations: make test-long"]
fn a_served_drive_is_fitted_and_what_is_off_is_told() {
    let bench = Bench::new();
    std::fs::write(bench.path("served.json"), include_str!("../fio/served.json")).unwrap();
    let request = Request {
        base: "tlc_nvme".to_owned(),
        channels: vec![8],
        dies: vec![4],
        planes: vec![2],
        precondition: Some("none".parse().unwrap()),
        requests: Some(100),
        ..bench.request("served.json")
    };
    let done = request.run(&Silent).unwrap();
    println!("{}", told(&done));
    let found = &done.found;
    assert_eq!((found.probes.len(), found.left_out.len()), (7, 2));
    let command = parameter(&done, "host.command_overhead");
    // 5375 requests a second, each behind the other.
    assert!((170e3..195e3).contains(&command.value), "{command:?}");
    for probe in found.probes.iter().filter(|probe| probe.bytes == 4096) {
        let off = (probe.simulated.mean_ns / probe.measured.mean_ns).ln().abs();
        let reads = probe.pattern == "randread";
        assert!(probe.fitted == reads && (off < 0.05) == reads, "{off}: {probe:?}");
    }
    let said = found.words.join("\n");
    for words in [
        "4 KiB randwrite: off by",
        "host.command_overhead (18",
        "runtime: 3 seconds are few",
        "size=128m: only a part of the drive may have been touched",
    ] {
        assert!(said.contains(words), "'{words}' is not in: {said}");
    }
    assert!(found.parameters.iter().all(|one| one.interval.is_none()), "{}", told(&done));
}
