//! The claims as Markdown, for documentation, and as text, for the terminal.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, TableStyle, presets};

use super::{Claim, Reproduction, Verdict, shown};

/// What was reproduced, paper by paper, and the headline claims, as a Markdown document; the claims
/// themselves stand on a page per paper ([`paper_markdown`]).
#[must_use]
pub fn claims_markdown(of: &Reproduction) -> String {
    let workloads = match of.trace_dir {
        true => {
            "Real traces were used where they were given, and synthetic stand-ins, fitted to the \
             statistics that the papers print, elsewhere: the report says which run had which"
        }
        false => {
            "Workloads are synthetic stand-ins, fitted to the statistics that the papers print, or \
             synthetic as in the paper"
        }
    };
    let mut text = format!(
        "# What the papers claim, and what ftlab measures\n\n\
         Written by `ftlab reproduce` {}{}. {workloads}.\n",
        of.version,
        if of.quick { " --quick (shortened runs)" } else { "" },
    );
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n## Printed statements\n\nEach statement of a paper is counted once; what is ours \
         (ablations, arithmetic, contradictions) is not. *Literally*: what the paper leaves open is \
         read to the letter. *Best*: the one reading that is best for the whole paper. *Targets*: \
         numbers that a fitted choice of the best reading was set to meet; that they are met is no \
         finding, and they are in none of the counts behind them. *Some*, *none*: judged in \
         worlds of plausible readings and seeds, whose runs may be shorter. A magnitude counts \
         where it is within its tolerance, on stand-ins unless real traces were given.\n\n{}\n",
        papers_table(of, presets::ASCII_MARKDOWN),
    );
    let headlines: Vec<&Claim> = of.claims.iter().filter(|claim| claim.headline).collect();
    if !headlines.is_empty() {
        let _ = write!(text, "\n## Headline claims\n\n{}", rows(&headlines));
    }
    let _ = write!(text, "\n## The claims, paper by paper\n\n");
    for (paper, title) in papers_of(of) {
        let own = of.claims.iter().filter(|claim| claim.paper == paper);
        let printed = own.clone().filter(|claim| claim.printed).count();
        let ours = own.count() - printed;
        let _ = writeln!(
            text,
            "- [{title}](claims/{paper}.md): {printed} printed statements, {ours} claims of ours"
        );
    }
    let _ = write!(
        text,
        "\n{} claims of {} experiments; {}.\n",
        of.claims.len(),
        of.experiments.len(),
        of.outcomes()
    );
    text
}

/// Papers that have claims, with their titles.
fn papers_of(of: &Reproduction) -> Vec<(&str, &str)> {
    let mut papers: Vec<(&str, &str)> = Vec::new();
    for claim in &of.claims {
        if !papers.iter().any(|(known, _)| *known == claim.paper) {
            papers.push((&claim.paper, &claim.paper_title));
        }
    }
    papers
}

/// A page per paper, by the paper's short name: what it prints, then what is ours, in short rows;
/// the explanations stand behind them.
#[must_use]
pub fn paper_markdown(of: &Reproduction) -> Vec<(String, String)> {
    papers_of(of)
        .into_iter()
        .map(|(paper, title)| (paper.to_owned(), page(of, paper, title)))
        .collect()
}

fn page(of: &Reproduction, paper: &str, title: &str) -> String {
    let mut text = format!("# {title}\n\nPart of [what the papers claim](../claims.md).\n");
    let own = |printed: bool| -> Vec<&Claim> {
        let same = |claim: &&Claim| claim.paper == paper && claim.printed == printed;
        of.claims.iter().filter(same).collect()
    };
    for (heading, claims) in [
        ("What the paper prints", own(true)),
        ("Ours: ablations, arithmetic, contradictions", own(false)),
    ] {
        if claims.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {heading}\n");
        for experiment in &of.experiments {
            let rows_of: Vec<&Claim> =
                claims.iter().copied().filter(|one| one.experiment == experiment.name).collect();
            if !rows_of.is_empty() {
                let heading = format!("{}: {}", experiment.item, experiment.title);
                let _ = write!(text, "\n### {heading}\n\n{}", rows(&rows_of));
            }
        }
    }
    let explained = |claim: &&Claim| {
        claim.paper == paper && !(claim.explanation.is_empty() && claim.supported_by.is_empty())
    };
    let _ = write!(text, "\n## Explanations\n");
    for claim in of.claims.iter().filter(explained) {
        let _ =
            write!(text, "\n**`{}`** ({}). {}\n", claim.name, claim.source, explanation(claim, of));
    }
    text
}

