/*! Which features of a document came before, told by their hashes.

Where every distinct feature weighs the same, a document needs no table of its
features: the hash that is made of each anyway says whether it is new. Two
features are taken for one if 64 bits of XXH3 agree, which among a million
features happens to one document in thirty million; a table of the features
themselves would cost as much again as all the rest of the sketch.

Open addressing with linear probing; the hash is its own place.
*/

/// Smallest table: 32 KiB, which stays in a core's nearest cache.
const LEAST: usize = 1 << 12;

/// One place in so many is taken at most: few features then find their place
/// taken, which no processor could foresee.
const SPARSE: usize = 4;

/// From 32 MiB on, room counts more than time: half of the places may be taken.
const LARGE: usize = 1 << 22;

/// A set of 64-bit hashes that is emptied for each document.
#[derive(Debug)]
pub(crate) struct Distinct {
    slots: Vec<u64>,
    filled: usize,
    /// Zero marks a free slot, so the hash zero is held here.
    zero: bool,
}

impl Default for Distinct {
    fn default() -> Self {
        Distinct {
            slots: vec![0; LEAST],
            filled: 0,
            zero: false,
        }
    }
}

impl Distinct {
    /// Empties the set; after a very long document also of its room, since
    /// each document pays for clearing it.
    pub(crate) fn clear(&mut self) {
        if self.slots.len() > LEAST && self.filled < self.slots.len() / (8 * SPARSE) {
            self.slots = vec![0; LEAST];
        } else {
            self.slots.fill(0);
        }
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
        // Written and counted in either case: there is nothing to foresee.
        self.slots[place] = hash;
        self.filled += usize::from(is_new);
        if self.filled > self.most() {
            self.grow();
        }
        is_new
    }

    /// Places that may be taken before the table grows.
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
            distinct.clear();
            let mut known = HashSet::new();
            for at in 0..20_000_u64 >> documents {
                // Every third is a repeat; low bits collide on purpose.
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
