/*! The external store: keys in files, for documents in an order known in advance.

Takes the output of the [`shuffle`](crate::candidates::shuffle) of all documents. Finds what the
in-memory store finds: the places of earlier kept documents that share enough keys. One batch of
documents is loaded at a time, with the lists of its keys. Lists in which many documents are filed
are filled and capped in memory, as documents are kept.

A document costs 11 bytes in memory, and up to 24 more if it is filed under very frequent keys.
*/

use rustc_hash::FxHashMap;

use crate::candidates::key_scheme::KeyScheme;
use crate::candidates::overlap::{InvertedIndex, ListCap, Posting, PostingStore};
use crate::candidates::schemes::rare_keys::MinOverlap;
use crate::candidates::search::Search;
use crate::candidates::shuffle::blob::{self, Entry};
use crate::candidates::shuffle::external_join::JoinedKeys;
use crate::candidates::sketch_store::SketchStore;
use crate::candidates::sketches::Sketches;
use crate::error::{Error, Result};

/// No place: the document is not kept, or not decided yet.
const NOWHERE: u32 = u32::MAX;

/// The posting lists of the current batch: those read from files, and long ones kept in memory.
#[derive(Debug)]
pub struct ExternalPostings {
    joined: JoinedKeys,
    order: Vec<u32>,
    /// How many documents of the order have been requested.
    begun: usize,
    current: Option<Batch>,
    entries: Vec<Entry>,
    /// The range of entries of each key.
    bounds: FxHashMap<u32, (u32, u32)>,
    /// Places of kept documents, by their position in the order.
    places: Vec<u32>,
    /// The lists that were not shuffled; they are filled as documents are kept.
    long: FxHashMap<u32, Vec<Posting>>,
    has_common: bool,
    /// The number of texts so far that have the most frequent key.
    most_frequent: u32,
}

/// The batch of documents that is being decided.
#[derive(Debug)]
struct Batch {
    begin: usize,
    end: usize,
    /// Positions in the order, by document.
    positions: FxHashMap<u32, usize>,
    sketches: Sketches,
    scheme: KeyScheme,
}

impl PostingStore for ExternalPostings {
    type Key = u64;

    #[inline]
    fn lookup_keys<'a>(
        &'a self,
        _: &Sketches,
        document: u32,
        _since: u32,
        buffer: &'a mut Vec<u64>,
    ) -> impl Iterator<Item = u64> + use<'a> {
        buffer.clear();
        if let Some((batch, at)) = self.current(document) {
            batch.scheme.lookup_keys(&batch.sketches, at, buffer);
        }
        buffer.iter().copied()
    }

    fn filing_keys(
        &self,
        _: &Sketches,
        document: u32,
        _: impl Fn(u64) -> bool,
        filed: &mut Vec<(u64, MinOverlap)>,
    ) {
        if let Some((batch, at)) = self.current(document) {
            // The shuffled lists were chosen without regard to which lists are full.
            let is_closed = |_| false;
            batch
                .scheme
                .filing_keys(&batch.sketches, at, is_closed, filed);
        }
    }

    fn min_overlap(&self, _: &Sketches, document: u32) -> MinOverlap {
        let current = self.current(document);
        current.map_or(MinOverlap::ONE, |(batch, at)| {
            batch.scheme.min_overlap(&batch.sketches, at)
        })
    }

    #[inline]
    fn list(&self, key: u64) -> impl Iterator<Item = Posting> {
        let key = key as u32;
        let (begin, end) = self.bounds.get(&key).copied().unwrap_or_default();
        let shuffled = self.entries[begin as usize..end as usize].iter().rev();
        let shuffled = shuffled.filter_map(|entry| {
            let place = self.places[entry.number.get() as usize];
            let is_common = entry.min_overlap().is_common;
            (place != NOWHERE).then_some(Posting { place, is_common })
        });
        let long = self.long.get(&key).into_iter();
        shuffled.chain(long.flat_map(|list| list.iter().rev().copied()))
    }

    fn list_len(&self, key: u64) -> usize {
        // Shuffled lists are capped already.
        self.long.get(&(key as u32)).map_or(0, Vec::len)
    }

    fn assign(&mut self, document: u32, place: u32) {
        if let Some((batch, at)) = self.current(document) {
            let position = batch.begin + at as usize;
            self.places[position] = place;
        }
    }

    fn push(&mut self, key: u64, place: u32, min_overlap: MinOverlap) {
        // The shuffled lists contain the document already.
        if let Some(list) = self.long.get_mut(&(key as u32)) {
            let is_common = min_overlap.is_common;
            list.push(Posting { place, is_common });
        }
    }

    fn most_frequent(&self) -> Option<u32> {
        self.has_common.then_some(self.most_frequent)
    }
}

