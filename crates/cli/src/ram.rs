//! `ftlab ram`: bytes by structure and memory, and what the memory costs, without a run.

use ftlab_engine::config::Bytes;
use ftlab_engine::schemes::Memory;
use ftlab_report::derive::ram_bytes;
use ftlab_report::result::RamUse;
use serde_json::{Value, json};

use crate::arguments::RamArguments;
use crate::devices;
use crate::failure::{Failure, Outcome};
use crate::prices::{Dollars, Prices};
use crate::print;
use crate::selection::{self, Chosen};
use crate::sizing::{self, Capacity};

/// Sizes the device and prints what each scheme's tables take.
pub fn ram(typed: &RamArguments) -> Outcome<()> {
    let device = devices::find(&typed.device.device)?;
    let mut chosen =
        selection::choose(&typed.schemes, &device.config, &selection::overrides(&typed.device)?)?;
    match Capacity::parse(typed.device.capacity.as_deref())? {
        Capacity::Device => {}
        Capacity::Bytes(bytes) => sizing::resize(&mut chosen, bytes)?,
        Capacity::Auto => {
            return Err(Failure::usage(
                "--capacity auto needs a workload, and `ftlab ram` has none; legal: bytes",
            ));
        }
    }
    for one in &chosen {
        one.config.check()?;
        (one.row.check)(&one.config).map_err(|error| Failure::unsuited(&one.name, &error))?;
    }
    let prices = Prices::find(typed.prices.as_deref())?;
    if typed.json {
        let rows: Vec<Value> = chosen.iter().map(|one| as_json(one, &prices)).collect();
        return print::json(&Value::Array(rows));
    }
    print_device(&chosen[0], &prices)?;
    let rows: Vec<Vec<String>> = chosen.iter().flat_map(|one| rows(one, &prices)).collect();
    print::table(&["scheme", "structure", "memory", "bytes", "cost"], &rows)
}

fn print_device(one: &Chosen, prices: &Prices) -> Outcome<()> {
    let device = &one.config.device;
    let flash = prices.flash(flash_bytes(one));
    print::text(&format!(
        "{}: {} bytes exported, {} blocks of {} pages of {} bytes{}\nprices: {}\n",
        device.name,
        device.logical_pages() * device.unit_bytes(),
        device.physical_blocks(),
        device.pages_per_block,
        device.page_bytes.0,
        flash.map_or(String::new(), |dollars| format!("; flash {}", dollars.text())),
        prices.source
    ))
}

/// A row per structure and per memory, and what they cost.
fn rows(one: &Chosen, prices: &Prices) -> Vec<Vec<String>> {
    let structures = (one.row.ram_use)(&one.config);
    let mut rows = Vec::new();
    let mut add = |label: &str, memory: &str, bytes: String, cost: String| {
        let name = if rows.is_empty() { one.name.clone() } else { String::new() };
        rows.push(vec![name, label.to_owned(), memory.to_owned(), bytes, cost]);
    };
    for used in &structures {
        add(used.structure, used.memory.name(), used.bytes.to_string(), String::new());
    }
    let ram = ram_bytes(&structures, budget(one));
    let cost = prices.cost(&by_memory(&ram));
    for (memory, bytes) in by_memory(&ram).into_iter().filter(|(_, bytes)| *bytes > 0) {
        let priced = cost.priced.iter().find(|(priced, _)| *priced == memory);
        let dollars = priced.map_or("no price".to_owned(), |(_, dollars)| dollars.text());
        add("= together", memory.name(), bytes.to_string(), dollars);
    }
    if cost.priced.len() > 1 {
        let label = if cost.unpriced.is_empty() { "= in all" } else { "= all with a price" };
        add(label, "", String::new(), cost.total().text());
    }
    if ram.over_budget > 0 {
        add("! over device.ram_bytes", "sram", ram.over_budget.to_string(), String::new());
    }
    rows
}

fn by_memory(ram: &RamUse) -> [(Memory, u64); 4] {
    [
        (Memory::Sram, ram.sram),
        (Memory::Dram, ram.dram),
        (Memory::Pcm, ram.pcm),
        (Memory::Host, ram.host),
    ]
}

fn flash_bytes(one: &Chosen) -> u64 {
    let device = &one.config.device;
    device.physical_blocks() * u64::from(device.pages_per_block) * device.page_bytes.0
}

fn budget(one: &Chosen) -> Option<u64> {
    one.config.device.ram_bytes.0.map(|Bytes(bytes)| bytes)
}

fn as_json(one: &Chosen, prices: &Prices) -> Value {
    let ram = ram_bytes(&(one.row.ram_use)(&one.config), budget(one));
    json!({
        "scheme": one.name,
        "device": one.config.device.name,
        "ram_bytes": ram,
        "cost_dollars": prices.cost(&by_memory(&ram)).json(),
        "flash_bytes": flash_bytes(one),
        "flash_cost_dollars": prices.flash(flash_bytes(one)).map(Dollars::json),
        "prices": prices.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(scheme: &str, capacity: u64, structure: &str) -> u64 {
        let device = devices::find("ssdsim2010").unwrap();
        let mut chosen = selection::choose(scheme, &device.config, &[]).unwrap();
        sizing::resize(&mut chosen, capacity).unwrap();
        let used = (chosen[0].row.ram_use)(&chosen[0].config);
        used.iter().find(|used| used.structure == structure).unwrap().bytes
    }

    /// Pages of 2 KiB, entries of 4 bytes. DFTL 2014, section 2: 32 MB for 16 GB; HAT 2010, section
    /// II: 512 MB for 256 GB.
    #[test]
    fn tables_have_the_sizes_that_the_papers_print() {
        let sizes = |capacity: u64| {
            (structure("ideal_page", capacity, "page_table"), structure("dftl", capacity, "gtd"))
        };
        assert_eq!(sizes(1 << 30), (2 << 20, 4 << 10));
        assert_eq!(sizes(16 << 30), (32 << 20, 64 << 10));
        assert_eq!(sizes(256 << 30), (512 << 20, 1 << 20));
    }
}
