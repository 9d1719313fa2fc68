//! Tests of the derived numbers.

use super::*;
use crate::result::ByCause;
use crate::result::{CCDF_POINTS_PER_DECADE, CDF_POINTS_MAX};
use ftlab_engine::config::Config;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::TABLE;

/// Every scheme, after 40 overwrites of a small device.
fn worked_devices() -> Vec<(&'static Row, Box<dyn Device>)> {
    worked_devices_with(&[])
}

fn worked_devices_with(pairs: &[(&str, &str)]) -> Vec<(&'static Row, Box<dyn Device>)> {
    let mut config = Config::default();
    for (key, value) in pairs {
        config.set(key, value).unwrap();
    }
    config.set("device.over_provisioning", "0.5").unwrap();
    // Twice: what a scheme needs depends on the capacity.
    for _ in 0..2 {
        let needed = TABLE.iter().map(|row| (row.minimum_blocks)(&config)).max().unwrap_or(0);
        config.device.set_capacity(1 << 20, needed);
    }
    let pages = config.device.logical_pages();
    let open = |row: &'static Row| {
        let mut device = (row.open)(&config, 1).unwrap();
        for number in 0..40 * pages {
            let first_sector = number * 7 % pages * 4;
            let op = if number % 5 == 0 { Op::Read } else { Op::Write };
            let arrival = number * 1_000_000;
            let request = Request {
                arrival,
                op,
                first_sector,
                sectors: 4,
                unit: 0,
                stream: None,
                content: None,
            };
            device.submit(&request).unwrap();
        }
        (row, device)
    };
    TABLE.iter().map(open).collect()
}

fn config_of(device: &dyn Device) -> Config {
    Config { ssd: device.config().clone(), ..Config::default() }
}

