//! The page of an experiment: its question, every claim with what its numbers are, pictures and
//! tables, what the paper leaves open, and the runs; and the page of a paper's worlds.

use serde::Serialize;

use super::rows::{From, Row, Sides, address, rows};
use super::worlds::{PaperWorlds, Statement, World};
use super::{Claim, Experiment, Figure, Reproduction, Run, VERDICTS, Verdict, shown};
use crate::format::{NOT_APPLICABLE, Quantity, count};
use crate::writers::page::{self, Charts, Kind};

/// What draws charts is one file for all pages.
const SHARED: &str = "plotly.js";

const PAGE: Kind = Kind {
    template: include_str!("../../assets/experiment.html"),
    extends: Some(("worlds.html", include_str!("../../assets/worlds.html"))),
    charts: Charts::Beside("../plotly.js", &[include_str!("../../assets/reproduction.js")]),
    after: &[include_str!("../../assets/claims.js")],
};

const WORLDS: Kind = Kind {
    template: include_str!("../../assets/paper_worlds.html"),
    extends: Some(("worlds.html", include_str!("../../assets/worlds.html"))),
    charts: Charts::None,
    after: &[],
};

/// Explanations of more claims than these are behind a disclosure, so that the page stays short.
const EXPLAINED_MAX: usize = 40;
/// More measured numbers of one claim than these are too, on a short page and on a long one.
const NUMBERS_MAX: [usize; 2] = [6, 2];

/// What the pages share.
pub fn shared() -> (String, Vec<u8>) {
    (SHARED.to_owned(), page::plotly().into_bytes())
}

/// The page of an experiment, by its place.
///
/// # Panics
/// Never: a reproduction has string keys only.
pub fn experiment(of: &Reproduction, at: usize) -> (String, Vec<u8>) {
    let one = &of.experiments[at];
    let from = From::Experiment(&one.name);
    let claims: Vec<&Claim> =
        of.claims.iter().filter(|claim| claim.experiment == one.name).collect();
    let embedded = Embedded {
        schema: of.schema,
        version: &of.version,
        quick: of.quick,
        trace_dir: of.trace_dir,
        claims: &claims,
        experiments: [one],
    };
    let json = serde_json::to_vec(&embedded).expect("a reproduction has string keys only");
    let neighbour = |at: Option<usize>| {
        let other = of.experiments.get(at?)?;
        Some((from.to(&other.name), format!("{}, {}", other.paper, other.item)))
    };
    let worlds = worlds_of(of, one, &claims);
    let (tables, _): (Vec<&Figure>, Vec<&Figure>) =
        one.figures.iter().partition(|figure| figure.form == "table");
    let own = Own {
        version: &of.version,
        quick: of.quick,
        previous: neighbour(at.checked_sub(1)),
        next: neighbour(Some(at + 1)),
        place: at + 1,
        all: of.experiments.len(),
        one,
        verdicts: VERDICTS.map(|verdict| {
            let number = claims.iter().filter(|claim| claim.verdict == verdict).count();
            (verdict, verdict.words(), number)
        }),
        sides: Sides::of(of),
        explained: claims.len() <= EXPLAINED_MAX,
        numbers_max: NUMBERS_MAX[usize::from(claims.len() > EXPLAINED_MAX)],
        claims: rows(of, claims.iter().copied(), from),
        rows: one.runs.iter().map(run_row).collect(),
        tables: tables.into_iter().map(number_table).collect(),
        worlds,
    };
    let title = format!("{}: {}", one.item, one.title);
    (format!("{}/report.html", one.name), page::render(&PAGE, &title, &json, &own))
}

/// The page of a paper's worlds.
///
/// # Panics
/// Never: worlds have string keys only.
pub fn worlds(of: &Reproduction, worlds: &PaperWorlds) -> (String, Vec<u8>) {
    let json = serde_json::to_vec(worlds).expect("worlds have string keys only");
    let known = of.claims.iter().find(|claim| claim.paper == worlds.paper);
    let title = known.map_or(worlds.paper.as_str(), |claim| &claim.paper_title);
    let own = OfPaper { version: &of.version, worlds: picture(of, worlds, From::Folder, |_| true) };
    let title = format!("{title}: what depends on what it leaves open");
    (format!("worlds/{}.html", worlds.paper), page::render(&WORLDS, &title, &json, &own))
}

/// What the scripts read.
#[derive(Serialize)]
struct Embedded<'a> {
    schema: &'static str,
    version: &'a str,
    quick: bool,
    trace_dir: bool,
    claims: &'a [&'a Claim],
    experiments: [&'a Experiment; 1],
}

