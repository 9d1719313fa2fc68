use super::*;
use crate::parts::log_bench_tests::Bench;
use ftlab_flash::rng::{Purpose, Rng};

const LIMITS: Limits = Limits { logical: 3, updates: 2, pool: 3 };

/// Eight logical blocks of four pages in superblocks of three; the last has two.
fn superblocks(it: &Bench) -> Superblocks {
    Superblocks::new(it.board.geometry(), LIMITS, true)
}

#[test]
fn a_superblock_has_its_share_of_logical_blocks_and_a_plane() {
    let it = Bench::new(&[("device.planes", "2")]);
    let all = superblocks(&it);
    assert_eq!([0, 1, 2].map(|sbn| all.share(Sbn(sbn))), [3, 3, 2]);
    let pages = [0, 1, 2].map(|sbn| all.pages(Sbn(sbn), it.board.geometry()));
    assert_eq!(pages, [0..12, 12..24, 24..32]);
    assert_eq!([11, 12, 31].map(|lpn| all.of(Lpn(lpn)).index()), [0, 1, 2]);
    assert_eq!([0, 1, 2].map(|sbn| all.plane(Sbn(sbn)).0), [0, 1, 0]);
    assert_eq!(all.most(), 3 + 2 + SURPLUS);
}

/// Lists of blocks, and the superblocks with update blocks by their last update.
#[derive(Default)]
struct Model {
    blocks: [Vec<u32>; 3],
    updated: Vec<u32>,
}

impl Model {
    fn updates(&self, sbn: usize) -> usize {
        self.blocks[sbn].len().saturating_sub([3, 3, 2][sbn])
    }

    fn agree(&self, all: &Superblocks) {
        let in_pool: usize = (0..3).map(|sbn| self.updates(sbn)).sum();
        assert_eq!(all.total() as usize, self.blocks.iter().map(Vec::len).sum());
        assert_eq!(all.in_pool() as usize, in_pool);
        assert_eq!(all.free_in_pool() as usize, 3_usize.saturating_sub(in_pool));
        assert_eq!(all.is_over_pool(), in_pool > 3);
        assert_eq!(all.by_update().map(|sbn| sbn.0).collect::<Vec<_>>(), self.updated);
        assert_eq!(all.updated_superblocks() as usize, self.updated.len());
        // Nothing was weighed: the one updated longest ago.
        assert_eq!(all.fewest_valid().map(|sbn| sbn.0), self.updated.first().copied());
        for (number, share) in [(0, 3), (1, 3), (2, 2)] {
            let (sbn, known) = (Sbn(number), &self.blocks[number as usize]);
            let found = |blocks: &mut dyn Iterator<Item = BlockId>| -> Vec<u32> {
                blocks.map(|block| block.0).collect()
            };
            assert_eq!(&found(&mut all.blocks(sbn)), known);
            let updates = known.get(share..).unwrap_or_default();
            assert_eq!(found(&mut all.update_blocks(sbn)), updates);
            assert_eq!(all.len(sbn) as usize, known.len());
            assert_eq!(all.needs_update_block(sbn), known.len() >= share);
            assert_eq!(all.is_exhausted(sbn), known.len() >= share + 2);
            assert_eq!(all.is_full(sbn), known.len() == 13);
            for (place, &block) in known.iter().enumerate() {
                assert_eq!(all.owner(BlockId(block)), Some(sbn));
                let role = if place < share { BlockRole::Data } else { BlockRole::Log };
                assert_eq!(all.role(sbn, BlockId(block)), role);
            }
        }
    }
}

#[test]
fn superblocks_are_plain_lists_of_blocks_whatever_happens() {
    let it = Bench::new(&[("device.planes", "2")]);
    let (mut all, mut model) = (superblocks(&it), Model::default());
    let mut rng = Rng::new(3, Purpose::Workload);
    let mut free: Vec<u32> = (0..24).collect();
    let mut most = 0;
    for _ in 0..3000 {
        let sbn = rng.below(3);
        let known = &mut model.blocks[sbn as usize];
        match rng.below(5) {
            0 | 1 if known.len() < 13 && !free.is_empty() => {
                let block = free.swap_remove(rng.below(free.len() as u32) as usize);
                all.add(Sbn(sbn), BlockId(block));
                known.push(block);
                if model.updates(sbn as usize) == 1 {
                    model.updated.push(sbn);
                }
            }
            2 | 3 if !known.is_empty() => {
                let gone = rng.below(known.len() as u32) as usize;
                let next = rng.below(known.len() as u32) as usize;
                let successor = (next != gone && rng.below(2) == 0).then(|| known[next]);
                let block = known[gone];
                all.remove(Sbn(sbn), BlockId(block), successor.map(BlockId));
                match successor {
                    Some(successor) => {
                        known[gone] = successor;
                        known.remove(next);
                    }
                    None => {
                        known.remove(gone);
                    }
                }
                free.push(block);
                assert_eq!(all.owner(BlockId(block)), None);
                if model.updates(sbn as usize) == 0 {
                    model.updated.retain(|&updated| updated != sbn);
                }
            }
            _ => {
                all.updated(Sbn(sbn));
                if model.updates(sbn as usize) > 0 {
                    model.updated.retain(|&updated| updated != sbn);
                    model.updated.push(sbn);
                }
            }
        }
        most = most.max(all.in_pool());
        model.agree(&all);
    }
    assert!(most > 5, "the pool was never exceeded: {most}");
}

