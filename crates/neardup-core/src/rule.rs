//! What makes two documents duplicates: shared by the stages from candidates on.

use crate::corpus::Corpus;

/// What makes two documents duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Fingerprints further apart than this many bits, inclusive, are no
    /// candidates.
    pub max_distance: u32,
    /// The smallest resemblance, inclusive, and its shingles' length in
    /// characters; `None` if the distance alone decides.
    pub resemblance: Option<(f64, usize)>,
    /// Documents with fewer features than this equal only identical texts.
    pub min_features: u32,
}

impl Rule {
    /// Whether a document has a sketch that is worth comparing.
    pub fn has_sketch(&self, corpus: &Corpus, document: u32) -> bool {
        corpus
            .features(document as usize)
            .is_some_and(|count| count >= self.min_features.max(1))
    }

    /// Differing bits of two documents; `None` where one has no sketch.
    pub fn distance(&self, corpus: &Corpus, a: u32, b: u32) -> Option<u32> {
        let both = self.has_sketch(corpus, a) && self.has_sketch(corpus, b);
        let fingerprints = corpus.fingerprints();
        both.then(|| fingerprints.distance(a as usize, b as usize))
            .flatten()
    }
}

/// The share of equal bits of two fingerprints.
pub fn equal_bits(bits: u32, distance: u32) -> f64 {
    f64::from(bits - distance) / f64::from(bits)
}
