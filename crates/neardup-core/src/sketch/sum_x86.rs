/*! The sums of [`super::sum`] with AVX-512 or AVX2, chosen at run time. */

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpeq_epi64, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_storeu_si256, _mm512_mask_add_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// Like [`super::sum::scalar`]; `None` if the processor has neither.
pub(super) fn sums(hashes: &[u64], stride: usize, weights: &[u64]) -> Option<[u64; 64]> {
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: AVX-512F has just been detected.
        Some(unsafe { avx512(hashes, stride, weights) })
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 has just been detected.
        Some(unsafe { avx2(hashes, stride, weights) })
    } else {
        None
    }
}

/// Eight sums per register; the bits of a hash mask the additions.
#[target_feature(enable = "avx512f")]
fn avx512(hashes: &[u64], stride: usize, weights: &[u64]) -> [u64; 64] {
    let mut lanes: [__m512i; 8] = [_mm512_setzero_si512(); 8];
    for (&hash, &weight) in hashes.iter().step_by(stride).zip(weights) {
        let weight = _mm512_set1_epi64(weight as i64);
        for (lane, mask) in lanes.iter_mut().zip(hash.to_le_bytes()) {
            *lane = _mm512_mask_add_epi64(*lane, mask, *lane, weight);
        }
    }
    let mut sums = [0; 64];
    for (to, lane) in sums.chunks_exact_mut(8).zip(lanes) {
        // SAFETY: `to` has room for eight words, and the store is unaligned.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), lane) };
    }
    sums
}

/// Four sums per register, half a word at a time so that the registers suffice.
#[target_feature(enable = "avx2")]
fn avx2(hashes: &[u64], stride: usize, weights: &[u64]) -> [u64; 64] {
    let mut sums = [0; 64];
    for (half, to) in sums.chunks_exact_mut(32).enumerate() {
        let mut lanes: [__m256i; 8] = [_mm256_setzero_si256(); 8];
        for (&hash, &weight) in hashes.iter().step_by(stride).zip(weights) {
            let weight = _mm256_set1_epi64x(weight as i64);
            let bits = (hash >> (32 * half)) as u32;
            for (i, lane) in lanes.iter_mut().enumerate() {
                let four = _mm256_set1_epi64x(i64::from(bits >> (4 * i) & 15));
                let ones = _mm256_setr_epi64x(1, 2, 4, 8);
                let mask = _mm256_cmpeq_epi64(_mm256_and_si256(four, ones), ones);
                *lane = _mm256_add_epi64(*lane, _mm256_and_si256(mask, weight));
            }
        }
        for (to, lane) in to.chunks_exact_mut(4).zip(lanes) {
            // SAFETY: `to` has room for four words, and the store is unaligned.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), lane) };
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::sum::scalar;
    use super::*;

    #[test]
    fn every_version_gives_the_plain_sums() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state ^ state >> 31
        };
        for features in [0, 1, 2, 7, 64, 501] {
            for stride in [1, 2, 4] {
                let hashes: Vec<u64> = (0..features * stride).map(|_| random()).collect();
                let weights: Vec<u64> = (0..features).map(|_| random() >> 12).collect();
                let expected = scalar(&hashes, stride, &weights);
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: AVX2 has just been detected.
                    assert_eq!(unsafe { avx2(&hashes, stride, &weights) }, expected);
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: AVX-512F has just been detected.
                    assert_eq!(unsafe { avx512(&hashes, stride, &weights) }, expected);
                }
            }
        }
    }
}
