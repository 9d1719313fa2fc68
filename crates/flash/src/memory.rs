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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dram_is_refreshed_for_the_tables_of_a_scheme_that_are_there() {
        let refreshed =
            |structure, bytes, memory| RamUse { structure, bytes, memory }.is_refreshed();
        assert!(refreshed("page_table", 1, Memory::Dram));
        assert!(!refreshed("page_table", 0, Memory::Dram), "it takes nothing");
        assert!(!refreshed("page_table", 1, Memory::Sram));
        assert!(!refreshed("valid_bitmap", 1, Memory::Dram), "an aid of ours");
        assert!(!refreshed("valid_bitmap", 0, Memory::Sram));
    }

    #[test]
    fn memories_have_names() {
        let names = [Memory::Sram, Memory::Dram, Memory::Pcm, Memory::Host].map(Memory::name);
        assert_eq!(names, ["sram", "dram", "pcm", "host"]);
    }
}
