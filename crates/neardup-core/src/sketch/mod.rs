/*! Stage 4: features to a sketch.

There are three kinds of sketch. A *fingerprint* is a bit vector computed by SimHash from
weighted features. A *signature* is the smallest hash under each of several orders, by
[MinHash](minhash). A *sample* is a share of the features themselves, chosen by their
hashes (file `sample.rs`). Signatures and samples depend on the set of features and ignore
weights.

SimHash: a feature with weight w adds w to every position where its hash has a
one and subtracts w where it has a zero; the sign of each sum is one bit of the
fingerprint. Texts that share most of their weight share most of their bits
(Charikar, STOC 2002; Manku, Jain and Das Sarma, WWW 2007).

Let P(j) be the weight of the features whose bit j is one and W the weight of all. Then
the sum at j is 2 P(j) - W, so only ones are added, in unsigned integers. The result is
exact. If every feature weighs the same, bit-sliced counters count the ones (about
five operations per feature and word, file `count.rs`); otherwise masked additions sum the
weights (8 positions per instruction with AVX-512, file `sum.rs`). The order of the
features does not matter.

Layout: bit j is bit `j % 64` of word `j / 64`; bits beyond the width are zero. The hash
functions are part of the format; see [`HashKind`].
*/

mod count;
mod distinct;
mod hash;
pub mod minhash;
mod sample;
mod sketch_store;
mod sketches;
mod sum;
#[cfg(target_arch = "x86_64")]
mod sum_x86;

use neardup_hamming::word_count;
use serde::Deserialize;

use crate::error::{Error, Result};

pub(crate) use count::Counters;
pub(crate) use distinct::Distinct;
pub use hash::shingle_hashes;
pub(crate) use hash::{News, Share, UnitHash, Xxh3, drop_repeats, push_in, shingle_hashes_in};
pub(crate) use minhash::check_num_perm;
pub use minhash::{MAX_NUM_PERM, MIN_NUM_PERM, MinHash, Minima, equal_values};
pub(crate) use sample::{Sampler, level_of};
pub use sketch_store::SketchStore;
pub use sketches::{FeatureSamples, Signatures, Sketches};
pub(crate) use sum::sums;

/// Which function hashes a feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HashKind {
    /// XXH3 over the UTF-8 bytes with seed 0. A width of 32 uses the low half of the
    /// 64-bit hash. A width of 128 uses the 128-bit hash, low word first; 256 appends
    /// the 128-bit hash with seed 1.
    #[default]
    Xxh3,
    /// The hash of the `news` recipe over UTF-16 code units c: x = c\[0\] << 7,
    /// then x = (x * 1000003) XOR c for each, then x XOR the number of code
    /// units, modulo 2^bits; 0 for an empty feature. For 1 to 256 bits.
    News,
    /// The hash of the `bkdr` recipe over UTF-16 code units: h = h * seed + c in
    /// signed 64-bit arithmetic, then the absolute value, as a double its remainder by
    /// 2^bits, then cast to a signed number of 32 bits; a negative one becomes 0. For 1 to 64
    /// bits.
    Bkdr,
}

/// How features become a sketch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Settings {
    /// A fingerprint.
    SimHash(SimHash),
    /// A signature of `num_perm` values, 16 to 1024.
    MinHash {
        /// Values of the signature.
        num_perm: u32,
    },
    /// A sample of the features.
    Sample {
        /// The smallest size of the sample of a large set; 0 samples everything.
        size: u32,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Settings::SimHash(SimHash::default())
    }
}

impl Settings {
    /// Rejects invalid settings.
    ///
    /// # Errors
    ///
    /// If a value is out of its documented bounds.
    pub fn check(&self) -> Result<()> {
        match self {
            Settings::SimHash(simhash) => simhash.check(),
            Settings::MinHash { num_perm } => check_num_perm(*num_perm),
            Settings::Sample { .. } => Ok(()),
        }
    }
}

