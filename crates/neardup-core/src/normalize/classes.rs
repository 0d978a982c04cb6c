/*! Character classes: which normalization steps can change a character.

The classes are computed from the Unicode tables of the libraries at first use, and
stored as one byte for each character of the Basic Multilingual Plane (64 KiB). For the
rarer characters beyond it they are computed each time.
*/

use std::iter::once;
use std::sync::OnceLock;

use unicode_normalization::char::{
    canonical_combining_class, decompose_compatible, is_combining_mark,
};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};

use super::letters;

/// It may combine with, or be reordered among, the characters before it.
pub(super) const COMBINES: u8 = 1;
/// NFKC changes it, or may.
pub(super) const UNSTABLE: u8 = 2;
/// It is not its own lower case.
pub(super) const CASED: u8 = 4;
/// White space.
pub(super) const WHITE: u8 = 8;
/// A control character that is not white space, or default-ignorable.
pub(super) const INVISIBLE: u8 = 16;
/// White space next to it has no meaning.
pub(super) const UNSPACED: u8 = 32;
/// It is folded to another letter, or dropped.
pub(super) const FOLDED: u8 = 64;
/// Neither a letter, a digit, nor a mark on one: punctuation, symbols, emoji, white space.
pub(super) const SEPARATING: u8 = 128;

const PLANE: usize = 1 << 16;

/// The classes of every character.
#[derive(Clone, Copy)]
pub(super) struct Classes(&'static [u8; PLANE]);

impl std::fmt::Debug for Classes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Classes")
    }
}

impl Classes {
    /// The table, computed by the first caller.
    pub(super) fn get() -> Self {
        static TABLE: OnceLock<Box<[u8; PLANE]>> = OnceLock::new();
        Classes(TABLE.get_or_init(|| {
            let mut table = Box::new([0; PLANE]);
            for (code, class) in table.iter_mut().enumerate() {
                if let Some(c) = char::from_u32(code as u32) {
                    *class = compute(c);
                }
            }
            table
        }))
    }

    /// The classes of `c`, as bits.
    #[inline]
    pub(super) fn of(self, c: char) -> u8 {
        match self.0.get(c as usize) {
            Some(&class) => class,
            None => compute(c),
        }
    }
}

/// Unified ideographs of the original block: no step changes them. They make up most of
/// a Chinese text, and a comparison avoids the table lookup.
#[inline]
pub(super) fn is_plain_ideograph(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}')
}

/// Letters and digits: the Unicode property Alphabetic, or a general category N.
#[inline]
pub fn is_letter_or_digit(c: char) -> bool {
    is_plain_ideograph(c) || c.is_alphanumeric()
}

/// The ASCII character of a full-width form. This is the most common change in Chinese
/// text, so it skips the general algorithm.
#[inline]
pub(super) fn narrow(c: char) -> Option<char> {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0),
        _ => None,
    }
}

fn compute(c: char) -> u8 {
    let mut class = 0;
    let mut first = None;
    decompose_compatible(c, |d| {
        first.get_or_insert(d);
    });
    let first = first.unwrap_or(c);
    if canonical_combining_class(first) != 0 || is_nfkc_quick(once(first)) == IsNormalized::Maybe {
        class |= COMBINES;
    }
    if is_nfkc_quick(once(c)) != IsNormalized::Yes {
        class |= UNSTABLE;
    }
    if !c.to_lowercase().eq(once(c)) {
        class |= CASED;
    }
    if c.is_whitespace() {
        class |= WHITE;
    } else if c.is_control() || is_default_ignorable(c) {
        class |= INVISIBLE;
    }
    if is_unspaced(c) {
        class |= UNSPACED;
    }
    if letters::may_fold(c) {
        class |= FOLDED;
    }
    if !is_letter_or_digit(c) && !is_mark(c) {
        class |= SEPARATING;
    }
    class
}

/// A mark that belongs to the letter before it. One that encloses a character does not, as in emoji.
fn is_mark(c: char) -> bool {
    let encloses = matches!(c as u32,
        0x0488..=0x0489 | 0x1ABE | 0x20DD..=0x20E0 | 0x20E2..=0x20E4 | 0xA670..=0xA672);
    is_combining_mark(c) && !encloses
}

/// The property `Default_Ignorable_Code_Point` of Unicode 16 (unchanged since
/// version 13), from DerivedCoreProperties.txt.
fn is_default_ignorable(c: char) -> bool {
    matches!(c as u32,
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

/// Characters of the scripts that [`super::Whitespace::ByScript`] names, and
/// the punctuation that only such texts use.
fn is_unspaced(c: char) -> bool {
    matches!(
        c.script(),
        Script::Han | Script::Hiragana | Script::Katakana | Script::Bopomofo
    ) || matches!(c as u32,
        // CJK symbols and punctuation; Kana marks shared by both syllabaries.
        0x3000..=0x303F | 0x30A0 | 0x30FB | 0x30FC
        // Vertical, compatibility and small forms of punctuation.
        | 0xFE10..=0xFE1F | 0xFE30..=0xFE6F
        // Full-width and half-width punctuation, without letters and digits.
        | 0xFF01..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF40 | 0xFF5B..=0xFF65
        | 0xFFE0..=0xFFE6)
}