fn facts(row: &'static Row, device: &dyn Device) -> RunFacts<'static> {
    RunFacts {
        row,
        config: config_of(device),
        scheme: row.paper.name.to_owned(),
        version: "0".to_owned(),
        workload: Workload::default(),
        seed: 1,
        precondition: Precondition::default(),
        steady_state: SteadyState::default(),
        warnings: Vec::new(),
        simulated_ns: 2_000_000_000,
        longest_queue: 0,
        wall_seconds: 0.5,
        worn_out: None,
    }
}

/// Sum of all numbers in a part of the result.
fn leaves(part: &impl serde::Serialize) -> f64 {
    fn sum(value: &Value) -> f64 {
        let inner = value.as_object().into_iter().flatten().map(|(_, value)| sum(value));
        value.as_f64().unwrap_or_else(|| inner.sum())
    }
    sum(&serde_json::to_value(part).unwrap())
}

/// The page table is in DRAM, so 2 s of refresh are 3.3 V * 3 mA * 2 s; each of 40 * 512 requests
/// looks its page up, and writes change it too.
#[test]
fn the_ideal_page_map_pays_for_its_dram_and_dftl_does_not() {
    for (row, device) in worked_devices_with(&[
        ("energy.model", "current"),
        ("timing.controller_page", "10us"),
        ("timing.ram_page", "2us"),
        ("timing.dram_access", "100ns"),
    ]) {
        let run = derive(device.as_ref(), facts(row, device.as_ref()));
        let dram = run.energy_uj.dram;
        match row.paper.name {
            "ideal_page" | "ca_ssd" | "caftl" => {
                assert!((dram.refresh - 19_800.0).abs() < 1e-6, "{dram:?}");
                let accesses = run.events["dram_accesses"];
                let collected = run.flash.programs.gc;
                let host = run.host.read_pages + 2 * run.host.write_pages;
                assert_eq!(accesses, host + collected);
                let each = 3.3 * 125e-3 * 0.1;
                assert!((dram.access - accesses as f64 * each).abs() < 1e-3, "{dram:?}");
                assert_eq!(run.service_time_ns.ram, 100 * accesses);
            }
            // A bit and a piece of a model of each page that one told.
            "learnedftl" => {
                let count = |name: &str| run.events.get(name).copied().unwrap_or(0);
                let accesses = 2 * count("model_reads");
                assert_eq!(count("dram_accesses"), accesses);
                let each = 3.3 * 125e-3 * 0.1;
                assert!((dram.access - accesses as f64 * each).abs() < 1e-3, "{dram:?}");
                assert_eq!(
                    (dram.refresh.round(), run.service_time_ns.ram),
                    (19_800.0, 100 * accesses)
                );
            }
            // Their counts of reads and writes are in DRAM, and are looked at where nobody waits.
            name @ ("cftl" | "janus") => {
                assert_eq!((dram.refresh.round(), dram.access), (19_800.0, 0.0), "{name}");
            }
            name => assert_eq!((dram.refresh, dram.access), (0.0, 0.0), "{name}"),
        }
        let sum = leaves(&run.energy_uj) - run.energy_uj.total;
        assert!((run.energy_uj.total - sum).abs() < 1e-6 * sum);
        let time = run.service_time_ns;
        assert!(time.controller > 0);
        let sum = leaves(&time) as u64 - time.total - time.bus_wait - time.pcm_wait;
        assert_eq!(time.total, sum);
        let stages = leaves(&run.stages_ns);
        let response = run.latency_ns.all.system.mean;
        assert!((stages - response).abs() < 1e-9 * response, "{stages}, {response}");
    }
}

#[test]
fn parts_add_up_to_totals_under_every_scheme() {
    for (row, device) in worked_devices() {
        let run = derive(device.as_ref(), facts(row, device.as_ref()));
        let name = row.paper.name;
        let sum = |counts: &ByCause<u64>| -> u64 {
            let json = serde_json::to_value(counts).unwrap();
            json.as_object().unwrap().values().filter_map(Value::as_u64).sum()
        };
        assert_eq!(sum(&run.flash.programs), run.flash.total_programs, "{name}");
        assert_eq!(sum(&run.flash.reads), run.flash.total_reads, "{name}");
        assert!(run.flash.total_erases > 0, "{name}: the test must reclaim");
        let erases = run.flash.erases;
        assert_eq!(erases.data + erases.map + erases.log, run.flash.total_erases, "{name}");
        let waf = run.flash.total_programs as f64 / run.host.write_pages as f64;
        assert_eq!(run.waf, Some(waf), "{name}");
        let blocks: u64 = run.wear.histogram.iter().map(|bucket| bucket.blocks).sum();
        let physical = run.config["device"]["physical_blocks"].as_u64().unwrap();
        assert_eq!(blocks + run.wear.retired_blocks, physical, "{name}");
        let mean = run.flash.total_erases as f64 / blocks as f64;
        assert!((run.wear.erase_mean - mean).abs() < 1e-9, "{name}");
        let counted: u64 = run.series.iter().map(|window| window.requests).sum();
        assert_eq!(counted, run.host.read_requests + run.host.write_requests, "{name}");
        for (all, columns) in [
            (&run.latency_ns.all, &run.series_latency_ns.all),
            (&run.latency_ns.read, &run.series_latency_ns.read),
            (&run.latency_ns.write, &run.series_latency_ns.write),
        ] {
            assert_eq!(columns.count.len(), run.series.len(), "{name}");
            assert_eq!(columns.count.iter().sum::<u64>(), all.system.count, "{name}");
            assert_eq!(columns.max.iter().flatten().max(), Some(&all.system.max), "{name}");
            let of_windows = columns.count.iter().zip(&columns.mean);
            let sum: f64 = of_windows.filter_map(|(&n, mean)| Some(n as f64 * (*mean)?)).sum();
            let mean = sum / all.system.count as f64;
            assert!((mean - all.system.mean).abs() < 1e-9 * mean, "{name}");
            for (window, &max) in columns.max.iter().enumerate() {
                let of = &columns.percentile;
                let ascending = [of.p50[window], of.p99[window], of.p99_9[window], max];
                assert!(ascending.is_sorted(), "{name}: {ascending:?}");
            }
        }
        let stages = serde_json::to_value(run.stages_ns).unwrap();
        let stages: f64 = stages.as_object().unwrap().values().filter_map(Value::as_f64).sum();
        let response = run.latency_ns.all.system.mean;
        assert!((stages - response).abs() < 1e-9 * response, "{name}: {stages}, {response}");
        let sum = leaves(&run.energy_uj) - run.energy_uj.total;
        assert!((run.energy_uj.total - sum).abs() < 1e-6 * sum, "{name}");
        let time = run.service_time_ns;
        let sum = leaves(&time) as u64 - time.total - time.bus_wait - time.pcm_wait;
        assert_eq!(time.total, sum, "{name}");
    }
}

#[test]
fn curves_ascend_to_one_and_only_this_schemes_settings_are_shown() {
    for (row, device) in worked_devices() {
        let run = derive(device.as_ref(), facts(row, device.as_ref()));
        let points = &run.cdf.all;
        assert!(points.len() > 1 && points.len() <= CDF_POINTS_MAX);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        assert_eq!(points.last().unwrap().1, 1.0);
        let slow = &run.ccdf.all;
        assert!(slow.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
        let slowest = (run.latency_ns.all.system.max, 0.0);
        assert_eq!(slow.last(), Some(&slowest), "nobody was slower than the slowest");
        for (nanos, share) in points {
            let same = slow.iter().find(|(of_slow, _)| of_slow == nanos);
            assert!(same.is_none_or(|(_, slower)| (share + slower - 1.0).abs() < 1e-12));
        }
        let count = run.latency_ns.all.system.count as f64;
        assert!(slow.len() as f64 <= CCDF_POINTS_PER_DECADE as f64 * count.log10() + 3.0);
        let own: Vec<&str> = TABLE
            .iter()
            .map(|row| row.paper.name)
            .filter(|name| run.config.contains_key(*name))
            .collect();
        let expected: Vec<&str> = (row.stands_on)(&config_of(device.as_ref()))
            .into_iter()
            .chain([row.paper.name])
            .collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn the_budget_bounds_sram_alone() {
    let used = |structure, bytes, memory| StructureUse { structure, bytes, memory };
    let structures = [used("cmt", 100, Memory::Sram), used("table", 900, Memory::Dram)];
    let ram = ram_bytes(&structures, Some(60));
    assert_eq!((ram.sram, ram.dram, ram.total, ram.over_budget), (100, 900, 1000, 40));
    assert_eq!(ram_bytes(&structures, None).over_budget, 0);
}
