//! `--trace-out`: what the device did for some requests, as trace events, in a file that appears
//! only when it is complete.

use std::io::Write as _;
use std::path::Path;

use ftlab_report::probe::{PROBE_REQUESTS_MAX, ProbeWindow};
use ftlab_report::result::Probe;
use ftlab_report::trace_events;

use crate::error::{Error, Result};
use crate::files::{CompleteFile, ResultFile, check_beside};
use crate::unfinished::Unfinished;

/// What is traced where no request is asked for: as many as a probe takes.
pub const FIRST_REQUESTS: ProbeWindow = ProbeWindow { from: 0, count: PROBE_REQUESTS_MAX };

/// Where the events of one run go.
pub struct TraceFile {
    file: ResultFile,
}

impl TraceFile {
    /// Whether `path` can be claimed beside the folder of results `out`, without a look at whether
    /// it exists.
    pub fn check_place(path: &Path, out: Option<&Path>) -> Result<()> {
        match path.extension().is_some_and(|ends| ends.eq_ignore_ascii_case("json")) {
            true => check_beside("--trace-out", path, out),
            false => Err(Error::usage(format!("--trace-out {} must end in .json", path.display()))),
        }
    }

    /// Claims a path that was found free before ([`ResultFile::begin`]).
    pub fn begin(path: &Path, unfinished: &Unfinished) -> Result<Self> {
        Ok(TraceFile { file: ResultFile::begin(path, unfinished)? })
    }

    /// Takes what was seen; `title` says what ran. A sentence for the result where not all of it
    /// found room.
    pub fn take(&mut self, seen: &Probe, title: &str) -> Result<Option<String>> {
        let bytes = trace_events::write(seen, title);
        let written = self.file.handle()?.write_all(&bytes);
        written.map_err(|error| self.file.cannot(&error))?;
        let kept = seen.timeline.unit.len();
        Ok((seen.timeline.left_out > 0).then(|| {
            format!(
                "The file of --trace-out holds the first {kept} operations of its requests; {} \
                 more found no room. --probe FROM:COUNT chooses fewer requests.",
                seen.timeline.left_out
            )
        }))
    }

    /// Completes the file and closes it; its name is still to be given.
    pub fn complete(self) -> Result<CompleteFile> {
        self.file.complete()
    }
}
