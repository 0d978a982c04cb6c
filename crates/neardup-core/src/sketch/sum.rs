/*! Sums the weights of the ones at each position, for features of different weights.

The sums fit into 64 bits if the total weight of one document does; the
[`weigh`](crate::weigh) stage proves that it does.
*/

#[cfg(target_arch = "x86_64")]
use super::sum_x86;

/// Adds up, for one word of the hashes, the weights of the features that have a
/// one at each of its 64 positions.
///
/// `hashes` has `stride` words per feature, and the first is used; `weights` has
/// one entry per feature.
pub(crate) fn sums(hashes: &[u64], stride: usize, weights: &[u64]) -> [u64; 64] {
    #[cfg(target_arch = "x86_64")]
    if let Some(sums) = sum_x86::sums(hashes, stride, weights) {
        return sums;
    }
    scalar(hashes, stride, weights)
}

/// The portable version, with which tests compare the others.
pub(super) fn scalar(hashes: &[u64], stride: usize, weights: &[u64]) -> [u64; 64] {
    let mut sums = [0; 64];
    for (&hash, &weight) in hashes.iter().step_by(stride).zip(weights) {
        for (j, sum) in sums.iter_mut().enumerate() {
            // A mask of all ones where the bit is one, which avoids a branch.
            *sum += weight & (hash >> j & 1).wrapping_neg();
        }
    }
    sums
}
