/*! The sample of a text whose shingles were looked up in the table of its collection, once, for all pairs
of the text.

A shingle that the table has is held by its id, the others by hash. Both ascend with the hash, so that two
texts are compared by merging their lists, and what is of a higher level is the beginning of each list. Where
it is known that no other text has a shingle, it lies apart, and no merge reads it.
*/

use std::sync::atomic::{AtomicU64, Ordering};

use crate::buckets::shared_count;
use crate::ids::{Hash, ShingleId};
use crate::shingle_frequencies::ShingleFrequencies;

/// Bits of [`Several`] for each hash, at least.
const BITS_PER_HASH: usize = 4;

/// The sampled shingles of one text, by how many others have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedSample<'a> {
    /// Hashes of shingles that the table does not have.
    pub(super) rare: &'a [Hash],
    /// Ids of shingles of the table.
    pub(super) common: &'a [ShingleId],
    /// Hashes of shingles that no other text has.
    pub(super) single: &'a [Hash],
    /// One in 2^level shingles of the text is in the sample.
    pub level: u32,
    /// Distinct shingles of the text.
    pub shingles: usize,
}

/// Where each kind ends in the numbers of a sample whose shingles were looked up: rare hashes, ids, and
/// hashes of single ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    rare: u32,
    common: u32,
}

impl Ends {
    /// Looks the hashes of a sample up in a table, and sorts them by kind, in place. `buffers` are reused.
    pub(super) fn look_up(
        numbers: &mut [u32],
        table: &ShingleFrequencies,
        is_single: impl Fn(Hash) -> bool,
        [ids, single]: &mut [Vec<u32>; 2],
    ) -> Ends {
        ids.clear();
        single.clear();
        let mut rare = 0;
        for at in 0..numbers.len() {
            let hash = Hash(numbers[at]);
            if let Some(ShingleId(id)) = table.id(hash) {
                ids.push(id);
            } else if is_single(hash) {
                single.push(hash.0);
            } else {
                numbers[rare] = hash.0;
                rare += 1;
            }
        }
        let common = rare + ids.len();
        numbers[rare..common].copy_from_slice(ids);
        numbers[common..].copy_from_slice(single);
        Ends {
            rare: rare as u32,
            common: common as u32,
        }
    }

    /// The sample of a text with so many distinct shingles.
    pub(super) fn sample(self, numbers: &[u32], level: u32, shingles: usize) -> CountedSample<'_> {
        let (rare, rest) = numbers.split_at(self.rare as usize);
        let (common, single) = rest.split_at((self.common - self.rare) as usize);
        CountedSample {
            rare: Hash::all(rare),
            common: ShingleId::all(common),
            single: Hash::all(single),
            level,
            shingles,
        }
    }
}

impl<'a> CountedSample<'a> {
    /// The number of sampled shingles.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rare.len() + self.common.len() + self.single.len()
    }

    /// How many shingles that the table does not have both texts have.
    pub(super) fn rare_shared(&self, other: &CountedSample<'_>) -> usize {
        // Documents with the same text may have one sample.
        let is_same = std::ptr::eq(self.single, other.single);
        let single = if is_same { self.single.len() } else { 0 };
        single + shared_count(self.rare, other.rare)
    }

    /// The shingles of a level.
    pub(super) fn at(&self, level: u32, table: &ShingleFrequencies) -> CountedSample<'a> {
        if level <= self.level {
            return *self;
        }
        let end = table.end_of_level(level);
        let ids = self.common.partition_point(|&id| id < end);
        CountedSample {
            rare: Hash::of_level(level, self.rare),
            common: &self.common[..ids],
            single: Hash::of_level(level, self.single),
            level,
            shingles: self.shingles,
        }
    }

    /// Reads one number of each line of the cache of what merges read; the result means nothing.
    #[inline]
    pub(super) fn touch(&self) -> u32 {
        let lines = |list: &[u32]| {
            let lines = list.iter().step_by(64 / size_of::<u32>());
            lines.fold(0, |all, &number| all ^ number)
        };
        lines(Hash::numbers(self.rare)) ^ lines(ShingleId::numbers(self.common))
    }
}

/// A sample that owns its numbers, whose shingles were looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    numbers: Box<[u32]>,
    ends: Ends,
}

impl Looked {
    /// Looks the hashes of a sample up in a table.
    pub(super) fn up(hashes: &[Hash], table: &ShingleFrequencies) -> Self {
        let mut numbers: Box<[u32]> = Hash::numbers(hashes).into();
        let ends = Ends::look_up(&mut numbers, table, |_| false, &mut Default::default());
        Looked { numbers, ends }
    }

    pub(super) fn sample(&self, level: u32, shingles: usize) -> CountedSample<'_> {
        self.ends.sample(&self.numbers, level, shingles)
    }
}

/// Which hashes several texts have: at least these, and a few others by chance.
#[derive(Debug, Default)]
pub struct Several {
    /// A bit for each value of some leading bits; empty where nothing is known.
    bits: Vec<AtomicU64>,
    shift: u32,
}

impl Several {
    /// None of so many hashes.
    pub(super) fn among(hashes: usize) -> Self {
        let all = (BITS_PER_HASH * hashes).next_power_of_two();
        let leading = all.ilog2().clamp(u64::BITS.ilog2(), u32::BITS);
        let words = (1 << leading) / u64::BITS as usize;
        Several {
            bits: (0..words).map(|_| AtomicU64::new(0)).collect(),
            shift: u32::BITS - leading,
        }
    }

    pub(super) fn insert(&self, Hash(hash): Hash) {
        let place = hash >> self.shift;
        if let Some(word) = self.bits.get((place / u64::BITS) as usize) {
            word.fetch_or(1 << (place % u64::BITS), Ordering::Relaxed);
        }
    }

    /// Whether several texts may have a hash.
    #[inline]
    pub(super) fn may_have(&self, Hash(hash): Hash) -> bool {
        let place = hash >> self.shift;
        let word = self.bits.get((place / u64::BITS) as usize);
        word.is_none_or(|word| word.load(Ordering::Relaxed) >> (place % u64::BITS) & 1 == 1)
    }
}
