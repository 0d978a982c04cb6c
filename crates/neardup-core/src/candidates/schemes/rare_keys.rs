/*! Rare keys: the keys of a sample under which a document is filed, and the minimum overlap.

With samples, a document is filed under a few of its keys and looked up by all of them. A look-up
finds every document filed under one of these keys; the number of shared keys decides whether the
two are candidates. This number depends only on the two samples and on the common keys known when the
first document was filed.

**Filing keys.** A document is filed under its [`RARE_KEYS`] smallest keys that occur in at most
[`RARE_KEY_TEXTS`](crate::constants::RARE_KEY_TEXTS) texts of the collection, and under the [`COMMON_KEYS`] rarest of its other keys. Documents
with the same text count once, so exact copies do not make a key common. The smallest keys are also
in every sample of a higher level. The other keys are needed because copies of a text that is
posted in a hundred versions share few rare keys. A search for every pair files a document under all
of its keys ([`Reach`]).

**Minimum overlap** ([`MinOverlap`]). A candidate shares a third of the rare keys that the threshold
implies, and at least one; or three quarters of all the keys that it implies, or that a resemblance of a
third does if that is less. The minimum of the two documents that requires less applies. In two texts of equal length with resemblance t, each key is
shared with probability 2 t / (1 + t); in a text and an excerpt of it, with probability t if the
text was filed. At t = .45 one excerpt in a thousand is therefore missed, and hardly any pair of
equal length.

Where any overlap may be enough, as of a text that lies in a much longer one, the threshold is 0: then
a document is filed under all of its rare keys, and two shared keys make a candidate; one, if a
document has fewer than [`RARE_KEYS`].

A key that many documents have is boilerplate, so its list is capped (`overlap.rs`). If only kept
documents are filed, a text posted a thousand times is in each list once and does not fill it.
*/

use crate::candidates::schemes::search::Reach;
use crate::constants::{ALL_KEYS_SHARE, COMMON_KEYS, RARE_KEY_DIVISOR, RARE_KEYS, SCATTERED};

/// The largest minimum, which has five bits where it is stored. Documents filed under very many
/// keys must share no more of them.
const MAX_OVERLAP: f64 = 31.0;

/// How many of a document's filing keys another document must share to be a candidate, and whether
/// a given key is rare or common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinOverlap {
    /// Whether the key is a common one and not a rare one.
    pub is_common: bool,
    /// The number of shared rare keys that is enough.
    pub rare: u8,
    /// The number of shared keys of both kinds that is enough.
    pub any: u8,
}

impl MinOverlap {
    /// One shared key is enough.
    pub const ONE: MinOverlap = MinOverlap {
        is_common: false,
        rare: 1,
        any: 1,
    };

    /// The minimum for a document filed under `rare` rare keys and `common` common keys.
    pub(in crate::candidates) fn of(rare: usize, common: usize, threshold: f64) -> Self {
        if threshold == 0.0 {
            let enough = if rare + common < RARE_KEYS { 1 } else { 2 };
            return MinOverlap {
                is_common: false,
                rare: enough,
                any: enough,
            };
        }
        let any = (rare + common) as f64 * threshold.min(SCATTERED) * ALL_KEYS_SHARE;
        MinOverlap {
            is_common: false,
            rare: (rare as f64 * threshold / RARE_KEY_DIVISOR)
                .floor()
                .clamp(1.0, MAX_OVERLAP) as u8,
            any: any.ceil().clamp(1.0, MAX_OVERLAP) as u8,
        }
    }

    /// The minimum for a document with these keys, some of which are common.
    pub(in crate::candidates) fn of_keys<K: Copy>(
        keys: &[K],
        is_common: impl Fn(K) -> bool,
        threshold: f64,
        reach: Reach,
    ) -> Self {
        let common = keys.iter().filter(|&&key| is_common(key)).count();
        let rare = keys.len() - common;
        match reach {
            Reach::Kept => MinOverlap::of(rare.min(RARE_KEYS), common.min(COMMON_KEYS), threshold),
            Reach::All | Reach::Exhaustive => MinOverlap::of(rare, common, threshold),
        }
    }

