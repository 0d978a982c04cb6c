//! The one rule, applied to documents in priority order.
//!
//! Only kept documents are filed for look-up, so a text posted a million times
//! costs a million comparisons and not half a million million. A chunk of
//! documents is looked up and verified against everything kept before it in
//! parallel; what the chunk's own documents mean to each other is settled one
//! by one, which makes the result the one that a loop over single documents
//! gives, whatever the chunk size.

use std::collections::HashMap;

use crate::candidates::{Filed, Fingerprints, Scheme};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::rule::{Rule, equal_bits};
use crate::verify::Verifier;

/// Documents that are decided together.
const CHUNK: usize = 1024;

/// Candidates that one look-up should bring about.
const FOUND: usize = 1 << 18;

/// Why a document was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its text is the kept document's.
    Identical,
    /// It is verified similar.
    Similar,
}

/// What happened to one document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The kept document that it repeats.
    pub kept: u32,
    /// Similarity to it, in [0, 1].
    pub similarity: f64,
    /// Differing bits between the fingerprints; `None` where one has no sketch.
    pub distance: Option<u32>,
    /// Identical or similar.
    pub reason: Reason,
}

/// Decides documents of one [`Corpus`], in the order in which they are handed in.
#[derive(Debug)]
pub struct Keeper {
    rule: Rule,
    verifier: Option<Verifier>,
    filed: Filed,
    /// Document numbers of what is filed, in order.
    kept: Vec<u32>,
    identical: HashMap<u128, u32>,
    candidates: u64,
    verified: u64,
    /// Documents that are looked up together.
    together: usize,
}

/// The best kept document found so far, by its place in [`Keeper::kept`].
#[derive(Clone, Copy)]
struct Best {
    place: u32,
    similarity: f64,
    distance: u32,
}

impl Best {
    /// The more similar one, the earlier one if they tie.
    fn better(self, other: Option<Best>) -> Best {
        match other {
            Some(o)
                if o.similarity > self.similarity
                    || (o.similarity == self.similarity && o.place < self.place) =>
            {
                o
            }
            _ => self,
        }
    }
}

impl Keeper {
    /// A keeper with nothing kept yet; `filed` is empty and reaches at least the
    /// rule's distance.
    pub fn new(rule: Rule, filed: Filed) -> Self {
        Keeper {
            verifier: rule
                .resemblance
                .map(|(threshold, k)| Verifier::new(k, threshold)),
            rule,
            filed,
            kept: Vec::new(),
            identical: HashMap::new(),
            candidates: 0,
            verified: 0,
            together: CHUNK,
        }
    }

    /// Candidate pairs looked at so far.
    pub fn candidates(&self) -> u64 {
        self.candidates
    }

