//! Which full block is collected next. One file per policy, one row in the table below.
//!
//! A policy knows the candidates of one plane: full blocks that are not being written. It never
//! names a block without an invalid page, because moving it would gain nothing.

mod candidates;
mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod lru;
mod random;
mod windowed_greedy;

use crate::board::nand::Nand;
use crate::config::GcSettings;
use crate::rng::Rng;
use crate::units::{BlockId, PlaneId};

/// What a policy is built from.
pub struct VictimContext<'a> {
    /// The device.
    pub nand: &'a Nand,
    /// The plane whose blocks are candidates.
    pub plane: PlaneId,
    /// Settings of the policies.
    pub settings: &'a GcSettings,
}

/// A chosen block, and how many candidates were compared to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The victim; none when no candidate holds an invalid page.
    pub victim: Option<BlockId>,
    /// Candidates looked at.
    pub steps: u32,
}

/// How a victim is chosen among the full blocks of one plane.
pub trait VictimPolicy {
    /// A policy without candidates.
    fn new(context: &VictimContext<'_>) -> Self;
    /// A block is full and becomes a candidate.
    fn closed(&mut self, nand: &Nand, block: BlockId);
    /// A page of a block became invalid; the block may be no candidate.
    fn invalidated(&mut self, block: BlockId, valid: u32);
    /// A candidate leaves.
    fn removed(&mut self, block: BlockId);
    /// Chooses without removing.
    fn choose(&self, nand: &Nand, rng: &mut Rng) -> Choice;
}

macro_rules! victim_table {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal => $type:ty, )*) => {
        crate::choices! {
            /// The victim policies.
            pub enum VictimKind { $( $(#[$doc])* $variant = $name, )* }
        }

        /// One policy at work on one plane.
        #[derive(Clone, Debug)]
        pub enum Victims { $( $(#[$doc])* $variant($type), )* }

        impl Victims {
            /// The policy that the settings name.
            pub fn new(context: &VictimContext<'_>) -> Self {
                match context.settings.victim {
                    $( VictimKind::$variant =>
                        Victims::$variant(<$type as VictimPolicy>::new(context)), )*
                }
            }

            /// A block is full and becomes a candidate.
            pub fn closed(&mut self, nand: &Nand, block: BlockId) {
                match self { $( Victims::$variant(policy) => policy.closed(nand, block), )* }
            }

            /// A page of a block became invalid.
            #[inline]
            pub fn invalidated(&mut self, block: BlockId, valid: u32) {
                match self {
                    $( Victims::$variant(policy) => policy.invalidated(block, valid), )*
                }
            }

            /// A candidate leaves.
            pub fn removed(&mut self, block: BlockId) {
                match self { $( Victims::$variant(policy) => policy.removed(block), )* }
            }

            /// Chooses a victim without removing it.
            pub fn choose(&self, nand: &Nand, rng: &mut Rng) -> Choice {
                match self { $( Victims::$variant(policy) => policy.choose(nand, rng), )* }
            }
        }
    };
}

victim_table! {
    /// Most invalid pages; the oldest among equals.
    Greedy = "greedy" => greedy::Greedy,
    /// Space freed over pages copied, without age.
    CostBenefit = "cost_benefit" => cost_benefit::CostBenefit<false>,
    /// age * (1 - u) / 2u, after Kawaguchi et al. 1995.
    CostBenefitAge = "cost_benefit_age" => cost_benefit::CostBenefit<true>,
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
}
