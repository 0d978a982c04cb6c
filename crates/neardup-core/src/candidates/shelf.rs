/*! The shelf: documents filed for look-up, whatever their sketches are.

What de-duplication needs of a search: file a document, and find those filed so far
that may be similar to another. Behind it stand [`Filed`] for fingerprints, and for keys of signatures
and samples a `CandidateIndex` (`overlap.rs`) with one of three stores: [`InMemory`],
[`Outside`] where they do not fit into memory, or the fetched lists of [`Stored`].

A *mark* splits what is filed in two: a batch of documents is looked up among all
that stands before the mark at once, on all threads, and what the documents of the
batch mean to each other is asked one by one behind it.
*/

use super::filed::Filed;
use super::fingerprints::Fingerprints;
use super::numbered::InMemory;
use super::outside::Outside;
use super::overlap::Scratches;
use super::plan::Scheme;
use super::search::{Crowd, Found, LONGEST_OF_ALL, Search};
use super::sketches::Sketches;
use super::stored::{NewEntry, Stored};
use crate::corpus::SketchStore;
use crate::error::{Error, Result};

/// Documents filed for look-up.
#[derive(Debug)]
pub struct Shelf {
    kind: Kind,
    mark: u32,
    filed: u32,
    scratches: Scratches,
}

#[derive(Debug)]
enum Kind {
    Near {
        max_distance: u32,
        before: Filed,
        /// What stands behind the mark.
        behind: Filed,
    },
    InMemory(InMemory),
    Outside(Box<Outside>),
    Stored(Box<Stored>),
}

impl Shelf {
    /// Nothing filed yet. `longest` documents close a list of keys.
    ///
    /// # Errors
    ///
    /// If the search is for another kind of sketches, or does not fit them.
    pub fn new(sketches: &Sketches, search: Search, longest: u32, expected: u64) -> Result<Self> {
        sketches.check_search(search)?;
        let kind = match (sketches, search) {
            (Sketches::Fingerprints(fingerprints), Search::Near { max_distance }) => Kind::Near {
                max_distance,
                before: Filed::new(fingerprints.bits(), max_distance, expected)?,
                behind: Filed::with_scheme(fingerprints.bits(), max_distance, Scheme::Scan)?,
            },
            (Sketches::Signatures(signatures), Search::Bands(banding)) => {
                // A closed list would break what a banding promises.
                let longest = longest.max(LONGEST_OF_ALL);
                Kind::InMemory(InMemory::bands(signatures, banding, longest)?)
            }
            (Sketches::Samples(samples), Search::Postings { threshold }) => {
                Kind::InMemory(InMemory::rare_keys(samples, threshold, longest)?)
            }
            (Sketches::Samples(samples), Search::Prefix { threshold }) => {
                Kind::InMemory(InMemory::prefixes(samples, threshold)?)
            }
            _ => {
                return Err(Error::parameter(
                    "search",
                    "one for the kind of sketches that the recipe makes",
                    format!("{search:?}"),
                ));
            }
        };
        Ok(Shelf {
            kind,
            mark: 0,
            filed: 0,
            scratches: Scratches::default(),
        })
    }

    /// What a store has filed; the mark stands behind it and stays there.
    pub fn of_stored(stored: Stored) -> Self {
        let places = stored.documents().len() as u32;
        Shelf {
            kind: Kind::Stored(Box::new(stored)),
            mark: places,
            filed: places,
            scratches: Scratches::default(),
        }
    }

    /// What is filed of documents whose keys are outside of memory.
    pub fn of_outside(outside: Outside) -> Self {
        Shelf {
            kind: Kind::Outside(Box::new(outside)),
            mark: 0,
            filed: 0,
            scratches: Scratches::default(),
        }
    }

    /// Turns to the next documents to be looked up and filed, and says how many of them
    /// are at hand: all, if everything is in memory.
    ///
    /// # Errors
    ///
    /// If they are not the next of the order that the shelf was made for, or cannot be
    /// read.
    pub fn turn_to(&mut self, corpus: Option<&SketchStore>, documents: &[u32]) -> Result<usize> {
        match (&mut self.kind, corpus) {
            (Kind::Outside(outside), Some(store)) => outside.turn_to(store, documents),
            _ => Ok(documents.len()),
        }
    }

    /// What is to be written into the store, if this is the shelf of one.
    pub fn new_entries(&self) -> &[NewEntry] {
        match &self.kind {
            Kind::Stored(stored) => stored.new_entries(),
            _ => &[],
        }
    }

