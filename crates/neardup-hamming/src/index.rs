/*! An index of fingerprints by distance, for a growing collection.

Takes fingerprints one by one or in bulk and numbers them from 0. At any time, a query returns all
fingerprints within a radius of it. The scan scheme stores only columns. The blocks scheme stores
immutable runs of rows and an unsorted tail that is scanned. Each run is sorted by the key of every
table, with a directory of its buckets. A full tail becomes a run; it is merged with the preceding
runs that are not larger. By this logarithmic method (Bentley & Saxe, J. Algorithms 1(4), 1980),
there are at most log2(n / 2048) runs, and a row is sorted at most that many times.

Exact. A look-up reads one bucket of each table of each run. An insertion costs O(tables · log n)
on average; an insertion that merges all runs costs O(tables · n). The plan gives the memory; a
merge needs the memory of one more table.
*/

use std::ops::Range;

use rayon::prelude::*;

use super::fingerprints::{Fingerprints, Rows, check_distance, cut, gather, with_words};
use super::kernels::Kernel;
use super::layout::{Layout, Table, all_bits};
use super::lists::{Near, NearOfSome, Neighbours};
use super::partition::{Partition, Source};
use super::plan::{Purpose, Scheme, TAIL_ROWS, plan};
use super::scan;
use crate::error::{Error, Result};

/// The number of queries in one task of a bulk look-up.
const TASK_QUERIES: usize = 64;

/// Fingerprints that can be looked up by distance while more are added.
///
/// # Examples
/// ```
/// use neardup_hamming::HammingIndex;
///
/// let mut index = HammingIndex::new(64, 3, 1_000_000)?;
/// index.insert(&[0b1111])?;
/// index.insert(&[!0])?;
/// let mut near = Vec::new();
/// index.near(&[0b1011], 3, &mut near)?;
/// assert_eq!(near, [(0, 1)]);
/// # Ok::<(), neardup_hamming::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HammingIndex {
    fingerprints: Fingerprints,
    max_distance: u32,
    scheme: Scheme,
    layout: Option<Layout>,
    runs: Vec<Run>,
    kernel: Kernel,
}

/// Rows `begin..end`, sorted by every table.
#[derive(Clone, Debug)]
struct Run {
    rows: Range<usize>,
    tables: Vec<Sorted>,
}

/// Rows sorted by the key of one table.
#[derive(Clone, Debug)]
struct Sorted {
    table: Table,
    columns: Vec<Vec<u64>>,
    ids: Vec<u32>,
    /// Where each bucket begins, followed by the end of the last one.
    directory: Vec<u32>,
}

impl HammingIndex {
    /// An empty index; `expected`, the number of documents, only affects the choice of scheme.
    ///
    /// # Errors
    /// If `bits` is not a width or `max_distance` exceeds it.
    pub fn new(bits: u32, max_distance: u32, expected: u64) -> Result<Self> {
        let plan = plan(expected, bits, max_distance, Purpose::LookUps)?;
        HammingIndex::with_scheme(bits, max_distance, plan.scheme)
    }

    /// An empty index with a given scheme.
    ///
    /// # Errors
    /// If `bits` is not a width, `max_distance` exceeds it, or `scheme` does
    /// not fit them.
    pub fn with_scheme(bits: u32, max_distance: u32, scheme: Scheme) -> Result<Self> {
        check_distance(bits, max_distance)?;
        scheme.check(bits, max_distance)?;
        let layout = match scheme {
            Scheme::Scan => None,
            Scheme::Blocks { blocks, .. } => {
                Some(Layout::new(&all_bits(bits), blocks, max_distance))
            }
        };
        Ok(HammingIndex {
            fingerprints: Fingerprints::new(bits)?,
            max_distance,
            scheme,
            layout,
            runs: Vec::new(),
            kernel: Kernel::best(),
        })
    }

    /// Adds one fingerprint and returns its number.
    ///
    /// # Errors
    /// If `row` is not one fingerprint of this width, or the index has 2^32 - 1 already.
    pub fn insert(&mut self, row: &[u64]) -> Result<u32> {
        let id = self.fingerprints.len() as u32;
        self.fingerprints.push(row)?;
        self.settle();
        Ok(id)
    }

