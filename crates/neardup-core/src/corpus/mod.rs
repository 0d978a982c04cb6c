/*! The documents of one run: texts and sketches, in input order.

A [`Corpus`] takes batches of documents through the first four stages and keeps what the later ones
need. In memory: a sketch, a 128-bit hash for exact comparison and the number of features of each
document (36 bytes besides the sketch). In a [`TextStore`]: its normalized text.

A recipe whose weights depend on the collection itself needs all documents before it can sketch the
first. In that case [`Corpus::push`] counts document frequencies, and [`Corpus::finish`] sketches
from the stored texts.
*/

mod identity;
mod saved;

use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use crate::candidates::{SketchStore, Sketches};
use crate::error::{Error, Result};
use crate::normalize::check_length;
use crate::recipe::{Recipe, Scratch};
use crate::sketch::Sketch;
use crate::spill::Spill;
use crate::texts::TextStore;
use crate::verify::{ShingleFrequencies, content_hashes, is_spaced, shingle_frequencies};
use crate::weigh::DocumentFrequencies;

pub use identity::FirstByText;

/// Size of the write buffer once sketches go to a file.
const WAITING: usize = 4 << 20;

/// The number of documents for which one task counts frequencies before they are merged.
const COUNTED_TOGETHER: usize = 256;

/// Documents sketched at a time when sketching from the stored texts.
const SECOND_PASS: usize = 4096;

/// Memory limits for a corpus and the steps that work on it.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Bytes of text; text beyond the limit is written to a file.
    pub texts: usize,
    /// Bytes of signatures or samples; those beyond the limit are written to a file, unless it is
    /// `usize::MAX`. Fingerprints stay in memory.
    pub sketches: usize,
    /// Bytes of the data derived from texts for comparing them; twice that while it is computed.
    pub compared: usize,
    /// Bytes for finding shared keys if sketches are in a file.
    pub keys: usize,
    /// A folder for texts and sketches, which are then in files from the first one on and can be
    /// [saved](Corpus::save).
    pub folder: Option<PathBuf>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            texts: 128 << 20,
            sketches: usize::MAX,
            compared: 192 << 20,
            keys: 512 << 20,
            folder: None,
        }
    }
}

impl Memory {
    /// Whether sketches of this kind may be moved out of memory.
    fn lets_out(&self, sketches: &Sketches) -> bool {
        !matches!(sketches, Sketches::Fingerprints(_)) && self.sketches < usize::MAX
    }

    /// A file for sketches.
    fn sketch_store(&self, recipe: &Recipe) -> SketchStore {
        let bytes = Spill::within(self.folder.as_deref(), WAITING);
        SketchStore::new(recipe.sketch_settings(), bytes)
    }
}

/// One document, as a caller passes it in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// The text; `None` for a record that could not be read.
    pub text: Option<&'a str>,
    /// The title, where the recipe looks at it.
    pub title: Option<&'a str>,
    /// Units of the caller's own segmenter, encoded as
    /// [`segment`](crate::segment) says.
    pub units: Option<&'a str>,
}

/// One document, as a store returns it.
#[derive(Clone, Copy, Debug)]
pub struct Restored<'a> {
    /// The text; `None` if the store keeps no texts.
    pub text: Option<&'a str>,
    /// See [`Corpus::identity`].
    pub identity: u128,
    /// The number of features; [`UNREADABLE`] for one without text.
    pub features: u32,
    /// See [`Sketches::to_bytes`].
    pub sketch: &'a [u8],
}

/// The documents of one run.
#[derive(Debug)]
pub struct Corpus {
    recipe: Recipe,
    texts: TextStore,
    /// All sketches, or those not moved to `outside` yet.
    sketches: Sketches,
    outside: Option<SketchStore>,
    memory: Memory,
    /// Two documents with equal values here have the same text.
    identity: Vec<u128>,
    /// Features of each document; [`UNREADABLE`] for one without text.
    features: Vec<u32>,
    frequencies: Option<DocumentFrequencies>,
    /// A digest of the frequencies that the recipe received at the end.
    digest: Option<u64>,
    keeps_texts: bool,
    counted: Option<Counted>,
    /// Frequencies that were counted elsewhere.
    given: Option<Arc<ShingleFrequencies>>,
}

