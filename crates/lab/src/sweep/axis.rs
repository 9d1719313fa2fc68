//! Axes of a sweep: what is varied, over which values, and for which schemes.

use std::path::Path;

use ftlab_engine::config::Config;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::schemes::Schemes;
use crate::sweep::range;
use crate::workload::resolve::{is_replaced, with_shifted_seeds};

/// Names that stand for others.
const ALIASES: [(&str, &str); 3] =
    [("op", "device.over_provisioning"), ("cache", "ram"), ("schemes", "scheme")];

/// Options that no axis can be: what they write is a sweep's own, or they hold several settings.
const NO_AXES: [&str; 4] = ["set", "requests-out", "trace-out", "save-snapshot"];

/// What is varied: an option of a run by its name, or a setting by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it was written, which heads columns.
    pub text: String,
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    /// The scheme, of which a point has one.
    Scheme,
    /// Seed of the device, and what is added to the seeds of generated workloads.
    Seed,
    /// An option, as experiments call it.
    Option(&'static str),
    /// A setting.
    Key(String),
}

impl Name {
    fn parse(text: &str) -> Result<Self> {
        let name = ALIASES.iter().find(|(short, _)| *short == text).map_or(text, |(_, long)| long);
        let meaning = match name {
            "scheme" => Meaning::Scheme,
            "seed" => Meaning::Seed,
            key if key.starts_with("workload.") => Meaning::Key(key.to_owned()),
            key if Config::default().describe().iter().any(|known| known.key == key) => {
                Meaning::Key(key.to_owned())
            }
            name => Meaning::Option(option(text, name)?),
        };
        Ok(Name { text: text.to_owned(), meaning })
    }

    /// Whether it is the scheme.
    pub fn is_scheme(&self) -> bool {
        self.meaning == Meaning::Scheme
    }

    /// Whether its values are repetitions of the same.
    pub fn is_seed(&self) -> bool {
        self.meaning == Meaning::Seed
    }

    /// Whether two names vary the same.
    fn is_like(&self, other: &Name) -> bool {
        self.meaning == other.meaning
    }

    /// Puts a value into an experiment.
    pub fn apply(&self, value: &str, to: &mut Experiment) -> Result<()> {
        match &self.meaning {
            Meaning::Scheme => to.schemes = value.into(),
            Meaning::Seed => {
                let seed: u64 = value.parse().map_err(|_| {
                    Error::usage(format!("seed '{value}' is no whole number from 1 on"))
                })?;
                let by = seed.checked_sub(1).ok_or_else(|| {
                    Error::usage("seed 0 is not legal; legal: whole numbers from 1 on")
                })?;
                to.seed = seed;
                // A recorded trace is the same under every seed.
                let real = match &to.trace_dir {
                    Some(folder) => is_replaced(&to.workload, folder)?,
                    None => false,
                };
                if by > 0 && !real && !Path::new(&to.workload).exists() {
                    to.workload = with_shifted_seeds(&to.workload, by)?;
                }
            }
            Meaning::Option(name) => *to = with_option(to, name, value)?,
            Meaning::Key(key) => to.set.push(format!("{key}={value}")),
        }
        Ok(())
    }
}

/// An option that can be varied.
fn option(text: &str, name: &str) -> Result<&'static str> {
    let legal = Experiment::OPTIONS.iter().filter(|known| !NO_AXES.contains(known));
    if let Some(known) = legal.clone().find(|known| **known == name) {
        return Ok(known);
    }
    if NO_AXES.contains(&name) {
        return Err(Error::usage(format!(
            "'{text}' is no axis; legal: options of a run, or a setting by its own key \
             (`ftlab list keys`)"
        )));
    }
    if text.contains('.') {
        let near = Config::default().nearest_key(text);
        let near = near.map_or_else(String::new, |near| format!("; the nearest is '{near}'"));
        return Err(Error::usage(format!("no setting is called '{text}'{near}")));
    }
    let options = legal.filter(|name| **name != "schemes").copied();
    let names: Vec<&str> = ["scheme", "op", "cache"].into_iter().chain(options).collect();
    Err(Error::unknown("axis", text, &names))
}

