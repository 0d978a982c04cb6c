/*! The external store: keys in files, for documents in an order known in advance.

Takes the output of the [`shuffle`](crate::candidates::shuffle) of all documents. Finds what the
in-memory store finds: the places of earlier kept documents that share enough keys. One batch of
documents is loaded at a time, with the lists of its keys. Lists in which many documents are filed
are filled and capped in memory, as documents are kept.

A document costs 11 bytes in memory, and up to 24 more if it is filed under very frequent keys.
*/

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::candidates::heavy_hitters::HeavyHitters;
use crate::candidates::key_scheme::KeyScheme;
use crate::candidates::overlap::{InvertedIndex, Posting, PostingStore, Scratch};
use crate::candidates::shuffle::blob::{self, Entry};
use crate::candidates::shuffle::external_join::JoinedKeys;
use crate::candidates::stores::fetched::since_place;
use crate::error::{Error, Result};
use crate::sketch::SketchStore;
use crate::sketch::Sketches;

/// No place: the document is not kept, or not decided yet.
const NOWHERE: u32 = u32::MAX;

/// An index of documents in an order, of which one batch at a time is loaded.
#[derive(Debug)]
pub struct ExternalIndex {
    joined: JoinedKeys,
    order: Vec<u32>,
    /// How many documents of the order have been requested.
    begun: usize,
    current: Batch,
    /// The lists.
    pub index: InvertedIndex<ExternalPostings>,
}

/// The posting lists of the current batch: those read from files, and long ones kept in memory.
#[derive(Debug)]
pub struct ExternalPostings {
    heavy_hitters: Arc<HeavyHitters>,
    entries: Vec<Entry>,
    /// The range of entries of each key.
    bounds: FxHashMap<u32, (u32, u32)>,
    /// Places of kept documents, by their position in the order.
    places: Vec<u32>,
    /// The lists that were not shuffled; they are filled as documents are kept.
    long: FxHashMap<u32, Vec<Posting>>,
}

/// The batch of documents that is being decided.
#[derive(Debug)]
struct Batch {
    begin: usize,
    end: usize,
    /// The position of each document in the batch.
    positions: FxHashMap<u32, u32>,
    sketches: Sketches,
    scheme: KeyScheme,
}

impl PostingStore for ExternalPostings {
    type Key = u64;

    fn frequency(&self, key: u64) -> u32 {
        self.heavy_hitters.count(key as u32)
    }

    fn list_len(&self, key: u64) -> usize {
        // Shuffled lists are capped already.
        self.long.get(&(key as u32)).map_or(0, Vec::len)
    }

    #[inline]
    fn visit(&self, keys: &[u64], since: u32, mut visit: impl FnMut(Posting)) {
        for key in keys.iter().map(|&key| key as u32) {
            let (begin, end) = self.bounds.get(&key).copied().unwrap_or_default();
            let shuffled = self.entries[begin as usize..end as usize].iter().rev();
            let shuffled = shuffled.filter_map(|entry| {
                let place = self.places[entry.number as usize];
                let is_common = entry.min_overlap.is_common;
                (place != NOWHERE).then_some(Posting { place, is_common })
            });
            shuffled
                .take_while(|posting| posting.place >= since)
                .for_each(&mut visit);
            let long = self.long.get(&key).into_iter();
            long.flat_map(|list| since_place(list, since))
                .for_each(&mut visit);
        }
    }

    fn push(&mut self, key: u64, posting: Posting) {
        // The shuffled lists contain the document already.
        if let Some(list) = self.long.get_mut(&(key as u32)) {
            list.push(posting);
        }
    }
}

