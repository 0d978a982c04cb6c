/*! Document frequencies of shingles: the number of texts that contain each shingle.

A shingle that hundreds of texts contain is boilerplate; one that only two contain is
content. Telling them apart takes document frequencies, and counting all shingles
would take more memory than the texts. So only a sample of the shingles is counted,
chosen by their hashes and therefore the same in every text.

A text is counted by its [sample](super::sample), a share of its shingles, of whose hashes it holds 32
bits. So two shingles are taken for one in four thousand millions, and a table of a hundred million
texts counts ten texts too many for each: far less than what is still rare there.

**The bound.** The table has a level too, initially 0. Whenever it would hold more
shingles than its budget, its level rises by one and shingles not of that level are
dropped. The whole set of texts needs at least the level that any part of it needs, so
the final content of the table depends only on the set of texts, not on their order or
on how the work was divided.

Samples are dealt into parts by their leading bits, so small that a part is counted in the cache of
one core. Memory: 8 bytes per counted shingle.
*/

use rayon::prelude::*;

use crate::buckets::{deal, gathered, sorted};
use crate::sketch::{is_of, of_level};

/// The maximum number of shingles in a table, by default.
pub const DEFAULT_ENTRIES: usize = 6_000_000;

/// In a small collection, a shingle is rare if at most this many texts contain it.
pub const RARE: u32 = 4;

/// In a collection of n texts, a shingle is rare if at most sqrt(n / `TEXTS_PER_RARE`) texts
/// contain it.
const TEXTS_PER_RARE: u64 = 1600;

/// The number of bits of a hash that choose its part. They follow the bits that the level fixes.
const PART_BITS: u32 = 10;

/// Sampled shingles dealt out at once, about. Tests have several stretches too.
const STRETCH: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The levels of a hash: the numbers of its leading zeros.
const LEVELS: usize = u32::BITS as usize + 1;

/// The number of texts that contain each sampled shingle of a collection.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::{ShingleFrequencies, Shingles};
///
/// let set = |text| Shingles::of(text, 2).halves();
/// let mut common = ShingleFrequencies::default();
/// common.add(&["abcd", "bcde", "cdef"].map(set));
/// assert_eq!(common.count(set("cd").hashes()[0]), 3);
/// ```
#[derive(Clone, Debug)]
pub struct ShingleFrequencies {
    parts: Vec<Part>,
    /// All shingles with their counts, each at the first free place from that of its trailing bits on:
    /// a look-up reads one line of the cache. At least half of the places are free, with a count of
    /// zero. Empty while counts change, when look-ups are rare.
    places: Vec<(u32, u32)>,
    level: u32,
    entries: usize,
    texts: u64,
}

