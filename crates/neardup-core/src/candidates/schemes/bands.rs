/*! Banding: signatures that agree on a band of values are candidates.

A signature is cut into `bands` bands of `rows` values each. The values of a band make
one key; documents that share a key are candidate pairs. Two signatures agree in a value
with a probability equal to the resemblance s of their sets, so a pair becomes a
candidate with probability 1 - (1 - s^rows)^bands: an S-shaped curve, steepest near (1 /
bands)^(1 / rows) (Indyk and Motwani 1998; Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, ch. 3). More rows give fewer false candidates; more bands find more
true ones.

[`Banding::derive`] chooses both for a threshold and a recall. The recall is the
expected recall of pairs exactly at the threshold: which of these pairs are missed is
random, and pairs above the threshold are missed less often.

**Cost model.** With n documents:

- each document files `bands` keys and looks them up: 100 ns for a key;
- each pair below the threshold that becomes a candidate is verified: 300 ns.

The distribution of similarities is assumed: one table for all collections. Its figures
are roughly those of English newswire and of Chinese bulletins with shingles of 5
characters, where pairs become about ten times rarer with each doubling of the
similarity. Ordinary Chinese news articles are far less alike (1 pair in 100,000 reaches
.2, where the table has 1 in 1,000), so for them the choice has more rows than
necessary. Pairs above the threshold are verified with any choice and are not counted.
*/

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};
use crate::sketch::{MAX_NUM_PERM, check_num_perm};

/// Nanoseconds to file a key and to look it up: one or two cache misses.
const KEY_NS: f64 = 100.0;

/// Nanoseconds to verify a pair of unrelated texts whose shingles are in memory.
const VERIFY_NS: f64 = 300.0;

/// Similarities of pairs that are not duplicates, and the share of all pairs with about
/// that similarity.
const BACKGROUND: [(f64, f64); 6] = [
    (0.02, 0.9),
    (0.05, 0.09),
    (0.1, 0.009),
    (0.2, 0.0008),
    (0.3, 0.000_15),
    (0.4, 0.000_05),
];

/// How signatures are cut into keys; see the [module](self).
///
/// # Examples
///
/// ```
/// use neardup_core::candidates::Banding;
///
/// let banding = Banding::derive(0.8, 0.98, 128, 1_000_000)?;
/// assert!(banding.recall(0.8) >= 0.98);
/// assert!(banding.recall(0.2) < 1e-3);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    bands: u32,
    rows: u32,
}

impl Banding {
    /// Cuts signatures into `bands` bands of `rows` values.
    ///
    /// # Errors
    ///
    /// If either is 0, or they need signatures of more than 1024 values.
    pub fn new(bands: u32, rows: u32) -> Result<Self> {
        if !(1..=MAX_NUM_PERM).contains(&bands) {
            let bounds = format!("1 to {MAX_NUM_PERM}");
            return Err(Error::parameter("bands", bounds, bands));
        }
        let most = MAX_NUM_PERM / bands;
        if !(1..=most).contains(&rows) {
            let bounds = format!("1 to {most}, as {MAX_NUM_PERM} values in {bands} bands allow");
            return Err(Error::parameter("rows", bounds, rows));
        }
        Ok(Banding { bands, rows })
    }

    /// The cheapest banding for `documents` documents with signatures of
    /// `num_perm` values that finds pairs at `threshold` with a probability of at
    /// least `recall`.
    /// Some values may remain unused. If no banding reaches the recall, as happens for
    /// low thresholds, this is the one with the highest recall;
    /// [`recall`](Self::recall) at the threshold returns its value. Equal arguments
    /// give equal bandings on every platform.
    ///
    /// # Errors
    ///
    /// If `threshold` is not in (0, 1], `recall` is not in (0, 1), or `num_perm` is not
    /// 16 to 1024.
    pub fn derive(threshold: f64, recall: f64, num_perm: u32, documents: u64) -> Result<Self> {
        if !(threshold > 0.0 && threshold <= 1.0) {
            let bounds = "above 0 and at most 1";
            return Err(Error::parameter("threshold", bounds, threshold));
        }
        if !(recall > 0.0 && recall < 1.0) {
            return Err(Error::parameter("recall", "above 0 and below 1", recall));
        }
        check_num_perm(num_perm)?;
        // For given rows, another band adds keys and false candidates, so only the
        // smallest sufficient number of bands can be cheapest.
        let sufficient = (1..=num_perm).filter_map(|rows| {
            (1..=num_perm / rows)
                .map(|bands| Banding { bands, rows })
                .find(|banding| banding.recall(threshold) >= recall)
        });
        let cheapest = sufficient.min_by(|a, b| {
            let seconds = |banding: &Banding| banding.seconds(threshold, documents);
            seconds(a).total_cmp(&seconds(b))
        });
        // No banding has a higher recall than one with each value as a key.
        Ok(cheapest.unwrap_or(Banding {
            bands: num_perm,
            rows: 1,
        }))
    }

