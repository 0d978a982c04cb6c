/*! The first four stages as one value: how a text becomes a sketch.

A [`Recipe`] is its [`Settings`] with the [`Resources`] they need loaded. It never
changes and is shared between threads; what a thread needs to work is a
[`Scratch`] of its own. Cloning is cheap.

The two ways through it: where each occurrence of a unit counts 1 (scheme `tf`
without `top`), or each distinct unit does (`once`), units are hashed and counted as
they come; 64 bits of hash tell new ones from repeated ones. Else the features of
the document are collected, weighed, and added up. Both give the same fingerprint.
*/

use std::sync::Arc;

use serde::Deserialize;

use crate::error::Result;
use crate::normalize::{self, Mapped, Normalizer};
use crate::segment::{self, Segmenter};
use crate::sketch::{self, Bkdr, Counters, Distinct, HashKind, News, UnitHash, Xxh3};
use crate::weigh::{self, DocumentFrequencies, Features, Markers, Weigher};

/// The settings of the first four stages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Text to text.
    pub normalize: normalize::Settings,
    /// Text to units.
    pub segment: segment::Settings,
    /// Units to features.
    pub weigh: weigh::Settings,
    /// Features to a fingerprint.
    pub sketch: sketch::Settings,
}

/// What settings refer to and do not contain.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Stop words instead of the bundled ones.
    pub stop_words: Option<Vec<String>>,
    /// Marker words of the `improved` scheme.
    pub markers: Vec<String>,
    /// Words for jieba, a line each: the word, its frequency, its tag.
    pub user_dictionary: Option<String>,
    /// Document frequencies, for `idf = "table"` or known in advance for
    /// `idf = "corpus"`.
    pub idf: Option<DocumentFrequencies>,
}

/// How a text becomes a sketch.
///
/// # Examples
///
/// ```
/// use neardup_core::recipe::{Recipe, Resources, Scratch, Settings};
///
/// let recipe = Recipe::new(Settings::default(), Resources::default())?;
/// let mut scratch = Scratch::default();
/// let (mut text, mut fingerprint) = (String::new(), [0; 2]);
/// recipe.normalize_into("秋天的第一场雨", &mut text);
/// assert_eq!(recipe.sketch(&text, None, &mut scratch, &mut fingerprint), 6);
/// assert_ne!(fingerprint, [0; 2]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recipe {
    sketch: sketch::Settings,
    normalizer: Normalizer,
    segmenter: Arc<Segmenter>,
    weigher: Weigher,
}

/// Room for a thread to work in; reused, it saves allocations.
#[derive(Debug, Default)]
pub struct Scratch {
    features: Features,
    distinct: Distinct,
    lower: String,
    title: String,
    hashes: Vec<u64>,
    weights: Vec<u64>,
}

impl Recipe {
    /// Loads what `settings` need.
    ///
    /// # Errors
    ///
    /// If a setting or a combination of settings has no meaning, or a resource
    /// cannot be read or is missing.
    pub fn new(settings: Settings, resources: Resources) -> Result<Self> {
        settings.sketch.check()?;
        let normalizer = Normalizer::new(settings.normalize);
        let segmenter = Segmenter::new(&settings.segment, resources.user_dictionary.as_deref())?;
        let lowercase = settings.weigh.lowercase_units;
        let stop_words = match (settings.weigh.drop_stop_words, &resources.stop_words) {
            (false, _) => weigh::normalize_list([], &normalizer, lowercase),
            (true, Some(list)) => {
                weigh::normalize_list(list.iter().map(String::as_str), &normalizer, lowercase)
            }
            (true, None) => {
                weigh::normalize_list(weigh::bundled_stop_words(), &normalizer, lowercase)
            }
        };
        let markers = Markers::new(&resources.markers, &normalizer, lowercase)?;
        let weigher = Weigher::new(settings.weigh, stop_words, markers, resources.idf)?;
        Ok(Recipe {
            sketch: settings.sketch,
            normalizer,
            segmenter: Arc::new(segmenter),
            weigher,
        })
    }

    /// Bits of a fingerprint.
    pub fn bits(&self) -> u32 {
        self.sketch.bits
    }

    /// 64-bit words of a fingerprint: 1, 1, 2 or 4.
    pub fn words(&self) -> usize {
        self.sketch.words()
    }

    /// Whether the title of a document has a say in its weights.
    pub fn uses_title(&self) -> bool {
        self.weigher.uses_title()
    }

    /// Whether weights depend on frequencies of the collection that the recipe
    /// has not been given. Until then it weighs as if every word were in every
    /// document.
    pub fn needs_document_frequencies(&self) -> bool {
        self.weigher.needs_document_frequencies()
    }

    /// The same recipe with the frequencies of a collection. Without effect
    /// for settings that use none.
    pub fn with_document_frequencies(&self, frequencies: DocumentFrequencies) -> Self {
        Recipe {
            weigher: self.weigher.with_document_frequencies(frequencies),
            ..self.clone()
        }
    }

    /// Writes the normalized `text` into `out`, replacing what was there.
    pub fn normalize_into(&self, text: &str, out: &mut String) {
        self.normalizer.normalize_into(text, out);
    }

    /// The normalized `text`, with the span of the original of each character.
    pub fn normalize_mapped(&self, text: &str) -> Mapped {
        self.normalizer.normalize_mapped(text)
    }

