//! The one place where an error of the core becomes a Python exception.

use neardup_core::{Category, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyType};

/// The exception of `neardup.exceptions` for the error's category.
pub fn raise(error: Error) -> PyErr {
    Python::attach(|py| worded(py, &error).unwrap_or_else(|failure| failure))
}

fn worded(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    static PARAMETER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static OUTPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static MESSAGE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (cell, name) = match error.category() {
        Category::Parameter => (&PARAMETER, "ParameterError"),
        Category::Input => (&INPUT, "InputError"),
        Category::Io => (&OUTPUT, "OutputError"),
    };
    let class = cell.import(py, "neardup.exceptions", name)?;
    let message = MESSAGE.import(py, "neardup.base.messages", "core_message")?;
    let facts = error.facts().into_py_dict(py)?;
    let said = message.call((name,), Some(&facts))?;
    Ok(PyErr::from_type(class.clone(), (said.unbind(),)))
}