impl InvertedIndex<ExternalPostings> {
    /// An empty index for documents in this order.
    ///
    /// # Errors
    ///
    /// If the search has no keys, or `joined` holds the keys of another number of documents.
    pub fn external(search: Search, joined: JoinedKeys, order: &[u32]) -> Result<Self> {
        joined.check(order.len())?;
        let long = joined.long.iter().map(|&key| (key, Vec::new()));
        let postings = ExternalPostings {
            order: order.to_vec(),
            begun: 0,
            current: None,
            entries: Vec::new(),
            bounds: FxHashMap::default(),
            places: vec![NOWHERE; order.len()],
            long: long.collect(),
            has_common: matches!(search, Search::Postings { .. }),
            most_frequent: 0,
            joined,
        };
        Ok(InvertedIndex::new(
            postings,
            ListCap::new(search.max_list_len()),
            Vec::new(),
        ))
    }
}

impl ExternalPostings {
    /// The loaded batch and the number of a document in it, if the document is in the batch.
    fn current(&self, document: u32) -> Option<(&Batch, u32)> {
        let batch = self.current.as_ref()?;
        let position = *batch.positions.get(&document)?;
        Some((batch, (position - batch.begin) as u32))
    }

    /// Loads the next documents of the order, which must be the first of `wanted`, and returns how
    /// many are loaded.
    ///
    /// # Errors
    ///
    /// If the documents are not the next of the order, or their stored data cannot be read.
    pub fn load_batch(&mut self, store: &SketchStore, wanted: &[u32]) -> Result<usize> {
        let end = self.current.as_ref().map_or(0, |batch| batch.end);
        let end = match end > self.begun {
            true => end,
            false => self.read(store)?,
        };
        let rest = &self.order[self.begun..end];
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

    fn read(&mut self, store: &SketchStore) -> Result<usize> {
        let begin = self.begun;
        let end = (begin + self.joined.batch).min(self.order.len());
        let documents = &self.order[begin..end];
        let number = begin / self.joined.batch;
        let counts = self.joined.counts.column(number)?;
        let counts = self.joined.shuffle.key_counts(&counts)?;
        self.most_frequent = self.most_frequent.max(counts.largest());
        let sketches = store.read(documents)?;
        let scheme = self
            .joined
            .shuffle
            .of_batch(documents)
            .key_scheme(&sketches, counts.heavy_hitters())?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut bounds = FxHashMap::default();
        for bytes in self.joined.lists.column(number)? {
            let first = entries.len();
            entries.extend_from_slice(blob::read_entries(&bytes)?);
            let known = self.order.len() as u64;
            if let Some(entry) = entries[first..]
                .iter()
                .find(|one| one.number.get() >= known)
            {
                return Err(Error::input(
                    "the stored keys of an earlier run",
                    format!("those of {known} documents"),
                    format!("one of document {}", entry.number),
                ));
            }
            let mut at = first as u32;
            for list in entries[first..].chunk_by(|a, b| a.key == b.key) {
                let end = at + list.len() as u32;
                bounds.insert(list[0].key.get(), (at, end));
                at = end;
            }
        }
        self.entries = entries;
        self.bounds = bounds;
        self.current = Some(Batch {
            begin,
            end,
            positions: documents.iter().copied().zip(begin..).collect(),
            sketches,
            scheme,
        });
        Ok(end)
    }
}
