//! Every kernel of this machine gives what the scalar one gives, bit by bit.

use neardup_hamming::{Fingerprints, Kernel, scan};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Rows that differ in few bits, so that near pairs are common and lie in
/// every lane of a vector.
fn close_rows(bits: u32, count: usize, seed: u64) -> Fingerprints {
    let words = bits.div_ceil(64).next_power_of_two() as usize;
    let rows: Vec<u64> = (0..count * words)
        .map(|at| {
            let draw = |seed| xxh3_64_with_seed(&at.to_le_bytes(), seed);
            let sparse = draw(seed) & draw(seed + 1) & draw(seed + 2);
            let kept = bits.saturating_sub(64 * (at % words) as u32).min(64);
            sparse.checked_shr(64 - kept).unwrap_or(0)
        })
        .collect();
    Fingerprints::from_rows(bits, &rows).unwrap()
}

#[test]
fn kernels_agree_on_every_length_around_a_vector() {
    for bits in [1, 5, 63, 64, 100, 128, 200, 256] {
        for count in (0..40).chain([63, 64, 65, 500]) {
            let rows = close_rows(bits, count, 10);
            let queries = close_rows(bits, count / 2 + 1, 20);
            for max_distance in [0, 1, bits / 8, bits / 5, bits] {
                let expected =
                    scan::many_against_many(Kernel::scalar(), &queries, &rows, max_distance)
                        .unwrap();
                for kernel in Kernel::available() {
                    let found =
                        scan::many_against_many(kernel, &queries, &rows, max_distance).unwrap();
                    assert_eq!(found, expected, "{} {bits} {count}", kernel.name());
                    for query in 0..queries.len() {
                        let row = queries.get(query).unwrap();
                        let near =
                            scan::one_against_many(kernel, &row, &rows, max_distance).unwrap();
                        assert!(near.into_iter().eq(expected.list(query)));
                    }
                }
            }
        }
    }
}

#[test]
fn kernels_agree_on_a_collection_with_itself() {
    for bits in [1, 5, 63, 64, 100, 128, 200, 256] {
        for count in (0..40).chain([500, 5_000]) {
            let rows = close_rows(bits, count, 30);
            for max_distance in [0, bits / 10, bits / 6] {
                let expected = scan::all_pairs(Kernel::scalar(), &rows, max_distance).unwrap();
                for kernel in Kernel::available() {
                    let found = scan::all_pairs(kernel, &rows, max_distance).unwrap();
                    assert_eq!(found, expected, "{} {bits} {count}", kernel.name());
                }
            }
        }
    }
}

#[test]
fn the_scalar_kernel_counts_bits() {
    let rows = Fingerprints::from_rows(128, &[0, 0, 1, 1, !0, 0, !0, !0]).unwrap();
    let near = |max_distance| {
        scan::one_against_many(Kernel::scalar(), &[1, 0], &rows, max_distance).unwrap()
    };
    assert_eq!(near(0), []);
    assert_eq!(near(1), [(0, 1), (1, 1)]);
    assert_eq!(near(62), [(0, 1), (1, 1)]);
    assert_eq!(near(63), [(0, 1), (1, 1), (2, 63)]);
    assert_eq!(near(128), [(0, 1), (1, 1), (2, 63), (3, 127)]);
}
