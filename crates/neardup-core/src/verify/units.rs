/*! A text as the units by which two texts are aligned.

A unit is a **word** of a script with spaces between words, one character of another script, or a
**number**. Punctuation, symbols and white space are not units.

A number is a run of ASCII digits, with `.`, `,` or `:` between digits; a run of the Chinese
numerals 〇零一二两三四五六七八九十百千万; an English number word from *zero* to *twenty*; or the English name of a
month or its first three letters, except *may*, which is mostly a verb. Numbers are compared by
value: `1,200` is `1200`, 十三 and *thirteen* are `13`, 二〇二三 is `2023`. Beyond that they are compared
as they are written: `7.0` is not `7`, and a month is no numeral. Case matters in other words only.
*/

use std::ops::Range;
use std::sync::LazyLock;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::normalize::{SENTENCE_END, SENTENCE_MARKS, is_letter_or_digit};
use crate::segment::is_spaced;

/// The last bit of a unit says whether it is a number.
const NUMBER: u64 = 1;

/// The bit before it says whether it is a word of a script with spaces between words.
const WORD: u64 = 2;

const NUMBER_WORDS: [&str; 21] = [
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
    "twenty",
];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words that turn the meaning of a sentence, each one unit.
const NEGATIONS: [&str; 10] = [
    "不", "未", "没", "无", "非", "勿", "not", "no", "never", "without",
];

/// Whether a unit is a number.
pub(super) fn is_number(unit: u64) -> bool {
    unit & NUMBER == NUMBER
}

/// Whether a unit is a word of a script with spaces between words, and no number.
pub(super) fn is_word(unit: u64) -> bool {
    unit & (WORD | NUMBER) == WORD
}

/// Whether a unit is a word that turns the meaning of a sentence.
pub(super) fn is_negation(unit: u64) -> bool {
    static UNITS: LazyLock<Vec<u64>> =
        LazyLock::new(|| NEGATIONS.iter().map(|known| unit_of(known)).collect());
    UNITS.contains(&unit)
}

/// The units of one text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Hashes whose last bits say whether it is a number or a word.
    row: Box<[u64]>,
    /// The sentences that end with a mark, each from the last mark or white space on.
    sentences: Box<[(u32, u32)]>,
    letters: usize,
    is_spaced: bool,
}

impl Units {
    /// The units of a normalized text. O(n) for n characters; 8 bytes a unit.
    pub fn of(text: &str) -> Self {
        let mut row = Vec::with_capacity(text.len() / 3);
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
        let letters = for_each_unit(text, |unit, place| {
            if read < place.start {
                sign(&text[read..place.start], row.len());
            }
            read = place.end;
            row.push(unit);
        });
        sign(&text[read..], row.len());
        Units {
            row: row.into_boxed_slice(),
            sentences: sentences.into_boxed_slice(),
            letters,
            is_spaced: is_spaced(text),
        }
    }

    /// Where each unit of a normalized text is, in bytes.
    pub(super) fn places(text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for_each_unit(text, |_, place| places.push(place));
        places
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// The memory that they take.
    pub(super) fn heap_bytes(&self) -> usize {
        8 * (self.row.len() + self.sentences.len())
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
            sentences: Box::default(),
            is_spaced: false,
        }
    }
}

/// Calls `take` with each unit of a normalized text and its place in bytes, in order; returns the
/// number of letters and digits. O(n) for n characters.
fn for_each_unit(text: &str, mut take: impl FnMut(u64, Range<usize>)) -> usize {
    let mut value = String::new();
    let mut letters = 0;
    let letters_of = |text: &str| text.chars().filter(|&c| is_letter_or_digit(c)).count();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let begin = text.len() - rest.len();
        let mut take = |unit, length| take(unit, begin..begin + length);
        let length = if begins_number(c) {
            let length = read_number(rest, &mut value);
            take(number(&value), length);
            letters += letters_of(&rest[..length]);
            length
        } else if is_of_word(c) {
            let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            take(word(&rest[..length]), length);
            letters += letters_of(&rest[..length]);
            length
        } else {
            let length = c.len_utf8();
            if is_letter_or_digit(c) {
                take(character(&rest[..length]), length);
                letters += 1;
            }
            length
        };
        rest = &rest[length..];
    }
    letters
}

/// A character of a word. Letters from Thai on have no spaces between words or, as Korean, count
/// one by one all the same.
fn is_of_word(c: char) -> bool {
    c < '\u{E00}' && c.is_alphabetic()
}

fn word(word: &str) -> u64 {
    // Words of numbers and months are ASCII, and most words are longer or shorter than they.
    if (3..=9).contains(&word.len()) {
        let is_word = |known: &str| known.eq_ignore_ascii_case(word);
        if let Some(value) = NUMBER_WORDS.iter().position(|known| is_word(known)) {
            return number(&value.to_string());
        }
        let is_month = |known: &str| is_word(known) || known.get(..3).is_some_and(is_word);
        if let Some(month) = MONTHS.iter().position(|known| is_month(known)) {
            return xxh3_64_with_seed(&[month as u8], 1) | NUMBER;
        }
    }
    xxh3_64(word.as_bytes()) & !NUMBER | WORD
}

fn character(character: &str) -> u64 {
    xxh3_64(character.as_bytes()) & !(NUMBER | WORD)
}

/// The unit of a word or a character.
fn unit_of(text: &str) -> u64 {
    match text.starts_with(is_of_word) {
        true => word(text),
        false => character(text),
    }
}

fn number(value: &str) -> u64 {
    xxh3_64(value.as_bytes()) | NUMBER
}

/// What one character is in a Chinese numeral.
#[derive(Clone, Copy)]
enum Numeral {
    Digit(u8),
    Power(u64),
}

