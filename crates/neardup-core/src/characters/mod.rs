/*! What each character is: one table of classes, and one of simplified characters.

The only place that says which script has spaces, what is a letter and what a step of normalizing may
change. Four classes answer "is it of a script without spaces between words?", since four questions are
asked: whether blanks beside a character vanish ([`UNSPACED`]), whether its script is cut into shingles
([`DENSE`]), whether a letter counts by itself (all but [`OF_WORD`]), and how much a letter says
([`is_wide`], by blocks, since it looks at bytes).

`build.rs` makes the tables from the Unicode tables of the libraries.
*/

pub(crate) mod ascii;
mod classes;
mod forms;

pub(crate) use classes::*;
pub(crate) use forms::{of_radical, without_points};

/// A value for each character: of the Basic Multilingual Plane one after the other, of the rarer ones by
/// pages of 256; equal pages are stored once.
struct Table<T: 'static> {
    basic: &'static [T; 0x1_0000],
    page: &'static [u8; 0x1000],
    pages: &'static [[T; 256]],
}

impl<T: Copy> Table<T> {
    #[inline]
    fn of(&self, c: char) -> T {
        match self.basic.get(c as usize) {
            Some(&value) => value,
            None => self.rare(c as usize - self.basic.len()),
        }
    }

    fn rare(&self, place: usize) -> T {
        self.pages[usize::from(self.page[place >> 8])][place & 0xFF]
    }
}

include!(concat!(env!("OUT_DIR"), "/characters.rs"));

/// The classes of `c`, as bits.
#[inline]
pub(crate) fn classes(c: char) -> u16 {
    CLASSES.of(c)
}

/// Whether `c` is of one of the `classes`.
#[inline]
pub(crate) fn is(c: char, classes: u16) -> bool {
    CLASSES.of(c) & classes != 0
}

/// The classes of a character of three bytes in UTF-8.
#[inline]
pub(crate) fn classes_of_three([lead, second, third]: [u8; 3]) -> u16 {
    let bits = |byte: u8, mask: u8| usize::from(byte & mask);
    CLASSES.basic[bits(lead, 0xF) << 12 | bits(second, 0x3F) << 6 | bits(third, 0x3F)]
}

/// Letters and digits: the Unicode property Alphabetic, or a general category N.
#[inline]
pub fn is_letter_or_digit(c: char) -> bool {
    is(c, LETTER)
}

/// Whether a letter or mark belongs to a script that is written without spaces between words.
#[inline]
pub fn is_dense(c: char) -> bool {
    is(c, DENSE)
}

/// Whether a letter is of a word of a script with spaces, and not a word by itself.
#[inline]
pub(crate) fn is_of_word(c: char) -> bool {
    is(c, OF_WORD)
}

/// The simplified form of a traditional character.
#[inline]
pub(crate) fn simplified(c: char) -> Option<char> {
    Some(SIMPLIFIED.of(c)).filter(|&simplified| simplified != '\0')
}

/// Whether a character with these first two bytes is a letter of a script without spaces between
/// words, one in U+0E00 to U+1DFF, U+3040 to U+D7FF, U+F900 to U+FAFF, U+17000 to U+1BFFF, or from U+20000
/// on. Punctuation, rules, symbols and emoji are not.
///
/// Scripts with spaces in these blocks, such as Ethiopic, mostly have a letter for a syllable.
#[expect(clippy::manual_range_contains, reason = "that has branches")]
#[inline]
pub(crate) fn is_wide(first: u8, second: u8) -> bool {
    // No branches, and single bytes, so that a vector looks at many.
    ((first == 0xe0) & (second >= 0xb8))
        | ((first == 0xe1) & (second < 0xb8))
        | ((first == 0xe3) & (second > 0x80))
        | ((first >= 0xe4) & (first <= 0xed))
        | ((first == 0xef) & (second >= 0xa4) & (second < 0xac))
        | ((first == 0xf0) & ((second >= 0xa0) | ((second >= 0x97) & (second < 0x9c))))
        | (first > 0xf0)
}

/// Whether a character with these first two bytes is of a script with spaces between words, and in
/// letters: in ASCII, U+00C0 to U+0DFF, and U+1E00 to U+1FFF.
#[inline]
pub(crate) fn is_narrow(first: u8, second: u8) -> bool {
    first.is_ascii_alphabetic()
        | (0xc3..=0xdf).contains(&first)
        | ((first == 0xe0) & (second < 0xb8))
        | ((first == 0xe1) & (second >= 0xb8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_by_their_first_two_bytes() {
        for c in '\u{1}'..=char::MAX {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes);
            let expected = matches!(
                c,
                '\u{E00}'..='\u{1DFF}'
                    | '\u{3040}'..='\u{D7FF}'
                    | '\u{F900}'..='\u{FAFF}'
                    | '\u{17000}'..='\u{1BFFF}'
                    | '\u{20000}'..
            );
            assert_eq!(is_wide(bytes[0], bytes[1]), expected, "{c:?}");
        }
    }
}