/// How features become a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SimHash {
    /// Bits of the fingerprint: 32, 64, 128 or 256 with XXH3, 1 to 256 with `news`, 1 to 64
    /// with `bkdr`.
    pub bits: u32,
    /// The hash function.
    pub hash: HashKind,
    /// The bit for a position where ones and zeros have equal weight: 0 or 1.
    pub tie: u8,
    /// The multiplier of `bkdr`, at least 1.
    pub seed: u32,
}

impl Default for SimHash {
    fn default() -> Self {
        SimHash {
            bits: 128,
            hash: HashKind::Xxh3,
            tie: 0,
            seed: 31,
        }
    }
}

impl SimHash {
    fn check(&self) -> Result<()> {
        let (is_width, widths) = match self.hash {
            HashKind::Xxh3 => (
                matches!(self.bits, 32 | 64 | 128 | 256),
                "32, 64, 128 or 256 with the hash 'xxh3'",
            ),
            HashKind::News => (
                (1..=256).contains(&self.bits),
                "1 to 256 with the hash 'news'",
            ),
            HashKind::Bkdr => (
                (1..=64).contains(&self.bits),
                "1 to 64 with the hash 'bkdr'",
            ),
        };
        if !is_width {
            return Err(Error::parameter("bits", widths, self.bits));
        }
        if self.tie > 1 {
            return Err(Error::parameter("tie", "0 or 1", self.tie));
        }
        if self.seed == 0 {
            return Err(Error::parameter("seed", "at least 1", self.seed));
        }
        Ok(())
    }

    /// The hash function `bkdr` with these settings.
    pub(crate) fn bkdr(&self) -> hash::Bkdr {
        hash::Bkdr {
            bits: self.bits,
            seed: self.seed,
        }
    }

    /// 64-bit words in a fingerprint.
    pub fn words(&self) -> usize {
        word_count(self.bits)
    }
}

/// The sketch of one document; its kind determines which fields are filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// A fingerprint, lowest word first; unused words are zero.
    pub words: [u64; 4],
    /// The values of a signature, or the ascending keys of a sample.
    pub values: Vec<u32>,
    /// The level of a sample: about one feature in 2^level is kept.
    pub level: u32,
}

/// Writes the fingerprint, from the weight of ones at each position (`ones`) and the
/// weight of all features (`total`).
pub(crate) fn signs(ones: &[u64], total: u64, bits: u32, tie: u8, out: &mut [u64]) {
    out.fill(0);
    for (j, &ones) in ones.iter().enumerate().take(bits as usize) {
        // Not 2 * ones > total, which could overflow.
        let zeros = total - ones;
        if ones > zeros || (ones == zeros && tie == 1) {
            out[j / 64] |= 1 << (j % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_weighted_features_of_five_bits() {
        // Position 0 is the leftmost digit of each hash here.
        let hashes = ["00101", "11001", "00110", "10101", "01011"];
        let hashes = hashes.map(|digits| {
            let ones = digits
                .bytes()
                .enumerate()
                .filter(|&(_, digit)| digit == b'1');
            ones.fold(0, |hash, (j, _)| hash | 1 << j)
        });
        let weights = [1, 2, 3, 4, 5];
        let ones = sums(&hashes, 1, &weights);
        let total: u64 = weights.iter().sum();
        let signed = ones.map(|ones| 2 * ones as i64 - total as i64);
        assert_eq!(signed[..5], [-3, -1, 1, 1, 9]);
        let mut fingerprint = [0];
        signs(&ones, total, 5, 0, &mut fingerprint);
        assert_eq!(fingerprint, [0b11100]);
    }

    #[test]
    fn the_largest_weights_do_not_overflow() {
        let mut fingerprint = [0];
        let ones = sums(&[0b01, 0b10], 1, &[u64::MAX / 2 + 1, u64::MAX / 2]);
        signs(&ones, u64::MAX, 64, 0, &mut fingerprint);
        assert_eq!(fingerprint, [0b01]);
    }
}
