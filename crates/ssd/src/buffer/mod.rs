//! Host write buffers, in front of any scheme: what they hold, what leaves, and THE table of them.
//!
//! A buffer takes the host's writes into the controller's RAM and writes them out later, as
//! requests of its own. It knows neither scheme nor clock, and no scheme knows whether there is
//! one. What all of them do is in `front`: hits, partial pages, write-outs, padding, trims,
//! flushes, power cuts. What they differ in is the policy: which pages leave together, when one
//! must. A new buffer is one file with its policy, its `mod` line and its row in the table.

mod bplru;
mod cflru;
mod fab;
mod front;
mod fullest;
mod groups;
mod l_buffer;
mod lru;
mod map_aware;
mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use front::{Below, Buffered, Front};
pub use policy::BufferPaper;
pub(crate) use policy::{Leaving, Policy, Why};
pub use settings::{BufferSettings, PAGES_MIN};

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::settings::{Group, Shown, Value};
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

macro_rules! buffer_table {
    ($( $name:ident => $kind:ident, $policy:path $(, $settings:path)?; )*) => {
        /// The buffers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum BufferKind {
            /// No buffer.
            None,
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                $kind,
            )*
        }

        impl BufferKind {
            /// Every choice with the name that sets it.
            pub const ALL: &'static [(BufferKind, &'static str)] =
                &[(BufferKind::None, "none"), $( (BufferKind::$kind, stringify!($name)), )*];

            /// The name that sets it.
            pub fn name(self) -> &'static str {
                match self {
                    BufferKind::None => "none",
                    $( BufferKind::$kind => stringify!($name), )*
                }
            }

            /// Whether it keeps pages that were read unless told otherwise; none: it cannot.
            pub fn reads(self) -> Option<bool> {
                match self {
                    BufferKind::None => None,
                    $( BufferKind::$kind => <$policy as Policy>::READS, )*
                }
            }
        }

        /// Every buffer, in the order of the table.
        pub const TABLE: &[BufferPaper] = &[$( <$policy as Policy>::PAPER, )*];

        /// Settings of the buffers that have some.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct PolicySettings {
            $( $(
                #[doc = concat!("Settings of `", stringify!($name), "`.")]
                pub $name: $settings,
            )? )*
        }

        impl PolicySettings {
            /// The groups, in the order of the table.
            pub fn groups(&self) -> Vec<&dyn Group> {
                vec![ $( $( {
                    let group: &$settings = &self.$name;
                    group as &dyn Group
                }, )? )* ]
            }

            /// The same, to be changed.
            pub fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
                vec![ $( $( {
                    let group: &mut $settings = &mut self.$name;
                    group as &mut dyn Group
                }, )? )* ]
            }
        }

        /// The policy in force.
        #[derive(Clone)]
        #[allow(clippy::large_enum_variant, reason = "there is one per device")]
        enum Chosen { $( $kind($policy), )* }

        impl Chosen {
            fn new(
                kind: BufferKind,
                frames: u32,
                geometry: &Geometry,
                policies: &PolicySettings,
            ) -> Option<Self> {
                match kind {
                    BufferKind::None => None,
                    $( BufferKind::$kind => Some(Chosen::$kind(
                        <$policy as Policy>::new(
                            frames,
                            geometry,
                            buffer_table!(@settings policies, $name $(, $settings)?),
                        ),
                    )), )*
                }
            }
            #[inline]
            fn entered(&mut self, slot: Slot, lpn: Lpn) {
                match self { $( Chosen::$kind(policy) => policy.entered(slot, lpn), )* }
            }
            #[inline]
            fn used(&mut self, slot: Slot, lpn: Lpn, write: bool) {
                match self { $( Chosen::$kind(policy) => policy.used(slot, lpn, write), )* }
            }
            #[inline]
            fn left(&mut self, slot: Slot, lpn: Lpn) {
                match self { $( Chosen::$kind(policy) => policy.left(slot, lpn), )* }
            }
            fn choose(
                &mut self,
                pages: &HeldPages,
                why: Why,
                board: &mut Board,
                leaving: &mut Leaving,
            ) {
                match self {
                    $( Chosen::$kind(policy) => policy.choose(pages, why, board, leaving), )*
                }
            }
            fn self_check(&self, pages: &HeldPages) -> Result<(), String> {
                match self { $( Chosen::$kind(policy) => policy.self_check(pages), )* }
            }
        }
    };
    (@settings $policies:expr, $name:ident) => { &() };
    (@settings $policies:expr, $name:ident, $settings:path) => { &$policies.$name };
}

buffer_table! {
    lru => Lru, lru::Lru;
    bplru => Bplru, bplru::Bplru, bplru::BplruSettings;
    l_buffer => LBuffer, l_buffer::LBuffer, l_buffer::LBufferSettings;
    cflru => Cflru, cflru::Cflru, cflru::CflruSettings;
    fab => Fab, fab::Fab;
    map_aware => MapAware, map_aware::MapAware, map_aware::MapAwareSettings;
}

impl Value for BufferKind {
    fn parse(text: &str) -> Option<Self> {
        BufferKind::ALL.iter().find(|(_, name)| *name == text).map(|(kind, _)| *kind)
    }
    fn show(&self) -> Shown {
        Shown::Text(self.name().to_string())
    }
    fn legal() -> String {
        BufferKind::ALL.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(" | ")
    }
}
