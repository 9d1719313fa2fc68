//! The link between host and device. Commands and the data of writes cross before the device
//! begins, the data of reads when its last page is there. A half-duplex link does one transfer at a
//! time, a full-duplex one does one in each direction.
//!
//! Transfers are booked in the order in which requests are served, like all work of the device, the
//! data of reads a whole queue ahead. The link therefore remembers every gap between what the
//! requests in the device have booked; a command takes the first that fits. On a saturated
//! half-duplex link, where no gap is left, that costs up to 2 % of the bandwidth.
//!
//! Whoever sends requests sets it up ([`Board::connect`]). A scheme whose collection is the host's
//! sends pages over it as well: they take their turns with the requests.

use super::Board;
use super::nand::Payload;
use super::nand::clock::resource::Resource;
use super::nand::fault::Fault;
use super::nand::state::PageKind;
use super::when::When;
use crate::meter::{Cause, Event};
use crate::request::PageIo;
use crate::units::{Nanos, Ppn, SECTOR_BYTES};

/// Most gaps that are kept in a direction for copies.
const GAPS_MAX: usize = 1 << 16;

/// Gaps of a direction beside so many requests and copies: each request leaves one before its
/// command and one before its data at most, each copy one more.
fn gaps((depth, copies): (usize, usize)) -> usize {
    2 * depth + 2 + (3 * copies).min(GAPS_MAX)
}

/// The link of a device.
#[derive(Clone, Debug)]
pub struct Link {
    to_device: Resource,
    /// None where the directions share the link.
    to_host: Option<Resource>,
    /// Bytes per second; 0: data take no time.
    bandwidth: u64,
    command: Nanos,
}

impl Link {
    /// Idle; the device holds up to `depth` requests at once, and the host sends up to `copies`
    /// pages of its own beside them. `bandwidth` is bytes a second in each direction, 0 for no
    /// limit; a command takes `command`.
    pub fn new(
        full_duplex: bool,
        bandwidth: u64,
        command: Nanos,
        (depth, copies): (usize, usize),
    ) -> Self {
        let copies = if bandwidth == 0 && command == 0 { 0 } else { copies };
        let direction = || Resource::with_gaps(1, gaps((depth, copies)));
        let to_host = full_duplex.then(direction);
        Link { to_device: direction(), to_host, bandwidth, command }
    }

    /// Whether nothing takes time on it.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.bandwidth == 0 && self.command == 0
    }

    /// Whether its directions take turns.
    pub fn is_shared(&self) -> bool {
        self.to_host.is_none()
    }

    /// How long a command with the data of `sectors` sectors crosses it.
    pub fn sends_for(&self, sectors: u32) -> Nanos {
        self.command + self.data(sectors)
    }

    /// How long the data of `sectors` sectors cross it to the host.
    pub fn receives_for(&self, sectors: u32) -> Nanos {
        self.data(sectors)
    }

    /// When a command with the data of `sectors` sectors is across.
    pub fn send(&mut self, after: Nanos, sectors: u32) -> Nanos {
        let length = self.sends_for(sectors);
        // Commands come in order of time: what is over serves nobody.
        self.to_device.forget(after);
        if let Some(to_host) = &mut self.to_host {
            to_host.forget(after);
        }
        cross(&mut self.to_device, after, length)
    }

    /// When a command with the data of `sectors` sectors is across that may be sent later than
    /// requests which come after it.
    fn send_later(&mut self, after: Nanos, sectors: u32) -> Nanos {
        let length = self.sends_for(sectors);
        cross(&mut self.to_device, after, length)
    }

    /// When the data of `sectors` sectors are across.
    pub fn receive(&mut self, after: Nanos, sectors: u32) -> Nanos {
        let length = self.receives_for(sectors);
        cross(self.to_host.as_mut().unwrap_or(&mut self.to_device), after, length)
    }

    /// Time of the data alone, rounded up to a nanosecond.
    fn data(&self, sectors: u32) -> Nanos {
        if self.bandwidth == 0 {
            return 0;
        }
        let bytes = u128::from(sectors) * u128::from(SECTOR_BYTES);
        (bytes * 1_000_000_000).div_ceil(u128::from(self.bandwidth)) as Nanos
    }
}

fn cross(direction: &mut Resource, after: Nanos, length: Nanos) -> Nanos {
    if length == 0 { after } else { direction.book(after, length) + length }
}

