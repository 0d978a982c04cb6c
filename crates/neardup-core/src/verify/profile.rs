//! The properties of one text that measures compare.

use super::by_samples::Ratio;
use super::cache::Cached;
use super::counted_sample::Looked;
use super::most::Most;
use super::resemblance::Shingles;
use super::sample::sample_text;
use super::short::Letters;
use super::weighed::{Scratch, Weighed, Weighing};
use crate::constants::SHORT;
use crate::ids::Hash;
use crate::segment::ShingleLen;
use crate::shingle_frequencies::ShingleFrequencies;
use crate::sketch::shingle_hashes;

/// The properties of one text that measures compare. Each measure fills some; the others are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    /// Shingles of as many characters in each script.
    pub(super) exact: Shingles,
    /// Its units, ascending, with repeats.
    pub(super) units: Box<[u64]>,
    /// Shingles whose length goes by the script, by the halves of hashes that samples hold.
    pub(super) shingles: Shingles<Hash>,
    /// The number of shingles. Two of them may have the same half of a hash.
    pub(super) count: usize,
    pub(super) letters: Letters,
}

impl Profile {
    /// By shingles whose length goes by the script. O(n log n) for n characters; 4 bytes for each distinct
    /// shingle, and 8 while it is made.
    pub(super) fn of_shingles(text: &str, k: usize) -> Self {
        let mut hashes = Vec::new();
        shingle_hashes(text, ShingleLen::ByScript(k), &mut hashes);
        let shingles = Shingles::of_hashes(&hashes);
        Profile {
            count: shingles.len(),
            shingles: shingles.halves(),
            letters: Letters::of(text),
            ..Profile::default()
        }
    }

    /// Whether one of the two is so short that letters and digits decide.
    pub(super) fn is_short_beside(&self, other: &Profile) -> bool {
        self.letters.len().min(other.letters.len()) < SHORT
    }

    /// The most that two texts can be alike by a share of their shingles; `None` if that is less than `threshold`.
    pub(super) fn bound(
        &self,
        other: &Profile,
        ratio: Ratio,
        frequencies: Option<&ShingleFrequencies>,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Most> {
        let most = match self.weigh(other, ratio, frequencies, threshold, scratch) {
            Weighing::TooLow => return None,
            Weighing::Done(weighed) => ratio.weighed(weighed),
            Weighing::Unweighed => ratio.of_sets(self.shingles.overlap(&other.shingles)),
        };
        (most.scattered >= threshold).then_some(most)
    }

    /// Weighs the sampled shingles of both texts, unless that shows that the similarity is below `threshold`.
    pub(super) fn weigh(
        &self,
        other: &Profile,
        ratio: Ratio,
        frequencies: Option<&ShingleFrequencies>,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Weighing {
        let Some(table) = frequencies else {
            return Weighing::Unweighed;
        };
        let level = ratio.level(self.count, other.count).max(table.level());
        let looked = [self, other].map(|text| {
            let hashes = Hash::of_level(level, text.shingles.hashes());
            Looked::up(hashes, table)
        });
        let [a, b] = looked.each_ref().map(|text| text.sample(level, 0));
        let by = |weighed: Weighed| ratio.weighed(weighed).scattered;
        scratch.weigh((&a, &b), table, threshold, by)
    }
}

impl Cached for Profile {
    /// A character has at least one byte and at most one shingle, of 8 bytes or of 4 after 16, and at most one
    /// unit of 8, kept once or twice.
    const GROWTH: usize = 20;

    fn heap_bytes(&self) -> usize {
        8 * (self.exact.len() + self.units.len())
            + 4 * self.shingles.len()
            + self.letters.heap_bytes()
    }
}

/// The sample of a normalized text, by which `content(k)` counts it.
pub fn content_sample(text: &str, k: usize) -> Vec<Hash> {
    let mut sample = Vec::new();
    sample_text(text, k, &mut Default::default(), &mut sample);
    sample
}
