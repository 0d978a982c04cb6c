/*! Groups: documents are compared only with documents of the same group.

One index holds the documents of all groups, whose keys would be the same. So the group of a document
salts the keys by which it is filed and looked up, its fingerprint, and the identity of its text:
documents of one group meet as they would alone, and those of two groups meet only by a collision,
which [`Groups::are_same`] tells apart. The time does not depend on the number of groups.
*/

use crate::ids::DocId;
use std::sync::Arc;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

/// The group of each document, by number, as a hash of its name. By default there are none, and all
/// documents are compared.
#[derive(Clone, Debug, Default)]
pub struct Groups(Arc<[u64]>);

impl Groups {
    /// The groups of documents, by number.
    pub fn new(hashes: Vec<u64>) -> Self {
        Groups(hashes.into())
    }

    /// Whether there are none, or no documents.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The groups of some documents, in this order.
    pub fn select(&self, documents: &[DocId]) -> Groups {
        let selected = documents.iter().filter_map(|&document| self.of(document));
        Groups(selected.collect())
    }

    /// Whether two documents are compared.
    #[inline]
    pub fn are_same(&self, a: DocId, b: DocId) -> bool {
        self.of(a) == self.of(b)
    }

    fn of(&self, document: DocId) -> Option<u64> {
        self.0.get(document.index()).copied()
    }

    /// Salts keys of a document: distinct keys stay distinct. Nothing changes without groups.
    pub(crate) fn salt_keys<K: Copy + Into<u64> + From<u32>>(
        &self,
        document: DocId,
        keys: &mut [K],
    ) {
        if let Some(group) = self.of(document) {
            for key in keys {
                *key = permuted((*key).into() as u32, group).into();
            }
        }
    }

    /// Salts the identity of the text of a document.
    pub(crate) fn salted_identity(&self, document: DocId, identity: u128) -> u128 {
        let salt = |group: u64| xxh3_128(&group.to_le_bytes());
        identity ^ self.of(document).map_or(0, salt)
    }

    /// Salts a fingerprint of `bits` bits: the distance of two of the same group stays.
    pub(crate) fn salt_fingerprint(&self, document: DocId, bits: u32, words: &mut [u64]) {
        if let Some(group) = self.of(document) {
            for (at, word) in (0_u32..).zip(words) {
                let unused = 64 - bits.saturating_sub(64 * at).min(64);
                let salt = xxh3_64_with_seed(&group.to_le_bytes(), at.into());
                *word ^= salt.checked_shr(unused).unwrap_or(0);
            }
        }
    }
}

/// A permutation of all keys, another one for each group: the last steps of MurmurHash3.
fn permuted(key: u32, group: u64) -> u32 {
    let key = key ^ group as u32;
    let key = (key ^ key >> 16).wrapping_mul(0x85EB_CA6B) ^ (group >> 32) as u32;
    let key = (key ^ key >> 13).wrapping_mul(0xC2B2_AE35);
    key ^ key >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_distinct_in_a_group_and_differ_between_groups() {
        let hashes = [b"7", b"8", b"7", b"9"].map(|name| xxh3_64_with_seed(name, 0));
        let groups = Groups::new(hashes.to_vec());
        let all: Vec<u32> = (0..1000).chain(u32::MAX - 1000..=u32::MAX).collect();
        let salted = |document: DocId| {
            let mut keys = all.clone();
            groups.salt_keys(document, &mut keys);
            let wide = all.iter().map(|&key| u64::from(key));
            let mut wide: Vec<u64> = wide.collect();
            groups.salt_keys(document, &mut wide);
            assert!(wide.into_iter().eq(keys.iter().map(|&key| u64::from(key))));
            keys
        };
        assert_eq!(salted(DocId(0)), salted(DocId(2)));
        let mut distinct = [salted(DocId(0)), salted(DocId(1)), salted(DocId(3))].concat();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 3 * all.len());
        assert!(
            groups.are_same(DocId(0), DocId(2))
                && !groups.are_same(DocId(0), DocId(1))
                && !groups.are_same(DocId(0), DocId(3))
        );
        assert!(groups.salted_identity(DocId(0), 5) != groups.salted_identity(DocId(1), 5));
    }

    #[test]
    fn the_distance_of_fingerprints_stays() {
        let groups = Groups::new(vec![7, 7, 8]);
        for bits in [1, 32, 64, 65, 130, 200, 256] {
            let words = neardup_hamming::Fingerprints::new(bits).unwrap().words();
            let salted = |document: DocId| {
                let mut row = vec![0; words];
                row[0] = u64::from(document.0 & 1);
                groups.salt_fingerprint(document, bits, &mut row);
                let mut rows = neardup_hamming::Fingerprints::new(bits).unwrap();
                // No bit beyond the width is set, which would be refused.
                rows.push(&row).unwrap();
                row
            };
            let differing = |a: Vec<u64>, b: Vec<u64>| -> u32 {
                a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            assert_eq!(differing(salted(DocId(0)), salted(DocId(1))), 1);
            assert!(bits < 64 || differing(salted(DocId(0)), salted(DocId(2))) > bits / 4);
        }
    }

    #[test]
    fn without_groups_nothing_is_salted() {
        let none = Groups::default();
        let mut keys = [1_u32, 2];
        none.salt_keys(DocId(0), &mut keys);
        let mut words = [9];
        none.salt_fingerprint(DocId(0), 64, &mut words);
        assert_eq!((keys, words), ([1, 2], [9]));
        assert_eq!(none.salted_identity(DocId(0), 4), 4);
        assert!(
            none.are_same(DocId(0), DocId(1))
                && none
                    .select(&[DocId(0), DocId(1)])
                    .are_same(DocId(0), DocId(1))
        );
    }
}
