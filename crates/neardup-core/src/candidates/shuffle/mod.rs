/*! Shuffle: who shares keys with whom, where not all keys are in one memory.

Documents come in *batches* of some thousand, in priority order, and keys are dealt to
*buckets* by their hash. Every step works on one batch or on one bucket alone, and
what goes between them is bytes ([`blob`]): through files on one machine ([`external`](super::stores::external)),
through a shuffle on a cluster.

| step | of | takes | yields |
|---|---|---|---|
| [`keys`](Shuffle::keys) | a batch | sketches | for each bucket: keys, and how many of the batch have them |
| [`count`](Shuffle::count) | a bucket | the keys of all batches | for each batch: how many documents have its keys, if several do |
| [`file`](Shuffle::file) | a batch | sketches, counts | for each bucket: entries, a document under a key each |
| [`lists`](Shuffle::lists) | a bucket | all entries, counts | for each batch: the entries under its keys |
| [`candidates`](Shuffle::candidates) | a batch | sketches, counts, lists | earlier documents that share enough |

A key that a million documents share is one number for each batch, and its list is capped
as in memory, so a template costs time linear in its documents.

The result is that of a [`CandidateIndex`](super::CandidateIndex) in which just these documents
are filed.
*/

pub mod blob;
pub mod external_join;
pub mod partition_file;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::blob::{Counted, Entry};
use super::key_scheme::KeyScheme;
use super::overlap::ListCap;
use super::schemes::rare_keys::{HeavyHitters, MinOverlap};
use super::search::Search;
use super::sketches::Sketches;
use super::stores::fetched::FetchedIndex;
use crate::error::{Error, Result};

/// The most buckets: more would make each blob a handful of bytes.
pub const MAX_BUCKETS: usize = 1 << 16;

/// The steps of one search; see the [module](self).
#[derive(Clone, Debug)]
pub struct Shuffle {
    search: Search,
    bits: u32,
    buckets: usize,
    cap: ListCap,
}

/// What a batch knows of its keys: how many documents have those that several have.
#[derive(Debug, Default)]
pub struct KeyCounts(FxHashMap<u32, u32>);

/// What one bucket tells of its lists.
#[derive(Debug, Default)]
pub struct Lists {
    /// The lists that each batch asked for.
    pub of_batches: Vec<Vec<u8>>,
    /// Keys of lists that were left out, ascending.
    pub long: Vec<u32>,
    /// Documents in those lists that are closed and leave others out, ascending.
    pub closed: Vec<u64>,
}

/// Candidates of the documents of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Which of the batch.
    pub documents: Vec<u32>,
    /// Number of the earlier document, ascending for each of the batch.
    pub numbers: Vec<u64>,
}

impl Shuffle {
    /// The steps of a search, with keys dealt to so many buckets. `bits` is the width of
    /// fingerprints, for a search among them.
    ///
    /// # Errors
    ///
    /// If the search has no keys, since its distance is large for the width of a
    /// fingerprint, or `buckets` is 0 or exceeds [`MAX_BUCKETS`].
    pub fn new(search: Search, bits: u32, buckets: usize) -> Result<Self> {
        let scheme = KeyScheme::new(search, bits, Arc::default())?;
        if !scheme.has_keys() {
            return Err(Error::parameter(
                "max_distance",
                format!("one for which fingerprints of {bits} bits have keys"),
                format!("{search:?}"),
            ));
        }
        if !(1..=MAX_BUCKETS).contains(&buckets) {
            let bounds = format!("1 to {MAX_BUCKETS}");
            return Err(Error::parameter("buckets", bounds, buckets));
        }
        Ok(Shuffle {
            cap: ListCap::new(scheme.max_list_len()),
            search,
            bits,
            buckets,
        })
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        self.buckets
    }

