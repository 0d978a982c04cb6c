//! English words of numbers and months, and what stands behind a number: 3 million, 5 March 2026.

use super::dates::year_at;
use super::{Date, Kind, Number, Numbers, Value, separates};
use crate::characters::is_of_word;

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
/// Powers, in descending order.
const SCALES: [(&str, u32); 4] = [
    ("trillion", 12),
    ("billion", 9),
    ("million", 6),
    ("thousand", 3),
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Further abbreviations of months. The first three letters of a name are one too.
const SEPT: &str = "sept";
const MAY: u32 = 5;

fn place(list: &[&str], word: &str) -> Option<usize> {
    list.iter()
        .position(|known| known.eq_ignore_ascii_case(word))
}

fn month_of(word: &str) -> Option<u32> {
    if !(3..=9).contains(&word.len()) {
        return None;
    }
    let is_month = |name: &&str| {
        let is_short = name[..3].eq_ignore_ascii_case(word);
        is_short || name.eq_ignore_ascii_case(word)
    };
    let found = MONTHS.iter().position(is_month);
    let found = found.map(|month| month as u32 + 1);
    found.or_else(|| SEPT.eq_ignore_ascii_case(word).then_some(9))
}

/// The third letters and the lengths of words of numbers and months, as bits, by their first two letters.
static KNOWN: [(u32, u16); 1 << 10] = {
    let lists: [&[&str]; 4] = [&ONES, &TENS, &MONTHS, &[SEPT]];
    let mut known = [(0, 0); 1 << 10];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            let word = lists[list][at].as_bytes();
            let (thirds, lengths) = &mut known[pair(word[0], word[1])];
            *thirds |= 1 << (word[2] & 31);
            *lengths |= 1 << word.len();
            // Months may be cut to three letters.
            if list > 1 {
                *lengths |= 1 << 3;
            }
            at += 1;
        }
        list += 1;
    }
    known
};

/// The place of two letters in either case.
const fn pair(first: u8, second: u8) -> usize {
    (first as usize & 31) << 5 | (second as usize & 31)
}

/// Whether a word may be of a number or a month, by three of its letters and its length: most are not.
#[inline]
pub(super) fn may_begin(word: &[u8]) -> bool {
    match *word {
        [first, second, third, ..] if word.len() < 16 => {
            let (thirds, lengths) = KNOWN[pair(first, second)];
            thirds >> (third & 31) & 1 != 0 && lengths >> word.len() & 1 != 0
        }
        _ => false,
    }
}

