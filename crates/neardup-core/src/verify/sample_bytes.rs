/*! Serialized samples of numbered documents, which a cluster moves to where pairs are compared.

A machine samples the shingles of its own documents, and of most pairs that another machine compares,
samples decide: they are moved in place of the texts. The bytes are a sequence of documents by
ascending number, in the [layout](crate::bytes) of all bytes: its number, the distinct shingles of the text, of
which the highest bit says that the text is short, and the hashes, ascending.
The sample of a short text is only counted.
*/

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use zerocopy::little_endian::{U32, U64};

use super::counted_sample::{CountedSample, Several};
use super::sample::text_level;
use super::samples::Samples;
use crate::bytes::{Bytes, put, put_part};
use crate::error::Result;
use crate::ids::{DocId, Hash};
use crate::shingle_frequencies::ShingleFrequencies;

const WHAT: &str = "stored samples";

/// Set in the number of the shingles of a short text.
const IS_SHORT: u32 = 1 << 31;

/// Serializes the samples of the documents from `first` on, one for each of `numbers`, which ascend.
/// Documents without a sample are left out.
///
/// # Errors
///
/// If a sample cannot be read from its file.
pub fn samples_to_bytes(
    samples: &Samples,
    documents: impl Iterator<Item = (DocId, u64)>,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (document, number) in documents {
        if let Some((hashes, shingles)) = samples.hashes_of(document)? {
            let stored = Stored {
                number,
                shingles: shingles as u32,
                is_short: samples.is_short(document),
                hashes: hashes.into(),
            };
            stored.write(&mut bytes);
        }
    }
    Ok(bytes)
}

/// The hashes of the samples of the documents among `wanted`, ascending, and the number of those documents.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn hashes_of(bytes: &[u8], wanted: &[u64]) -> Result<(u64, Vec<Hash>)> {
    let (mut texts, mut hashes) = (0, Vec::new());
    for stored in those_of(bytes, wanted) {
        texts += 1;
        hashes.extend_from_slice(&stored?.hashes);
    }
    Ok((texts, hashes))
}

/// The samples of the documents among `wanted`, ascending; short texts have none.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn select_samples(bytes: &[u8], wanted: &[u64]) -> Result<Vec<u8>> {
    let mut selected = Vec::new();
    for stored in those_of(bytes, wanted) {
        let stored = stored?;
        if !stored.is_short {
            stored.write(&mut selected);
        }
    }
    Ok(selected)
}

fn those_of<'a>(bytes: &'a [u8], wanted: &[u64]) -> impl Iterator<Item = Result<Stored<'a>>> {
    let mut wanted = wanted.iter().copied().peekable();
    read(bytes).filter(move |stored| {
        let Ok(stored) = stored else {
            return true;
        };
        while wanted.next_if(|&one| one < stored.number).is_some() {}
        wanted.next_if_eq(&stored.number).is_some()
    })
}

/// The samples of some documents, of several serialized parts.
#[derive(Debug, Default)]
pub struct NumberedSamples {
    places: FxHashMap<u64, DocId>,
    samples: Samples,
}

impl NumberedSamples {
    /// Reads the parts, and looks their shingles up in the table of the collection.
    ///
    /// # Errors
    ///
    /// If a part is damaged.
    pub fn read(
        parts: &[impl AsRef<[u8]>],
        table: Option<&Arc<ShingleFrequencies>>,
    ) -> Result<Self> {
        let mut all = NumberedSamples::default();
        for stored in parts.iter().flat_map(|part| read(part.as_ref())) {
            let stored = stored?;
            if !stored.is_short {
                all.places
                    .insert(stored.number, DocId(all.samples.len() as u32));
                let shingles = stored.shingles as usize;
                all.samples.push(&stored.hashes, shingles, false)?;
            }
        }
        let none = Arc::default();
        all.samples
            .look_up(table.unwrap_or(&none), &Several::default())?;
        Ok(all)
    }

    /// The sample at a place.
    pub fn get(&self, place: DocId) -> Option<CountedSample<'_>> {
        self.samples.get(place, None)
    }

    /// The place of the sample of a document; one without a sample if it has none.
    pub fn place_of(&self, number: u64) -> DocId {
        let place = self.places.get(&number).copied();
        place.unwrap_or(DocId(u32::MAX))
    }
}

/// One document of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stored<'a> {
    number: u64,
    shingles: u32,
    is_short: bool,
    hashes: Cow<'a, [Hash]>,
}

impl<'a> Stored<'a> {
    fn write(&self, bytes: &mut Vec<u8>) {
        let short = if self.is_short { IS_SHORT } else { 0 };
        put(&U64::new(self.number), bytes);
        put(&U32::new(self.shingles | short), bytes);
        let hashes: Vec<U32> = self.hashes.iter().map(|hash| hash.0.into()).collect();
        put_part(&hashes, bytes);
    }

