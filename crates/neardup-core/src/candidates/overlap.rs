/*! Overlap: the filed documents that share enough keys with another document.

The only place that counts shared keys, the only one that files a document, and the only one that
caps a list ([`ListCap`]). A run in memory, a run whose keys are in files, an index and a cluster
differ only in the [`PostingStore`]: what a key is, and where its list comes from.

The sketch of a document determines its keys ([`KeyScheme`](super::KeyScheme)) and how many of them
another document must share ([`MinOverlap`]). Documents have *places*, ascending in the order of
filing.

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

use super::schemes::rare_keys::MinOverlap;
use super::search::SearchStatistics;
use super::sketches::Sketches;
use crate::ragged::Ragged;

/// The number of documents that one task looks up.
const TASK: usize = 64;

/// A filed document in the list of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posting {
    /// The place of the document.
    pub place: u32,
    /// Whether the key was common, not rare, when the document was filed.
    pub is_common: bool,
}

/// The keys of documents, and the lists of filed documents, one for each key.
///
/// The contract, which one suite holds every store to (`tests/suite/posting_stores.rs`):
///
/// - A document is filed under some of its look-up keys, never under others.
/// - A list is newest first, and holds the documents that were filed first, up to the cap.
/// - What a store leaves out, a key that only one document has or that nothing is filed under, could
///   not lead to a candidate.
/// - So the same documents, filed and looked up in the same order, have the same candidates in every
///   store, and [`overlap`](self) alone decides which these are.
///
/// A store that holds the keys of its documents does not read the sketches.
pub trait PostingStore {
    /// A key as the store looks it up.
    type Key: Copy + Eq + Hash;

    /// The keys by which a document is looked up; those without an entry from `since` on may be
    /// missing. They may be written into `buffer`.
    fn lookup_keys<'a>(
        &'a self,
        sketches: &Sketches,
        document: u32,
        since: u32,
        buffer: &'a mut Vec<u64>,
    ) -> impl Iterator<Item = Self::Key> + use<'a, Self>;

    /// Adds the keys under which a document is filed. `is_closed` tells whether the list of a key
    /// is full, for a store that chooses among the others.
    fn filing_keys(
        &self,
        sketches: &Sketches,
        document: u32,
        is_closed: impl Fn(Self::Key) -> bool,
        keys: &mut Vec<(Self::Key, MinOverlap)>,
    );

    /// How many keys another document must share with this one, computed from this one's keys.
    fn min_overlap(&self, sketches: &Sketches, document: u32) -> MinOverlap;

    /// The documents in the list of a key, the newest first.
    fn list(&self, key: Self::Key) -> impl Iterator<Item = Posting>;

    /// How many documents are in the list of a key.
    fn list_len(&self, key: Self::Key) -> usize;

    /// Tells that documents will be looked up among those filed from this place on.
    fn mark(&mut self, _place: u32) {}

    /// Assigns the next place to a document that is about to be filed.
    fn assign(&mut self, _document: u32, _place: u32) {}

    /// Adds the newest document to the list of a key.
    fn push(&mut self, key: Self::Key, place: u32, min_overlap: MinOverlap);

    /// The number of texts that have the most frequent key; `None` if documents share keys
    /// because they are similar and not because of a template.
    fn most_frequent(&self) -> Option<u32> {
        None
    }
}

/// The cap on the length of a list, the same in every store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCap {
    max_list_len: usize,
}

impl ListCap {
    /// Caps lists at `max_list_len` documents; `usize::MAX` means no cap.
    pub fn new(max_list_len: usize) -> Self {
        ListCap { max_list_len }
    }

    /// How many documents the list of a key holds if this many documents were filed under it, in
    /// order: the first ones up to the cap.
    #[inline]
    pub fn held(self, documents: usize) -> usize {
        documents.min(self.max_list_len)
    }

    /// Whether a list of this length is full.
    #[inline]
    pub fn is_closed(self, list_len: usize) -> bool {
        self.held(list_len.saturating_add(1)) <= list_len
    }
}

/// Filed documents, and how many shared keys each of them requires.
#[derive(Clone, Debug)]
pub struct InvertedIndex<S: PostingStore> {
    /// The lists.
    pub store: S,
    cap: ListCap,
    /// How many documents each full list has left out.
    left_out: FxHashMap<S::Key, u64>,
    /// How many documents at least one full list has left out.
    unlisted: u64,
    /// The minimum overlap of the document at each place.
    min_overlaps: Vec<MinOverlap>,
    /// The keys of the document that is being filed.
    filing: Vec<(S::Key, MinOverlap)>,
}

/// Scratch space of look-ups, reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// For each place, the numbers of shared rare keys and shared common keys.
    shared: Vec<[u8; 2]>,
    met: Vec<u32>,
    keys: Vec<u64>,
    /// Entries of lists visited in all look-ups so far.
    visited: u64,
}

impl<S: PostingStore> InvertedIndex<S> {
    /// An index of what a store already holds, with the minimum overlaps of its documents.
    pub fn new(store: S, cap: ListCap, min_overlaps: Vec<MinOverlap>) -> Self {
        InvertedIndex {
            store,
            cap,
            left_out: FxHashMap::default(),
            unlisted: 0,
            min_overlaps,
            filing: Vec::new(),
        }
    }

    /// The number of documents filed, which is also the place of the next one.
    pub fn len(&self) -> u32 {
        self.min_overlaps.len() as u32
    }

    /// Whether no document is filed.
    pub fn is_empty(&self) -> bool {
        self.min_overlaps.is_empty()
    }

    /// What full lists left out, and how many documents have the most frequent key.
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
            most_frequent: self.store.most_frequent().unwrap_or(0),
        }
    }

    /// Files a document.
    pub fn insert(&mut self, sketches: &Sketches, document: u32) {
        let place = self.len();
        self.store.assign(document, place);
        let (store, cap) = (&self.store, self.cap);
        let is_unlisted = Cell::new(false);
        let is_closed = |key| {
            let is_closed = cap.is_closed(store.list_len(key));
            is_unlisted.set(is_unlisted.get() || is_closed);
            is_closed
        };
        store.filing_keys(sketches, document, is_closed, &mut self.filing);
        // All keys of a document have the same minima and differ only in kind.
        let mut minimum = MinOverlap::ONE;
        for (key, min_overlap) in self.filing.drain(..) {
            minimum = min_overlap;
            if cap.is_closed(self.store.list_len(key)) {
                *self.left_out.entry(key).or_default() += 1;
                is_unlisted.set(true);
            } else {
                self.store.push(key, place, min_overlap);
            }
        }
        self.unlisted += u64::from(is_unlisted.get());
        self.min_overlaps.push(minimum);
    }

    /// Adds to `found` the places from `since` on, ascending, whose documents share enough keys
    /// with `document`.
    pub fn near(
        &self,
        sketches: &Sketches,
        document: u32,
        since: u32,
        scratch: &mut Scratch,
        found: &mut Vec<u32>,
    ) {
        let Scratch {
            shared,
            met,
            keys,
            visited,
        } = scratch;
        shared.resize(self.min_overlaps.len().max(shared.len()), [0; 2]);
        for key in self.store.lookup_keys(sketches, document, since, keys) {
            let list = self.store.list(key);
            for posting in list.take_while(|posting| posting.place >= since) {
                *visited += 1;
                let counts = &mut shared[posting.place as usize];
                if *counts == [0; 2] {
                    met.push(posting.place);
                }
                let count = &mut counts[usize::from(posting.is_common)];
                *count = count.saturating_add(1);
            }
        }
        let own = self.store.min_overlap(sketches, document);
        let begin = found.len();
        for place in met.drain(..) {
            let [rare, common] = std::mem::take(&mut shared[place as usize]);
            let minimum = own.or_less(self.min_overlaps[place as usize]);
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
        let mut own = lock().pop().unwrap_or_default();
        let result = work(&mut own);
        lock().push(own);
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
        documents: &[u32],
        near: impl Fn(u32, &mut Scratch, &mut Vec<u32>) + Sync,
    ) -> Ragged<Vec<u32>> {
        let parts = documents.par_chunks(TASK).map(|documents| {
            self.with(|scratch| {
                let mut found = Ragged::default();
                for &document in documents {
                    found.push_with(|places| near(document, scratch, places));
                }
                found
            })
        });
        let parts: Vec<Ragged<Vec<u32>>> = parts.collect();
        let mut found = Ragged::default();
        parts.iter().for_each(|part| found.append(part));
        found
    }
}
