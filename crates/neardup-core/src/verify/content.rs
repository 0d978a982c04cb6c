/*! The measure `content(k)`: whether two texts are the same text again.

Resemblance counts every shingle alike, so two weather bulletins resemble each other whatever they say. Content rests
on three kinds of evidence: shingles [weighed](super::weighed) by how many texts of the collection contain them; how
much of the longer text is [aligned](Aligned); and which numbers replace which. `docs/methods.md` has the formula and
the rules for boilerplate, [scattered edits](super::noise) and [short texts](super::short).

A replaced number speaks for the letters around it, and a few say no more. A text that was edited throughout loses
numbers with the rest; as many as that explains are not counted. All is computed in millionths, rounded down.

A pair costs the look-up of a sample of about 200 hashes, and an alignment unless that rules the pair out: numbers
only lower the similarity.
*/

use super::alignment::Aligned;
use super::by_samples::Ratio;
use super::most::Most;
use super::profile::Profile;
use super::score::score;
use super::verdict::Verdict;
use super::weighed::Scratch;
use crate::shingle_frequencies::ShingleFrequencies;

/// The measure `content(k)`, for shingles of `k` characters.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) k: usize,
}

impl Verdict for Content {
    fn prepare(&self, text: &str) -> Profile {
        Profile::of_shingles(text, self.k)
    }

    fn bound(
        &self,
        (a, b): (&Profile, &Profile),
        frequencies: Option<&ShingleFrequencies>,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Most> {
        if !a.is_short_beside(b) {
            return a.bound(b, Ratio::Resemblance, frequencies, threshold, scratch);
        }
        let most = Most {
            is_short: true,
            ..Most::of(a.letters.similarity(&b.letters))
        };
        (most.similarity >= threshold).then_some(most)
    }

    fn finish(&self, most: Most, aligned: &Aligned) -> f64 {
        match most.is_short {
            true if aligned.differ + aligned.negated > 0 => 0.0,
            true => most.similarity,
            false => score(most, aligned),
        }
    }

    fn ratio(&self) -> Option<Ratio> {
        Some(Ratio::Resemblance)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::counted_sample::Looked;
    use super::super::evidence::Evidence;
    use super::super::resemblance::Shingles;
    use super::super::score::numbers;
    use super::super::weighed::{Weighed, Weighing};
    use super::*;
    use crate::constants::{KNOWN, RARE, SHORT};
    use crate::ids::Hash;

    /// Distinct characters, which are a unit and a shingle of length 1 each: none of them a number.
    pub(in super::super) fn text(range: std::ops::Range<u32>) -> String {
        range.filter_map(|at| char::from_u32(0xac00 + at)).collect()
    }

    /// A table that says how many texts contain the characters of each text.
    pub(in super::super) fn table(carried: &[(&str, usize)]) -> ShingleFrequencies {
        let sets = carried.iter().flat_map(|&(text, times)| {
            let set = Shingles::of(text, 1);
            vec![set.halves(); times]
        });
        ShingleFrequencies::of_samples(&sets.collect::<Vec<_>>(), 1 << 20)
    }

    /// Compares two texts by shingles of one character, both ways, and at several thresholds.
    fn evidence(a: &str, b: &str, table: &ShingleFrequencies) -> Evidence {
        let found = Evidence::of([a, b], 1, Some(table));
        let back = Evidence::of([b, a], 1, Some(table));
        assert_eq!(found.similarity, back.similarity);
        let measure = Content { k: 1 };
        let [a, b] = [a, b].map(|text| measure.prepare(text));
        let mut scratch = Scratch::default();
        let mut bound = |pair, threshold| {
            let most = measure.bound(pair, Some(table), threshold, &mut scratch);
            most.map(|most| most.scattered)
        };
        let most = bound((&a, &b), 0.0).unwrap();
        assert!((0.0..=most).contains(&found.similarity) && most <= 1.0);
        for threshold in [
            0.0,
            most - 1e-9,
            most,
            most + 1e-9,
            found.similarity,
            0.5,
            1.0,
        ] {
            let expected = (most >= threshold).then_some(most);
            assert_eq!(bound((&a, &b), threshold), expected);
            assert_eq!(bound((&b, &a), threshold), expected);
        }
        found
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    /// How two texts of 100 units align, in a script without spaces.
    fn aligned(letters: usize, edited: usize, replaced: usize, agree: usize) -> Aligned {
        Aligned {
            a: 100,
            b: 100,
            equal: 100 - edited,
            edited,
            agree,
            replaced,
            differ: replaced,
            letters,
            ..Aligned::default()
        }
    }

    #[test]
    fn a_replaced_number_speaks_for_the_letters_around_it() {
        for (aligned, expected) in [
            (aligned(800, 0, 0, 9), 0),
            // All numbers are others: by the length of the text.
            (aligned(100, 0, 1, 0), 2_000_000),
            (aligned(800, 0, 1, 0), 250_000),
            (aligned(800, 0, 2, 0), 500_000),
            (aligned(800, 0, 3, 0), 500_000),
            (aligned(800, 0, 30, 0), 500_000),
            // Many agree: 6 · 1/10.
            (aligned(200, 0, 1, 9), 600_000),
            // Edits explain some: 6 (1/10 − 5/100).
            (aligned(200, 5, 1, 9), 300_000),
            (aligned(200, 10, 1, 9), 0),
        ] {
            assert_eq!(numbers(&aligned), expected, "{aligned:?}");
        }
    }

    #[test]
    fn the_bound_is_on_resemblance_and_alignment_together() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 2e-6, "{found} {expected}");
        };
        // R + E = 1.08 is the default threshold.
        close(score(Most::of(0.6), &aligned(800, 52, 0, 0)), 0.4);
        close(
            score(Most::of(0.9), &aligned(800, 20, 0, 0)),
            1.0 - 0.3 * 60.0 / 92.0,
        );
        close(
            score(Most::of(0.9), &aligned(800, 20, 1, 0)),
            1.0 - 0.55 * 60.0 / 92.0,
        );
        // No more than the resemblance, and no less than 0.
        close(score(Most::of(0.4), &aligned(800, 0, 0, 0)), 0.4);
        close(score(Most::of(0.5), &aligned(20, 0, 3, 0)), 0.0);
        assert_eq!(score(Most::of(1.0), &aligned(800, 0, 0, 0)), 1.0);
        // In scripts with spaces R + E = 1.20, and what the shorter text has besides counts.
        let spaced = Aligned {
            distance: 40,
            is_spaced: true,
            ..aligned(800, 40, 0, 0)
        };
        close(score(Most::of(0.6), &spaced), 0.4);
    }

