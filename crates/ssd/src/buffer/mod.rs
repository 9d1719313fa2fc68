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
mod settings;

pub(crate) use front::{Below, Buffered, Front};
pub use settings::{BufferSettings, PAGES_MIN};

use crate::settings::SsdSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::{Group, Shown, Value};
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::cmt::Slot;
use ftlab_ftl::parts::held_pages::HeldPages;

/// Where a buffer comes from and what it does.
#[derive(Clone, Copy, Debug)]
pub struct BufferPaper {
    /// Name in the table.
    pub name: &'static str,
    /// Title of the paper.
    pub title: &'static str,
    /// Its authors.
    pub authors: &'static str,
    /// Where it was published.
    pub venue: &'static str,
    /// When.
    pub year: u32,
    /// What leaves when room is needed.
    pub leaves: &'static str,
    /// Where the implementation departs from the paper, and why.
    pub deviations: &'static [&'static str],
}

/// Why pages are to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// A page needs a frame.
    Space,
    /// There is nothing else to do, and something is dirty.
    Idle,
    /// The host wants everything on flash, and something is dirty.
    Flush,
}

/// What leaves together.
#[derive(Debug, Default)]
struct Leaving {
    /// Frames of the pages, upwards by page. Pages that follow each other leave as one request.
    slots: Vec<Slot>,
    /// First page and number of pages of a range that is written as a whole: what is not in the
    /// buffer is read and written with the rest. All pages that leave lie in it.
    padded: Option<(Lpn, u32)>,
    /// How many pages or groups a search looked at.
    compared: u32,
}

/// Which pages leave together. Told of every page that enters, is used again, or leaves.
trait Policy {
    /// Where it comes from.
    const PAPER: BufferPaper;
    /// Whether pages that were read are kept too, unless `buffer.cache_reads` says otherwise; none:
    /// they cannot be.
    const READS: Option<bool>;

    /// For so many frames.
    fn new(frames: u32, geometry: &Geometry, config: &SsdSettings) -> Self;
    /// A page entered a frame, because it was written or read.
    fn entered(&mut self, slot: Slot, lpn: Lpn);
    /// A buffered page was written again, or read.
    fn used(&mut self, slot: Slot, lpn: Lpn, write: bool);
    /// A page left its frame.
    fn left(&mut self, slot: Slot, lpn: Lpn);
    /// Says what leaves; the buffer is not empty, and `leaving` is.
    fn choose(&mut self, pages: &HeldPages, why: Why, board: &mut Board, leaving: &mut Leaving);
    /// Whether its tables agree with the frames.
    fn self_check(&self, pages: &HeldPages) -> Result<(), String>;
}

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
        #[allow(clippy::large_enum_variant, reason = "there is one per device")]
        enum Chosen { $( $kind($policy), )* }

        impl Chosen {
            fn new(frames: u32, geometry: &Geometry, config: &SsdSettings) -> Option<Self> {
                match config.buffer.name {
                    BufferKind::None => None,
                    $( BufferKind::$kind => Some(Chosen::$kind(
                        <$policy as Policy>::new(frames, geometry, config),
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

/// Bytes of the buffer, if there is one.
pub(crate) fn ram_use(config: &SsdSettings) -> Option<RamUse> {
    let bytes = config.buffer_bytes();
    (bytes > 0).then_some(RamUse { structure: "write_buffer", bytes, memory: Memory::Sram })
}
