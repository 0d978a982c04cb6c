//! The one rule, applied to documents in priority order.
//!
//! Only kept documents are filed for look-up, so a text posted a million times costs a million
//! look-ups and not half a million million comparisons. A chunk of documents is looked up and
//! verified in parallel against everything kept before it. Duplicates inside the chunk are then
//! resolved one by one, so the result is that of a loop over single documents, for any chunk size.

use crate::candidates::{
    CandidateIndex, ExternalJoin, FetchedIndex, JoinedKeys, NewEntry, SearchStatistics,
};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::identity::FirstByText;
use crate::ids::{DocId, Place};
use crate::judge::{Judge, Rule};
use crate::ragged::Ragged;
use crate::similar::Similar;
use crate::sketch::SketchStore;

/// The number of documents that are decided together.
pub const CHUNK: usize = 1024;

/// The target number of candidates of one look-up.
const CANDIDATES: usize = 1 << 18;

/// The number of documents kept for their unique text that are remembered.
const SHOWN: usize = 10;

/// Why a document was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has the same text as the kept document.
    Identical,
    /// It is verified similar to the kept document.
    Similar,
}

/// The decision on one document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The kept document that it repeats.
    pub kept: DocId,
    /// Similarity to it, in [0, 1].
    pub similarity: f64,
    /// Differing bits between the fingerprints; `None` if either document has no sketch.
    pub distance: Option<u32>,
    /// Identical or similar.
    pub reason: Reason,
}

/// Decides documents of one [`Corpus`], in the order in which they are passed in.
#[derive(Debug)]
pub struct Clusterer {
    judge: Judge,
    index: CandidateIndex,
    /// The filed documents, by place.
    kept: Vec<DocId>,
    identical: FirstByText,
    /// The documents of a store; `None` where documents are kept by the rule alone.
    stored: Option<Vec<DocId>>,
    kept_by_unique_text: u64,
    shown: Vec<(DocId, Similar<DocId>)>,
    /// The number of documents that are looked up at once.
    lookups: usize,
}

/// A kept document.
type Best = Similar<Place>;

impl Clusterer {
    /// A clusterer with nothing kept yet, for the documents of a finished corpus.
    ///
    /// # Errors
    ///
    /// If the rule needs another kind of sketch than the corpus has.
    pub fn new(corpus: &Corpus, rule: Rule) -> Result<Self> {
        let index = CandidateIndex::new(
            corpus.sketches(),
            corpus.identities(),
            corpus.groups(),
            rule.search,
        )?;
        Ok(Clusterer::of(corpus, rule, index))
    }

    fn of(corpus: &Corpus, rule: Rule, index: CandidateIndex) -> Self {
        Clusterer {
            judge: Judge::new(corpus, rule),
            index,
            kept: Vec::new(),
            identical: FirstByText::default(),
            stored: None,
            kept_by_unique_text: 0,
            shown: Vec::new(),
            lookups: CHUNK,
        }
    }

    /// Starts to shuffle the keys of a finished corpus whose sketches are outside of memory, for a
    /// clusterer that will decide its documents in this order.
    ///
    /// # Errors
    ///
    /// If the sketches are in memory, the search has no keys to shuffle, or files
    /// cannot be made.
    pub fn join(corpus: &Corpus, rule: Rule, order: &[DocId]) -> Result<ExternalJoin> {
        let mut first = FirstByText::default();
        let is_first = order
            .iter()
            .map(|&document| first.insert(corpus.identities(), document));
        let has_sketch = |&document: &DocId| rule.bounds.has_sketch(corpus, document);
        let memory = corpus.memory();
        let folder = memory.folder.as_deref();
        let join = ExternalJoin::new(
            rule.search,
            stored_sketches(corpus)?,
            order,
            is_first.collect(),
            order.iter().map(has_sketch).collect(),
            memory.keys,
            folder,
        )?;
        Ok(join.among(corpus.groups().clone()))
    }

    /// A clusterer with nothing kept yet that uses keys shuffled for this order.
    ///
    /// # Errors
    ///
    /// If the search has no keys to shuffle.
    pub fn joined(
        corpus: &Corpus,
        rule: Rule,
        joined: JoinedKeys,
        order: &[DocId],
    ) -> Result<Self> {
        let index = CandidateIndex::external(stored_sketches(corpus)?, joined, order)?;
        Ok(Clusterer::of(corpus, rule, index))
    }

