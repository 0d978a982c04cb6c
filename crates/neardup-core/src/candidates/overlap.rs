/*! Overlap: the filed documents that share enough keys with another document.

The only place that counts shared keys, the only one that files a document, and the only one that
caps a list. A run in memory, a run whose keys are in files, an index and a cluster differ only in
the [`PostingStore`]: what a key is, and where its list comes from.

The sketch of a document determines its keys ([`KeyScheme`]) and how many of them another document
must share ([`MinOverlap`]). Documents have *places*, ascending in the order of filing.

**Template.** A list is capped: once it holds `max_list_len` documents, later documents are not
added. They still find the first documents that share the key, but they find each other only by
their other keys. The time is therefore linear in the number of documents that share a key. What is
left out is counted ([`SearchStatistics`]).
*/

use std::cell::Cell;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::key_scheme::KeyScheme;
use super::schemes::rare_keys::MinOverlap;
use super::schemes::search::Search;
use super::statistics::SearchStatistics;
use crate::ids::{DocId, Place};
use crate::ragged::Ragged;
use crate::sketch::Sketches;

/// The number of documents that one task looks up.
const TASK: usize = 64;

/// A filed document in the list of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posting {
    /// The place of the document.
    pub place: Place,
    /// Whether the key was common, not rare, when the document was filed.
    pub is_common: bool,
}

/// The lists of filed documents, one for each key.
///
/// The contract, which one suite holds every store to (`tests/suite/posting_stores.rs`):
///
/// - A document is filed under some of its look-up keys, never under others.
/// - A list holds the documents that were filed first, up to the cap.
/// - A store may leave out a key that only one document has: it could not lead to a candidate.
/// - So the same documents, filed and looked up in the same order, have the same candidates in every
///   store, and [`overlap`](self) alone decides which these are.
pub trait PostingStore {
    /// A key as the store looks it up.
    type Key: Copy + Eq + Hash;

    /// How many texts have a key; 0 if these are few.
    fn frequency(&self, key: Self::Key) -> u32;

    /// How many documents are in the list of a key.
    fn list_len(&self, key: Self::Key) -> usize;

    /// Calls `visit` for each document from the place `since` on in the list of each key.
    fn visit(&self, keys: &[Self::Key], since: Place, visit: impl FnMut(Posting));

    /// Adds the newest document to the list of a key.
    fn push(&mut self, key: Self::Key, posting: Posting);
}

/// Filed documents, and how many shared keys each of them requires.
#[derive(Clone, Debug)]
pub struct InvertedIndex<S: PostingStore> {
    /// The lists.
    pub store: S,
    /// Which keys documents are filed under and looked up by.
    pub scheme: KeyScheme,
    /// The number of texts that have the most frequent key.
    pub most_frequent: u32,
    /// How many documents each full list has left out.
    left_out: FxHashMap<S::Key, u64>,
    /// How many documents at least one full list has left out.
    unlisted: u64,
    /// The minimum overlap of the document at each place.
    min_overlaps: Vec<MinOverlap>,
    /// The keys of the newest document, as entered in their lists.
    filed: Vec<(S::Key, MinOverlap)>,
}

/// Scratch space of look-ups, reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// For each place, the numbers of shared rare keys and shared common keys.
    shared: Vec<[u8; 2]>,
    met: Vec<Place>,
    keys: Vec<u64>,
    /// Entries of lists visited in all look-ups so far.
    visited: u64,
}

impl Scratch {
    /// Calls `act` with the keys of a document.
    pub fn with_keys(
        &mut self,
        scheme: &KeyScheme,
        sketches: &Sketches,
        document: DocId,
        act: impl FnOnce(&[u64], &mut Scratch),
    ) {
        let mut keys = std::mem::take(&mut self.keys);
        scheme.keys(sketches, document, &mut keys);
        act(&keys, self);
        self.keys = keys;
    }
}

impl<S: PostingStore> InvertedIndex<S> {
    /// An index of what a store already holds, with the minimum overlaps of its documents.
    pub fn new(store: S, scheme: KeyScheme, min_overlaps: Vec<MinOverlap>) -> Self {
        InvertedIndex {
            store,
            scheme,
            most_frequent: 0,
            left_out: FxHashMap::default(),
            unlisted: 0,
            min_overlaps,
            filed: Vec::new(),
        }
    }

    /// The place of the next document, which is also the number of those filed.
    pub fn next_place(&self) -> Place {
        Place(self.min_overlaps.len() as u32)
    }

