/*! The samples of the documents of a corpus: made once, to be counted, and read for every pair.

A document has no sample if it is short, or if another has the same text and it does not
[share](Samples::share) that one's: its text is read.

Samples lie one after the other, 4 bytes a hash, and 16 bytes for each document say where. Those for
which there is no room in memory go to a file, in the order of the documents.
*/

use std::path::PathBuf;

use super::cache::Make;
use super::sample::{Sample, text_level};
use crate::error::Result;
use crate::spill::Spill;

/// Hashes that are written to the file at once.
const WRITTEN: usize = 1 << 18;

/// Bytes of a hash.
const HASH: usize = size_of::<u32>();

/// The samples of the documents of a corpus, by number.
#[derive(Debug)]
pub struct Samples {
    places: Vec<Place>,
    /// The samples in memory.
    hashes: Vec<u32>,
    /// Bytes of samples in memory.
    most: usize,
    /// The other samples, in the order of documents.
    file: Spill,
    /// The first document whose sample may be in the file, once there is one.
    filed: Option<usize>,
    /// The first document whose sample is not counted yet: it and later ones are in memory.
    uncounted: usize,
    /// Short documents that are not counted yet.
    short: Vec<usize>,
    /// The document whose sample each document has; empty if all have their own.
    owners: Vec<u32>,
}

/// Where the sample of a document is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// In hashes, in memory or in the file.
    begin: u64,
    len: u32,
    /// Distinct shingles of the text; [`NONE`] for a document without a sample.
    shingles: u32,
}

/// No text has as many shingles.
const NONE: u32 = u32::MAX;

impl Default for Samples {
    fn default() -> Self {
        Samples::within(usize::MAX, None)
    }
}

impl Samples {
    /// No samples yet, of which at most about `most` bytes will stay in memory, and the others go to an
    /// unnamed file in `folder`, or in the system's temporary one.
    pub fn within(most: usize, folder: Option<PathBuf>) -> Self {
        Samples {
            places: Vec::new(),
            hashes: Vec::new(),
            most,
            file: Spill::within(folder.as_deref(), 0),
            filed: None,
            uncounted: 0,
            short: Vec::new(),
            owners: Vec::new(),
        }
    }

