//! What jobs of fio measured: probes, with their figures. A job that is none is left out by name,
//! with the reason; an option that is not known is told.

use std::collections::BTreeMap;

use ftlab_report::calibration::{Figures, Tails};

use crate::calibrate::figures::figures;
use crate::calibrate::fio::{Document, Job, Side};
use crate::calibrate::observations::Fitted;
use crate::calibrate::options::{Plain, plain};
use crate::calibrate::probe::Probe;
use crate::error::{Error, Result};

/// Jobs whose names begin so bring a drive into a state; they measure nothing.
const PREPARING: &str = "precondition";
/// Of the requests that a depth promises so many must have been in flight, else it is told.
const DEPTH_HELD: f64 = 0.85;
/// And no more than so many times as many can have been, but for what fio's clocks err.
const DEPTH_EXCEEDED: f64 = 1.15;
/// What smaller blocks make of the times of random writes, which wait for whole collections, at
/// least: a planted drive of 128 pages a block came out 45 % too short at depth 16 on a model of
/// 32. What blocks that are more than four times as large make of them nobody measured.
const SMALL_BLOCKS: f64 = 0.6;

/// A probe that was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Which.
    pub probe: Probe,
    /// `FILE: JOB`.
    pub job: String,
    /// What came out.
    pub figures: Figures,
    /// Which of its percentiles are the device's where it is simulated, so that they are fitted.
    pub tails: Tails,
}

impl Measured {
    /// What of it is fitted.
    pub fn fitted(&self) -> Fitted {
        let (figures, at_random) = (self.figures.clone(), self.probe.pattern.is_random());
        let kept = match self.tails {
            Tails::Fitted => return Fitted { figures, error_least: 0.0 },
            Tails::Median => 1,
            Tails::Shown => 0,
        };
        let mut percentile_ns = figures.percentile_ns;
        percentile_ns[kept..].fill(None);
        Fitted {
            figures: Figures { percentile_ns, ..figures },
            error_least: if at_random { SMALL_BLOCKS } else { 0.0 },
        }
    }
}

/// What jobs turned out to be.
#[derive(Clone, Debug, Default)]
pub struct Understood {
    /// Probes, in the order of the files.
    pub measured: Vec<Measured>,
    /// Jobs that are none, and why.
    pub left_out: Vec<(String, String)>,
    /// What a reader must know, and of which jobs; of all of them where none is named.
    notes: Vec<(String, Vec<String>)>,
}

impl Understood {
    /// Adds the jobs of a document.
    ///
    /// # Errors
    /// A job that says what it did, and not how long it took, with its name and field.
    pub fn add(&mut self, file: &str, document: &Document) -> Result<()> {
        let jobs = document.jobs.as_deref().unwrap_or_default();
        let mut begin = 0;
        while begin < jobs.len() {
            let (name, group) = (&jobs[begin].name, jobs[begin].groupid);
            let same = |job: &&Job| job.name == *name && job.groupid == group;
            let count = jobs[begin..].iter().take_while(same).count();
            let together = jobs.iter().find(|job| job.groupid == group && job.name != *name);
            let told = format!("{file}: {name}");
            let entries = &jobs[begin..begin + count];
            match self.job(&told, &document.global, entries, together)? {
                Ok(measured) => self.measured.push(measured),
                Err(why) => self.left_out.push((told, why)),
            }
            begin += count;
        }
        Ok(())
    }

