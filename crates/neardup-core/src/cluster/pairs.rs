//! Every verified pair of a corpus.

use std::collections::HashMap;

use neardup_hamming::{Fingerprints, MAX_PAIRS, collapsed};
use rayon::slice::ParallelSliceMut;

use crate::candidates::{CandidateIndex, Search, SearchStatistics};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::ids::{DocId, Place};
use crate::judge::{Bounds, Judge, Rule};
use crate::ragged::Ragged;
use crate::sketch::Sketches;

/// The number of candidate pairs that are verified at a time.
const PIECE: usize = 1 << 16;

/// The maximum number of documents looked up at once.
const CHUNK: usize = 1024;

/// Two documents that are verified similar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifiedPair {
    /// The earlier document.
    pub a: DocId,
    /// The later document.
    pub b: DocId,
    /// Their similarity, in [0, 1].
    pub similarity: f64,
    /// Differing bits; `None` if either document has no sketch.
    pub distance: Option<u32>,
}

/// The search for all pairs of a corpus that are duplicates under a rule, or for all pairs of a
/// document of one collection and a document of another.
///
/// Documents with the same text and the same fingerprint are searched and verified once. Pairs are
/// returned in pieces, so that the caller can stop the search. Any two documents with the same text
/// are a pair too.
#[derive(Debug)]
pub struct PairSearch {
    judge: Judge,
    /// One representative of all documents with the same text and fingerprint.
    searched: Vec<DocId>,
    /// The other documents that each representative represents.
    repeats: HashMap<DocId, Vec<DocId>>,
    /// The number of documents of another collection, which come first.
    others: Option<u32>,
    source: Source,
    /// Pairs of documents with the same text, found without a search.
    identical: Vec<VerifiedPair>,
    found: u128,
    max_pairs: u64,
}

/// Where candidate pairs come from.
#[derive(Debug)]
enum Source {
    /// All at once, as indices of `searched`.
    Listed {
        pairs: Vec<(Place, Place)>,
        next: usize,
    },
    /// One document after the other, each looked up among those before it.
    LookedUp {
        index: Box<CandidateIndex>,
        next: usize,
        /// The number of documents that are looked up at once.
        lookups: usize,
    },
}

impl PairSearch {
    /// Finds the candidate pairs. Runs on the current rayon pool.
    ///
    /// If the first `others` documents are another collection, it finds only pairs of one of them
    /// and one of the rest. At most `max_pairs` pairs fit into memory.
    ///
    /// # Errors
    ///
    /// If there are more than `max_pairs` pairs, or more than [`MAX_PAIRS`].
    pub fn new(corpus: &Corpus, rule: Rule, others: Option<u32>, max_pairs: u64) -> Result<Self> {
        let judge = Judge::new(corpus, rule.of_equals());
        let bounds = judge.bounds();
        let max_pairs = max_pairs.min(MAX_PAIRS);
        let first = DocId(others.unwrap_or(0));
        let mut repeats: HashMap<DocId, Vec<DocId>> = HashMap::new();
        let (mut searched, mut identical, mut found) = (Vec::new(), Vec::new(), 0);
        for same_text in by_text(corpus).chunk_by(|&a, &b| have_same_text(corpus, a, b)) {
            // A recipe that reads titles may have several sketches for one text.
            let mut distinct: Vec<DocId> = Vec::new();
            for &document in same_text {
                let is_equal = |twin: DocId| {
                    (twin < first) == (document < first)
                        && corpus.sketches().are_equal(twin, document)
                };
                match distinct.iter().find(|&&twin| is_equal(twin)) {
                    Some(&twin) => repeats.entry(twin).or_default().push(document),
                    None => distinct.push(document),
                }
            }
            searched.extend(
                distinct
                    .iter()
                    .filter(|&&one| bounds.has_sketch(corpus, one)),
            );
            let (of_others, of_text) =
                same_text.split_at(same_text.partition_point(|&document| document < first));
            found += match others {
                None => of_text.len() as u128 * (of_text.len() as u128 - 1) / 2,
                Some(_) => of_text.len() as u128 * of_others.len() as u128,
            };
            check_count(found, max_pairs)?;
            for (at, &b) in of_text.iter().enumerate() {
                let earlier = match others {
                    None => &of_text[..at],
                    Some(_) => of_others,
                };
                identical.extend(earlier.iter().filter_map(|&a| {
                    Some(VerifiedPair {
                        a,
                        b,
                        similarity: similarity_of_same_text(bounds, corpus, a, b)?,
                        distance: bounds.distance(corpus, a, b),
                    })
                }));
            }
        }
        searched.sort_unstable();
        let source = match (rule.search, corpus.sketches()) {
            (Search::Near { max_distance }, Sketches::Fingerprints(all)) if others.is_none() => {
                listed(all, max_distance, &searched)?
            }
            (other, sketches) => {
                let filed = searched.partition_point(|&document| document < first);
                let mut index = CandidateIndex::new(
                    sketches,
                    corpus.identities(),
                    corpus.groups(),
                    other.filing_all(),
                )?;
                for &document in &searched[..filed] {
                    index.insert(sketches, document)?;
                }
                Source::LookedUp {
                    index: Box::new(index),
                    next: filed,
                    lookups: CHUNK,
                }
            }
        };
        Ok(PairSearch {
            judge,
            searched,
            repeats,
            others,
            source,
            identical,
            found,
            max_pairs,
        })
    }

