//! Documents that were sketched before, by a store or by another corpus.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::counted::Sampled;
use super::{Corpus, TOGETHER, UNREADABLE};
use crate::error::{Error, Result};
use crate::normalize::check_length;
use crate::normalize::without_sentence_ends;
use crate::spilled::WRITE_BUFFER;

/// One document, as a store returns it.
#[derive(Clone, Copy, Debug)]
pub struct Restored<'a> {
    /// The text; `None` if the store keeps no texts.
    pub text: Option<&'a str>,
    /// See [`Corpus::identity`].
    pub identity: u128,
    /// The number of features; [`UNREADABLE`] for one without text.
    pub features: u32,
    /// See [`Sketches::to_bytes`](crate::sketch::Sketches::to_bytes).
    pub sketch: &'a [u8],
}

impl Corpus {
    /// Adds documents of a store with their original texts, in order, without sketching or counting.
    /// Runs on the current rayon pool.
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
            self.store_texts(|corpus| {
                corpus.texts.push(text, "", "")?;
                corpus.push_restored(document)
            })?;
        }
        Ok(())
    }

    /// Adds documents that another corpus of the same recipe has sketched, with their normalized
    /// texts, by which they are counted. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a sketch is not of the recipe's kind or a text not that of its identity, or as for
    /// [`push`](Self::push).
    pub fn adopt(&mut self, documents: &[Restored<'_>]) -> Result<()> {
        for document in documents {
            // A text without features, which may have been rare, has the sketch of the original text.
            let has_features = document.features != UNREADABLE && document.features > 0;
            let identity = xxh3_128(without_sentence_ends(document.text.unwrap_or("")).as_bytes());
            if has_features && identity != document.identity {
                return Err(Error::input(
                    "a stored text",
                    "the one that was sketched",
                    "another",
                ));
            }
        }
        let sampled = self.counted.as_ref().map(|counted| {
            let counting = counted.counting(&self.identity, &self.recipe);
            let samples = documents.par_chunks(TOGETHER).map(|documents| {
                let (mut sampling, mut sampled) = Default::default();
                for document in documents {
                    match document.text.filter(|_| document.features != UNREADABLE) {
                        Some(text) => {
                            counting.sample_text(
                                (text, document.identity),
                                &mut sampling,
                                &mut sampled,
                            );
                        }
                        None => sampled.push_none(),
                    }
                }
                sampled
            });
            samples.collect::<Vec<Sampled>>()
        });
        let mut first = self.identity.len();
        for document in documents {
            let text = document.text.filter(|_| self.keeps_texts);
            self.store_texts(|corpus| {
                corpus.texts.push(text.unwrap_or(""), "", "")?;
                corpus.push_restored(document)
            })?;
        }
        if let (Some(counted), Some(sampled)) = (&mut self.counted, sampled) {
            for samples in sampled {
                counted.add(&self.identity, first, &samples)?;
                first += samples.len();
            }
        }
        self.spill_sketches(WRITE_BUFFER)
    }

    /// Adds a stored document without its text.
    pub(super) fn push_restored(&mut self, document: &Restored<'_>) -> Result<()> {
        // The only step that can fail comes first, so that all columns keep the same length.
        self.sketches.push_bytes(document.sketch)?;
        self.identity.push(document.identity);
        self.features.push(document.features);
        Ok(())
    }
}
