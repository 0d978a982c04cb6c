/*! Shuffle: finds the documents that share keys if the keys do not all fit into one memory.

Documents come in *batches* of some thousand, in priority order. Keys are assigned to *buckets* by
their hash. Every step works on one batch or one bucket alone. What they exchange is bytes
([`blob`]): through files on one machine ([`external`]), through a shuffle
on a cluster.

| step | of | takes | yields |
|---|---|---|---|
| [`keys`](Shuffle::keys) | a batch | sketches | for each bucket: keys, and how many texts of the batch have them |
| [`count`](Shuffle::count) | a bucket | the keys of all batches | for each batch: how many texts have its keys, if several do |
| [`file`](Shuffle::file) | a batch | sketches, counts | for each bucket: entries, a document under a key each |
| [`lists`](Shuffle::lists) | a bucket | all entries, counts | for each batch: the entries under its keys |
| [`candidates`](Shuffle::candidates) | a batch | sketches, counts, lists | earlier documents that share enough |

A key that a million documents share is one number for each batch, and its list is capped as in
memory, so a template costs time linear in its documents.

The result is that of a [`CandidateIndex`](super::CandidateIndex) in which the same documents are
filed.
*/

pub mod blob;
pub mod external;
pub mod external_join;
pub mod partition_file;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::blob::{Counted, Entry};
use super::heavy_hitters::heaviest;
use super::key_scheme::KeyScheme;
use super::schemes::search::Search;
use super::stores::fetched::FetchedIndex;
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::ids::{DocId, Hash};
use crate::shingle_frequencies::ShingleFrequencies;
use crate::sketch::Sketches;

/// The maximum number of buckets: with more, each blob would be only a few bytes.
pub const MAX_BUCKETS: usize = 1 << 16;

/// The steps of one search; see the [module](self).
#[derive(Clone, Debug)]
pub struct Shuffle {
    /// The keys under which documents of a batch are filed and by which they are looked up.
    scheme: KeyScheme,
    buckets: usize,
}

/// The key counts of a batch: how many texts have each key that several texts have.
#[derive(Debug, Default)]
pub struct KeyCounts(Vec<Counted>);

/// The lists of one bucket.
#[derive(Debug, Default)]
pub struct Lists {
    /// For each batch, the lists that it requested.
    pub of_batches: Vec<Vec<u8>>,
    /// The keys of lists that were left out because they are too long, ascending.
    pub long: Vec<u32>,
    /// The keys and documents of lists for which too many documents are filed, those included that
    /// the cap leaves out, by key and then ascending.
    pub full: Vec<(u32, u64)>,
}

/// Candidates of the documents of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchCandidates {
    /// The position of each document in the batch.
    pub documents: Vec<DocId>,
    /// The number of an earlier document; ascending for each document of the batch.
    pub numbers: Vec<u64>,
}

impl Shuffle {
    /// The steps of a search, with keys divided into `buckets` buckets. `bits` is the width of
    /// fingerprints, for a search among them.
    ///
    /// # Errors
    ///
    /// If the search has no keys, because its distance is large for the width of a fingerprint, or
    /// `buckets` is 0 or exceeds [`MAX_BUCKETS`].
    pub fn new(search: Search, bits: u32, buckets: usize) -> Result<Self> {
        let scheme = KeyScheme::new(search, bits)?.folded();
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
        Ok(Shuffle { scheme, buckets })
    }

    /// The same steps for documents of these groups: those of a batch, or of all that batches are
    /// [selected](Self::of_batch) from.
    pub fn among(self, groups: Groups) -> Self {
        let scheme = self.scheme.among(groups);
        Shuffle { scheme, ..self }
    }

    /// The steps for a batch of these documents.
    pub fn of_batch(&self, documents: &[DocId]) -> Self {
        let scheme = self.scheme.of_batch(documents);
        Shuffle { scheme, ..*self }
    }

    /// The keys under which documents of a batch are filed and by which they are looked up.
    pub fn scheme(&self) -> &KeyScheme {
        &self.scheme
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        self.buckets
    }

