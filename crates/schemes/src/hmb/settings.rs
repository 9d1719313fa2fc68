//! The settings of `hmb`.

use ftlab_flash::settings::{Bytes, Duration, Optional};
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// How the device learns what the host knows.
    pub enum HintMode {
        /// The host sends it with every command.
        Hint = "hint",
        /// The device reads the host's memory where its own cache does not know.
        Dma = "dma",
    }
}

choices! {
    /// What the device sends to the host's memory.
    pub enum Upload {
        /// A chunk whenever its translation page was read, and the entry of every write and trim
        /// with the completion: only what collection moves becomes stale.
        OnWrite = "on_write",
        /// Chunks alone: what is written becomes stale too, until it is read.
        OnMiss = "on_miss",
    }
}

choices! {
    /// What a power cut of the device leaves of the host's memory.
    pub enum HostMemory {
        /// Nothing: the host went down too.
        Lost = "lost",
        /// Everything, older than the device or not.
        Kept = "kept",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<HmbSettings>;

settings! {
    /// Settings of `hmb`.
    pub struct HmbSettings in "hmb" {
        /// Host memory for map chunks: none (0), or one chunk at least; auto: the whole map.
        bytes: Optional<Bytes> = Optional(None), legal("", |_| true),
            source("docs/papers/others.md#hmb");
        /// Entries of a chunk, a part of a translation page's; auto: all of them.
        chunk_entries: Optional<u32> = Optional(None),
            legal("auto, or 1..=8192", |v| v.0.is_none_or(|n| (1..=8192).contains(&n))),
            source("open: docs/papers/others.md#hmb");
        /// How the device learns what the host knows.
        mode: HintMode = HintMode::Hint, legal("", |_| true),
            source("SYSTOR 2011; NVMe host memory buffer");
        /// What a hint adds to a command, or a look into the host's memory to a page.
        hint_us: Duration = Duration(1000), legal("0 to 1ms", |v| v.0 <= 1_000_000),
            source("open: docs/papers/others.md#hmb");
        /// What the device sends to the host's memory.
        upload: Upload = Upload::OnWrite, legal("", |_| true), source("docs/papers/others.md#hmb");
        /// What a power cut of the device leaves of the host's memory.
        host_memory: HostMemory = HostMemory::Lost, legal("", |_| true), source("ftlab");
        /// Entries of the device's cache; auto: what device.ram_bytes holds, else 32 KiB.
        cache_entries: Optional<u32> = Optional(None),
            legal("auto, or 2..=536870912", |v| v.0.is_none_or(|n| (2..=1 << 29).contains(&n))),
            source("DFTL 2014, 5.3: 32 KB");
    }
}
