/*! Postings: who shares how many of the keys that a document is filed under.

A document of a sample is filed under a few of its keys and looked up by all of them.
So a look-up meets every document that was filed under keys which this one has, and
how many of them it has says whether the two are candidates: it depends on nothing
but the two samples and on what [`Frequent`] knew when the first was filed.

**What a document is filed under.** Its [`RARE_KEYS`] smallest keys among those that at
most [`FEW`] documents of the collection have, and the [`COMMON_KEYS`] rarest of the
others. The smallest keys, because a sample of a larger rate keeps just these. The
others, because copies of a text that is posted a hundred times have few rare keys
in common.

**How many must be shared**: of the rare ones a third of what the threshold asks for,
and at least one; or three quarters of what it asks for of all ([`Share`]); by the
keys of that document of the two which asks for less. Of two texts of one length and
a resemblance t, each key is shared with probability 2 t / (1 + t); of a text and an
excerpt of it with t, if the text was filed. So at .45 one excerpt in a thousand is
missed, and hardly a pair of one length.

**Template.** A key that many documents have is a form and no content. A list is
therefore closed once it holds so many documents: later ones find the first of
those that share the form, and each other only by what else they share. If only kept
documents are filed, one text posted a thousand times is in each list once, and does
not close it.

In memory a document costs 4 bytes for each key of its sample, and 4 for each entry
of a list.
*/

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::keys::{Numbering, SINGLE};
use super::search::Crowd;
use super::sketches::Samples;
use crate::error::Result;

/// Documents that have a key, at most, for it to be rare.
pub const FEW: u32 = 32;

/// Rare keys that a document is filed under, at most.
pub const RARE_KEYS: usize = 16;

/// Other keys that a document is filed under, at most.
pub const COMMON_KEYS: usize = 6;

/// How many documents of a collection have a key, for the keys that more than [`FEW`]
/// of them have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frequent {
    counts: HashMap<u32, u32, FxBuildHasher>,
}

impl Frequent {
    /// Counts the keys of some samples.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn of(samples: &Samples) -> Result<Self> {
        let numbering = Numbering::of(samples.keys())?;
        let counts = numbering.numbers.iter().zip(samples.keys());
        let counts = counts.filter_map(|(&number, &key)| {
            let documents = *numbering.lengths.get(number as usize)?;
            (documents > FEW).then_some((key, documents))
        });
        Ok(Frequent {
            counts: counts.collect(),
        })
    }

    /// The same from keys and their counts; those of [`FEW`] and less are left out.
    pub fn from_counts(counts: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let counts = counts.into_iter().filter(|&(_, count)| count > FEW);
        Frequent {
            counts: counts.collect(),
        }
    }

    /// Keys and their counts, by key.
    pub fn sorted(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = self
            .counts
            .iter()
            .map(|(&key, &count)| (key, count))
            .collect();
        all.sort_unstable();
        all
    }

    /// The number of documents that have a key; 0 for a rare one.
    pub fn count(&self, key: u32) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }
}

/// How many of the keys that a document is filed under another must have to be a
/// candidate, and to which of the two kinds a key belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Whether the key is none of the rare ones.
    pub is_common: bool,
    /// Rare keys that are enough.
    pub rare: u8,
    /// Keys of both kinds that are enough.
    pub any: u8,
}

impl Share {
    /// Nothing but one shared key is asked for.
    pub const ONE: Share = Share {
        is_common: false,
        rare: 1,
        any: 1,
    };

    /// Of a document with so many keys of both kinds.
    pub(super) fn of(rare: usize, common: usize, threshold: f64) -> Self {
        let (rare, common) = (rare.min(RARE_KEYS), common.min(COMMON_KEYS));
        let any = (rare + common) as f64 * threshold * 0.75;
        Share {
            is_common: false,
            rare: (rare as f64 * threshold / 3.0).floor().max(1.0) as u8,
            any: any.ceil().max(1.0) as u8,
        }
    }

    /// What the one asks for that asks for less, of each kind: a text and a much
    /// shorter one are then candidates whichever of them was filed.
    pub(super) fn or_less(self, other: Share) -> Self {
        Share {
            is_common: self.is_common,
            rare: self.rare.min(other.rare),
            any: self.any.min(other.any),
        }
    }

    /// Whether so many shared keys are enough.
    pub fn is_reached(self, rare: u32, common: u32) -> bool {
        rare >= u32::from(self.rare) || rare + common >= u32::from(self.any)
    }

    /// The same as one number, to be stored.
    pub fn to_bits(self) -> u16 {
        u16::from(self.is_common) << 10 | u16::from(self.any) << 5 | u16::from(self.rare)
    }

    /// What [`to_bits`](Self::to_bits) was made of.
    pub fn from_bits(bits: u16) -> Self {
        Share {
            is_common: bits >> 10 & 1 == 1,
            any: (bits >> 5 & 31) as u8,
            rare: (bits & 31) as u8,
        }
    }
}

