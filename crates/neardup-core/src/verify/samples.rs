/*! The samples of the documents of a corpus: made once, to be counted, and read for every pair.

A document has no sample if it is short, or if another has the same text and it does not
[share](Samples::share) that one's: its text is read.

Samples lie one after the other, 4 bytes a hash, and 16 bytes for each document say where. Those for
which there is no room in memory go to a file, in the order of the documents.
*/

use std::path::PathBuf;

use super::cache::{Cached, Source};
use super::sample::{Sample, text_level};
use crate::buckets::deal;
use crate::error::Result;
use crate::spill::Spill;

/// Hashes that are written to the file at once.
const WRITTEN: usize = 1 << 18;

/// Hashes that are read from the file at once, about. Tests have several blocks too.
const BLOCK: u64 = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// The least memory for the hashes of a file, and the most bits that choose one.
const MEMORY: usize = if cfg!(test) { 1 << 12 } else { 1 << 24 };
const MOST_FILES: u32 = 8;

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
    folder: Option<PathBuf>,
    /// The other samples, in the order of documents.
    file: Spill,
    /// The first document whose sample may be in the file, once there is one.
    filed: Option<usize>,
    /// The first document whose sample was not placed yet: it and later ones are in memory.
    unplaced: usize,
    /// Short documents, whose samples are only counted.
    short: Vec<u32>,
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

impl Place {
    fn end(&self) -> u64 {
        self.begin + u64::from(self.len)
    }
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
            folder,
            filed: None,
            unplaced: 0,
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
    /// text is short. The sample of a short one is only counted, and is [dropped](Self::drop_short) then.
    pub fn push(&mut self, hashes: &[u32], shingles: usize, is_short: bool) {
        if is_short {
            self.short.push(self.len() as u32);
        }
        self.places.push(Place {
            begin: self.hashes.len() as u64,
            len: hashes.len() as u32,
            shingles: u32::try_from(shingles).unwrap_or(NONE - 1).min(NONE - 1),
        });
        self.hashes.extend_from_slice(hashes);
    }

    /// Whether memory is full, so that [room should be made](Self::make_room).
    pub fn is_full(&self) -> bool {
        HASH * self.hashes.len() >= self.most
    }

    /// Moves samples to the file: all but the first ones.
    ///
    /// # Errors
    ///
    /// If the file cannot be written: usually a full disk.
    pub fn make_room(&mut self) -> Result<()> {
        if self.filed.is_some() {
            self.write(self.unplaced)?;
        } else {
            // The other half of the memory is for the next samples.
            let most = self.most / (2 * HASH);
            let is_left = |place: &Place| place.begin as usize + place.len as usize <= most;
            let first = self.places.partition_point(is_left);
            self.write(first)?;
            self.filed = Some(first);
        }
        self.unplaced = self.len();
        Ok(())
    }

    /// Ends the list: what waits goes to the file, if there is one.
    ///
    /// # Errors
    ///
    /// As [`make_room`](Self::make_room).
    pub fn finish(&mut self) -> Result<()> {
        match self.filed {
            Some(_) => self.make_room(),
            None => Ok(()),
        }
    }

    /// The number of documents with a sample.
    pub fn texts(&self) -> usize {
        let sampled = self.places.iter().filter(|place| place.shingles != NONE);
        sampled.count()
    }

    /// The number of hashes, in memory and in the file.
    pub fn hashes(&self) -> u64 {
        self.hashes.len() as u64 + self.file.len() / HASH as u64
    }