/// Superblocks 0 and 1 have four blocks each; those of 0 hold three pages and one, of 1 two.
#[test]
fn the_superblock_with_the_least_valid_block_is_known_as_it_was_weighed() {
    let mut it = Bench::new(&[]);
    let mut all = superblocks(&it);
    let pages =
        [&[0, 1, 2][..], &[3], &[4, 5, 6], &[7, 8], &[9, 10], &[12, 13], &[14, 15], &[16, 17]];
    let blocks = pages.map(|lpns| it.log_block(lpns));
    for (sbn, first) in [(0, 0), (1, 4)] {
        blocks[first..first + 4].iter().for_each(|&block| all.add(Sbn(sbn), block));
    }
    for sbn in [0, 1] {
        all.weigh(it.board.nand(), Sbn(sbn));
    }
    assert_eq!(all.fewest_valid(), Some(Sbn(0)), "one page");
    assert_eq!(all.self_check(it.board.nand()), Ok(()));
    [9, 10].into_iter().for_each(|lpn| it.trim(lpn));
    all.weigh(it.board.nand(), Sbn(1));
    all.updated(Sbn(1));
    assert_eq!(all.fewest_valid(), Some(Sbn(1)), "none, whenever it was updated");
}

#[test]
fn a_stream_goes_on_in_its_block_until_that_is_full_or_gone() {
    let mut it = Bench::new(&[]);
    let mut all = superblocks(&it);
    let [hot, cold] = [it.log_block(&[0, 1]), it.log_block(&[2])];
    let nand = it.board.nand();
    let sbn = Sbn(1);
    [hot, cold].into_iter().for_each(|block| all.add(sbn, block));
    assert_eq!((all.open(nand, sbn, Stream::Hot), all.room(nand, sbn, Stream::Hot)), (None, 0));
    all.set_open(sbn, Stream::Hot, Some(hot));
    all.set_open(sbn, Stream::Cold, Some(cold));
    assert_eq!(all.open(nand, sbn, Stream::Hot), Some((hot, 2)));
    assert_eq!(all.next_page(nand, sbn, Stream::Cold), Some(nand.geometry().page(cold, 1)));
    let room = [Stream::Hot, Stream::Cold].map(|stream| all.room(nand, sbn, stream));
    assert_eq!(room, [2, 3]);
    assert_eq!(all.open(nand, Sbn(0), Stream::Hot), None, "another superblock");
    let target = it.log_block(&[4, 5, 6]);
    let full = it.log_block(&[8, 9, 10, 11]);
    [target, full].into_iter().for_each(|block| all.add(sbn, block));
    all.take_over(sbn, hot, target);
    let nand = it.board.nand();
    let open = [Stream::Hot, Stream::Cold].map(|stream| all.open(nand, sbn, stream));
    assert_eq!(open, [Some((target, 3)), Some((cold, 1))]);
    all.remove(sbn, cold, None);
    let open = [Stream::Hot, Stream::Cold].map(|stream| all.open(nand, sbn, stream));
    assert_eq!(open, [Some((target, 3)), None]);
    all.set_open(sbn, Stream::Cold, Some(full));
    assert_eq!(all.open(nand, sbn, Stream::Cold), None, "full");
    let slot = nand.geometry().page(target, 3);
    it.fail_program_after(0);
    let io = it.host.write(7);
    let kind = ftlab_flash::board::nand::state::PageKind::Log;
    let start = ftlab_flash::board::when::When::START;
    assert!(it.board.program_update(slot, None, &io, kind, start).is_err());
    assert_eq!(all.open(it.board.nand(), sbn, Stream::Hot), None, "read-only");
}
