/*! The in-memory store: keys are numbers, and lists are slices of one array.

The number of texts with each key is known in advance, so each list has its space reserved from
the start. Following linked entries took four times as long. A look-up computes no hash. Memory is 4
bytes for each document and each key of a text, 4 for each entry of a list, and 12 for each key that
several texts have.
*/

use std::hint::black_box;

use crate::candidates::key_numbers::{Keys, SINGLE};
use crate::candidates::key_scheme::KeyScheme;
use crate::candidates::overlap::{InvertedIndex, Posting, PostingStore, Scratch};
use crate::constants::RARE_KEY_TEXTS;
use crate::error::Result;
use crate::identity::DistinctTexts;
use crate::ids::{DocId, Place};
use crate::sketch::Sketches;

/// Bits for recently filed keys: 32 KiB, which stay in a core's cache. Documents are looked up and
/// filed a thousand at a time, under a few dozen keys each.
const RECENT: usize = 1 << 18;

/// Keys whose lists a look-up fetches together.
const TOGETHER: usize = 64;

/// An index of the documents of one collection.
#[derive(Clone, Debug)]
pub struct NumberedIndex {
    keys: Keys,
    /// The lists.
    pub index: InvertedIndex<NumberedPostings>,
}

/// Lists of keys that are numbered from the rarest.
#[derive(Clone, Debug)]
pub struct NumberedPostings {
    /// How many texts have each key.
    frequencies: Vec<u32>,
    lists: Vec<List>,
    /// Places in the order of filing.
    entries: Vec<Place>,
    /// A bit for each key that has a list with an entry.
    is_filed: Vec<u64>,
    /// Bits of the keys under which documents were filed since the first place of `recent_from`.
    /// Several keys share a bit.
    is_recent: Vec<u64>,
    recent_from: Place,
    /// The first key that is common.
    common_from: u32,
}

/// The list of a key. Both numbers are in one line of the cache.
#[derive(Clone, Copy, Debug)]
struct List {
    /// Where its space begins.
    begin: u32,
    /// Documents in it.
    len: u32,
}

impl NumberedIndex {
    /// An empty index for the documents with these sketches and identities.
    ///
    /// # Errors
    ///
    /// If the scheme is for another kind of sketch, or there are 2^32 keys or more.
    pub fn new(sketches: &Sketches, identities: &[u128], scheme: KeyScheme) -> Result<Self> {
        scheme.check(sketches, identities.len())?;
        let texts = DistinctTexts::of(identities, |a, b| sketches.are_equal(a, b));
        Ok(NumberedIndex::of(
            Keys::of(&scheme, sketches, texts)?,
            scheme,
        ))
    }

    fn of(mut keys: Keys, scheme: KeyScheme) -> Self {
        let frequencies = std::mem::take(&mut keys.lengths);
        let most_frequent = frequencies.last().copied().unwrap_or(0);
        let postings = NumberedPostings::new(frequencies, scheme.max_list_len());
        let mut index = InvertedIndex::new(postings, scheme, Vec::new());
        index.most_frequent = most_frequent;
        NumberedIndex { keys, index }
    }

    /// Tells that documents will be looked up among those filed from now on, and returns the place
    /// of the next one.
    pub fn snapshot(&mut self) -> Place {
        let place = self.index.next_place();
        let store = &mut self.index.store;
        store.is_recent.fill(0);
        store.recent_from = place;
        place
    }

    /// Files a document.
    pub fn insert(&mut self, document: DocId) {
        self.index.insert(self.keys.all(document));
    }

    /// Adds the places from `since` on, ascending, whose documents share enough keys.
    pub fn near(
        &self,
        document: DocId,
        since: Place,
        scratch: &mut Scratch,
        found: &mut Vec<Place>,
    ) {
        let keys = self.keys.all(document);
        self.index.near(keys, since, scratch, found);
    }

    /// The number of entries in the lists of all keys of a document.
    pub fn entries(&self, document: DocId) -> usize {
        let keys = self.keys.all(document).iter();
        keys.map(|&key| self.index.store.list_len(key)).sum()
    }

    /// Calls `visit` with the place of each entry in the lists of the keys of a document.
    pub fn visit(&self, document: DocId, mut visit: impl FnMut(Place)) {
        let keys = self.keys.all(document);
        self.index
            .store
            .visit(keys, Place(0), |posting| visit(posting.place));
    }
}

impl NumberedPostings {
    fn new(frequencies: Vec<u32>, max_list_len: usize) -> Self {
        let mut end = 0;
        let lists = frequencies.iter().map(|&texts| {
            // There are fewer than 2^32 keys.
            let begin = end as u32;
            end += max_list_len.min(texts as usize);
            List { begin, len: 0 }
        });
        NumberedPostings {
            lists: lists.collect(),
            is_filed: vec![0; frequencies.len() / 64 + 1],
            is_recent: vec![0; RECENT / 64],
            recent_from: Place(0),
            entries: vec![Place(0); end],
            common_from: frequencies.partition_point(|&texts| texts <= RARE_KEY_TEXTS) as u32,
            frequencies,
        }
    }

