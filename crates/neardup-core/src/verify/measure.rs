//! The measures, and those that compare shares of shingles.

use std::fmt;

use super::aligned::EditSimilarity;
use super::alignment::Aligned;
use super::by_samples::Ratio;
use super::containment::Direction;
use super::content::Content;
use super::most::Most;
use super::profile::Profile;
use super::resemblance::Shingles;
use super::score::less_numbers;
use super::verdict::Verdict;
use super::weighed::Scratch;
use crate::shingle_frequencies::ShingleFrequencies;

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
    /// [`Containment`](super::Containment).
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

impl Measure {
    /// The measure of this name, with `k` characters in a shingle; `direction` counts for containment only.
    pub fn named(name: &str, k: usize, direction: Direction) -> Option<Self> {
        match name {
            "resemblance" => Some(Measure::Resemblance { k }),
            "content" => Some(Measure::Content { k }),
            "containment" => Some(Measure::Containment { k, direction }),
            "aligned" => Some(Measure::Aligned),
            _ => None,
        }
    }

    pub(super) fn verdict(self) -> Box<dyn Verdict> {
        match self {
            Measure::Resemblance { k } => Box::new(Resemblance { k }),
            Measure::Content { k } => Box::new(Content { k }),
            Measure::Containment { k, direction } => Box::new(Contained { k, direction }),
            Measure::Aligned => Box::new(EditSimilarity),
        }
    }

    /// The similarity of two normalized texts with this alignment, as a [`Verifier`](super::Verifier) finds it.
    pub fn similarity(
        self,
        texts: [&str; 2],
        frequencies: Option<&ShingleFrequencies>,
        aligned: &Aligned,
    ) -> f64 {
        let verdict = self.verdict();
        let [a, b] = texts.map(|text| verdict.prepare(text));
        let most = verdict.bound((&a, &b), frequencies, 0.0, &mut Scratch::default());
        most.map_or(0.0, |most| verdict.finish(most, aligned))
    }
}

/// The measure `resemblance(k)`.
#[derive(Debug)]
pub(super) struct Resemblance {
    pub(super) k: usize,
}

impl Verdict for Resemblance {
    fn prepare(&self, text: &str) -> Profile {
        Profile {
            exact: Shingles::of(text, self.k),
            ..Profile::default()
        }
    }

    fn bound(
        &self,
        (a, b): (&Profile, &Profile),
        _: Option<&ShingleFrequencies>,
        threshold: f64,
        _: &mut Scratch,
    ) -> Option<Most> {
        a.exact.resemblance_from(&b.exact, threshold).map(Most::of)
    }

    fn finish(&self, most: Most, _: &Aligned) -> f64 {
        most.similarity
    }

    fn aligns(&self) -> bool {
        false
    }
}

/// The measure `containment(k)`.
#[derive(Debug)]
pub(super) struct Contained {
    pub(super) k: usize,
    pub(super) direction: Direction,
}

impl Verdict for Contained {
    fn prepare(&self, text: &str) -> Profile {
        Profile::of_shingles(text, self.k)
    }

    fn bound(
        &self,
        (a, b): (&Profile, &Profile),
        frequencies: Option<&ShingleFrequencies>,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Most> {
        a.bound(
            b,
            Ratio::Containment(self.direction),
            frequencies,
            threshold,
            scratch,
        )
    }

    fn finish(&self, most: Most, aligned: &Aligned) -> f64 {
        less_numbers(most.similarity, aligned)
    }

    fn ratio(&self) -> Option<Ratio> {
        Some(Ratio::Containment(self.direction))
    }
}
