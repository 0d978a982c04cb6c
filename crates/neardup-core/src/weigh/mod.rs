/*! Stage 3: units to features with integer weights.

A feature is a distinct unit; its weight is its importance in the document. Units are
first filtered (lower case, punctuation, stop words), then counted, then weighed by one
of the [`Scheme`]s. In this table, tf is the number of times that the feature occurs in
the document:

| scheme | weight |
|---|---|
| `once` | 1 |
| `tf` | tf |
| `share` | tf * tf: its share of the document, added once per occurrence |
| `tf-idf` | tf * idf |
| `improved` | tf * idf * (1 + POS + LEN + MARK + TITLE), after Zhang and He, Computer Science and Application 10(2), 2020 |

Constant divisors (the length of the document) are left out: they change neither
a sign nor an order. Logarithms come from a portable implementation and are
rounded to 16 binary places at once; all further arithmetic uses integers, so
weights are the same on every platform.

**Bounds.** A text of at most [`MAX_TEXT_BYTES`](crate::normalize::MAX_TEXT_BYTES)
has M < 2^32 units. An idf is below 2^22 (ln of a 64-bit number is below 45) and the
factor of `improved` is at most 1 + 3 + 5 + 5 + 1 = 15. So no weight of a document, and no
sum of them, exceeds M * 2^22 * 15 < 2^58, or M * M < 2^64 for `share`.

Time is linear in the units (`top` adds a selection). Memory is a hash table of the
features, reused from document to document.
*/

mod bundled;
mod features;
mod frequencies;
mod improved;
mod stop_words;

use std::sync::Arc;

use bundled::Bundled;
use rustc_hash::FxHashSet;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::normalize::{Normalizer, is_letter_or_digit};
use crate::segment::Unit;

pub(crate) use features::{Feature, Features};
pub use frequencies::DocumentFrequencies;
pub use improved::Factors;
pub(crate) use improved::Markers;
pub use stop_words::bundled_stop_words;
pub(crate) use stop_words::normalize_list;

/// How a feature's weight is computed; see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Every feature weighs 1.
    Once,
    /// The number of its occurrences.
    #[default]
    Tf,
    /// The square of the number of its occurrences.
    Share,
    /// Occurrences times rarity in a collection.
    TfIdf,
    /// `TfIdf` times a factor for part of speech, length, markers and title.
    Improved,
}

/// Where inverse document frequencies come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idf {
    /// None: the scheme does not use them.
    #[default]
    None,
    /// The collection itself, counted before its documents are weighed.
    Corpus,
    /// The general table that comes with jieba-rs.
    Bundled,
    /// A table passed by the caller.
    Table,
}

/// How units become weighted features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The formula.
    pub scheme: Scheme,
    /// The source of document frequencies.
    pub idf: Idf,
    /// Leave out features that fewer documents of the collection contain. A feature that
    /// is not in the table counts as being in one document. 0 and 1 leave out none.
    pub min_document_frequency: u64,
    /// Keep only this many features of highest weight; ties are broken by code points,
    /// ascending.
    pub top: Option<usize>,
    /// Drop stop words, except those with a marker if the scheme is `improved`.
    pub drop_stop_words: bool,
    /// Drop units without a letter or digit (Alphabetic, or a category N).
    pub drop_punctuation: bool,
    /// Replace each character of a unit by its lower case.
    pub lowercase_units: bool,
    /// Which words a marker of one or two characters marks.
    pub marker_match: MarkerMatch,
}

/// Which words a marker of one or two characters marks; a longer one marks every word that
/// contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkerMatch {
    /// Only the equal word.
    #[default]
    Word,
    /// Every word that contains it, as Zhang and He define it.
    Contains,
}

