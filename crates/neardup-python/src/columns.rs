//! Columns of numbers without NumPy, whose import takes longer than all else that a small run does.
//!
//! An argument is any object with the buffer protocol: an array of NumPy, `bytes` or a `memoryview`. A
//! result is `bytes`, which a `memoryview` or NumPy reads without a copy.

use neardup_core::cluster;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zerocopy::{Immutable, IntoBytes};

/// The numbers of an argument, in a row.
pub fn numbers<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let refused = || {
        PyTypeError::new_err(format!(
            "expected a column of {}, found {}",
            std::any::type_name::<T>(),
            object.get_type()
        ))
    };
    // An empty column may point anywhere.
    if object.len().is_ok_and(|len| len == 0) {
        return Ok(Vec::new());
    }
    let buffer = PyBuffer::<T>::get(object).map_err(|_| refused())?;
    match buffer.dimensions() {
        1 => buffer.to_vec(object.py()),
        _ => Err(refused()),
    }
}

/// Numbers as bytes, in the order of this machine.
pub fn bytes_of<'py, T: IntoBytes + Immutable>(
    py: Python<'py>,
    numbers: &[T],
) -> Bound<'py, PyBytes> {
    PyBytes::new(py, numbers.as_bytes())
}

/// The decisions on all documents of a run, by document.
#[pyclass(module = "neardup._core")]
pub struct Decisions {
    /// -1 for a kept document.
    kept_for: Vec<i64>,
    similarity: Vec<f64>,
    /// -1 without a distance.
    distance: Vec<i32>,
    /// 1 for the same text.
    identical: Vec<u8>,
}

impl Decisions {
    /// Notes the decisions on some documents; None for one that is kept.
    pub fn note(&mut self, documents: &[u32], decided: &[Option<cluster::Decision>]) {
        for (&document, decision) in documents.iter().zip(decided) {
            let at = document as usize;
            if let (Some(decision), true) = (decision, at < self.kept_for.len()) {
                self.kept_for[at] = decision.kept.0.into();
                self.similarity[at] = decision.similarity;
                self.distance[at] = decision.distance.map_or(-1, |bits| bits as i32);
                self.identical[at] = u8::from(decision.reason == cluster::Reason::Identical);
            }
        }
    }
}

#[pymethods]
impl Decisions {
    #[new]
    fn new(count: usize) -> Self {
        Decisions {
            kept_for: vec![-1; count],
            similarity: vec![0.0; count],
            distance: vec![-1; count],
            identical: vec![0; count],
        }
    }

    fn __len__(&self) -> usize {
        self.kept_for.len()
    }

    /// Keeps documents, whatever they repeat.
    fn keep(&mut self, documents: &Bound<'_, PyAny>) -> PyResult<()> {
        for document in numbers::<i64>(documents)? {
            let at = usize::try_from(document)
                .ok()
                .filter(|&at| at < self.kept_for.len());
            let at = at.ok_or_else(|| PyIndexError::new_err(document))?;
            (self.kept_for[at], self.similarity[at]) = (-1, 0.0);
            (self.distance[at], self.identical[at]) = (-1, 0);
        }
        Ok(())
    }

    /// Kept documents, similarities, distances, and a byte for identical text.
    fn columns<'py>(&self, py: Python<'py>) -> [Bound<'py, PyBytes>; 4] {
        [
            bytes_of(py, &self.kept_for),
            bytes_of(py, &self.similarity),
            bytes_of(py, &self.distance),
            bytes_of(py, &self.identical),
        ]
    }

    /// Columns of the dropped documents: their numbers, what each was dropped for, similarity, distance, a
    /// byte for identical text, and the sizes of their clusters.
    fn removals<'py>(&self, py: Python<'py>) -> [Bound<'py, PyBytes>; 6] {
        let found = cluster::Removals::of(&self.kept_for);
        let places = || found.documents.iter().map(|&document| document as usize);
        let similarity: Vec<f64> = places().map(|at| self.similarity[at]).collect();
        let distance: Vec<i32> = places().map(|at| self.distance[at]).collect();
        let identical: Vec<u8> = places().map(|at| self.identical[at]).collect();
        [
            bytes_of(py, &found.documents),
            bytes_of(py, &found.kept_for),
            bytes_of(py, &similarity),
            bytes_of(py, &distance),
            bytes_of(py, &identical),
            bytes_of(py, &found.cluster_sizes),
        ]
    }

    /// A byte for each document from `first` on: 1 if it is kept.
    fn kept_flags<'py>(&self, py: Python<'py>, first: usize) -> Bound<'py, PyBytes> {
        let kept = self.kept_for.iter().skip(first);
        let flags: Vec<u8> = kept.map(|&kept| u8::from(kept < 0)).collect();
        PyBytes::new(py, &flags)
    }
}

/// The places of the lowest similarities below 1, the lowest first; ties are in order.
#[pyfunction]
pub fn least_similar(similarities: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<usize>> {
    Ok(cluster::least_similar(&numbers(similarities)?, count))
}
