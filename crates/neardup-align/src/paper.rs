//! The text that is checked, prepared for comparison with many sources.

use neardup_core::buckets::deal;

use super::letters::Letters;
use super::shingles::hashes;

/// The largest number of places in the paper from which all runs of a shingle are followed.
const MOST_PLACES: usize = 64;

/// A shingle with more places is followed only from the first few.
const FIRST_PLACES: usize = 2;

/// A paper: its letters, and the positions of its shingles.
#[derive(Clone, Debug)]
pub struct Paper {
    letters: Letters,
    hashes: Vec<u64>,
    /// The places of all shingles, by hash and then ascending.
    places: Vec<u32>,
    /// Where the places end of shingles whose hashes begin with the same bits: about one a bucket.
    ends: Vec<u32>,
    /// How many bits of a hash do not number its bucket.
    shift: u32,
}

impl Paper {
    /// Prepares a paper: O(n); 16 bytes for each letter, and the letters.
    pub fn new(letters: Letters) -> Self {
        let hashes = hashes(&letters);
        let bits = hashes.len().max(1).ilog2() + 1;
        let shift = u64::BITS - bits;
        let bucket = |at: u32| (hashes[at as usize] >> shift) as usize;
        let (mut places, ends) = deal(0..hashes.len() as u32, 1 << bits, bucket);
        let mut begin = 0;
        for &end in &ends {
            // Stable: the places of one shingle ascend.
            places[begin..end as usize].sort_by_key(|&at| hashes[at as usize]);
            begin = end as usize;
        }
        Paper {
            letters,
            hashes,
            places,
            ends,
            shift,
        }
    }

    /// The letters.
    pub fn letters(&self) -> &Letters {
        &self.letters
    }

    /// The hash of the shingle at each letter.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The places from which a shingle is followed.
    pub(super) fn places(&self, hash: u64) -> &[u32] {
        let bucket = (hash >> self.shift) as usize;
        let begin = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        let places = &self.places[begin as usize..self.ends[bucket] as usize];
        let hash_at = |&at: &u32| self.hashes[at as usize];
        let begin = places.partition_point(|at| hash_at(at) < hash);
        let count = places[begin..].partition_point(|at| hash_at(at) == hash);
        let followed = if count > MOST_PLACES {
            FIRST_PLACES
        } else {
            count
        };
        &places[begin..begin + followed]
    }

    /// Each shingle with the first place where it occurs.
    pub(super) fn first_places(&self) -> impl Iterator<Item = (u64, u32)> {
        let hash_at = |at: u32| self.hashes[at as usize];
        let of_shingle = (self.places).chunk_by(move |&one, &next| hash_at(one) == hash_at(next));
        of_shingle.map(move |places| (hash_at(places[0]), places[0]))
    }
}
