//! The shingle counts of a corpus while documents are added.

use std::sync::Arc;

use super::document::Sketched;
use super::identity::FirstByText;
use crate::recipe::Scratch;
use crate::sketch::is_long;
use crate::verify::{
    ShingleFrequencies, content_hashes, is_spaced, shingle_frequencies, shingle_len,
};

/// The shingle counts, and the texts that were counted already.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) k: usize,
    pub(super) texts: FirstByText,
    pub(super) frequencies: Arc<ShingleFrequencies>,
}

/// The settings that a thread needs to prepare the counting of shingles.
#[derive(Clone, Copy)]
pub(super) struct Counting {
    pub(super) k: usize,
    pub(super) level: u32,
    /// Whether sketching computes the shingles anyway.
    pub(super) are_met: bool,
}

/// Scratch space of a thread that samples the shingles of a text.
#[derive(Default)]
pub(super) struct Tables {
    hashes: Vec<u64>,
    seen: Vec<u64>,
}

impl Counting {
    /// The shingles of a document that are counted; none if it has no features.
    pub(super) fn of(self, made: &Sketched, scratch: &Scratch, tables: &mut Tables) -> Vec<u64> {
        match made.has_features {
            false => Vec::new(),
            true if is_long(&made.text) => {
                let k = shingle_len(&made.text, self.k);
                shingle_frequencies::sample_of_long(&made.text, k, self.level, &mut tables.hashes)
            }
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
    pub(super) fn add(&mut self, identities: &[u128], first: u32, documents: &[Sketched]) {
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
