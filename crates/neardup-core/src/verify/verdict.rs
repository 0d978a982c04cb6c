/*! How a measure decides about two texts: what it compares of each, a bound, and the similarity once they are
aligned.

A pair among many takes these steps only as far as it may still be similar. To explain one pair, the same steps run to
the end with a threshold of 0.
*/

use std::fmt;

use super::alignment::Aligned;
use super::by_samples::Ratio;
use super::most::Most;
use super::profile::Profile;
use super::weighed::Scratch;
use crate::shingle_frequencies::ShingleFrequencies;

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
