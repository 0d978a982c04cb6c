/*! Numbers, dates and times of a normalized text, each with its value and one spelling of it.

[`Numbers`] is the only place that knows how a value can be written. The stage normalize writes
every value as it [spells](Numbers::spelled) it, so that 三百二十五, ０３２５ and 325 are one text; the
verdict asks it which words are numbers.

| kind | written | spelled |
|---|---|---|
| number | 三百二十五, 1,200, 1.20, 007, 12000万, 3 million, twenty-five | 325, 1200, 1.2, 7, 120000000, 3000000, 25 |
| date | 2026年3月5日, 2026-03-05, 2026/3/5, 5 March 2026, March 5th, 2026 | 2026-3-5 |
| day of a year | 03月05号, Mar. 5 | 3月5日, march 5 |
| time | 09:05, 9时05分, 午前9时5分, 9:05 am; 9:05 pm; 下午3点 | 9:05; 21:05; 15时 |
| month | Dec | december |

A date whose month and day could each be the other has both in ascending order, and a sign behind the
year where that is not their order: [`DAY_FIRST`], or [`UNSURE`] if the text does not say which one is
the month (03/05/2026). Shingles do not see the signs, verdicts do.

A run of numerals is read as long as it makes sense: 三四个 is 3-4个. Numerals that mean no number stay:
see [`numerals`]. Spelling a spelled text changes nothing in the cases that the tests list. Ends of sentences
inside a number do not count. Time is linear, and no number is longer than [`LONGEST`].
*/

mod dates;
pub(super) mod digits;
mod english;
mod moments;
mod numerals;
mod step;

use std::fmt::Write;
use std::ops::Range;

use super::{SENTENCE_END, WORD_END};
use crate::characters::{NUMERAL, ascii, classes_of_three};
pub(super) use step::NumberStep;

/// Follows the year of a date whose day is spelled before its month: a control character, no feature.
pub(super) const DAY_FIRST: char = '\u{1D}';
/// The same if the text does not say which of the two is the month.
pub(super) const UNSURE: char = '\u{1C}';

/// The most bytes of digits and signs that are a number. Longer ones are words.
const LONGEST: usize = 40;

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value, or digits with signs between them that have none, such as 1.2.3.
    Number,
    /// The name of a month.
    Month(u32),
    Date(Date),
    Time,
    /// So many digits that they are a word.
    Word,
}

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: Option<u32>,
    /// If the date is not sure, the smaller one of the two.
    pub(crate) month: u32,
    pub(crate) day: u32,
    /// Whether the text says which one is the month.
    pub(crate) is_sure: bool,
}

/// A number of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) kind: Kind,
    /// Where it is, in bytes.
    pub(crate) place: Range<usize>,
}

/// Finds the numbers of a text, in order.
pub(crate) struct Numbers<'a> {
    text: &'a str,
    /// Where the search goes on.
    at: usize,
    /// Where the last number ends.
    last: usize,
    /// The last number, as it is spelled.
    spelled: String,
}

/// Parts of fixed size after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    /// In units of 10^-`places`.
    units: u128,
    places: u32,
}

impl Value {
    fn whole(units: u128) -> Self {
        Value { units, places: 0 }
    }

    /// The value as a small integer in a range, for dates and times.
    fn within(self, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        let value = u32::try_from(self.units).ok()?;
        (self.places == 0 && range.contains(&value)).then_some(value)
    }

    fn times(self, power: u32) -> Option<Self> {
        let units = self.units.checked_mul(10_u128.checked_pow(power)?)?;
        Some(Value { units, ..self })
    }