/// Rarity of words, in units of 2^-16.
#[derive(Clone, Debug)]
enum Rarity {
    Unused,
    Counted(Arc<DocumentFrequencies>),
    Bundled(&'static Bundled),
}

impl Rarity {
    #[inline]
    fn of(&self, word: &str, feature: &Feature) -> u64 {
        match self {
            Rarity::Unused => 1,
            Rarity::Counted(counted) => counted.idf(word),
            Rarity::Bundled(table) => table.idf(word, feature.hash()),
        }
    }
}

/// The weigh stage, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Weigher {
    settings: Settings,
    stop_words: Arc<FxHashSet<Box<str>>>,
    markers: Arc<Markers>,
    rarity: Rarity,
    waiting: bool,
    /// Whether any unit can be changed or dropped.
    filters: bool,
}

impl Weigher {
    pub(crate) fn new(
        settings: Settings,
        stop_words: FxHashSet<Box<str>>,
        markers: Markers,
        table: Option<DocumentFrequencies>,
    ) -> Result<Self> {
        let uses_idf = matches!(settings.scheme, Scheme::TfIdf | Scheme::Improved);
        if uses_idf == (settings.idf == Idf::None) {
            let expected = match uses_idf {
                true => "'corpus', 'bundled' or 'table' with the schemes 'tf-idf' and 'improved'",
                false => "'none' with the schemes 'once', 'tf' and 'share'",
            };
            return Err(Error::parameter(
                "idf",
                expected,
                format!("{:?}", settings.idf).to_lowercase(),
            ));
        }
        if settings.min_document_frequency > 1 && !matches!(settings.idf, Idf::Corpus | Idf::Table)
        {
            return Err(Error::parameter(
                "min_document_frequency",
                "1 where no documents are counted, as with the idf 'none' and 'bundled'",
                settings.min_document_frequency,
            ));
        }
        if settings.top == Some(0) {
            return Err(Error::parameter("top", "at least 1", 0));
        }
        let waiting = settings.idf == Idf::Corpus && table.is_none();
        let rarity = match (settings.idf, table) {
            (Idf::None, _) => Rarity::Unused,
            (Idf::Bundled, _) => Rarity::Bundled(Bundled::get()?),
            (Idf::Table, None) => {
                return Err(Error::parameter(
                    "idf",
                    "given with a table of document frequencies",
                    "none",
                ));
            }
            (Idf::Table | Idf::Corpus, table) => {
                Rarity::Counted(Arc::new(table.unwrap_or_default()))
            }
        };
        Ok(Weigher {
            filters: settings.lowercase_units
                || settings.drop_punctuation
                || (settings.drop_stop_words && !stop_words.is_empty()),
            settings,
            stop_words: Arc::new(stop_words),
            markers: Arc::new(markers),
            rarity,
            waiting,
        })
    }

    /// True until the collection's own frequencies are known.
    pub(crate) fn needs_document_frequencies(&self) -> bool {
        self.waiting
    }

    pub(crate) fn with_document_frequencies(&self, counted: DocumentFrequencies) -> Self {
        let counts = matches!(self.settings.idf, Idf::Corpus | Idf::Table);
        Weigher {
            rarity: match counts {
                true => Rarity::Counted(Arc::new(counted)),
                false => self.rarity.clone(),
            },
            waiting: false,
            ..self.clone()
        }
    }

    /// Whether each occurrence weighs 1 independently of all others, so that features
    /// need not be distinguished.
    pub(crate) fn is_plain_count(&self) -> bool {
        self.settings.scheme == Scheme::Tf && self.settings.top.is_none()
    }

    /// Whether every feature weighs 1, so that it is enough to distinguish new units
    /// from repeated ones.
    pub(crate) fn is_each_once(&self) -> bool {
        self.settings.scheme == Scheme::Once && self.settings.top.is_none()
    }

    /// Whether every unit is a feature.
    pub(crate) fn keeps_all(&self) -> bool {
        !self.filters
    }

    pub(crate) fn uses_title(&self) -> bool {
        self.settings.scheme == Scheme::Improved
    }

