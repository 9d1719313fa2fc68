//! The group `timing`: how long operations take, what works side by side, and which advanced
//! commands a part has.

use crate::settings::{Duration, Durations, SettingError};
use crate::{choices, settings};

choices! {
    /// How time passes on the device.
    pub enum TimingProfile {
        /// One server: the sum of all operations, as FlashSim charges.
        Serial = "serial",
        /// Dies and channels work side by side, as SSDsim and real drives do.
        Parallel = "parallel",
    }
}

choices! {
    /// How it is found out when operations end (parallel profile).
    pub enum ClockKind {
        /// Operations are booked when they are asked for: fast, and their end is known at once.
        CallOrder = "call_order",
        /// Operations wait in queues of dies and channels until simulated time comes to them.
        Event = "event",
    }
}

choices! {
    /// What a read may suspend.
    pub enum Suspend {
        /// Nothing.
        None = "none",
        /// Erases.
        Erase = "erase",
        /// Programs and erases.
        ProgramErase = "program_erase",
    }
}

settings! {
    /// How long operations take.
    pub struct TimingSettings in "timing" {
        /// One server, or dies and channels side by side.
        profile: TimingProfile = TimingProfile::Serial, legal("", |_| true),
            source("docs/papers/others.md#time");
        /// Whether operations are booked in the order of calls, or wait in queues until simulated
        /// time comes to them (parallel profile): what overtakes or suspends then delays whoever
        /// waits.
        clock: ClockKind = ClockKind::CallOrder, legal("", |_| true),
            source("ftlab");
        /// Cell to register, one page.
        read: Duration = Duration(130_900), legal("", |_| true), source("DFTL 2014, Table 2");
        /// Register to cell, one page.
        program: Duration = Duration(405_900), legal("", |_| true), source("DFTL 2014, Table 2");
        /// Cell to register by page type (lower, middle, upper page of MLC, TLC, QLC): the page at
        /// offset i of its block takes duration i modulo the length of the list. auto: timing.read
        /// for all, which also holds for reads that find no page.
        read_pages: Durations = Durations::default(), legal("", |_| true), source("datasheet");
        /// Register to cell by page type; auto: timing.program for all.
        program_pages: Durations = Durations::default(), legal("", |_| true), source("datasheet");
        /// One block.
        erase: Duration = Duration(1_500_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// Cell to register of a page in SLC mode (`slc`).
        slc_read: Duration = Duration(20_000), legal("", |_| true),
            source("docs/papers/slc_cache.md#times: parts differ");
        /// Register to cell of a page in SLC mode.
        slc_program: Duration = Duration(200_000), legal("", |_| true),
            source("docs/papers/slc_cache.md#times: parts differ");
        /// Erase of a block in SLC mode.
        slc_erase: Duration = Duration(2_000_000), legal("", |_| true),
            source("docs/papers/slc_cache.md#times: parts differ");
        /// One page with its out-of-band area over the channel; added to every page operation.
        page_transfer: Duration = Duration(0), legal("", |_| true), source("HAT 2010, Table 4");
        /// Controller and bus, per page of host data.
        controller_page: Duration = Duration(0), legal("", |_| true),
            source("fitted: docs/papers/dftl2014.md#table-6-from-table-5");
        /// A page of 2 KiB moved in the controller's RAM; other pages by their size.
        ram_page: Duration = Duration(0), legal("0 to 1s", |v| v.0 <= 1_000_000_000),
            source("TreeFTL 2013, IV: 2us; free elsewhere");
        /// One access to a table in DRAM, as far as a request waits for it.
        dram_access: Duration = Duration(0), legal("0 to 1s", |v| v.0 <= 1_000_000_000),
            source("free in all papers");
        /// One entry read from phase-change memory.
        pcm_read: Duration = Duration(115), legal("0 to 1s", |v| v.0 <= 1_000_000_000),
            source("HAT 2010, Table 4");
        /// One entry written to phase-change memory.
        pcm_write: Duration = Duration(90_000), legal("0 to 1s", |v| v.0 <= 1_000_000_000),
            source("HAT 2010, Table 4");
        /// Out-of-band read in normal operation (recovery always charges a page read).
        oob_read: Duration = Duration(0), legal("", |_| true),
            source("docs/papers/others.md#flash-rules: FlashSim");
        /// Out-of-band write that marks a page as superseded.
        oob_write: Duration = Duration(0), legal("", |_| true),
            source("docs/papers/others.md#flash-rules: FlashSim");
        /// Whether planes of one die work independently (parallel profile); otherwise a die does
        /// one operation at a time, on one plane or, as a multi-plane command, on several.
        plane_parallel: bool = false, legal("", |_| true), source("HAT 2010, 4");
        /// Whether dies behind one channel work at the same time (parallel profile); if not, the
        /// cells behind a channel do one operation at a time.
        die_interleave: bool = true, legal("", |_| true), source("SSDsim 2011, interleave command");
        /// Whether a copy within a plane stays in the plane: cells are read and programmed, nothing
        /// crosses the channel.
        copyback: bool = false, legal("", |_| true), source("SSDsim 2011, copy-back command");
        /// Whether a copyback needs both pages at even or both at odd places of their blocks.
        copyback_same_parity: bool = false, legal("", |_| true),
            source("SSDsim 2011, copy-back command");
        /// Whether a page read that has not begun takes along a read on another plane of its die
        /// (parallel profile; dies of one plane have nothing to take along).
        multi_plane_read: bool = false, legal("", |_| true),
            source("SSDsim 2011, multi-plane command");
        /// The same for page programs. Pages of one host request that go to several planes of one
        /// die under a static alloc.order are loaded together and programmed by one command.
        multi_plane_program: bool = false, legal("", |_| true),
            source("SSDsim 2011, multi-plane command");
        /// The same for block erases.
        multi_plane_erase: bool = false, legal("", |_| true),
            source("SSDsim 2011, multi-plane command");
        /// Whether the pages of a multi-plane read or program must be at the same place of their
        /// blocks.
        multi_plane_same_offset: bool = true, legal("", |_| true),
            source("SSDsim 2011, multi-plane command");
        /// What a read that finds its die busy may suspend (parallel profile), if a request waits
        /// for it: its page, the map, what a partial write keeps. The rest is done after the read.
        /// The delay reaches everything booked later on that die, page and block, not the request
        /// that waits for the suspended operation: its completion was already reported. Under
        /// timing.clock = event it reaches that request, too.
        suspend: Suspend = Suspend::None, legal("", |_| true), source("datasheet");
        /// Suspending and resuming once, together; passes before the read.
        suspend_cost: Duration = Duration(20_000), legal("", |_| true), source("datasheet");
        /// How often one operation may be suspended; reads that arrive while it is suspended are
        /// served before it goes on and do not count again. One that is held back before it begins,
        /// for a read that waits, was suspended once, at no cost.
        suspend_limit: u32 = 4, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("datasheet");
        /// Whether a read that a request waits for goes ahead of programs and erases that wait for
        /// its die (parallel profile). Their delay is felt as under timing.suspend.
        read_priority: bool = false, legal("", |_| true), source("ftlab");
    }
}

impl TimingSettings {
    /// Legality of the settings together.
    pub(super) fn check(&self) -> Result<(), SettingError> {
        let multi_plane = [
            (self.multi_plane_read, "timing.multi_plane_read = true"),
            (self.multi_plane_program, "timing.multi_plane_program = true"),
            (self.multi_plane_erase, "timing.multi_plane_erase = true"),
        ];
        let parallel = [
            (!self.die_interleave, "timing.die_interleave = false"),
            (self.suspend != Suspend::None, "timing.suspend"),
            (self.read_priority, "timing.read_priority = true"),
            (self.clock == ClockKind::Event, "timing.clock = event"),
        ];
        let refuse = |text: String| Err(SettingError::Conflict(text));
        let on = |switches: &[(bool, &'static str)]| {
            switches.iter().find(|(on, _)| *on).map(|(_, name)| *name)
        };
        if self.profile == TimingProfile::Serial
            && let Some(name) = on(&parallel).or(on(&multi_plane))
        {
            return refuse(format!(
                "{name} needs timing.profile = parallel; in the serial profile one operation follows \
                 the other"
            ));
        }
        if self.plane_parallel {
            if let Some(name) = on(&multi_plane) {
                return refuse(format!(
                    "{name} gains nothing where planes work independently: set \
                     timing.plane_parallel = false"
                ));
            }
            if !self.die_interleave {
                return refuse(
                    "timing.die_interleave = false lets one die of a channel work at a time; \
                     timing.plane_parallel = true lets all planes: choose one"
                        .to_string(),
                );
            }
        }
        if self.copyback_same_parity && !self.copyback {
            return refuse(
                "timing.copyback_same_parity = true restricts timing.copyback, which is off"
                    .to_string(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serial() -> TimingSettings {
        TimingSettings::default()
    }

    fn parallel() -> TimingSettings {
        TimingSettings { profile: TimingProfile::Parallel, ..serial() }
    }

    /// What is said; empty where nothing is.
    fn said(timing: &TimingSettings) -> String {
        timing.check().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn one_server_does_nothing_side_by_side() {
        assert_eq!([said(&serial()), said(&parallel())], [""; 2]);
        let set = [
            (TimingSettings { die_interleave: false, ..serial() }, "timing.die_interleave = false"),
            (TimingSettings { suspend: Suspend::Erase, ..serial() }, "timing.suspend"),
            (TimingSettings { read_priority: true, ..serial() }, "timing.read_priority = true"),
            (TimingSettings { clock: ClockKind::Event, ..serial() }, "timing.clock = event"),
            (
                TimingSettings { multi_plane_read: true, ..serial() },
                "timing.multi_plane_read = true",
            ),
            (
                TimingSettings { multi_plane_program: true, ..serial() },
                "timing.multi_plane_program = true",
            ),
            (
                TimingSettings { multi_plane_erase: true, ..serial() },
                "timing.multi_plane_erase = true",
            ),
        ];
        for (timing, name) in set {
            let words = said(&timing);
            assert!(
                words.starts_with(&format!("{name} needs timing.profile = parallel")),
                "{words}"
            );
            let timing = TimingSettings { profile: TimingProfile::Parallel, ..timing };
            assert_eq!(said(&timing), "", "{name}");
        }
    }

    #[test]
    fn planes_that_work_independently_share_no_command_and_no_turn() {
        let planes = |timing| TimingSettings { plane_parallel: true, ..timing };
        assert_eq!([said(&planes(parallel())), said(&planes(serial()))], [""; 2]);
        let joined = planes(TimingSettings { multi_plane_erase: true, ..parallel() });
        let gains = "timing.multi_plane_erase = true gains nothing where planes work independently";
        assert!(said(&joined).starts_with(gains));
        let one = planes(TimingSettings { die_interleave: false, ..parallel() });
        assert!(
            said(&one).starts_with("timing.die_interleave = false lets one die of a channel work")
        );
    }

    #[test]
    fn copies_to_pages_of_the_same_parity_are_copybacks() {
        let copies = |copyback, copyback_same_parity| {
            said(&TimingSettings { copyback, copyback_same_parity, ..serial() })
        };
        assert_eq!([copies(false, false), copies(true, false), copies(true, true)], [""; 3]);
        assert!(copies(false, true).contains("restricts timing.copyback, which is off"));
    }
}
