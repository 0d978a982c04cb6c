//! The distance between the fingerprints of similar texts.
//!
//! The user gives a similarity, but a search by SimHash needs a distance in bits. Let `t` be the
//! resemblance of two texts. Then they share `2t / (1 + t)` of their shingles. If whole passages
//! differ, this is about the cosine `c` of their feature vectors; scattered edits make the cosine
//! higher. Each bit of the fingerprints differs with probability `acos(c) / pi` (Charikar 2002).
//!
//! This was measured with the recipe `characters` on 1,200 Chinese news texts in which 10 to 33 %
//! of the text was replaced by a passage of another text. The mean share of differing bits was .94
//! to .96 of `acos(c) / pi`, here [`SHARE`]. The standard deviation was .97 to 1.15 of the
//! binomial one, here [`SPREAD`]. So the distance is an estimate. For other texts, and for recipes
//! that weigh features, it needs an evaluation.

use std::f64::consts::{PI, SQRT_2};

use super::fingerprints;
use crate::error::{Error, Result};

/// The measured number of differing bits, divided by the expected one.
const SHARE: f64 = 0.95;

/// The measured standard deviation, divided by the binomial one.
const SPREAD: f64 = 1.1;

/// The estimated share of pairs with resemblance `threshold` whose fingerprints of `bits` bits
/// are within `max_distance`.
///
/// Of pairs with a higher resemblance, a larger share is found.
pub fn predicted_recall(threshold: f64, bits: u32, max_distance: u32) -> f64 {
    let cosine = 2.0 * threshold / (1.0 + threshold);
    let differs = SHARE * libm::acos(cosine.clamp(-1.0, 1.0)) / PI;
    let mean = f64::from(bits) * differs;
    let deviation = SPREAD * (mean * (1.0 - differs)).sqrt();
    if deviation == 0.0 {
        return 1.0;
    }
    // The distance is a whole number, so the continuous curve is cut half a bit above it.
    let z = (f64::from(max_distance) + 0.5 - mean) / deviation;
    0.5 * libm::erfc(-z / SQRT_2)
}

/// The smallest distance in bits whose [`predicted_recall`] at `threshold` is at
/// least `recall`.
///
/// # Errors
///
/// If `threshold` is not in (0, 1], `recall` not in (0, 1), or no fingerprint has `bits` bits.
///
/// # Examples
///
/// ```
/// use neardup_hamming::radius;
///
/// assert_eq!(radius(1.0, 128, 0.99)?, 0);
/// assert!(radius(0.8, 128, 0.99)? < radius(0.5, 128, 0.99)?);
/// # Ok::<(), neardup_hamming::Error>(())
/// ```
pub fn radius(threshold: f64, bits: u32, recall: f64) -> Result<u32> {
    if !(threshold > 0.0 && threshold <= 1.0) {
        return Err(Error::parameter(
            "threshold",
            "above 0 and at most 1",
            threshold,
        ));
    }
    if !(recall > 0.0 && recall < 1.0) {
        return Err(Error::parameter("recall", "above 0 and below 1", recall));
    }
    fingerprints::words(bits)?;
    Ok((0..bits)
        .find(|&distance| predicted_recall(threshold, bits, distance) >= recall)
        .unwrap_or(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_the_smallest_with_the_recall() {
        for threshold in [0.3, 0.5, 0.66, 0.8, 0.95] {
            for bits in [32, 64, 128, 256] {
                let at = radius(threshold, bits, 0.99).unwrap();
                assert!(predicted_recall(threshold, bits, at) >= 0.99);
                assert!(at == 0 || predicted_recall(threshold, bits, at - 1) < 0.99);
            }
        }
    }

    #[test]
    fn radius_covers_the_measured_pairs() {
        // The 99th percentiles of the measurement that the module describes.
        for (resemblance, measured) in [(0.81, 28_u32), (0.66, 37), (0.535, 42), (0.501, 45)] {
            let got = radius(resemblance, 128, 0.99).unwrap();
            assert!(
                got.abs_diff(measured) <= 2,
                "{resemblance}: {got} for {measured}"
            );
        }
    }

    #[test]
    fn value_out_of_bounds_is_named() {
        assert!(radius(0.0, 64, 0.99).is_err());
        assert!(radius(f64::NAN, 64, 0.99).is_err());
        assert!(radius(0.5, 64, 1.0).is_err());
        // This used to try one distance after the other, for minutes.
        assert!(radius(0.5, 1 << 31, 0.99).is_err());
    }
}