    /// The places in the list of a key that is filed.
    #[inline]
    fn places(&self, key: u32) -> &[Place] {
        let List { begin, len } = self.lists[key as usize];
        &self.entries[begin as usize..][..len as usize]
    }
}

impl PostingStore for NumberedPostings {
    type Key = u32;

    #[inline]
    fn frequency(&self, key: u32) -> u32 {
        match key < self.common_from {
            true => 0,
            // `SINGLE` is beyond all keys.
            false => self.frequencies.get(key as usize).copied().unwrap_or(0),
        }
    }

    fn list_len(&self, key: u32) -> usize {
        self.lists
            .get(key as usize)
            .map_or(0, |list| list.len as usize)
    }

    #[inline]
    fn visit(&self, keys: &[u32], since: Place, mut visit: impl FnMut(Posting)) {
        let (bits, mask) = match since > Place(0) && since >= self.recent_from {
            true => (&self.is_recent, RECENT as u32 - 1),
            false => (&self.is_filed, u32::MAX),
        };
        for keys in keys.chunks(TOGETHER) {
            let (mut filed, mut count) = ([0; TOGETHER], 0);
            for &key in keys {
                // Written in any case: which keys are filed, no processor could foresee.
                filed[count] = key;
                let word = bits.get((key & mask) as usize / 64).unwrap_or(&0);
                count += usize::from(key != SINGLE && word >> (key % 64) & 1 == 1);
            }
            let filed = &filed[..count];
            // Lists lie anywhere in memory. Here, where nothing depends on what is read, the
            // processor fetches several at a time.
            let newest = |&key: &u32| self.places(key).last().map_or(0, |place| place.0);
            black_box(filed.iter().map(newest).fold(0, u32::wrapping_add));
            for &key in filed {
                let is_common = key >= self.common_from;
                let places = self.places(key).iter().rev();
                for &place in places.take_while(|&&place| place >= since) {
                    visit(Posting { place, is_common });
                }
            }
        }
    }

