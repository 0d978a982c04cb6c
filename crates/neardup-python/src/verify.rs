//! Stage verify for one pair of texts.

use neardup_core::verify::{Evidence, ShingleFrequencies, content_sample};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::judge::evidence;
use crate::threads::run;

/// The evidence by which `content(shingle)` decides about two normalized texts.
///
/// `counted` are the texts of the collection that determine which shingles are common, each
/// once; `entries` is the maximum number of common shingles.
#[pyfunction]
#[pyo3(signature = (a, b, *, shingle, counted, entries))]
pub fn content<'py>(
    py: Python<'py>,
    a: &str,
    b: &str,
    shingle: usize,
    counted: Vec<String>,
    entries: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let compare = || {
        let samples = counted.iter().map(|text| content_sample(text, shingle));
        let samples: Vec<_> = samples.collect();
        let frequencies = ShingleFrequencies::of_samples(&samples, entries);
        Ok(Evidence::of([a, b], shingle, Some(&frequencies)))
    };
    let found = run(py, 1, compare)?;
    evidence(py, &found, &found.overlap)
}
