//! Stage verify for one pair of texts.

use neardup_core::verify::{
    Containment, Evidence, Overlap, Profile, ShingleFrequencies, Shingles, Units, content_hashes,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::judge::evidence;
use crate::threads::run;

/// The number of shingles in each of two normalized texts and in both: (a, b, common).
#[pyfunction]
#[pyo3(signature = (a, b, *, shingle))]
pub fn overlap(py: Python<'_>, a: &str, b: &str, shingle: usize) -> (usize, usize, usize) {
    py.detach(|| {
        let Overlap { a, b, common } = Shingles::of(a, shingle).overlap(&Shingles::of(b, shingle));
        (a, b, common)
    })
}

/// The evidence by which `content(shingle)` decides about two normalized texts.
///
/// `counted` are the texts of the collection that determine which shingles are common, each
/// once; `entries` is the maximum number of shingles counted.
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
        let hashes: Vec<Vec<u64>> = counted
            .iter()
            .map(|text| {
                let mut hashes = Vec::new();
                content_hashes(text, shingle, &mut hashes);
                hashes
            })
            .collect();
        let mut frequencies = ShingleFrequencies::new(entries);
        frequencies.add(&hashes);
        let [a, b] = [a, b].map(|text| {
            let profile = Profile::whole(text, shingle, Some(&frequencies));
            (profile, Units::of(text))
        });
        let containment = Containment::of(&a.0, &b.0);
        Ok((Evidence::of((&a.0, &a.1), (&b.0, &b.1)), containment))
    };
    let (found, containment) = run(py, 1, compare)?;
    evidence(py, &found, &containment, &found.overlap)
}