    /// The keys of a batch, one blob for each bucket. `highest` is the largest number of its
    /// documents. Only those for which `is_first` is true are counted: the first of each text.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than the search is for.
    pub fn keys(
        &self,
        sketches: &Sketches,
        highest: u64,
        is_first: impl Fn(usize) -> bool,
    ) -> Result<Vec<Vec<u8>>> {
        self.scheme.check(sketches, sketches.len())?;
        let mut dealt = vec![Vec::new(); self.buckets];
        let mut keys = Vec::new();
        for document in DocId::range(0..sketches.len()) {
            self.scheme.keys(sketches, document, &mut keys);
            let counted = u32::from(is_first(document.index()));
            for &key in self.scheme.lookup_keys(&keys) {
                dealt[self.bucket(key as u32)].push((key as u32, counted));
            }
        }
        let blobs = dealt.into_iter().map(|mut keys| {
            keys.sort_unstable();
            let runs = keys.chunk_by(|a, b| a.0 == b.0);
            let texts = |run: &[(u32, u32)]| run.iter().map(|&(_, counted)| counted).sum();
            let counted = runs.map(|run| Counted::from((run[0].0, texts(run))));
            blob::write_counted(highest, &counted.collect::<Vec<_>>())
        });
        Ok(blobs.collect())
    }

