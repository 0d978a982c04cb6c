/*! The first four stages as one value: how a text becomes a sketch.

A [`Recipe`] holds its [`Settings`] and the loaded [`Resources`] that they need. It is
immutable and shared between threads; each thread brings a [`Scratch`] of its own.
Cloning is cheap.

A fingerprint is computed in one of two ways. If each occurrence of a unit counts 1
(scheme `tf` without `top`) or each distinct unit does (`once`), units are hashed and
counted in one pass; a 64-bit hash tells new units from repeated ones. Otherwise the
features of the document are collected, weighed, and summed. Where both apply, they give
the same result. Signatures and samples depend only on the set of features and use the
first way.
*/

use std::sync::Arc;

use serde::Deserialize;

use crate::constants::SAMPLE;
use crate::error::{Error, Result};
use crate::ids::Hash;
use crate::normalize::{self, Mapped, Normalizer};
use crate::segment::{self, Segmenter, ShingleLen};
use crate::sketch::{
    self, Counters, Distinct, HashKind, MinHash, Minima, News, Sampler, Share, SimHash, Sketch,
    UnitHash, Xxh3, drop_repeats, level_of, push_in, shingle_hashes_in,
};
use crate::weigh::{self, DocumentFrequencies, Features, MarkerMatch, Markers, Weigher};

/// Distinct units that most texts have no more of.
const USUAL: usize = 1 << 10;

/// The settings of the first four stages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Text to normalized text.
    pub normalize: normalize::Settings,
    /// Text to units.
    pub segment: segment::Settings,
    /// Units to features.
    pub weigh: weigh::Settings,
    /// Features to a sketch.
    pub sketch: sketch::Settings,
}

/// Data that settings refer to but do not contain.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Stop words instead of the bundled ones.
    pub stop_words: Option<Vec<String>>,
    /// Marker words of the `improved` scheme.
    pub markers: Vec<String>,
    /// Words for jieba, one per line: the word, its frequency, its tag.
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
/// use neardup_core::sketch::Sketch;
///
/// let recipe = Recipe::new(Settings::default(), Resources::default())?;
/// let mut scratch = Scratch::default();
/// let (mut text, mut sketch) = (String::new(), Sketch::default());
/// recipe.normalize_into("秋天的第一场雨", &mut text);
/// assert_eq!(recipe.sketch(&text, None, &mut scratch, &mut sketch), 6);
/// assert_ne!(sketch.words, [0; 4]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recipe {
    sketch: sketch::Settings,
    sketcher: Sketcher,
    normalizer: Normalizer,
    segmenter: Arc<Segmenter>,
    weigher: Weigher,
}

/// The data of each kind of sketch in addition to the features.
#[derive(Clone, Debug)]
enum Sketcher {
    SimHash(SimHash),
    MinHash(Arc<MinHash>),
    Sample { size: u32 },
}

/// A feature of a text, and what its weight and its votes are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeighedFeature {
    /// Its text.
    pub word: String,
    /// How often it occurs.
    pub occurrences: u64,
    /// Its inverse document frequency in units of 2^-16, if the scheme uses one.
    pub idf: Option<u64>,
    /// Its factors, with the scheme `improved`.
    pub factors: Option<weigh::Factors>,
    /// Its weight.
    pub weight: u64,
    /// Its hash, lowest word first, cut to the width of the fingerprint.
    pub hash: [u64; 4],
}

/// Working memory of one thread; reusing it saves allocations.
#[derive(Debug, Default)]
pub struct Scratch {
    features: Features,
    distinct: Distinct,
    minima: Minima,
    lower: String,
    hashes: Vec<u64>,
    sample: Vec<Hash>,
    weights: Vec<u64>,
    rare: usize,
}

impl Scratch {
    /// Number of features of the last sketched text that were left out because too few
    /// documents contain them.
    pub(crate) fn rare(&self) -> usize {
        self.rare
    }

    /// The features of the last text with a sample as sketch that are of a [sample](SAMPLE): its
    /// sketch is their beginning.
    pub(crate) fn sample(&self) -> &[Hash] {
        &self.sample
    }
}

