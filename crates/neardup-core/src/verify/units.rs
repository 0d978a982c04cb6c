/*! A text as the units by which two texts are aligned.

A unit is a **word** of a script with spaces between words, one character of another script, or a
**[number](crate::normalize::numbers)**. The parts of a date and of a time are one each, and a month is its
number; *may* is one only in dates. Punctuation, symbols and white space are not units.

Numbers are compared by value, in every notation. Case matters in other words only.
*/

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::cache::Cached;
use crate::characters::{self, is_of_word};
use crate::constants::NEGATIONS;
use crate::normalize::numbers::{Date, Kind, Number, Numbers};
use crate::normalize::{SENTENCE_END, SENTENCE_MARKS, is_letter_or_digit};
use crate::segment::is_spaced;

/// The last bit of a unit says whether it is a number.
const NUMBER: u64 = 1;
/// The bit before it says whether it is a [numeral](is_numeral).
const NUMERAL: u64 = 2;

/// The bit before that says whether it is a word of a script with spaces between words.
const WORD: u64 = 8;

/// Changes the month of a day where the other text has the day with both numbers turned.
const TURN: u64 = 4;

/// Whether a unit is a number.
pub(super) fn is_number(unit: u64) -> bool {
    unit & NUMBER == NUMBER
}

/// Whether a unit is a word of a script with spaces between words.
pub(super) fn is_word(unit: u64) -> bool {
    unit & WORD == WORD
}

/// Whether a unit is a number, or a numeral of a word: it says that numbers agree, never that they
/// differ.
pub(super) fn is_numeral(unit: u64) -> bool {
    unit & (NUMBER | NUMERAL) != 0
}

/// Whether a unit is a word that turns the meaning of a sentence.
pub(super) fn is_negation(unit: u64) -> bool {
    static UNITS: LazyLock<Vec<u64>> =
        LazyLock::new(|| NEGATIONS.iter().map(|known| word(known)).collect());
    UNITS.contains(&unit)
}

/// The units of one text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Hashes whose last bits have the kind of the unit.
    row: Box<[u64]>,
    /// Days whose month and day could each be the other.
    days: Box<[Day]>,
    /// The sentences that end with a mark, each from the last mark or white space on.
    sentences: Box<[(u32, u32)]>,
    letters: usize,
    is_spaced: bool,
}

impl Units {
    /// The units of a normalized text. O(n) for n characters; 8 bytes a unit.
    pub fn of(text: &str) -> Self {
        let mut row = Vec::with_capacity(text.len() / 3);
        let mut days = Vec::new();
        let (mut sentences, mut begin, mut read) = (Vec::new(), 0, 0);
        let mut sign = |signs: &str, at: usize| {
            let ends = signs.contains(SENTENCE_END) || signs.contains(SENTENCE_MARKS);
            if ends {
                sentences.push((begin, at as u32));
            }
            if ends || signs.contains(char::is_whitespace) {
                begin = at as u32;
            }
        };
        let letters = for_each_unit(text, |unit| {
            if read < unit.place.start {
                sign(&text[read..unit.place.start], row.len());
            }
            read = unit.place.end;
            days.extend(unit.date.and_then(|date| Day::of(date, row.len())));
            row.push(unit.hash);
        });
        sign(&text[read..], row.len());
        Units {
            row: row.into_boxed_slice(),
            days: days.into_boxed_slice(),
            sentences: sentences.into_boxed_slice(),
            letters,
            is_spaced: is_spaced(text),
        }
    }

    /// The units of two texts as they are compared with each other, so that 3月5日 is not 5月3日, and
    /// 03/05/2026 is both.
    pub(super) fn rows<'a>(a: &'a Units, b: &'a Units) -> [Cow<'a, [u64]>; 2] {
        let mut rows = [a, b].map(|text| Cow::Borrowed(&*text.row));
        let all = || a.days.iter().chain(&b.days);
        let parts = |order| -> FxHashSet<[u32; 2]> {
            let days = all().filter(|day| day.order == order);
            days.map(|day| day.parts).collect()
        };
        if all().all(|day| day.order == Order::Ascending) {
            return rows;
        }
        let (unsure, ascending) = (parts(Order::Unsure), parts(Order::Ascending));
        for (text, row) in [a, b].into_iter().zip(&mut rows) {
            let turned = text.days.iter().filter(|day| day.order == Order::Turned);
            for &Day {
                month, day, parts, ..
            } in turned
            {
                if unsure.contains(&parts) {
                    row.to_mut().swap(month as usize, day as usize);
                } else if ascending.contains(&parts) {
                    row.to_mut()[month as usize] ^= TURN;
                }
            }
        }
        rows
    }

    /// How many days have a month and a day that could each be the other.
    pub(super) fn days(&self) -> usize {
        self.days.len()
    }

    /// Where each unit of a normalized text is, in bytes.
    pub(super) fn places(text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for_each_unit(text, |unit| places.push(unit.place));
        places
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// True if the text has no letters and digits.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// Letters and digits of the text.
    pub(super) fn letters(&self) -> usize {
        self.letters
    }

    /// Whether the text is of a script with [spaces](is_spaced) between words.
    pub(super) fn is_spaced(&self) -> bool {
        self.is_spaced
    }

    pub(super) fn as_slice(&self) -> &[u64] {
        &self.row
    }

    /// The sentences that end with a mark, in order, as ranges of units.
    pub(super) fn sentences(&self) -> impl Iterator<Item = Range<usize>> {
        let all = self.sentences.iter();
        all.map(|&(begin, end)| begin as usize..end as usize)
    }

    #[cfg(test)]
    pub(super) fn from_row(row: Vec<u64>) -> Self {
        Units {
            letters: row.len(),
            row: row.into_boxed_slice(),
            days: Box::default(),
            sentences: Box::default(),
            is_spaced: false,
        }
    }
}

