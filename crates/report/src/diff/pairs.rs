//! Which run belongs to which: those of the same scheme on the same workload. Where there are
//! several of these, as in a sweep, the ones whose settings differ least; where a scheme is left
//! once on each side, these two, whatever they ran on; and two runs by themselves always.

use crate::asked::{About, about, keys};
use crate::flatten::text;
use crate::gathered::Gathered;
use std::collections::BTreeMap;

/// Partners by their places on both sides, in the order of the first side.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Partners.
    pub pairs: Vec<[usize; 2]>,
    /// Runs of the first side without one.
    pub only_a: Vec<usize>,
    /// Runs of the second side without one.
    pub only_b: Vec<usize>,
}

/// The workload as people name it, with the units that were chosen of it.
pub fn workload(run: &Gathered) -> String {
    let name = run.word("workload.name");
    match run.word("workload.units") {
        "" => name.to_owned(),
        units if units.contains(',') => format!("{name}, units {units}"),
        units => format!("{name}, unit {units}"),
    }
}

/// Finds partners.
pub fn matched(a: &[Gathered], b: &[Gathered]) -> Matched {
    let mut matched = Matched::default();
    if let ([_], [_]) = (a, b) {
        matched.pairs.push([0, 0]);
        return matched;
    }
    let (mut left_a, mut left_b): (Vec<usize>, Vec<usize>) = Default::default();
    let both = |run: &Gathered| (run.word("scheme").to_owned(), workload(run));
    for [xs, ys] in grouped([a, b], [&all(a), &all(b)], both) {
        let pairs = nearest(a, &xs, b, &ys);
        left_a.extend(xs.iter().filter(|x| !pairs.iter().any(|pair| pair[0] == **x)));
        left_b.extend(ys.iter().filter(|y| !pairs.iter().any(|pair| pair[1] == **y)));
        matched.pairs.extend(pairs);
    }
    let scheme = |run: &Gathered| run.word("scheme").to_owned();
    for [xs, ys] in grouped([a, b], [&left_a, &left_b], scheme) {
        match (xs.as_slice(), ys.as_slice()) {
            ([x], [y]) => matched.pairs.push([*x, *y]),
            _ => {
                matched.only_a.extend(xs);
                matched.only_b.extend(ys);
            }
        }
    }
    matched.pairs.sort_unstable();
    matched.only_a.sort_unstable();
    matched.only_b.sort_unstable();
    matched
}

fn all(runs: &[Gathered]) -> Vec<usize> {
    (0..runs.len()).collect()
}

/// Places of the runs of both sides that have the same key.
fn grouped<K: Ord>(
    sides: [&[Gathered]; 2],
    chosen: [&[usize]; 2],
    key: impl Fn(&Gathered) -> K,
) -> Vec<[Vec<usize>; 2]> {
    let mut groups: BTreeMap<K, [Vec<usize>; 2]> = BTreeMap::new();
    for side in 0..2 {
        for &index in chosen[side] {
            groups.entry(key(&sides[side][index])).or_default()[side].push(index);
        }
    }
    groups.into_values().collect()
}

/// What decides which of several runs is meant: everything asked but by which program.
fn asked(run: &Gathered) -> Vec<(&str, String)> {
    let told = keys(&run.flat).filter(|(path, _)| about(path) != Some(About::Program));
    told.map(|(path, value)| (path, text(Some(value)))).collect()
}

/// Partners of a group: first those that were asked for the same, then the others one by one, each
/// with the one of which it differs in the fewest keys.
fn nearest(a: &[Gathered], xs: &[usize], b: &[Gathered], ys: &[usize]) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    let mut free: Vec<(usize, Vec<(&str, String)>)> =
        ys.iter().map(|y| (*y, asked(&b[*y]))).collect();
    let mut open = Vec::new();
    let mut equal: BTreeMap<Vec<(&str, String)>, Vec<usize>> = BTreeMap::new();
    for (y, keys) in free.iter().rev() {
        equal.entry(keys.clone()).or_default().push(*y);
    }
    for &x in xs {
        let keys = asked(&a[x]);
        match equal.get_mut(&keys).and_then(Vec::pop) {
            Some(y) => pairs.push([x, y]),
            None => open.push((x, keys)),
        }
    }
    free.retain(|(y, _)| !pairs.iter().any(|pair| pair[1] == *y));
    for (x, keys) in open {
        let distances = free.iter().map(|(_, other)| distance(&keys, other)).enumerate();
        if let Some((place, _)) = distances.min_by_key(|(_, distance)| *distance) {
            pairs.push([x, free.remove(place).0]);
        }
    }
    pairs
}

/// In how many keys two runs differ.
fn distance(one: &[(&str, String)], two: &[(&str, String)]) -> usize {
    let two: BTreeMap<&str, &str> = two.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let same = one.iter().filter(|(key, value)| two.get(key) == Some(&value.as_str())).count();
    one.len().max(two.len()) - same
}
