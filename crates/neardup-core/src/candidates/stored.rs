/*! Stored lists: the part of a store's table of keys that some documents need.

Takes the entries that a store has under the keys by which a batch of documents is
looked up. Yields who of the stored documents may be similar to which of the batch,
files those of the batch that are kept, and says at last what is to be written into
the store. A stored document has a *number*, ascending in the order of filing; here
all numbers of the entries get *places*, and the kept documents of the batch those
behind them.

A list is closed by what it holds in the store and of the batch together, so the
store ends up the same whatever the batches were.
*/

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::filing::Filing;
use super::overlap::{CandidateIndex, Posting, PostingStore, Scratch, Scratches};
use super::rare_keys::MinOverlap;
use super::search::Found;
use super::sketches::Sketches;
use crate::error::{Error, Result};

/// What is to be stored for a document that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The key.
    pub key: u64,
    /// The number of the document in its corpus.
    pub document: u32,
    /// See [`MinOverlap`].
    pub min_overlap: MinOverlap,
}

/// Lists that were fetched from a store, and grow as documents are filed.
#[derive(Debug, Default)]
struct FetchedLists(HashMap<u64, Vec<Posting>, FxBuildHasher>);

impl PostingStore for FetchedLists {
    type Key = u64;

    #[inline]
    fn list(&self, key: u64) -> impl Iterator<Item = Posting> {
        self.0.get(&key).into_iter().flatten().rev().copied()
    }

    fn list_len(&self, key: u64) -> usize {
        self.0.get(&key).map_or(0, Vec::len)
    }

    fn push(&mut self, key: u64, posting: Posting) {
        self.0.entry(key).or_default().push(posting);
    }
}

/// The lists that a batch needs, from a store and of the batch itself.
#[derive(Debug)]
pub struct Stored {
    filing: Filing,
    /// Numbers of all stored documents that were met, ascending: by place.
    numbers: Vec<u64>,
    index: CandidateIndex<FetchedLists>,
    /// Where there are no keys: for each document of the batch the places to compare.
    given: Option<Found>,
    /// Documents of the corpus at the places, where they are to be looked at.
    documents: Vec<Option<u32>>,
    new: Vec<NewEntry>,
}

impl Stored {
    /// The lists with these entries: a key, the number of a stored document, and the
    /// bits of its [`MinOverlap`] each. In any order.
    ///
    /// # Errors
    ///
    /// If the three are not of one length.
    pub fn new(filing: Filing, keys: &[u64], numbers: &[u64], shares: &[u16]) -> Result<Self> {
        if keys.len() != numbers.len() || keys.len() != shares.len() {
            return Err(Error::input(
                "the entries of a store",
                "one number and one share for each key",
                format!(
                    "{} keys, {} numbers, {} shares",
                    keys.len(),
                    numbers.len(),
                    shares.len()
                ),
            ));
        }
        let places = distinct(numbers);
        let mut lists = FetchedLists::default();
        let mut min_overlaps = vec![MinOverlap::ONE; places.len()];
        for ((&key, number), &bits) in keys.iter().zip(numbers).zip(shares) {
            let place = places.partition_point(|other| other < number) as u32;
            let min_overlap = MinOverlap::from_bits(bits);
            min_overlaps[place as usize] = min_overlap;
            lists.0.entry(key).or_default().push(Posting {
                place,
                is_common: min_overlap.is_common,
            });
        }
        for list in lists.0.values_mut() {
            list.sort_unstable_by_key(|posting| posting.place);
        }
        Ok(Stored {
            documents: vec![None; places.len()],
            numbers: places,
            index: CandidateIndex::new(lists, filing.longest(), min_overlaps),
            given: None,
            filing,
            new: Vec::new(),
        })
    }

    /// No lists, since there are no keys: for each document of the batch the numbers of
    /// stored ones that are to be compared, between two `offsets`.
    ///
    /// # Errors
    ///
    /// If the offsets do not ascend from 0 to the number of `numbers`.
    pub fn given(filing: Filing, offsets: &[usize], numbers: &[u64]) -> Result<Self> {
        let ends = [offsets.first(), offsets.last()];
        if ends != [Some(&0), Some(&numbers.len())] || !offsets.is_sorted() {
            return Err(Error::input(
                "the offsets of stored documents to compare",
                format!("ascending from 0 to {}", numbers.len()),
                format!("{offsets:?}"),
            ));
        }
        let places = distinct(numbers);
        let place = |number: &u64| places.partition_point(|other| other < number) as u32;
        Ok(Stored {
            given: Some(Found {
                offsets: offsets.to_vec(),
                places: numbers.iter().map(place).collect(),
            }),
            documents: vec![None; places.len()],
            index: CandidateIndex::new(
                FetchedLists::default(),
                filing.longest(),
                vec![MinOverlap::ONE; places.len()],
            ),
            numbers: places,
            filing,
            new: Vec::new(),
        })
    }