    fn spell(self, spelled: &mut String) {
        if let (0, Ok(units)) = (self.places, u64::try_from(self.units)) {
            let _ = write!(spelled, "{units}");
            return;
        }
        let one = 10_u128.pow(self.places);
        let _ = write!(spelled, "{}", self.units / one);
        let part = self.units % one;
        if part != 0 {
            let _ = write!(spelled, ".{part:0>width$}", width = self.places as usize);
            spelled.truncate(spelled.trim_end_matches('0').len());
        }
    }
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Numbers {
            text,
            at: 0,
            last: 0,
            spelled: String::new(),
        }
    }

    /// The last number, as the stage normalize writes it.
    pub(crate) fn spelled(&self) -> &str {
        &self.spelled
    }

    /// Goes on behind a place, which is not before the last number's end.
    fn go_on(&mut self, at: usize) {
        (self.at, self.last) = (at, at);
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> Option<Number> {
        loop {
            let (at, byte) = self.next_begin()?;
            let found = match byte {
                b'0'..=b'9' => self.begin_digit(at),
                0..=0x7F => {
                    self.at = self.end_of_word(at);
                    self.begin_word(at, self.at)
                }
                _ => {
                    self.at = at + 3;
                    self.begin_numeral(at)
                }
            };
            if let Some(found) = found {
                (self.at, self.last) = (found.place.end, found.place.end);
                return Some(found);
            }
        }
    }

    /// The next digit, word of ASCII that may be of a number, or numeral: its place and its first byte.
    fn next_begin(&self) -> Option<(usize, u8)> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while let Some(&byte) = bytes.get(at) {
            at += match byte {
                // Most characters of a Chinese text come here.
                0xE3..=0xE9 => {
                    if classes_of_three([byte, bytes[at + 1], bytes[at + 2]]) & NUMERAL != 0 {
                        return Some((at, byte));
                    }
                    3
                }
                0xE0..=0xEF => 3,
                0x80..=0xDF => 2,
                0xF0.. => 4,
                b'0'..=b'9' => return Some((at, byte)),
                // Most words of an English text come here.
                _ if byte.is_ascii_alphabetic() => {
                    let (length, _) = ascii::letters(&bytes[at..]);
                    if english::may_begin(&bytes[at..at + length]) {
                        return Some((at, byte));
                    }
                    length
                }
                _ => 1,
            };
        }
        None
    }

    /// A number that begins with a digit.
    fn begin_digit(&mut self, at: usize) -> Option<Number> {
        self.spelled.clear();
        let end = self.end_of_run(at);
        let run = &self.text[at..end];
        if run.len() > LONGEST {
            self.spelled.push_str(run);
            return Some(Number {
                kind: Kind::Word,
                place: at..end,
            });
        }
        if let Some((date, end)) = dates::numeric(self.text, at) {
            return Some(self.dated(date, at..end));
        }
        if run.contains(':')
            && let Some(found) = self.clock(at, end)
        {
            return Some(found);
        }
        let Some(value) = decimal(run) else {
            self.spelled.push_str(run);
            return Some(self.number(at, end));
        };
        match self.peek(end) {
            Some((c, _)) if numerals::of(c).is_some() || dates::is_unit(c) => {
                let (value, end) = self.numeral(at).unwrap_or((value, end));
                Some(self.with_units(at, value, end))
            }
            Some(_) => Some(self.with_words(at, value, end)),
            None => Some(self.plain(at, value, end)),
        }
    }

    /// A number that begins with a numeral.
    fn begin_numeral(&mut self, at: usize) -> Option<Number> {
        let (value, end) = self.lone(at).unwrap_or_else(|| self.numeral(at))?;
        self.spelled.clear();
        Some(self.with_units(at, value, end))
    }

    fn plain(&mut self, at: usize, value: Value, end: usize) -> Number {
        let written = &self.text[at..end];
        let is_spelled = !written.starts_with('0') && written.bytes().all(|c| c.is_ascii_digit());
        if is_spelled {
            self.spelled.push_str(written);
        } else {
            value.spell(&mut self.spelled);
        }
        self.number(at, end)
    }

    fn number(&self, at: usize, end: usize) -> Number {
        Number {
            kind: Kind::Number,
            place: at..end,
        }
    }

    /// The character at a place and its end; ends of sentences do not count.
    #[inline]
    fn peek(&self, at: usize) -> Option<(char, usize)> {
        let mut rest = self.text[at..].char_indices();
        let (begin, c) = rest.find(|&(_, c)| c != SENTENCE_END)?;
        Some((c, at + begin + c.len_utf8()))
    }

    /// The character before a place and its begin.
    fn peek_back(&self, at: usize) -> Option<(char, usize)> {
        let mut before = self.text[..at].char_indices().rev();
        let (begin, c) = before.find(|&(_, c)| c != SENTENCE_END)?;
        Some((c, begin))
    }

    /// The end of digits with `.`, `,` or `:` between them.
    fn end_of_run(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut end = at;
        while is_digit(end)
            || matches!(bytes.get(end), Some(b'.' | b',' | b':')) && is_digit(end + 1)
        {
            end += 1;
        }
        end
    }

    fn end_of_word(&self, at: usize) -> usize {
        at + ascii::letters(&self.text.as_bytes()[at..]).0
    }
}

