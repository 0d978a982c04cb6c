/*! Document frequencies of shingles: the number of texts that contain each shingle that is not rare.

A shingle that hundreds of texts contain is boilerplate; one that only two contain is
content. Telling them apart takes document frequencies, and counting all shingles
would take more memory than the texts. So a text is counted by its [sample](crate::verify::sample), a share of its
shingles that is chosen by their hashes and therefore the same in every text; and of all sampled shingles only
the *common* ones stay, a few per cent.

A sample holds 32 bits of each hash. So two shingles are taken for one in four thousand millions, and a
table of a hundred million texts counts ten texts too many for each: far less than what is still rare
there.

**The bound.** The table has a level, initially 0. While there are more common shingles than its budget
allows, its level rises by one, and shingles not of that level are dropped. The content of the table
depends only on the set of texts, not on their order, on memory, or on how the work was divided.

The keys of samples are shingles too, or other features: the same table counts those that are common.

Memory: 26 to 44 bytes per common shingle.
*/

use crate::constants::{MAJORITY_PARTS, RARE, TEXTS_PER_RARE};
use crate::ids::{Hash, ShingleId};

/// The maximum number of common shingles in a table, by default.
pub const DEFAULT_ENTRIES: usize = 6_000_000;

/// The shingles of a table for each word of bits that tells most others from them, about.
const PER_WORD: usize = 4;

/// A level for each number of leading zeros of a hash.
const LEVELS: usize = u32::BITS as usize + 1;

/// The number of texts that contain each common shingle of a collection.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::{ShingleFrequencies, Shingles};
///
/// let set = |text| Shingles::of(text, 2).halves();
/// let common = ShingleFrequencies::of_samples(&["abcd", "bcde", "cdef", "xcdx", "cd"].map(set), 1000);
/// assert_eq!(common.count(set("cd").hashes()[0]), 5);
/// // Two texts have it.
/// assert_eq!(common.count(set("ab").hashes()[0]), 0);
/// ```
#[derive(Clone, Debug)]
pub struct ShingleFrequencies {
    /// The shingles and their counts, by hash.
    counts: Vec<(Hash, u32)>,
    /// All shingles with their ids, each at the first free place from that of its trailing bits on:
    /// a look-up reads one line of the cache. Ids count from 1 here, so that 0 is a free place; at least
    /// half of them are.
    places: Vec<(Hash, u32)>,
    /// For each value of some trailing bits, whether a shingle has it. Most shingles are rare, and are
    /// told by these bits, which stay in the cache.
    bits: Vec<u64>,
    /// For each level, how many shingles are of it: the first ones.
    ends: [u32; LEVELS],
    level: u32,
    texts: u64,
}

impl Default for ShingleFrequencies {
    fn default() -> Self {
        ShingleFrequencies::from_counts(0, 0, [])
    }
}

impl ShingleFrequencies {
    /// The table of texts whose common shingles were counted, with their counts, by hash.
    pub fn of_common(texts: u64, mut common: Vec<(Hash, u32)>, entries: usize) -> Self {
        let mut level = 0;
        while common.len() > entries && level < u32::BITS {
            level += 1;
            // Shingles of a level come first.
            common.truncate(common.partition_point(|&(hash, _)| hash.is_of(level)));
        }
        ShingleFrequencies::from_counts(level, texts, common)
    }

    /// Restores a table from its level, its number of texts, and its shingles with their counts.
    /// Shingles below the level are left out.
    pub fn from_counts(
        level: u32,
        texts: u64,
        counts: impl IntoIterator<Item = (Hash, u32)>,
    ) -> Self {
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.retain(|&(hash, _)| hash.is_of(level));
        // Stored counts are sorted, which costs nothing here.
        counts.sort_unstable();
        counts.dedup_by_key(|&mut (hash, _)| hash);
        let mut table = ShingleFrequencies {
            places: vec![(Hash(0), 0); (2 * counts.len()).next_power_of_two()],
            bits: vec![0; (counts.len() / PER_WORD).next_power_of_two()],
            counts: Vec::new(),
            ends: [0; LEVELS],
            level,
            texts,
        };
        for level in 0..=u32::BITS {
            let end = counts.partition_point(|&(hash, _)| hash.is_of(level));
            table.ends[level as usize] = end as u32;
        }
        for (&(hash, _), id) in counts.iter().zip(1..) {
            let place = table.place(hash);
            table.places[place] = (hash, id);
            let (word, bit) = table.bit(hash);
            table.bits[word] |= bit;
        }
        table.counts = counts;
        table
    }

    /// All shingles of the table and their counts, by hash.
    pub fn counts(&self) -> &[(Hash, u32)] {
        &self.counts
    }

    /// Where a shingle is, or would be.
    #[inline]
    fn place(&self, hash: Hash) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash.0 as usize & mask;
        while self.places[place].1 != 0 && self.places[place].0 != hash {
            place = (place + 1) & mask;
        }
        place
    }

    /// The word that has the bit of a shingle, and the bit.
    #[inline]
    fn bit(&self, Hash(hash): Hash) -> (usize, u64) {
        let word = (hash / u64::BITS) as usize & (self.bits.len() - 1);
        (word, 1 << (hash % u64::BITS))
    }

    /// The number of texts that contain a shingle: 0 if it is rare or not of the table's level.
    pub fn count(&self, hash: Hash) -> u32 {
        self.id(hash).map_or(0, |id| self.count_of(id))
    }

    /// The id of a shingle, its place among the [counts](Self::counts); `None` for one that the table
    /// does not have.
    #[inline]
    pub(crate) fn id(&self, hash: Hash) -> Option<ShingleId> {
        let (word, bit) = self.bit(hash);
        if self.bits[word] & bit == 0 {
            return None;
        }
        self.places[self.place(hash)]
            .1
            .checked_sub(1)
            .map(ShingleId)
    }

    /// The number of texts that contain the shingle with an id.
    #[inline]
    pub(crate) fn count_of(&self, id: ShingleId) -> u32 {
        self.counts[id.index()].1
    }

    /// The first id whose shingle is not of a level.
    pub(crate) fn end_of_level(&self, level: u32) -> ShingleId {
        ShingleId(self.ends[level.min(u32::BITS) as usize])
    }

    /// The level of the table: it holds only shingles of this level. 0 unless there were more common
    /// shingles than its budget.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The number of shingles in the table.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True if no shingle is common.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest number of texts that may contain a rare shingle.
    ///
    /// Common phrases of the language occur in more texts as a collection grows, while a template
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

/// The largest number of texts that may contain a rare shingle of a collection of `texts`.
pub(crate) fn rare(texts: u64) -> u32 {
    let root = (texts / TEXTS_PER_RARE).isqrt();
    u32::try_from(root).unwrap_or(u32::MAX).max(RARE)
}

/// How many texts contain a shingle, at least, that affects comparisons.
pub(crate) fn least_common(rare: u32) -> u32 {
    // A shingle of the majority version has at least 4/5 of the median count of the common
    // shingles; see `weighed`.
    let least =
        (u64::from(MAJORITY_PARTS - 1) * (u64::from(rare) + 1)).div_ceil(u64::from(MAJORITY_PARTS));
    u32::try_from(least).unwrap_or(u32::MAX)
}
