/*! The in-memory index of fingerprints: by their keys, or by a scan.

A document is looked up in the lists of its keys, and the distance decides. If the distance is so
large that there are no keys, or if these lists hold many of the filed documents, as in a collection
whose fingerprints have most bits in common, all filed fingerprints are compared by SIMD instead. So
no collection takes longer than a scan. Exact.
*/

use neardup_hamming::{Fingerprints, Kernel, scan};

use super::numbered::NumberedIndex;
use crate::candidates::key_scheme::KeyScheme;
use crate::candidates::overlap::Scratches;
use crate::error::Result;
use crate::ids::{DocId, Place};
use crate::ragged::Ragged;
use crate::sketch::Sketches;

/// How many fingerprints a scan compares in the time of one entry of a list. Measured with 10^6
/// short news texts: 20 ns for an entry, 0.3 ns for a fingerprint.
const SCANNED: usize = 64;

/// An index of the fingerprints of one collection.
#[derive(Clone, Debug)]
pub struct FingerprintIndex {
    filed: Fingerprints,
    max_distance: u32,
    lists: Option<NumberedIndex>,
}

impl FingerprintIndex {
    /// An empty index for the documents with these sketches and identities.
    ///
    /// # Errors
    ///
    /// If the sketches are not fingerprints, or there are 2^32 keys or more.
    pub fn new(
        sketches: &Sketches,
        identities: &[u128],
        scheme: KeyScheme,
        max_distance: u32,
    ) -> Result<Self> {
        let bits = sketches.fingerprints().map_or(0, Fingerprints::bits);
        let has_keys = scheme.has_keys();
        let lists = has_keys.then(|| NumberedIndex::new(sketches, identities, scheme));
        Ok(FingerprintIndex {
            filed: Fingerprints::new(bits)?,
            max_distance,
            lists: lists.transpose()?,
        })
    }

    /// The place of the next document.
    pub fn next_place(&self) -> Place {
        Place(self.filed.len() as u32)
    }

    /// Files a document.
    ///
    /// # Errors
    ///
    /// If its sketch is no fingerprint of this width, or there are too many.
    pub fn insert(&mut self, sketches: &Sketches, document: DocId) -> Result<()> {
        self.filed.push(&row(sketches, document))?;
        if let Some(lists) = &mut self.lists {
            lists.insert(document);
        }
        Ok(())
    }

    /// Looks up documents among all filed ones, on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If their sketches are not fingerprints of this width.
    pub fn near(
        &self,
        sketches: &Sketches,
        documents: &[DocId],
        scratches: &Scratches,
    ) -> Result<Ragged<Vec<Place>>> {
        let mut queries = Fingerprints::new(self.filed.bits())?;
        for &document in documents {
            queries.push(&row(sketches, document))?;
        }
        if let Some(lists) = &self.lists {
            return Ok(scratches.look_up(documents, |document, _, places| {
                let query = row(sketches, document);
                if SCANNED * lists.entries(document) > self.filed.len() {
                    places.extend(self.scanned(&query, Place(0)).unwrap_or_default());
                } else {
                    self.listed(lists, document, &query, places);
                }
            }));
        }
        let near =
            scan::many_against_many(Kernel::best(), &queries, &self.filed, self.max_distance)?;
        let offsets = near.offsets.iter().map(|&at| at as usize);
        let places = near.ids.into_iter().map(Place);
        Ragged::of(offsets.collect(), places.collect())
    }

    /// Looks up a document among those filed at place `since` or later, which are few.
    ///
    /// # Errors
    ///
    /// If its sketch is no fingerprint of this width.
    pub fn near_since(
        &self,
        sketches: &Sketches,
        document: DocId,
        since: Place,
    ) -> Result<Vec<Place>> {
        self.scanned(&row(sketches, document), since)
    }

    /// The places near `query` from `since` on.
    fn scanned(&self, query: &[u64], since: Place) -> Result<Vec<Place>> {
        let kernel = Kernel::best();
        let near = scan::one_against_many(kernel, query, &self.filed, since.0, self.max_distance)?;
        Ok(near.into_iter().map(|(row, _)| Place(row)).collect())
    }

