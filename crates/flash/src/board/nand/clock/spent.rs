//! What time was spent on.

use crate::units::Nanos;

/// Busy time by kind of work, ns: what every operation takes by itself, whether or not it was
/// joined with others, suspended or delayed. All of it but `bus_wait` and `pcm_wait` is independent
/// of arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceTime {
    /// Cells being read.
    pub read: Nanos,
    /// Cells being programmed.
    pub program: Nanos,
    /// Blocks being erased.
    pub erase: Nanos,
    /// Channel transfers.
    pub transfer: Nanos,
    /// Those of them that brought data to be programmed.
    pub transfer_in: Nanos,
    /// Waiting for a channel; depends on what else is under way.
    pub bus_wait: Nanos,
    /// Controller time per host page.
    pub controller: Nanos,
    /// Controller time of searches.
    pub search: Nanos,
    /// Pages moved in the controller's RAM, and accesses to the DRAM.
    pub ram: Nanos,
    /// Phase-change memory being read.
    pub pcm_read: Nanos,
    /// Phase-change memory being written: posted, so that a request waits for it in `pcm_wait`
    /// alone.
    pub pcm_write: Nanos,
    /// The host's memory being looked at over the link.
    pub host_memory: Nanos,
    /// Waiting for the port or the full queue of the phase-change memory; depends on what else is
    /// under way.
    pub pcm_wait: Nanos,
}

impl ServiceTime {
    /// Of each kind what `combine` makes of two of them.
    #[inline]
    pub(super) fn combined(
        &self,
        other: &ServiceTime,
        combine: impl Fn(Nanos, Nanos) -> Nanos,
    ) -> ServiceTime {
        ServiceTime {
            read: combine(self.read, other.read),
            program: combine(self.program, other.program),
            erase: combine(self.erase, other.erase),
            transfer: combine(self.transfer, other.transfer),
            transfer_in: combine(self.transfer_in, other.transfer_in),
            bus_wait: combine(self.bus_wait, other.bus_wait),
            controller: combine(self.controller, other.controller),
            search: combine(self.search, other.search),
            ram: combine(self.ram, other.ram),
            pcm_read: combine(self.pcm_read, other.pcm_read),
            pcm_write: combine(self.pcm_write, other.pcm_write),
            host_memory: combine(self.host_memory, other.host_memory),
            pcm_wait: combine(self.pcm_wait, other.pcm_wait),
        }
    }
}

/// What the time between two moments was spent on; the parts sum to it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSplit {
    /// Controller time per host page, and waiting for the controller.
    pub controller: Nanos,
    /// Operations on the map (translation, map blocks and updates in collection, checkpoints), with
    /// all their waits, cells and transfers, wherever the map is kept.
    pub map: Nanos,
    /// Data in the controller's RAM, and waiting for that RAM.
    pub buffer: Nanos,
    /// Transfers of other operations, and waiting for channels.
    pub channel: Nanos,
    /// The rest: cells at work, and waiting for them.
    pub flash: Nanos,
}

impl PathSplit {
    /// What a request that took this long spent on what is noted here; the rest was the cells'.
    #[inline]
    pub fn within(self, time: Nanos) -> Self {
        let mut rest = time;
        let mut take = |wanted: Nanos| {
            let taken = wanted.min(rest);
            rest -= taken;
            taken
        };
        let (controller, map) = (take(self.controller), take(self.map));
        let (buffer, channel) = (take(self.buffer), take(self.channel));
        PathSplit { controller, map, buffer, channel, flash: rest }
    }

    /// Of a page of the host that came `from` the controller, had crossed the channel when it was
    /// `loaded`, and was programmed when it was `done`. As of any path, what the channel took
    /// saturates at 4.29 s.
    #[inline]
    pub fn of_program(from: Nanos, (loaded, done): (Nanos, Nanos)) -> Self {
        let channel = (loaded - from).min(Nanos::from(u32::MAX));
        PathSplit { channel, flash: done - from - channel, ..PathSplit::default() }
    }
}

/// Operations of the cells. A page read or program is one of these, unless mapping units are
/// smaller than flash pages: then several share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellOperations {
    /// Flash pages sensed.
    pub reads: u64,
    /// Flash pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl CellOperations {
    /// Of each kind what `combine` makes of two of them.
    #[inline]
    pub(super) fn combined(
        &self,
        other: &CellOperations,
        combine: impl Fn(u64, u64) -> u64,
    ) -> CellOperations {
        CellOperations {
            reads: combine(self.reads, other.reads),
            programs: combine(self.programs, other.programs),
            erases: combine(self.erases, other.erases),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was noted comes before the cells, in this order, as far as the time goes.
    #[test]
    fn what_was_noted_is_split_within_the_time_that_there_was() {
        let noted = PathSplit { controller: 5, map: 10, buffer: 20, channel: 30, flash: 0 };
        let within = |time| {
            let PathSplit { controller, map, buffer, channel, flash } = noted.within(time);
            [controller, map, buffer, channel, flash]
        };
        assert_eq!(within(100), [5, 10, 20, 30, 35]);
        assert_eq!(within(65), [5, 10, 20, 30, 0]);
        assert_eq!(within(30), [5, 10, 15, 0, 0]);
        assert_eq!(within(3), [3, 0, 0, 0, 0]);
    }
}
