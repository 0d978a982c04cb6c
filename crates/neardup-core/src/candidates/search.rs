//! What all searches share: the search method, list caps and the lists of places found.

use super::schemes::bands::Banding;
use crate::error::Error;

/// Maximum length of the list of a sample key if only kept documents are filed: text that more of
/// them share is boilerplate.
pub const MAX_LIST_LEN_OF_KEPT: usize = 32;

/// Maximum length of the list of a band if only kept documents are filed.
pub const MAX_LIST_LEN: usize = 1000;

/// Maximum length of any list if all documents are filed.
pub const MAX_LIST_LEN_OF_ALL: usize = 10_000;

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
