/*! The measure `containment(k)`: how much of one text lies in another.

A text that was shortened, or quoted in an answer, resembles the longer text little, but nearly all of its shingles are
in it. Shingles, their weights and replaced numbers count as in [`content(k)`](super::content).

A short text has few shingles in the sample of a long one. So the two are weighed at a level at which the shorter one
still has about 64 of its shingles, or all of them.
*/

use super::alignment::Aligned;
use super::resemblance::Overlap;
use super::sample::text_level;
use super::score::less_numbers;
use super::weighed::Weighed;

/// Which of two texts must lie in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The first text in the second: of a document and an earlier kept one, the document.
    FirstInSecond,
    /// One of the two texts in the other, whichever it is.
    Either,
    /// Each text in the other: they have the same content.
    Both,
}

/// The shares of two texts that the other has too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Containment {
    /// The share of the first text that lies in the second, in \[0, 1\].
    pub first_in_second: f64,
    /// The share of the second text that lies in the first, in \[0, 1\].
    pub second_in_first: f64,
}

impl Direction {
    /// The direction of this name in a recipe.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "contained" => Some(Direction::FirstInSecond),
            "either" => Some(Direction::Either),
            "both" => Some(Direction::Both),
            _ => None,
        }
    }

    /// The share that counts in this direction.
    pub fn of(self, found: Containment) -> f64 {
        let (first, second) = (found.first_in_second, found.second_in_first);
        match self {
            Direction::FirstInSecond => first,
            Direction::Either => first.max(second),
            Direction::Both => first.min(second),
        }
    }
}

impl Containment {
    pub(super) fn weighed(found: Weighed) -> Self {
        Containment {
            first_in_second: found.containment_a(),
            second_in_first: found.containment_b(),
        }
    }

    pub(super) fn of_overlap(overlap: Overlap) -> Self {
        Containment {
            first_in_second: overlap.containment_a(),
            second_in_first: overlap.containment_b(),
        }
    }

    /// The similarity of two texts with this alignment.
    pub fn similarity(self, direction: Direction, aligned: &Aligned) -> f64 {
        less_numbers(direction.of(self), aligned)
    }
}

/// The level at which texts of these sizes are weighed, unless that of the table is higher.
pub(super) fn level(a: usize, b: usize) -> u32 {
    text_level(a.max(b)).min(text_level(2 * a.min(b)))
}

#[cfg(test)]
mod tests {
    use super::super::content::tests::{table, text};
    use super::super::evidence::Evidence;
    use super::super::measure::Contained;
    use super::super::resemblance::Shingles;
    use super::super::verdict::Verdict;
    use super::super::weighed::Scratch;
    use super::*;
    use crate::constants::RARE;
    use crate::shingle_frequencies::ShingleFrequencies;

    /// Compares two texts in both orders, in each direction and at several thresholds.
    fn containment(a: &str, b: &str, table: &ShingleFrequencies) -> [f64; 2] {
        let of = |texts| Evidence::of(texts, 1, Some(table)).containment;
        let (found, back) = (of([a, b]), of([b, a]));
        let turned = Containment {
            first_in_second: back.second_in_first,
            second_in_first: back.first_in_second,
        };
        assert_eq!(found, turned);
        let mut scratch = Scratch::default();
        for direction in [Direction::FirstInSecond, Direction::Either, Direction::Both] {
            let measure = Contained { k: 1, direction };
            let [a, b] = [a, b].map(|text| measure.prepare(text));
            let share = direction.of(found);
            for threshold in [0.0, share - 1e-9, share, share + 1e-9, 0.5, 1.0] {
                let most = measure.bound((&a, &b), Some(table), threshold, &mut scratch);
                let most = most.map(|most| most.similarity);
                assert_eq!(most, (share >= threshold).then_some(share));
            }
        }
        [found.first_in_second, found.second_in_first]
    }

    #[test]
    fn a_part_lies_in_the_whole_and_not_the_other_way_round() {
        let nothing = ShingleFrequencies::default();
        let whole = text(0..1000);
        assert_eq!(containment(&text(300..400), &whole, &nothing), [1.0, 0.1]);
        assert_eq!(containment(&text(950..1050), &whole, &nothing), [0.5, 0.05]);
        assert_eq!(containment(&whole, &whole, &nothing), [1.0, 1.0]);
        assert_eq!(containment("", &whole, &nothing), [0.0, 0.0]);
        assert_eq!(containment("", "", &nothing), [1.0, 1.0]);
    }

    #[test]
    fn template_counts_less() {
        let form = text(0..60);
        let (a, b) = (
            format!("{form}{}", text(100..140)),
            format!("{form}{}", text(200..400)),
        );
        for (times, each) in [(RARE, 1.0), (RARE + 1, 0.5), (RARE + 9, 0.25)] {
            let [of_a, of_b] = containment(&a, &b, &table(&[(&form, times as usize)]));
            let shared = 60.0 * each;
            assert!((of_a - shared / (shared + 40.0)).abs() < 1e-12);
            assert!((of_b - shared / (shared + 200.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_short_text_is_weighed_by_enough_shingles_of_a_long_one() {
        let (form, unique) = (text(0..100), text(100..200));
        let long = format!("{form}{}", text(1000..9000));
        let table = table(&[(&form, 9)]);
        let short = format!("{form}{unique}");
        let [in_long, _] = containment(&short, &long, &table);
        // Of 200 shingles a half is sampled.
        let sampled = |text: &str| {
            Shingles::of(text, 1)
                .hashes()
                .iter()
                .filter(|&&h| h >> 63 == 0)
                .count()
        };
        let shared = sampled(&form) as f64 * 309.0;
        let alone = sampled(&unique) as f64 * 1000.0;
        assert!((in_long - shared / (shared + alone)).abs() < 1e-12);
    }
}