/// The shingle counts, and the texts that were counted already.
#[derive(Debug)]
struct Counted {
    k: usize,
    texts: FirstByText,
    frequencies: Arc<ShingleFrequencies>,
}

/// The number of features of a document that could not be read.
pub const UNREADABLE: u32 = u32::MAX;

/// The output of the first four stages for one document.
struct Sketched {
    text: String,
    identity: u128,
    features: u32,
    /// Whether it has a feature, including rare ones that are left out.
    has_features: bool,
    sketch: Sketch,
    /// The shingles that count for the [`ShingleFrequencies`] of the collection.
    counted: Vec<u64>,
}

impl Corpus {
    /// An empty corpus whose documents will be sketched by `recipe`.
    ///
    /// `keeps_texts` says whether texts will be read again; a recipe that counts its own corpus
    /// always keeps them. `shingle` is the length of the shingles to count for
    /// [`ShingleFrequencies`], or `None` to count none.
    ///
    /// # Errors
    ///
    /// If the recipe has invalid sketch settings.
    pub fn new(recipe: Recipe, keeps_texts: bool, shingle: Option<usize>) -> Result<Self> {
        Corpus::within(recipe, keeps_texts, shingle, Memory::default())
    }

    /// As `new`, within the given memory limits.
    ///
    /// # Errors
    ///
    /// If the recipe has invalid sketch settings, or files cannot be made in the folder.
    pub fn within(
        recipe: Recipe,
        keeps_texts: bool,
        shingle: Option<usize>,
        memory: Memory,
    ) -> Result<Self> {
        let bytes = match &memory.folder {
            Some(folder) => Spill::create(&saved::texts(folder))?,
            None => Spill::new(memory.texts),
        };
        let counts_words = recipe.needs_document_frequencies();
        let texts = TextStore::of(bytes, counts_words);
        Ok(Corpus {
            frequencies: counts_words.then(DocumentFrequencies::default),
            keeps_texts: keeps_texts || counts_words,
            counted: shingle.map(|k| Counted {
                k,
                texts: FirstByText::default(),
                frequencies: Arc::default(),
            }),
            ..Corpus::with_texts(recipe, texts, memory)?
        })
    }

    /// A corpus of these texts, without documents, that counts nothing.
    fn with_texts(recipe: Recipe, texts: TextStore, memory: Memory) -> Result<Self> {
        let sketches = Sketches::new(recipe.sketch_settings())?;
        let is_outside = memory.folder.is_some() && memory.lets_out(&sketches);
        let outside = is_outside.then(|| memory.sketch_store(&recipe));
        Ok(Corpus {
            texts,
            sketches,
            outside,
            memory,
            identity: Vec::new(),
            features: Vec::new(),
            frequencies: None,
            digest: None,
            keeps_texts: true,
            counted: None,
            given: None,
            recipe,
        })
    }

    /// The recipe, with the corpus' own frequencies once it is finished.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What has been counted so far, for a recipe that counts its own corpus
    /// and is not finished yet.
    pub fn frequencies(&self) -> Option<&DocumentFrequencies> {
        self.frequencies.as_ref()
    }

    /// A digest of the corpus' own frequencies, once the recipe uses them.
    pub fn frequencies_digest(&self) -> Option<u64> {
        self.digest
    }

    /// The number of documents, unreadable ones included.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// True before the first document.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// The normalized texts; empty where the corpus keeps none.
    pub fn texts(&self) -> &TextStore {
        &self.texts
    }

    /// The sketches, one per document; meaningless for documents without features. Empty if they
    /// are [outside](Self::outside) of memory.
    pub fn sketches(&self) -> &Sketches {
        &self.sketches
    }

    /// The sketches of a finished corpus, where they are outside of memory.
    pub fn outside(&self) -> Option<&SketchStore> {
        self.outside.as_ref()
    }

    /// How much is held in memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The number of texts with each shingle, if counted or provided.
    pub fn shingle_frequencies(&self) -> Option<&Arc<ShingleFrequencies>> {
        let counted = self.counted.as_ref().map(|counted| &counted.frequencies);
        counted.or(self.given.as_ref())
    }

