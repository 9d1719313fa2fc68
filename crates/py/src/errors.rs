//! Errors of the library as Python's exceptions, whose classes stand in `ftlab/_errors.py`.

use ftlab_lab::Error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The exception with the words that the command would print.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Usage(_) => "UsageError",
        Error::Run(_) => "RunError",
        Error::Cancelled(_) => return PyKeyboardInterrupt::new_err(error.to_string()),
    };
    let made = py.import("ftlab._errors").and_then(|errors| errors.getattr(class));
    match made.and_then(|class| class.call1((error.to_string(),))) {
        Ok(value) => PyErr::from_value(value),
        Err(failure) => failure,
    }
}

/// The same of a result.
pub fn raised<T>(py: Python<'_>, result: ftlab_lab::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}
