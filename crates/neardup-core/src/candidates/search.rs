//! What all searches share: how candidates are looked for, and how they are told.

use super::Banding;

/// Kept documents that close a list of keys: what more have in common is form.
pub const LONGEST_OF_KEPT: u32 = 32;

/// Documents that close a list of bands, and any list where all are filed.
pub const LONGEST_OF_ALL: u32 = 1000;

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

/// For each document that was looked up, the places of those that may be similar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where each document's list begins, and at last where the last one ends.
    pub offsets: Vec<usize>,
    /// Places in the order of filing, ascending inside each list.
    pub places: Vec<u32>,
}

impl Found {
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

/// How far documents have keys in common that are form and no content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crowd {
    /// Lists that were closed, since so many kept documents were in them.
    pub closed: u64,
    /// Documents that have the key which most of them have.
    pub largest: u32,
}
