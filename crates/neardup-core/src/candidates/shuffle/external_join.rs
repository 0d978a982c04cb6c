/*! The shuffle on one machine: through files, a few buckets or batches at a time.

Takes the sketches of a corpus that are outside of memory, in priority order. Yields what an index
with the [`external`](crate::candidates::stores::external) store needs: for each batch, the counts
and the lists of its keys. Lists in which many documents are filed are left to that store, which
caps them as documents are kept.
*/

use std::path::Path;

use rayon::prelude::*;

use super::Shuffle;
use super::partition_file::PartitionFile;
use crate::candidates::search::Search;
use crate::candidates::sketch_store::SketchStore;
use crate::error::{Error, Result};
use crate::groups::Groups;

/// Minimum number of documents of a batch. The clusterer decides this many or fewer at once.
const SMALLEST_BATCH: usize = 4096;

/// The maximum number of batches, which is also the number of blobs of each bucket.
const MOST_BATCHES: usize = 1024;

/// Bytes per key while its bucket is counted.
const KEY_BYTES: usize = 32;

/// The maximum number of documents in a shuffled list: each of them costs as much again in every
/// batch that looks the list up.
const EXCHANGED: usize = 32;

/// The counts and lists of all batches.
#[derive(Debug)]
pub struct JoinedKeys {
    pub(in crate::candidates) shuffle: Shuffle,
    /// The number of documents of a batch.
    pub(in crate::candidates) batch: usize,
    /// One row for each bucket, one column for each batch.
    pub(in crate::candidates) counts: PartitionFile,
    pub(in crate::candidates) lists: PartitionFile,
    /// The keys of lists that were not shuffled.
    pub(in crate::candidates) long: Vec<u32>,
}

/// A shuffle in progress; it advances a few batches or buckets at a time.
#[derive(Debug)]
pub struct ExternalJoin {
    shuffle: Shuffle,
    order: Vec<u32>,
    /// Whether each document of the order is the first with its text; these are counted.
    is_first: Vec<bool>,
    has_sketch: Vec<bool>,
    batch: usize,
    step: Step,
    /// The number of batches or buckets that this step has finished.
    done: usize,
    keys: PartitionFile,
    filed: PartitionFile,
    counts: PartitionFile,
    lists: PartitionFile,
    long: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Keys,
    Count,
    File,
    Split,
    Done,
}

impl ExternalJoin {
    /// Starts the shuffle for the documents of `order`. `room` is the memory limit in bytes;
    /// files are made in `folder`, if there is one.
    ///
    /// # Errors
    ///
    /// If the search has no keys to shuffle, or a file cannot be made.
    pub fn new(
        search: Search,
        store: &SketchStore,
        order: &[u32],
        is_first: Vec<bool>,
        has_sketch: Vec<bool>,
        room: usize,
        folder: Option<&Path>,
    ) -> Result<Self> {
        let threads = rayon::current_num_threads();
        let bytes = store.size();
        // A sketch has at least 4 bytes for each key; for bands it has more.
        let buckets = (bytes / 4 * KEY_BYTES * threads / room.max(1)).clamp(16, 4096);
        let batch = order.len().div_ceil(MOST_BATCHES).max(SMALLEST_BATCH);
        let batches = order.len().div_ceil(batch);
        Ok(ExternalJoin {
            shuffle: Shuffle::new(search, 0, buckets)?,
            order: order.to_vec(),
            is_first,
            has_sketch,
            batch,
            step: Step::Keys,
            done: 0,
            keys: PartitionFile::new(buckets, folder),
            filed: PartitionFile::new(buckets, folder),
            counts: PartitionFile::new(batches, folder),
            lists: PartitionFile::new(batches, folder),
            long: Vec::new(),
        })
    }

    /// The same for documents of these groups, by number.
    pub fn among(self, groups: Groups) -> Self {
        let shuffle = self.shuffle.clone().among(groups);
        ExternalJoin { shuffle, ..self }
    }

