/*! The most that two texts can align, from the order in which they have the same rows of units.

Two texts with the same sentences in another order share nearly all shingles, and align over little of
their length. An alignment takes long to find that out. Here one pass over the second text is enough.

An [alignment](super::alignment) consists of stretches of at least [`ROW`] equal units, but for its begin
and its end. A row of [`ROW`] units that occurs once in the first text can be aligned with that place
only. So the second text falls into *segments*, each with its place in the first text. An alignment has at
most the segments of one chain that ascends in both texts, and the rows that recur in the first text.
*/

use super::alignment::Aligned;
use super::noise::Noise;
use super::units::Units;
use crate::constants::SHORTEST;
use crate::ids::DocId;

/// Units of a row: no stretch between two differences is shorter.
const ROW: usize = SHORTEST;

/// The most units that an alignment has more where the month and the day of a date change places: these
/// two, and shorter runs beside them.
const DAY: usize = 2 + 2 * (ROW - 1);

/// Shorter texts are aligned at once, which takes little longer than the bound.
const LONG: usize = 512;

/// Marks the place of a row that the text has several times.
const SEVERAL: u32 = 1 << 31;

/// No row.
const NONE: u32 = u32::MAX;

/// A part of the second text, and the place in the first text that has the same units.
#[derive(Clone, Copy, Debug)]
struct Segment {
    begin: u32,
    end: u32,
    /// Its units that are in no row which the first text has several times.
    weight: u32,
}

/// The rows of a text, with working memory; reusing it saves allocations.
#[derive(Debug, Default)]
pub(super) struct OrderBound {
    /// The number of the text.
    text: Option<DocId>,
    /// An open-addressed table of the first place of each row.
    places: Vec<u32>,
    /// How many units before each place are in rows that the text has several times.
    several: Vec<u32>,
    segments: Vec<Segment>,
    begins: Vec<u32>,
    chains: Vec<u32>,
}

impl OrderBound {
    /// Looks at the units of a text of this number. O(n) for n units, and nothing if it was the last one.
    fn look_at(&mut self, number: DocId, units: &[u64]) {
        if self.text == Some(number) {
            return;
        }
        self.text = Some(number);
        let rows = (units.len() + 1).saturating_sub(ROW);
        self.places.clear();
        self.places.resize((2 * rows).next_power_of_two(), NONE);
        self.several.clear();
        self.several.resize(units.len() + 1, 0);
        for at in 0..rows {
            let place = self.place_of(units, &units[at..at + ROW]);
            let first = &mut self.places[place];
            if *first == NONE {
                *first = at as u32;
                continue;
            }
            let begin = (*first & !SEVERAL) as usize;
            *first |= SEVERAL;
            for row in [begin, at] {
                self.several[row + 1..=row + ROW].fill(1);
            }
        }
        let mut sum = 0;
        for count in &mut self.several {
            sum += *count;
            *count = sum;
        }
    }

