/*! Scan: every fingerprint against every other, by SIMD brute force.

It needs no keys, and no memory beyond the columns. It is the fastest scheme for wide fingerprints
with a large radius, up to about a million documents. The rows are cut into tiles that fit the
first-level cache; queries, held in registers, are compared with all rows of a tile. Quadratic;
exact.
*/

use rayon::prelude::*;

use super::fingerprints::{Fingerprints, Rows, check_distance, cut, gather, length, with_words};
use super::kernels::Kernel;
use super::lists::{Near, Neighbours, Pair, Pairs};
use crate::error::Result;

/// Words in a tile of rows: half of a small first-level cache.
const TILE_WORDS: usize = 2048;
/// Queries in one task: enough to be worth the cost of reading its rows.
const TASK_QUERIES: usize = 1024;
/// Tiles in one task.
const TASK_TILES: usize = 8;

/// All documents from number `from` on within `max_distance` bits of `query`, with distances,
/// ascending, found with `kernel`.
///
/// # Errors
/// If `query` has another width than the fingerprints, or `max_distance` exceeds it.
pub fn one_against_many(
    kernel: Kernel,
    query: &[u64],
    fingerprints: &Fingerprints,
    from: u32,
    max_distance: u32,
) -> Result<Vec<Near>> {
    fingerprints.check_row(query)?;
    check_distance(fingerprints.bits(), max_distance)?;
    let count = fingerprints.len();
    let begin = (from as usize).min(count);
    let mut found = Vec::new();
    with_words!(fingerprints.words(), W => {
        let query: [u64; W] = std::array::from_fn(|word| query[word]);
        let rows = cut(fingerprints.rows::<W>(), begin..count);
        kernel.one(query, rows, max_distance, |row, distance| {
            found.push(((begin + row) as u32, distance as u16));
        });
    });
    found.sort_unstable();
    Ok(found)
}

/// For each query, all documents within `max_distance` bits, found with
/// `kernel` on the threads of the current pool.
///
/// # Errors
/// If the widths differ or `max_distance` exceeds them.
pub fn many_against_many(
    kernel: Kernel,
    queries: &Fingerprints,
    fingerprints: &Fingerprints,
    max_distance: u32,
) -> Result<Neighbours> {
    fingerprints.check_width(queries)?;
    check_distance(fingerprints.bits(), max_distance)?;
    Ok(with_words!(fingerprints.words(), W => {
        let found = tiles(kernel, queries.rows::<W>(), fingerprints.rows::<W>(), max_distance);
        Neighbours::from_found(queries.len(), found)
    }))
}

/// All pairs of documents within `max_distance` bits, found with `kernel` on
/// the threads of the current pool. Equal fingerprints are not grouped.
///
/// # Errors
/// If `max_distance` exceeds the fingerprints' width.
pub fn all_pairs(kernel: Kernel, fingerprints: &Fingerprints, max_distance: u32) -> Result<Pairs> {
    check_distance(fingerprints.bits(), max_distance)?;
    let ids: Vec<u32> = (0..fingerprints.len() as u32).collect();
    Ok(with_words!(fingerprints.words(), W => {
        let rows = fingerprints.rows::<W>();
        Pairs::from_found(triangle(kernel, rows, &ids, max_distance, |_| true))
    }))
}

/// Every `(query, row)` within the radius, in no particular order.
pub(super) fn tiles<const W: usize>(
    kernel: Kernel,
    queries: Rows<'_, W>,
    rows: Rows<'_, W>,
    max_distance: u32,
) -> Vec<Pair> {
    let tile = TILE_WORDS / W;
    let across = length(rows).div_ceil(TASK_TILES * tile);
    let tasks = length(queries).div_ceil(TASK_QUERIES) * across;
    let found: Vec<Vec<Pair>> = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let first_query = task / across * TASK_QUERIES;
            let last_query = (first_query + TASK_QUERIES).min(length(queries));
            let task_queries = cut(queries, first_query..last_query);
            let first = task % across * TASK_TILES * tile;
            let last = (first + TASK_TILES * tile).min(length(rows));
            let mut found = Vec::new();
            for begin in (first..last).step_by(tile) {
                let range = begin..(begin + tile).min(last);
                kernel.tile(
                    task_queries,
                    cut(rows, range),
                    max_distance,
                    |query, row, distance| {
                        let query = (first_query + query) as u32;
                        found.push(Pair::new(query, (begin + row) as u32, distance));
                    },
                );
            }
            found
        })
        .collect();
    found.concat()
}

/// Every pair of documents within the radius that `keep` accepts by its differing words, in no
/// particular order.
pub(super) fn triangle<const W: usize>(
    kernel: Kernel,
    rows: Rows<'_, W>,
    ids: &[u32],
    max_distance: u32,
    keep: impl Fn(&[u64; W]) -> bool + Sync,
) -> Vec<Pair> {
    let tile = TILE_WORDS / W;
    let count = length(rows);
    let found: Vec<Vec<Pair>> = (0..count.div_ceil(tile))
        .into_par_iter()
        .map(|task| {
            let first = task * tile;
            let range = first..(first + tile).min(count);
            let mut found = Vec::new();
            let mut emit = |one: usize, other: usize, distance: u32| {
                if keep(&differing(rows, one, other)) {
                    found.push(Pair::new(ids[one], ids[other], distance));
                }
            };
            let band = cut(rows, range.clone());
            kernel.triangle(band, max_distance, |one, other, distance| {
                emit(first + one, first + other, distance);
            });
            for begin in (range.end..count).step_by(tile) {
                let other = cut(rows, begin..(begin + tile).min(count));
                kernel.tile(band, other, max_distance, |one, other, distance| {
                    emit(first + one, begin + other, distance);
                });
            }
            found
        })
        .collect();
    found.concat()
}

/// The XOR of two rows: its ones are the bits in which they differ.
#[inline]
pub(super) fn differing<const W: usize>(rows: Rows<'_, W>, one: usize, other: usize) -> [u64; W] {
    let (one, other) = (gather(rows, one), gather(rows, other));
    std::array::from_fn(|word| one[word] ^ other[word])
}
