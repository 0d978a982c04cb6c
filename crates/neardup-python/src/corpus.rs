//! The documents of a run, and the limits of its memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::builder::{FixedSizeBinaryBuilder, LargeStringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, LargeBinaryArray, UInt32Array};
use neardup_core::Error;
use neardup_core::background;
use neardup_core::corpus::{self, Document, Restored};
use neardup_core::ids::{DocId, Hash};
use neardup_core::sketch::Sketches;
use neardup_core::verify::count_bytes::counts_in_parts;
use neardup_core::verify::sample_bytes::samples_to_bytes;
use neardup_core::verify::{DEFAULT_ENTRIES, ShingleFrequencies, counts_of};
use neardup_core::weigh::DocumentFrequencies;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::{column, optional_strings, strings};
use crate::arrow::ArrowArray;
use crate::columns::{bytes_of, numbers};
use crate::errors::raise;
use crate::memory::give_back;
use crate::recipe::Recipe;
use crate::threads::{Threads, run};

/// The memory limits of a corpus and of the operations on it.
#[pyclass(frozen, module = "neardup._core")]
pub struct Memory {
    inner: corpus::Memory,
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (*, texts, sketches, compared, keys, folder))]
    fn new(
        texts: usize,
        sketches: Option<usize>,
        compared: usize,
        keys: usize,
        folder: Option<PathBuf>,
    ) -> Self {
        Memory {
            inner: corpus::Memory {
                texts,
                sketches: sketches.unwrap_or(usize::MAX),
                compared,
                keys,
                folder,
            },
        }
    }
}

/// The documents of one run, and the threads that work on them.
#[pyclass(module = "neardup._core")]
pub struct Corpus {
    pub(crate) inner: corpus::Corpus,
    pub(crate) threads: Threads,
    /// A number unique to this corpus, and changed with its content.
    pub(crate) state: u64,
}

fn next_state() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Documents by their numbers. Raises unless all of them are among the first `count`.
pub(crate) fn documents_below(count: usize, documents: &[u32]) -> PyResult<&[DocId]> {
    match documents.iter().max() {
        Some(&document) if document as usize >= count => Err(raise(Error::input(
            "the documents",
            format!("numbers below {count}"),
            document,
        ))),
        _ => Ok(DocId::all(documents)),
    }
}

impl Corpus {
    /// Raises unless the corpus has this state, so is the same one and unchanged.
    pub(crate) fn check_state(&self, state: u64) -> PyResult<()> {
        match self.state == state {
            true => Ok(()),
            false => Err(raise(Error::input(
                "the corpus",
                "the one that this was made for, unchanged",
                "another",
            ))),
        }
    }

    /// Documents by their numbers. Raises unless the corpus has all of them.
    pub(crate) fn documents<'a>(&self, documents: &'a [u32]) -> PyResult<&'a [DocId]> {
        documents_below(self.inner.len(), documents)
    }

    /// The sketches of all documents, which must be in memory.
    pub(crate) fn sketches_in_memory(&self) -> PyResult<&Sketches> {
        match self.inner.stored_sketches() {
            None => Ok(self.inner.sketches()),
            Some(_) => Err(raise(Error::input(
                "the sketches of a corpus",
                "in memory",
                "outside",
            ))),
        }
    }

    /// Raises unless the sketches of all documents are on disk.
    pub(crate) fn check_outside(&self) -> PyResult<()> {
        match self.inner.stored_sketches() {
            Some(store) if store.len() == self.inner.len() => Ok(()),
            _ => Err(raise(Error::input(
                "the corpus",
                "finished, with its sketches outside of memory",
                "another",
            ))),
        }
    }
}

#[pymethods]
impl Corpus {
    #[new]
    #[pyo3(signature = (recipe, *, keeps_texts, shingle, workers, memory = None))]
    fn new(
        recipe: &Recipe,
        keeps_texts: bool,
        shingle: Option<usize>,
        workers: usize,
        memory: Option<&Memory>,
    ) -> PyResult<Self> {
        let memory = memory.map(|memory| memory.inner.clone());
        let memory = memory.unwrap_or_default();
        let recipe = recipe.inner.clone();
        let inner = corpus::Corpus::within(recipe, keeps_texts, shingle, memory);
        Ok(Corpus {
            inner: inner.map_err(raise)?,
            threads: Threads::new(workers)?,
            state: next_state(),
        })
    }

