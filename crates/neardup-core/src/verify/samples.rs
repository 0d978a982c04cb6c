/*! The samples of the documents of a corpus: made once, to be counted, and read for every pair.

A pair is decided by its samples wherever shingles are weighed, and where both texts are so short
that their samples are all of their shingles. Where neither holds, the samples estimate the
similarity: of n sampled shingles of which it is a share, a binomial number is in both texts. A pair
is ruled out if so few are shared that at most one in a million pairs at the threshold shares no more;
of pairs beyond it, fewer. Most candidates share a sentence and no more, which a quarter of their
samples tells: they are ruled out by that, if what is shared weighs little too.

A document has no sample if it is short, or if another has the same text: its text is read.

Samples lie one after the other, 4 bytes a hash, and 16 bytes for each document say where. Those for
which there is no room in memory go to a file, in the order of the documents.
*/

use std::path::PathBuf;

use super::containment::{self, Containment, Direction};
use super::measure::Measure;
use super::resemblance::Overlap;
use super::sample::{Sample, text_level};
use super::shingle_frequencies::ShingleFrequencies;
use super::weighed::{Scratch, Weighed, Weighing};
use crate::error::Result;
use crate::sketch::of_level;
use crate::spill::Spill;

/// The share of the pairs at the threshold that an estimate may lose.
const MISSED: f64 = 1e-6;

/// Sampled shingles of two texts up to which the table of [`FewestShared`] goes.
const LARGEST: usize = 256;

/// A higher threshold is taken for this one, of which the least probability is not too small for a
/// floating-point number.
const HIGHEST: f64 = 0.9;

/// Hashes that are written to the file at once.
const WRITTEN: usize = 1 << 18;

/// At so many levels more, a quarter of the shingles tells whether a pair is far from similar.
const EARLY: u32 = 2;

/// So many times as similar it must be, to be looked at further.
const MARGIN: f64 = 3.0;

/// Bytes of a hash.
const HASH: usize = size_of::<u32>();

/// The samples of the documents of a corpus, by number.
#[derive(Debug)]
pub struct Samples {
    places: Vec<Place>,
    /// The samples in memory.
    hashes: Vec<u32>,
    /// Bytes of samples in memory.
    most: usize,
    /// The other samples, in the order of documents.
    file: Spill,
    /// The first document whose sample may be in the file, once there is one.
    filed: Option<usize>,
    /// The first document whose sample is not counted yet: it and later ones are in memory.
    uncounted: usize,
    /// Short documents that are not counted yet.
    short: Vec<usize>,
    /// The level of all samples, at least.
    level: u32,
}

/// Where the sample of a document is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// In hashes, in memory or in the file.
    begin: u64,
    len: u32,
    /// Distinct shingles of the text; [`NONE`] for a document without a sample.
    shingles: u32,
}

/// No text has as many shingles.
const NONE: u32 = u32::MAX;

impl Default for Samples {
    fn default() -> Self {
        Samples::within(usize::MAX, None)
    }
}

impl Samples {
    /// No samples yet, of which at most about `most` bytes will stay in memory, and the others go to an
    /// unnamed file in `folder`, or in the system's temporary one.
    pub fn within(most: usize, folder: Option<PathBuf>) -> Self {
        Samples {
            places: Vec::new(),
            hashes: Vec::new(),
            most,
            file: Spill::within(folder.as_deref(), 0),
            filed: None,
            uncounted: 0,
            short: Vec::new(),
            level: 0,
        }
    }

