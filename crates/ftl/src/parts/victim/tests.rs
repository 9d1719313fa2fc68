use super::*;
use crate::own::{Maker, OwnVictim, VictimCandidates};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::rng::Purpose;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::PlaneId;
use ftlab_flash::units::{Lpn, Ppn, Tag};

/// The candidate with the highest number.
struct Last;

impl OwnVictim for Last {
    fn choose(&self, candidates: &VictimCandidates) -> usize {
        candidates.blocks.len() - 1
    }
}

/// Pages of a block here.
const PAGES: u32 = 4;

/// A plane of ten blocks and a policy that is told of all that happens to it.
struct Bench {
    board: Board,
    victims: Victims,
    rng: Rng,
}

impl Bench {
    fn new(policy: &str, pairs: &[(&str, &str)]) -> Self {
        let mut config = SharedSettings::default();
        let device = [("device.blocks_per_plane", "10"), ("device.pages_per_block", "4")];
        for (key, value) in device.iter().chain(pairs).chain(&[("gc.victim", policy)]) {
            config.set(key, value).expect("legal settings");
        }
        if policy == "own" {
            config.own.victim = Some(Maker::victim("last", || Last));
        }
        let board = Board::new(&config, 1, 0);
        let nand = board.nand();
        let geometry = nand.geometry();
        let blocks = geometry.blocks_of(PlaneId(0));
        let victims = config.victims(PlaneId(0), blocks, geometry.pages_per_block);
        Bench { board, victims, rng: Rng::new(1, Purpose::Victim) }
    }

    /// Programs every page of these blocks, one block after the other.
    fn fill(&mut self, blocks: &[u32]) {
        let request =
            RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
        let (cause, data) = (Cause::Host, Tag(1));
        for &block in blocks {
            for page in block * PAGES..(block + 1) * PAGES {
                let io = PageIo { lpn: Lpn(0), sectors: 1, cause, data, request };
                let programmed =
                    self.board.program_update(Ppn(page), None, &io, PageKind::Data, When::START);
                assert!(programmed.is_ok());
            }
            self.victims.closed(&Census::of(self.board.nand()), BlockId(block));
        }
    }

    /// Marks the next `count` valid pages of a block as superseded.
    fn supersede(&mut self, block: u32, count: u32) {
        let block = BlockId(block);
        for _ in 0..count {
            let page = self.board.nand().state().next_valid(block, 0).expect("a valid page");
            let valid = self.board.nand_mut().invalidate(page);
            self.victims.invalidated(block, valid);
        }
    }

    fn choose(&mut self) -> Option<u32> {
        self.victims
            .choose(&Census::of(self.board.nand()), &mut self.rng)
            .victim
            .map(|block| block.0)
    }

    /// Victims in order, each leaving when it is chosen, until there is none.
    fn order(mut self) -> Vec<u32> {
        std::iter::from_fn(|| {
            let victim = self.choose()?;
            self.victims.removed(BlockId(victim));
            Some(victim)
        })
        .collect()
    }

    /// How often each of the first four blocks is chosen in 3000 choices.
    fn shares(&mut self) -> [u32; 4] {
        let mut shares = [0; 4];
        for _ in 0..3000 {
            shares[self.choose().expect("a victim") as usize] += 1;
        }
        shares
    }
}

/// Blocks 0 to 4 filled in the order 4, 2, 0, 1, 3; block 4 keeps every page, the others lose
/// one (2, then 0), two (3) and three (1), in the order 1, 3, 2, 0.
fn bench(policy: &str, pairs: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::new(policy, pairs);
    bench.fill(&[4, 2, 0, 1, 3]);
    for (block, count) in [(1, 3), (3, 2), (2, 1), (0, 1)] {
        bench.supersede(block, count);
    }
    bench
}