    /// Adds the places near `query` that are in the lists of the keys of a document.
    fn listed(
        &self,
        lists: &NumberedIndex,
        document: DocId,
        query: &[u64],
        places: &mut Vec<Place>,
    ) {
        let mut near = Vec::new();
        lists.visit(document, |place| {
            if self.filed.distance_to(place.index(), query) <= self.max_distance {
                near.push(place);
            }
        });
        near.sort_unstable();
        near.dedup();
        places.extend(near);
    }
}

/// The fingerprint of a document. For other sketches it is empty, which the index refuses.
fn row(sketches: &Sketches, document: DocId) -> Vec<u64> {
    let fingerprints = sketches.fingerprints();
    fingerprints
        .and_then(|all| all.get(document.index()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::schemes::search::Search;
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    /// Fingerprints of which every third is near an earlier one; with `shared`, most bits of all are
    /// equal.
    fn fingerprints(bits: u32, shared: bool) -> Fingerprints {
        let words = neardup_hamming::word_count(bits);
        let mut all: Vec<Vec<u64>> = Vec::new();
        for at in 0..3000_u64 {
            let draw = |what: u64| xxh3_64_with_seed(&at.to_le_bytes(), what);
            let varied = if shared {
                0x00FF_0000_0FF0_00FF
            } else {
                u64::MAX
            };
            let mut row: Vec<u64> = (0..words).map(|word| draw(word as u64) & varied).collect();
            if at % 3 == 2 {
                row = all[(draw(8) % at) as usize].clone();
                for flip in 0..draw(9) % 6 {
                    row[draw(flip + 10) as usize % words] ^= 1 << (draw(flip + 20) % 64);
                }
            }
            all.push(row);
        }
        Fingerprints::from_rows(bits, &all.concat()).unwrap()
    }

    #[test]
    fn a_look_up_finds_all_filed_documents_within_the_distance() {
        for (bits, max_distance, has_keys) in [(64, 3, true), (128, 9, true), (64, 24, false)] {
            for shared in [false, true] {
                let all = fingerprints(bits, shared);
                let sketches = Sketches::Fingerprints(all.clone());
                let identities: Vec<u128> = (0..all.len() as u128).collect();
                let scheme = KeyScheme::in_memory(Search::Near { max_distance }, bits).unwrap();
                let mut index =
                    FingerprintIndex::new(&sketches, &identities, scheme, max_distance).unwrap();
                assert_eq!(index.lists.is_some(), has_keys);
                // Every fifth document is not filed, but looked up.
                let filed = DocId::range(0..all.len()).filter(|at| at.0 % 5 > 0);
                let filed: Vec<DocId> = filed.collect();
                for &document in &filed {
                    index.insert(&sketches, document).unwrap();
                }
                let queries: Vec<DocId> = DocId::range(0..all.len()).step_by(5).collect();
                let found = index
                    .near(&sketches, &queries, &Scratches::default())
                    .unwrap();
                let near = |a: DocId, b: DocId| {
                    all.distance(a.index(), b.index()).unwrap() <= max_distance
                };
                let expected: Vec<(DocId, Place)> = (queries.iter())
                    .flat_map(|&a| {
                        (0..)
                            .zip(&filed)
                            .map(move |(place, &b)| (a, Place(place), b))
                    })
                    .filter(|&(a, _, b)| near(a, b))
                    .map(|(a, place, _)| (a, place))
                    .collect();
                assert!(expected.len() > 100);
                assert!(
                    found.pairs(&queries).eq(expected.iter().copied()),
                    "{bits} {shared}"
                );
                for (at, since) in [(0, Place(0)), (3, Place(1000)), (5, Place(2400))] {
                    let places = index.near_since(&sketches, queries[at], since).unwrap();
                    let wanted = expected
                        .iter()
                        .filter(|&&(a, place)| a == queries[at] && place >= since);
                    assert!(wanted.map(|&(_, place)| place).eq(places));
                }
            }
        }
    }
}
