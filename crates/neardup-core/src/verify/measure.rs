//! How the similarity of two texts is measured, and what a measure needs of a text.

use std::fmt;

use super::containment::{self, Containment, Direction};
use super::content::Profile;
use super::edits::UnitBag;
use super::probe::Probe;
use super::resemblance::Shingles;
use super::shingle_frequencies::ShingleFrequencies;
use super::weighed::Scratch;
use crate::sketch::shingle_hashes;

/// Bytes of the longest text that is looked up in a probe.
const LONGEST_PROBE: usize = 1 << 16;

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
pub(super) enum Like {
    Similar(f64),
    /// An upper bound of the similarity.
    AtMost(f64),
}

/// The data that a measure needs of a text.
#[derive(Debug)]
pub(super) enum LookedAt {
    /// Nothing so far, since so few texts were compared with it.
    Few(u32),
    /// Placeholder until the text has been processed.
    NotYet,
    Shingles(Shingles),
    // Boxed, since it is several times the size of the other variants.
    Profile(Box<Profile>),
    Units(UnitBag),
}

impl Measure {
    pub(super) fn look_at(self, text: &str, frequencies: Option<&ShingleFrequencies>) -> LookedAt {
        match self {
            Measure::Resemblance { k } => LookedAt::Shingles(Shingles::of(text, k)),
            Measure::Content { k } => {
                let profile = Profile::of(text, k, frequencies);
                LookedAt::Profile(Box::new(profile))
            }
            Measure::Containment { k, .. } => {
                let profile = Profile::whole(text, k, frequencies);
                LookedAt::Profile(Box::new(profile))
            }
            Measure::Aligned => LookedAt::Units(UnitBag::of(text)),
        }
    }

    /// Whether a [`Probe`] can rule out texts of `size` bytes. Its memory is not counted, so of long
    /// texts the data is made in any case.
    pub(super) fn probes(self, size: usize) -> bool {
        self != Measure::Aligned && size <= LONGEST_PROBE
    }

    /// Whether `text` can be as similar to `document` as `threshold`, as far as a probe shows.
    pub(super) fn may_be_like(
        self,
        document: (u32, &LookedAt),
        text: &str,
        threshold: f64,
        scratch: &mut (Probe, Scratch),
    ) -> bool {
        match (document, self) {
            ((id, LookedAt::Shingles(own)), Measure::Resemblance { k }) => {
                let set = own.hashes();
                let write = |hashes: &mut Vec<u64>| shingle_hashes(text, k, hashes);
                let overlap = scratch.0.look_up(id, set, write).overlap(set);
                overlap.resemblance() >= threshold
            }
            ((id, LookedAt::Profile(own)), Measure::Content { k }) => {
                own.may_be_like(id, text, k, threshold, scratch)
            }
            ((id, LookedAt::Profile(own)), Measure::Containment { k, direction }) => {
                containment::may_be_like(own, id, text, k, (direction, threshold), scratch)
            }
            _ => true,
        }
    }

    /// The most that two texts can be alike, whatever their alignment; `None` if that is less than
    /// `threshold`.
    pub(super) fn like(
        self,
        a: &LookedAt,
        b: &LookedAt,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Like> {
        match (a, b) {
            (LookedAt::Shingles(a), LookedAt::Shingles(b)) => {
                a.resemblance_from(b, threshold).map(Like::Similar)
            }
            (LookedAt::Profile(a), LookedAt::Profile(b)) => match self {
                Measure::Containment { direction, .. } => {
                    Containment::at_least(a, b, direction, threshold, scratch)
                }
                _ => a.most_from(b, threshold, scratch),
            }
            .map(Like::AtMost),
            (LookedAt::Units(a), LookedAt::Units(b)) => a.most_from(b, threshold).map(Like::AtMost),
            _ => None,
        }
    }

    /// An estimate of the most memory that the data of a text of `size` bytes takes.
    ///
    /// A character has at least one byte and at most one shingle of 8 bytes,
    /// with 4 for its count if the text is short, or 6 for the count and weight of each shingle,
    /// and at most one unit of 8, kept once or twice.
    pub(super) fn most_bytes(self, size: usize) -> usize {
        match self {
            Measure::Resemblance { .. } => 8 * size,
            Measure::Content { .. } => size_of::<Profile>() + 20 * size,
            Measure::Containment { .. } => size_of::<Profile>() + 22 * size,
            Measure::Aligned => 16 * size,
        }
    }
}

impl LookedAt {
    /// The memory it takes, including its entry in the table.
    pub(super) fn bytes(&self) -> usize {
        64 + match self {
            LookedAt::Few(_) | LookedAt::NotYet => 0,
            LookedAt::Shingles(set) => 8 * set.len(),
            LookedAt::Units(units) => 8 * units.len(),
            LookedAt::Profile(profile) => size_of::<Profile>() + profile.heap_bytes(),
        }
    }
}
