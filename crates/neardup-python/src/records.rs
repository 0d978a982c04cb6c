//! Records of JSON lines.

use neardup_io::{cuts, json_lines, records};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use neardup_core::error::Error;

use crate::arrow::ArrowArray;
use crate::errors::raise;

/// The fields to read from JSON lines, and whether each record must have an id.
#[pyclass(module = "neardup._core", frozen)]
pub struct JsonFields(json_lines::Fields);

/// Texts, ids, titles, whether there is a title, a JSON array for each extra field, and the place
/// and bytes of each unclear record.
type Columns<'py> = (
    ArrowArray,
    ArrowArray,
    Option<ArrowArray>,
    bool,
    Vec<Bound<'py, PyBytes>>,
    Vec<(usize, Bound<'py, PyBytes>)>,
);

#[pymethods]
impl JsonFields {
    #[new]
    #[pyo3(signature = (texts, id, *, requires_id, title, extra))]
    fn new(
        texts: Vec<String>,
        id: &str,
        requires_id: bool,
        title: Option<&str>,
        extra: Vec<String>,
    ) -> Self {
        JsonFields(json_lines::Fields::new(
            &texts,
            id,
            requires_id,
            title,
            &extra,
        ))
    }

    /// Reads the records of a block of lines; `first` is the number of the first.
    fn columns<'py>(
        &self,
        py: Python<'py>,
        block: &[u8],
        source: &str,
        first: usize,
    ) -> Columns<'py> {
        let read = py.detach(|| json_lines::columns(&self.0, block, source, first));
        let array = ArrowArray::from;
        let extra = read.extra.iter();
        let unclear = read.unclear.iter();
        (
            array(read.texts),
            array(read.ids),
            read.titles.map(array),
            read.has_title,
            extra
                .map(|values| PyBytes::new(py, values.as_bytes()))
                .collect(),
            unclear
                .map(|(at, record)| (*at, PyBytes::new(py, record)))
                .collect(),
        )
    }
}

/// Counts the records of a block: the lines that are not blank.
#[pyfunction]
pub fn count_records(py: Python<'_>, block: &[u8]) -> usize {
    py.detach(|| records::of(block).count())
}

/// A record with spans of its text, in code points, replaced by `mark`; None if it is unclear which
/// of its bytes are the text.
#[pyfunction]
pub fn replaced_text<'py>(
    py: Python<'py>,
    record: &[u8],
    names: Vec<String>,
    spans: Vec<(u32, u32)>,
    mark: &str,
) -> Option<Bound<'py, PyBytes>> {
    cuts::replaced(record, &names, &spans, mark).map(|made| PyBytes::new(py, &made))
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
    match py.detach(|| records::kept(block, flags)) {
        Some(kept) => Ok(PyBytes::new(py, &kept)),
        None => Err(raise(Error::input(
            "the flags",
            "one for each record",
            flags.len(),
        ))),
    }
}
