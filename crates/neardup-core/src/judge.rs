/*! Decides whether two documents are duplicates, and explains why.

This is the only place that decides about a pair. Two documents are duplicates if their texts
are the same, or if they meet all [`Bounds`]: on the distance of their fingerprints and on
their similarity. A document with fewer features than the bounds require is a duplicate only
of an identical text, and by content also of one with the same letters.

[`Judge::similarities`] decides many pairs at once and computes only what the verdicts need.
[`Bounds::judge`] decides one pair by the same [`Measure`] and returns everything that the verdict depends on.
*/

use std::sync::Arc;

use rayon::prelude::*;

use crate::candidates::Search;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::ids::DocId;
use crate::similar::Similar;
use crate::verify::sample_bytes::NumberedSamples;
use crate::verify::{Direction, Evidence, Measure, Overlap, Shingles, Verifier};

/// The bounds that duplicates must meet. Without a threshold and without a distance, only texts
/// with too few features can be duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The measure applied to the two texts; `None` for the similarity of their sketches.
    pub measure: Option<Measure>,
    /// The smallest similarity, inclusive.
    pub threshold: Option<f64>,
    /// The largest number of differing bits of fingerprints, inclusive.
    pub max_distance: Option<u32>,
    /// Documents with fewer features than this are duplicates only of identical texts; by content also
    /// of texts with a similarity of 1, which have the same letters.
    pub min_features: u32,
}

/// How the duplicates of a collection are found and decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// How candidates are found.
    pub search: Search,
    /// The bounds that a candidate pair must meet.
    pub bounds: Bounds,
}

/// The verdict about two documents, and everything that it depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Whether the two are duplicates.
    pub is_duplicate: bool,
    /// Whether all bounds hold. If not, the two may still be duplicates because their texts are
    /// the same.
    pub is_within_bounds: bool,
    /// Similarity by the measure of the bounds, in \[0, 1\]. If a text has no features: 1 for
    /// identical texts, 0 for others.
    pub similarity: f64,
    /// Number of differing bits; `None` if one of the two has no fingerprint.
    pub distance: Option<u32>,
    /// Whether the texts are the same.
    pub is_identical: bool,
    /// The smaller of the two numbers of features.
    pub features: u32,
    /// Whether one has fewer features than the bounds require.
    pub has_few_features: bool,
    /// The findings of the comparison.
    pub evidence: Evidence,
    /// Overlap of the shingles of both texts; the shingle length does not depend on the script.
    pub overlap: Overlap,
}

impl Rule {
    /// The rule for a pair of equals: neither document is kept for the other.
    pub fn of_equals(self) -> Rule {
        let direction = |of| match of {
            Direction::FirstInSecond => Direction::Either,
            other => other,
        };
        let measure = self.bounds.measure.map(|measure| match measure {
            Measure::Containment { k, direction: of } => Measure::Containment {
                k,
                direction: direction(of),
            },
            other => other,
        });
        Rule {
            bounds: Bounds {
                measure,
                ..self.bounds
            },
            ..self
        }
    }
}

impl Bounds {
    /// Whether all bounds hold.
    fn hold(&self, similarity: f64, distance: Option<u32>) -> bool {
        let is_near = self.is_within_distance(distance);
        let is_similar = self.threshold.is_none_or(|least| similarity >= least);
        self.are_set() && is_near && is_similar
    }

    fn are_set(&self) -> bool {
        self.threshold.is_some() || self.max_distance.is_some()
    }

    fn is_within_distance(&self, distance: Option<u32>) -> bool {
        match (self.max_distance, distance) {
            (Some(most), Some(bits)) => bits <= most,
            _ => true,
        }
    }

    /// Whether a document has enough features for its sketch to be compared. By content one is
    /// enough, since a text with few is compared by its letters.
    pub fn has_sketch(&self, corpus: &Corpus, document: DocId) -> bool {
        let least = match self.measure {
            Some(Measure::Content { .. }) => 1,
            _ => self.min_features.max(1),
        };
        let count = corpus.features(document);
        count.is_some_and(|count| count >= least)
    }

    /// Whether one of two documents has fewer features than required.
    fn have_few(&self, corpus: &Corpus, a: DocId, b: DocId) -> bool {
        let count = |document: DocId| corpus.features(document).unwrap_or(0);
        count(a).min(count(b)) < self.min_features.max(1)
    }

    /// Whether a similarity that meets the bounds is enough for these two documents.
    fn is_enough(&self, corpus: &Corpus, (a, b): (DocId, DocId), similarity: f64) -> bool {
        !self.have_few(corpus, a, b)
            || similarity >= 1.0 && self.has_sketch(corpus, a) && self.has_sketch(corpus, b)
    }

