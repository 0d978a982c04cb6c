//! The places of all units: sorted by hash to find the repeats, then by document.

use std::path::PathBuf;

use neardup_core::error::Result;
use neardup_core::spilled::Spilled;
use rayon::prelude::*;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::units::{Unit, Units, are_wrapped};

/// How many documents show whether the lines of a collection are wrapped, and after how many bytes
/// of text fewer are enough.
const SAMPLED: (usize, usize) = (1_000, 16 << 20);

/// Parts that are sorted one after the other.
const PARTS: usize = 64;

/// A unit of a document. They are sorted by hash, document and begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
struct Filed {
    hash: u128,
    document: u32,
    begin: u32,
    end: u32,
}

/// A place of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
pub struct Place {
    /// The number of the document.
    pub document: u32,
    /// Where it begins, in code points.
    pub begin: u32,
    /// Where it ends, in code points.
    pub end: u32,
    /// The hash of its letters.
    pub hash: u128,
    /// The number of places that the repeat has, if this is the first of them; else 0.
    pub count: u32,
    /// The number of documents that have it, likewise.
    pub documents: u32,
}

/// Collects the units of documents.
///
/// # Examples
///
/// ```
/// use neardup_align::Aligner;
/// use neardup_align::repeats::{Kind, Repeats, Units};
///
/// let units = Units::new(Aligner::new(), Kind::Sentence, 4);
/// let mut repeats = Repeats::new(units, 1 << 20, None);
/// repeats.push(&[Some("One more. All rights reserved."), None, Some("All rights reserved!")])?;
/// let mut found = repeats.finish(2)?;
/// let places: Vec<_> = found.before(3)?.iter().map(|p| (p.document, p.begin, p.count)).collect();
/// assert_eq!(places, [(0, 10, 2), (2, 0, 0)]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Repeats {
    units: Units,
    /// The beginning, and its bytes, until it is whole.
    beginning: Option<(Vec<Option<String>>, usize)>,
    /// Units by the leading bits of their hashes.
    parts: Vec<Spilled<Filed>>,
    documents: u32,
    count: u64,
    each: usize,
    folder: Option<PathBuf>,
}

impl Repeats {
    /// Holds up to `memory` bytes of units in memory; what is more goes to unnamed files, in
    /// `folder` if there is one.
    pub fn new(units: Units, memory: usize, folder: Option<PathBuf>) -> Self {
        let each = memory / PARTS;
        Repeats {
            units,
            beginning: Some((Vec::new(), 0)),
            parts: spills(each, &folder),
            documents: 0,
            count: 0,
            each,
            folder,
        }
    }

    /// Takes the units of documents, in order; `None` is one that could not be read. Runs on the
    /// current rayon pool.
    ///
    /// # Errors
    ///
    /// If a text is longer than the stages accept, or files cannot be written.
    pub fn push(&mut self, mut texts: &[Option<&str>]) -> Result<()> {
        while let (Some((held, bytes)), [text, rest @ ..]) = (&mut self.beginning, texts) {
            held.push(text.map(str::to_owned));
            *bytes += text.map_or(0, str::len);
            texts = rest;
            if held.len() == SAMPLED.0 || *bytes >= SAMPLED.1 {
                self.take_beginning()?;
            }
        }
        self.take(texts)
    }

    /// Decides by the beginning whether lines are wrapped, and takes its units.
    fn take_beginning(&mut self) -> Result<()> {
        let Some((held, _)) = self.beginning.take() else {
            return Ok(());
        };
        let texts: Vec<Option<&str>> = held.iter().map(Option::as_deref).collect();
        self.units.is_wrapped = are_wrapped(texts.iter().copied().flatten());
        self.take(&texts)
    }

    fn take(&mut self, texts: &[Option<&str>]) -> Result<()> {
        let units = &self.units;
        let found: Vec<Vec<Unit>> = texts
            .par_iter()
            .with_min_len(16)
            .map(|text| text.map_or(Ok(Vec::new()), |text| units.of(text)))
            .collect::<Result<_>>()?;
        for units in found {
            for unit in &units {
                self.parts[part_of(unit.hash)].append(&[Filed {
                    hash: unit.hash,
                    document: self.documents,
                    begin: unit.begin,
                    end: unit.end,
                }])?;
            }
            self.count += units.len() as u64;
            self.documents += 1;
        }
        Ok(())
    }

