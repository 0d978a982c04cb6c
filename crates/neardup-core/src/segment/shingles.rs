/*! Where the shingles of a text are, and how long each of them is.

Five letters of a script with spaces between words are about one word, which hundreds of texts have;
five Chinese characters are about three words, which few have. So a shingle is the shortest run of
characters that weighs enough, and a *wide* letter, one of a script without spaces, weighs 8/7 as much
as another character.

Digits, Latin letters and punctuation weigh as much as the wide letters around them: `2026年3月` is as rare as
seven Chinese characters. A character is in the neighbourhood of a wide letter if at most [`REACH`]
characters lie from one to the other. So a text in one script has shingles of one length, and a mixed text has
those of its parts: how long a shingle is depends on what is around it, never on the rest of the text.

The last shingle ends with the text, even if it weighs less; a text that weighs less than a shingle is
one.
*/

use std::ops::Range;

use crate::normalize::without_ends;

/// How many characters a shingle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShingleLen {
    /// As many everywhere, at least 1.
    Chars(usize),
    /// As many, at least 1, where there are letters of scripts without spaces between words; 8/7 as
    /// many, rounded up, elsewhere.
    ByScript(usize),
}

/// What a wide letter weighs, and a character near one.
const WIDE: usize = 8;

/// What any other character weighs.
const NARROW: usize = 7;

/// The farthest character that weighs as much as a wide letter, in characters from it.
const REACH: usize = 4;

/// Calls `take` with each shingle of `text`, in order. [Ends of sentences](without_ends) are no part of
/// it. O(n) for n characters.
#[inline]
pub(crate) fn for_each_shingle(text: &str, length: ShingleLen, mut take: impl FnMut(&str)) {
    let text = &*without_ends(text);
    let take = |place: Range<usize>| take(&text[place]);
    let bytes = text.as_bytes();
    let k = match length {
        ShingleLen::Chars(k) => return of_chars(bytes, k.max(1), take),
        ShingleLen::ByScript(k) => k.max(1),
    };
    // Most texts are in one script, and need no look at each of their characters.
    let least = k * WIDE;
    if text.is_ascii() {
        of_ascii(bytes.len(), least.div_ceil(NARROW), take);
    } else if is_heavy(bytes) {
        of_chars(bytes, k, take);
    } else if bytes.windows(2).any(|pair| is_wide(pair[0], pair[1])) {
        by_script(bytes, least, take);
    } else {
        of_chars(bytes, least.div_ceil(NARROW), take);
    }
}

/// Whether every character is a wide letter or near one.
fn is_heavy(bytes: &[u8]) -> bool {
    let is_wide_at = |at: usize| {
        let second = bytes.get(at + 1).copied().unwrap_or(0);
        is_wide(bytes[at], second)
    };
    // Between two wide letters there may be twice as many characters as before the first or after the
    // last one.
    let (mut at, mut most) = (0, REACH);
    while at < bytes.len() {
        // The next `most` bytes hold no more than `most` characters.
        let last = (at + most).min(bytes.len() - 1);
        match (at..=last).rev().find(|&at| is_wide_at(at)) {
            Some(wide) => at = after(bytes, wide),
            None => {
                let mut passed = 0;
                while at < bytes.len() && !is_wide_at(at) {
                    at = after(bytes, at);
                    passed += 1;
                }
                if at == bytes.len() {
                    return most > REACH && passed <= REACH;
                }
                if passed > most {
                    return false;
                }
            }
        }
        most = 2 * REACH;
    }
    true
}

fn of_chars(bytes: &[u8], k: usize, mut take: impl FnMut(Range<usize>)) {
    let length = bytes.len();
    // A character has a byte at least, so more steps lead no further.
    let steps = 0..k.min(length + 1);
    let (mut begin, mut end) = (0, steps.fold(0, |end, _| after(bytes, end)));
    if end > length && length > 0 {
        take(0..length);
    }
    // Both ends step from character to character; no character is decoded.
    while end <= length {
        take(begin..end);
        (begin, end) = (after(bytes, begin), after(bytes, end));
    }
}

fn of_ascii(length: usize, k: usize, mut take: impl FnMut(Range<usize>)) {
    if length < k && length > 0 {
        take(0..length);
    }
    (k..=length).for_each(|end| take(end - k..end));
}

fn by_script(bytes: &[u8], least: usize, mut take: impl FnMut(Range<usize>)) {
    let (mut first, mut behind) = (Weights::of(bytes), Weights::of(bytes));
    let mut weight = 0;
    while behind.at < bytes.len() || weight >= least {
        while weight < least && behind.at < bytes.len() {
            weight += behind.next();
        }
        take(first.at..behind.at);
        weight -= first.next();
    }
}

/// Goes through a text, character by character.
struct Weights<'a> {
    bytes: &'a [u8],
    /// Where the next character begins.
    at: usize,
    /// Where the one [`REACH`] after it begins.
    ahead: usize,
    /// How many characters before `ahead` the last wide letter was.
    since: usize,
}

impl<'a> Weights<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut made = Weights {
            bytes,
            at: 0,
            ahead: 0,
            since: 2 * REACH + 1,
        };
        (0..REACH).for_each(|_| made.look());
        made
    }

    /// Returns what the next character weighs.
    #[inline]
    fn next(&mut self) -> usize {
        self.look();
        self.at = after(self.bytes, self.at);
        match self.since <= 2 * REACH {
            true => WIDE,
            false => NARROW,
        }
    }

    #[inline]
    fn look(&mut self) {
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or(0);
        let is_wide = is_wide(byte(self.ahead), byte(self.ahead + 1));
        self.since = if is_wide { 0 } else { self.since + 1 };
        self.ahead = after(self.bytes, self.ahead);
    }
}

