/*! A text's shingles, by which others are ruled out before anything is made of them.

Most candidates of a document share a sentence with it, and little else. To see that, the other text
needs neither a sorted set nor the counts of its shingles: they are hashed, and each is looked up
among those of the document. What is shared is then known exactly, and so is how many shingles the
other text has; only what those it has alone weigh is not known, and for it there is a bound.

O(n) for a text of n characters, without memory that stays.
*/

use super::resemblance::Overlap;
use crate::sketch::Distinct;

/// Slots for each shingle, so that a shingle that is not there nearly always finds a free slot.
const SPARSE: usize = 4;

/// The shingles of one text, and what another text has of them.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// The document whose shingles are in the table.
    of: Option<u32>,
    /// Places in the set, counted from 1; 0 for a free slot.
    slots: Vec<u32>,
    seen: Distinct,
    /// Hashes of the other text, with repeats.
    hashes: Vec<u64>,
    found: Found,
}

/// What a text has of another's shingles.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The places of the shared shingles in the set, in no order.
    pub(super) shared: Vec<u32>,
    /// The hashes of the shingles that the text has beside them, in no order.
    pub(super) alone: Vec<u64>,
}

impl Probe {
    /// Looks the shingles of a text up in the `set` of `document`, as sorted hashes. `write` appends
    /// the hashes of the text.
    pub(super) fn look_up(
        &mut self,
        document: u32,
        set: &[u64],
        write: impl FnOnce(&mut Vec<u64>),
    ) -> &Found {
        if self.of != Some(document) {
            self.fill(set);
            self.of = Some(document);
        }
        self.hashes.clear();
        write(&mut self.hashes);
        self.seen.clear(self.hashes.len());
        self.found.shared.clear();
        self.found.alone.clear();
        let mask = self.slots.len() - 1;
        for &hash in &self.hashes {
            if !self.seen.insert(hash) {
                continue;
            }
            let mut slot = hash as usize & mask;
            let place = loop {
                match self.slots[slot] {
                    0 => break None,
                    place if set[place as usize - 1] == hash => break Some(place - 1),
                    _ => slot = (slot + 1) & mask,
                }
            };
            match place {
                Some(place) => self.found.shared.push(place),
                None => self.found.alone.push(hash),
            }
        }
        &self.found
    }

    fn fill(&mut self, set: &[u64]) {
        let slots = (SPARSE * set.len()).next_power_of_two();
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (hash, place) in set.iter().zip(1..) {
            let mut slot = *hash as usize & (slots - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = place;
        }
    }
}

impl Found {
    /// The sizes of the `set` and of the text's own, and of what they share.
    pub(super) fn overlap(&self, set: &[u64]) -> Overlap {
        Overlap {
            a: set.len(),
            b: self.shared.len() + self.alone.len(),
            common: self.shared.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::resemblance::Shingles;
    use super::*;

    #[test]
    fn finds_what_both_texts_have() {
        let mut probe = Probe::default();
        let texts: Vec<String> = (1..40_u32)
            .map(|text| {
                let letter = |at: u32| char::from_u32(0x4e00 + at * text % 53);
                (0..7 * text).filter_map(letter).collect()
            })
            .chain([String::new()])
            .collect();
        let sets: Vec<Shingles> = texts.iter().map(|text| Shingles::of(text, 2)).collect();
        for (document, set) in sets.iter().enumerate() {
            for (text, other) in texts.iter().zip(&sets) {
                let found = probe.look_up(document as u32, set.hashes(), |hashes| {
                    crate::sketch::shingle_hashes(text, 2, hashes);
                });
                assert_eq!(found.overlap(set.hashes()), set.overlap(other));
                let shared = found.shared.iter().map(|&at| set.hashes()[at as usize]);
                let mut all: Vec<u64> = shared.chain(found.alone.iter().copied()).collect();
                all.sort_unstable();
                assert_eq!(all, other.hashes());
            }
        }
    }
}
