//! The one place where an error of the core becomes a Python exception.

use neardup_core::{Category, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Raises the class of `neardup.exceptions` that fits the error's category.
pub fn raise(error: Error) -> PyErr {
    static PARAMETER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static OUTPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (cell, name) = match error.category() {
        Category::Parameter => (&PARAMETER, "ParameterError"),
        Category::Input => (&INPUT, "InputError"),
        Category::Io => (&OUTPUT, "OutputError"),
    };
    Python::attach(|py| match cell.import(py, "neardup.exceptions", name) {
        Ok(class) => PyErr::from_type(class.clone(), (error.to_string(),)),
        Err(missing) => missing,
    })
}
