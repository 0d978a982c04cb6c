/*! Two texts aligned: what both have, and what one has in the place of what.

The [units](super::units) of both texts are aligned. Their common begin and end are set aside. Long
texts are then held fast at their [anchors](crate::anchors), rows of [`ANCHOR`] units that occur
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
gap of x and y units; memory is at most about 8 MB besides, since xy is at most [`EXACT`]².
*/

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::noise::Noise;
use super::opposed::are_opposed;
use super::units::{Units, is_negation, is_number, is_numeral};
use crate::anchors::anchors;
use crate::buckets::in_both;
use crate::constants::{
    ANCHOR, EXACT, LINE, LINE_LETTERS, SENTENCE, SENTENCE_PARTS, SHORT_GAP, SHORTEST, SLOT,
    WITHOUT_ANCHORS,
};

/// What the alignment of two texts says, by numbers of units.
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
    /// Units of the first text before the core, and after it.
    pub outside_a: [usize; 2],
    /// Units of the second text before the core, and after it.
    pub outside_b: [usize; 2],
    /// Gaps of the core.
    pub gaps: usize,
    /// Those of `gaps` in which both texts have units.
    pub replacements: usize,
    /// Those of `replacements` that repeat an earlier one: the same units in the place of the same.
    pub recurring: usize,
    /// Words that turn the meaning: those that are all that one text has besides the other, and in a line
    /// those that stand in the place of their opposites.
    pub negated: usize,
    /// Whether each text has a passage of its own: a gap with more units than a line has, not counting those
    /// that the other side has too, or most of a sentence.
    pub passage: [bool; 2],
    /// Those of `replacements` in which both texts have at least two units: on a form, names and values.
    pub slots: usize,
    /// What stands between equal runs of any length.
    pub noise: Noise,
    /// Letters and digits of the text that has fewer.
    pub letters: usize,
    /// Whether both texts are of a script with spaces between words.
    pub is_spaced: bool,
}

/// A run of equal units, by its positions in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    a: usize,
    b: usize,
    length: usize,
}

impl Aligned {
    /// Aligns two texts.
    pub fn of(a: &Units, b: &Units) -> Self {
        let mut found = Aligned {
            a: a.len(),
            b: b.len(),
            letters: a.letters().min(b.letters()),
            is_spaced: a.is_spaced() && b.is_spaced(),
            ..Aligned::default()
        };
        let (mut texts, mut rows) = ([a, b], Units::rows(a, b));
        let is_turned = is_turned(&rows[0], &rows[1]);
        if is_turned {
            texts.reverse();
            rows.reverse();
        }
        let ([first, second], [a, b]) = (texts, rows.each_ref().map(|row| &**row));
        let end = Stretch {
            a: a.len(),
            b: b.len(),
            length: 0,
        };
        let mut replacements: FxHashSet<(&[u64], &[u64])> = FxHashSet::default();
        let (mut x, mut y, mut opposed) = (0, 0, 0);
        let runs = equal_runs(a, b);
        if !found.is_spaced {
            found.noise = Noise::of(differences(a, b, &runs));
            found.noise.spread = a.len() - equal_ends(a, b, &runs);
        }
        let stretches = stretches(a, b, runs);
        if !found.is_scattered() {
            let all = || stretches.iter();
            found.passage = [
                has_own(first, all().map(|one| one.a..one.a + one.length)),
                has_own(second, all().map(|one| one.b..one.b + one.length)),
            ];
        }
        for (number, stretch) in stretches.iter().chain([&end]).enumerate() {
            let gap = (&a[x..stretch.a], &b[y..stretch.b]);
            let is_first = number == 0;
            let is_outside = is_first || number == stretches.len();
            if is_outside {
                let place = usize::from(!is_first);
                (found.outside_a[place], found.outside_b[place]) = (gap.0.len(), gap.1.len());
            } else {
                found.gaps += 1;
                let is_replacement = !gap.0.is_empty() && !gap.1.is_empty();
                found.replacements += usize::from(is_replacement);
                found.slots += usize::from(gap.0.len().min(gap.1.len()) >= SLOT);
                found.recurring += usize::from(is_replacement && !replacements.insert(gap));
            }
            opposed += usize::from(found.letters < LINE_LETTERS && are_opposed(gap.0, gap.1));
            found.count_gap(gap.0, gap.1, is_outside);
            (x, y) = (stretch.a + stretch.length, stretch.b + stretch.length);
            found.equal += stretch.length;
            let numbers = a[stretch.a..x].iter().filter(|&&unit| is_numeral(unit));
            found.agree += numbers.count();
        }
        if is_turned {
            (found.outside_a, found.outside_b) = (found.outside_b, found.outside_a);
            found.passage.reverse();
        }
        if found.negated != found.distance {
            found.negated = 0;
        }
        found.negated += opposed;
        found
    }

