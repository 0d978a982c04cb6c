/*! Texts too short to be compared by shingles.

In a headline of twenty characters one changed name changes a quarter of the
shingles, and so does a harmless edit. So short texts are compared by their letters
and digits alone: two texts are similar if these are the same, or if one text is the
other with a little added before or after it. White space, punctuation and symbols do
not count.
*/

use xxhash_rust::xxh3::xxh3_128;

use crate::constants::{PART, SHORT};
use crate::normalize::is_letter_or_digit;

/// A text with more letters and digits than this is so long that no short text is 3/4 of it,
/// so its letters and digits need not be stored.
const LONGEST: usize = (SHORT - 1) * PART.1 / PART.0;

/// The letters and digits of a text, stored only where they could decide.
///
/// Letters and digits are characters with the Unicode property Alphabetic or a
/// general category N.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Letters {
    /// The text has none; the value is a hash of the text.
    Nothing(u128),
    /// The text has at most [`LONGEST`].
    Few {
        /// In the order of the text.
        letters: Box<str>,
        count: usize,
    },
    /// The text has more.
    #[default]
    Many,
}

/// Whether a text is short.
pub fn is_short(text: &str) -> bool {
    let letters = text.chars().filter(|&c| is_letter_or_digit(c));
    letters.take(SHORT).count() < SHORT
}

impl Letters {
    /// Collects the letters and digits of `text`, and stops once there are too many: O(n)
    /// only for a text that has hardly any.
    pub(super) fn of(text: &str) -> Self {
        let mut letters = String::new();
        let mut count = 0;
        for letter in text.chars().filter(|&c| is_letter_or_digit(c)) {
            if count == LONGEST {
                return Letters::Many;
            }
            letters.push(letter);
            count += 1;
        }
        match count {
            0 => Letters::Nothing(xxh3_128(text.as_bytes())),
            _ => Letters::Few {
                letters: letters.into_boxed_str(),
                count,
            },
        }
    }

    /// The number of letters and digits; `LONGEST` + 1 if there are more.
    pub(super) fn len(&self) -> usize {
        match self {
            Letters::Nothing(_) => 0,
            Letters::Few { count, .. } => *count,
            Letters::Many => LONGEST + 1,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Letters::Few { letters, .. } => letters.len(),
            _ => 0,
        }
    }

    /// 1 if both are the same; the ratio of the lengths if the longer contains the shorter
    /// in one piece and the ratio is large enough; else 0.
    ///
    /// At least one of the texts must be short.
    pub(super) fn similarity(&self, other: &Letters) -> f64 {
        match (self, other) {
            (Letters::Nothing(a), Letters::Nothing(b)) => f64::from(u8::from(a == b)),
            (Letters::Few { letters: a, .. }, Letters::Few { letters: b, .. }) => {
                let (lesser, greater) = (self.len().min(other.len()), self.len().max(other.len()));
                let (short, long) = if self.len() <= other.len() {
                    (a, b)
                } else {
                    (b, a)
                };
                if PART.1 * lesser >= PART.0 * greater && long.contains(&**short) {
                    lesser as f64 / greater as f64
                } else {
                    0.0
                }
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(a: &str, b: &str) -> f64 {
        let (a, b) = (Letters::of(a), Letters::of(b));
        assert_eq!(a.similarity(&b), b.similarity(&a));
        a.similarity(&b)
    }

    #[test]
    fn punctuation_and_spaces_do_not_count() {
        assert_eq!(similarity("桥 通车了!", "桥通车了。"), 1.0);
        assert_eq!(similarity("No. 7", "no7"), 0.0);
    }

    #[test]
    fn a_piece_counts_from_three_quarters_on() {
        assert_eq!(similarity("abc", "abcd"), 0.75);
        assert_eq!(similarity("abc", "abcde"), 0.0);
        assert_eq!(similarity("bcdefg", "abcdefgh"), 0.75);
        assert_eq!(similarity("abdefg", "abcdefgh"), 0.0);
    }

    #[test]
    fn the_longest_partner_of_a_short_text_is_known() {
        let short = "字".repeat(SHORT - 1);
        assert_eq!(similarity(&short, &"字".repeat(LONGEST)), 0.75);
        assert_eq!(similarity(&short, &"字".repeat(LONGEST + 1)), 0.0);
        assert!(PART.1 * (SHORT - 1) < PART.0 * (LONGEST + 1));
        assert_eq!(Letters::of(&"字".repeat(1000)).len(), LONGEST + 1);
    }

    #[test]
    fn without_letters_only_the_same_text_is_alike() {
        assert_eq!(similarity("", ""), 1.0);
        assert_eq!(similarity("。。", "。。"), 1.0);
        assert_eq!(similarity("。。", "。"), 0.0);
        assert_eq!(similarity("。。", "字"), 0.0);
    }
}
