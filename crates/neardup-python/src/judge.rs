//! The rule by which two documents are duplicates.

use neardup_core::Error;
use neardup_core::candidates::{Banding, Reach, Search};
use neardup_core::ids::DocId;
use neardup_core::judge::{self as rules, Bounds};
use neardup_core::verify::{Direction, Evidence, Measure, Overlap};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::corpus::Corpus;
use crate::errors::raise;

/// How candidates are found and which bounds decide about them.
#[pyclass(frozen, module = "neardup._core")]
pub struct Rule {
    pub(crate) inner: rules::Rule,
}

#[pymethods]
impl Rule {
    #[new]
    #[pyo3(signature = (
        *, scheme, max_distance, bands, rows, resemblance, threshold, measure, direction, shingle,
        min_features, exhaustive
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of one Python call")]
    fn new(
        scheme: &str,
        max_distance: u32,
        bands: u32,
        rows: u32,
        resemblance: f64,
        threshold: f64,
        measure: &str,
        direction: &str,
        shingle: usize,
        min_features: u32,
        exhaustive: bool,
    ) -> PyResult<Self> {
        let reach = match exhaustive {
            true => Reach::Exhaustive,
            false => Reach::Kept,
        };
        let search = match scheme {
            "bands" => Search::Bands(Banding::new(bands, rows).map_err(raise)?, reach),
            "postings" => Search::Postings {
                threshold: resemblance,
                reach,
            },
            "prefix" => Search::Prefix {
                threshold: resemblance,
            },
            "near" => Search::Near { max_distance },
            other => return Err(unknown("scheme", "near, bands, postings or prefix", other)),
        };
        let bounds = Bounds {
            measure: measured(measure, direction, shingle)?,
            threshold: Some(threshold),
            max_distance: (scheme == "near").then_some(max_distance),
            min_features,
        };
        Ok(Rule {
            inner: rules::Rule { search, bounds },
        })
    }

    /// The most documents in the list of a key; None if lists have no cap.
    #[pyo3(signature = (*, filing_all))]
    fn max_list_len(&self, filing_all: bool) -> Option<usize> {
        let search = match filing_all {
            true => self.inner.search.filing_all(),
            false => self.inner.search,
        };
        Some(search.max_list_len()).filter(|&most| most < usize::MAX)
    }
}

/// Whether two documents of a corpus that keeps its texts are duplicates by the given bounds,
/// and everything that the verdict depends on.
#[pyfunction]
#[pyo3(signature = (
    corpus, a, b, *, measure, shingle, threshold = None, max_distance = None, min_features = 1
))]
#[expect(clippy::too_many_arguments, reason = "keywords of one Python call")]
pub fn judge<'py>(
    py: Python<'py>,
    corpus: &Corpus,
    a: u32,
    b: u32,
    measure: &str,
    shingle: usize,
    threshold: Option<f64>,
    max_distance: Option<u32>,
    min_features: u32,
) -> PyResult<Bound<'py, PyDict>> {
    corpus.documents(&[a, b])?;
    corpus.sketches_in_memory()?;
    let bounds = Bounds {
        measure: measured(measure, "either", shingle)?,
        threshold,
        max_distance,
        min_features,
    };
    let judged = || bounds.judge(&corpus.inner, DocId(a), DocId(b), shingle);
    let judged = corpus.threads.run(py, judged)?;
    let fields = evidence(py, &judged.evidence, &judged.overlap)?;
    if corpus.inner.shingle_frequencies().is_none() {
        let uncounted = evidence(py, &judged.evidence, &judged.evidence.overlap)?;
        fields.set_item("uncounted", uncounted)?;
    }
    fields.set_item("duplicate", judged.is_duplicate)?;
    fields.set_item("within_bounds", judged.is_within_bounds)?;
    fields.set_item("similarity", judged.similarity)?;
    fields.set_item("distance", judged.distance)?;
    fields.set_item("identical", judged.is_identical)?;
    fields.set_item("features", judged.features)?;
    fields.set_item("few_features", judged.has_few_features)?;
    Ok(fields)
}

