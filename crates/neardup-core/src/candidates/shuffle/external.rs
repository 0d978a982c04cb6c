/*! The external index: keys in files, for documents in an order known in advance.

Takes the output of the [`shuffle`](crate::candidates::shuffle) of all documents. Finds what the
in-memory store finds: the places of earlier kept documents that share enough keys. One batch of
documents is loaded at a time, with the lists of its keys. Lists in which many documents are filed
are filled and capped in memory, as documents are kept.

A document costs 11 bytes in memory, and up to 24 more if it is filed under very frequent keys.
*/

use rustc_hash::FxHashMap;

use crate::candidates::key_scheme::KeyScheme;
use crate::candidates::overlap::{InvertedIndex, Posting, Scratch};
use crate::candidates::shuffle::blob;
use crate::candidates::shuffle::external_join::JoinedKeys;
use crate::candidates::stores::fetched::FetchedPostings;
use crate::error::{Error, Result};
use crate::ids::{DocId, Place};
use crate::sketch::{SketchStore, Sketches};

/// No place: the document is not kept, or not decided yet.
const NOWHERE: Place = Place(u32::MAX);

/// An index of documents in an order, loaded one batch at a time.
#[derive(Debug)]
pub struct ExternalIndex {
    joined: JoinedKeys,
    order: Vec<DocId>,
    /// How many documents of the order have been requested.
    begun: usize,
    current: Batch,
    /// The places of kept documents, by their position in the order.
    places: Vec<Place>,
    /// The lists of the keys of the current batch, and all that were not shuffled.
    pub index: InvertedIndex<FetchedPostings>,
}

/// The batch of documents that is being decided.
#[derive(Debug)]
struct Batch {
    begin: usize,
    end: usize,
    /// The position of each document in the batch.
    positions: FxHashMap<DocId, DocId>,
    sketches: Sketches,
    scheme: KeyScheme,
}

impl ExternalIndex {
    /// An empty index for documents in this order, whose sketches are in a store.
    ///
    /// # Errors
    ///
    /// If `joined` holds the keys of another number of documents.
    pub fn new(store: &SketchStore, joined: JoinedKeys, order: &[DocId]) -> Result<Self> {
        joined.check(order.len())?;
        let long = joined.long.iter().map(|&key| (key.into(), Vec::new()));
        let postings = FetchedPostings {
            lists: long.collect(),
            has_all_keys: true,
            ..FetchedPostings::default()
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
            places: vec![NOWHERE; order.len()],
            index: InvertedIndex::new(postings, scheme, Vec::new()),
            joined,
        })
    }

    /// Files a document of the current batch.
    pub fn insert(&mut self, document: DocId) {
        let batch = &self.current;
        if let Some(&at) = batch.positions.get(&document) {
            let mut keys = Vec::new();
            batch.scheme.keys(&batch.sketches, at, &mut keys);
            self.places[batch.begin + at.index()] = self.index.next_place();
            self.index.insert(&keys);
        }
    }

    /// Adds the places from `since` on, ascending, whose documents share enough keys with one of
    /// the current batch.
    pub fn near(
        &self,
        document: DocId,
        since: Place,
        scratch: &mut Scratch,
        found: &mut Vec<Place>,
    ) {
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
    pub fn load_batch(&mut self, store: &SketchStore, wanted: &[DocId]) -> Result<usize> {
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
        self.index.store.heavy_hitters = counts.heavy_hitters();
        let lists = &mut self.index.store.lists;
        lists.retain(|&key, _| self.joined.long.contains(&(key as u32)));
        for bytes in self.joined.lists.column(number)? {
            for of_key in blob::read_entries(&bytes)?.chunk_by(|a, b| a.key == b.key) {
                let list = lists.entry(of_key[0].key.get().into()).or_default();
                let postings = of_key.iter().map(|entry| Posting {
                    place: self.places[entry.number.get() as usize],
                    is_common: entry.min_overlap().is_common,
                });
                list.reserve_exact(of_key.len());
                list.extend(postings.filter(|posting| posting.place != NOWHERE));
            }
        }
        self.current = Batch {
            begin,
            end,
            positions: documents
                .iter()
                .copied()
                .zip(DocId::range(0..documents.len()))
                .collect(),
            sketches: store.read(documents)?,
            scheme: self.joined.shuffle.scheme().of_batch(documents),
        };
        Ok(())
    }
}
