/*! Serialized samples of numbered documents, which a cluster moves to where pairs are compared.

A machine samples the shingles of its own documents, and of most pairs that another machine compares,
samples decide: they are moved in place of the texts. The bytes are a sequence of documents by
ascending number, all little-endian: 8 bytes for the number, and 4 each for the distinct shingles of the
text, of which the highest bit says that the text is short, the number of hashes, and each hash, ascending.
The sample of a short text is only counted.
*/

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::cache::Source;
use super::sample::{Sample, text_level};
use super::samples::Samples;
use crate::bytes::Bytes;
use crate::error::Result;
use crate::sketch::is_of;

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
    first: u32,
    numbers: impl Iterator<Item = u64>,
) -> Result<Vec<u8>> {
    let (mut bytes, mut buffer) = (Vec::new(), Vec::new());
    for (document, number) in (first..).zip(numbers) {
        let is_in_file = samples.size(document).is_some();
        let read = is_in_file.then(|| samples.value(document, &mut buffer));
        let read = read.transpose()?;
        if let Some(sample) = samples.get(document, read.as_deref()) {
            let short = if samples.is_short(document) {
                IS_SHORT
            } else {
                0
            };
            write(number, sample, short, &mut bytes);
        }
    }
    Ok(bytes)
}

/// Appends the sample of a document.
fn write(number: u64, sample: Sample<'_>, short: u32, bytes: &mut Vec<u8>) {
    bytes.extend(number.to_le_bytes());
    for part in [sample.shingles as u32 | short, sample.hashes.len() as u32] {
        bytes.extend(part.to_le_bytes());
    }
    bytes.extend(sample.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
}

/// The hashes of the samples of the documents among `wanted`, ascending, and the number of those documents.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn hashes_of(bytes: &[u8], wanted: &[u64]) -> Result<(u64, Vec<u32>)> {
    let (mut texts, mut hashes) = (0, Vec::new());
    for stored in those_of(bytes, wanted) {
        texts += 1;
        hashes.extend_from_slice(&stored?.hashes);
    }
    Ok((texts, hashes))
}

/// The samples of the documents among `wanted`, ascending, without those of short texts.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn select_samples(bytes: &[u8], wanted: &[u64]) -> Result<Vec<u8>> {
    let mut selected = Vec::new();
    for stored in those_of(bytes, wanted) {
        let stored = stored?;
        if !stored.is_short {
            write(stored.number, stored.sample(), 0, &mut selected);
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

/// The samples of some documents, as they lie in several serialized parts.
#[derive(Debug, Default)]
pub struct NumberedSamples<'a> {
    places: FxHashMap<u64, u32>,
    samples: Vec<Stored<'a>>,
}

impl<'a> NumberedSamples<'a> {
    /// Reads the parts.
    ///
    /// # Errors
    ///
    /// If a part is damaged.
    pub fn read(parts: &'a [impl AsRef<[u8]>]) -> Result<Self> {
        let mut all = NumberedSamples::default();
        for stored in parts.iter().flat_map(|part| read(part.as_ref())) {
            let stored = stored?;
            if !stored.is_short {
                all.places.insert(stored.number, all.samples.len() as u32);
                all.samples.push(stored);
            }
        }
        Ok(all)
    }

    /// The sample at a place.
    pub fn get(&self, place: u32) -> Option<Sample<'_>> {
        self.samples.get(place as usize).map(Stored::sample)
    }

    /// The place of the sample of a document; one without a sample if it has none.
    pub fn place_of(&self, number: u64) -> u32 {
        self.places.get(&number).copied().unwrap_or(u32::MAX)
    }
}

/// One document of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stored<'a> {
    number: u64,
    shingles: u32,
    is_short: bool,
    hashes: Cow<'a, [u32]>,
}