    #[test]
    fn numbers_without_counterpart_take_nothing() {
        let nothing = ShingleFrequencies::default();
        let body = text(0..60);
        for (a, b) in [
            (format!("{body}7"), body.clone()),
            (format!("{body}7人8日"), format!("{body}8人7日")),
            (
                format!("7{}{body}", text(100..120)),
                format!("8{}{body}", text(200..220)),
            ),
        ] {
            let found = evidence(&a, &b, &nothing);
            assert_eq!((found.aligned.replaced, found.penalty), (0, 0.0));
        }
    }

    #[test]
    fn a_number_of_the_frame_is_not_replaced() {
        let nothing = ShingleFrequencies::default();
        let body = text(0..60);
        for (a, b, replaced) in [
            (format!("9时{body}"), format!("8{body}"), 0),
            (format!("{body}9时"), format!("{body}8"), 0),
            (format!("{body}9时{body}"), format!("{body}8{body}"), 1),
        ] {
            let found = evidence(&a, &b, &nothing);
            assert_eq!(found.aligned.replaced, replaced);
            assert_eq!(found.penalty > 0.0, replaced > 0);
        }
    }

    #[test]
    fn template_counts_less() {
        let (form, a, b) = (text(0..60), text(100..140), text(200..240));
        let same = text(300..310);
        let (a, b) = (format!("{form}{same}{a}"), format!("{form}{same}{b}"));
        for (times, each) in [(RARE, 1.0), (RARE + 1, 0.5), (RARE + 9, 0.25)] {
            let found = evidence(&a, &b, &table(&[(&form, times as usize)]));
            let shared = 10.0 + 60.0 * each;
            let weighed = found.weighed.map(Weighed::resemblance);
            close(
                weighed.unwrap_or(found.overlap.resemblance()),
                shared / (shared + 80.0),
            );
            assert_eq!(weighed.is_none(), times == RARE);
            assert_eq!(found.overlap.resemblance(), 70.0 / 150.0);
        }
    }

