//! Faults one at a time, for every scheme of the table: what a bad block, a failed program and a
//! page that cannot be read cost, and what they never cost.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{self, config, mixed, open, pages, place, push_out, submit, tiny};
use ftlab_engine::board::Board;
use ftlab_engine::board::nand::fault::Fault;
use ftlab_engine::board::nand::state::PageKind;
use ftlab_engine::board::when::When;
use ftlab_engine::config::SettingError;
use ftlab_engine::meter::{BlockRole, Cause, Event};
use ftlab_engine::request::{Op, PageIo, Request, RequestShape, Unreadable};
use ftlab_engine::schemes::{self, Location, Row};
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::{BlockId, Lpn, PlaneId, Ppn, Tag};

fn read(device: &mut dyn Device, pairs: &ftlab_engine::config::Config, page: u64) -> Option<u32> {
    let completion = device.submit(&pages(pairs, Op::Read, page, 1)).expect("the run goes on");
    completion.unreadable.map(|lost| {
        assert_eq!(lost, Unreadable { first: Lpn(page as u32), pages: 1 });
        lost.pages
    })
}

fn every_scheme(act: impl Fn(&'static Row)) {
    schemes::TABLE.iter().for_each(act);
}

/// 4 planes of 50 blocks: 10 % are 20 blocks, 5 in each plane, wherever the seed puts them; two
/// more by name.
#[test]
fn factory_bad_blocks_are_as_many_as_asked_for_in_every_plane() {
    let config = config(&[
        ("device.planes", "4"),
        ("device.blocks_per_plane", "50"),
        ("nand.factory_bad_rate", "0.1"),
        ("nand.factory_bad_blocks", "7, 151"),
    ]);
    assert_eq!((config.factory_bad_blocks(), config.usable_blocks()), (22, 4 * 44));
    let boards = [1, 2].map(|seed| Board::new(&config, seed, 0));
    for board in &boards {
        let nand = board.nand();
        let counts = [0, 1, 2, 3].map(|plane| nand.factory_bad_in(PlaneId(plane)).len());
        assert_eq!(counts, [6, 5, 5, 6]);
        assert_eq!((nand.retired_blocks(), nand.retired_since()), (22, 0));
        assert!([7, 151].iter().all(|&block| nand.factory_bad().contains(&BlockId(block))));
    }
    assert_ne!(boards[0].nand().factory_bad(), boards[1].nand().factory_bad());
}

fn write(board: &mut Board, page: u32, sectors: u64) -> Result<When, Fault> {
    let request = RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 4, hint: None };
    let io = PageIo { lpn: Lpn(page), sectors, cause: Cause::Host, data: Tag(1), request };
    board.program_update(Ppn(page), None, &io, PageKind::Data, When::START)
}

#[test]
fn the_law_refuses_a_factory_bad_block() {
    let pairs = [("device.blocks_per_plane", "8"), ("nand.factory_bad_blocks", "3")];
    let mut board = Board::new(&config(&pairs), 1, 0);
    let page = board.geometry().page(BlockId(3), 0).0;
    let refused = catch_unwind(AssertUnwindSafe(|| write(&mut board, page, 1)));
    let text = refused.expect_err("refused").downcast_ref::<String>().cloned().expect("says why");
    assert!(text.contains("(block 3, offset 0): the block is retired"), "{text}");
    let erased = catch_unwind(AssertUnwindSafe(|| {
        board.erase(BlockId(3), BlockRole::Data, Cause::Gc, When::START)
    }));
    assert!(erased.is_err());
}

