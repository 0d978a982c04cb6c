/*! Units by script: shingles in scripts without spaces, words in scripts with spaces.

A character belongs to one of four classes:

- **dense**: a letter, digit or mark whose script is written without spaces
  between words (the list [`DENSE`]); or one that several scripts share (Common
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

The class is one byte for each character of the Basic Multilingual Plane, filled
when first needed; the unified ideographs and ASCII do not use it.
*/

use std::sync::OnceLock;

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

/// Scripts written without spaces between words. Hangul has spaces, but they
/// are used so freely that shingles compare it better.
const DENSE: [Script; 23] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Hangul,
    Script::Bopomofo,
    Script::Yi,
    Script::Nushu,
    Script::Tangut,
    Script::Khitan_Small_Script,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
    Script::Tibetan,
    Script::Javanese,
    Script::Balinese,
    Script::Tai_Le,
    Script::New_Tai_Lue,
    Script::Tai_Tham,
    Script::Tai_Viet,
    Script::Lisu,
    Script::Cham,
    Script::Ahom,
];

const SEPARATING: u8 = 0;
const DENSELY: u8 = 1;
const WORDY: u8 = 2;
const ATTACHED: u8 = 3;

const PLANE: usize = 1 << 16;

/// The class of every character.
#[derive(Clone, Copy)]
pub(super) struct Scripts(&'static [u8; PLANE]);

impl std::fmt::Debug for Scripts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripts")
    }
}

impl Scripts {
    /// The table, computed by the first caller.
    pub(super) fn get() -> Self {
        static TABLE: OnceLock<Box<[u8; PLANE]>> = OnceLock::new();
        Scripts(TABLE.get_or_init(|| {
            let mut table = Box::new([SEPARATING; PLANE]);
            for (code, class) in table.iter_mut().enumerate() {
                if let Some(c) = char::from_u32(code as u32) {
                    *class = compute(c);
                }
            }
            table
        }))
    }

    /// Whether a letter or mark belongs to a script without spaces between words.
    #[inline]
    pub(super) fn is_dense(self, c: char) -> bool {
        self.of(c) == DENSELY
    }

    #[inline]
    fn of(self, c: char) -> u8 {
        if matches!(c, '\u{4E00}'..='\u{9FFF}') {
            return DENSELY;
        }
        match self.0.get(c as usize) {
            Some(&class) => class,
            None => compute(c),
        }
    }

    /// Calls `take` with each unit of `text`, in order.
    #[inline]
    pub(super) fn for_each(self, text: &str, k: usize, mut take: impl FnMut(&str)) {
        // The current run: its class, its first byte, its length in
        // characters, and the first byte of its last shingle so far.
        let (mut run, mut begin, mut length, mut shingle) = (SEPARATING, 0, 0_usize, 0);
        for (at, c) in text.char_indices() {
            let class = match self.of(c) {
                ATTACHED if run == SEPARATING => WORDY,
                ATTACHED => run,
                class => class,
            };
            if class != run {
                if run == WORDY || (run == DENSELY && length < k) {
                    take(&text[begin..at]);
                }
                (run, begin, length, shingle) = (class, at, 0, at);
            }
            if class == DENSELY {
                length += 1;
                if length >= k {
                    take(&text[shingle..at + c.len_utf8()]);
                    shingle += width(text.as_bytes()[shingle]);
                }
            }
        }
        if run == WORDY || (run == DENSELY && length < k) {
            take(&text[begin..]);
        }
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

fn compute(c: char) -> u8 {
    let (letter, mark) = (c.is_alphanumeric(), is_combining_mark(c));
    if !letter && !mark {
        return SEPARATING;
    }
    let dense = match c.script() {
        Script::Common | Script::Inherited => {
            let shared = c.script_extension();
            // A character that every script shares gives no hint of the script.
            let named = !shared.is_common() && !shared.is_inherited();
            // Nor does one that Latin or Cyrillic words also contain, such as the
            // modifier apostrophe.
            !mark && named && shared.iter().all(|script| DENSE.contains(&script))
        }
        script => DENSE.contains(&script),
    };
    match (dense, mark) {
        (true, _) => DENSELY,
        (false, true) => ATTACHED,
        (false, false) => WORDY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, k: usize) -> Vec<&str> {
        let mut units = Vec::new();
        let base = text.as_ptr() as usize;
        Scripts::get().for_each(text, k, |unit| {
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