/// Short rows of claims.
fn rows(claims: &[&Claim]) -> String {
    let with_worlds = claims.iter().any(|claim| claim.worlds.is_some());
    let sides = Sides::of(claims.iter().copied());
    let mut head = vec!["claim", "published", "measured", "ratio"];
    head.extend(sides.names());
    if with_worlds {
        head.push("worlds");
    }
    let line = |cells: &[String]| {
        let escaped = cells.iter().map(|cell| cell.replace('|', r"\|").replace('\n', " "));
        format!("| {} |\n", escaped.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&head.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    text += &format!("|{}\n", "---|".repeat(head.len()));
    for claim in claims {
        let [published, measured, ratio] = numbers(claim);
        let contradicted = match &claim.contradicted_by {
            Some(by) => format!("; contradicted by `{by}`"),
            None => String::new(),
        };
        let target = if claim.target { "; target of a fit" } else { "" };
        let mut cells = vec![
            format!("{} (`{}`; {}{contradicted}{target})", claim.text, claim.name, claim.kind),
            published,
            measured,
            ratio,
        ];
        cells.extend(sides.words(claim));
        if with_worlds {
            let worlds = claim.worlds.as_ref();
            cells.push(worlds.map_or_else(String::new, |worlds| worlds.decided_by.clone()));
        }
        text += &line(&cells);
    }
    text
}

/// Under which readings claims were judged.
struct Sides {
    literal: bool,
    best: bool,
}

impl Sides {
    fn of<'a>(claims: impl Iterator<Item = &'a Claim> + Clone) -> Self {
        Sides {
            literal: claims.clone().any(|claim| claim.verdicts.literal.is_some()),
            best: claims.clone().any(|claim| claim.verdicts.best.is_some()),
        }
    }

    fn names(&self) -> Vec<&'static str> {
        match (self.literal, self.best) {
            (true, true) => vec!["literally", "best"],
            (true, false) => vec!["literally"],
            (false, true) => vec!["best"],
            (false, false) => vec!["verdict"],
        }
    }

    fn words(&self, claim: &Claim) -> Vec<String> {
        let mut words = Vec::new();
        if self.literal {
            words.push(outcome(claim.verdicts.literal, claim.near.literal).to_owned());
        }
        if self.best {
            words.push(outcome(claim.verdicts.best, claim.near.best).to_owned());
        }
        if words.is_empty() {
            words.push(claim.verdict.words().to_owned());
        }
        words
    }
}

/// A verdict; where there is none, whether the numbers are near.
pub(super) fn outcome(verdict: Option<Verdict>, near: Option<bool>) -> &'static str {
    match (verdict, near) {
        (None, _) => "–",
        (Some(Verdict::NotJudged), Some(true)) => "near, not judged",
        (Some(Verdict::NotJudged), Some(false)) => "far, not judged",
        (Some(verdict), _) => verdict.words(),
    }
}

/// Columns of [`papers_table`].
const PAPERS_HEAD: [&str; 10] = [
    "paper",
    "kind",
    "printed",
    "contradicted",
    "targets",
    "literally",
    "best",
    "some",
    "none",
    "worlds",
];

/// Printed statements by paper.
fn papers_table(of: &Reproduction, style: TableStyle) -> Table {
    let mut table = Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(PAPERS_HEAD);
    for paper in of.papers() {
        for (kind, tally) in &paper.kinds {
            let count =
                |value: Option<usize>| value.map_or_else(|| "–".to_owned(), |n| n.to_string());
            table.add_row([
                paper.paper.clone(),
                (*kind).to_owned(),
                tally.printed.to_string(),
                tally.contradicted.to_string(),
                tally.targets.to_string(),
                count(tally.literal),
                count(tally.best),
                count(tally.some),
                count(tally.none),
                paper.worlds.to_string(),
            ]);
        }
    }
    table
}

/// With the values of the claims that support it.
fn explanation(claim: &Claim, of: &Reproduction) -> String {
    let support = claim.supported_by.iter().map(|name| support_words(name, of));
    std::iter::once(claim.explanation.clone()).chain(support).collect::<Vec<_>>().join(" ")
}

/// A claim that supports an explanation: its name, and what was measured.
pub(super) fn support_words(name: &str, of: &Reproduction) -> String {
    match of.claims.iter().find(|claim| claim.name == name) {
        Some(claim) => {
            format!("[{name}: {}]", shown(&claim.measured, claim.unit.as_deref()))
        }
        None => format!("[{name}: not part of this reproduction]"),
    }
}

fn numbers(claim: &Claim) -> [String; 3] {
    let unit = claim.unit.as_deref();
    let published = match &claim.tolerance {
        Some(tolerance) if claim.published.is_number() => {
            format!("{} ({tolerance})", shown(&claim.published, unit))
        }
        _ => shown(&claim.published, unit),
    };
    let ratio = claim.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
    [published, shown(&claim.measured, unit), ratio]
}

/// The printed statements by paper, the headline claims as a table, and the tally of all.
#[must_use]
pub fn claims_text(of: &Reproduction) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let sides = Sides::of(of.claims.iter());
    let mut head = vec!["claim", "published", "measured", "ratio"];
    head.extend(sides.names());
    table.set_header(head);
    let headlines = of.claims.iter().filter(|claim| claim.headline);
    let mut any = false;
    for claim in headlines {
        let [published, measured, ratio] = numbers(claim);
        let mut row = vec![claim.name.clone(), published, measured, ratio];
        row.extend(sides.words(claim));
        table.add_row(row);
        any = true;
    }
    let mut text = String::new();
    if of.claims.iter().any(|claim| claim.printed) {
        text += &format!(
            "Statements that papers print\n{}\n\n",
            lines(&papers_table(of, presets::NOTHING))
        );
    }
    if any {
        text += &format!("Headline claims\n{}\n\n", lines(&table));
    }
    text + &format!(
        "{} claims of {} experiments; {}.",
        of.claims.len(),
        of.experiments.len(),
        of.outcomes()
    )
}

fn lines(table: &Table) -> String {
    let unpadded = |line: String| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned();
    table.lines().map(unpadded).collect::<Vec<_>>().join("\n")
}
