//! Who passes, suspends or joins whom on one die, command by command. Times are of no part: a read
//! takes 50, a program 300, an erase 2000, and suspending 20.

use super::ready::Ready;
use super::schedule::{Job, Rules, Schedule};
use super::suspend_tests::clock;
use super::timeline::{Span, Timeline, Unit, Work};
use crate::board::settings::BoardSettings;
use crate::meter::Cause;
use crate::settings::Groups as _;
use crate::units::Nanos;

const READ: Nanos = 50;
const PROGRAM: Nanos = 300;
const ERASE: Nanos = 2000;

/// A die with its rules, at time 0.
struct Die {
    schedule: Schedule,
    rules: Rules,
    ready: Ready,
    timeline: Timeline,
}

impl Die {
    fn new(pairs: &[(&str, &str)]) -> Self {
        let mut config = BoardSettings::default();
        for (key, value) in [("timing.suspend_cost", "20ns")].iter().chain(pairs) {
            config.set(key, value).expect("legal settings");
        }
        let (_, geometry) = clock(&[("device.planes", "4")]);
        Die {
            schedule: Schedule::new(16),
            rules: Rules::new(&config.timing),
            ready: Ready::new(geometry.pages(), geometry.blocks(), &geometry),
            timeline: Timeline::default(),
        }
    }

    /// When a job is done.
    fn book(&mut self, job: Job) -> Nanos {
        self.schedule.book((&self.rules, 0), &job, &mut self.ready, &mut self.timeline)
    }
}

fn job(work: Work, cause: Cause, from: Nanos, length: Nanos) -> Job {
    Job {
        unit: Unit::Die(0),
        work,
        cause,
        slc: false,
        die: 0,
        plane: 0,
        number: None,
        offset: 0,
        from,
        length,
    }
}

/// A read that a request waits for.
fn read(from: Nanos) -> Job {
    job(Work::Read, Cause::Host, from, READ)
}

/// A collection's read, for which nobody waits.
fn collects(from: Nanos) -> Job {
    job(Work::Read, Cause::Gc, from, READ)
}

fn program(from: Nanos) -> Job {
    job(Work::Program, Cause::Host, from, PROGRAM)
}

fn erase(from: Nanos) -> Job {
    job(Work::Erase, Cause::Gc, from, ERASE)
}

/// What can join commands of other planes: of a page at the first place of the plane's first block.
fn joins(job: Job, plane: u32) -> Job {
    Job { plane, number: Some(plane * 128), ..job }
}

/// A program begins at 500. An earlier read is over long before, or just then; either way it did
/// not hold the program back, which a later read therefore does not pass.
#[test]
fn what_was_not_in_the_way_was_not_held_back() {
    for (earlier, done) in [(100, 150), (450, 500)] {
        let mut die = Die::new(&[("timing.multi_plane_read", "true")]);
        assert_eq!(die.book(program(500)), 800);
        assert_eq!(die.book(read(earlier)), done);
        assert_eq!(die.book(read(480)), 850, "behind the program");
    }
}

/// The cells read until 50 and erase after that, one suspension each. A read that comes at 40 goes
/// first: with priority that costs the erase nothing, otherwise its one suspension.
#[test]
fn an_erase_that_was_held_back_was_suspended_unless_reads_have_priority() {
    for (priority, second, erased) in [
        // Behind the erase, which ends at 2100.
        ("false", 2150, 2100),
        // It suspends the erase at 200, which costs 20.
        ("true", 270, 2170),
    ] {
        let mut die = Die::new(&[
            ("timing.suspend", "erase"),
            ("timing.suspend_limit", "1"),
            ("timing.read_priority", priority),
        ]);
        assert_eq!(die.book(read(0)), 50);
        assert_eq!(die.book(erase(0)), 2050);
        assert_eq!(die.book(read(40)), 100, "priority {priority}: in front of the erase");
        assert_eq!(die.book(read(200)), second, "priority {priority}");
        assert_eq!(die.schedule.tail(), second.max(erased), "priority {priority}");
    }
}