#[test]
fn each_policy_takes_its_own_order() {
    // Fewest valid pages; blocks 2 and 0 have three each, and 2 has had them for longer.
    assert_eq!(bench("greedy", &[]).order(), [1, 3, 2, 0]);
    // Space freed over pages copied: the same, but the lower number first among equals.
    assert_eq!(bench("cost_benefit", &[]).order(), [1, 3, 0, 2]);
    // The order of filling, without the block that lost nothing.
    assert_eq!(bench("fifo", &[]).order(), [2, 0, 1, 3]);
    // The order of the last loss.
    assert_eq!(bench("lru", &[]).order(), [1, 3, 2, 0]);
    assert_eq!(bench("own", &[]).order(), [3, 2, 1, 0]);
    let window = |blocks| bench("windowed_greedy", &[("gc.window", blocks)]).order();
    // Only the head, and past it while it has lost nothing: fifo.
    assert_eq!(window("1"), [2, 0, 1, 3]);
    // Block 4 fills a place of the window: 2; 0; 1; 3.
    assert_eq!(window("2"), [2, 0, 1, 3]);
    // {4, 2, 0}: 2, the older of equals; {4, 0, 1}: 1; {4, 0, 3}: 3; 0.
    assert_eq!(window("3"), [2, 1, 3, 0]);
    assert_eq!(window("4"), [1, 3, 2, 0]);
    // Half of five, four, three and two, rounded up: {4, 2, 0}: 2; {4, 0}: 0; {4, 1}: 1; {4}
    // and past it: 3.
    assert_eq!(window("50%"), [2, 0, 1, 3]);
    assert_eq!(window("100%"), [1, 3, 2, 0]);
}

#[test]
fn lru_waits_for_the_last_loss_and_fifo_does_not() {
    for (policy, expected) in [("lru", [1, 0]), ("fifo", [0, 1])] {
        let mut bench = Bench::new(policy, &[]);
        bench.fill(&[0, 1]);
        bench.supersede(0, 1);
        bench.supersede(1, 1);
        bench.supersede(0, 1);
        assert_eq!(bench.order(), expected, "{policy}");
    }
}

/// Blocks of four pages: 0 is 20 programs old and has three valid ones, 4 is 4 programs old and
/// lost more.
#[test]
fn an_old_block_beats_a_young_one_that_is_emptier() {
    for (policy, lost, expected) in [
        ("cost_benefit", 2, 4),
        ("cost_benefit", 3, 4),
        // 20 * 1 / 6 = 3.3; 4 * 2 / 4 = 2, 4 * 3 / 2 = 6.
        ("cost_benefit_age", 2, 0),
        ("cost_benefit_age", 3, 4),
        // A root makes less of age. That of 20 * 1 / 9 is 1.49; that of 4 / 9 is 0.67,
        // of 4 and 36 it is 2 and 6.
        ("cost_benefit_sqrt", 1, 0),
        ("cost_benefit_sqrt", 2, 4),
        ("cost_benefit_sqrt", 3, 4),
        // To read the whole block makes more of it: 20 / 7 = 2.86; 8 / 6 = 1.33, 12 / 5 = 2.4,
        // 16 / 4 = 4.
        ("cost_benefit_lfs", 2, 0),
        ("cost_benefit_lfs", 3, 0),
        ("cost_benefit_lfs", 4, 4),
    ] {
        let mut bench = Bench::new(policy, &[]);
        bench.fill(&[0, 1, 2, 3, 4, 5]);
        bench.supersede(0, 1);
        bench.supersede(4, lost);
        assert_eq!(bench.choose(), Some(expected), "{policy}, {lost} pages lost");
    }
}

/// Of two blocks alike in age and pages the one with fewer erases goes; one that is five times
/// as old goes before it until it was erased five times as often.
#[test]
fn cat_spares_what_was_erased_often() {
    for (erases, expected) in [(0, 0), (4, 0), (5, 4)] {
        let mut bench = Bench::new("cat", &[]);
        for _ in 0..erases {
            let erased = bench.board.erase(BlockId(0), BlockRole::Data, Cause::Gc, When::START);
            assert!(erased.is_ok());
        }
        bench.fill(&[0, 1, 2, 3, 4, 5]);
        bench.supersede(0, 2);
        bench.supersede(4, 2);
        assert_eq!(bench.choose(), Some(expected), "{erases} erases");
    }
}

/// Writes and ages that are the same whatever becomes of the blocks.
struct Known(Vec<(u32, Heat)>);

impl Heats for Known {
    fn heat(&self, candidate: BlockId) -> Heat {
        let known = self.0.iter().find(|(block, _)| *block == candidate.0);
        known.map_or(Heat::UNKNOWN, |(_, heat)| *heat)
    }

    fn host_age(&self, candidate: BlockId) -> u64 {
        self.heat(candidate).ages
    }
}

