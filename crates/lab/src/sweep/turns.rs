//! Which run is made next: those that begin with the same device are worked off together, so that
//! it is prepared once and is gone before others take its place. What is grouped beforehand is a
//! guess that only decides what follows what: runs whose preparations are equal, field by field,
//! share the device (`run/preparing.rs`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::sweep::plan::Run;

/// A run that is wanted.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// What names its result.
    pub key: &'a str,
    /// What is run.
    pub run: &'a Run,
}

/// Runs that are still to be made, and what those under way share. Of as many workers as there are,
/// so many things are shared at once at most: a group is begun when those before it have no run
/// left, or are still being begun by others.
pub struct Turns<'a, T> {
    state: Mutex<State<'a, T>>,
    changed: Condvar,
}

struct State<'a, T> {
    fresh: VecDeque<VecDeque<Wanted<'a>>>,
    begun: Vec<Begun<'a, T>>,
    stopped: bool,
}

/// A group whose first run was taken, with runs left.
struct Begun<'a, T> {
    /// The key of its first run.
    name: &'a str,
    left: VecDeque<Wanted<'a>>,
    /// What the first run made; none as long as it is at it.
    shared: Option<Arc<T>>,
}

/// How a run begins.
pub enum Turn<'w, 'a, T> {
    /// By itself: nobody shares anything with it.
    Alone(Wanted<'a>),
    /// As the first of several, for which it should make what they share.
    First(Wanted<'a>, Promise<'w, 'a, T>),
    /// With what the first one made.
    Next(Wanted<'a>, Arc<T>),
}

impl<'a, T> Turns<'a, T> {
    /// All of `wanted`; those whose `share` is the same text are a group.
    pub fn new(wanted: &[Wanted<'a>], share: impl Fn(&Run) -> Option<&str>) -> Self {
        let mut fresh: VecDeque<VecDeque<Wanted<'a>>> = VecDeque::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for &one in wanted {
            match share(one.run).map(|text| *places.entry(text).or_insert(fresh.len())) {
                Some(place) if place < fresh.len() => fresh[place].push_back(one),
                _ => fresh.push_back(VecDeque::from([one])),
            }
        }
        let state = State { fresh, begun: Vec::new(), stopped: false };
        Turns { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<'a, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to do next; nothing where all is done or stopped. Waits where others are about to make
    /// what all runs that are left share.
    pub fn next(&self) -> Option<Turn<'_, 'a, T>> {
        let mut state = self.state();
        loop {
            if state.stopped {
                return None;
            }
            if let Some((wanted, shared)) = state.next_of_begun() {
                return Some(Turn::Next(wanted, shared));
            }
            if let Some(mut left) = state.fresh.pop_front() {
                let wanted = left.pop_front().expect("a group has a run");
                if left.is_empty() {
                    return Some(Turn::Alone(wanted));
                }
                let name = wanted.key;
                state.begun.push(Begun { name, left, shared: None });
                return Some(Turn::First(wanted, Promise { turns: self, name }));
            }
            if state.begun.is_empty() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nobody begins anything any more.
    pub fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }
}

impl<'a, T> Turn<'_, 'a, T> {
    /// The run.
    pub fn wanted(&self) -> Wanted<'a> {
        match self {
            Turn::Alone(wanted) | Turn::First(wanted, _) | Turn::Next(wanted, _) => *wanted,
        }
    }
}

impl<'a, T> State<'a, T> {
    /// The next run of a group that has what its runs share; the last one has it for itself.
    fn next_of_begun(&mut self) -> Option<(Wanted<'a>, Arc<T>)> {
        let at = self.begun.iter().position(|group| group.shared.is_some())?;
        let group = &mut self.begun[at];
        let wanted = group.left.pop_front()?;
        let shared = match group.left.is_empty() {
            true => self.begun.remove(at).shared,
            false => group.shared.clone(),
        };
        shared.map(|shared| (wanted, shared))
    }

    fn place_of(&self, name: &str) -> Option<usize> {
        self.begun.iter().position(|group| group.name == name)
    }
}

/// That the runs of a group will have what they share. Dropped without that, the next of them
/// becomes the first.
pub struct Promise<'w, 'a, T> {
    turns: &'w Turns<'a, T>,
    name: &'a str,
}

impl<T> Promise<'_, '_, T> {
    /// Hands it to the others, and keeps it.
    pub fn keep(self, shared: T) -> Arc<T> {
        let shared = Arc::new(shared);
        let mut state = self.turns.state();
        if let Some(at) = state.place_of(self.name) {
            state.begun[at].shared = Some(Arc::clone(&shared));
        }
        shared
    }
}

impl<T> Drop for Promise<'_, '_, T> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        let at = state.place_of(self.name);
        if let Some(at) = at.filter(|&at| state.begun[at].shared.is_none()) {
            let left = state.begun.remove(at).left;
            state.fresh.push_front(left);
        }
        drop(state);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::experiment::Experiment;

    /// Runs by key, of devices named by the first letter; a key that begins with a dash shares
    /// none.
    fn runs(keys: &[&str]) -> Vec<(String, Run)> {
        let run = |key: &&str| {
            let device = (!key.starts_with('-')).then(|| key[..1].to_owned());
            let experiment = Experiment::default();
            ((*key).to_owned(), Run { experiment, described: None, device, trace: None })
        };
        keys.iter().map(run).collect()
    }

    fn turns<T>(runs: &[(String, Run)]) -> Turns<'_, T> {
        let wanted: Vec<Wanted<'_>> = runs.iter().map(|(key, run)| Wanted { key, run }).collect();
        Turns::new(&wanted, |run| run.device.as_deref())
    }

    #[test]
    fn runs_of_a_group_follow_each_other_and_the_last_has_what_they_share_for_itself() {
        let runs = runs(&["a1", "-x", "b1", "a2", "b2", "a3"]);
        let turns = turns::<&str>(&runs);
        let mut told = Vec::new();
        while let Some(turn) = turns.next() {
            let key = turn.wanted().key;
            told.push(match turn {
                Turn::Alone(_) => format!("{key} alone"),
                Turn::First(_, promise) => format!("{key} makes {}", promise.keep(&key[..1])),
                Turn::Next(_, shared) => {
                    let whose = if Arc::try_unwrap(shared).is_ok() { "own" } else { "shared" };
                    format!("{key} {whose}")
                }
            });
        }
        assert_eq!(told, ["a1 makes a", "a2 shared", "a3 own", "-x alone", "b1 makes b", "b2 own"]);
    }

    #[test]
    fn who_comes_to_nothing_leaves_the_group_to_the_next() {
        let runs = runs(&["a1", "a2", "b1", "a3"]);
        let turns = turns::<()>(&runs);
        assert!(matches!(turns.next(), Some(Turn::First(one, _)) if one.key == "a1"));
        assert!(matches!(turns.next(), Some(Turn::First(one, _)) if one.key == "a2"));
        assert!(matches!(turns.next(), Some(Turn::Alone(one)) if one.key == "a3"));
        turns.stop();
        assert!(turns.next().is_none(), "b1 is left");
    }

    /// Counts how many things are shared at once.
    struct Counted<'a>(&'a AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn as_many_things_are_shared_at_once_as_there_are_workers() {
        let keys: Vec<String> = (0..400)
            .map(|number| format!("{}{number}", (b'a' + number as u8 % 20) as char))
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let runs = runs(&keys);
        let [alive, most, done] = [0, 0, 0].map(AtomicUsize::new);
        let turns = turns(&runs);
        let worker = || {
            while let Some(turn) = turns.next() {
                done.fetch_add(1, Ordering::SeqCst);
                if let Turn::First(_, promise) = turn {
                    most.fetch_max(alive.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    promise.keep(Counted(&alive));
                }
            }
        };
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(worker))));
        let [alive, most, done] = [&alive, &most, &done].map(|count| count.load(Ordering::SeqCst));
        assert_eq!((done, alive), (400, 0));
        assert!((1..=3).contains(&most), "{most} at once");
    }
}
