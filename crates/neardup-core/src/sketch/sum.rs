/*! Weight of ones at each position, for features of different weights.

The sums fit 64 bits as long as the weights of one document together do; the
[`weigh`](crate::weigh) stage proves that they do.
*/

#[cfg(target_arch = "x86_64")]
use super::sum_x86;

/// Adds up, for one word of the hashes, the weights of the features that have a
/// one at each of its 64 positions.
///
/// `hashes` has `stride` words a feature, of which the first counts; `weights` has
/// one entry a feature.
pub(crate) fn sums(hashes: &[u64], stride: usize, weights: &[u64]) -> [u64; 64] {
    #[cfg(target_arch = "x86_64")]
    if let Some(sums) = sum_x86::sums(hashes, stride, weights) {
        return sums;
    }
    scalar(hashes, stride, weights)
}

/// The plain version, which the others are compared with.
pub(super) fn scalar(hashes: &[u64], stride: usize, weights: &[u64]) -> [u64; 64] {
    let mut sums = [0; 64];
    for (&hash, &weight) in hashes.iter().step_by(stride).zip(weights) {
        for (j, sum) in sums.iter_mut().enumerate() {
            // All ones where the bit is one: no branch to mispredict.
            *sum += weight & (hash >> j & 1).wrapping_neg();
        }
    }
    sums
}
