/*! Radix partition of fingerprints and their document numbers.

Takes rows and a digit for each. Yields the rows grouped by digit, in input order inside each
group, and the beginning of each group. It is stable, so the result is the same for any number of
threads. There are two passes over the data. A row takes 8 bytes for each word and 4 bytes for its
number, in buffers that are reused.
*/

use std::ops::Range;

use rayon::prelude::*;

use super::fingerprints::{Rows, cut, gather, length};

/// Below this number of rows, one thread is faster than two.
const PARALLEL_ROWS: usize = 1 << 16;

/// The input of a partition: rows, their numbers, and marks of rows to skip.
#[derive(Clone, Copy)]
pub(super) struct Source<'a, const W: usize> {
    rows: Rows<'a, W>,
    ids: Option<&'a [u32]>,
    skip: Option<&'a [bool]>,
}

impl<'a, const W: usize> Source<'a, W> {
    /// Rows numbered from 0 on, without those that `skip` marks.
    pub(super) fn counted(rows: Rows<'a, W>, skip: Option<&'a [bool]>) -> Self {
        Source {
            rows,
            ids: None,
            skip,
        }
    }

    /// Rows with given numbers.
    pub(super) fn numbered(rows: Rows<'a, W>, ids: &'a [u32]) -> Self {
        Source {
            rows,
            ids: Some(ids),
            skip: None,
        }
    }

    /// All rows, including those to skip.
    pub(super) fn rows(&self) -> Rows<'a, W> {
        self.rows
    }

    /// The number of rows, including those to skip.
    pub(super) fn len(&self) -> usize {
        length(self.rows)
    }

    /// Calls `each` with the rows of `range` that are not skipped.
    #[inline]
    fn each(&self, range: Range<usize>, mut each: impl FnMut([u64; W], u32)) {
        let rows = cut(self.rows, range.clone());
        let skip = self.skip.map(|skip| &skip[range.clone()]);
        let ids = self.ids.map(|ids| &ids[range.clone()]);
        for at in 0..range.len() {
            if skip.is_none_or(|skip| !skip[at]) {
                let id = ids.map_or((range.start + at) as u32, |ids| ids[at]);
                each(gather(rows, at), id);
            }
        }
    }
}

/// Rows grouped by a digit.
#[derive(Debug)]
pub(super) struct Partition<const W: usize> {
    columns: [Vec<u64>; W],
    ids: Vec<u32>,
    starts: Vec<usize>,
}

impl<const W: usize> Default for Partition<W> {
    fn default() -> Self {
        Partition {
            columns: std::array::from_fn(|_| Vec::new()),
            ids: Vec::new(),
            starts: vec![0],
        }
    }
}

/// The places for the rows of one digit in one chunk of the input.
struct Slot<'a, const W: usize> {
    columns: [std::slice::IterMut<'a, u64>; W],
    ids: std::slice::IterMut<'a, u32>,
}

impl<const W: usize> Partition<W> {
    /// Partitions the rows of `source` by `digit`, which is below `digits`.
    pub(super) fn fill(
        &mut self,
        source: Source<'_, W>,
        digits: usize,
        digit: impl Fn(&[u64; W]) -> usize,
    ) {
        let mut next = vec![0; digits + 1];
        source.each(0..source.len(), |row, _| next[digit(&row) + 1] += 1);
        for at in 1..=digits {
            next[at] += next[at - 1];
        }
        self.resize(next[digits]);
        self.starts.clear();
        self.starts.extend_from_slice(&next);
        let columns = self.columns.each_mut().map(Vec::as_mut_slice);
        source.each(0..source.len(), |row, id| {
            let place = &mut next[digit(&row)];
            for word in 0..W {
                columns[word][*place] = row[word];
            }
            self.ids[*place] = id;
            *place += 1;
        });
    }

    /// As [`Partition::fill`], on all threads of the current pool.
    pub(super) fn fill_parallel(
        &mut self,
        source: Source<'_, W>,
        digits: usize,
        digit: impl Fn(&[u64; W]) -> usize + Sync,
    ) {
        let threads = rayon::current_num_threads();
        if threads == 1 || source.len() < PARALLEL_ROWS {
            return self.fill(source, digits, digit);
        }
        let share = source.len().div_ceil(2 * threads);
        let chunks: Vec<Range<usize>> = (0..source.len())
            .step_by(share)
            .map(|begin| begin..(begin + share).min(source.len()))
            .collect();
        let counts: Vec<Vec<usize>> = chunks
            .par_iter()
            .map(|chunk| {
                let mut counts = vec![0; digits];
                source.each(chunk.clone(), |row, _| counts[digit(&row)] += 1);
                counts
            })
            .collect();
        self.starts.clear();
        self.starts.push(0);
        let mut total = 0;
        for digit in 0..digits {
            total += counts.iter().map(|counts| counts[digit]).sum::<usize>();
            self.starts.push(total);
        }
        self.resize(total);

        // The output is divided by digit and, for each digit, by chunk. This keeps the order
        // of the input without a shared counter.
        let mut slots: Vec<Vec<Slot<'_, W>>> =
            chunks.iter().map(|_| Vec::with_capacity(digits)).collect();
        let mut columns = self.columns.each_mut().map(Vec::as_mut_slice);
        let mut ids = self.ids.as_mut_slice();
        for digit in 0..digits {
            for (slots, counts) in slots.iter_mut().zip(&counts) {
                slots.push(Slot {
                    columns: columns
                        .each_mut()
                        .map(|column| deal(column, counts[digit]).iter_mut()),
                    ids: deal(&mut ids, counts[digit]).iter_mut(),
                });
            }
        }
        chunks
            .into_par_iter()
            .zip(slots)
            .for_each(|(chunk, mut slots)| {
                source.each(chunk, |row, id| {
                    let slot = &mut slots[digit(&row)];
                    for (places, word) in slot.columns.iter_mut().zip(row) {
                        if let Some(place) = places.next() {
                            *place = word;
                        }
                    }
                    if let Some(place) = slot.ids.next() {
                        *place = id;
                    }
                });
            });
    }

    fn resize(&mut self, rows: usize) {
        for column in &mut self.columns {
            column.resize(rows, 0);
        }
        self.ids.resize(rows, 0);
    }

    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows and numbers of one group.
    pub(super) fn group(&self, digit: usize) -> (Rows<'_, W>, &[u32]) {
        let range = self.starts[digit]..self.starts[digit + 1];
        let rows = self.columns.each_ref().map(Vec::as_slice);
        (cut(rows, range.clone()), &self.ids[range])
    }

    /// All rows and numbers, group by group.
    pub(super) fn all(&self) -> (Rows<'_, W>, &[u32]) {
        (self.columns.each_ref().map(Vec::as_slice), &self.ids)
    }
}

/// Splits the first `count` elements off `rest`.
fn deal<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(count);
    *rest = others;
    first
}
