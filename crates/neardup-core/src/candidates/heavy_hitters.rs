//! Heavy hitters: the keys of samples that are common in a collection.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::key_numbers::Numbering;
use crate::constants::RARE_KEY_TEXTS;
use crate::error::Result;
use crate::sketch::FeatureSamples;

/// How many texts of a collection have a key, for keys that more than [`RARE_KEY_TEXTS`] texts have. Documents
/// with the same text count once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeavyHitters {
    counts: HashMap<u32, u32, FxBuildHasher>,
}

impl HeavyHitters {
    /// Counts the keys of the samples of distinct texts.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn of(samples: &FeatureSamples) -> Result<Self> {
        let numbering = Numbering::of(samples.keys())?;
        let counts = numbering.numbers.iter().zip(samples.keys());
        let counts = counts.filter_map(|(&number, &key)| {
            let documents = *numbering.lengths.get(number as usize)?;
            (documents > RARE_KEY_TEXTS).then_some((key, documents))
        });
        Ok(HeavyHitters {
            counts: counts.collect(),
        })
    }

    /// Heavy hitters from keys and their counts; counts of [`RARE_KEY_TEXTS`] or less are dropped.
    pub fn from_counts(counts: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let counts = counts
            .into_iter()
            .filter(|&(_, count)| count > RARE_KEY_TEXTS);
        HeavyHitters {
            counts: counts.collect(),
        }
    }

    /// Keys and their counts, sorted by key.
    pub fn sorted(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = self
            .counts
            .iter()
            .map(|(&key, &count)| (key, count))
            .collect();
        all.sort_unstable();
        all
    }

    /// The number of texts that have a key; 0 for a rare one.
    pub fn count(&self, key: u32) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }
}