    #[test]
    fn beside_text_of_many_a_line_is_nothing_and_a_sentence_is_all() {
        let (form, many) = (text(0..200), RARE as usize + 17);
        let line = |at: u32, length: u32| text(1000 + 100 * at..1000 + 100 * at + length);
        for (times, lengths, same) in [
            (many, [12, 12], true),
            (many, [13, 12], false),
            (many, [0, 13], false),
            (many, [0, 12], true),
            (many, [60, 60], false),
            // Not boilerplate.
            (many - 1, [13, 12], true),
            (9, [13, 13], true),
        ] {
            let table = table(&[(&form, times)]);
            let [a, b] = [0, 1].map(|at| format!("{form}{}", line(at, lengths[at as usize])));
            let found = evidence(&a, &b, &table).similarity;
            assert_eq!(found > 0.4, same, "{times} {lengths:?}: {found}");
            // The other shared text counts, the boilerplate does not.
            let same = line(2, 70);
            let [a, b] = [&a, &b].map(|text| format!("{same}{text}"));
            let found = evidence(&a, &b, &table).similarity;
            assert_eq!(
                found > 0.45,
                lengths[0] + lengths[1] < 60,
                "{times} {lengths:?}: {found}"
            );
        }
    }

    #[test]
    fn two_texts_of_a_form_of_many_with_other_names_are_two() {
        let parts = [text(0..60), text(60..120), text(120..180), text(180..240)];
        let table = table(&[(&parts.concat(), 100)]);
        for (slots, length, same) in [(3, 2, false), (3, 1, true), (2, 6, true)] {
            let filled = |from: u32| {
                let name = text(from..from + length);
                let last = if slots == 3 { name.as_str() } else { "" };
                format!(
                    "{}{name}{}{name}{}{last}{}",
                    parts[0], parts[1], parts[2], parts[3]
                )
            };
            let found = evidence(&filled(1000), &filled(2000), &table);
            assert_eq!(found.similarity > 0.4, same, "{slots} {length}");
        }
    }

    #[test]
    fn text_in_place_of_boilerplate_is_an_edit() {
        let form = text(0..200);
        let table = table(&[(&form, 100)]);
        let edited =
            |from: u32| format!("{}{}{}", text(0..90), text(from..from + 20), text(110..200));
        assert!(evidence(&form, &edited(1000), &table).similarity > 0.4);
    }

    #[test]
    fn negation_makes_another_text_of_equal_words() {
        let nothing = ShingleFrequencies::default();
        let body = text(0..80);
        for (a, b, negated) in [
            (
                format!("{body}适用{body}"),
                format!("{body}不适用{body}"),
                1,
            ),
            (
                format!("{body}适用{body}"),
                format!("{body}不适用{body}又"),
                0,
            ),
            (
                "is guilty of it all".into(),
                "is not guilty of it all".into(),
                1,
            ),
            ("适用孕妇".into(), "不适用孕妇".into(), 1),
            (body.clone(), format!("{body}未"), 1),
            (format!("{body}不{body}"), format!("{body}未{body}"), 0),
        ] {
            let found = evidence(&a, &b, &nothing);
            assert_eq!(found.aligned.negated, negated, "{a} {b}");
            assert_eq!(
                found.similarity < 0.4,
                negated > 0,
                "{a} {b}: {}",
                found.similarity
            );
        }
    }

    #[test]
    fn a_sample_of_too_few_shingles_says_nothing() {
        let whole = text(0..50);
        let table = table(&[(&whole, 9)]);
        let all = Profile::of_shingles(&whole, 1);
        for (size, is_known) in [(KNOWN, true), (KNOWN - 1, false)] {
            // As few as a higher level leaves.
            let hashes = &all.shingles.hashes()[..size];
            let table = ShingleFrequencies::from_counts(0, 9, table.counts().iter().copied());
            let mut scratch = Scratch::default();
            let looked = Looked::up(hashes, &table);
            let sample = looked.sample(0, 0);
            let found = scratch.weigh((&sample, &sample), &table, 0.0, |_| 1.0);
            assert_eq!(matches!(found, Weighing::Done(_)), is_known);
        }
        let found = Evidence::of([&whole, &whole], 1, Some(&table));
        assert_eq!((found.weighed.is_some(), found.similarity), (true, 1.0));
    }

