/*! The in-memory store: keys are numbers, and lists are slices of one array.

The number of texts with each key is known in advance, so each list has its space reserved from
the start. Following linked entries took four times as long. A look-up computes no hash. Memory is 4
bytes for each document and each key of a text, 4 for each entry of a list, and 12 for each key that
several texts have.
*/

use std::hint::black_box;

use crate::candidates::key_numbers::{Keys, SINGLE};
use crate::candidates::overlap::{InvertedIndex, ListCap, Posting, PostingStore};
use crate::candidates::schemes::rare_keys::{MinOverlap, all, choose};
use crate::candidates::search::{Reach, Search};
use crate::candidates::sketches::Sketches;
use crate::constants::RARE_KEY_TEXTS;
use crate::error::Result;
use crate::groups::Groups;
use crate::identity::DistinctTexts;

/// Bits for recently filed keys: 32 KiB, which stay in a core's cache. Documents are looked up and
/// filed a thousand at a time, under a few dozen keys each.
const RECENT: usize = 1 << 18;

/// Lists of the documents of one collection, with keys numbered from the rarest.
#[derive(Clone, Debug)]
pub struct NumberedPostings {
    search: Search,
    keys: Keys,
    lists: Vec<List>,
    /// Places in the order of filing.
    entries: Vec<u32>,
    /// A bit for each key that has a list with an entry.
    is_filed: Vec<u64>,
    /// Bits of the keys under which documents were filed since [`mark`](PostingStore::mark). Several
    /// keys share a bit.
    is_recent: Vec<u64>,
    /// The first place after that.
    marked: u32,
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

impl InvertedIndex<NumberedPostings> {
    /// An empty index for the documents with these sketches, identities and groups.
    ///
    /// # Errors
    ///
    /// If the search is for another kind of sketch, or there are 2^32 keys or more.
    pub fn in_memory(
        sketches: &Sketches,
        identities: &[u128],
        groups: &Groups,
        search: Search,
    ) -> Result<Self> {
        let texts = DistinctTexts::of(identities, |a, b| sketches.are_equal(a, b));
        let keys = match (sketches, search) {
            (Sketches::Signatures(signatures), Search::Bands(banding, _)) => {
                Keys::of_bands(signatures, texts, banding, groups)?
            }
            (Sketches::Samples(samples), Search::Postings { .. }) => {
                Keys::of_samples(samples, texts, groups)?
            }
            (Sketches::Samples(samples), Search::Prefix { .. }) => {
                Keys::of_samples(samples, texts, groups)?.by_rarity()
            }
            _ => return Err(search.mismatch()),
        };
        let cap = ListCap::new(search.max_list_len());
        let postings = NumberedPostings::new(keys, search, cap);
        Ok(InvertedIndex::new(postings, cap, Vec::new()))
    }
}

impl NumberedPostings {
    fn new(keys: Keys, search: Search, cap: ListCap) -> Self {
        let mut end = 0;
        let lists = keys.lengths().iter().map(|&texts| {
            // There are fewer than 2^32 keys.
            let begin = end as u32;
            end += cap.held(texts as usize);
            List { begin, len: 0 }
        });
        let lists: Vec<List> = lists.collect();
        let common_from = match search {
            Search::Postings { .. } => keys
                .lengths()
                .partition_point(|&many| many <= RARE_KEY_TEXTS),
            _ => keys.lengths().len(),
        };
        NumberedPostings {
            search,
            is_filed: vec![0; keys.lengths().len() / 64 + 1],
            is_recent: vec![0; RECENT / 64],
            marked: 0,
            lists,
            entries: vec![0; end],
            common_from: common_from as u32,
            keys,
        }
    }

    /// The keys by which a document is looked up, [`SINGLE`] ones included.
    fn keys_to_look_up(&self, document: u32) -> &[u32] {
        match self.search {
            Search::Prefix { threshold } => self.keys.prefix(document as usize, threshold),
            _ => self.keys.all(document as usize),
        }
    }

    /// The places in the list of a key.
    #[inline]
    fn places(&self, key: u32) -> &[u32] {
        let List { begin, len } = self.lists[key as usize];
        &self.entries[begin as usize..][..len as usize]
    }

    fn is_common(&self, key: u32) -> bool {
        key >= self.common_from && key != SINGLE
    }
}

impl PostingStore for NumberedPostings {
    type Key = u32;

