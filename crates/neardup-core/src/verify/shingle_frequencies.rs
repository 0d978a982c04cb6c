/*! Document frequencies of shingles: the number of texts that contain each shingle.

A shingle that hundreds of texts contain is boilerplate; one that only two contain is
content. Telling them apart takes document frequencies, and counting all shingles
would take more memory than the texts. So only a sample of the shingles is counted,
chosen by their hashes and therefore the same in every text.

A text is counted by its [sample](super::sample), a share of its shingles.

**The bound.** The table has a level too, initially 0. Whenever it would hold more
shingles than its budget, its level rises by one and shingles not of that level are
dropped. The whole set of texts needs at least the level that any part of it needs, so
the final content of the table depends only on the set of texts, not on their order or
on how the work was divided.

Samples are dealt into parts by their leading bits, so small that a part is counted in the cache of
one core. Memory: 12 bytes per counted shingle.
*/

use std::borrow::Borrow;
use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::sample::Sample;
use crate::buckets::{deal, gathered};
use crate::sketch::is_of;

/// The maximum number of shingles in a table, by default.
pub const DEFAULT_ENTRIES: usize = 6_000_000;

/// In a small collection, a shingle is rare if at most this many texts contain it.
pub const RARE: u32 = 4;

/// In a collection of n texts, a shingle is rare if at most sqrt(n / `TEXTS_PER_RARE`) texts
/// contain it.
const TEXTS_PER_RARE: u64 = 1600;

/// The number of bits of a hash that choose its part. They follow the bits that the level fixes.
const PART_BITS: u32 = 10;

/// Bits of the filter for each shingle.
const FILTER_BITS: usize = 16;

/// Sampled shingles dealt out at once, about. Tests have several stretches too.
const STRETCH: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The levels of a hash: the numbers of its leading zeros.
const LEVELS: usize = u64::BITS as usize + 1;

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
    parts: Vec<Part>,
    /// A bit for some of the trailing bits of a hash, set if a counted shingle has these; empty
    /// while counts change. Nearly all look-ups of rare shingles end here, in the cache.
    filter: Vec<u64>,
    level: u32,
    entries: usize,
    texts: u64,
}

