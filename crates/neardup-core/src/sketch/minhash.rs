/*! MinHash: a short signature of a set, which estimates resemblance.

Under a random order of all hashes, the probability that two sets have the same
smallest member equals their resemblance (Broder 1997). A signature holds the
smallest member under each of `num_perm` orders, so the share of values in which
two signatures agree estimates the resemblance J without bias. The standard
error is sqrt(J (1 - J) / num_perm) for sets of any size. Order and
repetition of the features do not matter.

**The orders.** Order i ranks the low 32 bits x of a feature's XXH3 by
`a[i] * x + b[i]` modulo 2^32 with odd a\[i\]. This is one to one, so each value
identifies one x, and x is already as good as random. The constants are consecutive
numbers of SplitMix64 from seed 0 (Steele, Lea and Flood 2014): a\[i\] is the low half of
number i, made odd, and b\[i\] its high half. So a short signature is a prefix of a
longer one.

**Why 32 bits suffice.** Values agree by chance only if two features share x. For
sets with n members together, this makes a share of about n / 2^32 of the values
equal: 2e-7 for a thousand shingles, 2e-4 for a million, while the standard
error is .04. Values twice as wide would double the memory without benefit.

**Cost.** `num_perm` multiplications, additions and minima per feature, which the
compiler vectorizes. Features are collected in batches of 128, and each group of orders
stays in registers while a batch is processed. The benches `minhash` and `shingles` compare
the time of a feature at 128 values, 2.2 ns with AVX-512, with that of cutting and hashing
a shingle, 4 ns.

**Rejected.** One-permutation hashing with optimal densification (Shrivastava 2017) is
faster in sets of 300, where its error is 12 % below the theory. But a short text leaves
bins empty: in sets of 20 to 50 the error is 16 to 7 % above, and filling the bins takes
longer than all else. C-MinHash (Li and Li 2021) has the same error as this, and is slower.
*/

use crate::error::{Error, Result};

/// The smallest number of values of a signature.
pub const MIN_NUM_PERM: u32 = 16;

/// The largest number of values of a signature.
pub const MAX_NUM_PERM: u32 = 1024;

/// Orders per group, chosen so that multipliers, offsets and minima fit into registers:
/// four vectors of each with AVX-512.
const GROUP: usize = 64;

/// Features in a batch.
const BATCH: usize = 128;

/// Computes signatures of a fixed number of values; see the [module](self).
///
/// # Examples
///
/// ```
/// use neardup_core::sketch::{MinHash, Minima, equal_values};
///
/// let minhash = MinHash::new(128)?;
/// let mut minima = Minima::default();
/// let mut sign = |features: &[u64]| {
///     let mut signature = [0; 128];
///     minhash.begin(&mut minima);
///     for &feature in features {
///         minhash.add(&mut minima, feature);
///     }
///     minhash.finish(&mut minima, &mut signature);
///     signature
/// };
/// let known = sign(&[0x9E37_79B9, 0x7F4A_7C15]);
/// assert_eq!(known, sign(&[0x7F4A_7C15, 0x9E37_79B9, 0x7F4A_7C15]));
/// assert_eq!(equal_values(&known, &sign(&[0x2545_F491])), 0);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MinHash {
    num_perm: usize,
    groups: Vec<Orders>,
}

/// The constants of a group of orders.
#[derive(Clone, Debug)]
struct Orders {
    multipliers: [u32; GROUP],
    offsets: [u32; GROUP],
}

/// The state of an unfinished signature; reused from document to document.
#[derive(Clone, Debug)]
pub struct Minima {
    groups: Vec<[u32; GROUP]>,
    waiting: [u32; BATCH],
    filled: usize,
}

impl Default for Minima {
    fn default() -> Self {
        Minima {
            groups: Vec::new(),
            waiting: [0; BATCH],
            filled: 0,
        }
    }
}

impl MinHash {
    /// Prepares to compute signatures of `num_perm` values.
    ///
    /// # Errors
    ///
    /// If `num_perm` is not 16 to 1024.
    pub fn new(num_perm: u32) -> Result<Self> {
        check_num_perm(num_perm)?;
        let num_perm = num_perm as usize;
        let mut state = 0;
        let groups = (0..num_perm.div_ceil(GROUP)).map(|_| {
            let random: [u64; GROUP] = std::array::from_fn(|_| split_mix(&mut state));
            Orders {
                multipliers: random.map(|bits| bits as u32 | 1),
                offsets: random.map(|bits| (bits >> 32) as u32),
            }
        });
        Ok(MinHash {
            num_perm,
            groups: groups.collect(),
        })
    }