    /// How far documents have forms in common, where keys are postings.
    pub fn crowd(&self) -> Crowd {
        match &self.kind {
            Kind::InMemory(in_memory) => in_memory.crowd(),
            Kind::Outside(outside) => outside.crowd(),
            _ => Crowd::default(),
        }
    }

    /// The number of documents filed, which is the place of the next.
    pub fn len(&self) -> u32 {
        self.filed
    }

    /// Whether none is filed.
    pub fn is_empty(&self) -> bool {
        self.filed == 0
    }

    /// Sets the mark behind all that is filed.
    ///
    /// # Errors
    ///
    /// If there are too many fingerprints.
    pub fn set_mark(&mut self) -> Result<()> {
        if let Kind::Stored(_) = self.kind {
            return Ok(());
        }
        self.mark = self.filed;
        if let Kind::Near {
            before,
            behind,
            max_distance,
        } = &mut self.kind
        {
            let bits = behind.fingerprints().bits();
            let filed = std::mem::replace(
                behind,
                Filed::with_scheme(bits, *max_distance, Scheme::Scan)?,
            );
            before.extend(filed.fingerprints())?;
        }
        Ok(())
    }

    /// Files a document behind the mark.
    ///
    /// # Errors
    ///
    /// If there are too many fingerprints.
    pub fn insert(&mut self, sketches: &Sketches, document: u32) -> Result<()> {
        self.filed += 1;
        match &mut self.kind {
            Kind::Near { behind, .. } => {
                behind.insert(&row(sketches, document))?;
            }
            Kind::InMemory(in_memory) => in_memory.insert(document),
            Kind::Outside(outside) => outside.insert(document),
            Kind::Stored(stored) => stored.insert(sketches, document),
        }
        Ok(())
    }

    /// Looks documents up before the mark, on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If the sketches are not of the kind that is filed.
    pub fn before(&self, sketches: &Sketches, documents: &[u32]) -> Result<Found> {
        match &self.kind {
            Kind::Near {
                before,
                max_distance,
                ..
            } => {
                let bits = before.fingerprints().bits();
                let mut queries = Fingerprints::new(bits)?;
                for &document in documents {
                    queries.push(&row(sketches, document))?;
                }
                let near = before.near_many_within(&queries, *max_distance)?;
                Ok(Found {
                    offsets: near.offsets.iter().map(|&at| at as usize).collect(),
                    places: near.ids,
                })
            }
            Kind::InMemory(in_memory) => {
                let near = |document, scratch: &mut _, places: &mut _| {
                    in_memory.near(document, 0, scratch, places);
                };
                Ok(self.scratches.look_up(documents, near))
            }
            Kind::Outside(outside) => {
                let near = |document, scratch: &mut _, places: &mut _| {
                    outside.near(document, 0, scratch, places);
                };
                Ok(self.scratches.look_up(documents, near))
            }
            Kind::Stored(stored) => {
                let near = |document, scratch: &mut _, places: &mut _| {
                    stored.before(sketches, document, scratch, places);
                };
                Ok(self.scratches.look_up(documents, near))
            }
        }
    }

    /// Puts into `places` what was filed behind the mark and may be similar.
    ///
    /// # Errors
    ///
    /// If the sketches are not of the kind that is filed.
    pub fn behind(&self, sketches: &Sketches, document: u32, places: &mut Vec<u32>) -> Result<()> {
        places.clear();
        match &self.kind {
            Kind::Near { behind, .. } => {
                let mut near = Vec::new();
                behind.near(&row(sketches, document), &mut near)?;
                places.extend(near.iter().map(|&(id, _)| self.mark + id));
            }
            Kind::InMemory(in_memory) => {
                let near = |scratch: &mut _| in_memory.near(document, self.mark, scratch, places);
                self.scratches.with(near);
            }
            Kind::Outside(outside) => {
                let near = |scratch: &mut _| outside.near(document, self.mark, scratch, places);
                self.scratches.with(near);
            }
            Kind::Stored(stored) => {
                let near = |scratch: &mut _| stored.behind(sketches, document, scratch, places);
                self.scratches.with(near);
            }
        }
        Ok(())
    }
}

/// The fingerprint of a document; empty, and so refused, for other sketches.
fn row(sketches: &Sketches, document: u32) -> Vec<u64> {
    let fingerprints = sketches.fingerprints();
    fingerprints
        .and_then(|all| all.get(document as usize))
        .unwrap_or_default()
}
