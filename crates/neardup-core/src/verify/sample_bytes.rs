/*! Serialized samples of numbered documents, which a cluster moves to where pairs are compared.

A machine samples the shingles of its own documents, and of most pairs that another machine compares,
samples decide: they are moved in place of the texts. The bytes are a sequence of documents by
ascending number: 8 bytes for the number, and the sample, all little-endian. Each has a level, the
number of shingles of its text, and sorted hashes.
*/

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::sample::Sample;
use super::samples::Samples;
use super::shingle_frequencies::ShingleFrequencies;
use crate::bytes::Bytes;
use crate::error::Result;

const WHAT: &str = "stored samples";

/// Serializes the samples of the documents from `first` on, one for each of `numbers`, which ascend.
/// Documents without a sample are left out.
pub fn samples_to_bytes(
    samples: &Samples,
    first: u32,
    numbers: impl Iterator<Item = u64>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (document, number) in (first..).zip(numbers) {
        if let Some(sample) = samples.get(document) {
            bytes.extend(number.to_le_bytes());
            sample.write(0, &mut bytes);
        }
    }
    bytes
}

/// The samples of the documents among `wanted`, ascending, with the shingles of a level only.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn select_samples(bytes: &[u8], wanted: &[u64], level: u32) -> Result<Vec<u8>> {
    let mut selected = Vec::new();
    let mut wanted = wanted.iter().copied().peekable();
    for stored in read(bytes) {
        let (number, sample) = stored?;
        while wanted.next_if(|&one| one < number).is_some() {}
        if wanted.next_if_eq(&number).is_some() {
            selected.extend(number.to_le_bytes());
            sample.write(level, &mut selected);
        }
    }
    Ok(selected)
}

/// The samples of some documents from several serialized parts.
#[derive(Debug, Default)]
pub struct NumberedSamples {
    places: FxHashMap<u64, u32>,
    samples: Samples,
}

impl NumberedSamples {
    /// Reads the parts, for a collection with these counts. A sample that lacks shingles at the level
    /// of the counts decides nothing, and is left out.
    ///
    /// # Errors
    ///
    /// If a part is damaged.
    pub fn read(parts: &[impl AsRef<[u8]>], table: &ShingleFrequencies) -> Result<Self> {
        let mut all = NumberedSamples::default();
        // Few documents are larger than this, so the map hardly grows.
        let bytes: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        all.places = FxHashMap::with_capacity_and_hasher(bytes / 256, FxBuildHasher);
        for stored in parts.iter().flat_map(|part| read(part.as_ref())) {
            let (number, mut sample) = stored?;
            if sample.is_complete(table.level()) {
                sample.raise_level(table.level());
                all.places.insert(number, all.samples.len() as u32);
                all.samples.push(Some((sample, false)));
            }
        }
        Ok(all)
    }

    /// The samples, by place.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The place of the sample of a document; one without a sample if it has none.
    pub fn place_of(&self, number: u64) -> u32 {
        self.places.get(&number).copied().unwrap_or(u32::MAX)
    }
}

fn read(bytes: &[u8]) -> impl Iterator<Item = Result<(u64, Sample)>> {
    let mut rest = Bytes::new(WHAT, bytes);
    let mut is_damaged = false;
    std::iter::from_fn(move || {
        if rest.is_empty() || is_damaged {
            return None;
        }
        let stored = rest
            .u64()
            .and_then(|number| Ok((number, Sample::read(&mut rest)?)));
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
        for (size, is_short) in [(40_u64, false), (400, true), (4000, false)] {
            let spread = |at: u64| (size + at).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let hashes: Vec<u64> = (0..size).map(spread).collect();
            samples.push(Some((Sample::of_distinct(&hashes, 0), is_short)));
        }
        samples.fit(0, 0, usize::MAX);
        samples
    }

    fn parts_of(bytes: &[u8]) -> Vec<(u64, Sample)> {
        read(bytes).collect::<Result<_>>().unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let samples = samples();
        let bytes = samples_to_bytes(&samples, 0, [5, 6, 1 << 40].into_iter());
        let own = |document| samples.get(document).unwrap().clone();
        assert_eq!(parts_of(&bytes), [(5, own(0)), (1 << 40, own(2))]);
        let last = samples_to_bytes(&samples, 2, [7].into_iter());
        assert_eq!(parts_of(&last), [(7, own(2))]);
        // A number, a level, two counts, and the hashes.
        assert_eq!(last.len(), 8 + 16 + 8 * own(2).hashes().len());
    }

    #[test]
    fn those_wanted_are_selected_and_thinned() {
        let samples = samples();
        let bytes = samples_to_bytes(&samples, 0, [1, 2, 3].into_iter());
        assert_eq!(select_samples(&bytes, &[1, 2, 3, 9], 0).unwrap(), bytes);
        let selected = parts_of(&select_samples(&bytes, &[0, 3], 6).unwrap());
        let mut thin = samples.get(2).unwrap().clone();
        thin.raise_level(6);
        assert_eq!(selected, [(3, thin)]);
        assert!(select_samples(&bytes, &[], 0).unwrap().is_empty());
    }

    #[test]
    fn samples_are_found_by_number_unless_they_lack_shingles() {
        let samples = samples();
        let parts = [
            samples_to_bytes(&samples, 0, [9].into_iter()),
            samples_to_bytes(&samples, 2, [4].into_iter()),
        ];
        let table = ShingleFrequencies::default();
        let read = NumberedSamples::read(&parts, &table).unwrap();
        assert_eq!(read.samples().get(read.place_of(9)), samples.get(0));
        assert_eq!(read.samples().get(read.place_of(4)), samples.get(2));
        assert_eq!(read.samples().get(read.place_of(5)), None);
        // Sampled at level 6 by a part of the collection whose own table was full.
        let thin = [select_samples(&parts[1], &[4], 6).unwrap()];
        let read = NumberedSamples::read(&thin, &table).unwrap();
        assert_eq!(read.samples().get(read.place_of(4)), None);
        let table = ShingleFrequencies::from_counts(6, 1, []);
        let read = NumberedSamples::read(&thin, &table).unwrap();
        assert!(read.samples().get(read.place_of(4)).is_some());
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = samples_to_bytes(&samples(), 0, [1, 2, 3].into_iter());
        for end in [1, 8, 12, 20, 24, 30, bytes.len() - 1] {
            assert!(select_samples(&bytes[..end], &[], 0).is_err(), "{end}");
        }
        let changed = |at: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            select_samples(&bytes, &[1], 0).unwrap_err().to_string()
        };
        // The level, the number of shingles, the number of hashes, the first hash.
        for (at, value) in [(8, 65), (8, 5), (12, 39), (20, 39), (31, 255)] {
            let error = changed(at, value);
            assert!(error.contains("stored samples"), "{at}: {error}");
        }
    }
}