    /// One job of so many entries; why it is left out, where it is.
    fn job(
        &mut self,
        told: &str,
        global: &BTreeMap<String, String>,
        entries: &[Job],
        together: Option<&Job>,
    ) -> Result<Result<Measured, String>> {
        let job = &entries[0];
        let steady = entries.iter().filter_map(|entry| entry.steadystate.as_ref());
        if steady.filter_map(|steady| steady.attained).any(|attained| attained == 0) {
            self.note(
                told,
                "its rate had not settled when it ended (steadystate.attained is 0), so that what was \
                 measured behind it may not be steady state",
            );
        }
        if job.name.starts_with(PREPARING) {
            return Ok(Err("it prepares the drive, as its name says".to_owned()));
        }
        if let Some(failed) = entries.iter().find(|entry| entry.error != 0) {
            return Ok(Err(format!("fio reports error {}", failed.error)));
        }
        if let Some(other) = together {
            return Ok(Err(format!(
                "it ran, or may have run, at the same time as {} (one groupid: `stonewall` is missing, \
                 or `wait_for` stands in its place)",
                other.name
            )));
        }
        if entries.iter().any(|entry| entry.mixed.is_some()) {
            return Ok(Err("unified_rw_reporting mixes reads and writes".to_owned()));
        }
        let Plain { probe, jobs, notes } = match plain(global, &job.options) {
            Ok(plain) => plain,
            Err(why) => return Ok(Err(why)),
        };
        if entries.len() > 1 && entries.len() as u64 != u64::from(jobs) {
            return Ok(Err(format!("numjobs={jobs}, but it has {} entries", entries.len())));
        }
        let (field, sides): (_, Vec<Option<&Side>>) = match probe.pattern.writes() {
            true => ("write", entries.iter().map(|entry| entry.write.as_ref()).collect()),
            false => ("read", entries.iter().map(|entry| entry.read.as_ref()).collect()),
        };
        let wrong = |what: &str| Error::usage(format!("{told}: {field}{what}"));
        let sides: Vec<&Side> = sides
            .into_iter()
            .map(|side| side.ok_or_else(|| wrong(" is missing")))
            .collect::<Result<_>>()?;
        if sides.iter().any(|side| side.total_ios == 0) {
            return Ok(Err(format!("no {field} of it was completed")));
        }
        let (figures, shifted) = figures(&sides).map_err(|what| wrong(&what))?;
        let held = figures.iops * figures.mean_ns / 1e9;
        if held > DEPTH_EXCEEDED * f64::from(probe.depth) {
            return Ok(Err(format!(
                "its rate times its response time is {held:.1} requests in flight, of {} at most \
                 (iodepth times numjobs): its figures contradict each other",
                probe.depth
            )));
        }
        notes.iter().for_each(|note| self.note(told, note));
        if shifted {
            self.note_shifted();
        }
        if held < DEPTH_HELD * f64::from(probe.depth) {
            let note = format!(
                "{held:.1} of {} requests were in flight on average (rate times response time), so \
                 that the host, not the drive, bounds its rate",
                probe.depth
            );
            self.note(told, &note);
        }
        Ok(Ok(Measured { probe, job: told.to_owned(), figures, tails: Tails::Fitted }))
    }

    /// Writes are fitted by their means and rates alone, but for those in order, one at a time, up
    /// to so many bytes: so few of them meet an erase, of large blocks as of small ones, that their
    /// median is a program's, which a mean does not tell from the erase that every page pays a part
    /// of. The device's blocks are so many times as large as those that are simulated, which is
    /// told.
    pub fn leave_tails_of_writes(&mut self, up_to: u64, larger: f64) {
        let writes = self.measured.iter_mut().filter(|one| one.probe.pattern.writes());
        let mut any = false;
        for one in writes {
            let Probe { pattern, bytes, depth } = one.probe;
            let is_alone = !pattern.is_random() && depth == 1 && bytes <= up_to;
            (one.tails, any) = (if is_alone { Tails::Median } else { Tails::Shown }, true);
        }
        if any {
            self.note_of_all(&format!(
                "Percentiles of writes are shown, not fitted (but the median of short ones in order, \
                 one at a time), and random writes count little: the device's blocks are {larger:.0} \
                 times as large as those that are simulated, whose collections and erases are shorter \
                 and more frequent; of one planted drive, of blocks 4 times as large, random writes came \
                 out 45 % too short at depth 16 for that alone, and what larger ones make of them was not \
                 measured"
            ));
        }
    }

