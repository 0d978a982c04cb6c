/*! The fetched store: the part of a key table that a batch of documents needs.

Takes the entries that a database or a shuffle holds under the keys by which a batch of documents is
looked up. Finds which stored documents may be similar to which documents of the batch, files the
documents of the batch that are kept, and collects the entries to write into the store. A stored
document has a *number*, ascending in the order of filing. Here the numbers of all entries are
mapped to *places*; the kept documents of the batch get the places after them.

The list cap counts the entries in the store and those of the batch together, so the final content
of the store does not depend on how documents are divided into batches.
*/

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use crate::candidates::key_scheme::KeyScheme;
use crate::candidates::overlap::{InvertedIndex, Posting, PostingStore, Scratch, Scratches};
use crate::candidates::schemes::rare_keys::MinOverlap;
use crate::candidates::statistics::SearchStatistics;
use crate::error::{Error, Result};
use crate::ids::{DocId, Hash, Place};
use crate::ragged::Ragged;
use crate::shingle_frequencies::ShingleFrequencies;
use crate::sketch::Sketches;

/// An entry to store for a kept document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The key.
    pub key: u64,
    /// The number of the document in its corpus.
    pub document: DocId,
    /// See [`MinOverlap`].
    pub min_overlap: MinOverlap,
}

/// The lists of keys.
pub type Lists = HashMap<u64, Vec<Posting>, FxBuildHasher>;

/// Lists fetched for a batch; they grow as documents are filed.
#[derive(Debug, Default)]
pub struct FetchedPostings {
    /// The common keys.
    pub heavy_hitters: Arc<ShingleFrequencies>,
    /// In the order of filing.
    pub lists: Lists,
    /// Whether documents of the batch share no other keys.
    pub has_all_keys: bool,
}

impl PostingStore for FetchedPostings {
    type Key = u64;

    fn frequency(&self, key: u64) -> u32 {
        self.heavy_hitters.count(Hash(key as u32))
    }

    fn list_len(&self, key: u64) -> usize {
        self.lists.get(&key).map_or(0, Vec::len)
    }

    #[inline]
    fn visit(&self, keys: &[u64], since: Place, visit: impl FnMut(Posting)) {
        let lists = keys.iter().filter_map(|key| self.lists.get(key));
        let newest_first = lists.flat_map(|list| {
            let all = list.iter().rev().copied();
            all.take_while(|posting| posting.place >= since)
        });
        newest_first.for_each(visit);
    }

    fn push(&mut self, key: u64, posting: Posting) {
        match self.has_all_keys {
            true => self
                .lists
                .get_mut(&key)
                .into_iter()
                .for_each(|list| list.push(posting)),
            false => self.lists.entry(key).or_default().push(posting),
        }
    }
}

/// The lists that a batch needs: entries of the store and of the batch itself.
#[derive(Debug)]
pub struct FetchedIndex {
    /// The numbers of all stored documents in the lists, ascending; the index is the place.
    numbers: Vec<u64>,
    /// The corpus document at each place; `None` for a stored document that is not attached.
    documents: Vec<Option<DocId>>,
    index: InvertedIndex<FetchedPostings>,
    new_entries: Vec<NewEntry>,
    /// Without keys: for each document of the batch, the places to compare.
    listed: Option<Ragged<Vec<Place>>>,
}

impl FetchedIndex {
    /// Lists made of entries in any order; `heavy_hitters` tells common keys. An entry has a key, the number of
    /// a stored document, and the bits of its [`MinOverlap`].
    ///
    /// # Errors
    ///
    /// If the three slices differ in length.
    pub fn new(
        scheme: KeyScheme,
        heavy_hitters: Arc<ShingleFrequencies>,
        keys: &[u64],
        numbers: &[u64],
        min_overlaps: &[u16],
    ) -> Result<Self> {
        if keys.len() != numbers.len() || keys.len() != min_overlaps.len() {
            return Err(Error::input(
                "the entries of a store",
                "one number and one minimum overlap for each key",
                format!(
                    "{} keys, {} numbers, {} minimum overlaps",
                    keys.len(),
                    numbers.len(),
                    min_overlaps.len()
                ),
            ));
        }
        let ranks = Ranks::of(numbers);
        let mut minima = vec![MinOverlap::ONE; ranks.len()];
        let mut lists: Lists = HashMap::default();
        let mut begin = 0;
        // Entries of one key follow each other, mostly in order.
        for run in keys.chunk_by(|a, b| a == b) {
            let all = begin..begin + run.len();
            begin = all.end;
            let list = lists.entry(run[0]).or_default();
            list.reserve_exact(run.len());
            for (&number, &bits) in numbers[all.clone()].iter().zip(&min_overlaps[all]) {
                let place = ranks.of_number(number);
                let min_overlap = MinOverlap::from_bits(bits);
                minima[place.index()] = min_overlap;
                list.push(Posting {
                    place,
                    is_common: min_overlap.is_common,
                });
            }
        }
        for list in lists.values_mut() {
            if !list.is_sorted_by_key(|posting| posting.place) {
                list.sort_unstable_by_key(|posting| posting.place);
            }
        }
        let postings = FetchedPostings {
            heavy_hitters,
            lists,
            has_all_keys: false,
        };
        Ok(FetchedIndex::of(postings, scheme, ranks.numbers(), minima))
    }