    /// The place in the table of a row, or the free one where it would be.
    fn place_of(&self, units: &[u64], row: &[u64]) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(row) as usize & mask;
        loop {
            let at = self.places[place];
            let is_row = |at: usize| units[at..at + ROW] == *row;
            if at == NONE || is_row((at & !SEVERAL) as usize) {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    /// The best alignment that the order of the shared rows allows; `number` is the first text's.
    pub(super) fn best(&mut self, number: DocId, a: &Units, b: &Units) -> Aligned {
        self.look_at(number, a.as_slice());
        let days = (a.days() + b.days()) * DAY;
        let equal = self.most_equal(a.as_slice(), b.as_slice()) + days;
        let equal = equal.min(a.len().min(b.len()));
        Aligned {
            a: a.len(),
            b: b.len(),
            equal,
            distance: a.len().max(b.len()) - equal,
            is_spaced: a.is_spaced() && b.is_spaced(),
            noise: Noise::best(a.len().max(b.len()), equal, ROW),
            ..Aligned::default()
        }
    }

    /// The most units of `b` that can be in stretches of an alignment with `a`, the text that was looked
    /// at last. O(n + s log s) for n units and s segments.
    fn most_equal(&mut self, a: &[u64], b: &[u64]) -> usize {
        let mut repeated = 0;
        self.segments.clear();
        let mut at = 0;
        while at + ROW <= b.len() {
            let first = self.places[self.place_of(a, &b[at..at + ROW])];
            if first == NONE {
                at += 1;
            } else if first & SEVERAL != 0 {
                repeated += ROW;
                at += 1;
            } else {
                let begin = first as usize;
                let both = a[begin..].iter().zip(&b[at..]);
                let length = both.take_while(|(x, y)| x == y).count();
                let end = begin + length;
                let several = (self.several[end] - self.several[begin]) as usize;
                repeated += several;
                self.segments.push(Segment {
                    begin: first,
                    end: end as u32,
                    weight: (length - several) as u32,
                });
                // Rows that begin in its last units go on elsewhere.
                at += length - (ROW - 1);
            }
        }
        // Shorter stretches are allowed at the begin and at the end.
        let ends = 2 * (ROW - 1);
        (self.heaviest_chain() + repeated + ends).min(a.len().min(b.len()))
    }

    /// The largest weight of a row of segments, in the order of the second text; each ends behind the
    /// begin of the one before. By a Fenwick tree of maxima over the begins.
    fn heaviest_chain(&mut self) -> usize {
        self.begins.clear();
        self.begins
            .extend(self.segments.iter().map(|one| one.begin));
        self.begins.sort_unstable();
        self.chains.clear();
        self.chains.resize(self.begins.len() + 1, 0);
        let mut heaviest = 0;
        for segment in &self.segments {
            let mut rank = self.begins.partition_point(|&begin| begin < segment.end);
            let mut before = 0;
            while rank > 0 {
                before = before.max(self.chains[rank]);
                rank &= rank - 1;
            }
            let weight = before + segment.weight;
            heaviest = heaviest.max(weight);
            let mut rank = 1 + self.begins.partition_point(|&begin| begin < segment.begin);
            while rank < self.chains.len() {
                self.chains[rank] = self.chains[rank].max(weight);
                rank += rank & rank.wrapping_neg();
            }
        }
        heaviest as usize
    }
}

/// Whether two texts are so long that the bound takes much less time than an alignment.
pub(super) fn is_long(a: &Units, b: &Units) -> bool {
    a.len().saturating_mul(b.len()) > LONG * LONG
}

/// A hash of a row; units are hashes themselves.
fn hash(row: &[u64]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let sum = row.iter().fold(0_u64, |sum, &unit| {
        (sum.rotate_left(23) ^ unit).wrapping_mul(FACTOR)
    });
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(a: &str, b: &str) -> usize {
        let [a, b] = [a, b].map(Units::of);
        let mut bound = OrderBound::default();
        bound.look_at(DocId(7), a.as_slice());
        let most = bound.most_equal(a.as_slice(), b.as_slice());
        let found = Aligned::of(&a, &b).equal;
        assert!(found <= most, "{found} {most}");
        most
    }

    fn sentence(number: u32) -> String {
        (0..10)
            .filter_map(|at| char::from_u32(0x4e00 + 10 * number + at))
            .collect()
    }

    fn text(order: impl IntoIterator<Item = u32>) -> String {
        order.into_iter().map(sentence).collect()
    }

    #[test]
    fn permuted_sentences_align_in_one_chain() {
        let in_order = text(0..40);
        assert_eq!(most(&in_order, &in_order), 400);
        // In reverse order one sentence is aligned, and perhaps a short stretch at both ends.
        assert_eq!(most(&in_order, &text((0..40).rev())), 14);
        // If two halves change places, one of them is aligned.
        assert_eq!(most(&in_order, &text((20..40).chain(0..20))), 204);
        assert_eq!(most(&in_order, &text(100..140)), 4);
        // A row that recurs in the first text may be aligned anywhere.
        assert_eq!(most(&text([1, 1, 2, 3]), &text([3, 2, 1])), 30);
        assert_eq!(most("", "一二三四"), 0);
    }

    #[test]
    fn no_alignment_has_more_equal_units() {
        // A small linear generator: three letters, so that rows recur, or many.
        let mut state = 1_u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for letters in [3, 30, 300] {
            for _ in 0..200 {
                let text: Vec<u32> = (0..300).map(|_| next(letters)).collect();
                let mut other = Vec::new();
                for _ in 0..next(12) {
                    let begin = next(300) as usize;
                    other.extend(&text[begin..300.min(begin + next(80) as usize)]);
                    other.extend((0..next(4)).map(|_| next(letters)));
                }
                let [a, b] = [text, other].map(|text| {
                    let all = text.iter().filter_map(|&at| char::from_u32(0x4e00 + at));
                    all.collect::<String>()
                });
                most(&a, &b);
                most(&b, &a);
            }
        }
    }
}