/// An experiment with one option as its text says.
fn with_option(experiment: &Experiment, name: &str, value: &str) -> Result<Experiment> {
    let wrong = |error: serde_json::Error| Error::usage(format!("--{name} {value}: {error}"));
    let mut options = serde_json::to_value(experiment).map_err(wrong)?;
    let own = match value {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => Value::from(text),
    };
    let members: &mut Map<String, Value> =
        options.as_object_mut().expect("an experiment is a table of options");
    members.insert(name.to_owned(), own);
    serde_json::from_value(options).map_err(wrong)
}

/// One axis: one name, or several that are varied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What is varied.
    pub names: Vec<Name>,
    /// A value for each name.
    pub values: Vec<Vec<String>>,
    /// The schemes that it is for; all where nothing is stated.
    pub only: Option<Schemes>,
}

impl Axis {
    /// `NAME=VALUES`, `NAME[SCHEMES]=VALUES`, or `NAME&NAME=VALUE&VALUE,...` for names that are
    /// varied together.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::usage(format!(
                "'{text}' is no axis: {why}; legal: NAME=VALUE,VALUE, NAME=FROM..TO+STEP or *FACTOR, \
                 NAME[SCHEMES]=... for some schemes, NAME&NAME=VALUE&VALUE,... together, and (VALUE) \
                 where a value holds commas or blanks"
            ))
        };
        let (head, values) = text.split_once('=').ok_or_else(|| wrong("it has no '='"))?;
        let (names, only) = match head.split_once('[') {
            None => (head, None),
            Some((names, only)) => {
                let only = only.strip_suffix(']').ok_or_else(|| wrong("'[' is never closed"))?;
                (names, Some(only))
            }
        };
        let names: Vec<&str> = names.split('&').collect();
        let parts = split(values, ',').ok_or_else(|| wrong("'(' and ')' do not match"))?;
        let mut all = Vec::new();
        for part in parts {
            let together = match names.len() {
                1 => vec![part],
                _ => split(part, '&').ok_or_else(|| wrong("'(' and ')' do not match"))?,
            };
            if together.len() != names.len() {
                return Err(wrong(&format!("'{part}' has not a value for each name")));
            }
            all.push(together);
        }
        Axis::of(&names, &all, only)
    }

    /// Of names and, for each value of the axis, a text for each name.
    pub fn of(names: &[&str], values: &[Vec<&str>], only: Option<&str>) -> Result<Self> {
        let names: Vec<Name> = names.iter().map(|name| Name::parse(name)).collect::<Result<_>>()?;
        let mut all: Vec<Vec<String>> = Vec::new();
        for together in values {
            let own: Vec<&str> = together.iter().map(|text| unwrapped(text.trim())).collect();
            match own.as_slice() {
                [one] => match range::values(one)? {
                    Some(range) => all.extend(range.into_iter().map(|value| vec![value])),
                    None => all.push(vec![(*one).to_owned()]),
                },
                several => all.push(several.iter().map(|&text| text.to_owned()).collect()),
            }
        }
        let shown = || names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("&");
        if all.iter().flatten().any(String::is_empty) {
            return Err(Error::usage(format!("axis {}: a value is empty", shown())));
        }
        if let Some(twice) = all.iter().enumerate().find(|(at, value)| all[..*at].contains(value)) {
            return Err(Error::usage(format!(
                "axis {}: '{}' is there twice",
                shown(),
                twice.1.join("&")
            )));
        }
        if all.len() > range::VALUES_MAX {
            return Err(Error::usage(format!(
                "axis {}: more than {} values",
                shown(),
                range::VALUES_MAX
            )));
        }
        Ok(Axis { names, values: all, only: only.map(Schemes::from) })
    }

    /// A name that another axis has too.
    pub fn shares(&self, other: &Axis) -> Option<&str> {
        let is_there = |name: &&Name| other.names.iter().any(|known| known.is_like(name));
        self.names.iter().find(is_there).map(|name| name.text.as_str())
    }
}

/// The axes of a text, with blanks between them.
pub fn axes(text: &str) -> Result<Vec<Axis>> {
    let parts = split_where(text, char::is_whitespace)
        .ok_or_else(|| Error::usage(format!("--grid '{text}': '(' and ')' do not match")))?;
    parts.into_iter().filter(|part| !part.is_empty()).map(Axis::parse).collect()
}

fn split(text: &str, at: char) -> Option<Vec<&str>> {
    split_where(text, |c| c == at)
}

