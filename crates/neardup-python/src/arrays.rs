//! Conversion of arrays from and to Python.

use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray};
use numpy::{Element, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use neardup_core::Error;
use neardup_hamming::Fingerprints;

use crate::arrow::ArrowArray;
use crate::columns::numbers;
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
pub fn optional_strings(array: Option<&ArrowArray>, len: usize) -> PyResult<Vec<Option<&str>>> {
    match array {
        Some(array) => strings(array.array()),
        None => Ok(vec![None; len]),
    }
}

/// Fingerprints from rows of 64-bit words.
pub fn fingerprints(rows: &PyReadonlyArray2<'_, u64>, bits: u32) -> PyResult<Fingerprints> {
    let words = rows.shape()[1];
    let flat = rows.as_slice().map_err(|_| {
        PyTypeError::new_err("expected a C-contiguous array of shape (documents, words)")
    })?;
    let mut fingerprints = Fingerprints::new(bits).map_err(raise)?;
    let expected = fingerprints.words();
    if words != expected {
        return Err(PyTypeError::new_err(format!(
            "expected {expected} words of 64 bits a row, found {words}"
        )));
    }
    fingerprints.extend_from_rows(flat).map_err(raise)?;
    Ok(fingerprints)
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

/// Some rows of a column of large strings, given as arrays that follow each other.
#[pyfunction]
pub fn rows_of(
    py: Python<'_>,
    arrays: Vec<ArrowArray>,
    rows: &Bound<'_, PyAny>,
) -> PyResult<ArrowArray> {
    let mut parts: Vec<&LargeStringArray> = Vec::with_capacity(arrays.len());
    let mut ends = Vec::with_capacity(arrays.len());
    let mut count = 0;
    for array in &arrays {
        let part = array.array().as_string_opt::<i64>();
        parts.push(part.ok_or_else(|| PyTypeError::new_err("expected arrays of large strings"))?);
        count += array.array().len();
        ends.push(count);
    }
    let row = |&row: &i64| {
        let row = usize::try_from(row).ok().filter(|&row| row < count)?;
        let at = ends.partition_point(|&end| end <= row);
        let part = parts[at];
        let place = row + part.len() - ends[at];
        Some(part.is_valid(place).then(|| part.value(place)))
    };
    let rows = numbers::<i64>(rows)?;
    let taken = py.detach(|| rows.iter().map(row).collect::<Option<Vec<_>>>());
    match taken {
        Some(taken) => Ok(LargeStringArray::from(taken).into()),
        None => Err(raise(Error::input(
            "the rows",
            format!("0 to {count}"),
            "others",
        ))),
    }
}

/// A 64-bit hash of each string, and of an empty one for null.
#[pyfunction]
pub fn hashes_of<'py>(py: Python<'py>, array: ArrowArray) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let strings = strings(array.array())?.into_iter();
    Ok(column(
        py,
        strings.map(|s| xxh3_64(s.unwrap_or("").as_bytes())),
    ))
}

/// The number of distinct strings in arrays, except for collisions of a 64-bit hash. Uses
/// 8 bytes per string during the call.
#[pyfunction]
pub fn count_distinct(py: Python<'_>, arrays: Vec<ArrowArray>) -> PyResult<usize> {
    let mut hashes = Vec::new();
    for array in &arrays {
        let strings = strings(array.array())?;
        hashes.extend(strings.into_iter().flatten().map(|s| xxh3_64(s.as_bytes())));
    }
    Ok(py.detach(|| {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len()
    }))
}
