/*! Document frequencies of shingles: the number of texts that contain each shingle.

A shingle that hundreds of texts contain is boilerplate; one that only two contain is
content. Telling them apart takes document frequencies, and counting all shingles
would take more memory than the texts. So only a sample of the shingles is counted,
chosen by their hashes and therefore the same in every text.

**The sample of a text.** A shingle is *of level l* if the leading l bits of its
hash are zero, which is true of one in 2^l. A text of n distinct shingles is counted
at the largest level l with n / 2^l >= [`SAMPLE`], so with 128 to 255 shingles on
average; a text with fewer shingles is counted in full. In sorted order a sample is a
prefix of the set.

**The bound.** The table has a level too, initially 0. Whenever it would hold more
shingles than its budget, its level rises by one and shingles not of that level are
dropped. The whole set of texts needs at least the level that any part of it needs, so
the final content of the table depends only on the set of texts, not on their order or
on how the work was divided.

Memory: 20 to 40 bytes per counted shingle, since the parts double when they are full.
*/

use std::collections::HashMap;

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::sketch::{Share, shingle_hashes_in};

/// The minimum size of a text's sample, on average. Texts with fewer shingles are counted in
/// full.
pub const SAMPLE: usize = 128;

/// The maximum number of shingles in a table, by default.
pub const DEFAULT_ENTRIES: usize = 6_000_000;

/// In a small collection, a shingle is rare if at most this many texts contain it.
pub const RARE: u32 = 4;

/// In a collection of n texts, a shingle is rare if at most sqrt(n / `SQUARE`) texts contain it.
const SQUARE: u64 = 1600;

/// Parts of the table, which threads fill in parallel.
///
/// A part of a large table takes a quarter of a megabyte to a few megabytes, so it also fits
/// into the cache of one core while it is filled.
const PARTS: usize = 64;

/// Sampled shingles added between checks of the budget: a table may temporarily exceed its
/// budget by this many.
const TOGETHER: usize = 1 << 20;

/// The number of texts that contain each sampled shingle of a collection.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::{ShingleFrequencies, Shingles};
///
/// let sets = ["abcd", "bcde", "cdef"].map(|text| Shingles::of(text, 2));
/// let mut common = ShingleFrequencies::default();
/// common.add(&sets.each_ref().map(Shingles::hashes));
/// let cd = Shingles::of("cd", 2);
/// assert_eq!(common.count(cd.hashes()[0]), 3);
/// ```
#[derive(Clone, Debug)]
pub struct ShingleFrequencies {
    parts: Vec<HashMap<u64, u32, FxBuildHasher>>,
    level: u32,
    entries: usize,
    texts: u64,
}

impl Default for ShingleFrequencies {
    fn default() -> Self {
        ShingleFrequencies::new(DEFAULT_ENTRIES)
    }
}

impl ShingleFrequencies {
    /// An empty table that holds at most `entries` shingles.
    pub fn new(entries: usize) -> Self {
        ShingleFrequencies {
            parts: vec![HashMap::default(); PARTS],
            level: 0,
            entries,
            texts: 0,
        }
    }

    /// Counts texts, each given by the hashes of its shingles in any order, with
    /// repeats allowed, as [`shingle_hashes`](crate::sketch::shingle_hashes) yields
    /// them. Callers should count a text only once, even if the collection has several copies.
    ///
    /// Runs on the current rayon pool.
    pub fn add<T: AsRef<[u64]> + Sync>(&mut self, texts: &[T]) {
        let level = self.level;
        let samples: Vec<Vec<u64>> = texts
            .par_iter()
            .with_min_len(16)
            .map_init(Vec::new, |scratch, text| {
                sample(text.as_ref(), level, scratch)
            })
            .collect();
        self.add_samples(&samples);
    }

