//! What probes do not tell is said not to be told, and what cannot be fitted is refused.

use ftlab_lab::calibrate::Request;
use ftlab_lab::{Error, Silent};
use ftlab_report::calibration::Probe;

use crate::calibration::bench::{BASE, Bench, parameter, told};

#[test]
fn what_reads_alone_do_not_tell_is_said_not_to_be_told() {
    let bench = Bench::new();
    bench.measure("fio.json", &[("randread", 4096, 1), ("randread", 2048, 1)], || 1.0, || 1.0);
    let request = Request { channels: vec![1, 2], dies: vec![1, 2], ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    for key in ["timing.program", "timing.erase"] {
        let one = parameter(&done, key);
        assert_eq!((one.interval, one.why.as_str()), (None, "no probe writes"), "{key}");
        assert_eq!(one.value, one.base);
    }
    // Two sizes at one depth are two equations, and there are four times that they could be of.
    let known = done.found.parameters.iter().filter(|one| one.interval.is_some()).count();
    assert!(known <= 2, "{:?}", done.found.parameters);
    assert!(done.found.topology_verdict().contains("not identifiable from these probes"));
    let alike = done.found.topologies.iter().filter(|tried| tried.alike).count();
    assert!(alike >= 2, "{:?}", done.found.topologies);
    assert!(done.device.contains(
        "# Not identifiable from these probes: timing.program and timing.erase (no probe writes); left as in"
    ));
    assert!(done.device.contains("# Topologies that these probes do not tell apart"));
    // Not told apart is no reason to write down one that misses the probes by more.
    let best = done.found.topologies.iter().map(|tried| tried.misfit).fold(f64::INFINITY, f64::min);
    let chosen = done.found.topologies[0];
    assert!(chosen.misfit <= 1.05 * best + 0.002, "{:?}", done.found.topologies);
}

/// Reads of one page, one at a time: a queueing model gives the same for every topology, and those
/// that were cut off behind the nearest eight by their names alone were said to lie farther off.
#[test]
fn topologies_that_tie_are_not_said_to_lie_farther_off() {
    let bench = Bench::new();
    bench.measure("fio.json", &[("randread", 2048, 1)], || 1.0, || 1.0);
    let (channels, dies, planes) = Default::default();
    let request = Request { channels, dies, planes, ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    let (found, verdict) = (&done.found, done.found.topology_verdict());
    assert!(found.topologies.len() > 9, "{:?}", found.topologies);
    assert!(found.not_compared() > 0, "{:?}", found.topologies);
    assert_eq!(found.fitted_to_the_end() + found.not_compared(), found.topologies.len());
    assert!(verdict.contains("Not compared: ") && !verdict.contains("arther off"), "{verdict}");
    let rows = found.topology_rows();
    assert!(rows.iter().all(|row| !row[3].contains("farther off")), "{rows:?}");
    assert!(done.device.contains("# Not compared: "), "{}", done.device);
}

/// A base whose link is the bottleneck of a drive that has none: what no figure depends on where it
/// was fitted is not set back to what every figure would depend on.
#[test]
fn a_limit_that_the_drive_has_not_is_told_as_such_and_not_put_back() {
    let bench = Bench::new();
    let slow = BASE.replace("\"1GB\"", "\"200MB\"");
    std::fs::write(bench.path("base.toml"), slow).unwrap();
    std::fs::write(bench.path("planted.toml"), BASE.replace("\"1GB\"", "\"3GB\"")).unwrap();
    let sized = |bytes| [("randread", bytes, 1), ("randread", bytes, 16)];
    let probes = [sized(2048), sized(65_536)].concat();
    bench.measure("fio.json", &probes, || 1.0, || 1.0);
    let request = Request { requests: Some(150), ..bench.request("fio.json") };
    let done = request.run(&Silent).unwrap();
    println!("{}", told(&done));
    let link = parameter(&done, "host.link_bandwidth");
    // What few bytes take over such a link nobody tells from commands and channels: it is as fast
    // as the fastest probe, at least.
    assert_eq!(link.interval, None);
    let flows = done.found.probes.iter().map(|one| one.measured.iops * one.bytes as f64);
    let flow = flows.fold(0.0, f64::max);
    assert!(flow > 200e6 && link.value > flow, "{flow} {link:?}");
    assert_eq!((link.at_least, link.at_most), (Some(flow), None));
    assert!(done.device.contains("not identifiable from these probes: at least"));
    let unknown = done.found.unknown();
    assert!(unknown.iter().any(|one| one.contains("; it is at least ")), "{unknown:?}");
    let rate = |probe: &Probe| probe.simulated.iops / probe.measured.iops;
    let off = done.found.probes.iter().map(rate).map(|ratio| (ratio - 1.0).abs());
    assert!(off.fold(0.0, f64::max) < 0.05, "{:?}", done.found.probes);
}

fn refusal(request: &Request) -> String {
    match request.run(&Silent) {
        Err(Error::Usage(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_input_is_refused_before_anything_is_simulated() {
    let bench = Bench::new();
    std::fs::write(bench.path("text.json"), "nothing\n").unwrap();
    std::fs::write(
        bench.path("none.json"),
        "{\"fio version\": \"fio-3.33\", \"jobs\": [{\"jobname\": \"mixed\", \"job options\": \
         {\"rw\": \"randrw\"}}]}",
    )
    .unwrap();
    assert!(refusal(&bench.request("absent.json")).contains("absent.json: cannot be read"));
    assert!(
        refusal(&bench.request("text.json")).contains("text.json: there is no JSON object in it")
    );
    let none = refusal(&bench.request("none.json"));
    assert!(none.contains("there is no probe in") && none.contains("mixed: rw=randrw"), "{none}");
    bench.measure("fio.json", &[("randread", 4096, 1)], || 1.0, || 1.0);
    let with = |change: &dyn Fn(&mut Request)| {
        let mut request = bench.request("fio.json");
        change(&mut request);
        refusal(&request)
    };
    assert!(with(&|request| request.base = "tlc_nvm".to_owned()).contains("'tlc_nvme'"));
    let serial = with(&|request| request.base = "dftl2014".to_owned());
    assert!(serial.contains("one server"), "{serial}");
    let few = with(&|request| request.requests = Some(10));
    assert!(few.starts_with("requests = 10 are too few") && few.ends_with("100 or more"), "{few}");
    let blocks = with(&|request| request.planes = vec![16]);
    assert!(blocks.contains("too few blocks"), "{blocks}");
    assert!(with(&|request| request.set.push("gc.vctim=fifo")).contains("gc.victim"));
    let event = with(&|request| request.set.push("timing.clock=event"));
    assert!(event.contains("no other depth than host.queue_depth"), "{event}");
    assert!(event.contains("legal: --set timing.clock=call_order"), "{event}");
    std::fs::copy(bench.path("fio.json"), bench.path("again.json")).unwrap();
    let again = bench.text("again.json");
    let twice = with(&|request| request.files.push(again.clone()));
    assert!(twice.contains("randread:bs=4096,iodepth=1 was measured twice"), "{twice}");
    assert!(twice.contains("fio.json: ") && twice.contains("again.json: "), "{twice}");
}
