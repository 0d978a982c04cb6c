/*! Two texts by their shingles, each weighed by how many texts of the collection contain it.

A shingle that at most R texts contain is *rare* and weighs 1; the others are *common*. The table
[`ShingleFrequencies`](super::ShingleFrequencies) has the counts and R. A shingle that n texts contain weighs
1 / (1 + √(n − R)), at least 0.15.

Let n be the lower median of the counts of the common shingles that both texts have. One of the two may be a
text that is posted often. So an unshared shingle is *of the majority version* if at least 0.8 n texts contain
it. If one text has such shingles, the other was edited. As many of its rare unshared shingles are *excused*:
each weighs as much as a shingle that n texts contain. No unshared shingle weighs less than that. Let s, a and
b be the weights of the shingles of both texts, and of each text alone:

```text
resemblance = s / (s + a + b)
containment of the first text in the second = s / (s + a)
```

**Boilerplate.** A shingle is boilerplate if more than R + 16 texts contain it. If n is more than R + 16, the
texts share boilerplate, and it does not count, however long it is. [`UniqueText`] then weighs the other
shingles. A text has unique text if more than twice as many of them are unshared as the other text has of the
majority version. It may also have unique text if the sample has none of its unshared shingles, since a
sentence of a long text is often not in the sample. The alignment decides whether that text is a line or a
sentence: see [`content`](super::content).

Only shingles in the [samples](super::sample) of both texts and of the table are weighed. If these are fewer
than [`KNOWN`], or no shared one is common, all shingles of both texts count alike.

Weights are integers, in thousandths; the quotient is the only floating-point operation. A pair costs a merge
of the lists of two [counted samples](CountedSample).
*/

use super::counted_sample::CountedSample;
use crate::buckets::divide;
use crate::constants::{EDITS, KNOWN, LIGHTEST, MAJORITY_PARTS, MANY, OTHER};
use crate::ids::ShingleId;
use crate::shingle_frequencies::ShingleFrequencies;

/// The weight of a rare shingle.
const RARE_WEIGHT: u16 = 1000;

/// The shingles of two texts that were looked up, weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// The level of the shingles: one in 2^level is in the sample.
    pub level: u32,
    /// The shingles that both texts have, of all that either has.
    pub counted: [usize; 2],
    /// Weight of the shingles that both texts have.
    pub shared: u64,
    /// Weight of the shingles of the first text alone.
    pub alone_a: u64,
    /// Weight of the shingles of the second text alone.
    pub alone_b: u64,
    /// The lower median of the counts of the shared common shingles; 0 without any.
    pub median: u32,
    /// Rare unshared shingles that count as edits of a text that is posted often.
    pub excused: usize,
    /// The unique text of each, if they share boilerplate.
    pub unique: Option<UniqueText>,
}

/// Two texts that share boilerplate, without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UniqueText {
    /// Weight of the shared shingles.
    pub shared: u64,
    /// Weight of the unshared shingles of each text, but for the majority version.
    pub alone: [u64; 2],
    /// Whether each text may have unique text: more unshared shingles than edits explain, or none in the
    /// sample, so that the alignment decides.
    pub has: [bool; 2],
}

/// Lists that are made for each pair.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The shared shingles of the table.
    shared: Vec<ShingleId>,
    /// The counts of the common ones.
    common: Vec<u32>,
    /// The unshared shingles of one text.
    alone: Vec<ShingleId>,
}

/// The result of weighing.
pub(super) enum Weighing {
    /// No shared shingle is common, or there are too few of them: all count alike.
    Unweighed,
    /// The similarity is below the threshold.
    TooLow,
    Done(Weighed),
}

