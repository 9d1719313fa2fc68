//! `--requests-out`: a row per request, in a file that appears only when it is complete.

use std::path::Path;

use ftlab_report::records::{Cell, RECORD_FORMATS, RecordFormat, RecordWriter, Row, record_format};

use crate::error::{Error, Result};
use crate::files::{CompleteFile, ResultFile, check_beside};
use crate::unfinished::Unfinished;

/// Where the rows of one run go.
pub struct RequestsFile {
    file: ResultFile,
    writer: Box<dyn RecordWriter>,
    cells: Vec<Cell>,
}

impl RequestsFile {
    /// Whether `path` can be claimed beside the folder of results `out`, without a look at whether
    /// it exists: it must end as one of the formats does and lie in a folder that is there.
    pub fn check_place(path: &Path, out: Option<&Path>) -> Result<()> {
        Self::format(path)?;
        check_beside("--requests-out", path, out)
    }

    /// The format that the name ends as.
    fn format(path: &Path) -> Result<&'static RecordFormat> {
        let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default();
        let Some(format) = record_format(extension) else {
            let legal: Vec<String> =
                RECORD_FORMATS.iter().map(|format| format!(".{}", format.extension)).collect();
            return Err(Error::usage(format!(
                "--requests-out {} must end in {}",
                path.display(),
                legal.join(" or ")
            )));
        };
        Ok(format)
    }

    /// Claims a path that was found free before ([`ResultFile::begin`]).
    pub fn begin(path: &Path, unfinished: &Unfinished) -> Result<Self> {
        let format = Self::format(path)?;
        let file = ResultFile::begin(path, unfinished)?;
        let writer = (format.start)(file.handle()?).map_err(|error| file.cannot(&error))?;
        Ok(RequestsFile { file, writer, cells: Vec::new() })
    }

    /// Takes the row of one request.
    pub fn take(&mut self, row: &Row) -> Result<()> {
        row.fill(&mut self.cells);
        self.writer.write(&self.cells).map_err(|error| self.file.cannot(&error))
    }

    /// Completes the file and closes it; its name is still to be given.
    pub fn complete(self) -> Result<CompleteFile> {
        self.writer.finish().map_err(|error| self.file.cannot(&error))?;
        self.file.complete()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_file_of_requests_lies_beside_the_results() {
        let home = tempfile::tempdir().unwrap();
        let (out, other) = (home.path().join("out"), home.path().join("other"));
        std::fs::create_dir_all(out.join("deep")).unwrap();
        std::fs::create_dir(&other).unwrap();
        let refusal = |path: PathBuf| {
            RequestsFile::check_place(&path, Some(&out)).err().map(|error| error.to_string())
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
        assert!(RequestsFile::check_place(&out, Some(&out)).is_err(), "the folder's own name");
    }
}
