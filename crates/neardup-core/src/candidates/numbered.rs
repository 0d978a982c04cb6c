/*! The in-memory store: keys are numbers, and lists are slices of one array.

It is known how many documents of the collection have a key, so each list has its room from
the start: to follow entries that lie apart took four times as long, and no hash is computed
in a look-up. Memory is 4 bytes for each key of a document, 4 for each entry of a list, and 12 for
each distinct key.
*/

use super::Banding;
use super::keys::{Keys, SINGLE};
use super::overlap::{CandidateIndex, Posting, PostingStore, Scratch};
use super::rare_keys::{FEW, MinOverlap, choose};
use super::search::Crowd;
use super::sketches::{Samples, Signatures};
use crate::error::Result;

/// Lists of the documents of one collection, whose keys are numbered from the rarest on.
#[derive(Clone, Debug)]
pub struct NumberedLists {
    /// Where the room of each key's list begins, and at last where the last ends.
    begins: Vec<usize>,
    /// Documents in each list.
    lengths: Vec<u32>,
    /// Places in the order of filing.
    entries: Vec<u32>,
    /// The first key that is common.
    common_from: u32,
}

impl NumberedLists {
    fn new(keys: &Keys, max_list_len: u32, common_from: u32) -> Self {
        let mut begins = Vec::with_capacity(keys.lengths().len() + 1);
        let mut end = 0;
        begins.push(end);
        for &documents in keys.lengths() {
            end += documents.min(max_list_len) as usize;
            begins.push(end);
        }
        NumberedLists {
            lengths: vec![0; keys.lengths().len()],
            entries: vec![0; end],
            begins,
            common_from,
        }
    }
}

impl PostingStore for NumberedLists {
    type Key = u32;

    #[inline]
    fn list(&self, key: u32) -> impl Iterator<Item = Posting> {
        let length = self.lengths[key as usize] as usize;
        let entries = &self.entries[self.begins[key as usize]..][..length];
        let is_common = key >= self.common_from;
        let posting = move |&place| Posting { place, is_common };
        entries.iter().rev().map(posting)
    }

    fn list_len(&self, key: u32) -> usize {
        self.lengths[key as usize] as usize
    }

    fn push(&mut self, key: u32, posting: Posting) {
        let length = &mut self.lengths[key as usize];
        self.entries[self.begins[key as usize] + *length as usize] = posting.place;
        *length += 1;
    }
}

/// The documents of one collection, filed in memory.
#[derive(Clone, Debug)]
pub struct InMemory {
    keys: Keys,
    filed_under: FiledUnder,
    index: CandidateIndex<NumberedLists>,
}

/// Which of its keys a document is filed under.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FiledUnder {
    /// All of them; one that is shared makes a candidate.
    All,
    /// Those that a resemblance cannot do without.
    Prefix { threshold: f64 },
    /// A few rare keys and the rarest of the others.
    RareKeys { threshold: f64 },
}

impl InMemory {
    /// Signatures, by their bands.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn bands(signatures: &Signatures, banding: Banding, max_list_len: u32) -> Result<Self> {
        let keys = Keys::of_bands(signatures, banding)?;
        Ok(InMemory::new(keys, FiledUnder::All, max_list_len))
    }

    /// Samples, by the keys that a resemblance of `threshold` cannot do without. No list is
    /// capped.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn prefixes(samples: &Samples, threshold: f64) -> Result<Self> {
        let keys = Keys::of_samples(samples)?.by_rarity();
        let filed_under = FiledUnder::Prefix { threshold };
        Ok(InMemory::new(keys, filed_under, u32::MAX))
    }

    /// Samples, by rare keys.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn rare_keys(samples: &Samples, threshold: f64, max_list_len: u32) -> Result<Self> {
        let keys = Keys::of_samples(samples)?;
        let filed_under = FiledUnder::RareKeys { threshold };
        Ok(InMemory::new(keys, filed_under, max_list_len))
    }

    fn new(keys: Keys, filed_under: FiledUnder, max_list_len: u32) -> Self {
        let common_from = match filed_under {
            FiledUnder::RareKeys { .. } => keys.lengths().partition_point(|&many| many <= FEW),
            FiledUnder::All | FiledUnder::Prefix { .. } => keys.lengths().len(),
        };
        let lists = NumberedLists::new(&keys, max_list_len, common_from as u32);
        InMemory {
            index: CandidateIndex::new(lists, max_list_len as usize, Vec::new()),
            keys,
            filed_under,
        }
    }

    /// Lists that have turned documents away, and the key that most documents have.
    pub fn crowd(&self) -> Crowd {
        match self.filed_under {
            FiledUnder::RareKeys { .. } => Crowd {
                closed: self.index.closed(),
                largest: self.keys.lengths().last().copied().unwrap_or(0),
            },
            // Documents share a band because they are similar, not because of a template.
            FiledUnder::All | FiledUnder::Prefix { .. } => Crowd::default(),
        }
    }

    /// Files a document of the collection.
    pub fn insert(&mut self, document: u32) {
        let all = self.keys.all(document as usize);
        let ignore = |_, _| ();
        match self.filed_under {
            FiledUnder::All => {
                let keys = shared(all).map(|key| (key, MinOverlap::ONE));
                self.index.insert(keys, ignore);
            }
            FiledUnder::Prefix { threshold } => {
                let prefix = self.keys.prefix(document as usize, threshold).iter();
                self.index
                    .insert(prefix.map(|&key| (key, MinOverlap::ONE)), ignore);
            }
            FiledUnder::RareKeys { threshold } => {
                let lengths = self.keys.lengths();
                let count = |at: usize| {
                    let documents = lengths.get(all[at] as usize).copied();
                    Some(documents.filter(|&many| many > FEW).unwrap_or(0))
                };
                let mut chosen = Vec::new();
                choose(all.len(), threshold, count, &mut chosen);
                let keys = chosen
                    .iter()
                    .map(|&(at, min_overlap)| (all[at], min_overlap));
                // A key that nobody else has brings nobody together.
                self.index
                    .insert(keys.filter(|&(key, _)| key != SINGLE), ignore);
            }
        }
    }

    /// Adds to `found` the places from `since` on whose documents share enough keys with
    /// `document`, ascending.
    pub fn near(&self, document: u32, since: u32, scratch: &mut Scratch, found: &mut Vec<u32>) {
        let all = self.keys.all(document as usize);
        let index = &self.index;
        match self.filed_under {
            FiledUnder::All => index.near(shared(all), MinOverlap::ONE, since, scratch, found),
            FiledUnder::Prefix { threshold } => {
                let prefix = self.keys.prefix(document as usize, threshold);
                let keys = prefix.iter().copied();
                index.near(keys, MinOverlap::ONE, since, scratch, found);
            }
            FiledUnder::RareKeys { threshold } => {
                let common_from = index.store.common_from;
                let is_common = |key: u32| key >= common_from && key != SINGLE;
                let common = all.iter().filter(|&&key| is_common(key)).count();
                let own = MinOverlap::of(all.len() - common, common, threshold);
                index.near(shared(all), own, since, scratch, found);
            }
        }
    }
}

