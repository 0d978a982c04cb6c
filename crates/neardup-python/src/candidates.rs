//! Stage candidates on its own: joins, lookups, plans.

use neardup_core::Error;
use neardup_core::candidates::Banding;
use neardup_hamming::{Kernel, Scheme, scan};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{fingerprints, load_numpy};
use crate::errors::raise;
use crate::threads::run;

/// The maximum number of points of a curve.
const MAX_POINTS: usize = 1 << 16;

/// Fewer queries than this are compared one by one, without other threads.
const FEW_QUERIES: usize = 16;

/// First row, second row, distance.
type Pairs<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u16>>,
);

/// All pairs of rows within a distance, sorted.
#[pyfunction]
#[pyo3(signature = (rows, *, bits, max_distance, workers))]
pub fn near_pairs<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, u64>,
    bits: u32,
    max_distance: u32,
    workers: usize,
) -> PyResult<Pairs<'py>> {
    load_numpy(py);
    let rows = fingerprints(&rows, bits)?;
    let found = run(py, workers, || neardup_hamming::pairs(&rows, max_distance))?;
    Ok((
        found.a.into_pyarray(py),
        found.b.into_pyarray(py),
        found.distance.into_pyarray(py),
    ))
}

/// The steps and the estimated cost of a search.
#[pyfunction]
#[pyo3(signature = (documents, bits, max_distance, *, look_ups))]
pub fn plan(
    py: Python<'_>,
    documents: u64,
    bits: u32,
    max_distance: u32,
    look_ups: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let plan = match look_ups {
        true => neardup_hamming::plan_look_ups(documents, bits, max_distance),
        false => neardup_hamming::plan(documents, bits, max_distance),
    };
    let plan = plan.map_err(raise)?;
    let (scheme, blocks, tables, key_bits) = match plan.scheme {
        Scheme::Scan => ("scan", 0, 0, 0),
        Scheme::Blocks {
            blocks,
            tables,
            key_bits,
        } => ("blocks", blocks, tables, key_bits),
    };
    let fields = PyDict::new(py);
    fields.set_item("scheme", scheme)?;
    fields.set_item("blocks", blocks)?;
    fields.set_item("tables", tables)?;
    fields.set_item("key_bits", key_bits)?;
    fields.set_item("comparisons", plan.comparisons)?;
    fields.set_item("random_pairs", plan.random_pairs)?;
    fields.set_item("seconds", plan.seconds)?;
    fields.set_item("bytes_per_document", plan.bytes_per_document)?;
    Ok(fields)
}

/// The smallest distance expected to find a share `recall` of the pairs at `threshold`.
#[pyfunction]
pub fn radius(threshold: f64, bits: u32, recall: f64) -> PyResult<u32> {
    neardup_hamming::radius(threshold, bits, recall).map_err(raise)
}

/// The share of pairs at `threshold` that a distance is expected to find.
#[pyfunction]
pub fn predicted_recall(threshold: f64, bits: u32, max_distance: u32) -> f64 {
    neardup_hamming::predicted_recall(threshold, bits, max_distance)
}

/// Bands and rows for a threshold, and the share of pairs expected to be found there.
#[pyfunction]
pub fn banding(
    threshold: f64,
    recall: f64,
    num_perm: u32,
    documents: u64,
) -> PyResult<(u32, u32, f64)> {
    let chosen = Banding::derive(threshold, recall, num_perm, documents).map_err(raise)?;
    Ok((chosen.bands(), chosen.rows(), chosen.recall(threshold)))
}

/// Similarities from 0 to 1, each with the share of pairs that become candidates.
#[pyfunction]
pub fn s_curve(bands: u32, rows: u32, points: usize) -> PyResult<Vec<(f64, f64)>> {
    if points > MAX_POINTS {
        let bounds = format!("at most {MAX_POINTS}");
        return Err(raise(Error::parameter("points", bounds, points)));
    }
    Ok(Banding::new(bands, rows).map_err(raise)?.s_curve(points))
}

/// Fingerprints in memory, for distances that leave no keys.
#[pyclass(module = "neardup._core")]
pub struct Fingerprints(neardup_hamming::Fingerprints);

#[pymethods]
impl Fingerprints {
    #[new]
    #[pyo3(signature = (rows, *, bits))]
    fn new(rows: PyReadonlyArray2<'_, u64>, bits: u32) -> PyResult<Self> {
        Ok(Fingerprints(fingerprints(&rows, bits)?))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn add(&mut self, rows: PyReadonlyArray2<'_, u64>) -> PyResult<()> {
        let rows = fingerprints(&rows, self.0.bits())?;
        self.0.append(&rows).map_err(raise)
    }

    /// The rows near each query.
    #[pyo3(signature = (queries, *, max_distance))]
    fn near<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, u64>,
        max_distance: u32,
    ) -> PyResult<Pairs<'py>> {
        let queries = fingerprints(&queries, self.0.bits())?;
        let kernel = Kernel::best();
        let (mut owners, mut ids, mut distances) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |query: usize, id, distance| {
            owners.push(query as u32);
            ids.push(id);
            distances.push(distance);
        };
        if queries.len() < FEW_QUERIES {
            for query in 0..queries.len() {
                let row = queries.get(query).unwrap_or_default();
                let near = || scan::one_against_many(kernel, &row, &self.0, 0, max_distance);
                for (id, distance) in py.detach(near).map_err(raise)? {
                    add(query, id, distance);
                }
            }
        } else {
            let near = || scan::many_against_many(kernel, &queries, &self.0, max_distance);
            let near = run(py, 0, near)?;
            for query in 0..near.len() {
                for (id, distance) in near.list(query) {
                    add(query, id, distance);
                }
            }
        }
        Ok((
            owners.into_pyarray(py),
            ids.into_pyarray(py),
            distances.into_pyarray(py),
        ))
    }
}
