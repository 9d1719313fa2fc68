//! The modelled steady state against the one that long random writing reaches.

use crate::common::{config, open, pages, size};
use ftlab_engine::config::Config;
use ftlab_engine::occupancy::{self, OccupancyError, SCHEMES};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;

fn install(device: &mut dyn Device, scheme: &str, seed: u64) -> Result<(), OccupancyError> {
    let mut pages = 0;
    let noted = |more| {
        pages += more;
        Ok(())
    };
    occupancy::install(device, scheme, seed, noted)?;
    assert_eq!(pages, u64::from(device.board().geometry().logical_pages));
    Ok(())
}

/// One plane of 64-page blocks.
fn device(victim: &str, logical: u32, utilisation: f64) -> Config {
    let mut config = config(&[("gc.victim", victim)]);
    let bytes = u64::from(logical) * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = (f64::from(logical) * utilisation / 64.0) as u32;
    config
}

fn write(device: &mut dyn Device, config: &Config, page: u32) {
    device.submit(&pages(config, Op::Write, u64::from(page), 1)).expect("the device works");
}

/// Programs per page of as many random writes as there are pages.
fn next_fill(device: &mut dyn Device, config: &Config, rng: &mut Rng) -> f64 {
    let logical = config.device.logical_pages() as u32;
    device.start_measuring();
    (0..logical).for_each(|_| write(device, config, rng.below(logical)));
    device.audit().expect("the audit passes");
    device.board().meter().total_programs() as f64 / f64::from(logical)
}

/// The slow way fills the device and writes ten times its pages; what the next fill costs then and
/// after the model differs by less than 3 %.
#[test]
fn the_next_fill_costs_what_it_costs_after_long_random_writing() {
    let logical = 1 << 15;
    for victim in ["greedy", "fifo"] {
        for utilisation in [1.12, 1.28] {
            let config = device(victim, logical, utilisation);
            let mut slow = open("ideal_page", &config);
            let mut rng = Rng::new(5, Purpose::Workload);
            (0..logical).for_each(|page| write(slow.as_mut(), &config, page));
            (0..10 * logical).for_each(|_| write(slow.as_mut(), &config, rng.below(logical)));
            let slow = next_fill(slow.as_mut(), &config, &mut rng);
            for scheme in SCHEMES {
                let mut quick = open(scheme, &config);
                install(quick.as_mut(), scheme, 1).expect("there is a model");
                let quick = next_fill(quick.as_mut(), &config, &mut rng);
                let error = quick / slow - 1.0;
                println!(
                    "{scheme} {victim} {utilisation}: {quick:.4}, slowly {slow:.4} ({:+.2} %)",
                    error * 100.0
                );
                assert!(error.abs() < 0.03, "{scheme}, {victim}: {quick} differs from {slow}");
            }
        }
    }
}

/// Planes in a static and in a dynamic order, two frontiers, small mapping units, bad blocks: every
/// page is there in the version that the flash holds, the audit passes, and writing goes on.
#[test]
fn every_page_is_found_whatever_the_device_looks_like() {
    let shapes: [&[(&str, &str)]; 4] = [
        &[("device.channels", "2"), ("device.planes", "2")],
        &[("device.channels", "2"), ("device.dies", "2"), ("alloc.order", "dynamic")],
        &[("gc.separate_frontiers", "true"), ("nand.factory_bad_rate", "0.05")],
        &[("device.page_bytes", "8192"), ("device.mapping_unit", "2KiB")],
    ];
    let all = shapes.into_iter().flat_map(|shape| SCHEMES.iter().map(move |name| (shape, *name)));
    for (shape, scheme) in all {
        for victim in ["greedy", "fifo"] {
            let mut config = config(shape);
            config.set("gc.victim", victim).expect("legal");
            config.set("device.over_provisioning", "0.25").expect("legal");
            size(scheme, &mut config, 64);
            config.device.blocks_per_plane += 16;
            let mut device = open(scheme, &config);
            device.verify_reads();
            install(device.as_mut(), scheme, 7).expect("there is a model");
            device.audit().unwrap_or_else(|broken| panic!("{scheme} {shape:?}: {broken}"));
            let logical = config.device.logical_pages() as u32;
            let mut rng = Rng::new(2, Purpose::Workload);
            for page in 0..logical {
                let read = pages(&config, Op::Read, u64::from(page), 1);
                device.submit(&read).unwrap_or_else(|error| panic!("{scheme}: {error}"));
                write(device.as_mut(), &config, rng.below(logical));
            }
            assert_eq!(device.verified_reads(), u64::from(logical));
            device.audit().unwrap_or_else(|broken| panic!("{scheme} {shape:?}: {broken}"));
            assert!(device.board().meter().total_erases() > 0, "collection goes on at once");
        }
    }
}

#[test]
fn what_no_analysis_covers_is_refused_by_name() {
    let refused = |scheme: &str, pairs: &[(&str, &str)]| {
        occupancy::check(scheme, &config(pairs)).expect_err("no model").to_string()
    };
    let of_scheme = refused("dftl", &[]);
    assert!(of_scheme.contains("dftl") && of_scheme.contains("ideal_page, hat"), "{of_scheme}");
    let of_victim = refused("ideal_page", &[("gc.victim", "random")]);
    assert!(of_victim.contains("greedy and fifo"), "{of_victim}");
    assert!(refused("hat", &[("gc.mode", "idle")]).contains("foreground"));
    assert!(refused("hat", &[("gc.threshold_mode", "adaptive")]).contains("fixed"));
    let by_die = refused("hat", &[("gc.unit", "die"), ("device.planes", "2")]);
    assert!(by_die.contains("gc.unit = die, only under plane"), "{by_die}");
    let by_line = refused("ideal_page", &[("alloc.unit", "line")]);
    assert!(by_line.contains("alloc.unit = line, only under plane"), "{by_line}");
    // A table that outlives the power cut would say that the device is empty.
    for scheme in SCHEMES {
        let kept = refused(scheme, &[("device.ram_nonvolatile", "true")]);
        assert!(kept.contains("device.ram_nonvolatile = true, only under false"), "{kept}");
    }
}

/// FIFO: the oldest block's share p of valid pages solves p = exp(-(1 - p) a), a the physical
/// over the logical pages.
#[test]
fn the_oldest_block_is_as_full_as_the_closed_form_says() {
    for a in [1.1, 1.25, 1.5] {
        let blocks = 10_000;
        let q = occupancy::survival(blocks, blocks as f64 / a);
        let oldest = q.powi(blocks as i32);
        let expected = (-(1.0 - oldest) * a).exp();
        assert!((oldest - expected).abs() < 1e-3, "a = {a}: {oldest} against {expected}");
    }
}

/// Three blocks of 2 pages, 4 of them valid: levels 2 and 1 in the proportion of 1/2 to 1/1.
#[test]
fn greedy_levels_are_in_inverse_proportion_to_their_valid_pages() {
    assert_eq!(occupancy::greedy(3, 2, 4), [2, 1, 1]);
    let valid = occupancy::greedy(60_000, 64, 60_000 * 48);
    let count = |level: u32| valid.iter().filter(|&&pages| pages == level).count() as f64;
    for (level, other) in [(64, 48), (60, 40)] {
        let expected = f64::from(other) / f64::from(level);
        let found = count(level) / count(other);
        assert!((found / expected - 1.0).abs() < 0.02, "{level}/{other}: {found}, {expected}");
    }
    assert_eq!(valid.iter().map(|&pages| u64::from(pages)).sum::<u64>(), 60_000 * 48);
    assert!(valid.is_sorted_by(|a, b| a >= b), "the newest first");
}
