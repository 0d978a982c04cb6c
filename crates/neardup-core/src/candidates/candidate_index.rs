/*! The candidate index: files documents and looks them up, for every kind of sketch.

De-duplication needs two operations: file a document, and find the documents filed so far that may
be similar to another one. An [`InvertedIndex`](super::overlap::InvertedIndex) with one of two posting
stores does it by keys; for fingerprints in memory, a [`FingerprintIndex`] adds a scan.

A batch of documents is looked up at once, on all threads, in a snapshot: the documents filed before
the batch ([`near`](CandidateIndex::near)). Each document of the batch is then looked up, one by
one, among the documents added since the snapshot ([`near_since`](CandidateIndex::near_since)).
*/

use neardup_hamming::Fingerprints;

use super::key_scheme::KeyScheme;
use super::overlap::{Scratch, Scratches};
use super::schemes::search::Search;
use super::shuffle::external::ExternalIndex;
use super::shuffle::external_join::JoinedKeys;
use super::statistics::SearchStatistics;
use super::stores::fetched::{FetchedIndex, NewEntry};
use super::stores::fingerprints::FingerprintIndex;
use super::stores::numbered::NumberedIndex;
use crate::error::Result;
use crate::groups::Groups;
use crate::ids::{DocId, Place};
use crate::ragged::Ragged;
use crate::sketch::{SketchStore, Sketches};

/// Documents filed for look-up.
#[derive(Debug)]
pub struct CandidateIndex {
    kind: Kind,
    scratches: Scratches,
}

#[derive(Debug)]
enum Kind {
    Fingerprints(Box<FingerprintIndex>),
    InMemory(Box<NumberedIndex>),
    External(Box<ExternalIndex>),
    Fetched(Box<FetchedIndex>),
}

impl From<Kind> for CandidateIndex {
    fn from(kind: Kind) -> Self {
        CandidateIndex {
            kind,
            scratches: Scratches::default(),
        }
    }
}

impl CandidateIndex {
    /// An empty index for documents with these sketches,
    /// [identities](crate::corpus::Corpus::identity) and groups, of which at most one with the same
    /// sketch and the same text will be filed.
    ///
    /// # Errors
    ///
    /// If the search is for another kind of sketch, or does not fit the sketches.
    pub fn new(
        sketches: &Sketches,
        identities: &[u128],
        groups: &Groups,
        search: Search,
    ) -> Result<Self> {
        search.check(sketches)?;
        let bits = sketches.fingerprints().map_or(0, Fingerprints::bits);
        let scheme = KeyScheme::in_memory(search, bits)?.among(groups.clone());
        let kind = match search {
            Search::Near { max_distance } => {
                let index = FingerprintIndex::new(sketches, identities, scheme, max_distance)?;
                Kind::Fingerprints(Box::new(index))
            }
            _ => Kind::InMemory(Box::new(NumberedIndex::new(sketches, identities, scheme)?)),
        };
        Ok(kind.into())
    }

    /// An empty index for documents in this order, with keys stored in files.
    ///
    /// # Errors
    ///
    /// If `joined` holds the keys of another number of documents.
    pub fn external(store: &SketchStore, joined: JoinedKeys, order: &[DocId]) -> Result<Self> {
        let index = ExternalIndex::new(store, joined, order)?;
        Ok(Kind::External(Box::new(index)).into())
    }

    /// An index of the documents of a store, with the lists fetched in `fetched`.
    pub fn fetched(fetched: FetchedIndex) -> Self {
        Kind::Fetched(Box::new(fetched)).into()
    }

    /// Loads the next documents to look up and file, and returns how many are loaded: all of them
    /// if everything is in memory.
    ///
    /// # Errors
    ///
    /// If the documents are not the next ones in the order of the index, or cannot be read.
    pub fn load_batch(
        &mut self,
        corpus: Option<&SketchStore>,
        documents: &[DocId],
    ) -> Result<usize> {
        match (&mut self.kind, corpus) {
            (Kind::External(index), Some(store)) => index.load_batch(store, documents),
            _ => Ok(documents.len()),
        }
    }

