//! `--trace-out`: what a probe saw, as events that Perfetto and Chrome's tracing draw.
//!
//! The array of Chrome's trace-event format (Duffy, "Trace Event Format"), an event a line: a
//! complete event (`X`) per piece of work, on a thread for each die, plane, channel, the
//! controller, RAM and phase-change memory; per request a pair of nestable asynchronous events
//! (`b`, `e`), with its wait in the driver's queue and its time in the device within. Times are
//! microseconds on the clock of arrivals. What is bounded is the probe.

use serde::Serialize;
use serde_json::{Value, json};

use crate::result::Probe;

/// The process that the parts of the device belong to.
const DEVICE: u32 = 1;

/// The process that requests belong to.
const HOST: u32 = 2;

/// One event.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'static str,
    /// Microseconds.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: usize,
    /// Of asynchronous events.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

impl Event<'_> {
    const NONE: Event<'static> = Event {
        name: "",
        cat: "",
        ph: "",
        ts: 0.0,
        dur: None,
        pid: HOST,
        tid: 0,
        id: None,
        args: None,
    };
}

/// Events, a line each.
struct Lines {
    bytes: Vec<u8>,
}

impl Lines {
    fn push(&mut self, event: &Event<'_>) {
        self.bytes.extend(if self.bytes.is_empty() { b"[\n" } else { b",\n" });
        serde_json::to_writer(&mut self.bytes, event)
            .expect("an event has string keys only, and memory takes every byte");
    }

    /// What a process or a thread is called, and where it stands.
    fn name(&mut self, kind: &'static str, (pid, tid): (u32, usize), name: &str) {
        let place = if kind == "thread" { tid } else { pid as usize };
        for (what, args) in [
            (format!("{kind}_name"), json!({ "name": name })),
            (format!("{kind}_sort_index"), json!({ "sort_index": place })),
        ] {
            let args = Some(args);
            self.push(&Event { name: &what, ph: "M", pid, tid, args, ..Event::NONE });
        }
    }
}

/// Writes the file; `title` says what ran.
#[must_use]
pub fn write(probe: &Probe, title: &str) -> Vec<u8> {
    let mut lines = Lines { bytes: Vec::new() };
    lines.name("process", (DEVICE, 0), title);
    lines.name("process", (HOST, 0), "host requests");
    let units = units(probe);
    for (tid, unit) in (1..).zip(&units) {
        lines.name("thread", (DEVICE, tid), unit);
    }
    work(&mut lines, probe, &units);
    requests(&mut lines, probe);
    lines.bytes.extend(b"\n]\n");
    lines.bytes
}

