/*! Two texts by their shingles, each weighed by how many texts of the collection carry it.

A shingle that at most R texts carry is *rare* and weighs 1. The table
[`ShingleFrequencies`](super::ShingleFrequencies) has the counts and R. A shingle that n texts carry
weighs 1 / (1 + √(n − R)), at least 0.15: what many texts share, a form or a phrase, says little.

Let n be the lower median of how many texts carry the *common* shingles, those that are not rare,
that both texts have. One of the two may be a text that is posted often: an unshared shingle that at
least 0.8 n texts carry is *of the majority form*. Where one text has such shingles, the other was
edited, so as many rare unshared shingles of the other are *excused*: each weighs what a shingle
weighs that n texts carry. No unshared one weighs less than that. Let s, a and b be the weights of
the shingles of both, and of one text alone:

```text
resemblance = s / (s + a + b)
containment of the first text in the second = s / (s + a)
```

Only shingles that are in the [samples](super::sample) of both texts and of the table
are weighed. If these are fewer than [`KNOWN`], or no shared one is common, nothing is weighed: then
all shingles of both texts count, each alike.

Weights are integers, in thousandths; the quotient is the only floating-point operation. A pair
costs one merge of two samples of about 200 hashes each.
*/

use super::shingle_frequencies::ShingleFrequencies;

/// What a rare shingle weighs.
const RARE_WEIGHT: u16 = 1000;

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
    /// The first text, where pairs of it follow each other, and how many texts carry each of its
    /// shingles.
    first: Option<u32>,
    counts: Vec<u32>,
    /// How many texts carry each shared shingle.
    shared: Vec<u32>,
    /// How many texts carry each shingle of one text alone.
    alone: [Vec<u32>; 2],
    /// The places of shared shingles.
    places: Vec<u32>,
}

/// What weighing says.
pub(super) enum Weighing {
    /// No shared shingle is common, or there are too few to say anything: all count alike. So many
    /// are shared.
    Unweighed(usize),
    /// The similarity is below the threshold.
    TooLow,
    Done(Weighed),
}

impl Scratch {
    /// Looks up the shingles of the first text of the next pairs, which `number` tells from other texts.
    /// The table must be that of all pairs.
    pub(super) fn look_up(&mut self, number: Option<u32>, a: &[u32], table: &ShingleFrequencies) {
        if number.is_none() || self.first != number {
            self.first = number;
            self.counts.clear();
            self.counts.extend(a.iter().map(|&hash| table.count(hash)));
        }
    }

    /// Weighs the shingles of two samples of one level, ascending, by a table of at most that level,
    /// unless the shared ones show that the similarity `by` which the texts are compared is below
    /// `threshold`. It must not grow with what either text has alone. Those of the first text must have
    /// been [looked up](Self::look_up), of this level or a lower one.
    pub(super) fn weigh(
        &mut self,
        (a, b): (&[u32], &[u32]),
        level: u32,
        table: &ShingleFrequencies,
        threshold: f64,
        by: impl Fn(Weighed) -> f64,
    ) -> Weighing {
        let rare = table.rare();
        let (common, least) = self.glance((a, b), level, rare);
        let Some(least) = least else {
            return Weighing::Unweighed(common);
        };
        if by(least) < threshold {
            return Weighing::TooLow;
        }
        let (median, usual) = (least.median, u64::from(weight(least.median, rare)));
        self.find_alone(a, b, table);
        let [of_a, of_b] = [0, 1].map(|at| Alone::of(&self.alone[at], median, rare));
        let excused_a = of_a.rare.min(of_b.of_majority);
        let excused_b = of_b.rare.min(of_a.of_majority);
        let saved = u64::from(RARE_WEIGHT) - usual;
        Weighing::Done(Weighed {
            alone_a: of_a.weight - excused_a as u64 * saved,
            alone_b: of_b.weight - excused_b as u64 * saved,
            excused: excused_a + excused_b,
            ..least
        })
    }

