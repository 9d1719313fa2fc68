//! Claims against results: measured beside published, and a verdict that never mixes kinds.

use std::collections::{BTreeMap, BTreeSet};

use ftlab_report::reproduction::{self, Both, Verdict};
use minijinja::value::Value as Bound;
use serde_json::Value;

use crate::reproduce::definition::{Claim, ClaimKind, Definition, Figure, Form, Place, Stated};
use crate::reproduce::evaluate::{Evaluator, Lack};

/// What a verdict depends on beside the numbers.
pub struct Circumstances<'a> {
    /// Whether runs were shortened.
    pub quick: bool,
    /// What was done with recorded traces, and whether each is the whole of the paper's.
    pub recorded: &'a BTreeMap<String, bool>,
}

/// The claims of an experiment with their outcomes, and what in them has no value although it
/// should.
pub fn claims(
    of: &Definition,
    evaluator: &Evaluator,
    circumstances: &Circumstances<'_>,
) -> (Vec<reproduction::Claim>, Vec<String>) {
    let mut wrong = Vec::new();
    let mut claims = Vec::new();
    for claim in &of.claims {
        let judged = judge(claim, evaluator, circumstances);
        wrong.extend(judged.wrong.as_ref().map(|text| format!("claim '{}': {text}", claim.name)));
        claims.push(outcome(of, claim, judged));
    }
    (claims, wrong)
}

fn outcome(of: &Definition, claim: &Claim, judged: Judged) -> reproduction::Claim {
    let mut explanation: Vec<String> = claim.note.iter().cloned().collect();
    explanation.extend(judged.reason);
    let explained = !judged.agrees && !judged.shortened;
    if let (Some(text), true) = (&claim.if_fails, explained) {
        explanation.push(text.clone());
    }
    let supported_by = if explained { claim.supported_by.clone() } else { Vec::new() };
    let ratio = match (judged.published.as_f64(), judged.measured.as_f64()) {
        (Some(published), Some(measured)) if published != 0.0 => Some(measured / published),
        _ => None,
    };
    reproduction::Claim {
        name: format!("{}.{}", of.name, claim.name),
        paper: of.paper.name().to_owned(),
        paper_title: of.paper.title().to_owned(),
        printed: claim.printed,
        contradicted_by: claim.contradicted_by.clone(),
        source: format!("{}, {}", of.paper.title(), claim.source),
        kind: match claim.kind {
            ClaimKind::Identity => "identity",
            ClaimKind::Relation => "relation",
            ClaimKind::Magnitude => "magnitude",
        },
        published: judged.published,
        measured: judged.measured,
        ratio,
        verdict: judged.verdict,
        verdicts: Both { literal: None, best: None },
        near: Both { literal: None, best: judged.near },
        worlds: None,
        target: false,
        explanation: explanation.join(" "),
        experiment: of.name.clone(),
        text: claim.text.clone(),
        unit: claim.unit.clone(),
        tolerance: claim.tolerance.words(),
        headline: claim.headline,
        supported_by,
        measures: reproduction::Measures::default(),
    }
}

struct Judged {
    published: Value,
    measured: Value,
    verdict: Verdict,
    /// Why there is no verdict.
    reason: Option<String>,
    /// Whether the numbers agree, judged or not.
    agrees: bool,
    /// The same, where runs are long enough to tell.
    near: Option<bool>,
    /// Whether shortened runs are why they need not.
    shortened: bool,
    /// What is wrong with its expressions.
    wrong: Option<String>,
}

/// What is published and measured, and whether they agree.
struct Compared {
    published: Value,
    measured: Value,
    agrees: Result<bool, Lack>,
}

fn compared(claim: &Claim, evaluator: &Evaluator) -> Compared {
    let published = match (&claim.published, claim.kind) {
        (None, _) => Ok(Value::Null),
        (Some(Stated::Number(number)), _) => Ok(Value::from(*number)),
        (Some(Stated::Text(words)), ClaimKind::Relation) => Ok(Value::from(words.as_str())),
        (Some(Stated::Text(text)), _) => evaluator.number(text, &[]).map(Value::from),
    };
    let measured = match &claim.measured {
        None => Ok(Value::Null),
        Some(text) => evaluator.value(text, &[]).map(|value| plain(&value)),
    };
    let agrees = match (&published, &measured) {
        (Err(lack), _) | (_, Err(lack)) => Err(lack.clone()),
        (Ok(published), Ok(measured)) => match &claim.holds {
            Some(text) => evaluator.truth(text),
            None => near(claim, published, measured),
        },
    };
    let (published, measured) = (published.unwrap_or_default(), measured.unwrap_or_default());
    Compared { published, measured, agrees }
}

/// Whether what a claim measures is as it says, whatever it is measured on.
pub fn agrees(claim: &Claim, evaluator: &Evaluator) -> Result<bool, Lack> {
    compared(claim, evaluator).agrees
}

fn judge(claim: &Claim, evaluator: &Evaluator, circumstances: &Circumstances<'_>) -> Judged {
    evaluator.used();
    let Compared { published, measured, agrees } = compared(claim, evaluator);
    let used = evaluator.used();
    match agrees {
        Err(lack) => Judged {
            published,
            measured,
            verdict: Verdict::NotJudged,
            reason: Some(words(&lack)),
            agrees: true,
            near: None,
            shortened: false,
            wrong: lack.wrong().map(str::to_owned),
        },
        Ok(agrees) => {
            let (judged, reason) = basis(claim, circumstances, &used);
            let verdict = match (judged, agrees) {
                (false, _) => Verdict::NotJudged,
                (true, true) => Verdict::Holds,
                (true, false) => Verdict::Fails,
            };
            let shortened = circumstances.quick && !judged;
            let near = (!shortened).then_some(agrees);
            Judged { published, measured, verdict, reason, agrees, near, shortened, wrong: None }
        }
    }
}

