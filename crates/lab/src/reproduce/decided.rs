//! Which choice decides a statement: the one by whose candidates its outcomes in worlds part, if
//! they part better than chance would have it.

use ftlab_engine::rng::{Purpose, Rng};
use ftlab_report::reproduction::World;

/// The choice that decides a statement, in words.
pub fn decided_by(worlds: &[World], outcomes: &[Option<bool>]) -> String {
    let judged: Vec<(&World, bool)> = worlds
        .iter()
        .zip(outcomes)
        .filter_map(|(world, outcome)| Some((world, (*outcome)?)))
        .collect();
    let (of, hold) = (judged.len(), judged.iter().filter(|(_, holds)| *holds).count());
    match hold {
        _ if of == 0 => return "not judged in any world".to_owned(),
        0 => return format!("fails in all {of} worlds"),
        _ if hold == of => return format!("holds in all {of} worlds"),
        _ => {}
    }
    let head = format!("holds in {hold} of {of} worlds");
    let places = 0..=worlds[0].choices.len();
    let factors: Vec<Factor> = places.map(|place| Factor::of(&judged, place)).collect();
    let least = factors.iter().map(Factor::mistaken).min().unwrap_or_default();
    if 2 * least > hold.min(of - hold) || !is_rare(&judged, least) {
        return format!("{head}; no single choice decides it");
    }
    let deciding = factors.iter().filter(|factor| factor.mistaken() == least);
    let words: Vec<String> = match least {
        0 => deciding.map(Factor::exactly).collect(),
        _ => deciding.map(Factor::mostly).collect(),
    };
    format!("{head}; {}", words.join(", or "))
}

/// Whether outcomes that have nothing to do with the choices would let some choice decide as well
/// in one of a hundred cases at most: a statement that holds in a few worlds by chance is decided
/// by nothing.
fn is_rare(judged: &[(&World, bool)], least: usize) -> bool {
    const SHUFFLES: usize = 400;
    let Some((first, _)) = judged.first() else { return false };
    let mut rng = Rng::new(judged.len() as u64, Purpose::Workload);
    let mut shuffled = judged.to_vec();
    let mut as_good = 0;
    for _ in 0..SHUFFLES {
        for last in (1..shuffled.len()).rev() {
            let other = rng.below(last as u32 + 1) as usize;
            (shuffled[last].1, shuffled[other].1) = (shuffled[other].1, shuffled[last].1);
        }
        let mut places = 0..=first.choices.len();
        as_good += usize::from(places.any(|at| Factor::of(&shuffled, at).mistaken() <= least));
    }
    100 * as_good <= SHUFFLES
}

/// How a statement came out by the candidates of one choice.
struct Factor {
    choice: String,
    /// Candidate, worlds in which it holds, worlds.
    candidates: Vec<(String, usize, usize)>,
}

impl Factor {
    fn of(judged: &[(&World, bool)], place: usize) -> Self {
        let mut choice = "the seed".to_owned();
        let mut candidates: Vec<(String, usize, usize)> = Vec::new();
        for (world, holds) in judged {
            let candidate = match world.choices.get(place) {
                Some((name, candidate)) => {
                    choice.clone_from(name);
                    candidate.clone()
                }
                None => world.seed.to_string(),
            };
            let known = candidates.iter().position(|(name, ..)| *name == candidate);
            let at = known.unwrap_or_else(|| {
                candidates.push((candidate, 0, 0));
                candidates.len() - 1
            });
            candidates[at].1 += usize::from(*holds);
            candidates[at].2 += 1;
        }
        Factor { choice, candidates }
    }

    /// Worlds that come out otherwise than most of the same candidate.
    fn mistaken(&self) -> usize {
        self.candidates.iter().map(|(_, hold, of)| (*hold).min(of - hold)).sum()
    }

    /// Where each candidate decides.
    fn exactly(&self) -> String {
        let names = |holds: bool| -> Vec<&str> {
            let own = |one: &&(String, usize, usize)| (one.1 > 0) == holds;
            self.candidates.iter().filter(own).map(|(name, ..)| name.as_str()).collect()
        };
        let (holding, failing) = (names(true), names(false));
        match holding.len() < failing.len() {
            true => format!("holds only with {} = {}", self.choice, holding.join(" or ")),
            false => format!("fails only with {} = {}", self.choice, failing.join(" or ")),
        }
    }

    /// How often with each candidate.
    fn mostly(&self) -> String {
        let of = |(name, hold, of): &(String, usize, usize)| format!("{name}: {hold} of {of}");
        let all: Vec<String> = self.candidates.iter().map(of).collect();
        format!("mostly by {} ({})", self.choice, all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(number: usize, start: &str, log: &str) -> World {
        let pair = |name: &str, candidate: &str| (name.to_owned(), candidate.to_owned());
        let choices = vec![pair("start", start), pair("log", log)];
        World { number, choices, seed: 1 + number as u64 % 5 }
    }

    /// Every start with every log, four times.
    fn worlds() -> Vec<World> {
        let starts = ["full", "touched", "used_up"];
        let of =
            |number: usize| column(number, starts[number % 3], ["small", "large"][number / 3 % 2]);
        (0..24).map(of).collect()
    }

    fn words(holds: impl Fn(&World) -> Option<bool>) -> String {
        let worlds = worlds();
        let outcomes: Vec<Option<bool>> = worlds.iter().map(holds).collect();
        decided_by(&worlds, &outcomes)
    }

    #[test]
    fn a_choice_that_decides_is_named() {
        assert_eq!(words(|_| Some(true)), "holds in all 24 worlds");
        assert_eq!(words(|_| Some(false)), "fails in all 24 worlds");
        assert_eq!(words(|_| None), "not judged in any world");
        assert_eq!(
            words(|world| Some(world.choices[0].1 != "full")),
            "holds in 16 of 24 worlds; fails only with start = full"
        );
        assert_eq!(
            words(|world| (world.number != 3).then_some(world.choices[0].1 == "used_up")),
            "holds in 8 of 23 worlds; holds only with start = used_up"
        );
        assert_eq!(
            words(|world| Some(world.choices[1].1 == "small" && world.number != 1)),
            "holds in 11 of 24 worlds; mostly by log (small: 11 of 12, large: 0 of 12)"
        );
        assert_eq!(
            words(|world| Some(world.number * 7 % 24 < 12)),
            "holds in 12 of 24 worlds; no single choice decides it"
        );
    }

    #[test]
    fn chance_is_no_decider() {
        let mut rng = Rng::new(7, Purpose::Workload);
        let decided = (0..100).filter(|_| {
            let worlds: Vec<World> =
                (0..32).map(|n| column(n, ["a", "b", "c"][n % 3], ["x", "y"][n / 3 % 2])).collect();
            let outcomes: Vec<Option<bool>> =
                worlds.iter().map(|_| Some(rng.below(2) == 0)).collect();
            !decided_by(&worlds, &outcomes).ends_with("no single choice decides it")
        });
        assert!(decided.count() <= 4);
    }
}
