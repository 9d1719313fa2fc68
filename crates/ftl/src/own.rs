//! Own policies: choices that a program which uses ftlab as a library makes itself, where otherwise
//! a policy of a table would.
//!
//! It names a candidate, and the parts do the rest: laws, clock, counts and audit are those of
//! every run. It is asked per collection or per miss, never per look-up, and told of neither time
//! nor content. A victim that does not fit into what is free is not taken: then the one with fewest
//! valid pages goes. A device that is duplicated shares its policies with the duplicate. What it
//! remembers is lost in a power cut, and is in no account of memory.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks of one plane that can be collected: full ones that hold an invalid page. At one place of
/// every list stands what is known of one block; blocks are in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VictimCandidates {
    /// The plane.
    pub plane: u32,
    /// Pages of every block.
    pub pages_per_block: u32,
    /// Number of the block on the device.
    pub blocks: Vec<u32>,
    /// Valid pages, fewer than `pages_per_block`: what collecting it copies.
    pub valid: Vec<u32>,
    /// Times that it was erased.
    pub erases: Vec<u32>,
    /// Pages that the device programmed since the block's last one.
    pub age: Vec<u32>,
}

/// Which block is collected next (`gc.victim`).
pub trait OwnVictim: Send + Sync {
    /// The place of the victim among the candidates, of which there is at least one.
    fn choose(&self, candidates: &VictimCandidates) -> usize;
}

/// A block that is about to be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Its number on the device.
    pub block: u32,
    /// Pages of every block.
    pub pages_per_block: u32,
    /// Valid pages.
    pub valid: u32,
    /// Times that it was erased.
    pub erases: u32,
    /// Pages that the device programmed since the block's last one.
    pub age: u32,
}

/// Where the data pages of a collected block go (`gc.placement`).
pub trait OwnPlacement: Send + Sync {
    /// Whether they go to the frontier of moved pages; otherwise to that of the host's writes.
    fn apart(&self, block: Collected) -> bool;
}

/// Entries of a map cache that could leave, the one used longest ago first. At one place of every
/// list stands what is known of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheCandidates {
    /// Logical page.
    pub pages: Vec<u32>,
    /// Whether it differs from the map on flash, which must be written before it can leave.
    pub changed: Vec<bool>,
    /// Uses since it was loaded, its first not counted.
    pub uses: Vec<u32>,
}

/// Which entry leaves a map cache, and which is kept at all (`dftl.cmt_policy`).
pub trait OwnCache: Send + Sync {
    /// How many entries `evict` is shown at most, at least 1.
    fn window(&self) -> u32;
    /// A page's entry was loaded, which the request needs in memory. Whether it enters as the one
    /// used last; otherwise it is the next one to leave.
    fn admit(&self, page: u32) -> bool;
    /// The place of the entry that leaves, among at least one.
    fn evict(&self, entries: &CacheCandidates) -> usize;
}

type Make<P> = dyn Fn() -> Arc<P> + Send + Sync;

/// An own policy by name: it is made anew for every plane or cache that asks it, and after every
/// power cut, so that runs side by side do not share what it remembers.
pub struct Maker<P: ?Sized> {
    name: Arc<str>,
    make: Arc<Make<P>>,
    asked: Arc<AtomicU64>,
}

impl<P: ?Sized> Maker<P> {
    fn of(name: &str, make: impl Fn() -> Arc<P> + Send + Sync + 'static) -> Self {
        Maker { name: name.into(), make: Arc::new(make), asked: Arc::default() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How often it was asked, by all that were made.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The same with a count of its own.
    #[must_use]
    pub fn counted_apart(&self) -> Self {
        Maker { asked: Arc::default(), ..self.clone() }
    }

    /// A new one.
    pub(crate) fn made(&self) -> Asked<P> {
        Asked { policy: (self.make)(), asked: Arc::clone(&self.asked) }
    }
}

/// A maker of one kind, under the name by which results call the policy.
macro_rules! makers {
    ($( $(#[$doc:meta])* $name:ident: $policy:ident, )*) => { $(
        impl Maker<dyn $policy> {
            $(#[$doc])*
            pub fn $name<P: $policy + 'static>(
                name: &str,
                make: impl Fn() -> P + Send + Sync + 'static,
            ) -> Self {
                Self::of(name, move || -> Arc<dyn $policy> { Arc::new(make()) })
            }
        }
    )* };
}

makers! {
    /// Of one that chooses victims.
    victim: OwnVictim,
    /// Of one that places what is collected.
    placement: OwnPlacement,
    /// Of one that rules a map cache.
    cache: OwnCache,
}

impl<P: ?Sized> Clone for Maker<P> {
    fn clone(&self) -> Self {
        let Maker { name, make, asked } = self;
        Maker { name: Arc::clone(name), make: Arc::clone(make), asked: Arc::clone(asked) }
    }
}

impl<P: ?Sized> fmt::Debug for Maker<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Maker").field(&self.name).finish()
    }
}

/// The same one, not one that does the same.
impl<P: ?Sized> PartialEq for Maker<P> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

impl<P: ?Sized> Eq for Maker<P> {}

/// An own policy at work, and the count of its answers.
pub(crate) struct Asked<P: ?Sized> {
    policy: Arc<P>,
    asked: Arc<AtomicU64>,
}

impl<P: ?Sized> Asked<P> {
    /// The policy, for one question more.
    pub(crate) fn ask(&self) -> &P {
        self.asked.fetch_add(1, Ordering::Relaxed);
        &self.policy
    }

    /// The policy, for what is no question.
    pub(crate) fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: ?Sized> Clone for Asked<P> {
    fn clone(&self) -> Self {
        Asked { policy: Arc::clone(&self.policy), asked: Arc::clone(&self.asked) }
    }
}

impl<P: ?Sized> fmt::Debug for Asked<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asked")
    }
}

/// The own policies of a device. A setting that says `own` needs the one of its place here, and one
/// that is here needs its setting to say so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnPolicies {
    /// For `gc.victim = own`.
    pub victim: Option<Maker<dyn OwnVictim>>,
    /// For `gc.placement = own`.
    pub placement: Option<Maker<dyn OwnPlacement>>,
    /// For `dftl.cmt_policy = own`.
    pub cache: Option<Maker<dyn OwnCache>>,
}

impl OwnPolicies {
    /// Place, name and number of answers of each.
    pub fn told(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        fn one<'a, P: ?Sized>(
            place: &'static str,
            maker: Option<&'a Maker<P>>,
        ) -> Option<(&'static str, &'a str, u64)> {
            maker.map(|maker| (place, maker.name(), maker.asked()))
        }
        [
            one("victim", self.victim.as_ref()),
            one("placement", self.placement.as_ref()),
            one("cache", self.cache.as_ref()),
        ]
        .into_iter()
        .flatten()
    }

    /// The same with counts of their own.
    #[must_use]
    pub fn counted_apart(&self) -> Self {
        OwnPolicies {
            victim: self.victim.as_ref().map(Maker::counted_apart),
            placement: self.placement.as_ref().map(Maker::counted_apart),
            cache: self.cache.as_ref().map(Maker::counted_apart),
        }
    }
}

#[cfg(test)]
mod tests;
