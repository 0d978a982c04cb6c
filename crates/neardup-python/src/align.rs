//! Alignment: which stretches of a paper occur in its sources.

use std::sync::{Mutex, MutexGuard, PoisonError};

use neardup_align as align;
use neardup_core::normalize::{self, check_length};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rayon::prelude::*;

use crate::arrays::strings;
use crate::arrow::ArrowArray;
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
    fn new() -> Self {
        Aligner {
            inner: align::Aligner::new(),
        }
    }

    /// The text in the form in which its letters are compared.
    fn plain(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        py.detach(|| self.inner.plain(text)).map_err(raise)
    }

    fn paper(&self, py: Python<'_>, text: &str) -> PyResult<Paper> {
        py.detach(|| self.inner.letters(text).map(align::Paper::new))
            .map(|inner| Paper { inner })
            .map_err(raise)
    }

    /// The winnowed shingles of each text, four bytes each, little-endian.
    #[pyo3(signature = (texts, *, workers))]
    fn sketches(
        &self,
        py: Python<'_>,
        texts: ArrowArray,
        workers: usize,
    ) -> PyResult<Vec<Vec<u8>>> {
        let texts = strings(texts.array())?;
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
        sources: ArrowArray,
        least: u32,
        workers: usize,
    ) -> PyResult<Vec<Vec<Passage>>> {
        let sources = strings(sources.array())?;
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

/// A run: its sorted shingles, their fence, and the positions of its documents.
type Run<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
);

/// A run as it is held between calls.
type HeldRun = (Py<PyArray1<u64>>, Py<PyArray1<u32>>, Py<PyArray1<u32>>);

/// An index that selects the documents worth comparing with a paper; its runs may be mapped files.
#[pyclass(frozen, module = "neardup._core")]
pub struct Library {
    runs: Vec<HeldRun>,
}

#[pymethods]
impl Library {
    #[new]
    fn new(runs: Vec<Run<'_>>) -> PyResult<Self> {
        let mut held = Vec::with_capacity(runs.len());
        for (filed, fence, positions) in runs {
            // Refused here if their values are not next to each other.
            filed.try_readonly()?.as_slice()?;
            fence.try_readonly()?.as_slice()?;
            positions.try_readonly()?.as_slice()?;
            held.push((filed.unbind(), fence.unbind(), positions.unbind()));
        }
        Ok(Library { runs: held })
    }

    /// Document positions with their numbers of common shingles, highest first.
    #[pyo3(signature = (paper, *, least, limit))]
    fn sources(
        &self,
        py: Python<'_>,
        paper: &Paper,
        least: u32,
        limit: usize,
    ) -> PyResult<Vec<(u32, u32)>> {
        self.with(py, |library| {
            py.detach(|| Ok(library.sources(&paper.inner, least, limit)))
        })
    }

    /// Places of the paper, in code points, with the number of documents that have the shingle there.
    fn counts(&self, py: Python<'_>, paper: &Paper) -> PyResult<Vec<(u32, u32)>> {
        self.with(py, |library| py.detach(|| Ok(library.counts(&paper.inner))))
    }

    /// A part of all runs as one run, from a shingle on, and the shingle after it; none at the end.
    #[pyo3(signature = (begin, *, most, workers))]
    fn merged<'py>(
        &self,
        py: Python<'py>,
        begin: u64,
        most: usize,
        workers: usize,
    ) -> PyResult<(Bound<'py, PyArray1<u64>>, Option<u64>)> {
        let (filed, next) = self.with(py, |library| {
            run(py, workers, || Ok(library.merged(begin, most)))
        })?;
        Ok((filed.into_pyarray(py), next))
    }
}

impl Library {
    /// Calls `work` with the runs as slices.
    fn with<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&align::Library<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let arrays = self.runs.iter().map(|(filed, fence, positions)| {
            let filed = filed.bind(py).try_readonly()?;
            let fence = fence.bind(py).try_readonly()?;
            Ok((filed, fence, positions.bind(py).try_readonly()?))
        });
        let arrays = arrays.collect::<PyResult<Vec<_>>>()?;
        let runs = arrays.iter().map(|(filed, fence, positions)| {
            Ok(align::Run {
                filed: filed.as_slice()?,
                fence: fence.as_slice()?,
                positions: positions.as_slice()?,
            })
        });
        work(&align::Library::new(runs.collect::<PyResult<_>>()?))
    }
}

/// Where a passage is: begin and end in the document, begin and end in the item.
type Place = (u32, u32, u32, u32);

/// An item in a document: the document's position, the item, the cover, the passages.
type FoundItem = (usize, u32, f64, Vec<Place>);

