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

Look-ups (each document is looked up among the earlier ones, then added):
- scan: n²/2 comparisons, in tiles;
- blocks: to look a document up in every table of about log2(n / 2048) / 2 runs
  and to compare it with n/2 / 2^u rows of each table; to sort each document
  into each table about log2(n / 2048) times.

The model assumes uniformly random fingerprints. Real ones are skewed, which costs more; the join
checks a plan on a sample before it uses it (see [`super::all_pairs`]).
*/

use serde::{Deserialize, Serialize};

use super::fingerprints::{check_distance, word_count, words};
use super::layout::{MAX_BLOCKS, used_bits};
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
/// Nanoseconds to look one key up in one run: a cache miss.
const PROBE_NS: f64 = 80.0;
/// Nanoseconds to read a word of a bucket in a look-up. It is read from memory, which takes
/// longer than to compare it.
const READ_NS: f64 = 0.5;
/// Nanoseconds to sort a row into a table of a run.
const FILE_NS: f64 = 8.0;

/// Rows of the unsorted tail of a [`super::HammingIndex`].
pub(super) const TAIL_ROWS: usize = 2048;

/// The maximum number of tables. More are never worth their cost.
const MAX_TABLES: u64 = 20_000;

/// The maximum number of bytes for each document in the tables of look-ups.
const MAX_LOOK_UP_BYTES: u64 = 1024;

/// The purpose of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// All pairs of a complete collection.
    AllPairs,
    /// Each document is looked up among the earlier ones, then added.
    LookUps,
}

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The number of documents.
    pub documents: u64,
    /// The bits of a fingerprint.
    pub bits: u32,
    /// The radius, inclusive.
    pub max_distance: u32,
    /// The purpose of the search.
    pub purpose: Purpose,
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

/// Plans the search for pairs within `max_distance` among `documents` fingerprints of `bits`
/// bits.
///
/// # Errors
/// If `bits` is not a width or `max_distance` exceeds it.
///
/// # Examples
/// ```
/// use neardup_hamming::{Purpose, Scheme, plan};
///
/// let near = plan(10_000_000, 64, 3, Purpose::AllPairs)?;
/// assert!(matches!(near.scheme, Scheme::Blocks { tables: 4, .. }));
/// let wide = plan(100_000, 128, 40, Purpose::AllPairs)?;
/// assert_eq!(wide.scheme, Scheme::Scan);
/// # Ok::<(), neardup_hamming::Error>(())
/// ```
pub fn plan(documents: u64, bits: u32, max_distance: u32, purpose: Purpose) -> Result<Plan> {
    words(bits)?;
    check_distance(bits, max_distance)?;
    Ok(cheapest(documents, bits, bits, max_distance, purpose))
}

/// The plan of a given scheme.
///
/// # Errors
/// As [`plan()`](fn@plan), and if the scheme does not fit.
pub fn plan_for(
    documents: u64,
    bits: u32,
    max_distance: u32,
    purpose: Purpose,
    scheme: Scheme,
) -> Result<Plan> {
    words(bits)?;
    check_distance(bits, max_distance)?;
    scheme.check(bits, max_distance)?;
    Ok(cost(documents, bits, max_distance, purpose, scheme))
}

/// The cheapest plan for fingerprints of `bits` bits that can differ only in `free_bits` of them.
pub(super) fn cheapest(
    documents: u64,
    bits: u32,
    free_bits: u32,
    max_distance: u32,
    purpose: Purpose,
) -> Plan {
    let mut best = cost(documents, bits, max_distance, purpose, Scheme::Scan);
    for blocks in max_distance + 1..=MAX_BLOCKS.min(free_bits) {
        let Some(scheme) = block_scheme(free_bits, max_distance, blocks) else {
            break;
        };
        let next = cost(documents, bits, max_distance, purpose, scheme);
        let fits = purpose == Purpose::AllPairs || next.bytes_per_document <= MAX_LOOK_UP_BYTES;
        if fits && next.seconds < best.seconds {
            best = next;
        }
    }
    best
}

/// The scheme with `blocks` blocks, unless it has too many tables.
fn block_scheme(bits: u32, max_distance: u32, blocks: u32) -> Option<Scheme> {
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

/// C(blocks, spoilt), the number of tables, unless there are too many.
pub(crate) fn choices(blocks: u32, spoilt: u32) -> Option<u64> {
    let mut choices: u64 = 1;
    for step in 0..u64::from(spoilt.min(blocks - spoilt)) {
        choices = choices * (u64::from(blocks) - step) / (step + 1);
        if choices > MAX_TABLES {
            return None;
        }
    }
    Some(choices)
}

/// The plan of a scheme: its cost by the model.
fn cost(documents: u64, bits: u32, max_distance: u32, purpose: Purpose, scheme: Scheme) -> Plan {
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
            let used = used_bits(rows_counted, key_bits);
            let buckets = (1_u64 << used) as f64;
            let comparisons = tables as f64 * all_pairs / buckets;
            match purpose {
                Purpose::AllPairs => {
                    let partition = PARTITION_NS + PARTITION_WORD_NS * (words - 1) as f64;
                    let each = rows * partition + buckets * BUCKET_NS;
                    let total = rows * COLLAPSE_NS + tables as f64 * each + comparisons * compare;
                    (total, comparisons, 16 * words + 5)
                }
                Purpose::LookUps => {
                    let merges = f64::from((documents / TAIL_ROWS as u64).max(1).ilog2() + 1);
                    let runs = (merges + 1.0) / 2.0;
                    let each = tables as f64 * (runs * PROBE_NS + merges * FILE_NS);
                    let in_tails = rows * TAIL_ROWS as f64 / 2.0;
                    let read = comparisons * READ_NS * words as f64;
                    let total = rows * each + read + in_tails * compare;
                    let comparisons = comparisons + in_tails;
                    let directory = (4_u64 << used).div_ceil(documents.max(1));
                    let bytes = 8 * words + tables * (8 * words + 4 + directory);
                    (total, comparisons, bytes)
                }
            }
        }
    };
    Plan {
        documents,
        bits,
        max_distance,
        purpose,
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
