//! Support for external stores: keys, and posting lists fetched by key.

use std::sync::Arc;

use neardup_core::candidates::{self, NewEntry};
use neardup_core::ids::DocId;
use neardup_core::verify::ShingleFrequencies;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::column;
use crate::corpus::{Background, Corpus};
use crate::errors::raise;
use crate::judge::Rule;

/// The keys under which documents are stored, and by which they are looked up.
#[pyclass(frozen, module = "neardup._core")]
pub struct KeyScheme {
    inner: candidates::KeyScheme,
    heavy_hitters: Arc<ShingleFrequencies>,
}

#[pymethods]
impl KeyScheme {
    #[new]
    #[pyo3(signature = (rule, *, bits, background))]
    fn new(rule: &Rule, bits: u32, background: Option<&Background>) -> PyResult<Self> {
        let heavy_hitters = match background {
            Some(known) => Arc::clone(known.inner.heavy_hitters()),
            None => Arc::default(),
        };
        let inner = candidates::KeyScheme::new(rule.inner.search, bits).map_err(raise)?;
        Ok(KeyScheme {
            inner,
            heavy_hitters,
        })
    }

    /// False if documents have no keys and all must be compared.
    fn has_keys(&self) -> bool {
        self.inner.has_keys()
    }

    /// The keys by which one document of a corpus is looked up.
    fn keys_of(&self, corpus: &Corpus, document: u32) -> PyResult<Vec<u64>> {
        corpus.documents(&[document])?;
        let sketches = corpus.sketches_in_memory()?;
        self.inner
            .check(sketches, corpus.inner.len())
            .map_err(raise)?;
        let mut keys = Vec::new();
        self.inner.keys(sketches, DocId(document), &mut keys);
        Ok(self.inner.lookup_keys(&keys).to_vec())
    }

    /// The keys by which the documents of a corpus that have a sketch are looked up,
    /// ascending and distinct.
    fn lookup_keys<'py>(
        &self,
        py: Python<'py>,
        corpus: &Corpus,
        rule: &Rule,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let sketches = corpus.sketches_in_memory()?;
        self.inner
            .check(sketches, corpus.inner.len())
            .map_err(raise)?;
        let mut all = Vec::new();
        let mut keys = Vec::new();
        for document in DocId::range(0..corpus.inner.len()) {
            if rule.inner.bounds.has_sketch(&corpus.inner, document) {
                self.inner.keys(sketches, document, &mut keys);
                all.extend_from_slice(self.inner.lookup_keys(&keys));
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all.into_pyarray(py))
    }
}

/// The posting lists of a store that the documents of a corpus need.
#[pyclass(module = "neardup._core")]
pub struct FetchedIndex {
    inner: Option<candidates::FetchedIndex>,
}

impl FetchedIndex {
    /// Takes the inner index, which is possible only once.
    pub(crate) fn take(&mut self) -> PyResult<candidates::FetchedIndex> {
        self.inner.take().ok_or_else(used_up)
    }
}

/// Entries to store: keys, documents, minimum overlaps.
pub(crate) type Entries<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u16>>,
);

/// Entries as columns.
pub(crate) fn entry_columns<'py>(py: Python<'py>, entries: &[NewEntry]) -> Entries<'py> {
    (
        column(py, entries.iter().map(|entry| entry.key)),
        column(py, entries.iter().map(|entry| entry.document.0)),
        column(py, entries.iter().map(|entry| entry.min_overlap.to_bits())),
    )
}

fn used_up() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("these lists are with a clusterer already")
}

#[pymethods]
impl FetchedIndex {
    /// Creates an index from entries: key, document number, minimum overlap.
    #[new]
    fn new(
        scheme: &KeyScheme,
        keys: PyReadonlyArray1<'_, u64>,
        numbers: PyReadonlyArray1<'_, u64>,
        min_overlaps: PyReadonlyArray1<'_, u16>,
    ) -> PyResult<Self> {
        let (keys, numbers) = (keys.as_slice()?, numbers.as_slice()?);
        let inner = candidates::FetchedIndex::new(
            scheme.inner.clone(),
            Arc::clone(&scheme.heavy_hitters),
            keys,
            numbers,
            min_overlaps.as_slice()?,
        );
        Ok(FetchedIndex {
            inner: Some(inner.map_err(raise)?),
        })
    }

    /// Creates an index without keys: for each document of the batch, the numbers of the stored
    /// documents to compare are those between two offsets.
    #[staticmethod]
    fn listed(scheme: &KeyScheme, offsets: Vec<usize>, numbers: Vec<u64>) -> PyResult<Self> {
        let inner = candidates::FetchedIndex::listed(scheme.inner.clone(), offsets, &numbers);
        Ok(FetchedIndex {
            inner: Some(inner.map_err(raise)?),
        })
    }

    /// Files documents that are kept, in this order, and returns the entries to store for them:
    /// keys, documents, minimum overlaps. Documents without a sketch have none.
    fn file<'py>(
        &mut self,
        py: Python<'py>,
        corpus: &Corpus,
        rule: &Rule,
        documents: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Entries<'py>> {
        let stored = self.inner.as_mut().ok_or_else(used_up)?;
        let documents = corpus.documents(documents.as_slice()?)?;
        let sketches = corpus.sketches_in_memory()?;
        stored.check(sketches, 0).map_err(raise)?;
        for &document in documents {
            if rule.inner.bounds.has_sketch(&corpus.inner, document) {
                stored.insert(sketches, document);
            }
        }
        let entries = stored.take_new_entries();
        Ok(entry_columns(py, &entries))
    }

    /// The number of documents filed that at least one capped list left out.
    fn skipped_documents(&self) -> PyResult<u64> {
        let stored = self.inner.as_ref().ok_or_else(used_up)?;
        Ok(stored.statistics().unlisted)
    }

    /// The numbers of the stored documents that may be similar to a document of a corpus.
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        corpus: &Corpus,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let stored = self.inner.as_ref().ok_or_else(used_up)?;
        let count = corpus.inner.len();
        let sketches = corpus.sketches_in_memory()?;
        let search = || stored.candidates(sketches, count);
        let found = corpus.threads.run(py, search)?;
        Ok(found.into_pyarray(py))
    }
}
