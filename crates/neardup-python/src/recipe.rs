//! The first four stages for single texts.

use neardup_core::Error;
use neardup_core::normalize::check_length;
use neardup_core::recipe::{self, Resources, Scratch, Settings};
use neardup_core::sketch::Sketch;
use neardup_core::weigh::DocumentFrequencies;
use pyo3::prelude::*;

use crate::errors::raise;

/// The number of documents, the words, and the document frequency of each word.
type Frequencies = (u64, Vec<String>, Vec<u64>);

/// The normalized text, and the begin and end of each of its characters in the original.
type Mapped = (String, Vec<(u32, u32)>);

/// A feature: text, occurrences, inverse document frequency, factors (part of speech, length,
/// mark, title), weight, and the words of its hash.
type Feature = (String, u64, Option<u64>, Option<[u64; 4]>, u64, [u64; 4]);

fn to_py(feature: recipe::WeighedFeature) -> Feature {
    let recipe::WeighedFeature {
        word,
        occurrences,
        idf,
        factors,
        weight,
        hash,
    } = feature;
    let factors = factors.map(|of| [of.part_of_speech, of.length, of.mark, of.title]);
    (word, occurrences, idf, factors, weight, hash)
}

/// A recipe with its resources loaded.
#[pyclass(frozen, module = "neardup._core")]
pub struct Recipe {
    pub(crate) inner: recipe::Recipe,
}

#[pymethods]
impl Recipe {
    #[new]
    #[pyo3(signature = (settings, *, stop_words, markers, user_dictionary, idf))]
    fn new(
        settings: &str,
        stop_words: Option<Vec<String>>,
        markers: Vec<String>,
        user_dictionary: Option<String>,
        idf: Option<Frequencies>,
    ) -> PyResult<Self> {
        let settings: Settings = serde_json::from_str(settings)
            .map_err(|error| raise(Error::parameter("recipe", "settings of the stages", error)))?;
        let idf = idf
            .map(|(documents, words, counts)| {
                DocumentFrequencies::from_counts(documents, words.into_iter().zip(counts))
            })
            .transpose()
            .map_err(raise)?;
        let resources = Resources {
            stop_words,
            markers,
            user_dictionary,
            idf,
        };
        let inner = recipe::Recipe::new(settings, resources).map_err(raise)?;
        Ok(Recipe { inner })
    }

    fn normalize(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        check_length(text).map_err(raise)?;
        let mut normalized = String::new();
        py.detach(|| self.inner.normalize_into(text, &mut normalized));
        Ok(normalized)
    }

    fn normalize_mapped(&self, py: Python<'_>, text: &str) -> PyResult<Mapped> {
        check_length(text).map_err(raise)?;
        let mapped = py.detach(|| self.inner.normalize_mapped(text));
        Ok((mapped.text, mapped.spans))
    }

    fn units(&self, py: Python<'_>, normalized: &str) -> Vec<(String, String)> {
        py.detach(|| self.inner.units(normalized))
    }

    fn features(&self, py: Python<'_>, normalized: &str, title: Option<&str>) -> Vec<Feature> {
        let features = py.detach(|| self.inner.features(normalized, title));
        features.into_iter().map(to_py).collect()
    }

    /// The number of features, the four words of a fingerprint (lowest first), and the
    /// values of a signature or the keys of a sample.
    fn sketch(
        &self,
        py: Python<'_>,
        normalized: &str,
        title: Option<&str>,
    ) -> (usize, [u64; 4], Vec<u32>) {
        let mut sketch = Sketch::default();
        let features = py.detach(|| {
            let scratch = &mut Scratch::default();
            self.inner.sketch(normalized, title, scratch, &mut sketch)
        });
        (features, sketch.words, sketch.values)
    }
}

/// The stop words that recipes use by default.
#[pyfunction]
pub fn bundled_stop_words() -> Vec<&'static str> {
    neardup_core::weigh::bundled_stop_words()
}
