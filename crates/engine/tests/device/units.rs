//! Mapping units smaller than a flash page (`device.mapping_unit`).

use crate::common::{LATENCIES, PROGRAM, READ, config, open, pages, tiny};
use ftlab_engine::board::energy::flash_energy;
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::ssd::Device;

#[test]
fn small_units_gather_to_flash_pages_and_share_what_was_sensed() {
    for profile in ["serial", "parallel"] {
        let mut pairs = LATENCIES.to_vec();
        pairs.extend([
            ("timing.profile", profile),
            ("timing.page_transfer", "40ns"),
            ("timing.controller_page", "0ns"),
            ("device.page_bytes", "2048"),
            ("device.mapping_unit", "512"),
        ]);
        let config = tiny("ideal_page", 24, &pairs);
        let mut device = open("ideal_page", &config);
        let device = device.as_mut();
        device.verify_reads();
        let cells = |device: &dyn Device| {
            let done = device.board().nand().clock().cell_operations();
            (done.reads, done.programs)
        };
        let served = |device: &mut dyn Device, op, first, count| {
            let request =
                Request { arrival: device.idle_from(), ..pages(&config, op, first, count) };
            device.submit(&request).expect("the device works").device()
        };
        // Three units wait, the fourth takes the flash page along: 40 ns over the channel.
        assert_eq!(served(device, Op::Write, 0, 3), 0, "{profile}");
        assert_eq!(cells(device), (0, 0));
        assert_eq!(served(device, Op::Read, 1, 1), 0, "{profile}: from the controller");
        assert_eq!(served(device, Op::Write, 3, 1), 40 + PROGRAM, "{profile}");
        assert_eq!(cells(device), (0, 1));
        assert_eq!(device.board().meter().total_programs(), 4, "counted by unit");
        // A unit is a quarter of the transfer; the others are in the register.
        assert_eq!(served(device, Op::Read, 2, 1), READ + 10, "{profile}");
        assert_eq!(served(device, Op::Read, 0, 4), 40, "{profile}");
        assert_eq!(cells(device), (1, 1));
        // Another flash page takes the register.
        assert_eq!(served(device, Op::Write, 4, 4), 40 + PROGRAM, "{profile}");
        assert_eq!(served(device, Op::Read, 0, 2), READ + 20, "{profile}");
        assert_eq!(cells(device), (2, 2));
        device.audit().expect("the audit passes");
        let reads = device.board().meter().total_reads();
        assert_eq!(reads, 1 + 1 + 4 + 2, "{profile}");
    }
}