/// Blocks of four pages, 0 with three valid ones and 1 with two: 1/3 and 1. Pages of block 0
/// that were written 3 times within 30, and those of block 1 as often within 11, 10 and 9 make
/// 10/3 against 11/3, 10/3 and 3; among equals the lowest number wins. Of block 2, with one
/// valid page, nothing is known: 3.
#[test]
fn cost_hotness_keeps_what_is_hot() {
    for (ages, expected) in [(11, 1), (10, 0), (9, 0), (1, 0)] {
        let mut bench = Bench::new("cost_hotness", &[("gc.placement", "sfs")]);
        bench.fill(&[0, 1, 2]);
        (0..3).for_each(|block| bench.supersede(block, block + 1));
        let heat = |ages| Heat { writes: 3, ages };
        let known = Known(vec![(0, heat(30)), (1, heat(ages))]);
        let census = Census::of(bench.board.nand()).with_heats(Some(&known));
        let choice = bench.victims.choose(&census, &mut bench.rng);
        assert_eq!(choice, Choice { victim: Some(BlockId(expected)), steps: 3 }, "{ages}");
    }
}

/// Blocks of four pages, 0 with three valid ones and 1 with two: 1/9 of its age and that
/// itself. Of equals the lowest number wins; what was full just now is worth nothing.
#[test]
fn cost_benefit_host_goes_by_the_pages_of_the_host() {
    for (age, expected) in [(2, 0), (3, 0), (4, 1), (0, 0)] {
        let mut bench = Bench::new("cost_benefit_host", &[("gc.placement", "midas")]);
        bench.fill(&[0, 1]);
        (0..2).for_each(|block| bench.supersede(block, block + 1));
        let of = |ages| Heat { writes: 1, ages };
        let known = Known(vec![(0, of(27)), (1, of(age))]);
        let census = Census::of(bench.board.nand()).with_heats(Some(&known));
        let choice = bench.victims.choose(&census, &mut bench.rng);
        assert_eq!(choice.victim, Some(BlockId(expected)), "{age}");
    }
}

#[test]
fn a_block_without_valid_pages_costs_nothing_and_goes_first() {
    for policy in
        ["greedy", "cost_benefit", "cost_benefit_age", "cost_benefit_sqrt", "cat", "cost_hotness"]
    {
        let mut bench = Bench::new(policy, &[]);
        bench.fill(&[0, 1, 2, 3]);
        bench.supersede(0, 3);
        bench.supersede(3, 4);
        assert_eq!(bench.choose(), Some(3), "{policy}");
    }
}

/// Greedy kinds have equals where blocks have as many valid pages; others rank every candidate.
#[test]
fn policies_name_what_they_find_as_good_as_their_victim() {
    for (policy, expected) in [
        ("greedy", &[3, 2, 0][..]),
        ("cost_benefit", &[0, 2, 3]),
        ("windowed_greedy", &[3, 2]),
        ("cost_benefit_age", &[]),
        ("cost_benefit_sqrt", &[]),
        ("cost_benefit_lfs", &[]),
        ("cat", &[]),
        ("cost_hotness", &[]),
        ("fifo", &[]),
        ("lru", &[]),
        ("random", &[]),
        ("d_choices", &[]),
    ] {
        // The window: blocks 4, 3, 2 and 1; 0 was filled last. All but 4 lost one page.
        let mut bench = Bench::new(policy, &[("gc.window", "4")]);
        bench.fill(&[4, 3, 2, 1, 0]);
        [1, 3, 2, 0].into_iter().for_each(|block| bench.supersede(block, 1));
        let chosen = bench.choose().expect("a victim");
        let equals = bench.victims.equals(&Census::of(bench.board.nand()), BlockId(1));
        let mut blocks: Vec<u32> = equals.blocks().iter().map(|block| block.0).collect();
        if policy == "cost_benefit" {
            blocks.sort_unstable();
        }
        if policy == "windowed_greedy" {
            assert_eq!(chosen, 3, "the oldest among equals");
        }
        assert_eq!(blocks, expected, "{policy}");
    }
}

/// Three candidates with an invalid page and one without: each of the three is drawn about a
/// thousand times of 3000 (standard deviation 26), the fourth never.
#[test]
fn random_draws_every_block_that_lost_something_and_no_other() {
    let mut bench = Bench::new("random", &[]);
    bench.fill(&[0, 1, 2, 3]);
    for block in [0, 1, 3] {
        bench.supersede(block, block + 1);
    }
    let shares = bench.shares();
    assert_eq!(shares[2], 0);
    assert!([0, 1, 3].iter().all(|&b| (870..1130).contains(&shares[b])), "{shares:?}");
}

