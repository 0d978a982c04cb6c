//! What makes two documents duplicates: shared by the stages from candidates on.

use std::sync::Arc;

use crate::candidates::Search;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::verify::{Measure, Verifier};

/// What decides on a candidate pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The sketches alone: their similarity must reach the threshold.
    Sketches {
        /// The smallest similarity, inclusive.
        threshold: f64,
    },
    /// The texts.
    Texts {
        /// What is measured.
        measure: Measure,
        /// The smallest similarity, inclusive.
        threshold: f64,
    },
}

/// What makes two documents duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// How candidates are found.
    pub search: Search,
    /// What decides on them.
    pub verdict: Verdict,
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

    /// Differing bits of two documents; `None` where one has no fingerprint.
    pub fn distance(&self, corpus: &Corpus, a: u32, b: u32) -> Option<u32> {
        let both = self.has_sketch(corpus, a) && self.has_sketch(corpus, b);
        both.then(|| corpus.sketches().distance(a, b)).flatten()
    }

    /// Whether two documents that the search brought together are candidates.
    ///
    /// A search may bring more together than it promises, and which it does depends on
    /// how it is done; so what is exact by the sketches is held to them.
    pub(crate) fn is_candidate(&self, corpus: &Corpus, a: u32, b: u32) -> bool {
        match self.search {
            Search::Near { max_distance } => {
                let distance = corpus.sketches().distance(a, b);
                distance.is_some_and(|bits| bits <= max_distance)
            }
            // Rounding must not lose what is just enough.
            Search::Prefix { threshold } => corpus.sketches().similarity(a, b) >= threshold - 1e-9,
            Search::Bands(_) | Search::Postings { .. } => true,
        }
    }

    /// Whether one text must be the same thing wherever it stands.
    ///
    /// A text resembles itself with 1, but a recipe that reads titles may sketch
    /// it in two ways, and by the sketches it then is two things.
    pub(crate) fn is_same(&self, corpus: &Corpus, a: u32, b: u32) -> bool {
        match self.verdict {
            Verdict::Texts { .. } => true,
            Verdict::Sketches { .. } => {
                !(self.has_sketch(corpus, a) && self.has_sketch(corpus, b))
                    || corpus.sketches().are_equal(a, b)
            }
        }
    }

    /// The similarity of pairs of documents that share keys; `None` where they are no
    /// candidates by their sketches, or it does not suffice. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn judge(&self, corpus: &Corpus, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let candidates: Vec<(u32, u32)> = pairs
            .iter()
            .copied()
            .filter(|&(a, b)| self.is_candidate(corpus, a, b))
            .collect();
        let similarities = match self.verifier(corpus) {
            Some(mut verifier) => verifier.verify(corpus.texts(), &candidates)?,
            None => candidates
                .iter()
                .map(|&(a, b)| self.by_sketches(corpus, a, b))
                .collect(),
        };
        let mut judged = candidates.iter().zip(similarities).peekable();
        let of_each = pairs.iter().map(|pair| {
            let (_, similarity) = judged.next_if(|&(candidate, _)| candidate == pair)?;
            similarity
        });
        Ok(of_each.collect())
    }

    /// What compares texts, if texts decide.
    pub(crate) fn verifier(&self, corpus: &Corpus) -> Option<Verifier> {
        match self.verdict {
            Verdict::Sketches { .. } => None,
            Verdict::Texts { measure, threshold } => {
                let commonness = corpus.commonness().map(Arc::clone);
                let verifier = Verifier::new(measure, threshold, commonness);
                Some(verifier.with_cache(corpus.memory().compared))
            }
        }
    }

    /// The similarity of two documents by their sketches, if it decides and
    /// suffices.
    pub(crate) fn by_sketches(&self, corpus: &Corpus, a: u32, b: u32) -> Option<f64> {
        match self.verdict {
            Verdict::Texts { .. } => None,
            Verdict::Sketches { threshold } => {
                Some(corpus.sketches().similarity(a, b)).filter(|&s| s >= threshold)
            }
        }
    }
}
