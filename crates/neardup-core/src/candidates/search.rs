//! What all searches share: how candidates are found, and the lists of those found.

use super::schemes::bands::Banding;
use crate::error::Error;

/// Kept documents in the list of a key of a sample, at most: what more of them share is a
/// template.
pub const MAX_LIST_LEN_OF_KEPT: usize = 32;

/// Documents in the list of a band, at most, and in any list where all documents are filed.
pub const MAX_LIST_LEN: usize = 1000;

/// How candidates are found; each suits one kind of sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// Fingerprints within so many bits, inclusive. Exact.
    Near {
        /// The largest distance.
        max_distance: u32,
    },
    /// Signatures that agree on a band.
    Bands(Banding),
    /// Samples that share keys which few documents have.
    Postings {
        /// The similarity that is looked for.
        threshold: f64,
    },
    /// Samples that share one of the keys that a resemblance of `threshold`
    /// needs. Exact, by the samples.
    Prefix {
        /// The smallest resemblance.
        threshold: f64,
    },
}

impl Search {
    /// The sketches are of another kind than this searches.
    pub(super) fn mismatch(self) -> Error {
        Error::parameter(
            "search",
            "one for the kind of sketches that the recipe makes",
            format!("{self:?}"),
        )
    }

    /// Documents in the list of a key, at most; the largest number where lists are not capped,
    /// since the search is exact. `files_kept` says whether only kept documents are filed.
    pub fn max_list_len(self, files_kept: bool) -> usize {
        match self {
            Search::Postings { .. } if files_kept => MAX_LIST_LEN_OF_KEPT,
            // A shorter list would break what a banding promises.
            Search::Postings { .. } | Search::Bands(_) => MAX_LIST_LEN,
            Search::Near { .. } | Search::Prefix { .. } => usize::MAX,
        }
    }
}

/// For each document that was looked up, the places of those that may be similar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where each document's list begins, and at last where the last one ends.
    pub offsets: Vec<usize>,
    /// Places in the order of filing, ascending inside each list.
    pub places: Vec<u32>,
}

impl Found {
    /// What was found near one document.
    pub fn of_one(places: Vec<u32>) -> Self {
        Found {
            offsets: vec![0, places.len()],
            places,
        }
    }

    /// Each of the `documents`, which were looked up, with each place found.
    pub fn pairs(&self, documents: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        let bounds = documents.iter().zip(self.offsets.windows(2));
        bounds.flat_map(|(&document, bounds)| {
            let places = self.places[bounds[0]..bounds[1]].iter();
            places.map(move |&place| (document, place))
        })
    }

    /// Keeps the pairs of one of the `documents`, which were looked up, and a place
    /// that `is_wanted`.
    pub fn retain(&mut self, documents: &[u32], is_wanted: impl Fn(u32, u32) -> bool) {
        let all = std::mem::take(&mut self.places);
        let mut end = 0;
        for (&document, bound) in documents.iter().zip(&mut self.offsets[1..]) {
            let begin = std::mem::replace(&mut end, *bound);
            let places = all[begin..end].iter().copied();
            self.places
                .extend(places.filter(|&place| is_wanted(document, place)));
            *bound = self.places.len();
        }
    }
}

/// How far documents share keys that are template and no content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkewStatistics {
    /// Lists that have turned documents away.
    pub closed_lists: u64,
    /// Documents that have the most frequent key.
    pub most_frequent: u32,
}