#[test]
fn small_units_are_refused_where_pages_have_fixed_offsets_or_do_not_divide() {
    let open = |scheme: &str, unit: &str| {
        let config =
            crate::common::config(&[("device.page_bytes", "2048"), ("device.mapping_unit", unit)]);
        let (row, _) = ftlab_engine::schemes::find(scheme).expect("in the table");
        (row.open)(&config, 1).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(open("fast", "512").is_err_and(|text| text.contains("device.mapping_unit at auto")));
    assert!(
        open("ideal_page", "768").is_err_and(|text| text.contains("device.mapping_unit = 768"))
    );
    assert!(open("ideal_page", "4096").is_err_and(|text| text.contains("divided by")));
    assert!(open("ideal_page", "2048").is_ok());
}

/// Two planes of a die, four mapping units to a flash page: eight units in a request are two flash
/// pages, loaded one after the other and programmed by one command.
#[test]
fn flash_pages_of_small_units_are_programmed_together() {
    let config = crate::common::config(&[
        ("device.planes", "2"),
        ("device.page_bytes", "16KiB"),
        ("device.mapping_unit", "4KiB"),
        ("alloc.order", "plane_die_channel"),
        ("timing.profile", "parallel"),
        ("timing.program", "300us"),
        ("timing.page_transfer", "40us"),
        ("timing.multi_plane_program", "true"),
    ]);
    let mut device = crate::common::open("ideal_page", &config);
    let write = crate::common::pages(&config, Op::Write, 0, 8);
    let done = device.submit(&write).expect("works");
    assert_eq!(done.device(), 2 * 40_000 + 300_000);
    let cells = device.board().nand().clock().cell_operations();
    assert_eq!((cells.programs, device.board().meter().total_programs()), (2, 8));
}

fn quarter_pages(more: &[(&str, &str)]) -> Config {
    let mut pairs = vec![
        ("device.page_bytes", "2KiB"),
        ("device.mapping_unit", "512"),
        ("device.pages_per_block", "4"),
        ("timing.profile", "parallel"),
        ("timing.read", "50us"),
        ("timing.program", "300us"),
        ("timing.page_transfer", "40us"),
    ];
    pairs.extend(more);
    config(&pairs)
}

#[test]
fn flash_pages_fail_as_a_whole_and_not_by_unit() {
    let failed = |units: &str, rate: &str| {
        let config = quarter_pages(&[
            ("device.mapping_unit", units),
            ("nand.program_failure_rate", rate),
            ("device.blocks_per_plane", "4096"),
            ("device.over_provisioning", "1"),
        ]);
        let mut device = open("ideal_page", &config);
        let all = config.device.logical_pages() * 3 / 4;
        for page in 0..all {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
        }
        device.audit().expect("the audit passes");
        let cells = device.board().nand().clock().cell_operations().programs;
        device.board().meter().events(Event::ProgramFailures) as f64 / cells as f64
    };
    let (quarter, whole) = (failed("512", "0.02"), failed("2048", "0.02"));
    assert!((0.015..0.025).contains(&quarter), "{quarter} of the flash pages");
    assert!((0.015..0.025).contains(&whole), "{whole} of the flash pages");
}

#[test]
fn registers_forget_at_a_cut_and_when_a_mark_is_written() {
    let reads = |between: &dyn Fn(&mut dyn Device, &Config)| {
        let config = quarter_pages(&[]);
        let mut device = open("ideal_page", &config);
        for page in 0..8 {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
        }
        device.submit(&pages(&config, Op::Read, 0, 1)).expect("works");
        between(device.as_mut(), &config);
        let before = device.board().nand().clock().cell_operations().reads;
        device.submit(&pages(&config, Op::Read, 1, 1)).expect("works");
        device.board().nand().clock().cell_operations().reads - before
    };
    assert_eq!(reads(&|_, _| {}), 0, "the flash page is in the register");
    let cut = |device: &mut dyn Device, _: &Config| {
        device.power_cycle().expect("recovers");
    };
    assert_eq!(reads(&cut), 1);
    let mark = |device: &mut dyn Device, config: &Config| {
        device.submit(&pages(config, Op::Trim, 5, 1)).expect("works");
    };
    assert_eq!(reads(&mark), 1);
}

/// Half a flash page gathers: a mark on it writes nothing, and is not counted.
#[test]
fn what_gathers_is_superseded_without_a_mark() {
    let config = quarter_pages(&[("timing.oob_write", "5us")]);
    let mut device = open("ideal_page", &config);
    for page in [0, 0, 0] {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
    }
    let board = device.board();
    assert_eq!((board.nand().oob_writes(), board.meter().total_programs()), (0, 3));
    assert_eq!(board.nand().clock().cell_operations().programs, 0);
}

/// Reads move quarter pages, programs whole ones: 3.3 V and 25 mA over the time of each.
#[test]
fn energy_by_current_goes_by_what_was_transferred() {
    let config = quarter_pages(&[("energy.model", "current")]);
    let mut device = open("ideal_page", &config);
    for page in 0..4 {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
    }
    device.submit(&pages(&config, Op::Read, 0, 1)).expect("works");
    let clock = device.board().nand().clock();
    let energy = flash_energy(&config.energy, clock.cell_operations(), &clock.service_time());
    let picojoules = |nanos: u128| 3300 * 25_000 * nanos / 1_000_000;
    assert_eq!((energy.read, energy.program), (picojoules(60_000), picojoules(340_000)));
}
