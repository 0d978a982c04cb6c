//! Many pairs of one store, verified in parallel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;

use super::Shingles;
use crate::error::Result;
use crate::texts::TextStore;

/// Length of the shingles that resemblance counts unless told otherwise.
pub const DEFAULT_SHINGLE: usize = 5;

/// Bytes of shingle sets kept between loads.
const CACHE_BYTES: usize = 192 << 20;

/// Bytes of shingle sets that one load may add, by an upper estimate.
const LOAD_BYTES: usize = 256 << 20;

/// Compares pairs of documents of a [`TextStore`] by the resemblance of their
/// shingles.
///
/// Shingle sets are made when a document is first looked at and kept up to a
/// fixed budget, because a document that is a candidate once often is again.
/// The budget changes the time, never a result.
#[derive(Debug)]
pub struct Verifier {
    k: usize,
    threshold: f64,
    sets: HashMap<u32, Shingles>,
    bytes: usize,
}

impl Verifier {
    /// A verifier by shingles of `k` characters and an inclusive `threshold`.
    pub fn new(k: usize, threshold: f64) -> Self {
        Verifier {
            k,
            threshold,
            sets: HashMap::new(),
            bytes: 0,
        }
    }

    /// The similarity of each pair that reaches the threshold, in the order of
    /// `pairs`; `None` for the others.
    ///
    /// Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a text cannot be read back from the store.
    pub fn verify(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let mut similarities = Vec::with_capacity(pairs.len());
        let mut rest = pairs;
        while !rest.is_empty() {
            let count = self.load(texts, rest)?;
            let (now, later) = rest.split_at(count);
            let sets = &self.sets;
            let threshold = self.threshold;
            similarities.par_extend(now.par_iter().with_min_len(16).map(|(a, b)| {
                match (sets.get(a), sets.get(b)) {
                    (Some(a), Some(b)) => a.resemblance_from(b, threshold),
                    _ => None,
                }
            }));
            rest = later;
        }
        Ok(similarities)
    }

    /// Makes the sets that the first of `pairs` need and that are not there yet,
    /// and returns for how many pairs: at least one, and no more than the budget
    /// allows.
    fn load(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<usize> {
        if self.bytes > CACHE_BYTES {
            self.sets.clear();
            self.bytes = 0;
        }
        let mut missing: Vec<u32> = Vec::new();
        let (mut count, mut wanted) = (0, 0);
        for &(a, b) in pairs {
            for id in [a, b] {
                if let Entry::Vacant(vacant) = self.sets.entry(id) {
                    // Holds the place until the set is made.
                    vacant.insert(Shingles::default());
                    missing.push(id);
                    // A character has at most one shingle of 8 bytes, and at
                    // least one byte.
                    wanted += 8 * texts.size(id as usize);
                }
            }
            count += 1;
            if wanted > LOAD_BYTES {
                break;
            }
        }
        let k = self.k;
        let made: Result<Vec<(u32, Shingles)>> = missing
            .par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, &id| {
                let text = texts.text(id as usize, buffer)?;
                Ok((id, Shingles::of(text, k)))
            })
            .collect();
        let made = made.inspect_err(|_| {
            for id in &missing {
                self.sets.remove(id);
            }
        })?;
        for (id, set) in made {
            self.bytes += 8 * set.len() + 64;
            self.sets.insert(id, set);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_their_order_and_the_threshold_is_inclusive() {
        let mut texts = TextStore::new(1 << 20);
        for text in ["abcd", "bcde", "wxyz"] {
            texts.push(text, "", "").unwrap();
        }
        let mut verifier = Verifier::new(2, 0.5);
        let got = verifier
            .verify(&texts, &[(0, 2), (0, 1), (1, 0), (2, 2)])
            .unwrap();
        assert_eq!(got, [None, Some(0.5), Some(0.5), Some(1.0)]);
    }
}