/// The counts of the hashes with some leading bits, ascending.
#[derive(Clone, Debug, Default)]
struct Part {
    hashes: Vec<u64>,
    counts: Vec<u32>,
    /// Where the hashes with some further bits begin, followed by the end; empty while counts
    /// change, when look-ups are rare.
    starts: Vec<u32>,
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
            parts: vec![Part::default(); 1 << PART_BITS],
            filter: Vec::new(),
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
        let samples: Vec<Sample> = texts
            .par_iter()
            .with_min_len(16)
            .map_init(
                Default::default,
                |(hashes, distinct): &mut (Vec<u64>, _), text| {
                    text.as_ref().clone_into(hashes);
                    Sample::of(hashes, level, distinct)
                },
            )
            .collect();
        self.add_samples(&samples);
    }

    /// Counts texts by their [samples](Sample), for callers that hash one text at a time. Few texts
    /// at once cost as much as merging the whole table. Runs on the current rayon pool.
    pub fn add_samples<S: Borrow<Sample> + Sync>(&mut self, samples: &[S]) {
        self.merge_samples(samples, 0);
        self.shrink();
    }

    /// Counts the last texts, and drops all shingles but the [common](Self::common) ones.
    /// Comparisons find the same, in a table so much smaller that it stays in the cache. No further
    /// texts can be added.
    pub fn finish<S: Borrow<Sample> + Sync>(&mut self, samples: &[S]) {
        let texts = self.texts + samples.len() as u64;
        let distinct = self.merge_samples(samples, least_common(rare(texts)));
        // The level is that of all shingles, of which most are dropped already.
        while distinct[self.level as usize..].iter().sum::<usize>() > self.entries
            && self.level < u64::BITS
        {
            self.raise_level();
        }
        self.index();
    }

    /// Restores a table from its level, its number of texts, and its shingles with their counts.
    /// Shingles below the level are left out.
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
        let mut counts: Vec<_> = counts.into_iter().collect();
        // Stored counts are sorted, which costs nothing here.
        counts.sort_unstable();
        counts.dedup_by_key(|&mut (hash, _)| hash);
        for (hash, count) in counts.into_iter().filter(|&(hash, _)| is_of(level, hash)) {
            let part = &mut table.parts[part_of(hash, level)];
            part.hashes.push(hash);
            part.counts.push(count);
        }
        table.index();
        table
    }

    /// Adds the counts of another table over other texts. The result is the same as adding those
    /// texts here.
    pub fn merge(&mut self, mut other: ShingleFrequencies) {
        self.filter.clear();
        while self.level < other.level {
            self.raise_level();
        }
        while other.level < self.level {
            other.raise_level();
        }
        let parts = self.parts.par_iter_mut().zip(other.parts);
        parts.for_each(|(own, others)| {
            own.add(others.hashes.into_iter().zip(others.counts), 0);
        });
        self.texts += other.texts;
        self.shrink();
    }

    /// All shingles of the table and their counts, sorted by hash.
    pub fn counts(&self) -> Vec<(u64, u32)> {
        self.parts.iter().flat_map(Part::iter).collect()
    }

    /// The shingles that affect comparisons, with their counts, sorted by hash. They are not rare,
    /// or may belong to a majority form.
    pub fn common(&self) -> Vec<(u64, u32)> {
        let least = least_common(self.rare());
        let all = self.parts.iter().flat_map(Part::iter);
        all.filter(|&(_, count)| count >= least).collect()
    }

    /// Counts samples, and drops shingles that fewer than `least` texts contain. Returns how many
    /// different shingles there were, by the highest level that they are of.
    fn merge_samples<S: Borrow<Sample> + Sync>(
        &mut self,
        samples: &[S],
        least: u32,
    ) -> [usize; LEVELS] {
        self.filter.clear();
        self.texts += samples.len() as u64;
        let level = self.level;
        let of_level = samples.iter().map(|sample| sample.borrow().of_level(level));
        let mut rests: Vec<&[u64]> = of_level.collect();
        let hashes: usize = rests.iter().map(|rest| rest.len()).sum();
        let stretches = (hashes / STRETCH).next_power_of_two().min(self.parts.len());
        // Two pieces per thread balance the load and still give long runs in each piece.
        let piece = rests
            .len()
            .div_ceil(2 * rayon::current_num_threads())
            .max(1);
        let parts = self.parts.len() / stretches;
        let mut distinct = [0; LEVELS];
        for (stretch, own) in self.parts.chunks_mut(parts).enumerate() {
            let first = stretch * parts;
            let pieces = rests.par_chunks_mut(piece).map(|rests| {
                let mut hashes = Vec::new();
                for rest in rests {
                    let is_later = |&hash: &u64| part_of(hash, level) >= first + parts;
                    let end = rest.iter().position(is_later).unwrap_or(rest.len());
                    // Copied at once, while they are in the cache.
                    hashes.extend_from_slice(&rest[..end]);
                    *rest = &rest[end..];
                }
                deal(hashes.into_iter(), parts, |hash| {
                    part_of(hash, level) - first
                })
            });
            let new = gathered(&pieces.collect::<Vec<_>>(), parts);
            let of_parts = own
                .par_iter_mut()
                .zip(new)
                .map(|(part, new)| part.add(new.into_iter().map(|hash| (hash, 1)), least));
            for of_part in of_parts.collect::<Vec<_>>() {
                for (all, more) in distinct.iter_mut().zip(of_part) {
                    *all += more;
                }
            }
        }
        distinct
    }

    /// Raises the level until the budget holds.
    fn shrink(&mut self) {
        while self.len() > self.entries && self.level < u64::BITS {
            self.raise_level();
        }
    }

    fn raise_level(&mut self) {
        self.level += 1;
        let level = self.level;
        let half = self.parts.len() / 2;
        self.parts.truncate(half);
        let halves = self
            .parts
            .drain(..)
            .enumerate()
            .flat_map(|(place, mut part)| {
                let hashes = &part.hashes;
                let middle = hashes.partition_point(|&hash| part_of(hash, level) == 2 * place);
                // At the highest level, all that is left is the hash zero.
                let upper = Part {
                    hashes: part.hashes.split_off(middle),
                    counts: part.counts.split_off(middle),
                    starts: Vec::new(),
                };
                part.starts.clear();
                [part, upper]
            });
        self.parts = halves.collect();
    }

    /// Prepares look-ups.
    fn index(&mut self) {
        let words = (FILTER_BITS * self.len() / 64).next_power_of_two();
        self.filter = vec![0; words];
        for hash in self.parts.iter().flat_map(|part| &part.hashes) {
            self.filter[(hash >> 6) as usize & (words - 1)] |= 1 << (hash & 63);
        }
        let fixed = self.level + PART_BITS;
        self.parts.par_iter_mut().for_each(|part| {
            let buckets = (2 * part.hashes.len()).next_power_of_two();
            let mut end = 0;
            part.starts = (0..=buckets)
                .map(|bucket| {
                    let rest = &part.hashes[end..];
                    let before = |&&hash: &&u64| bucket_of(hash, fixed, buckets) < bucket;
                    end += rest.iter().take_while(before).count();
                    end as u32
                })
                .collect();
        });
    }

    /// The number of texts that contain a shingle: 0 if it is not of the table's
    /// level, or no text was counted by it.
    #[inline]
    pub fn count(&self, hash: u64) -> u32 {
        let words = self.filter.len();
        let may_be_counted = || {
            let word = self.filter[(hash >> 6) as usize & (words - 1)];
            word >> (hash & 63) & 1 == 1
        };
        if !is_of(self.level, hash) || words > 0 && !may_be_counted() {
            return 0;
        }
        let part = &self.parts[part_of(hash, self.level)];
        let range = part.range(hash, self.level + PART_BITS);
        let first = range.start;
        let place = part.hashes[range].binary_search(&hash);
        place.map_or(0, |place| part.counts[first + place])
    }

    /// The level of the table: it holds only shingles of this level. 0 until its budget is
    /// exceeded.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The number of shingles in the table.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.hashes.len()).sum()
    }

    /// True if no shingle was counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest number of texts that may contain a rare shingle.
    ///
    /// Common phrases of the language occur in more texts as a collection grows, while a form
    /// with a handful of copies does not. A limit that grows with the square root lies between
    /// the two.
    pub fn rare(&self) -> u32 {
        rare(self.texts)
    }

    /// The number of texts counted.
    pub fn texts(&self) -> u64 {
        self.texts
    }
}