    fn of(
        postings: FetchedPostings,
        scheme: KeyScheme,
        numbers: Vec<u64>,
        minima: Vec<MinOverlap>,
    ) -> Self {
        FetchedIndex {
            documents: vec![None; numbers.len()],
            numbers,
            index: InvertedIndex::new(postings, scheme, minima),
            new_entries: Vec::new(),
            listed: None,
        }
    }

    /// No lists, for a search without keys. The stored documents to compare with document `i` of
    /// the batch are `numbers[offsets[i]..offsets[i+1]]`.
    ///
    /// # Errors
    ///
    /// If the offsets do not ascend from 0 to the number of `numbers`.
    pub fn listed(scheme: KeyScheme, offsets: Vec<usize>, numbers: &[u64]) -> Result<Self> {
        let ranks = Ranks::of(numbers);
        let minima = vec![MinOverlap::ONE; ranks.len()];
        let no_lists = FetchedPostings::default();
        let of_each = numbers.iter().map(|&number| ranks.of_number(number));
        Ok(FetchedIndex {
            listed: Some(Ragged::of(offsets, of_each.collect())?),
            ..FetchedIndex::of(no_lists, scheme, ranks.numbers(), minima)
        })
    }

    /// Fails unless this was made for a batch of `count` documents, which are the first of these
    /// sketches.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind or too few, or the documents to compare were listed for
    /// a batch of another size.
    pub fn check(&self, sketches: &Sketches, count: usize) -> Result<()> {
        self.index.scheme.check(sketches, count)?;
        match &self.listed {
            Some(listed) if listed.len() != count => Err(Error::input(
                "the stored documents to compare",
                format!("those of a batch of {count} documents"),
                format!("those of {}", listed.len()),
            )),
            _ => Ok(()),
        }
    }

    /// The numbers of the stored documents that may be similar to one of the batch, ascending. The
    /// batch is the first `count` documents of the sketches.
    ///
    /// # Errors
    ///
    /// As for [`check`](Self::check).
    pub fn candidates(&self, sketches: &Sketches, count: usize) -> Result<Vec<u64>> {
        self.check(sketches, count)?;
        let all: Vec<DocId> = DocId::range(0..count).collect();
        let mut places = self.look_up(sketches, &all).into_values();
        places.sort_unstable();
        places.dedup();
        let number = |place: Place| self.numbers[place.index()];
        Ok(places.into_iter().map(number).collect())
    }

    /// Attaches a document of the corpus to the stored document with this number, so that look-ups
    /// can find it. Does nothing if the number is in no list.
    pub fn attach(&mut self, number: u64, document: DocId) {
        if let Ok(place) = self.numbers.binary_search(&number) {
            self.documents[place] = Some(document);
        }
    }

    /// The corpus document at each place; `None` for a stored document that is not attached.
    pub fn documents(&self) -> &[Option<DocId>] {
        &self.documents
    }

    /// The entries filed for the batch, in order.
    pub fn new_entries(&self) -> &[NewEntry] {
        &self.new_entries
    }

    /// Takes the entries filed since they were last taken, in order.
    pub fn take_new_entries(&mut self) -> Vec<NewEntry> {
        std::mem::take(&mut self.new_entries)
    }

    /// The place of the next document filed.
    pub fn next_place(&self) -> Place {
        self.index.next_place()
    }

    /// Statistics on the documents filed from the batch.
    pub fn statistics(&self) -> SearchStatistics {
        self.index.statistics()
    }

