//! Plans: what they choose, and that their figures hang together.

use neardup_hamming::plan::plan_for;
use neardup_hamming::{Plan, Scheme, plan, plan_look_ups};

/// A scheme whose order of speed was measured: the plan must agree.
fn predicts(documents: u64, bits: u32, max_distance: u32, faster: Scheme, slower: Scheme) {
    let seconds = |scheme| {
        plan_for(documents, bits, max_distance, scheme)
            .unwrap()
            .seconds
    };
    assert!(
        seconds(faster) < seconds(slower),
        "{documents} x {bits} within {max_distance}: {faster:?} before {slower:?}"
    );
}

#[test]
fn the_order_of_schemes_is_the_measured_one() {
    let blocks = |bits, distance, blocks| Scheme::blocks(bits, distance, blocks).unwrap();
    predicts(1_000_000, 64, 3, blocks(64, 3, 4), blocks(64, 3, 6));
    predicts(1_000_000, 64, 3, blocks(64, 3, 4), Scheme::Scan);
    predicts(1_000_000, 64, 6, blocks(64, 6, 8), blocks(64, 6, 9));
    predicts(1_000_000, 64, 6, blocks(64, 6, 8), Scheme::Scan);
    predicts(1_000, 64, 6, Scheme::Scan, blocks(64, 6, 8));
    predicts(100_000, 128, 24, Scheme::Scan, blocks(128, 24, 26));
}

#[test]
fn no_scheme_is_cheaper_than_the_plan() {
    for documents in [0, 1, 1_000, 100_000, 10_000_000, 4_000_000_000] {
        for (bits, max_distance) in [
            (1, 0),
            (5, 3),
            (8, 8),
            (33, 2),
            (32, 0),
            (64, 3),
            (64, 6),
            (64, 10),
            (128, 24),
            (256, 256),
        ] {
            let chosen = plan(documents, bits, max_distance).unwrap();
            let others = (max_distance + 1..=64)
                .filter_map(|blocks| Scheme::blocks(bits, max_distance, blocks).ok())
                .chain([Scheme::Scan]);
            for scheme in others {
                let other = plan_for(documents, bits, max_distance, scheme).unwrap();
                assert!(chosen.seconds <= other.seconds, "{chosen:?} {other:?}");
            }
        }
    }
}

#[test]
fn a_plan_grows_with_its_task() {
    for plan in [plan, plan_look_ups] {
        let mut before: Option<Plan> = None;
        for documents in [10, 1_000, 100_000, 10_000_000, 1_000_000_000] {
            let next = plan(documents, 64, 3).unwrap();
            assert_eq!(next.documents, documents);
            if let Some(before) = before {
                assert!(before.seconds < next.seconds);
                assert!(before.comparisons < next.comparisons);
                assert!(before.random_pairs < next.random_pairs);
            }
            before = Some(next);
        }
        for max_distance in 0..64 {
            let narrow = plan(1_000_000, 64, max_distance).unwrap();
            let wide = plan(1_000_000, 64, max_distance + 1).unwrap();
            assert!(narrow.seconds <= wide.seconds, "{narrow:?} {wide:?}");
        }
    }
}

#[test]
fn random_pairs_of_all_distances_are_all_pairs() {
    let all = plan(1_001, 64, 64).unwrap();
    assert!((all.random_pairs - 500_500.0).abs() < 1e-6);
    assert_eq!(all.scheme, Scheme::Scan);
}

#[test]
fn unfit_plan_is_refused() {
    for plan in [plan, plan_look_ups] {
        for bits in [0, 257] {
            assert!(plan(10, bits, 0).is_err(), "{bits}");
        }
        assert!(plan(10, 5, 6).is_err());
        assert!(plan(10, 64, 65).is_err());
    }
    let unfit = Scheme::blocks(64, 3, 4).unwrap();
    assert!(plan_for(10, 64, 5, unfit).is_err());
}
