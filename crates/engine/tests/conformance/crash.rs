//! Power cuts at every program and erase of a workload, the interrupted operation undone, done or
//! torn; recovery is itself cut. Every completed write is there afterwards, flushed trims stay
//! trimmed, and the device goes on working.
//!
//! A failure names its case in one line: scheme, number of the variant in `variants::all`, seed, where
//! the power is cut and how, and where the recovery is.

use crate::common::cuts::{Case, Host, Keeps, LOGICAL_BLOCKS, every_cut, run};
use crate::common::faults;
use crate::common::variants;
use crate::common::{chosen, mixed, open, tiny};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::schemes;
use ftlab_engine::ssd::DeviceError;

/// Cuts that a workload must have, so that it tells something.
const LEAST_CUTS: u64 = 50;

fn keeps(durable: bool) -> Keeps {
    if durable { Keeps::Everything } else { Keeps::Something }
}

#[test]
fn every_scheme_survives_a_cut_at_every_operation() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let config = tiny(row.paper.name, LOGICAL_BLOCKS, &[]);
        every_cut((row.paper.name, Keeps::Everything), usize::MAX >> 40, &config, LEAST_CUTS);
    }
}

#[test]
fn every_variant_survives_a_cut_at_every_operation() {
    let variants = variants::all().enumerate().filter(|(_, variant)| chosen(variant.scheme));
    for (number, variant) in variants {
        let config = tiny(variant.scheme, LOGICAL_BLOCKS, variant.pairs);
        every_cut((variant.scheme, keeps(variant.durable)), number, &config, LEAST_CUTS);
    }
}

/// Cuts on devices with every kind of fault at once, the recovery cut as well: what a failure left
/// (blocks read-only or retired, pages that cannot be read) is there after recovery as before.
#[test]
fn every_variant_survives_cuts_among_faults() {
    let rows = schemes::TABLE.iter().map(|row| (row.paper.name, Default::default(), true));
    let variants = variants::all().map(|variant| (variant.scheme, variant.pairs, variant.durable));
    let all = rows.chain(variants).enumerate().filter(|(_, (scheme, ..))| chosen(scheme));
    for (number, (scheme, own, durable)) in all {
        let pairs = [own, faults::MIXED, &[("nand.program_failure_rate", "0.01")]].concat();
        let config = tiny(scheme, LOGICAL_BLOCKS, &pairs);
        let mut cuts = 0;
        for turn in 0..60u64 {
            let outcome = CutOutcome::ALL[(turn % 3) as usize];
            let recut = (turn % 2 == 1).then_some(turn / 6);
            let case = Case { seed: 500 + number as u64, cut: turn * 5, outcome, recut };
            cuts += u32::from(run((scheme, keeps(durable)), number, &config, case).0);
        }
        assert!(cuts > 20, "{scheme} {own:?}: only {cuts} cuts happened");
    }
}

/// Many cuts in a row on one device: what one recovery leaves half done the next one finds. Two of
/// three devices have faults as well: programs and erases that fail, or every kind.
#[test]
fn devices_survive_a_hundred_cuts_in_a_row() {
    const FAILING: [(&str, &str); 3] = [
        ("nand.program_failure_rate", "0.002"),
        ("nand.erase_failure_rate", "0.002"),
        ("device.over_provisioning", "15"),
    ];
    let mixed_faults = [faults::MIXED, &[("device.over_provisioning", "18")]].concat();
    let devices = [&[], &FAILING[..], &mixed_faults[..]];
    let thrice = devices.iter().flat_map(|failing| variants::all().map(move |one| (failing, one)));
    let chosen_ones = thrice.enumerate().filter(|(_, (_, variant))| chosen(variant.scheme));
    for (number, (failing, variant)) in chosen_ones {
        // Every third device has several translation pages and two planes.
        let (blocks, planes) = if number % 3 == 0 { (170, "2") } else { (LOGICAL_BLOCKS, "1") };
        let pairs = [variant.pairs, failing, &[("device.planes", planes)]].concat();
        let config = tiny(variant.scheme, blocks, &pairs);
        let mut device = open(variant.scheme, &config);
        device.verify_reads();
        let mut host = Host::new(&config, keeps(variant.durable));
        let requests = mixed(&config, 6000, number as u64);
        let mut requests = requests.iter();
        for round in 0..100u64 {
            let line = format!("{} variant {number} round {round}", variant.scheme);
            let outcome = CutOutcome::ALL[(round % 3) as usize];
            let faults = device.board_mut().nand_mut().faults_mut();
            faults.cut_power_after(round * 7 % 61, outcome);
            for request in requests.by_ref() {
                match device.submit(request) {
                    Ok(_) => host.note(request, true),
                    Err(DeviceError::Fault(Fault::PowerCut)) => {
                        host.note(request, false);
                        host.next_tag = device.last_version().0;
                        break;
                    }
                    Err(error) => panic!("{line}: {error}"),
                }
            }
            if let Err(error) = device.power_cycle() {
                panic!("{line}: {error}");
            }
            device.board_mut().nand_mut().faults_mut().forget_cut();
            if let Err(error) = device.audit() {
                panic!("{line}: {error}");
            }
            host.check(device.as_ref(), &line);
            host.adopt(device.as_ref());
            host.read_all(device.as_mut(), &config, &line);
        }
    }
}
