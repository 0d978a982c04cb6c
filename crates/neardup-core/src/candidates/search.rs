//! What all searches share: the search method, list caps and the lists of places found.

use super::schemes::bands::Banding;
use crate::constants::{MAX_LIST_LEN, MAX_LIST_LEN_OF_ALL, MAX_LIST_LEN_OF_KEPT};
use crate::error::Error;

/// Which documents are filed, under how many of their keys, and how long a list may become. For
/// searches that are not exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Kept documents, under a few keys in short lists: a template costs each document the same.
    #[default]
    Kept,
    /// All documents, under all keys in long lists.
    All,
    /// Under all keys, in lists of any length: the time is quadratic in the documents of a template.
    Exhaustive,
}

/// How candidates are found. Each method suits one kind of sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// Fingerprints that differ in at most `max_distance` bits. Exact.
    Near {
        /// The largest distance.
        max_distance: u32,
    },
    /// Signatures that agree on a band.
    Bands(Banding, Reach),
    /// Samples that share enough keys.
    Postings {
        /// The similarity threshold.
        threshold: f64,
        /// Where [`Reach::Kept`], documents are filed under keys that few documents have.
        reach: Reach,
    },
    /// Samples that share one of the prefix keys for a resemblance of `threshold`. Exact for the
    /// samples.
    Prefix {
        /// The smallest resemblance.
        threshold: f64,
    },
}

impl Search {
    /// The error for sketches of another kind than this method searches.
    pub(super) fn mismatch(self) -> Error {
        Error::parameter(
            "search",
            "one for the kind of sketches that the recipe makes",
            format!("{self:?}"),
        )
    }

    /// The same search, for an index in which all documents are filed.
    #[must_use]
    pub fn filing_all(self) -> Self {
        let at_least_all = |reach| match reach {
            Reach::Kept => Reach::All,
            reach => reach,
        };
        match self {
            Search::Bands(banding, reach) => Search::Bands(banding, at_least_all(reach)),
            Search::Postings { threshold, reach } => Search::Postings {
                threshold,
                reach: at_least_all(reach),
            },
            exact => exact,
        }
    }

    /// The maximum length of a key's list; `usize::MAX` if lists are not capped.
    pub fn max_list_len(self) -> usize {
        match self {
            Search::Postings { reach, .. } => match reach {
                Reach::Kept => MAX_LIST_LEN_OF_KEPT,
                Reach::All => MAX_LIST_LEN_OF_ALL,
                Reach::Exhaustive => usize::MAX,
            },
            Search::Bands(_, reach) => match reach {
                // A shorter list would break the recall that a banding guarantees.
                Reach::Kept => MAX_LIST_LEN,
                Reach::All => MAX_LIST_LEN_OF_ALL,
                Reach::Exhaustive => usize::MAX,
            },
            Search::Near { .. } | Search::Prefix { .. } => usize::MAX,
        }
    }
}

/// For each document looked up, the places of documents that may be similar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Where each document's list begins, followed by the end of the last list.
    pub offsets: Vec<usize>,
    /// Places in the order of filing, ascending inside each list.
    pub places: Vec<u32>,
}

impl Places {
    /// The result for one document.
    pub fn of_one(places: Vec<u32>) -> Self {
        Places {
            offsets: vec![0, places.len()],
            places,
        }
    }

    /// Pairs of one of the looked-up `documents` and a place found for it.
    pub fn pairs(&self, documents: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        let bounds = documents.iter().zip(self.offsets.windows(2));
        bounds.flat_map(|(&document, bounds)| {
            let places = self.places[bounds[0]..bounds[1]].iter();
            places.map(move |&place| (document, place))
        })
    }

    /// Keeps only the pairs of a looked-up document and a place for which `is_wanted` is true.
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

/// What a search met in its lists, and what full lists left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStatistics {
    /// The number of list entries visited in all look-ups.
    pub visited: u64,
    /// The number of lists to which a document was not added because they were full.
    pub closed_lists: u64,
    /// The number of documents that at least one full list left out.
    pub unlisted: u64,
    /// At most how many pairs of documents the same full list left out.
    pub unlisted_pairs: u64,
    /// The number of texts that have the most frequent key.
    pub most_frequent: u32,
}