    #[test]
    fn the_level_of_a_pair_is_the_larger_one() {
        let (form, more) = (text(0..100), text(1000..1500));
        let found = evidence(&form, &format!("{form}{more}"), &table(&[(&form, 12)]));
        let weighed = found.weighed.unwrap();
        assert_eq!((weighed.level, weighed.median), (2, 12));
        let of_form = Hash::of_level(2, Shingles::of(&form, 1).halves().hashes()).len() as u64;
        // 1 / (1 + √8)
        assert_eq!((weighed.shared, weighed.alone_a), (261 * of_form, 0));
    }

    #[test]
    fn without_a_table_all_shingles_weigh_alike() {
        for cut in 0..120 {
            let (a, b) = (text(0..100), text(cut..cut * 2 + 45));
            let resemblance = Shingles::of(&a, 1).resemblance(&Shingles::of(&b, 1));
            let found = Evidence::of([&a, &b], 1, None);
            assert_eq!(
                found.similarity,
                score(Most::of(resemblance), &found.aligned)
            );
            assert_eq!(found.weighed, None);
            let nothing_common = evidence(&a, &b, &ShingleFrequencies::default());
            assert_eq!(nothing_common.similarity, found.similarity);
        }
    }

    #[test]
    fn no_pair_is_more_similar_than_it_can_be() {
        let form = text(0..40);
        let table = table(&[(&form, 30), (&text(40..80), 9)]);
        for round in 0..200_u32 {
            let [a, b] = [round, round * 7 + 3].map(|seed| {
                let offset = seed * 13 % 60;
                let number = seed % 3;
                let end = text(40 + offset..60 + offset + seed % 30);
                format!("{form}{number}日{}号{end}", seed % 5)
            });
            // It compares the two.
            evidence(&a, &b, &table);
        }
    }

    #[test]
    fn texts_with_spaces_have_longer_shingles() {
        let text = "The ferry to the island leaves at noon, and comes back in the evening.";
        let profile = Profile::of_shingles(text, 5);
        assert_eq!(profile.shingles, Shingles::of(text, 6).halves());
    }

    #[test]
    fn one_letter_decides_whether_a_text_is_short() {
        let nothing = ShingleFrequencies::default();
        for (letters, short) in [(SHORT as u32 - 1, true), (SHORT as u32, false)] {
            let a = text(0..letters);
            let b = format!("{}。", text(0..letters + 1));
            let found = evidence(&a, &b, &nothing);
            assert_eq!(found.short, short);
            let resemblance = f64::from(letters) / f64::from(letters + 2);
            let share = f64::from(letters) / f64::from(letters + 1);
            let expected = if short { share } else { resemblance };
            assert!((found.similarity - expected).abs() < 1e-3);
        }
    }

    #[test]
    fn a_short_text_with_another_number_is_another() {
        let nothing = ShingleFrequencies::default();
        for (a, b, similarity) in [
            ("码头停航3天", "码头停航三天。", 0.0),
            ("码头停航3天", "码头停航 3 天！", 1.0),
            ("码头停航3天", "码头停航4天", 0.0),
            ("码头今日停航3天", "码头今日停航3天5", 8.0 / 9.0),
            ("3天停航码头", "4，3天停航码头", 6.0 / 7.0),
            ("", "", 1.0),
            ("。", "！", 0.0),
        ] {
            let found = evidence(a, b, &nothing);
            assert!(found.short && found.weighed.is_none());
            assert_eq!(found.similarity, similarity, "{a} {b}");
        }
        // The letters are a piece of the other, but a number that is longer is another one.
        let found = evidence("第2天码头停航", "第12天码头停航", &nothing);
        assert_eq!(found.similarity, 0.0);
        let found = evidence("码头停航二十", "码头停航二十三", &nothing);
        assert_eq!((found.aligned.differ, found.similarity), (1, 0.0));
    }
}
