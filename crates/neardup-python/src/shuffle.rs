//! The steps of a distributed search, whose keys do not fit into one memory.

use neardup_core::Error;
use neardup_core::candidates;
use neardup_core::corpus::{Corpus, Restored};
use neardup_core::ids::DocId;
use neardup_core::judge::Judge;
use neardup_core::sketch::{Settings, Sketches};
use neardup_core::verify::count_bytes::{counts_in_parts, read_counts};
use neardup_core::verify::sample_bytes::{self, NumberedSamples};
use neardup_core::verify::{common_of_counts, counts_of_hashes};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::{load_numpy, strings};
use crate::arrow::ArrowArray;
use crate::corpus::Background;
use crate::errors::raise;
use crate::judge::Rule;
use crate::recipe::Recipe;
use crate::threads::pool;

/// Pairs that are judged at once.
const TOGETHER: usize = 1 << 20;

/// Candidate pairs: the number of a document, and of the earlier one.
type Pairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Lists for each batch, and the keys and documents of full lists.
type Lists<'py> = (
    Vec<Bound<'py, PyBytes>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
);

/// Similarity, distance.
type Judged<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i32>>);

/// Distributes keys to buckets and returns the results; see `neardup_core::candidates::shuffle`.
#[pyclass(frozen, module = "neardup._core")]
pub struct Shuffle {
    inner: candidates::Shuffle,
    settings: Settings,
}

impl Shuffle {
    fn sketches(&self, rows: &[PyBackedBytes]) -> neardup_core::Result<Sketches> {
        let mut sketches = Sketches::new(&self.settings)?;
        for row in rows {
            sketches.push_bytes(row)?;
        }
        Ok(sketches)
    }
}

#[pymethods]
impl Shuffle {
    #[new]
    #[pyo3(signature = (rule, recipe, *, buckets))]
    fn new(rule: &Rule, recipe: &Recipe, buckets: usize) -> PyResult<Self> {
        let settings = recipe.inner.sketch_settings().clone();
        let bits = match &settings {
            Settings::SimHash(simhash) => simhash.bits,
            _ => 0,
        };
        let inner = candidates::Shuffle::new(rule.inner.search, bits, buckets).map_err(raise)?;
        Ok(Shuffle { inner, settings })
    }

    /// The keys of a batch of documents as one blob per bucket. `highest` is the largest document
    /// number. Only the documents that are the first with their text are counted.
    fn keys<'py>(
        &self,
        py: Python<'py>,
        sketches: Vec<PyBackedBytes>,
        highest: u64,
        is_first: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let is_first = flags(is_first.as_slice()?, sketches.len())?;
        let blobs = py.detach(|| {
            let sketches = self.sketches(&sketches)?;
            self.inner.keys(&sketches, highest, |at| is_first[at])
        });
        to_python(py, blobs)
    }

    /// For the keys of each batch in one bucket, the number of documents that have each key.
    fn count<'py>(
        &self,
        py: Python<'py>,
        blobs: Vec<PyBackedBytes>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        to_python(py, py.detach(|| self.inner.count(&blobs)))
    }

    /// The number of documents up to which a list is full.
    #[getter]
    fn list_cap(&self) -> usize {
        self.inner.scheme().max_list_len()
    }

    /// The entries of those documents of a batch that are indexed, as one blob per bucket, without the
    /// keys and documents that full lists left out, which are sorted.
    fn file<'py>(
        &self,
        py: Python<'py>,
        sketches: Vec<PyBackedBytes>,
        numbers: PyReadonlyArray1<'py, i64>,
        is_filed: PyReadonlyArray1<'py, bool>,
        counts: Vec<PyBackedBytes>,
        left_out: (PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, i64>),
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let numbers = of_documents(numbers.as_slice()?, sketches.len())?;
        let is_filed = flags(is_filed.as_slice()?, sketches.len())?;
        let (keys, without) = (left_out.0.as_slice()?, left_out.1.as_slice()?);
        let without = of_documents(without, keys.len())?;
        let left_out: Vec<_> = keys.iter().copied().zip(without).collect();
        let blobs = py.detach(|| {
            let (sketches, counts) = (self.sketches(&sketches)?, self.inner.key_counts(&counts)?);
            let is_filed = |at: usize| is_filed[at];
            self.inner
                .file(&sketches, &numbers, is_filed, &counts, &left_out)
        });
        to_python(py, blobs)
    }

    /// The lists of one bucket for each batch in `asked`, and the keys and documents of full lists,
    /// those included that these leave out.
    fn lists<'py>(
        &self,
        py: Python<'py>,
        filed: Vec<PyBackedBytes>,
        asked: Vec<PyBackedBytes>,
    ) -> PyResult<Lists<'py>> {
        let found = py.detach(|| self.inner.lists(&filed, &asked, usize::MAX));
        let found = found.map_err(raise)?;
        let full = found.full.into_iter();
        let (keys, documents): (Vec<u32>, Vec<i64>) =
            full.map(|(key, number)| (key, number as i64)).unzip();
        Ok((
            to_python(py, Ok(found.of_batches))?,
            keys.into_pyarray(py),
            documents.into_pyarray(py),
        ))
    }

    /// The earlier documents that share enough keys with each queried document of a
    /// batch.
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        sketches: Vec<PyBackedBytes>,
        numbers: PyReadonlyArray1<'py, i64>,
        is_asked: PyReadonlyArray1<'py, bool>,
        counts: Vec<PyBackedBytes>,
        lists: Vec<PyBackedBytes>,
    ) -> PyResult<Pairs<'py>> {
        let documents = numbers.as_slice()?;
        let numbers = of_documents(documents, sketches.len())?;
        let is_asked = flags(is_asked.as_slice()?, sketches.len())?;
        let pool = pool(1)?;
        let found = py
            .detach(|| {
                let (sketches, counts) =
                    (self.sketches(&sketches)?, self.inner.key_counts(&counts)?);
                let is_asked = |at: usize| is_asked[at];
                pool.install(|| {
                    self.inner
                        .candidates(&sketches, &numbers, is_asked, &counts, &lists)
                })
            })
            .map_err(raise)?;
        let later = found.documents.iter().map(|&at| documents[at.index()]);
        let earlier = found.numbers.iter().map(|&number| number as i64);
        Ok((
            later.collect::<Vec<_>>().into_pyarray(py),
            earlier.collect::<Vec<_>>().into_pyarray(py),
        ))
    }
}

