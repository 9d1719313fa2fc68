//! # Idea
//! Pages are clustered by the interval between their rewrites, online; a page that was moved before
//! its rewrite is punished, so that it finds a colder cluster.
//!
//! # Source
//! WARCIP: Yang, Pei, Yang, SYSTOR 2019, as in the simulator of SepBIT (FAST 2022).
//!
//! # Rule
//! Moved page: class 0, and its penalty is its age. Host write: the interval is the age of what is
//! overwritten and the page's penalty, which is forgotten then; 0 for a first write. It goes to the
//! cluster with the nearest centre, among equals the last, and the centre becomes the mean of all
//! intervals since the cluster's segment was opened. A segment that is full begins the mean anew.
//! A page whose last write a power cut made unknown goes to the last cluster and counts for
//! nothing.
//! After 256 full segments a cluster that had more than half of their writes is split, if there is
//! a class left: the new one stands between it and the one before it (0 before the first), halfway.
//! Without a split the first cluster with less than a segment of writes closes when its segment is
//! full.
//!
//! # Deviations
//! Time is host pages written; the simulator has the clock of the wall. A full segment is as many
//! pages of the host as the open blocks of a class hold, one in every plane. The simulator
//! renumbers clusters when one opens or closes, and may close the wrong one: here a cluster keeps
//! its class. The last cluster never closes. Centres have 16 binary places.
//!
//! # Memory
//! 4 bytes a logical page for its penalty, and the table of times; 24 bytes a class.

use super::settings::PlacementSettings;
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Times};
use ftlab_flash::units::{Lpn, zeroed};

/// Full segments between two looks at the clusters.
const PERIOD: u32 = 256;
/// Binary places of a centre.
const PLACES: u32 = 16;

/// A cluster of intervals.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    class: u8,
    centre: u64,
    /// Pages written to its segment.
    pages: u64,
    /// Pages written since clusters were looked at.
    writes: u64,
}

/// Clusters, in their order, and penalties.
#[derive(Clone, Debug)]
pub struct Warcip {
    clusters: Vec<Cluster>,
    most: usize,
    segment: u64,
    full: u32,
    /// Class that closes when its segment is full.
    closing: Option<u8>,
    penalty: Vec<u32>,
}

impl PlacementPolicy for Warcip {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn times(_: &PlacementSettings) -> Times {
        Times::WhenWritten
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        4 * u64::from(context.logical_pages) + 24 * u64::from(context.classes)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let most = usize::from(context.classes - 1);
        let mut clusters = Vec::with_capacity(most);
        clusters.extend((1..context.classes).map(|class| Cluster { class, ..Cluster::default() }));
        Warcip {
            clusters,
            most,
            segment: u64::from(context.segment_pages),
            full: 0,
            closing: None,
            penalty: zeroed(context.logical_pages as usize),
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        let penalty = u64::from(std::mem::take(&mut self.penalty[write.lpn.index()]));
        if write.is_update && write.age.is_none() {
            return self.clusters.last().map_or(0, |cluster| cluster.class);
        }
        let interval = write.age.map_or(0, |age| age + penalty) << PLACES;
        let distance = |place: &usize| self.clusters[*place].centre.abs_diff(interval);
        let Some(place) = (0..self.clusters.len()).rev().min_by_key(distance) else { return 0 };
        let cluster = &mut self.clusters[place];
        let sum = u128::from(cluster.centre) * u128::from(cluster.pages) + u128::from(interval);
        cluster.pages += 1;
        cluster.writes += 1;
        cluster.centre = (sum / u128::from(cluster.pages)) as u64;
        let class = cluster.class;
        if cluster.pages == self.segment {
            self.filled(place);
        }
        class
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        let age = page.age.unwrap_or(0).min(u64::from(u32::MAX));
        self.penalty[page.lpn.index()] = age as u32;
        0
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.penalty[lpn.index()] = 0;
    }
}

impl Warcip {
    /// The segment of a cluster is full.
    fn filled(&mut self, place: usize) {
        self.clusters[place].pages = 0;
        if self.closing == Some(self.clusters[place].class) {
            self.closing = None;
            if self.clusters.len() > 1 {
                self.clusters.remove(place);
            }
        }
        self.full += 1;
        if self.full == PERIOD {
            self.full = 0;
            self.look();
            self.clusters.iter_mut().for_each(|cluster| cluster.writes = 0);
        }
    }

