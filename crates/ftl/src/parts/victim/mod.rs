//! Which full block is collected next. One file per policy, one row in the table below.
//!
//! A policy knows the candidates of one plane, full blocks that are not being written, or full
//! lines ([`Census`]). It never names one without an invalid page, because moving it would gain
//! nothing.

mod candidates;
mod census;
mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod lru;
mod own;
mod policy;
mod random;
#[cfg(test)]
mod tests;
mod windowed_greedy;

pub use census::{Census, Heat, Heats};
pub use policy::{Choice, EQUALS, Equals, VictimContext, VictimPolicy};

use ftlab_flash::rng::Rng;
use ftlab_flash::units::BlockId;

macro_rules! victim_table {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal => $type:ty, )*) => {
        ftlab_flash::choices! {
            /// The victim policies.
            pub enum VictimKind { $( $(#[$doc])* $variant = $name, )* }
        }

        /// One policy at work on one plane.
        #[derive(Clone, Debug)]
        pub enum Victims { $( $(#[$doc])* $variant($type), )* }

        impl Victims {
            /// Whether the victim is always one with the fewest valid pages of all candidates.
            pub fn name_the_emptiest(&self) -> bool {
                matches!(self, Victims::Greedy(_))
            }

            /// The policy of that name.
            pub fn new(kind: VictimKind, context: &VictimContext<'_>) -> Self {
                match kind {
                    $( VictimKind::$variant =>
                        Victims::$variant(<$type as VictimPolicy>::new(context)), )*
                }
            }

            /// A block is full and becomes a candidate.
            pub fn closed(&mut self, known: &Census<'_>, block: BlockId) {
                match self { $( Victims::$variant(policy) => policy.closed(known, block), )* }
            }

            /// A page of a block became invalid.
            #[inline(always)]
            pub fn invalidated(&mut self, block: BlockId, valid: u32) {
                match self {
                    $( Victims::$variant(policy) => policy.invalidated(block, valid), )*
                }
            }

            /// Looks at what changes when a page of a block becomes invalid.
            #[inline]
            pub fn glance_at(&self, block: BlockId) -> u32 {
                match self { $( Victims::$variant(policy) => policy.glance_at(block), )* }
            }

            /// A candidate leaves.
            pub fn removed(&mut self, block: BlockId) {
                match self { $( Victims::$variant(policy) => policy.removed(block), )* }
            }

            /// Whether a block is a candidate; for audits.
            pub fn has(&self, block: BlockId) -> bool {
                match self { $( Victims::$variant(policy) => policy.has(block), )* }
            }

            /// Chooses a victim without removing it.
            pub fn choose(&self, known: &Census<'_>, rng: &mut Rng) -> Choice {
                match self { $( Victims::$variant(policy) => policy.choose(known, rng), )* }
            }

            /// Candidates that the policy finds as good as the victim that it just chose; at most
            /// [`EQUALS`].
            pub fn equals(&self, known: &Census<'_>, victim: BlockId) -> Equals {
                match self { $( Victims::$variant(policy) => policy.equals(known, victim), )* }
            }
        }
    };
}

victim_table! {
    /// Most invalid pages; the oldest among equals.
    Greedy = "greedy" => greedy::Greedy,
    /// Space freed over pages copied, without age.
    CostBenefit = "cost_benefit" => cost_benefit::CostBenefit<cost_benefit::Ratio>,
    /// age * (1 - u) / 2u, after Kawaguchi et al. 1995.
    CostBenefitAge = "cost_benefit_age" => cost_benefit::CostBenefit<cost_benefit::Age>,
    /// The root of age * (1 - u) / u, as SepBIT's artifact has it.
    CostBenefitSqrt = "cost_benefit_sqrt" => cost_benefit::CostBenefit<cost_benefit::RootOfAge>,
    /// The same with age in pages that the host wrote, as MiDAS' simulator has it.
    CostBenefitHost = "cost_benefit_host" => cost_benefit::CostBenefit<cost_benefit::RootOfHostAge>,
    /// age * (1 - u) / (1 + u), after Rosenblum and Ousterhout 1992.
    CostBenefitLfs = "cost_benefit_lfs" => cost_benefit::CostBenefit<cost_benefit::Lfs>,
    /// Least u / (1 - u) * erases / age, after Chiang et al. 1999.
    Cat = "cat" => cost_benefit::CostBenefit<cost_benefit::Cat>,
    /// (1 - u) / (u * hotness), after SFS: hotness as gc.placement = sfs knows it.
    CostHotness = "cost_hotness" => cost_benefit::CostBenefit<cost_benefit::Hotness>,
    /// Filled first.
    Fifo = "fifo" => fifo::Fifo,
    /// Any.
    Random = "random" => random::Random,
    /// Not invalidated for longest.
    Lru = "lru" => lru::Lru,
    /// Most invalid pages among a few drawn at random.
    DChoices = "d_choices" => d_choices::DChoices,
    /// Most invalid pages among the oldest few.
    WindowedGreedy = "windowed_greedy" => windowed_greedy::WindowedGreedy,
    /// As a program says that uses ftlab as a library.
    Own = "own" => own::Own,
}
