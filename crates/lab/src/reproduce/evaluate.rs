//! Expressions over results: what claims measure and figures draw.
//!
//! minijinja's expression language with functions that name what researchers compare; times come
//! in milliseconds or seconds, energies in joules, as papers print them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use ftlab_engine::config::{Bytes, Duration, Energy, Value as _};
use ftlab_report::derive::json;
use ftlab_report::result::{CdfPoint, LatencySummary, Percentiles, RunResult};
use minijinja::value::{Kwargs, Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Expression, State, UndefinedBehavior};

use crate::devices;

/// What a job left behind.
#[derive(Clone)]
pub enum Found<T> {
    /// Its result.
    Done(Arc<T>),
    /// It was not run, for this reason.
    Missing(String),
    /// It was run and failed.
    Failed(String),
}

/// What the jobs of one experiment left behind, by name.
#[derive(Default)]
pub struct Results {
    /// Runs.
    pub runs: BTreeMap<String, Found<RunResult>>,
    /// Inspections.
    pub inspections: BTreeMap<String, Found<serde_json::Value>>,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// It cannot be read, or names a run that the experiment does not have.
    Invalid(String),
    /// It has no such value.
    Wrong(String),
    /// It divides by a number that is zero, or asks for a number that the run does not have:
    /// nothing of the kind was counted.
    Nothing(String),
    /// A run that it names was not made.
    Missing(String),
    /// A run that it names failed.
    Failed(String),
}

impl Lack {
    /// What the experiment's file is to blame for.
    pub fn wrong(&self) -> Option<&str> {
        match self {
            Lack::Invalid(text) | Lack::Wrong(text) => Some(text),
            Lack::Nothing(_) | Lack::Missing(_) | Lack::Failed(_) => None,
        }
    }
}

/// Evaluates the expressions of one experiment.
pub struct Evaluator {
    environment: Environment<'static>,
    access: Access,
}

type Number = Result<f64, Error>;

/// Access to results from within functions.
#[derive(Clone)]
struct Access {
    results: Arc<Results>,
    lack: Arc<Mutex<Option<Lack>>>,
    used: Arc<Mutex<BTreeSet<String>>>,
    /// Whole results as values, which are large.
    values: Arc<Mutex<BTreeMap<String, Value>>>,
}

fn wrong(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text.into())
}

impl Access {
    fn of<T>(&self, all: &BTreeMap<String, Found<T>>, id: &str) -> Result<Arc<T>, Error> {
        let lack = match all.get(id) {
            Some(Found::Done(result)) => return Ok(Arc::clone(result)),
            Some(Found::Missing(reason)) => Lack::Missing(reason.clone()),
            Some(Found::Failed(reason)) => Lack::Failed(format!("{id}: {reason}")),
            None => {
                let near = ftlab_engine::config::nearest(id, all.keys().map(String::as_str));
                let near = near.map_or_else(String::new, |near| format!("; nearest: {near}"));
                Lack::Invalid(format!("'{id}' is no run of this experiment{near}"))
            }
        };
        if let Ok(mut kept) = self.lack.lock() {
            kept.get_or_insert(lack);
        }
        Err(wrong(format!("no result of '{id}'")))
    }

    fn run(&self, id: &str) -> Result<Arc<RunResult>, Error> {
        if let Ok(mut used) = self.used.lock() {
            used.insert(id.to_owned());
        }
        self.of(&self.results.runs, id)
    }
}