    /// A title, normalized so that the words of a text can be searched in it.
    pub(crate) fn normalize_title(&self, title: &str, normalizer: &Normalizer) -> String {
        stop_words::normalize(title, normalizer, self.settings.lowercase_units)
    }

    /// The unit in the form that is counted, or `None` if it is filtered out. `lower` is a
    /// buffer for a changed text.
    #[inline]
    pub(crate) fn keep<'a>(&self, unit: &'a str, lower: &'a mut String) -> Option<&'a str> {
        if !self.filters {
            return Some(unit);
        }
        let settings = &self.settings;
        let unit = match settings.lowercase_units && unit.chars().any(stop_words::has_lowercase) {
            true => {
                lower.clear();
                stop_words::lowercase_into(unit, lower);
                lower
            }
            false => unit,
        };
        if settings.drop_punctuation && !unit.chars().any(is_letter_or_digit) {
            return None;
        }
        // Most marker words are stop words too and must not be dropped.
        if settings.drop_stop_words
            && self.stop_words.contains(unit)
            && !(settings.scheme == Scheme::Improved && self.markers.mark(unit))
        {
            return None;
        }
        Some(unit)
    }

    /// Counts a unit, unless it is filtered out.
    #[inline]
    pub(crate) fn count(&self, unit: Unit<'_>, features: &mut Features, lower: &mut String) {
        if let Some(text) = self.keep(unit.text, lower) {
            features.count(text, unit.tag);
        }
    }

    /// Drops the features that too few documents contain, and returns their number. Drops
    /// none until the collection's own frequencies are known.
    pub(crate) fn drop_rare(&self, features: &mut Features) -> usize {
        let least = self.settings.min_document_frequency;
        match &self.rarity {
            Rarity::Counted(counted) if least > 1 && !self.waiting => {
                features.retain(|word| counted.count(word).max(1) >= least)
            }
            _ => 0,
        }
    }

    /// The parts of the weights of `features`: a feature's inverse document frequency in
    /// units of 2^-16, and its factors, if the scheme has them.
    pub(crate) fn parts<'a>(
        &'a self,
        features: &Features,
        title: &'a str,
    ) -> impl Fn(&str, &Feature) -> (Option<u64>, Option<Factors>) + 'a {
        let factor = (self.settings.scheme == Scheme::Improved)
            .then(|| improved::Factor::new(features, &self.markers, title));
        let rarity = Some(&self.rarity).filter(|rarity| !matches!(rarity, Rarity::Unused));
        move |word, feature| {
            (
                rarity.map(|rarity| rarity.of(word, feature)),
                factor.as_ref().map(|factor| factor.factors(word, feature)),
            )
        }
    }

    /// Sets the weight of each of `features`, and drops those beyond `top`.
    /// `title` is normalized; it is empty if there is none.
    pub(crate) fn weigh(&self, features: &mut Features, title: &str) {
        match self.settings.scheme {
            Scheme::Once => features.weigh_each(|_, _| 1),
            Scheme::Tf => features.weigh_each(|_, feature| feature.occurrences()),
            Scheme::Share => features.weigh_each(|_, feature| feature.occurrences().pow(2)),
            Scheme::TfIdf => features
                .weigh_each(|word, feature| feature.occurrences() * self.rarity.of(word, feature)),
            Scheme::Improved => {
                let factor = improved::Factor::new(features, &self.markers, title);
                // A separate pass, so that the processor can fetch many
                // entries of a large table at once.
                features.weigh_each(|word, feature| self.rarity.of(word, feature));
                features.weigh_each(|word, feature| {
                    let weight = u128::from(feature.occurrences())
                        * u128::from(feature.weight)
                        * u128::from(factor.of(word, feature));
                    // Below 2^58, see the bounds of the module.
                    (weight >> improved::FRACTION) as u64
                });
            }
        }
        if let Some(top) = self.settings.top {
            features.keep_top(top);
        }
    }
}