    /// Number of differing bits of two documents; `None` if one has no fingerprint.
    pub fn distance(&self, corpus: &Corpus, a: DocId, b: DocId) -> Option<u32> {
        let both = self.has_sketch(corpus, a) && self.has_sketch(corpus, b);
        both.then(|| corpus.sketches().distance(a, b)).flatten()
    }

    /// Whether two documents with the same text are duplicates even if the bounds do not hold.
    ///
    /// By any measure of texts, a text has similarity 1 to itself. But a recipe that uses titles
    /// may give the same text two different sketches, and then a comparison of sketches treats
    /// the two documents as different.
    pub fn is_same(&self, corpus: &Corpus, a: DocId, b: DocId) -> bool {
        self.measure.is_some()
            || !(self.has_sketch(corpus, a) && self.has_sketch(corpus, b))
            || corpus.sketches().are_equal(a, b)
    }

    /// The similarity of two documents by their sketches, if it meets the bounds.
    pub fn by_sketches(&self, corpus: &Corpus, a: DocId, b: DocId) -> Option<f64> {
        let similarity = corpus.sketches().similarity(a, b);
        let distance = corpus.sketches().distance(a, b);
        self.hold(similarity, distance).then_some(similarity)
    }

    /// Decides one pair and returns what the verdict depends on.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn judge(&self, corpus: &Corpus, a: DocId, b: DocId, shingle: usize) -> Result<Judgement> {
        let mut buffers = [Vec::new(), Vec::new()];
        let [first, second] = &mut buffers;
        let texts = [
            corpus.texts().text(a.index(), first)?,
            corpus.texts().text(b.index(), second)?,
        ];
        let frequencies = corpus.shingle_frequencies().map(Arc::as_ref);
        let overlap = Shingles::of(texts[0], shingle).overlap(&Shingles::of(texts[1], shingle));
        let evidence = Evidence::of(texts, shingle, frequencies);
        let is_identical = corpus.identity(a) == corpus.identity(b);
        let features = [a, b].map(|document| corpus.features(document).unwrap_or(0));
        let features = features[0].min(features[1]);
        let has_few_features = self.have_few(corpus, a, b);
        let distance = match features {
            0 => None,
            _ => corpus.sketches().distance(a, b),
        };
        let similarity = match self.measure {
            _ if features == 0 => f64::from(u8::from(is_identical)),
            None => corpus.sketches().similarity(a, b),
            Some(measure) => measure.similarity(texts, frequencies, &evidence.aligned),
        };
        let is_enough = self.is_enough(corpus, (a, b), similarity);
        let is_within_bounds = is_enough && self.hold(similarity, distance);
        let is_same = has_few_features || self.are_set() && self.is_same(corpus, a, b);
        Ok(Judgement {
            is_duplicate: is_within_bounds || is_identical && is_same,
            is_within_bounds,
            similarity,
            distance,
            is_identical,
            features,
            has_few_features,
            evidence,
            overlap,
        })
    }
}

/// Decides about pairs of documents of one corpus, and counts them.
#[derive(Debug)]
pub struct Judge {
    rule: Rule,
    verifier: Option<Verifier>,
    candidates: u64,
    verified: u64,
}

impl Judge {
    /// Creates a judge that applies `rule`.
    pub fn new(corpus: &Corpus, rule: Rule) -> Self {
        let verifier = rule.bounds.measure.map(|measure| {
            let threshold = rule.bounds.threshold.unwrap_or(0.0);
            let frequencies = corpus.shingle_frequencies().map(Arc::clone);
            Verifier::new(measure, threshold, frequencies).with_cache(corpus.memory().compared / 2)
        });
        Judge {
            rule,
            verifier,
            candidates: 0,
            verified: 0,
        }
    }

    /// The bounds that duplicates must meet.
    pub fn bounds(&self) -> &Bounds {
        &self.rule.bounds
    }

    /// Candidate pairs judged so far.
    pub fn candidates(&self) -> u64 {
        self.candidates
    }

    /// Candidate pairs that turned out to be duplicates so far; of those [of which the best](Self::best)
    /// was wanted, only this one.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Bytes of the texts that were read so far because sketches and samples left a pair open. A text
    /// that was read again counts again.
    pub fn bytes_compared(&self) -> u64 {
        self.verifier.as_ref().map_or(0, Verifier::bytes_compared)
    }

    /// See [`Verifier::take_kept_by_unique_text`].
    pub fn take_kept_by_unique_text(&mut self, document: DocId) -> Option<Similar<DocId>> {
        self.verifier.as_mut()?.take_kept_by_unique_text(document)
    }

