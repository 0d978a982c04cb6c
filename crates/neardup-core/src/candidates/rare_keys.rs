/*! Rare keys: which keys of a sample a document is filed under, and how many must be shared.

A document of a sample is filed under a few of its keys and looked up by all of them.
So a look-up meets every document that was filed under keys which this one has, and
how many of them it has says whether the two are candidates: it depends on nothing
but the two samples and on what [`Frequent`] knew when the first was filed.

**Which keys a document is filed under.** Its [`RARE_KEYS`] smallest keys among those that at
most [`FEW`] documents of the collection have, and the [`COMMON_KEYS`] rarest of the
others. The smallest keys, because a sample of a larger rate keeps just these. The
others, because copies of a text that is posted a hundred times have few rare keys
in common.

**How many must be shared**: of the rare ones a third of what the threshold asks for,
and at least one; or three quarters of what it asks for of all ([`MinOverlap`]); by the
keys of that document of the two which asks for less. Of two texts of one length and
a resemblance t, each key is shared with probability 2 t / (1 + t); of a text and an
excerpt of it with t, if the text was filed. So at .45 one excerpt in a thousand is
missed, and hardly a pair of one length.

A key that many documents have is a form and no content, so its list is capped
(`overlap.rs`). If only kept documents are filed, one text posted a thousand
times is in each list once, and does not fill it.
*/

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::keys::Numbering;
use super::sketches::Samples;
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
pub struct Frequent {
    counts: HashMap<u32, u32, FxBuildHasher>,
}

impl Frequent {
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
        Ok(Frequent {
            counts: counts.collect(),
        })
    }

    /// The same from keys and their counts; those of [`FEW`] and less are left out.
    pub fn from_counts(counts: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let counts = counts.into_iter().filter(|&(_, count)| count > FEW);
        Frequent {
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
    /// Nothing but one shared key is asked for.
    pub const ONE: MinOverlap = MinOverlap {
        is_common: false,
        rare: 1,
        any: 1,
    };

    /// The minimum for a document with `rare` rare keys and `common` common keys.
    pub(super) fn of(rare: usize, common: usize, threshold: f64) -> Self {
        let (rare, common) = (rare.min(RARE_KEYS), common.min(COMMON_KEYS));
        let any = (rare + common) as f64 * threshold * 0.75;
        MinOverlap {
            is_common: false,
            rare: (rare as f64 * threshold / 3.0).floor().max(1.0) as u8,
            any: any.ceil().max(1.0) as u8,
        }
    }

    /// What the one asks for that asks for less, of each kind: a text and a much
    /// shorter one are then candidates whichever of them was filed.
    pub(super) fn or_less(self, other: MinOverlap) -> Self {
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

/// Chooses what a document is filed under: positions among its keys, `keys` of them, its
/// sample in ascending order. `count` tells of a position in how many documents that key
/// stands, 0 for a rare one, and `None` for a rare one whose list is closed all the
/// same: where what is frequent was counted on a part of the documents.
pub(super) fn choose(
    keys: usize,
    threshold: f64,
    count: impl Fn(usize) -> Option<u32>,
    chosen: &mut Vec<(usize, MinOverlap)>,
) {
    chosen.clear();
    let mut common: Vec<(u32, usize)> = Vec::new();
    for at in 0..keys {
        match count(at) {
            Some(0) if chosen.len() < RARE_KEYS => chosen.push((at, MinOverlap::default())),
            Some(0) | None => {}
            Some(documents) => common.push((documents, at)),
        }
    }
    common.sort_unstable();
    common.truncate(COMMON_KEYS);
    let min_overlap = MinOverlap::of(chosen.len(), common.len(), threshold);
    for (_, own) in chosen.iter_mut() {
        *own = min_overlap;
    }
    let of_common = MinOverlap {
        is_common: true,
        ..min_overlap
    };
    chosen.extend(common.into_iter().map(|(_, at)| (at, of_common)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_rare_keys_and_the_rarest_others_are_chosen() {
        let mut chosen = Vec::new();
        // Every other key is common, the larger the rarer.
        let count = |at: usize| {
            Some(if at.is_multiple_of(2) {
                100 - at as u32
            } else {
                0
            })
        };
        choose(40, 0.5, count, &mut chosen);
        let (common, rare): (Vec<_>, Vec<_>) = chosen.iter().partition(|(_, s)| s.is_common);
        let positions =
            |of: Vec<(usize, MinOverlap)>| of.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(
            positions(rare),
            (0..16).map(|at| 2 * at + 1).collect::<Vec<_>>()
        );
        assert_eq!(positions(common), [38, 36, 34, 32, 30, 28]);
        let share = chosen[0].1;
        assert_eq!((share.rare, share.any), (2, 9));
        assert!(share.is_reached(2, 0) && share.is_reached(1, 8) && !share.is_reached(1, 7));
    }

    #[test]
    fn a_share_comes_back_from_its_bits() {
        for rare in 0..=RARE_KEYS {
            for common in 0..=COMMON_KEYS {
                for threshold in [0.01, 0.45, 1.0] {
                    let share = MinOverlap::of(rare, common, threshold);
                    for is_common in [false, true] {
                        let share = MinOverlap { is_common, ..share };
                        assert_eq!(MinOverlap::from_bits(share.to_bits()), share);
                        assert!(i16::try_from(share.to_bits()).is_ok());
                    }
                }
            }
        }
    }
}