    /// The number of documents, with a sample or without.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes in memory, and in the file.
    pub fn bytes(&self) -> (u64, u64) {
        ((HASH * self.hashes.len()) as u64, self.file.len())
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Extends the list to `documents` documents; the added ones have no sample.
    pub fn extend_to(&mut self, documents: usize) {
        let none = Place {
            begin: self.hashes.len() as u64,
            len: 0,
            shingles: NONE,
        };
        self.places.resize(documents.max(self.len()), none);
    }

    /// Adds the next document: the hashes of its sample and the number of its shingles, and whether its
    /// text is short. A short one has no sample once it is counted.
    pub fn push(&mut self, hashes: &[u32], shingles: usize, is_short: bool) {
        if is_short {
            self.short.push(self.len());
        }
        self.places.push(Place {
            begin: self.hashes.len() as u64,
            len: hashes.len() as u32,
            shingles: u32::try_from(shingles).unwrap_or(NONE - 1).min(NONE - 1),
        });
        self.hashes.extend_from_slice(hashes);
    }

    /// Whether samples should be counted now, to make room.
    pub fn is_full(&self) -> bool {
        HASH * self.hashes.len() >= self.most
    }

    /// The samples that are not counted yet; `None` if all are.
    pub fn uncounted(&self) -> Option<Vec<&[u32]>> {
        let rest = &self.places[self.uncounted..];
        let rest = rest.iter().filter(|place| place.shingles != NONE);
        (self.uncounted < self.len()).then(|| rest.map(|place| self.in_memory(place)).collect())
    }

    /// After all documents were counted in a table of this level: raises the level of all samples to
    /// that, drops those of short documents, and moves what there is no room for to the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written: usually a full disk.
    pub fn counted(&mut self, level: u32) -> Result<()> {
        for document in self.short.drain(..) {
            self.places[document].shingles = NONE;
        }
        let last = match level > self.level {
            true => 0,
            false => self.uncounted,
        };
        self.level = level.max(self.level);
        self.close_up(last);
        if self.filed.is_some() {
            self.write(self.uncounted)?;
        } else if self.is_full() {
            // Half of the room stays for those that come.
            let most = self.most / (2 * HASH);
            let is_left = |place: &Place| place.begin as usize + place.len as usize <= most;
            let first = self.places.partition_point(is_left);
            self.write(first)?;
            self.filed = Some(first);
        }
        self.uncounted = self.len();
        Ok(())
    }

    /// Drops what is not of the level from the samples in memory, from that of a document on.
    fn close_up(&mut self, document: usize) {
        let in_file = self.in_file();
        let own = (document..self.len()).filter(|at| !in_file.contains(at));
        let mut end = None;
        for at in own {
            let place = &mut self.places[at];
            let begin = place.begin as usize;
            let to = *end.get_or_insert(begin);
            if place.shingles == NONE {
                (place.begin, place.len) = (to as u64, 0);
                continue;
            }
            let kept = of_level(self.level, &self.hashes[begin..][..place.len as usize]).len();
            self.hashes.copy_within(begin..begin + kept, to);
            (place.begin, place.len) = (to as u64, kept as u32);
            end = Some(to + kept);
        }
        if let Some(end) = end {
            self.hashes.truncate(end);
        }
    }

    /// Moves the samples from that of a document on, which are the last in memory, to the file.
    fn write(&mut self, document: usize) -> Result<()> {
        let Some(first) = self.places.get(document) else {
            return Ok(());
        };
        let begin = first.begin;
        let to = self.file.len() / HASH as u64;
        for part in self.hashes[begin as usize..].chunks(WRITTEN) {
            let bytes: Vec<u8> = part.iter().flat_map(|hash| hash.to_le_bytes()).collect();
            self.file.append(&bytes)?;
        }
        self.hashes.truncate(begin as usize);
        for place in &mut self.places[document..] {
            place.begin = place.begin - begin + to;
        }
        Ok(())
    }

    /// The documents whose samples are in the file.
    fn in_file(&self) -> std::ops::Range<usize> {
        match self.filed {
            Some(first) => first..self.uncounted.max(first),
            None => 0..0,
        }
    }

    fn in_memory(&self, place: &Place) -> &[u32] {
        &self.hashes[place.begin as usize..][..place.len as usize]
    }

    /// Whether some samples must be [read](Self::read).
    pub fn are_in_file(&self) -> bool {
        self.filed.is_some()
    }

    /// Bytes of the sample of a document that must be [read](Self::read) from the file.
    pub fn bytes_in_file(&self, document: u32) -> Option<usize> {
        let document = document as usize;
        let is_in_file = self.in_file().contains(&document);
        let place = self.places.get(document).filter(|_| is_in_file)?;
        (place.shingles != NONE).then_some(HASH * place.len as usize)
    }

    /// The hashes of a sample that is in the file.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn read(&self, document: u32, buffer: &mut Vec<u8>) -> Result<Box<[u32]>> {
        let Place { begin, len, .. } = self.places[document as usize];
        let begin = begin * HASH as u64;
        let bytes = self
            .file
            .read(begin, begin + HASH as u64 * u64::from(len), buffer)?;
        let (hashes, _) = bytes.as_chunks();
        Ok(hashes
            .iter()
            .map(|&hash| u32::from_le_bytes(hash))
            .collect())
    }

