/*! The comparison in plain Rust, compiled for the instructions that every processor of its kind
has: on 64-bit ARM, NEON. AVX2 and AVX-512 have their own: the same loop, compiled for them, takes a
quarter longer for all pairs.

A group of queries is compared with a block of rows by loops of fixed lengths without a branch, of
which the compiler makes vectors. One test says whether any pair of them is near. Near ones are
rare; only a block that has some is examined again.
*/

use super::super::fingerprints::{Rows, gather, length};

/// Queries of a group.
const GROUP: usize = 4;
/// Rows of a block.
const LANES: usize = 4;
/// Rows of a block that is compared with a single query.
const LANES_OF_ONE: usize = 8;

/// See [`super::Kernel`]: all queries against all rows.
#[inline(always)]
pub(super) fn tile<const W: usize>(
    queries: Rows<'_, W>,
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(queries);
    for at in (0..count).step_by(GROUP) {
        if count - at == 1 {
            group::<W, 1, LANES_OF_ONE>(queries, at, rows, 0, max_distance, emit);
        } else {
            group::<W, GROUP, LANES>(queries, at, rows, 0, max_distance, emit);
        }
    }
}

/// See [`super::Kernel`]: each row against those after it.
#[inline(always)]
pub(super) fn triangle<const W: usize>(
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(rows);
    for at in (0..count).step_by(GROUP) {
        // The block on the diagonal holds the group itself: a row is compared with those after it.
        let block = padded::<W, LANES>(rows, at);
        for query in 0..GROUP.min(count - at) {
            let after = first_lanes::<LANES>(count - at) & (u32::MAX << 1 << query);
            let held = gather(rows, at + query);
            report(&held, &block, after, max_distance, |lane, distance| {
                emit(at + query, at + lane, distance);
            });
        }
        group::<W, GROUP, LANES>(rows, at, rows, at + LANES, max_distance, emit);
    }
}

/// The queries from `at` on, as many as a group has, against the rows from `start` on. A group
/// that is not full repeats its last query, whose matches are then ignored.
#[inline(always)]
fn group<const W: usize, const G: usize, const L: usize>(
    queries: Rows<'_, W>,
    at: usize,
    rows: Rows<'_, W>,
    start: usize,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let live = (length(queries) - at).min(G);
    let held: [[u64; W]; G] =
        std::array::from_fn(|query| gather(queries, at + query.min(live - 1)));
    let count = length(rows);
    for row in (start..count).step_by(L) {
        if full::<W, L>(rows, row).is_some_and(|block| !any_near(&held, block, max_distance)) {
            continue;
        }
        let block = padded::<W, L>(rows, row);
        let lanes = first_lanes::<L>(count - row);
        for (query, held) in held.iter().enumerate().take(live) {
            report(held, &block, lanes, max_distance, |lane, distance| {
                emit(at + query, row + lane, distance);
            });
        }
    }
}

/// The block of rows from `row` on, if there are enough.
#[inline(always)]
fn full<const W: usize, const L: usize>(rows: Rows<'_, W>, row: usize) -> Option<[&[u64; L]; W]> {
    let mut block = [&[0; L]; W];
    for (part, column) in block.iter_mut().zip(rows) {
        *part = column.get(row..)?.first_chunk()?;
    }
    Some(block)
}

/// The block of rows from `row` on, with zeros after the last one.
#[inline(always)]
fn padded<const W: usize, const L: usize>(rows: Rows<'_, W>, row: usize) -> [[u64; L]; W] {
    rows.map(|column| match column[row..].first_chunk() {
        Some(block) => *block,
        None => std::array::from_fn(|lane| column.get(row + lane).copied().unwrap_or(0)),
    })
}

/// The lanes that hold one of `live` rows, one bit each.
#[inline(always)]
fn first_lanes<const L: usize>(live: usize) -> u32 {
    u32::MAX >> (32 - live.min(L))
}

/// Whether any query is near any row of a block.
#[inline(always)]
fn any_near<const W: usize, const G: usize, const L: usize>(
    queries: &[[u64; W]; G],
    block: [&[u64; L]; W],
    max_distance: u32,
) -> bool {
    // Vectors have no fast comparison of all kinds, but every one has signs: a difference is
    // negative if the pair is near.
    let above = i64::from(max_distance) + 1;
    let mut signs = [0; L];
    for query in queries {
        for (lane, sign) in signs.iter_mut().enumerate() {
            let mut distance = 0;
            for word in 0..W {
                distance += i64::from((query[word] ^ block[word][lane]).count_ones());
            }
            *sign |= distance - above;
        }
    }
    signs.into_iter().fold(false, |any, sign| any | (sign < 0))
}

/// Emits the values of `lanes` that are near a query.
#[inline(always)]
fn report<const W: usize, const L: usize>(
    query: &[u64; W],
    block: &[[u64; L]; W],
    lanes: u32,
    max_distance: u32,
    mut emit: impl FnMut(usize, u32),
) {
    let mut distances = [0; L];
    for (lane, distance) in distances.iter_mut().enumerate() {
        for word in 0..W {
            *distance += u64::from((query[word] ^ block[word][lane]).count_ones());
        }
    }
    let mut near = 0_u32;
    for (lane, &distance) in distances.iter().enumerate() {
        near |= u32::from(distance <= u64::from(max_distance)) << lane;
    }
    near &= lanes;
    while near != 0 {
        let lane = near.trailing_zeros() as usize;
        emit(lane, distances[lane] as u32);
        near &= near - 1;
    }
}
