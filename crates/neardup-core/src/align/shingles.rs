//! Shingles of letters: all of a text, and those that winnowing chooses.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::letters::{Aligner, Letters};
use crate::error::Result;

/// The weight of a shingle: five Chinese characters, or ten letters of an alphabet.
pub(super) const SHINGLE: u32 = 10;

/// Of this many consecutive shingles at least one is chosen.
const WINDOW: usize = 8;

const SEED: u64 = 0x616c_6967;

impl Aligner {
    /// The winnowed shingles of `text`, ascending, for a [`super::Library`].
    ///
    /// # Errors
    ///
    /// If the text is longer than the stages accept.
    pub fn sketch(&self, text: &str) -> Result<Vec<u32>> {
        Ok(winnowed(&self.letters(text)?))
    }
}

/// The hash of the shingle that begins at each letter, up to the last whole shingle.
pub(super) fn hashes(letters: &Letters) -> Vec<u64> {
    let mut bytes = Vec::with_capacity(4 * SHINGLE as usize);
    let mut found = Vec::with_capacity(letters.len());
    for begin in 0..letters.len() {
        let Some(end) = letters.end_of(begin, SHINGLE) else {
            break;
        };
        bytes.clear();
        for &c in &letters.chars[begin..end] {
            bytes.extend_from_slice(&u32::from(c).to_le_bytes());
        }
        found.push(xxh3_64_with_seed(&bytes, SEED));
    }
    found
}

/// The part of a hash that a library stores.
pub(super) fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The smallest hash of each window of shingles, ascending and distinct (Schleimer, Wilkerson
/// and Aiken, 2003): two in nine of all.
///
/// So of any stretch of [`WINDOW`] + 4 Chinese characters that two texts share, both choose
/// the same shingle.
pub(super) fn winnowed(letters: &Letters) -> Vec<u32> {
    let all: Vec<u32> = hashes(letters).into_iter().map(short).collect();
    if all.is_empty() {
        return all;
    }
    let mut chosen = Vec::with_capacity(all.len() / 4 + 1);
    let mut least = 0;
    let last_window = all.len().saturating_sub(WINDOW);
    for begin in 0..=last_window {
        let end = (begin + WINDOW).min(all.len());
        if begin == 0 || least < begin {
            // The last of equal minima stays in the window for longest.
            least = (begin..end)
                .rev()
                .min_by_key(|&at| all[at])
                .unwrap_or(begin);
        } else if all[end - 1] <= all[least] {
            least = end - 1;
        }
        chosen.push(all[least]);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