fn microseconds(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

/// The parts that worked: each kind by number.
fn units(probe: &Probe) -> Vec<&str> {
    let order = |unit: &str| {
        let (kind, number) = unit.split_once(' ').unwrap_or((unit, "0"));
        let kinds = ["controller", "ram", "pcm", "channel", "die", "plane"];
        (kinds.iter().position(|one| *one == kind), number.parse::<u64>().ok())
    };
    let mut units: Vec<&str> = probe.timeline.unit.iter().map(String::as_str).collect();
    units.sort_by_key(|unit| (order(unit), *unit));
    units.dedup();
    units
}

fn work(lines: &mut Lines, probe: &Probe, units: &[&str]) {
    let timeline = &probe.timeline;
    for (place, unit) in timeline.unit.iter().enumerate() {
        let (start, end) = (timeline.start_ns[place], timeline.end_ns[place]);
        let (work, cause) = (&timeline.work[place], &timeline.cause[place]);
        let thread = units.iter().position(|one| one == unit).expect("every unit is listed");
        let args = json!({ "work": work, "cause": cause, "planes": timeline.planes[place] });
        lines.push(&Event {
            // What is called alike is coloured alike.
            name: &format!("{cause} {work}"),
            cat: cause,
            ph: "X",
            ts: microseconds(start),
            dur: Some(microseconds(end - start)),
            pid: DEVICE,
            tid: thread + 1,
            args: Some(args),
            ..Event::NONE
        });
    }
}

fn requests(lines: &mut Lines, probe: &Probe) {
    let seen = &probe.requests;
    for (place, index) in seen.index.iter().enumerate() {
        let arrival = seen.arrival_ns[place];
        let done = arrival + seen.system_ns[place];
        let admitted = done - seen.device_ns[place];
        let args = json!({
            "index": index,
            "first_sector": seen.first_sector[place],
            "sectors": seen.sectors[place],
            "queue_depth": seen.queue_depth[place],
            "flash_reads": seen.flash_reads[place],
            "flash_programs": seen.flash_programs[place],
            "erases": seen.erases[place],
        });
        let at = |name, ph, nanos| Event {
            name,
            cat: "request",
            ph,
            ts: microseconds(nanos),
            id: Some(index.to_string()),
            ..Event::NONE
        };
        lines.push(&Event { args: Some(args), ..at(&seen.op[place], "b", arrival) });
        for (name, from, to) in [("driver queue", arrival, admitted), ("device", admitted, done)] {
            if from < to {
                lines.push(&at(name, "b", from));
                lines.push(&at(name, "e", to));
            }
        }
        lines.push(&at(&seen.op[place], "e", done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{ProbeRequests, ProbeTimeline};

    #[test]
    fn an_event_is_a_line_and_times_are_microseconds() {
        let probe = Probe {
            from: 7,
            count: 1,
            requests: ProbeRequests {
                index: vec![7],
                arrival_ns: vec![1_500],
                op: vec!["write".to_owned()],
                first_sector: vec![16],
                sectors: vec![8],
                system_ns: vec![230_250],
                device_ns: vec![200_250],
                queue_depth: vec![2],
                flash_reads: vec![0],
                flash_programs: vec![1],
                gc_page_copies: vec![0],
                erases: vec![0],
            },
            timeline: ProbeTimeline {
                unit: vec!["die 10".to_owned(), "die 9".to_owned()],
                start_ns: vec![31_500, 40_001],
                end_ns: vec![231_750, 50_000],
                work: vec!["program".to_owned(), "read".to_owned()],
                cause: vec!["host".to_owned(), "merge".to_owned()],
                planes: vec![1, 2],
                left_out: 0,
            },
        };
        let text = String::from_utf8(write(&probe, "a title")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("[", "]"));
        let events: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(events.len(), lines.len() - 2);
        let names: Vec<&str> = events.iter().map(|event| event["name"].as_str().unwrap()).collect();
        let sort = ["thread_name", "thread_sort_index"];
        assert_eq!(names[4..8], [sort[0], sort[1], sort[0], sort[1]]);
        assert_eq!(events[4]["args"]["name"], "die 9", "by number, not by letter");
        assert_eq!(
            events[8],
            json!({
                "name": "host program", "cat": "host", "ph": "X", "ts": 31.5, "dur": 200.25,
                "pid": 1, "tid": 2,
                "args": { "work": "program", "cause": "host", "planes": 1 },
            })
        );
        let asynchronous: Vec<(&str, &str, f64)> = events[10..]
            .iter()
            .map(|event| {
                assert_eq!((&event["id"], &event["cat"]), (&json!("7"), &json!("request")));
                let text = |key: &str| event[key].as_str().unwrap();
                (text("ph"), text("name"), event["ts"].as_f64().unwrap())
            })
            .collect();
        let expected = [
            ("b", "write", 1.5),
            ("b", "driver queue", 1.5),
            ("e", "driver queue", 31.5),
            ("b", "device", 31.5),
            ("e", "device", 231.75),
            ("e", "write", 231.75),
        ];
        assert_eq!(asynchronous, expected);
    }

    #[test]
    fn a_probe_that_saw_nothing_is_a_file_all_the_same() {
        let events: Vec<Value> =
            serde_json::from_slice(&write(&Probe::default(), "nothing")).unwrap();
        assert!(events.iter().all(|event| event["ph"] == "M"));
    }
}