    /// Raises unless this was made for a batch of `count` documents, the first of these
    /// sketches.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind or fewer, or the batch has another size than the
    /// one whose documents to compare were given.
    pub fn check(&self, sketches: &Sketches, count: usize) -> Result<()> {
        self.filing.check(sketches, count)?;
        match &self.given {
            Some(given) if given.offsets.len() != count + 1 => Err(Error::input(
                "the stored documents to compare",
                format!("those of a batch of {count} documents"),
                format!("those of {}", given.offsets.len() - 1),
            )),
            _ => Ok(()),
        }
    }

    /// Numbers of the stored documents that may be similar to one of the batch, which
    /// are the first `count` of the sketches; ascending.
    ///
    /// # Errors
    ///
    /// As for [`check`](Self::check).
    pub fn candidates(&self, sketches: &Sketches, count: u32) -> Result<Vec<u64>> {
        self.check(sketches, count as usize)?;
        let all: Vec<u32> = (0..count).collect();
        let mut places = self.look_up(sketches, &all).places;
        places.sort_unstable();
        places.dedup();
        let number = |place: u32| self.numbers[place as usize];
        Ok(places.into_iter().map(number).collect())
    }

    /// Says that the stored document with a number is there to be looked at, as a
    /// document of the corpus. Without effect for a number that was never met.
    pub fn admit(&mut self, number: u64, document: u32) {
        if let Ok(place) = self.numbers.binary_search(&number) {
            self.documents[place] = Some(document);
        }
    }

    /// Documents of the corpus at the places of the stored ones.
    pub fn documents(&self) -> &[Option<u32>] {
        &self.documents
    }

    /// What has been filed of the batch, in order.
    pub fn new_entries(&self) -> &[NewEntry] {
        &self.new
    }

    /// Adds the places of stored documents that were admitted and may be similar.
    pub(super) fn before(
        &self,
        sketches: &Sketches,
        document: u32,
        scratch: &mut Scratch,
        places: &mut Vec<u32>,
    ) {
        let begin = places.len();
        self.near(sketches, document, 0, scratch, places);
        let mut end = begin;
        for at in begin..places.len() {
            if self.documents[places[at] as usize].is_some() {
                places[end] = places[at];
                end += 1;
            }
        }
        places.truncate(end);
    }

    /// Adds the places from those of the batch on that may be similar.
    pub(super) fn behind(
        &self,
        sketches: &Sketches,
        document: u32,
        scratch: &mut Scratch,
        places: &mut Vec<u32>,
    ) {
        let from = self.numbers.len() as u32;
        if self.given.is_some() {
            places.extend(from..self.documents.len() as u32);
        } else {
            self.near(sketches, document, from, scratch, places);
        }
    }

    /// Files a document of the batch.
    pub(super) fn insert(&mut self, sketches: &Sketches, document: u32) {
        self.documents.push(Some(document));
        let mut filed = Vec::new();
        let is_closed = |key| self.index.is_full(key);
        self.filing.filed(sketches, document, is_closed, &mut filed);
        let new = &mut self.new;
        self.index.insert(filed, |key, min_overlap| {
            new.push(NewEntry {
                key,
                document,
                min_overlap,
            });
        });
    }

    /// Calls `told` with each of some documents of the batch and the number of each stored
    /// one that may be similar to it.
    pub(super) fn each_near(
        &self,
        sketches: &Sketches,
        documents: &[u32],
        mut told: impl FnMut(u32, u64),
    ) {
        let found = self.look_up(sketches, documents);
        for (&document, bounds) in documents.iter().zip(found.offsets.windows(2)) {
            for &place in &found.places[bounds[0]..bounds[1]] {
                told(document, self.numbers[place as usize]);
            }
        }
    }

    fn look_up(&self, sketches: &Sketches, documents: &[u32]) -> Found {
        Scratches::default().look_up(documents, |document, scratch, places| {
            self.near(sketches, document, 0, scratch, places);
        })
    }

    /// Adds the places from `since` on that share enough keys, ascending.
    fn near(
        &self,
        sketches: &Sketches,
        document: u32,
        since: u32,
        scratch: &mut Scratch,
        places: &mut Vec<u32>,
    ) {
        if let Some(given) = &self.given {
            let at = document as usize;
            let range = given.offsets[at]..given.offsets[at + 1];
            places.extend_from_slice(&given.places[range]);
            return;
        }
        let mut keys = std::mem::take(&mut scratch.keys);
        self.filing.looked_up(sketches, document, &mut keys);
        let own = self.filing.min_overlap(sketches, document);
        self.index
            .near(keys.iter().copied(), own, since, scratch, places);
        scratch.keys = keys;
    }
}

fn distinct(numbers: &[u64]) -> Vec<u64> {
    let mut distinct = numbers.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}