    /// The number of candidate pairs examined so far.
    pub fn candidates(&self) -> u64 {
        self.judge.candidates()
    }

    /// The number of candidate pairs verified as similar so far.
    pub fn verified(&self) -> u64 {
        self.judge.verified()
    }

    /// See [`Judge::bytes_compared`].
    pub fn bytes_compared(&self) -> u64 {
        self.judge.bytes_compared()
    }

    /// The counts of the search so far.
    pub fn statistics(&self) -> SearchStatistics {
        match &self.source {
            Source::Listed { .. } => SearchStatistics::default(),
            Source::LookedUp { index, .. } => index.statistics(),
        }
    }

    /// The next pairs, in no order; `None` after the last.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back, or there are too many pairs.
    pub fn next_piece(&mut self, corpus: &Corpus) -> Result<Option<Vec<VerifiedPair>>> {
        if !self.identical.is_empty() {
            return Ok(Some(std::mem::take(&mut self.identical)));
        }
        let Some(candidates) = self.next_candidates(corpus)? else {
            return Ok(None);
        };
        let mut found = Vec::new();
        for piece in candidates.chunks(PIECE) {
            self.verify(corpus, piece, &mut found)?;
        }
        Ok(Some(found))
    }

    /// The next candidate pairs, by document.
    fn next_candidates(&mut self, corpus: &Corpus) -> Result<Option<Vec<(DocId, DocId)>>> {
        let (searched, others) = (&self.searched, self.others);
        match &mut self.source {
            Source::Listed { pairs, next } => {
                let range = *next..(*next + PIECE).min(pairs.len());
                *next = range.end;
                let piece = &pairs[range];
                let documents =
                    |&(a, b): &(Place, Place)| (searched[a.index()], searched[b.index()]);
                let are_compared = |&(a, b): &(DocId, DocId)| corpus.groups().are_same(a, b);
                let found = piece.iter().map(documents).filter(are_compared);
                Ok((!piece.is_empty()).then(|| found.collect()))
            }
            Source::LookedUp {
                index,
                next,
                lookups,
            } => {
                let range = *next..(*next + *lookups).min(searched.len());
                if range.is_empty() {
                    return Ok(None);
                }
                *next = range.end;
                let snapshot = index.snapshot();
                let found = index.near(corpus.sketches(), &searched[range.clone()])?;
                let mut pairs = Vec::with_capacity(found.values().len());
                let judge = &self.judge;
                // As many documents as should yield about one piece, judging by the last look-up.
                let found_each = found.values().len() / range.len() + 1;
                *lookups = (PIECE / found_each).clamp(1, CHUNK);
                for (place, before) in range.zip(found.iter()) {
                    let document = searched[place];
                    let mut since = Ragged::default();
                    if others.is_none() {
                        since = index.near_since(corpus.sketches(), document, snapshot)?;
                        index.insert(corpus.sketches(), document)?;
                    }
                    let places = before.iter().chain(since.values());
                    let found = places.map(|other| (document, searched[other.index()]));
                    pairs.extend(found.filter(|&(a, b)| judge.is_candidate(corpus, a, b)));
                }
                Ok(Some(pairs))
            }
        }
    }