impl Numbers<'_> {
    /// The number or month that begins with a word.
    pub(super) fn begin_word(&mut self, at: usize, end: usize) -> Option<Number> {
        let text = self.text;
        if !self.is_word(at, end) {
            return None;
        }
        if let Some(month) = month_of(&text[at..end]) {
            return self.month_first(at, end, month);
        }
        let (value, end) = self.words(at)?;
        self.spelled.clear();
        if let Some(found) = self.day_first(at, value, end) {
            return Some(found);
        }
        Some(self.plain(at, value, end))
    }

    /// The number that begins with digits, by the words behind it.
    pub(super) fn with_words(&mut self, at: usize, value: Value, end: usize) -> Number {
        if let Some(found) = self.day_first(at, value, end) {
            return found;
        }
        if let Some((word, after)) = self.word_after(end)
            && let Some(&(_, power)) = SCALES
                .iter()
                .find(|(name, _)| word.eq_ignore_ascii_case(name))
            && let Some(value) = value.times(power)
        {
            return self.plain(at, value, after);
        }
        self.plain(at, value, end)
    }

    fn month_first(&mut self, at: usize, end: usize, month: u32) -> Option<Number> {
        self.spelled.clear();
        let day = self.after_signs(end).and_then(|begin| self.day(begin));
        let Some((day, after)) = day else {
            if month == MAY {
                return None;
            }
            self.spelled.push_str(MONTHS[month as usize - 1]);
            return Some(Number {
                kind: Kind::Month(month),
                place: at..end,
            });
        };
        Some(self.with_year(at, month, day, after))
    }

    fn day_first(&mut self, at: usize, value: Value, end: usize) -> Option<Number> {
        let day = value.within(1..=31)?;
        let mut begin = self.after_signs(self.after_ordinal(end))?;
        let mut after = self.end_of_word(begin);
        if &self.text[begin..after] == "of" {
            begin = self.after_signs(after)?;
            after = self.end_of_word(begin);
        }
        let is_word = self.is_word_end(after);
        let month = month_of(&self.text[begin..after]).filter(|_| is_word)?;
        Some(self.with_year(at, month, day, after))
    }

    /// The day of a month, written in digits or words.
    fn day(&self, at: usize) -> Option<(u32, usize)> {
        if !self.text[at..].starts_with(|c: char| c.is_ascii_digit()) {
            let is_word = self.text[at..].starts_with(|c: char| c.is_ascii_alphabetic());
            let (value, end) = self.words(at).filter(|_| is_word)?;
            return Some((value.within(1..=31)?, end));
        }
        let end = self.end_of_run(at);
        let value = super::decimal(&self.text[at..end])?;
        let is_small = end - at <= 2;
        let day = value.within(1..=31).filter(|_| is_small)?;
        Some((day, self.after_ordinal(end)))
    }

    fn with_year(&mut self, at: usize, month: u32, day: u32, end: usize) -> Number {
        let year = self
            .after_signs(end)
            .and_then(|begin| year_at(self.text, begin));
        let date = Date {
            year: year.map(|(year, _)| year),
            month,
            day,
            is_sure: true,
        };
        if year.is_none() {
            self.spelled.push_str(MONTHS[month as usize - 1]);
            self.spelled.push(super::WORD_END);
            Value::whole(u128::from(day)).spell(&mut self.spelled);
            return Number {
                kind: Kind::Date(date),
                place: at..end,
            };
        }
        self.dated(date, at..year.map_or(end, |(_, end)| end))
    }

    /// The longest number of words from a place on: two hundred and five thousand.
    fn words(&self, at: usize) -> Option<(Value, usize)> {
        let (mut value, mut end) = self.hundreds(at)?;
        let (mut total, mut least) = (0, u32::MAX);
        while let Some((word, after)) = self.word_after(end)
            && let Some(&(_, power)) = SCALES
                .iter()
                .find(|(name, _)| word.eq_ignore_ascii_case(name))
            && power < least
            && value > 0
        {
            (total, least, end) = (total + value * 10_u128.pow(power), power, after);
            value = 0;
            if let Some((more, after)) = self.more(end, Self::hundreds) {
                (value, end) = (more, after);
            }
        }
        Some((Value::whole(total + value), end))
    }

    /// The number after a power, with or without *and* before it.
    fn more(
        &self,
        end: usize,
        read: impl Fn(&Self, usize) -> Option<(u128, usize)>,
    ) -> Option<(u128, usize)> {
        let after = match self.word_after(end) {
            Some((word, after)) if word.eq_ignore_ascii_case("and") => after,
            _ => end,
        };
        let begin = self.after_separator(after);
        read(self, begin).filter(|&(value, _)| begin > after && value > 0)
    }

    fn hundreds(&self, at: usize) -> Option<(u128, usize)> {
        let (value, end) = self.below_hundred(at)?;
        match self.word_after(end) {
            Some((word, after)) if value > 0 && word.eq_ignore_ascii_case("hundred") => {
                let more = self.more(after, Self::below_hundred);
                let (more, end) = more.unwrap_or((0, after));
                Some((100 * value + more, end))
            }
            _ => Some((value, end)),
        }
    }

    fn below_hundred(&self, at: usize) -> Option<(u128, usize)> {
        let end = self.end_of_word(at);
        let word = &self.text[at..end];
        if !(3..=9).contains(&word.len()) || !self.is_word(at, end) {
            return None;
        }
        if let Some(value) = place(&ONES, word) {
            return Some((value as u128, end));
        }
        let tens = 10 * (place(&TENS, word)? as u128 + 2);
        let one = self.word_after(end).and_then(|(word, after)| {
            let one = place(&ONES[..10], word).filter(|&one| one > 0)?;
            Some((tens + one as u128, after))
        });
        one.or(Some((tens, end)))
    }

    /// The word behind one separator, and its end.
    fn word_after(&self, at: usize) -> Option<(&str, usize)> {
        let begin = self.after_separator(at);
        let end = self.end_of_word(begin);
        (begin > at && end > begin && self.is_word_end(end)).then(|| (&self.text[begin..end], end))
    }

    fn after_separator(&self, at: usize) -> usize {
        let separator = self.text[at..].chars().next().filter(|&c| separates(c));
        at + separator.map_or(0, char::len_utf8)
    }

    /// Behind one or two signs between the parts of a date.
    pub(super) fn after_signs(&self, at: usize) -> Option<usize> {
        let is_sign = |c: &char| separates(*c) || matches!(c, ',' | '.' | '/');
        let signs = self.text[at..].chars().take_while(is_sign).take(2).count();
        (signs > 0).then_some(at + signs)
    }

    /// Behind the ending of an ordinal.
    fn after_ordinal(&self, at: usize) -> usize {
        let end = self.end_of_word(at);
        let is_ordinal = ["st", "nd", "rd", "th"].iter();
        let mut is_ordinal = is_ordinal.map(|known| self.text[at..end].eq_ignore_ascii_case(known));
        if is_ordinal.any(|is| is) && self.is_word_end(end) {
            end
        } else {
            at
        }
    }

    pub(super) fn is_word(&self, at: usize, end: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        !before.is_some_and(is_of_word) && self.is_word_end(end)
    }

    pub(super) fn is_word_end(&self, end: usize) -> bool {
        !self.text[end..].chars().next().is_some_and(is_of_word)
    }
}