impl Part {
    fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let hashes = self.hashes.iter().copied();
        hashes.zip(self.counts.iter().copied())
    }

    /// Adds counts, and keeps those of at least `least`. Returns how many hashes there were, by their
    /// leading zeros.
    fn add(
        &mut self,
        new: impl ExactSizeIterator<Item = (u64, u32)>,
        least: u32,
    ) -> [usize; LEVELS] {
        let most = self.hashes.len() + new.len();
        // So small that it stays in the cache of one core.
        let mut counted: FxHashMap<u64, u32> =
            HashMap::with_capacity_and_hasher(most, FxBuildHasher);
        counted.extend(self.iter());
        for (hash, count) in new {
            let all = counted.entry(hash).or_insert(0);
            *all = all.saturating_add(count);
        }
        let mut distinct = [0; LEVELS];
        let mut kept = Vec::new();
        for (hash, count) in counted {
            distinct[hash.leading_zeros() as usize] += 1;
            if count >= least {
                kept.push((hash, count));
            }
        }
        kept.sort_unstable();
        *self = Part {
            hashes: kept.iter().map(|&(hash, _)| hash).collect(),
            counts: kept.iter().map(|&(_, count)| count).collect(),
            starts: Vec::new(),
        };
        distinct
    }

    /// The places at which a hash can be.
    #[inline]
    fn range(&self, hash: u64, fixed: u32) -> Range<usize> {
        match self.starts.len() {
            0 => 0..self.hashes.len(),
            buckets => {
                let bucket = bucket_of(hash, fixed, buckets - 1);
                self.starts[bucket] as usize..self.starts[bucket + 1] as usize
            }
        }
    }
}

/// The largest number of texts that may contain a rare shingle of a collection of `texts`.
fn rare(texts: u64) -> u32 {
    let root = (texts / TEXTS_PER_RARE).isqrt();
    u32::try_from(root).unwrap_or(u32::MAX).max(RARE)
}

/// How many texts contain a shingle, at least, that affects comparisons.
fn least_common(rare: u32) -> u32 {
    // A shingle of the majority form has at least 4/5 of the median count of the common
    // shingles; see `weighed`.
    let least = (4 * (u64::from(rare) + 1)).div_ceil(5);
    u32::try_from(least).unwrap_or(u32::MAX)
}

/// The bucket of a hash among a power of two of them, by the bits after the `fixed` ones.
#[inline]
fn bucket_of(hash: u64, fixed: u32, buckets: usize) -> usize {
    let rest = hash.checked_shl(fixed).unwrap_or(0);
    rest.checked_shr(u64::BITS - buckets.ilog2()).unwrap_or(0) as usize
}

#[inline]
fn part_of(hash: u64, level: u32) -> usize {
    (hash.checked_shl(level).unwrap_or(0) >> (u64::BITS - PART_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Distinct;
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
        let counts = table.counts();
        assert!(counts.is_sorted());
        for &(hash, count) in &counts {
            assert_eq!(table.count(hash), count);
            assert_eq!(table.count(hash ^ 1), 0);
        }
        counts.into_iter().collect()
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
        table.finish::<Sample>(&[]);
        // Shingle n is in 9 - n texts, and up to RARE of them are few.
        assert_eq!(common.len(), 6);
        assert_eq!(table.common(), common);
        assert_eq!((table.len(), table.texts()), (6, 9));
        assert_eq!((table.count(hash(5)), table.count(hash(6))), (4, 0));
    }

    #[test]
    fn counting_the_last_texts_drops_what_is_rare() {
        let texts = texts(300);
        let samples: Vec<Sample> = texts
            .iter()
            .map(|text| Sample::of(&mut text.clone(), 0, &mut Distinct::default()))
            .collect();
        for entries in [1_000_000, 5000, 300, 1, 0] {
            for before in [0, 100, 300] {
                let mut all = ShingleFrequencies::new(entries);
                all.add_samples(&samples);
                let mut table = ShingleFrequencies::new(entries);
                table.add_samples(&samples[..before]);
                table.finish(&samples[before..]);
                assert_eq!(table.counts(), all.common());
                assert_eq!((table.level(), table.texts()), (all.level(), all.texts()));
            }
        }
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