fn numeral(c: char) -> Option<Numeral> {
    // Nearly all characters of a Chinese text come here and are none.
    Some(match c {
        '〇' | '零' => Numeral::Digit(0),
        '一' => Numeral::Digit(1),
        '二' | '两' => Numeral::Digit(2),
        '三' => Numeral::Digit(3),
        '四' => Numeral::Digit(4),
        '五' => Numeral::Digit(5),
        '六' => Numeral::Digit(6),
        '七' => Numeral::Digit(7),
        '八' => Numeral::Digit(8),
        '九' => Numeral::Digit(9),
        '十' => Numeral::Power(10),
        '百' => Numeral::Power(100),
        '千' => Numeral::Power(1000),
        '万' => Numeral::Power(10_000),
        _ => return None,
    })
}

fn begins_number(c: char) -> bool {
    c.is_ascii_digit() || (c >= '〇' && numeral(c).is_some())
}

/// Reads the number at the start of `text` into `value` and returns its length
/// in bytes.
fn read_number(text: &str, value: &mut String) -> usize {
    value.clear();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        read_digits(text, value)
    } else {
        read_numerals(text, value)
    }
}

fn read_digits(text: &str, value: &mut String) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(b'0'..=b'9') => value.push(char::from(bytes[at])),
            Some(b',') if is_digit(at + 1) => {}
            Some(b'.' | b':') if is_digit(at + 1) => value.push(char::from(bytes[at])),
            _ => return at,
        }
        at += 1;
    }
}

fn read_numerals(text: &str, value: &mut String) -> usize {
    let mut length = 0;
    let mut powers = false;
    // Numbers beyond 64 bits stay at the largest: nobody writes them.
    let (mut sum, mut part, mut digit) = (0_u64, 0_u64, 0_u64);
    for c in text.chars() {
        match numeral(c) {
            Some(Numeral::Digit(next)) => {
                value.push(char::from(b'0' + next));
                digit = u64::from(next);
            }
            Some(Numeral::Power(10_000)) => {
                powers = true;
                let tens = (part + digit).max(1).saturating_mul(10_000);
                sum = sum.saturating_add(tens);
                (part, digit) = (0, 0);
            }
            Some(Numeral::Power(power)) => {
                powers = true;
                // 十三 means one ten and three.
                part = part.saturating_add(digit.max(1) * power);
                digit = 0;
            }
            None => break,
        }
        length += c.len_utf8();
    }
    // Without powers they are read one by one, as in years.
    if powers {
        *value = sum.saturating_add(part).saturating_add(digit).to_string();
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(begins_number) {
            let mut value = String::new();
            let length = read_number(&rest[at..], &mut value);
            rest = &rest[at + length..];
            found.push(value);
        }
        found
    }

    fn of(text: &str) -> Vec<u64> {
        Units::of(text).as_slice().to_vec()
    }

    #[test]
    fn values_are_what_the_number_says() {
        for (text, expected) in [
            ("", &[][..]),
            ("没有数", &[]),
            ("共1,200人", &["1200"]),
            ("3.50元", &["3.50"]),
            ("7:30至08:05", &["7:30", "08:05"]),
            ("第3.", &["3"]),
            ("1,,2", &["1", "2"]),
            ("1.2.3,4", &["1.2.34"]),
            ("十三", &["13"]),
            ("十", &["10"]),
            ("二十", &["20"]),
            ("两百五十", &["250"]),
            ("一千零五", &["1005"]),
            ("九千九百九十九", &["9999"]),
            ("三万五千", &["35000"]),
            ("二〇二三年", &["2023"]),
            ("〇五", &["05"]),
            ("3千", &["3", "1000"]),
            ("٣", &[]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_run_of_numerals_does_not_overflow() {
        assert_eq!(values(&"九千".repeat(10_000)), ["90000000"]);
        assert_eq!(values(&"九千万".repeat(10_000)), ["900000000000"]);
        assert_eq!(values("九万".repeat(9).as_str()), ["810000"]);
    }

    #[test]
    fn ways_of_writing_a_number_are_one_unit() {
        for (a, b) in [
            ("十三人", "13人"),
            ("二〇二三年", "2023年"),
            ("1,200吨", "1200吨"),
            ("eight ships", "8 ships"),
            ("Twenty SHIPS", "20 SHIPS"),
            ("十二万", "120,000"),
            ("on Dec 3", "on december 3"),
            ("jan", "JANUARY"),
        ] {
            assert_eq!(of(a), of(b), "{a} {b}");
        }
        for (a, b) in [
            ("march", "april"),
            ("june", "6"),
            ("7.0", "7"),
            ("ferry", "Ferry"),
            ("marc", "march"),
        ] {
            assert_ne!(of(a), of(b), "{a} {b}");
        }
    }

    #[test]
    fn words_that_are_numbers() {
        for (word, expected) in [
            ("june", true),
            ("Jun", true),
            ("may", false),
            ("eighteen", true),
            ("eighty", false),
            ("thirds", false),
            ("éa", false),
        ] {
            assert_eq!(is_number(of(word)[0]), expected, "{word}");
        }
    }

    #[test]
    fn a_text_has_as_many_units_as_it_says() {
        assert!(Units::of("，!").is_empty());
        assert_eq!(Units::of("渡口 ferry 12:30").len(), 4);
    }

    #[test]
    fn units_are_words_characters_and_numbers() {
        for (text, expected) in [
            ("", 0),
            ("，。!", 0),
            ("a ferry, late", 3),
            ("渡口 A3区", 5),
        ] {
            assert_eq!(of(text).len(), expected, "{text}");
        }
        let numbers: Vec<bool> = of("第3天 a1b").into_iter().map(is_number).collect();
        assert_eq!(numbers, [false, true, false, false, true, false]);
    }
}