    /// Candidate pairs that turned out to be similar so far.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Decides `documents`, numbers into `corpus`, in this order; unreadable
    /// ones are kept and stand for nothing.
    ///
    /// Runs on the current rayon pool; the result depends on neither its size
    /// nor on how the documents are spread over calls.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn decide(&mut self, corpus: &Corpus, documents: &[u32]) -> Result<Vec<Option<Decision>>> {
        let mut decisions = Vec::with_capacity(documents.len());
        for chunk in documents.chunks(CHUNK) {
            self.decide_chunk(corpus, chunk, &mut decisions)?;
        }
        Ok(decisions)
    }

    fn decide_chunk(
        &mut self,
        corpus: &Corpus,
        chunk: &[u32],
        decisions: &mut Vec<Option<Decision>>,
    ) -> Result<()> {
        // Those that an identical kept document already settles, and those that
        // have no sketch, take no part in the search.
        let searched: Vec<u32> = chunk
            .iter()
            .copied()
            .filter(|&document| {
                self.rule.has_sketch(corpus, document) && self.same_text(corpus, document).is_none()
            })
            .collect();
        let mut earlier = self.best_among_filed(corpus, &searched)?.into_iter();
        let mut own =
            Filed::with_scheme(corpus.recipe().bits(), self.rule.max_distance, Scheme::Scan)?;
        let mut own_places: Vec<u32> = Vec::new();
        let mut searched = searched.into_iter().peekable();
        for &document in chunk {
            let was_searched = searched.next_if_eq(&document).is_some();
            let before = if was_searched {
                earlier.next().flatten()
            } else {
                None
            };
            if corpus.features(document as usize).is_none() {
                decisions.push(None);
                continue;
            }
            if let Some(decision) = self.same_text(corpus, document) {
                decisions.push(Some(decision));
                continue;
            }
            let best = if was_searched {
                self.best_of_chunk(corpus, document, before, &own, &own_places)?
            } else {
                None
            };
            if let Some(best) = best {
                decisions.push(Some(Decision {
                    kept: self.kept[best.place as usize],
                    similarity: best.similarity,
                    distance: Some(best.distance),
                    reason: Reason::Similar,
                }));
                continue;
            }
            if was_searched {
                let row = corpus.row(document);
                own.insert(&row)?;
                own_places.push(self.kept.len() as u32);
                self.filed.insert(&row)?;
                self.kept.push(document);
            }
            self.identical
                .entry(corpus.identity(document as usize))
                .or_insert(document);
            decisions.push(None);
        }
        Ok(())
    }

    /// The kept document with the same text, if it is the best there can be.
    ///
    /// A resemblance of 1 cannot be bettered, and an earlier document that also
    /// reaches it would have dropped the one with the same text. By distance the
    /// same holds only at distance 0: a recipe that reads titles may sketch one
    /// text in two ways.
    fn same_text(&self, corpus: &Corpus, document: u32) -> Option<Decision> {
        let kept = *self.identical.get(&corpus.identity(document as usize))?;
        let distance = self.rule.distance(corpus, document, kept);
        if self.verifier.is_none() && distance.is_some_and(|bits| bits > 0) {
            return None;
        }
        Some(Decision {
            kept,
            similarity: 1.0,
            distance,
            reason: Reason::Identical,
        })
    }

    /// For each query the best document among those kept before this chunk.
    ///
    /// Looked up a few at a time: as many as bring about [`FOUND`] candidates, by
    /// what the last ones brought. A template that everything shares so needs
    /// time, but no memory.
    fn best_among_filed(&mut self, corpus: &Corpus, searched: &[u32]) -> Result<Vec<Option<Best>>> {
        let mut best = Vec::with_capacity(searched.len());
        while best.len() < searched.len() {
            let some = &searched[best.len()..];
            let some = &some[..self.together.min(some.len())];
            let mut queries = Fingerprints::new(corpus.recipe().bits())?;
            for &document in some {
                queries.push(&corpus.row(document))?;
            }
            let near = self
                .filed
                .near_many_within(&queries, self.rule.max_distance)?;
            let found = near.ids.len().max(1);
            self.together = (some.len() * FOUND / found).clamp(1, CHUNK);
            let owners = near.owners();
            let pairs: Vec<(u32, u32)> = owners
                .iter()
                .zip(&near.ids)
                .map(|(&owner, &place)| (some[owner as usize], self.kept[place as usize]))
                .collect();
            let similarities = self.similarities(corpus, &pairs, &near.distances)?;
            let mut bests: Vec<Option<Best>> = vec![None; some.len()];
            for (at, similarity) in similarities.into_iter().enumerate() {
                if let Some(similarity) = similarity {
                    let found = Best {
                        place: near.ids[at],
                        similarity,
                        distance: u32::from(near.distances[at]),
                    };
                    let slot = &mut bests[owners[at] as usize];
                    *slot = Some(found.better(*slot));
                }
            }
            best.append(&mut bests);
        }
        Ok(best)
    }

    /// The best of `before` and of the chunk's own kept documents.
    fn best_of_chunk(
        &mut self,
        corpus: &Corpus,
        document: u32,
        before: Option<Best>,
        own: &Filed,
        own_places: &[u32],
    ) -> Result<Option<Best>> {
        let mut near = Vec::new();
        let row = corpus.row(document);
        own.near(&row, &mut near)?;
        let pairs: Vec<(u32, u32)> = near
            .iter()
            .map(|&(id, _)| (document, self.kept[own_places[id as usize] as usize]))
            .collect();
        let distances: Vec<u16> = near.iter().map(|&(_, distance)| distance).collect();
        let similarities = self.similarities(corpus, &pairs, &distances)?;
        let mut best = before;
        for (&(id, distance), similarity) in near.iter().zip(similarities) {
            if let Some(similarity) = similarity {
                let found = Best {
                    place: own_places[id as usize],
                    similarity,
                    distance: u32::from(distance),
                };
                best = Some(found.better(best));
            }
        }
        Ok(best)
    }

    /// The similarity of each candidate pair, `None` below the threshold.
    fn similarities(
        &mut self,
        corpus: &Corpus,
        pairs: &[(u32, u32)],
        distances: &[u16],
    ) -> Result<Vec<Option<f64>>> {
        self.candidates += pairs.len() as u64;
        let similarities = match &mut self.verifier {
            Some(verifier) => verifier.verify(corpus.texts(), pairs)?,
            None => {
                let bits = corpus.recipe().bits();
                distances
                    .iter()
                    .map(|&distance| Some(equal_bits(bits, u32::from(distance))))
                    .collect()
            }
        };
        self.verified += similarities.iter().flatten().count() as u64;
        Ok(similarities)
    }
}