impl<'a> Stored<'a> {
    fn sample(&self) -> Sample<'_> {
        let shingles = self.shingles as usize;
        Sample {
            hashes: &self.hashes,
            level: text_level(shingles),
            shingles,
        }
    }

    fn read(rest: &mut Bytes<'a>) -> Result<Self> {
        let number = rest.u64()?;
        let (shingles, count) = (rest.u32()?, rest.u32()?);
        let (shingles, is_short) = (shingles & !IS_SHORT, shingles & IS_SHORT != 0);
        let level = text_level(shingles as usize);
        let hashes = rest.numbers(count as usize)?;
        let is_ascending = hashes.is_sorted_by(|a, b| a < b);
        let is_sampled = hashes.last().is_none_or(|&last| is_of(level, last));
        if !is_ascending || !is_sampled || count > shingles {
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
            let spread = |at: u32| (size + at).wrapping_mul(0x9E37_79B9);
            let mut hashes: Vec<u32> = (0..size).map(spread).collect();
            hashes.retain(|&hash| is_of(text_level(size as usize), hash));
            hashes.sort_unstable();
            samples.push(&hashes, size as usize, is_short);
        }
        samples
    }

    fn bytes_of(samples: &Samples, first: u32, numbers: &[u64]) -> Vec<u8> {
        samples_to_bytes(samples, first, numbers.iter().copied()).unwrap()
    }

    fn parts_of(bytes: &[u8]) -> Vec<Stored<'_>> {
        read(bytes).collect::<Result<_>>().unwrap()
    }

    fn stored(number: u64, sample: Sample<'_>) -> Stored<'_> {
        Stored {
            number,
            shingles: sample.shingles as u32,
            is_short: sample.shingles == 400,
            hashes: sample.hashes.into(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let samples = samples();
        let own = |document| samples.get(document, None).unwrap();
        let bytes = bytes_of(&samples, 0, &[5, 6, 1 << 40]);
        let expected = [
            stored(5, own(0)),
            stored(6, own(1)),
            stored(1 << 40, own(2)),
        ];
        assert_eq!(parts_of(&bytes), expected);
        let last = bytes_of(&samples, 2, &[7]);
        assert_eq!(parts_of(&last), [stored(7, own(2))]);
        // A number, two counts, and the hashes.
        assert_eq!(last.len(), 8 + 8 + 4 * own(2).hashes.len());
    }

    #[test]
    fn those_wanted_are_selected() {
        let samples = samples();
        let bytes = bytes_of(&samples, 0, &[1, 2, 3]);
        let selected = select_samples(&bytes, &[1, 2, 3, 9]).unwrap();
        let selected = parts_of(&selected);
        let numbers = selected.iter().map(|stored| stored.number);
        // The second text is short.
        assert!(numbers.eq([1, 3]));
        let selected = select_samples(&bytes, &[0, 3]).unwrap();
        let selected = parts_of(&selected);
        assert_eq!(selected, [stored(3, samples.get(2, None).unwrap())]);
        assert!(select_samples(&bytes, &[]).unwrap().is_empty());
    }

    #[test]
    fn hashes_of_those_wanted_are_all_of_theirs() {
        let samples = samples();
        let bytes = bytes_of(&samples, 0, &[1, 2, 3]);
        let (texts, hashes) = hashes_of(&bytes, &[0, 1, 2, 4]).unwrap();
        let own = [0, 1].map(|document| samples.get(document, None).unwrap().hashes);
        // Those of the short text too.
        assert_eq!((texts, hashes), (2, own.concat()));
    }

    #[test]
    fn samples_are_found_by_number() {
        let samples = samples();
        let parts = [bytes_of(&samples, 0, &[9, 5]), bytes_of(&samples, 2, &[4])];
        let read = NumberedSamples::read(&parts).unwrap();
        let found = |number| read.get(read.place_of(number));
        assert_eq!(found(9), samples.get(0, None));
        assert_eq!(found(4), samples.get(2, None));
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
        for (at, value) in [(8, 39), (9, 4), (12, 39), (19, 255)] {
            let error = changed(at, value);
            assert!(error.contains("stored samples"), "{at}: {error}");
        }
    }
}