fn to_python<'py>(
    py: Python<'py>,
    blobs: neardup_core::Result<Vec<Vec<u8>>>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let blobs = blobs.map_err(raise)?;
    Ok(blobs.iter().map(|blob| PyBytes::new(py, blob)).collect())
}

fn of_documents(numbers: &[i64], documents: usize) -> PyResult<Vec<u64>> {
    let whole = numbers.iter().map(|&number| u64::try_from(number));
    match whole.collect::<Result<Vec<_>, _>>() {
        Ok(numbers) if numbers.len() == documents => Ok(numbers),
        _ => Err(PyTypeError::new_err(format!(
            "expected {documents} numbers of documents, none of them negative"
        ))),
    }
}

fn flags(flags: &[bool], documents: usize) -> PyResult<&[bool]> {
    match flags.len() == documents {
        true => Ok(flags),
        false => Err(PyTypeError::new_err(format!(
            "expected one flag for each of {documents} documents, found {}",
            flags.len()
        ))),
    }
}

/// Of the samples of some documents, by ascending number: how many of these there are, and how many of them
/// have each hash, in parts by its leading bits.
#[pyfunction]
pub fn counts_of_samples<'py>(
    py: Python<'py>,
    samples: &[u8],
    numbers: PyReadonlyArray1<'py, i64>,
    parts: usize,
) -> PyResult<(u64, Vec<Bound<'py, PyBytes>>)> {
    let numbers = numbers.as_slice()?;
    let numbers = of_documents(numbers, numbers.len())?;
    let counts = py.detach(|| {
        let (texts, hashes) = sample_bytes::hashes_of(samples, &numbers)?;
        Ok((texts, counts_in_parts(&counts_of_hashes(hashes), parts)?))
    });
    let (texts, counts) = counts.map_err(raise)?;
    Ok((texts, to_python(py, Ok(counts))?))
}

/// The common shingles of a part of all hashes of a collection of `texts`: for each, four bytes of its hash
/// and four of its count. The counts of texts that are in several groups are subtracted.
#[pyfunction]
pub fn common_shingles<'py>(
    py: Python<'py>,
    counts: Vec<PyBackedBytes>,
    subtracted: Vec<PyBackedBytes>,
    texts: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let all_of = |parts: &[PyBackedBytes]| {
        let mut all = Vec::new();
        let read = parts
            .iter()
            .try_for_each(|bytes| read_counts(bytes, &mut all));
        read.map(|()| all)
    };
    let common = py.detach(|| {
        Ok(common_of_counts(
            all_of(&counts)?,
            all_of(&subtracted)?,
            texts,
        ))
    });
    let common = common.map_err(raise)?.into_iter();
    let bytes = common.flat_map(|(hash, count)| [hash.0, count]);
    let bytes: Vec<u8> = bytes.flat_map(u32::to_le_bytes).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// The samples of some documents, by ascending number.
#[pyfunction]
pub fn select_samples<'py>(
    py: Python<'py>,
    samples: &[u8],
    numbers: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let numbers = numbers.as_slice()?;
    let numbers = of_documents(numbers, numbers.len())?;
    let selected = py.detach(|| sample_bytes::select_samples(samples, &numbers));
    Ok(PyBytes::new(py, &selected.map_err(raise)?))
}

