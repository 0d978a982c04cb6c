//! One document: what a caller passes in, and what the first four stages make of it.

use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use super::counted::{Counting, Sampled, Sampling};
use crate::error::Result;
use crate::normalize::without_sentence_ends;
use crate::recipe::{Recipe, Scratch};
use crate::sketch::{Sketch, Sketches};
use crate::weigh::DocumentFrequencies;

/// One document, as a caller passes it in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// The text; `None` for a record that could not be read.
    pub text: Option<&'a str>,
    /// The title, which the recipe may weigh, and which tells blank texts apart.
    pub title: Option<&'a str>,
    /// Units of the caller's own segmenter, encoded as
    /// [`segment`](crate::segment) says.
    pub units: Option<&'a str>,
}

/// The number of features of a document that could not be read.
pub const UNREADABLE: u32 = u32::MAX;

/// The output of the first four stages for some consecutive documents, one after the other.
pub(super) struct Block {
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    pub(super) identities: Vec<u128>,
    pub(super) features: Vec<u32>,
    pub(super) sketches: Sketches,
    /// The shingles that are counted for the collection.
    pub(super) samples: Sampled,
    /// The counts of a recipe that counts its corpus instead of sketching.
    pub(super) frequencies: DocumentFrequencies,
}

/// The buffers of a thread, reused for each document.
#[derive(Default)]
pub(super) struct Scratches {
    recipe: Scratch,
    text: String,
    sketch: Sketch,
    sampling: Sampling,
}

impl Block {
    /// The sketches of documents by `recipe`, or counts instead of sketches; and their samples.
    ///
    /// # Errors
    ///
    /// If the recipe has invalid sketch settings.
    pub(super) fn of(
        recipe: &Recipe,
        documents: &[Document<'_>],
        counts_words: bool,
        counting: Option<Counting<'_>>,
        scratches: &mut Scratches,
    ) -> Result<Self> {
        let mut block = Block {
            texts: String::new(),
            ends: Vec::with_capacity(documents.len()),
            identities: Vec::with_capacity(documents.len()),
            features: Vec::with_capacity(documents.len()),
            sketches: Sketches::new(recipe.sketch_settings())?,
            samples: Sampled::default(),
            frequencies: DocumentFrequencies::default(),
        };
        for document in documents {
            let Scratches {
                recipe: scratch,
                text: normalized,
                sketch,
                sampling,
            } = scratches;
            let (mut identity, mut features) = (0, UNREADABLE);
            if let Some(text) = document.text {
                recipe.normalize_into(text, normalized);
                // Once, since each stage below would remove them.
                let plain = without_sentence_ends(normalized);
                let units = document.units.unwrap_or(&plain);
                let (count, rare) = match counts_words {
                    true => (recipe.count(units, scratch, &mut block.frequencies), 0),
                    false => {
                        let count = recipe.sketch(units, document.title, scratch, sketch);
                        (count, scratch.rare())
                    }
                };
                features = number_of(count);
                identity = match count + rare {
                    // A separate seed, so that identities of the two kinds never coincide.
                    0 => identity_without_features(text, document.title),
                    _ => xxh3_128(plain.as_bytes()),
                };
                if let Some(counting) = counting.filter(|_| count + rare > 0) {
                    let made = (&*plain, identity, count);
                    counting.sample(made, scratch, sampling, &mut block.samples);
                } else {
                    block.samples.push_none();
                }
                block.texts.push_str(normalized);
            } else {
                block.samples.push_none();
                *sketch = Sketch::default();
            }
            block.sketches.push(sketch)?;
            block.ends.push(block.texts.len());
            block.identities.push(identity);
            block.features.push(features);
        }
        Ok(block)
    }

    /// The normalized texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins
            .zip(&self.ends)
            .map(|(begin, &end)| &self.texts[begin..end])
    }
}

/// The identity of a text without features: a hash of the original text, and of the title if the text
/// is blank. Seeds differ, so that identities of several kinds never coincide.
fn identity_without_features(text: &str, title: Option<&str>) -> u128 {
    let title = title.map_or("", str::trim);
    let of_title = match title.is_empty() || !text.trim().is_empty() {
        true => 0,
        false => xxh3_128_with_seed(title.as_bytes(), 2),
    };
    xxh3_128_with_seed(text.as_bytes(), 1) ^ of_title
}

/// A number of features, as it is stored.
pub(super) fn number_of(features: usize) -> u32 {
    u32::try_from(features)
        .unwrap_or(UNREADABLE)
        .min(UNREADABLE - 1)
}