impl Cached for Units {
    const GROWTH: usize = 8;

    fn heap_bytes(&self) -> usize {
        8 * (self.row.len() + 2 * self.days.len() + self.sentences.len())
    }
}

/// Which of the numbers of a day is its month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The smaller one.
    Ascending,
    /// The greater one.
    Turned,
    /// The text leaves it open. The smaller one comes first.
    Unsure,
}

/// A day whose month and day could each be the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Day {
    /// The units of its month and of its day.
    month: u32,
    day: u32,
    /// Both numbers, the smaller one first.
    parts: [u32; 2],
    order: Order,
}

impl Day {
    /// The day of a date whose month is this unit.
    fn of((date, step): (Date, u32), month: usize) -> Option<Self> {
        let parts = [date.month.min(date.day), date.month.max(date.day)];
        let order = match date.month > date.day {
            _ if !date.is_sure => Order::Unsure,
            true => Order::Turned,
            false => Order::Ascending,
        };
        (parts[0] < parts[1] && parts[1] <= 12).then_some(Day {
            month: month as u32,
            day: month as u32 + step,
            parts,
            order,
        })
    }
}

/// Which unit of a date is its month, with the date and how many units behind it the day is.
type Month = Option<(usize, (Date, u32))>;

/// A unit of a text.
struct Unit {
    hash: u64,
    /// Where it is, in bytes.
    place: Range<usize>,
    /// The date of which it is the month, and how many units behind it the day is.
    date: Option<(Date, u32)>,
}

/// Calls `take` with each unit of a normalized text, in order; returns the number of letters and
/// digits. O(n) for n characters.
fn for_each_unit(text: &str, mut take: impl FnMut(Unit)) -> usize {
    let mut numbers = Numbers::new(text);
    let (mut letters, mut read) = (0, 0);
    while let Some(Number { kind, place }) = numbers.next() {
        letters += for_each_word(text, read..place.start, &mut take);
        read = place.end;
        let written = &text[place.clone()];
        letters += written.chars().filter(|&c| is_letter_or_digit(c)).count();
        let (hashes, date) = parts(kind, written, numbers.spelled());
        let mut ends = written.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut from = 0;
        // As if each part but the last were written with one character.
        for (part, &hash) in hashes.iter().enumerate() {
            let is_last = part + 1 == hashes.len();
            let to = ends.next().filter(|_| !is_last).unwrap_or(written.len());
            take(Unit {
                hash,
                place: place.start + from..place.start + to,
                date: date
                    .filter(|&(month, _)| month == part)
                    .map(|(_, date)| date),
            });
            from = to;
        }
    }
    letters + for_each_word(text, read..text.len(), &mut take)
}

/// The units of a number; for a date, also which one is the month, with the date and the way to the day.
fn parts(kind: Kind, written: &str, spelled: &str) -> (Vec<u64>, Month) {
    let units = match kind {
        Kind::Month(month) => vec![value_unit(month)],
        Kind::Word => vec![word(written)],
        Kind::Number => match large(spelled) {
            Some((value, scale)) => vec![number(&value), number(scale)],
            None => vec![number(spelled)],
        },
        Kind::Time => {
            let hour = spelled.strip_suffix('时');
            let values = hour.unwrap_or(spelled).split(':');
            let values = values.map(|part| value_unit(part.parse().unwrap_or(0)));
            values.chain(hour.map(|_| word("时"))).collect()
        }
        Kind::Date(date) => {
            let [month, day] = [date.month, date.day].map(value_unit);
            let year = date.year.map(value_unit);
            // As they are where only a part of a day is left.
            let is_marked = year.is_none() && spelled.ends_with('日');
            let marks = ["月", "日"].map(|mark| is_marked.then(|| word(mark)));
            let units = [year, Some(month), marks[0], Some(day), marks[1]];
            let (month, step) = (usize::from(year.is_some()), 1 + u32::from(is_marked));
            return (
                units.into_iter().flatten().collect(),
                Some((month, (date, step))),
            );
        }
    };
    (units, None)
}

