//! The evidence for a verdict about two texts: what each step of [`Verdict`] found, kept.

use super::alignment::{Aligned, Alignment, Layout};
use super::by_samples::Ratio;
use super::containment::{Containment, Direction};
use super::content::Content;
use super::most::Most;
use super::resemblance::Overlap;
use super::score::{alignment, as_share};
use super::units::Units;
use super::verdict::Verdict;
use super::weighed::{Scratch, Weighed, Weighing};
use crate::shingle_frequencies::ShingleFrequencies;

/// Everything that decides about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Sizes of the sets of shingles and of their intersection.
    pub overlap: Overlap,
    /// The weights; `None` if all shingles count alike.
    pub weighed: Option<Weighed>,
    /// How the texts align.
    pub aligned: Aligned,
    /// Whether one of the texts is so short that letters and digits decide.
    pub short: bool,
    /// The content; of short texts, the share of letters and digits. In \[0, 1\].
    pub similarity: f64,
    /// The penalty of replaced numbers and of words that turn the meaning; 0 for short texts.
    pub penalty: f64,
    /// Whether the unique text of a text decides, since both share boilerplate.
    pub by_unique_text: bool,
    /// The share of the longer text that is aligned, in \[0, 1\].
    pub alignment: f64,
    /// How the gaps of the alignment lie.
    pub layout: Layout,
    /// How much of each text lies in the other.
    pub containment: Containment,
}

impl Evidence {
    /// Compares two normalized texts by `content(k)` in full, and by how many texts contain each shingle of this length.
    pub fn of([a, b]: [&str; 2], k: usize, frequencies: Option<&ShingleFrequencies>) -> Self {
        // One thing at a time, since each takes a multiple of a long text.
        let (aligned, layout) = {
            let units = [a, b].map(Units::of);
            let alignment = Alignment::of(&units[0], &units[1]);
            (alignment.aligned(), alignment.layout())
        };
        let measure = Content { k };
        let (a, b) = (&measure.prepare(a), &measure.prepare(b));
        let mut scratch = Scratch::default();
        let most = measure.bound((a, b), frequencies, 0.0, &mut scratch);
        let most = most.unwrap_or(Most::of(0.0));
        let mut weighed = |ratio| match a.weigh(b, ratio, frequencies, 0.0, &mut scratch) {
            Weighing::Done(weighed) => Some(weighed),
            // At a threshold of 0, no pair is ruled out.
            Weighing::Unweighed | Weighing::TooLow => None,
        };
        let overlap = a.shingles.overlap(&b.shingles);
        let contained = weighed(Ratio::Containment(Direction::Either));
        let similarity = measure.finish(most, &aligned);
        let without_numbers = Aligned {
            replaced: 0,
            negated: 0,
            ..aligned
        };
        Evidence {
            weighed: weighed(Ratio::Resemblance).filter(|_| !most.is_short),
            similarity,
            penalty: match most.is_short {
                true => 0.0,
                false => measure.finish(most, &without_numbers) - similarity,
            },
            by_unique_text: most.is_by_unique_text(&aligned),
            short: most.is_short,
            alignment: as_share(alignment(&aligned)),
            containment: contained.map_or(Containment::of_overlap(overlap), Containment::weighed),
            overlap,
            aligned,
            layout,
        }
    }
}
