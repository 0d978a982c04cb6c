/*! Samples: a share of the features themselves, chosen in the same way in every document.

A feature is *of level l* if the leading l bits of its XXH3 are zero, which is true of one in 2^l. A
document keeps the features of the largest level that leaves at least the wanted number of them. So two
documents keep the same ones of their shared features, and the overlap of the samples estimates the
overlap of the documents (Broder, *On the resemblance and containment of documents*, 1997; Manber,
*Finding similar files in a large file system*, USENIX 1994). Short documents keep all features, and
long ones at most about twice the wanted number. If two documents have different levels, what is of the
higher one is again a sample of its document.

The key of a feature is the leading half of its hash, and the *rate* of a sample is 2^l: its keys are
below 2^32 / rate. Two features of a pair have the same key by chance once in four million pairs of
short documents, and more often at higher rates. So the rate is limited, and documents of more than
[`MAX_RATE`] times the wanted size keep more keys.
*/

use crate::buckets::sorted;

/// The largest rate; its keys still have 20 random bits.
const MAX_RATE: u32 = 1 << 12;

/// Makes the sample of a document from its distinct features, which may come in several parts.
///
/// `size` is the wanted minimum number of features; a document with fewer features keeps all of
/// them. 0 keeps all features of every document.
pub(crate) struct Sampler<'k> {
    size: u32,
    features: usize,
    keys: &'k mut Vec<u32>,
}

impl<'k> Sampler<'k> {
    /// Begins a sample, which replaces `keys`.
    pub(crate) fn new(size: u32, keys: &'k mut Vec<u32>) -> Self {
        keys.clear();
        Sampler {
            size,
            features: 0,
            keys,
        }
    }

    /// Adds features, given by their hashes.
    pub(crate) fn add(&mut self, features: &[u64]) {
        self.features += features.len();
        // The rate only grows, so that nothing left out now would be kept later.
        let rate = rate(self.features, self.size);
        let is_kept = |&key: &u32| is_kept(key, rate);
        self.keys.retain(is_kept);
        let all = features.iter().map(|&hash| (hash >> 32) as u32);
        self.keys.extend(all.filter(is_kept));
    }

    /// Returns the rate of the sample, which is ascending and without repeats.
    pub(crate) fn finish(self) -> u32 {
        let rate = rate(self.features, self.size);
        // Keys are below 2^32 / rate.
        *self.keys = sorted(self.keys, |key| (u64::from(key) * u64::from(rate)) << 32);
        self.keys.dedup();
        rate
    }
}

/// The largest rate, a power of two, that leaves `size` of `features` features on average.
fn rate(features: usize, size: u32) -> u32 {
    match size {
        0 => 1,
        size => 1 << level_of(features, size as usize).min(MAX_RATE.ilog2()),
    }
}

/// The largest level of which a text has `size` features on average; 0 if it has fewer in all.
pub(crate) fn level_of(features: usize, size: usize) -> u32 {
    (features / size).checked_ilog2().unwrap_or(0)
}

/// Whether a hash is of a level.
///
/// The leading bits decide, which leaves the trailing bits for choosing a place in a table.
/// All bits of XXH3 are equally well mixed.
#[inline]
pub(crate) fn is_of(level: u32, hash: u64) -> bool {
    hash <= u64::MAX.checked_shr(level).unwrap_or(0)
}

/// Whether a sample of this rate keeps a key.
#[inline]
pub fn is_kept(key: u32, rate: u32) -> bool {
    key <= u32::MAX / rate
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn sample(features: std::ops::Range<u32>, size: u32) -> (Vec<u32>, u32) {
        let hashes: Vec<u64> = features
            .map(|feature| xxh3_64(&feature.to_le_bytes()))
            .collect();
        let mut keys = Vec::new();
        let mut sampler = Sampler::new(size, &mut keys);
        hashes.chunks(1000).for_each(|part| sampler.add(part));
        let rate = sampler.finish();
        (keys, rate)
    }

    #[test]
    fn the_rate_doubles_with_the_size() {
        let rates = [0, 1, 31, 32, 63, 64, 127, 128].map(|features| rate(features, 32));
        assert_eq!(rates, [1, 1, 1, 1, 1, 2, 2, 4]);
        assert_eq!(rate(1_000_000, 0), 1);
        assert_eq!(rate(usize::MAX, 1), MAX_RATE);
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
    fn the_smaller_rate_keeps_all_that_the_larger_keeps() {
        let (small, _) = sample(0..1_000, 32);
        let (large, rate) = sample(0..8_000, 32);
        let shared: Vec<u32> = small
            .iter()
            .copied()
            .filter(|key| large.binary_search(key).is_ok())
            .collect();
        let cut: Vec<u32> = small
            .into_iter()
            .filter(|&key| is_kept(key, rate))
            .collect();
        assert_eq!(shared, cut);
    }

    #[test]
    fn the_rate_is_bounded() {
        let features = 32 * MAX_RATE * 4;
        let (keys, rate) = sample(0..features, 32);
        assert_eq!(rate, MAX_RATE);
        assert!((100..200).contains(&keys.len()), "{}", keys.len());
    }
}
