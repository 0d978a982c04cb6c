//! Alignment: which stretches of a paper occur in its sources.

use neardup_core::align;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use rayon::prelude::*;

use crate::arrays::strings;
use crate::errors::raise;
use crate::threads::run;

/// A piece: begin and end in the paper, begin and end in the source.
type Piece = (u32, u32, u32, u32);

/// A passage: its span as a piece, its similarity, and its pieces.
type Passage = (Piece, f64, Vec<Piece>);

/// Converts texts to a form that can be compared letter by letter.
#[pyclass(frozen, module = "neardup._core")]
pub struct Aligner {
    inner: align::Aligner,
}

#[pymethods]
impl Aligner {
    #[new]
    #[pyo3(signature = (*, variants, standards))]
    fn new(variants: &str, standards: &str) -> PyResult<Self> {
        let inner = align::Aligner::new(variants, standards).map_err(raise)?;
        Ok(Aligner { inner })
    }

    fn paper(&self, py: Python<'_>, text: &str) -> PyResult<Paper> {
        py.detach(|| self.inner.letters(text).map(align::Paper::new))
            .map(|inner| Paper { inner })
            .map_err(raise)
    }

    /// The winnowed shingles of each text, four bytes each, little-endian.
    #[pyo3(signature = (texts, *, workers))]
    fn sketches(&self, py: Python<'_>, texts: PyArray, workers: usize) -> PyResult<Vec<Vec<u8>>> {
        let texts = strings(texts.array().as_ref())?;
        let sketch = |text: &Option<&str>| {
            let sketch = self.inner.sketch(text.unwrap_or_default())?;
            Ok(sketch.into_iter().flat_map(u32::to_le_bytes).collect())
        };
        run(py, workers, || texts.par_iter().map(sketch).collect())
    }

    /// The passages that the paper shares with each source.
    #[pyo3(signature = (paper, sources, *, least, workers))]
    fn passages(
        &self,
        py: Python<'_>,
        paper: &Paper,
        sources: PyArray,
        least: u32,
        workers: usize,
    ) -> PyResult<Vec<Vec<Passage>>> {
        let sources = strings(sources.array().as_ref())?;
        let of_one = |source: &Option<&str>| {
            let letters = self.inner.letters(source.unwrap_or_default())?;
            let found = paper.inner.passages(&letters, least);
            Ok(found.iter().map(passage).collect())
        };
        run(py, workers, || sources.par_iter().map(of_one).collect())
    }
}

/// A paper, prepared for comparison with many sources.
#[pyclass(frozen, module = "neardup._core")]
pub struct Paper {
    inner: align::Paper,
}

#[pymethods]
impl Paper {
    /// The span of each letter in the original: begins and ends, in code points.
    fn spans<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>) {
        let spans = self.inner.letters().spans();
        let (begins, ends): (Vec<u32>, Vec<u32>) = spans.iter().copied().unzip();
        (begins.into_pyarray(py), ends.into_pyarray(py))
    }
}

/// An index that selects the documents worth comparing with a paper.
#[pyclass(frozen, module = "neardup._core")]
pub struct Library {
    inner: align::Library,
}

#[pymethods]
impl Library {
    #[new]
    #[pyo3(signature = (sketches, *, workers))]
    fn new(py: Python<'_>, sketches: Vec<Vec<u8>>, workers: usize) -> PyResult<Self> {
        let shingles = |bytes: &Vec<u8>| {
            let (shingles, _) = bytes.as_chunks();
            shingles.iter().copied().map(u32::from_le_bytes).collect()
        };
        let inner = run(py, workers, || {
            let sketches: Vec<Vec<u32>> = sketches.iter().map(shingles).collect();
            Ok(align::Library::new(&sketches))
        })?;
        Ok(Library { inner })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// Document numbers with their numbers of common shingles, highest first.
    #[pyo3(signature = (paper, *, least, limit))]
    fn sources(&self, py: Python<'_>, paper: &Paper, least: u32, limit: usize) -> Vec<(u32, u32)> {
        py.detach(|| self.inner.sources(&paper.inner, least, limit))
    }
}

/// The edit similarity: 1 - edits / longer length, ignoring white space.
#[pyfunction]
pub fn edit_similarity(py: Python<'_>, a: &str, b: &str) -> PyResult<f64> {
    py.detach(|| align::edit_similarity(a, b)).map_err(raise)
}

fn passage(found: &align::Passage) -> Passage {
    let span = (found.begin, found.end, found.source_begin, found.source_end);
    (
        span,
        found.similarity,
        found.pieces.iter().map(piece).collect(),
    )
}

fn piece(found: &align::Piece) -> Piece {
    (found.begin, found.end, found.source_begin, found.source_end)
}