    /// Splits what is large, or closes what is small.
    fn look(&mut self) {
        let all: u64 = self.clusters.iter().map(|cluster| cluster.writes).sum();
        let large = self.clusters.iter().position(|cluster| cluster.writes > all / 2);
        if let Some(place) = large.filter(|_| self.clusters.len() < self.most) {
            let before = place.checked_sub(1).map_or(0, |before| self.clusters[before].centre);
            let centre = u64::midpoint(before, self.clusters[place].centre);
            let is_used = |class: &u8| self.clusters.iter().any(|cluster| cluster.class == *class);
            let class = (1..=self.most as u8).find(|class| !is_used(class));
            let class = class.expect("there are fewer clusters than classes");
            self.clusters.insert(place, Cluster { class, centre, ..Cluster::default() });
            return;
        }
        let small = self.clusters.iter().find(|cluster| cluster.writes < self.segment);
        self.closing = self.closing.or(small.map(|cluster| cluster.class));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Placement;
    use super::super::tests::Bench;
    use super::PLACES;

    /// Class and centre of every cluster, in whole pages.
    fn clusters(bench: &Bench) -> Vec<(u8, u64)> {
        let Placement::Warcip(warcip) = &bench.policy else { unreachable!("made as such") };
        warcip.clusters.iter().map(|cluster| (cluster.class, cluster.centre >> PLACES)).collect()
    }

    /// Segments of eight pages, classes 1 to 3 for the host. First writes count as of interval 0
    /// and go to the last of three equal centres, rewrites 5 later too, until its centre has left:
    /// (4 * 0 + 5) / 5 = 1. An interval of 0 goes to class 2 from then on, 1 and more to class 3.
    #[test]
    fn a_write_goes_to_the_nearest_centre_which_follows() {
        let mut warcip = Bench::new("warcip", 64, &[("placement.classes", "4")]);
        assert_eq!([1, 2, 3, 4].map(|page| warcip.write(page)), [3; 4]);
        warcip.pass(1);
        assert_eq!(warcip.write(1), 3, "5 later");
        assert_eq!(clusters(&warcip), [(1, 0), (2, 0), (3, 1)]);
        assert_eq!(warcip.write(9), 2, "a first write");
        // Page 9 again at once: 1, which is class 3's.
        assert_eq!(warcip.write(9), 3);
        warcip.pass(99);
        assert_eq!(warcip.write(9), 3, "100 later");
        assert_eq!(clusters(&warcip), [(1, 0), (2, 0), (3, 15)], "(5 + 1 + 100) / 7");
    }

    /// Moved at the age of 10, rewritten at 12: the interval is 22, once.
    #[test]
    fn a_moved_page_is_punished_once() {
        let mut warcip = Bench::new("warcip", 64, &[("placement.classes", "2")]);
        let _ = warcip.write(1);
        warcip.pass(9);
        assert_eq!(warcip.moved(1, 1), 0);
        warcip.pass(2);
        let _ = warcip.write(1);
        assert_eq!(clusters(&warcip), [(1, 11)], "(0 + 22) / 2");
        let _ = warcip.write(1);
        assert_eq!(clusters(&warcip), [(1, 7)], "(0 + 22 + 1) / 3");
        let _ = (warcip.moved(1, 1), warcip.trim(1), warcip.write(1));
        assert_eq!(clusters(&warcip), [(1, 5)], "a trim ends a page's history");
    }

    /// 256 segments of one page rewritten at once: the first cluster, which had none of them,
    /// closes when its segment is full. Then one has all writes and is split.
    #[test]
    fn clusters_without_writes_close_and_a_large_one_is_split() {
        let mut warcip = Bench::new("warcip", 4096, &[("placement.classes", "4")]);
        let hot = |warcip: &mut Bench| (0..256 * 8).for_each(|_| assert!(warcip.write(7) > 0));
        hot(&mut warcip);
        assert_eq!(clusters(&warcip), [(1, 0), (2, 0), (3, 1)]);
        // First writes fill class 2's segment, but class 1 is the one that closes; there is no way
        // to it but an interval nearer to it, which a split makes room for.
        for page in 100..108 {
            assert_eq!(warcip.write(page), 2);
        }
        assert_eq!(clusters(&warcip).len(), 3);
        let Placement::Warcip(inner) = &warcip.policy else { unreachable!("made as such") };
        assert_eq!(inner.closing, Some(1));
        // A long interval takes class 3 away, and the next short one class 2, so that intervals of
        // 0 go to class 1, which fills up and closes.
        let far = |warcip: &mut Bench| {
            warcip.pass(1000);
            assert_eq!(warcip.write(7), 3);
        };
        far(&mut warcip);
        assert_eq!(warcip.write(7), 2);
        assert_eq!(clusters(&warcip), [(1, 0), (2, 1), (3, 1009)]);
        for page in 200..208 {
            assert_eq!(warcip.write(page), 1);
        }
        assert_eq!(clusters(&warcip), [(2, 1), (3, 1009)]);
        // Class 3 gets nearly all writes: behind 254 segments more class 1 begins between it and
        // the one before, at 501.
        (0..254 * 8).for_each(|_| far(&mut warcip));
        assert_eq!(clusters(&warcip), [(2, 1), (1, 501), (3, 1001)]);
    }

    /// Nobody knows when a page was written that a power cut left: the coldest cluster takes it,
    /// and its centre stays.
    #[test]
    fn what_a_power_cut_left_without_a_time_goes_to_the_last_cluster() {
        let mut warcip = Bench::new("warcip", 64, &[("placement.classes", "4")]);
        let _ = warcip.write(1);
        warcip.pass(29);
        assert_eq!(warcip.write(1), 3, "30 later");
        let before = clusters(&warcip);
        assert_eq!(before, [(1, 0), (2, 0), (3, 15)]);
        warcip.forget_all();
        assert_eq!(warcip.rewrite_forgotten(1), 3);
        assert_eq!(clusters(&warcip), before);
        assert_eq!(warcip.write(9), 2, "a first write counts as of interval 0");
    }

    fn inner(bench: &mut Bench) -> &mut super::Warcip {
        let Placement::Warcip(warcip) = &mut bench.policy else { unreachable!("made as such") };
        warcip
    }

    /// 255 full segments of one cluster, while the others have nothing.
    #[test]
    fn clusters_are_looked_at_after_256_full_segments() {
        let mut warcip = Bench::new("warcip", 64, &[("placement.classes", "4")]);
        for segment in 1..=256 {
            assert_eq!(inner(&mut warcip).closing, None, "before segment {segment}");
            (0..8).for_each(|_| assert!(warcip.write(7) > 0));
        }
        assert_eq!(inner(&mut warcip).closing, Some(1));
    }

    /// One of two clusters has half of the writes: it is not split, and with a segment of writes it
    /// does not close either.
    #[test]
    fn half_of_the_writes_is_not_large_and_a_segment_of_them_not_small() {
        let mut warcip = Bench::new("warcip", 64, &[("placement.classes", "4")]);
        let warcip = inner(&mut warcip);
        warcip.clusters.truncate(2);
        for (writes, closing, clusters) in
            [([8, 8], None, 2), ([8, 7], None, 3), ([7, 7], Some(1), 2)]
        {
            let mut warcip = warcip.clone();
            (0..2).for_each(|place| warcip.clusters[place].writes = writes[place]);
            warcip.look();
            assert_eq!((warcip.closing, warcip.clusters.len()), (closing, clusters), "{writes:?}");
        }
    }
}
