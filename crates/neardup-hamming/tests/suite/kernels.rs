//! Every kernel of this machine gives what two loops over all rows give, bit by bit.

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

/// The rows of `rows` within a distance of a query, one after the other.
fn near(query: &[u64], rows: &Fingerprints, max_distance: u32) -> Vec<(u32, u16)> {
    let distances = (0..rows.len()).map(|at| {
        let row = rows.get(at).unwrap();
        let words = row.iter().zip(query);
        words.map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
    });
    let numbered = (0..).zip(distances);
    let near = numbered.filter(|&(_, distance)| distance <= max_distance);
    near.map(|(at, distance)| (at, distance as u16)).collect()
}

#[test]
fn kernels_agree_on_every_length_around_a_vector() {
    for bits in [1, 5, 63, 64, 100, 128, 200, 256] {
        for count in (0..40).chain([63, 64, 65, 500]) {
            let rows = close_rows(bits, count, 10);
            let queries = close_rows(bits, count / 2 + 1, 20);
            for max_distance in [0, 1, bits / 8, bits / 5, bits] {
                let expected: Vec<_> = (0..queries.len())
                    .map(|query| near(&queries.get(query).unwrap(), &rows, max_distance))
                    .collect();
                for kernel in Kernel::available() {
                    let found =
                        scan::many_against_many(kernel, &queries, &rows, max_distance).unwrap();
                    for (query, expected) in expected.iter().enumerate() {
                        let name = kernel.name();
                        let found = found.list(query).collect::<Vec<_>>();
                        assert_eq!(&found, expected, "{name} {bits} {count}");
                        let row = queries.get(query).unwrap();
                        let near =
                            scan::one_against_many(kernel, &row, &rows, 0, max_distance).unwrap();
                        assert_eq!(&near, expected, "{name} {bits} {count}");
                    }
                }
            }
        }
    }
}

#[test]
fn kernels_agree_on_a_collection_with_itself() {
    for bits in [1, 5, 63, 64, 100, 128, 200, 256] {
        // Of few bits, nearly all pairs are near.
        let large = if bits < 60 { 500 } else { 5_000 };
        for count in (0..40).chain([400, large]) {
            let rows = close_rows(bits, count, 30);
            for max_distance in [0, bits / 10, bits / 6] {
                // The rows against themselves, each pair once.
                let all = scan::many_against_many(Kernel::best(), &rows, &rows, max_distance);
                let all = all.unwrap();
                let expected: Vec<_> = (0..rows.len() as u32)
                    .flat_map(|a| {
                        let later = all.list(a as usize).filter(move |&(b, _)| a < b);
                        later.map(move |(b, distance)| (a, b, distance))
                    })
                    .collect();
                for kernel in Kernel::available() {
                    let found = scan::all_pairs(kernel, &rows, max_distance).unwrap();
                    let found =
                        (0..found.len()).map(|at| (found.a[at], found.b[at], found.distance[at]));
                    assert!(
                        found.eq(expected.iter().copied()),
                        "{} {bits} {count}",
                        kernel.name()
                    );
                }
            }
        }
    }
}

#[test]
fn the_portable_kernel_counts_bits() {
    let rows = Fingerprints::from_rows(128, &[0, 0, 1, 1, !0, 0, !0, !0]).unwrap();
    let near = |max_distance| {
        scan::one_against_many(Kernel::portable(), &[1, 0], &rows, 0, max_distance).unwrap()
    };
    assert_eq!(near(0), []);
    assert_eq!(near(1), [(0, 1), (1, 1)]);
    assert_eq!(near(62), [(0, 1), (1, 1)]);
    assert_eq!(near(63), [(0, 1), (1, 1), (2, 63)]);
    assert_eq!(near(128), [(0, 1), (1, 1), (2, 63), (3, 127)]);
}
