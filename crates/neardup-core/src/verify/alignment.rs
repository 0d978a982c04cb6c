/*! Two texts aligned: what both have, and what one has in the place of what.

The [units](super::units) of both texts are aligned. Their common begin and end are set aside. Long
texts are then held fast at their [anchors](crate::anchors), rows of [`ANCHOR`](crate::constants::ANCHOR) units that occur
once in each text; what lies between two anchors is aligned by its longest common subsequence
(Hyyrö, *Bit-parallel LCS-length computation revisited*, 2004), or counts as rewritten if it is too
long for that.

Runs of equal units are *stretches*. Any two texts have some words or characters in common, so a run
of fewer than [`SHORTEST`] units between two differences is not a stretch but a part of the
difference. What is left between the stretches are *gaps*, with units of one text or of both. A
number in a gap agrees if the same gap of the other text has it too. Of the other numbers as many
*differ* as stand opposite a number of the other text.

What lies from the first stretch to the last one is the *core*; what lies before and after it is a
frame: a masthead, the date of a page, a list of links. A number is *replaced* in the core only.

The order of the two texts makes no difference. Time is O(n log n) for n units, and O(xy / 64) for a
gap of x and y units; memory is at most about 8 MB besides, since xy is at most [`EXACT`](crate::constants::EXACT)².
*/

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::noise::Noise;
use super::opposed::are_opposed;
use super::runs::{Run, equal_runs};
use super::units::{Units, is_negation, is_number, is_numeral};
use crate::buckets::in_both;
use crate::constants::{LINE, LINE_LETTERS, SENTENCE, SENTENCE_PARTS, SHORT_GAP, SHORTEST, SLOT};

/// The result of aligning two texts, in numbers of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aligned {
    /// Units of the first text.
    pub a: usize,
    /// Units of the second text.
    pub b: usize,
    /// Units of either text in stretches.
    pub equal: usize,
    /// Units of all gaps, of each the longer side: how many units must be replaced, inserted or
    /// deleted to make one text from the other, along this alignment.
    pub distance: usize,
    /// Units of short gaps, of each the longer side: of at most 12 units of each text. Longer gaps
    /// are rewritten, inserted or deleted passages.
    pub edited: usize,
    /// Numbers of either text in stretches, and those of gaps that both sides of the gap have.
    pub agree: usize,
    /// Numbers in gaps for which the other text has another number.
    pub differ: usize,
    /// Those of `differ` in gaps of the core of at most 12 units of each text: their surroundings
    /// are the same.
    pub replaced: usize,
    /// Words that turn the meaning: those that are all that one text has besides the other, and in a line
    /// those that stand in the place of their opposites.
    pub negated: usize,
    /// Whether each text has a passage of its own: a gap with more units than a line has, not counting those
    /// that the other side has too, or most of a sentence.
    pub passage: [bool; 2],
    /// Gaps of the core in which both texts have at least two units: in a template, names and values.
    pub slots: usize,
    /// The stretches between equal runs of any length.
    pub noise: Noise,
    /// Letters and digits of the text that has fewer.
    pub letters: usize,
    /// Whether both texts are of a script with spaces between words.
    pub is_spaced: bool,
}

