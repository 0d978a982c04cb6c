//! Every verified pair of a corpus.

use std::collections::HashMap;

use super::Verifier;
use crate::candidates::{Fingerprints, pairs};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::rule::{Rule, equal_bits};

/// Candidate pairs verified at a time, to bound the memory of one step.
const PIECE: usize = 1 << 16;

/// Two documents that are verified similar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifiedPair {
    /// The earlier document.
    pub a: u32,
    /// The later document.
    pub b: u32,
    /// Their similarity, in [0, 1].
    pub similarity: f64,
    /// Differing bits; `None` where one has no sketch.
    pub distance: Option<u32>,
}

/// All pairs of documents of `corpus` that `rule` calls duplicates, sorted by
/// (a, b), and the number of candidate pairs that were looked at.
///
/// Every two documents with the same text are a pair too, so the output is
/// quadratic in how often one text is repeated. Runs on the current rayon pool.
///
/// # Errors
///
/// If a stored text cannot be read back.
pub fn verified_pairs(corpus: &Corpus, rule: Rule) -> Result<(Vec<VerifiedPair>, u64)> {
    let mut found = identical_pairs(corpus, rule);
    let sketched: Vec<u32> = (0..corpus.len() as u32)
        .filter(|&document| rule.has_sketch(corpus, document))
        .collect();
    let mut fingerprints = Fingerprints::new(corpus.recipe().bits())?;
    for &document in &sketched {
        fingerprints.push(&corpus.row(document))?;
    }
    let near = pairs(&fingerprints, rule.max_distance)?;
    let candidates = near.len() as u64;
    let mut verifier = rule
        .resemblance
        .map(|(threshold, k)| Verifier::new(k, threshold));
    for begin in (0..near.len()).step_by(PIECE) {
        let range = begin..(begin + PIECE).min(near.len());
        let documents: Vec<(u32, u32)> = range
            .clone()
            .map(|at| (sketched[near.a[at] as usize], sketched[near.b[at] as usize]))
            .collect();
        let similarities = match &mut verifier {
            Some(verifier) => verifier.verify(corpus.texts(), &documents)?,
            None => near.distance[range.clone()]
                .iter()
                .map(|&bits| Some(equal_bits(corpus.recipe().bits(), u32::from(bits))))
                .collect(),
        };
        for ((at, (a, b)), similarity) in range.zip(documents).zip(similarities) {
            if let Some(similarity) = similarity
                && corpus.identity(a as usize) != corpus.identity(b as usize)
            {
                found.push(VerifiedPair {
                    a,
                    b,
                    similarity,
                    distance: Some(u32::from(near.distance[at])),
                });
            }
        }
    }
    found.sort_unstable_by_key(|pair| (pair.a, pair.b));
    Ok((found, candidates))
}

/// All pairs of documents with the same text.
///
/// By distance alone, a recipe that reads titles may hold one text to be two
/// things: such a pair counts only if it is within the distance.
fn identical_pairs(corpus: &Corpus, rule: Rule) -> Vec<VerifiedPair> {
    let mut groups: HashMap<u128, Vec<u32>> = HashMap::new();
    for document in 0..corpus.len() {
        if corpus.features(document).is_some() {
            groups
                .entry(corpus.identity(document))
                .or_default()
                .push(document as u32);
        }
    }
    let mut found = Vec::new();
    for members in groups.into_values() {
        for (at, &b) in members.iter().enumerate() {
            for &a in &members[..at] {
                let distance = rule.distance(corpus, a, b);
                let similarity = match (rule.resemblance, distance) {
                    (None, Some(bits)) if bits > rule.max_distance => continue,
                    (None, Some(bits)) => equal_bits(corpus.recipe().bits(), bits),
                    _ => 1.0,
                };
                found.push(VerifiedPair {
                    a,
                    b,
                    similarity,
                    distance,
                });
            }
        }
    }
    found
}
