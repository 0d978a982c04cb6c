/*! The factor of the `improved` scheme, and the fixed-point numbers it uses.

(1 + POS + MARK + TITLE) in whole numbers and LEN as a fraction of 2^-16, where
POS is 3 for a noun (tag n...), 2 for a verb (v...) and else 1; LEN is where the
word's length in characters lies between the shortest and the longest feature of
the document, 0 if all are equal; MARK is 5 if the word contains a marker; TITLE
is 5 if the title contains the word. A word has the tag of its first occurrence.

Markers are searched all at once (Aho and Corasick, CACM 1975). One written with an
ellipsis, like 以…为例, is a pair: a word contains it if it contains the part
before and, later, the part after.
*/

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::features::{Feature, Features};
use super::stop_words;
use crate::error::{Error, Result};
use crate::normalize::Normalizer;

/// Binary places of the fixed-point numbers.
pub(super) const FRACTION: u32 = 16;

const BONUS: u64 = 5;

/// A number that is not negative, to the nearest multiple of 2^-16.
pub(super) fn fixed_point(number: f64) -> u64 {
    (number * f64::from(1 << FRACTION)).round() as u64
}

/// Words and phrases that mark what a text wants to say.
#[derive(Debug)]
pub(crate) struct Markers {
    plain: Option<AhoCorasick>,
    pairs: Vec<(String, String)>,
}

impl Markers {
    /// The list as it meets units: normalized like the text they come from.
    pub(crate) fn new(list: &[String], normalizer: &Normalizer, lowercase: bool) -> Result<Self> {
        let normalize = |part: &str| stop_words::normalize(part, normalizer, lowercase);
        let (mut plain, mut pairs) = (Vec::new(), Vec::new());
        for marker in list {
            // Before normalization, which may turn the ellipsis into full stops.
            match marker.split_once('…') {
                Some((before, after)) => {
                    pairs.push((normalize(before), normalize(after.trim_start_matches('…'))));
                }
                None => plain.push(normalize(marker)),
            }
        }
        plain.retain(|marker| !marker.is_empty());
        pairs.retain(|(before, after)| !before.is_empty() || !after.is_empty());
        let plain = match plain.is_empty() {
            true => None,
            false => Some(
                AhoCorasick::builder()
                    // Words are too short for a prefilter to pay.
                    .prefilter(false)
                    .build(&plain)
                    .map_err(|error| {
                        Error::parameter("markers", "a list that fits a search automaton", error)
                    })?,
            ),
        };
        Ok(Markers { plain, pairs })
    }

    /// Whether `word` contains a marker.
    pub(super) fn mark(&self, word: &str) -> bool {
        self.plain.as_ref().is_some_and(|any| any.is_match(word))
            || self.pairs.iter().any(|(before, after)| {
                before.len() + after.len() <= word.len()
                    && word
                        .find(before.as_str())
                        .is_some_and(|at| word[at + before.len()..].contains(after))
            })
    }
}

/// What is the same for all features of one document.
pub(super) struct Factor<'a> {
    markers: &'a Markers,
    title: &'a str,
    /// One bit for each character of the title, several to a bit: most words
    /// have a character that is not there, and need no search.
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
        let part_of_speech = match feature.tag_initial() {
            b'n' => 3,
            b'v' => 2,
            _ => 1,
        };
        let mark = BONUS * u64::from(self.markers.mark(word));
        let title = BONUS * u64::from(self.is_in_title(word));
        let length = match self.range {
            0 => 0,
            range => ((feature.characters() - self.shortest) << FRACTION) / range,
        };
        ((1 + part_of_speech + mark + title) << FRACTION) + length
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
        let list = ["但是", "以…为例", "ＢＵＴ", "", "…"].map(String::from);
        let markers = Markers::new(&list, &normalizer, true)?;
        for word in ["但是", "不但是", "以此为例", "以为例", "but"] {
            assert!(markers.mark(word), "{word}");
        }
        for word in ["但", "为例以", "以此", "bu", ""] {
            assert!(!markers.mark(word), "{word}");
        }
        Ok(())
    }
}