    /// The number of bands, which is also the number of keys of a document.
    pub fn bands(&self) -> u32 {
        self.bands
    }

    /// The number of values in a band.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The probability that a pair of this similarity, in \[0, 1\], becomes a
    /// candidate.
    ///
    /// This is the expected share of such pairs that the search finds.
    pub fn recall(&self, similarity: f64) -> f64 {
        let agrees = libm::pow(similarity, f64::from(self.rows));
        // 1 - (1 - x)^n would round to 0 for very small x.
        -libm::expm1(f64::from(self.bands) * libm::log1p(-agrees))
    }

    /// The S-curve at `points` similarities from 0 to 1, both included: pairs of
    /// a similarity and its [`recall`](Self::recall).
    pub fn s_curve(&self, points: usize) -> Vec<(f64, f64)> {
        let last = points.saturating_sub(1).max(1) as f64;
        let similarities = (0..points).map(|point| point as f64 / last);
        similarities.map(|s| (s, self.recall(s))).collect()
    }

    /// The estimated number of pairs below `threshold` that become candidates among
    /// `documents` documents; see the [module](self).
    fn false_candidates(&self, threshold: f64, documents: u64) -> f64 {
        let documents = documents as f64;
        let pairs = documents * (documents - 1.0).max(0.0) / 2.0;
        let below = BACKGROUND.iter().filter(|(s, _)| *s < threshold);
        pairs * below.map(|(s, share)| share * self.recall(*s)).sum::<f64>()
    }

    /// The estimated seconds on one core to file and look up the keys of
    /// `documents` documents and to verify the false candidates.
    pub fn seconds(&self, threshold: f64, documents: u64) -> f64 {
        let keys = documents as f64 * f64::from(self.bands);
        let verified = self.false_candidates(threshold, documents);
        (keys * KEY_NS + verified * VERIFY_NS) * 1e-9
    }