    /// Units of the core in each text.
    pub fn core(self) -> [usize; 2] {
        [(self.a, self.outside_a), (self.b, self.outside_b)]
            .map(|(units, [before, after])| units - before - after)
    }

    /// Whether the core is the end of both texts, and neither begins with it.
    pub fn is_at_end(self) -> bool {
        let is_end = |[before, after]: [usize; 2]| before > 0 && after == 0;
        self.equal > 0 && is_end(self.outside_a) && is_end(self.outside_b)
    }

    /// The share of the shorter text that is aligned, in \[0, 1\]; 1 for two texts without units.
    pub fn share(self) -> f64 {
        match self.shorter() {
            0 => f64::from(u8::from(self.a == self.b)),
            least => self.equal as f64 / least as f64,
        }
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

/// What two rows of units have between equal runs.
fn differences<'a>(
    a: &'a [u64],
    b: &'a [u64],
    runs: &[Stretch],
) -> impl Iterator<Item = (&'a [u64], &'a [u64])> {
    let end = Stretch {
        a: a.len(),
        b: b.len(),
        length: 0,
    };
    let (mut x, mut y) = (0, 0);
    let ends = runs.iter().copied().chain([end]);
    let between = ends.map(move |run| {
        let both = (&a[x..run.a], &b[y..run.b]);
        (x, y) = (run.a + run.length, run.b + run.length);
        both
    });
    between.filter(|(a, b)| !a.is_empty() || !b.is_empty())
}

/// How many units two rows have in common at their begin and at their end, by their equal runs.
fn equal_ends(a: &[u64], b: &[u64], runs: &[Stretch]) -> usize {
    let first = runs.first().filter(|run| run.a == 0 && run.b == 0);
    let is_last = |run: &&Stretch| run.a + run.length == a.len() && run.b + run.length == b.len();
    let last = runs
        .iter()
        .skip(usize::from(first.is_some()))
        .next_back()
        .filter(is_last);
    first.into_iter().chain(last).map(|run| run.length).sum()
}

/// Whether a text has a sentence of which at least half, and [`SENTENCE`] units, are not in the other, by
/// its equal runs.
fn has_own(units: &Units, equal: impl Iterator<Item = Range<usize>>) -> bool {
    let mut equal = equal.peekable();
    units.sentences().any(|sentence| {
        let mut both = 0;
        while let Some(stretch) = equal.peek() {
            let (begin, end) = (stretch.start, stretch.end);
            // What lies before the sentence counts for none.
            both += end
                .min(sentence.end)
                .saturating_sub(begin.max(sentence.start));
            if end > sentence.end {
                break;
            }
            equal.next();
        }
        let own = sentence.len() - both;
        own >= SENTENCE && SENTENCE_PARTS * own >= sentence.len()
    })
}

/// Where two normalized texts are the same, in bytes of both, in order: the stretches that a verdict
/// rests on.
pub fn equal_places(a: &str, b: &str) -> Vec<[Range<usize>; 2]> {
    let (units_a, units_b) = (Units::of(a), Units::of(b));
    let rows = Units::rows(&units_a, &units_b);
    let (row_a, row_b) = (&*rows[0], &*rows[1]);
    let is_turned = is_turned(row_a, row_b);
    let found = if is_turned {
        stretches(row_b, row_a, equal_runs(row_b, row_a))
    } else {
        stretches(row_a, row_b, equal_runs(row_a, row_b))
    };
    let (places_a, places_b) = (Units::places(a), Units::places(b));
    let span = |places: &[Range<usize>], at: usize, length: usize| {
        places[at].start..places[at + length - 1].end
    };
    let places = found.into_iter().map(|Stretch { a, b, length }| {
        let (a, b) = if is_turned { (b, a) } else { (a, b) };
        [span(&places_a, a, length), span(&places_b, b, length)]
    });
    places.collect()
}

/// Whether the second row comes first, so that of several alignments that are equally good, the
/// same one is found for (b, a).
fn is_turned(a: &[u64], b: &[u64]) -> bool {
    (b.len(), b) < (a.len(), a)
}

/// The equal runs of two rows of units that are long enough for a stretch.
fn stretches(a: &[u64], b: &[u64], mut runs: Vec<Stretch>) -> Vec<Stretch> {
    runs.retain(|run| {
        let is_begin = run.a == 0 && run.b == 0;
        let is_end = run.a + run.length == a.len() && run.b + run.length == b.len();
        run.length >= SHORTEST || is_begin || is_end
    });
    runs
}

/// The equal runs of two rows of units, in order.
fn equal_runs(a: &[u64], b: &[u64]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut add = |stretch: Stretch| {
        if stretch.length == 0 {
            return;
        }
        match found.last_mut() {
            Some(last)
                if last.a + last.length == stretch.a && last.b + last.length == stretch.b =>
            {
                last.length += stretch.length;
            }
            _ => found.push(stretch),
        }
    };
    let begin = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[begin..], &b[begin..]);
    let both = rest_a.iter().rev().zip(rest_b.iter().rev());
    let end = both.take_while(|(x, y)| x == y).count();
    let (stop_a, stop_b) = (a.len() - end, b.len() - end);
    add(Stretch {
        a: 0,
        b: 0,
        length: begin,
    });
    let (mut x, mut y) = (begin, begin);
    let last = (stop_a, stop_b);
    let held = anchors_between(&a[begin..stop_a], &b[begin..stop_b]).into_iter();
    let held = held.map(|(x, y)| (begin + x as usize, begin + y as usize));
    for (here, there) in held.chain([last]) {
        // An anchor may overlap the stretch of the one before.
        if here < x || there < y {
            continue;
        }
        between(&a[..here], &b[..there], x, y, &mut add);
        let rest = a[here..stop_a].iter().zip(&b[there..stop_b]);
        let length = rest.take_while(|(x, y)| x == y).count();
        add(Stretch {
            a: here,
            b: there,
            length,
        });
        (x, y) = (here + length, there + length);
    }
    add(Stretch {
        a: stop_a,
        b: stop_b,
        length: end,
    });
    found
}

