//! The claims as Markdown, for documentation, and as text, for the terminal.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets};

use super::{Claim, Reproduction, shown};

/// Every claim, headline claims first, as a Markdown document.
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
         Written by `ftlab reproduce` {}{}. {} claims of {} experiments; {}. {workloads}; a printed \
         magnitude is judged on a stand-in only where its statistics justify it.\n",
        of.version,
        if of.quick { " --quick (shortened runs)" } else { "" },
        of.claims.len(),
        of.experiments.len(),
        of.outcomes(),
    );
    section(&mut text, of, "Headline claims", of.claims.iter().filter(|claim| claim.headline));
    for experiment in &of.experiments {
        let own = of.claims.iter().filter(|claim| claim.experiment == experiment.name);
        let heading = format!("{}: {} - {}", experiment.paper, experiment.item, experiment.title);
        section(&mut text, of, &heading, own);
    }
    text
}

fn section<'a>(
    text: &mut String,
    of: &Reproduction,
    heading: &str,
    claims: impl Iterator<Item = &'a Claim>,
) {
    let claims: Vec<&Claim> = claims.collect();
    if claims.is_empty() {
        return;
    }
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n## {heading}\n\n| claim | published | measured | ratio | verdict | explanation |\n\
         |---|---|---|---|---|---|\n"
    );
    for claim in claims {
        let [published, measured, ratio] = numbers(claim);
        let cells = [
            format!("{} ({}; {}; `{}`)", claim.text, claim.source, claim.kind, claim.name),
            published,
            measured,
            ratio,
            claim.verdict.words().to_owned(),
            explanation(claim, of),
        ];
        let escaped = cells.map(|cell| cell.replace('|', r"\|").replace('\n', " "));
        let _ = writeln!(text, "| {} |", escaped.join(" | "));
    }
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

/// The headline claims as a table, and the tally of all.
#[must_use]
pub fn claims_text(of: &Reproduction) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["claim", "published", "measured", "ratio", "verdict"]);
    let headlines = of.claims.iter().filter(|claim| claim.headline);
    let mut any = false;
    for claim in headlines {
        let [published, measured, ratio] = numbers(claim);
        table.add_row([
            claim.name.clone(),
            published,
            measured,
            ratio,
            claim.verdict.words().to_owned(),
        ]);
        any = true;
    }
    let unpadded = |line: String| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned();
    let lines: Vec<String> = table.lines().map(unpadded).collect();
    let head = match any {
        true => format!("Headline claims\n{}\n\n", lines.join("\n")),
        false => String::new(),
    };
    format!(
        "{head}{} claims of {} experiments; {}.",
        of.claims.len(),
        of.experiments.len(),
        of.outcomes()
    )
}
