//! Failures that a scheme must answer: failed programs and erases, bad blocks, power cuts. Blocks
//! bad from the start count as retired.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::board::settings::NandSettings;
use crate::board::when::When;
use crate::rng::{Purpose, Rng};
use crate::units::{BlockId, Nanos};

/// A simulated failure; it travels up by `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The power went. Nothing works until it is back and the scheme has recovered.
    PowerCut,
    /// A program failed; its block is read-only from now on.
    ProgramFailed {
        /// The block.
        block: BlockId,
        /// When the failure is known: no retry starts before.
        known: When,
    },
    /// An erase failed, or was the last one that a block was good for; the block is retired.
    EraseFailed {
        /// The block.
        block: BlockId,
        /// When the failure is known: no retry starts before.
        known: When,
    },
    /// No block can be freed: the device holds more than it can.
    DeviceFull {
        /// Free blocks that are left.
        free_blocks: u32,
        /// Full blocks, none of which can be reclaimed with the free ones.
        candidates: u32,
        /// When it is known, ns: what was done on the way to it is over then.
        known: Nanos,
    },
    /// Too many blocks were retired.
    WornOut {
        /// Blocks retired so far.
        retired_blocks: u32,
        /// When it is known, ns: what was done on the way to it is over then.
        known: Nanos,
    },
    /// The drive refuses what the host asks of a zone.
    Refused {
        /// The page that was to be written or trimmed.
        page: u32,
        /// Its zone.
        zone: u32,
        /// Why.
        why: Refusal,
    },
}

/// What a host that writes zones itself did wrong, or what the drive has no more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The page is not the next one of its zone, which is this one.
    NotAtPointer(u32),
    /// All zones are active that can be: so many.
    TooManyActive(u32),
    /// The zone has room for so many pages only: a block failed, or a power cut left a hole.
    Short(u32),
    /// What is trimmed is not all that was written of the zone.
    PartOfZone,
    /// The page is not among those that the zone takes now: from the first on, before the second.
    OutsideWindow(u32, u32),
    /// To write the page, this one would be passed over, which was not written.
    LeavesOut(u32),
}

impl Fault {
    /// For work that nobody waits for, on a device that may be at its end: without room it is left
    /// undone. Every other fault remains one.
    pub fn unless_worn_out<T>(self) -> Result<Option<T>, Fault> {
        match self {
            Fault::DeviceFull { .. } | Fault::WornOut { .. } => Ok(None),
            other => Err(other),
        }
    }

    /// For a read that can do without the room that it asked for from `after` on: when it goes on,
    /// on a device that may be at its end. Every other fault remains one.
    pub fn goes_on_without(self, after: When) -> Result<When, Fault> {
        match self {
            Fault::DeviceFull { known, .. } | Fault::WornOut { known, .. } => {
                Ok(after.waits_for(When::at(known)))
            }
            other => Err(other),
        }
    }

    /// The same failure, which is not known before what led to it is over.
    #[must_use]
    pub fn not_before(mut self, when: When) -> Fault {
        if let Fault::DeviceFull { known, .. } | Fault::WornOut { known, .. } = &mut self {
            // What an event-driven clock does not know yet is waited for by nobody.
            let moment = if when.is_pending() { 0 } else { when.time() };
            *known = moment.max(*known);
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::PowerCut => f.write_str("power cut"),
            Fault::ProgramFailed { block, .. } => write!(f, "a program failed in block {block}"),
            Fault::EraseFailed { block, .. } => {
                write!(f, "the erase of block {block} failed")
            }
            Fault::DeviceFull { free_blocks, candidates, .. } => write!(
                f,
                "device full: {free_blocks} blocks are free and none of {candidates} used blocks can \
                 be reclaimed; raise device.over_provisioning or device.blocks_per_plane"
            ),
            Fault::WornOut { retired_blocks, .. } => {
                write!(f, "device worn out: {retired_blocks} blocks are retired")
            }
            Fault::Refused { page, zone, why } => match why {
                Refusal::NotAtPointer(next) => write!(
                    f,
                    "page {page} cannot be written: the next page of zone {zone} is page {next}, and \
                     zones are written from front to back after a trim of the whole zone"
                ),
                Refusal::TooManyActive(most) => write!(
                    f,
                    "page {page} cannot be written: it would begin zone {zone}, and {most} zones are \
                     half written already (zns.max_active)"
                ),
                Refusal::Short(pages) => write!(
                    f,
                    "page {page} cannot be written: zone {zone} took {pages} pages and has room for no \
                     more, because a block of it failed or a power cut left a hole"
                ),
                Refusal::PartOfZone => write!(
                    f,
                    "page {page} cannot be trimmed: a zone is reset as a whole, and the request covers \
                     a part of what was written of zone {zone}"
                ),
                Refusal::OutsideWindow(from, until) if from >= until => write!(
                    f,
                    "page {page} cannot be written: zone {zone} is full, and is written again after a trim \
                     of the whole zone"
                ),
                Refusal::OutsideWindow(from, until) => write!(
                    f,
                    "page {page} cannot be written: zone {zone} takes pages from {from} to {} now, twice \
                     its window from its write pointer (zns.zrwa)",
                    until - 1
                ),
                Refusal::LeavesOut(left) => write!(
                    f,
                    "page {page} cannot be written: the write pointer of zone {zone} would pass page \
                     {left}, which was not written"
                ),
            },
        }
    }
}

