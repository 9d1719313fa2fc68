//! # Idea
//! The time that the overwritten version lived foretells how long the new one will; of a moved page
//! the time that it has lived does. Pages of like lifespans lie together.
//!
//! # Source
//! Wang, Yang, Lee et al., SepBIT, FAST 2022; details as in its simulator
//! (`docs/papers/placement.md#sepbit`).
//!
//! # Rule
//! l is the mean lifespan (time from opening to collection) of the last `placement.sepbit_victims`
//! blocks of class 0 that were collected, in disjoint batches; infinite before the first batch.
//! Host write of a page whose overwritten version lived v: class 0 if v < l, else class 1; a first
//! write: class 1. Moved page: class 2 if its block was of class 0; else by the time g since its
//! last write class 3 if g < 4 l, class 4 if g < 16 l, class 5 beyond; with another number of
//! classes so on by powers of 4.
//!
//! v comes from a queue of the pages written (`placement.sepbit_window`): every write enters, and
//! at most two leave while there are more than min(living pages, l). A page whose newest entry has
//! left lived infinitely long. Which page left is told by its time of writing: an entry is in the
//! queue as long as its time is not before that of the queue's head.
//!
//! # Deviations
//! Time is host pages written, never the clock of the wall. Living pages are logical pages that
//! hold data; the simulator also counts superseded pages of open segments. Pages found after a
//! power cut of which nothing is known count as old.
//!
//! # Memory
//! The queue: at most 8 bytes a logical page (the page, and its place in an index), which is what
//! is charged; the level `placement_window` tells how many entries it has at each collection.
//! `exact`: the table of times. When a block was opened: 4 bytes a block.

use super::settings::{PlacementSettings, SepbitWindow};
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Times, Victim};

/// Lifespans of the blocks of class 0, and the queue.
#[derive(Clone, Debug)]
pub struct Sepbit {
    last: u8,
    /// l; none: infinite.
    lifespan: Option<u64>,
    /// l does not change.
    is_held: bool,
    batch: u64,
    collected: u64,
    sum: u64,
    /// Time of the queue's first entry; none: every write is known.
    head: Option<u64>,
}

impl PlacementPolicy for Sepbit {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn times(settings: &PlacementSettings) -> Times {
        match settings.sepbit_window {
            SepbitWindow::Fifo => Times::WhenMoved,
            SepbitWindow::Exact => Times::WhenWritten,
        }
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        match context.settings.sepbit_window {
            SepbitWindow::Fifo => 8 * u64::from(context.logical_pages),
            SepbitWindow::Exact => 0,
        }
    }

    fn asks_when_opened(settings: &PlacementSettings) -> bool {
        settings.sepbit_lifespan.0.is_none()
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let settings = context.settings;
        Sepbit {
            last: context.classes - 1,
            lifespan: settings.sepbit_lifespan.0,
            is_held: settings.sepbit_lifespan.0.is_some(),
            batch: u64::from(settings.sepbit_victims),
            collected: 0,
            sum: 0,
            head: (settings.sepbit_window == SepbitWindow::Fifo).then_some(0),
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        let known = |age: &u64| self.head.is_none_or(|head| write.now - age >= head);
        let lived = write.age.filter(known);
        let is_short = |lived: u64| self.lifespan.is_none_or(|lifespan| lived < lifespan);
        let class = u8::from(!lived.is_some_and(is_short));
        self.enter(write);
        class.min(self.last)
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        let class = if page.from == 0 { 2 } else { 3 + self.steps(page.age, self.last) };
        class.min(self.last)
    }

    fn collected(&mut self, victim: &Victim) {
        let Some(created) = victim.created.filter(|_| victim.class == 0 && !self.is_held) else {
            return;
        };
        self.sum += victim.now - created;
        self.collected += 1;
        if self.collected == self.batch {
            self.lifespan = Some(self.sum / self.batch);
            (self.sum, self.collected) = (0, 0);
        }
    }

    fn window(&self, now: u64) -> Option<u64> {
        self.head.map(|head| now - head)
    }

    fn lifespan(&self) -> Option<u64> {
        self.lifespan
    }
}

impl Sepbit {
    /// A written page enters the queue, and up to two leave it.
    fn enter(&mut self, write: &HostWrite) {
        let Some(head) = &mut self.head else { return };
        let living = write.living + u64::from(!write.is_update);
        let most = self.lifespan.map_or(living, |lifespan| living.min(lifespan));
        let entries = write.now + 1 - *head;
        *head += entries.saturating_sub(most).min(2);
    }