impl Recipe {
    /// Creates a recipe and loads what `settings` need.
    ///
    /// # Errors
    ///
    /// If a setting or a combination of settings is invalid, or a resource cannot be read
    /// or is missing.
    pub fn new(settings: Settings, resources: Resources) -> Result<Self> {
        settings.sketch.check()?;
        let sketcher = match &settings.sketch {
            sketch::Settings::SimHash(simhash) => Sketcher::SimHash(simhash.clone()),
            sketch::Settings::MinHash { num_perm } => {
                Sketcher::MinHash(Arc::new(MinHash::new(*num_perm)?))
            }
            sketch::Settings::Sample { size } => Sketcher::Sample { size: *size },
        };
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
        let contained = settings.weigh.marker_match == MarkerMatch::Contains;
        let markers = Markers::new(&resources.markers, &normalizer, lowercase, contained)?;
        let weigher = Weigher::new(settings.weigh, stop_words, markers, resources.idf)?;
        if !matches!(sketcher, Sketcher::SimHash(_)) && !weigher.is_each_once() {
            return Err(Error::parameter(
                "weigh.scheme",
                "once, for a sketch of the set of features",
                "another scheme, or top",
            ));
        }
        Ok(Recipe {
            sketch: settings.sketch,
            sketcher,
            normalizer,
            segmenter: Arc::new(segmenter),
            weigher,
        })
    }

    /// How the recipe turns features into a sketch.
    pub fn sketch_settings(&self) -> &sketch::Settings {
        &self.sketch
    }

    /// Whether the title of a document affects the weights of its features.
    pub fn uses_title(&self) -> bool {
        self.weigher.uses_title()
    }

    /// Whether sketching hashes every shingle of [`ByScript(k)`](segment::ShingleLen::ByScript); if so,
    /// [`Scratch::sample`] has the sample of them.
    pub(crate) fn samples_shingles(&self, k: usize) -> bool {
        let is_sample = matches!(self.sketcher, Sketcher::Sample { .. });
        is_sample && self.weigher.keeps_all() && self.segmenter.has_script_shingles(k)
    }

    /// How long shingles are, if every shingle is a feature.
    fn shingle_len(&self) -> Option<ShingleLen> {
        self.segmenter
            .shingle_len()
            .filter(|_| self.weigher.keeps_all())
    }

    /// Whether weights depend on document frequencies that the recipe does not have yet.
    /// Without them it weighs as if every word occurred in every document.
    pub fn needs_document_frequencies(&self) -> bool {
        self.weigher.needs_document_frequencies()
    }

    /// The same recipe with the document frequencies of a collection. Settings that use no
    /// frequencies ignore them.
    pub fn with_document_frequencies(&self, frequencies: DocumentFrequencies) -> Self {
        Recipe {
            weigher: self.weigher.with_document_frequencies(frequencies),
            ..self.clone()
        }
    }

    /// Writes the normalized `text` into `out`, replacing its content.
    pub fn normalize_into(&self, text: &str, out: &mut String) {
        self.normalizer.normalize_into(text, out);
    }

    /// The normalized `text`, with the original span of each character.
    pub fn normalize_mapped(&self, text: &str) -> Mapped {
        self.normalizer.normalize_mapped(text)
    }

    /// Computes the sketch of a `normalized` text and writes it into `out`.
    ///
    /// `title` is the original title; it is normalized here and used only by the scheme
    /// `improved`.
    ///
    /// Returns the number of features. Features dropped by `top` count; features that too few
    /// documents contain do not. 0 means that there is nothing to sketch; `out` then holds no
    /// valid sketch.
    pub fn sketch(
        &self,
        normalized: &str,
        title: Option<&str>,
        scratch: &mut Scratch,
        out: &mut Sketch,
    ) -> usize {
        scratch.rare = 0;
        let simhash = match &self.sketcher {
            Sketcher::SimHash(simhash) => simhash,
            Sketcher::MinHash(minhash) => return self.sign(minhash, normalized, scratch, out),
            Sketcher::Sample { size } => return self.sample(*size, normalized, scratch, out),
        };
        out.words = [0; 4];
        let words = &mut out.words[..simhash.words()];
        match (simhash.hash, simhash.words()) {
            (HashKind::News, 1) => self.run::<1>(simhash, News, normalized, title, scratch, words),
            (HashKind::News, 2) => self.run::<2>(simhash, News, normalized, title, scratch, words),
            (HashKind::News, _) => self.run::<4>(simhash, News, normalized, title, scratch, words),
            (HashKind::Bkdr, _) => {
                self.run::<1>(simhash, simhash.bkdr(), normalized, title, scratch, words)
            }
            (HashKind::Xxh3, 1) => self.run::<1>(simhash, Xxh3, normalized, title, scratch, words),
            (HashKind::Xxh3, 2) => self.run::<2>(simhash, Xxh3, normalized, title, scratch, words),
            (HashKind::Xxh3, _) => self.run::<4>(simhash, Xxh3, normalized, title, scratch, words),
        }
    }