    /// Identities (16 bytes, equal for equal texts), feature counts (null for an unreadable document) and
    /// sketches of some documents, as Arrow arrays for [`restore`](Self::restore).
    fn rows(&self, py: Python<'_>, begin: usize, end: usize) -> PyResult<[ArrowArray; 3]> {
        let end = end.min(self.inner.len());
        let begin = begin.min(end);
        let sketches = self
            .threads
            .run(py, || self.inner.sketch_bytes(begin..end))?;
        let documents = || DocId::range(begin..end);
        let mut identities = FixedSizeBinaryBuilder::with_capacity(sketches.len(), 16);
        for document in documents() {
            let identity = self.inner.identity(document).to_le_bytes();
            identities.append_value(identity).expect("16 bytes each");
        }
        let features = documents().map(|document| self.inner.features(document));
        Ok([
            identities.finish().into(),
            features.collect::<UInt32Array>().into(),
            LargeBinaryArray::from_iter_values(sketches).into(),
        ])
    }

    /// Adds documents that were sketched before, from the arrays that `rows` returned. Their normalized
    /// texts are counted as the texts of new documents are; original ones, which a store has, are not.
    #[pyo3(signature = (identities, features, sketches, texts, *, normalized))]
    fn restore(
        &mut self,
        py: Python<'_>,
        identities: ArrowArray,
        features: ArrowArray,
        sketches: ArrowArray,
        texts: ArrowArray,
        normalized: bool,
    ) -> PyResult<()> {
        let mut documents = restored(&identities, &features, &sketches)?;
        let texts = strings(texts.array())?;
        if texts.len() != documents.len() {
            return Err(other_columns());
        }
        for (document, text) in documents.iter_mut().zip(texts) {
            document.text = text;
        }
        self.state = next_state();
        self.threads.run(py, || match normalized {
            true => self.inner.adopt(&documents),
            false => self.inner.restore(&documents),
        })
    }

    /// The normalized texts of some documents.
    fn texts(&self, py: Python<'_>, begin: usize, end: usize) -> PyResult<ArrowArray> {
        let end = end.min(self.inner.len());
        let begin = begin.min(end);
        let texts = self.threads.run(py, || {
            let mut texts = LargeStringBuilder::new();
            let mut buffer = Vec::new();
            for document in begin..end {
                texts.append_value(self.inner.texts().text(document, &mut buffer)?);
            }
            Ok(texts.finish())
        })?;
        Ok(texts.into())
    }

    /// Whether sketches are on disk, so that keys need an external join.
    fn is_outside(&self) -> bool {
        self.inner.stored_sketches().is_some()
    }

    /// An empty corpus on the same threads that does not count shingles.
    #[pyo3(signature = (*, keeps_texts))]
    fn emptied(&self, keeps_texts: bool) -> PyResult<Self> {
        let recipe = self.inner.recipe().clone();
        Ok(Corpus {
            inner: corpus::Corpus::new(recipe, keeps_texts, None).map_err(raise)?,
            threads: self.threads.clone(),
            state: next_state(),
        })
    }

    /// Sets the background frequencies, for a corpus that does not count shingles.
    fn set_background(&mut self, background: &Background) {
        if let Some(known) = background.inner.shingle_frequencies() {
            self.inner.set_shingle_frequencies(Arc::clone(known));
        }
    }

