/*! Equal fingerprints, grouped before any search.

Takes fingerprints; yields each set of equal ones as a representative (the earliest document)
and its repeats. So a text that was posted a million times is one row of the join, not a million
rows of one bucket, and is not listed as half a trillion pairs. Rows are partitioned by a hash
and looked up in a table that fits the cache. Linear time, exact.
*/

use rayon::prelude::*;

use super::fingerprints::{Rows, gather, length};
use super::partition::{Partition, Source};

/// The number of rows whose hash table fits a core's cache.
const CACHED_ROWS: usize = 1 << 15;

/// The sets of two or more documents with equal fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    representatives: Vec<u32>,
    starts: Vec<usize>,
    repeats: Vec<u32>,
}

impl Groups {
    /// The number of sets.
    pub fn len(&self) -> usize {
        self.representatives.len()
    }

    /// Whether all fingerprints are distinct.
    pub fn is_empty(&self) -> bool {
        self.representatives.is_empty()
    }

    /// The representative of each set, ascending. It is the earliest document of the set.
    pub fn representatives(&self) -> &[u32] {
        &self.representatives
    }

    /// The other documents with the fingerprint of `representative`, ascending. Empty if there
    /// are none.
    pub fn repeats(&self, representative: u32) -> &[u32] {
        match self.representatives.binary_search(&representative) {
            Ok(set) => &self.repeats[self.starts[set]..self.starts[set + 1]],
            Err(_) => &[],
        }
    }

    /// All documents that are not the earliest of their set, set by set.
    pub fn all_repeats(&self) -> &[u32] {
        &self.repeats
    }

    /// Each representative with its repeats.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.representatives
            .iter()
            .zip(self.starts.windows(2))
            .map(|(&representative, bounds)| (representative, &self.repeats[bounds[0]..bounds[1]]))
    }

    /// The sets from `(representative, repeat)` in any order.
    fn from_links(mut links: Vec<(u32, u32)>) -> Self {
        links.par_sort_unstable();
        let mut groups = Groups {
            starts: vec![0],
            ..Groups::default()
        };
        for set in links.chunk_by(|one, next| one.0 == next.0) {
            groups.representatives.push(set[0].0);
            groups.repeats.extend(set.iter().map(|link| link.1));
            groups.starts.push(groups.repeats.len());
        }
        groups
    }
}

/// Finds the sets of equal rows. The rows stay in `buffer`.
pub(super) fn collapse<const W: usize>(rows: Rows<'_, W>, buffer: &mut Partition<W>) -> Groups {
    let digit_bits = (length(rows) / CACHED_ROWS).max(1).ilog2().min(12);
    buffer.fill_parallel(Source::counted(rows, None), 1 << digit_bits, |row| {
        (hash(row) >> 32 & ((1 << digit_bits) - 1)) as usize
    });
    let buffer = &*buffer;
    let links: Vec<Vec<(u32, u32)>> = (0..buffer.len())
        .into_par_iter()
        .map_init(Vec::new, |slots, digit| {
            let (rows, ids) = buffer.group(digit);
            links(rows, ids, slots)
        })
        .collect();
    Groups::from_links(links.concat())
}

/// The `(earliest, later)` links between equal rows of one partition.
fn links<const W: usize>(rows: Rows<'_, W>, ids: &[u32], slots: &mut Vec<u32>) -> Vec<(u32, u32)> {
    const FREE: u32 = u32::MAX;
    let size = (2 * ids.len()).next_power_of_two();
    slots.clear();
    slots.resize(size, FREE);
    let mut links = Vec::new();
    for (at, &id) in ids.iter().enumerate() {
        let row = gather(rows, at);
        let mut place = hash(&row) as usize & (size - 1);
        loop {
            let held = slots[place];
            if held == FREE {
                slots[place] = at as u32;
                break;
            }
            if gather(rows, held as usize) == row {
                links.push((ids[held as usize], id));
                break;
            }
            place = (place + 1) & (size - 1);
        }
    }
    links
}

/// A 64-bit hash of a row. Results do not depend on the hash function.
#[inline]
fn hash<const W: usize>(row: &[u64; W]) -> u64 {
    let mixed = row.iter().fold(0_u64, |state, &word| {
        let wide = u128::from(state ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
        (wide as u64) ^ (wide >> 64) as u64
    });
    mixed ^ mixed >> 29
}
