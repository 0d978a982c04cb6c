//! The letters and digits of a text, and the position of each.

use std::ops::Range;

use neardup_core::error::Result;
use neardup_core::normalize::{
    Folding, Normalizer, Settings, Whitespace, check_length, is_letter_or_digit,
};
use neardup_core::segment::is_dense;

/// The weight of a letter of a script without spaces between words: a Chinese
/// character carries about as much information as two letters of an alphabet.
pub(super) const DENSE: u32 = 2;

/// Converts texts to a form that can be compared letter by letter.
///
/// # Examples
///
/// ```
/// use neardup_align::{Aligner, Paper};
///
/// let aligner = Aligner::new();
/// let paper = Paper::new(aligner.letters("他说：“國家的圖書館，在湖邊。”")?);
/// let passages = paper.passages(&aligner.letters("国家的圖書館在湖邊")?, 6);
/// assert_eq!((passages[0].begin, passages[0].end), (4, 14));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Aligner {
    normalizer: Normalizer,
}

impl Aligner {
    /// Creates an aligner, for which all foldings are on.
    pub fn new() -> Self {
        Aligner {
            normalizer: Normalizer::new(Settings {
                nfkc: true,
                lowercase: true,
                whitespace: Whitespace::Keep,
                strip_markup: false,
                drop_invisible: true,
                fold: vec![Folding::Traditional, Folding::Points, Folding::LookAlikes],
                drop_punctuation: false,
                spell_numbers: false,
            }),
        }
    }

    /// The `text` in the form in which its letters are compared.
    ///
    /// # Errors
    ///
    /// If the text is longer than the stages accept.
    pub fn plain(&self, text: &str) -> Result<String> {
        check_length(text)?;
        let mut normalized = String::with_capacity(text.len());
        self.normalizer.normalize_into(text, &mut normalized);
        Ok(normalized)
    }

    /// The letters of `text`.
    ///
    /// # Errors
    ///
    /// If the text is longer than the stages accept.
    pub fn letters(&self, text: &str) -> Result<Letters> {
        check_length(text)?;
        let mapped = self.normalizer.normalize_mapped(text);
        let mut letters = Letters {
            chars: Vec::with_capacity(mapped.spans.len()),
            spans: Vec::with_capacity(mapped.spans.len()),
            depths: Vec::with_capacity(mapped.spans.len() + 1),
        };
        let mut depth = 0;
        letters.depths.push(depth);
        for (c, &span) in mapped.text.chars().zip(&mapped.spans) {
            let Some((c, weight)) = letter(c) else {
                continue;
            };
            depth += weight;
            letters.chars.push(c);
            letters.spans.push(span);
            letters.depths.push(depth);
        }
        Ok(letters)
    }

    /// Calls `take` with each letter of `text` and its weight.
    #[inline]
    pub(crate) fn for_each_letter(
        &self,
        text: &str,
        mut take: impl FnMut(char, u32),
    ) -> Result<()> {
        let plain = self.plain(text)?;
        let letters = plain.chars().filter_map(letter);
        letters.for_each(|(c, weight)| take(c, weight));
        Ok(())
    }
}

impl Default for Aligner {
    fn default() -> Self {
        Aligner::new()
    }
}

/// A normalized character and its weight; none if it is neither letter nor digit.
#[inline]
fn letter(c: char) -> Option<(char, u32)> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then_some((c, 1));
    }
    let weight = if is_dense(c) { DENSE } else { 1 };
    is_letter_or_digit(c).then_some((c, weight))
}

/// The letters and digits of a text.
#[derive(Clone, Debug)]
pub struct Letters {
    pub(super) chars: Vec<char>,
    spans: Vec<(u32, u32)>,
    /// The total weight of the letters before each letter, and of all letters.
    depths: Vec<u32>,
}

impl Letters {
    /// Number of letters.
    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The span of each letter in the original, half-open, in code points.
    pub fn spans(&self) -> &[(u32, u32)] {
        &self.spans
    }

    /// Some of the letters; their positions in the original stay as they are.
    pub(super) fn part(&self, letters: Range<usize>) -> Letters {
        Letters {
            chars: self.chars[letters.clone()].to_vec(),
            spans: self.spans[letters.clone()].to_vec(),
            depths: self.depths[letters.start..=letters.end].to_vec(),
        }
    }

    /// The letters between two positions in the original.
    pub(super) fn within(&self, begin: u32, end: u32) -> Range<usize> {
        let first = self.spans.partition_point(|span| span.0 < begin);
        let last = self.spans.partition_point(|span| span.0 < end);
        first..last.max(first)
    }

    /// The weight of the letters `begin..end`.
    pub(super) fn weight(&self, begin: usize, end: usize) -> u32 {
        self.depths[end] - self.depths[begin]
    }

    /// The smallest end such that the letters from `begin` weigh at least `weight`, if there is
    /// one.
    #[inline]
    pub(super) fn end_of(&self, begin: usize, weight: u32) -> Option<usize> {
        let wanted = self.depths[begin] + weight;
        // Weights are 1 or 2, so the end is near.
        let mut end = begin + (weight / DENSE) as usize;
        while *self.depths.get(end)? < wanted {
            end += 1;
        }
        Some(end)
    }

    /// The span of the original that contains the letters `begin..end`.
    pub(super) fn span(&self, begin: usize, end: usize) -> (u32, u32) {
        match begin < end {
            true => (self.spans[begin].0, self.spans[end - 1].1),
            false => (0, 0),
        }
    }
}
