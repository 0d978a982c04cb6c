//! A library: selects the documents that are worth comparing with a paper.
//!
//! Its inverted index is a few sorted runs, in memory or in files that are mapped into it. New
//! documents are a new run, and runs are merged now and then.

use rayon::slice::ParallelSliceMut;

use super::letters::DENSE;
use super::paper::Paper;
use super::shingles::{SHINGLE, short};

/// Only this many documents of each shingle are considered: those with the smallest numbers.
///
/// A shingle that more documents contain belongs to a common phrase, or to a text with many
/// copies; in that case these documents are enough as sources.
pub const MOST_OF_A_SHINGLE: usize = 64;

/// Common shingles count if they lie within a stretch of the paper of this weight: a
/// paragraph of 200 Chinese characters.
const STRETCH: u32 = 200 * DENSE;

/// The number of common shingles required in a stretch; fewer for short passages.
const MOST_ASKED: u32 = 3;

/// The position of a document that is no longer in the library.
pub const GONE: u32 = u32::MAX;

/// A shingle that is larger than all.
const END: u64 = 1 << 32;

/// The number of entries between those whose shingles are the fence of a run: a page of memory.
pub const BLOCK: usize = 512;

/// The winnowed shingles of some documents, sorted: eight bytes for each shingle of each document.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Shingle in the high half, number of the document within the run in the low half; ascending.
    pub filed: &'a [u64],
    /// The shingle of each [`BLOCK`]th entry, from the first on. It is small enough to stay in
    /// memory, so that a look-up in a mapped file reads one page and not one for each halving.
    pub fence: &'a [u32],
    /// The position in the library of each document of the run, ascending; or [`GONE`].
    pub positions: &'a [u32],
}

/// The entries of a [`Run`] of documents with these sketches (see [`super::Aligner::sketch`]):
/// a document's number is its position here. O(n log n) for n shingles, on the current rayon pool.
pub fn file<S: IntoIterator<Item = u32>>(sketches: impl IntoIterator<Item = S>) -> Vec<u64> {
    let mut filed = Vec::new();
    for (document, sketch) in sketches.into_iter().enumerate() {
        let entry = |shingle| u64::from(shingle) << 32 | document as u64;
        filed.extend(sketch.into_iter().map(entry));
    }
    filed.par_sort_unstable();
    filed.dedup();
    filed
}

/// The fence of a run with these entries.
pub fn fence(filed: &[u64]) -> Vec<u32> {
    let shingle = |entry: &u64| (entry >> 32) as u32;
    filed.iter().step_by(BLOCK).map(shingle).collect()
}

impl<'a> Run<'a> {
    /// The index of the first entry whose shingle is at least this one.
    fn begin_of(&self, shingle: u64) -> usize {
        let blocks = self
            .fence
            .partition_point(|&first| u64::from(first) < shingle);
        // It is in the last block that begins before it, or the next block begins with it.
        let begin = blocks.saturating_sub(1) * BLOCK;
        let end = (blocks * BLOCK).min(self.filed.len());
        // A fence that is too long can only come from a damaged file.
        let block = self.filed.get(begin..end).unwrap_or_default();
        end - block.len() + block.partition_point(|&entry| entry >> 32 < shingle)
    }

    /// The position of the document of an entry, unless it is gone.
    fn position(&self, entry: u64) -> Option<u32> {
        // A number that is too large can only come from a damaged file.
        let position = self.positions.get(entry as u32 as usize).copied();
        position.filter(|&position| position != GONE)
    }
}

/// An inverted index of the winnowed shingles of many documents.
#[derive(Debug)]
pub struct Library<'a> {
    runs: Vec<Run<'a>>,
}

impl<'a> Library<'a> {
    /// All documents of a run must come before the documents of the next one.
    pub fn new(runs: Vec<Run<'a>>) -> Self {
        Library { runs }
    }

