/*! The hash functions of features, for each number of output words. */

use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

use super::Distinct;
use crate::normalize::without_ends;
use crate::segment::{ShingleLen, for_each_shingle};

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

/// The hash of the `bkdr` recipe, for fingerprints of `bits` bits; `seed` is its multiplier.
#[derive(Clone, Copy)]
pub(crate) struct Bkdr {
    pub(crate) bits: u32,
    pub(crate) seed: u32,
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

impl<const W: usize> UnitHash<W> for News {
    fn hash(self, feature: &str) -> [u64; W] {
        // Multiplication and XOR never carry downwards, so the low bits equal
        // the result of narrower arithmetic.
        let mut hash = [0; W];
        let mut length = 0;
        for unit in feature.encode_utf16().map(u64::from) {
            if length == 0 {
                hash[0] = unit << 7;
            }
            multiply(&mut hash, 1_000_003);
            hash[0] ^= unit;
            length += 1;
        }
        hash[0] ^= length;
        hash
    }
}

/// Multiplies a number of `W` words, lowest first, modulo 2^(64 W).
#[inline]
fn multiply<const W: usize>(number: &mut [u64; W], factor: u64) {
    let mut carry = 0;
    for word in number {
        let product = u128::from(*word) * u128::from(factor) + carry;
        *word = product as u64;
        carry = product >> 64;
    }
}

impl UnitHash<1> for Bkdr {
    fn hash(self, feature: &str) -> [u64; 1] {
        let hash = feature.encode_utf16().fold(0_i64, |hash, unit| {
            hash.wrapping_mul(i64::from(self.seed))
                .wrapping_add(i64::from(unit))
        });
        // The original program takes the remainder in floating point, which rounds a hash
        // beyond 2^53 first, and casts it to a signed number of 32 bits whatever the width; a
        // negative number has no digits there and counts as zeros.
        let remainder = hash.unsigned_abs() as f64 % f64::from(self.bits).exp2();
        let cast = remainder as u64 as u32 as i32;
        [u64::try_from(cast).unwrap_or(0)]
    }
}

fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

/// Appends the hash of each shingle of `text`, in order and with repeats.
///
/// O(n) for n characters.
pub fn shingle_hashes(text: &str, length: ShingleLen, hashes: &mut Vec<u64>) {
    let bytes = without_ends(text);
    hashes.reserve(bytes.len());
    for_each_shingle(&bytes, length, |place| hashes.push(xxh3_64(&bytes[place])));
}

/// Bytes from which on a text is long: its features are then hashed in several passes, each of
/// which holds a share of the hashes. A text of n bytes would otherwise need 24 n bytes or more.
const LONG: usize = 4 << 20;

/// Bits of a hash that number its share.
const SHARE_BITS: u32 = 3;

/// The hashes of one pass over a text: all of a short text, an eighth of a long one.
#[derive(Clone, Copy)]
pub(crate) struct Share(Option<u64>);

impl Share {
    /// The passes over a text.
    pub(crate) fn all_of(text: &str) -> impl Iterator<Item = Share> {
        let shares = if is_long(text) { 1 << SHARE_BITS } else { 1 };
        (0..shares).map(move |number| Share((shares > 1).then_some(number)))
    }

    /// Whether a hash belongs to this pass.
    #[inline]
    pub(crate) fn has(self, hash: u64) -> bool {
        self.0
            .is_none_or(|number| hash >> (u64::BITS - SHARE_BITS) == number)
    }
}

/// Whether the features of a text are hashed in several passes.
pub(crate) fn is_long(text: &str) -> bool {
    text.len() >= LONG
}

/// Adds the hash of a feature if it belongs to this pass over `text`. Repeats of a long text are
/// removed once they take more memory than its distinct features can.
#[inline]
pub(crate) fn push_in(share: Share, text: &str, hash: u64, hashes: &mut Vec<u64>) {
    if share.has(hash) {
        if share.0.is_some() && hashes.len() >= text.len() / 4 {
            hashes.sort_unstable();
            hashes.dedup();
        }
        hashes.push(hash);
    }
}

/// Drops repeats of the hashes of one pass over a text.
pub(crate) fn drop_repeats(text: &str, hashes: &mut Vec<u64>, distinct: &mut Distinct) {
    if is_long(text) {
        // Slower than a table of twice the size.
        hashes.sort_unstable();
        hashes.dedup();
    } else {
        distinct.clear(hashes.len());
        let mut kept = 0;
        for at in 0..hashes.len() {
            let hash = hashes[at];
            // Written in either case, to avoid an unpredictable branch.
            hashes[kept] = hash;
            kept += usize::from(distinct.insert(hash));
        }
        hashes.truncate(kept);
    }
}

/// Writes the hashes of the shingles of one pass, with repeats.
pub(crate) fn shingle_hashes_in(
    share: Share,
    text: &str,
    length: ShingleLen,
    hashes: &mut Vec<u64>,
) {
    hashes.clear();
    if share.0.is_none() {
        return shingle_hashes(text, length, hashes);
    }
    let bytes = without_ends(text);
    for_each_shingle(&bytes, length, |place| {
        push_in(share, text, xxh3_64(&bytes[place]), hashes);
    });
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
        assert_eq!(News.hash("a"), [(12_416_u64 * 1_000_003) ^ 97 ^ 1]);
        assert_eq!(News.hash(""), [0_u64]);
        let bkdr = Bkdr { bits: 64, seed: 31 };
        assert_eq!(bkdr.hash("ab"), [97 * 31 + 98]);
        let other = Bkdr {
            bits: 64,
            seed: 131,
        };
        assert_eq!(other.hash("ab"), [97 * 131 + 98]);
        // One character beyond the Basic Multilingual Plane is two code units.
        assert_eq!(bkdr.hash("\u{20000}"), [0xD840 * 31 + 0xDC00]);
    }

    #[test]
    fn a_bkdr_remainder_is_rounded_and_cast_to_32_bits() {
        let hash = |bits, word| Bkdr { bits, seed: 31 }.hash(word)[0];
        // Computed by the original arithmetic: 157 is the remainder of the exact hash.
        assert_eq!(hash(8, "中国人民解放军海军"), 156);
        // 122 * (31^6 + ... + 1) is 112_073_884_594: from 2^31 on, 32 bits are negative.
        let exact: u64 = 122 * (0..7).map(|power| 31_u64.pow(power)).sum::<u64>();
        assert_eq!(hash(31, "zzzzzzz"), exact % (1 << 31));
        for bits in [32, 33, 64] {
            let low = exact % (1 << 32);
            assert_eq!(hash(bits, "zzzzzzz"), if low >= 1 << 31 { 0 } else { low });
        }
        assert_eq!(hash(64, "ab"), 97 * 31 + 98);
    }

    #[test]
    fn a_wide_news_hash_ends_in_the_narrow_one() {
        for word in ["", "a", "直升机", "\u{20000}渡轮"] {
            let [narrow]: [u64; 1] = News.hash(word);
            let wide: [u64; 4] = News.hash(word);
            assert_eq!(wide[0], narrow);
        }
        let long: [u64; 2] = News.hash("直升机停在渡口");
        assert_ne!(long[1], 0);
    }
}
