/*! Background: statistics of a collection, for deciding on documents that are added later.

Batch work first counts over its whole input which keys are frequent and which shingles are common,
and then decides. A store that takes documents one by one does not know its future documents. From
time to time it counts the documents that it has, and it decides by these counts, so the counts must
be stored and be small. Only what is *not* rare is stored, a few per cent of all shingles; the
decisions are the same as with all counts.
*/

use std::sync::Arc;

use zerocopy::little_endian::{U32, U64};

use crate::bytes::{Bytes, Counted, put, put_part};
use crate::candidates::{heaviest, heavy_hitters};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::identity::DistinctTexts;
use crate::ids::Hash;
use crate::sketch::Sketches;
use crate::verify::ShingleFrequencies;

/// Changes whenever the bytes or the choice of shingles change.
const FORMAT: u32 = 3;

/// Document counts of the frequent keys and common shingles of a collection.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// The number of documents that were counted.
    documents: u64,
    heavy_hitters: Arc<ShingleFrequencies>,
    /// The number of texts with each shingle; `None` if shingles were not counted.
    frequencies: Option<Arc<ShingleFrequencies>>,
}

impl Background {
    /// The background of the documents of a finished corpus.
    ///
    /// # Errors
    ///
    /// If samples of features are outside of memory, or there are 2^32 keys or more.
    pub fn of(corpus: &Corpus) -> Result<Self> {
        let heavy_hitters = match corpus.sketches() {
            Sketches::Samples(samples) => {
                corpus.sketches().check_len(corpus.len())?;
                let are_equal = |a, b| corpus.sketches().are_equal(a, b);
                let distinct = DistinctTexts::of(corpus.identities(), are_equal);
                Arc::new(heavy_hitters(&samples.select(&distinct.firsts))?)
            }
            _ => Arc::default(),
        };
        Ok(Background {
            documents: corpus.len() as u64,
            heavy_hitters,
            frequencies: corpus.shingle_frequencies().cloned(),
        })
    }

    /// The background of `documents` documents from their shingle counts alone: for comparing
    /// texts, not for finding candidates.
    pub fn of_shingles(documents: u64, counted: ShingleFrequencies) -> Self {
        Background {
            documents,
            heavy_hitters: Arc::default(),
            frequencies: Some(Arc::new(counted)),
        }
    }

    /// The number of documents that were counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Keys that many documents have.
    pub fn heavy_hitters(&self) -> &Arc<ShingleFrequencies> {
        &self.heavy_hitters
    }

    /// Common shingles.
    pub fn shingle_frequencies(&self) -> Option<&Arc<ShingleFrequencies>> {
        self.frequencies.as_ref()
    }

    /// The background as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&U32::new(FORMAT), &mut bytes);
        put(&U64::new(self.documents), &mut bytes);
        put_part(&counted(&self.heavy_hitters), &mut bytes);
        if let Some(frequencies) = &self.frequencies {
            put(&U32::new(frequencies.level()), &mut bytes);
            put(&U64::new(frequencies.texts()), &mut bytes);
            put_part(&counted(frequencies), &mut bytes);
        }
        bytes
    }

    /// The background from the bytes that [`to_bytes`](Self::to_bytes) returned.
    ///
    /// # Errors
    ///
    /// If the bytes are of another format or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut rest = Bytes::new("a stored background", bytes);
        rest.format(FORMAT)?;
        let mut background = Background {
            documents: rest.record::<U64>()?.get(),
            heavy_hitters: Arc::new(heaviest(counts(&mut rest)?)),
            frequencies: None,
        };
        if !rest.is_empty() {
            let (level, texts) = (rest.record::<U32>()?.get(), rest.record::<U64>()?.get());
            // A hash has 32 bits, so no table has a higher level.
            if level > u32::BITS {
                return Err(rest.damaged(format!("level {level}")));
            }
            let counted = ShingleFrequencies::from_counts(level, texts, counts(&mut rest)?);
            background.frequencies = Some(Arc::new(counted));
        }
        rest.end()?;
        Ok(background)
    }
}

fn counted(frequencies: &ShingleFrequencies) -> Vec<Counted> {
    let counts = frequencies.counts().iter();
    counts
        .map(|&(hash, texts)| Counted::from((hash.0, texts)))
        .collect()
}

fn counts<'a>(rest: &mut Bytes<'a>) -> Result<impl Iterator<Item = (Hash, u32)> + use<'a>> {
    let counts = rest.part::<Counted>()?.iter();
    Ok(counts.map(|one| (Hash(one.key.get()), one.texts.get())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn background() -> Background {
        let keys = [(Hash(5), 100), (Hash(3), 40), (Hash(9), 32)];
        let shingles = [(Hash(7 << 20), 50), (Hash(9), 12), (Hash(u32::MAX), 3)];
        Background {
            documents: 6000,
            heavy_hitters: Arc::new(heaviest(keys.into_iter())),
            frequencies: Some(Arc::new(ShingleFrequencies::from_counts(1, 5000, shingles))),
        }
    }

    #[test]
    fn common_shingles_return_from_bytes() {
        let bytes = background().to_bytes();
        let back = Background::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!(back.documents(), 6000);
        // A count of 32 is rare, and the last shingle is of no level.
        let keys = back.heavy_hitters().counts();
        assert_eq!(keys, [(Hash(3), 40), (Hash(5), 100)]);
        let frequencies = back.shingle_frequencies().unwrap();
        assert_eq!((frequencies.level(), frequencies.texts()), (1, 5000));
        assert_eq!(frequencies.counts(), [(Hash(9), 12), (Hash(7 << 20), 50)]);
        let none = Background::default().to_bytes();
        let none = Background::from_bytes(&none).unwrap();
        assert!(none.shingle_frequencies().is_none());
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = background().to_bytes();
        for end in 0..bytes.len() {
            // A background without shingles ends where the keys end.
            let is_whole = end == 4 + 8 + 8 + 2 * 8;
            assert_eq!(
                Background::from_bytes(&bytes[..end]).is_ok(),
                is_whole,
                "{end}"
            );
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(Background::from_bytes(&longer).is_err());
    }

    #[test]
    fn another_format_is_refused() {
        let bytes = background().to_bytes();
        for format in [FORMAT - 1, FORMAT + 1] {
            let other = [&format.to_le_bytes(), &bytes[4..]].concat();
            let error = Background::from_bytes(&other).unwrap_err().to_string();
            assert!(error.contains("of format 3"), "{error}");
        }
    }
}
