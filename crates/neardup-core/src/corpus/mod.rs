/*! The documents of one run: texts and sketches, in input order.

A [`Corpus`] takes batches of documents through the first four stages and keeps what the later ones
need. In memory: a sketch, a 128-bit hash for exact comparison and the number of features of each
document (36 bytes besides the sketch). In a [`TextStore`]: its normalized text.

A recipe whose weights depend on the collection itself needs all documents before it can sketch the
first. In that case [`Corpus::push`] counts document frequencies, and [`Corpus::finish`] sketches
from the stored texts.
*/

mod counted;
mod document;
mod restored;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use neardup_hamming::Fingerprints;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::ids::DocId;
use crate::normalize::check_length;
use crate::recipe::{Recipe, Scratch};
use crate::sketch::{Sketch, SketchStore, Sketches};
use crate::spilled::WRITE_BUFFER;
use crate::texts::TextStore;
use crate::verify::{Samples, ShingleFrequencies};
use crate::weigh::DocumentFrequencies;

use counted::Counted;
use document::{Block, number_of};
pub use document::{Document, UNREADABLE};
pub use restored::Restored;

/// The largest number of documents that one task takes through the first stages.
const TOGETHER: usize = 256;

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
    /// Bytes of samples; more go to a file. And of the data derived from texts for comparing them, half
    /// as much, which is twice that while it is computed, and of samples read back, a quarter.
    pub compared: usize,
    /// Bytes for finding shared keys if sketches are in a file.
    pub keys: usize,
    /// A folder for what does not fit into memory.
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

/// How much of one part of a corpus is where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Which part.
    pub part: &'static str,
    /// Bytes that may be in memory, about; `usize::MAX` without a limit.
    pub limit: usize,
    /// Bytes in memory.
    pub in_memory: u64,
    /// Bytes in a file.
    pub in_file: u64,
}

impl Memory {
    /// Whether sketches of this kind may be moved out of memory.
    fn may_spill(&self, sketches: &Sketches) -> bool {
        !matches!(sketches, Sketches::Fingerprints(_)) && self.sketches < usize::MAX
    }

    /// A file for sketches.
    fn sketch_store(&self, recipe: &Recipe) -> SketchStore {
        SketchStore::new(recipe.sketch_settings(), self.folder.as_deref())
    }
}

/// The documents of one run.
#[derive(Debug)]
pub struct Corpus {
    recipe: Recipe,
    texts: TextStore,
    /// All sketches, or those not moved to `stored_sketches` yet.
    sketches: Sketches,
    stored_sketches: Option<SketchStore>,
    memory: Memory,
    /// Two documents with equal values here have the same text, and are of the same group.
    identity: Vec<u128>,
    groups: Groups,
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
    /// If the recipe has invalid sketch settings.
    pub fn within(
        recipe: Recipe,
        keeps_texts: bool,
        shingle: Option<usize>,
        memory: Memory,
    ) -> Result<Self> {
        let counts_words = recipe.needs_document_frequencies();
        let texts = TextStore::new(memory.texts, memory.folder.as_deref(), counts_words);
        Ok(Corpus {
            frequencies: counts_words.then(DocumentFrequencies::default),
            keeps_texts: keeps_texts || counts_words,
            counted: shingle.map(|k| Counted::new(k, memory.compared, memory.folder.clone())),
            ..Corpus::with_texts(recipe, texts, memory)?
        })
    }