/// A program could begin at 500, and a read comes then: the program would end at 850 instead of
/// 800. A read that somebody waits for stays where it is.
#[test]
fn a_program_makes_room_for_a_read_unless_another_read_would_move() {
    for (fixed, done, tail) in [
        // Behind both: 840 to 890, then this one.
        (840, 940, 940),
        // The program may end when the read begins, or earlier.
        (850, 550, 900),
        (860, 550, 910),
    ] {
        let mut die = Die::new(&[("timing.suspend", "program_erase")]);
        assert_eq!(die.book(program(500)), 800);
        assert_eq!(die.book(read(fixed)), fixed + READ);
        assert_eq!(die.book(read(500)), done, "another from {fixed} on");
        assert_eq!(die.schedule.tail(), tail, "another from {fixed} on");
    }
}

/// An erase runs until 2000. A read that comes at 100 suspends it, which then ends at
/// 2000 + 20 + 50 = 2070, unless a read is to begin before that.
#[test]
fn an_erase_is_suspended_unless_another_read_would_move() {
    for (fixed, done, tail) in [
        // It waits for the erase, and has room in front of the other.
        (2050, 2050, 2100),
        (2070, 170, 2120),
        (2300, 170, 2350),
    ] {
        let mut die = Die::new(&[("timing.suspend", "erase")]);
        assert_eq!(die.book(erase(0)), 2000);
        assert_eq!(die.book(read(fixed)), fixed + READ);
        assert_eq!(die.book(read(100)), done, "another from {fixed} on");
        assert_eq!(die.schedule.tail(), tail, "another from {fixed} on");
    }
}

/// Suspending takes 20: what an erase has left then is no longer, or one longer.
#[test]
fn an_erase_is_suspended_only_if_the_read_gains_by_it() {
    for (from, done, tail) in [(1980, 2050, 2050), (1979, 2049, 2070)] {
        let mut die = Die::new(&[("timing.suspend", "erase")]);
        assert_eq!(die.book(erase(0)), 2000);
        assert_eq!(die.book(read(from)), done);
        assert_eq!(die.schedule.tail(), tail, "read at {from}");
    }
}

/// Two commands are known at most: with the third the first is forgotten, and with it the time
/// before it.
#[test]
fn the_first_command_is_forgotten_when_there_are_more_than_the_limit() {
    let mut die = Die::new(&[("timing.multi_plane_read", "true")]);
    die.schedule = Schedule::new(2);
    assert_eq!(die.book(collects(200)), 250);
    assert_eq!(die.book(collects(400)), 450);
    assert_eq!(die.book(collects(100)), 150, "there is room in front of both");
    assert_eq!(die.book(collects(0)), 200, "what was before 150 is not known any more");
}

/// A program waits from 100 on and takes 300; another plane's joins it if it takes no longer.
#[test]
fn a_command_takes_along_what_takes_no_longer() {
    for (length, done) in [(299, 400), (300, 400), (301, 701)] {
        let mut die = Die::new(&[("timing.multi_plane_program", "true")]);
        assert_eq!(die.book(joins(program(100), 0)), 400);
        let other = Job { length, ..joins(program(90), 1) };
        assert_eq!(die.book(other), done, "it takes {length}");
    }
}

/// A program could begin at 500, and a collection reads from 840 on. A read that comes at 500
/// passes both; not if a request's read joined the collection's, since that would end later, too.
#[test]
fn a_command_that_a_requests_read_joined_does_not_move() {
    for is_joined in [false, true] {
        let both = [("timing.multi_plane_read", "true"), ("timing.read_priority", "true")];
        let mut die = Die::new(&both);
        assert_eq!(die.book(program(500)), 800);
        assert_eq!(die.book(joins(collects(840), 0)), 890);
        if is_joined {
            assert_eq!(die.book(joins(read(840), 1)), 890);
        }
        assert_eq!(die.book(read(500)), if is_joined { 940 } else { 550 });
    }
}