    /// Adds a document to `frequencies`, counting each distinct feature of a `normalized`
    /// text once. Returns the number of features.
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

    /// The units of a `normalized` text with their tags, before filtering.
    pub fn units(&self, normalized: &str) -> Vec<(String, String)> {
        let mut units = Vec::new();
        self.segmenter.for_each(normalized, |unit| {
            units.push((unit.text.to_owned(), unit.tag.to_owned()));
        });
        units
    }

    /// The features of a `normalized` text with all that their weights are made of, by
    /// descending weight, ties by code points.
    pub fn features(&self, normalized: &str, title: Option<&str>) -> Vec<WeighedFeature> {
        let mut scratch = Scratch::default();
        self.collect(normalized, &mut scratch);
        self.weigher.drop_rare(&mut scratch.features);
        let title = self.normalized_title(title);
        let parts = self.weigher.parts(&scratch.features, &title);
        self.weigher.weigh(&mut scratch.features, &title);
        let mut features: Vec<_> = scratch
            .features
            .iter()
            .map(|(word, feature)| {
                let (idf, factors) = parts(word, feature);
                WeighedFeature {
                    word: word.to_owned(),
                    occurrences: feature.occurrences(),
                    idf,
                    factors,
                    weight: feature.weight,
                    hash: self.hash(word),
                }
            })
            .collect();
        features.sort_unstable_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.word.cmp(&b.word)));
        features
    }

    /// The hash of a feature, lowest word first; unused words and bits are zero.
    fn hash(&self, word: &str) -> [u64; 4] {
        let Sketcher::SimHash(simhash) = &self.sketcher else {
            let [hash] = Xxh3.hash(word);
            return [hash, 0, 0, 0];
        };
        let mut hash: [u64; 4] = match (simhash.hash, simhash.words()) {
            (HashKind::News, _) => News.hash(word),
            (HashKind::Bkdr, _) => widen(simhash.bkdr().hash(word)),
            (HashKind::Xxh3, 1) => widen(UnitHash::<1>::hash(Xxh3, word)),
            (HashKind::Xxh3, 2) => widen(UnitHash::<2>::hash(Xxh3, word)),
            (HashKind::Xxh3, _) => Xxh3.hash(word),
        };
        for (at, part) in hash.iter_mut().enumerate() {
            match simhash.bits.saturating_sub(64 * at as u32) {
                0 => *part = 0,
                bits @ 1..64 => *part &= (1 << bits) - 1,
                _ => {}
            }
        }
        hash
    }

    fn run<const W: usize>(
        &self,
        simhash: &SimHash,
        hash: impl UnitHash<W>,
        normalized: &str,
        title: Option<&str>,
        scratch: &mut Scratch,
        out: &mut [u64],
    ) -> usize {
        if self.weigher.is_plain_count() {
            self.run_unweighted(simhash, hash, normalized, false, scratch, out)
        } else if self.weigher.is_each_once() {
            self.run_unweighted(simhash, hash, normalized, true, scratch, out)
        } else {
            self.run_weighing(simhash, hash, normalized, title, scratch, out)
        }
    }

    /// Counts every unit once, or only the first of equal units if `each_once`.
    fn run_unweighted<const W: usize>(
        &self,
        simhash: &SimHash,
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
        for share in Share::all_of(normalized) {
            distinct.clear(USUAL);
            self.segmenter.for_each(normalized, |unit| {
                if let Some(text) = self.weigher.keep(unit.text, lower) {
                    let hashed = hash.hash(text);
                    let identity = hash.identity(text, &hashed);
                    if share.has(identity) {
                        let is_new = distinct.insert(identity);
                        features += usize::from(is_new);
                        counters.add_if(is_new || !each_once, hashed);
                    }
                }
            });
        }
        let total = counters.total();
        let ones = counters.ones();
        finish(simhash, ones.as_flattened(), total, out);
        features
    }

    fn run_weighing<const W: usize>(
        &self,
        simhash: &SimHash,
        hash: impl UnitHash<W>,
        normalized: &str,
        title: Option<&str>,
        scratch: &mut Scratch,
        out: &mut [u64],
    ) -> usize {
        self.collect(normalized, scratch);
        scratch.rare = self.weigher.drop_rare(&mut scratch.features);
        let found = scratch.features.len();
        let title = self.normalized_title(title);
        self.weigher.weigh(&mut scratch.features, &title);
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
        finish(simhash, ones.as_flattened(), weights.iter().sum(), out);
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

    /// A title as the weigh stage takes it; empty if there is none, or weights ignore it.
    fn normalized_title(&self, title: Option<&str>) -> String {
        title
            .filter(|_| self.weigher.uses_title())
            .map(|title| self.weigher.normalize_title(title, &self.normalizer))
            .unwrap_or_default()
    }

    fn sign(
        &self,
        minhash: &MinHash,
        normalized: &str,
        scratch: &mut Scratch,
        out: &mut Sketch,
    ) -> usize {
        let mut minima = std::mem::take(&mut scratch.minima);
        minhash.begin(&mut minima);
        let features = self.hash_features(normalized, scratch, |hashes| {
            for &hash in hashes {
                minhash.add(&mut minima, hash);
            }
        });
        out.values.resize(minhash.num_perm(), 0);
        minhash.finish(&mut minima, &mut out.values);
        scratch.minima = minima;
        features
    }

    fn sample(
        &self,
        size: u32,
        normalized: &str,
        scratch: &mut Scratch,
        out: &mut Sketch,
    ) -> usize {
        // A smaller sample is the beginning of a larger one, so the larger of sketch and sample is made.
        let wanted = if size == 0 {
            0
        } else {
            SAMPLE.max(size as usize)
        };
        let mut sample = std::mem::take(&mut scratch.sample);
        let mut sampler = Sampler::new(wanted, &mut sample);
        self.hash_features(normalized, scratch, |hashes| sampler.add(hashes));
        let features = sampler.finish();
        out.level = level_of(features, size as usize);
        let keys = Hash::of_level(out.level, &sample);
        Hash::numbers(keys).clone_into(&mut out.values);
        scratch.sample = sample;
        features
    }

    /// Calls `each` with the hashes of all distinct features; a long text takes several
    /// parts, and returns their number. A text without a letter or digit has none: runs of
    /// punctuation are not content.
    fn hash_features(
        &self,
        normalized: &str,
        scratch: &mut Scratch,
        mut each: impl FnMut(&[u64]),
    ) -> usize {
        let Scratch {
            distinct,
            lower,
            hashes,
            ..
        } = scratch;
        let says_something = |text: &str| text.chars().any(normalize::is_letter_or_digit);
        let shingle = self.shingle_len();
        let mut is_content = shingle.is_some() && says_something(normalized);
        let mut features = 0;
        for share in Share::all_of(normalized) {
            hashes.clear();
            if let Some(length) = shingle {
                shingle_hashes_in(share, normalized, length, hashes);
            } else {
                self.segmenter.for_each(normalized, |unit| {
                    if let Some(text) = self.weigher.keep(unit.text, lower) {
                        is_content = is_content || says_something(text);
                        let [hash] = Xxh3.hash(text);
                        push_in(share, normalized, hash, hashes);
                    }
                });
            }
            if !is_content {
                hashes.clear();
            }
            drop_repeats(normalized, hashes, distinct);
            features += hashes.len();
            each(hashes);
        }
        features
    }
}

fn widen<const W: usize>(hash: [u64; W]) -> [u64; 4] {
    std::array::from_fn(|at| hash.get(at).copied().unwrap_or(0))
}

/// Writes the fingerprint. An empty document gets zeros: its sums are all equal, but the
/// tie rule must not apply.
fn finish(simhash: &SimHash, ones: &[u64], total: u64, out: &mut [u64]) {
    match total {
        0 => out.fill(0),
        _ => sketch::signs(ones, total, simhash.bits, simhash.tie, out),
    }
}