    /// The number of shingles that two samples share, and their weights if what each has alone weighs
    /// the least that it can; `None` if no shared one is common, or there are too few to say anything.
    pub(super) fn glance(
        &mut self,
        (a, b): (&[u32], &[u32]),
        level: u32,
        rare: u32,
    ) -> (usize, Option<Weighed>) {
        let shared = self.find_shared(a, b, rare);
        let common = self.shared.len();
        let alone = [a, b].map(|hashes| hashes.len() - common);
        (common, self.at_least(shared, alone, rare, level))
    }

    /// The most that so many shared shingles can weigh beside the least that the others can: of the first
    /// text each by its own count, of the second all as the most frequent ones.
    pub(super) fn lightest(
        &self,
        (a, b): (&[u32], &[u32]),
        common: usize,
        level: u32,
        rare: u32,
    ) -> Weighed {
        let shared = common as u64 * u64::from(RARE_WEIGHT);
        let of_a = self.counts[..a.len()].iter();
        let of_a: u64 = of_a.map(|&count| u64::from(weight(count, rare))).sum();
        Weighed {
            level,
            shared,
            alone_a: of_a.saturating_sub(shared),
            alone_b: (b.len() - common) as u64 * u64::from(weight(u32::MAX, rare)),
            ..Weighed::default()
        }
    }

    /// The weights of both texts if what each has alone, so many shingles, weighs the least that it
    /// can. `None` if no shared one is common, or there are too few to say anything.
    fn at_least(
        &mut self,
        shared: u64,
        alone: [usize; 2],
        rare: u32,
        level: u32,
    ) -> Option<Weighed> {
        let all = self.shared.len() + alone[0] + alone[1];
        self.shared.retain(|&count| count > rare);
        if self.shared.is_empty() || all < KNOWN {
            return None;
        }
        let middle = (self.shared.len() - 1) / 2;
        let (_, &mut median, _) = self.shared.select_nth_unstable(middle);
        // None of those alone weighs less.
        let usual = u64::from(weight(median, rare));
        Some(Weighed {
            level,
            shared,
            alone_a: alone[0] as u64 * usual,
            alone_b: alone[1] as u64 * usual,
            median,
            excused: 0,
        })
    }

    /// Lists the shingles that both have, and returns what they weigh.
    fn find_shared(&mut self, a: &[u32], b: &[u32], rare: u32) -> u64 {
        self.places.resize(a.len().min(b.len()) + 1, 0);
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            // Written in any case: whether it is shared, no processor could foresee.
            self.places[shared] = i as u32;
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        let places = self.places[..shared].iter();
        self.shared.clear();
        self.shared
            .extend(places.map(|&place| self.counts[place as usize]));
        let weights = self.shared.iter().map(|&count| weight(count, rare));
        weights.map(u64::from).sum()
    }

    /// Lists the shingles that one text alone has.
    fn find_alone(&mut self, a: &[u32], b: &[u32], table: &ShingleFrequencies) {
        self.alone.iter_mut().for_each(Vec::clear);
        let [of_a, of_b] = &mut self.alone;
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            if x < y {
                of_a.push(self.counts[i]);
            } else if y < x {
                of_b.push(table.count(y));
            }
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        of_a.extend_from_slice(&self.counts[i..a.len()]);
        of_b.extend(b[j..].iter().map(|&hash| table.count(hash)));
    }
}

/// The shingles of one text alone.
struct Alone {
    weight: u64,
    /// Rare ones that are not of the majority form.
    rare: usize,
    of_majority: usize,
}

impl Alone {
    fn of(counts: &[u32], median: u32, rare: u32) -> Self {
        let usual = weight(median, rare);
        let counts = || counts.iter().copied();
        let weights = counts().map(|count| u64::from(weight(count, rare).max(usual)));
        let is_of_majority = |count: u32| count >= median - median / 5;
        let number = |is: &dyn Fn(u32) -> bool| counts().filter(|&count| is(count)).count();
        Alone {
            weight: weights.sum(),
            rare: number(&|count| count <= rare && !is_of_majority(count)),
            of_majority: number(&is_of_majority),
        }
    }
}