    /// Values of a signature.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// Begins a signature with the signature of the empty set: all values `u32::MAX`.
    pub fn begin(&self, minima: &mut Minima) {
        minima.filled = 0;
        minima.groups.clear();
        minima.groups.resize(self.groups.len(), [u32::MAX; GROUP]);
    }

    /// Adds a feature by the low 32 bits of its hash.
    ///
    /// A feature may be added more than once.
    #[inline]
    pub fn add(&self, minima: &mut Minima, hash: u64) {
        minima.waiting[minima.filled] = hash as u32;
        minima.filled += 1;
        if minima.filled == BATCH {
            self.flush(minima);
        }
    }

    /// Writes the signature of the features added since [`begin`](Self::begin).
    ///
    /// # Panics
    ///
    /// If `out` has another length than [`num_perm`](Self::num_perm).
    pub fn finish(&self, minima: &mut Minima, out: &mut [u32]) {
        assert_eq!(out.len(), self.num_perm, "values of a signature");
        self.flush(minima);
        for (out, group) in out.chunks_mut(GROUP).zip(&minima.groups) {
            out.copy_from_slice(&group[..out.len()]);
        }
    }

    #[inline(never)]
    fn flush(&self, minima: &mut Minima) {
        let features = &minima.waiting[..minima.filled];
        for (orders, minima) in self.groups.iter().zip(&mut minima.groups) {
            lower(features, orders, minima);
        }
        minima.filled = 0;
    }
}

/// The number of values in which two signatures agree. Divided by their length it
/// estimates the resemblance of the sets.
///
/// The signatures of two empty sets agree in all values.
///
/// # Panics
///
/// If the signatures differ in length.
pub fn equal_values(a: &[u32], b: &[u32]) -> usize {
    assert_eq!(a.len(), b.len(), "values of two signatures");
    let equal: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum();
    equal as usize
}

/// Rejects an invalid number of values.
pub(crate) fn check_num_perm(num_perm: u32) -> Result<()> {
    if !(MIN_NUM_PERM..=MAX_NUM_PERM).contains(&num_perm) {
        let bounds = format!("{MIN_NUM_PERM} to {MAX_NUM_PERM}");
        return Err(Error::parameter("num_perm", bounds, num_perm));
    }
    Ok(())
}

