/*! Rare keys: which keys of a sample a document is filed under, and how many must be shared.

A document of a sample is filed under a few of its keys and looked up by all of them.
A look-up finds every document that is filed under one of these keys, and the number of
shared keys decides whether the two are candidates. It depends only on the two samples and
on the [`HeavyHitters`] known when the first document was filed.

**Filing keys.** A document is filed under its [`RARE_KEYS`] smallest keys that occur in at
most [`FEW`] documents of the collection, and under the [`COMMON_KEYS`] rarest of its other
keys. The smallest keys are also in every sample of a larger rate. The other keys are needed
because copies of a text that is posted a hundred times share few rare keys.

**How many must be shared**: of the rare ones a third of what the threshold asks for,
and at least one; or three quarters of what it asks for of all ([`MinOverlap`]); by the
keys of that document of the two which asks for less. Of two texts of one length and
a resemblance t, each key is shared with probability 2 t / (1 + t); of a text and an
excerpt of it with t, if the text was filed. So at .45 one excerpt in a thousand is
missed, and hardly a pair of one length.

A key that many documents have is boilerplate, so its list is capped
(`overlap.rs`). If only kept documents are filed, one text posted a thousand
times is in each list once, and does not fill it.
*/

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::candidates::key_numbers::Numbering;
use crate::candidates::sketches::Samples;
use crate::error::Result;

/// Documents that have a key, at most, for it to be rare.
pub const FEW: u32 = 32;

/// Rare keys that a document is filed under, at most.
pub const RARE_KEYS: usize = 16;

/// Other keys that a document is filed under, at most.
pub const COMMON_KEYS: usize = 6;

/// How many documents of a collection have a key, for the keys that more than [`FEW`]
/// of them have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeavyHitters {
    counts: HashMap<u32, u32, FxBuildHasher>,
}

impl HeavyHitters {
    /// Counts the keys of some samples.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn of(samples: &Samples) -> Result<Self> {
        let numbering = Numbering::of(samples.keys())?;
        let counts = numbering.numbers.iter().zip(samples.keys());
        let counts = counts.filter_map(|(&number, &key)| {
            let documents = *numbering.lengths.get(number as usize)?;
            (documents > FEW).then_some((key, documents))
        });
        Ok(HeavyHitters {
            counts: counts.collect(),
        })
    }

    /// The same from keys and their counts; those of [`FEW`] and less are left out.
    pub fn from_counts(counts: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let counts = counts.into_iter().filter(|&(_, count)| count > FEW);
        HeavyHitters {
            counts: counts.collect(),
        }
    }

    /// Keys and their counts, by key.
    pub fn sorted(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = self
            .counts
            .iter()
            .map(|(&key, &count)| (key, count))
            .collect();
        all.sort_unstable();
        all
    }

    /// The number of documents that have a key; 0 for a rare one.
    pub fn count(&self, key: u32) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }
}

/// How many of the keys that a document is filed under another must have to be a
/// candidate, and to which of the two kinds a key belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinOverlap {
    /// Whether the key is none of the rare ones.
    pub is_common: bool,
    /// Rare keys that are enough.
    pub rare: u8,
    /// Keys of both kinds that are enough.
    pub any: u8,
}

impl MinOverlap {
    /// One shared key is enough.
    pub const ONE: MinOverlap = MinOverlap {
        is_common: false,
        rare: 1,
        any: 1,
    };

    /// The minimum for a document with `rare` rare keys and `common` common keys.
    pub(in crate::candidates) fn of(rare: usize, common: usize, threshold: f64) -> Self {
        let (rare, common) = (rare.min(RARE_KEYS), common.min(COMMON_KEYS));
        let any = (rare + common) as f64 * threshold * 0.75;
        MinOverlap {
            is_common: false,
            rare: (rare as f64 * threshold / 3.0).floor().max(1.0) as u8,
            any: any.ceil().max(1.0) as u8,
        }
    }

    /// The minimum for a document with these keys, some of which are common.
    pub(in crate::candidates) fn of_keys<K: Copy>(
        keys: &[K],
        is_common: impl Fn(K) -> bool,
        threshold: f64,
    ) -> Self {
        let common = keys.iter().filter(|&&key| is_common(key)).count();
        MinOverlap::of(keys.len() - common, common, threshold)
    }

