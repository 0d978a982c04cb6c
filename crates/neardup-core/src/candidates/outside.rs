/*! A shelf whose keys are outside of memory, for documents in an order known before.

Takes what the [`exchange`](super::exchange) made of all documents. Yields what
[`Postings`](super::Postings) or [`Keyed`](super::Keyed) in memory would: places of earlier documents
that were kept and share enough keys. A batch of documents is at hand at a time, with
the lists of its keys; lists that many documents are filed in are filled and closed in
memory, as documents are kept.

In memory a document costs 11 bytes, and up to 24 more where it is filed under keys
that very many have.
*/

use rustc_hash::FxHashMap;

use super::exchange::blob::{self, Entry};
use super::exchange::joined::Joined;
use super::filing::Filing;
use super::postings::Share;
use super::search::{Crowd, Search};
use super::sketches::Sketches;
use crate::corpus::SketchStore;
use crate::error::{Error, Result};

/// No place: the document was not kept, or not yet.
const NOWHERE: u32 = u32::MAX;

/// Documents filed for look-up, a batch of all at hand.
#[derive(Debug)]
pub struct Outside {
    joined: Joined,
    order: Vec<u32>,
    /// How many of the order have been begun.
    begun: usize,
    current: Option<Batch>,
    /// Places of kept documents, by their position in the order.
    places: Vec<u32>,
    /// What each filed document asks for, by place.
    shares: Vec<Share>,
    /// The lists that were not exchanged.
    long: FxHashMap<u32, Long>,
    is_common: bool,
    longest: usize,
    /// Documents that have the key which most of them have, so far.
    largest: u32,
}

/// A list that is filled as documents are kept.
#[derive(Debug, Default)]
struct Long {
    places: Vec<u32>,
    /// Whether it has turned a document away.
    is_closed: bool,
}

/// The documents that are being decided, and the lists of their keys.
#[derive(Debug)]
struct Batch {
    end: usize,
    /// Positions in the order, by document.
    positions: FxHashMap<u32, usize>,
    begin: usize,
    sketches: Sketches,
    filing: Filing,
    entries: Vec<Entry>,
    /// Where the entries of each key are.
    lists: FxHashMap<u32, (u32, u32)>,
}

/// Room for look-ups; reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    keys: Vec<u64>,
    /// For each place the keys shared: rare ones, and common ones.
    shared: Vec<[u8; 2]>,
    met: Vec<u32>,
}

impl Outside {
    /// Nothing filed yet, of documents in this order.
    ///
    /// # Errors
    ///
    /// If the search has no keys, or the keys are those of another number of documents.
    pub fn new(search: Search, joined: Joined, order: &[u32]) -> Result<Self> {
        let filing = Filing::new(search, 0, std::sync::Arc::default())?;
        joined.check(order.len())?;
        let long = joined.long.iter().map(|&key| (key, Long::default()));
        Ok(Outside {
            places: vec![NOWHERE; order.len()],
            order: order.to_vec(),
            begun: 0,
            current: None,
            shares: Vec::new(),
            long: long.collect(),
            is_common: matches!(search, Search::Postings { .. }),
            longest: filing.longest(),
            largest: 0,
            joined,
        })
    }

    /// Turns to the next documents of the order, which must be the first of `wanted`, and
    /// says how many of them are at hand.
    ///
    /// # Errors
    ///
    /// If the documents are others, or what is stored of them cannot be read.
    pub fn turn_to(&mut self, store: &SketchStore, wanted: &[u32]) -> Result<usize> {
        let end = self.current.as_ref().map_or(0, |batch| batch.end);
        let end = match end > self.begun {
            true => end,
            false => self.load(store)?,
        };
        let rest = &self.order[self.begun..end];
        let count = wanted.len().min(rest.len());
        if rest[..count] != wanted[..count] || count == 0 {
            return Err(Error::input(
                "the documents to decide",
                "in the order in which their keys were exchanged",
                "others",
            ));
        }
        self.begun += count;
        Ok(count)
    }

