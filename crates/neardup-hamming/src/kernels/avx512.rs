/*! The comparison with AVX-512 and its population count.

Eight rows fill a vector for each word. A group of queries stays in registers while it is compared
with all rows. Of the distances of a group, only the minimum is tested, so there is one test for
each vector and group, not one for each query. Matches are rare; only a vector with a match is
examined again.
*/

use std::arch::x86_64::*;

use super::super::fingerprints::{Rows, gather, length};

/// Rows in a vector.
const LANES: usize = 8;
/// Queries held in registers for fingerprints of up to two words. With four words, half as many
/// queries fill these registers.
const GROUP: usize = 8;

/// See [`super::Kernel`]: all queries against all rows.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn tile<const W: usize>(
    queries: Rows<'_, W>,
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(queries);
    let step = if W > 2 { GROUP / 2 } else { GROUP };
    let mut at = 0;
    while at < count {
        let live = count - at;
        if live == 1 {
            one(queries, at, rows, max_distance, emit);
        } else if W > 2 {
            group::<W, { GROUP / 2 }>(queries, at, live, rows, 0, max_distance, emit);
        } else {
            group::<W, GROUP>(queries, at, live, rows, 0, max_distance, emit);
        }
        at += step;
    }
}

/// See [`super::Kernel`]: each row against those after it.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn triangle<const W: usize>(
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(rows);
    let limit = _mm512_set1_epi64(i64::from(max_distance));
    let step = if W > 2 { GROUP / 2 } else { GROUP };
    let mut at = 0;
    while at + 1 < count {
        // The vector on the diagonal holds the group itself: lane k is only compared with the
        // queries before it.
        let live = count - at;
        let lanes = first_lanes(live);
        let vector = load_some(rows, at, lanes);
        for query in 0..step.min(live) {
            let after = lanes & (0xfe_u8 << query);
            let distances = compare(&broadcast(gather(rows, at + query)), &vector);
            report(distances, limit, after, at + query, at, emit);
        }
        if live > LANES {
            if W > 2 {
                group::<W, { GROUP / 2 }>(rows, at, live, rows, at + LANES, max_distance, emit);
            } else {
                group::<W, GROUP>(rows, at, live, rows, at + LANES, max_distance, emit);
            }
        }
        at += step;
    }
}

/// Query `at` against all rows: four vectors share one test.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn one<const W: usize>(
    queries: Rows<'_, W>,
    at: usize,
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    const VECTORS: usize = 4;
    let limit = _mm512_set1_epi64(i64::from(max_distance));
    let held = broadcast(gather(queries, at));
    let count = length(rows);
    let mut row = 0;
    while row + VECTORS * LANES <= count {
        let mut distances = [_mm512_setzero_si512(); VECTORS];
        for (vector, distances) in distances.iter_mut().enumerate() {
            // SAFETY: all four vectors end at or before `count`, and every
            // column has `count` rows.
            *distances = compare(&held, &unsafe { load_full(rows, row + vector * LANES) });
        }
        let least = _mm512_min_epu64(
            _mm512_min_epu64(distances[0], distances[1]),
            _mm512_min_epu64(distances[2], distances[3]),
        );
        if _mm512_cmple_epu64_mask(least, limit) != 0 {
            for (vector, distances) in distances.into_iter().enumerate() {
                report(distances, limit, 0xff, at, row + vector * LANES, emit);
            }
        }
        row += VECTORS * LANES;
    }
    while row < count {
        let lanes = first_lanes(count - row);
        let distances = compare(&held, &load_some(rows, row, lanes));
        report(distances, limit, lanes, at, row, emit);
        row += LANES;
    }
}

/// Queries `at..at + min(live, G)` against the rows from `start` on. A group
/// that is not full repeats its last query, whose matches are then ignored.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn group<const W: usize, const G: usize>(
    queries: Rows<'_, W>,
    at: usize,
    live: usize,
    rows: Rows<'_, W>,
    start: usize,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let live = live.min(G);
    let limit = _mm512_set1_epi64(i64::from(max_distance));
    let mut held = [[_mm512_setzero_si512(); W]; G];
    for (query, held) in held.iter_mut().enumerate() {
        *held = broadcast(gather(queries, at + query.min(live - 1)));
    }
    let count = length(rows);
    let mut row = start;
    while row < count {
        let lanes = first_lanes(count - row);
        let vector = if lanes == 0xff {
            // SAFETY: `row + LANES <= count`, and every column has `count` rows.
            unsafe { load_full(rows, row) }
        } else {
            load_some(rows, row, lanes)
        };
        let mut least = compare(&held[0], &vector);
        for held in &held[1..] {
            least = _mm512_min_epu64(least, compare(held, &vector));
        }
        if _mm512_mask_cmple_epu64_mask(lanes, least, limit) != 0 {
            for (query, held) in held.iter().enumerate().take(live) {
                report(compare(held, &vector), limit, lanes, at + query, row, emit);
            }
        }
        row += LANES;
    }
}

/// The mask of the lanes that hold one of `live` rows.
#[inline]
fn first_lanes(live: usize) -> __mmask8 {
    if live >= LANES { 0xff } else { (1 << live) - 1 }
}

/// A query in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn broadcast<const W: usize>(query: [u64; W]) -> [__m512i; W] {
    let mut held = [_mm512_setzero_si512(); W];
    for word in 0..W {
        held[word] = _mm512_set1_epi64(query[word].cast_signed());
    }
    held
}

/// Eight rows.
///
/// # Safety
/// Every column must have at least `row + LANES` rows.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
unsafe fn load_full<const W: usize>(rows: Rows<'_, W>, row: usize) -> [__m512i; W] {
    let mut vector = [_mm512_setzero_si512(); W];
    for word in 0..W {
        // SAFETY: the caller guarantees rows `row..row + LANES`.
        vector[word] = unsafe { _mm512_loadu_si512(rows[word].as_ptr().add(row).cast()) };
    }
    vector
}

/// The rows from `row` on in the lanes of the mask `lanes`, and zero in the other lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn load_some<const W: usize>(rows: Rows<'_, W>, row: usize, lanes: __mmask8) -> [__m512i; W] {
    let mut vector = [_mm512_setzero_si512(); W];
    for word in 0..W {
        let rest = &rows[word][row..];
        debug_assert!(first_lanes(rest.len()) & lanes == lanes);
        let lanes = lanes & first_lanes(rest.len());
        // SAFETY: lanes outside the mask are not read, and the mask was cut to the rows of
        // `rest`.
        vector[word] = unsafe { _mm512_maskz_loadu_epi64(lanes, rest.as_ptr().cast()) };
    }
    vector
}

/// The distances of one query to eight rows.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn compare<const W: usize>(query: &[__m512i; W], vector: &[__m512i; W]) -> __m512i {
    let mut sum = _mm512_popcnt_epi64(_mm512_xor_si512(query[0], vector[0]));
    for word in 1..W {
        let differ = _mm512_xor_si512(query[word], vector[word]);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(differ));
    }
    sum
}

/// Emits the lanes within the limit.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn report(
    distances: __m512i,
    limit: __m512i,
    lanes: __mmask8,
    query: usize,
    row: usize,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let mut within = _mm512_mask_cmple_epu64_mask(lanes, distances, limit);
    if within == 0 {
        return;
    }
    let mut counts = [0_u64; LANES];
    // SAFETY: `counts` is exactly one vector long.
    unsafe { _mm512_storeu_si512(counts.as_mut_ptr().cast(), distances) };
    while within != 0 {
        let lane = within.trailing_zeros() as usize;
        emit(query, row + lane, counts[lane] as u32);
        within &= within - 1;
    }
}
