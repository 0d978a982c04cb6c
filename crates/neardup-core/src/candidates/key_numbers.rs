/*! Keys: numbers that similar documents share.

Takes, for each document, some 32-bit keys: of its bands, or of its sample. Yields
the same with the keys numbered from 0 on, those first that fewest documents have,
and all keys that only one document has under one number, since they bring nobody together:
in ordinary text three out of four. What is looked up afterwards is an array and not
a hash table.

One sort of all keys: O(K log K) for K keys in all, 12 bytes a key while it lasts,
4 bytes a key afterwards.
*/

use rayon::prelude::*;

use crate::candidates::schemes::bands::Banding;
use crate::candidates::schemes::prefix::prefix_length;
use crate::candidates::sketches::{Samples, Signatures};
use crate::error::{Error, Result};

/// The number of a key that only one document has.
pub(super) const SINGLE: u32 = u32::MAX;

/// A number for each key, the rarest first; [`SINGLE`] where only one document has it.
#[derive(Clone, Debug, Default)]
pub(in crate::candidates) struct Numbering {
    /// One for each key, in the order in which the keys came.
    pub(in crate::candidates) numbers: Vec<u32>,
    /// How many documents have each key, ascending, by its number.
    pub(in crate::candidates) lengths: Vec<u32>,
}

/// The keys of some documents, numbered from the rarest on.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Where each document's keys begin, and at last where the last one's end.
    offsets: Vec<u64>,
    /// In the order in which a document's keys came, or rarest first and single ones at the
    /// end: see [`by_rarity`](Self::by_rarity).
    numbers: Vec<u32>,
    /// How many documents have each key, ascending.
    lengths: Vec<u32>,
}

impl Keys {
    /// The keys of the bands of signatures.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn of_bands(signatures: &Signatures, banding: Banding) -> Result<Self> {
        let bands = banding.bands() as usize;
        let mut keys = vec![0; signatures.len() * bands];
        keys.par_chunks_mut(bands)
            .enumerate()
            .for_each_init(Vec::new, |wide, (document, keys)| {
                banding.keys(signatures.of(document as u32), wide);
                for (key, wide) in keys.iter_mut().zip(wide) {
                    *key = *wide as u32;
                }
            });
        let offsets: Vec<u64> = (0..=signatures.len())
            .map(|at| (at * bands) as u64)
            .collect();
        Keys::of(&offsets, &keys)
    }

    /// The keys of samples.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn of_samples(samples: &Samples) -> Result<Self> {
        Keys::of(samples.offsets(), samples.keys())
    }

    /// How many documents have each key, by its number.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The same with the keys of each document in the order of their numbers, the rarest first.
    pub fn by_rarity(mut self) -> Self {
        sort_each(&self.offsets, &mut self.numbers);
        self
    }

    /// The numbers of those of a document's keys that a resemblance of `threshold` cannot do
    /// without: the rarest, which bring the fewest documents. The keys must be
    /// [`by_rarity`](Self::by_rarity).
    pub fn prefix(&self, document: usize, threshold: f64) -> &[u32] {
        let all = self.all(document);
        let shared = &all[..all.partition_point(|&number| number != SINGLE)];
        let length = prefix_length(all.len(), threshold);
        // The single ones are the rarest, and come to an end nowhere.
        let single = all.len() - shared.len();
        &shared[..length.saturating_sub(single).min(shared.len())]
    }

    /// The numbers of all keys of a document.
    pub fn all(&self, document: usize) -> &[u32] {
        let bounds = &self.offsets[document..document + 2];
        &self.numbers[bounds[0] as usize..bounds[1] as usize]
    }

    /// The keys of documents, each a list without repetition.
    #[cfg(test)]
    pub(super) fn of_lists(documents: &[Vec<u32>]) -> Self {
        let lengths = documents.iter().scan(0, |end, keys| {
            *end += keys.len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(lengths).collect();
        Keys::of(&offsets, &documents.concat()).unwrap()
    }

    fn of(offsets: &[u64], keys: &[u32]) -> Result<Self> {
        let Numbering { numbers, lengths } = Numbering::of(keys)?;
        Ok(Keys {
            offsets: offsets.to_vec(),
            numbers,
            lengths,
        })
    }
}

impl Numbering {
    /// Numbers keys by the number of documents that have them, then by value.
    pub(in crate::candidates) fn of(keys: &[u32]) -> Result<Self> {
        if keys.len() > u32::MAX as usize {
            return Err(Error::input(
                "the keys of this collection",
                "fewer than 2^32 in all; a smaller sample or signature makes fewer",
                keys.len(),
            ));
        }
        let mut sorted: Vec<u64> = keys
            .par_iter()
            .enumerate()
            .map(|(at, &key)| u64::from(key) << 32 | at as u64)
            .collect();
        sorted.par_sort_unstable();
        // Samples never have a key twice, bands hardly ever, so a run is as long
        // as the key has documents.
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let mut begin = 0;
        for run in sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 {
                runs.push((run.len() as u32, begin));
            }
            begin += run.len() as u32;
        }
        runs.par_sort_unstable();
        let mut numbers = vec![SINGLE; sorted.len()];
        for (number, &(length, begin)) in runs.iter().enumerate() {
            for &entry in &sorted[begin as usize..][..length as usize] {
                numbers[entry as u32 as usize] = number as u32;
            }
        }
        Ok(Numbering {
            numbers,
            lengths: runs.into_iter().map(|(length, _)| length).collect(),
        })
    }
}

/// Sorts the part of each document.
fn sort_each(offsets: &[u64], mut numbers: &mut [u32]) {
    let mut parts = Vec::with_capacity(offsets.len());
    for bounds in offsets.windows(2) {
        let (part, rest) = numbers.split_at_mut((bounds[1] - bounds[0]) as usize);
        parts.push(part);
        numbers = rest;
    }
    parts
        .into_par_iter()
        .with_min_len(256)
        .for_each(<[u32]>::sort_unstable);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(documents: &[&[u32]]) -> Keys {
        Keys::of_lists(
            &documents
                .iter()
                .map(|keys| keys.to_vec())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn rare_keys_come_first_and_single_ones_last() {
        // 7 stands in three documents, 5 and 9 in two, the others in one.
        let keys = keys(&[&[7, 5, 1], &[2, 7], &[9, 5, 7], &[], &[9, 3]]);
        assert_eq!(keys.lengths(), [2, 2, 3]);
        assert_eq!(keys.all(0), [2, 0, SINGLE]);
        let keys = keys.by_rarity();
        assert_eq!(keys.all(0), [0, 2, SINGLE]);
        assert_eq!(keys.all(1), [2, SINGLE]);
        assert_eq!(keys.all(2), [0, 1, 2]);
        assert_eq!(keys.all(3), []);
        assert_eq!(keys.all(4), [1, SINGLE]);
    }

    #[test]
    fn a_prefix_is_what_a_similar_set_must_meet() {
        let keys = keys(&[&[1, 2, 3, 4], &[1, 2, 3, 4], &[8, 9, 1, 2]]).by_rarity();
        // Two of four must be shared, so one of any three is.
        assert_eq!(keys.prefix(0, 0.5).len(), 3);
        assert_eq!(keys.prefix(0, 0.51).len(), 2);
        assert_eq!(keys.prefix(0, 1.0).len(), 1);
        // Of the third, two keys are nobody else's and use the prefix up.
        assert_eq!(keys.prefix(2, 0.5).len(), 1);
        assert_eq!(keys.prefix(2, 0.75).len(), 0);
    }
}