    /// The keys of a batch: a blob for each bucket. `highest` is the largest number
    /// of its documents.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than the search is for.
    pub fn keys(&self, sketches: &Sketches, highest: u64) -> Result<Vec<Vec<u8>>> {
        let scheme = self.key_scheme(sketches, Arc::default())?;
        let mut dealt = vec![Vec::new(); self.buckets];
        let mut keys = Vec::new();
        for document in 0..sketches.len() as u32 {
            scheme.lookup_keys(sketches, document, &mut keys);
            for &key in &keys {
                dealt[self.bucket(key as u32)].push(key as u32);
            }
        }
        let blobs = dealt.into_iter().map(|mut keys| {
            keys.sort_unstable();
            let runs = keys.chunk_by(|a, b| a == b);
            let counted = runs.map(|run| Counted {
                key: run[0],
                documents: run.len() as u32,
            });
            blob::write_counted(highest, counted)
        });
        Ok(blobs.collect())
    }

    /// For the keys of each batch in one bucket, how many documents of all batches have
    /// them; keys that only one has are left out.
    ///
    /// # Errors
    ///
    /// If a blob is damaged.
    pub fn count(&self, blobs: &[impl AsRef<[u8]>]) -> Result<Vec<Vec<u8>>> {
        let mut all: Vec<(u32, u32)> = Vec::new();
        let mut highest = Vec::with_capacity(blobs.len());
        let mut sizes = Vec::with_capacity(blobs.len());
        for blob in blobs {
            let (number, counted) = blob::read_counted(blob.as_ref())?;
            highest.push(number);
            sizes.push(counted.len());
            all.extend(counted.map(|one| (one.key, one.documents)));
        }
        // The place of a record says whose it is, so keys and places are sorted alone.
        let mut order: Vec<u64> = (0_u64..)
            .zip(&all)
            .map(|(at, &(key, _))| u64::from(key) << 32 | at)
            .collect();
        order.sort_unstable();
        for run in order.chunk_by(|a, b| a >> 32 == b >> 32) {
            let documents = run.iter().map(|&at| all[at as u32 as usize].1);
            let documents = documents.fold(0_u32, u32::saturating_add);
            for &at in run {
                all[at as u32 as usize].1 = documents;
            }
        }
        let mut rest = all.as_slice();
        let blobs = highest.into_iter().zip(sizes).map(|(highest, size)| {
            let (own, others) = rest.split_at(size);
            rest = others;
            let several = own.iter().filter(|&&(_, documents)| documents > 1);
            let counted = several.map(|&(key, documents)| Counted { key, documents });
            blob::write_counted(highest, counted)
        });
        Ok(blobs.collect())
    }

    /// What a batch was told by [`count`](Self::count), of all buckets.
    ///
    /// # Errors
    ///
    /// If a blob is damaged.
    pub fn key_counts(&self, counts: &[impl AsRef<[u8]>]) -> Result<KeyCounts> {
        let mut all = FxHashMap::default();
        for blob in counts {
            let (_, counted) = blob::read_counted(blob.as_ref())?;
            all.extend(counted.map(|one| (one.key, one.documents)));
        }
        Ok(KeyCounts(all))
    }

    /// The entries of those documents of a batch that `is_filed` names: a blob for each
    /// bucket. `numbers` are those of the documents, ascending.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than the search is for.
    pub fn file(
        &self,
        sketches: &Sketches,
        numbers: &[u64],
        is_filed: impl Fn(usize) -> bool,
        counts: &KeyCounts,
    ) -> Result<Vec<Vec<u8>>> {
        let scheme = self.key_scheme(sketches, counts.heavy_hitters())?;
        let mut dealt: Vec<Vec<Entry>> = vec![Vec::new(); self.buckets];
        let mut filed = Vec::new();
        for (document, &number) in numbers.iter().enumerate() {
            if !is_filed(document) {
                continue;
            }
            scheme.filing_keys(sketches, document as u32, |_| false, &mut filed);
            for &(key, min_overlap) in &filed {
                let key = key as u32;
                // A key that nobody else has brings nobody together.
                if counts.0.contains_key(&key) {
                    dealt[self.bucket(key)].push(Entry {
                        key,
                        min_overlap,
                        number,
                    });
                }
            }
        }
        let blobs = dealt.into_iter().map(|mut entries| {
            entries.sort_unstable_by_key(|entry| (entry.key, entry.number));
            blob::write_entries(&entries)
        });
        Ok(blobs.collect())
    }