/// The value of digits with separated thousands and with decimals.
fn decimal(run: &str) -> Option<Value> {
    let (whole, part) = run.split_once('.').unwrap_or((run, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = |whole: &str| {
        let mut groups = whole.split(',');
        let is_first = groups
            .next()
            .is_some_and(|first| (1..4).contains(&first.len()));
        is_first && groups.all(|group| group.len() == 3)
    };
    if !is_number(part) || whole.contains(':') || whole.contains(',') && !is_grouped(whole) {
        return None;
    }
    let part = part.trim_end_matches('0');
    let mut digits = whole
        .bytes()
        .chain(part.bytes())
        .filter(|&byte| byte != b',');
    let units = digits.try_fold(0_u128, |value, digit| {
        value.checked_mul(10)?.checked_add(u128::from(digit - b'0'))
    })?;
    Some(Value {
        units,
        places: part.len() as u32,
    })
}

/// Whether a character stands between two words, or two parts of a date.
fn separates(c: char) -> bool {
    matches!(c, WORD_END | ' ' | '-')
}

#[cfg(test)]
mod tests {
    use super::super::rewritten::Rewritten;
    use super::super::{Ignored, Settings};
    use super::*;

    fn spelled(text: &str) -> String {
        let settings = Settings {
            spell_numbers: true,
            ..Settings::default()
        };
        after(&settings, text)
    }

    fn after(settings: &Settings, text: &str) -> String {
        let rewritten = NumberStep::new(settings).run(text, true);
        rewritten.map_or(text.to_owned(), Rewritten::into_text)
    }

    #[test]
    fn each_notation_is_spelled_by_its_value() {
        let table = include_str!("spellings.txt").lines();
        for line in table.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (expected, notations) = line.split_once(" = ").expect(line);
            let marked = |text: &str| {
                let signs = [
                    ('␟', WORD_END),
                    ('␞', SENTENCE_END),
                    ('⊕', DAY_FIRST),
                    ('⊖', UNSURE),
                ];
                let sign = |c| {
                    signs
                        .iter()
                        .find(|sign| sign.0 == c)
                        .map_or(c, |sign| sign.1)
                };
                text.chars().map(sign).collect::<String>()
            };
            let expected = marked(expected);
            for notation in notations.split(" | ") {
                let found = spelled(&marked(notation));
                assert_eq!(found, expected, "{notation}");
                assert_eq!(spelled(&found), expected, "{notation}, spelled twice");
            }
        }
    }

    #[test]
    fn omitted_numbers_and_dates_by_example() {
        for (kinds, text, expected) in [
            (
                "numbers",
                "第三章 共1,200人，十三 of 3.5万",
                "第章 共人， of",
            ),
            (
                "numbers",
                "一样 万一 一个 node17 10.0.0.1:80 end",
                "一样 万一 个 node end",
            ),
            ("numbers", "a1b, 1a", "a b, a"),
            (
                "numbers",
                "in march 12 of 5 may 2026, three ships",
                "in of ships",
            ),
            ("numbers", "9:05 pm and 12 to 25 x", "and to x"),
            (
                "numbers",
                "下一步 五星红旗 一枕黄粱 周三 one-sided no one twelve 三人 二十",
                "下一步 五星红旗 一枕黄粱 周三 one-sided no one 人",
            ),
            (
                "dates",
                "两点一线 四时之春 9时 两点半",
                "两点一线 四时之春 9时",
            ),
            ("dates", "3月5日9时到 上午九点到 9点整到", "到 到 到"),
            ("dates", "2026-03-05T09:05:01.5Z up", "up"),
            ("dates", "于2026年3月5日 9:05开", "于开"),
            ("dates", "三月五日上午九时三十分开会", "开会"),
            ("dates", "二〇二六年三月 5日 中午12时 晚间8点半x", "x"),
            ("dates", "Thu Mar  5 12:30:01 2026 x", "x"),
            ("dates", "Thursday, 5 March 2026 at 9:05:00 +0800 x", "at x"),
            (
                "dates",
                "On March 5th, 2026 and 5 March 2026, 9:05 pm.",
                "On and .",
            ),
            ("dates", "up since 9:05 2000 times", "up since 2000 times"),
            (
                "dates",
                "may 17 17/03/2026 95分 5号线 marching 5 monday",
                "95分 5号线 marching 5 monday",
            ),
            (
                "dates,numbers",
                "Dec 3, 9:05 job 17 of 20 done",
                "job of done",
            ),
        ] {
            let kinds: Vec<String> = kinds.split(',').map(String::from).collect();
            let settings = Settings {
                ignore: Ignored::try_from(kinds.clone()).unwrap(),
                ..Settings::default()
            };
            assert_eq!(after(&settings, text), expected, "{kinds:?} {text}");
        }
    }

    #[test]
    fn numbers_of_any_length_end() {
        for part in [
            "7", "九", "九千", "万", "亿", "二〇", "1,", "1.", "1:2", "2026-3-5", "march 5 ",
            "one ",
        ] {
            let text = part.repeat(10_000);
            assert!(spelled(&text).len() < 4 * text.len());
        }
        let digits = "7".repeat(10_000);
        assert_eq!(spelled(&digits), digits);
        assert_eq!(spelled(&format!("三{digits}")), format!("3-{digits}"));
    }
}
