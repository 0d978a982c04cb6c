//! Heavy hitters: how many texts of a collection have each key of a sample, for keys that more than
//! [`RARE_KEY_TEXTS`] texts have. Documents with the same text count once.

use super::key_numbers::Numbering;
use crate::constants::RARE_KEY_TEXTS;
use crate::error::Result;
use crate::ids::Hash;
use crate::shingle_frequencies::ShingleFrequencies;
use crate::sketch::FeatureSamples;

/// Counts the keys of the samples of distinct texts.
///
/// # Errors
/// If there are 2^32 keys or more.
pub fn heavy_hitters(samples: &FeatureSamples) -> Result<ShingleFrequencies> {
    let numbering = Numbering::of(Hash::numbers(samples.keys()))?;
    let mut keys = vec![Hash(0); numbering.lengths.len()];
    for (&number, &key) in numbering.numbers.iter().zip(samples.keys()) {
        if let Some(place) = keys.get_mut(number as usize) {
            *place = key;
        }
    }
    let counts = keys.into_iter().zip(numbering.lengths);
    Ok(heaviest(counts))
}

/// The heavy hitters among keys with their counts.
pub fn heaviest(counts: impl Iterator<Item = (Hash, u32)>) -> ShingleFrequencies {
    let heavy = counts.filter(|&(_, texts)| texts > RARE_KEY_TEXTS);
    ShingleFrequencies::from_counts(0, 0, heavy)
}