    fn push(&mut self, key: u32, posting: Posting) {
        // No other text has the key `SINGLE`, which has no list.
        if let Some(List { begin, len }) = self.lists.get_mut(key as usize) {
            self.entries[(*begin + *len) as usize] = posting.place;
            *len += 1;
            self.is_filed[key as usize / 64] |= 1 << (key % 64);
            self.is_recent[key as usize % RECENT / 64] |= 1 << (key % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::overlap::pairs_of;
    use crate::candidates::schemes::search::{Reach, Search};
    use crate::candidates::statistics::SearchStatistics;
    use crate::sketch::{Settings, Sketch};

    const THRESHOLD: f64 = 0.5;

    /// Documents as sets of keys, their keys, and their true resemblance.
    fn documents() -> Vec<Vec<u32>> {
        let mut state = 7_u64;
        let mut next = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % bound) as u32
        };
        let mut documents: Vec<Vec<u32>> = Vec::new();
        for document in 0..300 {
            let mut keys: Vec<u32> = match document % 3 {
                // A copy with some keys replaced.
                0 if document > 0 => {
                    let changed = next(20);
                    let original = documents[next(document) as usize].iter();
                    original
                        .map(|&key| if next(20) < changed { next(900) } else { key })
                        .collect()
                }
                _ => (0..20 + next(40))
                    .map(|_| next(900) * next(2) + next(60))
                    .collect(),
            };
            keys.sort_unstable();
            keys.dedup();
            documents.push(keys);
        }
        documents
    }

    fn resemblance(a: &[u32], b: &[u32]) -> f64 {
        let common = a.iter().filter(|key| b.contains(key)).count();
        common as f64 / (a.len() + b.len() - common) as f64
    }

    /// An empty index of documents with these keys.
    fn index(documents: &[Vec<u32>], search: Search) -> NumberedIndex {
        let mut sketches = Sketches::new(&Settings::Sample { size: 32 }).unwrap();
        for keys in documents {
            let mut values = keys.clone();
            values.sort_unstable();
            let sketch = Sketch {
                values,
                ..Sketch::default()
            };
            sketches.push(&sketch).unwrap();
        }
        let identities: Vec<u128> = (0..documents.len() as u128).collect();
        let scheme = KeyScheme::in_memory(search, 0).unwrap();
        NumberedIndex::new(&sketches, &identities, scheme).unwrap()
    }

    /// Files the documents one after the other and returns the earlier documents found for each.
    fn candidates(index: &mut NumberedIndex, documents: usize) -> Vec<(u32, u32)> {
        let (mut scratch, mut found) = (Scratch::default(), Vec::new());
        let mut pairs = Vec::new();
        for document in DocId::range(0..documents) {
            found.clear();
            index.near(document, Place(0), &mut scratch, &mut found);
            pairs.extend(found.iter().map(|place| (place.0, document.0)));
            index.insert(document);
        }
        pairs
    }

    #[test]
    fn a_prefix_misses_nothing() {
        let documents = documents();
        let threshold = THRESHOLD;
        let mut index = index(&documents, Search::Prefix { threshold });
        let found = candidates(&mut index, documents.len());
        let mut similar = 0;
        for b in 0..documents.len() {
            for a in 0..b {
                if resemblance(&documents[a], &documents[b]) >= THRESHOLD {
                    similar += 1;
                    assert!(found.contains(&(a as u32, b as u32)), "{a} {b}");
                }
            }
        }
        assert!(similar > 30, "{similar}");
        // A search that returns every pair would miss nothing either.
        assert!(
            found.len() < documents.len() * documents.len() / 4,
            "{} {similar}",
            found.len()
        );
    }

    #[test]
    fn additions_since_a_place_are_found_alone() {
        let documents = documents();
        let search = Search::Postings {
            threshold: 0.3,
            reach: Reach::Exhaustive,
        };
        let mut index = index(&documents, search);
        for document in DocId::range(0..200) {
            index.insert(document);
        }
        let mut scratch = Scratch::default();
        for document in DocId::range(200..300) {
            let (mut all, mut since) = (Vec::new(), Vec::new());
            index.near(document, Place(0), &mut scratch, &mut all);
            index.near(document, Place(150), &mut scratch, &mut since);
            all.retain(|&place| place >= Place(150));
            assert_eq!(all, since);
        }
    }

    /// Candidates by rare keys, and what full lists left out.
    fn searched(
        documents: &[Vec<u32>],
        threshold: f64,
        reach: Reach,
    ) -> (Vec<(u32, u32)>, SearchStatistics) {
        let mut index = index(documents, Search::Postings { threshold, reach });
        let found = candidates(&mut index, documents.len());
        (found, index.index.statistics())
    }

    fn by_rare_keys(documents: &[Vec<u32>], threshold: f64, reach: Reach) -> Vec<(u32, u32)> {
        searched(documents, threshold, reach).0
    }

    #[test]
    fn a_template_costs_at_most_the_length_of_a_list() {
        // 500 documents, each with 20 template keys and 10 unique keys.
        let mut documents: Vec<Vec<u32>> = (0..500)
            .map(|document| {
                (0..20)
                    .chain(1000 + 10 * document..1010 + 10 * document)
                    .collect()
            })
            .collect();
        let found = by_rare_keys(&documents, 0.4, Reach::Kept);
        assert!(found.len() <= 500 * 32, "{}", found.len());
        // A copy of the last document is found although the template's lists are full.
        documents.push(documents[499].clone());
        let found = by_rare_keys(&documents, 0.4, Reach::Kept);
        assert!(found.contains(&(499, 500)));
    }

    #[test]
    fn skipped_documents_of_capped_lists_are_counted() {
        // 100 documents, each with 8 template keys and 10 keys that two documents have.
        let documents: Vec<Vec<u32>> = (0..100)
            .map(|document: u32| {
                (0..8).chain((0..10).map(move |key| 1000 + document / 2 * 10 + key))
            })
            .map(Iterator::collect)
            .collect();
        let (_, skew) = searched(&documents, 0.4, Reach::Kept);
        // The template's 8 smallest keys are filed; 68 documents come after the first 32.
        let expected = SearchStatistics {
            visited: 0,
            closed_lists: 8,
            unlisted: 68,
            unlisted_pairs: 68 * 67 / 2,
            most_frequent: 100,
        };
        assert_eq!(skew, expected);
        for reach in [Reach::All, Reach::Exhaustive] {
            let (found, skew) = searched(&documents, 0.4, reach);
            assert_eq!(found.len(), 100 * 99 / 2);
            assert_eq!((skew.closed_lists, skew.unlisted_pairs), (0, 0));
        }
        assert_eq!([0, 1, 2, 5].map(pairs_of), [0, 0, 1, 10]);
        assert_eq!(pairs_of(u64::MAX), u64::MAX);
    }

    #[test]
    fn which_of_two_documents_is_filed_first_makes_no_difference_under_all_keys() {
        let documents = documents();
        let mut reversed = documents.clone();
        reversed.reverse();
        let last = documents.len() as u32 - 1;
        let found = by_rare_keys(&documents, 0.3, Reach::All);
        let mut mirrored: Vec<_> = by_rare_keys(&reversed, 0.3, Reach::All)
            .into_iter()
            .map(|(a, b)| (last - b, last - a))
            .collect();
        mirrored.sort_unstable_by_key(|&(a, b)| (b, a));
        assert!(found.len() > 300, "{}", found.len());
        assert_eq!(found, mirrored);
    }

    #[test]
    fn copies_with_few_rare_keys_are_found_by_common_ones() {
        // 100 copies of 30 keys, each with 5 replaced by unique keys.
        let documents: Vec<Vec<u32>> = (0..100_u32)
            .map(|copy| {
                let kept = (0..30).filter(|key| (key * 7 + copy * 11) % 30 >= 5);
                kept.chain(1000 + 5 * copy..1005 + 5 * copy).collect()
            })
            .collect();
        let found = by_rare_keys(&documents, 0.4, Reach::All);
        // There are 4950 pairs; those that share few keys need not be found.
        assert!(found.len() > 4500, "{}", found.len());
    }
}