/// Parts of a text, outside brackets; `None` where these do not match.
fn split_where(text: &str, is_border: impl Fn(char) -> bool) -> Option<Vec<&str>> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            c if depth == 0 && is_border(c) => {
                parts.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    (depth == 0).then_some(parts)
}

/// A value without the brackets around all of it.
fn unwrapped(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.filter(|inner| split_where(inner, |_| false).is_some()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(axis: &Axis) -> Vec<String> {
        axis.values.iter().map(|value| value.join("&")).collect()
    }

    #[test]
    fn a_grid_is_a_line_of_axes() {
        let grid = "scheme=dftl,tpftl  cache[family:cached_map]=16KiB..64KiB*2 op=7%..21%+7% \
                    workload=(randwrite:bs=4k,span=1GiB),financial seed=1..3";
        let axes = axes(grid).unwrap();
        let names: Vec<&str> = axes.iter().map(|axis| axis.names[0].text.as_str()).collect();
        assert_eq!(names, ["scheme", "cache", "op", "workload", "seed"]);
        assert_eq!(flat(&axes[1]), ["16KiB", "32KiB", "64KiB"]);
        assert_eq!(axes[1].only.as_ref().unwrap().to_string(), "family:cached_map");
        assert_eq!(flat(&axes[3]), ["randwrite:bs=4k,span=1GiB", "financial"]);
        assert_eq!(flat(&axes[4]), ["1", "2", "3"]);
    }

    #[test]
    fn names_are_varied_together_where_they_stand_together() {
        let axis = Axis::parse("capacity&op=1GiB&7%,2GiB&14%").unwrap();
        assert_eq!((axis.names.len(), flat(&axis)), (2, vec!["1GiB&7%".into(), "2GiB&14%".into()]));
        let wrong = Axis::parse("capacity&op=1GiB").unwrap_err().to_string();
        assert!(wrong.contains("not a value for each name"), "{wrong}");
    }

    #[test]
    fn a_value_goes_where_it_belongs() {
        let put = |axis: &str, value: &str| {
            let mut experiment = Experiment {
                workload: "randwrite:bs=4k,span=1MiB,seed=7".to_owned(),
                ..Experiment::default()
            };
            Name::parse(axis).and_then(|name| name.apply(value, &mut experiment))?;
            Ok::<_, Error>(experiment)
        };
        assert_eq!(put("scheme", "dftl:gtd").unwrap().schemes.to_string(), "dftl:gtd");
        assert_eq!(put("op", "7%").unwrap().set.as_slice(), ["device.over_provisioning=7%"]);
        assert_eq!(put("gc.threshold", "3").unwrap().set.as_slice(), ["gc.threshold=3"]);
        assert_eq!(put("workload.zipf", "1").unwrap().set.as_slice(), ["workload.zipf=1"]);
        assert_eq!(put("cache", "64KiB").unwrap().ram.unwrap().to_string(), "65536");
        assert_eq!(put("head", "5000").unwrap().head, Some(5000));
        assert!(put("verify", "true").unwrap().verify);
        assert_eq!(
            put("precondition", "fill,cache=cold").unwrap().precondition.to_string(),
            "fill,cache=cold"
        );
        let third = put("seed", "3").unwrap();
        assert_eq!((third.seed, &*third.workload), (3, "randwrite:bs=4k,span=1MiB,seed=9"));
        assert_eq!(put("seed", "1").unwrap().workload, "randwrite:bs=4k,span=1MiB,seed=7");
        for (axis, value, why) in [
            ("seed", "0", "from 1 on"),
            ("head", "x", "--head x"),
            ("timing", "never", "--timing never"),
            ("set", "a=b", "by its own key"),
            ("gc.treshold", "1", "gc.threshold"),
            ("sheme", "dftl", "did you mean 'scheme'"),
        ] {
            let told = put(axis, value).unwrap_err().to_string();
            assert!(told.contains(why), "{axis}: {told}");
        }
    }

    #[test]
    fn what_is_no_axis_says_what_is_legal() {
        for (text, why) in [
            ("scheme", "no '='"),
            ("op[dftl=7%", "never closed"),
            ("workload=(a", "do not match"),
            ("op=7%,7%", "there twice"),
            ("op=7%,", "a value is empty"),
        ] {
            let told = Axis::parse(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