    /// The places of the units that at least `least` documents have, and that have two places at
    /// least. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If files cannot be written or read.
    pub fn finish(mut self, least: u32) -> Result<RepeatedPlaces> {
        self.take_beginning()?;
        let width = self.documents.div_ceil(PARTS as u32).max(1);
        let mut found = RepeatedPlaces {
            parts: spills(self.each, &self.folder),
            units: self.count,
            width,
            next: 0,
            sorted: Vec::new(),
            taken: 0,
        };
        // As many parts at a time as there are threads.
        let at_once = rayon::current_num_threads().max(1);
        let mut parts = self.parts;
        while !parts.is_empty() {
            let some: Vec<_> = parts.drain(..at_once.min(parts.len())).collect();
            let places: Vec<Vec<Place>> = some
                .into_par_iter()
                .map(|part| places_of(part, least))
                .collect::<Result<_>>()?;
            for place in places.iter().flatten() {
                found.parts[(place.document / width) as usize].append(&[*place])?;
            }
        }
        Ok(found)
    }
}

/// The places of repeats, in the order of the documents.
#[derive(Debug)]
pub struct RepeatedPlaces {
    /// The number of all units that are long enough.
    pub units: u64,
    /// Places by document, `width` documents in each part.
    parts: Vec<Spilled<Place>>,
    width: u32,
    /// The part that is sorted next.
    next: usize,
    sorted: Vec<Place>,
    taken: usize,
}

impl RepeatedPlaces {
    /// The next places, of documents before `document`.
    ///
    /// # Errors
    ///
    /// If files cannot be read.
    pub fn before(&mut self, document: u32) -> Result<Vec<Place>> {
        let mut found = Vec::new();
        loop {
            let rest = &self.sorted[self.taken..];
            let count = rest.partition_point(|place| place.document < document);
            found.extend_from_slice(&rest[..count]);
            self.taken += count;
            let is_reached = self.next as u64 * u64::from(self.width) >= u64::from(document);
            if self.taken < self.sorted.len() || self.next == PARTS || is_reached {
                return Ok(found);
            }
            let part = std::mem::replace(&mut self.parts[self.next], Spilled::new(0, None));
            self.next += 1;
            self.taken = 0;
            self.sorted = part.into_values()?;
            self.sorted.par_sort_unstable();
        }
    }
}

fn spills<T>(each: usize, folder: &Option<PathBuf>) -> Vec<Spilled<T>> {
    (0..PARTS)
        .map(|_| Spilled::new(each, folder.as_deref()))
        .collect()
}

fn part_of(hash: u128) -> usize {
    (hash >> 122) as usize
}

/// The places of the units of a part that at least `least` documents have.
fn places_of(part: Spilled<Filed>, least: u32) -> Result<Vec<Place>> {
    let mut units = part.into_values()?;
    units.sort_unstable();
    let mut found = Vec::new();
    for same in units.chunk_by(|a, b| a.hash == b.hash) {
        let documents = 1 + same
            .windows(2)
            .filter(|pair| pair[0].document != pair[1].document)
            .count() as u32;
        if documents < least || same.len() < 2 {
            continue;
        }
        for (at, unit) in same.iter().enumerate() {
            let is_first = at == 0;
            found.push(Place {
                document: unit.document,
                begin: unit.begin,
                end: unit.end,
                hash: unit.hash,
                count: if is_first { same.len() as u32 } else { 0 },
                documents: if is_first { documents } else { 0 },
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letters::Aligner;
    use crate::repeats::Kind;

    #[test]
    fn places_are_the_same_in_files_and_in_any_steps() {
        let number = |at: usize| format!("Line {}.\nNumber {}.", at % 7, at % 211);
        let texts: Vec<String> = (0..1000).map(number).collect();
        let all = |memory: usize, batch: usize, step: u32| -> Vec<Place> {
            let units = Units::new(Aligner::new(), Kind::Sentence, 1);
            let mut repeats = Repeats::new(units, memory, None);
            for some in texts.chunks(batch) {
                let some: Vec<_> = some.iter().map(|text| Some(text.as_str())).collect();
                repeats.push(&some).unwrap();
            }
            let mut found = repeats.finish(2).unwrap();
            let mut places = Vec::new();
            for document in (0..1000 + step).step_by(step as usize) {
                let some = found.before(document).unwrap();
                assert!(some.iter().all(|place| place.document < document));
                places.extend(some);
            }
            places
        };
        let expected = all(1 << 20, 1000, 1000);
        assert!(expected.is_sorted_by_key(|place| (place.document, place.begin)));
        assert_eq!(
            expected.iter().filter(|place| place.count > 0).count(),
            7 + 211
        );
        for (memory, batch, step) in [(0, 1, 1), (1 << 12, 17, 3), (0, 999, 500)] {
            assert_eq!(all(memory, batch, step), expected);
        }
    }
}