    /// A corpus of these texts, without documents, that counts nothing.
    fn with_texts(recipe: Recipe, texts: TextStore, memory: Memory) -> Result<Self> {
        let sketches = Sketches::new(recipe.sketch_settings())?;
        Ok(Corpus {
            texts,
            sketches,
            stored_sketches: None,
            memory,
            identity: Vec::new(),
            groups: Groups::default(),
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

    /// The counts so far, for a recipe that counts its corpus
    /// and is not finished yet.
    pub fn frequencies(&self) -> Option<&DocumentFrequencies> {
        self.frequencies.as_ref()
    }

    /// The sketches of some documents, in memory or outside, as bytes in the format of
    /// [`to_bytes`](crate::sketch::Sketches::to_bytes).
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    ///
    /// # Panics
    ///
    /// If there are no such documents.
    pub fn sketch_bytes(&self, documents: Range<usize>) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::with_capacity(documents.len());
        let mut stored = 0;
        if let Some(store) = &self.stored_sketches {
            stored = store.len();
            let outside = DocId::range(documents.start..documents.end.min(stored));
            let outside: Vec<DocId> = outside.collect();
            let sketches = store.read(&outside)?;
            all.extend(DocId::range(0..outside.len()).map(|at| sketches.to_bytes(at)));
        }
        // The last ones wait in memory until the corpus is finished.
        let waiting = documents.start.max(stored) - stored..documents.end.max(stored) - stored;
        all.extend(DocId::range(waiting).map(|at| self.sketches.to_bytes(at)));
        Ok(all)
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
    /// are [outside](Self::stored_sketches) of memory.
    pub fn sketches(&self) -> &Sketches {
        &self.sketches
    }

    /// The sketches of a finished corpus, where they are outside of memory.
    pub fn stored_sketches(&self) -> Option<&SketchStore> {
        self.stored_sketches.as_ref()
    }

    /// How much of its memory each part of a finished corpus uses.
    pub fn usage(&self) -> [Usage; 3] {
        let usage = |part, limit, (in_memory, in_file)| Usage {
            part,
            limit,
            in_memory,
            in_file,
        };
        let sketches = match &self.stored_sketches {
            Some(store) => store.bytes(),
            None => (self.sketches.bytes() as u64, 0),
        };
        let samples = self.samples().map_or((0, 0), Samples::bytes);
        [
            usage("texts", self.memory.texts, self.texts.bytes()),
            usage("sketches", self.memory.sketches, sketches),
            usage("samples", self.memory.compared, samples),
        ]
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

    /// The samples of the documents. A finished corpus has none of short texts.
    pub fn samples(&self) -> Option<&Samples> {
        self.counted.as_ref().map(|counted| &counted.samples)
    }

    /// Sets the number of texts with each shingle, for a corpus that does not count them.
    pub fn set_shingle_frequencies(&mut self, frequencies: Arc<ShingleFrequencies>) {
        self.given = Some(frequencies);
    }

    /// A value that two documents share if and only if their texts are equal, and they are of the same
    /// [group](Self::divide) (up to collisions of a 128-bit hash).
    ///
    /// Texts are compared in normalized form. Texts without features, which normalization may have
    /// emptied, are compared in their original form, and blank ones with their titles.
    pub fn identity(&self, document: DocId) -> u128 {
        self.identity[document.index()]
    }

    /// See [`identity`](Self::identity), by document number.
    pub fn identities(&self) -> &[u128] {
        &self.identity
    }

    /// The groups of the documents. Only documents of the same group are compared.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Divides the documents of a finished corpus into groups, by a hash for each document. What is
    /// counted of the collection stays.
    ///
    /// # Errors
    ///
    /// If there is not one hash for each document.
    pub fn divide(&mut self, groups: Vec<u64>) -> Result<()> {
        if groups.len() != self.len() {
            let expected = format!("{}, one for each document", self.len());
            return Err(Error::input("the groups", expected, groups.len()));
        }
        let groups = Groups::new(groups);
        if let Some(counted) = &mut self.counted {
            counted.share_samples(&self.identity);
        }
        let documents = DocId::range(0..self.identity.len());
        for (document, identity) in documents.zip(&mut self.identity) {
            *identity = groups.salted_identity(document, *identity);
        }
        if let Sketches::Fingerprints(all) = &mut self.sketches {
            let mut salted = Fingerprints::new(all.bits())?;
            for document in DocId::range(0..all.len()) {
                let mut row = all.get(document.index()).unwrap_or_default();
                groups.salt_fingerprint(document, all.bits(), &mut row);
                salted.push(&row)?;
            }
            *all = salted;
        }
        self.groups = groups;
        Ok(())
    }

    /// The number of features of a document: 0 means that it has no sketch,
    /// `None` that it could not be read.
    pub fn features(&self, document: DocId) -> Option<u32> {
        Some(self.features[document.index()]).filter(|&count| count != UNREADABLE)
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
        let (recipe, counts_words) = (&self.recipe, self.frequencies.is_some());
        let counting = self.counted.as_ref();
        let counting = counting.map(|counted| counted.counting(&self.identity, recipe));
        // Small enough for all threads to have some.
        let tasks = 8 * rayon::current_num_threads();
        let together = documents.len().div_ceil(tasks).clamp(1, TOGETHER);
        let blocks: Vec<Block> = documents
            .par_chunks(together)
            .map_init(Default::default, |scratches, documents| {
                Block::of(recipe, documents, counts_words, counting, scratches)
            })
            .collect::<Result<_>>()?;
        // Texts come first: writing them can fail, and then no column has grown.
        self.store_texts(|corpus| {
            let texts = blocks.iter().flat_map(Block::texts);
            let mut all = documents.iter().zip(texts);
            all.try_for_each(|(document, text)| corpus.store(document, text))
        })?;
        let filed = blocks.into_iter().try_for_each(|block| self.file(block));
        // A record that a full disk kept from being filed has no text either.
        self.texts.truncate(self.identity.len());
        filed?;
        self.spill_sketches(WRITE_BUFFER)
    }

    /// Adds what was made of the next documents, whose texts are stored. After an error they are all
    /// there, or none of them.
    fn file(&mut self, block: Block) -> Result<()> {
        let first = self.identity.len();
        self.sketches.append(&block.sketches)?;
        self.identity.extend(block.identities);
        self.features.extend(block.features);
        if let Some(frequencies) = &mut self.frequencies {
            frequencies.merge(block.frequencies);
        }
        match &mut self.counted {
            Some(counted) => counted.add(&self.identity, first, &block.samples),
            None => Ok(()),
        }
    }

    /// Stores the text of a document, and its title and units if they are read again for sketching in a
    /// second pass.
    fn store(&mut self, document: &Document<'_>, normalized: &str) -> Result<()> {
        let again = self.frequencies.is_some();
        let title = document.title.filter(|_| again && self.recipe.uses_title());
        let units = document.units.filter(|_| again);
        let text = if self.keeps_texts { normalized } else { "" };
        self.texts
            .push(text, title.unwrap_or(""), units.unwrap_or(""))
    }

    /// Adds texts and what `add` adds with them; after an error there are as many texts as before.
    fn store_texts(&mut self, add: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let before = self.texts.len();
        let added = add(self);
        if added.is_err() {
            self.texts.truncate(before);
        }
        added
    }

    /// Moves sketches outside if they exceed their memory limit, or exceed `waiting` bytes if some
    /// are outside already.
    fn spill_sketches(&mut self, waiting: usize) -> Result<()> {
        let most = match self.stored_sketches {
            Some(_) => waiting,
            None => self.memory.sketches,
        };
        if self.memory.may_spill(&self.sketches) && self.sketches.bytes() > most {
            let empty = Sketches::new(self.recipe.sketch_settings())?;
            self.stored_sketches
                .get_or_insert_with(|| self.memory.sketch_store(&self.recipe))
                .extend(&self.sketches)?;
            self.sketches = empty;
        }
        Ok(())
    }

    /// Ends the input: sketches the documents that had to wait for the corpus' own frequencies, and
    /// counts shingles.
    ///
    /// # Errors
    ///
    /// If what is in files cannot be read back.
    pub fn finish(&mut self) -> Result<()> {
        if self.stored_sketches.is_some() && !self.sketches.is_empty() {
            self.spill_sketches(0)?;
        }
        if let Some(counted) = &mut self.counted {
            counted.finish()?;
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
                        let mut count = features[id];
                        // Without features, empty units would be mistaken for missing units.
                        if count != UNREADABLE && count != 0 {
                            let record = texts.record(id, buffer)?;
                            let text = match record.units {
                                "" => record.text,
                                units => units,
                            };
                            let title = Some(record.title).filter(|t| !t.is_empty());
                            // Fewer features than were counted, if rare ones are left out.
                            let kept = recipe.sketch(text, title, scratch, &mut sketch);
                            count = number_of(kept);
                        }
                        Ok((sketch, count))
                    },
                )
                .collect::<Result<_>>()?;
            for (sketch, count) in &made {
                sketches.push(sketch)?;
                left.push(*count);
            }
        }
        self.sketches = sketches;
        self.features = left;
        Ok(())
    }
}
