//! Clustering of the documents of a run by the one rule, and the search for all pairs.

use neardup_core::Error;
use neardup_core::candidates::SearchStatistics;
use neardup_core::cluster::{self, Reason};
use neardup_core::ids::DocId;
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arrays::{column, load_numpy};
use crate::columns::{Decisions as AllDecisions, numbers};
use crate::corpus::{Corpus, documents_below};
use crate::errors::raise;
use crate::external_join::ExternalJoin;
use crate::fetched::{Entries, FetchedIndex, entry_columns};
use crate::judge::Rule;

/// Kept document (-1: none), similarity, distance (-1: none), identical text.
type Decisions<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<bool>>,
);

/// Earlier document, later document, similarity, distance (-1: none).
type VerifiedPairs<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i32>>,
);

/// Document, similarity, distance, identical text.
type Similar = (u32, f64, Option<u32>, bool);

/// List entries visited, candidate pairs compared, similar pairs found, bytes of texts read for that,
/// full lists, documents that
/// they left out, pairs of these, documents with the most frequent key.
type Statistics = [u64; 9];

/// The one rule, applied to the documents of a [`Corpus`] in priority order.
#[pyclass(module = "neardup._core")]
pub struct Clusterer {
    inner: cluster::Clusterer,
    /// The state of the corpus that it clusters.
    state: u64,
    /// The first documents of the corpus, which can be decided.
    documents: usize,
}

impl Clusterer {
    fn of(inner: cluster::Clusterer, corpus: &Corpus, documents: usize) -> Self {
        Clusterer {
            inner,
            state: corpus.state,
            documents,
        }
    }

    /// Decides documents; None for one that is kept.
    fn decided(
        &mut self,
        py: Python<'_>,
        corpus: &Corpus,
        documents: &[u32],
        files: bool,
    ) -> PyResult<Vec<Option<cluster::Decision>>> {
        let documents = self.documents(corpus, documents)?;
        let decide = || match files {
            true => self.inner.decide(&corpus.inner, documents),
            false => self.inner.look_up(&corpus.inner, documents),
        };
        corpus.threads.run(py, decide)
    }

    fn documents<'a>(&self, corpus: &Corpus, documents: &'a [u32]) -> PyResult<&'a [DocId]> {
        corpus.check_state(self.state)?;
        documents_below(self.documents, documents)
    }
}

#[pymethods]
impl Clusterer {
    #[new]
    fn new(py: Python<'_>, corpus: &Corpus, rule: &Rule) -> PyResult<Self> {
        corpus.sketches_in_memory()?;
        let new = || cluster::Clusterer::new(&corpus.inner, rule.inner);
        let inner = corpus.threads.run(py, new)?;
        Ok(Clusterer::of(inner, corpus, corpus.inner.len()))
    }

    /// A clusterer that uses the keys joined for this order.
    #[staticmethod]
    fn joined(
        py: Python<'_>,
        corpus: &Corpus,
        rule: &Rule,
        join: &mut ExternalJoin,
        order: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let order = numbers::<u32>(order)?;
        let order = corpus.documents(&order)?;
        corpus.check_outside()?;
        corpus.check_state(join.state)?;
        let Some(joined) = join.joined.take() else {
            return Err(PyRuntimeError::new_err("these keys are not joined yet"));
        };
        let pool = corpus.threads.pool()?;
        let inner = py
            .detach(|| {
                pool.install(|| {
                    cluster::Clusterer::joined(&corpus.inner, rule.inner, joined, order)
                })
            })
            .map_err(raise)?;
        Ok(Clusterer::of(inner, corpus, corpus.inner.len()))
    }

    /// A clusterer for additions to a store. The first `batch` documents of the corpus are to be
    /// decided; the others are stored documents with these ascending `numbers`.
    #[staticmethod]
    fn of_stored(
        py: Python<'_>,
        corpus: &Corpus,
        rule: &Rule,
        stored: &mut FetchedIndex,
        numbers: Vec<u64>,
    ) -> PyResult<Self> {
        corpus.sketches_in_memory()?;
        let all = corpus.inner.len();
        let Some(batch) = all.checked_sub(numbers.len()) else {
            return Err(raise(Error::input(
                "the numbers of stored documents",
                format!("at most {all}, the documents of the corpus"),
                numbers.len(),
            )));
        };
        let mut lists = stored.take()?;
        let documents: Vec<DocId> = DocId::range(batch..all).collect();
        for (&number, &document) in numbers.iter().zip(&documents) {
            lists.attach(number, document);
        }
        let new = || cluster::Clusterer::of_stored(&corpus.inner, rule.inner, lists, &documents);
        let inner = corpus.threads.run(py, new)?;
        Ok(Clusterer::of(inner, corpus, batch))
    }