    /// A clusterer among the documents of a store. `stored` lists the corpus numbers of stored
    /// documents that are attached to `lists` or may have the same text, in the order in which they
    /// were filed. The first documents of the corpus are a batch of at most [`CHUNK`] documents, to
    /// be decided in one call.
    ///
    /// # Errors
    ///
    /// If the batch is larger, or `lists` was made for other documents.
    pub fn of_stored(
        corpus: &Corpus,
        rule: Rule,
        lists: FetchedIndex,
        stored: &[DocId],
    ) -> Result<Self> {
        let batch = corpus.len() - stored.len();
        if batch > CHUNK {
            return Err(Error::input(
                "a batch",
                format!("at most {CHUNK} documents"),
                batch,
            ));
        }
        lists.check(corpus.sketches(), batch)?;
        let mut identical = FirstByText::default();
        for &document in stored {
            identical.insert(corpus.identities(), document);
        }
        // A place without a document is never found.
        let kept = lists.documents().iter();
        let kept = kept
            .map(|document| document.unwrap_or(DocId(u32::MAX)))
            .collect();
        Ok(Clusterer {
            kept,
            identical,
            stored: Some(stored.to_vec()),
            ..Clusterer::of(corpus, rule, CandidateIndex::fetched(lists))
        })
    }

    /// The entries to write into the store; empty unless the clusterer was made
    /// [of stored documents](Self::of_stored).
    pub fn new_entries(&self) -> &[NewEntry] {
        self.index.new_entries()
    }

    /// The counts of the search so far.
    pub fn statistics(&self) -> SearchStatistics {
        self.index.statistics()
    }

    /// The number of candidate pairs examined so far.
    pub fn candidates(&self) -> u64 {
        self.judge.candidates()
    }

    /// The number of documents that were not dropped so far only because of unique text next to boilerplate.
    pub fn kept_by_unique_text(&self) -> u64 {
        self.kept_by_unique_text
    }

    /// The first ten [of these](Self::kept_by_unique_text) in the order of their decisions, each with the kept
    /// document for which it would have been dropped.
    pub fn first_kept_by_unique_text(&self) -> &[(DocId, Similar<DocId>)] {
        &self.shown
    }

    /// The number of candidate pairs verified as similar so far.
    pub fn verified(&self) -> u64 {
        self.judge.verified()
    }

    /// See [`Judge::bytes_compared`].
    pub fn bytes_compared(&self) -> u64 {
        self.judge.bytes_compared()
    }