    /// Adds all of `fingerprints`, in order.
    ///
    /// # Errors
    /// If their width differs, or the index would have more than 2^32 - 1.
    pub fn extend(&mut self, fingerprints: &Fingerprints) -> Result<()> {
        self.fingerprints.append(fingerprints)?;
        self.settle();
        Ok(())
    }

    /// The number of fingerprints in the index.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether the index has no fingerprints.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// The fingerprints, by number.
    pub fn fingerprints(&self) -> &Fingerprints {
        &self.fingerprints
    }

    /// The scheme in use.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The largest radius of a look-up.
    pub fn max_distance(&self) -> u32 {
        self.max_distance
    }

    /// Replaces the content of `near` by all `(number, distance)` within `max_distance` of
    /// `query`, ascending.
    ///
    /// # Errors
    /// If `query` is not one fingerprint of this width, or `max_distance` exceeds the radius of
    /// the index.
    pub fn near(&self, query: &[u64], max_distance: u32, near: &mut Vec<Near>) -> Result<()> {
        self.fingerprints.check_row(query)?;
        self.check_radius(max_distance)?;
        near.clear();
        with_words!(self.fingerprints.words(), W => {
            let query: [u64; W] = std::array::from_fn(|word| query[word]);
            self.look_up(query, max_distance, near);
        });
        Ok(())
    }

    /// As [`HammingIndex::near`] with the radius of the index, but only among the fingerprints
    /// from number `since` on. The query is compared with each of them.
    ///
    /// # Errors
    /// If `query` is not one fingerprint of this width.
    pub fn near_since(&self, query: &[u64], since: u32, near: &mut Vec<Near>) -> Result<()> {
        self.fingerprints.check_row(query)?;
        near.clear();
        with_words!(self.fingerprints.words(), W => {
            let query: [u64; W] = std::array::from_fn(|word| query[word]);
            self.scan_from(since as usize, query, self.max_distance, near);
            near.sort_unstable();
        });
        Ok(())
    }

    /// For each query, all documents within `max_distance`, found on the threads of the current
    /// pool.
    ///
    /// # Errors
    /// If the queries have another width, or `max_distance` exceeds the radius of the index.
    pub fn near_many(&self, queries: &Fingerprints, max_distance: u32) -> Result<Neighbours> {
        self.check_radius(max_distance)?;
        if self.layout.is_none() {
            return scan::many_against_many(self.kernel, queries, &self.fingerprints, max_distance);
        }
        self.fingerprints.check_width(queries)?;
        let count = queries.len();
        Ok(with_words!(queries.words(), W => {
            let parts = (0..count).into_par_iter().step_by(TASK_QUERIES).map(|first| {
                let some = first..(first + TASK_QUERIES).min(count);
                self.look_some_up(queries.rows::<W>(), some, max_distance)
            });
            Neighbours::from_parts(parts.collect())
        }))
    }

    /// As [`HammingIndex::near_many`], but on the calling thread, one query after the other. For
    /// a few queries this is cheaper than handing them to a pool.
    ///
    /// # Errors
    /// As [`HammingIndex::near_many`].
    pub fn near_each(&self, queries: &Fingerprints, max_distance: u32) -> Result<Neighbours> {
        self.check_radius(max_distance)?;
        self.fingerprints.check_width(queries)?;
        Ok(with_words!(queries.words(), W => {
            let all = 0..queries.len();
            let part = self.look_some_up(queries.rows::<W>(), all, max_distance);
            Neighbours::from_parts(vec![part])
        }))
    }

    fn check_radius(&self, max_distance: u32) -> Result<()> {
        if max_distance > self.max_distance {
            return Err(Error::parameter(
                "max_distance",
                format!("at most {}, which was filed for", self.max_distance),
                max_distance,
            ));
        }
        Ok(())
    }

    /// Looks up some queries: the number of neighbours of each, and all neighbours.
    fn look_some_up<const W: usize>(
        &self,
        queries: Rows<'_, W>,
        some: Range<usize>,
        max_distance: u32,
    ) -> NearOfSome {
        let mut near = Vec::new();
        let mut counts = Vec::with_capacity(some.len());
        let mut found = Vec::new();
        for query in some {
            near.clear();
            self.look_up(gather(queries, query), max_distance, &mut near);
            counts.push(near.len() as u64);
            found.extend_from_slice(&near);
        }
        (counts, found)
    }

