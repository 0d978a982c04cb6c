//! The result of a look-up: the places of filed documents, and what the search met.

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
