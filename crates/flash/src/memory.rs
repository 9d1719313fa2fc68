//! The memories beside the flash, and what of them a structure takes.

/// A memory that a structure lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// SRAM of the controller: what `--ram` bounds.
    Sram,
    /// DRAM beside the controller.
    Dram,
    /// Phase-change memory.
    Pcm,
    /// Memory of the host.
    Host,
}

impl Memory {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Memory::Sram => "sram",
            Memory::Dram => "dram",
            Memory::Pcm => "pcm",
            Memory::Host => "host",
        }
    }
}

/// Bytes of one structure of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamUse {
    /// The structure.
    pub structure: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where it lives.
    pub memory: Memory,
}

/// Structures in DRAM that belong to this implementation: they make reclaiming, trims and recovery
/// possible or fast, and no paper has them there.
const AIDS: &[&str] = &["valid_counts", "valid_bitmap", "trim_records", "checkpoint_buffer"];

impl RamUse {
    /// Whether DRAM is refreshed for this structure: it is there, and it is the scheme's own.
    pub fn is_refreshed(&self) -> bool {
        self.memory == Memory::Dram && self.bytes > 0 && !AIDS.contains(&self.structure)
    }
}
