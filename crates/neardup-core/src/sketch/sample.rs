/*! Samples: a share of the features themselves, chosen in the same way in every document.

A feature is *of level l* if the leading l bits of its XXH3 are zero, which is true of one in 2^l. A
document keeps the features of the largest level that leaves at least the wanted number of them. So two
documents keep the same ones of their shared features, and the overlap of the samples estimates the
overlap of the documents (Broder, *On the resemblance and containment of documents*, 1997; Manber,
*Finding similar files in a large file system*, USENIX 1994). Short documents keep all features, and
long ones at most about twice the wanted number. If two documents have different levels, what is of the
higher one is again a sample of its document.

In sorted order a sample is the beginning of the set of all features, and a smaller sample the
beginning of a larger one: the keys by which a document is searched are the beginning of the sample by
which it is compared, so both are selected and sorted once. The wanted size of the sample by which it is
compared is [`SAMPLE`](crate::constants::SAMPLE); a recipe sets the number of keys.

A feature is held as the leading half of its hash, 32 bits. Two features of two texts of 200 are then
equal by chance in one pair of texts in 100,000, and more often at higher levels: at the highest in one
pair in 25, one feature of 200. So the level is limited, and documents of more than 2^[`MAX_LEVEL`]
times the wanted size keep more features.
*/

use crate::buckets::sorted;
use crate::ids::Hash;

/// The highest level of a document; its features still have 20 random bits.
const MAX_LEVEL: u32 = 12;

/// Makes the sample of a document from its distinct features, which may come in several parts.
///
/// `size` is the wanted minimum number of features; a document with fewer features keeps all of
/// them. 0 keeps all features of every document.
pub(crate) struct Sampler<'h> {
    size: usize,
    features: usize,
    hashes: &'h mut Vec<Hash>,
}

impl<'h> Sampler<'h> {
    /// Begins a sample, which replaces `hashes`.
    pub(crate) fn new(size: usize, hashes: &'h mut Vec<Hash>) -> Self {
        hashes.clear();
        Sampler {
            size,
            features: 0,
            hashes,
        }
    }

    /// Adds features, given by their hashes.
    pub(crate) fn add(&mut self, features: &[u64]) {
        let before = level_of(self.features, self.size);
        self.features += features.len();
        // The level only rises, so that nothing left out now would be kept later.
        let level = level_of(self.features, self.size);
        if level > before {
            self.hashes.retain(|hash| hash.is_of(level));
        }
        let mut end = self.hashes.len();
        self.hashes.resize(end + features.len(), Hash(0));
        // Written in any case: which ones are kept, no processor could foresee.
        for &hash in features {
            let hash = Hash::of(hash);
            self.hashes[end] = hash;
            end += usize::from(hash.is_of(level));
        }
        self.hashes.truncate(end);
    }

    /// Ends the sample, which is ascending and without repeats. Returns the number of features.
    pub(crate) fn finish(self) -> usize {
        let level = level_of(self.features, self.size);
        *self.hashes = sorted(self.hashes, |Hash(hash)| (u64::from(hash) << 32) << level);
        self.hashes.dedup();
        self.features
    }
}

/// The largest level at which a document with this many features keeps `size` of them on average; 0
/// if it has fewer in all, or `size` is 0.
pub(crate) fn level_of(features: usize, size: usize) -> u32 {
    let times = features.checked_div(size).unwrap_or(0);
    times.checked_ilog2().unwrap_or(0).min(MAX_LEVEL)
}

impl Hash {
    /// The half of the XXH3 of a feature by which samples hold it.
    #[inline]
    pub(crate) fn of(feature: u64) -> Self {
        Hash((feature >> 32) as u32)
    }

    /// Whether the feature is of a level.
    ///
    /// The leading bits decide, which leaves the trailing bits for choosing a place in a table.
    /// All bits of XXH3 are equally well mixed.
    #[inline]
    pub(crate) fn is_of(self, level: u32) -> bool {
        self.0 <= u32::MAX.checked_shr(level).unwrap_or(0)
    }

    /// The leading ones of ascending hashes that are of a level.
    #[inline]
    pub(crate) fn of_level(level: u32, hashes: &[Hash]) -> &[Hash] {
        match hashes.last() {
            Some(last) if !last.is_of(level) => {
                &hashes[..hashes.partition_point(|hash| hash.is_of(level))]
            }
            _ => hashes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn sample(features: std::ops::Range<u32>, size: usize) -> (Vec<Hash>, u32) {
        let hashes: Vec<u64> = features
            .map(|feature| xxh3_64(&feature.to_le_bytes()))
            .collect();
        let mut keys = Vec::new();
        let mut sampler = Sampler::new(size, &mut keys);
        hashes.chunks(1000).for_each(|part| sampler.add(part));
        let features = sampler.finish();
        assert_eq!(features, hashes.len());
        (keys, level_of(features, size))
    }

    #[test]
    fn the_level_rises_where_the_size_doubles() {
        let levels = [0, 1, 31, 32, 63, 64, 127, 128].map(|features| level_of(features, 32));
        assert_eq!(levels, [0, 0, 0, 0, 0, 1, 1, 2]);
        assert_eq!(level_of(1_000_000, 0), 0);
        assert_eq!(level_of(usize::MAX, 1), MAX_LEVEL);
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
    fn a_smaller_sample_is_the_beginning_of_a_larger_one() {
        for features in [20, 100, 1_000, 10_000] {
            let (small, level) = sample(0..features, 32);
            let (large, _) = sample(0..features, 128);
            assert_eq!(Hash::of_level(level, &large), small);
        }
    }

    #[test]
    fn lower_level_keeps_all_of_the_higher() {
        let (small, _) = sample(0..1_000, 32);
        let (large, level) = sample(0..8_000, 32);
        let shared: Vec<Hash> = small
            .iter()
            .copied()
            .filter(|key| large.binary_search(key).is_ok())
            .collect();
        assert_eq!(shared, Hash::of_level(level, &small));
    }

    #[test]
    fn the_level_is_bounded() {
        let features = 32 * (4 << MAX_LEVEL);
        let (keys, level) = sample(0..features, 32);
        assert_eq!(level, MAX_LEVEL);
        assert!((100..200).contains(&keys.len()), "{}", keys.len());
    }
}
