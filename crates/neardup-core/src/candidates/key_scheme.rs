/*! Key scheme: the keys under which a document is filed and by which it is looked up.

The only place that knows which keys a sketch has, which of them a document is looked up by and filed
under, and how many another document must share. A key is a hash in a store outside of memory and a
number in memory; the keys of samples also depend on how many texts have each of them. So every store
finds the same documents.

| search | filed under | looked up by | shared keys |
|---|---|---|---|
| near | blocks of bits, by the pigeonhole principle | the same | one, then the distance |
| bands | its bands | the same | one |
| postings | a few keys of the sample, or all | the whole sample | a [`MinOverlap`] |
| prefix | the keys of its prefix, by value | the same | one, then the resemblance |

If the distance is large for the width of a fingerprint, there are no keys and all fingerprints must
be compared ([`KeyScheme::has_keys`]).
*/

use neardup_hamming::BlockKeys;

use super::schemes::prefix::prefix_length;
use super::schemes::rare_keys::{MinOverlap, all, choose};
use super::schemes::search::{Reach, Search};
use crate::error::Result;
use crate::groups::Groups;
use crate::ids::DocId;
use crate::sketch::Sketches;

/// The keys under which documents are filed and looked up.
#[derive(Clone, Debug)]
pub struct KeyScheme {
    pub(super) search: Search,
    /// Of a search among fingerprints.
    blocks: Option<BlockKeys>,
    is_folded: bool,
    /// Those of the documents whose keys are wanted.
    groups: Groups,
}

impl KeyScheme {
    /// The keys for `search`. `bits` is the width of fingerprints; searches on other sketches
    /// ignore it.
    ///
    /// # Errors
    ///
    /// If no fingerprint has `bits` bits, or `max_distance` exceeds them.
    pub fn new(search: Search, bits: u32) -> Result<Self> {
        let blocks = match search {
            Search::Near { max_distance } => Some(BlockKeys::new(bits, max_distance)?),
            _ => None,
        };
        Ok(KeyScheme {
            search,
            blocks,
            is_folded: false,
            groups: Groups::default(),
        })
    }