/// One draw of four is uniform; two draws find the best unless both miss it (7/16 of the time);
/// sixty-four always do.
#[test]
fn d_choices_takes_the_best_of_as_many_draws_as_set() {
    let shares = |choices| {
        let mut bench = Bench::new("d_choices", &[("gc.choices", choices)]);
        bench.fill(&[0, 1, 2, 3]);
        for block in 0..4 {
            bench.supersede(block, 4 - block);
        }
        let steps = bench.victims.choose(&Census::of(bench.board.nand()), &mut bench.rng).steps;
        let drawn = if choices == "50%" { "2" } else { choices };
        assert_eq!(steps.to_string(), drawn);
        bench.shares()
    };
    let one = shares("1");
    assert!(one.iter().all(|share| (630..870).contains(share)), "{one:?}");
    // 7/16, 5/16, 3/16 and 1/16 of 3000.
    let two = shares("2");
    assert_eq!(shares("50%"), two, "two of four");
    for (share, expected) in two.iter().zip([1312u32, 937, 562, 187]) {
        assert!(share.abs_diff(expected) < 120, "{two:?}");
    }
    assert_eq!(shares("64"), [3000, 0, 0, 0]);
}

#[test]
fn no_policy_names_a_block_that_lost_nothing() {
    for (_, policy) in VictimKind::ALL {
        for pairs in
            [[("gc.window", "1"), ("gc.choices", "1")], [("gc.window", "64"), ("gc.choices", "10")]]
        {
            let mut bench = Bench::new(policy, &pairs);
            assert_eq!(bench.choose(), None, "{policy}: no candidate");
            bench.fill(&[0, 1, 2, 3, 4, 5, 6, 7]);
            assert_eq!(bench.choose(), None, "{policy}: nothing to gain");
            bench.supersede(5, 1);
            for _ in 0..100 {
                assert_eq!(bench.choose(), Some(5), "{policy}: one candidate to gain from");
            }
            bench.victims.removed(BlockId(5));
            assert_eq!(bench.choose(), None, "{policy}: it left");
        }
    }
}

/// Who is a candidate is what audits ask.
#[test]
fn a_policy_has_what_was_full_and_did_not_leave() {
    for (_, policy) in VictimKind::ALL {
        let mut bench = Bench::new(policy, &[]);
        bench.fill(&[3, 7, 4]);
        bench.supersede(7, 2);
        let has = |bench: &Bench| [3, 4, 5, 7].map(|block| bench.victims.has(BlockId(block)));
        assert_eq!(has(&bench), [true, true, false, true], "{policy}");
        bench.victims.removed(BlockId(3));
        assert_eq!(has(&bench), [false, true, false, true], "{policy}");
    }
}

/// Candidates looked at: those that were drawn, or lie in the window, and those behind them that were
/// walked along because none of the first gains anything.
#[test]
fn what_is_looked_at_in_vain_counts_too() {
    let steps = |bench: &mut Bench| {
        let census = Census::of(bench.board.nand());
        bench.victims.choose(&census, &mut bench.rng).steps
    };
    // Block 4 fills the window and has lost nothing; block 2 comes next.
    assert_eq!(steps(&mut bench("windowed_greedy", &[("gc.window", "1")])), 1 + 1);
    // One draw of two, which is the second block, or else both are walked along.
    let mut two = Bench::new("d_choices", &[("gc.choices", "1")]);
    two.fill(&[0, 1]);
    two.supersede(1, 1);
    let mut seen: Vec<u32> = (0..100).map(|_| steps(&mut two)).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [1, 1 + 2]);
    // One of ten, which 32 draws miss every thirtieth time: then one to ten more.
    let mut ten = Bench::new("random", &[]);
    ten.fill(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    ten.supersede(6, 1);
    let seen: Vec<u32> = (0..3000).map(|_| steps(&mut ten)).collect();
    assert_eq!(seen.iter().max(), Some(&(32 + 10)));
    assert!(seen.contains(&33) && seen.contains(&1));
}

/// An empty block costs nothing and goes first, of two the lower number; so does one that is no older
/// than the last program, and that benefits nobody.
#[test]
fn an_empty_block_goes_before_all_others() {
    for order in [[5, 0, 1], [5, 1, 0]] {
        let mut bench = Bench::new("cost_benefit", &[]);
        bench.fill(&order);
        bench.supersede(0, 4);
        bench.supersede(1, 4);
        bench.supersede(5, 1);
        assert_eq!(bench.order(), [0, 1, 5], "filled in the order {order:?}");
    }
    let mut bench = Bench::new("cost_benefit_age", &[]);
    bench.fill(&[5, 0, 1]);
    // The last of the candidates takes the first place.
    bench.victims.removed(BlockId(5));
    bench.supersede(0, 1);
    bench.supersede(1, 4);
    assert_eq!(bench.order(), [1, 0]);
}
