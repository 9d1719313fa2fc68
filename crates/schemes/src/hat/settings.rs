//! Settings of `hat`.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// When the SMT learns where collection moved a page whose entry the QMT does not hold.
    pub enum SmtUpdate {
        /// As soon as the copy is complete; collection goes on unless the queue is full.
        Parallel = "parallel",
        /// When the victim is moved; its erase waits until the port has taken every entry.
        Foreground = "foreground",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<HatSettings>;

settings! {
    /// Settings of `hat`.
    pub struct HatSettings in "hat" {
        /// Entries of the QMT; auto: what device.ram_bytes holds beside the queue, else 128 KiB.
        qmt_entries: Optional<u32> = Optional(None),
            legal("auto, or 1..=536870912", |v| v.0.is_none_or(|n| (1..=1 << 29).contains(&n))),
            source("HAT 2010, Table 4: controller cache of 128 KB");
        /// Bytes that an entry is counted with: LPN, PPN and the update bit.
        qmt_entry_bytes: u32 = 8, legal("1..=64", |v| (1..=64).contains(v)),
            source("open: docs/papers/hat2010.md; the paper names the fields alone");
        /// Whether a write into a full QMT deletes the tail even when it hits.
        alg1_literal: bool = false, legal("", |_| true),
            source("HAT 2010, Algorithm 1, line 19; III.B says on a miss");
        /// Whether a write that misses reads the SMT, beside everything else, to find the page that
        /// it supersedes; false charges nothing for that.
        write_miss_smt_read: bool = true, legal("", |_| true),
            source("open: docs/papers/hat2010.md#write");
        /// When the SMT learns what collection moved.
        gc_smt_update: SmtUpdate = SmtUpdate::Parallel, legal("", |_| true),
            source("open: docs/papers/hat2010.md#collection");
        /// Writes that the phase-change memory has taken and not done, at most; the next one waits.
        pcm_queue: u32 = 1, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("open: docs/papers/hat2010.md#left-open");
        /// Entries of the SMT, of 4 bytes each, that the phase-change memory programs at once:
        /// neighbours of one aligned unit of so many that are queued together are one write. 1:
        /// each is its own; 16: units of 64 bytes.
        pcm_entries_per_write: u32 = 1,
            legal("1, 2, 4, ... up to 1024", |v| v.is_power_of_two() && *v <= 1024),
            source("HAT 2010, IV.B.2: the update ends with the data's write at 4 to 128 sectors; the \
                    unit is ours");
    }
}