#[derive(Serialize)]
struct Own<'a> {
    version: &'a str,
    quick: bool,
    previous: Option<(String, String)>,
    next: Option<(String, String)>,
    place: usize,
    all: usize,
    one: &'a Experiment,
    verdicts: [(Verdict, &'static str, usize); 3],
    sides: Sides,
    /// Whether explanations are short enough together to be shown.
    explained: bool,
    numbers_max: usize,
    claims: Vec<Row<'a>>,
    rows: Vec<RunRow<'a>>,
    tables: Vec<NumberTable<'a>>,
    worlds: Option<Picture<'a>>,
}

#[derive(Serialize)]
struct OfPaper<'a> {
    version: &'a str,
    worlds: Picture<'a>,
}

/// Statements by world.
#[derive(Serialize)]
struct Picture<'a> {
    /// Where the whole paper's is.
    href: String,
    worlds: &'a [World],
    rows: Vec<WorldRow<'a>>,
    /// Choice, and the candidate in each world.
    choices: Vec<(&'a str, Vec<&'a str>)>,
}

#[derive(Serialize)]
struct WorldRow<'a> {
    #[serde(flatten)]
    statement: &'a Statement,
    href: Option<String>,
    hold: usize,
    of: usize,
}

fn picture<'a>(
    of: &Reproduction,
    worlds: &'a PaperWorlds,
    from: From<'_>,
    wanted: impl Fn(&str) -> bool,
) -> Picture<'a> {
    let row = |statement: &'a Statement| WorldRow {
        statement,
        href: address(of, &statement.claim, from),
        hold: statement.outcomes.iter().filter(|outcome| **outcome == Some(true)).count(),
        of: statement.outcomes.iter().flatten().count(),
    };
    let rows = worlds.statements.iter().filter(|statement| wanted(&statement.claim));
    Picture {
        href: format!("../worlds/{}.html", worlds.paper),
        worlds: &worlds.worlds,
        rows: rows.map(row).collect(),
        choices: choices(worlds),
    }
}

fn worlds_of<'a>(of: &'a Reproduction, one: &Experiment, claims: &[&Claim]) -> Option<Picture<'a>> {
    let paper = &claims.first()?.paper;
    let worlds = of.worlds.iter().find(|worlds| worlds.paper == *paper)?;
    let own = |name: &str| claims.iter().any(|claim| claim.name == name);
    let picture = picture(of, worlds, From::Experiment(&one.name), own);
    (!picture.rows.is_empty()).then_some(picture)
}

fn choices(of: &PaperWorlds) -> Vec<(&str, Vec<&str>)> {
    let of_world =
        |place: usize| of.worlds.iter().map(move |world| world.choices[place].1.as_str()).collect();
    let names = of.worlds.first().map_or(&[][..], |world| &world.choices);
    names.iter().enumerate().map(|(place, (name, _))| (name.as_str(), of_world(place))).collect()
}

#[derive(Serialize)]
struct RunRow<'a> {
    #[serde(flatten)]
    run: &'a Run,
    cells: Vec<String>,
}

fn run_row(run: &Run) -> RunRow<'_> {
    let text = |value: Option<f64>, quantity: Quantity| {
        value.map_or_else(|| NOT_APPLICABLE.to_owned(), |value| quantity.format(value))
    };
    let whole = |value: Option<u64>| value.map_or_else(|| NOT_APPLICABLE.to_owned(), count);
    let cells = vec![
        whole(run.requests),
        text(run.response_ns_mean, Quantity::Nanoseconds),
        text(run.response_ns_p99.map(|time| time as f64), Quantity::Nanoseconds),
        text(run.service_ns.map(|time| time as f64), Quantity::Nanoseconds),
        text(run.waf, Quantity::Ratio),
        whole(run.erases),
        text(run.energy_uj, Quantity::Microjoules),
    ];
    RunRow { run, cells }
}

/// A figure without a picture: measured and published beside each other.
#[derive(Serialize)]
struct NumberTable<'a> {
    title: &'a str,
    note: Option<&'a str>,
    y: &'a str,
    series: &'a [String],
    /// Whether something of a series is printed.
    printed: Vec<bool>,
    rows: Vec<(String, Vec<Cell>)>,
}

#[derive(Serialize)]
struct Cell {
    measured: String,
    published: String,
}

fn number_table(figure: &Figure) -> NumberTable<'_> {
    let cell = |group: usize, series: usize| {
        let published = figure.published[group][series].map(serde_json::Value::from);
        Cell {
            measured: shown(&figure.values[group][series], None),
            published: shown(&published.unwrap_or_default(), None),
        }
    };
    let row = |group: usize| {
        let cells = (0..figure.series.len()).map(|series| cell(group, series)).collect();
        (shown(&figure.groups[group], None), cells)
    };
    let printed = |series: usize| figure.published.iter().any(|row| row[series].is_some());
    NumberTable {
        title: &figure.title,
        note: figure.note.as_deref(),
        y: &figure.y,
        series: &figure.series,
        printed: (0..figure.series.len()).map(printed).collect(),
        rows: (0..figure.groups.len()).map(row).collect(),
    }
}
