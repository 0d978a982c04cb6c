/*! Words of ASCII, eight bytes at a time: words differ in length, and no processor could foresee where one
ends. */

/// A byte of ones in each of eight bytes is this times 255.
const EACH: u64 = u64::MAX / 0xFF;
/// The first bit of each byte, by which the answers below speak.
const FIRST: u64 = 0x80 * EACH;
/// In each byte, a blank, and the bit by which small letters differ from capital ones.
const BLANKS: u64 = 0x20 * EACH;

/// Which bytes are letters: not before a, not behind z, and in ASCII.
#[inline]
fn letters_of(word: u64) -> u64 {
    let lower = (word | BLANKS) & !FIRST;
    let from_a = lower + (0x80 - u64::from(b'a')) * EACH;
    let behind_z = lower + (0x7F - u64::from(b'z')) * EACH;
    from_a & !behind_z & !word & FIRST
}

/// Which bytes are blanks.
#[inline]
fn blanks_of(word: u64) -> u64 {
    let other = word ^ BLANKS;
    !(((other & !FIRST) + !FIRST) | other) & FIRST
}

/// The number of letters that bytes begin with, and whether some are capital.
#[inline]
pub(crate) fn letters(bytes: &[u8]) -> (usize, bool) {
    let (mut rest, mut capital) = (bytes, false);
    while let Some((&eight, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(eight);
        let is_letter = letters_of(word);
        let others = is_letter ^ FIRST;
        // The bits below the bit of the first other byte; all bits if there is none.
        let before = others.wrapping_sub(1) & !others;
        capital |= is_letter & before & !(word << 2) != 0;
        if others != 0 {
            let count = others.trailing_zeros() as usize / 8;
            return (bytes.len() - rest.len() + count, capital);
        }
        rest = after;
    }
    let is_other = |byte: &u8| !byte.is_ascii_alphabetic();
    let count = rest.iter().position(is_other).unwrap_or(rest.len());
    capital |= rest[..count].iter().any(u8::is_ascii_uppercase);
    (bytes.len() - rest.len() + count, capital)
}

/// How many bytes are words of letters with one blank behind each, and a letter behind the last one.
#[inline]
pub(crate) fn words(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    // Whether the byte before is a blank, as its first bit.
    let mut blank = 0x80;
    while let Some((&eight, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(eight);
        let blanks = blanks_of(word);
        if letters_of(word) | blanks != FIRST || blanks & (blanks << 8 | blank) != 0 {
            break;
        }
        blank = blanks >> 56;
        rest = after;
    }
    let seen = bytes.len() - rest.len();
    // The next word is looked at as a whole, since its end is not known.
    let is_next = rest.first().is_some_and(u8::is_ascii_alphabetic);
    match blank != 0 && is_next {
        true => seen,
        false => memchr::memrchr(b' ', &bytes[..seen.saturating_sub(1)]).map_or(0, |at| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_up_to_the_first_other_byte() {
        let text = "abcXyzabcdefghijklmnopqrstuvwxyz";
        for begin in 0..text.len() {
            for end in begin..=text.len() {
                for after in ["", "1", " a", "é", "{", "@z", "`", "[A", "\0Abcdefgh"] {
                    let all = &text[begin..end];
                    let bytes = format!("{all}{after}");
                    let expected = (all.len(), all.contains('X'));
                    assert_eq!(letters(bytes.as_bytes()), expected, "{bytes}");
                }
            }
        }
    }

    #[test]
    fn words_end_behind_a_single_blank_before_a_letter() {
        for text in [
            "",
            " the ferry leaves",
            "the ferry leaves at noon",
            "the ferry  leaves",
            "a b c d e f g h i j k l m",
            "the ferry leaves at 12 today",
            "the ferry, at noon",
            "the ferry leavesé noon",
            "théferry leaves at noon",
            "the ferry leaves at noon ",
            "the ferry leaves  at noon",
            "the ferry leaves noon\u{1F}at",
            "abcdefg hijklmn opqrstu vwxyzab",
            "abcdefgh ijklmnop qrstuvwx yzabcdef",
        ] {
            for begin in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
                let text = &text[begin..];
                let mut longest = 0;
                for (at, _) in text.match_indices(' ') {
                    let word = &text[longest..at];
                    let next = text.as_bytes().get(at + 1);
                    let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic());
                    if !is_word || !next.is_some_and(u8::is_ascii_alphabetic) {
                        break;
                    }
                    longest = at + 1;
                }
                let found = words(text.as_bytes());
                assert!(found <= longest && longest <= found + 16, "{text} {found}");
                assert!(found == 0 || text[..found].ends_with(' '), "{text} {found}");
            }
        }
    }
}