impl Scratch {
    /// Weighs the shingles of two samples of one level, by the table in which they were looked up; the level
    /// of the table must not be higher. It stops if the shared shingles show that the similarity `by` which
    /// the texts are compared is below `threshold`. Unshared shingles must not raise that similarity.
    pub(super) fn weigh(
        &mut self,
        (a, b): (&CountedSample<'_>, &CountedSample<'_>),
        table: &ShingleFrequencies,
        threshold: f64,
        by: impl Fn(Weighed) -> f64,
    ) -> Weighing {
        let Some(least) = self.least((a, b), table) else {
            return Weighing::Unweighed;
        };
        if by(least) < threshold {
            return Weighing::TooLow;
        }
        let [shared, _] = least.counted;
        let (median, rare) = (least.median, table.rare());
        let usual = u64::from(weight(median, rare));
        let of_a = Alone::of(&self.alone, a.len() - shared, (table, median));
        divide(b.common, a.common, &mut self.shared, &mut self.alone);
        let of_b = Alone::of(&self.alone, b.len() - shared, (table, median));
        let excused_a = of_a.rare.min(of_b.of_majority);
        let excused_b = of_b.rare.min(of_a.of_majority);
        let saved = u64::from(RARE_WEIGHT) - usual;
        let of_many = self.common.iter().filter(|&&count| count > rare + MANY);
        let of_many = of_many.map(|&count| u64::from(weight(count, rare)));
        let unique = (median > rare + MANY).then(|| UniqueText {
            shared: least.shared - of_many.sum::<u64>(),
            alone: [of_a.few_weight, of_b.few_weight],
            has: [of_a.has_unique_text(&of_b), of_b.has_unique_text(&of_a)],
        });
        Weighing::Done(Weighed {
            alone_a: of_a.weight - excused_a as u64 * saved,
            alone_b: of_b.weight - excused_b as u64 * saved,
            excused: excused_a + excused_b,
            unique,
            ..least
        })
    }

    /// The weights if each unshared shingle weighs the least that it can. `None` if no shared shingle is common,
    /// or the samples have too few.
    fn least(
        &mut self,
        (a, b): (&CountedSample<'_>, &CountedSample<'_>),
        table: &ShingleFrequencies,
    ) -> Option<Weighed> {
        let rare = table.rare();
        let rare_shared = a.rare_shared(b);
        divide(a.common, b.common, &mut self.shared, &mut self.alone);
        let shared = rare_shared + self.shared.len();
        let all = a.len() + b.len() - shared;
        let mut weight_of_shared = rare_shared as u64 * u64::from(RARE_WEIGHT);
        self.common.clear();
        for &id in &self.shared {
            let count = table.count_of(id);
            weight_of_shared += u64::from(weight(count, rare));
            if count > rare {
                self.common.push(count);
            }
        }
        if self.common.is_empty() || all < KNOWN {
            return None;
        }
        let middle = (self.common.len() - 1) / 2;
        let (_, &mut median, _) = self.common.select_nth_unstable(middle);
        // No unshared shingle weighs less.
        let usual = u64::from(weight(median, rare));
        Some(Weighed {
            level: a.level,
            counted: [shared, all],
            shared: weight_of_shared,
            alone_a: (a.len() - shared) as u64 * usual,
            alone_b: (b.len() - shared) as u64 * usual,
            median,
            excused: 0,
            unique: None,
        })
    }
}

/// The unshared shingles of one text.
struct Alone {
    all: usize,
    weight: u64,
    /// Rare ones that are not of the majority version.
    rare: usize,
    of_majority: usize,
    /// The number and the weight of those that are neither boilerplate nor of the majority version.
    few: usize,
    few_weight: u64,
}

impl Alone {
    /// `all` of them; those in the table are given by id, and the others are rare.
    fn of(ids: &[ShingleId], all: usize, (table, median): (&ShingleFrequencies, u32)) -> Self {
        let rare = table.rare();
        let usual = weight(median, rare);
        let majority = median - median / MAJORITY_PARTS;
        let uncounted = all - ids.len();
        let weight_of_uncounted = uncounted as u64 * u64::from(RARE_WEIGHT);
        let mut found = Alone {
            all,
            weight: weight_of_uncounted,
            rare: uncounted,
            of_majority: 0,
            few: uncounted,
            few_weight: weight_of_uncounted,
        };
        for &id in ids {
            let count = table.count_of(id);
            let shingle_weight = weight(count, rare);
            found.weight += u64::from(shingle_weight.max(usual));
            if count >= majority {
                found.of_majority += 1;
            } else if count <= rare + MANY {
                found.few += 1;
                found.few_weight += u64::from(shingle_weight);
                found.rare += usize::from(count <= rare);
            }
        }
        found
    }