    /// Passes all samples on, in blocks: those in memory are one. What is in the file is read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn for_each_block(&self, mut each: impl FnMut(Vec<&[u32]>) -> Result<()>) -> Result<()> {
        let in_file = self.in_file();
        let is_in_memory = |at: &usize| !in_file.contains(at);
        let in_memory = (0..self.len()).filter(is_in_memory);
        each(
            in_memory
                .map(|at| self.in_memory(&self.places[at]))
                .collect(),
        )?;
        let (mut rest, mut buffer) = (&self.places[in_file], Vec::new());
        while let Some(first) = rest.first() {
            let begin = first.begin;
            let is_near = |place: &Place| place.begin < begin + BLOCK;
            let (block, later) = rest.split_at(rest.partition_point(is_near));
            rest = later;
            let end = block.last().map_or(begin, Place::end);
            let hashes = self.read(begin, end, &mut buffer)?;
            let within = |place: &Place| {
                let from = (place.begin - begin) as usize;
                &hashes[from..][..place.len as usize]
            };
            each(block.iter().map(within).collect())?;
        }
        Ok(())
    }

    /// Deals the hashes of all samples by their leading bits into files, of which each fits into memory.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or others not be written.
    pub(super) fn dealt_to_files(&self) -> Result<Vec<HashFile>> {
        let memory = (self.most / 2).max(MEMORY) as u64;
        let files = (HASH as u64 * self.hashes() / memory).next_power_of_two();
        // So many that the hashes of one have a leading bit in common.
        let bits = files.ilog2().clamp(1, MOST_FILES);
        let file = || Spill::within(self.folder.as_deref(), 0);
        let mut files: Vec<_> = (0..1 << bits).map(|_| HashFile(file())).collect();
        self.for_each_block(|block| {
            let hashes = block.iter().flat_map(|sample| sample.iter().copied());
            let file_of = |hash: u32| (hash >> (u32::BITS - bits)) as usize;
            let (dealt, ends) = deal(hashes, files.len(), file_of);
            let mut begin = 0;
            for (file, end) in files.iter_mut().zip(ends) {
                let part = &dealt[begin..end as usize];
                let bytes: Vec<u8> = part.iter().flat_map(|hash| hash.to_le_bytes()).collect();
                file.0.append(&bytes)?;
                begin = end as usize;
            }
            Ok(())
        })?;
        Ok(files)
    }

    /// Reads hashes from the file.
    fn read(&self, begin: u64, end: u64, buffer: &mut Vec<u8>) -> Result<Box<[u32]>> {
        let bytes = self
            .file
            .read(begin * HASH as u64, end * HASH as u64, buffer)?;
        let hashes = bytes.as_chunks().0.iter();
        Ok(hashes.map(|&hash| u32::from_le_bytes(hash)).collect())
    }

    /// Whether the text of a document is short, before these are [dropped](Self::drop_short).
    pub fn is_short(&self, document: u32) -> bool {
        self.short.binary_search(&document).is_ok()
    }

    /// Drops the samples of short documents, and closes the gaps in memory.
    pub fn drop_short(&mut self) {
        for document in std::mem::take(&mut self.short) {
            self.places[document as usize].shingles = NONE;
        }
        let (in_file, mut end) = (self.in_file(), 0);
        for (document, place) in self.places.iter_mut().enumerate() {
            let begin = place.begin as usize;
            if place.shingles == NONE {
                place.len = 0;
            }
            if !in_file.contains(&document) {
                let own = begin..begin + place.len as usize;
                place.begin = end as u64;
                end += own.len();
                self.hashes.copy_within(own, place.begin as usize);
            }
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
            Some(first) => first..self.unplaced.max(first),
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

/// Hashes in a file that have the same leading bits.
pub(super) struct HashFile(Spill);

impl HashFile {
    /// Reads all hashes; the file is gone then.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(super) fn hashes(self) -> Result<Vec<u32>> {
        read(&self.0, 0, self.0.len() / HASH as u64, &mut Vec::new())
    }
}

fn read(file: &Spill, begin: u64, end: u64, buffer: &mut Vec<u8>) -> Result<Vec<u32>> {
    let bytes = file.read(begin * HASH as u64, end * HASH as u64, buffer)?;
    let hashes = bytes.as_chunks().0.iter();
    Ok(hashes.map(|&hash| u32::from_le_bytes(hash)).collect())
}

/// Reads the samples that are in the file.
impl Source for Samples {
    type Value = Box<[u32]>;

    fn size(&self, document: u32) -> Option<usize> {
        let document = self.owner(document);
        let is_in_file = self.in_file().contains(&document);
        let place = self.places.get(document).filter(|_| is_in_file)?;
        (place.shingles != NONE).then_some(HASH * place.len as usize)
    }

    fn value(&self, document: u32, buffer: &mut Vec<u8>) -> Result<Self::Value> {
        let place = self.places[self.owner(document)];
        self.read(place.begin, place.end(), buffer)
    }
}

impl Cached for Box<[u32]> {
    const GROWTH: usize = 1;

    fn heap_bytes(&self) -> usize {
        size_of_val(&**self)
    }
}
