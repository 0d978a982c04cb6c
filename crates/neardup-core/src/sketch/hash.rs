/*! The hash functions of features, for each number of output words. */

use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

use crate::segment::shingles;

/// A hash of `W` words of 64 bits.
pub(crate) trait UnitHash<const W: usize>: Copy {
    /// Hashes a feature.
    fn hash(self, feature: &str) -> [u64; W];

    /// A 64-bit value that distinguishes features; `hash` is the hash of the feature.
    #[inline]
    fn identity(self, feature: &str, _hash: &[u64; W]) -> u64 {
        xxh3_64(feature.as_bytes())
    }
}

/// XXH3 over UTF-8 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Xxh3;

/// The hash of the `news` recipe.
#[derive(Clone, Copy)]
pub(crate) struct News;

/// The hash of the `bkdr` recipe, for fingerprints of `bits` bits.
#[derive(Clone, Copy)]
pub(crate) struct Bkdr {
    pub(crate) bits: u32,
}

impl UnitHash<1> for Xxh3 {
    #[inline]
    fn hash(self, feature: &str) -> [u64; 1] {
        [xxh3_64(feature.as_bytes())]
    }

    #[inline]
    fn identity(self, _feature: &str, hash: &[u64; 1]) -> u64 {
        hash[0]
    }
}

impl UnitHash<2> for Xxh3 {
    #[inline]
    fn hash(self, feature: &str) -> [u64; 2] {
        halves(xxh3_128(feature.as_bytes()))
    }

    #[inline]
    fn identity(self, _feature: &str, hash: &[u64; 2]) -> u64 {
        hash[0]
    }
}

impl UnitHash<4> for Xxh3 {
    #[inline]
    fn hash(self, feature: &str) -> [u64; 4] {
        let [a, b] = halves(xxh3_128(feature.as_bytes()));
        let [c, d] = halves(xxh3_128_with_seed(feature.as_bytes(), 1));
        [a, b, c, d]
    }

    #[inline]
    fn identity(self, _feature: &str, hash: &[u64; 4]) -> u64 {
        hash[0]
    }
}

impl UnitHash<1> for News {
    fn hash(self, feature: &str) -> [u64; 1] {
        // Multiplication and XOR never carry downwards, so the low bits equal
        // the result of narrower arithmetic.
        let mut units = feature.encode_utf16().map(u64::from).peekable();
        let Some(&first) = units.peek() else {
            return [0];
        };
        let (hash, length) = units.fold((first << 7, 0), |(hash, length), unit| {
            (hash.wrapping_mul(1_000_003) ^ unit, length + 1)
        });
        [hash ^ length]
    }
}

impl UnitHash<1> for Bkdr {
    fn hash(self, feature: &str) -> [u64; 1] {
        let hash = feature.encode_utf16().fold(0_i64, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add(i64::from(unit))
        });
        let hash = hash.unsigned_abs();
        // The original implementation keeps a 32-bit remainder in a signed
        // number and treats a negative one as zeros.
        match self.bits == 32 && hash & 1 << 31 != 0 {
            true => [0],
            false => [hash],
        }
    }
}

fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

/// Appends the hash of each shingle of `k` characters of `text`, in order and with
/// repeats; `k` must be at least 1.
///
/// O(n) for n characters.
pub fn shingle_hashes(text: &str, k: usize, hashes: &mut Vec<u64>) {
    hashes.reserve(text.len() / 2);
    let bytes = text.as_bytes();
    hashes.extend(shingles(text, k.max(1)).map(|shingle| xxh3_64(&bytes[shingle])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xxh3_is_the_published_function() {
        // Seed 0 of the empty input, from the reference implementation.
        assert_eq!(UnitHash::<1>::hash(Xxh3, ""), [0x2D06_8005_38D3_94C2]);
        let empty: [u64; 2] = Xxh3.hash("");
        assert_eq!(empty, [0x6001_C324_468D_497F, 0x99AA_06D3_0147_98D8]);
        let wide: [u64; 4] = Xxh3.hash("特征");
        let narrow: [u64; 2] = Xxh3.hash("特征");
        assert_eq!(wide[..2], narrow);
        assert_ne!(wide[2..], narrow);
    }

    #[test]
    fn hashes_over_utf16_by_hand() {
        // 'a' = 97: (97 << 7) * 1000003 ^ 97 ^ 1.
        assert_eq!(News.hash("a"), [(12_416 * 1_000_003) ^ 97 ^ 1]);
        assert_eq!(News.hash(""), [0]);
        let bkdr = Bkdr { bits: 64 };
        assert_eq!(bkdr.hash("ab"), [97 * 31 + 98]);
        // One character beyond the Basic Multilingual Plane is two code units.
        assert_eq!(bkdr.hash("\u{20000}"), [0xD840 * 31 + 0xDC00]);
    }

    #[test]
    fn a_bkdr_remainder_of_32_bits_has_a_sign() {
        // ((97 * 31 + 122) * 31 + 98) ... grows past 2^31 with the seventh letter.
        let hashes = ["zzzzzz", "zzzzzzz", "azbzcz"].map(|word| Bkdr { bits: 64 }.hash(word)[0]);
        for (word, hash) in ["zzzzzz", "zzzzzzz", "azbzcz"].into_iter().zip(hashes) {
            let remainder = hash % (1 << 32);
            let expected = if remainder >= 1 << 31 { 0 } else { hash };
            assert_eq!(Bkdr { bits: 32 }.hash(word), [expected], "{word}");
            assert_eq!(Bkdr { bits: 31 }.hash(word), [hash]);
        }
        assert!(hashes.iter().any(|hash| hash % (1 << 32) >= 1 << 31));
        assert!(hashes.iter().any(|hash| hash % (1 << 32) < 1 << 31));
    }
}
