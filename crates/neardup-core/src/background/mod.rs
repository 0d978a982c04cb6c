/*! Background: what a collection has in common, for judging documents that come later.

Batch work counts over its whole input which keys are frequent and which shingles are
common, and then decides. A store that takes documents one by one cannot know what
will come. It counts what it has at some moments and decides by that: so what is
counted has to be kept, and be small. Only what is *not* rare is kept of it, a few
per cent of all shingles; the decisions are the same as with all of it.

The bytes are of one format for all machines: numbers with the lowest byte first.
*/

mod shingles;

use std::sync::Arc;

use crate::candidates::{HeavyHitters, Sketches};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::verify::Commonness;

use self::shingles::write_shingles;
pub use self::shingles::{
    level_of_probes, probe_shingles, shingles_from_bytes, shingles_to_bytes, subtract_shingles,
    thin_shingles,
};

/// Changes whenever the bytes do.
const FORMAT: u32 = 1;

/// What a collection has in common.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// Documents that were counted.
    documents: u64,
    heavy_hitters: Arc<HeavyHitters>,
    /// In how many texts shingles stand; `None` where nobody asked.
    commonness: Option<Arc<Commonness>>,
}

impl Background {
    /// What the documents of a finished corpus have in common.
    ///
    /// # Errors
    ///
    /// If there are 2^32 keys or more.
    pub fn of(corpus: &Corpus) -> Result<Self> {
        let heavy_hitters = match corpus.sketches() {
            Sketches::Samples(samples) => Arc::new(HeavyHitters::of(samples)?),
            _ => Arc::default(),
        };
        let commonness = corpus.commonness().map(|all| {
            let common = all.common();
            Arc::new(Commonness::from_counts(all.level(), all.texts(), common))
        });
        Ok(Background {
            documents: corpus.len() as u64,
            heavy_hitters,
            commonness,
        })
    }

    /// What so many documents have in common, by what was counted of their shingles
    /// alone: for comparing texts, and not for finding candidates.
    pub fn of_shingles(documents: u64, counted: &Commonness) -> Self {
        let common = Commonness::from_counts(counted.level(), counted.texts(), counted.common());
        Background {
            documents,
            heavy_hitters: Arc::default(),
            commonness: Some(Arc::new(common)),
        }
    }

    /// The number of documents that were counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Keys that many documents have.
    pub fn heavy_hitters(&self) -> &Arc<HeavyHitters> {
        &self.heavy_hitters
    }

    /// Shingles that many texts carry.
    pub fn commonness(&self) -> Option<&Arc<Commonness>> {
        self.commonness.as_ref()
    }

    /// All of it as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = FORMAT.to_le_bytes().to_vec();
        bytes.extend(self.documents.to_le_bytes());
        let keys = self.heavy_hitters.sorted();
        bytes.extend((keys.len() as u64).to_le_bytes());
        for (key, count) in keys {
            bytes.extend(key.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        if let Some(commonness) = &self.commonness {
            write_shingles(commonness, &commonness.common(), &mut bytes);
        }
        bytes
    }

    /// What [`to_bytes`](Self::to_bytes) made bytes of.
    ///
    /// # Errors
    ///
    /// If the bytes are of another format or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut rest = Bytes(bytes);
        rest.format()?;
        let documents = rest.u64()?;
        let keys: Vec<(u32, u32)> = (0..rest.count(8)?)
            .map(|_| Ok((rest.u32()?, rest.u32()?)))
            .collect::<Result<_>>()?;
        let mut background = Background {
            documents,
            heavy_hitters: Arc::new(HeavyHitters::from_counts(keys)),
            commonness: None,
        };
        if !rest.0.is_empty() {
            background.commonness = Some(Arc::new(rest.table()?.into_commonness()));
        }
        rest.end()?;
        Ok(background)
    }
}

/// Bytes that are still to be read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or_else(|| damaged("its end too early"))?;
        self.0 = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn format(&mut self) -> Result<()> {
        match self.u32()? {
            FORMAT => Ok(()),
            other => {
                let expected = format!("of format {FORMAT}");
                Err(Error::input("a stored background", expected, other))
            }
        }
    }

    fn end(&self) -> Result<()> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(damaged(format!("{left} bytes too many"))),
        }
    }

    /// A number of items of `size` bytes each, which must be there.
    fn count(&mut self, size: u64) -> Result<u64> {
        let count = self.u64()?;
        match count.checked_mul(size) {
            Some(bytes) if bytes <= self.0.len() as u64 => Ok(count),
            _ => Err(damaged("its end too early")),
        }
    }
}

fn damaged(found: impl std::fmt::Display) -> Error {
    Error::input("a stored background", "whole", found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn background() -> Background {
        let shingles = [(7 << 40, 50), (9, 12), (u64::MAX, 3)];
        Background {
            documents: 6000,
            heavy_hitters: Arc::new(HeavyHitters::from_counts([(5, 100), (3, 40), (9, 32)])),
            commonness: Some(Arc::new(Commonness::from_counts(1, 5000, shingles))),
        }
    }

    #[test]
    fn what_is_not_rare_comes_back_from_bytes() {
        let bytes = background().to_bytes();
        let back = Background::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!(back.documents(), 6000);
        // A count of 32 is rare, and so is a shingle of 3 texts.
        assert_eq!(back.heavy_hitters().sorted(), [(3, 40), (5, 100)]);
        let commonness = back.commonness().unwrap();
        assert_eq!((commonness.level(), commonness.texts()), (1, 5000));
        assert_eq!(commonness.common(), [(9, 12), (7 << 40, 50)]);
        let none = Background::default().to_bytes();
        let none = Background::from_bytes(&none).unwrap();
        assert!(none.commonness().is_none());
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = background().to_bytes();
        for end in 0..bytes.len() {
            // Where the keys end, the bytes of a background without shingles do.
            let is_whole = end == 4 + 8 + 8 + 2 * 8;
            assert_eq!(
                Background::from_bytes(&bytes[..end]).is_ok(),
                is_whole,
                "{end}"
            );
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(Background::from_bytes(&longer).is_err());
        let other = [&[2, 0, 0, 0], &bytes[4..]].concat();
        let error = Background::from_bytes(&other).unwrap_err();
        assert!(error.to_string().contains("format"), "{error}");
    }
}