/// Two texts aligned.
pub(super) struct Alignment<'a> {
    texts: [&'a Units; 2],
    rows: [Cow<'a, [u64]>; 2],
    runs: Vec<Run>,
    /// Whether the second text comes first here, so that of several alignments that are equally good, the same one is
    /// found for (b, a).
    is_turned: bool,
}

impl<'a> Alignment<'a> {
    pub(super) fn of(a: &'a Units, b: &'a Units) -> Self {
        let (mut texts, mut rows) = ([a, b], Units::rows(a, b));
        let is_turned = (rows[1].len(), &rows[1]) < (rows[0].len(), &rows[0]);
        if is_turned {
            texts.reverse();
            rows.reverse();
        }
        Alignment {
            texts,
            runs: equal_runs(&rows[0], &rows[1]),
            rows,
            is_turned,
        }
    }

    /// The equal runs that are long enough for a stretch.
    fn stretches(&self) -> impl Iterator<Item = Run> {
        let [a, b] = self.rows.each_ref().map(|row| row.len());
        self.runs.iter().copied().filter(move |run| {
            let is_begin = run.a == 0 && run.b == 0;
            let is_end = run.a + run.length == a && run.b + run.length == b;
            run.length >= SHORTEST || is_begin || is_end
        })
    }

    /// The units of both texts before, between and after some runs.
    fn between(&self, runs: impl Iterator<Item = Run>) -> impl Iterator<Item = (&[u64], &[u64])> {
        let [a, b] = &self.rows;
        let end = Run {
            a: a.len(),
            b: b.len(),
            length: 0,
        };
        let (mut x, mut y) = (0, 0);
        runs.chain([end]).map(move |run| {
            let both = (&a[x..run.a], &b[y..run.b]);
            (x, y) = (run.a + run.length, run.b + run.length);
            both
        })
    }

    /// The gaps, each with its place: 0 before the core, 1 in it, and 2 after it.
    fn gaps(&self) -> impl Iterator<Item = (usize, &[u64], &[u64])> {
        let last = self.stretches().count();
        let all = self.between(self.stretches()).enumerate();
        all.map(move |(number, (a, b))| match number {
            0 => (0, a, b),
            _ => (1 + usize::from(number == last), a, b),
        })
    }

    /// The numbers of units by which measures decide.
    pub(super) fn aligned(&self) -> Aligned {
        let [first, second] = self.texts;
        let mut found = Aligned {
            a: first.len(),
            b: second.len(),
            letters: first.letters().min(second.letters()),
            is_spaced: first.is_spaced() && second.is_spaced(),
            ..Aligned::default()
        };
        if !found.is_spaced {
            let all = self.between(self.runs.iter().copied());
            found.noise = Noise::of(all.filter(|(a, b)| !a.is_empty() || !b.is_empty()));
            found.noise.spread = found.a - self.equal_ends();
        }
        if !found.is_scattered() {
            let spans = |side: fn(&Run) -> usize| {
                let all = self.stretches();
                all.map(move |one| side(&one)..side(&one) + one.length)
            };
            found.passage = [
                has_own(first, spans(|one| one.a)),
                has_own(second, spans(|one| one.b)),
            ];
        }
        let mut opposed = 0;
        for (place, a, b) in self.gaps() {
            opposed += usize::from(found.letters < LINE_LETTERS && are_opposed(a, b));
            found.slots += usize::from(place == 1 && a.len().min(b.len()) >= SLOT);
            found.count_gap(a, b, place != 1);
        }
        for stretch in self.stretches() {
            found.equal += stretch.length;
            let units = &self.rows[0][stretch.a..stretch.a + stretch.length];
            found.agree += units.iter().filter(|&&unit| is_numeral(unit)).count();
        }
        if self.is_turned {
            (found.a, found.b) = (found.b, found.a);
            found.passage.reverse();
        }
        if found.negated != found.distance {
            found.negated = 0;
        }
        found.negated += opposed;
        found
    }

    /// How the gaps lie, which no measure looks at.
    pub(super) fn layout(&self) -> Layout {
        let mut found = Layout {
            core: self.rows.each_ref().map(|row| row.len()),
            is_at_end: self.stretches().next().is_some(),
            ..Layout::default()
        };
        let mut replaced = FxHashSet::default();
        for (place, a, b) in self.gaps() {
            if place == 1 {
                let is_replacement = !a.is_empty() && !b.is_empty();
                found.gaps += 1;
                found.replacements += usize::from(is_replacement);
                found.recurring += usize::from(is_replacement && !replaced.insert((a, b)));
                continue;
            }
            found.core = [found.core[0] - a.len(), found.core[1] - b.len()];
            found.is_at_end &= [a, b].iter().all(|side| side.is_empty() == (place == 2));
        }
        if self.is_turned {
            found.core.reverse();
        }
        found
    }

    /// How many units two rows have in common at their begin and at their end.
    fn equal_ends(&self) -> usize {
        let [a, b] = self.rows.each_ref().map(|row| row.len());
        let is_end = |run: &&Run| {
            let is_begin = run.a == 0 && run.b == 0;
            is_begin || run.a + run.length == a && run.b + run.length == b
        };
        self.runs.iter().filter(is_end).map(|run| run.length).sum()
    }
}

/// How the gaps of two aligned texts lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Units of the core in each text.
    pub core: [usize; 2],
    /// Whether the core is the end of both texts, and neither begins with it.
    pub is_at_end: bool,
    /// Gaps of the core.
    pub gaps: usize,
    /// The gaps in which both texts have units.
    pub replacements: usize,
    /// The replacements that repeat an earlier one: the same units in the place of the same.
    pub recurring: usize,
}