    /// Writes the keys of a signature into `out`, one for each band, in order,
    /// replacing its content.
    ///
    /// A key is the XXH3-64 hash of the band's values, each as four little-endian
    /// bytes. The seed is the number of the band, from 0, so equal values in different
    /// bands give different keys. Two bands share a key by chance with probability
    /// 2^-64.
    ///
    /// # Panics
    ///
    /// If the signature has fewer than bands * rows values.
    pub fn keys(&self, signature: &[u32], out: &mut Vec<u64>) {
        let rows = self.rows as usize;
        let used = &signature[..self.bands as usize * rows];
        let mut bytes = [0; 4 * MAX_NUM_PERM as usize];
        out.clear();
        out.extend(used.chunks_exact(rows).zip(0..).map(|(band, number)| {
            let bytes = &mut bytes[..4 * rows];
            for (to, value) in bytes.chunks_exact_mut(4).zip(band) {
                to.copy_from_slice(&value.to_le_bytes());
            }
            xxh3_64_with_seed(bytes, number)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{MinHash, Minima};

    #[test]
    fn a_pair_just_at_the_threshold_is_found_as_wanted() {
        for threshold in [0.3, 0.5, 0.55, 0.7, 0.8, 0.9, 1.0] {
            for recall in [0.5, 0.9, 0.98] {
                for num_perm in [128, 256, 1000] {
                    for documents in [0, 1, 10_000, 10_000_000] {
                        let got = Banding::derive(threshold, recall, num_perm, documents).unwrap();
                        assert!(got.recall(threshold) >= recall, "{threshold}: {got:?}");
                        assert!(got.bands * got.rows <= num_perm);
                    }
                }
            }
        }
    }

    #[test]
    fn no_sufficient_banding_is_cheaper() {
        for (threshold, documents) in [(0.4, 1000), (0.55, 50_000), (0.8, 10_000_000)] {
            let got = Banding::derive(threshold, 0.95, 128, documents).unwrap();
            for bands in 1..=128 {
                for rows in 1..=128 / bands {
                    let other = Banding::new(bands, rows).unwrap();
                    assert!(
                        other.recall(threshold) < 0.95
                            || other.seconds(threshold, documents)
                                >= got.seconds(threshold, documents),
                        "{other:?} against {got:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn larger_collections_get_longer_keys() {
        let rows =
            [100, 100_000, 100_000_000].map(|n| Banding::derive(0.7, 0.95, 256, n).unwrap().rows());
        assert!(rows.is_sorted() && rows[0] < rows[2], "{rows:?}");
    }

    #[test]
    fn unreachable_recall_gives_the_best_banding() {
        let got = Banding::derive(0.02, 0.99, 128, 1000).unwrap();
        assert_eq!(got, Banding::new(128, 1).unwrap());
        assert!((got.recall(0.02) - 0.9247).abs() < 1e-4);
    }

    #[test]
    fn the_curve_by_hand() {
        let banding = Banding::new(20, 5).unwrap();
        // Mining of Massive Datasets, figure 3.8.
        let expected = [
            (0.2, 0.006),
            (0.3, 0.047),
            (0.4, 0.186),
            (0.5, 0.470),
            (0.6, 0.802),
            (0.7, 0.975),
            (0.8, 0.9996),
        ];
        for (similarity, found) in expected {
            assert!((banding.recall(similarity) - found).abs() < 6e-4);
        }
        let curve = banding.s_curve(11);
        assert_eq!(curve[0], (0.0, 0.0));
        assert_eq!(curve[2], (0.2, banding.recall(0.2)));
        assert_eq!(curve[10], (1.0, 1.0));
        assert_eq!(banding.s_curve(1), [(0.0, 0.0)]);
        assert!(Banding::new(1, 64).unwrap().recall(0.01) > 0.0);
    }

    #[test]
    fn keys_are_the_hashes_of_the_bands() {
        let banding = Banding::new(3, 2).unwrap();
        let mut keys = vec![7];
        banding.keys(&[1, 2, 1, 2, 0x0403_0201, 5, 99], &mut keys);
        assert_eq!(
            keys,
            [
                xxh3_64_with_seed(&[1, 0, 0, 0, 2, 0, 0, 0], 0),
                xxh3_64_with_seed(&[1, 0, 0, 0, 2, 0, 0, 0], 1),
                xxh3_64_with_seed(&[1, 2, 3, 4, 5, 0, 0, 0], 2),
            ]
        );
        assert_ne!(keys[0], keys[1]);
    }

    #[test]
    fn curve_equals_that_of_real_signatures() {
        const PAIRS: u32 = 2000;
        let minhash = MinHash::new(128).unwrap();
        let mut minima = Minima::default();
        let mut state = 5_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            xxh3_64_with_seed(&state.to_le_bytes(), 0)
        };
        for (bands, rows) in [(32, 4), (12, 10)] {
            let banding = Banding::new(bands, rows).unwrap();
            // Sets of 60 that share `common` elements: resemblance .2 to .82.
            for common in [20, 30, 40, 50, 54] {
                let mut found = 0;
                for _ in 0..PAIRS {
                    let union: Vec<u64> = (0..120 - common).map(|_| random()).collect();
                    let mut keys_of = |set: &[u64]| {
                        let (mut signature, mut keys) = ([0; 128], Vec::new());
                        minhash.begin(&mut minima);
                        set.iter().for_each(|&hash| minhash.add(&mut minima, hash));
                        minhash.finish(&mut minima, &mut signature);
                        banding.keys(&signature, &mut keys);
                        keys
                    };
                    let (a, b) = (keys_of(&union[..60]), keys_of(&union[60 - common..]));
                    found += u32::from(a.iter().zip(&b).any(|(a, b)| a == b));
                }
                let predicted = banding.recall(common as f64 / (120 - common) as f64);
                let measured = f64::from(found) / f64::from(PAIRS);
                let deviation = (predicted * (1.0 - predicted) / f64::from(PAIRS)).sqrt();
                assert!(
                    (measured - predicted).abs() <= 4.0 * deviation + 1e-3,
                    "{banding:?}: {measured}, not {predicted}"
                );
            }
        }
    }

    #[test]
    fn value_out_of_bounds_is_named() {
        let named = |result: Result<Banding>, name: &str| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        };
        named(Banding::new(0, 1), "bands");
        named(Banding::new(1, 0), "rows");
        named(Banding::new(512, 3), "rows");
        named(Banding::derive(0.0, 0.9, 128, 1), "threshold");
        named(Banding::derive(f64::NAN, 0.9, 128, 1), "threshold");
        named(Banding::derive(1.1, 0.9, 128, 1), "threshold");
        named(Banding::derive(0.5, 1.0, 128, 1), "recall");
        named(Banding::derive(0.5, 0.9, 15, 1), "num_perm");
    }
}