#[test]
fn a_device_with_too_many_bad_blocks_is_refused_with_the_numbers() {
    every_scheme(|row| {
        let name = row.paper.name;
        let mut config = tiny(name, 24, &[]);
        let minimum = (row.minimum_blocks)(&config);
        config.device.blocks_per_plane = minimum as u32 + 1;
        config.set("nand.factory_bad_blocks", "0,5").expect("legal");
        let Err(SettingError::Conflict(text)) = (row.open)(&config, 1) else {
            panic!("{name}: {minimum} blocks are needed and {} are good", minimum - 1);
        };
        let told = [
            format!("needs at least {minimum} blocks"),
            format!("has {}, 2 of them bad", minimum + 1),
            format!("{} can be used", minimum - 1),
        ];
        assert!(told.iter().all(|part| text.contains(part)), "{text}");
        config.set("nand.factory_bad_blocks", "5").expect("legal");
        assert!((row.open)(&config, 1).is_ok(), "{name}: {minimum} good blocks are enough");
        let beyond = (minimum + 1).to_string();
        config.set("nand.factory_bad_blocks", &beyond).expect("legal by itself");
        assert!((row.open)(&config, 1).is_err(), "{name}: there is no block {beyond}");
    });
}

/// A program that fails is known to have failed when it is over; on a device with several planes
/// its retry must not start with it, side by side.
#[test]
fn a_retry_starts_when_the_failure_is_known() {
    every_scheme(|row| {
        let pairs = [("device.planes", "4"), ("timing.plane_parallel", "true")];
        let parallel = [("timing.profile", "parallel"), ("timing.program", "200us")];
        let config = tiny(row.paper.name, 24, &[pairs, parallel].concat());
        let completed = |fails: bool| {
            let mut device = open(row.paper.name, &config);
            if fails {
                device.board_mut().nand_mut().faults_mut().fail_program_after(0);
            }
            let written = device.submit(&pages(&config, Op::Write, 1, 1)).expect("written");
            let flush = Request {
                arrival: 0,
                op: Op::Flush,
                first_sector: 0,
                sectors: 0,
                unit: 0,
                stream: None,
                content: None,
            };
            let flushed = device.submit(&flush).expect("flushed");
            assert_eq!(device.board().meter().events(Event::ProgramFailures), u64::from(fails));
            written.completed.max(flushed.completed)
        };
        let (well, after_failure) = (completed(false), completed(true));
        assert!(after_failure >= well + 200_000, "{}: {well} {after_failure}", row.paper.name);
    });
}

/// A read that fails costs one read and four retries; the others of the request are served.
#[test]
fn an_unreadable_page_is_named_and_costs_every_retry() {
    every_scheme(|row| {
        let name = row.paper.name;
        // What the host says about its map takes time on the link, which is not the flash's.
        let config = tiny(name, 24, &[("hmb.hint_us", "0us")]);
        let mut device = open(name, &config);
        device.verify_reads();
        device.submit(&pages(&config, Op::Write, 0, 4)).expect("written");
        push_out(name, device.as_mut(), &config);
        device.start_measuring();
        device.board_mut().nand_mut().faults_mut().fail_read_after(2);
        let completion = device.submit(&pages(&config, Op::Read, 0, 4)).expect("completes");
        assert_eq!(completion.unreadable, Some(Unreadable { first: Lpn(2), pages: 1 }), "{name}");
        let meter = device.board().meter();
        assert_eq!(meter.reads(Cause::Host), 4 + 4, "{name}");
        let counted = [Event::ReadRetries, Event::LostPages].map(|event| meter.events(event));
        assert_eq!(counted, [4, 1], "{name}");
        assert_eq!(completion.device(), 8 * 130_900, "{name}: one server, eight page reads");
        assert_eq!((meter.host().failed, meter.host().unreadable_pages), (1, 1));
        device.audit().expect("sound");
        // It stays lost, and costs its retries again, until it is written anew.
        assert_eq!(read(device.as_mut(), &config, 2), Some(1), "{name}");
        assert_eq!(device.board().meter().reads(Cause::Host), 8 + 5, "{name}");
        submit(device.as_mut(), &config, Op::Write, 2);
        assert_eq!(read(device.as_mut(), &config, 2), None, "{name}");
        device.audit().expect("sound");
    });
}

