//! How the similarity of two texts is measured, and what a measure needs of a text.

use std::fmt;

use super::aligned::{self, UnitBag};
use super::alignment::Aligned;
use super::containment::{self, Containment, Direction};
use super::content::{Most, Profile, score, score_short};
use super::resemblance::Shingles;
use super::shingle_frequencies::ShingleFrequencies;
use super::weighed::Scratch;

/// How the similarity of two texts is measured.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::Measure;
///
/// assert_eq!(Measure::Content { k: 5 }.to_string(), "content(5)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The number of shared shingles of `k` characters divided by the number of all.
    Resemblance {
        /// Characters in a shingle.
        k: usize,
    },
    /// Whether one text repeats the other, by shingles that weigh more the fewer texts contain
    /// them, and by which words or characters replace which: [`Evidence`](super::Evidence).
    Content {
        /// Characters in a shingle.
        k: usize,
    },
    /// How much of one text lies in the other, by the same shingles and numbers:
    /// [`Containment`].
    Containment {
        /// Characters in a shingle.
        k: usize,
        /// Which text must lie in the other.
        direction: Direction,
    },
    /// The edit similarity by units: [`Aligned::similarity`](super::Aligned::similarity).
    Aligned,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Resemblance { k } => write!(f, "resemblance({k})"),
            Measure::Content { k } => write!(f, "content({k})"),
            Measure::Containment { k, .. } => write!(f, "containment({k})"),
            Measure::Aligned => write!(f, "aligned"),
        }
    }
}

/// The result of the first comparison of two texts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Comparison {
    /// An upper bound of the similarity, which the alignment decides; by resemblance, which aligns
    /// nothing, the similarity.
    AtMost(Most),
    /// The similarity of two texts of which one is [short](super::short), unless a letter differs where
    /// they are aligned.
    OfShort(f64),
}

impl Comparison {
    pub(super) fn at_most(similarity: f64) -> Self {
        Comparison::AtMost(Most::of(similarity))
    }

    /// The same where it makes no difference what a text says of its own.
    pub(super) fn without_own(self) -> Self {
        match self {
            Comparison::AtMost(most) => Comparison::AtMost(most.without_own()),
            Comparison::OfShort(_) => self,
        }
    }

    /// The largest similarity that there may be, unless the texts differ in scattered edits.
    pub(super) fn plain(self) -> f64 {
        match self {
            Comparison::AtMost(most) => most.similarity,
            Comparison::OfShort(most) => most,
        }
    }

    /// The largest similarity that there may be.
    pub(super) fn most(self) -> f64 {
        match self {
            Comparison::AtMost(most) => most.scattered,
            Comparison::OfShort(most) => most,
        }
    }
}

/// The data that a measure needs of a text.
#[derive(Debug)]
pub(super) enum Features {
    Shingles(Shingles),
    // Boxed, since it is several times the size of the other variants.
    Profile(Box<Profile>),
    Units(UnitBag),
}

impl Measure {
    pub(super) fn features_of(self, text: &str) -> Features {
        match self {
            Measure::Resemblance { k } => Features::Shingles(Shingles::of(text, k)),
            Measure::Content { k } | Measure::Containment { k, .. } => {
                Features::Profile(Box::new(Profile::of(text, k)))
            }
            Measure::Aligned => Features::Units(UnitBag::of(text)),
        }
    }

    /// The most that two texts can be alike, whatever their alignment; `None` if that is less than
    /// `threshold`.
    pub(super) fn compare(
        self,
        (a, b): (&Features, &Features),
        frequencies: Option<&ShingleFrequencies>,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Comparison> {
        match (a, b) {
            (Features::Shingles(a), Features::Shingles(b)) => {
                a.resemblance_from(b, threshold).map(Comparison::at_most)
            }
            (Features::Profile(a), Features::Profile(b)) => match self {
                Measure::Containment { direction, .. } => {
                    Containment::at_least((a, b), frequencies, direction, threshold, scratch)
                        .map(Comparison::at_most)
                }
                _ => {
                    let most = a.most_from(b, frequencies, threshold, scratch);
                    most.map(|most| match a.is_short_beside(b) {
                        true => Comparison::OfShort(most.similarity),
                        false => Comparison::AtMost(most),
                    })
                }
            },
            (Features::Units(a), Features::Units(b)) => {
                a.most_from(b, threshold).map(Comparison::at_most)
            }
            _ => None,
        }
    }

    /// Whether texts are aligned.
    pub(super) fn aligns(self) -> bool {
        !matches!(self, Measure::Resemblance { .. })
    }

    /// The similarity of two texts that are aligned, after the first comparison.
    pub(super) fn aligned(self, comparison: Comparison, aligned: &Aligned) -> f64 {
        match (comparison, self) {
            (Comparison::OfShort(share), _) => score_short(share, aligned),
            (Comparison::AtMost(most), Measure::Aligned) => {
                aligned::similarity(most.similarity, aligned)
            }
            (Comparison::AtMost(most), Measure::Containment { .. }) => {
                containment::similarity(most.similarity, aligned)
            }
            (Comparison::AtMost(most), _) => score(most, aligned),
        }
    }

    /// An estimate of the most memory that the data of a text of `size` bytes takes.
    ///
    /// A character has at least one byte and at most one shingle, of 8 bytes or of 4 after 16, and at
    /// most one unit of 8, kept once or twice.
    pub(super) fn most_bytes(self, size: usize) -> usize {
        match self {
            Measure::Resemblance { .. } => 8 * size,
            Measure::Content { .. } | Measure::Containment { .. } => {
                size_of::<Profile>() + 20 * size
            }
            Measure::Aligned => 16 * size,
        }
    }
}

impl Features {
    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Features::Shingles(set) => 8 * set.len(),
            Features::Units(units) => 8 * units.len(),
            Features::Profile(profile) => size_of::<Profile>() + profile.heap_bytes(),
        }
    }
}
