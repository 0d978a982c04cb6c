/*! Scattered edits: many small differences between two texts that align nearly everywhere.

One replaced character breaks as many shingles as it lies in, so resemblance falls five times as fast as the texts
differ. Where the differences are small and scattered, they lower the similarity by their share instead. A *difference*
is what stands between two equal runs of the alignment, however short these are; `docs/methods.md` says which are small
and which are weighty. A text of words with spaces between them is never scattered: one word of it is as much as a name.

The shingles alone show the most that a pair can be alike, and rule out nearly all pairs.
*/

use rustc_hash::FxHashMap;

use super::units::{Units, is_negation, is_number, is_word};
use crate::constants::{ALIGNED, BROKEN_SHINGLES, FEWEST, SCATTERED, SMALL, SPREAD, TIMES};

/// The differences of two aligned texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// Small differences that are neither weighty nor neutral.
    pub small: usize,
    /// Differences that are weighty.
    pub weighty: usize,
    /// Units of all differences, of each the longer side.
    pub units: usize,
    /// Units of the shorter text from the first difference to the last one.
    pub spread: usize,
}

impl Noise {
    /// Counts the differences: what each text has between two equal runs.
    pub(super) fn of<'a>(differences: impl Iterator<Item = (&'a [u64], &'a [u64])>) -> Self {
        let mut found = Noise::default();
        let mut replaced: FxHashMap<(&[u64], &[u64]), usize> = FxHashMap::default();
        for (a, b) in differences {
            let longer = a.len().max(b.len());
            if a.is_empty() || b.is_empty() || longer > SMALL {
                let has = |is: fn(u64) -> bool| a.iter().chain(b).any(|&unit| is(unit));
                found.add(longer, longer > SMALL, has(is_number) || has(is_negation));
            } else {
                *replaced.entry((a, b)).or_default() += 1;
            }
        }
        for ((a, b), times) in replaced {
            let both = |is: fn(u64) -> bool| [a, b].iter().all(|side| side.iter().any(|&u| is(u)));
            let has = |is: fn(u64) -> bool| a.iter().chain(b).any(|&unit| is(unit));
            let is_weighty = times > 1 || both(is_number) || both(is_word);
            let may_be_name = a.len() == SMALL && b.len() == SMALL;
            let is_neutral = may_be_name || has(is_number) || has(is_negation);
            for _ in 0..times {
                found.add(a.len().max(b.len()), is_weighty, is_neutral);
            }
        }
        found
    }

    fn add(&mut self, units: usize, is_weighty: bool, is_neutral: bool) {
        let is_small = !is_weighty && !is_neutral;
        self.small += usize::from(is_small);
        self.weighty += usize::from(is_weighty);
        self.units += units;
    }

    /// The most favourable differences of two texts: the longer one has `longer` units, and at most `equal`
    /// of them lie in equal stretches of at least `shortest` units.
    ///
    /// Scattered texts have at most one difference for each unit that is not aligned, and shorter runs
    /// only between two of these.
    pub(super) fn best(longer: usize, equal: usize, shortest: usize) -> Self {
        let differences = longer * (100 - ALIGNED) / 100;
        let in_short_runs = (shortest - 1) * (differences + 1);
        let may_be = equal + in_short_runs + differences >= longer;
        Noise {
            small: if may_be { FEWEST } else { 0 },
            spread: longer,
            ..Noise::default()
        }
    }

    /// Whether the differences are scattered over two texts; the longer one has `longer` units.
    pub(super) fn is_scattered(self, longer: usize) -> bool {
        self.small >= FEWEST.max(TIMES * self.weighty)
            && 100 * self.units <= (100 - ALIGNED) * longer
            && 100 * self.spread >= SPREAD * longer
    }
}