    /// Refuses a probe that was measured twice: which of its figures hold nobody says, and both
    /// would count as if they were different ones.
    ///
    /// # Errors
    /// The probe, and both jobs with their files.
    pub fn refuse_repeated(&self) -> Result<()> {
        let twice = self.measured.iter().enumerate().find_map(|(place, one)| {
            let earlier = self.measured[..place].iter().find(|other| other.probe == one.probe)?;
            Some((one.probe, &earlier.job, &one.job))
        });
        match twice {
            None => Ok(()),
            Some((probe, one, other)) => Err(Error::usage(format!(
                "{probe} was measured twice, by {one} and by {other}; legal: each pattern, size and \
                 depth once, so leave out one of these files or jobs"
            ))),
        }
    }

    fn note_shifted(&mut self) {
        self.note_of_all(
            "Percentiles are of the time behind submission (clat) with the mean of the time before it \
             (slat) on top; lat_percentiles=1 measures the whole",
        );
    }

    /// What a reader must know, in sentences; of many jobs the first are named.
    pub fn notes(&self) -> Vec<String> {
        let sentence = |(note, jobs): &(String, Vec<String>)| match jobs.as_slice() {
            [] => format!("{note}."),
            [one, other, _, rest @ ..] => {
                format!("{one}, {other} and {} more: {note}.", rest.len() + 1)
            }
            few => format!("{}: {note}.", few.join(", ")),
        };
        self.notes.iter().map(sentence).collect()
    }

    fn note(&mut self, job: &str, note: &str) {
        match self.notes.iter_mut().find(|(known, jobs)| known == note && !jobs.is_empty()) {
            Some((_, jobs)) => jobs.push(job.to_owned()),
            None => self.notes.push((note.to_owned(), vec![job.to_owned()])),
        }
    }

    fn note_of_all(&mut self, note: &str) {
        if !self.notes.iter().any(|(known, _)| known == note) {
            self.notes.push((note.to_owned(), Vec::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::fio;

    fn understood(jobs: &str) -> Result<Understood> {
        let text = format!(
            r#"{{"fio version": "fio-3.33", "global options": {{"direct": "1", "bs": "4k",
            "ioengine": "libaio"}}, "jobs": [{jobs}]}}"#
        );
        let mut all = Understood::default();
        for document in fio::parse("f.json", &text)? {
            all.add("f.json", &document)?;
        }
        Ok(all)
    }

    fn job(name: &str, options: &str, side: &str) -> String {
        format!(r#"{{"jobname": "{name}", "job options": {{{options}}}, {side}}}"#)
    }

    const READ: &str = r#""read": {"iops": 8000, "total_ios": 4000, "slat_ns": {"mean": 1000},
        "clat_ns": {"mean": 124000, "percentile": {"50.000000": 100000, "99.000000": 200000}},
        "lat_ns": {"mean": 125000}}"#;
    const RANDOM: &str = r#""rw": "randread", "iodepth": "1""#;

    #[test]
    fn a_job_becomes_a_probe_with_mean_rate_and_percentiles_of_the_whole_time() {
        let all = understood(&job("r", RANDOM, READ)).unwrap();
        let [one] = all.measured.as_slice() else { panic!("{all:?}") };
        assert_eq!(one.probe.to_string(), "randread:bs=4096,iodepth=1");
        assert_eq!((one.figures.mean_ns, one.figures.iops), (125_000.0, 8000.0));
        assert_eq!(one.figures.percentile_ns[0], Some(101_000.0));
        assert_eq!(one.figures.percentile_ns[3], Some(201_000.0));
        assert_eq!(one.figures.percentile_ns[4], None, "fewer than ten requests were slower");
        assert!(all.notes()[0].contains("lat_percentiles=1"), "{:?}", all.notes());
    }