/// A multiple of 10,000 as it is written with 万 or 亿, so that an edit of that leaves the same number.
fn large(spelled: &str) -> Option<(String, &'static str)> {
    let whole = spelled.strip_suffix("0000")?;
    if whole.is_empty() || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let Some(at) = whole.len().checked_sub(4).filter(|&at| at > 0) else {
        return Some((whole.to_owned(), "万"));
    };
    let value = format!("{}.{}", &whole[..at], &whole[at..]);
    let value = value.trim_end_matches('0').trim_end_matches('.');
    Some((value.to_owned(), "亿"))
}

/// The same for a part of a text without numbers.
fn for_each_word(text: &str, part: Range<usize>, take: &mut impl FnMut(Unit)) -> usize {
    let mut letters = 0;
    let mut rest = &text[part.clone()];
    while let Some(c) = rest.chars().next() {
        let begin = part.end - rest.len();
        let length = match is_of_word(c) {
            true => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            false => c.len_utf8(),
        };
        let written = &rest[..length];
        let count = written.chars().filter(|&c| is_letter_or_digit(c)).count();
        if count > 0 {
            let numeral = if characters::is(c, characters::NUMERAL) {
                NUMERAL
            } else {
                0
            };
            take(Unit {
                hash: word(written) | numeral,
                place: begin..begin + length,
                date: None,
            });
        }
        letters += count;
        rest = &rest[length..];
    }
    letters
}

fn word(word: &str) -> u64 {
    let is_word = if word.starts_with(is_of_word) {
        WORD
    } else {
        0
    };
    xxh3_64(word.as_bytes()) & !(NUMBER | NUMERAL | WORD) | is_word
}

fn number(value: &str) -> u64 {
    (xxh3_64(value.as_bytes()) & !WORD) | NUMBER
}

fn value_unit(value: u32) -> u64 {
    number(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<u64> {
        Units::of(text).as_slice().to_vec()
    }

    #[test]
    fn ways_of_writing_a_value_are_the_same_units() {
        for (a, b) in [
            ("十三人", "13人"),
            ("1,200吨", "1200吨"),
            ("Twenty SHIPS", "20 SHIPS"),
            ("on Dec 3", "on december 3"),
            ("jan", "JANUARY"),
            ("7.0", "7"),
            ("2026年3月5日", "2026-03-05"),
            ("3月5号", "三月五日"),
            ("2026-03-05", "5 March 2026"),
        ] {
            assert_eq!(of(a), of(b), "{a} {b}");
        }
        for (a, b) in [("march", "april"), ("ferry", "Ferry"), ("marc", "march")] {
            assert_ne!(of(a), of(b), "{a} {b}");
        }
    }

    #[test]
    fn number_words_have_values() {
        for (word, expected) in [
            ("june", true),
            ("Jun", true),
            ("may", false),
            ("eighteen", true),
            ("eighty", true),
            ("thirds", false),
            ("éa", false),
            ("百姓", false),
            ("一样", false),
        ] {
            assert_eq!(is_number(of(word)[0]), expected, "{word}");
        }
        assert!(!is_number(of(&"7".repeat(10_000))[0]));
    }

    #[test]
    fn ambiguous_day_and_month_equals_either_reading() {
        let same = |a: &str, b: &str| {
            let [a, b] = [a, b].map(Units::of);
            let [a, b] = Units::rows(&a, &b);
            a == b
        };
        let [march, may, unsure] = ["2026年3月5日", "2026年5月3日", "03/05/2026"];
        assert!(same(unsure, march) && same(may, unsure) && same("5/3/2026", unsure));
        assert!(
            !same(march, may) && !same(unsure, "2026年5月4日") && !same("13/5/2026", "5/12/2026")
        );
        assert!(same("3/13/2026", "13/3/2026"));
    }

    #[test]
    fn parts_of_a_date_have_places_of_their_own() {
        for text in [
            "于2026年3月5日开",
            "3月5日",
            "march 5",
            "2026-3-5",
            "on March 5th, 2026",
        ] {
            let places = Units::places(text);
            assert!(
                places
                    .iter()
                    .all(|place| place.start < place.end && text.get(place.clone()).is_some())
            );
            assert!(
                places.windows(2).all(|pair| pair[0].end <= pair[1].start),
                "{text}"
            );
        }
    }

    #[test]
    fn units_are_words_characters_and_numbers() {
        for (text, expected) in [
            ("", 0),
            ("，。!", 0),
            ("a ferry, late", 3),
            ("渡口 A3区", 5),
            ("渡口 ferry 12:30", 5),
        ] {
            assert_eq!(of(text).len(), expected, "{text}");
        }
        let numbers: Vec<bool> = of("第3天 a1b").into_iter().map(is_number).collect();
        assert_eq!(numbers, [false, true, false, false, true, false]);
    }
}
