/*! Stage 2: normalized text to units.

A unit is a word with its part of speech, or a run of characters. Which one suits
a text depends on its language, so the choice is a setting ([`Units`]):

| units | for | a unit |
|---|---|---|
| `words` | Chinese | a word of jieba with its ICTCLAS-compatible tag; all of them, spaces and punctuation too |
| `unicode-words` | languages with spaces | a word of Unicode Standard Annex #29 |
| `shingles` | any text, as it is | every run of `k` characters (Broder, 1997) |
| `script-shingles` | any text, by what its characters say | the same, of 8/7 as many at the places where the script has spaces between words, see [`ShingleLen`] |
| `by-script` | any mixture | `k` characters of scripts written without spaces, whole words of the others |
| `tagged` | text that was segmented elsewhere | the word of each `word/tag` |
| `ictclas` | the same, as the BKDR program reads it: lines joined, split at U+0020 alone | the word of each `word/tag` |
| `separated` | text that was cut elsewhere, in any language | each stretch between two separators, empty ones too |
| `external` | a segmenter of the caller | each unit that it returned, see [`encoded`] |

Units are passed to a closure one by one, borrowed from the text: nothing is
allocated except by jieba, which returns a vector for each text. Linear time.
The result is exact, except that jieba guesses words by statistics; the guess is the same
for the same version of jieba-rs, which Cargo.toml pins.
*/

pub mod encoded;
mod script;
mod shingles;
#[cfg_attr(target_family = "wasm", path = "no_words.rs")]
mod words;

use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

pub use crate::characters::is_dense;
use crate::characters::{is_narrow, is_wide};
use crate::error::{Error, Result};
use crate::normalize::{without_ends, without_sentence_ends};
pub use shingles::ShingleLen;
pub(crate) use shingles::for_each_shingle;
use words::Words;

/// The kind of unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Units {
    /// Words found by jieba, with parts of speech.
    Words,
    /// Words by Unicode Standard Annex #29.
    UnicodeWords,
    /// Runs of `k` characters.
    Shingles,
    /// Runs of `k` characters, or of 8/7 as many, by [place](ShingleLen::ByScript).
    ScriptShingles,
    /// Runs of `k` characters or whole words, by script.
    #[default]
    ByScript,
    /// Words of `word/tag word/tag ...`.
    Tagged,
    /// The same, with lines joined and only U+0020 between tokens.
    Ictclas,
    /// The stretches between separators, empty ones too.
    Separated,
    /// Units from the caller's own segmenter.
    External,
}

/// The longest shingle, in characters. Shingles overlap, so each character is stored k times.
pub const MAX_SHINGLE: usize = 64;

/// How a text is cut into units.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The kind of unit.
    pub units: Units,
    /// Characters in a shingle, at least 1.
    pub k: usize,
    /// Tokens of `tagged` and `ictclas` text that contain one of these are dropped.
    pub drop_tags: Vec<String>,
    /// The separator between two units of `separated` text, not empty.
    pub by: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            units: Units::default(),
            k: 2,
            drop_tags: Vec::new(),
            by: ",".to_owned(),
        }
    }
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// Its characters.
    pub text: &'a str,
    /// Its part of speech; empty if unknown.
    pub tag: &'a str,
}

/// The segment stage, ready to run.
///
/// # Examples
///
/// ```
/// use neardup_core::segment::{Segmenter, Settings};
///
/// let segmenter = Segmenter::new(&Settings::default(), None)?;
/// let mut units = Vec::new();
/// segmenter.for_each("图书馆 open 24h", |unit| units.push(unit.text.to_owned()));
/// assert_eq!(units, ["图书", "书馆", "open", "24h"]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Segmenter(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Words(Words),
    UnicodeWords,
    Shingles {
        k: usize,
    },
    ScriptShingles {
        k: usize,
    },
    ByScript {
        k: usize,
    },
    Tagged {
        joins_lines: bool,
        drop_tags: Vec<String>,
    },
    Separated {
        by: String,
    },
    External,
}

impl Segmenter {
    /// Creates the stage with these settings.
    ///
    /// `user_dictionary` adds words to the dictionary of jieba, one per line: the word and
    /// optionally its frequency and its tag, separated by white space.
    ///
    /// # Errors
    ///
    /// If `k` is not 1 to 64, `by` is empty, or a line of the user dictionary is malformed.
    pub fn new(settings: &Settings, user_dictionary: Option<&str>) -> Result<Self> {
        if !(1..=MAX_SHINGLE).contains(&settings.k) {
            let bounds = format!("1 to {MAX_SHINGLE}");
            return Err(Error::parameter("k", bounds, settings.k));
        }
        if settings.by.is_empty() {
            return Err(Error::parameter("by", "at least one character", "none"));
        }
        let k = settings.k;
        Ok(Segmenter(match settings.units {
            Units::Words => Kind::Words(Words::new(user_dictionary)?),
            Units::UnicodeWords => Kind::UnicodeWords,
            Units::Shingles => Kind::Shingles { k },
            Units::ScriptShingles => Kind::ScriptShingles { k },
            Units::ByScript => Kind::ByScript { k },
            Units::Tagged | Units::Ictclas => Kind::Tagged {
                joins_lines: settings.units == Units::Ictclas,
                drop_tags: settings.drop_tags.clone(),
            },
            Units::Separated => Kind::Separated {
                by: settings.by.clone(),
            },
            Units::External => Kind::External,
        }))
    }