    /// Counts at most `entries` shingles instead of
    /// [`DEFAULT_ENTRIES`](shingle_frequencies::DEFAULT_ENTRIES). Must be called before the first
    /// document. Does nothing for a corpus that counts no shingles.
    pub fn count_at_most(&mut self, entries: usize) {
        if let Some(counted) = &mut self.counted {
            counted.frequencies = Arc::new(ShingleFrequencies::new(entries));
        }
    }

    /// Sets the number of texts with each shingle, for a corpus that does not count them.
    pub fn set_shingle_frequencies(&mut self, frequencies: Arc<ShingleFrequencies>) {
        self.given = Some(frequencies);
    }

    /// A value that two documents share if and only if their texts are equal
    /// (up to collisions of a 128-bit hash).
    ///
    /// Texts are compared in normalized form. Texts without features, which normalization may have
    /// emptied, are compared in their original form.
    pub fn identity(&self, document: usize) -> u128 {
        self.identity[document]
    }

    /// See [`identity`](Self::identity), by document number.
    pub fn identities(&self) -> &[u128] {
        &self.identity
    }

    /// The number of features of a document: 0 means that it has no sketch,
    /// `None` that it could not be read.
    pub fn features(&self, document: usize) -> Option<u32> {
        Some(self.features[document]).filter(|&count| count != UNREADABLE)
    }

