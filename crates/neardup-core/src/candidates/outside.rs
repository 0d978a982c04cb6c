/*! A shelf whose keys are outside of memory, for documents in an order known before.

Takes what the [`exchange`](super::exchange) made of all documents. Yields what
[`InMemory`](super::InMemory) would: places of earlier documents
that were kept and share enough keys. A batch of documents is at hand at a time, with
the lists of its keys; lists that many documents are filed in are filled and closed in
memory, as documents are kept.

In memory a document costs 11 bytes, and up to 24 more where it is filed under keys
that very many have.
*/

use rustc_hash::FxHashMap;

use super::exchange::blob::{self, Entry};
use super::exchange::joined::Joined;
use super::filing::Filing;
use super::overlap::{CandidateIndex, Posting, PostingStore, Scratch};
use super::search::{Crowd, Search};
use super::sketches::Sketches;
use crate::corpus::SketchStore;
use crate::error::{Error, Result};

/// No place: the document was not kept, or not yet.
const NOWHERE: u32 = u32::MAX;

/// Documents filed for look-up, a batch of all at hand.
#[derive(Debug)]
pub struct Outside {
    joined: Joined,
    order: Vec<u32>,
    /// How many of the order have been begun.
    begun: usize,
    current: Option<Batch>,
    index: CandidateIndex<PagedLists>,
    has_common: bool,
    /// Documents that have the key which most of them have, so far.
    largest: u32,
}

/// The posting lists of the current batch: those read from files, and long ones kept in memory.
#[derive(Debug, Default)]
struct PagedLists {
    entries: Vec<Entry>,
    /// Where the entries of each key are.
    bounds: FxHashMap<u32, (u32, u32)>,
    /// Places of kept documents, by their position in the order.
    places: Vec<u32>,
    /// The lists that were not exchanged: they are filled as documents are kept.
    long: FxHashMap<u32, Vec<Posting>>,
}

/// The documents that are being decided, and the lists of their keys.
#[derive(Debug)]
struct Batch {
    end: usize,
    /// Positions in the order, by document.
    positions: FxHashMap<u32, usize>,
    begin: usize,
    sketches: Sketches,
    filing: Filing,
}

impl PostingStore for PagedLists {
    type Key = u64;

    #[inline]
    fn list(&self, key: u64) -> impl Iterator<Item = Posting> {
        let key = key as u32;
        let (begin, end) = self.bounds.get(&key).copied().unwrap_or_default();
        let exchanged = self.entries[begin as usize..end as usize].iter().rev();
        let exchanged = exchanged.filter_map(|entry| {
            let place = self.places[entry.number as usize];
            let is_common = entry.min_overlap.is_common;
            (place != NOWHERE).then_some(Posting { place, is_common })
        });
        let long = self.long.get(&key).into_iter();
        exchanged.chain(long.flat_map(|list| list.iter().rev().copied()))
    }

    fn list_len(&self, key: u64) -> usize {
        // Those that were exchanged are capped already.
        self.long.get(&(key as u32)).map_or(0, Vec::len)
    }

    fn push(&mut self, key: u64, posting: Posting) {
        // The document is in the lists that were exchanged already.
        if let Some(list) = self.long.get_mut(&(key as u32)) {
            list.push(posting);
        }
    }
}

impl Outside {
    /// Nothing filed yet, of documents in this order.
    ///
    /// # Errors
    ///
    /// If the search has no keys, or the keys are those of another number of documents.
    pub fn new(search: Search, joined: Joined, order: &[u32]) -> Result<Self> {
        let filing = Filing::new(search, 0, std::sync::Arc::default())?;
        joined.check(order.len())?;
        let long = joined.long.iter().map(|&key| (key, Vec::new()));
        let lists = PagedLists {
            places: vec![NOWHERE; order.len()],
            long: long.collect(),
            ..PagedLists::default()
        };
        Ok(Outside {
            order: order.to_vec(),
            begun: 0,
            current: None,
            index: CandidateIndex::new(lists, filing.longest(), Vec::new()),
            has_common: matches!(search, Search::Postings { .. }),
            largest: 0,
            joined,
        })
    }