/// The next number of SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Updates the minima with some features, using the best instruction set available.
fn lower(features: &[u32], orders: &Orders, minima: &mut [u32; GROUP]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: AVX-512F has just been detected.
            return unsafe { avx512(features, orders, minima) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 has just been detected.
            return unsafe { avx2(features, orders, minima) };
        }
    }
    plain(features, orders, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(features: &[u32], orders: &Orders, minima: &mut [u32; GROUP]) {
    plain(features, orders, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(features: &[u32], orders: &Orders, minima: &mut [u32; GROUP]) {
    plain(features, orders, minima);
}

#[inline(always)]
fn plain(features: &[u32], orders: &Orders, minima: &mut [u32; GROUP]) {
    let mut least = *minima;
    for &x in features {
        for (i, least) in least.iter_mut().enumerate() {
            let rank = orders.multipliers[i]
                .wrapping_mul(x)
                .wrapping_add(orders.offsets[i]);
            *least = rank.min(*least);
        }
    }
    *minima = least;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(minhash: &MinHash, hashes: impl IntoIterator<Item = u64>) -> Vec<u32> {
        let mut minima = Minima::default();
        minhash.begin(&mut minima);
        for hash in hashes {
            minhash.add(&mut minima, hash);
        }
        let mut signature = vec![0; minhash.num_perm()];
        minhash.finish(&mut minima, &mut signature);
        signature
    }

    /// `count` numbers of SplitMix64 from a seed, used as hashes.
    fn hashes(seed: u64, count: usize) -> Vec<u64> {
        let mut state = seed;
        (0..count).map(|_| split_mix(&mut state)).collect()
    }

    #[test]
    fn signature_equals_the_golden_one() {
        let minhash = MinHash::new(16).unwrap();
        let golden = signature(&minhash, hashes(1, 300));
        assert_eq!(
            golden[..8],
            [
                23_318_718, 605_713, 5_749_612, 33_118_228, 18_091_242, 5_235_840, 2_046_733,
                2_806_292
            ]
        );
    }

    #[test]
    fn each_value_is_the_least_rank_by_its_own_order() {
        for num_perm in [16, 17, 64, 65, 128, 200, 1024] {
            let minhash = MinHash::new(num_perm).unwrap();
            for count in [0, 1, 2, 127, 128, 129, 1000] {
                let hashes = hashes(u64::from(num_perm), count);
                let mut state = 0;
                let expected: Vec<u32> = (0..num_perm)
                    .map(|_| {
                        let bits = split_mix(&mut state);
                        let (a, b) = (bits as u32 | 1, (bits >> 32) as u32);
                        let ranks = hashes
                            .iter()
                            .map(|&x| a.wrapping_mul(x as u32).wrapping_add(b));
                        ranks.min().unwrap_or(u32::MAX)
                    })
                    .collect();
                assert_eq!(signature(&minhash, hashes), expected);
            }
        }
    }

    #[test]
    fn signature_ignores_order_repetition_and_earlier_texts() {
        let minhash = MinHash::new(128).unwrap();
        let set = hashes(3, 500);
        let expected = signature(&minhash, set.clone());
        assert_eq!(signature(&minhash, set.iter().rev().copied()), expected);
        let repeated = set.iter().chain(&set[100..]).flat_map(|&hash| [hash; 3]);
        assert_eq!(signature(&minhash, repeated), expected);
        let mut minima = Minima::default();
        let mut got = vec![0; 128];
        let others = MinHash::new(1000).unwrap();
        others.begin(&mut minima);
        others.add(&mut minima, 0);
        minhash.begin(&mut minima);
        set.iter().for_each(|&hash| minhash.add(&mut minima, hash));
        minhash.finish(&mut minima, &mut got);
        assert_eq!(got, expected);
    }

    #[test]
    fn a_short_signature_begins_a_long_one() {
        let set = hashes(9, 40);
        let long = signature(&MinHash::new(1024).unwrap(), set.clone());
        let short = signature(&MinHash::new(100).unwrap(), set);
        assert_eq!(long[..100], short);
    }

    #[test]
    fn the_empty_set_is_like_no_other() {
        let minhash = MinHash::new(128).unwrap();
        let empty = signature(&minhash, []);
        assert_eq!(empty, [u32::MAX; 128]);
        assert_eq!(equal_values(&empty, &signature(&minhash, hashes(1, 5))), 0);
        assert_eq!(equal_values(&empty, &empty), 128);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn all_instructions_give_the_same() {
        let minhash = MinHash::new(64).unwrap();
        let orders = &minhash.groups[0];
        for count in [0, 1, 3, 100] {
            let features: Vec<u32> = hashes(8, count).iter().map(|&hash| hash as u32).collect();
            let mut expected = [u32::MAX; GROUP];
            plain(&features, orders, &mut expected);
            let mut got = [u32::MAX; GROUP];
            if is_x86_feature_detected!("avx2") {
                // SAFETY: AVX2 has just been detected.
                unsafe { avx2(&features, orders, &mut got) };
                assert_eq!(got, expected);
            }
            got = [u32::MAX; GROUP];
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: AVX-512F has just been detected.
                unsafe { avx512(&features, orders, &mut got) };
                assert_eq!(got, expected);
            }
        }
    }

    #[test]
    fn error_is_as_large_as_in_theory() {
        const PAIRS: usize = 1000;
        let minhash = MinHash::new(128).unwrap();
        for (size, common) in [
            (20, 7),
            (20, 16),
            (100, 20),
            (100, 67),
            (1000, 182),
            (1000, 947),
        ] {
            let union = 2 * size - common;
            let resemblance = common as f64 / union as f64;
            let (mut bias, mut squares) = (0.0, 0.0);
            for pair in 0..PAIRS {
                let union = hashes(((size * PAIRS + pair) as u64) << 32, union);
                let a = signature(&minhash, union[..size].iter().copied());
                let b = signature(&minhash, union[size - common..].iter().copied());
                let error = equal_values(&a, &b) as f64 / 128.0 - resemblance;
                bias += error / PAIRS as f64;
                squares += error * error / PAIRS as f64;
            }
            let theory = (resemblance * (1.0 - resemblance) / 128.0).sqrt();
            assert!(squares.sqrt() <= 1.1 * theory, "{size}, {resemblance}");
            // Four standard errors of the mean.
            let noise = 4.0 * theory / (PAIRS as f64).sqrt();
            assert!(bias.abs() <= noise, "{size}, {resemblance}: {bias}");
        }
    }

    #[test]
    fn numbers_of_values_have_bounds() {
        assert!(MinHash::new(15).is_err());
        assert!(MinHash::new(1024).is_ok());
        let message = MinHash::new(1025).unwrap_err().to_string();
        assert!(message.contains("num_perm") && message.contains("16 to 1024"));
    }
}
