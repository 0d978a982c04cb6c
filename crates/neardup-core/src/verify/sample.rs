/*! The sample of a text: a share of its shingles, chosen by their hashes and therefore the same in
every text.

The sample of a text of n distinct shingles has those of the largest [level](crate::sketch) l with
n / 2^l >= [`SAMPLE`]: 128 to 255 shingles on average, and all of a text with fewer. In sorted order a
sample is a prefix of the set, and that of a higher level a prefix of the sample; the keys by which
such documents are searched are its beginning too.
*/

use std::sync::OnceLock;

use super::shingle_frequencies::ShingleFrequencies;
use super::weighed::Sampled;
use crate::buckets::sorted;
use crate::bytes::Bytes;
use crate::error::Result;
use crate::sketch::{Distinct, Share, is_of, level_of, shingle_hashes_in};

/// The minimum size of a text's sample, on average.
pub const SAMPLE: usize = 128;

/// The sampled shingles of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Ascending.
    hashes: Box<[u64]>,
    /// How many texts carry each of them, at most 65,535; looked up for the first comparison.
    counts: OnceLock<Box<[u16]>>,
    level: u32,
    /// Distinct shingles of the text.
    shingles: usize,
}

impl Sample {
    /// The sample of a text with these distinct shingles, in any order, at its own level or at
    /// `level`, whichever is higher. O(n) for n shingles.
    pub fn of_distinct(shingles: &[u64], level: u32) -> Self {
        let level = text_level(shingles.len()).max(level);
        let chosen = || shingles.iter().filter(|&&hash| is_of(level, hash));
        // Counted first: a list that grows would take its room several times.
        let mut hashes = Vec::with_capacity(chosen().count());
        hashes.extend(chosen());
        Sample::new(hashes, level, shingles.len())
    }

    /// Comparison [`of_distinct`](Self::of_distinct), of shingles that may repeat; repeats are dropped
    /// from `hashes`.
    pub(crate) fn of(hashes: &mut Vec<u64>, level: u32, distinct: &mut Distinct) -> Self {
        distinct.clear(hashes.len());
        hashes.retain(|&hash| distinct.insert(hash));
        Sample::of_distinct(hashes, level)
    }

    /// Comparison [`of_distinct`](Self::of_distinct), of the shingles of `k` characters of a long text.
    /// Memory is a share of its hashes.
    pub(crate) fn of_long(text: &str, k: usize, level: u32, hashes: &mut Vec<u64>) -> Self {
        let (mut sample, mut own, mut count) = (Vec::new(), level, 0);
        for share in Share::all_of(text) {
            shingle_hashes_in(share, text, k, hashes);
            hashes.sort_unstable();
            hashes.dedup();
            count += hashes.len();
            // The level only rises.
            own = text_level(count).max(level);
            sample.retain(|&hash| is_of(own, hash));
            sample.extend(hashes.iter().filter(|&&hash| is_of(own, hash)));
        }
        Sample::new(sample, own, count)
    }

    fn new(hashes: Vec<u64>, level: u32, shingles: usize) -> Self {
        let spread = |hash: u64| hash.checked_shl(level).unwrap_or(0);
        Sample {
            hashes: sorted(&hashes, spread).into_boxed_slice(),
            counts: OnceLock::new(),
            level,
            shingles,
        }
    }

    /// The shingles of a level, of a whole set as sorted hashes.
    pub(super) fn of_set(set: &[u64], level: u32) -> Self {
        Sample {
            hashes: of_level(set, level).into(),
            counts: OnceLock::new(),
            level,
            shingles: set.len(),
        }
    }

    /// The hashes of a level, ascending.
    pub(super) fn of_level(&self, level: u32) -> &[u64] {
        of_level(&self.hashes, level)
    }

    /// The hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// One in 2^level shingles of the text is in the sample.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The number of distinct shingles of the text.
    pub(super) fn shingles(&self) -> usize {
        self.shingles
    }