    /// Files a document of the batch.
    pub fn insert(&mut self, sketches: &Sketches, document: DocId) {
        let mut keys = Vec::new();
        self.index.scheme.keys(sketches, document, &mut keys);
        self.documents.push(Some(document));
        let filed = self.index.insert(&keys).iter();
        self.new_entries
            .extend(filed.map(|&(key, min_overlap)| NewEntry {
                key,
                document,
                min_overlap,
            }));
    }

    /// Adds the places from `since` on that may be similar, ascending: those of stored documents
    /// and of documents filed from the batch. Without keys, every document of the batch may be
    /// similar.
    pub fn near(
        &self,
        sketches: &Sketches,
        document: DocId,
        since: Place,
        scratch: &mut Scratch,
        places: &mut Vec<Place>,
    ) {
        let Some(listed) = &self.listed else {
            let scheme = &self.index.scheme;
            return scratch.with_keys(scheme, sketches, document, |keys, scratch| {
                self.index.near(keys, since, scratch, places);
            });
        };
        let stored = listed.list(document.index()).iter();
        places.extend(stored.filter(|&&place| place >= since));
        let of_batch = since.0.max(self.numbers.len() as u32)..self.next_place().0;
        places.extend(of_batch.map(Place));
    }

    /// Calls `visit` with each of some documents of the batch and the number of each stored
    /// document that may be similar to it.
    pub fn each_near(
        &self,
        sketches: &Sketches,
        documents: &[DocId],
        mut visit: impl FnMut(DocId, u64),
    ) {
        let found = self.look_up(sketches, documents);
        for (document, place) in found.pairs(documents) {
            visit(document, self.numbers[place.index()]);
        }
    }

    fn look_up(&self, sketches: &Sketches, documents: &[DocId]) -> Ragged<Vec<Place>> {
        Scratches::default().look_up(documents, |document, scratch, places| {
            self.near(sketches, document, Place(0), scratch, places);
        })
    }
}

/// Which numbers there are, and how many lower ones each has. Numbers lie close together, so this is
/// small enough for the cache, where the numbers themselves are not.
struct Ranks {
    /// By the leading 58 bits of numbers: a bit for each number with these, and the numbers before.
    words: HashMap<u64, (u64, u32), FxBuildHasher>,
    len: usize,
}

impl Ranks {
    fn of(numbers: &[u64]) -> Self {
        let mut words: HashMap<u64, (u64, u32), FxBuildHasher> = HashMap::default();
        for number in numbers {
            words.entry(number >> 6).or_default().0 |= 1 << (number & 63);
        }
        let mut len = 0;
        for leading in ascending(&words) {
            if let Some((bits, before)) = words.get_mut(&leading) {
                *before = len;
                len += bits.count_ones();
            }
        }
        Ranks {
            words,
            len: len as usize,
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    /// The place of one of the numbers: how many are lower.
    fn of_number(&self, number: u64) -> Place {
        let (bits, before) = self.words.get(&(number >> 6)).copied().unwrap_or_default();
        Place(before + (bits & ((1 << (number & 63)) - 1)).count_ones())
    }

    /// The numbers, ascending.
    fn numbers(&self) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(self.len);
        for leading in ascending(&self.words) {
            let bits = self.words[&leading].0;
            let of_word = (0..64).filter(|bit| bits >> bit & 1 == 1);
            numbers.extend(of_word.map(|bit| leading << 6 | bit));
        }
        numbers
    }
}

fn ascending(words: &HashMap<u64, (u64, u32), FxBuildHasher>) -> Vec<u64> {
    let mut leading: Vec<u64> = words.keys().copied().collect();
    leading.sort_unstable();
    leading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ranked() {
        let numbers = [
            7,
            0,
            63,
            64,
            7,
            u64::MAX,
            1 << 40,
            65,
            1 << 40,
            u64::MAX - 1,
        ];
        let ranks = Ranks::of(&numbers);
        let distinct = [0, 7, 63, 64, 65, 1 << 40, u64::MAX - 1, u64::MAX];
        assert_eq!(ranks.numbers(), distinct);
        assert_eq!(ranks.len(), distinct.len());
        assert_eq!(
            distinct.map(|number| ranks.of_number(number)),
            [0, 1, 2, 3, 4, 5, 6, 7].map(Place)
        );
        assert!(Ranks::of(&[]).numbers().is_empty());
    }
}
