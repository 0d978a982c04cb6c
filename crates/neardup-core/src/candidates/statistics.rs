//! Counts of a search.

/// The entries that a search met in its lists, and those that capped lists left out.
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
