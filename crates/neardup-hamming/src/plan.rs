/*! The cheapest scheme, and its cost.

Takes the number of documents, the width of their fingerprints and a radius. Yields a [`Plan`]:
the scan or a number of blocks, whichever costs least by a model. The model has a few constants in
nanoseconds, measured on one core of an AVX-512 server. They are compiled in, so a plan is the
same on every machine. A machine without AVX-512 needs more time than the plan says. The answer
of a search never depends on the plan.

Symbols: *n* documents, *b* blocks, *d* the radius, *t* = C(b, d) tables, *k* the bits of the
shortest key, *u* = min(k, log2(n / 16)) its used bits.

All pairs:
- scan: n²/2 comparisons;
- blocks: to collapse n rows; for each table to partition n rows, to visit 2^u
  buckets and to make n²/2 / 2^u comparisons.

Look-ups (each document is looked up among the earlier ones, then added), by [`BlockKeys`](crate::BlockKeys):
- scan: n²/2 comparisons, in tiles;
- blocks: to number, look up and file the key of each table, and to read n/2 / 2^k
  entries of each list, but at most as long as a scan takes.

The model assumes uniformly random fingerprints. Real ones are skewed, which costs more; the join
checks a plan on a sample before it uses it (see [`super::all_pairs`]).
*/

use super::block_keys::blocks_in_memory;
use super::fingerprints::{check_distance, word_count, words};
use super::layout::{MAX_BLOCKS, MAX_TABLES, choices, used_bits};
use crate::error::{Error, Result};

/// Nanoseconds to compare two fingerprints of one word inside a bucket or tile.
const COMPARE_NS: f64 = 0.035;
/// Nanoseconds to partition a row of one word by a key, and to read it back.
const PARTITION_NS: f64 = 8.0;
/// Nanoseconds for each further word of a partitioned row.
const PARTITION_WORD_NS: f64 = 4.0;
/// Nanoseconds to visit a bucket.
const BUCKET_NS: f64 = 20.0;
/// Nanoseconds to check whether a row equals an earlier one.
const COLLAPSE_NS: f64 = 15.0;
/// Nanoseconds to number a key, to look it up and to file it: cache misses.
const KEY_NS: f64 = 120.0;
/// Nanoseconds to read an entry of a list and to compare its fingerprint: cache misses.
const ENTRY_NS: f64 = 20.0;
/// Bytes for a key in memory: its number, and its entry in a list.
const KEY_BYTES: u64 = 8;

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Every fingerprint is compared with every other.
    Scan,
    /// Only fingerprints that agree on some blocks of bits are compared.
    Blocks {
        /// The number of parts of a fingerprint.
        blocks: u32,
        /// The number of tables: one for each choice of blocks, with its own key.
        tables: u64,
        /// The number of bits of the shortest key.
        key_bits: u32,
    },
}

impl Scheme {
    /// The scheme that cuts `bits` into `blocks` for the radius `max_distance`.
    ///
    /// # Errors
    /// If `bits` is not a width, `max_distance` exceeds it, `blocks` is not above `max_distance`,
    /// `blocks` exceeds 64 or `bits`, or there would be more than 20,000 tables.
    pub fn blocks(bits: u32, max_distance: u32, blocks: u32) -> Result<Self> {
        words(bits)?;
        check_distance(bits, max_distance)?;
        block_scheme(bits, max_distance, blocks).ok_or_else(|| {
            Error::parameter(
                "blocks",
                format!(
                    "above {max_distance} and at most {}, with at most {MAX_TABLES} tables",
                    MAX_BLOCKS.min(bits)
                ),
                blocks,
            )
        })
    }

    /// Refuses a scheme that does not fit the width and the radius.
    pub(super) fn check(&self, bits: u32, max_distance: u32) -> Result<()> {
        if let Scheme::Blocks { blocks, .. } = *self {
            Scheme::blocks(bits, max_distance, blocks)?;
        }
        Ok(())
    }
}

/// A scheme and its expected cost. The formulae are in the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The number of documents.
    pub documents: u64,
    /// The bits of a fingerprint.
    pub bits: u32,
    /// The radius, inclusive.
    pub max_distance: u32,
    /// The cheapest scheme.
    pub scheme: Scheme,
    /// Estimated seconds on one core, for all documents together.
    pub seconds: f64,
    /// Bytes in memory for each document, including the fingerprint itself.
    pub bytes_per_document: u64,
    /// The number of comparisons of fingerprints.
    pub comparisons: f64,
    /// The number of pairs within the radius if all fingerprints were random. Such pairs are
    /// candidates although their documents have nothing in common.
    pub random_pairs: f64,
}

/// Plans the search for all pairs within `max_distance` among `documents` fingerprints of `bits`
/// bits.
///
/// # Errors
/// If `bits` is not a width or `max_distance` exceeds it.
///
/// # Examples
/// ```
/// use neardup_hamming::{Scheme, plan};
///
/// let near = plan(10_000_000, 64, 3)?;
/// assert!(matches!(near.scheme, Scheme::Blocks { tables: 4, .. }));
/// let wide = plan(100_000, 128, 40)?;
/// assert_eq!(wide.scheme, Scheme::Scan);
/// # Ok::<(), neardup_hamming::Error>(())
/// ```
pub fn plan(documents: u64, bits: u32, max_distance: u32) -> Result<Plan> {
    words(bits)?;
    check_distance(bits, max_distance)?;
    Ok(cheapest(documents, bits, bits, max_distance))
}