impl Evaluator {
    /// For the results of one experiment; `globals` are `published` and the lists of names.
    pub fn new(results: Results, globals: &[(&'static str, serde_json::Value)]) -> Self {
        let results = Arc::new(results);
        let access =
            Access { results, lack: Arc::default(), used: Arc::default(), values: Arc::default() };
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, value) in globals {
            environment.add_global(*name, Value::from(Serde(value)));
        }
        add_results(&mut environment, &access);
        add_curves(&mut environment, &access);
        add_lists(&mut environment);
        add_numbers(&mut environment);
        Evaluator { environment, access }
    }

    /// The value of an expression, with `variables` bound.
    pub fn value(&self, text: &str, variables: &[(&str, Value)]) -> Result<Value, Lack> {
        if let Ok(mut kept) = self.access.lack.lock() {
            *kept = None;
        }
        let expression = self.environment.compile_expression(text).map_err(|error| {
            Lack::Invalid(format!("'{text}' is no expression: {}", detail(&error)))
        })?;
        let context = Value::from_pairs(variables.iter().cloned());
        let of_names = |lack: Lack| {
            let bound = variables.iter().map(|(name, _)| *name);
            match unknown_name(&self.environment, &expression, bound) {
                Some(unknown) => Lack::Invalid(format!("'{text}': {unknown}")),
                None => lack,
            }
        };
        let value = expression.eval(context).map_err(|error| {
            let kept = self.access.lack.lock().ok().and_then(|mut kept| kept.take());
            of_names(kept.unwrap_or_else(|| lack_of(text, &error)))
        })?;
        match value.is_undefined() {
            true => Err(of_names(Lack::Nothing(format!("{ABSENT} '{text}'")))),
            false => Ok(value),
        }
    }

    /// The runs that were asked for since the last call.
    pub fn used(&self) -> BTreeSet<String> {
        self.access.used.lock().map(|mut used| std::mem::take(&mut *used)).unwrap_or_default()
    }

    /// The value of an expression that must be a number.
    pub fn number(&self, text: &str, variables: &[(&str, Value)]) -> Result<f64, Lack> {
        let value = self.value(text, variables)?;
        f64_of(&value).map_err(|_| Lack::Wrong(format!("'{text}' is {value}, not a number")))
    }

    /// The value of an expression that must be true or false.
    pub fn truth(&self, text: &str) -> Result<bool, Lack> {
        let value = self.value(text, &[])?;
        match value.kind() {
            ValueKind::Bool => Ok(value.is_true()),
            _ => Err(Lack::Wrong(format!("'{text}' is {value}, neither true nor false"))),
        }
    }
}

/// Begins what is said of a path that a result does not have.
pub const ABSENT: &str = "there is no such value:";

/// What an error of minijinja means: its arithmetic knows no infinity, and none is no number.
fn lack_of(text: &str, error: &Error) -> Lack {
    let said = detail(error);
    let of_types = said.contains("unsupported types");
    let absent = of_types && said.contains("undefined");
    if error.kind() == ErrorKind::UndefinedError || absent {
        return Lack::Nothing(format!("{ABSENT} {said}"));
    }
    let of_none = of_types && said.contains("none");
    match said.starts_with("unable to calculate") || of_none {
        true => Lack::Nothing(said),
        false => Lack::Wrong(format!("'{text}': {said}")),
    }
}

fn detail(error: &Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

fn f64_of(value: &Value) -> Number {
    match value.kind() {
        ValueKind::Number => f64::try_from(value.clone()),
        _ => Err(wrong(format!("{value} is no number"))),
    }
}

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;
const UJ_PER_J: f64 = 1e6;
const PJ_PER_UJ: f64 = 1e6;

/// Numbers of one run.
type OfRun = (&'static str, fn(&RunResult) -> f64);

const OF_RUN: &[OfRun] = &[
    ("mean", |run| run.latency_ns.all.system.mean / NS_PER_MS),
    ("device_mean", |run| run.latency_ns.all.device.mean / NS_PER_MS),
    ("queue_mean", |run| run.latency_ns.all.queue.mean / NS_PER_MS),
    ("sd", |run| run.latency_ns.all.system.stddev / NS_PER_MS),
    ("device_sd", |run| run.latency_ns.all.device.stddev / NS_PER_MS),
    ("queue_sd", |run| run.latency_ns.all.queue.stddev / NS_PER_MS),
    ("elapsed", |run| run.service_time_ns.total as f64 / NS_PER_S),
    ("erases", |run| run.flash.total_erases as f64),
    ("programs", |run| run.flash.total_programs as f64),
    ("reads", |run| run.flash.total_reads as f64),
    ("energy", |run| run.energy_uj.total / UJ_PER_J),
    ("requests", |run| run.latency_ns.all.system.count as f64),
];

fn add_results(environment: &mut Environment<'static>, access: &Access) {
    for &(name, of) in OF_RUN {
        let own = access.clone();
        environment.add_function(name, move |id: &str| -> Number { Ok(of(own.run(id)?.as_ref())) });
    }
    let own = access.clone();
    let run = move |id: &str| -> Result<Value, Error> {
        let run = own.run(id)?;
        let value = || present(run.as_ref());
        Ok(own.values.lock().map_or_else(
            |_| value(),
            |mut kept| kept.entry(id.to_owned()).or_insert_with(value).clone(),
        ))
    };
    environment.add_function("run", run);
    let own = access.clone();
    let inspection = move |id: &str| -> Result<Value, Error> {
        if let Ok(mut used) = own.used.lock() {
            used.insert(format!("{INSPECTION}{id}"));
        }
        Ok(present(own.of(&own.results.inspections, id)?.as_ref()))
    };
    environment.add_function("inspection", inspection);
    environment.add_function("setting", setting);
}

/// Before the name of an inspection among the names of what was used.
pub const INSPECTION: &str = "inspection of ";

/// As a value without what is null: it would compare as less than every number.
fn present<T: serde::Serialize>(result: &T) -> Value {
    fn prune(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                members.retain(|_, member| !member.is_null());
                members.values_mut().for_each(prune);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(prune),
            _ => {}
        }
    }
    let mut json = serde_json::to_value(result).unwrap_or_default();
    prune(&mut json);
    Value::from(Serde(json))
}

/// A setting of a device: times in ns, energies in uJ, sizes in bytes.
fn setting(device: &str, key: &str) -> Result<Value, Error> {
    let device = devices::find(device).map_err(|error| wrong(error.to_string()))?;
    let all = device.config.describe();
    let Some(found) = all.iter().find(|setting| setting.key == key) else {
        return Err(wrong(format!("'{key}' is no setting (`ftlab list keys`)")));
    };
    let value = json(&found.value);
    let Some(text) = value.as_str() else {
        return Ok(Value::from(Serde(&value)));
    };
    let number = Duration::parse(text)
        .map(|time| time.0 as f64)
        .or_else(|| Bytes::parse(text).map(|bytes| bytes.0 as f64))
        .or_else(|| Energy::parse(text).map(|energy| energy.0 as f64 / PJ_PER_UJ));
    Ok(number.map_or_else(|| Value::from(text), Value::from))
}

fn add_curves(environment: &mut Environment<'static>, access: &Access) {
    let own = access.clone();
    environment.add_function("p", move |id: &str, percentile: f64| -> Number {
        let run = own.run(id)?;
        Ok(of_percentile(&run.latency_ns.all.system, percentile)? as f64 / NS_PER_MS)
    });
    let own = access.clone();
    environment.add_function("cdf_at", move |id: &str, ms: f64| -> Number {
        Ok(share_within(&own.run(id)?.cdf.all, ms * NS_PER_MS))
    });
    let own = access.clone();
    environment.add_function("crossing", move |a: &str, b: &str| -> Result<Value, Error> {
        Ok(Value::from(crossing(&own.run(a)?.cdf.all, &own.run(b)?.cdf.all)))
    });
}

fn of_percentile(summary: &LatencySummary, percentile: f64) -> Result<u64, Error> {
    let Percentiles { p50, p90, p95, p99, p99_9, p99_99 } = summary.percentile;
    let known =
        [(50.0, p50), (90.0, p90), (95.0, p95), (99.0, p99), (99.9, p99_9), (99.99, p99_99)];
    let found = known.iter().find(|(name, _)| (name - percentile).abs() < 1e-9);
    found.map(|(_, value)| *value).ok_or_else(|| {
        wrong(format!("percentile {percentile} is not kept; legal: 50, 90, 95, 99, 99.9, 99.99"))
    })
}

/// The share of requests that were not slower.
fn share_within(curve: &[CdfPoint], ns: f64) -> f64 {
    curve.iter().take_while(|(time, _)| *time as f64 <= ns).last().map_or(0.0, |(_, share)| *share)
}

/// The time within which a share of the requests was done.
fn quantile(curve: &[CdfPoint], share: f64) -> u64 {
    let reached = curve.iter().find(|(_, reached)| *reached >= share);
    reached.or(curve.last()).map_or(0, |(time, _)| *time)
}

/// The largest share up to which `a` is not slower than `b`, where it is slower from there on.
fn crossing(a: &[CdfPoint], b: &[CdfPoint]) -> Option<f64> {
    let mut shares: Vec<f64> = a.iter().chain(b).map(|(_, share)| *share).collect();
    shares.sort_by(f64::total_cmp);
    let slower = |share: &f64| quantile(a, *share) > quantile(b, *share);
    if !shares.last().is_some_and(slower) {
        return None;
    }
    shares.into_iter().rev().find(|share| !slower(share))
}

/// A name in an expression that nothing stands behind, once it could not be evaluated.
fn unknown_name<'a>(
    environment: &'a Environment<'_>,
    expression: &Expression<'_, '_>,
    bound: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let names = expression.undeclared_variables(false);
    let known: BTreeSet<&str> = environment.globals().map(|(name, _)| name).chain(bound).collect();
    let unknown = names.iter().filter(|name| !known.contains(name.as_str())).min()?;
    let near = ftlab_engine::config::nearest(unknown, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; nearest: {near}"));
    Some(format!("there is no name '{unknown}' here{near}"))
}

/// An expression for each item of a list, bound to `w`, beside what is bound already.
fn for_each(state: &State<'_, '_>, list: &Value, text: &str) -> Result<Vec<Value>, Error> {
    let expression = state.env().compile_expression(text)?;
    let bound = |name| state.lookup(name).filter(|value| !value.is_undefined());
    let outer: Vec<(&str, Value)> =
        ["g", "s", "part"].into_iter().filter_map(|name| Some((name, bound(name)?))).collect();
    let of_names = |error: Error| {
        let bound = outer.iter().map(|(name, _)| *name).chain(["w"]);
        match unknown_name(state.env(), &expression, bound) {
            Some(unknown) => wrong(format!("in '{text}', {unknown}")),
            None => error,
        }
    };
    let mut values = Vec::new();
    for item in list.try_iter()? {
        let all = outer.iter().cloned().chain([("w", item)]);
        values.push(expression.eval(Value::from_pairs(all)).map_err(of_names)?);
    }
    Ok(values)
}

fn numbers(values: &[Value]) -> Result<Vec<f64>, Error> {
    values.iter().map(f64_of).collect()
}

/// The item with the value that `better` prefers to every other.
fn best(
    state: &State<'_, '_>,
    list: &Value,
    text: &str,
    better: fn(f64, f64) -> bool,
) -> Result<Value, Error> {
    let values = numbers(&for_each(state, list, text)?)?;
    let mut found: Option<(f64, Value)> = None;
    for (item, value) in list.try_iter()?.zip(values) {
        if found.as_ref().is_none_or(|(kept, _)| better(value, *kept)) {
            found = Some((value, item));
        }
    }
    found.map(|(_, item)| item).ok_or_else(|| wrong("the list is empty"))
}

fn add_lists(environment: &mut Environment<'static>) {
    environment.add_function("each", |state: &State<'_, '_>, list: Value, text: &str| {
        for_each(state, &list, text)
    });
    environment.add_function("every", |state: &State<'_, '_>, list: Value, text: &str| {
        let values = for_each(state, &list, text)?;
        match values.iter().all(|value| value.kind() == ValueKind::Bool) {
            true => Ok(values.iter().all(Value::is_true)),
            false => Err(wrong(format!("'{text}' is neither true nor false"))),
        }
    });
    environment.add_function("argmin", |state: &State<'_, '_>, list: Value, text: &str| {
        best(state, &list, text, |a, b| a < b)
    });
    environment.add_function("argmax", |state: &State<'_, '_>, list: Value, text: &str| {
        best(state, &list, text, |a, b| a > b)
    });
    environment
        .add_function("total", |list: Vec<Value>| -> Number { Ok(numbers(&list)?.iter().sum()) });
    environment.add_function(
        "met",
        |ours: Vec<Value>, printed: Vec<Value>, scale: f64| -> Result<usize, Error> {
            let (ours, printed) = (numbers(&ours)?, numbers(&printed)?);
            match ours.len() == printed.len() {
                true => {
                    Ok(ours.iter().zip(printed).filter(|&(&a, b)| is_met(a * scale, b)).count())
                }
                false => {
                    Err(wrong(format!("{} counts, but {} printed", ours.len(), printed.len())))
                }
            }
        },
    );
    environment.add_function("mean_of", |list: Vec<Value>| -> Number {
        let all = numbers(&list)?;
        match all.len() {
            0 => Err(wrong("the mean of an empty list")),
            count => Ok(all.iter().sum::<f64>() / count as f64),
        }
    });
}

/// Whether a count is as printed: within 20 %, or within twice the square root of a small one.
fn is_met(count: f64, printed: f64) -> bool {
    let apart = if printed >= 25.0 { 0.2 * printed } else { 2.0 * printed.sqrt() };
    (count - printed).abs() <= apart
}

fn add_numbers(environment: &mut Environment<'static>) {
    environment.add_function("abs", |value: f64| value.abs());
    environment.add_function("sqrt", |value: f64| value.sqrt());
    environment.add_function("log10", |value: f64| value.log10());
    environment.add_function("round", |value: f64, more: Kwargs| -> Number {
        let digits = more.get::<Option<i32>>("digits")?.unwrap_or(0);
        more.assert_all_used()?;
        let factor = 10f64.powi(digits);
        Ok((value * factor).round() / factor)
    });
}

#[cfg(test)]
mod tests;
