/*! Filing: under which keys a document is stored, and by which it is looked up.

For a store outside of memory: a table with a row for each key of each kept document.
Takes one sketch; yields its keys as numbers of 64 bits. They depend on the sketch
alone, and for samples on what is [`Frequent`]; so a store finds what a [`Shelf`] in
memory finds.

| search | filed under | looked up by | enough |
|---|---|---|---|
| near | blocks of bits, by the pigeonhole principle | the same | one, then the distance |
| bands | its bands | the same | one |
| postings | a few keys of the sample | the whole sample | a [`MinOverlap`] |
| prefix | the keys of its prefix, by value | the same | one, then the resemblance |

A distance that is large for the width of a fingerprint has no keys: too many blocks
would be spoiled. Then all must be compared ([`Filing::has_keys`]).
*/

use std::sync::Arc;

use super::Banding;
use super::keys::prefix_length;
use super::layout::{Layout, Table, all_bits};
use super::rare_keys::{Frequent, MinOverlap, choose};
use super::search::{LONGEST_OF_ALL, LONGEST_OF_KEPT, Search};
use super::sketches::Sketches;
use crate::error::{Error, Result};

/// The longest part of a fingerprint that makes a key; the table's number is above.
const KEY_BITS: u32 = 40;

/// Bits of a key that are worth more tables, and that are worth having keys at all.
const WANTED_BITS: u32 = 20;
const FEWEST_BITS: u32 = 16;

/// Keys of a fingerprint, at most.
const MOST_TABLES: u64 = 32;

/// Under which keys documents are filed and looked up.
#[derive(Clone, Debug)]
pub struct Filing {
    search: Search,
    kind: Kind,
    frequent: Arc<Frequent>,
    is_folded: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Near(Vec<Table>),
    Bands(Banding),
    Postings { threshold: f64 },
    Prefix { threshold: f64 },
}

impl Filing {
    /// The keys for a search among fingerprints of `bits`, which other sketches do
    /// not look at.
    ///
    /// # Errors
    ///
    /// If no fingerprint has `bits` bits, or `max_distance` exceeds them.
    pub fn new(search: Search, bits: u32, frequent: Arc<Frequent>) -> Result<Self> {
        let kind = match search {
            Search::Near { max_distance } => {
                super::fingerprints::words(bits)?;
                super::fingerprints::check_distance(bits, max_distance)?;
                let tables = match blocks(bits, max_distance) {
                    Some(blocks) => Layout::new(&all_bits(bits), blocks, max_distance)
                        .long_tables(KEY_BITS)
                        .collect(),
                    None => Vec::new(),
                };
                Kind::Near(tables)
            }
            Search::Bands(banding) => Kind::Bands(banding),
            Search::Postings { threshold } => Kind::Postings { threshold },
            Search::Prefix { threshold } => Kind::Prefix { threshold },
        };
        Ok(Filing {
            search,
            kind,
            frequent,
            is_folded: false,
        })
    }

    /// The same with keys of 32 bits. Those of fingerprints are longer, so a few more
    /// documents share one; which of them are candidates the distance says.
    pub fn folded(self) -> Self {
        Filing {
            is_folded: true,
            ..self
        }
    }

    /// Raises unless `count` documents can be looked up by these sketches.
    ///
    /// # Errors
    ///
    /// If the sketches are not of the kind that the search looks at, or fewer.
    pub fn check(&self, sketches: &Sketches, count: usize) -> Result<()> {
        sketches.check_search(self.search)?;
        match count <= sketches.len() {
            true => Ok(()),
            false => Err(Error::input(
                "the sketches of a corpus",
                format!("those of {count} documents in memory"),
                sketches.len(),
            )),
        }
    }

    /// False if documents have no keys and all must be compared.
    pub fn has_keys(&self) -> bool {
        !matches!(&self.kind, Kind::Near(tables) if tables.is_empty())
    }

    /// Documents that close the list of a key; the largest number if none ever is.
    pub fn longest(&self) -> usize {
        match self.kind {
            Kind::Bands(_) => LONGEST_OF_ALL as usize,
            Kind::Postings { .. } => LONGEST_OF_KEPT as usize,
            Kind::Near(_) | Kind::Prefix { .. } => usize::MAX,
        }
    }