    /// Verifies candidate pairs and adds the similar ones, together with the pairs of documents
    /// that they represent.
    fn verify(
        &mut self,
        corpus: &Corpus,
        candidates: &[(DocId, DocId)],
        found: &mut Vec<VerifiedPair>,
    ) -> Result<()> {
        let similarities = self.judge.similarities(corpus, candidates)?;
        for (&(a, b), similarity) in candidates.iter().zip(similarities) {
            let Some(similarity) = similarity else {
                continue;
            };
            if have_same_text(corpus, a, b) {
                continue;
            }
            let distance = self.judge.bounds().distance(corpus, a, b);
            let (same_as_a, same_as_b) = (self.repeats.get(&a), self.repeats.get(&b));
            let count = |same: Option<&Vec<DocId>>| 1 + same.map_or(0, Vec::len) as u128;
            self.found += count(same_as_a) * count(same_as_b);
            check_count(self.found, self.max_pairs)?;
            for a in std::iter::once(&a).chain(same_as_a.into_iter().flatten()) {
                for b in std::iter::once(&b).chain(same_as_b.into_iter().flatten()) {
                    found.push(VerifiedPair {
                        a: *a.min(b),
                        b: *a.max(b),
                        similarity,
                        distance,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The readable documents, ordered by text; those with the same text in their order.
fn by_text(corpus: &Corpus) -> Vec<DocId> {
    let all = DocId::range(0..corpus.len());
    let mut documents: Vec<DocId> = all
        .filter(|&document| corpus.features(document).is_some())
        .collect();
    documents.par_sort_unstable_by_key(|&document| (corpus.identity(document), document));
    documents
}

fn have_same_text(corpus: &Corpus, a: DocId, b: DocId) -> bool {
    corpus.identity(a) == corpus.identity(b)
}

/// The similarity of two documents with the same text; `None` if they are not duplicates under
/// the rule. With a rule on distance alone, a recipe that reads titles may treat documents with one
/// text as different. Such a pair counts only if it is within the distance.
fn similarity_of_same_text(bounds: &Bounds, corpus: &Corpus, a: DocId, b: DocId) -> Option<f64> {
    match bounds.is_same(corpus, a, b) {
        true => Some(1.0),
        false => bounds.by_sketches(corpus, a, b),
    }
}

/// All pairs of fingerprints within a distance.
fn listed(all: &Fingerprints, max_distance: u32, searched: &[DocId]) -> Result<Source> {
    let mut fingerprints = Fingerprints::new(all.bits())?;
    for &document in searched {
        fingerprints.push(&all.get(document.index()).unwrap_or_default())?;
    }
    let candidates = collapsed(&fingerprints, max_distance)?;
    check_count(candidates.count(), MAX_PAIRS)?;
    let pairs = candidates.expand();
    let pairs = pairs.a.into_iter().zip(pairs.b);
    Ok(Source::Listed {
        pairs: pairs.map(|(a, b)| (Place(a), Place(b))).collect(),
        next: 0,
    })
}

fn check_count(count: u128, max_pairs: u64) -> Result<()> {
    if count > u128::from(max_pairs) {
        return Err(Error::input(
            "the similar pairs of this collection",
            format!(
                "at most {max_pairs}, as many as the memory limit holds: drop copies with dedup \
                 first, or raise the threshold or the limit"
            ),
            count,
        ));
    }
    Ok(())
}