    /// How many of the bounds 4 l, 16 l, ... an age has reached, at most `most`.
    fn steps(&self, age: Option<u64>, most: u8) -> u8 {
        let Some(lifespan) = self.lifespan else { return 0 };
        let Some(age) = age else { return most };
        let bounds = (1..=u32::from(most)).map(|step| lifespan.saturating_mul(1 << (2 * step)));
        bounds.take_while(|&bound| age >= bound).count() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, moved, victim};

    const EXACT: (&str, &str) = ("placement.sepbit_window", "exact");
    const FOUR: (&str, &str) = ("placement.sepbit_lifespan", "4");

    /// A B C D A E A B with l = 4: A lived 4, then 2; B lived 6.
    #[test]
    fn a_write_is_short_lived_if_the_version_before_it_was() {
        let mut sepbit = Bench::new("sepbit", 64, &[EXACT, FOUR]);
        let (a, b, c, d, e) = (0, 1, 2, 3, 4);
        let classes = [a, b, c, d, a, e, a, b].map(|page| sepbit.write(page));
        assert_eq!(classes, [1, 1, 1, 1, 1, 1, 0, 1]);
    }

    /// Out of class 0 to 2; else by age, with bounds at 16 and 64.
    #[test]
    fn a_moved_page_is_classed_by_its_age() {
        let mut sepbit = Bench::new("sepbit", 64, &[EXACT, FOUR]);
        assert_eq!(sepbit.policy.moved(&moved(0, 0, Some(1000))), 2);
        let ages = [15, 16, 63, 64].map(|age| sepbit.policy.moved(&moved(0, 1, Some(age))));
        assert_eq!(ages, [3, 4, 4, 5]);
        assert_eq!(sepbit.policy.moved(&moved(0, 5, None)), 5, "of unknown age");
        let mut eight = Bench::new("sepbit", 64, &[FOUR, ("placement.classes", "8")]);
        let ages = [63, 64, 255, 256, 1023, 1024];
        let classes = ages.map(|age| eight.policy.moved(&moved(0, 3, Some(age))));
        assert_eq!(classes, [4, 5, 5, 6, 6, 7]);
    }

    /// Two batches of two blocks of class 0; another class does not count.
    #[test]
    fn the_lifespan_is_the_mean_of_the_last_batch() {
        let mut sepbit = Bench::new("sepbit", 64, &[EXACT, ("placement.sepbit_victims", "2")]);
        assert_eq!((sepbit.write(1), sepbit.write(1)), (1, 0), "infinite at first");
        let seen = [(0, 10), (1, 500), (0, 20), (0, 100), (0, 300)].map(|(class, lifespan)| {
            sepbit.policy.collected(&victim(class, 1000 - lifespan, 1000));
            sepbit.policy.lifespan()
        });
        assert_eq!(seen, [None, None, Some(15), Some(15), Some(200)]);
    }

    /// l = 3, so that the queue holds three writes: what is older counts as infinitely old, though
    /// it would be too old anyway; with one living page the queue holds only that.
    #[test]
    fn the_queue_forgets_what_is_older_than_the_lifespan() {
        for window in ["fifo", "exact"] {
            let window = ("placement.sepbit_window", window);
            let mut sepbit =
                Bench::new("sepbit", 64, &[window, ("placement.sepbit_lifespan", "3")]);
            let classes = [1, 2, 1, 3, 4, 5, 1, 1].map(|page| sepbit.write(page));
            assert_eq!(classes, [1, 1, 0, 1, 1, 1, 1, 0], "{window:?}");
        }
        let long = ("placement.sepbit_lifespan", "100");
        let mut sepbit = Bench::new("sepbit", 64, &[long]);
        // Five pages are living, and hence five entries kept: page 1 is still in after four others.
        let classes = [1, 2, 3, 4, 5, 1, 2, 2].map(|page| sepbit.write(page));
        assert_eq!(classes, [1, 1, 1, 1, 1, 0, 0, 0]);
        // Page 3 was written six writes ago, with five entries kept.
        assert_eq!(sepbit.write(3), 1);
    }

    /// Three pages in turn: the queue has three entries, and the version of three writes ago is the
    /// oldest that is still in it, however long the device has been at work.
    #[test]
    fn the_queue_is_as_long_as_there_are_living_pages() {
        let mut sepbit = Bench::new("sepbit", 64, &[("placement.sepbit_lifespan", "100")]);
        let classes: Vec<u8> = (0..30).map(|turn| sepbit.write(turn % 3)).collect();
        assert_eq!((&classes[..3], &classes[3..]), (&[1; 3][..], &[0; 27][..]));
        assert_eq!(sepbit.policy.window(sepbit.policy_clock()), Some(3));
        assert_eq!(Bench::new("sepbit", 64, &[EXACT]).policy.window(0), None);
    }
}
