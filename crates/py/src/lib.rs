//! What Python calls: the library behind the package `ftlab`, whose public face is written in
//! Python (`python/ftlab/`). Here are no defaults, no names of options and no words for people: an
//! experiment comes as its JSON, a result goes as its JSON, and every rule is the library's.
//!
//! Names, words and units come from `Experiment::OPTIONS`, the command's help and the schema, so
//! that what is new is there at once, and a test fails until `make stubs` was run.

mod errors;
mod experiments;
mod parquet_file;
mod policies;
mod request_columns;
mod results;
mod sweeping;
mod tables;
mod watched;

use pyo3::prelude::*;

/// The native part of the package `ftlab`; nothing here is public.
#[pymodule]
mod _ftlab {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use ftlab_lab::{Counting, Error, Experiment, Reading, Units};
    use ftlab_report::schema;
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyDict};

    use crate::errors::raised;
    use crate::policies::Policies;
    use crate::request_columns::RequestColumns;
    use crate::sweeping::{Asked, side_by_side};
    use crate::tables::Cells;
    use crate::watched::{watched, watched_under};
    use crate::{experiments, parquet_file, results, sweeping, tables};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("COMMIT", ftlab::COMMIT)?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("EXPERIMENT", Experiment::OPTIONS.to_vec())?;
        module.add("READING", Reading::OPTIONS.to_vec())?;
        module.add("COUNTING", Counting::OPTIONS.to_vec())?;
        module.add("TABLES", tables::TABLES.to_vec())
    }

    /// The program: its words in, its exit code out.
    #[pyfunction]
    fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| ftlab::main(words))
    }

    /// Name, value and words of every option of a command.
    #[pyfunction]
    fn options(command: &str) -> Vec<(String, Option<String>, String)> {
        let told = |one: ftlab::Described| (one.name, one.value, one.about);
        ftlab::options(command).into_iter().map(told).collect()
    }

    /// What `ftlab list NAME --json` prints.
    #[pyfunction]
    fn listing(py: Python<'_>, name: &str) -> PyResult<String> {
        Ok(raised(py, ftlab::listing(name))?.to_string())
    }

    /// The schema of results.
    #[pyfunction]
    fn schema_of_results() -> String {
        schema::results().to_string()
    }

    /// The same of rows of requests.
    #[pyfunction]
    fn schema_of_rows() -> String {
        schema::rows().to_string()
    }

    /// The error for a name that is none of these.
    #[pyfunction]
    fn unknown(py: Python<'_>, what: &str, name: &str, legal: Vec<String>) -> PyErr {
        let legal: Vec<&str> = legal.iter().map(String::as_str).collect();
        crate::errors::exception(py, &Error::unknown(what, name, &legal))
    }

    /// An experiment without what has its default.
    #[pyfunction]
    fn checked(py: Python<'_>, experiment: &str) -> PyResult<String> {
        raised(py, experiments::experiment(experiment).and_then(|own| experiments::json(&own)))
    }

    /// An experiment from TOML.
    #[pyfunction]
    fn from_toml(py: Python<'_>, text: &str) -> PyResult<String> {
        raised(py, Experiment::from_toml(text).and_then(|own| experiments::json(&own)))
    }

    /// An experiment as TOML.
    #[pyfunction]
    fn to_toml(py: Python<'_>, experiment: &str) -> PyResult<String> {
        raised(py, experiments::experiment(experiment).and_then(|own| own.to_toml()))
    }

    /// The command line of an experiment.
    #[pyfunction]
    fn command(py: Python<'_>, experiment: &str) -> PyResult<String> {
        Ok(raised(py, experiments::experiment(experiment))?.command())
    }

    /// A run: the result as JSON.
    #[pyfunction]
    fn run(
        py: Python<'_>,
        experiment: &str,
        policies: Option<Bound<'_, PyDict>>,
        reproducible: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let policies = Policies::of(policies.as_ref())?;
        watched_under(py, progress, &policies, |watching| {
            let mut own = experiments::experiment(experiment)?;
            own.own = policies.own.clone();
            let plan = own.plan_with(watching)?;
            if plan.schemes().len() > 1 {
                return Err(Error::usage("a run takes one scheme; `compare` takes several"));
            }
            results::json(plan.run(watching)?, reproducible)
        })
    }

    /// A comparison: the results as JSON, and of which unit where units run apart.
    #[pyfunction]
    fn compare(
        py: Python<'_>,
        experiment: &str,
        policies: Option<Bound<'_, PyDict>>,
        jobs: Option<i64>,
        reproducible: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(Option<u32>, Vec<String>)>> {
        let policies = Policies::of(policies.as_ref())?;
        watched_under(py, progress, &policies, |watching| {
            let mut own = experiments::experiment(experiment)?;
            own.own = policies.own.clone();
            let jobs = side_by_side(jobs)?;
            let comparisons = match own.unit == Units::Each {
                true => {
                    let apart = own.compare_units(None, watching)?.units;
                    apart.into_iter().map(|(unit, own)| (Some(unit), own)).collect()
                }
                false => vec![(None, own.compare_with(None, watching)?)],
            };
            let mut done = Vec::with_capacity(comparisons.len());
            for (unit, comparison) in comparisons {
                let within = |error: Error| match unit {
                    Some(unit) => error.within(&ftlab_lab::unit_name(unit)),
                    None => error,
                };
                let complete = comparison.run(jobs, watching).and_then(|all| all.complete());
                let complete = complete.map_err(within)?;
                let texts = complete.runs.into_iter().map(|run| results::json(run, reproducible));
                done.push((unit, texts.collect::<Result<_, _>>()?));
                complete.beside.into_iter().try_for_each(|file| file.publish())?;
            }
            Ok(done)
        })
    }

    /// What is in a workload: as the program tells it, and as JSON.
    #[pyfunction]
    fn inspect(
        py: Python<'_>,
        reading: &str,
        counting: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, String)> {
        watched(py, progress, |watching| {
            let (found, value) = experiments::inspection(reading, counting)?.run(watching)?;
            Ok((found.to_string(), value.to_string()))
        })
    }

    /// What a writer of the program makes of results.
    #[pyfunction]
    fn written<'py>(
        py: Python<'py>,
        format: &str,
        texts: Vec<String>,
        comparison: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| results::rewritten(format, &texts, comparison));
        Ok(PyBytes::new(py, &raised(py, made)?))
    }

    /// The tables of results as HTML.
    #[pyfunction]
    fn notebook(py: Python<'_>, texts: Vec<String>) -> PyResult<String> {
        let made = py.detach(|| results::notebook(&texts));
        raised(py, made)
    }

    /// The results that a file of the program holds, one JSON each.
    #[pyfunction]
    fn apart(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
        let made = py.detach(|| results::apart(text));
        raised(py, made)
    }

    /// A table of results, column by column: name, type (`q` `d` `?` of memoryview, `s` text),
    /// cells.
    #[pyfunction]
    fn columns(
        py: Python<'_>,
        of: &str,
        texts: Vec<String>,
    ) -> PyResult<Vec<(String, &'static str, Py<PyAny>)>> {
        let all = py.detach(|| tables::rows(of, &texts).map(|rows| tables::columns(&rows)));
        let all = raised(py, all)?.into_iter();
        all.map(|(name, cells)| handed(py, cells).map(|(kind, own)| (name, kind, own))).collect()
    }

    /// The same as a file of Parquet.
    #[pyfunction]
    fn parquet<'py>(
        py: Python<'py>,
        of: &str,
        texts: Vec<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| tables::parquet(&tables::rows(of, &texts)?));
        Ok(PyBytes::new(py, &raised(py, made)?))
    }

    /// Names of the columns of a file of Parquet, and its rows.
    #[pyfunction]
    fn parquet_shape(py: Python<'_>, path: PathBuf) -> PyResult<(Vec<String>, usize)> {
        raised(py, parquet_file::shape(&path))
    }

    /// A column of such a file: type and cells, as those of `columns`.
    #[pyfunction]
    fn parquet_column(
        py: Python<'_>,
        path: PathBuf,
        name: &str,
    ) -> PyResult<(&'static str, Py<PyAny>)> {
        let cells = py.detach(|| parquet_file::column(&path, name));
        handed(py, raised(py, cells)?)
    }

    /// Cells as Python takes them.
    fn handed(py: Python<'_>, cells: Cells) -> PyResult<(&'static str, Py<PyAny>)> {
        let bytes = |bytes: Vec<u8>| PyBytes::new(py, &bytes).into_any().unbind();
        Ok(match cells {
            Cells::Whole(all) => ("q", bytes(all.into_iter().flat_map(i64::to_ne_bytes).collect())),
            Cells::Real(all) => ("d", bytes(all.into_iter().flat_map(f64::to_ne_bytes).collect())),
            Cells::Flag(all) => ("?", bytes(all)),
            Cells::Word(all) => ("s", all.into_pyobject(py)?.into_any().unbind()),
        })
    }

    /// Keeps columns of requests in a new file; the number of requests.
    #[pyfunction]
    fn keep_requests(
        py: Python<'_>,
        out: PathBuf,
        time: &[u8],
        op: &[u8],
        offset: &[u8],
        size: &[u8],
    ) -> PyResult<u64> {
        let columns = RequestColumns { time, op, offset, size };
        let kept = py.detach(|| columns.keep(&out));
        raised(py, kept)
    }

    /// What a sweep would run, as JSON.
    #[pyfunction]
    fn plan_sweep(py: Python<'_>, asked: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let asked = stated(py, asked)?;
        watched(py, progress, move |watching| asked.plan(watching))
    }

    /// A sweep: what came of it, as JSON.
    #[pyfunction]
    fn sweep(py: Python<'_>, asked: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let asked = stated(py, asked)?;
        watched(py, progress, move |watching| asked.run(watching))
    }

    fn stated(py: Python<'_>, asked: &str) -> PyResult<Asked> {
        let parsed = serde_json::from_str(asked);
        raised(py, parsed.map_err(|error| Error::usage(format!("no sweep: {error}"))))
    }

    /// Writes the table of a sweep's folder; what is in it, as JSON.
    #[pyfunction]
    fn merge_sweep(py: Python<'_>, out: PathBuf) -> PyResult<String> {
        let merged = py.detach(|| sweeping::merge(&out));
        raised(py, merged)
    }
}
