//! `ftlab ram`: bytes by structure and memory, without a run.

use ftlab_engine::config::Bytes;
use ftlab_report::derive::ram_bytes;
use serde_json::{Value, json};

use crate::arguments::RamArguments;
use crate::devices;
use crate::failure::{Failure, Outcome};
use crate::print;
use crate::selection::{self, Chosen};
use crate::sizing::{self, Capacity};

/// Sizes the device and prints what each scheme's tables take.
pub fn ram(typed: &RamArguments) -> Outcome<()> {
    let device = devices::find(&typed.device.device)?;
    let mut chosen = selection::choose(&typed.schemes, &device.config, &typed.device.set)?;
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
    if typed.json {
        let rows: Vec<Value> = chosen.iter().map(as_json).collect();
        return print::json(&Value::Array(rows));
    }
    let device = &chosen[0].config.device;
    print::text(&format!(
        "{}: {} bytes exported, {} blocks of {} pages of {} bytes\n",
        device.name,
        device.logical_pages() * device.unit_bytes(),
        device.physical_blocks(),
        device.pages_per_block,
        device.page_bytes.0
    ))?;
    let mut rows = Vec::new();
    for one in &chosen {
        let structures = (one.row.ram_use)(&one.config);
        let mut name = one.name.as_str();
        for used in &structures {
            let memory = used.memory.name().to_owned();
            let structure = used.structure.to_owned();
            rows.push(vec![name.to_owned(), structure, memory, used.bytes.to_string()]);
            name = "";
        }
        let ram = ram_bytes(&structures, budget(one));
        for (memory, bytes) in
            [("sram", ram.sram), ("dram", ram.dram), ("pcm", ram.pcm), ("host", ram.host)]
        {
            if bytes > 0 {
                let label = "= together".to_owned();
                rows.push(vec![String::new(), label, memory.to_owned(), bytes.to_string()]);
            }
        }
        if ram.over_budget > 0 {
            let label = "! over device.ram_bytes".to_owned();
            let bytes = ram.over_budget.to_string();
            rows.push(vec![String::new(), label, "sram".to_owned(), bytes]);
        }
    }
    print::table(&["scheme", "structure", "memory", "bytes"], &rows)
}

fn budget(one: &Chosen) -> Option<u64> {
    one.config.device.ram_bytes.0.map(|Bytes(bytes)| bytes)
}

fn as_json(one: &Chosen) -> Value {
    let ram = ram_bytes(&(one.row.ram_use)(&one.config), budget(one));
    json!({ "scheme": one.name, "device": one.config.device.name, "ram_bytes": ram })
}