    /// Bytes that it takes, with counts.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + 10 * self.hashes.len()
    }

    /// Leaves out the shingles below a level.
    pub fn raise_level(&mut self, level: u32) {
        if level > self.level {
            let shingles = self.shingles;
            *self = Sample::of_set(&self.hashes, level);
            self.shingles = shingles;
        }
    }

    /// Whether it has all that comparisons look at in a collection counted at a level.
    pub(super) fn is_complete(&self, level: u32) -> bool {
        self.level <= text_level(self.shingles).max(level)
    }

    /// Appends the sample, or its shingles of a higher `level`, as little-endian bytes: 4 for the level,
    /// 8 for the distinct shingles of the text, 4 for the hashes, and 8 for each, ascending.
    pub(super) fn write(&self, level: u32, bytes: &mut Vec<u8>) {
        let level = level.max(self.level);
        let hashes = self.of_level(level);
        bytes.extend(level.to_le_bytes());
        bytes.extend((self.shingles as u64).to_le_bytes());
        bytes.extend((hashes.len() as u32).to_le_bytes());
        bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(rest: &mut Bytes<'_>) -> Result<Self> {
        let (level, shingles, count) = (rest.u32()?, rest.u64()?, rest.u32()?);
        let hashes = rest.items(count as usize, u64::from_le_bytes)?;
        let is_ascending = hashes.is_sorted_by(|a, b| a < b);
        let is_sampled = level <= u64::BITS && hashes.last().is_none_or(|&last| is_of(level, last));
        if !is_ascending || !is_sampled || u64::from(count) > shingles {
            return Err(rest.damaged(format!("{count} hashes of level {level}")));
        }
        Ok(Sample {
            hashes: hashes.into_boxed_slice(),
            counts: OnceLock::new(),
            level,
            shingles: usize::try_from(shingles).unwrap_or(usize::MAX),
        })
    }

    /// Looks up how many texts carry each shingle, unless that was done. The table is that of the
    /// collection, of a level at most that of the sample.
    pub(super) fn look_up(&self, table: &ShingleFrequencies) {
        self.counts.get_or_init(|| {
            let counts = self.hashes.iter().map(|&hash| table.count(hash));
            let counts = counts.map(|count| u16::try_from(count).unwrap_or(u16::MAX));
            counts.collect()
        });
    }

    /// What is of a level, at least that of the sample, and was looked up in a table of which
    /// shingles in `rare` texts are rare.
    pub(super) fn at_level(&self, level: u32, rare: u32) -> Sampled<'_> {
        let counts = self.counts.get().map_or(&[][..], AsRef::as_ref);
        let hashes = of_level(&self.hashes[..counts.len()], level);
        Sampled {
            hashes,
            counts: &counts[..hashes.len()],
            rare,
        }
    }
}

/// The leading hashes of a sorted set that are of a level.
fn of_level(hashes: &[u64], level: u32) -> &[u64] {
    &hashes[..hashes.partition_point(|&hash| is_of(level, hash))]
}

/// The largest level at which a text with this many distinct shingles still has a sample of
/// [`SAMPLE`] on average; 0 if it has fewer shingles than that.
pub(super) fn text_level(shingles: usize) -> u32 {
    level_of(shingles, SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn hashes(numbers: std::ops::Range<u64>) -> Vec<u64> {
        numbers
            .map(|number| xxh3_64(&number.to_le_bytes()))
            .collect()
    }

    #[test]
    fn the_level_of_a_text_goes_up_where_its_size_doubles() {
        for (shingles, expected) in [
            (0, 0),
            (127, 0),
            (255, 0),
            (256, 1),
            (511, 1),
            (512, 2),
            (128 << 9, 9),
            ((128 << 9) - 1, 8),
        ] {
            assert_eq!(text_level(shingles), expected, "{shingles}");
        }
    }

    #[test]
    fn a_sample_is_the_beginning_of_the_sorted_set_without_repeats() {
        for size in [0, 1, 127, 255, 256, 700, 5000] {
            let mut text = hashes(0..size);
            let mut set = text.clone();
            set.sort_unstable();
            text.extend_from_within(..text.len() / 2);
            for level in [0, 2, 5, 64] {
                let of_both = text_level(set.len()).max(level);
                let expected = Sample::of_set(&set, of_both);
                let mut text = text.clone();
                let made = Sample::of(&mut text, level, &mut Distinct::default());
                assert_eq!(made, expected);
                let mut raised = Sample::of_distinct(&text, 0);
                raised.raise_level(level);
                assert_eq!(raised, expected);
            }
        }
    }

    #[test]
    fn a_long_text_has_the_same_sample_from_several_passes() {
        let mut text: String = (0..600_000)
            .map(|at| format!("{} ", at % 500_000))
            .collect();
        text.push_str(&"a".repeat(1 << 20));
        let mut hashes = Vec::new();
        crate::sketch::shingle_hashes(&text, 8, &mut hashes);
        let expected = Sample::of(&mut hashes, 3, &mut Distinct::default());
        hashes = Vec::new();
        let made = Sample::of_long(&text, 8, 3, &mut hashes);
        assert!(hashes.capacity() < text.len() / 2, "{}", hashes.capacity());
        assert_eq!(made, expected);
    }
}