/// A lost page is moved by collection and merges as a lost page, and found as one after a power
/// cut: the version before it never comes back.
#[test]
fn a_lost_page_stays_lost_wherever_it_goes() {
    every_scheme(|row| {
        let name = row.paper.name;
        // First in, first out: collection comes to every block. Groups have a rule of their own.
        let pairs = [("gc.victim", "fifo"), ("learnedftl.group_lines", "false")];
        let config = tiny(name, 24, &pairs);
        let mut device = open(name, &config);
        device.verify_reads();
        let logical = config.device.logical_pages();
        for page in (0..logical).chain([5]) {
            submit(device.as_mut(), &config, Op::Write, page);
        }
        push_out(name, device.as_mut(), &config);
        device.board_mut().nand_mut().faults_mut().fail_read_after(0);
        assert_eq!(read(device.as_mut(), &config, 5), Some(1), "{name}");
        let before = place(device.as_ref(), 5);
        let mut was_moved = false;
        for page in (0..60).flat_map(|_| 0..logical).filter(|page| page % 4 != 1) {
            submit(device.as_mut(), &config, Op::Write, page);
            was_moved |= device.locate(Lpn(5)) != Location::Flash(before);
        }
        // It may have come back to where it was, round and round.
        assert!(was_moved, "{name}: it was moved");
        assert_eq!(read(device.as_mut(), &config, 5), Some(1), "{name}");
        device.audit().expect("sound");
        device.power_cycle().expect("recovers");
        device.audit().expect("sound");
        assert_eq!(read(device.as_mut(), &config, 5), Some(1), "{name}: after the cut");
        assert_eq!(device.board().meter().events(Event::LostPages), 1, "{name}");
        device.submit(&pages(&config, Op::Trim, 4, 4)).expect("trimmed");
        assert_eq!(read(device.as_mut(), &config, 5), None, "{name}: trimmed");
    });
}

/// A partial write that must keep sectors of a lost page leaves the page lost; one that replaces
/// all of them does not read it.
#[test]
fn a_partial_write_does_not_make_a_lost_page_whole() {
    every_scheme(|row| {
        let name = row.paper.name;
        let pairs = [("device.page_bytes", "1024"), ("io.partial_write", "rmw")];
        let config = tiny(name, 24, &pairs);
        let mut device = open(name, &config);
        device.verify_reads();
        submit(device.as_mut(), &config, Op::Write, 9);
        push_out(name, device.as_mut(), &config);
        device.board_mut().nand_mut().faults_mut().fail_read_after(0);
        assert_eq!(read(device.as_mut(), &config, 9), Some(1), "{name}");
        let half = Request { sectors: 1, ..pages(&config, Op::Write, 9, 1) };
        device.submit(&half).expect("written");
        assert_eq!(read(device.as_mut(), &config, 9), Some(1), "{name}: the other half is lost");
        submit(device.as_mut(), &config, Op::Write, 9);
        assert_eq!(read(device.as_mut(), &config, 9), None, "{name}");
        device.audit().expect("sound");
    });
}

/// Every single read of a workload fails once, in turn: a read of the map costs retries, never an
/// entry; a read of data costs at most that page.
#[test]
fn whatever_read_fails_at_most_one_page_is_lost() {
    every_scheme(|row| {
        let name = row.paper.name;
        let config = tiny(name, 40, &[("dftl.cmt_entries", "4")]);
        let requests = mixed(&config, 140, 9);
        let mut kept = 0;
        for failing in (0..).step_by(3) {
            let mut device = open(name, &config);
            device.verify_reads();
            device.board_mut().nand_mut().faults_mut().fail_read_after(failing);
            for request in &requests {
                device.submit(request).unwrap_or_else(|error| panic!("{name} {failing}: {error}"));
            }
            device.audit().unwrap_or_else(|error| panic!("{name} {failing}: {error}"));
            let lost: u32 = (0..config.device.logical_pages())
                .filter_map(|page| read(device.as_mut(), &config, page))
                .sum();
            let meter = device.board().meter();
            if meter.events(Event::ReadRetries) == 0 {
                break;
            }
            assert!(lost <= 1, "{name}: read {failing} lost {lost} pages");
            kept += u32::from(meter.events(Event::LostPages) == 0);
        }
        // The others' maps or caches hold every entry of this device.
        let loads = matches!(name, "dftl" | "lazyftl" | "treeftl" | "treeftl_page_lru");
        assert_eq!(kept > 0, loads, "{name}: {kept} reads were of the map");
    });
}

