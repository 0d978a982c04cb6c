//! JSON lines, read and cut by `neardup-lines`.

use neardup_core::error::Error;
use neardup_lines::Fields;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrow::ArrowArray;
use crate::columns::numbers;
use crate::errors::raise;

/// The fields to read from JSON lines.
#[pyclass(module = "neardup._core", frozen)]
pub struct JsonFields(Fields);

/// Texts, ids, titles, whether a record has the title field, extra values, unclear records.
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
        id: String,
        requires_id: bool,
        title: Option<String>,
        extra: Vec<String>,
    ) -> Self {
        JsonFields(Fields::new(texts, id, requires_id, title, extra))
    }

    /// Reads the records of a block of lines.
    fn columns<'py>(
        &self,
        py: Python<'py>,
        block: &[u8],
        source: &str,
        first: usize,
    ) -> Columns<'py> {
        let read = py.detach(|| self.0.read(block, source, first));
        let array = ArrowArray::from;
        let bytes = |data: &[u8]| PyBytes::new(py, data);
        let extra = read.extra.iter();
        let unclear = read.unclear.iter();
        (
            array(read.texts),
            array(read.ids),
            read.titles.map(array),
            read.has_title,
            extra.map(|values| bytes(values.as_bytes())).collect(),
            unclear.map(|(at, record)| (*at, bytes(record))).collect(),
        )
    }
}

/// Counts the records of a block.
#[pyfunction]
pub fn count_records(py: Python<'_>, block: &[u8]) -> usize {
    py.detach(|| neardup_lines::records_of(block).count())
}

/// The records of a block whose flag, a byte, is not 0, each with a line break.
#[pyfunction]
pub fn kept_records<'py>(
    py: Python<'py>,
    block: &[u8],
    keep: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let flags = numbers::<u8>(keep)?;
    match py.detach(|| neardup_lines::kept_records(block, &flags)) {
        Some(kept) => Ok(PyBytes::new(py, &kept)),
        None => Err(raise(Error::input(
            "the flags",
            "one for each record",
            flags.len(),
        ))),
    }
}

/// A record without spans of its text; None if the record is not an object or its text is not a string.
#[pyfunction]
pub fn cut_text<'py>(
    py: Python<'py>,
    record: &[u8],
    names: Vec<String>,
    spans: Vec<(u32, u32)>,
) -> Option<Bound<'py, PyBytes>> {
    let cut = neardup_lines::without_spans(record, &names, &spans)?;
    Some(PyBytes::new(py, cut.as_bytes()))
}
