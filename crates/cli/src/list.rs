//! `ftlab list`: what there is. Every list is read from the table that the program itself uses.

use ftlab_engine::buffer::{self, BufferPaper};
use ftlab_engine::config::Config;
use ftlab_engine::host::SchedulerKind;
use ftlab_engine::parts::placement::settings::PlacementSettings;
use ftlab_engine::parts::placement::{Classes, PlacementKind};
use ftlab_engine::parts::victim::VictimKind;
use ftlab_engine::schemes::{Family, Row, TABLE};
use ftlab_lab::devices::DEVICES;
use ftlab_lab::reproduce::EXPERIMENTS;
use ftlab_lab::workloads::{WORKLOADS, bundled_file};
use ftlab_lab::{Error, Result, reproduce};
use ftlab_report::derive::json;
use ftlab_trace::formats::FORMATS;
use serde_json::{Map, Value};

use crate::arguments::{ListArguments, Listing};
use crate::print;

/// One list: columns, the first of which is the name; how many of them the short form shows, and
/// which of them the table, where that is not all; rows.
pub struct List {
    columns: &'static [&'static str],
    short: usize,
    table: Option<&'static [&'static str]>,
    rows: Vec<Vec<Value>>,
}

impl List {
    fn new(columns: &'static [&'static str], short: usize, rows: Vec<Vec<Value>>) -> Self {
        List { columns, short, table: None, rows }
    }

    /// The rows whose name contains `word`; there must be one.
    fn only(mut self, word: &str) -> Result<Self> {
        let names = |row: &Vec<Value>| row[0].as_str().is_some_and(|name| name.contains(word));
        self.rows.retain(names);
        match self.rows.is_empty() {
            true => Err(Error::usage(format!("no {} contains '{word}'", self.columns[0]))),
            false => Ok(self),
        }
    }

    /// Headings and cells of these columns.
    fn cells(&self, columns: &[&'static str]) -> Vec<Vec<String>> {
        let place = |name| self.columns.iter().position(|column| column == name);
        let places: Vec<usize> = columns.iter().filter_map(place).collect();
        self.rows.iter().map(|row| places.iter().map(|&at| text(&row[at])).collect()).collect()
    }

    /// An object per row.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let pairs = self.columns.iter().zip(row);
            Value::Object(
                pairs.map(|(name, v)| ((*name).to_owned(), v.clone())).collect::<Map<_, _>>(),
            )
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

/// A value for people.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

/// Prints a list.
pub fn list(typed: &ListArguments) -> Result<()> {
    let mut list = listed(typed.what)?;
    if let Some(word) = &typed.word {
        list = list.only(word)?;
    }
    if typed.json {
        return print::json(&list.json());
    }
    if typed.table {
        let columns = list.table.unwrap_or(list.columns);
        return print::wrapped(columns, &list.cells(columns));
    }
    if let Listing::Keys = typed.what {
        return print::text(&paragraphs(&list));
    }
    let columns = &list.columns[..list.short];
    print::table(columns, &list.cells(columns))
}

/// A list with all that is known.
pub fn listed(what: Listing) -> Result<List> {
    Ok(match what {
        Listing::Schemes => schemes(),
        Listing::Families => families(),
        Listing::Victims => victims(),
        Listing::Placements => placements(),
        Listing::Buffers => buffers(),
        Listing::Schedulers => schedulers(),
        Listing::Devices => devices()?,
        Listing::Workloads => workloads()?,
        Listing::Formats => formats(),
        Listing::Keys => keys(),
        Listing::Experiments => experiments()?,
    })
}

/// A line `key = default` for each setting, and below it what it means, what is legal and where
/// that comes from.
fn paragraphs(keys: &List) -> String {
    let cells = keys.cells(&["key", "default", "meaning", "legal", "source"]);
    let paragraph = |cells: &Vec<String>| match cells.as_slice() {
        [key, default, meaning, legal, source] => {
            let below = [meaning.clone(), format!("Legal: {legal}"), format!("Source: {source}")];
            let below = below.map(|text| print::indented(&text));
            format!("{key} = {default}\n{}", below.join("\n"))
        }
        other => unreachable!("five columns, not {other:?}"),
    };
    cells.iter().map(paragraph).collect::<Vec<_>>().join("\n\n")
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
        table: Some(&[
            "name",
            "kind",
            "granularity",
            "update_blocks",
            "associativity",
            "full_merge",
            "presets",
        ]),
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
    List::new(&["name", "schemes"], 2, present.map(row).collect())
}

fn victims() -> List {
    let rows = VictimKind::ALL.iter().map(|(_, name)| vec![(*name).into()]).collect();
    List::new(&["name"], 1, rows)
}

fn placements() -> List {
    let row = |&(kind, name): &(PlacementKind, &'static str)| {
        let (classes, settable) = match kind.classes(&PlacementSettings::default()) {
            Classes::Fixed(classes) => (classes, false),
            Classes::Set(classes) => (classes, true),
        };
        vec![name.into(), u32::from(classes).into(), settable.into()]
    };
    let rows = PlacementKind::ALL.iter().map(row).collect();
    List::new(&["name", "classes", "classes_can_be_set"], 3, rows)
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
    List::new(columns, 3, buffer::TABLE.iter().map(row).collect())
}

fn schedulers() -> List {
    let row = |(kind, name): &(SchedulerKind, &str)| vec![(*name).into(), kind.about().into()];
    let rows = SchedulerKind::ALL.iter().map(row).collect();
    List::new(&["name", "about"], 2, rows)
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
    Ok(List::new(columns, 2, rows))
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
    Ok(List::new(&["name", "about", "spec", "source"], 2, rows))
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
    let columns = &["name", "columns", "time_unit", "size_unit", "origin"];
    List::new(columns, 4, FORMATS.iter().map(row).collect())
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
    Ok(List::new(columns, 4, rows))
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
    let columns = &["key", "default", "legal", "meaning", "source"];
    List::new(columns, 5, described.into_iter().map(row).collect())
}