    /// Decides `documents`, numbers in `corpus`, in this order. Unreadable documents are kept, and
    /// no other document is dropped because of them.
    ///
    /// Runs on the current rayon pool. The result depends neither on its size nor on how the
    /// documents are divided into calls.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn decide(
        &mut self,
        corpus: &Corpus,
        documents: &[DocId],
    ) -> Result<Vec<Option<Decision>>> {
        let mut decisions = Vec::with_capacity(documents.len());
        self.each_chunk(corpus, documents, |clusterer, chunk| {
            clusterer.decide_chunk(corpus, chunk, true, &mut decisions)
        })?;
        Ok(decisions)
    }

    /// Like [`decide`](Self::decide), but files none of `documents`: each is compared with those
    /// filed before, and never with another of them.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub fn look_up(
        &mut self,
        corpus: &Corpus,
        documents: &[DocId],
    ) -> Result<Vec<Option<Decision>>> {
        let mut decisions = Vec::with_capacity(documents.len());
        self.each_chunk(corpus, documents, |clusterer, chunk| {
            clusterer.decide_chunk(corpus, chunk, false, &mut decisions)
        })?;
        Ok(decisions)
    }

    /// Keeps and files `documents`, in this order, without a comparison: documents of another
    /// collection, whatever they repeat. Of those with the same text, the first is filed.
    ///
    /// # Errors
    ///
    /// If a sketch cannot be read back.
    pub fn file(&mut self, corpus: &Corpus, documents: &[DocId]) -> Result<()> {
        self.each_chunk(corpus, documents, |clusterer, chunk| {
            for &document in chunk {
                let is_readable = corpus.features(document).is_some();
                if is_readable && clusterer.same_text(corpus, document).is_none() {
                    clusterer.keep(corpus, document)?;
                }
            }
            Ok(())
        })
    }

    /// Calls `act` with the next documents that are loaded together.
    fn each_chunk(
        &mut self,
        corpus: &Corpus,
        documents: &[DocId],
        mut act: impl FnMut(&mut Self, &[DocId]) -> Result<()>,
    ) -> Result<()> {
        let mut rest = documents;
        while !rest.is_empty() {
            let wanted = &rest[..rest.len().min(CHUNK)];
            let (chunk, later) =
                rest.split_at(self.index.load_batch(corpus.stored_sketches(), wanted)?);
            act(self, chunk)?;
            rest = later;
        }
        Ok(())
    }

    /// Files a kept document, by its sketch if it has one, and by its text.
    fn keep(&mut self, corpus: &Corpus, document: DocId) -> Result<()> {
        if self.judge.bounds().has_sketch(corpus, document) {
            self.index.insert(corpus.sketches(), document)?;
            self.kept.push(document);
        }
        self.identical.insert(corpus.identities(), document);
        Ok(())
    }

    /// All kept documents that a document of the corpus repeats, the most similar first and the
    /// earlier first in a tie. This decides nothing.
    ///
    /// # Errors
    ///
    /// If a stored text cannot be read back.
    pub fn similar(&mut self, corpus: &Corpus, document: DocId) -> Result<Vec<Decision>> {
        if corpus.features(document).is_none() {
            return Ok(Vec::new());
        }
        let same = self.same_texts(corpus, document);
        let mut found: Vec<Decision> = same
            .iter()
            .map(|&kept| self.decision_by_text(corpus, document, kept))
            .collect();
        if self.judge.bounds().has_sketch(corpus, document) {
            let mut found_near = self.index.near(corpus.sketches(), &[document])?;
            let pairs = self.candidate_pairs(corpus, &[document], &mut found_near);
            let similarities = self.judge.similarities(corpus, &pairs)?;
            let similar = found_near.values().iter().zip(similarities);
            found.extend(similar.filter_map(|(&place, similarity)| {
                let kept = self.kept[place.index()];
                let similarity = similarity.filter(|_| !same.contains(&kept))?;
                Some(self.decision(corpus, document, kept, similarity))
            }));
        }
        // The sort is stable, and places are in the order of filing.
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        Ok(found)
    }

    fn decide_chunk(
        &mut self,
        corpus: &Corpus,
        chunk: &[DocId],
        files: bool,
        decisions: &mut Vec<Option<Decision>>,
    ) -> Result<()> {
        // Documents that an identical kept document already settles, and documents without a
        // sketch, are not searched.
        let searched: Vec<DocId> = chunk
            .iter()
            .copied()
            .filter(|&document| {
                self.judge.bounds().has_sketch(corpus, document)
                    && self.same_text(corpus, document).is_none()
            })
            .collect();
        let snapshot = self.index.snapshot();
        let mut earlier = self.best_before(corpus, &searched)?.into_iter();
        let mut searched = searched.into_iter().peekable();
        for &document in chunk {
            let was_searched = searched.next_if_eq(&document).is_some();
            let before = if was_searched {
                earlier.next().flatten()
            } else {
                None
            };
            if corpus.features(document).is_none() {
                decisions.push(None);
                continue;
            }
            if let Some(decision) = self.same_text(corpus, document) {
                decisions.push(Some(decision));
                continue;
            }
            let best = if was_searched && files {
                self.best_since(corpus, document, snapshot, before)?
            } else {
                before
            };
            let without_unique_text = self.judge.take_kept_by_unique_text(document);
            if let Some(without_unique_text) = without_unique_text.filter(|_| best.is_none()) {
                self.kept_by_unique_text += 1;
                if self.shown.len() < SHOWN {
                    self.shown.push((document, without_unique_text));
                }
            }
            if let Some(best) = best {
                let kept = self.kept[best.of.index()];
                decisions.push(Some(self.decision(corpus, document, kept, best.similarity)));
                continue;
            }
            if files {
                self.keep(corpus, document)?;
            }
            decisions.push(None);
        }
        Ok(())
    }

    /// The kept document with the same text, if no other can be better.
    ///
    /// No similarity exceeds 1, and an earlier document that also reaches 1 would have caused the
    /// one with the same text to be dropped.
    fn same_text(&self, corpus: &Corpus, document: DocId) -> Option<Decision> {
        let identity = corpus.identity(document);
        let kept = self.identical.get(corpus.identities(), identity)?;
        self.judge
            .bounds()
            .is_same(corpus, document, kept)
            .then(|| self.decision_by_text(corpus, document, kept))
    }

    /// All kept documents with the same text: several in a store, where a person may keep a copy.
    fn same_texts(&self, corpus: &Corpus, document: DocId) -> Vec<DocId> {
        let Some(stored) = &self.stored else {
            let same = self.same_text(corpus, document);
            return same.map(|same| same.kept).into_iter().collect();
        };
        let is_same = |&kept: &DocId| {
            corpus.identity(kept) == corpus.identity(document)
                && self.judge.bounds().is_same(corpus, document, kept)
        };
        stored.iter().copied().filter(is_same).collect()
    }

    /// The decision that a document has the text of a kept one.
    fn decision_by_text(&self, corpus: &Corpus, document: DocId, kept: DocId) -> Decision {
        Decision {
            reason: Reason::Identical,
            ..self.decision(corpus, document, kept, 1.0)
        }
    }

    /// The decision that a document is similar to a kept one.
    fn decision(&self, corpus: &Corpus, document: DocId, kept: DocId, similarity: f64) -> Decision {
        Decision {
            kept,
            similarity,
            distance: self.judge.bounds().distance(corpus, document, kept),
            reason: Reason::Similar,
        }
    }

    /// For each document, the best document among those kept before this chunk.
    ///
    /// Documents are looked up a few at a time: as many as should yield about [`CANDIDATES`] candidates,
    /// judging by the previous look-up. A template that all documents share therefore costs time,
    /// but no memory.
    fn best_before(&mut self, corpus: &Corpus, searched: &[DocId]) -> Result<Vec<Option<Best>>> {
        let mut best = Vec::with_capacity(searched.len());
        while best.len() < searched.len() {
            let some = &searched[best.len()..];
            let some = &some[..self.lookups.min(some.len())];
            let mut found = self.index.near(corpus.sketches(), some)?;
            best.extend(self.best(corpus, some, &mut found)?);
            self.lookups = (some.len() * CANDIDATES / found.values().len().max(1)).clamp(1, CHUNK);
        }
        Ok(best)
    }

    /// The better of `before` and the best kept document of this chunk.
    fn best_since(
        &mut self,
        corpus: &Corpus,
        document: DocId,
        snapshot: Place,
        before: Option<Best>,
    ) -> Result<Option<Best>> {
        let sketches = corpus.sketches();
        let mut found = self.index.near_since(sketches, document, snapshot)?;
        if found.values().is_empty() {
            return Ok(before);
        }
        let since = self.best(corpus, &[document], &mut found)?[0];
        Ok(Best::best(since.into_iter().chain(before)))
    }

    /// Keeps only the candidates in `found` and returns, for each document, the best of them.
    fn best(
        &mut self,
        corpus: &Corpus,
        documents: &[DocId],
        found: &mut Ragged<Vec<Place>>,
    ) -> Result<Vec<Option<Best>>> {
        let pairs = self.candidate_pairs(corpus, documents, found);
        let best = self.judge.best(corpus, &pairs, &found.offsets()[1..])?;
        let in_kept = |best: Similar<usize>| Best {
            of: found.values()[best.of],
            similarity: best.similarity,
        };
        Ok(best.into_iter().map(|best| best.map(in_kept)).collect())
    }

    /// Keeps only the candidates in `found` and returns them as pairs of documents.
    fn candidate_pairs(
        &self,
        corpus: &Corpus,
        documents: &[DocId],
        found: &mut Ragged<Vec<Place>>,
    ) -> Vec<(DocId, DocId)> {
        let kept = |place: Place| self.kept[place.index()];
        found.retain(|at, place| self.judge.is_candidate(corpus, documents[at], kept(place)));
        let pairs = found.pairs(documents);
        pairs
            .map(|(document, place)| (document, kept(place)))
            .collect()
    }
}

/// The sketches of a corpus that are outside of memory.
fn stored_sketches(corpus: &Corpus) -> Result<&SketchStore> {
    let inside = || Error::input("the sketches of a corpus", "outside of memory", "inside");
    corpus.stored_sketches().ok_or_else(inside)
}
