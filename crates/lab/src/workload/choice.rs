//! The workload that was chosen: what `--workload` means under the options of reading, and how it
//! is opened.

use std::path::Path;
use std::sync::Arc;

use ftlab_engine::config::nearest;
use ftlab_report::format::count;
use ftlab_trace::synthetic::with_changes;
use ftlab_trace::{Decoded, Options, Synthetic, UnitSelection, Workload};

use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::options::reading::Reading;
use crate::workload::files::WORKLOADS;
use crate::workload::resolve::resolved;
use crate::workload::stand_in::{StandIn, requests_of};
use crate::workload::subset;
use crate::workload::trace_dir::Whole;

/// What was chosen with `--workload`, before it is opened.
#[derive(Clone, Debug)]
pub struct WorkloadChoice {
    /// Its name in results.
    pub name: String,
    /// A path, `-`, or an inline spec.
    pub text: String,
    /// How a trace is read.
    pub options: Options,
    /// The stand-ins in it.
    pub stand_ins: Vec<StandIn>,
    /// Sentences for every result: what `--trace-dir` did.
    pub notes: Vec<String>,
    /// What the requests of a real trace are compared with once they are counted.
    pub whole: Option<Whole>,
    /// Requests of its kind that come before its own, if it is generated: `--precondition
    /// warmup:N`.
    pub lead: u64,
    /// The records of a trace, where they are held for several runs.
    pub decoded: Option<Arc<Decoded>>,
}

impl WorkloadChoice {
    /// Finds out what was meant; a file of that name comes before a bundled workload. `changes`
    /// are settings of the spec, as in `--set workload.KEY=VALUE`. A search for units is watched;
    /// where nobody looks it is left out, and only what is asked for is judged.
    pub fn new(
        text: &str,
        reading: &Reading,
        changes: &[(String, String)],
        observer: Option<&dyn Observer>,
    ) -> Result<Self> {
        let options = reading.options()?;
        let folder = reading.trace_dir.as_deref();
        let found = resolved(text, folder, 0)?;
        if folder.is_some() && found.notes.is_empty() {
            return Err(Error::usage(format!(
                "--trace-dir has no effect: '{text}' names no stand-in (`ftlab list workloads`)"
            )));
        }
        let mut choice = WorkloadChoice {
            name: text.to_owned(),
            text: found.text,
            options,
            stand_ins: found.stand_ins,
            notes: found.notes,
            whole: found.whole,
            lead: 0,
            decoded: None,
        };
        if reading.find_subset {
            choice.narrow(found.real.as_deref(), observer)?;
        }
        choice.change(changes)?;
        Ok(choice)
    }

    /// `--find-subset`: of the real trace, only the units that come nearest to its source.
    fn narrow(&mut self, real: Option<&str>, observer: Option<&dyn Observer>) -> Result<()> {
        let Some(like) = real else {
            return Err(Error::usage(
                "--find-subset has no effect without a real trace; legal: with --workload NAME and \
                 --trace-dir DIR that holds it, or `ftlab trace find-subset FILE --like NAME`",
            ));
        };
        if self.options.units != UnitSelection::default() {
            return Err(Error::usage("--find-subset and --unit exclude each other"));
        }
        let read = Options { skip_bad: self.options.skip_bad, ..Options::default() };
        let workload = Workload::parse(&self.text, &read, 0)?;
        let Some(observer) = observer else { return Ok(()) };
        let found = subset::search(&workload, like, observer)?;
        let units = found.unit_list();
        self.notes.push(format!(
            "Units {units} of {} were used: of all subsets they come nearest to the source of \
             {like} (distance {:.4}).",
            self.text, found.search.nearest[0].distance
        ));
        self.notes.extend(found.not_counted().map(str::to_owned));
        self.options.units = units.parse()?;
        Ok(())
    }

    /// `--set workload.KEY=VALUE`, which shows in the name.
    fn change(&mut self, changes: &[(String, String)]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        if Path::new(&self.text).exists() || !Synthetic::recognises(&self.text) {
            return Err(Error::usage(format!(
                "--set workload.{} has no effect: '{}' is not one generated workload (--head N \
                 shortens a trace)",
                changes[0].0, self.name
            )));
        }
        let list: Vec<String> =
            changes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let separator = if self.name.contains(':') { ',' } else { ':' };
        self.name = format!("{}{separator}{}", self.name, list.join(","));
        let (spec, touched) = with_changes(&self.text, changes)?;
        self.text = spec;
        for stand_in in &mut self.stand_ins {
            stand_in.changed |= touched;
            stand_in.made = requests_of(&self.text);
        }
        Ok(())
    }

