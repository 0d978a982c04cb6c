//! Stage verify for one pair of texts.

use neardup_core::verify::{Commonness, Evidence, Overlap, Profile, Shingles};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::threads::pool;

/// Shingles of `a`, of `b`, and in both of two normalized texts.
#[pyfunction]
#[pyo3(signature = (a, b, *, shingle))]
pub fn overlap(py: Python<'_>, a: &str, b: &str, shingle: usize) -> (usize, usize, usize) {
    py.detach(|| {
        let Overlap { a, b, common } = Shingles::of(a, shingle).overlap(&Shingles::of(b, shingle));
        (a, b, common)
    })
}

/// Everything by which `content(shingle)` decides about two normalized texts.
///
/// `counted` are the texts by which shingles are common, each once; `entries`
/// is the most shingles that are counted.
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
    let pool = pool(1)?;
    let compare = || {
        let sets: Vec<Shingles> = counted.iter().map(|t| Shingles::of(t, shingle)).collect();
        let hashes: Vec<&[u64]> = sets.iter().map(Shingles::hashes).collect();
        let mut commonness = Commonness::new(entries);
        commonness.add(&hashes);
        let [a, b] = [a, b].map(|text| Profile::of(text, shingle, Some(&commonness)));
        Evidence::of(&a, &b)
    };
    let found = py.detach(|| pool.install(compare));
    told(py, &found)
}

/// Evidence as a dictionary.
pub fn told<'py>(py: Python<'py>, found: &Evidence) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("similarity", found.similarity)?;
    told.set_item("resemblance", found.overlap.resemblance())?;
    told.set_item("containment_a", found.overlap.containment_a())?;
    told.set_item("containment_b", found.overlap.containment_b())?;
    told.set_item("short", found.short)?;
    told.set_item("agree", found.numbers.agree)?;
    told.set_item("differ", found.numbers.differ)?;
    told.set_item("contradicts", found.contradicts)?;
    let weighed = found.weighed.map(|weighed| {
        let told = PyDict::new(py);
        told.set_item("level", weighed.level)?;
        told.set_item("rare", weighed.rare)?;
        told.set_item("common", weighed.common)?;
        told.set_item("median", weighed.median)?;
        told.set_item("differs_a", weighed.differs_a)?;
        told.set_item("differs_b", weighed.differs_b)?;
        told.set_item("edits", weighed.edits)?;
        PyResult::Ok(told)
    });
    told.set_item("weighed", weighed.transpose()?)?;
    Ok(told)
}