/// Evidence as a dictionary; `overlap` counts the shingles whose resemblance is reported.
pub fn evidence<'py>(
    py: Python<'py>,
    found: &Evidence,
    overlap: &Overlap,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("similarity", found.similarity)?;
    fields.set_item("resemblance", overlap.resemblance())?;
    fields.set_item("containment_a", overlap.containment_a())?;
    fields.set_item("containment_b", overlap.containment_b())?;
    fields.set_item("short", found.short)?;
    fields.set_item("penalty", found.penalty)?;
    fields.set_item("alignment", found.alignment)?;
    let contained = PyDict::new(py);
    contained.set_item("a_in_b", found.containment.first_in_second)?;
    contained.set_item("b_in_a", found.containment.second_in_first)?;
    let similarity = found
        .containment
        .similarity(Direction::Either, &found.aligned);
    contained.set_item("similarity", similarity)?;
    fields.set_item("containment", contained)?;
    let aligned = PyDict::new(py);
    aligned.set_item("units_a", found.aligned.a)?;
    aligned.set_item("units_b", found.aligned.b)?;
    aligned.set_item("equal", found.aligned.equal)?;
    aligned.set_item("distance", found.aligned.distance)?;
    aligned.set_item("similarity", found.aligned.similarity())?;
    aligned.set_item("edited", found.aligned.edited)?;
    aligned.set_item("agree", found.aligned.agree)?;
    aligned.set_item("differ", found.aligned.differ)?;
    aligned.set_item("replaced", found.aligned.replaced)?;
    aligned.set_item("negated", found.aligned.negated)?;
    aligned.set_item("passage", found.aligned.passage)?;
    aligned.set_item("core", found.layout.core)?;
    aligned.set_item("at_end", found.layout.is_at_end)?;
    aligned.set_item("gaps", found.layout.gaps)?;
    aligned.set_item("replacements", found.layout.replacements)?;
    aligned.set_item("slots", found.aligned.slots)?;
    aligned.set_item("recurring", found.layout.recurring)?;
    aligned.set_item("scattered", found.aligned.is_scattered())?;
    aligned.set_item("letters", found.aligned.letters)?;
    aligned.set_item("spaced", found.aligned.is_spaced)?;
    fields.set_item("aligned", aligned)?;
    let weighed = found.weighed.map(|weighed| {
        let fields = PyDict::new(py);
        fields.set_item("level", weighed.level)?;
        fields.set_item("containment", weighed.containment())?;
        fields.set_item("resemblance", weighed.resemblance())?;
        fields.set_item("unweighed", weighed.unweighed())?;
        fields.set_item("median", weighed.median)?;
        fields.set_item("excused", weighed.excused)?;
        let unique = weighed.unique.map(|unique| {
            let fields = PyDict::new(py);
            fields.set_item("has", unique.has)?;
            fields.set_item("resemblance", unique.resemblance())?;
            PyResult::Ok(fields)
        });
        fields.set_item("unique", unique.transpose()?)?;
        PyResult::Ok(fields)
    });
    fields.set_item("weighed", weighed.transpose()?)?;
    fields.set_item("by_unique_text", found.by_unique_text)?;
    Ok(fields)
}

/// The measure with this name; `None` for the similarity of sketches.
fn measured(name: &str, direction: &str, k: usize) -> PyResult<Option<Measure>> {
    let along = Direction::named(direction)
        .ok_or_else(|| unknown("direction", "contained, either or both", direction))?;
    if name == "sketch" {
        return Ok(None);
    }
    let measure = Measure::named(name, k, along);
    Ok(Some(measure.ok_or_else(|| {
        unknown("measure", "a measure of texts, or sketch", name)
    })?))
}

fn unknown(name: &'static str, expected: &str, got: &str) -> PyErr {
    raise(Error::parameter(name, expected, got))
}