    /// The sample of a document that is in memory, or of which `read` are the hashes.
    pub fn get<'a>(&'a self, document: u32, read: Option<&'a [u32]>) -> Option<Sample<'a>> {
        let place = self.places.get(document as usize)?;
        if place.shingles == NONE {
            return None;
        }
        let hashes = match read {
            Some(hashes) => of_level(self.level, hashes),
            None if self.in_file().contains(&(document as usize)) => return None,
            None => self.in_memory(place),
        };
        let shingles = place.shingles as usize;
        Some(Sample {
            hashes,
            level: text_level(shingles).max(self.level),
            shingles,
        })
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
    fn level(self, a: &Sample<'_>, b: &Sample<'_>) -> u32 {
        match self {
            Ratio::Resemblance => a.level.max(b.level),
            Ratio::Containment(_) => containment::level(a.shingles, b.shingles),
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

    /// Whether what two samples have of a level already shows that the texts are far from similar: so
    /// few shingles are shared as `fewest` says, and they weigh so little beside the others.
    fn are_far(
        self,
        (a, b): (&[u32], &[u32]),
        level: u32,
        rare: u32,
        threshold: f64,
        fewest: &FewestShared,
        scratch: &mut Scratch,
    ) -> bool {
        let (a, b) = (of_level(level, a), of_level(level, b));
        let (common, least) = scratch.glance((a, b), level, rare);
        let sets = Overlap {
            a: a.len(),
            b: b.len(),
            common,
        };
        let is_far = |least| MARGIN * self.weighed(least) < threshold;
        common < fewest.of(self.all(sets)) && least.is_none_or(is_far)
    }

    /// What the samples of two texts say, neither of which is short, counted in this table. `number` is
    /// that of the first.
    ///
    /// That is what their profiles say, but for the few pairs that `fewest` loses: among those in which
    /// all shingles count alike, or that [are far](Self::are_far) from similar by a quarter of the
    /// samples.
    pub(super) fn by_samples(
        self,
        number: u32,
        (a, b): (&Sample<'_>, &Sample<'_>),
        table: &ShingleFrequencies,
        threshold: f64,
        fewest: &FewestShared,
        scratch: &mut Scratch,
    ) -> BySamples {
        let level = self.level(a, b).max(table.level());
        if level < a.level.max(b.level) {
            return BySamples::Open;
        }
        scratch.look_up(Some(number), a.hashes, table);
        let [a, b] = [a, b].map(|sample| sample.of_level(level));
        let by = |least| self.weighed(least);
        if self.are_far(
            (a, b),
            level + EARLY,
            table.rare(),
            threshold,
            fewest,
            scratch,
        ) {
            return BySamples::TooLow;
        }
        let most = match scratch.weigh((a, b), level, table, threshold, by) {
            Weighing::TooLow => return BySamples::TooLow,
            Weighing::Done(weighed) => self.weighed(weighed),
            Weighing::Unweighed(common) => {
                let sets = Overlap {
                    a: a.len(),
                    b: b.len(),
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