    /// The keys in memory for `search`. They have 32 bits, and fingerprints also have short keys,
    /// by which a look-up in memory is still faster than a scan.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn in_memory(search: Search, bits: u32) -> Result<Self> {
        let mut scheme = KeyScheme::new(search, bits)?;
        if let (Search::Near { max_distance }, Some(blocks)) = (search, &mut scheme.blocks) {
            *blocks = BlockKeys::in_memory(bits, max_distance)?;
        }
        Ok(scheme.folded())
    }

    /// The same scheme with keys of 32 bits. Keys of fingerprints are longer, so a few more
    /// documents share a key; the distance then decides which of them are candidates.
    pub fn folded(self) -> Self {
        KeyScheme {
            is_folded: true,
            ..self
        }
    }

    /// The same scheme for documents of these groups, which salt keys of 32 bits.
    pub fn among(self, groups: Groups) -> Self {
        KeyScheme { groups, ..self }
    }

    /// The same scheme for the sketches of some of these documents.
    pub fn of_batch(&self, documents: &[DocId]) -> Self {
        self.clone().among(self.groups.select(documents))
    }

    /// Fails unless `count` documents can be looked up by these sketches.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than the search needs, or too few.
    pub fn check(&self, sketches: &Sketches, count: usize) -> Result<()> {
        self.search.check(sketches)?;
        sketches.check_len(count)
    }

    /// Whether documents have keys. If not, all documents must be compared.
    pub fn has_keys(&self) -> bool {
        !self.blocks.as_ref().is_some_and(BlockKeys::is_empty)
    }

    /// The maximum length of a key's list; `usize::MAX` if lists are not capped.
    pub fn max_list_len(&self) -> usize {
        self.search.max_list_len()
    }

    /// Writes all keys of a document into `keys`, replacing its content.
    pub fn keys(&self, sketches: &Sketches, document: DocId, keys: &mut Vec<u64>) {
        keys.clear();
        match (self.search, sketches) {
            (Search::Near { .. }, Sketches::Fingerprints(all)) => {
                if let Some(blocks) = &self.blocks {
                    blocks.of(all, document.0, keys);
                }
                if self.is_folded {
                    keys.iter_mut().for_each(|key| *key = fold(*key));
                    sort_distinct(keys);
                }
            }
            (Search::Bands(banding, _), Sketches::Signatures(signatures)) => {
                banding.keys(signatures.of(document), keys);
                // Keys in memory have 32 bits, and a store must find the same documents.
                keys.iter_mut().for_each(|key| *key &= u64::from(u32::MAX));
                sort_distinct(keys);
            }
            (Search::Postings { .. } | Search::Prefix { .. }, Sketches::Samples(samples)) => {
                keys.extend(samples.of(document).iter().map(|key| u64::from(key.0)));
            }
            _ => {}
        }
        self.groups.salt_keys(document, keys);
    }

    /// Whether the first keys of a document are enough, in any order that all documents share.
    pub fn has_prefix(&self) -> bool {
        matches!(self.search, Search::Prefix { .. })
    }

    /// The keys by which a document is looked up, of all that it has.
    pub fn lookup_keys<'a, K>(&self, keys: &'a [K]) -> &'a [K] {
        match self.search {
            Search::Prefix { threshold } => &keys[..prefix_length(keys.len(), threshold)],
            _ => keys,
        }
    }

    /// How many keys another document must share with this one, which has these. `frequency` is
    /// the number of texts that have a key, 0 if it is rare.
    pub fn min_overlap<K: Copy>(&self, keys: &[K], frequency: impl Fn(K) -> u32) -> MinOverlap {
        match self.search {
            Search::Postings { threshold, reach } => {
                MinOverlap::of_keys(keys, |key| frequency(key) > 0, threshold, reach)
            }
            _ => MinOverlap::ONE,
        }
    }

    /// Writes the keys under which a document is filed into `filed`, replacing its content, and
    /// returns how many of them another document must share. They are a subset of its lookup keys.
    /// `is_full` tells whether the list of a key is full.
    pub fn filing_keys<K: Copy>(
        &self,
        keys: &[K],
        frequency: impl Fn(K) -> u32,
        is_full: impl Fn(K) -> bool,
        filed: &mut Vec<(K, MinOverlap)>,
    ) -> MinOverlap {
        filed.clear();
        match self.search {
            Search::Postings { threshold, reach } => match reach {
                Reach::Kept => filed.extend(choose(keys, threshold, frequency, is_full)),
                Reach::All | Reach::Exhaustive => {
                    filed.extend(all(keys, threshold, |key| frequency(key) > 0));
                }
            },
            _ => {
                let lookup_keys = self.lookup_keys(keys).iter();
                filed.extend(lookup_keys.map(|&key| (key, MinOverlap::ONE)));
            }
        }
        // The keys of a document have the same minima and differ only in kind.
        filed
            .last()
            .map_or(MinOverlap::ONE, |&(_, minimum)| minimum)
    }
}

fn sort_distinct(keys: &mut Vec<u64>) {
    keys.sort_unstable();
    keys.dedup();
}

/// Folds a long key to 32 bits.
fn fold(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardup_hamming::Fingerprints;

    #[test]
    fn fingerprints_within_the_distance_share_a_key() {
        for (bits, words) in [(32, 1), (33, 1), (47, 1), (64, 1), (128, 2)] {
            let mut rows = Fingerprints::new(bits).unwrap();
            let first: Vec<u64> = vec![0x1234_5678; words];
            rows.push(&first).unwrap();
            for at in 0..40_u32 {
                let mut other = first.clone();
                for flipped in [at % bits, (at * 7 + 1) % bits, (at * 11 + 2) % bits] {
                    other[flipped as usize / 64] ^= 1 << (flipped % 64);
                }
                rows.push(&other).unwrap();
            }
            let sketches = Sketches::Fingerprints(rows);
            let search = Search::Near { max_distance: 3 };
            let scheme = KeyScheme::new(search, bits).unwrap();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            scheme.keys(&sketches, DocId(0), &mut one);
            assert!(one.is_sorted() && !one.is_empty());
            for document in DocId::range(1..41) {
                scheme.keys(&sketches, document, &mut other);
                assert!(one.iter().any(|key| other.contains(key)));
            }
        }
    }

    #[test]
    fn prefix_meets_every_similar_set() {
        for (threshold, length) in [(0.5, 3), (0.51, 2), (1.0, 1)] {
            let scheme = KeyScheme::new(Search::Prefix { threshold }, 0).unwrap();
            // Two of four must be shared, so one of any three is.
            assert_eq!(scheme.lookup_keys(&[1, 2, 3, 4]).len(), length);
        }
    }
}
