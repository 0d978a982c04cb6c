//! Finding the shared keys of a corpus whose sketches are on disk.

use neardup_core::{candidates, cluster};
use pyo3::prelude::*;

use crate::columns::numbers;
use crate::corpus::Corpus;
use crate::judge::Rule;

/// The external join of the keys of a corpus whose sketches are on disk.
#[pyclass(module = "neardup._core")]
pub struct ExternalJoin {
    inner: Option<candidates::ExternalJoin>,
    /// The state of the corpus that it was made for.
    pub(crate) state: u64,
    pub(crate) joined: Option<candidates::JoinedKeys>,
}

#[pymethods]
impl ExternalJoin {
    #[new]
    fn new(
        py: Python<'_>,
        corpus: &Corpus,
        rule: &Rule,
        order: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let order = numbers::<u32>(order)?;
        let order = corpus.documents(&order)?;
        corpus.check_outside()?;
        let begin = || cluster::Clusterer::join(&corpus.inner, rule.inner, order);
        let inner = corpus.threads.run(py, begin)?;
        Ok(ExternalJoin {
            inner: Some(inner),
            state: corpus.state,
            joined: None,
        })
    }

    /// Does a part of the work; returns False when all of it is done.
    fn advance(&mut self, py: Python<'_>, corpus: &Corpus) -> PyResult<bool> {
        let Some(join) = &mut self.inner else {
            return Ok(false);
        };
        corpus.check_state(self.state)?;
        let store = corpus.inner.stored_sketches();
        let advance = || store.map_or(Ok(false), |store| join.advance(store));
        if corpus.threads.run(py, advance)? {
            return Ok(true);
        }
        if let Some(join) = self.inner.take() {
            self.joined = Some(corpus.threads.run(py, || join.finish())?);
        }
        Ok(false)
    }
}
