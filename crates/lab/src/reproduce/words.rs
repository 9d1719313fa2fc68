//! What a claim measures, in words: of every number its metric, scheme and workload, what is done
//! with it, and the numbers of runs that it is made of.

use ftlab_report::reproduction::{Measured, Measures, PartOf, shown};
use minijinja::value::Value as Bound;
use serde_json::Value;

use crate::reproduce::definition::{Claim, Stated};
use crate::reproduce::evaluate::Evaluator;
use crate::reproduce::expression::{Form, Part, read};
use crate::reproduce::jobs::Job;
use crate::reproduce::metrics;

/// Items of a list that are told one by one.
const ITEMS_MAX: usize = 24;
/// Numbers of runs that are listed of a claim.
const PARTS_MAX: usize = 60;
/// Numbers of runs that are looked at, listed or not.
const LOOKED_AT_MAX: usize = 600;
/// Characters of a calculation that can still be read.
const WORDS_MAX: usize = 260;
/// Stands for every item of a list in the name of a run.
const EACH: &str = "…";
const CALCULATION: &str = "a calculation over the numbers of runs below";
const OF_PRINT: &str = "a calculation over printed numbers";

/// Tells the claims of one experiment.
pub struct Teller<'a> {
    pub evaluator: &'a Evaluator,
    pub jobs: &'a [Job],
}

/// A text whose parts are told, and what its `w` stands for.
#[derive(Clone)]
struct Scope<'t> {
    text: &'t str,
    item: Option<Bound>,
}

/// Words, how tightly they hold together, and their unit.
struct Said {
    text: String,
    tight: u8,
    unit: Option<&'static str>,
}

const LOOSE: u8 = 0;
const COMPARISON: u8 = 2;
const SUM: u8 = 3;
const PRODUCT: u8 = 4;
const ATOM: u8 = 5;

impl Said {
    fn atom(text: impl Into<String>) -> Self {
        Said { text: text.into(), tight: ATOM, unit: None }
    }

    fn within(self, tight: u8) -> String {
        match self.tight < tight {
            true => format!("({})", self.text),
            false => self.text,
        }
    }
}

