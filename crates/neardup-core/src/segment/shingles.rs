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

use crate::characters::is_wide;
#[cfg(doc)]
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

/// The weight of a wide letter, and of a character near one.
const WIDE: usize = 8;

/// The weight of any other character.
const NARROW: usize = 7;

/// The farthest character that weighs as much as a wide letter, in characters from it.
const REACH: usize = 4;

/// Calls `take` with the place of each shingle of a text [without ends](without_ends), in order. O(n) for
/// n characters.
#[inline]
pub(crate) fn for_each_shingle(bytes: &[u8], length: ShingleLen, take: impl FnMut(Range<usize>)) {
    let k = match length {
        ShingleLen::Chars(k) => return of_chars(bytes, k.max(1), take),
        ShingleLen::ByScript(k) => k.max(1),
    };
    // Most texts are in one script, and need no look at the weight of each of their characters.
    let least = k * WIDE;
    if bytes.is_ascii() {
        of_chars(bytes, least.div_ceil(NARROW), take);
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
    // Between two wide letters there may be twice as many characters as before the first or after the
    // last one.
    let (mut at, mut passed, mut most) = (0, 0, REACH);
    while at < bytes.len() && passed <= most {
        let second = bytes.get(at + 1).copied().unwrap_or(0);
        match bytes[at] {
            // Most characters of a Chinese text come here, and nothing waits for how long they are.
            0xE4..=0xE9 => (at, passed, most) = (at + 3, 0, 2 * REACH),
            first if is_wide(first, second) => {
                (at, passed, most) = (after(bytes, at), 0, 2 * REACH);
            }
            _ => (at, passed) = (after(bytes, at), passed + 1),
        }
    }
    // An empty text has no light character.
    passed <= REACH && (most > REACH || bytes.is_empty())
}

#[inline]
fn of_chars(bytes: &[u8], k: usize, mut take: impl FnMut(Range<usize>)) {
    let length = bytes.len();
    // A character has a byte at least, so more steps lead no further.
    let steps = 0..k.min(length + 1);
    let (mut begin, mut end) = (0, steps.fold(0, |end, _| after(bytes, end)));
    if end > length && length > 0 {
        take(0..length);
    }
    if bytes.is_ascii() {
        while end <= length {
            take(end - k..end);
            end += 1;
        }
    }
    // Both ends step from character to character; no character is decoded.
    while end <= length {
        take(begin..end);
        (begin, end) = (after(bytes, begin), after(bytes, end));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shingles(text: &str, k: usize) -> Vec<String> {
        let mut found = Vec::new();
        for_each_shingle(text.as_bytes(), ShingleLen::ByScript(k), |place| {
            found.push(text[place].to_owned())
        });
        found
    }

    /// All runs of `k` characters.
    fn runs(text: &str, k: usize) -> Vec<String> {
        let mut found = Vec::new();
        for_each_shingle(text.as_bytes(), ShingleLen::Chars(k), |place| {
            found.push(text[place].to_owned())
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
    fn surrounding_script_decides_the_length_of_a_shingle() {
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
                    for_each_shingle(piece.as_bytes(), ShingleLen::ByScript(k), |place| {
                        assert!(place.start <= covered && place.end >= covered);
                        covered = place.end;
                    });
                    assert_eq!(covered, piece.len(), "{piece:?} {k}");
                }
            }
        }
    }
}
