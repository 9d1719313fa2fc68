//! `--requests-out`: a row per request, in a file that appears only when it is complete; and
//! `--probe`: some requests under the microscope.

use std::path::{Path, PathBuf};

use ftlab_engine::request::{Completion, Request};
use ftlab_engine::ssd::Device;
use ftlab_report::probe::{PROBE_REQUESTS_MAX, ProbeRecorder, ProbeWindow};
use ftlab_report::records::{
    Cell, RECORD_FORMATS, RecordFormat, RecordWriter, Recorder, Row, record_format,
};
use ftlab_report::result::Probe;

use crate::failure::{Failure, Outcome};
use crate::output::{ClosedFile, ResultFile, refuse_existing};

/// Where the rows of one run go.
pub struct RequestsFile {
    path: PathBuf,
    file: ResultFile,
    writer: Box<dyn RecordWriter>,
    cells: Vec<Cell>,
}

impl RequestsFile {
    /// Whether `path` can be claimed beside the folder of results `out`, without a look at whether
    /// it exists: it must end as one of the formats does and lie in a folder that is there.
    pub fn check_place(path: &Path, out: &Path) -> Outcome<()> {
        Self::format(path)?;
        let (shown, out_shown) = (path.display(), out.display());
        if lies_in(path, out) {
            return Err(Failure::usage(format!(
                "--requests-out {shown} lies in --out {out_shown}, which takes results only and \
                 must be empty; legal: a file in another folder"
            )));
        }
        match folder_of(path).is_dir() {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "--requests-out {shown}: {} is no folder; legal: a file in a folder that exists",
                folder_of(path).display()
            ))),
        }
    }

    /// The same of a file whose name is final, which must be new, too.
    pub fn check(path: &Path, out: &Path) -> Outcome<()> {
        Self::check_place(path, out)?;
        refuse_existing(path)
    }

    /// The format that the name ends as.
    fn format(path: &Path) -> Outcome<&'static RecordFormat> {
        let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default();
        let Some(format) = record_format(extension) else {
            let legal: Vec<String> =
                RECORD_FORMATS.iter().map(|format| format!(".{}", format.extension)).collect();
            return Err(Failure::usage(format!(
                "--requests-out {} must end in {}",
                path.display(),
                legal.join(" or ")
            )));
        };
        Ok(format)
    }

    /// Claims `path`, which must be new.
    pub fn claim(path: &Path) -> Outcome<Self> {
        refuse_existing(path)?;
        Self::begin(path)
    }

    /// The same for a path that was found free before ([`ResultFile::begin`]).
    pub fn begin(path: &Path) -> Outcome<Self> {
        let format = Self::format(path)?;
        let file = ResultFile::begin(path)?;
        let writer = (format.start)(file.handle()?).map_err(|error| file.cannot(&error))?;
        Ok(RequestsFile { path: path.to_owned(), file, writer, cells: Vec::new() })
    }

    /// Takes the row of one request.
    pub fn take(&mut self, row: &Row) -> Outcome<()> {
        row.fill(&mut self.cells);
        self.writer.write(&self.cells).map_err(|error| self.file.cannot(&error))
    }

    /// Completes the file and closes it; its name comes with it, and is still to be given.
    pub fn complete(self) -> Outcome<(PathBuf, ClosedFile)> {
        self.writer.finish().map_err(|error| self.file.cannot(&error))?;
        Ok((self.path, self.file.close()?))
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Is `path`, which need not exist, the folder `out` or in it? What is there is told without its
/// links and steps back.
fn lies_in(path: &Path, out: &Path) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |path: &Path| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    let real_out = out.canonicalize().ok().or_else(|| real(out));
    match real(path).zip(real_out) {
        Some((path, out)) => path.starts_with(out),
        None => absolute(path).starts_with(absolute(out)),
    }
}

/// What is asked for of one run.
#[derive(Default)]
pub struct Recording<'a> {
    /// Where a row per request goes.
    pub requests: Option<&'a mut RequestsFile>,
    /// Which requests are looked at closely.
    pub probe: Option<ProbeWindow>,
}

/// Watches one run for everybody who wants to know about single requests.
pub struct Observer<'a> {
    rows: Option<(Recorder, &'a mut RequestsFile)>,
    probe: Option<ProbeRecorder>,
}

impl<'a> Observer<'a> {
    /// Before the first measured request.
    pub fn new(recording: Recording<'a>, device: &dyn Device) -> Self {
        Observer {
            rows: recording.requests.map(|file| (Recorder::new(device), file)),
            probe: recording.probe.map(ProbeRecorder::new),
        }
    }