    /// At most `limit` documents that may share a passage of `least` Chinese characters with a
    /// paper: the position of each document and the number of its common shingles. Sorted by common
    /// shingles, descending, then by position.
    pub fn sources(&self, paper: &Paper, least: u32, limit: usize) -> Vec<(u32, u32)> {
        let mut asked_for: Vec<(u32, u32)> = paper
            .first_places()
            .map(|(hash, place)| (short(hash), place))
            .collect();
        // In the order of the runs, so that neighbours are on one page.
        asked_for.sort_unstable();
        let mut hits: Vec<(u32, u32)> = Vec::new();
        for (shingle, place) in asked_for {
            let with_place = |position| (position, place);
            hits.extend(self.documents_of(shingle).map(with_place));
        }
        hits.sort_unstable();
        let asked = asked(least);
        let mut found: Vec<(u32, u32)> = hits
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|of_one| {
                let count = shared_shingles(paper, of_one, asked);
                (count > 0).then_some((of_one[0].0, count))
            })
            .collect();
        found.sort_unstable_by_key(|&(document, count)| (std::cmp::Reverse(count), document));
        found.truncate(limit);
        found
    }

    /// The shingles of a paper that the library has: where each begins first in the original, in
    /// code points, and the number of documents that have it. Documents that have left the library count too.
    pub fn counts(&self, paper: &Paper) -> Vec<(u32, u32)> {
        let spans = paper.letters().spans();
        let mut counts: Vec<(u32, u32)> = paper
            .first_places()
            .filter_map(|(hash, place)| {
                let shingle = u64::from(short(hash));
                let of_run = |run: &Run| run.begin_of(shingle + 1) - run.begin_of(shingle);
                let count = self.runs.iter().map(of_run).sum::<usize>();
                (count > 0).then(|| (spans[place as usize].0, count as u32))
            })
            .collect();
        counts.sort_unstable();
        counts
    }

    /// The first documents of a shingle.
    fn documents_of<'s>(&'s self, shingle: u32) -> impl Iterator<Item = u32> + use<'s, 'a> {
        let shingle = u64::from(shingle);
        let of_run = move |run: &'s Run<'a>| {
            run.filed[run.begin_of(shingle)..]
                .iter()
                .take_while(move |&&entry| entry >> 32 == shingle)
                .filter_map(|&entry| run.position(entry))
        };
        self.runs.iter().flat_map(of_run).take(MOST_OF_A_SHINGLE)
    }

    /// A part of the one run that all runs make together, in which the number of a document is its
    /// position: its entries from a shingle on, and the shingle that the next part begins with, or
    /// none after the last part.
    ///
    /// A part has at most `most` entries, unless one shingle alone has more.
    pub fn merged(&self, from: u64, most: usize) -> (Vec<u64>, Option<u64>) {
        let share = most / self.runs.len().max(1);
        let rests = || {
            let rest = |run: &Run<'a>| (*run, &run.filed[run.begin_of(from)..]);
            self.runs.iter().map(rest)
        };
        let end = rests()
            .filter_map(|(_, rest)| rest.get(share))
            .map(|&entry| (entry >> 32).max(from + 1))
            .min()
            .unwrap_or(END);
        let mut entries: Vec<u64> = Vec::new();
        for (run, rest) in rests() {
            let part = &rest[..rest.partition_point(|&entry| entry >> 32 < end)];
            let moved = |&entry: &u64| {
                let position = run.position(entry)?;
                Some(entry >> 32 << 32 | u64::from(position))
            };
            entries.extend(part.iter().filter_map(moved));
        }
        entries.par_sort_unstable();
        (entries, (end < END).then_some(end))
    }
}

/// The number of winnowed shingles required for a passage of `least` Chinese characters.
fn asked(least: u32) -> u32 {
    let shingles = (least + 1).saturating_sub(SHINGLE / DENSE);
    (shingles / 8).clamp(1, MOST_ASKED)
}

/// The number of hits that lie in a stretch with at least `asked` of them.
fn shared_shingles(paper: &Paper, hits: &[(u32, u32)], asked: u32) -> u32 {
    let letters = paper.letters();
    let asked = asked as usize;
    let (mut count, mut counted) = (0, 0);
    for last in asked..=hits.len() {
        let (first, end) = (hits[last - asked].1, hits[last - 1].1);
        if letters.weight(first as usize, end as usize) <= STRETCH {
            count += last - counted.max(last - asked);
            counted = last;
        }
    }
    count as u32
}
