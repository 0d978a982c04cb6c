/*! Bounds of the similarity of two texts, by their samples.

If shingles are weighed, or if both samples are all shingles of short texts, the samples decide a pair.
Otherwise they estimate it: of n sampled shingles, the number that both texts have is binomial. A pair is ruled
out if so few are shared that at most one in a million pairs at the threshold shares no more.
*/

use std::hint::black_box;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::containment::{self, Containment, Direction};
use super::counted_sample::CountedSample;
use super::most::Most;
use super::noise::least_for;
use super::resemblance::Overlap;
use super::sample::text_level;
use super::weighed::{Scratch, Weighed, Weighing};
use crate::buckets::shared_count;
use crate::constants::{HIGHEST, MISSED};
use crate::ids::DocId;
use crate::shingle_frequencies::ShingleFrequencies;

/// Pairs whose samples are fetched together.
const TOGETHER: usize = 32;

/// Sampled shingles of two texts up to which the table of [`FewestShared`] goes.
const LARGEST: usize = 256;

/// A bound of the similarity of two texts, by their samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BySamples {
    /// It is below the threshold.
    TooLow,
    /// It is this, but for replaced numbers, which lower it.
    AtMost(Most),
    /// All shingles of the texts must be compared.
    Open,
}

/// Which share of the shingles of two texts a measure takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ratio {
    /// The shared part of all shingles.
    Resemblance,
    /// The shared part of the shingles of one text.
    Containment(Direction),
}

impl Ratio {
    /// The level at which two texts with so many shingles are weighed, unless that of the table is higher.
    pub(super) fn level(self, a: usize, b: usize) -> u32 {
        match self {
            Ratio::Resemblance => text_level(a.max(b)),
            Ratio::Containment(_) => containment::level(a, b),
        }
    }

    pub(super) fn weighed(self, weighed: Weighed) -> Most {
        match self {
            Ratio::Resemblance => Most::weighed(weighed),
            Ratio::Containment(direction) => Most::of(direction.of(Containment::weighed(weighed))),
        }
    }

    pub(super) fn of_sets(self, sets: Overlap) -> Most {
        match self {
            Ratio::Resemblance => Most::unweighed(sets.resemblance()),
            Ratio::Containment(direction) => Most::of(direction.of(Containment::of_overlap(sets))),
        }
    }

    /// The least share of shingles with which two texts may be so similar.
    fn least_for(self, similarity: f64) -> f64 {
        match self {
            Ratio::Resemblance => least_for(similarity),
            Ratio::Containment(_) => similarity,
        }
    }

    /// The denominator of the share, in shingles.
    fn all(self, sets: Overlap) -> usize {
        match self {
            Ratio::Resemblance => sets.a + sets.b - sets.common,
            Ratio::Containment(Direction::FirstInSecond) => sets.a,
            Ratio::Containment(Direction::Either) => sets.a.min(sets.b),
            Ratio::Containment(Direction::Both) => sets.a.max(sets.b),
        }
    }
}

/// The rule for pairs of samples.
#[derive(Clone, Copy)]
pub(super) struct SampleBounds<'a> {
    pub(super) ratio: Ratio,
    /// The counts of the collection.
    pub(super) table: &'a ShingleFrequencies,
    /// Inclusive.
    pub(super) threshold: f64,
    /// For this threshold.
    pub(super) fewest: &'a FewestShared,
}

impl<'t> SampleBounds<'t> {
    /// `fewest` is made at the first use.
    pub(super) fn new(
        ratio: Ratio,
        table: &'t ShingleFrequencies,
        threshold: f64,
        fewest: &'t OnceLock<FewestShared>,
    ) -> Self {
        SampleBounds {
            ratio,
            table,
            threshold,
            fewest: fewest.get_or_init(|| FewestShared::new(ratio.least_for(threshold))),
        }
    }