/// Those of some keys that several documents have.
fn shared(keys: &[u32]) -> impl Iterator<Item = u32> {
    keys.iter().copied().filter(|&key| key != SINGLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Sketches;
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
                // A copy in which some keys are others.
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

    fn candidates(documents: &[Vec<u32>], filed_under: FiledUnder) -> Vec<(u32, u32)> {
        let keys = Keys::of_lists(documents).by_rarity();
        let mut keyed = InMemory::new(keys, filed_under, u32::MAX);
        let (mut scratch, mut found) = (Scratch::default(), Vec::new());
        let mut pairs = Vec::new();
        for document in 0..documents.len() as u32 {
            found.clear();
            keyed.near(document, 0, &mut scratch, &mut found);
            pairs.extend(found.iter().map(|&place| (place, document)));
            keyed.insert(document);
        }
        pairs
    }

    #[test]
    fn a_prefix_misses_nothing() {
        let documents = documents();
        let threshold = THRESHOLD;
        let found = candidates(&documents, FiledUnder::Prefix { threshold });
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
        // It would be easy to miss nothing by finding everything.
        assert!(
            found.len() < documents.len() * documents.len() / 4,
            "{} {similar}",
            found.len()
        );
    }

    #[test]
    fn what_is_filed_behind_a_place_is_found_alone() {
        let documents = documents();
        let mut keyed = InMemory::new(Keys::of_lists(&documents), FiledUnder::All, u32::MAX);
        for document in 0..200 {
            keyed.insert(document);
        }
        let mut scratch = Scratch::default();
        for document in 200..300 {
            let (mut all, mut behind) = (Vec::new(), Vec::new());
            keyed.near(document, 0, &mut scratch, &mut all);
            keyed.near(document, 150, &mut scratch, &mut behind);
            all.retain(|&place| place >= 150);
            assert_eq!(all, behind);
        }
    }

    fn samples(documents: &[Vec<u32>]) -> Sketches {
        let mut sketches = Sketches::new(&Settings::Sample { size: 32 }).unwrap();
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
        sketches
    }

    fn by_rare_keys(documents: &[Vec<u32>], threshold: f64, longest: u32) -> Vec<(u32, u32)> {
        let Sketches::Samples(samples) = samples(documents) else {
            unreachable!()
        };
        let mut filed = InMemory::rare_keys(&samples, threshold, longest).unwrap();
        let (mut scratch, mut found) = (Scratch::default(), Vec::new());
        let mut pairs = Vec::new();
        for document in 0..documents.len() as u32 {
            found.clear();
            filed.near(document, 0, &mut scratch, &mut found);
            pairs.extend(found.iter().map(|&place| (place, document)));
            filed.insert(document);
        }
        pairs
    }

    #[test]
    fn a_form_costs_so_many_candidates_and_no_more() {
        // 500 documents: 20 keys of the form, 10 of their own.
        let mut documents: Vec<Vec<u32>> = (0..500)
            .map(|document| {
                (0..20)
                    .chain(1000 + 10 * document..1010 + 10 * document)
                    .collect()
            })
            .collect();
        let found = by_rare_keys(&documents, 0.4, 32);
        assert!(found.len() <= 500 * 32, "{}", found.len());
        // A copy of the last one is found although the form's lists are closed.
        documents.push(documents[499].clone());
        let found = by_rare_keys(&documents, 0.4, 32);
        assert!(found.contains(&(499, 500)));
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
        let found = by_rare_keys(&documents, 0.4, 1000);
        // Of 4950 pairs; those with few keys in common are not asked for.
        assert!(found.len() > 4500, "{}", found.len());
    }
}