/// Chooses what a document is filed under: positions into `keys`, its sample in
/// ascending order. `count` tells of a position in how many documents that key
/// stands, 0 for a rare one, and `None` for a rare one whose list is closed all the
/// same: where what is frequent was counted on a part of the documents.
pub(super) fn choose(
    keys: &[u32],
    threshold: f64,
    count: impl Fn(usize) -> Option<u32>,
    chosen: &mut Vec<(usize, Share)>,
) {
    chosen.clear();
    let mut common: Vec<(u32, usize)> = Vec::new();
    for at in 0..keys.len() {
        match count(at) {
            Some(0) if chosen.len() < RARE_KEYS => chosen.push((at, Share::default())),
            Some(0) | None => {}
            Some(documents) => common.push((documents, at)),
        }
    }
    common.sort_unstable();
    common.truncate(COMMON_KEYS);
    let share = Share::of(chosen.len(), common.len(), threshold);
    for (_, own) in chosen.iter_mut() {
        *own = share;
    }
    let of_common = Share {
        is_common: true,
        ..share
    };
    chosen.extend(common.into_iter().map(|(_, at)| (at, of_common)));
}

/// Documents of one collection of samples, filed in memory.
#[derive(Clone, Debug)]
pub struct Postings {
    threshold: f64,
    /// Where each sample begins.
    offsets: Vec<u64>,
    numbering: Numbering,
    /// Where the room of each key's list begins, and at last where the last ends.
    begins: Vec<usize>,
    /// Documents in each list; one more than there is room for if it has turned one away.
    lengths: Vec<u32>,
    /// Places in the order of filing.
    entries: Vec<u32>,
    /// What each filed document asks for.
    shares: Vec<Share>,
}

/// Room for look-ups; reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// For each place the keys shared: rare ones, and common ones.
    shared: Vec<[u8; 2]>,
    met: Vec<u32>,
}