    /// Adds the neighbours of one query, ascending.
    fn look_up<const W: usize>(&self, query: [u64; W], max_distance: u32, near: &mut Vec<Near>) {
        if let Some(layout) = &self.layout {
            for sorted in self.runs.iter().flat_map(|run| &run.tables) {
                let (rows, ids) = sorted.bucket(&query);
                self.kernel.one(query, rows, max_distance, |at, distance| {
                    let row = gather(rows, at);
                    let differing = std::array::from_fn(|word| row[word] ^ query[word]);
                    if layout.owns::<W>(&sorted.table, &differing) {
                        near.push((ids[at], distance as u16));
                    }
                });
            }
        }
        self.scan_from(self.sorted_rows(), query, max_distance, near);
        near.sort_unstable();
    }

    /// Adds the neighbours of one query among the rows from `begin` on, in no particular order.
    fn scan_from<const W: usize>(
        &self,
        begin: usize,
        query: [u64; W],
        max_distance: u32,
        near: &mut Vec<Near>,
    ) {
        let rows = cut(
            self.fingerprints.rows::<W>(),
            begin..self.fingerprints.len(),
        );
        self.kernel.one(query, rows, max_distance, |at, distance| {
            near.push(((begin + at) as u32, distance as u16));
        });
    }

    /// The number of rows that are in a run.
    fn sorted_rows(&self) -> usize {
        self.runs.last().map_or(0, |run| run.rows.end)
    }

    /// Makes a run of the tail if it is full.
    fn settle(&mut self) {
        let end = self.fingerprints.len();
        let mut begin = self.sorted_rows();
        let Some(layout) = &self.layout else { return };
        if end - begin < TAIL_ROWS {
            return;
        }
        while let Some(run) = self.runs.last()
            && run.rows.len() <= end - begin
        {
            begin = run.rows.start;
            self.runs.pop();
        }
        let rows = begin..end;
        let tables = with_words!(self.fingerprints.words(), W => {
            let rows_within = cut(self.fingerprints.rows::<W>(), rows.clone());
            let mut buffer = Partition::<W>::default();
            layout
                .tables(rows.len())
                .map(|table| Sorted::new(table, rows_within, begin as u32, &mut buffer))
                .collect()
        });
        self.runs.push(Run { rows, tables });
    }
}

impl Sorted {
    /// Sorts rows, numbered from `first` on, by the key of `table`: first by the lower half of
    /// the key, then by the upper half.
    fn new<const W: usize>(
        table: Table,
        rows: Rows<'_, W>,
        first: u32,
        buffer: &mut Partition<W>,
    ) -> Self {
        let low = table.bits / 2;
        let mask = (1 << low) - 1;
        buffer.fill_parallel(Source::counted(rows, None), 1 << low, |row| {
            table.key(row) & mask
        });
        let (rows, ids) = buffer.all();
        let mut sorted = Partition::<W>::default();
        sorted.fill_parallel(
            Source::numbered(rows, ids),
            1 << (table.bits - low),
            |row| table.key(row) >> low,
        );
        let (columns, mut ids) = sorted.into_parts();
        for id in &mut ids {
            *id += first;
        }
        let rows = columns.each_ref().map(Vec::as_slice);
        let mut directory = vec![0_u32; (1 << table.bits) + 1];
        for at in 0..ids.len() {
            directory[table.key(&gather(rows, at)) + 1] += 1;
        }
        for bucket in 1..directory.len() {
            directory[bucket] += directory[bucket - 1];
        }
        Sorted {
            table,
            columns: columns.into(),
            ids,
            directory,
        }
    }

    /// The rows that share the query's key.
    #[inline]
    fn bucket<const W: usize>(&self, query: &[u64; W]) -> (Rows<'_, W>, &[u32]) {
        let bucket = self.table.key(query);
        let range = self.directory[bucket] as usize..self.directory[bucket + 1] as usize;
        let rows = std::array::from_fn(|word| &self.columns[word][range.clone()]);
        (rows, &self.ids[range])
    }
}
