/*! The sketches of many documents, in memory, one kind for all of them. */

use std::borrow::Cow;

use neardup_hamming::Fingerprints;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::buckets::shared_count;
use crate::error::{Error, Result};
use crate::ids::{DocId, Hash};
use crate::ragged::Ragged;
use crate::sketch::{self, Sketch, equal_values};

/// The sketches of the documents of a run, by document number.
#[derive(Clone, Debug)]
pub enum Sketches {
    /// SimHash fingerprints; zero where a document has no features.
    Fingerprints(Fingerprints),
    /// MinHash signatures.
    Signatures(Signatures),
    /// Samples of the features.
    Samples(FeatureSamples),
}

/// MinHash signatures, one after the other.
#[derive(Clone, Debug)]
pub struct Signatures {
    num_perm: usize,
    values: Vec<u32>,
}

/// Samples of features, one after the other.
#[derive(Clone, Debug, Default)]
pub struct FeatureSamples {
    keys: Ragged<Vec<Hash>>,
    levels: Vec<u8>,
}

impl Sketches {
    /// No sketches yet, of the kind that `settings` produce.
    ///
    /// # Errors
    ///
    /// If `settings` are invalid.
    pub fn new(settings: &sketch::Settings) -> Result<Self> {
        settings.check()?;
        Ok(match settings {
            sketch::Settings::SimHash(simhash) => {
                Sketches::Fingerprints(Fingerprints::new(simhash.bits)?)
            }
            sketch::Settings::MinHash { num_perm } => Sketches::Signatures(Signatures {
                num_perm: *num_perm as usize,
                values: Vec::new(),
            }),
            sketch::Settings::Sample { .. } => Sketches::Samples(FeatureSamples::default()),
        })
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        match self {
            Sketches::Fingerprints(fingerprints) => fingerprints.len(),
            Sketches::Signatures(signatures) => signatures.len(),
            Sketches::Samples(samples) => samples.len(),
        }
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of all sketches in memory, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Sketches::Fingerprints(fingerprints) => 8 * fingerprints.len() * fingerprints.words(),
            Sketches::Signatures(signatures) => 4 * signatures.values.len(),
            Sketches::Samples(samples) => {
                4 * samples.keys.values().len() + 9 * samples.levels.len()
            }
        }
    }

    /// Adds the sketch of the next document.
    ///
    /// # Errors
    ///
    /// If there are 2^32 - 1 fingerprints.
    pub fn push(&mut self, sketch: &Sketch) -> Result<()> {
        match self {
            Sketches::Fingerprints(fingerprints) => {
                fingerprints.push(&sketch.words[..fingerprints.words()])?;
            }
            Sketches::Signatures(signatures) => {
                let end = signatures.values.len() + signatures.num_perm;
                signatures.values.extend_from_slice(&sketch.values);
                // A document that could not be read has no signature.
                signatures.values.resize(end, u32::MAX);
            }
            Sketches::Samples(samples) => samples.push(Hash::all(&sketch.values), sketch.level),
        }
        Ok(())
    }

    /// Adds the sketches of the next documents.
    ///
    /// # Errors
    ///
    /// If they are of another kind or size, or there are 2^32 - 1 fingerprints.
    pub fn append(&mut self, others: &Sketches) -> Result<()> {
        match (self, others) {
            (Sketches::Fingerprints(here), Sketches::Fingerprints(others)) => {
                here.append(others)?
            }
            (Sketches::Signatures(here), Sketches::Signatures(others))
                if here.num_perm == others.num_perm =>
            {
                here.values.extend_from_slice(&others.values);
            }
            (Sketches::Samples(here), Sketches::Samples(others)) => {
                here.keys.append(&others.keys);
                here.levels.extend_from_slice(&others.levels);
            }
            _ => return Err(Error::input("sketches", "of the same kind", "others")),
        }
        Ok(())
    }

    /// A document's sketch as little-endian bytes: the words of a fingerprint, the
    /// values of a signature, or of a sample the rate, 2^level, and the keys.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn to_bytes(&self, document: DocId) -> Vec<u8> {
        match self {
            Sketches::Fingerprints(fingerprints) => {
                let words = fingerprints.get(document.index()).unwrap_or_default();
                let bytes = words.iter().flat_map(|word| word.to_le_bytes());
                bytes.take(fingerprint_bytes(fingerprints)).collect()
            }
            Sketches::Signatures(signatures) => values_to_bytes(signatures.of(document)),
            Sketches::Samples(samples) => {
                let rate = 1_u32 << samples.levels[document.index()];
                let mut bytes = rate.to_le_bytes().to_vec();
                bytes.extend(values_to_bytes(Hash::numbers(samples.of(document))));
                bytes
            }
        }
    }

    /// Adds a sketch from the bytes that [`to_bytes`](Self::to_bytes) made of a sketch
    /// of this kind.
    ///
    /// # Errors
    ///
    /// If the sketch is of another kind or size, or there are 2^32 - 1 fingerprints.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let wrong = |expected: String| Err(Error::input("a stored sketch", expected, bytes.len()));
        match self {
            Sketches::Fingerprints(fingerprints) => {
                let size = fingerprint_bytes(fingerprints);
                if bytes.len() != size {
                    return wrong(format!("{size} bytes"));
                }
                let words: Vec<u64> = bytes.chunks(8).map(word).collect();
                fingerprints.push(&words)?;
            }
            Sketches::Signatures(signatures) => match <[U32]>::ref_from_bytes(bytes) {
                Ok(all) if all.len() == signatures.num_perm => {
                    signatures
                        .values
                        .extend(all.iter().map(|value| value.get()));
                }
                _ => return wrong(format!("{} bytes", 4 * signatures.num_perm)),
            },
            Sketches::Samples(samples) => match <[U32]>::ref_from_bytes(bytes) {
                Ok([rate, keys @ ..]) if rate.get().is_power_of_two() => {
                    let keys = keys.iter().map(|key| Hash(key.get()));
                    samples.keys.push_with(|all| all.extend(keys));
                    samples.levels.push(rate.get().ilog2() as u8);
                }
                _ => return wrong("four bytes of a power of two and four for each key".to_owned()),
            },
        }
        Ok(())
    }

    /// Fails unless these are the sketches of the first `count` documents, or of more.
    ///
    /// # Errors
    ///
    /// If there are fewer, as of a corpus whose sketches are outside of memory.
    pub fn check_len(&self, count: usize) -> Result<()> {
        match count <= self.len() {
            true => Ok(()),
            false => Err(Error::input(
                "the sketches of a corpus",
                format!("of at least {count} documents in memory"),
                self.len(),
            )),
        }
    }

    /// The fingerprints; `None` for other kinds.
    pub fn fingerprints(&self) -> Option<&Fingerprints> {
        match self {
            Sketches::Fingerprints(fingerprints) => Some(fingerprints),
            _ => None,
        }
    }

    /// The number of bits in which two fingerprints differ; `None` for other kinds.
    pub fn distance(&self, a: DocId, b: DocId) -> Option<u32> {
        self.fingerprints()?.distance(a.index(), b.index())
    }

    /// Whether two documents have the same sketch.
    pub fn are_equal(&self, a: DocId, b: DocId) -> bool {
        match self {
            Sketches::Fingerprints(fingerprints) => {
                fingerprints.get(a.index()) == fingerprints.get(b.index())
            }
            Sketches::Signatures(signatures) => signatures.of(a) == signatures.of(b),
            Sketches::Samples(samples) => samples.of(a) == samples.of(b),
        }
    }

    /// The similarity of two documents by their sketches alone, in \[0, 1\]: the share
    /// of equal bits, the share of equal values, or the resemblance of two samples at
    /// the larger of their levels.
    pub fn similarity(&self, a: DocId, b: DocId) -> f64 {
        match self {
            Sketches::Fingerprints(fingerprints) => {
                let bits = fingerprints.bits();
                let distance = fingerprints.distance(a.index(), b.index());
                equal_bits(bits, distance.unwrap_or(bits))
            }
            Sketches::Signatures(signatures) => {
                let equal = equal_values(signatures.of(a), signatures.of(b));
                equal as f64 / signatures.num_perm as f64
            }
            Sketches::Samples(samples) => samples.resemblance(a, b),
        }
    }
}