    /// What a result says the workload stands for.
    pub fn stands_for(&self) -> Option<String> {
        // The head of a combination is not that of any of its parts.
        let head = self.options.head.filter(|_| Synthetic::recognises(&self.text));
        let one = |stand_in: &StandIn| match self.stand_ins.len() {
            1 => stand_in.says(head),
            _ => format!("{}: {}", stand_in.name, stand_in.says(head)),
        };
        let mut all: Vec<String> = self.stand_ins.iter().map(one).collect();
        if all.is_empty() {
            return None;
        }
        all.extend(self.head_of_combination());
        Some(all.join(" | "))
    }

    /// That `--head` leaves a part of a combination, if it does.
    fn head_of_combination(&self) -> Option<String> {
        let head = self.options.head.filter(|_| !Synthetic::recognises(&self.text))?;
        let options = Options { head: None, ..self.options.clone() };
        let workload = Workload::parse(&self.text, &options, 0).ok();
        match workload.and_then(|workload| workload.requests_known()) {
            Some(whole) if head >= whole => None,
            Some(whole) => Some(format!("shortened: {} of {} requests", count(head), count(whole))),
            // With a trace among the parts, or as many as the device has pages.
            None => Some(format!("shortened: {} requests at most", count(head))),
        }
    }

    /// So many requests will come before it; none, if it is not a single generated workload, which
    /// alone can be that much longer.
    pub fn lead_in(&mut self, requests: u64) {
        self.lead = if self.is_generated() { requests } else { 0 };
    }

    /// What is read and how: in what is equal in this the records are the same. How large a request
    /// may be follows from the memory that is free at the moment.
    pub fn reading(&self) -> String {
        let options = Options { request_bytes_max: u64::MAX, ..self.options.clone() };
        format!("{} {options:?}", self.text)
    }

    /// Is it a single generated workload?
    pub fn is_generated(&self) -> bool {
        !Path::new(&self.text).exists() && Synthetic::recognises(&self.text)
    }

    /// Opens it for a device of `logical_bytes`, 0 when that is not known yet; with what comes
    /// before it.
    pub fn open(&self, logical_bytes: u64) -> Result<Workload> {
        let own = self.open_own(logical_bytes)?;
        Ok(if self.lead > 0 { own.prolonged(self.lead) } else { own })
    }

    /// Opens it alone.
    pub fn open_own(&self, logical_bytes: u64) -> Result<Workload> {
        let opened = Workload::parse(&self.text, &self.options, logical_bytes);
        let opened = opened.map(|own| match &self.decoded {
            Some(decoded) => own.held(Arc::clone(decoded)),
            None => own,
        });
        opened.map_err(|error| {
            let names = WORKLOADS.iter().map(|workload| workload.name);
            match nearest(&self.text, names).filter(|_| !Path::new(&self.text).exists()) {
                Some(near) => {
                    Error::usage(format!("{error}; the nearest bundled workload is '{near}'"))
                }
                None => error.into(),
            }
        })
    }

