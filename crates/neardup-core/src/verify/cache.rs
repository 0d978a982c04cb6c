//! What was made of some documents, kept for the pairs that need it next.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::error::Result;

/// How something is made of a document.
pub(super) trait Make: Sync {
    type Made: Send;

    /// Bytes that are read for a document; `None` if it needs nothing.
    fn size(&self, document: u32) -> Option<usize>;

    /// Bytes that what is made of so many takes, at most.
    fn most(&self, size: usize) -> usize;

    /// Makes it; `buffer` holds what is read.
    fn make(&self, document: u32, buffer: &mut Vec<u8>) -> Result<Self::Made>;

    /// Bytes that it takes.
    fn bytes(made: &Self::Made) -> usize;
}

/// What was made of each document.
pub(super) type Made<T> = HashMap<u32, T, FxBuildHasher>;

/// What was made of some documents, up to about a number of bytes: a document that is a candidate
/// often will be one again.
#[derive(Debug)]
pub(super) struct Cache<T> {
    made: Made<T>,
    bytes: usize,
    most: usize,
    /// Bytes that were read so far.
    read: u64,
}

impl<T: Send> Cache<T> {
    pub(super) fn new(most: usize) -> Self {
        Cache {
            made: HashMap::default(),
            bytes: 0,
            most,
            read: 0,
        }
    }

    /// Bytes that were read so far. What was made again counts again.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Calls `each` with the items in order, as many at a time as there is room for what their
    /// documents need, and with that.
    ///
    /// # Errors
    ///
    /// If something cannot be made.
    pub(super) fn for_each<I>(
        &mut self,
        by: &impl Make<Made = T>,
        items: &[I],
        pair: impl Fn(&I) -> (u32, u32),
        mut each: impl FnMut(&[I], &Made<T>),
    ) -> Result<()> {
        let mut rest = items;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.load(by, rest.iter().map(&pair))?);
            each(now, &self.made);
            rest = later;
        }
        Ok(())
    }

    /// Makes what the documents of the first of `pairs` need and the cache does not have, and returns the
    /// number of pairs that are ready: at least one, and no more than there is room for.
    fn load<M: Make<Made = T>>(
        &mut self,
        by: &M,
        pairs: impl Iterator<Item = (u32, u32)>,
    ) -> Result<usize> {
        if self.bytes > self.most {
            self.made.clear();
            self.bytes = 0;
        }
        let mut missing: HashSet<u32, FxBuildHasher> = HashSet::default();
        let (mut count, mut wanted) = (0, 0);
        for (a, b) in pairs {
            for id in [a, b] {
                if !self.made.contains_key(&id)
                    && let Some(size) = by.size(id)
                    && missing.insert(id)
                {
                    wanted += by.most(size);
                    self.read += size as u64;
                }
            }
            count += 1;
            if wanted > self.most + self.most / 3 {
                break;
            }
        }
        // Neighbours lie beside each other in a file.
        let mut missing: Vec<u32> = missing.into_iter().collect();
        missing.sort_unstable();
        let made: Vec<(u32, T)> = missing
            .par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, &id| Ok((id, by.make(id, buffer)?)))
            .collect::<Result<_>>()?;
        for (id, made) in made {
            self.bytes += 64 + M::bytes(&made);
            self.made.insert(id, made);
        }
        Ok(count)
    }
}
