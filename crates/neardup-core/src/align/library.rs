//! A library: selects the documents that are worth comparing with a paper.

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

/// An inverted index of the winnowed shingles of many documents.
///
/// Eight bytes for each shingle of each document.
#[derive(Debug, Default)]
pub struct Library {
    /// Shingle in the high half, document in the low half; ascending.
    filed: Vec<u64>,
    documents: usize,
}

impl Library {
    /// Indexes documents by their sketches (see [`super::Aligner::sketch`]); a document's number is
    /// its position. O(n log n) for n shingles, on the current rayon pool.
    pub fn new(sketches: &[Vec<u32>]) -> Self {
        let total = sketches.iter().map(Vec::len).sum();
        let mut filed = Vec::with_capacity(total);
        for (document, sketch) in sketches.iter().enumerate() {
            filed.extend(
                sketch
                    .iter()
                    .map(|&shingle| u64::from(shingle) << 32 | document as u64),
            );
        }
        filed.par_sort_unstable();
        filed.dedup();
        Library {
            filed,
            documents: sketches.len(),
        }
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// At most `limit` documents that may share a passage of `least` Chinese characters with a
    /// paper: the number of each document and of its common shingles. Sorted by common shingles,
    /// descending, then by document number.
    pub fn sources(&self, paper: &Paper, least: u32, limit: usize) -> Vec<(u32, u32)> {
        let mut hits: Vec<(u32, u32)> = Vec::new();
        for (hash, place) in paper.first_places() {
            let key = u64::from(short(hash)) << 32;
            let begin = self.filed.partition_point(|&one| one < key);
            let list = self.filed[begin..].iter().take(MOST_OF_A_SHINGLE);
            hits.extend(
                list.take_while(|&&one| one >> 32 == key >> 32)
                    .map(|&one| (one as u32, place)),
            );
        }
        hits.sort_unstable();
        let asked = asked(least);
        let mut found: Vec<(u32, u32)> = hits
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|of_one| {
                let count = together(paper, of_one, asked);
                (count > 0).then_some((of_one[0].0, count))
            })
            .collect();
        found.sort_unstable_by_key(|&(document, count)| (std::cmp::Reverse(count), document));
        found.truncate(limit);
        found
    }
}

/// The number of winnowed shingles required for a passage of `least` Chinese characters.
fn asked(least: u32) -> u32 {
    let shingles = (least + 1).saturating_sub(SHINGLE / DENSE);
    (shingles / 8).clamp(1, MOST_ASKED)
}

/// The number of hits that lie in a stretch with at least `asked` of them.
fn together(paper: &Paper, hits: &[(u32, u32)], asked: u32) -> u32 {
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
