//! Resemblance of two sets of character shingles.

use crate::buckets::sorted;
use crate::ids::Hash;
use crate::segment::ShingleLen;
use crate::sketch::shingle_hashes;

/// The distinct shingles of one text, as sorted hashes.
///
/// A text shorter than `k` characters is one shingle, the whole text; the empty
/// text has none.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::Shingles;
///
/// let a = Shingles::of("abcd", 2); // ab bc cd
/// let b = Shingles::of("bcde", 2); // bc cd de
/// assert_eq!(a.resemblance(&b), 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles<H = u64> {
    hashes: Box<[H]>,
}

impl Shingles {
    /// Collects the shingles of `k` characters of `text`; `k` must be at least 1.
    ///
    /// O(n log n) for n characters; 8 bytes per distinct shingle.
    pub fn of(text: &str, k: usize) -> Self {
        let mut hashes = Vec::new();
        shingle_hashes(text, ShingleLen::Chars(k), &mut hashes);
        Shingles::of_hashes(&hashes)
    }

    /// The set of the given hashes, which may be in any order and repeat.
    pub(super) fn of_hashes(hashes: &[u64]) -> Self {
        let mut hashes = sorted(hashes, |hash| hash);
        hashes.dedup();
        Shingles {
            hashes: hashes.into_boxed_slice(),
        }
    }

    /// The same set by the halves of the hashes that [samples](super::Samples) hold; two shingles may be
    /// one there.
    pub fn halves(&self) -> Shingles<Hash> {
        let halves = self.hashes.iter().map(|&hash| Hash::of(hash));
        let mut halves: Vec<Hash> = halves.collect();
        halves.dedup();
        Shingles {
            hashes: halves.into_boxed_slice(),
        }
    }
}

impl<H: Copy + Ord> Shingles<H> {
    /// The hashes of the shingles, distinct and ascending.
    pub fn hashes(&self) -> &[H] {
        &self.hashes
    }

    /// The number of distinct shingles.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// True for the empty text only.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The share of shingles in common: intersection over union, in [0, 1].
    ///
    /// Two empty sets have resemblance 1.
    pub fn resemblance(&self, other: &Shingles<H>) -> f64 {
        self.overlap(other).resemblance()
    }

    /// The resemblance if it is at least `threshold`, else `None`.
    ///
    /// The result is the same as comparing [`resemblance`](Self::resemblance)
    /// with the threshold. The merge stops once the rest of either set is too small to
    /// reach it, which saves two thirds of the work on unrelated texts.
    pub fn resemblance_from(&self, other: &Shingles<H>, threshold: f64) -> Option<f64> {
        // One less than the formula gives, so that rounding cannot matter.
        let total = (self.len() + other.len()) as f64;
        let needed = (threshold * total / (1.0 + threshold)).floor() as usize;
        let overlap = Overlap {
            a: self.len(),
            b: other.len(),
            common: self.common(other, needed.saturating_sub(1))?,
        };
        Some(overlap.resemblance()).filter(|&found| found >= threshold)
    }

    /// The sizes of both sets and of their intersection.
    pub fn overlap(&self, other: &Shingles<H>) -> Overlap {
        Overlap {
            a: self.len(),
            b: other.len(),
            // Every intersection has a size of at least 0.
            common: self.common(other, 0).unwrap_or(0),
        }
    }

    /// The size of the intersection; `None` once it cannot reach `needed`.
    fn common(&self, other: &Shingles<H>, needed: usize) -> Option<usize> {
        // The bound is checked once per stretch to keep the inner loop fast.
        const STRETCH: usize = 64;
        let (a, b) = (&*self.hashes, &*other.hashes);
        let (mut i, mut j, mut common) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            if common + (a.len() - i).min(b.len() - j) < needed {
                return None;
            }
            let stop = (i + STRETCH).min(a.len());
            while i < stop && j < b.len() {
                let (x, y) = (a[i], b[j]);
                common += usize::from(x == y);
                i += usize::from(x <= y);
                j += usize::from(y <= x);
            }
        }
        (common >= needed).then_some(common)
    }
}

impl<H> AsRef<[H]> for Shingles<H> {
    fn as_ref(&self) -> &[H] {
        &self.hashes
    }
}