    /// The entries to store for the kept documents: keys, documents, minimum overlaps.
    fn new_entries<'py>(&self, py: Python<'py>) -> Entries<'py> {
        entry_columns(py, self.inner.new_entries())
    }

    /// All stored documents that a document duplicates: document, similarity, distance, identical.
    fn similar(
        &mut self,
        py: Python<'_>,
        corpus: &Corpus,
        document: u32,
    ) -> PyResult<Vec<Similar>> {
        self.documents(corpus, &[document])?;
        let similar = || self.inner.similar(&corpus.inner, DocId(document));
        let found = corpus.threads.run(py, similar)?.into_iter();
        let row = |d: cluster::Decision| {
            let is_identical = d.reason == Reason::Identical;
            (d.kept.0, d.similarity, d.distance, is_identical)
        };
        Ok(found.map(row).collect())
    }

    /// Keeps documents and files them, whatever they repeat.
    fn file(
        &mut self,
        py: Python<'_>,
        corpus: &Corpus,
        documents: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let documents = numbers::<u32>(documents)?;
        let documents = self.documents(corpus, &documents)?;
        let file = || self.inner.file(&corpus.inner, documents);
        corpus.threads.run(py, file)
    }

    /// Decides documents; those that are kept are filed, unless `files` is false.
    #[pyo3(signature = (corpus, documents, *, files=true))]
    fn decide<'py>(
        &mut self,
        py: Python<'py>,
        corpus: &Corpus,
        documents: &Bound<'py, PyAny>,
        files: bool,
    ) -> PyResult<Decisions<'py>> {
        load_numpy(py);
        let documents = numbers::<u32>(documents)?;
        let decided = self.decided(py, corpus, &documents, files)?;
        let all = || decided.iter();
        let distance = |d: &cluster::Decision| distance(d.distance);
        Ok((
            column(py, all().map(|d| d.map_or(-1, |d| d.kept.0.into()))),
            column(py, all().map(|d| d.map_or(f64::NAN, |d| d.similarity))),
            column(py, all().map(|d| d.as_ref().map_or(-1, distance))),
            column(
                py,
                all().map(|d| d.is_some_and(|d| d.reason == Reason::Identical)),
            ),
        ))
    }

    /// The same, noted among the decisions on all documents.
    #[pyo3(signature = (corpus, documents, decisions, *, files=true))]
    fn decide_into(
        &mut self,
        py: Python<'_>,
        corpus: &Corpus,
        documents: &Bound<'_, PyAny>,
        decisions: &mut AllDecisions,
        files: bool,
    ) -> PyResult<()> {
        let documents = numbers::<u32>(documents)?;
        let decided = self.decided(py, corpus, &documents, files)?;
        decisions.note(&documents, &decided);
        Ok(())
    }

    /// The first documents that were kept for their unique text, each with the kept one for which it
    /// would have been dropped, and the similarity that the two would have.
    fn first_kept_by_unique_text(&self) -> Vec<(u32, u32, f64)> {
        let shown = self.inner.first_kept_by_unique_text().iter();
        shown
            .map(|(document, without)| (document.0, without.of.0, without.similarity))
            .collect()
    }

    fn statistics(&self) -> Statistics {
        let clusterer = &self.inner;
        let verified = (clusterer.verified(), clusterer.bytes_compared());
        let found = (clusterer.statistics(), clusterer.candidates());
        statistics(found, verified, clusterer.kept_by_unique_text())
    }
}

/// All verified pairs of a [`Corpus`], in chunks.
#[pyclass(module = "neardup._core")]
pub struct PairSearch {
    inner: cluster::PairSearch,
    /// The state of the corpus whose pairs it finds.
    state: u64,
}

#[pymethods]
impl PairSearch {
    /// The first `others` documents are another collection, unless it is None.
    #[new]
    #[pyo3(signature = (corpus, rule, *, others=None, max_pairs=u64::MAX))]
    fn new(
        py: Python<'_>,
        corpus: &Corpus,
        rule: &Rule,
        others: Option<u32>,
        max_pairs: u64,
    ) -> PyResult<Self> {
        corpus.sketches_in_memory()?;
        let new = || cluster::PairSearch::new(&corpus.inner, rule.inner, others, max_pairs);
        let inner = corpus.threads.run(py, new)?;
        Ok(PairSearch {
            inner,
            state: corpus.state,
        })
    }

    /// Complete after the last piece.
    fn statistics(&self) -> Statistics {
        let search = &self.inner;
        let verified = (search.verified(), search.bytes_compared());
        statistics((search.statistics(), search.candidates()), verified, 0)
    }

    /// The next pairs, in no particular order; None after the last.
    fn next_piece<'py>(
        &mut self,
        py: Python<'py>,
        corpus: &Corpus,
    ) -> PyResult<Option<VerifiedPairs<'py>>> {
        load_numpy(py);
        corpus.check_state(self.state)?;
        let next = || self.inner.next_piece(&corpus.inner);
        let piece = corpus.threads.run(py, next)?;
        Ok(piece.map(|pairs| {
            (
                column(py, pairs.iter().map(|p| p.a.0)),
                column(py, pairs.iter().map(|p| p.b.0)),
                column(py, pairs.iter().map(|p| p.similarity)),
                column(py, pairs.iter().map(|p| distance(p.distance))),
            )
        }))
    }
}

fn statistics(
    (found, candidates): (SearchStatistics, u64),
    (verified, bytes_compared): (u64, u64),
    kept_by_unique_text: u64,
) -> Statistics {
    let SearchStatistics {
        visited,
        closed_lists,
        unlisted,
        unlisted_pairs,
        most_frequent,
    } = found;
    [
        visited,
        candidates,
        verified,
        bytes_compared,
        kept_by_unique_text,
        closed_lists,
        unlisted,
        unlisted_pairs,
        most_frequent.into(),
    ]
}

/// The distance; -1 if there is none.
fn distance(bits: Option<u32>) -> i32 {
    bits.map_or(-1, |bits| bits as i32)
}
