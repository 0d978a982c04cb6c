/*! How a measure decides about two texts: what it compares of each, a bound, and the similarity once they are
aligned.

A pair among many takes these steps only as far as it may still be similar. To explain one pair, the same steps run to
the end with a threshold of 0.
*/

use std::fmt;

use super::alignment::Aligned;
use super::by_samples::Ratio;
use super::noise::lifted;
use super::profile::Profile;
use super::shingle_frequencies::ShingleFrequencies;
use super::weighed::{Own, Scratch, Weighed};
use crate::constants::SLOTS;

/// One measure of two texts.
pub(super) trait Verdict: fmt::Debug + Send + Sync {
    /// The properties of a normalized text that the measure compares.
    fn prepare(&self, text: &str) -> Profile;

    /// The most that two texts can be alike, whatever their alignment; `None` if that is less than `threshold`.
    ///
    /// `frequencies` must have been counted with shingles of the measure's length; without them no shingle is common.
    fn bound(
        &self,
        pair: (&Profile, &Profile),
        frequencies: Option<&ShingleFrequencies>,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Most>;

    /// The similarity of two aligned texts with this bound.
    fn finish(&self, most: Most, aligned: &Aligned) -> f64;

    /// Whether texts are aligned. If not, the bound is the similarity.
    fn aligns(&self) -> bool {
        true
    }

    /// The share of sampled shingles that bounds the similarity, if one does.
    fn ratio(&self) -> Option<Ratio> {
        None
    }
}

/// The most that two texts can be alike, whatever their alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Most {
    pub(super) similarity: f64,
    /// The same if their differences are scattered.
    pub(super) scattered: f64,
    /// The same by what few texts carry, and which texts may say something of their own.
    pub(super) own: Option<(f64, [bool; 2])>,
    /// Whether one of the texts is [short](super::short), so that letters and digits decide.
    pub(super) is_short: bool,
}

impl Most {
    pub(super) fn of(similarity: f64) -> Self {
        Most {
            similarity,
            scattered: similarity,
            own: None,
            is_short: false,
        }
    }

    /// By the resemblance of their shingles, of which all count alike.
    pub(super) fn unweighed(resemblance: f64) -> Self {
        Most {
            scattered: lifted(resemblance),
            ..Most::of(resemblance)
        }
    }

    pub(super) fn weighed(weighed: Weighed) -> Self {
        let similarity = weighed.resemblance();
        let of = |own: Own| (own.resemblance().min(similarity), own.says);
        let scattered = match weighed.says_other() {
            true => similarity,
            false => similarity.max(lifted(weighed.unweighed())),
        };
        Most {
            similarity,
            scattered,
            own: weighed.own.map(of),
            is_short: false,
        }
    }

    /// The same where it makes no difference what a text says of its own.
    pub(super) fn without_own(self) -> Self {
        Most { own: None, ..self }
    }

    /// Whether a text says something of its own beside text of many.
    pub(super) fn is_of_own(self, aligned: &Aligned) -> bool {
        let says = self.own.map_or([false; 2], |(_, says)| says);
        let has_passage = (0..2).any(|side| says[side] && aligned.passage[side]);
        let has_names = says[0] && says[1] && aligned.slots >= SLOTS;
        has_passage || has_names && !aligned.is_scattered()
    }
}
