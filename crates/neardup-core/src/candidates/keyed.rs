/*! Filed keys: who shares a key, or enough of them, with this document.

Takes documents one by one, in the order that the caller wants, and keeps a list of
them for each of their [`Keys`]. Yields, for a document, those filed before that
share a key with it, or may share enough of them.

**Template.** A list is closed once it holds so many documents, so the time stays
linear however many documents share a key.

**Prefix.** Keys are met from the rarest on. If the keys met so far and all that are
left in the shorter rest cannot make up the overlap that the threshold needs, the
pair is given up (PPJoin: Xiao, Wang, Lin and Yu, WWW 2008). Nothing is missed.

A look-up costs a step for each document in each of its lists. It is known how many
documents have a key, so each list has its room from the start, in one piece: to
follow entries that lie apart took four times as long. Memory is 8 bytes for each key
of a document and 12 for each distinct one.
*/

use super::keys::Keys;

/// What of the keys of a document counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    /// Every key; one that is shared makes a candidate.
    Any,
    /// Those that a resemblance cannot do without; lists are never closed.
    Prefix {
        /// The smallest resemblance.
        threshold: f64,
    },
}

/// Documents filed under their keys.
#[derive(Clone, Debug)]
pub struct Keyed {
    keys: Keys,
    used: Use,
    /// Where the room of each key's list begins, and at last where the last ends.
    begins: Vec<usize>,
    /// Documents in each list.
    lengths: Vec<u32>,
    entries: Vec<Entry>,
    /// The number of keys of each filed document.
    sizes: Vec<u32>,
}

/// A document in a list, by its place in the order of filing.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    place: u32,
    /// How many of the document's keys are rarer.
    position: u32,
}

/// Room for look-ups; reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// For each place the keys shared.
    shared: Vec<u32>,
    met: Vec<u32>,
}

/// The mark of a place that cannot become similar enough.
const GIVEN_UP: u32 = u32::MAX;

impl Keyed {
    /// Nothing filed yet; `longest` documents close a list.
    pub fn new(keys: Keys, used: Use, longest: u32) -> Self {
        let longest = match used {
            Use::Prefix { .. } => u32::MAX,
            _ => longest,
        };
        let mut begins = Vec::with_capacity(keys.count() + 1);
        let mut end = 0;
        begins.push(end);
        for &documents in keys.lengths() {
            end += documents.min(longest) as usize;
            begins.push(end);
        }
        Keyed {
            lengths: vec![0; keys.count()],
            entries: vec![Entry::default(); end],
            begins,
            sizes: Vec::new(),
            keys,
            used,
        }
    }

    /// The number of documents filed.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether none is filed.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Files a document of the keys.
    pub fn insert(&mut self, document: u32) {
        let document = document as usize;
        let place = self.sizes.len() as u32;
        self.sizes.push(self.keys.size(document) as u32);
        let keys = match self.used {
            Use::Any => self.keys.shared(document),
            Use::Prefix { threshold } => self.keys.prefix(document, threshold),
        };
        let single = self.keys.single(document) as u32;
        for (position, &key) in (single..).zip(keys) {
            let key = key as usize;
            let at = self.begins[key] + self.lengths[key] as usize;
            if at < self.begins[key + 1] {
                self.lengths[key] += 1;
                self.entries[at] = Entry { place, position };
            }
        }
    }

    /// Adds to `found` the places from `from` on whose documents share enough
    /// keys with `document`, ascending.
    pub fn near(&self, document: u32, from: u32, counts: &mut Counts, found: &mut Vec<u32>) {
        let document = document as usize;
        counts.shared.resize(self.len(), 0);
        let begin = found.len();
        match self.used {
            Use::Any => {
                self.count(self.keys.shared(document), from, counts);
                counts.take(found, |_| true);
            }
            Use::Prefix { threshold } => {
                self.count_within(document, threshold, from, counts);
                counts.take(found, |shared| shared != GIVEN_UP);
            }
        }
        found[begin..].sort_unstable();
    }

    /// Counts who shares some keys.
    fn count(&self, keys: &[u32], from: u32, counts: &mut Counts) {
        for &key in keys {
            for entry in self.list(key) {
                if entry.place < from {
                    break;
                }
                let shared = &mut counts.shared[entry.place as usize];
                if *shared == 0 {
                    counts.met.push(entry.place);
                }
                *shared += 1;
            }
        }
    }