    /// A short form of the job file that is shipped, on a drive of `ftlab serve` (fio 3.33).
    #[test]
    fn what_fio_wrote_about_a_served_drive_is_read() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/fio/served.json");
        let mut all = Understood::default();
        for document in fio::read(file).unwrap() {
            assert_eq!(document.version.as_deref(), Some("fio-3.33"));
            all.add("served.json", &document).unwrap();
        }
        let names: Vec<String> = all.measured.iter().map(|one| one.probe.to_string()).collect();
        assert_eq!(
            names,
            [
                "write:bs=131072,iodepth=4",
                "read:bs=131072,iodepth=4",
                "randread:bs=4096,iodepth=1",
                "randread:bs=4096,iodepth=16",
                "randread:bs=131072,iodepth=4",
                "randwrite:bs=4096,iodepth=1",
                "randwrite:bs=4096,iodepth=16",
            ]
        );
        let left_out: Vec<&str> = all.left_out.iter().map(|(job, _)| job.as_str()).collect();
        let preparing = ["precondition-in-order", "precondition-random"];
        assert_eq!(left_out, preparing.map(|name| format!("served.json: {name}")));
        // fio's own list of percentiles of this job, which comes from the same bins.
        let alone = &all.measured[2].figures;
        assert!((alone.mean_ns - 205_348.0).abs() < 1.0 && (alone.iops - 4848.0).abs() < 1.0);
        assert_eq!(alone.percentile_ns[0], Some(177_152.0));
        assert_eq!(alone.percentile_ns[1], Some(209_920.0));
        let notes = all.notes();
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(
            notes[0].starts_with("served.json: write-128k-4, served.json: read-128k-4 and 3 more:")
        );
        assert!(notes[0].contains("size=128m") && notes[1].contains("3 seconds"), "{notes:?}");
        assert!(notes[2].contains("not those of steady state"), "{notes:?}");
    }

    #[test]
    fn bins_of_several_entries_are_one_distribution() {
        let entry = |bins: &str| {
            let side = format!(
                r#""read": {{"iops": 100, "total_ios": 1000, "lat_ns": {{"mean": 1e7,
                "bins": {bins}}}}}"#
            );
            job("r", r#""rw": "randread", "iodepth": "1", "numjobs": "2""#, &side)
        };
        let two = format!("{}, {}", entry(r#"{"10": 1000}"#), entry(r#"{"20": 900, "30": 100}"#));
        let all = understood(&two).unwrap();
        let [one] = all.measured.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.probe.depth, one.figures.iops), (2, 200.0));
        let [p50, p90, p95, p99, ..] = one.figures.percentile_ns;
        assert_eq!([p50, p90, p95, p99], [Some(10.0), Some(20.0), Some(20.0), Some(30.0)]);
        assert!(all.notes().is_empty(), "{:?}", all.notes());
    }

    #[test]
    fn what_is_no_probe_is_left_out_by_name_with_the_reason() {
        let why = |jobs: &str| {
            let all = understood(jobs).unwrap();
            let (name, why) = all.left_out.first().expect("left out").clone();
            assert!(name.starts_with("f.json: "), "{name}");
            why
        };
        assert!(why(&job("precondition-fill", RANDOM, READ)).contains("prepares the drive"));
        let none = READ.replace("4000,", "0,");
        assert_eq!(why(&job("r", RANDOM, &none)), "no read of it was completed");
        let failed = job("r", RANDOM, &format!("\"error\": 5, {READ}"));
        assert_eq!(why(&failed), "fio reports error 5");
        let beside = format!("{}, {}", job("a", RANDOM, READ), job("b", RANDOM, READ));
        assert!(why(&beside).starts_with("it ran, or may have run, at the same time as b"));
        let half = RANDOM.replace("\"1\"", "\"1\", \"numjobs\": \"3\"");
        let two = format!("{}, {}", job("a", &half, READ), job("a", &half, READ));
        assert_eq!(why(&two), "numjobs=3, but it has 2 entries");
        let mixed = job("r", RANDOM, &format!("\"mixed\": {{}}, {READ}"));
        assert!(why(&mixed).contains("unified_rw_reporting"));
    }

    #[test]
    fn figures_that_are_missing_are_errors_with_job_and_field() {
        let refusal = |side: &str| understood(&job("r", RANDOM, side)).unwrap_err().to_string();
        assert_eq!(refusal("\"write\": {}"), "f.json: r: read is missing");
        let no_rate = READ.replace("\"iops\": 8000,", "");
        assert_eq!(refusal(&no_rate), "f.json: r: read.iops is missing; legal: a number above 0");
        for rate in ["0", "-3"] {
            let wrong = READ.replace("8000", rate);
            let expected = format!("f.json: r: read.iops is {rate}; legal: above 0");
            assert_eq!(refusal(&wrong), expected);
        }
        let no_time = READ.replace("125000", "0");
        assert_eq!(refusal(&no_time), "f.json: r: read.lat_ns.mean is 0; legal: above 0");
        let no_time = READ.replace("mean", "average");
        assert_eq!(
            refusal(&no_time),
            "f.json: r: read.lat_ns.mean is missing; legal: a number above 0"
        );
    }

    #[test]
    fn a_rate_that_had_not_settled_is_told_and_figures_that_contradict_each_other_are_left_out() {
        let side = format!("\"steadystate\": {{\"attained\": 0}}, {READ}");
        let all = understood(&job("precondition-random", RANDOM, &side)).unwrap();
        assert!(all.notes()[0].contains("had not settled"), "{all:?}");
        let settled = side.replace("\"attained\": 0", "\"attained\": 1");
        let all = understood(&job("precondition-random", RANDOM, &settled)).unwrap();
        assert!(all.notes().is_empty(), "{all:?}");
        let fast = READ.replace("\"iops\": 8000", "\"iops\": 9300");
        let all = understood(&job("r", RANDOM, &fast)).unwrap();
        assert!(all.left_out[0].1.contains("1.2 requests in flight, of 1"), "{all:?}");
    }

    #[test]
    fn a_probe_that_was_measured_twice_is_refused_with_both_jobs() {
        let two = format!("{}, {}", job("a", RANDOM, READ), job("b", RANDOM, READ));
        let mut all =
            understood(&two.replacen("\"jobname\"", "\"groupid\": 1, \"jobname\"", 1)).unwrap();
        let refusal = all.refuse_repeated().unwrap_err().to_string();
        assert!(refusal.contains("randread:bs=4096,iodepth=1 was measured twice"), "{refusal}");
        assert!(refusal.contains("by f.json: a and by f.json: b"), "{refusal}");
        all.measured.pop();
        assert!(all.refuse_repeated().is_ok());
    }

    /// Of writes only the median of short ones in order and alone stays.
    #[test]
    fn what_smaller_blocks_make_of_writes_is_not_fitted() {
        let write = READ.replace("\"read\"", "\"write\"");
        let of = |name: &str, pattern: &str, more: &str| {
            let options = format!(r#""rw": "{pattern}", {more}"#);
            let side = if pattern.contains("write") { &write } else { READ };
            format!(
                r#"{{"jobname": "{name}", "groupid": {name}, "job options": {{{options}}}, {side}}}"#
            )
        };
        let alone = r#""iodepth": "1""#;
        let jobs = [
            of("0", "randread", alone),
            of("1", "write", alone),
            of("2", "write", r#""iodepth": "1", "bs": "32k""#),
            of("3", "randwrite", alone),
        ];
        let mut all = understood(&jobs.join(", ")).unwrap();
        all.leave_tails_of_writes(16 << 10, 64.0);
        // The one drive that was measured had blocks four times as large: no other is told by its
        // number.
        let said = all.notes().join("\n");
        assert!(said.contains("the device's blocks are 64 times as large"), "{said}");
        assert!(said.contains("of blocks 4 times as large"), "{said}");
        let kept = |one: &Measured| one.fitted().figures.percentile_ns.iter().flatten().count();
        assert_eq!(all.measured.iter().map(kept).collect::<Vec<_>>(), [2, 1, 0, 0]);
        let least = |one: &Measured| one.fitted().error_least;
        assert_eq!(
            all.measured.iter().map(least).collect::<Vec<_>>(),
            [0.0, 0.0, 0.0, SMALL_BLOCKS]
        );
    }

    #[test]
    fn a_depth_that_the_host_did_not_hold_is_told() {
        let deep = RANDOM.replace("\"1\"", "\"16\"");
        let all = understood(&job("r", &deep, READ)).unwrap();
        assert!(all.notes().iter().any(|note| note.contains("1.0 of 16 requests")), "{all:?}");
    }
}
