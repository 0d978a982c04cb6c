//! The join of fingerprints equals the comparison of every pair, whatever the
//! width, the radius, the scheme, the data and the number of threads.

use neardup_hamming::{
    Fingerprints, Kernel, Pairs, Scheme, collapsed, collapsed_with, pairs, scan,
};

/// The widths of a fingerprint.
const WIDTHS: [u32; 9] = [5, 8, 32, 61, 64, 100, 128, 200, 256];

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn row(&mut self, bits: u32) -> Vec<u64> {
        let count = bits.div_ceil(64).next_power_of_two();
        (0..count)
            .map(|at| {
                let kept = bits.saturating_sub(64 * at).min(64);
                self.next().checked_shr(64 - kept).unwrap_or(0)
            })
            .collect()
    }
}

fn flip(row: &mut [u64], bit: usize) {
    row[bit / 64] ^= 1 << (bit % 64);
}

/// Rows of one kind, for every kind of collection worth a test.
fn collections(bits: u32, rows: usize, seed: u64) -> Vec<(&'static str, Fingerprints)> {
    let mut random = Random(seed);
    let width = bits as usize;
    let mut kinds: Vec<(&'static str, Vec<Vec<u64>>)> = Vec::new();

    let independent: Vec<_> = (0..rows).map(|_| random.row(bits)).collect();

    let mut planted = independent.clone();
    for at in (1..rows).step_by(3) {
        planted[at] = planted[random.below(at)].clone();
        for _ in 0..random.below(9) {
            flip(&mut planted[at], random.below(width));
        }
    }

    let few: Vec<_> = (0..5).map(|_| random.row(bits)).collect();
    let equal = (0..rows).map(|_| few[random.below(5)].clone()).collect();

    // Everything lies within a few bits of two centres: all buckets are hot.
    let skewed = (0..rows)
        .map(|_| {
            let mut row = few[random.below(2)].clone();
            for _ in 0..random.below(12) {
                flip(&mut row, random.below(width));
            }
            row
        })
        .collect();

    // All differences are in one eighth of the bits, where one block can be.
    let one_block = (0..rows)
        .map(|_| {
            let mut row = few[0].clone();
            for bit in width / 2..width / 2 + width / 8 {
                if random.next() & 1 == 1 {
                    flip(&mut row, bit);
                }
            }
            row
        })
        .collect();

    kinds.push(("independent", independent));
    kinds.push(("planted", planted));
    kinds.push(("equal", equal));
    kinds.push(("skewed", skewed));
    kinds.push(("one block", one_block));
    kinds
        .into_iter()
        .map(|(kind, rows)| (kind, Fingerprints::from_rows(bits, &rows.concat()).unwrap()))
        .collect()
}

/// Every pair, by the definition.
fn by_definition(fingerprints: &Fingerprints, max_distance: u32) -> Vec<(u32, u32, u16)> {
    let rows: Vec<_> = (0..fingerprints.len())
        .map(|at| fingerprints.get(at).unwrap())
        .collect();
    let mut found = Vec::new();
    for (a, one) in rows.iter().enumerate() {
        for (b, other) in rows.iter().enumerate().skip(a + 1) {
            let distance: u32 = one
                .iter()
                .zip(other)
                .map(|(x, y)| (x ^ y).count_ones())
                .sum();
            if distance <= max_distance {
                found.push((a as u32, b as u32, distance as u16));
            }
        }
    }
    found
}

fn listed(pairs: &Pairs) -> Vec<(u32, u32, u16)> {
    pairs.iter().collect()
}

/// The scan and every number of blocks with few enough tables for a test.
fn schemes(bits: u32, max_distance: u32) -> Vec<Scheme> {
    let blocks = (max_distance + 1..=64)
        .map_while(|blocks| Scheme::blocks(bits, max_distance, blocks).ok())
        .take_while(|scheme| matches!(scheme, Scheme::Blocks { tables, .. } if *tables <= 130))
        .take(4);
    std::iter::once(Scheme::Scan).chain(blocks).collect()
}

#[test]
fn every_scheme_finds_the_pairs_of_the_definition() {
    for bits in WIDTHS {
        for (kind, fingerprints) in collections(bits, 300, 1) {
            let distances = [0, 1, 3, 6, 24, bits - 1, bits];
            for max_distance in distances.into_iter().filter(|&distance| distance <= bits) {
                let expected = by_definition(&fingerprints, max_distance);
                let chosen = pairs(&fingerprints, max_distance).unwrap();
                assert_eq!(listed(&chosen), expected, "{bits} {kind} {max_distance}");
                for scheme in schemes(bits, max_distance) {
                    let found = collapsed_with(&fingerprints, max_distance, &scheme).unwrap();
                    assert_eq!(found.count(), expected.len() as u128);
                    assert_eq!(
                        listed(&found.expand()),
                        expected,
                        "{bits} {kind} {max_distance} {scheme:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn hot_buckets_are_searched_on_their_other_bits() {
    let mut random = Random(2);
    for (bits, max_distance, blocks) in [(64, 3, 4), (128, 2, 3), (64, 1, 4)] {
        // A shared quarter of all bits puts every row into one bucket.
        let shared = random.row(bits);
        let mut rows: Vec<Vec<u64>> = Vec::new();
        for at in 0..20_000 {
            let mut row = random.row(bits);
            row[0] = row[0] & !0xffff | shared[0] & 0xffff;
            if at % 5 == 4 {
                row = rows[random.below(at)].clone();
                for _ in 0..random.below(5) {
                    flip(&mut row, random.below(bits as usize));
                }
            }
            rows.push(row);
        }
        let fingerprints = Fingerprints::from_rows(bits, &rows.concat()).unwrap();
        let scheme = Scheme::blocks(bits, max_distance, blocks).unwrap();
        let found = collapsed_with(&fingerprints, max_distance, &scheme).unwrap();
        let scanned = scan_pairs(&fingerprints, max_distance);
        assert_eq!(listed(&found.expand()), scanned);
        assert_eq!(
            listed(&pairs(&fingerprints, max_distance).unwrap()),
            scanned
        );
        assert!(scanned.len() > 1_000);
    }
}

/// Every pair by the scan of all against all, which another test holds to the
/// definition.
fn scan_pairs(fingerprints: &Fingerprints, max_distance: u32) -> Vec<(u32, u32, u16)> {
    let lists =
        scan::many_against_many(Kernel::best(), fingerprints, fingerprints, max_distance).unwrap();
    (0..fingerprints.len() as u32)
        .flat_map(|a| {
            lists
                .list(a as usize)
                .filter(move |&(b, _)| a < b)
                .map(move |(b, distance)| (a, b, distance))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn large_collections_agree_with_the_scan() {
    // Large enough for every parallel path and for keys in two halves.
    for (bits, max_distance, rows) in [(32, 2, 90_000), (64, 3, 90_000), (128, 10, 40_000)] {
        for (kind, fingerprints) in collections(bits, rows, 3) {
            if kind == "independent" || kind == "planted" {
                let expected = scan_pairs(&fingerprints, max_distance);
                let found = pairs(&fingerprints, max_distance).unwrap();
                assert_eq!(listed(&found), expected, "{bits} {kind}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for (_, fingerprints) in collections(64, 80_000, 4).into_iter().take(2) {
        let with = |threads: usize| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| {
                    let scheme = Scheme::blocks(64, 4, 6).unwrap();
                    (
                        pairs(&fingerprints, 3).unwrap(),
                        collapsed_with(&fingerprints, 4, &scheme).unwrap(),
                    )
                })
        };
        let alone = with(1);
        assert_eq!(alone, with(2));
        assert_eq!(alone, with(5));
    }
}

#[test]
fn equal_fingerprints_stay_together_until_they_are_expanded() {
    let fingerprints = Fingerprints::from_rows(64, &[7, 5, 7, 7, 0, 5, !0]).unwrap();
    let found = collapsed(&fingerprints, 2).unwrap();
    let sets: Vec<_> = found.groups.iter().collect();
    assert_eq!(sets, [(0, &[2, 3][..]), (1, &[5][..])]);
    assert_eq!(found.groups.repeats(4), &[] as &[u32]);
    assert_eq!(listed(&found.pairs), [(0, 1, 1), (1, 4, 2)]);
    // Three equal, two equal, 3 x 2 at distance 1, 2 x 1 at distance 2.
    assert_eq!(found.count(), 3 + 1 + 6 + 2);
    assert_eq!(found.expand().len(), 12);
}

#[test]
fn a_text_posted_a_million_times_is_one_row() {
    let mut rows = vec![42_u64; 1_000_000];
    rows.push(43);
    let fingerprints = Fingerprints::from_rows(64, &rows).unwrap();
    let found = collapsed(&fingerprints, 3).unwrap();
    assert_eq!(found.groups.repeats(0).len(), 999_999);
    assert_eq!(listed(&found.pairs), [(0, 1_000_000, 1)]);
    assert_eq!(found.count(), 999_999 * 1_000_000 / 2 + 1_000_000);
}

#[test]
fn nothing_and_one_have_no_pairs() {
    for bits in WIDTHS {
        for rows in [0, 1] {
            let row = vec![0; rows * bits.div_ceil(64).next_power_of_two() as usize];
            let fingerprints = Fingerprints::from_rows(bits, &row).unwrap();
            for max_distance in [0, bits] {
                assert!(pairs(&fingerprints, max_distance).unwrap().is_empty());
            }
        }
    }
}

#[test]
fn unfit_value_is_refused_by_name() {
    let fingerprints = Fingerprints::from_rows(64, &[1, 2]).unwrap();
    let message = |error: neardup_hamming::Error| error.to_string();
    assert_eq!(
        message(pairs(&fingerprints, 65).unwrap_err()),
        "The 'max_distance' parameter must be between 0 and the 64 bits of a fingerprint. \
         Got 65 instead."
    );
    assert!(message(Scheme::blocks(64, 3, 3).unwrap_err()).contains("'blocks'"));
    assert!(message(Scheme::blocks(32, 3, 33).unwrap_err()).contains("'blocks'"));
    assert!(message(Scheme::blocks(256, 30, 60).unwrap_err()).contains("20000 tables"));
    let unfit = Scheme::blocks(64, 3, 4).unwrap();
    assert!(collapsed_with(&fingerprints, 4, &unfit).is_err());
    assert!(Fingerprints::new(257).is_err());
    assert!(Fingerprints::from_rows(65, &[0, 2]).is_err());
    assert!(Fingerprints::from_rows(65, &[!0, 1]).is_ok());
    assert!(Fingerprints::from_rows(128, &[1]).is_err());
    assert!(Fingerprints::from_rows(32, &[1 << 32]).is_err());
    assert!(Fingerprints::from_rows(5, &[31]).is_ok());
    assert!(Fingerprints::from_rows(5, &[32]).is_err());
    let mut wide = Fingerprints::new(256).unwrap();
    assert!(wide.push(&[1, 2, 3]).is_err());
    assert!(wide.append(&fingerprints).is_err());
    assert!(wide.is_empty());
}
