//! Stage verify for one pair of texts.

use neardup_core::verify::{Overlap, Shingles};
use pyo3::prelude::*;

/// Shingles of `a`, of `b`, and in both of two normalized texts.
#[pyfunction]
#[pyo3(signature = (a, b, *, shingle))]
pub fn overlap(py: Python<'_>, a: &str, b: &str, shingle: usize) -> (usize, usize, usize) {
    py.detach(|| {
        let Overlap { a, b, common } = Shingles::of(a, shingle).overlap(&Shingles::of(b, shingle));
        (a, b, common)
    })
}
