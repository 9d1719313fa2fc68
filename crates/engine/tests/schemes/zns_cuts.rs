//! Power cuts of zones that the workload writes: at every operation, and in the recovery.

use crate::common::{submit, version};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::config::Config;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Tag;

/// A cut of a workload, and the device behind it, recovered.
pub struct Cut<'a> {
    pub device: Box<dyn Device>,
    pub config: &'a Config,
    /// The request that was cut, and those behind it.
    pub rest: &'a [Request],
    pub outcome: CutOutcome,
    /// What failures are called.
    pub case: String,
}

/// What every page holds before each of the requests.
fn versions(device: &dyn Device, requests: &[Request], logical: u64) -> Vec<Vec<Tag>> {
    let mut device = device.duplicate();
    let mut all = Vec::new();
    for request in requests {
        all.push((0..logical as u32).map(|page| version(device.as_ref(), page)).collect());
        device.submit(request).expect("as it should be");
    }
    all
}

/// Cuts a workload everywhere, and of every third cut the recovery too. Whatever became of the
/// request that was cut, all pages but its own are as they were before it; then `goes_on` has the
/// device. How many cuts there were.
pub fn cut_everywhere(
    device: &dyn Device,
    config: &Config,
    requests: &[Request],
    goes_on: impl Fn(Cut<'_>),
) -> u32 {
    let expected = versions(device, requests, config.device.logical_pages());
    let mut cuts = 0;
    for outcome in CutOutcome::ALL {
        for cut in 0.. {
            let mut device = device.duplicate();
            device.board_mut().nand_mut().faults_mut().cut_power_after(cut, outcome);
            let cut_in = requests.iter().position(|request| device.submit(request).is_err());
            let Some(cut_in) = cut_in else { break };
            cuts += 1;
            if cut % 3 == 0 {
                device.board_mut().nand_mut().faults_mut().cut_recovery_after(0, outcome);
                let _ = device.power_cycle();
                device.board_mut().nand_mut().faults_mut().forget_cut();
            }
            device.power_cycle().expect("it recovers");
            let case = format!("{outcome:?} {cut}");
            device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
            let torn = requests[cut_in];
            let range = torn.first_sector..torn.first_sector + u64::from(torn.sectors);
            for (page, &before) in (0..).zip(&expected[cut_in]) {
                if !range.contains(&u64::from(page)) {
                    assert_eq!(version(device.as_ref(), page), before, "{case}: page {page}");
                    submit(device.as_mut(), config, Op::Read, page.into());
                }
            }
            goes_on(Cut { device, config, rest: &requests[cut_in..], outcome, case });
        }
    }
    cuts
}
