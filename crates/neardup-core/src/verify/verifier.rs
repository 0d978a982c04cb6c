//! Many pairs of one store, verified in parallel.

use std::collections::HashMap;

use rayon::prelude::*;

use super::Shingles;
use crate::error::Result;
use crate::texts::TextStore;

/// Length of the shingles that resemblance counts unless told otherwise.
pub const DEFAULT_SHINGLE: usize = 5;

/// Bytes of shingle sets kept between calls.
const CACHE_BYTES: usize = 256 << 20;

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

    /// The smallest similarity, inclusive, that counts.
    pub fn threshold(&self) -> f64 {
        self.threshold
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
        self.load(texts, pairs)?;
        let sets = &self.sets;
        let threshold = self.threshold;
        Ok(pairs
            .par_iter()
            .with_min_len(16)
            .map(|(a, b)| match (sets.get(a), sets.get(b)) {
                (Some(a), Some(b)) => a.resemblance_from(b, threshold),
                _ => None,
            })
            .collect())
    }

    /// Makes the sets that `pairs` need and that are not there yet.
    fn load(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<()> {
        if self.bytes > CACHE_BYTES {
            self.sets.clear();
            self.bytes = 0;
        }
        let mut missing: Vec<u32> = pairs
            .iter()
            .flat_map(|&(a, b)| [a, b])
            .filter(|id| !self.sets.contains_key(id))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let k = self.k;
        let made: Vec<(u32, Shingles)> = missing
            .into_par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, id| {
                let text = texts.text(id as usize, buffer)?;
                Ok((id, Shingles::of(text, k)))
            })
            .collect::<Result<_>>()?;
        for (id, set) in made {
            self.bytes += 8 * set.len() + 64;
            self.sets.insert(id, set);
        }
        Ok(())
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
