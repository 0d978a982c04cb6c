/*! The results of a search: pairs of documents, and lists of neighbours. */

use rayon::prelude::*;

use super::groups::Groups;

/// The number of a fingerprint that was found, and its distance.
pub type Near = (u32, u16);

/// One found pair, before sorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// The first number in the high half, the second in the low half.
    key: u64,
    distance: u16,
}

impl Pair {
    #[inline]
    pub(super) fn new(first: u32, second: u32, distance: u32) -> Self {
        Pair {
            key: u64::from(first) << 32 | u64::from(second),
            distance: distance as u16,
        }
    }

    fn first(self) -> u32 {
        (self.key >> 32) as u32
    }

    fn second(self) -> u32 {
        self.key as u32
    }
}

/// Pairs of documents and their distances, sorted by `(a, b)`, with `a < b`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// The earlier document of each pair.
    pub a: Vec<u32>,
    /// The later document of each pair.
    pub b: Vec<u32>,
    /// The number of bits in which their fingerprints differ.
    pub distance: Vec<u16>,
}

impl Pairs {
    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }

    /// Each pair as `(a, b, distance)`.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u16)> {
        self.a
            .iter()
            .zip(&self.b)
            .zip(&self.distance)
            .map(|((&a, &b), &distance)| (a, b, distance))
    }

    /// Sorts pairs. Each must be given once, in any order and direction.
    pub(super) fn from_found(mut found: Vec<Pair>) -> Self {
        for pair in &mut found {
            if pair.first() > pair.second() {
                pair.key = pair.key.rotate_left(32);
            }
        }
        found.par_sort_unstable();
        Pairs {
            a: found.iter().map(|pair| pair.first()).collect(),
            b: found.iter().map(|pair| pair.second()).collect(),
            distance: found.iter().map(|pair| pair.distance).collect(),
        }
    }
}

/// All pairs within a radius, with equal fingerprints grouped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collapsed {
    /// The sets of equal fingerprints.
    pub groups: Groups,
    /// The pairs of distinct fingerprints. The earliest document with a fingerprint represents
    /// it.
    pub pairs: Pairs,
}

impl Collapsed {
    /// The number of pairs that [`Collapsed::expand`] would list. It is quadratic in the size of
    /// each set, so check it before you expand.
    pub fn count(&self) -> u128 {
        let size = |document: u32| self.groups.repeats(document).len() as u128 + 1;
        let equal: u128 = self
            .groups
            .iter()
            .map(|(_, repeats)| repeats.len() as u128 * (repeats.len() as u128 + 1) / 2)
            .sum();
        if self.groups.is_empty() {
            return self.pairs.len() as u128;
        }
        equal
            + self
                .pairs
                .iter()
                .map(|(a, b, _)| size(a) * size(b))
                .sum::<u128>()
    }

    /// All pairs of documents, including equal ones at distance 0.
    pub fn expand(self) -> Pairs {
        if self.groups.is_empty() {
            return self.pairs;
        }
        let mut found = Vec::with_capacity(usize::try_from(self.count()).unwrap_or(0));
        for (representative, repeats) in self.groups.iter() {
            for (at, &later) in repeats.iter().enumerate() {
                found.push(Pair::new(representative, later, 0));
                found.extend(
                    repeats[..at]
                        .iter()
                        .map(|&earlier| Pair::new(earlier, later, 0)),
                );
            }
        }
        for (a, b, distance) in self.pairs.iter() {
            let others = self.groups.repeats(b);
            for a in std::iter::once(&a).chain(self.groups.repeats(a)) {
                for b in std::iter::once(&b).chain(others) {
                    found.push(Pair::new(*a, *b, u32::from(distance)));
                }
            }
        }
        Pairs::from_found(found)
    }
}

/// For each query, the documents near it: one list after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Where each query's list begins, followed by the end of the last one.
    pub offsets: Vec<u64>,
    /// The documents, ascending inside each list.
    pub ids: Vec<u32>,
    /// The number of bits in which each document differs from its query.
    pub distances: Vec<u16>,
}

impl Neighbours {
    /// The number of queries.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `(document, distance)` list of a query; empty beyond the last.
    pub fn list(&self, query: usize) -> impl Iterator<Item = (u32, u16)> {
        let range = match self.offsets.get(query..).and_then(|rest| rest.get(..2)) {
            Some(bounds) => bounds[0] as usize..bounds[1] as usize,
            None => 0..0,
        };
        self.ids[range.clone()]
            .iter()
            .zip(&self.distances[range])
            .map(|(&id, &distance)| (id, distance))
    }

    /// Sorts `(query, document)` pairs into lists.
    pub(super) fn from_found(queries: usize, mut found: Vec<Pair>) -> Self {
        found.par_sort_unstable();
        let mut offsets = vec![0; queries + 1];
        for pair in &found {
            offsets[pair.first() as usize + 1] += 1;
        }
        for query in 1..offsets.len() {
            offsets[query] += offsets[query - 1];
        }
        Neighbours {
            offsets,
            ids: found.iter().map(|pair| pair.second()).collect(),
            distances: found.iter().map(|pair| pair.distance).collect(),
        }
    }
}
