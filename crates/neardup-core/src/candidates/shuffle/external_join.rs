/*! The shuffle on one machine: through files, a few buckets or batches at a time.

Takes the sketches of a corpus that are outside of memory, in priority order. Yields what an index
with the [`external`](super::external) store needs: for each batch, the counts
and the lists of its keys. Lists in which many documents are filed are left to that store, which
caps them as documents are kept.
*/

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::Shuffle;
use super::partition_file::PartitionFile;
use crate::candidates::schemes::search::Search;
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::ids::DocId;
use crate::sketch::SketchStore;

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
    pub(in crate::candidates) long: FxHashSet<u32>,
}

/// A shuffle in progress; it advances a few batches or buckets at a time.
#[derive(Debug)]
pub struct ExternalJoin {
    shuffle: Shuffle,
    order: Vec<DocId>,
    /// Whether each document of the order is the first with its text; these are counted.
    is_first: Vec<bool>,
    has_sketch: Vec<bool>,
    batch: usize,
    /// The step, and the number of batches or buckets that it has finished.
    step: usize,
    done: usize,
    /// The output of each step: one row for each batch or bucket.
    tables: [PartitionFile; 4],
    long: FxHashSet<u32>,
}

/// The steps, each of all batches or of all buckets; see the [module](super).
const KEYS: usize = 0;
const COUNT: usize = 1;
const FILE: usize = 2;
const LISTS: usize = 3;
const DONE: usize = 4;

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
        order: &[DocId],
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
            step: KEYS,
            done: 0,
            tables: [buckets, batches, buckets, batches]
                .map(|columns| PartitionFile::new(columns, folder)),
            long: FxHashSet::default(),
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
        let all = match self.step {
            KEYS | FILE => self.order.len().div_ceil(self.batch),
            COUNT | LISTS => self.shuffle.buckets(),
            _ => return Ok(false),
        };
        let range = self.done..(self.done + 2 * rayon::current_num_threads()).min(all);
        let rows = range.clone().into_par_iter().map(|at| self.row(store, at));
        for (row, long) in rows.collect::<Result<Vec<_>>>()? {
            self.tables[self.step].push(&row)?;
            self.long.extend(long);
        }
        self.done = range.end;
        if self.done == all {
            // Nothing else reads what the step before wrote.
            if let COUNT | LISTS = self.step {
                self.tables[self.step - 1] = PartitionFile::new(0, None);
            }
            self.done = 0;
            self.step += 1;
        }
        Ok(self.step != DONE)
    }

    /// The output of the current step for a batch or bucket, and the keys of capped lists.
    fn row(&self, store: &SketchStore, at: usize) -> Result<(Vec<Vec<u8>>, Vec<u32>)> {
        let row = match self.step {
            KEYS => self.keys_of(store, at)?,
            COUNT => self.shuffle.count(&self.tables[KEYS].column(at)?)?,
            FILE => self.filed_of(store, at)?,
            _ => {
                let asked = self.tables[COUNT].row(at)?;
                let filed = self.tables[FILE].column(at)?;
                let lists = self.shuffle.lists(&filed, &asked, EXCHANGED)?;
                return Ok((lists.of_batches, lists.long));
            }
        };
        Ok((row, Vec::new()))
    }

    fn documents(&self, batch: usize) -> (usize, &[DocId]) {
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
        let counts = self
            .shuffle
            .key_counts(&self.tables[COUNT].column(batch)?)?;
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
        if self.step != DONE {
            return Err(Error::input("the shuffle of keys", "done", "under way"));
        }
        let [_, counts, _, lists] = self.tables;
        Ok(JoinedKeys {
            shuffle: self.shuffle,
            batch: self.batch,
            counts,
            lists,
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
