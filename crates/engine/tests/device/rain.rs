//! Parity over the dies of lines: what it costs by closed forms, and pages and dies that fail.

use crate::common::{fill, mixed, open, pages, place, submit, tiny, version};
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Ppn};

pub type Pairs<'a> = &'a [(&'a str, &'a str)];

pub const LINE: (&str, &str) = ("alloc.unit", "line");
/// Eight dies.
pub const EIGHT: [(&str, &str); 3] =
    [("device.channels", "4"), ("device.dies", "2"), ("device.pages_per_block", "16")];
pub const STRIPE: (&str, &str) = ("rain.stripe", "8");
pub const ROOM: (&str, &str) = ("device.over_provisioning", "0.6");

pub fn device(scheme: &str, blocks: u64, pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny(scheme, blocks, pairs);
    let device = open(scheme, &config);
    (config, device)
}

pub fn count(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

pub fn programs(device: &dyn Device, cause: Cause) -> u64 {
    device.board().meter().programs(cause)
}

pub fn audited(device: &dyn Device, what: &str) {
    device.audit().unwrap_or_else(|error| panic!("{what}: {error}"));
}

pub fn write_random(device: &mut dyn Device, config: &Config, count: u64, seed: u64) {
    let mut rng = Rng::new(seed, Purpose::Workload);
    for _ in 0..count {
        submit(
            device,
            config,
            Op::Write,
            u64::from(rng.below(config.device.logical_pages() as u32)),
        );
    }
}

/// Every page is read, and holds what was written last: compared by the device itself.
pub fn read_all(device: &mut dyn Device, config: &Config) {
    let before = device.verified_reads();
    (0..config.device.logical_pages()).for_each(|page| submit(device, config, Op::Read, page));
    assert!(device.verified_reads() > before, "reads are compared");
}

/// n = 8: of every eight pages one is parity, of what the host writes and of what is copied alike.
#[test]
fn parity_is_a_seventh_of_what_is_written() {
    for scheme in ["ideal_page", "dftl"] {
        for rotate in ["true", "false"] {
            let pairs = [&EIGHT[..], &[LINE, STRIPE, ROOM, ("rain.rotate", rotate)]].concat();
            let (config, mut device) = device(scheme, 64, &pairs);
            fill(device.as_mut(), &config);
            write_random(device.as_mut(), &config, 3 * config.device.logical_pages(), 3);
            audited(device.as_ref(), scheme);
            let parity = programs(device.as_ref(), Cause::Parity);
            let others = device.board().meter().total_programs() - parity;
            assert!(programs(device.as_ref(), Cause::Gc) > 500, "{scheme}: pages were copied");
            // Of each open line a stripe is not full yet.
            assert!(
                (others / 7 - 3..=others / 7).contains(&parity),
                "{scheme}: {parity} of {others}"
            );
            assert_eq!(count(device.as_ref(), Event::UnprotectedPages), 0);
        }
    }
}

/// Sequential writes round and round: nothing is copied, and write amplification is n / (n - 1).
#[test]
fn sequential_writes_cost_n_by_n_less_one() {
    for (stripe, exact) in [("2", 2.0), ("4", 4.0 / 3.0), ("8", 8.0 / 7.0)] {
        let pairs =
            [&EIGHT[..], &[LINE, ("rain.stripe", stripe), ("device.over_provisioning", "3x")]];
        let (config, mut device) = device("ideal_page", 64, &pairs.concat());
        for _ in 0..4 {
            fill(device.as_mut(), &config);
        }
        let host = programs(device.as_ref(), Cause::Host) as f64;
        assert_eq!(programs(device.as_ref(), Cause::Gc), 0);
        let waf = device.board().meter().total_programs() as f64 / host;
        assert!((waf / exact - 1.0).abs() < 0.002, "{stripe}: {waf}");
    }
}

/// Parity lies in every block of a stripe in turns, and pages of no two stripes are shared: each
/// offset of the blocks of a line has one parity page.
#[test]
fn every_stripe_of_a_full_line_has_one_parity_page() {
    let pairs = [&EIGHT[..], &[LINE, ("rain.stripe", "4"), ROOM]].concat();
    let (config, mut device) = device("ideal_page", 64, &pairs);
    fill(device.as_mut(), &config);
    let (nand, geometry) = (device.board().nand(), device.board().geometry());
    let mut of_plane = [0; 8];
    for offset in 0..16 {
        let is_parity = |plane: &u32| {
            let page = geometry.page(BlockId(plane * geometry.blocks_per_plane), offset);
            matches!(nand.state().oob(page), OobRead::Written(oob) if oob.kind == PageKind::Parity)
        };
        let found: Vec<u32> = (0..8).filter(is_parity).collect();
        assert_eq!(found.len(), 2, "two stripes of four dies at offset {offset}");
        // Ranks 0 to 3 are the first dies of the four channels, 4 to 7 the second ones.
        assert!(found[0] % 2 != found[1] % 2, "{found:?}");
        found.iter().for_each(|&plane| of_plane[plane as usize] += 1);
    }
    assert_eq!(of_plane, [4; 8], "in turns");
}

/// A page that no retry brings back: n - 1 reads bring it back, it is written anew, nothing is
/// lost.
#[test]
fn a_page_that_fails_is_read_from_its_stripe_and_written_anew() {
    let pairs = [&EIGHT[..], &[LINE, STRIPE, ROOM, ("nand.read_retries", "2")]].concat();
    for scheme in ["ideal_page", "dftl"] {
        let (config, mut device) = device(scheme, 64, &pairs);
        device.verify_reads();
        fill(device.as_mut(), &config);
        let before = place(device.as_ref(), 100);
        device.board_mut().nand_mut().faults_mut().fail_read_after(0);
        submit(device.as_mut(), &config, Op::Read, 100);
        let meter = device.board().meter();
        if scheme == "ideal_page" {
            assert_eq!(count(device.as_ref(), Event::RebuiltPages), 1);
            assert_eq!(meter.reads(Cause::Rebuild), 7, "n - 1");
        }
        assert_eq!(
            (count(device.as_ref(), Event::LostPages), meter.host().unreadable_pages),
            (0, 0)
        );
        // Again, as long as it lies where it lay, which is known: nobody asks for it in vain. To
        // move it its stripe is read once more; then it is elsewhere.
        submit(device.as_mut(), &config, Op::Read, 100);
        let asked = device.board().meter().total_reads();
        submit(device.as_mut(), &config, Op::Write, 0);
        if scheme == "ideal_page" {
            let meter = device.board().meter();
            assert_eq!(meter.reads(Cause::Rebuild), 21, "n - 1, three times");
            assert_eq!(meter.total_reads(), asked + 7, "and no read besides");
            assert_eq!(meter.programs(Cause::Rebuild), 1);
            assert_ne!(place(device.as_ref(), 100), before);
        }
        let reads = device.board().meter().reads(Cause::Rebuild);
        read_all(device.as_mut(), &config);
        assert_eq!(device.board().meter().reads(Cause::Rebuild), reads);
        audited(device.as_ref(), scheme);
    }
}

/// In a gap, without a request behind which it could be done.
#[test]
fn gaps_repair_what_failed() {
    let pairs = [&EIGHT[..], &[LINE, STRIPE, ROOM, ("gc.mode", "both")]].concat();
    let (config, mut device) = device("ideal_page", 64, &pairs);
    fill(device.as_mut(), &config);
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    submit(device.as_mut(), &config, Op::Read, 100);
    assert_eq!(programs(device.as_ref(), Cause::Rebuild), 0);
    let later = ftlab_engine::request::Request {
        arrival: device.idle_from() + 1_000_000_000,
        ..pages(&config, Op::Read, 5, 1)
    };
    device.submit(&later).expect("it works");
    assert_eq!(programs(device.as_ref(), Cause::Rebuild), 1);
    audited(device.as_ref(), "repaired");
}

/// Reads fail one in 250: with parity nothing is lost but where two pages of one stripe fail.
#[test]
fn with_parity_read_faults_lose_next_to_nothing() {
    let lost = |more: Pairs<'_>| {
        let pairs = [&EIGHT[..], &[LINE, ROOM, ("nand.read_error_rate", "0.004")], more].concat();
        let (config, mut device) = device("ideal_page", 64, &pairs);
        device.verify_reads();
        fill(device.as_mut(), &config);
        for request in mixed(&config, 4000, 7) {
            device.submit(&request).expect("it works");
        }
        audited(device.as_ref(), "faults");
        (count(device.as_ref(), Event::LostPages), count(device.as_ref(), Event::RebuiltPages))
    };
    let (without, with) = (lost(&[]), lost(&[STRIPE]));
    assert!(without.0 > 20 && without.1 == 0, "{without:?}");
    assert!(with.0 * 10 < without.0 && with.1 > 20, "{with:?} instead of {without:?}");
}