    /// Whether two documents that share keys are candidates by their sketches.
    ///
    /// Pairs that share keys may exceed the limits of the search, and which of them are found
    /// depends on the store. Searches that are exact by the sketches therefore check the sketches
    /// here, so that the result does not depend on the store. Groups are compared here too, since the
    /// salted keys of two of them may collide.
    pub fn is_candidate(&self, corpus: &Corpus, a: DocId, b: DocId) -> bool {
        if !corpus.groups().are_same(a, b) {
            return false;
        }
        match self.rule.search {
            Search::Near { .. } => {
                let distance = corpus.sketches().distance(a, b);
                distance.is_some() && self.rule.bounds.is_within_distance(distance)
            }
            // Rounding must not reject a pair exactly at the threshold.
            Search::Prefix { threshold } => corpus.sketches().similarity(a, b) >= threshold - 1e-9,
            Search::Bands(..) | Search::Postings { .. } => true,
        }
    }

    /// The similarity of each [candidate](Self::is_candidate) pair that is a duplicate, in the
    /// order of `pairs`; `None` for the others. The first document of a pair is the one to be
    /// decided, and the second an earlier kept one. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn similarities(
        &mut self,
        corpus: &Corpus,
        pairs: &[(DocId, DocId)],
    ) -> Result<Vec<Option<f64>>> {
        self.candidates += pairs.len() as u64;
        let bounds = self.rule.bounds;
        let mut similarities = match &mut self.verifier {
            Some(verifier) => verifier.verify(corpus.texts(), corpus.samples(), pairs)?,
            None => pairs
                .par_iter()
                .with_min_len(64)
                .map(|&(a, b)| bounds.by_sketches(corpus, a, b))
                .collect(),
        };
        for (&pair, similarity) in pairs.iter().zip(&mut similarities) {
            *similarity = similarity.filter(|&found| bounds.is_enough(corpus, pair, found));
        }
        self.verified += similarities.iter().flatten().count() as u64;
        Ok(similarities)
    }

    /// For each document, its most similar candidate and their similarity; of several the first, and
    /// `None` if none is a duplicate. `groups` are the ends of the documents' candidates in `pairs`,
    /// which are as [`similarities`](Self::similarities) takes them. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn best(
        &mut self,
        corpus: &Corpus,
        pairs: &[(DocId, DocId)],
        groups: &[usize],
    ) -> Result<Vec<Option<Similar<usize>>>> {
        self.candidates += pairs.len() as u64;
        let bounds = self.rule.bounds;
        let best = match &mut self.verifier {
            Some(verifier) => {
                let counts = |pair, similarity| bounds.is_enough(corpus, pair, similarity);
                verifier.best(corpus.texts(), corpus.samples(), pairs, groups, counts)?
            }
            None => {
                let of_pair = |of: usize| {
                    let similarity = bounds.by_sketches(corpus, pairs[of].0, pairs[of].1)?;
                    Some(Similar { of, similarity })
                };
                let begins = [0].iter().chain(groups);
                let of_group = begins
                    .zip(groups)
                    .map(|(&begin, &end)| (begin..end).filter_map(of_pair));
                of_group.map(Similar::best).collect()
            }
        };
        self.verified += best.iter().flatten().count() as u64;
        Ok(best)
    }

    /// Whether the texts of each pair must be compared: `false` where the samples of both documents
    /// rule out that it is a duplicate. Runs on the current rayon pool.
    pub fn are_open(&self, samples: &NumberedSamples, pairs: &[(DocId, DocId)]) -> Vec<bool> {
        match &self.verifier {
            Some(verifier) => verifier.are_open(|place| samples.get(place), pairs),
            None => vec![true; pairs.len()],
        }
    }

    /// Like [`similarities`](Self::similarities), for pairs that share keys but are not all
    /// candidates.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn judge_pairs(
        &mut self,
        corpus: &Corpus,
        pairs: &[(DocId, DocId)],
    ) -> Result<Vec<Option<f64>>> {
        let all = pairs.iter().copied();
        let candidates: Vec<_> = all
            .filter(|&(a, b)| self.is_candidate(corpus, a, b))
            .collect();
        let similarities = self.similarities(corpus, &candidates)?;
        let mut judged = candidates.iter().zip(similarities).peekable();
        let of_each = pairs.iter().map(|pair| {
            let (_, similarity) = judged.next_if(|&(candidate, _)| candidate == pair)?;
            similarity
        });
        Ok(of_each.collect())
    }
}