    /// The entries that capped lists left out, and the number of documents with the most frequent key.
    pub fn statistics(&self) -> SearchStatistics {
        let pairs = self.left_out.values().map(|&count| pairs_of(count));
        SearchStatistics {
            visited: 0,
            closed_lists: self.left_out.len() as u64,
            unlisted: self.unlisted,
            // Two documents that several lists left out are one pair.
            unlisted_pairs: pairs
                .fold(0, u64::saturating_add)
                .min(pairs_of(self.unlisted)),
            most_frequent: match self.scheme.search {
                Search::Postings { .. } => self.most_frequent,
                // Documents share other keys because they are similar, not because of a template.
                _ => 0,
            },
        }
    }

    /// Files a document with these keys, and returns those in whose lists it is entered.
    pub fn insert(&mut self, keys: &[S::Key]) -> &[(S::Key, MinOverlap)] {
        let (place, max_list_len) = (self.next_place(), self.scheme.max_list_len());
        let store = &self.store;
        let is_unlisted = Cell::new(false);
        let is_full = |key| {
            let is_full = store.list_len(key) >= max_list_len;
            is_unlisted.set(is_unlisted.get() || is_full);
            is_full
        };
        let frequency = |key| store.frequency(key);
        let (scheme, filed) = (&self.scheme, &mut self.filed);
        let minimum = scheme.filing_keys(keys, frequency, is_full, filed);
        filed.retain(|&(key, min_overlap)| {
            let is_full = self.store.list_len(key) >= max_list_len;
            if is_full {
                *self.left_out.entry(key).or_default() += 1;
                is_unlisted.set(true);
            } else {
                let is_common = min_overlap.is_common;
                self.store.push(key, Posting { place, is_common });
            }
            !is_full
        });
        self.unlisted += u64::from(is_unlisted.get());
        self.min_overlaps.push(minimum);
        &self.filed
    }

    /// Adds to `found` the places from `since` on, ascending, whose documents share enough of
    /// these keys of a document.
    pub fn near(
        &self,
        keys: &[S::Key],
        since: Place,
        scratch: &mut Scratch,
        found: &mut Vec<Place>,
    ) {
        let Scratch {
            shared,
            met,
            visited,
            ..
        } = scratch;
        shared.resize(self.min_overlaps.len().max(shared.len()), [0; 2]);
        let lookup_keys = self.scheme.lookup_keys(keys);
        self.store.visit(lookup_keys, since, |posting| {
            *visited += 1;
            let counts = &mut shared[posting.place.index()];
            if *counts == [0; 2] {
                met.push(posting.place);
            }
            let count = &mut counts[usize::from(posting.is_common)];
            *count = count.saturating_add(1);
        });
        let frequency = |key| self.store.frequency(key);
        let of_document = self.scheme.min_overlap(keys, frequency);
        let begin = found.len();
        for place in met.drain(..) {
            let [rare, common] = std::mem::take(&mut shared[place.index()]);
            let minimum = of_document.or_less(self.min_overlaps[place.index()]);
            if minimum.is_reached(rare.into(), common.into()) {
                found.push(place);
            }
        }
        found[begin..].sort_unstable();
    }
}

/// The number of pairs that `documents` documents form.
pub fn pairs_of(documents: u64) -> u64 {
    let pairs = u128::from(documents) * u128::from(documents.saturating_sub(1)) / 2;
    u64::try_from(pairs).unwrap_or(u64::MAX)
}

/// Scratch space for each thread. Its size grows with the number of filed documents, so it is
/// reused rather than allocated for each task.
#[derive(Debug, Default)]
pub struct Scratches(Mutex<Vec<Scratch>>);

impl Scratches {
    /// Calls `work` with scratch space that no other thread uses.
    pub fn with<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let result = work(&mut scratch);
        lock().push(scratch);
        result
    }

    /// Entries of lists visited in all look-ups so far.
    pub fn visited(&self) -> u64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|scratch| scratch.visited).sum()
    }

    /// For each document the places that `near` adds, on all threads.
    pub fn look_up(
        &self,
        documents: &[DocId],
        near: impl Fn(DocId, &mut Scratch, &mut Vec<Place>) + Sync,
    ) -> Ragged<Vec<Place>> {
        let parts = documents.par_chunks(TASK).map(|documents| {
            self.with(|scratch| {
                let mut found = Ragged::default();
                for &document in documents {
                    found.push_with(|places| near(document, scratch, places));
                }
                found
            })
        });
        let parts: Vec<Ragged<Vec<Place>>> = parts.collect();
        let mut found = Ragged::default();
        parts.iter().for_each(|part| found.append(part));
        found
    }
}