/// A die fails in the middle of things: every page can be read, from its stripe until it is moved.
#[test]
fn a_failed_die_is_rebuilt() {
    for scheme in ["ideal_page", "hat", "dftl", "tpftl"] {
        for more in [&[][..], &[("gc.victim", "cost_benefit")], &[("gc.victim", "fifo")]] {
            let pairs = [&EIGHT[..], &[LINE, STRIPE, ("device.over_provisioning", "1.5x")], more];
            let (config, mut device) = device(scheme, 64, &pairs.concat());
            device.verify_reads();
            fill(device.as_mut(), &config);
            write_random(device.as_mut(), &config, 500, 3);
            device.board_mut().nand_mut().faults_mut().fail_die_after(3, 20);
            write_random(device.as_mut(), &config, 25, 4);
            let what = format!("{scheme} {more:?}");
            audited(device.as_ref(), &what);
            read_all(device.as_mut(), &config);
            assert!(count(device.as_ref(), Event::RebuiltPages) > 50, "{what}");
            write_random(device.as_mut(), &config, 3 * config.device.logical_pages(), 5);
            audited(device.as_ref(), &what);
            read_all(device.as_mut(), &config);
            let meter = device.board().meter();
            assert!(meter.programs(Cause::Rebuild) > 50, "{what}: moved");
            assert_eq!(count(device.as_ref(), Event::FailedDies), 1, "{what}");
            let lost = (count(device.as_ref(), Event::LostPages), meter.host().unreadable_pages);
            assert_eq!(lost, (0, 0), "{what}");
            let (nand, geometry) = (device.board().nand(), device.board().geometry());
            let on_it = |page: u64| {
                let found = nand.state().is_valid(Ppn(page as u32));
                found && geometry.die_of(geometry.plane_of(Ppn(page as u32))) == 3
            };
            let left = (0..u64::from(geometry.pages())).filter(|&page| on_it(page)).count();
            assert_eq!(left, 0, "{what}: pages on the die that failed");
        }
    }
}