/// The pairs of documents whose texts must be compared: their samples, in any of the parts, do not rule out
/// that they are duplicates. A pair is two numbers of eight bytes each.
#[pyfunction]
pub fn open_pairs<'py>(
    py: Python<'py>,
    rule: &Rule,
    recipe: &Recipe,
    background: &Background,
    samples: Vec<PyBackedBytes>,
    pairs: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let pool = pool(1)?;
    if let Some(bytes) = pairs.iter().find(|bytes| bytes.len() % 16 > 0) {
        let found = format!("{} bytes", bytes.len());
        return Err(raise(Error::input(
            "pairs of documents",
            "of 16 bytes each",
            found,
        )));
    }
    let judged = || {
        let mut corpus = Corpus::new(recipe.inner.clone(), false, None)?;
        if let Some(table) = background.inner.shingle_frequencies() {
            corpus.set_shingle_frequencies(table.clone());
        }
        let judge = Judge::new(&corpus, rule.inner);
        let samples = NumberedSamples::read(&samples, corpus.shingle_frequencies())?;
        let place = |number: [u8; 8]| samples.place_of(u64::from_le_bytes(number));
        let mut open = Vec::new();
        let rows = pairs
            .iter()
            .flat_map(|pairs| pairs.as_chunks().0.chunks(TOGETHER));
        for rows in rows {
            let both = |pair: &[u8; 16]| {
                let (later, earlier) = pair.as_chunks().0.split_at(1);
                (place(later[0]), place(earlier[0]))
            };
            let places: Vec<_> = rows.iter().map(both).collect();
            let are_open = judge.are_open(&samples, &places);
            let rows = rows.iter().zip(are_open).filter(|&(_, is_open)| is_open);
            open.extend(rows.flat_map(|(pair, _)| *pair));
        }
        Ok(open)
    };
    let open = py.detach(|| pool.install(judged));
    let open: Vec<u8> = open.map_err(raise)?;
    Ok(PyBytes::new(py, &open))
}

/// Similarity and distance of pairs of documents by a rule. The similarity is NaN if the pair
/// is not a candidate by its sketches or not a duplicate; the distance is -1 if there is no
/// fingerprint. `texts` are the original texts, or null if the rule uses none.
#[pyfunction]
#[pyo3(signature = (rule, recipe, background, texts, sketches, features, a, b))]
#[expect(clippy::too_many_arguments, reason = "columns of one batch")]
pub fn judge_pairs<'py>(
    py: Python<'py>,
    rule: &Rule,
    recipe: &Recipe,
    background: Option<&Background>,
    texts: ArrowArray,
    sketches: Vec<PyBackedBytes>,
    features: PyReadonlyArray1<'py, u32>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Judged<'py>> {
    load_numpy(py);
    let texts = strings(texts.array())?;
    let features = features.as_slice()?;
    if texts.len() != sketches.len() || texts.len() != features.len() {
        return Err(PyTypeError::new_err(format!(
            "expected one sketch and number of features for each of {} texts",
            texts.len()
        )));
    }
    let (a, b) = (DocId::all(a.as_slice()?), DocId::all(b.as_slice()?));
    let pairs: Vec<(DocId, DocId)> = a.iter().copied().zip(b.iter().copied()).collect();
    if pairs.iter().any(|&(a, b)| a.max(b).index() >= texts.len()) {
        return Err(PyTypeError::new_err("expected pairs of the documents"));
    }
    let pool = pool(1)?;
    let judged = py.detach(|| {
        pool.install(|| {
            let mut corpus = Corpus::new(recipe.inner.clone(), true, None)?;
            if let Some(known) = background.and_then(|known| known.inner.shingle_frequencies()) {
                corpus.set_shingle_frequencies(known.clone());
            }
            let documents = texts.into_iter().zip(&sketches).zip(features);
            let documents: Vec<Restored<'_>> = documents
                .map(|((text, sketch), &features)| Restored {
                    text,
                    identity: 0,
                    features,
                    sketch,
                })
                .collect();
            corpus.restore(&documents)?;
            let similarities = Judge::new(&corpus, rule.inner).judge_pairs(&corpus, &pairs)?;
            let distances = pairs
                .iter()
                .map(|&(a, b)| rule.inner.bounds.distance(&corpus, a, b));
            Ok((similarities, distances.collect::<Vec<_>>()))
        })
    });
    let (similarities, distances) = judged.map_err(raise)?;
    let similarities = similarities.into_iter().map(|s| s.unwrap_or(f64::NAN));
    let distances = distances
        .into_iter()
        .map(|d| d.map_or(-1, |bits| bits as i32));
    Ok((
        similarities.collect::<Vec<_>>().into_pyarray(py),
        distances.collect::<Vec<_>>().into_pyarray(py),
    ))
}
