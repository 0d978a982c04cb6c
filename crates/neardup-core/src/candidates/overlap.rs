/*! Overlap: which of the filed documents share enough keys with another one.

The only place that counts shared keys, and the only one that files a document. What
differs between a run in memory, a run whose keys are in files, an index and a cluster is
the [`PostingStore`]: what a key is, and where its list comes from.

A document's keys come from its sketch ([`Filing`](super::Filing)), and so does how
many of them another must share ([`MinOverlap`]). Documents have *places*, ascending in the
order of filing.

**Template.** A list is capped: once it holds `max_list_len` documents, later documents are not
added. They still find the first documents that share the key, but find each other only by their
other keys. So the time is linear in the number of documents that share a key.
*/

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::rare_keys::MinOverlap;
use super::search::Found;

/// Documents that one task looks up.
const TASK: usize = 64;

/// A filed document in the list of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posting {
    /// The place of the document.
    pub place: u32,
    /// Whether the key was a common one, and none of the rare ones, when it was filed.
    pub is_common: bool,
}

/// Lists of filed documents, one for each key.
pub trait PostingStore {
    /// A key as the store looks it up.
    type Key: Copy + Eq + Hash;

    /// The documents in the list of a key, the newest first.
    fn list(&self, key: Self::Key) -> impl Iterator<Item = Posting>;

    /// How many documents are in the list of a key.
    fn list_len(&self, key: Self::Key) -> usize;

    /// Adds the newest document to the list of a key.
    fn push(&mut self, key: Self::Key, posting: Posting);
}

/// Filed documents, and what each of them asks for.
#[derive(Clone, Debug)]
pub struct CandidateIndex<S: PostingStore> {
    /// The lists.
    pub store: S,
    max_list_len: usize,
    /// Keys whose lists have turned documents away.
    closed: FxHashSet<S::Key>,
    /// By place.
    min_overlaps: Vec<MinOverlap>,
}

/// Scratch space of look-ups; reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// For each place the shared keys, rare ones and common ones.
    shared: Vec<[u8; 2]>,
    met: Vec<u32>,
    /// Keys of the document that is looked up.
    pub keys: Vec<u64>,
}

impl<S: PostingStore> CandidateIndex<S> {
    /// What a store holds already, with what its documents ask for.
    pub fn new(store: S, max_list_len: usize, min_overlaps: Vec<MinOverlap>) -> Self {
        CandidateIndex {
            store,
            max_list_len,
            closed: FxHashSet::default(),
            min_overlaps,
        }
    }

    /// Whether the list of a key takes no more documents.
    pub fn is_full(&self, key: S::Key) -> bool {
        self.store.list_len(key) >= self.max_list_len
    }

    /// The number of lists that have turned documents away.
    pub fn closed(&self) -> u64 {
        self.closed.len() as u64
    }

    /// The number of documents filed, which is the place of the next.
    pub fn len(&self) -> usize {
        self.min_overlaps.len()
    }

    /// Files a document under some keys, each with what is asked for by it. Calls `stored`
    /// with each key whose list has taken it.
    pub fn insert(
        &mut self,
        keys: impl IntoIterator<Item = (S::Key, MinOverlap)>,
        mut stored: impl FnMut(S::Key, MinOverlap),
    ) {
        let place = self.min_overlaps.len() as u32;
        // All keys of a document say the same but for their kind.
        let mut asked = MinOverlap::ONE;
        for (key, min_overlap) in keys {
            asked = min_overlap;
            let is_common = min_overlap.is_common;
            if self.is_full(key) {
                self.closed.insert(key);
            } else {
                self.store.push(key, Posting { place, is_common });
                stored(key, min_overlap);
            }
        }
        self.min_overlaps.push(asked);
    }

    /// Adds to `found` the places from `since` on whose documents share enough of these
    /// keys, ascending. `own` is what the document that has them asks for.
    pub fn near(
        &self,
        keys: impl Iterator<Item = S::Key>,
        own: MinOverlap,
        since: u32,
        scratch: &mut Scratch,
        found: &mut Vec<u32>,
    ) {
        let Scratch { shared, met, .. } = scratch;
        shared.resize(self.len().max(shared.len()), [0; 2]);
        for key in keys {
            let list = self.store.list(key);
            for posting in list.take_while(|posting| posting.place >= since) {
                let counts = &mut shared[posting.place as usize];
                if *counts == [0; 2] {
                    met.push(posting.place);
                }
                let count = &mut counts[usize::from(posting.is_common)];
                *count = count.saturating_add(1);
            }
        }
        let begin = found.len();
        for place in met.drain(..) {
            let [rare, common] = std::mem::take(&mut shared[place as usize]);
            let asked = own.or_less(self.min_overlaps[place as usize]);
            if asked.is_reached(rare.into(), common.into()) {
                found.push(place);
            }
        }
        found[begin..].sort_unstable();
    }
}

/// Scratch space, one for each thread that has looked something up: they are as
/// long as what is filed, too long to be made anew for each task.
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

    /// Looks documents up on all threads; `near` adds to the places found.
    pub fn look_up(
        &self,
        documents: &[u32],
        near: impl Fn(u32, &mut Scratch, &mut Vec<u32>) + Sync,
    ) -> Found {
        let parts: Vec<(Vec<usize>, Vec<u32>)> = documents
            .par_chunks(TASK)
            .map(|documents| {
                self.with(|room| {
                    let mut places = Vec::new();
                    let ends = documents.iter().map(|&document| {
                        near(document, room, &mut places);
                        places.len()
                    });
                    (ends.collect(), places)
                })
            })
            .collect();
        let mut found = Found {
            offsets: vec![0],
            places: Vec::new(),
        };
        for (ends, places) in parts {
            let begin = found.places.len();
            found.offsets.extend(ends.iter().map(|end| begin + end));
            found.places.extend(places);
        }
        found
    }
}
