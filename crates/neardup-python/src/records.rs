//! The lines of a block that are records: all but the blank ones.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use neardup_core::error::Error;

use crate::errors::raise;

/// White space of ASCII, the vertical tab included: a line of it alone is blank.
const BLANK: &[u8] = b" \t\n\r\x0b\x0c";

/// The records of a block, without their line breaks.
pub fn records_of(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    memchr::memchr_iter(b'\n', block)
        .chain([block.len()])
        .map(move |end| &block[std::mem::replace(&mut begin, end + 1)..end])
        // Nearly all lines end this at their first byte.
        .filter(|line| !line.iter().all(|byte| BLANK.contains(byte)))
}

/// Counts the records of a block.
#[pyfunction]
pub fn count_records(py: Python<'_>, block: &[u8]) -> usize {
    py.detach(|| records_of(block).count())
}

/// The records of a block whose flag is true, each with a line break.
#[pyfunction]
pub fn kept_records<'py>(
    py: Python<'py>,
    block: &[u8],
    keep: PyReadonlyArray1<'_, bool>,
) -> PyResult<Bound<'py, PyBytes>> {
    let flags = keep
        .as_slice()
        .map_err(|_| PyTypeError::new_err("expected a contiguous array of flags"))?;
    match py.detach(|| kept(block, flags)) {
        Some(kept) => Ok(PyBytes::new(py, &kept)),
        None => Err(raise(Error::input(
            "the flags",
            "one for each record",
            flags.len(),
        ))),
    }
}

/// Returns `None` unless there are as many flags as records.
fn kept(block: &[u8], flags: &[bool]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(block.len() + 1);
    let mut flags = flags.iter();
    for record in records_of(block) {
        if *flags.next()? {
            out.extend_from_slice(record);
            out.push(b'\n');
        }
    }
    flags.next().is_none().then_some(out)
}