    /// The entries to write into the store from which the lists were fetched.
    pub fn new_entries(&self) -> &[NewEntry] {
        match &self.kind {
            Kind::Fetched(index) => index.new_entries(),
            _ => &[],
        }
    }

    /// The counts of the search so far; none for fingerprints in memory.
    pub fn statistics(&self) -> SearchStatistics {
        let of_lists = match &self.kind {
            Kind::InMemory(index) => index.index.statistics(),
            Kind::External(index) => index.index.statistics(),
            Kind::Fetched(index) => index.statistics(),
            Kind::Fingerprints(_) => SearchStatistics::default(),
        };
        SearchStatistics {
            visited: self.scratches.visited(),
            ..of_lists
        }
    }

    /// The place of the next document, which is also the number of those filed.
    pub fn next_place(&self) -> Place {
        match &self.kind {
            Kind::Fingerprints(index) => index.next_place(),
            Kind::InMemory(index) => index.index.next_place(),
            Kind::External(index) => index.index.next_place(),
            Kind::Fetched(index) => index.next_place(),
        }
    }

    /// The place of the next document, from which on others will be looked up by
    /// [`near_since`](Self::near_since).
    pub fn snapshot(&mut self) -> Place {
        match &mut self.kind {
            Kind::InMemory(index) => index.snapshot(),
            _ => self.next_place(),
        }
    }

    /// Files a document.
    ///
    /// # Errors
    ///
    /// If there are too many fingerprints.
    pub fn insert(&mut self, sketches: &Sketches, document: DocId) -> Result<()> {
        match &mut self.kind {
            Kind::Fingerprints(index) => index.insert(sketches, document)?,
            Kind::InMemory(index) => index.insert(document),
            Kind::External(index) => index.insert(document),
            Kind::Fetched(index) => index.insert(sketches, document),
        }
        Ok(())
    }

    /// Looks up documents among all filed ones, on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than those filed.
    pub fn near(&self, sketches: &Sketches, documents: &[DocId]) -> Result<Ragged<Vec<Place>>> {
        if let Kind::Fingerprints(index) = &self.kind {
            return index.near(sketches, documents, &self.scratches);
        }
        let near = |document, scratch: &mut _, places: &mut _| {
            self.near_by_keys(sketches, document, Place(0), scratch, places);
        };
        let mut found = self.scratches.look_up(documents, near);
        if let Kind::Fetched(index) = &self.kind {
            let is_attached = |place: Place| index.documents()[place.index()].is_some();
            found.retain(|_, place| is_attached(place));
        }
        Ok(found)
    }

    /// Looks up a document among those filed at place `since` or later.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind than those filed.
    pub fn near_since(
        &self,
        sketches: &Sketches,
        document: DocId,
        since: Place,
    ) -> Result<Ragged<Vec<Place>>> {
        let mut found = Ragged::default();
        if let Kind::Fingerprints(index) = &self.kind {
            let near = index.near_since(sketches, document, since)?;
            found.push_with(|places| places.extend(near));
        } else {
            self.scratches.with(|scratch| {
                found.push_with(|places| {
                    self.near_by_keys(sketches, document, since, scratch, places);
                });
            });
        }
        Ok(found)
    }

    fn near_by_keys(
        &self,
        sketches: &Sketches,
        document: DocId,
        since: Place,
        scratch: &mut Scratch,
        places: &mut Vec<Place>,
    ) {
        match &self.kind {
            Kind::Fingerprints(_) => {}
            Kind::InMemory(index) => index.near(document, since, scratch, places),
            Kind::External(index) => index.near(document, since, scratch, places),
            Kind::Fetched(index) => index.near(sketches, document, since, scratch, places),
        }
    }
}
