/*! The samples of the documents of a corpus: made once, to be counted, and read for every pair.

A pair is decided by its samples wherever shingles are weighed, and where both texts are so short
that their samples are all of their shingles. Where neither holds, the samples estimate the
similarity: of n sampled shingles of which it is a share, a binomial number is in both texts. A pair
is ruled out if so few are shared that at most one in a million pairs at the threshold shares no more;
of pairs beyond it, fewer.

A document has no sample if it is short, if another has the same text, or if there is no room for
more: its text is read for the same answer.
*/

use rayon::prelude::*;

use super::containment::{self, Containment, Direction};
use super::measure::Measure;
use super::resemblance::Overlap;
use super::sample::Sample;
use super::shingle_frequencies::ShingleFrequencies;
use super::weighed::{Scratch, Weighed, Weighing};

/// The share of the pairs at the threshold that an estimate may lose.
const MISSED: f64 = 1e-6;

/// Sampled shingles of two texts up to which the table of [`FewestShared`] goes.
const LARGEST: usize = 256;

/// A higher threshold is taken for this one, of which the least probability is not too small for a
/// floating-point number.
const HIGHEST: f64 = 0.9;

/// The samples of the documents of a corpus, by number.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    all: Vec<Option<Sample>>,
    /// Short documents whose samples are not counted yet.
    short: Vec<usize>,
}

impl Samples {
    /// The sample of a document.
    pub fn get(&self, document: u32) -> Option<&Sample> {
        self.all.get(document as usize)?.as_ref()
    }

    /// The number of documents, with a sample or without.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Extends the list to `documents` documents; the added ones have no sample.
    pub fn extend_to(&mut self, documents: usize) {
        self.all.resize(documents.max(self.len()), None);
    }

    /// Adds the next document: its sample, and whether it is short. A short one loses its sample
    /// once it is counted.
    pub fn push(&mut self, sample: Option<(Sample, bool)>) {
        if let Some((_, true)) = sample {
            self.short.push(self.all.len());
        }
        self.all.push(sample.map(|(sample, _)| sample));
    }

    /// The samples of the documents from `first` on.
    pub fn since(&self, first: usize) -> Vec<&Sample> {
        self.all[first..].iter().flatten().collect()
    }

    /// After the documents from `first` on were counted: raises the level of all samples to that of
    /// the table, and drops those of short documents, and the last of those from `first` on if all
    /// take more than `most` bytes.
    pub fn fit(&mut self, level: u32, first: usize, most: usize) {
        for document in self.short.drain(..) {
            self.all[document] = None;
        }
        let all = self.all.par_iter_mut().with_min_len(64).flatten();
        all.for_each(|sample| sample.raise_level(level));
        let all = self.all.par_iter().with_min_len(64).flatten();
        let mut bytes: usize = all.map(Sample::bytes).sum();
        // The first ones stay.
        for sample in self.all[first..].iter_mut().rev() {
            if bytes <= most {
                break;
            }
            bytes -= sample.take().map_or(0, |sample| sample.bytes());
        }
    }
}

/// What the samples of two texts say about their similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BySamples {
    /// It is below the threshold.
    TooLow,
    /// It is this, but for replaced numbers, which lower it.
    AtMost(f64),
    /// All shingles of the texts must be compared.
    Open,
}

/// Which share of the shingles of two texts a measure takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ratio {
    /// Those of both texts, of all.
    Resemblance,
    /// Those of both texts, of one of them.
    Containment(Direction),
}

impl Ratio {
    /// That of a measure that weighs shingles.
    pub(super) fn of(measure: Measure) -> Option<Self> {
        match measure {
            Measure::Content { .. } => Some(Ratio::Resemblance),
            Measure::Containment { direction, .. } => Some(Ratio::Containment(direction)),
            Measure::Resemblance { .. } | Measure::Aligned => None,
        }
    }

    /// The level at which two texts are weighed, unless that of the table is higher.
    fn level(self, a: &Sample, b: &Sample) -> u32 {
        match self {
            Ratio::Resemblance => a.level().max(b.level()),
            Ratio::Containment(_) => containment::level(a.shingles(), b.shingles()),
        }
    }

    fn weighed(self, weighed: Weighed) -> f64 {
        match self {
            Ratio::Resemblance => weighed.resemblance(),
            Ratio::Containment(direction) => direction.of(Containment::weighed(weighed)),
        }
    }

    fn of_sets(self, sets: Overlap) -> f64 {
        match self {
            Ratio::Resemblance => sets.resemblance(),
            Ratio::Containment(direction) => direction.of(Containment::of_overlap(sets)),
        }
    }

    /// The shingles of which it is a share.
    fn all(self, sets: Overlap) -> usize {
        match self {
            Ratio::Resemblance => sets.a + sets.b - sets.common,
            Ratio::Containment(Direction::FirstInSecond) => sets.a,
            Ratio::Containment(Direction::Either) => sets.a.min(sets.b),
            Ratio::Containment(Direction::Both) => sets.a.max(sets.b),
        }
    }

    /// What the samples of two texts say, neither of which is short, counted in this table.
    ///
    /// That is what their profiles say, but for the few pairs that `fewest` loses among those in
    /// which all shingles count alike.
    pub(super) fn by_samples(
        self,
        (a, b): (&Sample, &Sample),
        table: &ShingleFrequencies,
        threshold: f64,
        fewest: &FewestShared,
        scratch: &mut Scratch,
    ) -> BySamples {
        let level = self.level(a, b).max(table.level());
        if level < a.level().max(b.level()) {
            return BySamples::Open;
        }
        let [a, b] = [a, b].map(|sample| {
            sample.look_up(table);
            sample.at_level(level, table.rare())
        });
        let most = match scratch.weigh(a, b, level, threshold, |least| self.weighed(least)) {
            Weighing::TooLow => return BySamples::TooLow,
            Weighing::Done(weighed) => self.weighed(weighed),
            Weighing::Unweighed(common) => {
                let sets = Overlap {
                    a: a.hashes.len(),
                    b: b.hashes.len(),
                    common,
                };
                // A sample of level 0 is all that the text has.
                if level > 0 {
                    return match common < fewest.of(self.all(sets)) {
                        true => BySamples::TooLow,
                        false => BySamples::Open,
                    };
                }
                self.of_sets(sets)
            }
        };
        match most >= threshold {
            true => BySamples::AtMost(most),
            false => BySamples::TooLow,
        }
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
