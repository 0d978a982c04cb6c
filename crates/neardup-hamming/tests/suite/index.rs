//! Look-ups give what a linear scan gives, at any moment of the growth.

use neardup_hamming::{Fingerprints, HammingIndex, Kernel, Scheme, scan};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The words of fingerprint `at`: a third lies near an earlier one.
fn row(bits: u32, at: usize, seed: u64) -> Vec<u64> {
    let draw = |what: u64| xxh3_64_with_seed(&at.to_le_bytes(), seed + what);
    if at % 3 == 2 {
        let mut near = row(bits, (draw(9) % at as u64) as usize, seed);
        for flipped in 0..draw(10) % 6 {
            let bit = draw(11 + flipped) % u64::from(bits);
            near[(bit / 64) as usize] ^= 1 << (bit % 64);
        }
        return near;
    }
    let count = u64::from(bits).div_ceil(64).next_power_of_two();
    (0..count)
        .map(|at| {
            let kept = bits.saturating_sub(64 * at as u32).min(64);
            draw(at).checked_shr(64 - kept).unwrap_or(0)
        })
        .collect()
}

fn linear(fingerprints: &Fingerprints, query: &[u64], max_distance: u32) -> Vec<(u32, u16)> {
    scan::one_against_many(Kernel::portable(), query, fingerprints, max_distance).unwrap()
}

fn schemes(bits: u32, max_distance: u32) -> Vec<Scheme> {
    let blocks =
        (1..3).filter_map(|more| Scheme::blocks(bits, max_distance, max_distance + more).ok());
    std::iter::once(Scheme::Scan).chain(blocks).collect()
}

#[test]
fn any_interleaving_of_growth_and_look_ups_equals_a_linear_scan() {
    for bits in [7, 61, 64, 100, 128, 200, 256] {
        for max_distance in [0, 3, 7] {
            for scheme in schemes(bits, max_distance) {
                let mut filed = HammingIndex::with_scheme(bits, max_distance, scheme).unwrap();
                let mut all = Fingerprints::new(bits).unwrap();
                let mut near = Vec::new();
                let mut at = 0;
                // Bulks of one row up to more than a run, look-ups in between.
                for bulk in [1, 700, 1, 1_400, 1, 5_000, 3, 2_048, 2_047, 9_000, 1] {
                    let mut more = Fingerprints::new(bits).unwrap();
                    for _ in 0..bulk {
                        more.push(&row(bits, at, 50)).unwrap();
                        at += 1;
                    }
                    all.append(&more).unwrap();
                    if bulk < 1_000 {
                        for added in 0..bulk {
                            let id = filed.insert(&more.get(added).unwrap()).unwrap();
                            assert_eq!(id as usize, all.len() - bulk + added);
                        }
                    } else {
                        filed.extend(&more).unwrap();
                    }
                    assert_eq!(filed.fingerprints(), &all);
                    for probe in 0..20 {
                        let query = row(bits, probe * at / 20, 50);
                        for radius in [max_distance, max_distance / 2] {
                            filed.near(&query, radius, &mut near).unwrap();
                            assert_eq!(near, linear(&all, &query, radius), "{bits} {scheme:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn many_look_ups_are_the_single_ones_in_order() {
    for scheme in schemes(64, 3) {
        let mut filed = HammingIndex::with_scheme(64, 3, scheme).unwrap();
        let mut queries = Fingerprints::new(64).unwrap();
        for at in 0..30_000 {
            filed.insert(&row(64, at, 60)).unwrap();
            if at % 20 == 2 {
                queries.push(&row(64, at, 60)).unwrap();
            }
        }
        let mut near = Vec::new();
        for radius in [3, 1] {
            let lists = filed.near_many(&queries, radius).unwrap();
            assert_eq!(lists.len(), queries.len());
            for query in 0..queries.len() {
                let row = queries.get(query).unwrap();
                filed.near(&row, radius, &mut near).unwrap();
                assert!(near.iter().copied().eq(lists.list(query)), "{scheme:?}");
            }
            let alone = rayon::ThreadPoolBuilder::new()
                .num_threads(1)
                .build()
                .unwrap()
                .install(|| filed.near_many(&queries, radius).unwrap());
            assert_eq!(alone, lists);
        }
        assert_eq!(
            filed
                .near_many(&Fingerprints::new(64).unwrap(), 0)
                .unwrap()
                .len(),
            0
        );
    }
}

#[test]
fn nothing_filed_is_near_nothing() {
    let filed = HammingIndex::new(128, 24, 1_000).unwrap();
    let mut near = vec![(1, 1)];
    filed.near(&[0, 0], 24, &mut near).unwrap();
    assert!(near.is_empty() && filed.is_empty());
    let queries = Fingerprints::from_rows(128, &[0; 6]).unwrap();
    assert_eq!(
        filed
            .near_many(&queries, filed.max_distance())
            .unwrap()
            .offsets,
        [0; 4]
    );
}

#[test]
fn a_query_that_does_not_fit_is_refused() {
    let mut filed = HammingIndex::new(32, 3, 1_000).unwrap();
    let mut near = Vec::new();
    assert!(filed.insert(&[1 << 40]).is_err());
    assert!(filed.insert(&[1, 2]).is_err());
    assert_eq!(filed.insert(&[1]).unwrap(), 0);
    assert!(filed.near(&[1 << 40], 3, &mut near).is_err());
    assert!(filed.near(&[], 3, &mut near).is_err());
    assert_eq!(
        filed.near(&[1], 4, &mut near).unwrap_err().to_string(),
        "The 'max_distance' parameter must be at most 3, which was filed for. Got 4 instead."
    );
    assert!(filed.near_many(&Fingerprints::new(64).unwrap(), 0).is_err());
}