/// Programs of three planes are one command from 100 to 400, which a read pushes back to 150, with
/// the collection's read behind it.
#[test]
fn commands_are_drawn_with_all_their_planes_where_they_come_to_lie() {
    let both = [("timing.multi_plane_program", "true"), ("timing.read_priority", "true")];
    let mut die = Die::new(&both);
    die.timeline.start(10);
    for plane in 0..3 {
        assert_eq!(die.book(joins(program(100), plane)), 400);
    }
    assert_eq!(die.book(collects(400)), 450);
    assert_eq!(die.book(read(100)), 150);
    let drawn = |work, cause, (start, end), planes| Span {
        unit: Unit::Die(0),
        start,
        end,
        work,
        cause,
        planes,
    };
    let expected = vec![
        drawn(Work::Program, Cause::Host, (150, 450), 3),
        drawn(Work::Read, Cause::Gc, (450, 500), 1),
        drawn(Work::Read, Cause::Host, (100, 150), 1),
    ];
    assert_eq!(die.timeline.take(), (expected, 0));
}

/// A program could begin at 500, and something else could, too: only a read that a request waits
/// for passes it, and that passes no read.
#[test]
fn nothing_but_a_requests_read_passes_and_it_passes_no_read() {
    let passes = |waits: Job, comes: Job| {
        let mut die = Die::new(&[("timing.read_priority", "true")]);
        let first = waits.length;
        assert_eq!(die.book(waits), 500 + first);
        die.book(comes) < 500 + first
    };
    assert!(passes(program(500), read(500)));
    assert!(!passes(program(500), collects(500)));
    assert!(!passes(erase(500), program(500)));
    assert!(!passes(collects(500), read(500)));
}

/// Something waits from 100 on when another plane's command comes at 90.
#[test]
fn commands_join_at_the_same_place_of_their_blocks_unless_any_will_do() {
    let all = [
        ("timing.multi_plane_read", "true"),
        ("timing.multi_plane_program", "true"),
        ("timing.multi_plane_erase", "true"),
    ];
    for same_offset in ["true", "false"] {
        let join = |waits: Job, comes: Job| {
            let own = ("timing.multi_plane_same_offset", same_offset);
            let mut die = Die::new(&[&all[..], &[own]].concat());
            let end = die.book(joins(waits, 0));
            die.book(comes) == end
        };
        let any = same_offset == "false";
        for job in [collects, program] {
            assert!(join(job(100), joins(job(90), 1)));
            assert_eq!(join(job(100), Job { offset: 3, ..joins(job(90), 1) }), any);
            assert!(!join(job(100), Job { plane: 1, ..job(90) }), "it is of no page");
        }
        assert!(join(erase(100), Job { offset: 3, ..joins(erase(90), 1) }), "it has no place");
        assert!(!join(program(100), joins(erase(90), 1)), "it is of another kind");
    }
}

/// An erase that a read suspends at 100, for 20 and 50.
#[test]
fn what_is_suspended_is_drawn_in_two_parts() {
    let mut die = Die::new(&[("timing.suspend", "erase")]);
    die.timeline.start(10);
    assert_eq!(die.book(erase(0)), 2000);
    assert_eq!(die.book(read(100)), 170);
    let (spans, _) = die.timeline.take();
    let mut drawn: Vec<_> = spans.iter().map(|span| (span.start, span.end, span.work)).collect();
    drawn.sort_unstable_by_key(|span| span.0);
    let expected = [
        (0, 100, Work::Erase),
        (100, 120, Work::Suspend),
        (120, 170, Work::Read),
        (170, 2070, Work::Erase),
    ];
    assert_eq!(drawn, expected);
}