impl Aligned {
    /// Aligns two texts.
    pub fn of(a: &Units, b: &Units) -> Self {
        Alignment::of(a, b).aligned()
    }

    /// The edit similarity: 1 less the distance over the units of the longer text, in \[0, 1\]; 1
    /// for two texts without units.
    ///
    /// Never more than one less the edit distance says, and less where few equal units lie between
    /// two differences, or where a row of units was too long to be aligned.
    pub fn similarity(self) -> f64 {
        match self.longer() {
            0 => 1.0,
            longer => longer.saturating_sub(self.distance) as f64 / longer as f64,
        }
    }

    /// Whether what the texts differ in is scattered edits: see [`Noise`].
    pub fn is_scattered(self) -> bool {
        !self.is_spaced && self.noise.is_scattered(self.longer())
    }

    /// Units of the longer text.
    pub fn longer(self) -> usize {
        self.a.max(self.b)
    }

    /// Units of the shorter text.
    pub fn shorter(self) -> usize {
        self.a.min(self.b)
    }

    /// Counts the units of a gap, and its numbers.
    fn count_gap(&mut self, a: &[u64], b: &[u64], is_outside: bool) {
        let longer = a.len().max(b.len());
        let line = LINE[usize::from(self.is_spaced)];
        if longer > line && self.passage != [true; 2] {
            let [of_a, of_b] = [a, b].map(|gap| {
                let mut units = gap.to_vec();
                units.sort_unstable();
                units
            });
            // Between edits that lie close together, some units are the same.
            let both = in_both(&of_a, &of_b);
            for (passage, gap) in self.passage.iter_mut().zip([a, b]) {
                *passage |= gap.len() - both > line;
            }
        }
        let is_short = longer <= SHORT_GAP;
        self.distance += longer;
        self.edited += if is_short { longer } else { 0 };
        if a.is_empty() || b.is_empty() {
            let only = a.iter().chain(b);
            self.negated += only.filter(|&&unit| is_negation(unit)).count();
            return;
        }
        let numbers = |gap: &[u64]| -> Vec<u64> {
            let mut found: Vec<u64> = gap.iter().copied().filter(|&u| is_number(u)).collect();
            found.sort_unstable();
            found
        };
        let (of_a, of_b) = (numbers(a), numbers(b));
        let agree = in_both(&of_a, &of_b);
        let differ = of_a.len().min(of_b.len()) - agree;
        self.agree += agree;
        self.differ += differ;
        self.replaced += if is_short && !is_outside { differ } else { 0 };
    }
}

/// Whether a text has a sentence of which at least half, and [`SENTENCE`] units, are not in the other, by
/// its equal runs.
fn has_own(units: &Units, equal: impl Iterator<Item = Range<usize>>) -> bool {
    let mut equal = equal.peekable();
    units.sentences().any(|sentence| {
        let mut both = 0;
        while let Some(stretch) = equal.peek() {
            let (begin, end) = (stretch.start, stretch.end);
            // Units before the sentence do not count.
            both += end
                .min(sentence.end)
                .saturating_sub(begin.max(sentence.start));
            if end > sentence.end {
                break;
            }
            equal.next();
        }
        let unshared = sentence.len() - both;
        unshared >= SENTENCE && SENTENCE_PARTS * unshared >= sentence.len()
    })
}