    /// Whether the text may have unique text, compared with the other one.
    fn has_unique_text(&self, other: &Alone) -> bool {
        self.all == 0 || self.few > EDITS * other.of_majority
    }
}

/// The weight of a shingle in thousandths; `count` texts contain it.
fn weight(count: u32, rare: u32) -> u16 {
    let more = count.saturating_sub(rare) as usize;
    WEIGHTS[more.min(WEIGHTS.len() - 1)]
}

/// Weights by how many texts more contain a shingle than a rare one; the last is for all beyond.
///
/// 0.15 is the least: thousands of texts may share an item that thousands have posted, each with one
/// line. If that is a sentence, [`UniqueText`] leaves these shingles out.
static WEIGHTS: [u16; LIGHTEST + 1] = {
    let mut weights = [RARE_WEIGHT; LIGHTEST + 1];
    let mut more = 1;
    while more < weights.len() {
        let root = (1_000_000 * more as u64).isqrt();
        weights[more] = (1_000_000 / (1000 + root)) as u16;
        more += 1;
    }
    weights
};

impl Weighed {
    /// The share of the first text that is in the second, in [0, 1].
    pub fn containment_a(self) -> f64 {
        share(self.shared, self.alone_a)
    }

    /// The share of the second text that is in the first, in [0, 1].
    pub fn containment_b(self) -> f64 {
        share(self.shared, self.alone_b)
    }

    /// The share of the lighter text that is in the other, in [0, 1].
    pub fn containment(self) -> f64 {
        self.containment_a().max(self.containment_b())
    }

    /// The shared part of both texts, in [0, 1].
    pub fn resemblance(self) -> f64 {
        share(self.shared, self.alone_a + self.alone_b)
    }

    /// The same where all shingles count alike.
    pub fn unweighed(self) -> f64 {
        let [both, all] = self.counted;
        share(both as u64, (all - both) as u64)
    }

    /// Whether a text has unique text, and the other one has hardly any of it.
    pub(super) fn differs_in_unique_text(self) -> bool {
        self.unique
            .is_some_and(|unique| unique.has != [false; 2] && unique.resemblance() < OTHER)
    }
}