/// Where the character after the one at `at` begins; beyond the text if there is none.
#[inline]
fn after(bytes: &[u8], at: usize) -> usize {
    let Some(&first) = bytes.get(at) else {
        return bytes.len() + 1;
    };
    // Sums of comparisons: scripts are mixed, and no processor could foresee a branch.
    let more = u8::from(first >= 0xc0) + u8::from(first >= 0xe0) + u8::from(first >= 0xf0);
    at + 1 + usize::from(more)
}

/// Whether a character with these first two bytes is a letter of a script without spaces between
/// words, one in U+0E00 to U+1DFF, U+3040 to U+D7FF, U+F900 to U+FAFF, U+17000 to U+1BFFF, or from U+20000
/// on. Punctuation, rules, symbols and emoji are not.
///
/// Scripts with spaces in these blocks, such as Ethiopic, mostly have a letter for a syllable.
#[expect(clippy::manual_range_contains, reason = "that has branches")]
#[inline]
pub(super) fn is_wide(first: u8, second: u8) -> bool {
    // No branches, and single bytes, so that a vector looks at many.
    ((first == 0xe0) & (second >= 0xb8))
        | ((first == 0xe1) & (second < 0xb8))
        | ((first == 0xe3) & (second > 0x80))
        | ((first >= 0xe4) & (first <= 0xed))
        | ((first == 0xef) & (second >= 0xa4) & (second < 0xac))
        | ((first == 0xf0) & ((second >= 0xa0) | ((second >= 0x97) & (second < 0x9c))))
        | (first > 0xf0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shingles(text: &str, k: usize) -> Vec<String> {
        let mut found = Vec::new();
        for_each_shingle(text, ShingleLen::ByScript(k), |shingle| {
            found.push(shingle.to_owned())
        });
        found
    }

    /// All runs of `k` characters.
    fn runs(text: &str, k: usize) -> Vec<String> {
        let mut found = Vec::new();
        for_each_shingle(text, ShingleLen::Chars(k), |shingle| {
            found.push(shingle.to_owned())
        });
        found
    }

    #[test]
    fn a_text_in_one_script_has_shingles_of_one_length() {
        for (text, k, length) in [
            ("the ferry leaves at noon", 1, 2),
            ("the ferry leaves at noon", 5, 6),
            ("the ferry leaves at noon", 6, 7),
            ("паром уходит в полдень", 5, 6),
            ("“Fähre” – mittags … 🎉🎉🎉 ━━━━━━━", 5, 6),
            ("chiếc phà rời bến lúc trưa", 5, 6),
            ("渡船中午十二点开。", 5, 5),
            ("渡船于2026年3月1日12:30开，票价￥5", 5, 5),
            ("渡船 ferry 中午十二点开", 5, 5),
            ("เรือข้ามฟากออกตอนเที่ยง", 5, 5),
            ("나룻배는 정오에 떠난다", 5, 5),
        ] {
            assert_eq!(shingles(text, k), runs(text, length), "{text} {k}");
        }
    }

    #[test]
    fn a_wide_letter_reaches_four_characters_far() {
        let found = shingles("abcdefghij渡klmnopqrst", 5);
        let expected = [
            "abcdef", "bcdefg", "cdefgh", "defghi", "efghij", "fghij渡", "ghij渡", "hij渡k",
        ];
        assert_eq!(found[..8], expected);
    }

    #[test]
    fn what_is_around_a_shingle_decides_about_its_length() {
        let (english, chinese) = ("the ferry leaves at noon, ", "渡船中午十二点开到对岸去");
        let mixed = format!("{english}{chinese}");
        let both = shingles(&mixed, 5);
        let of_each = [shingles(english, 5), shingles(chinese, 5)];
        assert_eq!(both[..21], of_each[0]);
        assert_eq!(both[21..23], ["oon, 渡", "on, 渡"]);
        assert!(both.ends_with(&of_each[1]));
    }

    #[test]
    fn a_text_is_heavy_if_no_character_is_far_from_wide_letters() {
        for (text, expected) in [
            ("渡船abcdefgh渡", true),
            ("渡船abcdefghi渡", false),
            ("渡船éééééééé渡", true),
            ("渡船ééééééééé渡", false),
            ("1234渡5678", true),
            ("12345渡5678", false),
            ("1234渡56789", false),
            ("…………渡…………", true),
            ("………………渡", false),
            ("渡………………", false),
            ("", true),
            ("1234", false),
        ] {
            assert_eq!(is_heavy(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn every_character_is_in_a_shingle() {
        let text = "ferry 渡 of the 渡船 lake é🙂 12345";
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for &begin in &starts {
            for &end in starts.iter().filter(|&&end| end >= begin) {
                let piece = &text[begin..end];
                for k in 1..9 {
                    let mut covered = 0;
                    let base = piece.as_ptr() as usize;
                    for_each_shingle(piece, ShingleLen::ByScript(k), |shingle| {
                        let start = shingle.as_ptr() as usize - base;
                        assert!(start <= covered && start + shingle.len() >= covered);
                        covered = start + shingle.len();
                    });
                    assert_eq!(covered, piece.len(), "{piece:?} {k}");
                }
            }
        }
    }

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
