//! Whether lines and the flash agree: for audits.

use super::super::PageSpace;
use super::{ALL, Lines};
use ftlab_flash::board::nand::Nand;
use ftlab_flash::units::BlockId;

impl Lines {
    /// Memory has the parity of the stripe that an open line stands in, and knows how many of its
    /// pages no parity page covers.
    fn check_open(&self, nand: &Nand, line: BlockId, stream: usize) -> Result<(), String> {
        if !self.has_parity {
            return Ok(());
        }
        let open = &self.open[stream];
        let page = self.open_stripe(nand, line, open);
        if nand.held_parity(stream) != page {
            let held = nand.held_parity(stream);
            return Err(format!(
                "line {line} fills the stripe of page {page:?}, and memory has the parity of {held:?}"
            ));
        }
        let loose = page.map_or(0, |page| nand.uncovered(page));
        match loose == open.loose {
            true => Ok(()),
            false => Err(format!(
                "line {line} counts {} pages without parity in its stripe and has {loose}",
                open.loose
            )),
        }
    }
}

impl PageSpace {
    /// Every line is free, in use, or of no use, and the valid pages of all are the space's.
    fn check_sorts_of_lines(&self) -> Result<(), String> {
        let Some(lines) = &self.lines else { return Ok(()) };
        let plane = &self.planes[ALL.index()];
        let (mut used, mut useless, mut valid) = (0, 0, 0);
        for line in (0..lines.book.lines()).map(BlockId) {
            let is_used = self.stream_of[line.index()] != 0;
            used += u32::from(is_used);
            useless += u32::from(!is_used && lines.book.room(line) == 0);
            valid += lines.book.valid(line);
        }
        let free = plane.free.len();
        if free + used + useless != lines.book.lines() {
            return Err(format!(
                "{} lines are not {free} free ones, {used} in use and {useless} without room",
                lines.book.lines()
            ));
        }
        if plane.retired != useless {
            let counted = plane.retired;
            return Err(format!("{counted} lines are counted as out of use, {useless} are"));
        }
        if plane.valid != valid {
            let counted = plane.valid;
            return Err(format!("{counted} pages of all lines are counted as valid, {valid} are"));
        }
        Ok(())
    }

    /// Every line in use is open for one stream, half collected or a candidate, and no other line
    /// is; but for those of groups, which are open or closed by themselves.
    fn check_roles_of_lines(&self) -> Result<(), String> {
        let plane = &self.planes[ALL.index()];
        let lines = (0..self.blocks_per_plane).map(BlockId);
        for line in lines.filter(|&line| !self.is_of_group(line)) {
            let is_used = self.stream_of[line.index()] != 0;
            let open = plane.frontiers.iter().filter(|frontier| frontier.block == Some(line));
            let (open, paused) = (open.count(), usize::from(self.is_paused(line)));
            let candidate =
                usize::from(plane.victims.has(line)) + usize::from(self.is_queued(line));
            if open + paused + candidate != usize::from(is_used) {
                return Err(format!(
                    "line {line} is in use: {is_used}; it is open {open} times, half collected \
                     {paused} times and a candidate {candidate} times"
                ));
            }
        }
        Ok(())
    }

    /// Lines hold what they say, stand where they should, and parity says what it covers.
    pub(in super::super) fn check_lines(&self, nand: &Nand) -> Result<(), String> {
        let Some(lines) = &self.lines else { return Ok(()) };
        self.check_sorts_of_lines()?;
        let mut used_room = 0;
        for line in (0..lines.book.lines()).map(BlockId) {
            let valid: u32 = lines.book.blocks(line).map(|block| nand.valid_pages(block)).sum();
            if valid != lines.book.valid(line) {
                let counted = lines.book.valid(line);
                return Err(format!("line {line} counts {counted} valid pages and has {valid}"));
            }
            let room = lines.rows * lines.row_room(nand, line);
            if room != lines.book.room(line) {
                let counted = lines.book.room(line);
                return Err(format!("line {line} counts room for {counted} pages and has {room}"));
            }
            if self.stream_of[line.index()] != 0 {
                used_room += u64::from(lines.book.room(line));
            }
            for block in lines.book.blocks(line) {
                for offset in 0..nand.state().block(block).top {
                    nand.check_parity(nand.geometry().page(block, offset))?;
                }
            }
        }
        self.check_roles_of_lines()?;
        if used_room != lines.used_room {
            let counted = lines.used_room;
            return Err(format!(
                "lines in use count room for {counted} pages and have {used_room}"
            ));
        }
        for (stream, frontier) in self.planes[ALL.index()].frontiers.iter().enumerate() {
            let Some(line) = frontier.block else { continue };
            lines.check_open(nand, line, stream)?;
            let left = lines.left(nand, line, &lines.open[stream]);
            if left != self.pages_per_block - frontier.next {
                return Err(format!(
                    "line {line} counts {} slots left and has {left}",
                    self.pages_per_block - frontier.next
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::Board;
    use ftlab_flash::settings::Groups as _;

    /// A line that nobody has, a count that is wrong: each is found.
    #[test]
    fn an_audit_sees_every_line() {
        let mut config = SharedSettings::default();
        let settings = [
            ("device.channels", "4"),
            ("device.blocks_per_plane", "12"),
            ("device.pages_per_block", "4"),
            ("alloc.unit", "line"),
            ("rain.stripe", "4"),
        ];
        for (key, value) in settings {
            config.set(key, value).expect("legal settings");
        }
        let board = Board::new(&config, 1, 0);
        let space = PageSpace::new(&board, &config, 2, 1);
        space.self_check(&board).expect("nothing is broken");
        let broken = |harm: fn(&mut PageSpace), words: &str| {
            let mut space = space.clone();
            harm(&mut space);
            let error = space.self_check(&board).expect_err(words);
            assert!(error.contains(words), "{error}");
        };
        let lost = "12 lines are not 11 free ones, 0 in use and 0 without room";
        broken(|space| assert!(space.planes[0].free.take().is_some()), lost);
        broken(|space| space.planes[0].retired = 1, "1 lines are counted as out of use, 0 are");
        broken(|space| space.planes[0].valid = 3, "3 pages of all lines are counted as valid");
        broken(|space| space.stream_of[5] = 1, "12 lines are not 12 free ones, 1 in use");
        let room = |space: &mut PageSpace| {
            space.lines.as_mut().expect("lines").book.set_room(BlockId(3), 8);
        };
        broken(room, "line 3 counts room for 8 pages and has 12");
    }
}
