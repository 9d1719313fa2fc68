//! `ftlab ram`: bytes by structure and memory, and what the memory costs, without a run.

use ftlab_engine::schemes::Memory;
use ftlab_lab::prices::{Dollars, Prices};
use ftlab_lab::{Result, SchemeMemory};
use ftlab_report::result::RamUse;
use serde_json::{Value, json};

use crate::arguments::RamArguments;
use crate::conversion;
use crate::print;

/// Sizes the device and prints what each scheme's tables take.
pub fn ram(typed: &RamArguments) -> Result<()> {
    let found = conversion::device(&typed.schemes, &typed.device)?.memory()?;
    for (scheme, reason) in &found.refused {
        print::note(&format!("left out: {scheme} ({reason})"));
    }
    let all = found.schemes;
    let prices = Prices::find(typed.prices.as_deref())?;
    if typed.json {
        let rows: Vec<Value> = all.iter().map(|one| as_json(one, &prices)).collect();
        return print::json(&Value::Array(rows));
    }
    print_device(&all[0], &prices)?;
    let rows: Vec<Vec<String>> = all.iter().flat_map(|one| rows(one, &prices)).collect();
    print::table(&["scheme", "structure", "memory", "bytes", "cost"], &rows)
}

fn print_device(one: &SchemeMemory, prices: &Prices) -> Result<()> {
    let device = &one.config.device;
    let flash = prices.flash(one.flash_bytes());
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
fn rows(one: &SchemeMemory, prices: &Prices) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut add = |label: &str, memory: &str, bytes: String, cost: String| {
        let name = if rows.is_empty() { one.scheme.clone() } else { String::new() };
        rows.push(vec![name, label.to_owned(), memory.to_owned(), bytes, cost]);
    };
    for used in &one.structures {
        add(used.structure, used.memory.name(), used.bytes.to_string(), String::new());
    }
    let ram = &one.ram_bytes;
    let cost = prices.cost(&by_memory(ram));
    for (memory, bytes) in by_memory(ram).into_iter().filter(|(_, bytes)| *bytes > 0) {
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

fn as_json(one: &SchemeMemory, prices: &Prices) -> Value {
    let ram = &one.ram_bytes;
    json!({
        "scheme": one.scheme,
        "device": one.config.device.name,
        "ram_bytes": ram,
        "cost_dollars": prices.cost(&by_memory(ram)).json(),
        "flash_bytes": one.flash_bytes(),
        "flash_cost_dollars": prices.flash(one.flash_bytes()).map(Dollars::json),
        "prices": prices.source,
    })
}
