/*! The factor of the `improved` scheme, and the fixed-point numbers it uses.

The factor is 1 + POS + LEN + MARK + TITLE. LEN is a multiple of 2^-16; the others are
integers. POS is 3 for a noun (tag n...), 2 for a verb (v...) and 1 otherwise. LEN is the
position, from 0 to 1, of the word's length in characters between the shortest and the
longest feature of the document, and 0 if all are of equal length. MARK is 5 if the word
is or contains a marker. TITLE is 5 if the title contains the word. A word has the tag of
its first occurrence.

A marker of one or two characters must equal the whole word: 更 marks 更, but neither 更新
nor 变更. Longer markers are searched within the words, all of them at once (Aho and
Corasick, CACM 1975). A marker written with an ellipsis, like 以…为例, is a pair: a word
contains it if it contains the part before and, later, the part after.
*/

use aho_corasick::AhoCorasick;
use memchr::memmem;
use rustc_hash::FxHashSet;

use super::features::{Feature, Features};
use super::stop_words;
use crate::error::{Error, Result};
use crate::normalize::Normalizer;

/// Binary places of the fixed-point numbers.
pub(super) const FRACTION: u32 = 16;

const BONUS: u64 = 5;

/// The longest marker, in characters, that must equal the whole word.
const SHORT: usize = 2;

/// A non-negative number rounded to a multiple of 2^-16, in units of 2^-16.
pub(super) fn fixed_point(number: f64) -> u64 {
    (number * f64::from(1 << FRACTION)).round() as u64
}

/// Words and phrases that mark important statements of a text.
#[derive(Debug)]
pub(crate) struct Markers {
    words: FxHashSet<String>,
    parts: Option<AhoCorasick>,
    pairs: Vec<(String, String)>,
}

impl Markers {
    /// Creates markers from a list, normalized like the text that they are searched in.
    ///
    /// Unless they are `contained` in words, markers of one or two characters are whole words.
    pub(crate) fn new(
        list: &[String],
        normalizer: &Normalizer,
        lowercase: bool,
        contained: bool,
    ) -> Result<Self> {
        let normalize = |part: &str| stop_words::normalize(part, normalizer, lowercase);
        let (mut plain, mut pairs) = (Vec::new(), Vec::new());
        for marker in list {
            // Before normalization, which may turn the ellipsis into full stops.
            let (before, after) = marker.split_once('…').unwrap_or((marker, ""));
            let (before, after) = (normalize(before), normalize(after.trim_start_matches('…')));
            match (before.is_empty(), after.is_empty()) {
                (true, true) => {}
                (false, false) => pairs.push((before, after)),
                (_, false) => plain.push(after),
                (false, _) => plain.push(before),
            }
        }
        let (words, parts): (Vec<_>, Vec<_>) = plain
            .into_iter()
            .partition(|marker| !contained && marker.chars().count() <= SHORT);
        let parts = match parts.is_empty() {
            true => None,
            false => Some(
                AhoCorasick::builder()
                    // Words are too short for a prefilter to save time.
                    .prefilter(false)
                    .build(&parts)
                    .map_err(|error| {
                        Error::parameter("markers", "a list that fits a search automaton", error)
                    })?,
            ),
        };
        Ok(Markers {
            words: words.into_iter().collect(),
            parts,
            pairs,
        })
    }

    /// Whether `word` is a marker, or contains a long one.
    pub(super) fn mark(&self, word: &str) -> bool {
        self.words.contains(word)
            || self.parts.as_ref().is_some_and(|any| any.is_match(word))
            || self.pairs.iter().any(|(before, after)| {
                before.len() + after.len() <= word.len()
                    && word
                        .find(before.as_str())
                        .is_some_and(|at| word[at + before.len()..].contains(after))
            })
    }
}

/// POS, LEN, MARK and TITLE of a feature; the length in units of 2^-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// 3 for a noun, 2 for a verb, 1 for other words.
    pub part_of_speech: u64,
    /// The place of its length between the shortest and the longest feature of the document.
    pub length: u64,
    /// 5 for a marker word, else 0.
    pub mark: u64,
    /// 5 for a word of the title, else 0.
    pub title: u64,
}

/// The inputs of the factor that all features of one document share.
pub(super) struct Factor<'a> {
    markers: &'a Markers,
    title: &'a str,
    /// A bit set of the characters of the title; several characters share a bit. Most words
    /// have a character that is not in it and need no search.
    title_characters: u64,
    shortest: u64,
    range: u64,
}

impl<'a> Factor<'a> {
    pub(super) fn new(features: &Features, markers: &'a Markers, title: &'a str) -> Self {
        let lengths = || features.iter().map(|(_, feature)| feature.characters());
        let shortest = lengths().min().unwrap_or(0);
        let longest = lengths().max().unwrap_or(0);
        Factor {
            markers,
            title,
            title_characters: title.chars().fold(0, |bits, c| bits | bit(c)),
            shortest,
            range: longest - shortest,
        }
    }

    fn is_in_title(&self, word: &str) -> bool {
        !word.is_empty()
            && word.chars().all(|c| self.title_characters & bit(c) != 0)
            && memmem::find(self.title.as_bytes(), word.as_bytes()).is_some()
    }

    /// 1 + POS + LEN + MARK + TITLE, in units of 2^-16.
    pub(super) fn of(&self, word: &str, feature: &Feature) -> u64 {
        let factors = self.factors(word, feature);
        let whole = 1 + factors.part_of_speech + factors.mark + factors.title;
        (whole << FRACTION) + factors.length
    }

    pub(super) fn factors(&self, word: &str, feature: &Feature) -> Factors {
        Factors {
            part_of_speech: match feature.tag_initial() {
                b'n' => 3,
                b'v' => 2,
                _ => 1,
            },
            length: match self.range {
                0 => 0,
                range => ((feature.characters() - self.shortest) << FRACTION) / range,
            },
            mark: BONUS * u64::from(self.markers.mark(word)),
            title: BONUS * u64::from(self.is_in_title(word)),
        }
    }
}

fn bit(c: char) -> u64 {
    1 << (u32::from(c) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::Settings;

    #[test]
    fn markers_and_pairs() -> Result<()> {
        let normalizer = Normalizer::new(Settings {
            nfkc: true,
            ..Settings::default()
        });
        let list = ["但是", "故", "以…为例", "ＢＵＴ", "据…", "…", ""].map(String::from);
        let markers = Markers::new(&list, &normalizer, true, false)?;
        for word in ["但是", "故", "据", "以此为例", "以为例", "but", "butter"] {
            assert!(markers.mark(word), "{word}");
        }
        for word in ["但", "不但是", "事故", "数据", "为例以", "以此", "bu", ""] {
            assert!(!markers.mark(word), "{word}");
        }
        let contained = Markers::new(&list, &normalizer, true, true)?;
        for word in ["不但是", "事故", "数据"] {
            assert!(contained.mark(word), "{word}");
        }
        assert!(!contained.mark("但"));
        Ok(())
    }
}