    #[inline]
    fn lookup_keys<'a>(
        &'a self,
        _: &Sketches,
        document: u32,
        since: u32,
        buffer: &'a mut Vec<u64>,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let (bits, mask) = match since > 0 && since >= self.marked {
            true => (&self.is_recent, RECENT as u32 - 1),
            false => (&self.is_filed, u32::MAX),
        };
        let keys = self.keys_to_look_up(document);
        buffer.clear();
        buffer.resize(keys.len(), 0);
        let mut found = 0;
        for &key in keys {
            // Written in any case: which keys are filed, no processor could foresee.
            buffer[found] = u64::from(key);
            let word = bits.get((key & mask) as usize / 64).unwrap_or(&0);
            found += usize::from(key != SINGLE && word >> (key % 64) & 1 == 1);
        }
        buffer.truncate(found);
        // Lists lie anywhere in memory. Here, where nothing depends on what is read, the processor
        // fetches several at a time.
        let newest = |&key: &u64| self.places(key as u32).last().map_or(0, |&place| place);
        black_box(buffer.iter().map(newest).fold(0, u32::wrapping_add));
        buffer.iter().map(|&key| key as u32)
    }

    fn mark(&mut self, place: u32) {
        self.is_recent.fill(0);
        self.marked = place;
    }

    fn filing_keys(
        &self,
        _: &Sketches,
        document: u32,
        _: impl Fn(u32) -> bool,
        filed: &mut Vec<(u32, MinOverlap)>,
    ) {
        let Search::Postings { threshold, reach } = self.search else {
            let keys = self.keys_to_look_up(document).iter();
            let shared = keys.filter(|&&key| key != SINGLE);
            filed.extend(shared.map(|&key| (key, MinOverlap::ONE)));
            return;
        };
        let keys = self.keys.all(document as usize);
        // A key that no other document has cannot lead to a candidate.
        let is_shared = |&(key, _): &(u32, MinOverlap)| key != SINGLE;
        match reach {
            Reach::Kept => {
                let frequency = |key| match self.is_common(key) {
                    true => self.keys.lengths()[key as usize],
                    false => 0,
                };
                // The lists of rare keys never fill: all texts were counted.
                filed.extend(choose(keys, threshold, frequency, |_| false).filter(is_shared));
            }
            Reach::All | Reach::Exhaustive => {
                filed.extend(all(keys, threshold, |key| self.is_common(key)).filter(is_shared));
            }
        }
    }

    fn min_overlap(&self, _: &Sketches, document: u32) -> MinOverlap {
        match self.search {
            Search::Postings { threshold, reach } => {
                let keys = self.keys.all(document as usize);
                MinOverlap::of_keys(keys, |key| self.is_common(key), threshold, reach)
            }
            _ => MinOverlap::ONE,
        }
    }

    #[inline]
    fn list(&self, key: u32) -> impl Iterator<Item = Posting> {
        let is_common = key >= self.common_from;
        let posting = move |&place| Posting { place, is_common };
        self.places(key).iter().rev().map(posting)
    }

    fn list_len(&self, key: u32) -> usize {
        self.lists[key as usize].len as usize
    }

    fn push(&mut self, key: u32, place: u32, _: MinOverlap) {
        let List { begin, len } = &mut self.lists[key as usize];
        self.entries[(*begin + *len) as usize] = place;
        *len += 1;
        self.is_filed[key as usize / 64] |= 1 << (key % 64);
        self.is_recent[key as usize % RECENT / 64] |= 1 << (key % 64);
    }

    fn most_frequent(&self) -> Option<u32> {
        match self.search {
            Search::Postings { .. } => Some(self.keys.lengths().last().copied().unwrap_or(0)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Banding;
    use crate::candidates::overlap::{Scratch, pairs_of};
    use crate::candidates::search::SearchStatistics;
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

    fn index(keys: Keys, search: Search) -> InvertedIndex<NumberedPostings> {
        let cap = ListCap::new(usize::MAX);
        let postings = NumberedPostings::new(keys, search, cap);
        InvertedIndex::new(postings, cap, Vec::new())
    }

    fn no_sketches() -> Sketches {
        Sketches::new(&Settings::Sample { size: 32 }).unwrap()
    }

    /// Files the documents one after the other and returns the earlier documents found for each.
    fn candidates(index: &mut InvertedIndex<NumberedPostings>, documents: u32) -> Vec<(u32, u32)> {
        let (sketches, mut scratch, mut found) = (no_sketches(), Scratch::default(), Vec::new());
        let mut pairs = Vec::new();
        for document in 0..documents {
            found.clear();
            index.near(&sketches, document, 0, &mut scratch, &mut found);
            pairs.extend(found.iter().map(|&place| (place, document)));
            index.insert(&sketches, document);
        }
        pairs
    }

    #[test]
    fn a_prefix_misses_nothing() {
        let documents = documents();
        let threshold = THRESHOLD;
        let keys = Keys::of_lists(&documents).by_rarity();
        let mut index = index(keys, Search::Prefix { threshold });
        let found = candidates(&mut index, documents.len() as u32);
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
    fn what_was_added_since_a_place_is_found_alone() {
        let documents = documents();
        let search = Search::Bands(Banding::new(1, 1).unwrap(), Reach::Kept);
        let mut index = index(Keys::of_lists(&documents), search);
        let sketches = no_sketches();
        for document in 0..200 {
            index.insert(&sketches, document);
        }
        let mut scratch = Scratch::default();
        for document in 200..300 {
            let (mut all, mut since) = (Vec::new(), Vec::new());
            index.near(&sketches, document, 0, &mut scratch, &mut all);
            index.near(&sketches, document, 150, &mut scratch, &mut since);
            all.retain(|&place| place >= 150);
            assert_eq!(all, since);
        }
    }

    /// Candidates by rare keys, and what full lists left out.
    fn searched(
        documents: &[Vec<u32>],
        threshold: f64,
        reach: Reach,
    ) -> (Vec<(u32, u32)>, SearchStatistics) {
        let mut sketches = no_sketches();
        for keys in documents {
            let mut values = keys.clone();
            values.sort_unstable();
            let sketch = Sketch {
                values,
                rate: 1,
                ..Sketch::default()
            };
            sketches.push(&sketch).unwrap();
        }
        let identities: Vec<u128> = (0..documents.len() as u128).collect();
        let search = Search::Postings { threshold, reach };
        let mut index =
            InvertedIndex::in_memory(&sketches, &identities, &Groups::default(), search).unwrap();
        let found = candidates(&mut index, documents.len() as u32);
        (found, index.statistics())
    }

    fn by_rare_keys(documents: &[Vec<u32>], threshold: f64, reach: Reach) -> Vec<(u32, u32)> {
        searched(documents, threshold, reach).0
    }

    #[test]
    fn a_template_costs_at_most_the_length_of_a_list() {
        // 500 documents, each with 20 template keys and 10 keys of its own.
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
    fn what_full_lists_leave_out_is_counted() {
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
    fn copies_that_have_few_rare_keys_in_common_are_found_by_the_others() {
        // 100 copies of 30 keys, each with 5 replaced by keys of its own.
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