    /// A request arrives, in order of arrival.
    #[inline]
    pub fn arrives(&mut self, device: &mut dyn Device, request: &Request) {
        if let Some(probe) = &mut self.probe {
            probe.arrives(device, request);
        }
    }

    /// A request was served.
    #[inline]
    pub fn served(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        completion: &Completion,
    ) -> Outcome<()> {
        if let Some((recorder, file)) = &mut self.rows {
            file.take(&recorder.row(device, request, completion))?;
        }
        if let Some(probe) = &mut self.probe {
            probe.served(device, request, completion);
        }
        Ok(())
    }

    /// What the probe saw, after the last request.
    pub fn finish(self, device: &mut dyn Device) -> Option<Probe> {
        self.probe.map(|probe| probe.finish(device))
    }
}

/// What is asked for by `--probe FROM:COUNT`, where the workload is known to have `requests`.
pub fn probe_window(text: Option<&str>, requests: Option<u64>) -> Outcome<Option<ProbeWindow>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let window = || {
        let (from, count) = text.split_once(':')?;
        let count = count.parse().ok().filter(|count| (1..=PROBE_REQUESTS_MAX).contains(count))?;
        Some(ProbeWindow { from: from.parse().ok()?, count })
    };
    let window = window().ok_or_else(|| {
        Failure::usage(format!(
            "--probe '{text}' is not legal; legal: FROM:COUNT, FROM from 0, COUNT from 1 to \
             {PROBE_REQUESTS_MAX}"
        ))
    })?;
    match requests {
        Some(requests) if window.from >= requests => Err(Failure::usage(format!(
            "--probe {text} begins behind the workload, which has {requests} requests, 0 to {}",
            requests.saturating_sub(1)
        ))),
        _ => Ok(Some(window)),
    }
}

/// `requests.csv` of the scheme `dftl:gtd` is `requests-dftl-gtd.csv`.
pub fn path_for_scheme(path: &Path, scheme: &str) -> PathBuf {
    path_with(path, &scheme.replace(':', "-"))
}

/// `requests.csv` of the unit 3 is `requests-unit-3.csv`, from which those of its schemes follow.
pub fn path_for_unit(path: &Path, unit: u32) -> PathBuf {
    path_with(path, &format!("unit-{unit}"))
}

fn path_with(path: &Path, part: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{part}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_first_request_and_a_count() {
        let window = probe_window(Some("7:2000"), Some(8)).unwrap().unwrap();
        assert_eq!((window.from, window.count), (7, 2000));
        for text in ["", "7", "7:0", "7:2001", "-1:5", "7:-5", "a:b", "1:2:3"] {
            let refusal = probe_window(Some(text), None).unwrap_err().to_string();
            assert!(refusal.contains("FROM:COUNT") && refusal.contains("2000"), "{refusal}");
        }
        let refusal = probe_window(Some("8:1"), Some(8)).unwrap_err().to_string();
        assert!(refusal.contains("0 to 7"), "{refusal}");
    }

    #[test]
    fn a_file_of_requests_lies_beside_the_results() {
        let home = tempfile::tempdir().unwrap();
        let (out, other) = (home.path().join("out"), home.path().join("other"));
        std::fs::create_dir_all(out.join("deep")).unwrap();
        std::fs::create_dir(&other).unwrap();
        let refusal = |path: PathBuf| {
            RequestsFile::check_place(&path, &out).err().map(|failure| failure.to_string())
        };
        for inside in [out.join("r.csv"), out.join("deep/r.csv"), other.join("../out/r.csv")] {
            let why = refusal(inside).unwrap();
            assert!(why.contains("lies in --out") && why.contains("another folder"), "{why}");
        }
        for beside in [home.path().join("r.csv"), other.join("r.csv"), out.join("../out.csv")] {
            assert_eq!(refusal(beside), None);
        }
        assert!(refusal(home.path().join("none/r.csv")).unwrap().contains("none is no folder"));
        let out = home.path().join("r.csv");
        assert!(RequestsFile::check_place(&out, &out).is_err(), "the folder's own name");
    }

    #[test]
    fn the_scheme_goes_before_the_extension() {
        let path = |text| path_for_scheme(Path::new(text), "dftl:gtd");
        assert_eq!(path("out/a.b.csv"), Path::new("out/a.b-dftl-gtd.csv"));
        let unit = path_for_unit(Path::new("out/a.b.csv"), 3);
        assert_eq!(path_for_scheme(&unit, "fast"), Path::new("out/a.b-unit-3-fast.csv"));
        assert_eq!(path("rows"), Path::new("rows-dftl-gtd"));
    }
}