    /// The samples of the documents from `first` on, one for each of `numbers`, those of short texts too,
    /// before the corpus is finished. Empty if the corpus does not count shingles.
    fn samples<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        numbers: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let numbers = numbers.as_slice()?;
        let documents = DocId::range(first..first + numbers.len());
        let documents = documents.zip(numbers.iter().map(|&number| number as u64));
        let samples = self.inner.samples();
        let bytes = samples.map(|samples| samples_to_bytes(samples, documents));
        let bytes = bytes.transpose().map_err(raise)?;
        Ok(PyBytes::new(py, &bytes.unwrap_or_default()))
    }

    /// The number of documents with a sample, and how many of them have each sampled hash, in parts by the
    /// leading bits of hashes; before the corpus is finished.
    fn counts<'py>(
        &self,
        py: Python<'py>,
        parts: usize,
    ) -> PyResult<(usize, Vec<Bound<'py, PyBytes>>)> {
        let Some(samples) = self.inner.samples() else {
            return Ok((0, Vec::new()));
        };
        let dealt = self
            .threads
            .run(py, || counts_in_parts(&counts_of(samples)?, parts))?;
        let dealt = dealt.iter().map(|bytes| PyBytes::new(py, bytes));
        Ok((samples.texts(), dealt.collect()))
    }

    /// For each part of a finished corpus its name, the bytes that may be in memory, or None without a
    /// limit, and the bytes that are in memory and in a file.
    fn usage(&self) -> Vec<(&'static str, Option<usize>, u64, u64)> {
        let all = self.inner.usage().into_iter();
        all.map(|usage| {
            let limit = Some(usage.limit).filter(|&limit| limit < usize::MAX);
            (usage.part, limit, usage.in_memory, usage.in_file)
        })
        .collect()
    }

    /// The number of different texts among some documents, by their places.
    fn distinct_texts(&self, documents: &Bound<'_, PyAny>) -> PyResult<usize> {
        let len = self.inner.len();
        let places = numbers::<i64>(documents)?;
        if let Some(&beyond) = places.iter().find(|&&p| p < 0 || p as usize >= len) {
            let bounds = format!("places below {len}");
            return Err(raise(Error::parameter("documents", bounds, beyond)));
        }
        let mut found: Vec<u128> = places
            .iter()
            .map(|&place| self.inner.identity(DocId(place as u32)))
            .collect();
        found.sort_unstable();
        found.dedup();
        Ok(found.len())
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    #[pyo3(signature = (texts, *, titles, units))]
    fn push(
        &mut self,
        py: Python<'_>,
        texts: ArrowArray,
        titles: Option<ArrowArray>,
        units: Option<ArrowArray>,
    ) -> PyResult<()> {
        let texts = strings(texts.array())?;
        let titles = optional_strings(titles.as_ref(), texts.len())?;
        let units = optional_strings(units.as_ref(), texts.len())?;
        self.state = next_state();
        let documents: Vec<Document<'_>> = texts
            .into_iter()
            .zip(titles.into_iter().zip(units))
            .map(|(text, (title, units))| Document { text, title, units })
            .collect();
        self.threads.run(py, || self.inner.push(&documents))
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        self.state = next_state();
        self.threads.run(py, || {
            self.inner.finish()?;
            // No more batches come: what was held for them is free.
            give_back();
            Ok(())
        })
    }

    /// Divides a finished corpus into groups, by a hash for each document.
    fn divide(&mut self, py: Python<'_>, groups: PyReadonlyArray1<'_, u64>) -> PyResult<()> {
        let groups = groups.as_slice()?.to_vec();
        self.state = next_state();
        self.threads.run(py, || self.inner.divide(groups))
    }

    /// One row of 64-bit words per document; zeros for a document without a sketch. No
    /// rows if the sketches are not fingerprints.
    fn fingerprints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let (mut rows, mut words) = (Vec::new(), 0);
        if let Some(all) = self.inner.sketches().fingerprints() {
            words = all.words();
            for document in 0..all.len() {
                rows.extend(all.get(document).unwrap_or_default());
            }
        }
        let shape = [rows.len() / words.max(1), words];
        numpy::PyArrayMethods::reshape(&rows.into_pyarray(py), shape)
    }

    /// One signature per document. No rows if the sketches are not signatures.
    fn signatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let (mut rows, mut values) = (Vec::new(), 0);
        if let Sketches::Signatures(all) = self.inner.sketches() {
            values = all.num_perm();
            for document in DocId::range(0..all.len()) {
                rows.extend_from_slice(all.of(document));
            }
        }
        let shape = [rows.len() / values.max(1), values];
        numpy::PyArrayMethods::reshape(&rows.into_pyarray(py), shape)
    }

    /// Number of features of each document; -1 for one that could not be read.
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let features = |document| self.inner.features(document).map_or(-1, i64::from);
        column(py, DocId::range(0..self.inner.len()).map(features))
    }

    /// The documents that could be read, in order, as a column of 32-bit numbers.
    fn readable<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let is_readable = |&document: &DocId| self.inner.features(document).is_some();
        let documents = DocId::range(0..self.inner.len()).filter(is_readable);
        bytes_of(py, &documents.collect::<Vec<DocId>>())
    }

    /// Of the documents from `first` on, how many could not be read, and how many have no features.
    fn without_features(&self, first: usize) -> (usize, usize) {
        let features = |document| self.inner.features(document);
        let all = || DocId::range(first..self.inner.len());
        (
            all()
                .filter(|&document| features(document).is_none())
                .count(),
            all()
                .filter(|&document| features(document) == Some(0))
                .count(),
        )
    }

    /// The similarity of two documents by their sketches alone.
    fn sketch_similarity(&self, a: u32, b: u32) -> PyResult<f64> {
        self.documents(&[a, b])?;
        Ok(self.sketches_in_memory()?.similarity(DocId(a), DocId(b)))
    }

    fn frequencies_digest(&self) -> Option<u64> {
        self.inner.frequencies_digest()
    }

    /// The number of documents counted so far, and the document frequency of each word.
    fn frequencies(&self) -> Option<(u64, Vec<(String, u64)>)> {
        self.inner
            .frequencies()
            .map(|counted: &DocumentFrequencies| (counted.documents(), counted.sorted()))
    }
}

