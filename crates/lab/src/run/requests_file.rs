//! `--requests-out`: a row per request, in a file that appears only when it is complete.

use std::path::{Path, PathBuf};

use ftlab_report::records::{Cell, RECORD_FORMATS, RecordFormat, RecordWriter, Row, record_format};

use crate::error::{Error, Result};
use crate::files::{ClosedFile, ResultFile, check_folder, folder_of, refuse_existing};
use crate::unfinished::Unfinished;

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
    pub fn check_place(path: &Path, out: Option<&Path>) -> Result<()> {
        Self::format(path)?;
        let shown = path.display();
        if let Some(out) = out.filter(|out| lies_in(path, out)) {
            let out_shown = out.display();
            return Err(Error::usage(format!(
                "--requests-out {shown} lies in --out {out_shown}, which takes results only and \
                 must be empty; legal: a file in another folder"
            )));
        }
        check_folder("--requests-out", path)
    }

    /// The same of a file whose name is final, which must be new, too.
    pub fn check(path: &Path, out: Option<&Path>) -> Result<()> {
        Self::check_place(path, out)?;
        refuse_existing(path)
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
        Ok(RequestsFile { path: path.to_owned(), file, writer, cells: Vec::new() })
    }

    /// Takes the row of one request.
    pub fn take(&mut self, row: &Row) -> Result<()> {
        row.fill(&mut self.cells);
        self.writer.write(&self.cells).map_err(|error| self.file.cannot(&error))
    }

    /// Completes the file and closes it; its name is still to be given.
    pub fn complete(self) -> Result<CompleteRequests> {
        self.writer.finish().map_err(|error| self.file.cannot(&error))?;
        Ok(CompleteRequests { path: self.path, file: self.file.close()? })
    }
}

/// A file of requests that is complete and still without its name; it goes away when this is
/// dropped.
#[derive(Debug)]
pub struct CompleteRequests {
    path: PathBuf,
    file: ClosedFile,
}

impl CompleteRequests {
    /// The name that it is to have.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// Something has that name by now; nothing is overwritten.
    pub fn publish(self) -> Result<()> {
        self.file.publish()
    }
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

    #[test]
    fn the_scheme_goes_before_the_extension() {
        let path = |text| path_for_scheme(Path::new(text), "dftl:gtd");
        assert_eq!(path("out/a.b.csv"), Path::new("out/a.b-dftl-gtd.csv"));
        let unit = path_for_unit(Path::new("out/a.b.csv"), 3);
        assert_eq!(path_for_scheme(&unit, "fast"), Path::new("out/a.b-unit-3-fast.csv"));
        assert_eq!(path("rows"), Path::new("rows-dftl-gtd"));
    }
}