    /// Writes the keys by which a document is looked up, replacing what was there.
    pub fn looked_up(&self, sketches: &Sketches, document: u32, keys: &mut Vec<u64>) {
        keys.clear();
        match (&self.kind, sketches) {
            (Kind::Near(tables), Sketches::Fingerprints(all)) => {
                let mut row = [0; 4];
                let words = all.get(document as usize).unwrap_or_default();
                row[..words.len()].copy_from_slice(&words);
                let numbered = tables.iter().zip(0_u64..);
                keys.extend(numbered.map(|(table, at)| at << KEY_BITS | table.key(&row) as u64));
                if self.is_folded {
                    keys.iter_mut().for_each(|key| *key = fold(*key));
                    keys.sort_unstable();
                    keys.dedup();
                }
            }
            (Kind::Bands(banding), Sketches::Signatures(signatures)) => {
                banding.keys(signatures.of(document), keys);
                // In memory a key has 32 bits, and a store is to find the same.
                keys.iter_mut().for_each(|key| *key &= u64::from(u32::MAX));
                keys.sort_unstable();
                keys.dedup();
            }
            (Kind::Postings { .. }, Sketches::Samples(samples)) => {
                keys.extend(samples.of(document).iter().copied().map(u64::from));
            }
            (Kind::Prefix { threshold }, Sketches::Samples(samples)) => {
                let all = samples.of(document);
                let prefix = prefix_length(all.len(), *threshold);
                keys.extend(all[..prefix].iter().copied().map(u64::from));
            }
            _ => {}
        }
    }

    /// How many keys a document asks for by itself.
    pub(super) fn min_overlap(&self, sketches: &Sketches, document: u32) -> MinOverlap {
        match (&self.kind, sketches) {
            (Kind::Postings { threshold }, Sketches::Samples(samples)) => {
                let keys = samples.of(document);
                let common = keys.iter().filter(|&&key| self.frequent.count(key) > 0);
                let common = common.count();
                MinOverlap::of(keys.len() - common, common, *threshold)
            }
            _ => MinOverlap::ONE,
        }
    }

    /// Writes what a document is filed under, all of which it is also looked up by.
    /// `is_closed` tells which lists are.
    pub fn filed(
        &self,
        sketches: &Sketches,
        document: u32,
        is_closed: impl Fn(u64) -> bool,
        filed: &mut Vec<(u64, MinOverlap)>,
    ) {
        filed.clear();
        match (&self.kind, sketches) {
            (Kind::Postings { threshold }, Sketches::Samples(samples)) => {
                let keys = samples.of(document);
                let mut chosen = Vec::new();
                let count = |at: usize| match self.frequent.count(keys[at]) {
                    0 if is_closed(keys[at].into()) => None,
                    documents => Some(documents),
                };
                choose(keys.len(), *threshold, count, &mut chosen);
                filed.extend(chosen.iter().map(|&(at, share)| (keys[at].into(), share)));
            }
            _ => {
                let mut keys = Vec::new();
                self.looked_up(sketches, document, &mut keys);
                filed.extend(keys.into_iter().map(|key| (key, MinOverlap::ONE)));
            }
        }
    }
}

/// A long key in 32 bits.
fn fold(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

/// Into how many blocks to cut a fingerprint; `None` where keys would be of no use.
fn blocks(bits: u32, max_distance: u32) -> Option<u32> {
    let most = bits.min(super::layout::MAX_BLOCKS);
    let choices = (max_distance + 1..=most).map_while(|blocks| {
        let tables = choose_count(blocks, max_distance);
        (tables <= MOST_TABLES).then_some((blocks, bits * (blocks - max_distance) / blocks))
    });
    let mut longest = None;
    for (blocks, key_bits) in choices {
        if key_bits >= FEWEST_BITS {
            longest = Some(blocks);
        }
        if key_bits >= WANTED_BITS {
            break;
        }
    }
    longest
}

/// The number of ways to choose `k` of `n`; the largest number where it is more.
fn choose_count(n: u32, k: u32) -> u64 {
    let mut count = 1_u64;
    for at in 0..u64::from(k.min(n - k)) {
        count = match count.checked_mul(u64::from(n) - at) {
            Some(product) => product / (at + 1),
            None => return u64::MAX,
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Fingerprints;

    #[test]
    fn a_key_is_long_or_there_is_none() {
        let found = [
            (64, 3, Some(5)),
            (64, 0, Some(1)),
            (128, 3, Some(4)),
            (32, 3, Some(6)),
            (32, 15, None),
            (128, 40, None),
            (64, 64, None),
            (8, 3, None),
            (31, 3, None),
            (61, 3, Some(5)),
        ];
        for (bits, max_distance, expected) in found {
            assert_eq!(
                blocks(bits, max_distance),
                expected,
                "{bits} {max_distance}"
            );
        }
        assert_eq!(choose_count(5, 3), 10);
        assert_eq!(choose_count(64, 32), u64::MAX);
    }

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
            let filing = Filing::new(search, bits, Arc::default()).unwrap();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            filing.looked_up(&sketches, 0, &mut one);
            assert!(one.is_sorted() && !one.is_empty());
            for document in 1..=40 {
                filing.looked_up(&sketches, document, &mut other);
                assert!(one.iter().any(|key| other.contains(key)));
            }
        }
    }
}
