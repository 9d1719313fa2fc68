//! How large the device is, and how much memory its controller has.
//!
//! All compared schemes get the same physical and logical capacity: over-provisioning as set, yet
//! as many blocks as the scheme that needs most.

use ftlab_engine::config::Optional;
use ftlab_engine::schemes::{Memory, RamUse};

use crate::error::{Error, Result};
use crate::options::ram::Ram;
use crate::options::settings::Settings;
use crate::selection::{self, Chosen};

/// Memory of this machine for a page that is in use: its state, its map entries and its share of
/// its block, rounded up.
pub const BYTES_PER_PAGE: u64 = 48;

/// Sizes the devices of all schemes alike for `exported` bytes.
pub fn resize(chosen: &mut [Chosen], exported: u64) -> Result<()> {
    let Some(device) = chosen.first().map(|one| &one.config.device) else {
        return Ok(());
    };
    let most = (u64::from(u32::MAX) as f64 / (1.0 + device.over_provisioning.0)) as u64;
    let pages = exported.div_ceil(device.unit_bytes());
    if pages > most {
        return Err(Error::usage(format!(
            "a capacity of {exported} bytes is too large: with pages of {} bytes and \
             {:.1} % to spare at most {} bytes are possible; use larger pages",
            device.unit_bytes(),
            100.0 * device.over_provisioning.0,
            most * device.unit_bytes()
        )));
    }
    // What a scheme needs can grow with the device that it is given.
    const ROUNDS: usize = 16;
    let mut needed = 0;
    for _ in 0..ROUNDS {
        for one in chosen.iter_mut() {
            one.config.device.set_capacity(exported, needed);
            one.config.check()?;
        }
        let wanted = chosen.iter().map(|one| (one.row.minimum_blocks)(&one.config)).max();
        let wanted = wanted.unwrap_or(0);
        let usable = chosen[0].config.usable_blocks();
        if wanted <= usable {
            return Ok(());
        }
        // Blocks that are bad from the start come on top.
        needed = wanted + chosen[0].config.device.physical_blocks() - usable;
    }
    Err(Error::usage(format!(
        "no device of {exported} bytes satisfies the schemes: they need {needed} blocks and more"
    )))
}

/// Whether the address space holds what flash and map keep of every page. It costs no memory, as
/// nothing is written there.
pub fn check_memory(one: &Chosen) -> Result<()> {
    /// Of a page: the record of the flash, and the widest entry of a map.
    const BYTES_PER_PAGE: [u64; 2] = [16, 8];
    let device = &one.config.device;
    let pages = device.physical_blocks() * u64::from(device.units_per_block());
    let mut held: Vec<Vec<u8>> = Vec::with_capacity(BYTES_PER_PAGE.len());
    for bytes in BYTES_PER_PAGE {
        let mut array = Vec::new();
        let wanted = usize::try_from(pages * bytes).unwrap_or(usize::MAX);
        if array.try_reserve_exact(wanted).is_err() {
            return Err(Error::usage(format!(
                "this machine has no memory for the state of a device of {} bytes ({pages} pages \
                 with the spare ones, {} bytes each and more); legal: a smaller capacity, or larger \
                 pages",
                device.logical_pages() * device.unit_bytes(),
                BYTES_PER_PAGE.iter().sum::<u64>()
            )));
        }
        // Else a compiler may find out that nobody uses it.
        held.push(std::hint::black_box(array));
    }
    Ok(())
}

/// SRAM that `structures` take.
pub fn sram(structures: &[RamUse]) -> u64 {
    structures.iter().filter(|used| used.memory == Memory::Sram).map(|used| used.bytes).sum()
}