    /// For the keys of each batch in one bucket, the number of texts of all batches that have
    /// them. Keys that only one text has are left out.
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
            all.extend(counted.iter().map(|&one| <(u32, u32)>::from(one)));
        }
        // The position of a record identifies its batch, so only keys and positions are sorted.
        let mut order: Vec<u64> = (0_u64..)
            .zip(&all)
            .map(|(at, &(key, _))| u64::from(key) << 32 | at)
            .collect();
        order.sort_unstable();
        for run in order.chunk_by(|a, b| a >> 32 == b >> 32) {
            let texts = run.iter().map(|&at| all[at as u32 as usize].1);
            let texts = texts.fold(0_u32, u32::saturating_add);
            for &at in run {
                all[at as u32 as usize].1 = texts;
            }
        }
        let mut rest = all.as_slice();
        let blobs = highest.into_iter().zip(sizes).map(|(highest, size)| {
            let (of_group, others) = rest.split_at(size);
            rest = others;
            let several = of_group.iter().filter(|&&(_, texts)| texts > 1);
            let counted = several.map(|&both| Counted::from(both));
            blob::write_counted(highest, &counted.collect::<Vec<_>>())
        });
        Ok(blobs.collect())
    }

    /// Combines the counts of one batch from all buckets, as [`count`](Self::count) returned them.
    ///
    /// # Errors
    ///
    /// If a blob is damaged.
    pub fn key_counts(&self, counts: &[impl AsRef<[u8]>]) -> Result<KeyCounts> {
        let mut all = Vec::new();
        for blob in counts {
            let (_, counted) = blob::read_counted(blob.as_ref())?;
            all.extend_from_slice(counted);
        }
        Ok(KeyCounts(all))
    }

    /// The entries of the documents of a batch for which `is_filed` is true, one blob for each
    /// bucket. `numbers` are the numbers of the documents, ascending. `left_out` are keys and
    /// documents, sorted, of lists that have no place for the document.
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
        left_out: &[(u32, u64)],
    ) -> Result<Vec<Vec<u8>>> {
        self.scheme.check(sketches, numbers.len())?;
        let heavy_hitters = counts.heavy_hitters();
        let frequency = |key: u64| heavy_hitters.count(Hash(key as u32));
        let shared: FxHashSet<u32> = counts.0.iter().map(|one| one.key.get()).collect();
        let mut dealt: Vec<Vec<Entry>> = vec![Vec::new(); self.buckets];
        let (mut keys, mut filed) = (Vec::new(), Vec::new());
        for (document, &number) in numbers.iter().enumerate() {
            if !is_filed(document) {
                continue;
            }
            self.scheme
                .keys(sketches, DocId(document as u32), &mut keys);
            self.scheme
                .filing_keys(&keys, frequency, |_| false, &mut filed);
            for &(key, min_overlap) in &filed {
                let key = key as u32;
                // A key that no other document has cannot lead to a candidate.
                if shared.contains(&key) && left_out.binary_search(&(key, number)).is_err() {
                    dealt[self.bucket(key)].push(Entry::new(key, min_overlap, number));
                }
            }
        }
        let blobs = dealt.into_iter().map(|mut entries| {
            entries.sort_unstable_by_key(|entry| (entry.key, entry.number));
            blob::write_entries(&entries)
        });
        Ok(blobs.collect())
    }

    /// The lists of one bucket for each batch in `asked`, which holds the counts that
    /// [`count`](Self::count) returned for it. Entries are cut to the list cap, and to documents
    /// before the last one of the batch. Lists in which more than `most` documents are filed are
    /// left out.
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
            all.extend_from_slice(blob::read_entries(blob.as_ref())?);
        }
        all.sort_unstable_by_key(|entry: &Entry| (entry.key, entry.number));
        let mut found = Lists::default();
        // A map, because each batch requests few of the lists and a binary search for each key
        // would take longer than everything else.
        let mut lists: FxHashMap<u32, &[Entry]> = FxHashMap::default();
        for list in all.chunk_by(|a, b| a.key == b.key) {
            let held = &list[..list.len().min(self.scheme.max_list_len())];
            if list.len() > most {
                found.long.push(list[0].key.get());
                continue;
            }
            if list.len() > held.len() {
                let full = list.iter();
                let full = full.map(|entry| (entry.key.get(), entry.number.get()));
                found.full.extend(full);
            }
            lists.insert(list[0].key.get(), held);
        }
        let mut answer = Vec::new();
        for blob in asked {
            let (highest, counted) = blob::read_counted(blob.as_ref())?;
            answer.clear();
            for list in counted.iter().filter_map(|one| lists.get(&one.key.get())) {
                let earlier = list.partition_point(|entry| entry.number.get() < highest);
                answer.extend_from_slice(&list[..earlier]);
            }
            found.of_batches.push(blob::write_entries(&answer));
        }
        Ok(found)
    }

    /// For the documents of a batch for which `is_asked` is true, the earlier documents that share
    /// enough keys, by all lists returned for the batch. For fingerprints and prefixes, the
    /// sketches must also be similar enough.
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
    ) -> Result<BatchCandidates> {
        self.scheme.check(sketches, numbers.len())?;
        let (mut keys, mut filed, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for blob in lists {
            for entry in blob::read_entries(blob.as_ref())? {
                keys.push(u64::from(entry.key.get()));
                filed.push(entry.number.get());
                shares.push(entry.min_overlap().to_bits());
            }
        }
        let scheme = self.scheme.clone();
        let stored = FetchedIndex::new(scheme, counts.heavy_hitters(), &keys, &filed, &shares)?;
        let asked = DocId::range(0..numbers.len());
        let asked: Vec<DocId> = asked.filter(|asked| is_asked(asked.index())).collect();
        let mut found = BatchCandidates::default();
        stored.each_near(sketches, &asked, |document, number| {
            if number < numbers[document.index()] {
                found.documents.push(document);
                found.numbers.push(number);
            }
        });
        Ok(found)
    }

    /// The bucket of a key. Keys of samples are small numbers, so they are mixed first.
    fn bucket(&self, key: u32) -> usize {
        let mixed = u64::from(key.wrapping_mul(0x9E37_79B1));
        ((mixed * self.buckets as u64) >> 32) as usize
    }
}

impl KeyCounts {
    /// The number of texts that have the most frequent key.
    pub fn largest(&self) -> u32 {
        self.0.iter().map(|one| one.texts.get()).max().unwrap_or(0)
    }

    /// The heavy hitters among the counted keys.
    pub fn heavy_hitters(&self) -> Arc<ShingleFrequencies> {
        let counts = self.0.iter();
        let counts = counts.map(|one| (Hash(one.key.get()), one.texts.get()));
        Arc::new(heaviest(counts))
    }
}
