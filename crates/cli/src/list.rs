//! `ftlab list`: what there is. Every list is read from the table that the program itself uses.

use ftlab_engine::buffer::{self, BufferPaper};
use ftlab_engine::config::Config;
use ftlab_engine::host::SchedulerKind;
use ftlab_engine::parts::victim::VictimKind;
use ftlab_engine::schemes::{Family, Row, TABLE};
use ftlab_lab::devices::DEVICES;
use ftlab_lab::reproduce::EXPERIMENTS;
use ftlab_lab::workloads::{WORKLOADS, bundled_file};
use ftlab_lab::{Result, reproduce};
use ftlab_report::derive::json;
use ftlab_trace::formats::FORMATS;
use serde_json::{Map, Value};

use crate::arguments::{ListArguments, Listing};
use crate::print;

/// One list: columns, how many of them the short form shows, and rows.
struct List {
    columns: &'static [&'static str],
    short: usize,
    rows: Vec<Vec<Value>>,
}

/// Prints a list.
pub fn list(typed: &ListArguments) -> Result<()> {
    let list = match typed.what {
        Listing::Schemes => schemes(),
        Listing::Families => families(),
        Listing::Victims => victims(),
        Listing::Buffers => buffers(),
        Listing::Schedulers => schedulers(),
        Listing::Devices => devices()?,
        Listing::Workloads => workloads()?,
        Listing::Formats => formats(),
        Listing::Keys => keys(),
        Listing::Experiments => experiments()?,
    };
    if typed.json {
        let object = |row: &Vec<Value>| {
            let pairs = list.columns.iter().zip(row);
            Value::Object(
                pairs.map(|(name, v)| ((*name).to_owned(), v.clone())).collect::<Map<_, _>>(),
            )
        };
        return print::json(&Value::Array(list.rows.iter().map(object).collect()));
    }
    let shown = if typed.table { list.columns.len() } else { list.short };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    };
    let rows: Vec<Vec<String>> =
        list.rows.iter().map(|row| row.iter().take(shown).map(text).collect()).collect();
    print::table(&list.columns[..shown], &rows)
}

fn schemes() -> List {
    let row = |row: &Row| {
        let paper = &row.paper;
        let presets: Vec<&str> = row.presets.iter().map(|(name, _)| *name).collect();
        vec![
            paper.name.into(),
            paper.family.name().into(),
            paper.year.into(),
            paper.title.into(),
            paper.class.kind.into(),
            paper.class.granularity.into(),
            paper.class.update_blocks.into(),
            paper.class.associativity.into(),
            paper.class.full_merge.into(),
            presets.into(),
            paper.authors.into(),
            paper.venue.into(),
            paper.sections.into(),
            paper.deviations.to_vec().into(),
        ]
    };
    List {
        columns: &[
            "name",
            "family",
            "year",
            "title",
            "kind",
            "granularity",
            "update_blocks",
            "associativity",
            "full_merge",
            "presets",
            "authors",
            "venue",
            "sections",
            "deviations",
        ],
        short: 4,
        rows: TABLE.iter().map(row).collect(),
    }
}

fn families() -> List {
    let members = |family: Family| -> Vec<&str> {
        let of = TABLE.iter().filter(|row| row.paper.family == family);
        of.map(|row| row.paper.name).collect()
    };
    let row = |(family, name): &(Family, &str)| vec![(*name).into(), members(*family).into()];
    // A family without a scheme cannot be chosen, so it is not there.
    let present = Family::ALL.iter().filter(|(family, _)| !members(*family).is_empty());
    List { columns: &["name", "schemes"], short: 2, rows: present.map(row).collect() }
}

fn victims() -> List {
    let rows = VictimKind::ALL.iter().map(|(_, name)| vec![(*name).into()]).collect();
    List { columns: &["name"], short: 1, rows }
}

fn buffers() -> List {
    let row = |paper: &BufferPaper| {
        vec![
            paper.name.into(),
            paper.year.into(),
            paper.leaves.into(),
            paper.title.into(),
            paper.authors.into(),
            paper.venue.into(),
            paper.deviations.to_vec().into(),
        ]
    };
    let columns = &["name", "year", "leaves", "title", "authors", "venue", "deviations"];
    List { columns, short: 3, rows: buffer::TABLE.iter().map(row).collect() }
}

fn schedulers() -> List {
    let row = |(kind, name): &(SchedulerKind, &str)| vec![(*name).into(), kind.about().into()];
    let rows = SchedulerKind::ALL.iter().map(row).collect();
    List { columns: &["name", "about"], short: 2, rows }
}

fn devices() -> Result<List> {
    let mut rows = Vec::new();
    for bundled in DEVICES {
        let device = ftlab_lab::devices::find(bundled.name)?;
        let sizes = &device.config.device;
        rows.push(vec![
            bundled.name.into(),
            device.about.into(),
            (sizes.logical_pages() * sizes.unit_bytes()).into(),
            sizes.physical_blocks().into(),
            sizes.pages_per_block.into(),
            sizes.page_bytes.0.into(),
            device.config.timing.profile.name().into(),
            device.source.into(),
        ]);
    }
    let columns = &[
        "name",
        "about",
        "logical_bytes",
        "blocks",
        "pages_per_block",
        "page_bytes",
        "timing",
        "source",
    ];
    Ok(List { columns, short: 2, rows })
}

fn workloads() -> Result<List> {
    let mut rows = Vec::new();
    for bundled in WORKLOADS {
        let workload = bundled_file(bundled)?;
        let texts = [workload.about, workload.spec, workload.source];
        let mut row: Vec<Value> = vec![bundled.name.into()];
        row.extend(texts.map(Value::from));
        rows.push(row);
    }
    Ok(List { columns: &["name", "about", "spec", "source"], short: 2, rows })
}

fn formats() -> List {
    let row = |format: &ftlab_trace::formats::Format| {
        vec![
            format.name.into(),
            format.columns.into(),
            format.time_unit.name().into(),
            format.size_unit.name().into(),
            format.origin.into(),
        ]
    };
    List {
        columns: &["name", "columns", "time_unit", "size_unit", "origin"],
        short: 4,
        rows: FORMATS.iter().map(row).collect(),
    }
}

fn experiments() -> Result<List> {
    let mut rows = Vec::new();
    for bundled in EXPERIMENTS {
        let experiment = reproduce::find(bundled.name)?;
        rows.push(vec![
            bundled.name.into(),
            experiment.paper.title().into(),
            experiment.item.into(),
            experiment.title.into(),
            experiment.quick.is_some().into(),
            experiment.claims.len().into(),
        ]);
    }
    let columns = &["name", "paper", "item", "title", "quick", "claims"];
    Ok(List { columns, short: 4, rows })
}

fn keys() -> List {
    let described = Config::default().describe();
    let row = |setting: ftlab_engine::config::Described| {
        vec![
            setting.key.into(),
            json(&setting.default),
            setting.legal.into(),
            setting.doc.into(),
            setting.source.into(),
        ]
    };
    List {
        columns: &["key", "default", "legal", "meaning", "source"],
        short: 3,
        rows: described.into_iter().map(row).collect(),
    }
}