impl std::error::Error for Fault {}

/// What an operation that the power cut interrupts leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOutcome {
    /// As if it had never begun.
    Undone,
    /// Finished, but nobody was told.
    Done,
    /// Half done: a page or a whole block that cannot be read.
    Torn,
}

impl CutOutcome {
    /// All three, for tests.
    pub const ALL: [CutOutcome; 3] = [CutOutcome::Undone, CutOutcome::Done, CutOutcome::Torn];
}

/// What happens to one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Works,
    Fails,
    Cut(CutOutcome),
    NoPower,
}

/// What happens to one page read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadVerdict {
    Works,
    /// After so many retries the page was read.
    Retried(u32),
    /// Every retry was in vain.
    Uncorrectable,
    NoPower,
}

/// The plan of failures of a device.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    /// False on a device where nothing can fail: one branch, no draw.
    armed: bool,
    program_limit: u64,
    erase_limit: u64,
    rng: Rng,
    reads: ReadFaults,
    fail_program_after: Option<u64>,
    fail_erase_after: Option<u64>,
    cut_after: Option<(u64, CutOutcome)>,
    cut_recovery: Option<(u64, CutOutcome)>,
    power: bool,
    /// The die that is to fail, and after how many programs since measuring begins.
    failing_die: Option<(u32, u64)>,
    /// It, and how many programs are left until then.
    die_fails_in: Option<(u32, u64)>,
    failed_die: Option<u32>,
    /// Whether something was asked of it since, in vain.
    failure_is_known: bool,
}

/// A rate as a bound on 64-bit draws.
fn limit(rate: f64) -> u64 {
    (rate * u64::MAX as f64) as u64
}

impl FaultPlan {
    /// Failures at the rates of the settings.
    pub fn new(settings: &NandSettings, seed: u64) -> Self {
        let mut plan = FaultPlan {
            armed: false,
            program_limit: limit(settings.program_failure_rate),
            erase_limit: limit(settings.erase_failure_rate),
            rng: Rng::new(seed, Purpose::Fault),
            reads: ReadFaults::new(settings, seed),
            fail_program_after: None,
            fail_erase_after: None,
            cut_after: None,
            cut_recovery: None,
            power: true,
            failing_die: settings.failing_die.0.map(|die| (die, settings.die_fails_after)),
            die_fails_in: None,
            failed_die: None,
            failure_is_known: false,
        };
        plan.rearm();
        plan
    }

    fn rearm(&mut self) {
        self.armed = self.program_limit > 0
            || self.erase_limit > 0
            || self.fail_program_after.is_some()
            || self.fail_erase_after.is_some()
            || self.cut_after.is_some()
            || self.die_fails_in.is_some()
            || self.failed_die.is_some()
            || !self.power;
    }

    /// Cuts the power at the `operations`-th program or erase from now (0 = the next one).
    pub fn cut_power_after(&mut self, operations: u64, outcome: CutOutcome) {
        self.cut_after = Some((operations, outcome));
        self.rearm();
    }

    /// Takes back a planned cut that has not happened.
    pub fn forget_cut(&mut self) {
        self.cut_after = None;
        self.cut_recovery = None;
        self.rearm();
    }

    /// Cuts the power again at the `operations`-th program or erase after it is back.
    pub fn cut_recovery_after(&mut self, operations: u64, outcome: CutOutcome) {
        self.cut_recovery = Some((operations, outcome));
    }

    /// Lets the `programs`-th program from now fail (0 = the next one).
    pub fn fail_program_after(&mut self, programs: u64) {
        self.fail_program_after = Some(programs);
        self.rearm();
    }

    /// Lets the `erases`-th erase from now fail (0 = the next one).
    pub fn fail_erase_after(&mut self, erases: u64) {
        self.fail_erase_after = Some(erases);
        self.rearm();
    }

    /// Lets the `reads`-th page read from now fail for good (0 = the next one): the page cannot be
    /// read again until its block is erased.
    pub fn fail_read_after(&mut self, reads: u64) {
        self.reads.fail_after = Some(reads);
        self.reads.armed = true;
    }

    /// Lets a die fail after so many programs from now (0 = at the next one).
    pub fn fail_die_after(&mut self, die: u32, programs: u64) {
        assert!(self.failed_die.is_none(), "one die of a device fails, and die {die} is another");
        self.die_fails_in = Some((die, programs));
        self.rearm();
    }

    /// The die that failed as a whole.
    #[inline]
    pub(super) fn failed_die(&self) -> Option<u32> {
        self.failed_die
    }

    /// Whether the controller knows that it did: something was asked of it.
    #[inline]
    pub(super) fn failure_is_known(&self) -> bool {
        self.failure_is_known
    }

    /// Something is asked of the die that failed; whether that is how it is found out.
    pub(super) fn find_failure_out(&mut self) -> bool {
        !std::mem::replace(&mut self.failure_is_known, true)
    }