/// The counts of the hashes with some leading bits, ascending.
#[derive(Clone, Debug, Default)]
struct Part {
    hashes: Vec<u32>,
    counts: Vec<u32>,
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
            places: Vec::new(),
            level: 0,
            entries,
            texts: 0,
        }
    }

    /// Counts texts, each given by the hashes of its [sample](super::sample), ascending and without
    /// repeats; all shingles of a text are a sample too. Callers should count a text only once, even if
    /// the collection has several copies. Few texts at once cost as much as merging the whole table.
    ///
    /// Runs on the current rayon pool.
    pub fn add<S: AsRef<[u32]> + Sync>(&mut self, samples: &[S]) {
        self.merge_samples(samples, 0);
        self.shrink();
    }

    /// Counts the last texts, and drops all shingles but the [common](Self::common) ones.
    /// Comparisons find the same, in a table so much smaller that it stays in the cache. No further
    /// texts can be added.
    pub fn finish<S: AsRef<[u32]> + Sync>(&mut self, samples: &[S]) {
        let texts = self.texts + samples.len() as u64;
        let distinct = self.merge_samples(samples, least_common(rare(texts)));
        // The level is that of all shingles, of which most are dropped already.
        while distinct[self.level as usize..].iter().sum::<usize>() > self.entries
            && self.level < u32::BITS
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
        counts: impl IntoIterator<Item = (u32, u32)>,
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
        self.places.clear();
        while self.level < other.level {
            self.raise_level();
        }
        while other.level < self.level {
            other.raise_level();
        }
        let parts = self.parts.par_iter_mut().zip(other.parts);
        parts.for_each(|(own, others)| {
            own.add(others.iter(), 0);
        });
        self.texts += other.texts;
        self.shrink();
    }

    /// All shingles of the table and their counts, sorted by hash.
    pub fn counts(&self) -> Vec<(u32, u32)> {
        self.parts.iter().flat_map(Part::iter).collect()
    }

    /// The shingles that affect comparisons, with their counts, sorted by hash. They are not rare,
    /// or may belong to a majority form.
    pub fn common(&self) -> Vec<(u32, u32)> {
        let least = least_common(self.rare());
        let all = self.parts.iter().flat_map(Part::iter);
        all.filter(|&(_, count)| count >= least).collect()
    }

    /// Counts samples, and drops shingles that fewer than `least` texts contain. Returns how many
    /// different shingles there were, by the highest level that they are of.
    fn merge_samples<S: AsRef<[u32]>>(&mut self, samples: &[S], least: u32) -> [usize; LEVELS] {
        self.places.clear();
        self.texts += samples.len() as u64;
        let level = self.level;
        let of_level = samples
            .iter()
            .map(|sample| of_level(level, sample.as_ref()));
        let mut rests: Vec<&[u32]> = of_level.collect();
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
                    let is_later = |&hash: &u32| part_of(hash, level) >= first + parts;
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
            let of_parts = own.par_iter_mut().zip(new).map(|(part, new)| {
                let rest = |hash| (u64::from(hash) << u32::BITS) << (level + PART_BITS);
                let new = sorted(&new, rest);
                let runs = new.chunk_by(|a, b| a == b);
                part.add(runs.map(|run| (run[0], run.len() as u32)), least)
            });
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
        while self.len() > self.entries && self.level < u32::BITS {
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
                };
                [part, upper]
            });
        self.parts = halves.collect();
    }

    /// Prepares look-ups.
    fn index(&mut self) {
        self.places = vec![(0, 0); (2 * self.len()).next_power_of_two()];
        for (hash, count) in self.parts.iter().flat_map(Part::iter) {
            let place = self.place(hash);
            self.places[place] = (hash, count);
        }
    }

    /// Where a shingle is, or would be.
    #[inline]
    fn place(&self, hash: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place].1 != 0 && self.places[place].0 != hash {
            place = (place + 1) & mask;
        }
        place
    }

    /// The number of texts that contain a shingle: 0 if it is not of the table's
    /// level, or no text was counted by it.
    #[inline]
    pub fn count(&self, hash: u32) -> u32 {
        // Most shingles of a sample are not, where the collection is large.
        if !is_of(self.level, hash) {
            return 0;
        }
        if !self.places.is_empty() {
            return self.places[self.place(hash)].1;
        }
        let part = &self.parts[part_of(hash, self.level)];
        let place = part.hashes.binary_search(&hash);
        place.map_or(0, |place| part.counts[place])
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
    fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let hashes = self.hashes.iter().copied();
        hashes.zip(self.counts.iter().copied())
    }

    /// Adds counts, ascending by hash, and keeps those of at least `least`. Returns how many hashes
    /// there were, by their leading zeros.
    fn add(&mut self, new: impl Iterator<Item = (u32, u32)>, least: u32) -> [usize; LEVELS] {
        let (mut distinct, mut all) = ([0; LEVELS], Part::default());
        let mut own = self.iter().peekable();
        let mut new = new.peekable();
        while let Some(&hash) = [own.peek(), new.peek()]
            .into_iter()
            .flatten()
            .map(|(hash, _)| hash)
            .min()
        {
            let of_both = [
                own.next_if(|next| next.0 == hash),
                new.next_if(|next| next.0 == hash),
            ];
            let counts = of_both.into_iter().flatten().map(|(_, count)| count);
            let count = counts.fold(0, u32::saturating_add);
            distinct[hash.leading_zeros() as usize] += 1;
            if count >= least {
                all.hashes.push(hash);
                all.counts.push(count);
            }
        }
        drop(own);
        *self = all;
        distinct
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

#[inline]
fn part_of(hash: u32, level: u32) -> usize {
    (hash.checked_shl(level).unwrap_or(0) >> (u32::BITS - PART_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{leading, level_of};
    use std::collections::BTreeMap;
    use xxhash_rust::xxh3::xxh3_64;

    fn hash(number: u64) -> u32 {
        leading(xxh3_64(&number.to_le_bytes()))
    }

    /// The sample of a text of these shingles.
    fn sample(numbers: impl Iterator<Item = u64>) -> Vec<u32> {
        let mut hashes: Vec<u32> = numbers.map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let level = level_of(hashes.len(), 128);
        of_level(level, &hashes).to_vec()
    }

    /// Samples of texts of 50 to 700 shingles, of which some are shared.
    fn texts(count: u64) -> Vec<Vec<u32>> {
        let text = |id: u64| {
            let own = (0..50 + id * 37 % 650).map(move |at| (id << 32) + at);
            sample(own.chain(0..id % 40))
        };
        (0..count).map(text).collect()
    }

    fn contents(table: &ShingleFrequencies) -> BTreeMap<u32, u32> {
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
        let lists: Vec<Vec<u32>> = (0..9).map(|id| sample([1, 100 + id].into_iter())).collect();
        table.add(&lists);
        assert_eq!(table.count(hash(1)), 9);
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
        let lists: Vec<Vec<u32>> = (0..9).map(|id| sample(0..=id)).collect();
        table.add(&lists);
        let common = table.common();
        table.finish::<Vec<u32>>(&[]);
        // Shingle n is in 9 - n texts, and up to RARE of them are few.
        assert_eq!(common.len(), 6);
        assert_eq!(table.common(), common);
        assert_eq!((table.len(), table.texts()), (6, 9));
        assert_eq!((table.count(hash(5)), table.count(hash(6))), (4, 0));
    }

    #[test]
    fn counting_the_last_texts_drops_what_is_rare() {
        let texts = texts(300);
        for entries in [1_000_000, 5000, 300, 1, 0] {
            for before in [0, 100, 300] {
                let mut all = ShingleFrequencies::new(entries);
                all.add(&texts);
                let mut table = ShingleFrequencies::new(entries);
                table.add(&texts[..before]);
                table.finish(&texts[before..]);
                assert_eq!(table.counts(), all.common());
                assert_eq!((table.level(), table.texts()), (all.level(), all.texts()));
            }
        }
    }

    #[test]
    fn a_table_at_its_budget_keeps_its_level() {
        let texts: Vec<Vec<u32>> = (0..40).map(|id| vec![hash(id)]).collect();
        let level_of = |entries| {
            let mut table = ShingleFrequencies::new(entries);
            table.add(&texts);
            table.level()
        };
        assert_eq!(level_of(40), 0);
        assert_eq!(level_of(39), 1);
    }
}
