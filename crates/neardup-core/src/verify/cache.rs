//! Values of some documents, kept for the pairs that need them next.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::ids::DocId;
use crate::texts::TextStore;

/// A value that a cache keeps for a document.
pub(super) trait Cached: Send {
    /// Upper bound on the memory that it takes for each byte that is read for it.
    const GROWTH: usize;

    /// The memory that it owns on the heap.
    fn heap_bytes(&self) -> usize;
}

/// Reads the values of documents.
pub(super) trait Source: Sync {
    type Value: Cached;

    /// Bytes to be read for a document; `None` if it has no value.
    fn size(&self, document: DocId) -> Option<usize>;

    /// Reads a value; `buffer` is working memory.
    fn value(&self, document: DocId, buffer: &mut Vec<u8>) -> Result<Self::Value>;
}

/// Makes values of texts.
pub(super) struct FromTexts<'a, F>(pub(super) &'a TextStore, pub(super) F);

impl<T: Cached, F: Fn(&str) -> T + Sync> Source for FromTexts<'_, F> {
    type Value = T;

    fn size(&self, document: DocId) -> Option<usize> {
        Some(self.0.size(document.index()))
    }

    fn value(&self, document: DocId, buffer: &mut Vec<u8>) -> Result<T> {
        Ok(self.1(self.0.text(document.index(), buffer)?))
    }
}

/// The values of documents.
pub(super) type Values<T> = HashMap<DocId, T, FxBuildHasher>;

/// The values of some documents, up to about a number of bytes: a document that is a candidate often will be one
/// again.
#[derive(Debug)]
pub(super) struct Cache<T> {
    values: Values<T>,
    bytes: usize,
    budget: usize,
    /// Bytes that were read so far.
    read: u64,
}

impl<T: Cached> Cache<T> {
    pub(super) fn new(budget: usize) -> Self {
        Cache {
            values: HashMap::default(),
            bytes: 0,
            budget,
            read: 0,
        }
    }

    /// Bytes that were read so far. A value that was read again counts again.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Calls `each` with the items in order, as many at a time as there is room for the values of their documents,
    /// and with these.
    ///
    /// # Errors
    ///
    /// If a value cannot be read.
    pub(super) fn for_each<I>(
        &mut self,
        source: &impl Source<Value = T>,
        items: &[I],
        pair: impl Fn(&I) -> (DocId, DocId),
        mut each: impl FnMut(&[I], &Values<T>),
    ) -> Result<()> {
        let mut rest = items;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.load(source, rest.iter().map(&pair))?);
            each(now, &self.values);
            rest = later;
        }
        Ok(())
    }

    /// Reads the values of the first of `pairs` that the cache does not have, and returns the number of pairs that
    /// are ready: at least one, and no more than there is room for.
    fn load(
        &mut self,
        source: &impl Source<Value = T>,
        pairs: impl Iterator<Item = (DocId, DocId)>,
    ) -> Result<usize> {
        if self.bytes > self.budget {
            self.values.clear();
            self.bytes = 0;
        }
        let mut missing: HashSet<DocId, FxBuildHasher> = HashSet::default();
        let (mut count, mut wanted) = (0, 0);
        for (a, b) in pairs {
            for id in [a, b] {
                if !self.values.contains_key(&id)
                    && let Some(size) = source.size(id)
                    && missing.insert(id)
                {
                    wanted += T::GROWTH * size;
                    self.read += size as u64;
                }
            }
            count += 1;
            if wanted > self.budget + self.budget / 3 {
                break;
            }
        }
        // Neighbours are next to each other in a file.
        let mut missing: Vec<DocId> = missing.into_iter().collect();
        missing.sort_unstable();
        let read: Vec<(DocId, T)> = missing
            .par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, &id| Ok((id, source.value(id, buffer)?)))
            .collect::<Result<_>>()?;
        for (id, value) in read {
            self.bytes += 64 + size_of::<T>() + value.heap_bytes();
            self.values.insert(id, value);
        }
        Ok(count)
    }
}
