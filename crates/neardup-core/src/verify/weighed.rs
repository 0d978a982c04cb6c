/*! The common shingles of two texts told from their content.

A shingle that more than R texts of the collection carry is *common*, by the table
[`ShingleFrequencies`](super::ShingleFrequencies), which knows R; without a table none is. Let n be
the median, the lower of two, of how many texts carry the common shingles that both
texts have. The text may be one that is posted often: an
unshared shingle that at least 0.8 n texts carry is *of the majority form*: there
the other text was edited. With m and r the numbers of a text's unshared shingles
that are and are not of the majority form:

```text
shared = rare shared ones + 0.3 · common shared ones
d_a = max(0, r_a − m_b)    d_b = max(0, r_b − m_a)
edits = m_a + m_b + (r_a − d_a) + (r_b − d_b)
content = shared / (shared + d_a + d_b + 0.3 · edits)
```

Where no shared shingle is common, that is the resemblance, and the resemblance
is what is returned. Else only shingles are counted that both texts and the table
sample, see [`frequencies`](super::shingle_frequencies); fewer than [`KNOWN`] say nothing,
and the resemblance is returned likewise.

All counts are integers, and the quotient is the only rounding. A pair costs one
merge of two samples, of some 200 hashes each.
*/

use super::shingle_frequencies::is_of;

/// What a common shingle counts, in tenths of a rare one.
///
/// A tenth told forms apart a little better, and took copies of one text for a
/// form where a collection had five to a dozen of them.
const COMMON: usize = 3;

/// The least number of sampled shingles, of both texts together, that say
/// anything about what is common.
pub const KNOWN: usize = 24;

/// The shingles of two texts that were looked up, sorted out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// Of which level the shingles are: one in 2^level was looked at.
    pub level: u32,
    /// Rare shingles that both texts have.
    pub rare: usize,
    /// Common shingles that both texts have.
    pub common: usize,
    /// The lower median of how many texts carry those; 0 if there are none.
    pub median: u32,
    /// Shingles of the first text alone that are content.
    pub differs_a: usize,
    /// Shingles of the second text alone that are content.
    pub differs_b: usize,
    /// The other shingles of one text alone: edits of a text that is posted
    /// often.
    pub edits: usize,
}

/// Lists that are made for a pair and used again for the next.
#[derive(Debug, Default)]
pub struct Scratch {
    rare: usize,
    common: Vec<u32>,
    only_a: Vec<u32>,
    only_b: Vec<u32>,
}

/// The leading hashes of a sorted set that are of a level.
pub(super) fn sampled(hashes: &[u64], level: u32) -> &[u64] {
    &hashes[..hashes.partition_point(|&hash| is_of(level, hash))]
}

/// Sampled shingles of one text, each with the number of texts that carry it.
pub(super) struct Sample<'a> {
    pub(super) hashes: &'a [u64],
    pub(super) counts: &'a [u32],
    /// Texts that carry a shingle, at most, for it to be rare.
    pub(super) rare: u32,
}

pub(super) enum Weighing {
    /// The resemblance decides.
    NothingCommon,
    /// The content is below the threshold, however the rest is sorted out.
    TooLow,
    Done(Weighed),
}

impl Scratch {
    /// Sorts out the shingles of two samples of one level, unless they show that
    /// the content is below `threshold`.
    pub(super) fn weigh(
        &mut self,
        a: &Sample<'_>,
        b: &Sample<'_>,
        level: u32,
        threshold: f64,
    ) -> Weighing {
        let most_of_rare = a.rare.min(b.rare);
        self.sort_out(a, b, most_of_rare);
        let common = self.common.len();
        let alone = self.only_a.len() + self.only_b.len();
        if common == 0 || self.rare + common + alone < KNOWN {
            return Weighing::NothingCommon;
        }
        // The content is the largest if all that is not shared are edits.
        let most = Weighed {
            level,
            rare: self.rare,
            common,
            edits: alone,
            ..Weighed::default()
        };
        if most.content() < threshold {
            return Weighing::TooLow;
        }
        Weighing::Done(self.tell_edits(most))
    }

    /// Merges two samples into shared and unshared shingles.
    fn sort_out(&mut self, a: &Sample<'_>, b: &Sample<'_>, most_of_rare: u32) {
        let reset = |list: &mut Vec<u32>, length| {
            list.clear();
            list.resize(length, 0);
        };
        reset(&mut self.only_a, a.hashes.len());
        reset(&mut self.only_b, b.hashes.len());
        reset(&mut self.common, a.hashes.len().min(b.hashes.len()) + 1);
        let (mut i, mut j) = (0, 0);
        let (mut alone_a, mut alone_b, mut common, mut rare) = (0, 0, 0, 0);
        while i < a.hashes.len() && j < b.hashes.len() {
            let (x, y) = (a.hashes[i], b.hashes[j]);
            let (count_a, count_b) = (a.counts[i], b.counts[j]);
            // Written in any case: which list it belongs to, no processor could
            // foresee.
            self.only_a[alone_a] = count_a;
            self.only_b[alone_b] = count_b;
            self.common[common] = count_a;
            alone_a += usize::from(x < y);
            alone_b += usize::from(y < x);
            common += usize::from(x == y && count_a > most_of_rare);
            rare += usize::from(x == y && count_a <= most_of_rare);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        self.rare = rare;
        self.common.truncate(common);
        self.only_a.truncate(alone_a);
        self.only_b.truncate(alone_b);
        self.only_a.extend_from_slice(&a.counts[i..]);
        self.only_b.extend_from_slice(&b.counts[j..]);
    }

    /// Tells which of the unshared shingles are edits; some shared ones are
    /// common.
    fn tell_edits(&mut self, most: Weighed) -> Weighed {
        let middle = (self.common.len() - 1) / 2;
        let (_, &mut median, _) = self.common.select_nth_unstable(middle);
        let of_majority = |counts: &[u32]| {
            let is_of_majority = |count: u32| 5 * u64::from(count) >= 4 * u64::from(median);
            counts
                .iter()
                .filter(|&&count| is_of_majority(count))
                .count()
        };
        let (alone_a, alone_b) = (self.only_a.len(), self.only_b.len());
        let (major_a, major_b) = (of_majority(&self.only_a), of_majority(&self.only_b));
        let differs_a = (alone_a - major_a).saturating_sub(major_b);
        let differs_b = (alone_b - major_b).saturating_sub(major_a);
        Weighed {
            median,
            differs_a,
            differs_b,
            edits: alone_a + alone_b - differs_a - differs_b,
            ..most
        }
    }
}

impl Weighed {
    /// The share of content in common, in [0, 1]; 1 if there is nothing at all.
    pub fn content(self) -> f64 {
        // In tenths. Where nothing is common the factor 10 cancels, and the
        // quotient is the resemblance to the last bit.
        let shared = 10 * self.rare + COMMON * self.common;
        let differs = 10 * (self.differs_a + self.differs_b) + COMMON * self.edits;
        match shared + differs {
            0 => 1.0,
            all => shared as f64 / all as f64,
        }
    }
}