    fn read(rest: &mut Bytes<'a>) -> Result<Self> {
        let number = rest.record::<U64>()?.get();
        let shingles = rest.record::<U32>()?.get();
        let (shingles, is_short) = (shingles & !IS_SHORT, shingles & IS_SHORT != 0);
        let level = text_level(shingles as usize);
        let hashes = rest.hashes()?;
        let count = hashes.len();
        let is_ascending = hashes.is_sorted_by(|a, b| a < b);
        let is_sampled = hashes.last().is_none_or(|last| last.is_of(level));
        if !is_ascending || !is_sampled || count > shingles as usize {
            return Err(rest.damaged(format!("{count} hashes of level {level}")));
        }
        Ok(Stored {
            number,
            shingles,
            is_short,
            hashes,
        })
    }
}

fn read(bytes: &[u8]) -> impl Iterator<Item = Result<Stored<'_>>> {
    let mut rest = Bytes::new(WHAT, bytes);
    let mut is_damaged = false;
    std::iter::from_fn(move || {
        if rest.is_empty() || is_damaged {
            return None;
        }
        let stored = Stored::read(&mut rest);
        is_damaged = stored.is_err();
        Some(stored)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of sets of 40, 400 and 4000 shingles, the second of a short text.
    fn samples() -> Samples {
        let mut samples = Samples::default();
        for (size, is_short) in [(40_u32, false), (400, true), (4000, false)] {
            let spread = |at: u32| Hash((size + at).wrapping_mul(0x9E37_79B9));
            let mut hashes: Vec<Hash> = (0..size).map(spread).collect();
            hashes.retain(|hash| hash.is_of(text_level(size as usize)));
            hashes.sort_unstable();
            samples.push(&hashes, size as usize, is_short).unwrap();
        }
        samples
    }

    fn bytes_of(samples: &Samples, first: u32, numbers: &[u64]) -> Vec<u8> {
        let numbered = (first..).map(DocId).zip(numbers.iter().copied());
        samples_to_bytes(samples, numbered).unwrap()
    }

    fn parts_of(bytes: &[u8]) -> Vec<Stored<'_>> {
        read(bytes).collect::<Result<_>>().unwrap()
    }

    fn stored(samples: &Samples, document: u32, number: u64) -> Stored<'_> {
        let (hashes, shingles) = samples.hashes_of(DocId(document)).unwrap().unwrap();
        Stored {
            number,
            shingles: shingles as u32,
            is_short: shingles == 400,
            hashes: hashes.into(),
        }
    }

    #[test]
    fn bytes_return_unchanged() {
        let samples = samples();
        let of_document = |document, number| stored(&samples, document, number);
        let bytes = bytes_of(&samples, 0, &[5, 6, 1 << 40]);
        let expected = [
            of_document(0, 5),
            of_document(1, 6),
            of_document(2, 1 << 40),
        ];
        assert_eq!(parts_of(&bytes), expected);
        let last = bytes_of(&samples, 2, &[7]);
        assert_eq!(parts_of(&last), [of_document(2, 7)]);
        // A number, two counts, and the hashes.
        assert_eq!(last.len(), 8 + 12 + 4 * of_document(2, 7).hashes.len());
    }

    #[test]
    fn wanted_samples_are_selected() {
        let samples = samples();
        let bytes = bytes_of(&samples, 0, &[1, 2, 3]);
        let selected = select_samples(&bytes, &[1, 2, 3, 9]).unwrap();
        let selected = parts_of(&selected);
        let numbers = selected.iter().map(|stored| stored.number);
        // The second text is short.
        assert!(numbers.eq([1, 3]));
        let selected = select_samples(&bytes, &[0, 3]).unwrap();
        let selected = parts_of(&selected);
        assert_eq!(selected, [stored(&samples, 2, 3)]);
        assert!(select_samples(&bytes, &[]).unwrap().is_empty());
    }

    #[test]
    fn hashes_of_those_wanted_are_all_of_theirs() {
        let samples = samples();
        let bytes = bytes_of(&samples, 0, &[1, 2, 3]);
        let (texts, hashes) = hashes_of(&bytes, &[0, 1, 2, 4]).unwrap();
        let samples_of_both = [0, 1].map(|document| stored(&samples, document, 0).hashes);
        // The short text has some too.
        assert_eq!((texts, hashes), (2, samples_of_both.concat()));
    }

    #[test]
    fn samples_are_found_by_number() {
        let samples = samples();
        let parts = [bytes_of(&samples, 0, &[9, 5]), bytes_of(&samples, 2, &[4])];
        let read = NumberedSamples::read(&parts, None).unwrap();
        let found = |number| read.get(read.place_of(number));
        let mut samples = samples;
        samples
            .look_up(&ShingleFrequencies::default(), &Several::default())
            .unwrap();
        assert_eq!(found(9), samples.get(DocId(0), None));
        assert_eq!(found(4), samples.get(DocId(2), None));
        // The text is short.
        assert_eq!(found(5), None);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = bytes_of(&samples(), 0, &[1, 2, 3]);
        for end in [1, 8, 12, 16, 22, bytes.len() - 1] {
            assert!(select_samples(&bytes[..end], &[]).is_err(), "{end}");
        }
        let changed = |at: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            select_samples(&bytes, &[1]).unwrap_err().to_string()
        };
        // The number of shingles, the number of hashes, the first hash.
        for (at, value) in [(8, 39), (9, 4), (12, 39), (23, 255)] {
            let error = changed(at, value);
            assert!(error.contains("stored samples"), "{at}: {error}");
        }
    }
}
