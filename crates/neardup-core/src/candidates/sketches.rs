/*! The sketches of many documents, in memory, one kind for all of them. */

use super::Fingerprints;
use crate::error::Result;
use crate::sketch::{self, Sketch, equal_values};

/// The sketches of the documents of a run, by document number.
#[derive(Clone, Debug)]
pub enum Sketches {
    /// SimHash fingerprints; zero where a document has no features.
    Fingerprints(Fingerprints),
    /// MinHash signatures.
    Signatures(Signatures),
    /// Samples of the features.
    Samples(Samples),
}

/// MinHash signatures, one after the other.
#[derive(Clone, Debug)]
pub struct Signatures {
    num_perm: usize,
    values: Vec<u32>,
}

/// Samples of features, one after the other.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Where each sample begins, and at last where the last one ends.
    offsets: Vec<u64>,
    keys: Vec<u32>,
    rates: Vec<u32>,
}

impl Sketches {
    /// No sketches yet, of the kind that `settings` make.
    ///
    /// # Errors
    ///
    /// If there is no such sketch.
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
            sketch::Settings::Sample { .. } => Sketches::Samples(Samples {
                offsets: vec![0],
                keys: Vec::new(),
                rates: Vec::new(),
            }),
        })
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
                // A document that could not be read has none.
                signatures.values.resize(end, u32::MAX);
            }
            Sketches::Samples(samples) => {
                samples.keys.extend_from_slice(&sketch.values);
                samples.offsets.push(samples.keys.len() as u64);
                samples.rates.push(sketch.rate.max(1));
            }
        }
        Ok(())
    }

    /// The fingerprints, if that is the kind.
    pub fn fingerprints(&self) -> Option<&Fingerprints> {
        match self {
            Sketches::Fingerprints(fingerprints) => Some(fingerprints),
            _ => None,
        }
    }

    /// The number of differing bits of two fingerprints; `None` for other kinds.
    pub fn distance(&self, a: u32, b: u32) -> Option<u32> {
        self.fingerprints()?.distance(a as usize, b as usize)
    }

    /// Whether two documents have the same sketch.
    pub fn are_equal(&self, a: u32, b: u32) -> bool {
        match self {
            Sketches::Fingerprints(fingerprints) => {
                fingerprints.get(a as usize) == fingerprints.get(b as usize)
            }
            Sketches::Signatures(signatures) => signatures.of(a) == signatures.of(b),
            Sketches::Samples(samples) => samples.of(a) == samples.of(b),
        }
    }

    /// The similarity of two documents by their sketches alone, in \[0, 1\]: the
    /// share of equal bits, the share of equal values, or the resemblance of the
    /// samples where both have kept the same.
    pub fn similarity(&self, a: u32, b: u32) -> f64 {
        match self {
            Sketches::Fingerprints(fingerprints) => {
                let bits = fingerprints.bits();
                let distance = fingerprints.distance(a as usize, b as usize);
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
    /// Values of a signature.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.values.len() / self.num_perm
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The signature of a document.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn of(&self, document: u32) -> &[u32] {
        let begin = document as usize * self.num_perm;
        &self.values[begin..begin + self.num_perm]
    }
}

impl Samples {
    /// The number of documents.
    pub fn len(&self) -> usize {
        self.rates.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// The keys of a document's sample, ascending.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn of(&self, document: u32) -> &[u32] {
        let bounds = &self.offsets[document as usize..document as usize + 2];
        &self.keys[bounds[0] as usize..bounds[1] as usize]
    }

    /// Where each sample begins among all keys, and at last where the last ends.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All keys, one sample after the other.
    pub fn keys(&self) -> &[u32] {
        &self.keys
    }

    /// The resemblance of what both documents keep at the larger of their rates.
    ///
    /// A key does not tell whether the other rate keeps it, so a key of the more
    /// generous sample counts with the share that it should have there.
    fn resemblance(&self, a: u32, b: u32) -> f64 {
        let (rate_a, rate_b) = (self.rates[a as usize], self.rates[b as usize]);
        let (keys_a, keys_b) = (self.of(a), self.of(b));
        let larger = f64::from(rate_a.max(rate_b));
        let size = |keys: &[u32], rate: u32| keys.len() as f64 * f64::from(rate) / larger;
        let common = common(keys_a, keys_b) as f64;
        let union = size(keys_a, rate_a) + size(keys_b, rate_b) - common;
        if common == 0.0 {
            return 0.0;
        }
        (common / union).min(1.0)
    }
}

/// The share of equal bits of two fingerprints.
fn equal_bits(bits: u32, distance: u32) -> f64 {
    f64::from(bits - distance) / f64::from(bits)
}

/// The size of the intersection of two ascending lists.
fn common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        common += usize::from(a[i] == b[j]);
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
}
