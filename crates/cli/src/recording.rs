//! `--requests-out`: a row per request, in a file that appears only when it is complete.

use std::path::{Path, PathBuf};

use ftlab_report::records::{Cell, RECORD_FORMATS, RecordWriter, Row, record_format};

use crate::failure::{Failure, Outcome};
use crate::output::ResultFile;

/// Where the rows of one run go.
pub struct RequestsFile {
    path: PathBuf,
    file: ResultFile,
    writer: Box<dyn RecordWriter>,
    cells: Vec<Cell>,
}

impl RequestsFile {
    /// Claims `path`, which must be new and end as one of the formats does.
    pub fn claim(path: &Path) -> Outcome<Self> {
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
        let file = ResultFile::claim(path)?;
        let writer = (format.start)(file.handle()?).map_err(|error| file.cannot(&error))?;
        Ok(RequestsFile { path: path.to_owned(), file, writer, cells: Vec::new() })
    }

    /// Takes the row of one request.
    pub fn take(&mut self, row: &Row) -> Outcome<()> {
        row.fill(&mut self.cells);
        self.writer.write(&self.cells).map_err(|error| self.file.cannot(&error))
    }

    /// Completes the file and gives it its name, which is returned.
    pub fn publish(self) -> Outcome<PathBuf> {
        self.writer.finish().map_err(|error| self.file.cannot(&error))?;
        self.file.persist()?;
        Ok(self.path)
    }
}

/// `requests.csv` of the scheme `dftl:gtd` is `requests-dftl-gtd.csv`.
pub fn path_for_scheme(path: &Path, scheme: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}", scheme.replace(':', "-")));
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
    fn the_scheme_goes_before_the_extension() {
        let path = |text| path_for_scheme(Path::new(text), "dftl:gtd");
        assert_eq!(path("out/a.b.csv"), Path::new("out/a.b-dftl-gtd.csv"));
        assert_eq!(path("rows"), Path::new("rows-dftl-gtd"));
    }
}