/// The budget that `--ram` names, for devices that are sized already.
pub fn budget(ram: &Ram, chosen: &[Chosen], set: &Settings) -> Result<u64> {
    let like = match ram {
        Ram::Bytes(bytes) => return Ok(*bytes),
        Ram::Like(like) => like,
    };
    let (name, structure) = match like.split_once('.') {
        Some((name, structure)) => (name, Some(structure)),
        None => (like.as_str(), None),
    };
    // The model runs under the same device, but need not be among those that run: overrides of
    // other schemes and of the workload do not concern it.
    let base = name.split(':').next().unwrap_or_default();
    let own = |text: &&String| {
        let group = text.trim().split('.').next().unwrap_or_default();
        if group == "workload" {
            return false;
        }
        group == base || ftlab_engine::schemes::TABLE.iter().all(|row| row.paper.name != group)
    };
    let overrides: Vec<String> = set.as_slice().iter().filter(own).cloned().collect();
    let mut device = chosen[0].config.clone();
    device.device.ram_bytes = Optional(None);
    let model = selection::choose(&name.into(), &device, &overrides)?.remove(0);
    let structures = (model.row.ram_use)(&model.config);
    let found = match structure {
        None => sram(&structures),
        Some(wanted) => {
            let names: Vec<&str> = structures.iter().map(|used| used.structure).collect();
            let used = structures.iter().find(|used| used.structure == wanted);
            used.ok_or_else(|| Error::unknown(&format!("structure of {name}"), wanted, &names))?
                .bytes
        }
    };
    match found {
        0 => {
            let names: Vec<&str> = structures.iter().map(|used| used.structure).collect();
            Err(Error::usage(format!(
                "--ram {ram}: {like} takes no SRAM; legal: bytes, or like:{name}.STRUCTURE with \
                 one of {}",
                names.join(", ")
            )))
        }
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_engine::config::Config;

    #[test]
    fn schemes_that_need_more_blocks_enlarge_the_device_of_all() {
        let mut chosen = selection::choose(&"all".into(), &Config::default(), &[]).unwrap();
        resize(&mut chosen, 1 << 20).unwrap();
        let blocks: Vec<u64> =
            chosen.iter().map(|one| one.config.device.physical_blocks()).collect();
        assert!(blocks.iter().all(|count| *count == blocks[0]), "{blocks:?}");
        for one in &chosen {
            assert!((one.row.minimum_blocks)(&one.config) <= blocks[0], "{}", one.name);
            assert_eq!(one.config.device.logical_pages(), 512, "{}", one.name);
        }
    }

    #[test]
    fn bad_blocks_come_on_top_of_what_schemes_need() {
        let mut config = Config::default();
        config.set("nand.factory_bad_rate", "0.25").unwrap();
        let mut chosen = selection::choose(&"all".into(), &config, &[]).unwrap();
        resize(&mut chosen, 1 << 20).unwrap();
        for one in &chosen {
            assert!((one.row.minimum_blocks)(&one.config) <= one.config.usable_blocks());
            assert!((one.row.open)(&one.config, 1).is_ok(), "{}", one.name);
        }
    }

    #[test]
    fn capacities_beyond_32_bit_page_numbers_are_refused_with_the_limit() {
        let mut chosen = selection::choose(&"ideal_page".into(), &Config::default(), &[]).unwrap();
        let refusal = resize(&mut chosen, 1 << 60).unwrap_err().to_string();
        assert!(refusal.contains("at most") && refusal.contains("larger pages"), "{refusal}");
        resize(&mut chosen, 1 << 40).unwrap();
    }

    #[test]
    fn a_budget_can_follow_another_scheme() {
        let chosen = selection::choose(&"ideal_page".into(), &Config::default(), &[]).unwrap();
        let with = |text: &str, set: &[&str]| {
            budget(&text.parse()?, &chosen, &set.iter().copied().collect())
        };
        let budget = |text: &str| with(text, &[]);
        let cmt = budget("like:dftl.cmt").unwrap();
        assert_eq!(cmt, 8192 * 4);
        let smaller = ["dftl.cmt_entries=100"];
        assert_eq!(with("like:dftl.cmt", &smaller).unwrap(), 400);
        assert!(budget("like:dftl.cnt").unwrap_err().to_string().contains("'cmt'"));
        assert_eq!(budget("32KiB").unwrap(), 32768);
        // One entry of 4 bytes for each of the 992 logical blocks of the default device.
        assert_eq!(budget("like:fast.block_table").unwrap(), 4 * 992);
        assert_eq!(budget("like:ideal_page.page_table").unwrap(), 4 * 992 * 64);
        let fast = budget("like:fast").unwrap();
        assert!(fast > 4 * 992 && budget("like:faster").unwrap() >= fast);
        let refusal = |text: &str| budget(text).unwrap_err().to_string();
        assert!(refusal("like:fast.blocktable").contains("'block_table'"));
        assert!(refusal("like:ideal_page").contains("page_table, valid_counts"));
        let preset = ["dftl.cmt_entries=100"];
        assert_eq!(with("like:dftl:gtd.cmt", &preset).unwrap(), 400);
        assert!(budget("0").is_err() && budget("-1").is_err());
    }
}