impl Teller<'_> {
    /// What a claim measured.
    pub fn told(&self, claim: &Claim, measured: &Value) -> Measures {
        let mut told = Measures::default();
        let published = match &claim.published {
            Some(Stated::Text(text)) if claim.holds.is_none() => Some(text),
            _ => None,
        };
        let texts = [("published", published), ("measured", claim.measured.as_ref())];
        for (name, text) in texts.into_iter().chain([("holds", claim.holds.as_ref())]) {
            let Some(text) = text else { continue };
            told.expressions.push((name.to_owned(), text.clone()));
            let Some(part) = read(text) else { continue };
            let scope = Scope { text, item: None };
            let mut looked_at = 0;
            self.collect(&part, &scope, &mut told, &mut looked_at);
            match name {
                "measured" => {
                    self.numbers(&part, &scope, measured, claim.unit.as_deref(), &mut told.numbers);
                    if told.parts.is_empty() {
                        let calculated =
                            told.numbers.iter_mut().filter(|one| one.words == CALCULATION);
                        calculated.for_each(|one| OF_PRINT.clone_into(&mut one.words));
                    }
                }
                "holds" => {
                    let rule = self.words(&part, &scope).map(|said| said.text);
                    told.rule = rule.filter(|text| text.chars().count() <= WORDS_MAX);
                }
                _ => {}
            }
        }
        told
    }

    fn value(&self, part: &Part, scope: &Scope<'_>) -> Option<Bound> {
        let bound: Vec<(&str, Bound)> = scope.item.iter().map(|item| ("w", item.clone())).collect();
        self.evaluator.value(&scope.text[part.span.clone()], &bound).ok()
    }

    fn items(&self, list: &Part, scope: &Scope<'_>) -> Option<Vec<Bound>> {
        Some(self.value(list, scope)?.try_iter().ok()?.collect())
    }

    /// Every number of a list by itself.
    fn numbers(
        &self,
        part: &Part,
        scope: &Scope<'_>,
        measured: &Value,
        unit: Option<&str>,
        all: &mut Vec<Measured>,
    ) {
        let values = measured.as_array();
        match (&part.form, values) {
            (Form::List(parts), Some(values)) if parts.len() == values.len() => {
                for (part, value) in parts.iter().zip(values) {
                    self.numbers(part, scope, value, unit, all);
                }
                return;
            }
            (Form::Call(name, arguments), Some(values)) if name == "each" => {
                if let [list, Part { form: Form::Text(inner), .. }] = &arguments[..]
                    && let Some(items) = self.items(list, scope)
                    && let Some(part) = read(inner)
                    && items.len() == values.len()
                    && items.len() <= ITEMS_MAX
                {
                    for (item, value) in items.into_iter().zip(values) {
                        let scope = Scope { text: inner, item: Some(item) };
                        self.numbers(&part, &scope, value, unit, all);
                    }
                    return;
                }
            }
            _ => {}
        }
        let said = self.words(part, scope).filter(|said| said.text.chars().count() <= WORDS_MAX);
        let words = match said {
            Some(Said { text, unit: Some(own), .. }) if unit.is_none() => format!("{text}, {own}"),
            Some(said) => said.text,
            None => CALCULATION.to_owned(),
        };
        all.push(Measured { value: shown(measured, unit), words });
    }

    /// Numbers of runs, of inspections and of devices, each once.
    fn collect(&self, part: &Part, scope: &Scope<'_>, told: &mut Measures, looked_at: &mut usize) {
        if *looked_at > LOOKED_AT_MAX {
            return;
        }
        if let Some(leaf) = self.leaf(part, scope) {
            *looked_at += 1;
            let known =
                told.parts.iter().any(|one| one.metric == leaf.metric && one.run == leaf.run);
            if known {
                return;
            }
            if told.parts.len() == PARTS_MAX {
                told.left_out += 1;
                return;
            }
            let value = self.value(part, scope).map(|value| metrics::plain(&value));
            let Some(value) = value.filter(Value::is_number) else { return };
            told.parts.push(PartOf { value: shown(&value, None), ..leaf });
            return;
        }
        for inner in part.within() {
            self.collect(inner, scope, told, looked_at);
        }
        if let Form::Call(_, arguments) = &part.form
            && let [list, Part { form: Form::Text(text), .. }] = &arguments[..]
            && let Some(inner) = read(text)
        {
            for item in self.items(list, scope).into_iter().flatten() {
                let scope = Scope { text, item: Some(item) };
                self.collect(&inner, &scope, told, looked_at);
            }
        }
    }

    /// A number of one run, inspection or device, without its value.
    fn leaf(&self, part: &Part, scope: &Scope<'_>) -> Option<PartOf> {
        let of = |metric: &metrics::Metric, id: &str| {
            let place = self.place(id);
            PartOf {
                metric: metric.words.clone(),
                workload: place.workload(),
                scheme: place.scheme.unwrap_or_default(),
                run: id.to_owned(),
                value: String::new(),
                unit: metric.unit,
            }
        };
        match &part.form {
            Form::Call(name, arguments) => {
                let texts = self.texts(arguments, scope)?;
                match (name.as_str(), &texts[..]) {
                    ("setting", [device, key]) => Some(PartOf {
                        metric: format!("setting {key} of the device {device}"),
                        ..PartOf::default()
                    }),
                    ("crossing", [a, b]) => {
                        let (_, other) = (self.place(a), self.place(b));
                        let metric =
                            metrics::Metric { words: metrics::crossing(&other.words()), unit: "" };
                        Some(of(&metric, a))
                    }
                    (_, [id, more @ ..]) => Some(of(&metrics::of_call(name, more)?, id)),
                    _ => None,
                }
            }
            _ => {
                let (root, path) = self.path(part, scope)?;
                let Form::Call(name, arguments) = &root.form else { return None };
                let [id] = &self.texts(arguments, scope)?[..] else { return None };
                Some(of(&metrics::of_path(name, &path)?, id))
            }
        }
    }

    /// Arguments that are texts or numbers, as texts.
    fn texts(&self, arguments: &[Part], scope: &Scope<'_>) -> Option<Vec<String>> {
        let one = |part: &Part| match &part.form {
            Form::Text(text) => Some(text.clone()),
            Form::Number => Some(scope.text[part.span.clone()].to_owned()),
            Form::List(_) => None,
            _ => match metrics::plain(&self.value(part, scope)?) {
                Value::String(text) => Some(text),
                number @ Value::Number(_) => Some(shown(&number, None)),
                _ => None,
            },
        };
        arguments.iter().map(one).collect()
    }

    /// The names behind something, and what that is.
    fn path<'p>(&self, part: &'p Part, scope: &Scope<'_>) -> Option<(&'p Part, Vec<String>)> {
        let mut names = Vec::new();
        let mut root = part;
        loop {
            match &root.form {
                Form::Member(of, name) => {
                    names.push(name.clone());
                    root = of;
                }
                Form::Item(of, Some(place)) => {
                    names.extend(self.texts(std::slice::from_ref(place.as_ref()), scope)?);
                    root = of;
                }
                _ if names.is_empty() => return None,
                _ => {
                    names.reverse();
                    return Some((root, names));
                }
            }
        }
    }

    fn words(&self, part: &Part, scope: &Scope<'_>) -> Option<Said> {
        if let Some(leaf) = self.leaf(part, scope) {
            let unit = Some(leaf.unit).filter(|unit| !unit.is_empty());
            let place = self.place(&leaf.run);
            let text = match leaf.run.as_str() {
                "" => leaf.metric,
                _ => format!("{} of {}", leaf.metric, place.words()),
            };
            return Some(Said { unit, ..Said::atom(text) });
        }
        match &part.form {
            Form::Number => Some(Said::atom(&scope.text[part.span.clone()])),
            Form::Text(text) => Some(Said::atom(format!("‘{text}’"))),
            Form::Name(name) => match (name.as_str(), &scope.item) {
                ("w", Some(item)) => Some(Said::atom(shown(&metrics::plain(item), None))),
                ("workloads", _) => Some(Said::atom("all workloads")),
                ("schemes", _) => Some(Said::atom("all schemes")),
                _ => None,
            },
            Form::Member(..) | Form::Item(..) => {
                let (root, path) = self.path(part, scope)?;
                match &root.form {
                    Form::Name(name) if name == "published" => {
                        Some(Said::atom(format!("the printed {}", path.join(" "))))
                    }
                    _ => None,
                }
            }
            Form::List(parts) => {
                let all: Option<Vec<String>> =
                    parts.iter().map(|one| Some(self.words(one, scope)?.text)).collect();
                Some(Said { tight: LOOSE, ..Said::atom(all?.join(", ")) })
            }
            Form::Call(name, arguments) => self.call(name, arguments, scope),
            Form::Filter(of, name, _) => match name.as_str() {
                "default" | "int" | "round" => self.words(of, scope),
                "sum" | "max" | "min" => {
                    let word = match name.as_str() {
                        "sum" => "the sum",
                        "max" => "the largest",
                        _ => "the smallest",
                    };
                    let said = self.words(of, scope)?;
                    Some(Said { text: format!("{word} of ({})", said.text), tight: ATOM, ..said })
                }
                _ => None,
            },
            Form::Unary(sign, of) => {
                let sign = if *sign == "-" { "−" } else { "not " };
                Some(Said::atom(format!("{sign}{}", self.words(of, scope)?.within(ATOM))))
            }
            Form::Binary(sign, left, right) => self.binary(sign, left, right, scope),
            // The condition is that there is such a number.
            Form::If(value, ..) => self.words(value, scope),
            Form::Test(of, name) => {
                let name = if name == "not none" { "there" } else { name };
                let text = format!("{} is {name}", self.words(of, scope)?.within(ATOM));
                Some(Said { tight: COMPARISON, ..Said::atom(text) })
            }
        }
    }

    fn binary(
        &self,
        sign: &'static str,
        left: &Part,
        right: &Part,
        scope: &Scope<'_>,
    ) -> Option<Said> {
        let number = |part: &Part| match part.form {
            Form::Number => scope.text[part.span.clone()].parse::<f64>().ok(),
            _ => None,
        };
        // A share in percent, and a time or size in a larger unit.
        if sign == "*" && number(left) == Some(100.0) {
            let said = self.words(right, scope)?;
            if said.unit.is_none() {
                return Some(Said { unit: Some("%"), ..said });
            }
        }
        if let ("/", Some(divisor)) = (sign, number(right)) {
            let said = self.words(left, scope)?;
            if let Some(unit) = said.unit.and_then(|unit| metrics::scaled(unit, divisor)) {
                return Some(Said { unit: Some(unit), ..said });
            }
        }
        let (word, tight) = match sign {
            "+" => ("+", SUM),
            "-" => ("−", SUM),
            "*" => ("×", PRODUCT),
            "/" => ("÷", PRODUCT),
            "**" => ("to the power of", PRODUCT),
            "<" | ">" | "in" | "not in" => (sign, COMPARISON),
            "<=" => ("≤", COMPARISON),
            ">=" => ("≥", COMPARISON),
            "==" => ("=", COMPARISON),
            "!=" => ("≠", COMPARISON),
            "and" => (sign, 1),
            "or" => (sign, LOOSE),
            _ => return None,
        };
        let (left, right) = (self.words(left, scope)?, self.words(right, scope)?);
        let percent = [left.unit, right.unit].contains(&Some("%"));
        let unit = match tight {
            SUM if left.unit == right.unit => left.unit,
            // 100 × a ÷ b.
            PRODUCT if percent => Some("%"),
            _ => None,
        };
        // What stands on the right of − and ÷ must hold together more tightly.
        let after = tight + u8::from(matches!(sign, "-" | "/"));
        let text = format!("{} {word} {}", left.within(tight), right.within(after));
        Some(Said { text, tight, unit })
    }

    fn call(&self, name: &str, arguments: &[Part], scope: &Scope<'_>) -> Option<Said> {
        match (name, arguments) {
            ("round", [of, ..]) => self.words(of, scope),
            ("abs", [of]) => {
                let said = self.words(of, scope)?;
                Some(Said { text: format!("|{}|", said.text), tight: ATOM, ..said })
            }
            ("sqrt", [of]) => {
                Some(Said::atom(format!("the root of {}", self.words(of, scope)?.within(ATOM))))
            }
            ("log10", [of]) => Some(Said::atom(format!("log10({})", self.words(of, scope)?.text))),
            ("total", [of]) => self.of_list("the sum of", of, scope),
            ("mean_of", [of]) => self.of_list("the mean of", of, scope),
            (_, [list, Part { form: Form::Text(inner), .. }]) => {
                let part = read(inner)?;
                let each = Scope { text: inner, item: Some(Bound::from(EACH)) };
                let said = self.words(&part, &each)?;
                let over = match &list.form {
                    Form::Name(name) if name == "workloads" => "workload".to_owned(),
                    Form::Name(name) if name == "schemes" => "scheme".to_owned(),
                    _ => format!("of {}", self.words(list, scope)?.text),
                };
                let text = match name {
                    "each" => format!("{} for each {over}", said.text),
                    "every" => format!("{}, for each {over}", said.text),
                    "argmin" => format!("where {} is smallest, of each {over}", said.text),
                    "argmax" => format!("where {} is largest, of each {over}", said.text),
                    _ => return None,
                };
                Some(Said { text, tight: LOOSE, unit: said.unit })
            }
            _ => None,
        }
    }

    fn of_list(&self, word: &str, list: &Part, scope: &Scope<'_>) -> Option<Said> {
        let said = self.words(list, scope)?;
        Some(Said { text: format!("{word} ({})", said.text), tight: ATOM, ..said })
    }

    fn place(&self, id: &str) -> Place {
        if let Some(job) = self.jobs.iter().find(|job| job.id == id) {
            let rest = id.strip_prefix(&job.workload).unwrap_or_default();
            let end = job.scheme.as_deref().unwrap_or_default();
            let variant = rest.strip_suffix(end).unwrap_or(rest).trim_matches('/');
            return Place {
                workload: job.workload.clone(),
                variant: variant.to_owned(),
                scheme: job.scheme.clone(),
            };
        }
        let mut names = id.split('/');
        let workload = names.next().unwrap_or_default().to_owned();
        let scheme = names.next_back().map(str::to_owned);
        Place { workload, variant: names.collect::<Vec<_>>().join("/"), scheme }
    }
}

/// What a run's name says.
struct Place {
    workload: String,
    variant: String,
    scheme: Option<String>,
}

impl Place {
    fn workload(&self) -> String {
        match self.variant.as_str() {
            "" => self.workload.clone(),
            variant => format!("{}, {variant}", self.workload),
        }
    }

    fn words(&self) -> String {
        match &self.scheme {
            Some(scheme) => format!("{scheme} on {}", self.workload()),
            None => self.workload(),
        }
    }
}

#[cfg(test)]
mod tests;
