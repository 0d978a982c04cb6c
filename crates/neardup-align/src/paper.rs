//! The text that is checked, prepared for comparison with many sources.

use rustc_hash::FxHashMap;

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
    /// The places of each shingle, ascending; at most one more than `MOST_PLACES`.
    places: FxHashMap<u64, Vec<u32>>,
}

impl Paper {
    /// Prepares a paper: O(n).
    pub fn new(letters: Letters) -> Self {
        let hashes = hashes(&letters);
        let mut places: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (at, &hash) in hashes.iter().enumerate() {
            let found = places.entry(hash).or_default();
            if found.len() <= MOST_PLACES {
                found.push(at as u32);
            }
        }
        Paper {
            letters,
            hashes,
            places,
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
        match self.places.get(&hash) {
            Some(places) if places.len() > MOST_PLACES => &places[..FIRST_PLACES],
            Some(places) => places,
            None => &[],
        }
    }

    /// Each shingle with the first place where it occurs.
    pub(super) fn first_places(&self) -> impl Iterator<Item = (u64, u32)> {
        self.places.iter().map(|(&hash, places)| (hash, places[0]))
    }
}