    /// The number of documents, with a sample or without.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes in memory, and in the file.
    pub fn bytes(&self) -> (u64, u64) {
        ((HASH * self.hashes.len()) as u64, self.file.len())
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Extends the list to `documents` documents; the added ones have no sample.
    pub fn extend_to(&mut self, documents: usize) {
        let none = Place {
            begin: self.hashes.len() as u64,
            len: 0,
            shingles: NONE,
        };
        self.places.resize(documents.max(self.len()), none);
    }

    /// Adds the next document: the hashes of its sample and the number of its shingles, and whether its
    /// text is short. A short one has no sample once it is counted.
    pub fn push(&mut self, hashes: &[u32], shingles: usize, is_short: bool) {
        if is_short {
            self.short.push(self.len());
        }
        self.places.push(Place {
            begin: self.hashes.len() as u64,
            len: hashes.len() as u32,
            shingles: u32::try_from(shingles).unwrap_or(NONE - 1).min(NONE - 1),
        });
        self.hashes.extend_from_slice(hashes);
    }

    /// Whether samples should be counted now, to make room.
    pub fn is_full(&self) -> bool {
        HASH * self.hashes.len() >= self.most
    }

    /// The samples that are not counted yet; `None` if all are.
    pub fn uncounted(&self) -> Option<Vec<&[u32]>> {
        let rest = &self.places[self.uncounted..];
        let rest = rest.iter().filter(|place| place.shingles != NONE);
        (self.uncounted < self.len()).then(|| rest.map(|place| self.in_memory(place)).collect())
    }

    /// After all documents were counted: drops the samples of short ones, and moves what there is no room
    /// for to the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written: usually a full disk.
    pub fn counted(&mut self) -> Result<()> {
        self.drop_short();
        if self.filed.is_some() {
            self.write(self.uncounted)?;
        } else if self.is_full() {
            // The other half of the memory is for samples that are not counted yet.
            let most = self.most / (2 * HASH);
            let is_left = |place: &Place| place.begin as usize + place.len as usize <= most;
            let first = self.places.partition_point(is_left);
            self.write(first)?;
            self.filed = Some(first);
        }
        self.uncounted = self.len();
        Ok(())
    }

    /// Drops the samples of short documents that have just been counted, and closes the gaps.
    fn drop_short(&mut self) {
        let Some(&first) = self.short.first() else {
            return;
        };
        for document in self.short.drain(..) {
            self.places[document].shingles = NONE;
        }
        let mut end = self.places[first].begin as usize;
        for place in &mut self.places[first..] {
            let (begin, len) = (place.begin as usize, place.len as usize);
            place.begin = end as u64;
            if place.shingles == NONE {
                place.len = 0;
                continue;
            }
            self.hashes.copy_within(begin..begin + len, end);
            end += len;
        }
        self.hashes.truncate(end);
    }

    /// Moves the samples from that of a document on, which are the last in memory, to the file.
    fn write(&mut self, document: usize) -> Result<()> {
        let Some(first) = self.places.get(document) else {
            return Ok(());
        };
        let begin = first.begin;
        let to = self.file.len() / HASH as u64;
        for part in self.hashes[begin as usize..].chunks(WRITTEN) {
            let bytes: Vec<u8> = part.iter().flat_map(|hash| hash.to_le_bytes()).collect();
            self.file.append(&bytes)?;
        }
        self.hashes.truncate(begin as usize);
        for place in &mut self.places[document..] {
            place.begin = place.begin - begin + to;
        }
        Ok(())
    }

    /// The documents whose samples are in the file.
    fn in_file(&self) -> std::ops::Range<usize> {
        match self.filed {
            Some(first) => first..self.uncounted.max(first),
            None => 0..0,
        }
    }

    fn in_memory(&self, place: &Place) -> &[u32] {
        &self.hashes[place.begin as usize..][..place.len as usize]
    }

    /// From now on, each document has the sample of another one, or its own.
    pub fn share(&mut self, owners: Vec<u32>) {
        self.owners = owners;
    }

    /// The document whose sample a document has.
    #[inline]
    fn owner(&self, document: u32) -> usize {
        let owner = self.owners.get(document as usize);
        owner.copied().unwrap_or(document) as usize
    }

    /// Whether some samples must be read from the file.
    pub fn are_in_file(&self) -> bool {
        self.filed.is_some()
    }

    /// The sample of a document that is in memory, or of which `read` are the hashes.
    pub fn get<'a>(&'a self, document: u32, read: Option<&'a [u32]>) -> Option<Sample<'a>> {
        let document = self.owner(document);
        let place = self.places.get(document)?;
        if place.shingles == NONE {
            return None;
        }
        let hashes = match read {
            Some(hashes) => hashes,
            None if self.in_file().contains(&document) => return None,
            None => self.in_memory(place),
        };
        let shingles = place.shingles as usize;
        Some(Sample {
            hashes,
            level: text_level(shingles),
            shingles,
        })
    }
}

/// Reads the samples that are in the file.
impl Make for Samples {
    type Made = Box<[u32]>;

    fn size(&self, document: u32) -> Option<usize> {
        let document = self.owner(document);
        let is_in_file = self.in_file().contains(&document);
        let place = self.places.get(document).filter(|_| is_in_file)?;
        (place.shingles != NONE).then_some(HASH * place.len as usize)
    }

    fn most(&self, size: usize) -> usize {
        size
    }

    fn make(&self, document: u32, buffer: &mut Vec<u8>) -> Result<Self::Made> {
        let Place { begin, len, .. } = self.places[self.owner(document)];
        let begin = begin * HASH as u64;
        let end = begin + HASH as u64 * u64::from(len);
        let (hashes, _) = self.file.read(begin, end, buffer)?.as_chunks();
        let hashes = hashes.iter().map(|&hash| u32::from_le_bytes(hash));
        Ok(hashes.collect())
    }

    fn bytes(made: &Self::Made) -> usize {
        size_of_val(&**made)
    }
}