/// Every fifth erase fails: the device ends by name and everything can be read.
#[test]
fn every_scheme_wears_out_by_name_and_stays_readable() {
    every_scheme(|row| {
        let name = row.paper.name;
        let config = tiny(name, 12, &[("nand.erase_failure_rate", "0.2")]);
        let mut device = open(name, &config);
        let requests = mixed(&config, 5000, 3);
        let mut versions = vec![0; config.device.logical_pages() as usize];
        let end = requests.iter().find_map(|request| {
            let first = device.last_version().0;
            let error = device.submit(request).err();
            let range = request.first_sector as usize..;
            for (page, index) in range.zip(0..request.sectors) {
                match request.op {
                    // What the end interrupted may be there or not.
                    _ if error.is_some() => versions[page] = u32::MAX,
                    Op::Write => versions[page] = first + 1 + index,
                    Op::Trim => versions[page] = 0,
                    _ => {}
                }
            }
            error
        });
        let Some(DeviceError::Fault(Fault::WornOut { retired_blocks, .. })) = end else {
            panic!("{name}: every fifth erase failed, but the device ended with {end:?}");
        };
        assert_eq!(retired_blocks, device.board().nand().retired_blocks());
        for (page, version) in versions.iter().enumerate().filter(|(_, v)| **v != u32::MAX) {
            if *version > 0 {
                let found = common::version(device.as_ref(), page as u32);
                assert_eq!(found, Tag(*version), "{name}: {page}");
            }
            assert_eq!(read(device.as_mut(), &config, page as u64), None, "{name}");
        }
    });
}

/// What a retry corrected is in the controller: it is loaded like any other page, and the copy is
/// no copyback. One retry costs one transfer out, the program one in.
#[test]
fn a_copyback_whose_read_needs_a_retry_loads_the_corrected_page() {
    let config = config(&[
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "10us"),
        ("timing.copyback", "true"),
        ("device.pages_per_block", "64"),
        ("nand.read_retry_rate", "0.5"),
        ("nand.read_retries", "1"),
    ]);
    let mut board = Board::new(&config, 1, 0);
    for page in 0..64 {
        let request =
            RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 4, hint: None };
        let data = Tag(page + 1);
        let io = PageIo { lpn: Lpn(page), sectors: 1, cause: Cause::Host, data, request };
        let _ = board
            .program_update(Ppn(page), None, &io, PageKind::Data, When::START)
            .expect("a sound page");
    }
    let mut retried = 0;
    for page in 0..64 {
        let before = board.nand().clock().service_time().transfer;
        let events = [Event::ReadRetries, Event::Copybacks];
        let count = |board: &Board| events.map(|event| board.meter().events(event));
        let known = count(&board);
        let pages = (Ppn(page), Ppn(64 + page));
        let _ = board
            .copy(pages.0, pages.1, PageKind::Data, Cause::Gc, When::START)
            .expect("a sound page");
        let transfers = (board.nand().clock().service_time().transfer - before) / 10_000;
        let now = count(&board);
        let retries = now[0] - known[0];
        assert_eq!((transfers, now[1] - known[1]), (2 * retries, 1 - retries), "page {page}");
        retried += retries;
    }
    assert!(retried > 10 && retried < 54, "{retried} of 64 copies were retried");
}
