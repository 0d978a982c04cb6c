//! A library: which of many documents are worth holding against a paper.

use rayon::slice::ParallelSliceMut;

use super::letters::DENSE;
use super::paper::Paper;
use super::shingles::{SHINGLE, short};

/// Of the documents that have a shingle, so many are looked at, the first ones.
///
/// What more have is a common phrase; or a text that many have posted, and then
/// these are sources enough.
pub const MOST_OF_A_SHINGLE: usize = 64;

/// Shingles in common count if they stand in a stretch of the paper of this weight: a
/// paragraph of 200 Chinese characters.
const STRETCH: u32 = 200 * DENSE;

/// So many of them are asked for in a stretch, or fewer for short passages.
const MOST_ASKED: u32 = 3;

/// The winnowed shingles of many documents, as lists of documents by shingle.
///
/// Eight bytes for each shingle of each document.
#[derive(Debug, Default)]
pub struct Library {
    /// A shingle above, a document below: ascending.
    filed: Vec<u64>,
    documents: usize,
}

impl Library {
    /// Files documents by their sketches (see [`super::Aligner::sketch`]); a document's number is
    /// its place. O(n log n) for n shingles, in the current pool of threads.
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

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// The documents that may have a passage of `least` Chinese characters in common with a paper, at
    /// most `limit`: the number of each, and how many shingles say so. Those with most come
    /// first, earlier ones before later ones.
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

/// How many shingles a passage of `least` Chinese characters has at least that were chosen.
fn asked(least: u32) -> u32 {
    let shingles = (least + 1).saturating_sub(SHINGLE / DENSE);
    (shingles / 8).clamp(1, MOST_ASKED)
}

/// How many hits stand in a stretch with enough of them.
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
