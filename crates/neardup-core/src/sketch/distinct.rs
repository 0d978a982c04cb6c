/*! A set of hashes that detects repeated features of a document.

If every distinct feature weighs the same, a document needs no table of its
features: their hashes, which are computed anyway, show which are new. Two
features are treated as one if their 64-bit XXH3 hashes agree, which among a million
features happens in one document in thirty million. A table of the features
themselves would cost as much as all the rest of the sketch.

Open addressing with linear probing; the low bits of the hash are the slot.
*/

/// Slots of the smallest table.
const LEAST: usize = 1 << 8;

/// At most one slot in `SPARSE` is filled. Few features then find their slot taken, which is
/// a branch that the processor cannot predict.
const SPARSE: usize = 4;

/// From this many slots (32 MiB) on, memory matters more than time: half of the slots may be
/// filled.
const LARGE: usize = 1 << 22;

/// A set of 64-bit hashes; it must be [cleared](Self::clear) for each document, the first too.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    slots: Vec<u64>,
    filled: usize,
    /// Whether the set contains the hash zero, since zero marks a free slot.
    zero: bool,
}

impl Distinct {
    /// Empties the set, and makes room for `expected` hashes. The fewer are expected, the sooner it
    /// is cleared, and the more of it stays in a core's first-level cache.
    pub(crate) fn clear(&mut self, expected: usize) {
        let mut slots = (SPARSE * expected).next_power_of_two().max(LEAST);
        if slots > LARGE {
            slots = (2 * expected).next_power_of_two().max(LARGE);
        }
        // A much larger table of an earlier document is released.
        if self.slots.capacity() > 64 * slots.max(LEAST) {
            self.slots = Vec::new();
        }
        self.slots.clear();
        self.slots.resize(slots, 0);
        self.filled = 0;
        self.zero = false;
    }

    /// Adds a hash; true if it is new.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place] != 0 && self.slots[place] != hash {
            place = (place + 1) & mask;
        }
        let is_new = self.slots[place] == 0;
        // Written and counted in either case, to avoid an unpredictable branch.
        self.slots[place] = hash;
        self.filled += usize::from(is_new);
        if self.filled > self.most() {
            self.grow();
        }
        is_new
    }

    /// The number of slots that may be filled before the table grows.
    #[inline]
    fn most(&self) -> usize {
        match self.slots.len() < LARGE {
            true => self.slots.len() / SPARSE,
            false => self.slots.len() / 2,
        }
    }

    #[cold]
    fn grow(&mut self) {
        let times = if self.slots.len() < LARGE { 4 } else { 2 };
        let larger = vec![0; times * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, larger);
        self.filled = 0;
        for hash in old.into_iter().filter(|&hash| hash != 0) {
            self.insert(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tells_new_from_seen_through_growth_and_clearing() {
        let mut distinct = Distinct::default();
        let mut state = 1_u64;
        for documents in 0..4 {
            distinct.clear([0, 100, 20_000, 300_000][documents]);
            let mut known = HashSet::new();
            for at in 0..20_000_u64 >> documents {
                // Every third hash is a repeat; low bits collide on purpose.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let hash = match at % 3 {
                    0 => (at / 2) << 40,
                    _ => state & !0xff,
                };
                assert_eq!(distinct.insert(hash), known.insert(hash));
            }
        }
    }
}