impl ExternalIndex {
    /// An empty index for documents in this order, whose sketches are in a store.
    ///
    /// # Errors
    ///
    /// If `joined` holds the keys of another number of documents.
    pub fn new(store: &SketchStore, joined: JoinedKeys, order: &[u32]) -> Result<Self> {
        joined.check(order.len())?;
        let long = joined.long.iter().map(|&key| (key, Vec::new()));
        let postings = ExternalPostings {
            heavy_hitters: Arc::default(),
            entries: Vec::new(),
            bounds: FxHashMap::default(),
            places: vec![NOWHERE; order.len()],
            long: long.collect(),
        };
        let scheme = joined.shuffle.scheme().clone();
        Ok(ExternalIndex {
            order: order.to_vec(),
            begun: 0,
            current: Batch {
                begin: 0,
                end: 0,
                positions: FxHashMap::default(),
                sketches: store.read(&[])?,
                scheme: scheme.clone(),
            },
            index: InvertedIndex::new(postings, scheme, Vec::new()),
            joined,
        })
    }

    /// Files a document of the current batch.
    pub fn insert(&mut self, document: u32) {
        let batch = &self.current;
        if let Some(&at) = batch.positions.get(&document) {
            let mut keys = Vec::new();
            batch.scheme.keys(&batch.sketches, at, &mut keys);
            self.index.store.places[batch.begin + at as usize] = self.index.len();
            self.index.insert(&keys);
        }
    }

    /// Adds the places from `since` on, ascending, whose documents share enough keys with one of
    /// the current batch.
    pub fn near(&self, document: u32, since: u32, scratch: &mut Scratch, found: &mut Vec<u32>) {
        let batch = &self.current;
        if let Some(&at) = batch.positions.get(&document) {
            scratch.with_keys(&batch.scheme, &batch.sketches, at, |keys, scratch| {
                self.index.near(keys, since, scratch, found);
            });
        }
    }

    /// Loads the next documents of the order, which must be the first of `wanted`, and returns how
    /// many are loaded.
    ///
    /// # Errors
    ///
    /// If the documents are not the next of the order, or their stored data cannot be read.
    pub fn load_batch(&mut self, store: &SketchStore, wanted: &[u32]) -> Result<usize> {
        if self.current.end == self.begun {
            self.read(store)?;
        }
        let rest = &self.order[self.begun..self.current.end];
        let count = wanted.len().min(rest.len());
        if rest[..count] != wanted[..count] || count == 0 {
            return Err(Error::input(
                "the documents to decide",
                "in the order in which their keys were shuffled",
                "others",
            ));
        }
        self.begun += count;
        Ok(count)
    }

    fn read(&mut self, store: &SketchStore) -> Result<()> {
        let begin = self.begun;
        let end = (begin + self.joined.batch).min(self.order.len());
        let documents = &self.order[begin..end];
        let number = begin / self.joined.batch;
        let counts = self.joined.counts.column(number)?;
        let counts = self.joined.shuffle.key_counts(&counts)?;
        let most_frequent = &mut self.index.most_frequent;
        *most_frequent = counts.largest().max(*most_frequent);
        let postings = &mut self.index.store;
        postings.heavy_hitters = counts.heavy_hitters();
        postings.load(&self.joined.lists.column(number)?)?;
        self.current = Batch {
            begin,
            end,
            positions: documents.iter().copied().zip(0..).collect(),
            sketches: store.read(documents)?,
            scheme: self.joined.shuffle.scheme().of_batch(documents),
        };
        Ok(())
    }
}

impl ExternalPostings {
    /// Replaces the lists of the last batch by these.
    fn load(&mut self, lists: &[Vec<u8>]) -> Result<()> {
        self.entries.clear();
        self.bounds.clear();
        for bytes in lists {
            let first = self.entries.len();
            self.entries.extend(blob::read_entries(bytes)?);
            let known = self.places.len() as u64;
            let read = &self.entries[first..];
            if let Some(entry) = read.iter().find(|one| one.number >= known) {
                return Err(Error::input(
                    "the stored keys of an earlier run",
                    format!("those of {known} documents"),
                    format!("one of document {}", entry.number),
                ));
            }
            let mut at = first as u32;
            for list in read.chunk_by(|a, b| a.key == b.key) {
                let end = at + list.len() as u32;
                self.bounds.insert(list[0].key, (at, end));
                at = end;
            }
        }
        Ok(())
    }
}