    /// The lower of both minima, of each kind: a text and a much shorter one are then
    /// candidates whichever of them was filed.
    pub(in crate::candidates) fn or_less(self, other: MinOverlap) -> Self {
        MinOverlap {
            is_common: self.is_common,
            rare: self.rare.min(other.rare),
            any: self.any.min(other.any),
        }
    }

    /// Whether `rare` shared rare keys and `common` shared common keys are enough.
    pub fn is_reached(self, rare: u32, common: u32) -> bool {
        rare >= u32::from(self.rare) || rare + common >= u32::from(self.any)
    }

    /// The same as one number, to be stored.
    pub fn to_bits(self) -> u16 {
        u16::from(self.is_common) << 10 | u16::from(self.any) << 5 | u16::from(self.rare)
    }

    /// What [`to_bits`](Self::to_bits) was made of.
    pub fn from_bits(bits: u16) -> Self {
        MinOverlap {
            is_common: bits >> 10 & 1 == 1,
            any: (bits >> 5 & 31) as u8,
            rare: (bits & 31) as u8,
        }
    }
}

/// Chooses under which of its keys, in ascending order, a document is filed. `frequency` is the
/// number of documents that have a key, 0 for a rare one, and `None` for a rare one whose list
/// is full all the same: where heavy hitters were counted on a part of the documents.
pub(in crate::candidates) fn choose<K: Copy>(
    keys: &[K],
    threshold: f64,
    frequency: impl Fn(K) -> Option<u32>,
) -> impl Iterator<Item = (K, MinOverlap)> {
    let mut rare: Vec<K> = Vec::with_capacity(RARE_KEYS);
    let mut common: Vec<(u32, usize)> = Vec::new();
    for (at, &key) in keys.iter().enumerate() {
        match frequency(key) {
            Some(0) if rare.len() < RARE_KEYS => rare.push(key),
            Some(0) | None => {}
            Some(documents) => common.push((documents, at)),
        }
    }
    common.sort_unstable();
    common.truncate(COMMON_KEYS);
    let min_overlap = MinOverlap::of(rare.len(), common.len(), threshold);
    let of_common = MinOverlap {
        is_common: true,
        ..min_overlap
    };
    let rare = rare.into_iter().map(move |key| (key, min_overlap));
    rare.chain(common.into_iter().map(move |(_, at)| (keys[at], of_common)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_rare_keys_and_the_rarest_others_are_chosen() {
        // Every other key is common, the larger the rarer.
        let frequency = |at: u32| Some(if at.is_multiple_of(2) { 100 - at } else { 0 });
        let keys: Vec<u32> = (0..40).collect();
        let chosen: Vec<_> = choose(&keys, 0.5, frequency).collect();
        let (common, rare): (Vec<_>, Vec<_>) = chosen.iter().partition(|(_, own)| own.is_common);
        let positions =
            |of: Vec<&(u32, MinOverlap)>| of.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(
            positions(rare),
            (0..16).map(|at| 2 * at + 1).collect::<Vec<_>>()
        );
        assert_eq!(positions(common), [38, 36, 34, 32, 30, 28]);
        let min_overlap = chosen[0].1;
        assert_eq!((min_overlap.rare, min_overlap.any), (2, 9));
        assert!(
            min_overlap.is_reached(2, 0)
                && min_overlap.is_reached(1, 8)
                && !min_overlap.is_reached(1, 7)
        );
    }

    #[test]
    fn a_minimum_comes_back_from_its_bits() {
        for rare in 0..=RARE_KEYS {
            for common in 0..=COMMON_KEYS {
                for threshold in [0.01, 0.45, 1.0] {
                    let min_overlap = MinOverlap::of(rare, common, threshold);
                    for is_common in [false, true] {
                        let min_overlap = MinOverlap {
                            is_common,
                            ..min_overlap
                        };
                        assert_eq!(MinOverlap::from_bits(min_overlap.to_bits()), min_overlap);
                        assert!(i16::try_from(min_overlap.to_bits()).is_ok());
                    }
                }
            }
        }
    }
}