/// Texts that are looked for in documents, and what was found so far.
#[pyclass(frozen, module = "neardup._core")]
pub struct Items {
    inner: align::Items,
    found: Mutex<Vec<align::Finding>>,
}

#[pymethods]
impl Items {
    #[new]
    #[pyo3(signature = (aligner, texts, *, shortest, workers))]
    fn new(
        py: Python<'_>,
        aligner: &Aligner,
        texts: ArrowArray,
        shortest: u32,
        workers: usize,
    ) -> PyResult<Self> {
        let texts = strings(texts.array())?;
        let texts = texts.iter().map(|text| text.unwrap_or_default().to_owned());
        let (aligner, texts) = (aligner.inner.clone(), texts.collect());
        let inner = run(py, workers, || align::Items::new(aligner, texts, shortest))?;
        Ok(Items {
            inner,
            found: Mutex::default(),
        })
    }

    /// Whether each item is long enough to be looked for.
    fn are_decidable(&self) -> Vec<bool> {
        self.inner.are_decidable().collect()
    }

    /// Looks for the items in documents: for each finding the document's position, the item, the
    /// cover, and the place of each passage.
    #[pyo3(signature = (texts, *, least_cover, workers))]
    fn find(
        &self,
        py: Python<'_>,
        texts: ArrowArray,
        least_cover: f64,
        workers: usize,
    ) -> PyResult<Vec<FoundItem>> {
        let texts = strings(texts.array())?;
        let of_one = |text: &Option<&str>| match text {
            Some(text) => self.inner.find(text, least_cover),
            None => Ok(Vec::new()),
        };
        let found: Vec<Vec<align::Finding>> =
            run(py, workers, || texts.par_iter().map(of_one).collect())?;
        let mut rows = Vec::new();
        let mut all = lock(&self.found);
        for (at, findings) in found.into_iter().enumerate() {
            for finding in findings {
                let places = finding.passages.iter().map(|passage| {
                    let here = (passage.source_begin, passage.source_end);
                    (here.0, here.1, passage.begin, passage.end)
                });
                rows.push((at, finding.item, finding.cover, places.collect()));
                all.push(finding);
            }
        }
        Ok(rows)
    }

    /// The cover of each finding so far without wording that more than `most` documents have;
    /// none if the item has nothing else.
    fn covers(&self, most: u32) -> Vec<Option<f64>> {
        let all = lock(&self.found);
        all.iter()
            .map(|finding| self.inner.cover(finding, most))
            .collect()
    }
}

/// Sorted shingles and their fence.
type Filed<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

/// The sorted shingles of a run of documents with these sketches, and their fence.
#[pyfunction]
#[pyo3(signature = (sketches, *, workers))]
pub fn file_sketches(
    py: Python<'_>,
    sketches: Vec<PyBackedBytes>,
    workers: usize,
) -> PyResult<Filed<'_>> {
    let shingles = |bytes: &PyBackedBytes| {
        let (shingles, _) = bytes.as_chunks();
        let shingles: Vec<u32> = shingles.iter().copied().map(u32::from_le_bytes).collect();
        shingles
    };
    let (filed, fence) = run(py, workers, || {
        let filed = align::file(sketches.iter().map(shingles));
        let fence = align::fence(&filed);
        Ok((filed, fence))
    })?;
    Ok((filed.into_pyarray(py), fence.into_pyarray(py)))
}

/// The findings; they are whole also after a panic elsewhere.
fn lock(found: &Mutex<Vec<align::Finding>>) -> MutexGuard<'_, Vec<align::Finding>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text without look-alikes, and the words that had some: begin, end and number of look-alikes.
type Unmasked = (String, Vec<(usize, usize, usize)>);

/// The text with letters of each word's own script in place of look-alikes.
#[pyfunction]
pub fn unmask(py: Python<'_>, text: &str) -> PyResult<Unmasked> {
    check_length(text).map_err(raise)?;
    let unmasked = py.detach(|| normalize::unmask(text));
    Ok((unmasked.text, unmasked.words))
}

/// Begin and end, in code points, of a text without links, names and tags at its ends.
#[pyfunction]
pub fn inside(text: &str) -> (usize, usize) {
    let inside = normalize::inside(text);
    let begin = text[..inside.start].chars().count();
    (begin, begin + text[inside].chars().count())
}

/// Why a regular expression cannot be used, and at which of its characters; None if it can.
#[pyfunction]
pub fn expression_fault(expression: &str) -> Option<(String, usize)> {
    normalize::fault_of(expression)
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
