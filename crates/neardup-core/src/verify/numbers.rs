/*! The numbers of a text, and whether two texts contradict each other in them.

Two bulletins of one form share nearly all of their characters and say different
things: other scores, other degrees, other dates. What tells them apart from two
versions of one text are their numbers, each with its *unit*, the character
behind it: `13度` against `15度` is a difference, `13度` beside `3人` is none.

A **number** is a run of ASCII digits, with `.`, `,` or `:` between digits, or a
run of the Chinese numerals 〇零一二两三四五六七八九十百千. Its value is what it
says: `1,200` is `1200`, 十三 is `13`, 二〇二三 is `2023`. Else a value is compared
as it is written, so `7.0` is not `7`. Its unit is the next character that is not
white space; the last number of a text may have none.

O(n) for n characters and O(m log m) for its m numbers, 8 bytes each; comparing
two texts is one merge.
*/

use xxhash_rust::xxh3::xxh3_64;

/// Bits of an entry that hold the value's hash; the unit is above them.
///
/// A code point takes 21 bits, so 43 are left. Two values of one unit meet once
/// in 10^13 pairs.
const VALUE_BITS: u32 = 43;

/// Stands for no unit, since no character has this code point.
const NO_UNIT: u64 = 0x11_0000;

/// The numbers of one text with their units, each as often as it occurs.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::Numbers;
///
/// let a = Numbers::of("十三度，3人"); // 13 度, 3 人
/// let b = Numbers::of("15度，3人"); // 15 度, 3 人
/// let agreement = a.compare(&b);
/// assert_eq!((agreement.agree, agreement.differ), (1, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Unit above, hash of the value below; ascending.
    entries: Box<[u64]>,
}

/// How the numbers of two texts meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Numbers of the same value and unit in both.
    pub agree: usize,
    /// Numbers of the same unit and another value: those left over in the text
    /// that has fewer of them left.
    pub differ: usize,
}

impl Numbers {
    /// Collects the numbers of `text`.
    pub fn of(text: &str) -> Self {
        let mut entries = Vec::new();
        let mut value = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(begins_number) {
            rest = &rest[at..];
            let length = read(rest, &mut value);
            rest = &rest[length..];
            let unit = rest.chars().find(|c| !c.is_whitespace());
            let unit = unit.map_or(NO_UNIT, u64::from);
            let hash = xxh3_64(value.as_bytes()) >> (u64::BITS - VALUE_BITS);
            entries.push(unit << VALUE_BITS | hash);
        }
        entries.sort_unstable();
        Numbers {
            entries: entries.into_boxed_slice(),
        }
    }

    /// How many numbers there are, repeats included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if the text has no number.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts the numbers that agree and those that differ.
    pub fn compare(&self, other: &Numbers) -> Agreement {
        let (mut a, mut b) = (&*self.entries, &*other.entries);
        let mut found = Agreement::default();
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            let (x, y) = (x >> VALUE_BITS, y >> VALUE_BITS);
            if x != y {
                let behind = if x < y { &mut a } else { &mut b };
                *behind = &behind[1..];
                continue;
            }
            let (in_a, in_b) = (of_unit(&mut a, x), of_unit(&mut b, x));
            let agree = in_both(in_a, in_b);
            found.agree += agree;
            found.differ += in_a.len().min(in_b.len()) - agree;
        }
        found
    }
}

impl Agreement {
    /// Whether the numbers that differ are too many for two versions of one
    /// text: differ / (agree + differ) > 0.15 + 0.5 (1 - C).
    ///
    /// C is `common / smaller`, the share of the smaller text's shingles that
    /// the other has too. An edit that replaces passages takes numbers with it,
    /// so the less two texts share, the more may differ.
    pub fn contradicts(self, common: usize, smaller: usize) -> bool {
        // Times 20 · smaller · all; 128 bits, since these are three lengths.
        let [differ, all] = [self.differ, self.agree + self.differ].map(|n| n as u128);
        let (common, smaller) = match smaller {
            0 => (0, 1),
            _ => (common as u128, smaller as u128),
        };
        20 * smaller * differ > all * (3 * smaller + 10 * (smaller - common))
    }