impl UniqueText {
    /// The share of the shared shingles, in [0, 1]; 0 without any.
    pub fn resemblance(self) -> f64 {
        match self.shared {
            0 => 0.0,
            shared => share(shared, self.alone[0] + self.alone[1]),
        }
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
    use super::super::counted_sample::Looked;
    use super::*;
    use crate::ids::Hash;

    const RARE: u32 = 4;

    /// Numbers of shingles, and how many texts contain each of them.
    type Counted<'a> = &'a [(usize, u32)];

    /// Weighs two texts with some shingles in common and some of their own, in both orders.
    fn weigh(shared: Counted<'_>, only_a: Counted<'_>, only_b: Counted<'_>) -> Option<Weighed> {
        let (mut a, mut b, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut hash = Hash(0);
        for (counted, in_a, in_b) in [
            (only_b, false, true),
            (shared, true, true),
            (only_a, true, false),
        ] {
            for &(times, count) in counted {
                for _ in 0..times {
                    hash.0 += 1;
                    counts.push((hash, count));
                    a.extend(in_a.then_some(hash));
                    b.extend(in_b.then_some(hash));
                }
            }
        }
        let table = ShingleFrequencies::from_counts(0, 100, counts);
        let mut scratch = Scratch::default();
        let [a, b] = [a, b].map(|hashes| Looked::up(&hashes, &table));
        let mut at = |a: &Looked, b: &Looked, threshold| {
            let by = Weighed::resemblance;
            let both = [a, b].map(|text| text.sample(3, 0));
            match scratch.weigh((&both[0], &both[1]), &table, threshold, by) {
                Weighing::Done(found) => Some(found),
                Weighing::Unweighed | Weighing::TooLow => None,
            }
        };
        let found = at(&a, &b, 0.0);
        let back = at(&b, &a, 0.0).map(|back| Weighed {
            alone_a: back.alone_b,
            alone_b: back.alone_a,
            unique: back.unique.map(|unique| UniqueText {
                alone: [unique.alone[1], unique.alone[0]],
                has: [unique.has[1], unique.has[0]],
                ..unique
            }),
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
            counted: [20, 36],
            shared: 15_000,
            alone_a: 5000 - 2 * 500,
            alone_b: 10_000,
            median: RARE + 1,
            excused: 2,
            unique: None,
        };
        assert_eq!(found, expected);
        assert_eq!(found.resemblance(), 15.0 / 29.0);
        assert_eq!(found.containment(), 15.0 / 19.0);
    }

    #[test]
    fn boilerplate_leaves_the_weight_to_unique_text() {
        let many = RARE + MANY + 1;
        let of_few = [(9, 1), (3, RARE + 4), (2, many)];
        for (form, unique) in [(many - 1, None), (many, Some(17)), (5000, Some(17))] {
            let found = weigh(&[(40, form), (6, 1)], &of_few, &[(8, 1)]).unwrap();
            assert_eq!(found.unique.is_some(), unique.is_some());
            if let Some(unique) = found.unique {
                assert_eq!(unique.shared, 6000);
                assert_eq!(unique.alone, [9000 + 3 * 333, 8000]);
                // Two boilerplate shingles of the first may be where the other was edited.
                assert_eq!(unique.has, [true, true]);
                assert_eq!(unique.resemblance(), 6000.0 / (6000 + 9999 + 8000) as f64);
            }
        }
        // The first text has nine rare shingles, and the second five of the majority version: edits.
        let edited = weigh(&[(40, 100)], &[(9, 1)], &[(5, 100), (3, 1)]).unwrap();
        assert_eq!(edited.unique.unwrap().has, [false, true]);
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
    fn median_of_common_shingles_is_the_lower_one() {
        let median = |shared| weigh(shared, &[], &[]).unwrap().median;
        assert_eq!(median(&[(50, 1), (20, 6), (20, 30)]), 6);
        assert_eq!(median(&[(50, 1), (20, 6), (21, 30)]), 30);
    }

    #[test]
    fn edits_of_a_text_posted_often_are_excused() {
        // (texts that contain the template, and what the often posted text has in the place of five
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
    fn unique_text_weighs_at_least_the_usual() {
        let found = weigh(&[(50, 20)], &[(5, 2000)], &[(3, 6)]).unwrap();
        assert_eq!(found.alone_a, 5 * u64::from(weight(20, RARE)));
        assert_eq!(found.alone_b, 3 * u64::from(weight(6, RARE)));
    }

    #[test]
    fn shared_weight_rules_out_pairs_below_a_threshold() {
        let hashes: Vec<Hash> = (0..100).map(Hash).collect();
        let counts = hashes.iter().map(|&hash| (hash, 100));
        let table = ShingleFrequencies::from_counts(0, 100, counts);
        let mut scratch = Scratch::default();
        let texts = [&hashes[..60], &hashes[40..]].map(|hashes| Looked::up(hashes, &table));
        let [a, b] = texts.each_ref().map(|text| text.sample(0, 0));
        let mut at = |threshold| scratch.weigh((&a, &b), &table, threshold, Weighed::resemblance);
        assert!(matches!(at(0.2), Weighing::Done(_)));
        assert!(matches!(at(0.21), Weighing::TooLow));
    }
}