    /// Is it standard input, which can be read only once?
    pub fn is_standard_input(&self) -> bool {
        self.text == "-"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use ftlab_trace::Combination;

    fn choice(text: &str, changes: &[(&str, &str)]) -> Result<WorkloadChoice> {
        let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        let changes: Vec<_> = changes.iter().map(own).collect();
        WorkloadChoice::new(text, &Reading::default(), &changes, Some(&Silent))
    }

    #[test]
    fn a_stand_in_says_what_it_stands_for_and_whether_it_was_changed() {
        let plain = choice("financial", &[]).unwrap();
        assert!(plain.stands_for().unwrap().contains("Table 4"));
        let longer = choice("financial", &[("requests", "1000")]).unwrap();
        assert_eq!(longer.name, "financial:requests=1000");
        assert!(longer.text.contains("count=1000,"), "{}", longer.text);
        assert_eq!(
            longer.stands_for().unwrap(),
            format!("{}; shortened: 1,000 of 327,000 requests", plain.stands_for().unwrap()),
            "its length is no statistic, but it is not the source's"
        );
        let mut headed = plain.clone();
        headed.options.head = Some(500);
        assert_eq!(headed.stands_for(), choice("financial:count=500", &[]).unwrap().stands_for());
        headed.options.head = Some(1_000_000);
        assert_eq!(headed.stands_for(), plain.stands_for(), "there are not so many");
        let longer = choice("web1:count=600000", &[]).unwrap().stands_for().unwrap();
        assert!(longer.ends_with("; prolonged: 600,000 requests instead of 300,000"), "{longer}");
        let other = choice("financial:rwmixread=50,count=7", &[]).unwrap();
        assert!(other.text.contains("rwmixread=50,") && other.text.contains("count=7,"));
        assert!(other.stands_for().unwrap().contains("need not fit"));
        assert_eq!(choice("oltp_demo", &[]).unwrap().stands_for(), None);
    }

    /// A made-up trace of three units; one alone reads 99 % and has the size of a web search.
    #[test]
    fn a_real_trace_is_narrowed_to_the_units_that_come_nearest() {
        let file = tempfile::Builder::new().suffix(".spc").tempfile().unwrap();
        let mut lines = String::new();
        for turn in 0..100u64 {
            let searched = if turn == 0 { 'w' } else { 'r' };
            let at = if turn % 7 == 0 { turn * 30 } else { 1_000_000 - turn * 64 };
            lines += &format!("0,{},4096,w,{turn}.1\n", turn * 8);
            lines += &format!("1,{at},15360,{searched},{turn}.2\n");
            lines += &format!("2,{},512,w,{turn}.3\n", 7 * turn);
        }
        std::fs::write(file.path(), lines).unwrap();
        let path = file.path().display().to_string();
        let mut narrowed = choice(&path, &[]).unwrap();
        narrowed.narrow(Some("websearch"), Some(&Silent)).unwrap();
        assert_eq!(narrowed.options.units, "1".parse().unwrap());
        let notes = narrowed.notes.join(" ");
        assert!(notes.contains(&format!("Units 1 of {path} were used")), "{notes}");
        assert!(notes.contains("nearest to the source of websearch (distance "), "{notes}");
        assert!(notes.contains("number of requests is not compared"), "{notes}");
        let count = narrowed.open(0).unwrap().records().unwrap().count();
        assert_eq!(count, 100, "the other units are left out");
        // Units that were chosen by hand are not chosen again.
        let refusal = narrowed.narrow(Some("websearch"), Some(&Silent)).unwrap_err().to_string();
        assert!(refusal.contains("--find-subset and --unit"), "{refusal}");
        let refusal =
            choice(&path, &[]).unwrap().narrow(None, Some(&Silent)).unwrap_err().to_string();
        assert!(refusal.contains("--trace-dir DIR"), "{refusal}");
    }

    #[test]
    fn names_inside_combinations_become_specs_and_stay_names() {
        let spec = "randread:bs=4k,span=1M,rate_iops=5";
        let both = choice(&format!("phases:(financial:count=5),web1,({spec})"), &[]).unwrap();
        let parts = Combination::parse(&both.text).unwrap().unwrap().parts;
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["financial", "web1", spec]);
        assert!(parts[0].text.starts_with("randrw:") && parts[0].text.contains("count=5,"));
        let said = both.stands_for().unwrap();
        assert!(said.contains("financial: Gupta") && said.contains("web1: Hu"), "{said}");
        assert!(said.contains("shortened: 5 of 327,000 requests | web1"), "{said}");
        assert_eq!(both.open(0).unwrap().parts().unwrap().1, names);
    }

    /// The head of a combination was that of none of its parts, and nothing said so.
    #[test]
    fn the_head_of_a_combination_shortens_the_whole() {
        let mut both = choice("phases:financial,web1", &[]).unwrap();
        let all = both.open(0).unwrap().requests_known().unwrap();
        let said = |choice: &WorkloadChoice| choice.stands_for().unwrap();
        assert!(!said(&both).contains("shortened"), "{}", said(&both));
        both.options.head = Some(5);
        let ending = format!(" | shortened: 5 of {} requests", count(all));
        assert!(said(&both).ends_with(&ending), "{}", said(&both));
        both.options.head = Some(all);
        assert!(!said(&both).contains("shortened"), "{}", said(&both));
    }

    #[test]
    fn changes_that_would_do_nothing_are_refused() {
        let refusal = |text, changes: &[_]| choice(text, changes).unwrap_err().to_string();
        assert!(refusal("-", &[("requests", "5")]).contains("no effect"));
        assert!(refusal("financial:cuont=5", &[]).contains("'count'"));
        assert!(refusal("financial:count", &[]).contains("has no value"));
    }
}