impl Signatures {
    /// The number of values of a signature.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.values.len() / self.num_perm
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The signature of a document.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn of(&self, document: DocId) -> &[u32] {
        let begin = document.index() * self.num_perm;
        &self.values[begin..begin + self.num_perm]
    }
}

impl FeatureSamples {
    /// The number of documents.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The keys of a document's sample, ascending.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn of(&self, document: DocId) -> &[Hash] {
        self.keys.list(document.index())
    }

    /// The samples of some documents, ascending, in this order.
    pub fn select(&self, documents: &[DocId]) -> Cow<'_, FeatureSamples> {
        if documents.len() == self.len() {
            return Cow::Borrowed(self);
        }
        let mut selected = FeatureSamples::default();
        for &document in documents {
            selected.push(self.of(document), self.level(document));
        }
        Cow::Owned(selected)
    }

    fn push(&mut self, keys: &[Hash], level: u32) {
        self.keys.push(keys);
        self.levels.push(level as u8);
    }

    /// All keys, one sample after the other.
    pub fn keys(&self) -> &[Hash] {
        self.keys.values()
    }

    fn level(&self, document: DocId) -> u32 {
        self.levels[document.index()].into()
    }

    /// The resemblance of the keys that both samples keep at the larger of their levels.
    fn resemblance(&self, a: DocId, b: DocId) -> f64 {
        let level = self.level(a).max(self.level(b));
        let [a, b] = [a, b].map(|document| Hash::of_level(level, self.of(document)));
        let common = shared_count(a, b);
        match common {
            0 => 0.0,
            _ => common as f64 / (a.len() + b.len() - common) as f64,
        }
    }
}

fn values_to_bytes(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |all, &byte| all << 8 | u64::from(byte))
}

/// Bytes of a stored fingerprint; an odd width is padded with zeros.
fn fingerprint_bytes(fingerprints: &Fingerprints) -> usize {
    fingerprints.bits().div_ceil(8) as usize
}

/// The share of equal bits of two fingerprints.
fn equal_bits(bits: u32, distance: u32) -> f64 {
    f64::from(bits - distance) / f64::from(bits)
}
