/*! Blocks: keys of fingerprints, by the pigeonhole principle.

Fingerprints within `max_distance` bits of each other agree on at least one of these
keys (`layout.rs`). If the distance is large for the width, there are no keys,
because too many blocks could differ.
*/

use crate::error::Result;
use crate::fingerprints::{Fingerprints, check_distance, words};
use crate::layout::{Layout, MAX_BLOCKS, Table, all_bits, choices};

/// The longest part of a fingerprint in a key; the number of the table is in the bits
/// above it.
const KEY_BITS: u32 = 40;

/// More tables are worthwhile until keys have this many bits.
const WANTED_BITS: u32 = 20;
/// With fewer bits, keys are useless: in a store outside of memory, and in memory.
const FEWEST_BITS: u32 = 16;
const FEWEST_BITS_IN_MEMORY: u32 = 11;

/// The maximum number of keys of a fingerprint.
const MOST_TABLES: u64 = 32;

/// The keys of fingerprints of one width; none if keys would be useless.
#[derive(Clone, Debug)]
pub struct BlockKeys(Vec<Table>);

impl BlockKeys {
    /// The keys of fingerprints of `bits` bits.
    ///
    /// # Errors
    ///
    /// If no fingerprint has `bits` bits, or `max_distance` exceeds them.
    pub fn new(bits: u32, max_distance: u32) -> Result<Self> {
        BlockKeys::of_bits(bits, max_distance, FEWEST_BITS)
    }

    /// The keys of fingerprints of `bits` bits in memory, where shorter ones are useful too.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn in_memory(bits: u32, max_distance: u32) -> Result<Self> {
        BlockKeys::of_bits(bits, max_distance, FEWEST_BITS_IN_MEMORY)
    }

    fn of_bits(bits: u32, max_distance: u32, fewest: u32) -> Result<Self> {
        words(bits)?;
        check_distance(bits, max_distance)?;
        let tables = blocks(bits, max_distance, fewest).map(|blocks| {
            let layout = Layout::new(&all_bits(bits), blocks, max_distance);
            layout.long_tables(KEY_BITS).collect()
        });
        Ok(BlockKeys(tables.unwrap_or_default()))
    }

    /// Whether keys would be useless.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the keys of a document, ascending.
    pub fn of(&self, fingerprints: &Fingerprints, document: u32, keys: &mut Vec<u64>) {
        let mut row = [0; 4];
        let words = fingerprints.get(document as usize).unwrap_or_default();
        row[..words.len()].copy_from_slice(&words);
        let numbered = self.0.iter().zip(0_u64..);
        keys.extend(numbered.map(|(table, at)| at << KEY_BITS | table.key(&row) as u64));
    }
}

/// The number of blocks to cut a fingerprint into for look-ups in memory, if they use keys.
pub(crate) fn blocks_in_memory(bits: u32, max_distance: u32) -> Option<u32> {
    blocks(bits, max_distance, FEWEST_BITS_IN_MEMORY)
}

/// The number of blocks to cut a fingerprint into, for keys of at least `fewest` bits; `None` if
/// they would be shorter.
fn blocks(bits: u32, max_distance: u32, fewest: u32) -> Option<u32> {
    let most = bits.min(MAX_BLOCKS);
    let choices = (max_distance + 1..=most).map_while(|blocks| {
        let tables = choices(blocks, max_distance)?;
        (tables <= MOST_TABLES).then_some((blocks, bits * (blocks - max_distance) / blocks))
    });
    let mut longest = None;
    for (blocks, key_bits) in choices {
        if key_bits >= fewest {
            longest = Some(blocks);
        }
        if key_bits >= WANTED_BITS {
            break;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_long_or_there_is_none() {
        let found = [
            (64, 3, Some(5)),
            (64, 0, Some(1)),
            (128, 3, Some(4)),
            (32, 3, Some(6)),
            (32, 15, None),
            (128, 40, None),
            (64, 64, None),
            (8, 3, None),
            (31, 3, None),
            (61, 3, Some(5)),
        ];
        for (bits, max_distance, expected) in found {
            assert_eq!(
                blocks(bits, max_distance, FEWEST_BITS),
                expected,
                "{bits} {max_distance}"
            );
        }
        let in_memory = [(64, 3, Some(5)), (128, 10, Some(11)), (128, 11, None)];
        for (bits, max_distance, expected) in in_memory {
            let found = blocks(bits, max_distance, FEWEST_BITS_IN_MEMORY);
            assert_eq!(found, expected, "{bits} {max_distance}");
        }
    }
}