    /// Counts who shares keys of the prefix and may still reach the threshold.
    fn count_within(&self, document: usize, threshold: f64, from: u32, counts: &mut Counts) {
        let size = self.keys.size(document);
        let single = self.keys.single(document);
        for (at, &key) in self.keys.prefix(document, threshold).iter().enumerate() {
            let rest = size - single - at - 1;
            for entry in self.list(key) {
                if entry.place < from {
                    break;
                }
                let shared = &mut counts.shared[entry.place as usize];
                if *shared == GIVEN_UP {
                    continue;
                }
                if *shared == 0 {
                    counts.met.push(entry.place);
                }
                let other = self.sizes[entry.place as usize] as usize;
                let possible = *shared as usize + 1 + rest.min(other - entry.position as usize - 1);
                // Rounding must not give up what is just enough.
                let needed = threshold / (1.0 + threshold) * (size + other) as f64 - 1e-6;
                *shared = match (possible as f64) < needed {
                    true => GIVEN_UP,
                    false => *shared + 1,
                };
            }
        }
    }

    /// The documents in a key's list, newest first.
    fn list(&self, key: u32) -> impl Iterator<Item = Entry> {
        let begin = self.begins[key as usize];
        let end = begin + self.lengths[key as usize] as usize;
        self.entries[begin..end].iter().rev().copied()
    }
}

impl Counts {
    /// Adds the places met that have enough, and forgets all.
    fn take(&mut self, found: &mut Vec<u32>, enough: impl Fn(u32) -> bool) {
        for place in self.met.drain(..) {
            if enough(std::mem::take(&mut self.shared[place as usize])) {
                found.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: f64 = 0.5;

    /// Documents as sets of keys, their keys, and their true resemblance.
    fn documents() -> Vec<Vec<u32>> {
        let mut state = 7_u64;
        let mut next = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % bound) as u32
        };
        let mut documents: Vec<Vec<u32>> = Vec::new();
        for document in 0..300 {
            let mut keys: Vec<u32> = match document % 3 {
                // A copy in which some keys are others.
                0 if document > 0 => {
                    let changed = next(20);
                    let original = documents[next(document) as usize].iter();
                    original
                        .map(|&key| if next(20) < changed { next(900) } else { key })
                        .collect()
                }
                _ => (0..20 + next(40))
                    .map(|_| next(900) * next(2) + next(60))
                    .collect(),
            };
            keys.sort_unstable();
            keys.dedup();
            documents.push(keys);
        }
        documents
    }

    fn resemblance(a: &[u32], b: &[u32]) -> f64 {
        let common = a.iter().filter(|key| b.contains(key)).count();
        common as f64 / (a.len() + b.len() - common) as f64
    }

    fn candidates(documents: &[Vec<u32>], used: Use, longest: u32) -> Vec<(u32, u32)> {
        let mut keyed = Keyed::new(Keys::of_lists(documents), used, longest);
        let (mut counts, mut found) = (Counts::default(), Vec::new());
        let mut pairs = Vec::new();
        for document in 0..documents.len() as u32 {
            found.clear();
            keyed.near(document, 0, &mut counts, &mut found);
            pairs.extend(found.iter().map(|&place| (place, document)));
            keyed.insert(document);
        }
        pairs
    }

    #[test]
    fn a_prefix_misses_nothing() {
        let documents = documents();
        let found = candidates(
            &documents,
            Use::Prefix {
                threshold: THRESHOLD,
            },
            1,
        );
        let mut similar = 0;
        for b in 0..documents.len() {
            for a in 0..b {
                if resemblance(&documents[a], &documents[b]) >= THRESHOLD {
                    similar += 1;
                    assert!(found.contains(&(a as u32, b as u32)), "{a} {b}");
                }
            }
        }
        assert!(similar > 30, "{similar}");
        // It would be easy to miss nothing by finding everything.
        assert!(
            found.len() < documents.len() * documents.len() / 10,
            "{} {similar}",
            found.len()
        );
    }

    #[test]
    fn what_is_filed_behind_a_place_is_found_alone() {
        let documents = documents();
        let mut keyed = Keyed::new(Keys::of_lists(&documents), Use::Any, u32::MAX);
        for document in 0..200 {
            keyed.insert(document);
        }
        let mut counts = Counts::default();
        for document in 200..300 {
            let (mut all, mut behind) = (Vec::new(), Vec::new());
            keyed.near(document, 0, &mut counts, &mut all);
            keyed.near(document, 150, &mut counts, &mut behind);
            all.retain(|&place| place >= 150);
            assert_eq!(all, behind);
        }
    }
}
