//! What an audit counts and finds.

use super::*;
use std::collections::VecDeque;

/// Ten pages are in two blocks of eight, and the record of the trim in a third one.
#[test]
fn an_audit_counts_pages_and_blocks() {
    let mut device = plain(&[]);
    write_each(&mut device, 0..10);
    done(&mut device, page(Op::Trim, 3));
    done(&mut device, flush());
    let found = device.audit().expect("it is sound");
    let expected =
        Audit { valid_data_pages: 9, valid_other_pages: 1, touched_blocks: 3, ..Audit::default() };
    assert_eq!(found, expected);
    let mut looked_at = Vec::new();
    let all = device.audit_while(&mut |pages| {
        looked_at.push(pages);
        ControlFlow::Continue(())
    });
    assert_eq!(all, Ok(ControlFlow::Continue(found)));
    assert_eq!(looked_at, [8; 3], "all pages of these");
    let ended = device.audit_while(&mut |_| ControlFlow::Break(()));
    assert_eq!(ended, Ok(ControlFlow::Break(())));
}

#[test]
fn an_audit_counts_what_is_in_memory_and_what_that_supersedes() {
    let pairs = [("buffer.name", "lru"), ("buffer.bytes", "8192")];
    let mut device = plain(&pairs);
    done(&mut device, page(Op::Write, 0));
    done(&mut device, page(Op::Write, 1));
    device.clean_caches().expect("it works");
    done(&mut device, page(Op::Write, 1));
    done(&mut device, page(Op::Write, 2));
    let found = device.audit().expect("it is sound");
    assert_eq!((found.valid_data_pages, found.stale_pages, found.ram_pages), (2, 1, 2));
    assert_eq!((found.shared_pages, found.touched_blocks), (0, 1));
}

#[test]
fn an_audit_says_which_truth_is_broken() {
    let three = || {
        let mut device = plain(&[]);
        write_each(&mut device, 0..3);
        device
    };
    let said = |device: &dyn Device| device.audit().expect_err("it is broken");
    let mut device = three();
    let lost = place(&device, 1);
    device.board.nand_mut().invalidate(lost);
    let words = said(&device);
    let begin =
        "the host wrote and did not trim 3 pages, but 2 are located (2 valid on flash, 0 of";
    assert!(words.starts_with(begin), "{words}");
    let mut device = three();
    device.scheme.as_mut().expect("there").misplace(Lpn(1), None);
    let words = said(&device);
    assert!(
        words.starts_with("1 valid data pages are not where the map looks for them"),
        "{words}"
    );
    let mut device = three();
    device.ledger.forgot(Lpn(2));
    assert!(
        said(&device).starts_with("the host wrote and did not trim 2 pages, but 3 are located")
    );
    let mut device = three();
    device.scheme.as_mut().expect("there").shared = 1;
    let words = "the host wrote and did not trim 3 pages, but 4 are located (3 valid on flash, 0 of \
                 them stale, 1 more that share those, 0 in memory)";
    assert_eq!(said(&device), words);
    let mut device = three();
    device.board.nand_mut().draft(0, &mut VecDeque::new(), |pages| pages.push(7));
    let words = "0 map, checkpoint and trim-record pages hold words, but words are kept of 1";
    assert_eq!(said(&device), words);
    let mut device = three();
    device.scheme = None;
    assert_eq!(said(&device), "the scheme did not recover");
}

/// Page 1 lies on a page of flash that is not valid, and another one is said to be shared, so that the
/// sum is right. Which pages share which is looked at under a scheme that looks at contents.
#[test]
fn an_audit_follows_every_page_where_contents_are_shared() {
    fn said<const TRAITS: u32>() -> Result<(), String> {
        let mut device = ssd::<TRAITS>(&[]);
        write_each(&mut device, 0..3);
        let lost = place(&device, 1);
        device.board.nand_mut().invalidate(lost);
        device.scheme.as_mut().expect("there").shared = 1;
        assert_eq!(lost, Ppn(1));
        device.audit().map(drop)
    }
    let words = "page 1 lies on page 1 of flash, which is not valid";
    assert_eq!(said::<CONTENT>(), Err(words.to_owned()));
    // Under another scheme its own tables are the first to tell.
    let words = said::<0>().expect_err("a page is missing");
    assert!(words.ends_with("and counts 3 valid pages where 2 are"), "{words}");
}

/// One page of trim records is alive.
#[test]
fn an_audit_holds_pages_of_records_against_what_is_declared() {
    let trimmed = |device: &mut dyn Device| {
        write_each(device, 0..2);
        done(device, page(Op::Trim, 0));
        done(device, flush());
        device.audit().map(|audit| audit.valid_other_pages)
    };
    assert_eq!(trimmed(&mut plain(&[])), Ok(1));
    assert_eq!(trimmed(&mut ssd::<TIGHT>(&[])), Ok(1), "one is declared");
}

/// The page cannot be read, and is not what was written last either.
#[test]
fn an_audit_takes_what_is_lost_only_in_the_version_written_last() {
    let mut device = plain(&[]);
    device.verify_reads();
    done(&mut device, page(Op::Write, 5));
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    done(&mut device, page(Op::Read, 5));
    device.audit().expect("it is the one written last");
    device.ledger.wrote(Lpn(5), Tag(4));
    let said = device.audit().expect_err("it is another");
    assert_eq!(said, "page 5 is located in version 1, but 4 was written last");
}

/// Collection moves the page on, and nobody knows its version any more.
#[test]
fn what_is_lost_stays_lost_where_it_is_moved() {
    let mut device = plain(&[("gc.victim", "fifo")]);
    device.verify_reads();
    write_each(&mut device, 0..64);
    device.board_mut().nand_mut().faults_mut().fail_read_after(0);
    done(&mut device, page(Op::Read, 5));
    let before = place(&device, 5);
    for lpn in (0..64).filter(|&lpn| lpn != 5).cycle().take(300) {
        done(&mut device, page(Op::Write, lpn));
    }
    assert_ne!(place(&device, 5), before);
    assert_eq!(done(&mut device, page(Op::Read, 5)).unreadable.map(|lost| lost.pages), Some(1));
    device.audit().expect("it is lost on flash");
}