/// Whether the differences of two texts may be scattered. O(n) for n units.
pub(super) fn may_be_scattered(a: &Units, b: &Units) -> bool {
    let (least, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    if a.is_spaced() && b.is_spaced() || 100 * least < ALIGNED * longer {
        return false;
    }
    let [a, b] = Units::rows(a, b);
    let begin = a.iter().zip(&*b).take_while(|(x, y)| x == y).count();
    let ends = a[begin..].iter().rev().zip(b[begin..].iter().rev());
    let end = ends.take_while(|(x, y)| x == y).count();
    100 * (least - begin - end) >= SPREAD * longer
}

/// The highest similarity of two texts with scattered differences and this resemblance of shingles. Then
/// single characters, far from each other, break the shingles.
pub(super) fn lifted(resemblance: f64) -> f64 {
    if resemblance < SCATTERED {
        return resemblance;
    }
    let replaced = (1.0 - resemblance) / (1.0 + resemblance) / BROKEN_SHINGLES;
    resemblance.max((1.0 - replaced) / (1.0 + replaced))
}

/// The least resemblance of shingles that is [lifted] to a similarity.
pub(super) fn least_for(similarity: f64) -> f64 {
    let replaced = BROKEN_SHINGLES * (1.0 - similarity) / (1.0 + similarity);
    // A little less, so that rounding loses no pair.
    let lifts = (1.0 - replaced) / (1.0 + replaced) - 1e-9;
    similarity.min(lifts.max(SCATTERED))
}

#[cfg(test)]
mod tests {
    use super::super::alignment::Aligned;
    use super::*;

    /// A text of distinct characters, with every `step`th one from `first` on replaced.
    fn edited(length: u32, first: u32, step: u32, other: impl Fn(u32) -> String) -> String {
        let of = |at: u32| match at >= first && (at - first).is_multiple_of(step) {
            true => other(at),
            false => char::from_u32(0xAC00 + at).into_iter().collect(),
        };
        (0..length).map(of).collect()
    }

    fn is_scattered(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(Units::of);
        let found = Aligned::of(&a, &b).is_scattered();
        assert_eq!(Aligned::of(&b, &a).is_scattered(), found);
        assert!(!found || may_be_scattered(&a, &b) && may_be_scattered(&b, &a));
        found
    }

    #[test]
    fn small_differences_over_a_text_are_scattered() {
        let text = edited(200, 500, 500, |_| "渡".into());
        for (first, step, other, expected) in [
            (3, 40, "船", true),
            (3, 20, "", true),
            (3, 10, "船", true),
            // Too many of the units differ.
            (3, 6, "船", false),
            // Too few, or all at one end.
            (3, 80, "船", false),
            (150, 10, "船", false),
            // Long ones.
            (3, 40, "船到码", false),
            // A word may be a name, but replaces no other word here.
            (3, 40, "ferry", true),
        ] {
            // Not the same in the place of the same.
            let other = |at: u32| match other {
                "船" => char::from_u32(0x5000 + at).into_iter().collect(),
                other => other.to_owned(),
            };
            assert_eq!(
                is_scattered(&text, &edited(200, first, step, other)),
                expected,
                "{first} {step}"
            );
        }
    }

    #[test]
    fn numbers_names_and_recurring_units_keep_their_weight() {
        let with = |other: fn(u32) -> String| edited(200, 3, 30, other);
        let digits = |more: u32| move |at: u32| (at + more).to_string();
        let (a, b) = (edited(200, 3, 30, digits(1)), edited(200, 3, 30, digits(2)));
        assert!(!is_scattered(&a, &b), "numbers");
        let (a, b) = (
            with(|at| format!("a{}", "b".repeat(at as usize))),
            with(|_| "c".into()),
        );
        assert!(!is_scattered(&a, &b), "words");
        let (a, b) = (with(|_| "东".into()), with(|_| "西".into()));
        assert!(!is_scattered(&a, &b), "the same in the place of the same");
        let pair = |from: u32| {
            move |at: u32| -> String {
                (0..2)
                    .filter_map(|more| char::from_u32(from + 2 * at + more))
                    .collect()
            }
        };
        let (a, b) = (
            edited(200, 3, 30, pair(0x5000)),
            edited(200, 3, 30, pair(0x6000)),
        );
        assert!(
            !is_scattered(&a, &b),
            "what may be a name is no small difference"
        );
    }

    #[test]
    fn shingles_allow_single_broken_characters() {
        for similarity in [0.0, 0.2, 0.4, 0.7, 0.9, 0.99, 1.0] {
            let least = least_for(similarity);
            assert!(lifted(least + 1e-8) >= similarity && least <= similarity);
            assert!(least < 1e-3 + SCATTERED || lifted(least - 1e-3) < similarity);
        }
        // 5 of 100 characters replaced: 25 shingles of 100 of each text.
        assert!((lifted(75.0 / 125.0) - 95.0 / 105.0).abs() < 1e-12);
        assert_eq!((lifted(0.3), lifted(1.0)), (0.3, 1.0));
    }
}
