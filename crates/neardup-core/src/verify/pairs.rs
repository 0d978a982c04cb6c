//! Every verified pair of a corpus.

use std::collections::HashMap;

use super::Verifier;
use crate::candidates::{Fingerprints, MAX_PAIRS, Pairs, collapsed};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::rule::{Rule, equal_bits};

/// Candidate pairs verified at a time.
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

/// The search for all pairs of a corpus that a rule calls duplicates.
///
/// Documents with the same text and the same fingerprint are searched and
/// verified once. The pairs come in pieces, so that whoever runs the search can
/// stop it; every two documents with the same text are a pair too.
#[derive(Debug)]
pub struct PairSearch {
    rule: Rule,
    verifier: Option<Verifier>,
    /// Documents that stand for all with their text and fingerprint.
    searched: Vec<u32>,
    /// The other documents that each stands for.
    repeats: HashMap<u32, Vec<u32>>,
    near: Pairs,
    next: usize,
    /// Pairs of documents with the same text, found without a search.
    identical: Vec<VerifiedPair>,
    found: u128,
}

impl PairSearch {
    /// Finds the candidate pairs. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If there are more than [`MAX_PAIRS`] of them.
    pub fn new(corpus: &Corpus, rule: Rule) -> Result<Self> {
        let mut texts: HashMap<u128, Vec<u32>> = HashMap::new();
        let mut repeats: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut searched = Vec::new();
        let bits = corpus.recipe().bits();
        let mut fingerprints = Fingerprints::new(bits)?;
        for document in 0..corpus.len() as u32 {
            if corpus.features(document as usize).is_none() {
                continue;
            }
            // A recipe that reads titles may sketch one text in several ways.
            let twins = texts.entry(corpus.identity(document as usize)).or_default();
            let row = corpus.row(document);
            match twins.iter().find(|&&twin| corpus.row(twin) == row) {
                Some(&twin) => repeats.entry(twin).or_default().push(document),
                None => {
                    twins.push(document);
                    if rule.has_sketch(corpus, document) {
                        searched.push(document);
                        fingerprints.push(&row)?;
                    }
                }
            }
        }
        let candidates = collapsed(&fingerprints, rule.max_distance)?;
        check_count(candidates.count())?;
        let mut search = PairSearch {
            verifier: rule
                .resemblance
                .map(|(threshold, k)| Verifier::new(k, threshold)),
            rule,
            searched,
            repeats,
            near: candidates.expand(),
            next: 0,
            identical: Vec::new(),
            found: 0,
        };
        search.find_identical(corpus, texts.values())?;
        Ok(search)
    }

    /// The number of candidate pairs that are looked at.
    pub fn candidates(&self) -> usize {
        self.near.len()
    }

    /// The next pairs, in no order; `None` after the last.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back, or there are more than
    /// [`MAX_PAIRS`] pairs.
    pub fn next_piece(&mut self, corpus: &Corpus) -> Result<Option<Vec<VerifiedPair>>> {
        if !self.identical.is_empty() {
            return Ok(Some(std::mem::take(&mut self.identical)));
        }
        if self.next == self.near.len() {
            return Ok(None);
        }
        let range = self.next..(self.next + PIECE).min(self.near.len());
        self.next = range.end;
        let documents: Vec<(u32, u32)> = range
            .clone()
            .map(|at| {
                let place = |row: u32| self.searched[row as usize];
                (place(self.near.a[at]), place(self.near.b[at]))
            })
            .collect();
        let distances = &self.near.distance[range];
        let similarities = match &mut self.verifier {
            Some(verifier) => verifier.verify(corpus.texts(), &documents)?,
            None => distances
                .iter()
                .map(|&bits| Some(equal_bits(corpus.recipe().bits(), u32::from(bits))))
                .collect(),
        };
        let mut found = Vec::new();
        for (((a, b), &distance), similarity) in
            documents.into_iter().zip(distances).zip(similarities)
        {
            let Some(similarity) = similarity else {
                continue;
            };
            if corpus.identity(a as usize) == corpus.identity(b as usize) {
                continue;
            }
            let (same_as_a, same_as_b) = (self.repeats.get(&a), self.repeats.get(&b));
            let count = |same: Option<&Vec<u32>>| 1 + same.map_or(0, Vec::len) as u128;
            self.found += count(same_as_a) * count(same_as_b);
            check_count(self.found)?;
            for a in std::iter::once(&a).chain(same_as_a.into_iter().flatten()) {
                for b in std::iter::once(&b).chain(same_as_b.into_iter().flatten()) {
                    found.push(VerifiedPair {
                        a: *a.min(b),
                        b: *a.max(b),
                        similarity,
                        distance: Some(u32::from(distance)),
                    });
                }
            }
        }
        Ok(Some(found))
    }

    /// All pairs of documents with the same text.
    ///
    /// By distance alone, a recipe that reads titles may hold one text to be two
    /// things: such a pair counts only if it is within the distance.
    fn find_identical<'a>(
        &mut self,
        corpus: &Corpus,
        texts: impl Iterator<Item = &'a Vec<u32>> + Clone,
    ) -> Result<()> {
        let members = |twins: &[u32]| -> Vec<u32> {
            let repeats = twins.iter().filter_map(|twin| self.repeats.get(twin));
            repeats.flatten().chain(twins).copied().collect()
        };
        for twins in texts.clone() {
            let count = members(twins).len() as u128;
            self.found += count * (count - 1) / 2;
            check_count(self.found)?;
        }
        let mut identical = Vec::new();
        for twins in texts {
            let mut members = members(twins);
            members.sort_unstable();
            for (at, &b) in members.iter().enumerate() {
                for &a in &members[..at] {
                    let distance = self.rule.distance(corpus, a, b);
                    let similarity = match (self.rule.resemblance, distance) {
                        (None, Some(bits)) if bits > self.rule.max_distance => continue,
                        (None, Some(bits)) => equal_bits(corpus.recipe().bits(), bits),
                        _ => 1.0,
                    };
                    identical.push(VerifiedPair {
                        a,
                        b,
                        similarity,
                        distance,
                    });
                }
            }
        }
        self.identical = identical;
        Ok(())
    }
}

fn check_count(count: u128) -> Result<()> {
    if count > u128::from(MAX_PAIRS) {
        return Err(Error::input(
            "the pairs of this collection",
            format!(
                "at most {MAX_PAIRS}, since they are quadratic in how often a text is repeated"
            ),
            count,
        ));
    }
    Ok(())
}