/// Where two normalized texts are the same, in bytes of both, in order: the stretches that a verdict
/// rests on.
pub fn equal_places(a: &str, b: &str) -> Vec<[Range<usize>; 2]> {
    let (units, mut places) = ([a, b].map(Units::of), [a, b].map(Units::places));
    let alignment = Alignment::of(&units[0], &units[1]);
    if alignment.is_turned {
        places.reverse();
    }
    let span = |side: usize, at: usize, length: usize| {
        places[side][at].start..places[side][at + length - 1].end
    };
    let all = alignment.stretches().map(|Run { a, b, length }| {
        let mut both = [span(0, a, length), span(1, b, length)];
        if alignment.is_turned {
            both.reverse();
        }
        both
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::super::runs::tests::noise;
    use super::*;
    use crate::constants::EXACT;

    fn of(a: &str, b: &str) -> Aligned {
        let [a, b] = [a, b].map(Units::of);
        let (found, back) = (Aligned::of(&a, &b), Aligned::of(&b, &a));
        let turned = Aligned {
            a: back.b,
            b: back.a,
            passage: [back.passage[1], back.passage[0]],
            ..back
        };
        assert_eq!(found, turned);
        assert_eq!((found.a, found.b), (a.len(), b.len()));
        found
    }

    fn layout(a: &str, b: &str) -> Layout {
        Alignment::of(&Units::of(a), &Units::of(b)).layout()
    }

    #[test]
    fn units_of_short_gaps_are_edited() {
        let (begin, end) = (characters(0, 20), characters(100, 20));
        for (longer, shorter, edited) in [
            (0, 0, 0),
            (1, 0, 1),
            (5, 3, 5),
            (SHORT_GAP, 0, SHORT_GAP),
            (SHORT_GAP + 1, 0, 0),
            (SHORT_GAP + 1, SHORT_GAP, 0),
        ] {
            let a = format!("{begin}{}{end}", characters(200, longer as u32));
            let b = format!("{begin}{}{end}", characters(300, shorter as u32));
            let found = of(&a, &b);
            assert_eq!((found.equal, found.edited), (40, edited));
            assert_eq!(found.edited, edited);
        }
    }

    #[test]
    fn equal_places_are_cut_at_units() {
        let (a, b) = (
            "The ferry left at 9.30, on time.",
            "A ferry left at 9.31 on time!",
        );
        for (a, b) in [(a, b), (b, a)] {
            let cuts: Vec<_> = equal_places(a, b)
                .into_iter()
                .map(|[in_a, in_b]| (&a[in_a], &b[in_b]))
                .collect();
            let (first, last) = (("ferry left at", "ferry left at"), ("on time", "on time"));
            assert_eq!(cuts, [first, last]);
        }
    }

    /// Equal units, and numbers that agree, differ and are replaced.
    fn counts(a: &str, b: &str) -> [usize; 4] {
        let found = of(a, b);
        [found.equal, found.agree, found.differ, found.replaced]
    }

    /// Characters that are a unit each: from `first` on.
    fn characters(first: u32, count: u32) -> String {
        (first..first + count)
            .filter_map(|at| char::from_u32(0xAC00 + at))
            .collect()
    }

    #[test]
    fn equal_texts_are_one_stretch() {
        let text = "渡船早上8人开，晚上十一人回。";
        assert_eq!(counts(text, text), [12, 2, 0, 0]);
        // Characters between units make no difference.
        assert_eq!(counts(text, "渡船早上 8 人开;晚上11人回"), [12, 2, 0, 0]);
    }

    #[test]
    fn texts_without_units_are_aligned_with_each_other_only() {
        assert_eq!(of("", ""), Aligned::default());
        assert_eq!(of("", "。").equal, 0);
        assert_eq!(of("", "渡船").equal, 0);
        assert_eq!(of("渡船", "码头").equal, 0);
    }

    #[test]
    fn additional_text_differs_from_nothing() {
        let text = "渡船早上8人开";
        assert_eq!(counts(text, "渡船明天早上8人开"), [7, 1, 0, 0]);
        assert_eq!(counts(text, "渡船3号早上8人开"), [7, 1, 0, 0]);
        assert_eq!(counts(text, "渡船早上8人开9人到"), [7, 1, 0, 0]);
    }

    #[test]
    fn a_number_in_the_place_of_another_is_replaced() {
        let text = "渡船早上8人开，晚上6人回";
        assert_eq!(counts(text, "渡船早上9人开，晚上6人回"), [11, 1, 1, 1]);
        assert_eq!(counts(text, "渡船早上9人开，晚上7人回"), [10, 0, 2, 2]);
        assert_eq!(counts(text, "渡船早上准人开，晚上6人回"), [11, 1, 0, 0]);
        // Of two numbers one stands opposite the only one of the other text.
        assert_eq!(counts(text, "渡船早上7或9人开，晚上6人回"), [11, 1, 1, 1]);
        assert_eq!(
            counts(
                "The ferry leaves at 8 today",
                "The ferry leaves at nine today"
            ),
            [5, 0, 1, 1]
        );
    }

    #[test]
    fn the_core_reaches_from_the_first_stretch_to_the_last() {
        let (begin, end) = (characters(0, 20), characters(100, 20));
        let sign = |from, count| characters(from, count);
        let a = format!("{}{begin}{}{end}", sign(200, 5), sign(300, 4));
        let b = format!(
            "{}{begin}{}{end}{}",
            sign(400, 7),
            sign(500, 6),
            sign(600, 2)
        );
        let found = Layout {
            core: [44, 46],
            is_at_end: false,
            gaps: 1,
            replacements: 1,
            recurring: 0,
        };
        assert_eq!(layout(&a, &b), found);
        let core = [46, 44];
        assert_eq!(layout(&b, &a), Layout { core, ..found });
        let end = format!("{}{end}", sign(700, 5));
        assert!(layout(&end, &a).is_at_end);
        assert!(!layout("", "渡").is_at_end && !layout("渡船停", "渡船停").is_at_end);
    }

    #[test]
    fn a_replacement_recurs_where_the_same_stands_in_the_place_of_the_same() {
        let a: String = (0..5)
            .map(|at| format!("{}东", characters(10 * at, 9)))
            .collect();
        for (other, expected) in [("西", [5, 5, 4]), ("", [5, 0, 0])] {
            let b = a.replace('东', other);
            let found = layout(&format!("{a}渡船停"), &format!("{b}渡船停"));
            let found = [found.gaps, found.replacements, found.recurring];
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn in_a_long_gap_a_number_differs_and_is_not_replaced() {
        for (length, replaced) in [(SHORT_GAP, 1), (SHORT_GAP + 1, 0)] {
            let length = length as u32;
            let first = format!("渡船早上8{}码头", characters(0, length - 1));
            let short = "渡船早上9码头".to_owned();
            let long = format!("渡船早上9{}码头", characters(100, length - 1));
            for second in [short, long] {
                assert_eq!(counts(&first, &second), [6, 0, 1, replaced], "{second}");
            }
        }
    }

    #[test]
    fn numbers_of_a_gap_agree_in_any_order() {
        assert_eq!(counts("渡船3北5码头", "渡船5南3码头"), [4, 2, 0, 0]);
        assert_eq!(counts("渡船3北5码头", "渡船5南4码头"), [4, 1, 1, 1]);
        assert_eq!(counts("渡船北5西5码头", "渡船南5东4码头"), [4, 1, 1, 1]);
    }

    #[test]
    fn a_few_equal_units_between_differences_are_no_stretch() {
        for (middle, equal) in [("石", 4), ("石桥", 4), ("石桥边", 7)] {
            let first = format!("渡船东南{middle}西北码头");
            let second = format!("渡船春夏{middle}秋冬码头");
            assert_eq!(counts(&first, &second), [equal, 0, 0, 0], "{middle}");
        }
        // An equal number there agrees all the same.
        assert_eq!(
            counts("渡船东南5西北码头", "渡船春夏5秋冬码头"),
            [4, 1, 0, 0]
        );
    }

    #[test]
    fn at_begin_and_end_one_unit_is_a_stretch() {
        assert_eq!(counts("渡东南头", "渡春夏头"), [2, 0, 0, 0]);
        assert_eq!(counts("8东南", "8春夏"), [1, 1, 0, 0]);
        assert_eq!(counts("东南8", "春夏秋8"), [1, 1, 0, 0]);
    }

    #[test]
    fn a_repeated_begin_is_not_the_end_too() {
        assert_eq!(counts("渡船", "渡船渡船"), [2, 0, 0, 0]);
        assert_eq!(counts("8888 渡", "渡"), [1, 0, 0, 0]);
    }

    #[test]
    fn long_texts_are_held_fast_at_anchors() {
        let units = |from: u64| -> Vec<u64> { (from..from + 20).map(|at| 4 * at).collect() };
        let number = |value: u64| vec![4 * value + 1];
        let parts = [1, 2, 3].map(|seed| noise(2000, 3000, seed));
        let joined = |kept: [Vec<u64>; 4]| -> Units {
            let mut all = kept[0].clone();
            for (part, between) in parts.iter().zip(&kept[1..]) {
                all.extend(part);
                all.extend(between);
            }
            Units::from_row(all)
        };
        let first = joined([units(5000), number(7), number(8), units(6000)]);
        let second = joined([units(7000), number(7), number(9), units(8000)]);
        assert!(first.len() * second.len() > EXACT * EXACT);
        let expected = Aligned {
            a: 6042,
            b: 6042,
            equal: 6001,
            distance: 41,
            edited: 1,
            agree: 1,
            differ: 1,
            replaced: 1,
            passage: [true, true],
            noise: Noise {
                weighty: 3,
                units: 41,
                spread: 6042,
                ..Noise::default()
            },
            letters: 6042,
            ..Aligned::default()
        };
        assert_eq!(Aligned::of(&first, &second), expected);
        assert_eq!(Aligned::of(&second, &first), expected);
    }

    #[test]
    fn long_gap_without_anchors_counts_as_rewritten() {
        // Each row of units occurs many times.
        for (times, equal) in [(1300, 3900), (1400, 0)] {
            let first = format!("东{}", "渡船停".repeat(times));
            let second = format!("西{}北", "渡船停".repeat(times));
            assert_eq!(of(&first, &second).equal, equal);
        }
    }

    #[test]
    fn a_passage_is_longer_than_a_line_or_most_of_a_sentence() {
        let body = "潮水退去之后渔船一只只靠岸。码头上的人忙着卸货过秤。";
        for (ending, is_passage) in [
            ("", false),
            ("一二三四五六七八九十百千", false),
            ("编辑王小明责任校对李大成", false),
            ("编辑王小明责任校对李大成等", true),
            ("来自记者现场。", true),
            ("记者现场。", false),
        ] {
            let [a, b] = [format!("{body}{ending}"), body.to_string()].map(|text| Units::of(&text));
            let found = Aligned::of(&a, &b);
            assert_eq!(found.passage, [is_passage, false], "{ending}");
            assert_eq!(Aligned::of(&b, &a).passage, [false, is_passage], "{ending}");
        }
        // White space ends a line too, so that it is not taken for the beginning of a sentence.
        let [a, b] = [format!("编辑王小明 {body}"), body.to_string()].map(|text| Units::of(&text));
        assert_eq!(Aligned::of(&a, &b).passage, [false, false]);
        let words = "the ferry leaves the island at noon and comes back in the evening";
        for (ending, is_passage) in [
            (" by the harbour master", false),
            (" said the harbour master today", true),
        ] {
            let [a, b] =
                [format!("{words}{ending}"), words.to_string()].map(|text| Units::of(&text));
            assert_eq!(Aligned::of(&a, &b).passage, [is_passage, false], "{ending}");
        }
    }

    #[test]
    fn the_order_of_two_texts_makes_no_difference() {
        for round in 0..300 {
            let [a, b] = [0, 1].map(|at| {
                let length = noise(1, 60 + 340 * (round % 2), round + at)[0] as usize;
                // Every other unit of a small alphabet is a number.
                let row = noise(length, 12, 7 * round + at).into_iter();
                Units::from_row(row.map(|unit| unit / 2).collect())
            });
            let (found, back) = (Aligned::of(&a, &b), Aligned::of(&b, &a));
            assert_eq!((found.a, found.b), (back.b, back.a));
            assert_eq!(
                (found.equal, found.agree, found.differ, found.replaced),
                (back.equal, back.agree, back.differ, back.replaced)
            );
            assert!(found.equal <= found.shorter() && found.replaced <= found.differ);
        }
    }
}