    /// Programs are counted from here on; after none of them the die has failed.
    pub(super) fn count_until_die_fails(&mut self) {
        if self.failed_die.is_none() {
            self.die_fails_in = self.failing_die;
            if let Some((die, 0)) = self.die_fails_in {
                self.fail_die(die);
            }
            self.rearm();
        }
    }

    fn fail_die(&mut self, die: u32) {
        (self.die_fails_in, self.failed_die) = (None, Some(die));
        // What is on it cannot be read.
        self.reads.armed = true;
    }

    /// A page is programmed: one less until a die fails.
    fn count_down_to_failure(&mut self) {
        match self.die_fails_in {
            Some((die, 0)) => self.fail_die(die),
            Some((die, left)) => self.die_fails_in = Some((die, left - 1)),
            None => {}
        }
    }

    /// Whether every operation works, as far as this plan goes.
    pub(super) fn is_quiet(&self) -> bool {
        !self.armed && !self.reads.armed
    }

    /// Whether the power is on.
    pub fn has_power(&self) -> bool {
        self.power
    }

    /// Takes the power away at once, between operations.
    pub(super) fn cut_now(&mut self) {
        self.power = false;
        self.cut_after = None;
        self.rearm();
    }

    pub(super) fn power_on(&mut self) {
        self.power = true;
        self.cut_after = self.cut_recovery.take();
        self.rearm();
    }

    /// What happens to a page read; `lost` is whether the page failed for good before, `worse` a
    /// bound below which draws need retries beyond those of every page.
    #[inline]
    pub(super) fn on_read(&mut self, lost: impl FnOnce() -> bool, worse: u64) -> ReadVerdict {
        match self.power {
            false => ReadVerdict::NoPower,
            true if !self.reads.armed && worse == 0 => ReadVerdict::Works,
            true => self.reads.judge(lost(), worse),
        }
    }

    /// Retries before a read is given up.
    pub(super) fn read_retries(&self) -> u32 {
        self.reads.retries
    }

    /// A page is programmed; `cells` is false where it only gathers with others of its flash page,
    /// which cannot fail.
    #[inline]
    pub(super) fn on_program(&mut self, cells: bool) -> Verdict {
        if !self.armed {
            return Verdict::Works;
        }
        if cells { self.judge(true) } else { self.judge_power() }
    }

    #[inline]
    pub(super) fn on_erase(&mut self) -> Verdict {
        if !self.armed {
            return Verdict::Works;
        }
        self.judge(false)
    }

    #[cold]
    fn judge_power(&mut self) -> Verdict {
        if !self.power {
            return Verdict::NoPower;
        }
        if let Some((left, outcome)) = self.cut_after {
            if left == 0 {
                self.cut_now();
                return Verdict::Cut(outcome);
            }
            self.cut_after = Some((left - 1, outcome));
        }
        Verdict::Works
    }

    #[cold]
    fn judge(&mut self, program: bool) -> Verdict {
        let power = self.judge_power();
        if power != Verdict::Works {
            return power;
        }
        if program {
            self.count_down_to_failure();
        }
        let (countdown, limit) = if program {
            (&mut self.fail_program_after, self.program_limit)
        } else {
            (&mut self.fail_erase_after, self.erase_limit)
        };
        let due = *countdown == Some(0);
        *countdown = countdown.and_then(|left| left.checked_sub(1));
        let drawn = limit > 0 && self.rng.next_u64() < limit;
        self.rearm();
        if due || drawn { Verdict::Fails } else { Verdict::Works }
    }
}

/// Reads that need retries or fail for good.
#[derive(Clone, Debug)]
struct ReadFaults {
    /// False on a device where every read works at once: one branch, no draw. Stays true once a
    /// page failed, because it goes on failing.
    armed: bool,
    /// Draws below this fail for good.
    error_limit: u64,
    /// Draws below this need retries.
    retry_limit: u64,
    retries: u32,
    fail_after: Option<u64>,
    rng: Rng,
}

impl ReadFaults {
    fn new(settings: &NandSettings, seed: u64) -> Self {
        let error_limit = limit(settings.read_error_rate);
        let retry_limit = error_limit.saturating_add(limit(settings.read_retry_rate));
        ReadFaults {
            armed: retry_limit > 0,
            error_limit,
            retry_limit,
            retries: settings.read_retries,
            fail_after: None,
            rng: Rng::new(seed, Purpose::ReadFault),
        }
    }

    #[cold]
    fn judge(&mut self, lost: bool, worse: u64) -> ReadVerdict {
        let due = self.fail_after == Some(0);
        self.fail_after = self.fail_after.and_then(|left| left.checked_sub(1));
        if lost || due {
            return ReadVerdict::Uncorrectable;
        }
        let retry_limit = self.retry_limit.saturating_add(worse);
        match if retry_limit == 0 { u64::MAX } else { self.rng.next_u64() } {
            drawn if drawn < self.error_limit => ReadVerdict::Uncorrectable,
            drawn if drawn < retry_limit => ReadVerdict::Retried(1 + self.rng.below(self.retries)),
            _ => ReadVerdict::Works,
        }
    }
}