    /// The lower of both minima, for each kind. A text and a much shorter one are then candidates
    /// no matter which of them was filed.
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

    /// The minimum as one number, for storage.
    pub fn to_bits(self) -> u16 {
        u16::from(self.is_common) << 10 | u16::from(self.any) << 5 | u16::from(self.rare)
    }

    /// The minimum from the number that [`to_bits`](Self::to_bits) returned.
    pub fn from_bits(bits: u16) -> Self {
        MinOverlap {
            is_common: bits >> 10 & 1 == 1,
            any: (bits >> 5 & 31) as u8,
            rare: (bits & 31) as u8,
        }
    }
}

/// Chooses a few keys under which a document is filed; `keys` are ascending. `frequency` returns
/// the number of documents that have a key, 0 for a rare key. `is_closed` tells whether the list of
/// a rare key is full nevertheless, which happens if heavy hitters were counted on only some of the
/// documents.
pub(in crate::candidates) fn choose<K: Copy>(
    keys: &[K],
    threshold: f64,
    frequency: impl Fn(K) -> u32,
    is_closed: impl Fn(K) -> bool,
) -> impl Iterator<Item = (K, MinOverlap)> {
    let most_rare = if threshold > 0.0 {
        RARE_KEYS
    } else {
        keys.len()
    };
    let mut rare: Vec<K> = Vec::with_capacity(most_rare);
    let mut common: Vec<(u32, usize)> = Vec::new();
    for (at, &key) in keys.iter().enumerate() {
        match frequency(key) {
            0 if rare.len() < most_rare && !is_closed(key) => rare.push(key),
            0 => {}
            documents => common.push((documents, at)),
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

/// All keys of a document, each with the minimum that follows from all of them.
pub(in crate::candidates) fn all<K: Copy>(
    keys: &[K],
    threshold: f64,
    is_common: impl Fn(K) -> bool,
) -> impl Iterator<Item = (K, MinOverlap)> {
    let minimum = MinOverlap::of_keys(keys, &is_common, threshold, Reach::All);
    keys.iter().map(move |&key| {
        let is_common = is_common(key);
        let min_overlap = MinOverlap {
            is_common,
            ..minimum
        };
        (key, min_overlap)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_rare_keys_and_the_rarest_others_are_chosen() {
        // Every other key is common; larger ones are rarer.
        let frequency = |at: u32| if at.is_multiple_of(2) { 100 - at } else { 0 };
        let keys: Vec<u32> = (0..40).collect();
        let chosen: Vec<_> = choose(&keys, 0.5, frequency, |_| false).collect();
        let (common, rare): (Vec<_>, Vec<_>) = chosen.iter().partition(|(_, key)| key.is_common);
        let positions =
            |of: Vec<&(u32, MinOverlap)>| of.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(
            positions(rare),
            (0..16).map(|at| 2 * at + 1).collect::<Vec<_>>()
        );
        assert_eq!(positions(common), [38, 36, 34, 32, 30, 28, 26, 24]);
        let min_overlap = chosen[0].1;
        assert_eq!((min_overlap.rare, min_overlap.any), (2, 6));
        assert!(
            min_overlap.is_reached(2, 0)
                && min_overlap.is_reached(1, 5)
                && !min_overlap.is_reached(1, 4)
        );
    }

    #[test]
    fn without_a_threshold_all_rare_keys_are_filed_and_two_are_enough() {
        let keys: Vec<u32> = (0..40).collect();
        let frequency = |at: u32| if at < 30 { 0 } else { 100 };
        let chosen: Vec<_> = choose(&keys, 0.0, frequency, |_| false).collect();
        assert_eq!(chosen.len(), 30 + COMMON_KEYS);
        for (keys, enough) in [(RARE_KEYS - 1, 1), (RARE_KEYS, 2), (RARE_KEYS + 100, 2)] {
            let minimum = MinOverlap::of(keys, 0, 0.0);
            assert_eq!((minimum.rare, minimum.any), (enough, enough));
        }
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
