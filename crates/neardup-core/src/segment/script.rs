/*! Units by script: shingles in scripts without spaces, words in scripts with spaces.

A character belongs to one of four classes:

- **dense**: a letter, digit or mark whose script is written without spaces
  between words (class [`DENSE`]); or one that several scripts share (Common
  or Inherited, letters and digits only) if its Script_Extensions name nothing
  but such scripts, like the prolonged sound mark of Kana;
- **wordy**: any other letter or digit;
- **attached**: any other mark; it has the class of the character before it, and
  is wordy after a separator;
- **separating**: all other characters.

Letters and digits are the characters with the property Alphabetic or a general
category N; marks those with a general category M. A maximal run of dense
characters yields its shingles of k characters, or itself if it is shorter; a
maximal run of wordy ones yields itself.
*/

use crate::characters::{DENSE, LETTER, MARK, classes};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Separating,
    Dense,
    Wordy,
    Attached,
}

#[inline]
fn class_of(c: char) -> Class {
    match classes(c) {
        class if class & DENSE != 0 => Class::Dense,
        class if class & MARK != 0 => Class::Attached,
        class if class & LETTER != 0 => Class::Wordy,
        _ => Class::Separating,
    }
}

/// Calls `take` with each unit of `text`, in order.
#[inline]
pub(super) fn for_each(text: &str, k: usize, mut take: impl FnMut(&str)) {
    // The current run: its class, its first byte, its length in
    // characters, and the first byte of its last shingle so far.
    let (mut run, mut begin, mut length, mut shingle) = (Class::Separating, 0, 0_usize, 0);
    for (at, c) in text.char_indices() {
        let class = match class_of(c) {
            Class::Attached if run == Class::Separating => Class::Wordy,
            Class::Attached => run,
            class => class,
        };
        if class != run {
            if run == Class::Wordy || (run == Class::Dense && length < k) {
                take(&text[begin..at]);
            }
            (run, begin, length, shingle) = (class, at, 0, at);
        }
        if class == Class::Dense {
            length += 1;
            if length >= k {
                take(&text[shingle..at + c.len_utf8()]);
                shingle += width(text.as_bytes()[shingle]);
            }
        }
    }
    if run == Class::Wordy || (run == Class::Dense && length < k) {
        take(&text[begin..]);
    }
}

/// The bytes of the character that begins with `lead`.
#[inline]
fn width(lead: u8) -> usize {
    match lead {
        0..=0x7F => 1,
        0x80..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0.. => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, k: usize) -> Vec<&str> {
        let mut units = Vec::new();
        let base = text.as_ptr() as usize;
        for_each(text, k, |unit| {
            let begin = unit.as_ptr() as usize - base;
            units.push(&text[begin..begin + unit.len()]);
        });
        units
    }

    #[test]
    fn scripts_side_by_side() {
        // (text, k, units)
        let table: [(&str, usize, &[&str]); 12] = [
            ("", 2, &[]),
            ("。，!  \u{0}", 2, &[]),
            ("山", 2, &["山"]),
            ("山水画", 2, &["山水", "水画"]),
            ("山水画", 3, &["山水画"]),
            ("山水画", 4, &["山水画"]),
            ("山-水画2025年展", 2, &["山", "水画", "2025", "年展"]),
            ("don't stop", 2, &["don", "t", "stop"]),
            ("コーヒー", 2, &["コー", "ーヒ", "ヒー"]),
            (
                "q\u{303}a か\u{3099}く",
                2,
                &["q\u{303}a", "か\u{3099}", "\u{3099}く"],
            ),
            ("\u{301}a", 2, &["\u{301}a"]),
            (
                "ไทย 𠀀𠀁𠀂 السلام",
                2,
                &["ไท", "ทย", "𠀀𠀁", "𠀁𠀂", "السلام"],
            ),
        ];
        for (text, k, expected) in table {
            assert_eq!(units(text, k), expected, "{text:?}, k = {k}");
        }
    }
}