/// What a shingle weighs that so many texts carry, in thousandths.
fn weight(count: u32, rare: u32) -> u16 {
    let more = count.saturating_sub(rare) as usize;
    WEIGHTS[more.min(WEIGHTS.len() - 1)]
}

/// The weights of shingles that so many texts more carry than a rare one; the last is for all beyond.
///
/// 0.15 is the least: what thousands of texts share may be an item that thousands have posted, each
/// with a line of its own.
static WEIGHTS: [u16; 33] = {
    let mut weights = [RARE_WEIGHT; 33];
    let mut more = 1;
    while more < weights.len() {
        let root = (1_000_000 * more as u64).isqrt();
        weights[more] = (1_000_000 / (1000 + root)) as u16;
        more += 1;
    }
    weights
};

impl Weighed {
    /// The share of the first text that the second has too, in [0, 1].
    pub fn containment_a(self) -> f64 {
        share(self.shared, self.alone_a)
    }

    /// The share of the second text that the first has too, in [0, 1].
    pub fn containment_b(self) -> f64 {
        share(self.shared, self.alone_b)
    }

    /// The share of the lighter text that the other has too, in [0, 1].
    pub fn containment(self) -> f64 {
        self.containment_a().max(self.containment_b())
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

#[cfg(test)]
mod tests {
    use super::*;

    const RARE: u32 = 4;

    /// Numbers of shingles, and how many texts carry each of them.
    type Counted<'a> = &'a [(usize, u32)];

    /// Weighs two texts with some shingles in common and some of their own, in both orders.
    fn weigh(shared: Counted<'_>, only_a: Counted<'_>, only_b: Counted<'_>) -> Option<Weighed> {
        let (mut a, mut b, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut hash = 0;
        for (counted, in_a, in_b) in [
            (only_b, false, true),
            (shared, true, true),
            (only_a, true, false),
        ] {
            for &(times, count) in counted {
                for _ in 0..times {
                    hash += 1;
                    counts.push((hash, count));
                    a.extend(in_a.then_some(hash));
                    b.extend(in_b.then_some(hash));
                }
            }
        }
        let table = ShingleFrequencies::from_counts(0, 100, counts);
        let mut scratch = Scratch::default();
        let mut at = |a: &[u32], b: &[u32], threshold| {
            let by = Weighed::resemblance;
            scratch.look_up(None, a, &table);
            match scratch.weigh((a, b), 3, &table, threshold, by) {
                Weighing::Done(found) => Some(found),
                Weighing::Unweighed(_) | Weighing::TooLow => None,
            }
        };
        let found = at(&a, &b, 0.0);
        let back = at(&b, &a, 0.0).map(|back| Weighed {
            alone_a: back.alone_b,
            alone_b: back.alone_a,
            ..back
        });
        assert_eq!(found, back);
        // No threshold that is reached rules the pair out.
        if let Some(weighed) = found {
            assert_eq!(at(&a, &b, weighed.resemblance()), found);
        }
        found
    }

    #[test]
    fn a_rare_shingle_weighs_most_and_others_less_the_more_texts_carry_them() {
        for (count, expected) in [
            (0, 1000),
            (1, 1000),
            (RARE, 1000),
            (RARE + 1, 500),
            (RARE + 4, 333),
            (RARE + 9, 250),
            (RARE + 16, 200),
            (RARE + 32, 150),
            (RARE + 33, 150),
        ] {
            assert_eq!(weight(count, RARE), expected, "{count}");
        }
        assert_eq!(weight(100, 100), 1000);
        assert!((RARE..5000).all(|count| weight(count + 1, RARE) <= weight(count, RARE)));
        assert_eq!(weight(u32::MAX, RARE), 150);
    }

    #[test]
    fn resemblance_and_containment_are_by_weight() {
        let found = weigh(
            &[(10, 1), (10, RARE + 1)],
            &[(5, 1)],
            &[(9, 1), (2, RARE + 1)],
        );
        let found = found.unwrap();
        let expected = Weighed {
            level: 3,
            shared: 15_000,
            alone_a: 5000 - 2 * 500,
            alone_b: 10_000,
            median: RARE + 1,
            excused: 2,
        };
        assert_eq!(found, expected);
        assert_eq!(found.resemblance(), 15.0 / 29.0);
        assert_eq!(found.containment(), 15.0 / 19.0);
    }

    #[test]
    fn texts_with_the_same_shingles_resemble_each_other_with_one() {
        let found = weigh(&[(30, 1), (30, 90)], &[], &[]).unwrap();
        assert_eq!((found.resemblance(), found.containment()), (1.0, 1.0));
        let none = Weighed::default();
        assert_eq!((none.resemblance(), none.containment()), (1.0, 1.0));
    }

    #[test]
    fn too_few_shingles_and_nothing_common_say_nothing() {
        assert!(weigh(&[(KNOWN - 2, 9)], &[(1, 1)], &[(1, 1)]).is_some());
        assert_eq!(weigh(&[(KNOWN - 3, 9)], &[(1, 1)], &[(1, 1)]), None);
        assert!(weigh(&[(1, RARE + 1), (99, RARE)], &[], &[]).is_some());
        assert_eq!(weigh(&[(99, RARE)], &[(9, 50)], &[(9, 50)]), None);
        assert_eq!(weigh(&[], &[(50, 50)], &[(50, 50)]), None);
    }

    #[test]
    fn the_median_is_the_lower_one_of_what_is_common() {
        let median = |shared| weigh(shared, &[], &[]).unwrap().median;
        assert_eq!(median(&[(50, 1), (20, 6), (20, 30)]), 6);
        assert_eq!(median(&[(50, 1), (20, 6), (21, 30)]), 30);
    }

    #[test]
    fn edits_of_a_text_that_is_posted_often_are_excused() {
        // (texts that carry the form, and what the often posted text has in the place of five
        // rare shingles, excused)
        for (form, usual, excused) in [(10, 8, 5), (10, 7, 0), (20, 16, 5), (20, 15, 0), (5, 4, 5)]
        {
            let found = weigh(&[(50, form)], &[(5, 1)], &[(5, usual)]).unwrap();
            assert_eq!(found.excused, excused, "{form} {usual}");
            let each = match excused {
                0 => RARE_WEIGHT,
                _ => weight(form, RARE),
            };
            assert_eq!(found.alone_a, 5 * u64::from(each), "{form} {usual}");
            assert_eq!(
                found.alone_b,
                5 * u64::from(weight(usual, RARE)),
                "{form} {usual}"
            );
        }
    }

    #[test]
    fn as_many_are_excused_as_the_majority_has_shingles() {
        let found = weigh(&[(50, 20)], &[(9, 1), (1, 6)], &[(5, 20)]).unwrap();
        assert_eq!(found.excused, 5);
        let usual = u64::from(weight(20, RARE));
        assert_eq!(found.alone_a, 4000 + 5 * usual + u64::from(weight(6, RARE)));
        assert_eq!(found.alone_b, 5 * usual);
    }

    #[test]
    fn what_one_text_has_alone_weighs_at_least_what_is_usual() {
        let found = weigh(&[(50, 20)], &[(5, 2000)], &[(3, 6)]).unwrap();
        assert_eq!(found.alone_a, 5 * u64::from(weight(20, RARE)));
        assert_eq!(found.alone_b, 3 * u64::from(weight(6, RARE)));
    }

    #[test]
    fn what_is_shared_rules_out_pairs_below_a_threshold() {
        let hashes: Vec<u32> = (0..100).collect();
        let counts = hashes.iter().map(|&hash| (hash, 100));
        let table = ShingleFrequencies::from_counts(0, 100, counts);
        let mut scratch = Scratch::default();
        let texts = (&hashes[..60], &hashes[40..]);
        scratch.look_up(None, texts.0, &table);
        let mut at = |threshold| scratch.weigh(texts, 0, &table, threshold, Weighed::resemblance);
        assert!(matches!(at(0.2), Weighing::Done(_)));
        assert!(matches!(at(0.21), Weighing::TooLow));
    }
}