fn near(claim: &Claim, published: &Value, measured: &Value) -> Result<bool, Lack> {
    match (published.as_f64(), measured.as_f64()) {
        (Some(published), Some(measured)) => Ok(claim.tolerance.allows(published, measured)),
        _ => Err(Lack::Wrong(format!("{measured} and {published} are not both numbers"))),
    }
}

/// JSON of a value; a number that is not finite is none.
fn plain(value: &Bound) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn words(lack: &Lack) -> String {
    match lack {
        Lack::Invalid(text) | Lack::Wrong(text) => format!("Not judged: {text}."),
        Lack::Nothing(text) => format!("Not judged: nothing of the kind was counted ({text})."),
        Lack::Missing(text) => format!("Not run: {text}."),
        Lack::Failed(text) => format!("Not judged, because a run failed: {text}."),
    }
}

/// Whether there is a verdict, and on what ground where that must be said.
fn basis(
    claim: &Claim,
    circumstances: &Circumstances<'_>,
    used: &BTreeSet<String>,
) -> (bool, Option<String>) {
    if claim.kind != ClaimKind::Magnitude {
        return (true, None);
    }
    if circumstances.quick {
        return (false, Some("Not judged: the runs are shortened (--quick).".to_owned()));
    }
    let recorded: Vec<Option<&bool>> =
        used.iter().map(|name| circumstances.recorded.get(name)).collect();
    if !recorded.is_empty() && recorded.iter().all(|whole| *whole == Some(&true)) {
        return (true, None);
    }
    match &claim.judged {
        Some(why) if recorded.iter().all(Option::is_none) => {
            (true, Some(format!("Judged without the paper's trace: {why}.")))
        }
        _ => (
            false,
            Some(
                "Not judged: the workload is not the paper's; its magnitudes need not carry over."
                    .to_owned(),
            ),
        ),
    }
}

/// The pictures of an experiment, and what in them has no value.
pub fn figures<'a>(
    of: &'a Definition,
    evaluator: &Evaluator,
) -> (Vec<reproduction::Figure>, Vec<(&'a Figure, Lack)>) {
    let mut lacks = Vec::new();
    let mut figures = Vec::new();
    for (number, figure) in of.figures.iter().enumerate() {
        let id = format!("{}-{}", of.name, number + 1);
        match figure.form {
            Form::Cdf => {
                for (place, group) in figure.groups.iter().enumerate() {
                    let one = Drawing { of: figure, groups: std::slice::from_ref(group), place };
                    figures.push(one.draw(evaluator, format!("{id}-{}", place + 1), &mut lacks));
                }
            }
            _ => {
                let one = Drawing { of: figure, groups: &figure.groups, place: 0 };
                figures.push(one.draw(evaluator, id, &mut lacks));
            }
        }
    }
    (figures, lacks)
}

struct Drawing<'a> {
    of: &'a Figure,
    groups: &'a [Place],
    place: usize,
}

impl<'a> Drawing<'a> {
    fn draw(
        &self,
        evaluator: &Evaluator,
        id: String,
        lacks: &mut Vec<(&'a Figure, Lack)>,
    ) -> reproduction::Figure {
        let of = self.of;
        let mut values = Vec::new();
        let mut published = Vec::new();
        for group in self.groups {
            let mut row = Vec::new();
            for series in &of.series {
                match self.values(evaluator, group, series) {
                    Ok(value) => row.push(value),
                    Err(lack) => {
                        if !lacks.iter().any(|(_, other)| *other == lack) {
                            lacks.push((of, lack));
                        }
                        row.push(Value::Null);
                    }
                }
            }
            values.push(row);
            let printed =
                |series: &String| of.published.get(&format!("{}.{series}", group.text())).copied();
            published.push(of.series.iter().map(printed).collect());
        }
        let several = of.form == Form::Cdf && of.groups.len() > 1;
        let title = match several {
            true => format!("{}: {}", of.title, of.groups[self.place].text()),
            false => of.title.clone(),
        };
        reproduction::Figure {
            id,
            title,
            form: of.form.name(),
            groups: self.groups.iter().map(json_place).collect(),
            series: of.series.clone(),
            parts: of.parts.clone(),
            values,
            published,
            x: of.x.clone(),
            y: of.y.clone(),
            log_x: of.log_x,
            log_y: of.log_y,
            note: of.note.clone(),
        }
    }

    fn values(&self, evaluator: &Evaluator, group: &Place, series: &str) -> Result<Value, Lack> {
        let g = match group {
            Place::Number(number) => Bound::from(*number),
            Place::Name(name) => Bound::from(name.as_str()),
        };
        let mut variables = vec![("g", g), ("s", Bound::from(series))];
        match self.of.form {
            Form::Cdf => {
                let id = evaluator.value(&self.of.value, &variables)?;
                let id = id.as_str().unwrap_or_default();
                let curve = evaluator.value("run(id).cdf.all", &[("id", Bound::from(id))])?;
                Ok(plain(&curve))
            }
            Form::Stacked => {
                let mut parts = Vec::new();
                for part in &self.of.parts {
                    variables.push(("part", Bound::from(part.as_str())));
                    parts.push(Value::from(evaluator.number(&self.of.value, &variables)?));
                    variables.pop();
                }
                Ok(Value::from(parts))
            }
            Form::Bars | Form::Lines | Form::Table => {
                Ok(plain(&evaluator.value(&self.of.value, &variables)?))
            }
        }
    }
}

fn json_place(place: &Place) -> Value {
    match place {
        Place::Number(number) => Value::from(*number),
        Place::Name(name) => Value::from(name.as_str()),
    }
}