impl Board {
    /// The link that the host is at the other end of; until then nothing on it takes time.
    pub fn connect(&mut self, link: Link) {
        self.link = link;
    }

    /// That link.
    #[inline]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The same, for requests.
    #[inline]
    pub fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }

    /// The host sends a command of its own, without data, for what follows `after`.
    pub fn command(&mut self, after: When) -> When {
        let sent = self.link.send_later(self.nand.clock().earliest(after), 0);
        self.nand.clock_mut().crosses_link(sent, after)
    }

    /// As [`Board::copy`] by way of the host, which reads the page and sends it back to be written:
    /// a command for either, the data across in both directions. Nothing is copied within a plane.
    ///
    /// # Errors
    /// As [`Board::copy`].
    pub fn copy_by_host(
        &mut self,
        from: Ppn,
        to: Ppn,
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let sectors = self.nand.geometry().all_sectors().count_ones();
        let asked = self.command(after);
        let Board { nand, meter, link, .. } = self;
        let done = nand.copy_by_way_of(meter, (from, to), kind, cause, asked, |clock, read| {
            let there = link.receive(clock.earliest(read), sectors);
            let back = link.send_later(there, sectors);
            clock.crosses_link(back, read)
        });
        self.meter.event(Event::HostCopies, u64::from(done.is_ok()));
        self.meter.event(Event::LogLinkBytes, 2 * u64::from(sectors) * SECTOR_BYTES);
        done
    }

    /// As [`Board::program_payload`] of a page that the host appends: a command with its data.
    ///
    /// # Errors
    /// As [`Board::program_payload`].
    pub fn append_payload(
        &mut self,
        ppn: Ppn,
        what: (PageKind, u32),
        payload: Payload<'_>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let sectors = self.nand.geometry().all_sectors().count_ones();
        let sent = self.link.send_later(self.nand.clock().earliest(after), sectors);
        let there = self.nand.clock_mut().crosses_link(sent, after);
        self.meter.event(Event::LogLinkBytes, u64::from(sectors) * SECTOR_BYTES);
        self.program_payload(ppn, what, payload, cause, there)
    }

    /// As [`Board::program_update`] where the host keeps the other sectors of a page that is
    /// written in part: it asks for the old page, and sends back what the request has not sent.
    ///
    /// # Errors
    /// As [`Board::program_update`].
    pub fn update_by_host(
        &mut self,
        new: Ppn,
        old: Option<Ppn>,
        io: &PageIo,
        kind: PageKind,
        after: When,
    ) -> Result<When, Fault> {
        let Some((old, held)) = self.kept_of(old, io) else {
            return self.program_update(new, None, io, kind, after);
        };
        let whole = self.nand.geometry().all_sectors().count_ones();
        let others = whole - io.sectors.count_ones();
        let asked = self.command(after);
        let read = self.nand.read(&mut self.meter, old, Cause::ReadModifyWrite, asked)?;
        self.meter.event(Event::LogLinkBytes, u64::from(whole + others) * SECTOR_BYTES);
        let there = self.link.receive(self.nand.clock().earliest(read), whole);
        let back = self.link.send_later(there, others);
        let ready = self.nand.clock_mut().crosses_link(back, read);
        self.program_modified(new, (old, held), io, kind, ready)
    }
}

#[cfg(test)]
mod tests {
    use super::{GAPS_MAX, Link, gaps};
    use crate::board::Board;
    use crate::board::nand::Payload;
    use crate::board::nand::state::PageKind;
    use crate::board::settings::BoardSettings;
    use crate::board::when::When;
    use crate::meter::{Cause, Event};
    use crate::request::{PageIo, RequestShape};
    use crate::settings::Groups as _;
    use crate::units::{Lpn, Ppn, Tag};

    #[test]
    fn a_link_is_free_where_neither_data_nor_commands_take_time() {
        let free = |bandwidth, command| Link::new(false, bandwidth, command, (1, 0)).is_free();
        assert_eq!([free(0, 0), free(0, 5), free(5, 0), free(5, 5)], [true, false, false, false]);
        let shared = [true, false].map(|full| Link::new(full, 0, 0, (1, 0)).is_shared());
        assert_eq!(shared, [false, true]);
    }

