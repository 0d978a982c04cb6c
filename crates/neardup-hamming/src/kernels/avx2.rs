/*! The comparison with AVX2.

Four rows fill a vector for each word. Bits are counted by a table look-up of half-bytes (Mula,
Kurz, Lemire, Computer Journal 61(1), 2018); the bytes of all words are added before one
horizontal sum. As in the AVX-512 kernel, a group of queries shares each load and one test. The
reference is `portable`.
*/

use std::arch::x86_64::*;

use super::super::fingerprints::{Rows, cut, gather, length};
use super::portable;

/// Rows in a vector.
const LANES: usize = 4;
/// Queries held in registers.
const GROUP: usize = 4;

/// See [`super::Kernel`]: all queries against all rows.
#[target_feature(enable = "avx2")]
pub(super) fn tile<const W: usize>(
    queries: Rows<'_, W>,
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(queries);
    let mut at = 0;
    while at < count {
        let live = count - at;
        if live == 1 {
            group::<W, 1>(queries, at, 1, rows, 0, max_distance, emit);
        } else {
            group::<W, GROUP>(queries, at, live, rows, 0, max_distance, emit);
        }
        at += GROUP;
    }
}

/// See [`super::Kernel`]: each row against those after it.
#[target_feature(enable = "avx2")]
pub(super) fn triangle<const W: usize>(
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(rows);
    let mut at = 0;
    while at + 1 < count {
        let live = (count - at).min(GROUP);
        portable::triangle(
            cut(rows, at..at + live),
            max_distance,
            &mut |first, second, distance| emit(at + first, at + second, distance),
        );
        group::<W, GROUP>(rows, at, live, rows, at + live, max_distance, emit);
        at += GROUP;
    }
}

/// Queries `at..at + min(live, G)` against the rows from `start` on. A group
/// that is not full repeats its last query, whose matches are then ignored.
#[inline]
#[target_feature(enable = "avx2")]
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
    let above = _mm256_set1_epi64x(i64::from(max_distance) + 1);
    let mut held = [[_mm256_setzero_si256(); W]; G];
    for (query, held) in held.iter_mut().enumerate() {
        let query = gather(queries, at + query.min(live - 1));
        for word in 0..W {
            held[word] = _mm256_set1_epi64x(query[word].cast_signed());
        }
    }
    let count = length(rows);
    let mut row = start;
    while row + LANES <= count {
        let mut vector = [_mm256_setzero_si256(); W];
        for word in 0..W {
            // SAFETY: `row + LANES <= count`, and every column has `count` rows.
            vector[word] = unsafe { _mm256_loadu_si256(rows[word].as_ptr().add(row).cast()) };
        }
        let mut least = compare(&held[0], &vector);
        for held in &held[1..] {
            // A 32-bit minimum is enough: the upper halves are all zero.
            least = _mm256_min_epu32(least, compare(held, &vector));
        }
        if within(least, above) != 0 {
            for (query, held) in held.iter().enumerate().take(live) {
                let distances = compare(held, &vector);
                let mut lanes = within(distances, above);
                let mut counts = [0_u64; LANES];
                // SAFETY: `counts` is exactly one vector long.
                unsafe { _mm256_storeu_si256(counts.as_mut_ptr().cast(), distances) };
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    emit(at + query, row + lane, counts[lane] as u32);
                    lanes &= lanes - 1;
                }
            }
        }
        row += LANES;
    }
    portable::tile(
        cut(queries, at..at + live),
        cut(rows, row.min(count)..count),
        max_distance,
        &mut |query, rest, distance| emit(at + query, row + rest, distance),
    );
}

/// The lanes whose distance is less than `above`, one bit each.
#[inline]
#[target_feature(enable = "avx2")]
fn within(distances: __m256i, above: __m256i) -> u32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(above, distances))).cast_unsigned()
}

/// The distances of one query to four rows.
#[inline]
#[target_feature(enable = "avx2")]
fn compare<const W: usize>(query: &[__m256i; W], vector: &[__m256i; W]) -> __m256i {
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let low = _mm256_set1_epi8(0x0f);
    let mut bytes = _mm256_setzero_si256();
    // Each word adds at most 8 to a byte's count, so four words stay below 256.
    for word in 0..W {
        let differ = _mm256_xor_si256(query[word], vector[word]);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differ), low);
        bytes = _mm256_add_epi8(
            bytes,
            _mm256_shuffle_epi8(table, _mm256_and_si256(differ, low)),
        );
        bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(table, high));
    }
    _mm256_sad_epu8(bytes, _mm256_setzero_si256())
}