/// The anchors of what lies between the common begin and the common end of two rows of units; none
/// if it is so short that it is aligned at once.
fn anchors_between(a: &[u64], b: &[u64]) -> Vec<(u32, u32)> {
    if a.len().saturating_mul(b.len()) <= WITHOUT_ANCHORS * WITHOUT_ANCHORS {
        return Vec::new();
    }
    anchors(a, b, ANCHOR, u64::to_le_bytes)
}

/// Adds the equal units from `x` and `y` to the ends of both rows, by their longest common
/// subsequence; none if too many units lie there.
fn between(a: &[u64], b: &[u64], x: usize, y: usize, add: &mut impl FnMut(Stretch)) {
    let (rows, columns) = (&a[x..], &b[y..]);
    if rows.is_empty() || columns.is_empty() {
        return;
    }
    if rows.len().saturating_mul(columns.len()) > EXACT * EXACT {
        return;
    }
    for (i, j) in common_subsequence(rows, columns) {
        add(Stretch {
            a: x + i,
            b: y + j,
            length: 1,
        });
    }
}

/// The positions of a longest common subsequence, ascending in both rows.
///
/// O(xy / 64) for x and y units. The longer one is packed into words of 64 columns, so that the
/// table and the masks take at most about xy / 4 bytes.
fn common_subsequence(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    if a.len() > b.len() {
        let mut found = common_subsequence(b, a);
        for (x, y) in &mut found {
            (*x, *y) = (*y, *x);
        }
        return found;
    }
    let words = b.len().div_ceil(64);
    // A number for each unit of the rows, and for each number the columns that match.
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    numbers.reserve(a.len());
    let number = |unit: &u64| {
        let next = numbers.len();
        *numbers.entry(*unit).or_insert(next)
    };
    let rows: Vec<usize> = a.iter().map(number).collect();
    let mut masks = vec![0; words * numbers.len()];
    for (at, unit) in b.iter().enumerate() {
        if let Some(number) = numbers.get(unit) {
            masks[words * number + at / 64] |= 1 << (at % 64);
        }
    }
    // A zero bit is a column at which the subsequence of the rows so far becomes longer.
    let mut table = vec![u64::MAX; words * (a.len() + 1)];
    for (row, number) in rows.into_iter().enumerate() {
        let (before, after) = table.split_at_mut(words * (row + 1));
        let (before, after) = (&before[words * row..], &mut after[..words]);
        let mask = &masks[words * number..][..words];
        let mut carry = false;
        for ((&old, new), &mask) in before.iter().zip(after).zip(mask) {
            let matches = old & mask;
            let (sum, first) = old.overflowing_add(matches);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *new = sum | (old - matches);
        }
    }
    let is_set =
        |row: usize, column: usize| table[words * row + column / 64] >> (column % 64) & 1 == 1;
    let (mut row, mut column) = (a.len(), b.len());
    let mut found = Vec::new();
    while row > 0 && column > 0 {
        if is_set(row, column - 1) {
            column -= 1;
        } else if !is_set(row - 1, column - 1) {
            row -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            found.push((row, column));
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str) -> Aligned {
        let [a, b] = [a, b].map(Units::of);
        let (found, back) = (Aligned::of(&a, &b), Aligned::of(&b, &a));
        let turned = Aligned {
            a: back.b,
            b: back.a,
            outside_a: back.outside_b,
            outside_b: back.outside_a,
            passage: [back.passage[1], back.passage[0]],
            ..back
        };
        assert_eq!(found, turned);
        assert_eq!((found.a, found.b), (a.len(), b.len()));
        found
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

    /// Units that look random and are not, none of them a number.
    fn noise(length: usize, alphabet: u64, seed: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            4 * ((state >> 33) % alphabet)
        };
        (0..length).map(|_| next()).collect()
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
        // What is not a unit makes no difference.
        assert_eq!(counts(text, "渡船早上 8 人开;晚上11人回"), [12, 2, 0, 0]);
    }

    #[test]
    fn texts_without_units_are_aligned_with_each_other_only() {
        assert_eq!(of("", ""), Aligned::default());
        assert_eq!(of("", "。").share(), 1.0);
        assert_eq!(of("", "渡船").share(), 0.0);
        assert_eq!(of("渡船", "码头").share(), 0.0);
    }

    #[test]
    fn what_one_text_has_more_differs_from_nothing() {
        let text = "渡船早上8人开";
        assert_eq!(counts(text, "渡船明天早上8人开"), [7, 1, 0, 0]);
        assert_eq!(counts(text, "渡船3号早上8人开"), [7, 1, 0, 0]);
        assert_eq!(counts(text, "渡船早上8人开9人到"), [7, 1, 0, 0]);
        assert_eq!(of(text, "渡船明天早上8人开").share(), 1.0);
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
        let found = of(&a, &b);
        assert_eq!((found.outside_a, found.outside_b), ([5, 0], [7, 2]));
        assert_eq!(found.core(), [44, 46]);
        assert_eq!((found.gaps, found.replacements), (1, 1));
        assert!(!found.is_at_end());
        let end = format!("{}{end}", sign(700, 5));
        assert!(of(&end, &a).is_at_end());
        assert!(!of("", "渡").is_at_end() && !of("渡船停", "渡船停").is_at_end());
    }

    #[test]
    fn a_replacement_recurs_where_the_same_stands_in_the_place_of_the_same() {
        let a: String = (0..5)
            .map(|at| format!("{}东", characters(10 * at, 9)))
            .collect();
        let found = of(
            &format!("{a}渡船停"),
            &format!("{}渡船停", a.replace('东', "西")),
        );
        assert_eq!([found.gaps, found.replacements, found.recurring], [5, 5, 4]);
        let found = of(
            &format!("{a}渡船停"),
            &format!("{}渡船停", a.replace('东', "")),
        );
        assert_eq!([found.gaps, found.replacements, found.recurring], [5, 0, 0]);
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
        let own = |from: u64| -> Vec<u64> { (from..from + 20).map(|at| 4 * at).collect() };
        let number = |value: u64| vec![4 * value + 1];
        let parts = [1, 2, 3].map(|seed| noise(2000, 3000, seed));
        let joined = |kept: [Vec<u64>; 4]| -> Units {
            let mut all = kept[0].clone();
            for (part, own) in parts.iter().zip(&kept[1..]) {
                all.extend(part);
                all.extend(own);
            }
            Units::from_row(all)
        };
        let first = joined([own(5000), number(7), number(8), own(6000)]);
        let second = joined([own(7000), number(7), number(9), own(8000)]);
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
            outside_a: [20, 20],
            outside_b: [20, 20],
            gaps: 1,
            replacements: 1,
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
        let all = common_subsequence(first.as_slice(), second.as_slice());
        assert_eq!(all.len(), expected.equal);
    }

    #[test]
    fn what_is_too_long_and_has_no_anchors_counts_as_rewritten() {
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
        for (own, is_passage) in [
            ("", false),
            ("一二三四五六七八九十百千", false),
            ("编辑王小明责任校对李大成", false),
            ("编辑王小明责任校对李大成等", true),
            ("来自记者现场。", true),
            ("记者现场。", false),
        ] {
            let [a, b] = [format!("{body}{own}"), body.to_string()].map(|text| Units::of(&text));
            let found = Aligned::of(&a, &b);
            assert_eq!(found.passage, [is_passage, false], "{own}");
            assert_eq!(Aligned::of(&b, &a).passage, [false, is_passage], "{own}");
        }
        // White space ends a line too, so that it is not taken for the beginning of a sentence.
        let [a, b] = [format!("编辑王小明 {body}"), body.to_string()].map(|text| Units::of(&text));
        assert_eq!(Aligned::of(&a, &b).passage, [false, false]);
        let words = "the ferry leaves the island at noon and comes back in the evening";
        for (own, is_passage) in [
            (" by the harbour master", false),
            (" said the harbour master today", true),
        ] {
            let [a, b] = [format!("{words}{own}"), words.to_string()].map(|text| Units::of(&text));
            assert_eq!(Aligned::of(&a, &b).passage, [is_passage, false], "{own}");
        }
    }

    #[test]
    fn a_long_row_beside_a_short_one_is_aligned() {
        let long = noise(1 << 20, 1 << 30, 1);
        let at = [70, 8000, long.len() - 5];
        let short: Vec<u64> = at.map(|at| long[at]).to_vec();
        let found: Vec<usize> = common_subsequence(&long, &short)
            .into_iter()
            .map(|(x, _)| x)
            .collect();
        assert_eq!(found, at);
    }

    /// The length of a longest common subsequence, by the textbook's table.
    fn textbook(a: &[u64], b: &[u64]) -> usize {
        let mut above = vec![0; b.len() + 1];
        for x in a {
            let mut row = vec![0; b.len() + 1];
            for (at, y) in b.iter().enumerate() {
                row[at + 1] = if x == y {
                    above[at] + 1
                } else {
                    above[at + 1].max(row[at])
                };
            }
            above = row;
        }
        above[b.len()]
    }

    #[test]
    fn a_common_subsequence_is_a_longest_one() {
        for round in 0..400 {
            let alphabet = [2, 5, 40][round as usize % 3];
            let lengths = noise(2, 140, round).into_iter().map(|half| half as usize);
            let rows: Vec<Vec<u64>> = lengths
                .enumerate()
                .map(|(at, length)| noise(length, alphabet, 2 * round + at as u64 + 1000))
                .collect();
            let (a, b) = (&rows[0], &rows[1]);
            let found = common_subsequence(a, b);
            assert_eq!(found.len(), textbook(a, b), "{a:?} {b:?}");
            assert!(found.iter().all(|&(x, y)| a[x] == b[y]));
            assert!(found.is_sorted_by(|left, right| left.0 < right.0 && left.1 < right.1));
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