/// The same without parity: what lay on the die is lost, is said to be, and nothing else is.
#[test]
fn without_parity_a_failed_die_loses_what_it_held() {
    let units = [("device.page_bytes", "2048"), ("device.mapping_unit", "512")];
    for (scheme, more) in [("ideal_page", &[][..]), ("dftl", &[]), ("ideal_page", &units)] {
        let pairs = [&EIGHT[..], &[LINE, ("device.over_provisioning", "1.5x")], more].concat();
        let (config, mut device) = device(scheme, 64, &pairs);
        device.verify_reads();
        fill(device.as_mut(), &config);
        let geometry = device.board().geometry();
        let on_it =
            |page: &u32| geometry.die_of(geometry.plane_of(place(device.as_ref(), *page))) == 3;
        let held = (0..config.device.logical_pages() as u32).filter(on_it).count() as u64;
        device.board_mut().nand_mut().faults_mut().fail_die_after(3, 0);
        // A flash page of four units is programmed with the last of them.
        (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
        read_all(device.as_mut(), &config);
        let unreadable = device.board().meter().host().unreadable_pages;
        assert!(held > 0 && unreadable.abs_diff(held) <= 8, "{scheme}: {unreadable} of {held}");
        fill(device.as_mut(), &config);
        audited(device.as_ref(), scheme);
        let before = device.board().meter().host().unreadable_pages;
        read_all(device.as_mut(), &config);
        assert_eq!(device.board().meter().host().unreadable_pages, before, "written anew");
    }
}

/// The die fails by its setting, after so many programs since measuring began.
#[test]
fn a_die_fails_when_it_is_to() {
    let when = [("nand.failing_die", "5"), ("nand.die_fails_after", "300")];
    let pairs = [&EIGHT[..], &[LINE, STRIPE, ("device.over_provisioning", "1.5x")], &when].concat();
    let (config, mut device) = device("ideal_page", 64, &pairs);
    device.verify_reads();
    fill(device.as_mut(), &config);
    device.start_measuring();
    assert_eq!(device.board().nand().failed_die(), None);
    write_random(device.as_mut(), &config, 200, 3);
    assert_eq!(device.board().nand().failed_die(), None);
    write_random(device.as_mut(), &config, 200, 3);
    assert_eq!(device.board().nand().failed_die(), Some(5));
    read_all(device.as_mut(), &config);
    audited(device.as_ref(), "after it failed");
}

/// Cut by cut while a die fails and is rebuilt: nothing is lost, whatever the capacitors save.
#[test]
fn power_cuts_while_a_die_is_rebuilt_lose_nothing() {
    use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
    use ftlab_engine::ssd::DeviceError;
    let cases =
        [("ideal_page", "8"), ("hat", "8"), ("dftl", "8"), ("ideal_page", "4"), ("dftl", "2")];
    for (scheme, width) in cases {
        let stripe = ("rain.stripe", width);
        let part = [&EIGHT[..], &[LINE, stripe, ("device.over_provisioning", "1.5x")]].concat();
        let (config, mut first) = device(scheme, 40, &part);
        first.verify_reads();
        fill(first.as_mut(), &config);
        write_random(first.as_mut(), &config, 300, 3);
        for turn in 0..60u64 {
            let mut device = first.duplicate();
            let faults = device.board_mut().nand_mut().faults_mut();
            faults.fail_die_after(6, 3 + turn % 7);
            faults.cut_power_after(turn * 3, CutOutcome::ALL[(turn % 3) as usize]);
            let logical = config.device.logical_pages() as u32;
            let mut newest: Vec<u32> =
                (0..logical).map(|page| version(device.as_ref(), page).0).collect();
            let mut rng = Rng::new(turn, Purpose::Workload);
            let interrupted = loop {
                let page = rng.below(logical);
                match device.submit(&pages(&config, Op::Write, u64::from(page), 1)) {
                    Ok(_) => newest[page as usize] = device.last_version().0,
                    Err(DeviceError::Fault(Fault::PowerCut)) => break page,
                    Err(error) => panic!("{scheme}, turn {turn}: {error}"),
                }
            };
            let scheme = format!("{scheme}, {width} dies");
            device.power_cycle().unwrap_or_else(|error| panic!("{scheme}, turn {turn}: {error}"));
            audited(device.as_ref(), &format!("{scheme}, turn {turn}, after recovery"));
            for page in 0..logical {
                let found = version(device.as_ref(), page).0;
                let is_right = found == newest[page as usize]
                    || page == interrupted && found == device.last_version().0;
                assert!(is_right, "{scheme}, turn {turn}: page {page} holds {found}");
            }
            read_all(device.as_mut(), &config);
            let lost = device.board().meter().host().unreadable_pages;
            assert_eq!(lost, 0, "{scheme}, turn {turn}");
            write_random(device.as_mut(), &config, 200, turn);
            audited(device.as_ref(), &format!("{scheme}, turn {turn}, later"));
        }
    }
}

/// A flush leaves no page without parity on flash, where no capacitor saves it.
#[test]
fn a_flush_protects_what_was_written() {
    let programs_of = |flush: &str| {
        let pairs = [&EIGHT[..], &[LINE, STRIPE, ROOM, ("rain.flush", flush)]].concat();
        let (config, mut device) = device("ideal_page", 64, &pairs);
        for page in 0..8 {
            submit(device.as_mut(), &config, Op::Write, page);
            if page == 2 {
                crate::common::flush(device.as_mut());
                // There is nothing more to protect.
                crate::common::flush(device.as_mut());
            }
        }
        audited(device.as_ref(), flush);
        (programs(device.as_ref(), Cause::Parity), programs(device.as_ref(), Cause::Pad))
    };
    assert_eq!(programs_of("capacitor"), (1, 0), "a stripe of seven, and a page of the next");
    assert_eq!(programs_of("partial"), (2, 0), "in the fourth page, then six pages are there");
    assert_eq!(programs_of("pad"), (1, 4), "three pages and four that hold nothing");
}

/// A device with a die that is to fail has room for what is moved then, or is refused.
#[test]
fn a_die_that_is_to_fail_needs_room() {
    let (row, _) = schemes::find("ideal_page").expect("in the table");
    let minimum = |more: Pairs<'_>| {
        let pairs = [&EIGHT[..], &[LINE, STRIPE, ROOM], more].concat();
        (row.minimum_blocks)(&tiny("ideal_page", 64, &pairs))
    };
    // 1024 pages in lines of six blocks of 16 pages instead of seven, 11 instead of 10, and two
    // more that are held free; eight blocks each.
    assert_eq!(minimum(&[("nand.failing_die", "1")]), minimum(&[]) + 8 * (1 + 2));
    assert!(minimum(&[]) > (row.minimum_blocks)(&tiny("ideal_page", 64, &EIGHT)));
}