    /// Makes the fingerprint of a `normalized` text and writes it into `out`,
    /// which has [`words`](Self::words) words, lowest first.
    ///
    /// `title` is the title as it came; it is normalized here, and only looked
    /// at by the scheme `improved`.
    ///
    /// Returns the number of features, those that `top` drops included. 0 means
    /// that there is nothing to sketch; `out` is then zero, which is not a
    /// fingerprint.
    ///
    /// # Panics
    ///
    /// If `out` has another number of words.
    pub fn sketch(
        &self,
        normalized: &str,
        title: Option<&str>,
        scratch: &mut Scratch,
        out: &mut [u64],
    ) -> usize {
        assert_eq!(out.len(), self.words(), "words of a fingerprint");
        match (self.sketch.hash, self.words()) {
            (HashKind::News, _) => self.run::<1>(News, normalized, title, scratch, out),
            (HashKind::Bkdr, _) => self.run::<1>(Bkdr, normalized, title, scratch, out),
            (HashKind::Xxh3, 1) => self.run::<1>(Xxh3, normalized, title, scratch, out),
            (HashKind::Xxh3, 2) => self.run::<2>(Xxh3, normalized, title, scratch, out),
            (HashKind::Xxh3, _) => self.run::<4>(Xxh3, normalized, title, scratch, out),
        }
    }

    /// Adds a document to `frequencies`: each feature of a `normalized` text
    /// once. Returns what [`sketch`](Self::sketch) would.
    pub fn count(
        &self,
        normalized: &str,
        scratch: &mut Scratch,
        frequencies: &mut DocumentFrequencies,
    ) -> usize {
        self.collect(normalized, scratch);
        frequencies.add_document(scratch.features.iter().map(|(word, _)| word));
        scratch.features.len()
    }

    /// The units of a `normalized` text with their tags, before any is dropped.
    pub fn units(&self, normalized: &str) -> Vec<(String, String)> {
        let mut units = Vec::new();
        self.segmenter.for_each(normalized, |unit| {
            units.push((unit.text.to_owned(), unit.tag.to_owned()));
        });
        units
    }

    /// The features of a `normalized` text with their weights, the heaviest
    /// first, equal ones by code points.
    pub fn features(&self, normalized: &str, title: Option<&str>) -> Vec<(String, u64)> {
        let mut scratch = Scratch::default();
        self.collect(normalized, &mut scratch);
        self.weigh(title, &mut scratch);
        let mut features: Vec<_> = scratch
            .features
            .iter()
            .map(|(word, feature)| (word.to_owned(), feature.weight))
            .collect();
        features.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        features
    }

    fn run<const W: usize>(
        &self,
        hash: impl UnitHash<W>,
        normalized: &str,
        title: Option<&str>,
        scratch: &mut Scratch,
        out: &mut [u64],
    ) -> usize {
        if self.weigher.is_plain_count() {
            self.run_unweighted(hash, normalized, false, scratch, out)
        } else if self.weigher.is_each_once() {
            self.run_unweighted(hash, normalized, true, scratch, out)
        } else {
            self.run_weighing(hash, normalized, title, scratch, out)
        }
    }

    /// Every unit counts 1, or only the first of equal ones.
    fn run_unweighted<const W: usize>(
        &self,
        hash: impl UnitHash<W>,
        normalized: &str,
        each_once: bool,
        scratch: &mut Scratch,
        out: &mut [u64],
    ) -> usize {
        let Scratch {
            distinct, lower, ..
        } = scratch;
        let mut counters = Counters::<W>::new();
        let mut features = 0;
        distinct.clear();
        self.segmenter.for_each(normalized, |unit| {
            if let Some(text) = self.weigher.keep(unit.text, lower) {
                let hashed = hash.hash(text);
                let is_new = distinct.insert(hash.identity(text, &hashed));
                features += usize::from(is_new);
                counters.add_if(is_new || !each_once, hashed);
            }
        });
        let total = counters.total();
        let ones = counters.ones();
        self.finish(ones.as_flattened(), total, out);
        features
    }

    fn run_weighing<const W: usize>(
        &self,
        hash: impl UnitHash<W>,
        normalized: &str,
        title: Option<&str>,
        scratch: &mut Scratch,
        out: &mut [u64],
    ) -> usize {
        self.collect(normalized, scratch);
        let found = scratch.features.len();
        self.weigh(title, scratch);
        let Scratch {
            features,
            hashes,
            weights,
            ..
        } = scratch;
        hashes.clear();
        weights.clear();
        for (word, feature) in features.iter() {
            hashes.extend(hash.hash(word));
            weights.push(feature.weight);
        }
        let mut ones = [[0; 64]; W];
        for (word, ones) in ones.iter_mut().enumerate() {
            *ones = sketch::sums(hashes.get(word..).unwrap_or_default(), W, weights);
        }
        self.finish(ones.as_flattened(), weights.iter().sum(), out);
        found
    }

    /// Counts the features of a text into the scratch.
    fn collect(&self, normalized: &str, scratch: &mut Scratch) {
        let Scratch {
            features, lower, ..
        } = scratch;
        features.clear();
        self.segmenter
            .for_each(normalized, |unit| self.weigher.count(unit, features, lower));
    }

    fn weigh(&self, title: Option<&str>, scratch: &mut Scratch) {
        scratch.title.clear();
        if let Some(title) = title.filter(|_| self.weigher.uses_title()) {
            scratch.title = self.weigher.normalize_title(title, &self.normalizer);
        }
        self.weigher.weigh(&mut scratch.features, &scratch.title);
    }

    /// An empty document has all sums equal, and is not a tie.
    fn finish(&self, ones: &[u64], total: u64, out: &mut [u64]) {
        match total {
            0 => out.fill(0),
            _ => sketch::signs(ones, total, self.sketch.bits, self.sketch.tie, out),
        }
    }
}