    /// Turns to the next documents of the order, which must be the first of `wanted`, and
    /// says how many of them are at hand.
    ///
    /// # Errors
    ///
    /// If the documents are others, or what is stored of them cannot be read.
    pub fn turn_to(&mut self, store: &SketchStore, wanted: &[u32]) -> Result<usize> {
        let end = self.current.as_ref().map_or(0, |batch| batch.end);
        let end = match end > self.begun {
            true => end,
            false => self.load(store)?,
        };
        let rest = &self.order[self.begun..end];
        let count = wanted.len().min(rest.len());
        if rest[..count] != wanted[..count] || count == 0 {
            return Err(Error::input(
                "the documents to decide",
                "in the order in which their keys were exchanged",
                "others",
            ));
        }
        self.begun += count;
        Ok(count)
    }

    fn load(&mut self, store: &SketchStore) -> Result<usize> {
        let begin = self.begun;
        let end = (begin + self.joined.batch).min(self.order.len());
        let documents = &self.order[begin..end];
        let number = begin / self.joined.batch;
        let counts = self.joined.counts.column(number)?;
        let counts = self.joined.exchange.key_counts(&counts)?;
        self.largest = self.largest.max(counts.largest());
        let sketches = store.read(documents)?;
        let filing = self.joined.exchange.filing(&sketches, counts.frequent())?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut bounds = FxHashMap::default();
        for bytes in self.joined.lists.column(number)? {
            let first = entries.len();
            entries.extend(blob::read_entries(&bytes)?);
            let known = self.order.len() as u64;
            if let Some(entry) = entries[first..].iter().find(|one| one.number >= known) {
                return Err(Error::input(
                    "the stored keys of an earlier run",
                    format!("those of {known} documents"),
                    format!("one of document {}", entry.number),
                ));
            }
            let mut at = first as u32;
            for list in entries[first..].chunk_by(|a, b| a.key == b.key) {
                let end = at + list.len() as u32;
                bounds.insert(list[0].key, (at, end));
                at = end;
            }
        }
        self.index.store.entries = entries;
        self.index.store.bounds = bounds;
        self.current = Some(Batch {
            begin,
            end,
            positions: documents.iter().copied().zip(begin..).collect(),
            sketches,
            filing,
        });
        Ok(end)
    }

    /// Lists that are closed, and the key that most documents have of those begun.
    pub fn crowd(&self) -> Crowd {
        // Bands are shared by those that are alike, and no form.
        if !self.has_common {
            return Crowd::default();
        }
        Crowd {
            closed: self.index.closed(),
            largest: self.largest,
        }
    }

    /// Files a document of the batch at hand.
    pub fn insert(&mut self, document: u32) {
        let mut filed = Vec::new();
        if let Some((batch, position)) = at_hand(self.current.as_ref(), document) {
            self.index.store.places[position] = self.index.len() as u32;
            let at = (position - batch.begin) as u32;
            batch
                .filing
                .filed(&batch.sketches, at, |_| false, &mut filed);
        }
        self.index.insert(filed, |_, _| ());
    }

    /// Adds to `found` the places from `since` on whose documents share enough keys with
    /// `document`, which is at hand, ascending.
    pub fn near(&self, document: u32, since: u32, scratch: &mut Scratch, found: &mut Vec<u32>) {
        let Some((batch, position)) = at_hand(self.current.as_ref(), document) else {
            return;
        };
        let at = (position - batch.begin) as u32;
        let mut keys = std::mem::take(&mut scratch.keys);
        batch.filing.looked_up(&batch.sketches, at, &mut keys);
        let own = batch.filing.min_overlap(&batch.sketches, at);
        self.index
            .near(keys.iter().copied(), own, since, scratch, found);
        scratch.keys = keys;
    }
}

fn at_hand(batch: Option<&Batch>, document: u32) -> Option<(&Batch, usize)> {
    let batch = batch?;
    let position = *batch.positions.get(&document)?;
    Some((batch, position))
}