    fn load(&mut self, store: &SketchStore) -> Result<usize> {
        let begin = self.begun;
        let end = (begin + self.joined.batch).min(self.order.len());
        let documents = &self.order[begin..end];
        let number = begin / self.joined.batch;
        let counts = self.joined.counts.column(number)?;
        let counts = self.joined.exchange.key_counts(&counts)?;
        self.largest = self.largest.max(counts.largest());
        let sketches = store.read(documents)?;
        let filing = self.joined.exchange.filing(&sketches, counts.frequent())?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut lists = FxHashMap::default();
        for bytes in self.joined.lists.column(number)? {
            let first = entries.len();
            entries.extend(blob::read_entries(&bytes)?);
            let known = self.order.len() as u64;
            if let Some(entry) = entries[first..].iter().find(|one| one.number >= known) {
                return Err(Error::input(
                    "the stored keys of an earlier run",
                    format!("those of {known} documents"),
                    format!("one of document {}", entry.number),
                ));
            }
            let mut at = first as u32;
            for list in entries[first..].chunk_by(|a, b| a.key == b.key) {
                let end = at + list.len() as u32;
                lists.insert(list[0].key, (at, end));
                at = end;
            }
        }
        self.current = Some(Batch {
            begin,
            end,
            positions: documents.iter().copied().zip(begin..).collect(),
            sketches,
            filing,
            entries,
            lists,
        });
        Ok(end)
    }

    /// Lists that are closed, and the key that most documents have of those begun.
    pub fn crowd(&self) -> Crowd {
        // Bands are shared by those that are alike, and no form.
        if !self.is_common {
            return Crowd::default();
        }
        let closed = self.long.values().filter(|list| list.is_closed);
        Crowd {
            closed: closed.count() as u64,
            largest: self.largest,
        }
    }

    /// Files a document of the batch at hand.
    pub fn insert(&mut self, document: u32) {
        let place = self.shares.len() as u32;
        let mut share = Share::ONE;
        if let Some((batch, position)) = at_hand(self.current.as_ref(), document) {
            self.places[position] = place;
            let at = (position - batch.begin) as u32;
            let mut filed = Vec::new();
            batch
                .filing
                .filed(&batch.sketches, at, |_| false, &mut filed);
            for (key, own) in filed {
                share = own;
                if let Some(list) = self.long.get_mut(&(key as u32)) {
                    match list.places.len() < self.longest {
                        true => list.places.push(place),
                        false => list.is_closed = true,
                    }
                }
            }
        }
        self.shares.push(share);
    }

    /// Adds to `found` the places from `from` on whose documents share enough keys with
    /// `document`, which is at hand, ascending.
    pub fn near(&self, document: u32, from: u32, counts: &mut Counts, found: &mut Vec<u32>) {
        let Some((batch, position)) = at_hand(self.current.as_ref(), document) else {
            return;
        };
        let at = (position - batch.begin) as u32;
        let Counts { keys, shared, met } = counts;
        shared.resize(self.shares.len(), [0; 2]);
        let mut meet = |place: u32, is_common: bool| {
            let shared = &mut shared[place as usize];
            if *shared == [0; 2] {
                met.push(place);
            }
            let count = &mut shared[usize::from(is_common)];
            *count = count.saturating_add(1);
        };
        batch.filing.looked_up(&batch.sketches, at, keys);
        for key in keys.iter().map(|&key| key as u32) {
            if let Some(&(begin, end)) = batch.lists.get(&key) {
                for entry in &batch.entries[begin as usize..end as usize] {
                    let place = self.places[entry.number as usize];
                    if place >= from && place != NOWHERE {
                        meet(place, entry.share.is_common);
                    }
                }
            } else if let Some(list) = self.long.get(&key) {
                let places = list.places.iter().rev().take_while(|&&place| place >= from);
                places.for_each(|&place| meet(place, self.is_common));
            }
        }
        let own = batch.filing.share(&batch.sketches, at);
        let begin = found.len();
        for place in met.drain(..) {
            let [rare, common] = std::mem::take(&mut shared[place as usize]);
            let share = own.or_less(self.shares[place as usize]);
            if share.is_reached(rare.into(), common.into()) {
                found.push(place);
            }
        }
        found[begin..].sort_unstable();
    }
}

fn at_hand(batch: Option<&Batch>, document: u32) -> Option<(&Batch, usize)> {
    let batch = batch?;
    let position = *batch.positions.get(&document)?;
    Some((batch, position))
}