    /// Adds documents, in order. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If the texts do not fit the disk, or one is longer than
    /// [`MAX_TEXT_BYTES`](crate::normalize::MAX_TEXT_BYTES).
    pub fn push(&mut self, documents: &[Document<'_>]) -> Result<()> {
        for text in documents.iter().filter_map(|document| document.text) {
            check_length(text)?;
        }
        let recipe = &self.recipe;
        let counting = self.counted.as_ref().map(|counted| Counting {
            k: counted.k,
            level: counted.frequencies.level(),
            are_met: recipe.meets_shingles(counted.k),
        });
        let made: Vec<Sketched> = match &mut self.frequencies {
            None => documents
                .par_iter()
                .with_min_len(16)
                .map_init(
                    Default::default,
                    |(scratch, tables): &mut (Scratch, Tables), document| {
                        let mut made = Sketched::new(recipe, document, |units, sketch| {
                            let features = recipe.sketch(units, document.title, scratch, sketch);
                            (features, scratch.rare())
                        });
                        if let Some(counting) = &counting {
                            made.counted = counting.of(&made, scratch, tables);
                        }
                        made
                    },
                )
                .collect(),
            Some(frequencies) => {
                let parts: Vec<(Vec<Sketched>, DocumentFrequencies)> = documents
                    .par_chunks(COUNTED_TOGETHER)
                    .map_init(
                        Default::default,
                        |(scratch, tables): &mut (Scratch, Tables), part| {
                            let mut counts = DocumentFrequencies::default();
                            let made = part.iter().map(|document| {
                                let mut made = Sketched::new(recipe, document, |units, _| {
                                    (recipe.count(units, scratch, &mut counts), 0)
                                });
                                if let Some(counting) = &counting {
                                    made.counted = counting.of(&made, scratch, tables);
                                }
                                made
                            });
                            (made.collect(), counts)
                        },
                    )
                    .collect();
                let mut made = Vec::with_capacity(documents.len());
                for (part, counts) in parts {
                    made.extend(part);
                    frequencies.merge(counts);
                }
                made
            }
        };
        let first = self.identity.len() as u32;
        self.identity.extend(made.iter().map(|made| made.identity));
        if let Some(counted) = &mut self.counted {
            counted.add(&self.identity, first, &made);
        }
        // Titles and units are read again only for sketching in a second pass.
        let again = self.frequencies.is_some();
        for (document, sketched) in documents.iter().zip(&made) {
            let title = document.title.filter(|_| again && self.recipe.uses_title());
            let units = document.units.filter(|_| again);
            let text = if self.keeps_texts { &sketched.text } else { "" };
            self.texts
                .push(text, title.unwrap_or(""), units.unwrap_or(""))?;
            self.features.push(sketched.features);
            self.sketches.push(&sketched.sketch)?;
        }
        self.move_outside(WAITING)
    }

    /// Moves sketches outside if they exceed their memory limit, or exceed `waiting` bytes if some
    /// are outside already.
    fn move_outside(&mut self, waiting: usize) -> Result<()> {
        let most = match self.outside {
            Some(_) => waiting,
            None => self.memory.sketches,
        };
        if self.memory.lets_out(&self.sketches) && self.sketches.bytes() > most {
            let empty = Sketches::new(self.recipe.sketch_settings())?;
            self.outside
                .get_or_insert_with(|| self.memory.sketch_store(&self.recipe))
                .extend(&std::mem::replace(&mut self.sketches, empty))?;
        }
        Ok(())
    }

    /// Adds documents of a store with their original texts, in order, without sketching or counting. Runs on the current
    /// rayon pool.
    ///
    /// # Errors
    ///
    /// If a sketch is not of the recipe's kind, or as for [`push`](Self::push).
    pub fn restore(&mut self, documents: &[Restored<'_>]) -> Result<()> {
        for text in documents.iter().filter_map(|document| document.text) {
            check_length(text)?;
        }
        let (recipe, keeps_texts) = (&self.recipe, self.keeps_texts);
        let texts: Vec<String> = documents
            .par_iter()
            .with_min_len(16)
            .map(|document| {
                let mut normalized = String::new();
                if let Some(text) = document.text.filter(|_| keeps_texts) {
                    recipe.normalize_into(text, &mut normalized);
                }
                normalized
            })
            .collect();
        for (document, text) in documents.iter().zip(&texts) {
            self.push_restored(document)?;
            self.texts.push(text, "", "")?;
        }
        Ok(())
    }

    /// Adds documents that another corpus of the same recipe has sketched, with their normalized
    /// texts. They count for no frequencies, and neither do later documents with the same texts:
    /// see [`merge_counts`](Self::merge_counts).
    ///
    /// # Errors
    ///
    /// If a sketch is not of the recipe's kind or a text not that of its identity, or as for
    /// [`push`](Self::push).
    pub fn adopt(&mut self, documents: &[Restored<'_>]) -> Result<()> {
        for document in documents {
            // Without features, which rare ones may have been, it is that of the original text.
            let has_features = document.features != UNREADABLE && document.features > 0;
            let identity = xxh3_128(document.text.unwrap_or("").as_bytes());
            if has_features && identity != document.identity {
                return Err(Error::input(
                    "a stored text",
                    "the one that was sketched",
                    "another",
                ));
            }
            let number = self.identity.len() as u32;
            self.push_restored(document)?;
            let text = document.text.filter(|_| self.keeps_texts);
            self.texts.push(text.unwrap_or(""), "", "")?;
            if let Some(counted) = &mut self.counted
                && document.features != UNREADABLE
            {
                counted.texts.insert(&self.identity, number);
            }
        }
        self.move_outside(WAITING)
    }

    /// Adds the shingle counts of the corpus whose documents are [adopted](Self::adopt). Does
    /// nothing for a corpus that counts no shingles.
    pub fn merge_counts(&mut self, counts: ShingleFrequencies) {
        if let Some(counted) = &mut self.counted {
            // The corpus is the only owner until it is finished.
            Arc::make_mut(&mut counted.frequencies).merge(counts);
        }
    }

    /// Adds a stored document without its text.
    fn push_restored(&mut self, document: &Restored<'_>) -> Result<()> {
        // The only step that can fail comes first, so that all columns keep the same length.
        self.sketches.push_bytes(document.sketch)?;
        self.identity.push(document.identity);
        self.features.push(document.features);
        Ok(())
    }

    /// Ends the input: sketches the documents that had to wait for the corpus' own frequencies, and
    /// drops the counts of rare shingles.
    ///
    /// # Errors
    ///
    /// If the stored texts cannot be read back.
    pub fn finish(&mut self) -> Result<()> {
        if self.outside.is_some() && !self.sketches.is_empty() {
            self.move_outside(0)?;
        }
        if let Some(counted) = &mut self.counted {
            // The corpus is still the only owner.
            Arc::make_mut(&mut counted.frequencies).keep_common();
        }
        let Some(frequencies) = self.frequencies.take() else {
            return Ok(());
        };
        self.digest = Some(frequencies.digest());
        self.recipe = self.recipe.with_document_frequencies(frequencies);
        let (recipe, texts, features) = (&self.recipe, &self.texts, &self.features);
        let mut sketches = Sketches::new(recipe.sketch_settings())?;
        let mut left = Vec::with_capacity(features.len());
        for begin in (0..features.len()).step_by(SECOND_PASS) {
            let end = (begin + SECOND_PASS).min(features.len());
            let made: Vec<(Sketch, u32)> = (begin..end)
                .into_par_iter()
                .with_min_len(16)
                .map_init(
                    || (Scratch::default(), Vec::new()),
                    |(scratch, buffer), id| {
                        let mut sketch = Sketch::default();
                        let mut found = features[id];
                        // Without features, empty units would be mistaken for missing units.
                        if found != UNREADABLE && found != 0 {
                            let record = texts.record(id, buffer)?;
                            let text = match record.units {
                                "" => record.text,
                                units => units,
                            };
                            let title = Some(record.title).filter(|t| !t.is_empty());
                            // Fewer features than were counted, if rare ones are left out.
                            let kept = recipe.sketch(text, title, scratch, &mut sketch);
                            found = number_of(kept);
                        }
                        Ok((sketch, found))
                    },
                )
                .collect::<Result<_>>()?;
            for (sketch, found) in &made {
                sketches.push(sketch)?;
                left.push(*found);
            }
        }
        self.sketches = sketches;
        self.features = left;
        Ok(())
    }
}

/// A number of features, as it is stored.
fn number_of(features: usize) -> u32 {
    u32::try_from(features)
        .unwrap_or(UNREADABLE)
        .min(UNREADABLE - 1)
}

/// The settings that a thread needs to prepare the counting of shingles.
#[derive(Clone, Copy)]
struct Counting {
    k: usize,
    level: u32,
    /// Whether sketching computes the shingles anyway.
    are_met: bool,
}

/// Scratch space of a thread that samples the shingles of a text.
#[derive(Default)]
struct Tables {
    hashes: Vec<u64>,
    seen: Vec<u64>,
}

impl Counting {
    /// The shingles of a document that are counted; none if it has no features.
    fn of(self, made: &Sketched, scratch: &Scratch, tables: &mut Tables) -> Vec<u64> {
        match made.has_features {
            false => Vec::new(),
            true if self.are_met && !is_spaced(&made.text) => {
                shingle_frequencies::sample_of_distinct(scratch.hashes(), self.level)
            }
            true => {
                tables.hashes.clear();
                content_hashes(&made.text, self.k, &mut tables.hashes);
                shingle_frequencies::sample(&tables.hashes, self.level, &mut tables.seen)
            }
        }
    }
}

impl Counted {
    /// Counts the texts that have features and were not counted before.
    fn add(&mut self, identities: &[u128], first: u32, documents: &[Sketched]) {
        let new: Vec<&[u64]> = (first..)
            .zip(documents)
            .filter(|(_, made)| made.has_features)
            .filter(|&(document, _)| self.texts.insert(identities, document))
            .map(|(_, made)| made.counted.as_slice())
            .collect();
        // The corpus is the only owner until it is finished.
        Arc::make_mut(&mut self.frequencies).add_samples(&new);
    }
}

impl Sketched {
    /// Normalizes a document and lets `sketch` make a sketch of the text to be segmented. `sketch`
    /// returns the number of features and of those left out as rare.
    fn new(
        recipe: &Recipe,
        document: &Document<'_>,
        sketch: impl FnOnce(&str, &mut Sketch) -> (usize, usize),
    ) -> Self {
        let mut made = Sketched {
            text: String::new(),
            identity: 0,
            features: UNREADABLE,
            has_features: false,
            sketch: Sketch::default(),
            counted: Vec::new(),
        };
        let Some(text) = document.text else {
            return made;
        };
        recipe.normalize_into(text, &mut made.text);
        let units = document.units.unwrap_or(&made.text);
        let (features, rare) = sketch(units, &mut made.sketch);
        made.features = number_of(features);
        made.has_features = features + rare > 0;
        made.identity = match features + rare {
            // A separate seed, so that identities of the two kinds never coincide.
            0 => xxh3_128_with_seed(text.as_bytes(), 1),
            _ => xxh3_128(made.text.as_bytes()),
        };
        made
    }
}