    /// Does a part of the work, on the current rayon pool. Returns false if all work was done
    /// before.
    ///
    /// # Errors
    ///
    /// If files cannot be written or read.
    pub fn advance(&mut self, store: &SketchStore) -> Result<bool> {
        let at_once = 2 * rayon::current_num_threads();
        let all = match self.step {
            Step::Keys | Step::File => self.order.len().div_ceil(self.batch),
            Step::Count | Step::Split => self.shuffle.buckets(),
            Step::Done => return Ok(false),
        };
        let range = self.done..(self.done + at_once).min(all);
        let range = range.into_par_iter();
        match self.step {
            Step::Keys => {
                let rows = range.map(|batch| self.keys_of(store, batch));
                let rows: Vec<_> = rows.collect::<Result<_>>()?;
                rows.iter().try_for_each(|row| self.keys.push(row))?;
            }
            Step::Count => {
                let rows = range.map(|bucket| self.shuffle.count(&self.keys.column(bucket)?));
                let rows: Vec<_> = rows.collect::<Result<_>>()?;
                rows.iter().try_for_each(|row| self.counts.push(row))?;
            }
            Step::File => {
                let rows = range.map(|batch| self.filed_of(store, batch));
                let rows: Vec<_> = rows.collect::<Result<_>>()?;
                rows.iter().try_for_each(|row| self.filed.push(row))?;
            }
            Step::Split | Step::Done => {
                let rows = range.map(|bucket| {
                    let asked = self.counts.row(bucket)?;
                    let filed = self.filed.column(bucket)?;
                    self.shuffle.lists(&filed, &asked, EXCHANGED)
                });
                let rows: Vec<_> = rows.collect::<Result<_>>()?;
                for row in rows {
                    self.lists.push(&row.of_batches)?;
                    self.long.extend(row.long);
                }
            }
        }
        self.done = (self.done + at_once).min(all);
        if self.done == all {
            self.done = 0;
            self.step = match self.step {
                Step::Keys => Step::Count,
                Step::Count => {
                    self.keys = PartitionFile::new(0, None);
                    Step::File
                }
                Step::File => Step::Split,
                Step::Split | Step::Done => {
                    self.filed = PartitionFile::new(0, None);
                    Step::Done
                }
            };
        }
        Ok(self.step != Step::Done)
    }

    fn documents(&self, batch: usize) -> (usize, &[u32]) {
        let begin = batch * self.batch;
        let end = (begin + self.batch).min(self.order.len());
        (begin, &self.order[begin..end])
    }

    fn keys_of(&self, store: &SketchStore, batch: usize) -> Result<Vec<Vec<u8>>> {
        let (begin, documents) = self.documents(batch);
        let highest = (begin + documents.len() - 1) as u64;
        let is_first = |at: usize| self.is_first[begin + at];
        let shuffle = self.shuffle.of_batch(documents);
        shuffle.keys(&store.read(documents)?, highest, is_first)
    }

    fn filed_of(&self, store: &SketchStore, batch: usize) -> Result<Vec<Vec<u8>>> {
        let (begin, documents) = self.documents(batch);
        let counts = self.shuffle.key_counts(&self.counts.column(batch)?)?;
        let numbers: Vec<u64> = (begin as u64..).take(documents.len()).collect();
        let is_filed = |at: usize| self.is_first[begin + at] && self.has_sketch[begin + at];
        let sketches = store.read(documents)?;
        let shuffle = self.shuffle.of_batch(documents);
        shuffle.file(&sketches, &numbers, is_filed, &counts, &[])
    }

    /// The result of the shuffle.
    ///
    /// # Errors
    ///
    /// If the shuffle is not done yet.
    pub fn finish(self) -> Result<JoinedKeys> {
        if self.step != Step::Done {
            return Err(Error::input("the shuffle of keys", "done", "under way"));
        }
        Ok(JoinedKeys {
            shuffle: self.shuffle,
            batch: self.batch,
            counts: self.counts,
            lists: self.lists,
            long: self.long,
        })
    }
}

impl JoinedKeys {
    /// Fails unless these are the keys of `documents` documents.
    pub(in crate::candidates) fn check(&self, documents: usize) -> Result<()> {
        let (buckets, batches) = (self.shuffle.buckets(), documents.div_ceil(self.batch));
        let are_of_these = |table: &PartitionFile| table.has_shape(buckets, batches);
        match are_of_these(&self.counts) && are_of_these(&self.lists) {
            true => Ok(()),
            false => Err(Error::input(
                "the stored keys",
                format!("those of {documents} documents"),
                "others",
            )),
        }
    }
}