    /// Adds the bound of each pair to `bounds`, on the current rayon pool; `sample` has the sample of each text,
    /// if there is one.
    pub(super) fn add_bounds<'s>(
        self,
        pairs: &[(DocId, DocId)],
        sample: impl Fn(DocId) -> Option<CountedSample<'s>> + Sync,
        bounds: &mut Vec<BySamples>,
    ) {
        let of_pairs = |scratch: &mut Scratch, pairs: &[(DocId, DocId)]| {
            // Samples lie anywhere in memory. Nothing here depends on the numbers that are read, so the
            // processor fetches several samples at a time.
            let both = pairs.iter().map(|&(a, b)| (sample(a), sample(b)));
            let both: Vec<_> = both.collect();
            let lines = both.iter().filter_map(|(_, b)| *b).map(|b| b.touch());
            black_box(lines.fold(0, u32::wrapping_add));
            let found = both.into_iter().map(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => self.bound((&a, &b), scratch),
                _ => BySamples::Open,
            });
            found.collect::<Vec<_>>()
        };
        let all = pairs.par_chunks(TOGETHER);
        bounds.par_extend(all.map_init(Scratch::default, of_pairs).flatten_iter());
    }

    /// The bound of two texts that are not short.
    ///
    /// The profiles of the texts have the same bound, but for the few pairs that `fewest` loses: pairs whose
    /// shingles all count alike.
    pub(super) fn bound(
        self,
        (a, b): (&CountedSample<'_>, &CountedSample<'_>),
        scratch: &mut Scratch,
    ) -> BySamples {
        let SampleBounds {
            ratio,
            table,
            threshold,
            ..
        } = self;
        let pair_level = ratio.level(a.shingles, b.shingles);
        let least = a.level.max(b.level);
        let level = pair_level.max(table.level());
        if level < least {
            return BySamples::Open;
        }
        let both = (&a.at(level, table), &b.at(level, table));
        let by = |least| ratio.weighed(least).scattered;
        let most = match scratch.weigh(both, table, threshold, by) {
            Weighing::TooLow => return BySamples::TooLow,
            Weighing::Done(weighed) => ratio.weighed(weighed),
            Weighing::Unweighed => {
                // All shingles count alike, also what the table has no room for.
                let pair_level = pair_level.max(least);
                let sets = sets_of(&a.at(pair_level, table), &b.at(pair_level, table));
                // A sample of level 0 is all that the text has.
                if pair_level > 0 {
                    return match sets.common < self.fewest.of(ratio.all(sets)) {
                        true => BySamples::TooLow,
                        false => BySamples::Open,
                    };
                }
                ratio.of_sets(sets)
            }
        };
        match most.scattered >= threshold {
            true => BySamples::AtMost(most),
            false => BySamples::TooLow,
        }
    }
}

fn sets_of(a: &CountedSample<'_>, b: &CountedSample<'_>) -> Overlap {
    Overlap {
        a: a.len(),
        b: b.len(),
        common: a.rare_shared(b) + shared_count(a.common, b.common),
    }
}

/// How many sampled shingles two texts must share, at least, to be as similar as a threshold.
#[derive(Clone, Debug)]
pub(super) struct FewestShared {
    /// By the number of sampled shingles of which they must be a share.
    of_all: Vec<usize>,
}

impl FewestShared {
    pub(super) fn new(threshold: f64) -> Self {
        let of_all = (0..=LARGEST).map(|all| fewest(all, threshold.min(HIGHEST)));
        FewestShared {
            of_all: of_all.collect(),
        }
    }

    /// The least number of shared shingles among `all` sampled ones.
    pub(super) fn of(&self, all: usize) -> usize {
        match self.of_all.get(all) {
            Some(&fewest) => fewest,
            // A larger sample is more precise, so the share of a smaller one holds.
            None => all * self.of_all[LARGEST] / LARGEST,
        }
    }
}

/// The largest number of which a binomial variable of `count` trials stays below with a probability
/// of at most [`MISSED`]. The same on every platform: no function but the four operations.
fn fewest(count: usize, probability: f64) -> usize {
    let mut exactly = (0..count).fold(1.0, |all, _| all * (1.0 - probability));
    let (mut below, mut shared) = (0.0, 0);
    while shared < count {
        below += exactly;
        if below > MISSED {
            break;
        }
        let left = (count - shared) as f64 / (shared + 1) as f64;
        exactly *= left * probability / (1.0 - probability);
        shared += 1;
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_are_those_of_the_binomial_distribution() {
        // Quantiles of one in a million, by exact arithmetic.
        for (count, probability, expected) in [
            (0, 0.45, 0),
            (20, 0.45, 0),
            (24, 0.45, 1),
            (100, 0.45, 22),
            (256, 0.45, 78),
            (256, 0.9, 205),
            (256, 0.0, 0),
        ] {
            assert_eq!(
                fewest(count, probability),
                expected,
                "{count} {probability}"
            );
        }
    }

    #[test]
    fn a_larger_sample_needs_at_least_the_share_of_a_smaller_one() {
        let fewest = FewestShared::new(0.45);
        assert_eq!(fewest.of(2 * LARGEST), 2 * fewest.of(LARGEST));
        assert!(fewest.of(2 * LARGEST) <= super::fewest(2 * LARGEST, 0.45));
    }
}