    /// How long shingles are, if units are shingles in every script.
    pub(crate) fn shingle_len(&self) -> Option<ShingleLen> {
        match self.0 {
            Kind::Shingles { k } => Some(ShingleLen::Chars(k)),
            Kind::ScriptShingles { k } => Some(ShingleLen::ByScript(k)),
            _ => None,
        }
    }

    /// Whether units are shingles of [`ShingleLen::ByScript`] of `k`.
    pub(crate) fn has_script_shingles(&self, k: usize) -> bool {
        matches!(self.0, Kind::ScriptShingles { k: other } if other == k)
    }

    /// Calls `take` with each unit of `text`, in order.
    #[inline]
    pub fn for_each(&self, text: &str, mut take: impl FnMut(Unit<'_>)) {
        match &self.0 {
            Kind::Words(words) => words.for_each(text, take),
            Kind::UnicodeWords => {
                let text = without_sentence_ends(text);
                text.unicode_words().for_each(|word| take(untagged(word)));
            }
            Kind::Shingles { .. } | Kind::ScriptShingles { .. } => {
                let length = self.shingle_len().unwrap_or(ShingleLen::Chars(1));
                let text = String::from_utf8(without_ends(text)).unwrap_or_default();
                for_each_shingle(text.as_bytes(), length, |place| {
                    take(untagged(&text[place]))
                });
            }
            Kind::ByScript { k } => {
                let text = without_sentence_ends(text);
                script::for_each(&text, *k, |unit| take(untagged(unit)));
            }
            Kind::Tagged {
                joins_lines,
                drop_tags,
            } => encoded::tagged(text, *joins_lines, drop_tags, take),
            // An empty text has no units, not one empty unit.
            Kind::Separated { by } if !text.is_empty() => {
                text.split(by.as_str())
                    .for_each(|unit| take(untagged(unit)));
            }
            Kind::Separated { .. } => {}
            Kind::External => encoded::external(text, take),
        }
    }
}

fn untagged(text: &str) -> Unit<'_> {
    Unit { text, tag: "" }
}

/// Whether a text is mostly of a script with spaces between words, where four
/// letters say about as much as one of another script.
pub fn is_spaced(text: &str) -> bool {
    // By the first two bytes of a character; sums of short pieces, so that a vector adds many at once.
    let bytes = text.as_bytes();
    let Some((last, after)) = bytes.last().zip(bytes.get(1..)) else {
        return false;
    };
    let (mut narrow, mut wide) = (
        usize::from(is_narrow(*last, 0)),
        usize::from(is_wide(*last, 0)),
    );
    for (firsts, seconds) in bytes.chunks(128).zip(after.chunks(128)) {
        let (mut of_narrow, mut of_wide) = (0_u8, 0_u8);
        for (&first, &second) in firsts.iter().zip(seconds) {
            of_narrow += u8::from(is_narrow(first, second));
            of_wide += u8::from(is_wide(first, second));
        }
        narrow += usize::from(of_narrow);
        wide += usize::from(of_wide);
    }
    narrow > 4 * wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_letters_weigh_as_one_character() {
        assert!(!is_spaced("渡口abcdefgh"));
        assert!(is_spaced("渡口abcdefghi"));
        assert!(is_spaced("Ärzte"));
        assert!(is_spaced("паром"));
        assert!(!is_spaced("สวัสดี"));
        assert!(!is_spaced("12:30"));
        // Neither emoji nor rules are letters.
        assert!(is_spaced("ferry 🎉🎉🎉 ━━━━━━"));
    }

    #[test]
    fn every_stretch_between_two_separators_is_a_unit() {
        let of = |text: &str, by: &str| {
            let units = Units::Separated;
            let by = by.to_owned();
            let settings = Settings {
                units,
                by,
                ..Settings::default()
            };
            let mut found = Vec::new();
            let segmenter = Segmenter::new(&settings, None).unwrap();
            segmenter.for_each(text, |unit| found.push(unit.text.to_owned()));
            found
        };
        assert_eq!(of("渡口, ,,新船,", ","), ["渡口", " ", "", "新船", ""]);
        assert_eq!(of("渡口||新船", "||"), ["渡口", "新船"]);
        assert_eq!(of("", ","), [""; 0]);
    }

    #[test]
    fn letters_of_scripts_with_spaces_are_narrow() {
        for c in '\u{1}'..='\u{2FFF}' {
            let is_letter = matches!(
                c,
                'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{DFF}' | '\u{1E00}'..='\u{1FFF}'
            );
            let text = format!("{c}{c}");
            assert_eq!(is_spaced(&text), is_letter, "{c:?}");
            assert_eq!(is_spaced(&format!("渡{c}bcde")), is_letter, "{c:?}");
        }
    }
}
