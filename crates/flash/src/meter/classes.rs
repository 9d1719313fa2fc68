//! Counts of each class of data, where a placement policy divides it (`gc.placement`).

use super::Meter;

/// What became of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Pages that the host wrote to it.
    pub host_pages: u64,
    /// Pages that collection moved to it.
    pub moved_pages: u64,
    /// Blocks of it, or lines, that were collected.
    pub victims: u64,
    /// Pages that these have.
    pub victim_pages: u64,
    /// Pages that were moved out of these.
    pub copied_pages: u64,
    /// Those of them of which it is known when they were opened.
    pub timed_victims: u64,
    /// Host pages written between their opening and their collection, in all.
    pub lifespans: u64,
    /// What it was in the last epoch, where it was a group that a policy gives a size.
    pub group: Option<ClassGroup>,
}

/// A group that a placement policy gives a size (`midas`), or the last one, which takes the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassGroup {
    /// Segments that it might have, the open one among them.
    pub segments: u32,
    /// Valid share of its victims that the model expected, in parts per million; none without a
    /// model.
    pub expected_valid_ppm: Option<u64>,
    /// What it was; none without a victim.
    pub valid_ppm: Option<u64>,
}

impl Meter {
    /// Counts by class; all zero where no policy divides data.
    pub fn classes(&self) -> &[ClassCounts] {
        &self.classes
    }

    pub(crate) fn class_written(&mut self, class: u8) {
        self.classes[class as usize].host_pages += 1;
    }

    pub(crate) fn class_moved(&mut self, class: u8, pages: u32) {
        self.classes[class as usize].moved_pages += u64::from(pages);
    }

    pub(crate) fn class_group(&mut self, class: u8, group: Option<ClassGroup>) {
        self.classes[class as usize].group = group;
    }

    pub(crate) fn class_victim(
        &mut self,
        class: u8,
        (copied, pages): (u32, u32),
        lifespan: Option<u64>,
    ) {
        let counts = &mut self.classes[class as usize];
        counts.victims += 1;
        counts.victim_pages += u64::from(pages);
        counts.copied_pages += u64::from(copied);
        counts.timed_victims += u64::from(lifespan.is_some());
        counts.lifespans += lifespan.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two victims of four pages; of one of them it is known when it was opened.
    #[test]
    fn a_class_has_its_victims_and_what_it_was_in_the_last_epoch() {
        let mut meter = Meter::new(4);
        let group =
            Some(ClassGroup { segments: 3, expected_valid_ppm: None, valid_ppm: Some(250_000) });
        meter.class_group(2, group);
        meter.class_victim(2, (1, 4), Some(30));
        meter.class_victim(2, (2, 4), None);
        meter.class_written(2);
        meter.class_moved(2, 3);
        let expected = ClassCounts {
            host_pages: 1,
            moved_pages: 3,
            victims: 2,
            victim_pages: 8,
            copied_pages: 3,
            timed_victims: 1,
            lifespans: 30,
            group,
        };
        assert_eq!(meter.classes()[2], expected);
        assert_eq!(meter.classes()[1], ClassCounts::default());
    }
}