    /// Counts texts by their samples, as [`sample`] returns them.
    ///
    /// For callers that hash one text at a time: a sample is a small part of the
    /// hashes. Runs on the current rayon pool.
    pub fn add_samples<T: AsRef<[u64]> + Sync>(&mut self, samples: &[T]) {
        let mut rest = samples;
        while !rest.is_empty() {
            let mut count = 0;
            let mut hashes = 0;
            while count < rest.len() && hashes < TOGETHER {
                hashes += rest[count].as_ref().len();
                count += 1;
            }
            let (now, later) = rest.split_at(count);
            self.take_in(now);
            while self.len() > self.entries && self.level < u64::BITS {
                self.raise_level();
            }
            rest = later;
        }
        self.texts += samples.len() as u64;
    }

    /// Restores a table from its level, its number of texts, and its shingles with
    /// their counts.
    pub fn from_counts(
        level: u32,
        texts: u64,
        counts: impl IntoIterator<Item = (u64, u32)>,
    ) -> Self {
        let mut table = ShingleFrequencies {
            level,
            texts,
            ..ShingleFrequencies::default()
        };
        let counts = counts.into_iter();
        // Hashes are spread evenly; a little more than the mean keeps most parts from growing.
        let each = counts.size_hint().0 / PARTS;
        for part in &mut table.parts {
            part.reserve(each + each / 8);
        }
        for (hash, count) in counts {
            table.parts[part(hash)].insert(hash, count);
        }
        table
    }

    /// Adds the counts of another table over other texts. The result is the same as adding those
    /// texts here.
    pub fn merge(&mut self, other: ShingleFrequencies) {
        if self.is_empty() && self.level <= other.level && other.len() <= self.entries {
            self.parts = other.parts;
            self.level = other.level;
            self.texts += other.texts;
            return;
        }
        while self.level < other.level {
            self.raise_level();
        }
        let level = self.level;
        let parts = self.parts.par_iter_mut().zip(other.parts);
        parts.for_each(|(own, others)| {
            for (hash, counted) in others.into_iter().filter(|&(hash, _)| is_of(level, hash)) {
                let count = own.entry(hash).or_insert(0);
                *count = count.saturating_add(counted);
            }
        });
        self.texts += other.texts;
        while self.len() > self.entries && self.level < u64::BITS {
            self.raise_level();
        }
    }

    /// All shingles of the table and their counts, sorted by hash.
    pub fn counts(&self) -> Vec<(u64, u32)> {
        let all = self.parts.iter().flatten();
        let mut counts: Vec<_> = all.map(|(&hash, &count)| (hash, count)).collect();
        counts.par_sort_unstable();
        counts
    }

    /// The shingles that affect comparisons, with their counts, sorted by hash. They are not rare,
    /// or may belong to a majority form.
    pub fn common(&self) -> Vec<(u64, u32)> {
        let least = self.least_common();
        let all = self.parts.iter().flatten();
        let mut common: Vec<_> = all
            .map(|(&hash, &count)| (hash, count))
            .filter(|&(_, count)| u64::from(count) >= least)
            .collect();
        common.par_sort_unstable();
        common
    }

    /// Drops all shingles but the [common](Self::common) ones. Comparisons find the same, in a table
    /// so much smaller that it stays in the cache. No further texts can be added.
    pub fn keep_common(&mut self) {
        let least = self.least_common();
        self.parts.par_iter_mut().for_each(|table| {
            table.retain(|_, &mut count| u64::from(count) >= least);
            table.shrink_to_fit();
        });
    }

    fn least_common(&self) -> u64 {
        // A shingle of the majority form has at least 4/5 of the median count of the common
        // shingles; see `weighed`.
        (4 * (u64::from(self.rare()) + 1)).div_ceil(5)
    }

