/*! Samples: a share of the features themselves, chosen alike in every document.

A document keeps a feature if some bits of its hash are zero, so two documents
keep the same ones of the features they share, and what they share of their
samples estimates what they share at all (Manber, *Finding similar files in a
large file system*, USENIX 1994, calls it fingerprints modulo m). How many bits
must be zero follows from the document's size: it keeps one feature in `rate`,
the largest power of two that leaves as many as wanted. Short documents so keep
all, long ones twice the wanted size at most, and two documents of different rates
still share what the larger rate keeps.

A key is the low half of a feature's XXH3, the upper half chooses. Two features of
a pair have the same key by chance once in four million pairs of samples of 32.
*/

/// The low bits of a hash that make a key.
const KEY_BITS: u32 = 32;

/// The largest rate, as a power of two.
const MAX_RATE_BITS: u32 = 31;

/// Makes the sample of a document; reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    hashes: Vec<u64>,
}

impl Sampler {
    /// Forgets the document before.
    pub fn begin(&mut self) {
        self.hashes.clear();
    }

    /// Adds a feature by its hash; each feature once.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        self.hashes.push(hash);
    }

    /// All features since [`begin`](Self::begin).
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Writes the sample, ascending and without repetition, and returns its rate.
    ///
    /// `size` is the number of features wanted at least, where there are so many;
    /// 0 keeps them all.
    pub fn finish(&self, size: u32, keys: &mut Vec<u32>) -> u32 {
        let rate = rate(self.hashes.len(), size);
        keys.clear();
        let chosen = self.hashes.iter().filter(|&&hash| is_chosen(hash, rate));
        keys.extend(chosen.map(|&hash| hash as u32));
        keys.sort_unstable();
        keys.dedup();
        rate
    }
}

/// The largest power of two that leaves `size` of so many features.
fn rate(features: usize, size: u32) -> u32 {
    match features.checked_div(size as usize) {
        None | Some(0) => 1,
        Some(share) => 1 << share.ilog2().min(MAX_RATE_BITS),
    }
}

/// Whether a sample of this rate keeps a feature.
#[inline]
fn is_chosen(hash: u64, rate: u32) -> bool {
    (hash >> KEY_BITS) as u32 & (rate - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn sample(features: std::ops::Range<u32>, size: u32) -> (Vec<u32>, u32) {
        let mut sampler = Sampler::default();
        let mut keys = Vec::new();
        for feature in features {
            sampler.add(xxh3_64(&feature.to_le_bytes()));
        }
        let rate = sampler.finish(size, &mut keys);
        (keys, rate)
    }

    #[test]
    fn the_rate_doubles_with_the_size() {
        let rates = [0, 1, 31, 32, 63, 64, 127, 128].map(|features| rate(features, 32));
        assert_eq!(rates, [1, 1, 1, 1, 1, 2, 2, 4]);
        assert_eq!(rate(1_000_000, 0), 1);
        assert_eq!(rate(usize::MAX, 1), 1 << MAX_RATE_BITS);
    }

    #[test]
    fn short_documents_keep_all_and_long_ones_about_as_many_as_wanted() {
        assert_eq!(sample(0..50, 32).0.len(), 50);
        assert_eq!(sample(0..10_000, 0).0.len(), 10_000);
        for features in [1_000, 10_000, 100_000] {
            let (keys, _) = sample(0..features, 32);
            assert!((16..=96).contains(&keys.len()), "{}", keys.len());
        }
    }

    #[test]
    fn documents_choose_alike() {
        let (small, _) = sample(0..1_000, 32);
        let (large, rate) = sample(0..8_000, 32);
        let shared = small.iter().filter(|key| large.binary_search(key).is_ok());
        let chosen = (0..1_000_u32).filter(|f| is_chosen(xxh3_64(&f.to_le_bytes()), rate));
        assert_eq!(shared.count(), chosen.count());
    }
}