    /// The lists of one bucket for each batch that has `asked`, by what
    /// [`count`](Self::count) told it: entries of earlier documents than its last, as
    /// many as a list holds before it is closed. Without the lists that more than `most`
    /// documents are filed in.
    ///
    /// # Errors
    ///
    /// If a blob is damaged.
    pub fn lists(
        &self,
        filed: &[impl AsRef<[u8]>],
        asked: &[impl AsRef<[u8]>],
        most: usize,
    ) -> Result<Lists> {
        let mut all = Vec::new();
        for blob in filed {
            all.extend(blob::read_entries(blob.as_ref())?);
        }
        all.sort_unstable_by_key(|entry: &Entry| (entry.key, entry.number));
        let mut found = Lists::default();
        // A batch asks for few of them, so a search among all for each key would take
        // longer than all the rest.
        let mut lists: FxHashMap<u32, &[Entry]> = FxHashMap::default();
        for list in all.chunk_by(|a, b| a.key == b.key) {
            let held = &list[..self.cap.held(list.len())];
            if list.len() > most {
                found.long.push(list[0].key);
                continue;
            }
            if list.len() > held.len() {
                found.closed.extend(held.iter().map(|entry| entry.number));
            }
            lists.insert(list[0].key, held);
        }
        found.closed.sort_unstable();
        found.closed.dedup();
        let mut answer = Vec::new();
        for blob in asked {
            let (highest, counted) = blob::read_counted(blob.as_ref())?;
            answer.clear();
            for list in counted.filter_map(|one| lists.get(&one.key)) {
                let earlier = list.partition_point(|entry| entry.number < highest);
                answer.extend_from_slice(&list[..earlier]);
            }
            found.of_batches.push(blob::write_entries(&answer));
        }
        Ok(found)
    }

    /// For those documents of a batch that `is_asked` names, the earlier ones that
    /// share enough keys, by all lists that the batch was given. Those of fingerprints,
    /// and of a prefix, are candidates only if their sketches are near enough.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than the search is for, or a blob is damaged.
    pub fn candidates(
        &self,
        sketches: &Sketches,
        numbers: &[u64],
        is_asked: impl Fn(usize) -> bool,
        counts: &KeyCounts,
        lists: &[impl AsRef<[u8]>],
    ) -> Result<Earlier> {
        let scheme = self.key_scheme(sketches, counts.heavy_hitters())?;
        let (mut keys, mut filed, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for blob in lists {
            for entry in blob::read_entries(blob.as_ref())? {
                keys.push(u64::from(entry.key));
                filed.push(entry.number);
                shares.push(entry.min_overlap.to_bits());
            }
        }
        let stored = FetchedIndex::new(scheme, &keys, &filed, &shares)?;
        let asked: Vec<u32> = (0..numbers.len())
            .filter(|&document| is_asked(document))
            .map(|document| document as u32)
            .collect();
        let mut found = Earlier::default();
        stored.each_near(sketches, &asked, |document, number| {
            if number < numbers[document as usize] {
                found.documents.push(document);
                found.numbers.push(number);
            }
        });
        Ok(found)
    }

    /// By which keys documents of a batch are filed and looked up.
    pub(super) fn key_scheme(
        &self,
        sketches: &Sketches,
        heavy_hitters: Arc<HeavyHitters>,
    ) -> Result<KeyScheme> {
        sketches.check_search(self.search)?;
        Ok(KeyScheme::new(self.search, self.bits, heavy_hitters)?.folded())
    }

    /// The bucket of a key. Keys of samples are small numbers, so they are mixed first.
    fn bucket(&self, key: u32) -> usize {
        let mixed = u64::from(key.wrapping_mul(0x9E37_79B1));
        ((mixed * self.buckets as u64) >> 32) as usize
    }
}

impl KeyCounts {
    /// How many documents have a key; `None` if one at most.
    pub fn of(&self, key: u32) -> Option<u32> {
        self.0.get(&key).copied()
    }

    /// How many documents have the key that most of them have.
    pub fn largest(&self) -> u32 {
        self.0.values().copied().max().unwrap_or(0)
    }

    /// The heavy hitters of it.
    pub fn heavy_hitters(&self) -> Arc<HeavyHitters> {
        let counts = self.0.iter().map(|(&key, &documents)| (key, documents));
        Arc::new(HeavyHitters::from_counts(counts))
    }
}
