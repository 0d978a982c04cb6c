//! Shingles of letters: all of a text, and those that winnowing chooses.

use neardup_core::error::Result;

use super::letters::{Aligner, Letters};

/// The weight of a shingle: five Chinese characters, or ten letters of an alphabet.
pub(super) const SHINGLE: u32 = 10;

/// Of this many consecutive shingles at least one is chosen.
const WINDOW: usize = 8;

/// The base of the hash: odd, with the digits of the golden ratio.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The most letters in a shingle: each weighs one or more.
const LENGTH: usize = SHINGLE as usize;

/// The powers of the base.
const POWERS: [u64; LENGTH] = {
    let mut powers = [1_u64; LENGTH];
    let mut at = 1;
    while at < LENGTH {
        powers[at] = powers[at - 1].wrapping_mul(BASE);
        at += 1;
    }
    powers
};

impl Aligner {
    /// The winnowed shingles of `text`, ascending and distinct, for a [`super::Library`].
    ///
    /// # Errors
    ///
    /// If the text is longer than the stages accept.
    pub fn sketch(&self, text: &str) -> Result<Vec<u32>> {
        let all = self.hashes(text)?;
        let mut chosen: Vec<u32> = winnowed(&all).map(|at| short(all[at])).collect();
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }

    /// The hash of the shingle that begins at each letter of `text`, as [`hashes`] returns them;
    /// where the letters are in the text is not computed.
    pub(super) fn hashes(&self, text: &str) -> Result<Vec<u64>> {
        let mut found = Vec::with_capacity(text.len() / 2);
        let mut rolling = Rolling::default();
        self.for_each_letter(text, |c, weight| {
            rolling.push(c, weight, |hash| found.push(hash));
        })?;
        Ok(found)
    }
}

/// The hash of the shingle that begins at each letter, up to the last whole shingle.
pub(super) fn hashes(letters: &Letters) -> Vec<u64> {
    let mut found = Vec::with_capacity(letters.len());
    let mut rolling = Rolling::default();
    for (at, &c) in letters.chars.iter().enumerate() {
        rolling.push(c, letters.weight(at, at + 1), |hash| found.push(hash));
    }
    found
}

/// Hashes the shingles of letters that arrive one by one (Karp and Rabin, 1987).
#[derive(Default)]
struct Rolling {
    /// The letters of the shingle that is not complete, as a ring: hash and weight of each.
    ring: [(u64, u32); LENGTH.next_power_of_two()],
    begin: usize,
    end: usize,
    weight: u32,
    hash: u64,
}

impl Rolling {
    /// Adds a letter, and calls `found` with the hash of each shingle that ends with it.
    #[inline]
    fn push(&mut self, c: char, weight: u32, mut found: impl FnMut(u64)) {
        let last = self.ring.len() - 1;
        let letter = mixed(u64::from(u32::from(c)) + 1);
        self.ring[self.end & last] = (letter, weight);
        self.end += 1;
        self.weight += weight;
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(letter);
        while self.weight >= SHINGLE {
            found(mixed(self.hash));
            let (letter, weight) = self.ring[self.begin & last];
            let power = POWERS[self.end - self.begin - 1];
            self.hash = self.hash.wrapping_sub(letter.wrapping_mul(power));
            self.weight -= weight;
            self.begin += 1;
        }
    }
}

/// A number whose bits all depend on all bits of `number` (the finalizer of MurmurHash3).
#[inline]
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let number = (number ^ number >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    number ^ number >> 33
}

/// The part of a hash that a library stores.
pub(super) fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The places of the smallest hash of each window of shingles, ascending (Schleimer, Wilkerson
/// and Aiken, 2003): two in nine of all.
///
/// Only the upper half of a hash counts, and the last of equal ones is the smallest.
pub(super) fn winnowed(all: &[u64]) -> impl Iterator<Item = usize> {
    let count = if all.is_empty() {
        0
    } else {
        all.len().saturating_sub(WINDOW) + 1
    };
    let mut least = 0;
    (0..count).filter_map(move |begin| {
        let end = (begin + WINDOW).min(all.len());
        let before = (begin > 0).then_some(least);
        if begin == 0 || least < begin {
            let smallest = (begin..end).rev().min_by_key(|&at| short(all[at]));
            least = smallest.unwrap_or(begin);
        } else if short(all[end - 1]) <= short(all[least]) {
            least = end - 1;
        }
        (before != Some(least)).then_some(least)
    })
}
