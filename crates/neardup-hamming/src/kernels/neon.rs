/*! The comparison with NEON, which every 64-bit ARM has.

Two rows fill a vector for each word. The bits of bytes are counted by one instruction; the bytes
of all words are added before they are summed in pairs. As in the AVX kernels, a group of queries
shares each load and one test. The reference is `scalar`.
*/

use std::arch::aarch64::{
    uint64x2_t, vaddq_u8, vcleq_u64, vcntq_u8, vdupq_n_u8, vdupq_n_u64, veorq_u64, vld1q_u64,
    vmaxvq_u32, vminq_u32, vpaddlq_u8, vpaddlq_u16, vpaddlq_u32, vreinterpretq_u8_u64,
    vreinterpretq_u32_u64, vreinterpretq_u64_u32, vst1q_u64,
};

use super::super::fingerprints::{Rows, cut, gather, length};
use super::scalar;

/// Rows in a vector.
const LANES: usize = 2;
/// Queries held in registers.
const GROUP: usize = 4;

/// See [`super::Kernel`]: all queries against all rows.
pub(super) fn tile<const W: usize>(
    queries: Rows<'_, W>,
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    for at in (0..length(queries)).step_by(GROUP) {
        group(queries, at, rows, 0, max_distance, emit);
    }
}

/// See [`super::Kernel`]: each row against those after it.
pub(super) fn triangle<const W: usize>(
    rows: Rows<'_, W>,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let count = length(rows);
    for at in (0..count).step_by(GROUP) {
        let end = (at + GROUP).min(count);
        scalar::triangle(
            cut(rows, at..end),
            max_distance,
            &mut |first, second, distance| emit(at + first, at + second, distance),
        );
        group(rows, at, rows, end, max_distance, emit);
    }
}

/// The queries from `at` on, as many as a group has, against the rows from `start` on. A group
/// that is not full repeats its last query, whose matches are then ignored.
#[inline]
fn group<const W: usize>(
    queries: Rows<'_, W>,
    at: usize,
    rows: Rows<'_, W>,
    start: usize,
    max_distance: u32,
    emit: &mut impl FnMut(usize, usize, u32),
) {
    let live = (length(queries) - at).min(GROUP);
    let held: [[uint64x2_t; W]; GROUP] = std::array::from_fn(|query| {
        // SAFETY: every 64-bit ARM has NEON.
        gather(queries, at + query.min(live - 1)).map(|word| unsafe { vdupq_n_u64(word) })
    });
    let count = length(rows);
    let mut row = start;
    while row + LANES <= count {
        let vector: [uint64x2_t; W] = std::array::from_fn(|word| {
            // SAFETY: `row + LANES <= count`, and every column has `count` rows.
            unsafe { vld1q_u64(rows[word].as_ptr().add(row)) }
        });
        let distances = held.each_ref().map(|query| compare(query, &vector));
        if any_within(least(&distances), max_distance) {
            for (query, &distances) in distances.iter().enumerate().take(live) {
                let mut lanes = [0_u64; LANES];
                // SAFETY: `lanes` is exactly one vector long.
                unsafe { vst1q_u64(lanes.as_mut_ptr(), distances) };
                for (lane, distance) in lanes.into_iter().enumerate() {
                    if distance <= u64::from(max_distance) {
                        emit(at + query, row + lane, distance as u32);
                    }
                }
            }
        }
        row += LANES;
    }
    scalar::tile(
        cut(queries, at..at + live),
        cut(rows, row.min(count)..count),
        max_distance,
        &mut |query, rest, distance| emit(at + query, row + rest, distance),
    );
}

/// The smaller distance in each lane. A 32-bit minimum is enough: the upper halves are all zero.
#[inline]
fn least(distances: &[uint64x2_t; GROUP]) -> uint64x2_t {
    // SAFETY: every 64-bit ARM has NEON.
    unsafe {
        let [a, b, c, d] = distances.map(|one| vreinterpretq_u32_u64(one));
        vreinterpretq_u64_u32(vminq_u32(vminq_u32(a, b), vminq_u32(c, d)))
    }
}

/// Whether a lane is at most `max_distance`.
#[inline]
fn any_within(distances: uint64x2_t, max_distance: u32) -> bool {
    // SAFETY: every 64-bit ARM has NEON.
    unsafe {
        let within = vcleq_u64(distances, vdupq_n_u64(u64::from(max_distance)));
        vmaxvq_u32(vreinterpretq_u32_u64(within)) != 0
    }
}

/// The distances of one query to two rows.
#[inline]
fn compare<const W: usize>(query: &[uint64x2_t; W], vector: &[uint64x2_t; W]) -> uint64x2_t {
    // SAFETY: every 64-bit ARM has NEON.
    unsafe {
        let mut bytes = vdupq_n_u8(0);
        // Each word adds at most 8 to a byte's count, so four words stay below 256.
        for word in 0..W {
            let differ = veorq_u64(query[word], vector[word]);
            bytes = vaddq_u8(bytes, vcntq_u8(vreinterpretq_u8_u64(differ)));
        }
        vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes)))
    }
}