    /// Whether they are too many however much the texts share otherwise.
    pub(super) fn contradicts_anyway(self) -> bool {
        self.contradicts(0, 1)
    }
}

/// Splits off the leading entries of one unit.
fn of_unit<'a>(entries: &mut &'a [u64], unit: u64) -> &'a [u64] {
    let end = entries
        .iter()
        .position(|entry| entry >> VALUE_BITS != unit)
        .unwrap_or(entries.len());
    let (these, rest) = entries.split_at(end);
    *entries = rest;
    these
}

/// The size of the intersection of two sorted multisets.
fn in_both(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
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
        _ => return None,
    })
}

fn begins_number(c: char) -> bool {
    c.is_ascii_digit() || (c >= '〇' && numeral(c).is_some())
}

/// Reads the number at the start of `text` into `value` and returns its length
/// in bytes.
fn read(text: &str, value: &mut String) -> usize {
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
    // A text has fewer characters than 2^54, so the sum stays in 64 bits.
    let (mut sum, mut digit) = (0_u64, 0_u64);
    for c in text.chars() {
        match numeral(c) {
            Some(Numeral::Digit(next)) => {
                value.push(char::from(b'0' + next));
                digit = u64::from(next);
            }
            Some(Numeral::Power(power)) => {
                powers = true;
                // 十三 means one ten and three.
                sum += digit.max(1) * power;
                digit = 0;
            }
            None => break,
        }
        length += c.len_utf8();
    }
    // Without powers they are read one by one, as in years.
    if powers {
        *value = (sum + digit).to_string();
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
            let length = read(&rest[at..], &mut value);
            rest = &rest[at + length..];
            found.push(value);
        }
        found
    }

    fn agreement(a: &str, b: &str) -> (usize, usize) {
        let found = Numbers::of(a).compare(&Numbers::of(b));
        let back = Numbers::of(b).compare(&Numbers::of(a));
        assert_eq!(found, back);
        (found.agree, found.differ)
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
    }

    #[test]
    fn both_ways_of_writing_agree() {
        assert_eq!(agreement("十三人", "13人"), (1, 0));
        assert_eq!(agreement("二〇二三年", "2023年"), (1, 0));
        assert_eq!(agreement("1,200吨", "1200吨"), (1, 0));
    }

    #[test]
    fn units_decide_what_is_compared() {
        assert_eq!(agreement("13度", "15度"), (0, 1));
        assert_eq!(agreement("13度", "15人"), (0, 0));
        assert_eq!(agreement("13 度", "13度"), (1, 0));
        assert_eq!(agreement("共13", "共13 "), (1, 0));
        assert_eq!(agreement("共13", "共14"), (0, 1));
        assert_eq!(agreement("共13", "共13\u{0}"), (0, 0));
    }

    #[test]
    fn numbers_count_as_often_as_they_occur() {
        assert_eq!(agreement("1a1a2a", "1a3a"), (1, 1));
        assert_eq!(agreement("1a1a1a", "1a1a"), (2, 0));
        assert_eq!(agreement("1a2a5b", "3a4a6a5b"), (1, 2));
    }

    #[test]
    fn the_bound_itself_is_no_contradiction() {
        // C = 1: more than 3 of 20 differ.
        let of_twenty = |differ| Agreement {
            agree: 20 - differ,
            differ,
        };
        assert!(!of_twenty(3).contradicts(50, 50));
        assert!(of_twenty(4).contradicts(50, 50));
        // C = 1/2: more than 8 of 20.
        assert!(!of_twenty(8).contradicts(25, 50));
        assert!(of_twenty(9).contradicts(25, 50));
        assert!(of_twenty(8).contradicts(26, 50));
        // C = 0: more than 13 of 20.
        assert!(!of_twenty(13).contradicts_anyway());
        assert!(of_twenty(14).contradicts_anyway());
    }

    #[test]
    fn without_a_difference_there_is_no_contradiction() {
        for agree in [0, 1, 9] {
            let found = Agreement { agree, differ: 0 };
            assert!(!found.contradicts(1, 1) && !found.contradicts(0, 0));
        }
    }
}