/// The plan of a given scheme for all pairs.
///
/// # Errors
/// As [`plan()`](fn@plan), and if the scheme does not fit.
pub fn plan_for(documents: u64, bits: u32, max_distance: u32, scheme: Scheme) -> Result<Plan> {
    words(bits)?;
    check_distance(bits, max_distance)?;
    scheme.check(bits, max_distance)?;
    Ok(cost(documents, bits, max_distance, scheme))
}

/// Plans look-ups in memory: each document is looked up among the earlier ones, then added.
///
/// # Errors
/// As [`plan()`](fn@plan).
pub fn plan_look_ups(documents: u64, bits: u32, max_distance: u32) -> Result<Plan> {
    words(bits)?;
    check_distance(bits, max_distance)?;
    let scan = cost(documents, bits, max_distance, Scheme::Scan);
    let blocks = blocks_in_memory(bits, max_distance);
    let scheme = blocks.and_then(|blocks| block_scheme(bits, max_distance, blocks));
    let scheme = scheme.unwrap_or(Scheme::Scan);
    let Scheme::Blocks {
        tables, key_bits, ..
    } = scheme
    else {
        return Ok(scan);
    };
    let entries = tables as f64 * scan.comparisons / 2f64.powi(key_bits as i32);
    let keys = documents as f64 * tables as f64 * KEY_NS;
    let seconds = (keys + entries * ENTRY_NS) * 1e-9;
    Ok(Plan {
        scheme,
        seconds,
        comparisons: entries,
        bytes_per_document: 2 * scan.bytes_per_document + tables * KEY_BYTES,
        ..scan
    })
}

/// The cheapest plan for all pairs of fingerprints of `bits` bits that can differ only in
/// `free_bits` of them.
pub(super) fn cheapest(documents: u64, bits: u32, free_bits: u32, max_distance: u32) -> Plan {
    let mut best = cost(documents, bits, max_distance, Scheme::Scan);
    for blocks in max_distance + 1..=MAX_BLOCKS.min(free_bits) {
        let Some(scheme) = block_scheme(free_bits, max_distance, blocks) else {
            break;
        };
        let next = cost(documents, bits, max_distance, scheme);
        if next.seconds < best.seconds {
            best = next;
        }
    }
    best
}

/// The scheme with `blocks` blocks, unless it has too many tables.
pub(crate) fn block_scheme(bits: u32, max_distance: u32, blocks: u32) -> Option<Scheme> {
    if blocks <= max_distance || blocks > MAX_BLOCKS.min(bits) {
        return None;
    }
    let tables = choices(blocks, max_distance)?;
    let chosen = blocks - max_distance;
    let larger = bits % blocks;
    let key_bits = bits / blocks * chosen + (larger + chosen).saturating_sub(blocks);
    Some(Scheme::Blocks {
        blocks,
        tables,
        key_bits,
    })
}

/// The cost of all pairs by a scheme.
fn cost(documents: u64, bits: u32, max_distance: u32, scheme: Scheme) -> Plan {
    let words = word_count(bits) as u64;
    let rows = documents as f64;
    let all_pairs = rows * (rows - 1.0).max(0.0) / 2.0;
    let compare = COMPARE_NS * words as f64;
    let (nanoseconds, comparisons, bytes_per_document) = match scheme {
        Scheme::Scan => (all_pairs * compare, all_pairs, 8 * words),
        Scheme::Blocks {
            tables, key_bits, ..
        } => {
            let rows_counted = usize::try_from(documents).unwrap_or(usize::MAX);
            let buckets = (1_u64 << used_bits(rows_counted, key_bits)) as f64;
            let comparisons = tables as f64 * all_pairs / buckets;
            let partition = PARTITION_NS + PARTITION_WORD_NS * (words - 1) as f64;
            let each = rows * partition + buckets * BUCKET_NS;
            let total = rows * COLLAPSE_NS + tables as f64 * each + comparisons * compare;
            (total, comparisons, 16 * words + 5)
        }
    };
    Plan {
        documents,
        bits,
        max_distance,
        scheme,
        seconds: nanoseconds * 1e-9,
        bytes_per_document,
        comparisons,
        random_pairs: all_pairs * share_within(bits, max_distance),
    }
}

/// The share of random pairs within the radius: the lower tail of the binomial distribution of
/// `bits` fair coins. It uses only products and sums, so every platform computes the same value.
fn share_within(bits: u32, max_distance: u32) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for differ in 0..=max_distance {
        sum += ways;
        ways = ways * f64::from(bits - differ) / f64::from(differ + 1);
    }
    (0..bits).fold(sum, |share, _| share / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_binomials_until_they_are_too_many() {
        assert_eq!(choices(4, 3), Some(4));
        assert_eq!(choices(8, 6), Some(28));
        assert_eq!(choices(10, 0), Some(1));
        assert_eq!(choices(64, 32), None);
    }

    #[test]
    fn share_within_counts_the_ball() {
        let ball = 1.0 + 64.0 + 2016.0 + 41664.0;
        assert_eq!(share_within(64, 3), ball / 2f64.powi(64));
        assert!((share_within(256, 256) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_shortest_key_is_made_of_the_smallest_blocks() {
        let scheme = |bits, distance, blocks| match block_scheme(bits, distance, blocks) {
            Some(Scheme::Blocks { key_bits, .. }) => key_bits,
            _ => 0,
        };
        assert_eq!(scheme(64, 3, 4), 16);
        // 64 = 9 * 7 + 1: six blocks of 9 bits and one of 10.
        assert_eq!(scheme(64, 6, 7), 9);
        // 64 = 12 * 5 + 4: one block of 12 and four of 13.
        assert_eq!(scheme(64, 2, 5), 12 + 13 + 13);
    }
}