fn identity(bytes: &[u8]) -> PyResult<u128> {
    match bytes.try_into() {
        Ok(bytes) => Ok(u128::from_le_bytes(bytes)),
        Err(_) => Err(raise(Error::input(
            "a stored identity",
            "16 bytes",
            bytes.len(),
        ))),
    }
}

/// The documents of columns as `rows` returns them, without texts.
fn restored<'a>(
    identities: &'a ArrowArray,
    features: &'a ArrowArray,
    sketches: &'a ArrowArray,
) -> PyResult<Vec<Restored<'a>>> {
    let identities = identities.array().as_fixed_size_binary_opt();
    let features = features.array().as_primitive_opt::<UInt32Type>();
    let sketches = sketches.array().as_binary_opt::<i64>();
    let (Some(identities), Some(features), Some(sketches)) = (identities, features, sketches)
    else {
        return Err(other_columns());
    };
    if [features.len(), sketches.len()] != [identities.len(); 2] {
        return Err(other_columns());
    }
    let documents = (identities.iter().zip(features)).zip(sketches);
    let documents = documents.map(|((bytes, features), sketch)| {
        Ok(Restored {
            text: None,
            identity: identity(bytes.unwrap_or_default())?,
            features: features.unwrap_or(corpus::UNREADABLE),
            sketch: sketch.unwrap_or_default(),
        })
    });
    documents.collect()
}

fn other_columns() -> PyErr {
    let expected = "identities, features and sketches, as many of each";
    raise(Error::input(
        "the columns of an earlier run",
        expected,
        "others",
    ))
}

/// Background frequencies: the shingles and keys that many documents of a collection share.
#[pyclass(frozen, module = "neardup._core")]
pub struct Background {
    pub(crate) inner: background::Background,
}

#[pymethods]
impl Background {
    /// Creates the background of the documents of a finished corpus.
    #[new]
    fn new(py: Python<'_>, corpus: &Corpus) -> PyResult<Self> {
        let inner = corpus
            .threads
            .run(py, || background::Background::of(&corpus.inner))?;
        Ok(Background { inner })
    }

    /// Creates the background of this many documents from the common shingles of each part of the
    /// hashes, in their order, of which `texts` different texts were counted.
    #[staticmethod]
    fn of_shingles(
        py: Python<'_>,
        documents: u64,
        texts: u64,
        parts: Vec<PyBackedBytes>,
    ) -> PyResult<Self> {
        let count = || {
            let both = parts.iter().flat_map(|part| part.as_chunks().0);
            let both = both.map(|&both| u64::from_le_bytes(both));
            // The hash is the first half.
            let counts = both.map(|both| (Hash(both as u32), (both >> u32::BITS) as u32));
            let counted = ShingleFrequencies::of_common(texts, counts.collect(), DEFAULT_ENTRIES);
            Ok(background::Background::of_shingles(documents, counted))
        };
        let inner = run(py, 1, count)?;
        Ok(Background { inner })
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let inner = run(py, 1, || background::Background::from_bytes(bytes))?;
        Ok(Background { inner })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, 1, || Ok(self.inner.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The number of documents counted, of common shingles, and of common keys.
    fn counts(&self) -> (u64, usize, usize) {
        let frequencies = self.inner.shingle_frequencies();
        (
            self.inner.documents(),
            frequencies.map_or(0, |all| all.len()),
            self.inner.heavy_hitters().len(),
        )
    }
}
