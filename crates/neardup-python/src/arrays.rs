//! Conversion of arrays from and to Python.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use numpy::{Element, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use neardup_core::candidates::Fingerprints;

use crate::errors::raise;

/// The strings of an Arrow array of any string type; `None` for null.
pub fn strings(array: &dyn Array) -> PyResult<Vec<Option<&str>>> {
    if let Some(array) = array.as_string_opt::<i64>() {
        Ok(array.iter().collect())
    } else if let Some(array) = array.as_string_opt::<i32>() {
        Ok(array.iter().collect())
    } else if let Some(array) = array.as_string_view_opt() {
        Ok(array.iter().collect())
    } else {
        Err(PyTypeError::new_err(format!(
            "expected an Arrow array of strings, found {}",
            array.data_type()
        )))
    }
}

/// The strings of an optional array; all `None` if there is no array.
pub fn optional_strings(array: Option<&PyArray>, len: usize) -> PyResult<Vec<Option<&str>>> {
    match array {
        Some(array) => strings(array.array().as_ref()),
        None => Ok(vec![None; len]),
    }
}

/// Fingerprints from rows of 64-bit words.
pub fn fingerprints(rows: &PyReadonlyArray2<'_, u64>, bits: u32) -> PyResult<Fingerprints> {
    let words = rows.shape()[1];
    let flat = rows.as_slice().map_err(|_| {
        PyTypeError::new_err("expected a C-contiguous array of shape (documents, words)")
    })?;
    if words != bits.div_ceil(64) as usize {
        return Err(PyTypeError::new_err(format!(
            "expected {} words of 64 bits a row, found {words}",
            bits.div_ceil(64)
        )));
    }
    Fingerprints::from_rows(bits, flat).map_err(raise)
}

/// A column of values.
pub fn column<T: Element>(
    py: Python<'_>,
    values: impl Iterator<Item = T>,
) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values.collect())
}

/// Loads NumPy early. Otherwise the first array created loads it after a long computation,
/// and an interrupt pending until then would cause a panic.
pub fn load_numpy(py: Python<'_>) {
    PyArray1::<u8>::zeros(py, 0, false);
}