/// The sizes of two sets of shingles and of their intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Shingles of the first set.
    pub a: usize,
    /// Shingles of the second set.
    pub b: usize,
    /// Shingles in both.
    pub common: usize,
}

impl Overlap {
    /// Intersection over union, in [0, 1]; 1 for two empty sets.
    pub fn resemblance(self) -> f64 {
        match self.a + self.b - self.common {
            0 => 1.0,
            union => self.common as f64 / union as f64,
        }
    }

    /// The share of the first set that the second also contains, in [0, 1].
    ///
    /// If the first set is empty: 1 if the second is empty too, else 0, as for
    /// resemblance.
    pub fn containment_a(self) -> f64 {
        share(self.common, self.a, self.b)
    }

    /// The share of the second set that the first also contains, in [0, 1].
    pub fn containment_b(self) -> f64 {
        share(self.common, self.b, self.a)
    }

    /// The share of the smaller set that the larger also contains, in [0, 1].
    pub fn containment(self) -> f64 {
        self.containment_a().max(self.containment_b())
    }
}

fn share(common: usize, of: usize, other: usize) -> f64 {
    match of {
        0 => f64::from(u8::from(other == 0)),
        _ => common as f64 / of as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn textbook(a: &str, b: &str, k: usize) -> f64 {
        fn set(text: &str, k: usize) -> HashSet<String> {
            let chars: Vec<char> = text.chars().collect();
            if chars.is_empty() {
                return HashSet::new();
            }
            if chars.len() < k {
                return HashSet::from([text.to_owned()]);
            }
            chars.windows(k).map(|w| w.iter().collect()).collect()
        }
        let (a, b) = (set(a, k), set(b, k));
        match a.union(&b).count() {
            0 => 1.0,
            union => a.intersection(&b).count() as f64 / union as f64,
        }
    }

    #[test]
    fn equals_the_textbook_on_small_texts() {
        let texts = [
            "",
            "a",
            "近",
            "近似",
            "近似文本检测",
            "近似文本检测引擎",
            "近似文本检测引擎引擎引擎",
            "an engine",
            "e\u{301}\0👩‍👩‍👧",
        ];
        for a in texts {
            for b in texts {
                for k in [1, 2, 3, 5] {
                    let got = Shingles::of(a, k).resemblance(&Shingles::of(b, k));
                    assert_eq!(got, textbook(a, b, k), "{a:?} {b:?} k={k}");
                }
            }
        }
    }

    #[test]
    fn empty_text_has_no_containment_but_that_of_sets() {
        let overlap = |a: &str, b: &str| Shingles::of(a, 2).overlap(&Shingles::of(b, 2));
        let both = |o: Overlap| (o.containment_a(), o.containment_b());
        assert_eq!(both(overlap("", "")), (1.0, 1.0));
        assert_eq!(both(overlap("", "abc")), (0.0, 0.0));
        assert_eq!(both(overlap("abc", "abcde")), (1.0, 0.5));
    }

    #[test]
    fn giving_up_early_changes_no_verdict() {
        let long: String = (0..3000u32)
            .map(|i| char::from_u32(0x4e00 + i * 7 % 991).unwrap_or('字'))
            .collect();
        let base: Vec<char> = long.chars().collect();
        for changed in (0..base.len()).step_by(37) {
            let mut other = base.clone();
            for at in (0..changed).step_by(3) {
                other[at] = '变';
            }
            let a = Shingles::of(&long, 5);
            let b = Shingles::of(&other.iter().collect::<String>(), 5);
            let exact = a.resemblance(&b);
            for threshold in [0.0, 0.2, 0.5, exact, exact + 1e-9, 0.9, 1.0] {
                let got = a.resemblance_from(&b, threshold);
                assert_eq!(got, (exact >= threshold).then_some(exact));
            }
        }
    }

    #[test]
    fn the_threshold_itself_is_inside() {
        let a = Shingles::of("abcd", 2);
        let b = Shingles::of("bcde", 2);
        assert_eq!(a.resemblance_from(&b, 0.5), Some(0.5));
        assert_eq!(a.resemblance_from(&b, 0.5 + f64::EPSILON), None);
    }
}