    fn take_in<T: AsRef<[u64]> + Sync>(&mut self, samples: &[T]) {
        let level = self.level;
        // Two pieces per thread balance the load and still give long lists in
        // each piece.
        let piece = samples.len().div_ceil(2 * rayon::current_num_threads());
        let dealt: Vec<Vec<Vec<u64>>> = samples
            .par_chunks(piece.max(1))
            .map(|samples| {
                let mut dealt = vec![Vec::new(); PARTS];
                let hashes = samples.iter().flat_map(AsRef::as_ref).copied();
                for hash in hashes.filter(|&hash| is_of(level, hash)) {
                    dealt[part(hash)].push(hash);
                }
                dealt
            })
            .collect();
        self.parts
            .par_iter_mut()
            .enumerate()
            .for_each(|(at, table)| {
                for hash in dealt.iter().flat_map(|piece| &piece[at]) {
                    let count = table.entry(*hash).or_insert(0);
                    *count = count.saturating_add(1);
                }
            });
    }

    fn raise_level(&mut self) {
        self.level += 1;
        let level = self.level;
        self.parts.par_iter_mut().for_each(|table| {
            table.retain(|&hash, _| is_of(level, hash));
        });
    }

    /// The number of texts that contain a shingle: 0 if it is not of the table's
    /// level, or no text was counted by it.
    pub fn count(&self, hash: u64) -> u32 {
        self.parts[part(hash)].get(&hash).copied().unwrap_or(0)
    }

    /// The level of the table: it holds only shingles of this level. 0 until its budget is
    /// exceeded.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The number of shingles in the table.
    pub fn len(&self) -> usize {
        self.parts.iter().map(HashMap::len).sum()
    }

    /// True if no shingle was counted.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(HashMap::is_empty)
    }

    /// The largest number of texts that may contain a rare shingle.
    ///
    /// Common phrases of the language occur in more texts as a collection grows, while a form
    /// with a handful of copies does not. A limit that grows with the square root lies between
    /// the two.
    pub fn rare(&self) -> u32 {
        let root = (self.texts / SQUARE).isqrt();
        u32::try_from(root).unwrap_or(u32::MAX).max(RARE)
    }

    /// The number of texts counted.
    pub fn texts(&self) -> u64 {
        self.texts
    }
}

/// The sample by which a text is counted: its distinct shingles of the text's own level or of
/// `level`, whichever is higher. `level` may be 0 or that of the table.
///
/// `hashes` are the text's shingles in any order, repeats allowed; `scratch` is
/// reused for the next text. O(n) for n hashes.
pub fn sample(hashes: &[u64], level: u32, scratch: &mut Vec<u64>) -> Vec<u64> {
    let level = level_of(hashes, scratch).max(level);
    let mut seen = Seen::new(hashes.len(), scratch);
    let mut sample = Vec::with_capacity(2 * SAMPLE);
    for &hash in hashes.iter().filter(|&&hash| is_of(level, hash)) {
        if seen.is_new(hash) || !sample.contains(&hash) {
            sample.push(hash);
        }
    }
    sample
}

/// Like [`sample`], for hashes that are distinct.
pub fn sample_of_distinct(hashes: &[u64], level: u32) -> Vec<u64> {
    let level = text_level(hashes.len()).max(level);
    let chosen = hashes.iter().copied().filter(|&hash| is_of(level, hash));
    chosen.collect()
}

/// Like [`sample`], of the shingles of `k` characters of a long text. Memory is a share of its
/// hashes.
pub(crate) fn sample_of_long(text: &str, k: usize, level: u32, hashes: &mut Vec<u64>) -> Vec<u64> {
    let mut sample = Vec::new();
    let mut count = 0;
    for share in Share::all_of(text) {
        shingle_hashes_in(share, text, k, hashes);
        hashes.sort_unstable();
        hashes.dedup();
        count += hashes.len();
        // The level only rises.
        let level = text_level(count).max(level);
        sample.retain(|&hash| is_of(level, hash));
        sample.extend(hashes.iter().filter(|&&hash| is_of(level, hash)));
    }
    sample
}

