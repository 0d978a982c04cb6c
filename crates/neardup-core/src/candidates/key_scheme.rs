/*! Key scheme: the keys under which a document is filed and by which it is looked up.

For stores outside of memory: a table with a row for each key of each kept document, or a shuffle.
Turns one sketch into 64-bit keys. The keys depend only on the sketch, and for samples also on the
[`HeavyHitters`], so a store finds what an index in memory finds.

| search | filed under | looked up by | shared keys |
|---|---|---|---|
| near | blocks of bits, by the pigeonhole principle | the same | one, then the distance |
| bands | its bands | the same | one |
| postings | a few keys of the sample, or all | the whole sample | a [`MinOverlap`] |
| prefix | the keys of its prefix, by value | the same | one, then the resemblance |

If the distance is large for the width of a fingerprint, there are no keys and all fingerprints must
be compared ([`KeyScheme::has_keys`]).
*/

use std::borrow::Cow;
use std::sync::Arc;

use neardup_hamming::BlockKeys;

use super::Banding;
use super::schemes::prefix::prefix_length;
use super::schemes::rare_keys::{HeavyHitters, MinOverlap, all, choose};
use super::search::{Reach, Search};
use super::sketches::Sketches;
use crate::error::Result;
use crate::groups::Groups;

/// The keys under which documents are filed and looked up.
#[derive(Clone, Debug)]
pub struct KeyScheme {
    search: Search,
    kind: Kind,
    heavy_hitters: Arc<HeavyHitters>,
    is_folded: bool,
    /// Those of the documents whose keys are wanted.
    groups: Groups,
}

#[derive(Clone, Debug)]
enum Kind {
    Blocks(BlockKeys),
    Bands(Banding),
    RareKeys { threshold: f64, reach: Reach },
    Prefix { threshold: f64 },
}

impl KeyScheme {
    /// The keys for `search`. `bits` is the width of fingerprints; searches on other sketches
    /// ignore it.
    ///
    /// # Errors
    ///
    /// If no fingerprint has `bits` bits, or `max_distance` exceeds them.
    pub fn new(search: Search, bits: u32, heavy_hitters: Arc<HeavyHitters>) -> Result<Self> {
        let kind = match search {
            Search::Near { max_distance } => Kind::Blocks(BlockKeys::new(bits, max_distance)?),
            Search::Bands(banding, _) => Kind::Bands(banding),
            Search::Postings { threshold, reach } => Kind::RareKeys { threshold, reach },
            Search::Prefix { threshold } => Kind::Prefix { threshold },
        };
        Ok(KeyScheme {
            search,
            kind,
            heavy_hitters,
            is_folded: false,
            groups: Groups::default(),
        })
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

    /// Fails unless `count` documents can be looked up by these sketches.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than the search needs, or too few.
    pub fn check(&self, sketches: &Sketches, count: usize) -> Result<()> {
        sketches.check_search(self.search)?;
        sketches.check_len(count)
    }

    /// Whether documents have keys. If not, all documents must be compared.
    pub fn has_keys(&self) -> bool {
        !matches!(&self.kind, Kind::Blocks(keys) if keys.is_empty())
    }

    /// The maximum length of a key's list; `usize::MAX` if lists are not capped.
    pub fn max_list_len(&self) -> usize {
        self.search.max_list_len()
    }

    /// Writes the keys by which a document is looked up into `keys`, replacing its content.
    pub fn lookup_keys(&self, sketches: &Sketches, document: u32, keys: &mut Vec<u64>) {
        keys.clear();
        match (&self.kind, sketches) {
            (Kind::Blocks(blocks), Sketches::Fingerprints(all)) => {
                blocks.of(all, document, keys);
                if self.is_folded {
                    keys.iter_mut().for_each(|key| *key = fold(*key));
                    keys.sort_unstable();
                    keys.dedup();
                }
            }
            (Kind::Bands(banding), Sketches::Signatures(signatures)) => {
                banding.keys(signatures.of(document), keys);
                // Keys in memory have 32 bits, and a store must find the same documents.
                keys.iter_mut().for_each(|key| *key &= u64::from(u32::MAX));
                keys.sort_unstable();
                keys.dedup();
            }
            (Kind::RareKeys { .. }, Sketches::Samples(samples)) => {
                keys.extend(samples.of(document).iter().copied().map(u64::from));
            }
            (Kind::Prefix { threshold }, Sketches::Samples(samples)) => {
                let all = samples.of(document);
                let prefix = prefix_length(all.len(), *threshold);
                keys.extend(all[..prefix].iter().copied().map(u64::from));
            }
            _ => {}
        }
        self.groups.salt_keys(document, keys);
    }

    /// How many keys another document must share with this one, computed from this one's keys.
    pub(super) fn min_overlap(&self, sketches: &Sketches, document: u32) -> MinOverlap {
        match (&self.kind, sketches) {
            (Kind::RareKeys { threshold, reach }, Sketches::Samples(samples)) => {
                let salted = |key| self.groups.salted_key(document, key);
                let is_common = |key| self.heavy_hitters.count(salted(key)) > 0;
                MinOverlap::of_keys(samples.of(document), is_common, *threshold, *reach)
            }
            _ => MinOverlap::ONE,
        }
    }

    /// Writes the keys under which a document is filed; they are a subset of its lookup keys.
    /// `is_closed` tells whether the list of a key is full.
    pub fn filing_keys(
        &self,
        sketches: &Sketches,
        document: u32,
        is_closed: impl Fn(u64) -> bool,
        filed: &mut Vec<(u64, MinOverlap)>,
    ) {
        filed.clear();
        match (&self.kind, sketches) {
            (Kind::RareKeys { threshold, reach }, Sketches::Samples(samples)) => {
                let mut keys = Cow::Borrowed(samples.of(document));
                if !self.groups.is_empty() {
                    self.groups.salt_keys(document, keys.to_mut());
                }
                let (keys, threshold) = (&*keys, *threshold);
                let frequency = |key| self.heavy_hitters.count(key);
                let wide = |(key, min_overlap): (u32, MinOverlap)| (u64::from(key), min_overlap);
                match reach {
                    Reach::Kept => {
                        let is_closed = |key: u32| is_closed(key.into());
                        filed.extend(choose(keys, threshold, frequency, is_closed).map(wide));
                    }
                    Reach::All | Reach::Exhaustive => {
                        filed.extend(all(keys, threshold, |key| frequency(key) > 0).map(wide));
                    }
                }
            }
            _ => {
                let mut keys = Vec::new();
                self.lookup_keys(sketches, document, &mut keys);
                filed.extend(keys.into_iter().map(|key| (key, MinOverlap::ONE)));
            }
        }
    }
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
            let scheme = KeyScheme::new(search, bits, Arc::default()).unwrap();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            scheme.lookup_keys(&sketches, 0, &mut one);
            assert!(one.is_sorted() && !one.is_empty());
            for document in 1..=40 {
                scheme.lookup_keys(&sketches, document, &mut other);
                assert!(one.iter().any(|key| other.contains(key)));
            }
        }
    }
}
