/*! Two texts by their shingles, each weighed by how many texts of the collection carry it.

A shingle that at most R texts carry is *rare* and weighs 1, by the table
[`ShingleFrequencies`](super::ShingleFrequencies), which knows R; one that n texts carry weighs
1 / (1 + √(n − R)). What hundreds of texts share, a form or a phrase, so says little.

Let n be the median, the lower of two, of how many texts carry the common shingles that both
texts have. The text may be one that is posted often: an
unshared shingle that at least 0.8 n texts carry is *of the majority form*: there
the other text was edited. So as many rare unshared shingles of the other text are excused: they
weigh on average what a shingle weighs that n texts carry. Let s, a and b be the weights of the shingles of both,
and of one text alone:

```text
containment = s / (s + min(a, b))
resemblance = s / (s + a + b)
```

Only shingles are looked at that both texts and the table
sample, see [`frequencies`](super::shingle_frequencies); fewer than [`KNOWN`] say nothing. Then, and where no shared
shingle is common, all of the sets count, and each shingle alike.

All weights are integers, in thousandths, and the quotient is the only rounding. A pair costs one
merge of two samples, of some 200 hashes each.
*/

use super::shingle_frequencies::is_of;

/// What a rare shingle weighs.
const RARE_WEIGHT: u64 = 1000;

/// The least number of sampled shingles, of both texts together, that say
/// anything about what is common.
pub const KNOWN: usize = 24;

/// The shingles of two texts that were looked up, weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// Of which level the shingles are: one in 2^level was looked at.
    pub level: u32,
    /// Weight of the shingles that both texts have.
    pub shared: u64,
    /// Weight of the shingles of the first text alone.
    pub alone_a: u64,
    /// Weight of the shingles of the second text alone.
    pub alone_b: u64,
    /// The lower median of how many texts carry the common shingles that both have; 0 if there
    /// are none.
    pub median: u32,
    /// Rare shingles of one text alone that are taken for edits of a text that is posted often.
    pub excused: usize,
}

/// Lists that are made for a pair and used again for the next.
#[derive(Debug, Default)]
pub struct Scratch {
    shared: Vec<u32>,
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

impl Scratch {
    /// Weighs the shingles of two samples of one level; `None` if no shared one is common, or they
    /// are too few to say anything.
    pub(super) fn weigh(&mut self, a: &Sample<'_>, b: &Sample<'_>, level: u32) -> Option<Weighed> {
        let rare = a.rare.min(b.rare);
        self.sort_out(a, b);
        if self.shared.len() + self.only_a.len() + self.only_b.len() < KNOWN {
            return None;
        }
        let shared = total(&self.shared, rare);
        self.shared.retain(|&count| count > rare);
        let middle = self.shared.len().checked_sub(1)? / 2;
        let (_, &mut median, _) = self.shared.select_nth_unstable(middle);
        let [of_a, of_b] =
            [&self.only_a, &self.only_b].map(|counts| Alone::of(counts, median, rare));
        let usual = weight(median, rare);
        let excused_a = of_a.rare.min(of_b.of_majority);
        let excused_b = of_b.rare.min(of_a.of_majority);
        Some(Weighed {
            level,
            shared,
            alone_a: of_a.weight - excused_a as u64 * (RARE_WEIGHT - usual),
            alone_b: of_b.weight - excused_b as u64 * (RARE_WEIGHT - usual),
            median,
            excused: excused_a + excused_b,
        })
    }

    /// Merges two samples into how many texts carry the shared and the unshared shingles.
    fn sort_out(&mut self, a: &Sample<'_>, b: &Sample<'_>) {
        let reset = |list: &mut Vec<u32>, length| {
            list.clear();
            list.resize(length, 0);
        };
        reset(&mut self.only_a, a.hashes.len());
        reset(&mut self.only_b, b.hashes.len());
        reset(&mut self.shared, a.hashes.len().min(b.hashes.len()) + 1);
        let (mut i, mut j) = (0, 0);
        let (mut alone_a, mut alone_b, mut shared) = (0, 0, 0);
        while i < a.hashes.len() && j < b.hashes.len() {
            let (x, y) = (a.hashes[i], b.hashes[j]);
            // Written in any case: which list it belongs to, no processor could
            // foresee.
            self.only_a[alone_a] = a.counts[i];
            self.only_b[alone_b] = b.counts[j];
            self.shared[shared] = a.counts[i];
            alone_a += usize::from(x < y);
            alone_b += usize::from(y < x);
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        self.shared.truncate(shared);
        self.only_a.truncate(alone_a);
        self.only_b.truncate(alone_b);
        self.only_a.extend_from_slice(&a.counts[i..]);
        self.only_b.extend_from_slice(&b.counts[j..]);
    }
}

/// The shingles of one text alone.
struct Alone {
    weight: u64,
    rare: usize,
    of_majority: usize,
}

impl Alone {
    fn of(counts: &[u32], median: u32, rare: u32) -> Self {
        let is_of_majority = |count: u32| 5 * u64::from(count) >= 4 * u64::from(median);
        Alone {
            weight: total(counts, rare),
            rare: counts
                .iter()
                .filter(|&&count| count <= rare && !is_of_majority(count))
                .count(),
            of_majority: counts
                .iter()
                .filter(|&&count| is_of_majority(count))
                .count(),
        }
    }
}

fn total(counts: &[u32], rare: u32) -> u64 {
    counts.iter().map(|&count| weight(count, rare)).sum()
}

/// What a shingle weighs that so many texts carry.
fn weight(count: u32, rare: u32) -> u64 {
    match u64::from(count.saturating_sub(rare)) {
        0 => RARE_WEIGHT,
        more => {
            RARE_WEIGHT * RARE_WEIGHT / (RARE_WEIGHT + (RARE_WEIGHT * RARE_WEIGHT * more).isqrt())
        }
    }
}

impl Weighed {
    /// The share of the lighter text that the other has too, in [0, 1].
    pub fn containment(self) -> f64 {
        share(self.shared, self.alone_a.min(self.alone_b))
    }

    /// The share of both texts that both have, in [0, 1].
    pub fn resemblance(self) -> f64 {
        share(self.shared, self.alone_a + self.alone_b)
    }
}

fn share(shared: u64, rest: u64) -> f64 {
    match shared + rest {
        0 => 1.0,
        all => shared as f64 / all as f64,
    }
}