/// The level of a text with these shingles, which may repeat.
fn level_of(hashes: &[u64], scratch: &mut Vec<u64>) -> u32 {
    let most = text_level(hashes.len());
    if most == 0 {
        return 0;
    }
    let mut seen = Seen::new(hashes.len(), scratch);
    let least = hashes
        .iter()
        .map(|&hash| usize::from(seen.is_new(hash)))
        .sum();
    if text_level(least) == most {
        return most;
    }
    // The two bounds differ, so the distinct shingles are counted exactly.
    scratch.clear();
    scratch.extend_from_slice(hashes);
    scratch.sort_unstable();
    scratch.dedup();
    text_level(scratch.len())
}

/// One bit for each hash, in a bit set so sparse that only about one new hash in a hundred
/// finds its bit already set.
struct Seen<'a> {
    bits: &'a mut [u64],
}

impl<'a> Seen<'a> {
    fn new(hashes: usize, scratch: &'a mut Vec<u64>) -> Self {
        scratch.clear();
        scratch.resize(hashes.max(1).next_power_of_two(), 0);
        Seen { bits: scratch }
    }

    /// Marks a hash. True only for a new hash; false also for a new hash whose bit is
    /// already set.
    fn is_new(&mut self, hash: u64) -> bool {
        // The leading bits of a hash decide its level, so only the trailing bits
        // distinguish hashes of one level.
        let word = &mut self.bits[(hash >> 6) as usize & (self.bits.len() - 1)];
        let bit = 1 << (hash & 63);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// The largest level at which a text with this many distinct shingles still has a sample of
/// [`SAMPLE`] on average; 0 if it has fewer shingles than that.
pub(super) fn text_level(shingles: usize) -> u32 {
    (shingles / SAMPLE).checked_ilog2().unwrap_or(0)
}

/// Whether a hash is of a level.
///
/// The leading bits decide, which leaves the trailing bits for choosing a place in a table.
/// All bits of XXH3 are equally well mixed.
pub(crate) fn is_of(level: u32, hash: u64) -> bool {
    hash <= u64::MAX.checked_shr(level).unwrap_or(0)
}

fn part(hash: u64) -> usize {
    hash as usize % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use xxhash_rust::xxh3::xxh3_64;

    fn hash(number: u64) -> u64 {
        xxh3_64(&number.to_le_bytes())
    }

    /// Texts of 50 to 700 shingles, some shared, some repeated within a text.
    fn texts(count: u64) -> Vec<Vec<u64>> {
        let text = |id: u64| {
            let own = (0..50 + id * 37 % 650).map(move |at| hash((id << 32) + at * 9 / 10));
            own.chain((0..id % 40).map(hash)).collect()
        };
        (0..count).map(text).collect()
    }

    fn contents(table: &ShingleFrequencies) -> BTreeMap<u64, u32> {
        let all = table.parts.iter().flatten();
        all.map(|(&hash, &count)| (hash, count)).collect()
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
    fn a_sample_is_the_beginning_of_the_sorted_set() {
        let mut scratch = Vec::new();
        for text in texts(60) {
            let mut set = text.clone();
            set.sort_unstable();
            set.dedup();
            for level in [0, 2, 5] {
                let level_of_both = text_level(set.len()).max(level);
                let end = set.partition_point(|&hash| is_of(level_of_both, hash));
                let mut sample = sample(&text, level, &mut scratch);
                sample.sort_unstable();
                assert_eq!(sample, set[..end]);
            }
        }
    }

    #[test]
    fn a_long_text_has_the_same_sample_from_several_passes() {
        let mut text: String = (0..600_000)
            .map(|at| format!("{} ", at % 500_000))
            .collect();
        text.push_str(&"a".repeat(1 << 20));
        let (mut hashes, mut scratch) = (Vec::new(), Vec::new());
        crate::sketch::shingle_hashes(&text, 8, &mut hashes);
        let mut expected = sample(&hashes, 3, &mut scratch);
        hashes = Vec::new();
        let mut made = sample_of_long(&text, 8, 3, &mut hashes);
        assert!(hashes.capacity() < text.len() / 2, "{}", hashes.capacity());
        expected.sort_unstable();
        made.sort_unstable();
        assert_eq!(made, expected);
    }

    #[test]
    fn repeats_do_not_make_a_text_longer() {
        let mut text: Vec<u64> = (0..255).map(hash).collect();
        text.extend_from_within(..200);
        assert_eq!(sample(&text, 0, &mut Vec::new()).len(), 255);
        text.push(0);
        let half = sample(&text, 0, &mut Vec::new());
        assert!(half.len() < 200 && half.contains(&0));
    }

    #[test]
    fn what_is_rare_grows_with_the_root_of_the_collection() {
        let of = |texts| {
            let mut table = ShingleFrequencies::new(16);
            table.texts = texts;
            table.rare()
        };
        let sizes = [0, 1, 39_999, 40_000, 57_599, 57_600, 1_000_000];
        assert_eq!(sizes.map(of), [4, 4, 4, 5, 5, 6, 25]);
    }

    #[test]
    fn counts_are_numbers_of_texts() {
        let mut table = ShingleFrequencies::default();
        let shared = hash(1);
        let lists: Vec<Vec<u64>> = (0..9)
            .map(|id| vec![shared, hash(100 + id), shared])
            .collect();
        table.add(&lists);
        assert_eq!(table.count(shared), 9);
        assert_eq!(table.count(hash(100)), 1);
        assert_eq!(table.count(hash(2)), 0);
        assert_eq!((table.len(), table.level(), table.texts()), (10, 0, 9));
    }

    #[test]
    fn order_and_batches_change_nothing() {
        let texts = texts(300);
        for entries in [1_000_000, 5000, 300, 1, 0] {
            let mut once = ShingleFrequencies::new(entries);
            once.add(&texts);
            assert!(once.len() <= entries);
            let mut backwards: Vec<_> = texts.clone();
            backwards.reverse();
            for size in [1, 7, 100] {
                let mut pieces = ShingleFrequencies::new(entries);
                backwards.chunks(size).for_each(|piece| pieces.add(piece));
                assert_eq!(pieces.level(), once.level());
                assert_eq!(contents(&pieces), contents(&once));
            }
        }
    }

    #[test]
    fn tables_of_parts_make_the_table_of_all() {
        let texts = texts(300);
        for entries in [1_000_000, 5000, 300, 1] {
            let mut once = ShingleFrequencies::new(entries);
            once.add(&texts);
            for size in [1, 7, 100] {
                let mut merged = ShingleFrequencies::new(entries);
                for piece in texts.chunks(size).rev() {
                    let mut part = ShingleFrequencies::new(entries);
                    part.add(piece);
                    merged.merge(part);
                }
                assert_eq!(merged.level(), once.level());
                assert_eq!(merged.texts(), once.texts());
                assert_eq!(contents(&merged), contents(&once));
            }
        }
    }

    #[test]
    fn common_shingles_keep_their_counts() {
        let mut table = ShingleFrequencies::default();
        let lists: Vec<Vec<u64>> = (0..9).map(|id| (0..=id).map(hash).collect()).collect();
        table.add(&lists);
        let common = table.common();
        table.keep_common();
        // Shingle n is in 9 - n texts, and up to RARE of them are few.
        assert_eq!(common.len(), 6);
        assert_eq!(table.common(), common);
        assert_eq!((table.len(), table.texts()), (6, 9));
        assert_eq!((table.count(hash(5)), table.count(hash(6))), (4, 0));
    }

    #[test]
    fn a_table_at_its_budget_keeps_its_level() {
        let texts: Vec<Vec<u64>> = (0..40).map(|id| vec![hash(id)]).collect();
        let level_of = |entries| {
            let mut table = ShingleFrequencies::new(entries);
            table.add(&texts);
            table.level()
        };
        assert_eq!(level_of(40), 0);
        assert_eq!(level_of(39), 1);
    }
}