    /// Pages of four sectors: a copy crosses twice; of a write of one sector the old page comes
    /// to the host, and the three others go back.
    #[test]
    fn what_the_host_copies_crosses_the_link_and_is_counted() {
        let mut config = BoardSettings::default();
        config.set("device.page_bytes", "2KiB").expect("legal");
        config.set("io.partial_write", "rmw").expect("legal");
        let mut board = Board::new(&config, 1, 0);
        let request =
            RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
        let (cause, data) = (Cause::Host, Tag(1));
        let mut io = PageIo { lpn: Lpn(0), sectors: 15, cause, data, request };
        let (kind, start) = (PageKind::Data, When::START);
        assert!(board.program_update(Ppn(0), None, &io, kind, start).is_ok());
        assert!(board.copy_by_host(Ppn(0), Ppn(1), kind, Cause::Gc, start).is_ok());
        let crossed = |board: &Board| board.meter().events(Event::LogLinkBytes);
        assert_eq!(crossed(&board), 2 * 2048);
        io.sectors = 1;
        assert!(board.update_by_host(Ppn(2), Some(Ppn(1)), &io, kind, start).is_ok());
        assert_eq!(crossed(&board), 2 * 2048 + 2048 + 3 * 512);
    }

    /// 512 bytes at 1 GB/s are 512 ns; rounded up at 3 GB/s, 171.
    #[test]
    fn data_take_the_time_of_their_bytes_and_commands_come_on_top() {
        let times = |bandwidth| {
            let link = Link::new(false, bandwidth, 100, (1, 0));
            [link.sends_for(1), link.sends_for(0), link.receives_for(4)]
        };
        assert_eq!(times(1_000_000_000), [612, 100, 2_048]);
        assert_eq!(times(3_000_000_000), [271, 100, 683]);
        assert_eq!(times(0), [100, 100, 0]);
    }

    /// A half-duplex link is busy with the data of a read; a full-duplex one has a way for each.
    #[test]
    fn transfers_take_turns_where_they_share_the_link() {
        for (full_duplex, second) in [(false, 612 + 612), (true, 200 + 612)] {
            let mut link = Link::new(full_duplex, 1_000_000_000, 100, (4, 0));
            assert_eq!(link.receive(100, 1), 612);
            assert_eq!(link.send(200, 1), second, "full duplex: {full_duplex}");
        }
        let mut free = Link::new(false, 0, 0, (1, 0));
        assert_eq!((free.send(7, 8), free.receive(9, 8)), (7, 9));
    }

    /// A command of 100 ns before every transfer to the device; a page of 2 KiB at 1 GB/s.
    #[test]
    fn what_the_host_does_itself_waits_for_the_link_that_it_is_connected_by() {
        let (read, program) = (130_900, 405_900);
        let mut config = BoardSettings::default();
        config.set("io.partial_write", "rmw").expect("legal");
        let mut board = Board::new(&config, 1, 4);
        board.connect(Link::new(false, 1_000_000_000, 100, (1, 4)));
        assert!(!board.link().is_free());
        let start = board.nand_mut().clock_mut().admit(0);
        let asked = board.command(start);
        assert_eq!(board.nand().clock().completion(asked), 100);
        let (what, words) = ((PageKind::Map, 3), [7]);
        let payload = Payload::Words(&words);
        let done = board.append_payload(Ppn(0), what, payload, Cause::Translate, asked);
        let at = 100 + 100 + 2_048 + program;
        let done = done.expect("power is on");
        assert_eq!(board.nand().clock().completion(done), at);
        assert_eq!(board.nand().payload(Ppn(0))[0], 7);
        assert_eq!(board.meter().events(Event::LogLinkBytes), 2_048);
        let kind = PageKind::Data;
        assert_eq!(crate::board::for_tests::write(&mut board, 1, 9), Ok(at + program));
        let done = board.copy_by_host(Ppn(1), Ppn(2), kind, Cause::Gc, When::START);
        let copied = at + program + 100 + read + 2_048 + 100 + 2_048 + program;
        let done = done.expect("power is on");
        assert_eq!(board.nand().clock().completion(done), copied);
        assert_eq!(board.nand().state().tag(Ppn(2)), Tag(9));
        assert_eq!(board.meter().events(Event::HostCopies), 1);
    }

    /// However many pages a host copies at once, the gaps of the requests are kept beside theirs.
    #[test]
    fn copies_take_no_gaps_from_requests() {
        assert_eq!(gaps((16, 0)), 34);
        assert_eq!(gaps((16, 100)), 334);
        assert_eq!(gaps((1 << 16, 1 << 20)), (1 << 17) + 2 + GAPS_MAX);
    }
}
