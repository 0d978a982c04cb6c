/*! The comparison in plain Rust: always compiled, and the reference for the SIMD
kernels. */

use super::super::fingerprints::{Rows, cut, gather, length};

/// See [`super::Kernel`]: all queries against all rows.
pub(super) fn tile<const W: usize>(
    queries: Rows<'_, W>,
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(rows);
    for query in 0..length(queries) {
        one(
            gather(queries, query),
            cut(rows, 0..count),
            max_distance,
            |row, distance| emit(query, row, distance),
        );
    }
}

/// See [`super::Kernel`]: each row against those after it.
pub(super) fn triangle<const W: usize>(
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(rows);
    for first in 0..count {
        one(
            gather(rows, first),
            cut(rows, first + 1..count),
            max_distance,
            |row, distance| emit(first, first + 1 + row, distance),
        );
    }
}

/// One query against all rows.
#[inline]
fn one<const W: usize>(
    query: [u64; W],
    rows: Rows<'_, W>,
    max_distance: u32,
    mut emit: impl FnMut(usize, u32),
) {
    for row in 0..length(rows) {
        let distance = gather(rows, row)
            .iter()
            .zip(&query)
            .map(|(word, other)| (word ^ other).count_ones())
            .sum();
        if distance <= max_distance {
            emit(row, distance);
        }
    }
}