impl Postings {
    /// Nothing filed yet; `longest` documents close a list.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn new(samples: &Samples, threshold: f64, longest: u32) -> Result<Self> {
        let numbering = Numbering::of(samples.keys())?;
        let mut begins = Vec::with_capacity(numbering.lengths.len() + 1);
        let mut end = 0;
        begins.push(end);
        for &documents in &numbering.lengths {
            end += documents.min(longest) as usize;
            begins.push(end);
        }
        Ok(Postings {
            threshold,
            offsets: samples.offsets().to_vec(),
            lengths: vec![0; numbering.lengths.len()],
            entries: vec![0; end],
            numbering,
            begins,
            shares: Vec::new(),
        })
    }

    /// The number of documents filed.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether none is filed.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Lists that have turned documents away, and the key that most documents have.
    pub fn crowd(&self) -> Crowd {
        let rooms = self.begins.windows(2).map(|ends| ends[1] - ends[0]);
        let closed = rooms
            .zip(&self.lengths)
            .filter(|&(room, &length)| length as usize > room);
        Crowd {
            closed: closed.count() as u64,
            largest: self.numbering.lengths.last().copied().unwrap_or(0),
        }
    }

    /// Files a document of the collection.
    pub fn insert(&mut self, samples: &Samples, document: u32) {
        let place = self.shares.len() as u32;
        let numbers = self.numbers(document);
        let lengths = &self.numbering.lengths;
        let count = |at: usize| {
            let documents = lengths.get(numbers[at] as usize);
            Some(documents.copied().filter(|&many| many > FEW).unwrap_or(0))
        };
        let mut chosen = Vec::new();
        choose(samples.of(document), self.threshold, count, &mut chosen);
        let share = chosen.first().map_or(Share::ONE, |&(_, share)| share);
        let begin = self.offsets[document as usize] as usize;
        for (at, _) in chosen {
            let number = self.numbering.numbers[begin + at];
            // A key that nobody else has brings nobody together.
            if number == SINGLE {
                continue;
            }
            let number = number as usize;
            let at = self.begins[number] + self.lengths[number] as usize;
            if at <= self.begins[number + 1] {
                self.lengths[number] += 1;
            }
            if at < self.begins[number + 1] {
                self.entries[at] = place;
            }
        }
        self.shares.push(share);
    }

    /// Adds to `found` the places from `from` on whose documents share enough
    /// keys with `document`, ascending.
    pub fn near(&self, document: u32, from: u32, counts: &mut Counts, found: &mut Vec<u32>) {
        counts.shared.resize(self.len(), [0; 2]);
        let own = self.share(document);
        for &number in self.numbers(document).iter().filter(|&&n| n != SINGLE) {
            let number = number as usize;
            let kind = usize::from(self.numbering.lengths[number] > FEW);
            let begin = self.begins[number];
            let end = begin + self.lengths[number] as usize;
            let list = &self.entries[begin..end.min(self.begins[number + 1])];
            for &place in list.iter().rev().take_while(|&&place| place >= from) {
                let shared = &mut counts.shared[place as usize];
                if *shared == [0; 2] {
                    counts.met.push(place);
                }
                shared[kind] += 1;
            }
        }
        let begin = found.len();
        for place in counts.met.drain(..) {
            let [rare, common] = std::mem::take(&mut counts.shared[place as usize]);
            let share = own.or_less(self.shares[place as usize]);
            if share.is_reached(rare.into(), common.into()) {
                found.push(place);
            }
        }
        found[begin..].sort_unstable();
    }

    fn share(&self, document: u32) -> Share {
        let numbers = self.numbers(document).iter();
        let lengths = numbers.filter_map(|&number| self.numbering.lengths.get(number as usize));
        let common = lengths.filter(|&&documents| documents > FEW).count();
        Share::of(
            self.numbers(document).len() - common,
            common,
            self.threshold,
        )
    }

    fn numbers(&self, document: u32) -> &[u32] {
        let bounds = &self.offsets[document as usize..document as usize + 2];
        &self.numbering.numbers[bounds[0] as usize..bounds[1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Sketches;
    use crate::sketch::{Settings, Sketch};

    fn samples(documents: &[Vec<u32>]) -> Sketches {
        let mut sketches = Sketches::new(&Settings::Sample { size: 32 }).unwrap();
        for keys in documents {
            let mut values = keys.clone();
            values.sort_unstable();
            let sketch = Sketch {
                values,
                rate: 1,
                ..Sketch::default()
            };
            sketches.push(&sketch).unwrap();
        }
        sketches
    }

    fn candidates(documents: &[Vec<u32>], threshold: f64, longest: u32) -> Vec<(u32, u32)> {
        let Sketches::Samples(samples) = samples(documents) else {
            unreachable!()
        };
        let mut postings = Postings::new(&samples, threshold, longest).unwrap();
        let (mut counts, mut found) = (Counts::default(), Vec::new());
        let mut pairs = Vec::new();
        for document in 0..documents.len() as u32 {
            found.clear();
            postings.near(document, 0, &mut counts, &mut found);
            pairs.extend(found.iter().map(|&place| (place, document)));
            postings.insert(&samples, document);
        }
        pairs
    }

    #[test]
    fn the_smallest_rare_keys_and_the_rarest_others_are_chosen() {
        let keys: Vec<u32> = (0..40).collect();
        let mut chosen = Vec::new();
        // Every other key is common, the larger the rarer.
        let count = |at: usize| {
            Some(if at.is_multiple_of(2) {
                100 - at as u32
            } else {
                0
            })
        };
        choose(&keys, 0.5, count, &mut chosen);
        let (common, rare): (Vec<_>, Vec<_>) = chosen.iter().partition(|(_, s)| s.is_common);
        let positions = |of: Vec<(usize, Share)>| of.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(
            positions(rare),
            (0..16).map(|at| 2 * at + 1).collect::<Vec<_>>()
        );
        assert_eq!(positions(common), [38, 36, 34, 32, 30, 28]);
        let share = chosen[0].1;
        assert_eq!((share.rare, share.any), (2, 9));
        assert!(share.is_reached(2, 0) && share.is_reached(1, 8) && !share.is_reached(1, 7));
    }

    #[test]
    fn a_share_comes_back_from_its_bits() {
        for rare in 0..=RARE_KEYS {
            for common in 0..=COMMON_KEYS {
                for threshold in [0.01, 0.45, 1.0] {
                    let share = Share::of(rare, common, threshold);
                    for is_common in [false, true] {
                        let share = Share { is_common, ..share };
                        assert_eq!(Share::from_bits(share.to_bits()), share);
                        assert!(i16::try_from(share.to_bits()).is_ok());
                    }
                }
            }
        }
    }

    #[test]
    fn a_form_costs_so_many_candidates_and_no_more() {
        // 500 documents: 20 keys of the form, 10 of their own.
        let mut documents: Vec<Vec<u32>> = (0..500)
            .map(|document| {
                (0..20)
                    .chain(1000 + 10 * document..1010 + 10 * document)
                    .collect()
            })
            .collect();
        let found = candidates(&documents, 0.4, 32);
        assert!(found.len() <= 500 * 32, "{}", found.len());
        // A copy of the last one is found although the form's lists are closed.
        documents.push(documents[499].clone());
        let found = candidates(&documents, 0.4, 32);
        assert!(found.contains(&(499, 500)));
    }

    #[test]
    fn copies_that_have_few_rare_keys_in_common_are_found_by_the_others() {
        // 100 copies of 30 keys, each with 5 replaced by keys of its own.
        let documents: Vec<Vec<u32>> = (0..100_u32)
            .map(|copy| {
                let kept = (0..30).filter(|key| (key * 7 + copy * 11) % 30 >= 5);
                kept.chain(1000 + 5 * copy..1005 + 5 * copy).collect()
            })
            .collect();
        let found = candidates(&documents, 0.4, 1000);
        // Of 4950 pairs; those with few keys in common are not asked for.
        assert!(found.len() > 4500, "{}", found.len());
    }
}
