/*! The samples of the documents of a corpus: made once, to be counted, and read for every pair.

A document has no sample if it is short, or if another has the same text and it does not
[share](Samples::share) that one's: its text is read.

Samples lie one after the other, 4 bytes a hash, and 24 bytes for each document say where. Those for
which there is no room in memory go to a file, in the order of the documents.
*/

use std::borrow::Cow;
use std::path::PathBuf;

use rayon::prelude::*;

use super::cache::{Cached, Source};
use super::counted_sample::{CountedSample, Ends, Looked};
use super::sample::text_level;
use super::shingle_frequencies::{Several, ShingleFrequencies};
use crate::buckets::deal;
use crate::error::Result;
use crate::spilled::Spilled;

/// Hashes that are read from the file at once, about. Tests have several blocks too.
const BLOCK: u64 = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// The least memory for the hashes of a file, and the most bits that choose one.
const MEMORY: usize = if cfg!(test) { 1 << 12 } else { 1 << 24 };
const MOST_FILES: u32 = 8;

/// Documents whose samples one task looks up.
const TOGETHER: usize = 256;

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
    file: Spilled<u32>,
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
    /// Of a sample in memory, once its shingles were looked up.
    ends: Ends,
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
            file: Spilled::new(0, folder.as_deref()),
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
        ((HASH * self.hashes.len()) as u64, self.file.bytes().1)
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
            ends: Ends::default(),
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
            ends: Ends::default(),
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
        (self.hashes.len() + self.file.len()) as u64
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
            let hashes = self.file.read(begin as usize..end as usize, &mut buffer)?;
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
        let file = || Spilled::new(0, self.folder.as_deref());
        let mut files: Vec<_> = (0..1 << bits).map(|_| HashFile(file())).collect();
        self.for_each_block(|block| {
            let hashes = block.iter().flat_map(|sample| sample.iter().copied());
            let file_of = |hash: u32| (hash >> (u32::BITS - bits)) as usize;
            let (dealt, ends) = deal(hashes, files.len(), file_of);
            let mut begin = 0;
            for (file, end) in files.iter_mut().zip(ends) {
                file.0.append(&dealt[begin..end as usize])?;
                begin = end as usize;
            }
            Ok(())
        })?;
        Ok(files)
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
        let to = self.file.len() as u64;
        self.file.append(&self.hashes[begin as usize..])?;
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

    /// Looks the shingles of all samples in memory up in the table of their collection. From then on no
    /// sample has [its hashes](Self::hashes_of).
    pub fn look_up(&mut self, table: &ShingleFrequencies, several: &Several) {
        let in_memory = match self.filed {
            Some(first) => &mut self.places[..first],
            None => &mut self.places[..],
        };
        let (mut begin, mut rest) = (0, self.hashes.as_mut_slice());
        let mut parts = Vec::new();
        for places in in_memory.chunks_mut(TOGETHER) {
            let end = places.last().map_or(begin, Place::end);
            let (hashes, later) = rest.split_at_mut((end - begin) as usize);
            parts.push((begin, places, hashes));
            (begin, rest) = (end, later);
        }
        let all = parts.into_par_iter();
        all.for_each_init(Default::default, |buffers, (begin, places, hashes)| {
            for place in places {
                let own = &mut hashes[(place.begin - begin) as usize..][..place.len as usize];
                let is_single = |hash| !several.may_have(hash);
                place.ends = Ends::look_up(own, table, is_single, buffers);
            }
        });
    }

    /// The hashes of the sample of a document, ascending, and the number of shingles of the text.
    ///
    /// # Errors
    ///
    /// If they cannot be read from the file.
    pub(super) fn hashes_of(&self, document: u32) -> Result<Option<(Cow<'_, [u32]>, usize)>> {
        let document = self.owner(document);
        let place = self.places.get(document);
        let Some(place) = place.filter(|place| place.shingles != NONE) else {
            return Ok(None);
        };
        let hashes = match self.in_file().contains(&document) {
            true => {
                let range = place.begin as usize..place.end() as usize;
                self.file.read(range, &mut Vec::new())?.to_vec().into()
            }
            false => self.in_memory(place).into(),
        };
        Ok(Some((hashes, place.shingles as usize)))
    }

    /// The sample of a document whose shingles were looked up; of one in the file, in what was `read`.
    pub(super) fn get<'a>(
        &'a self,
        document: u32,
        read: Option<&'a Looked>,
    ) -> Option<CountedSample<'a>> {
        let document = self.owner(document);
        let place = self.places.get(document)?;
        if place.shingles == NONE {
            return None;
        }
        let shingles = place.shingles as usize;
        let level = text_level(shingles);
        match read {
            Some(looked) => Some(looked.sample(level, shingles)),
            None if self.in_file().contains(&document) => None,
            None => Some(place.ends.sample(self.in_memory(place), level, shingles)),
        }
    }

    /// Whether a document has a sample.
    pub fn has(&self, document: u32) -> bool {
        let place = self.places.get(self.owner(document));
        place.is_some_and(|place| place.shingles != NONE)
    }
}

/// Hashes in a file that have the same leading bits.
pub(super) struct HashFile(Spilled<u32>);

impl HashFile {
    /// Reads all hashes; the file is gone then.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(super) fn hashes(self) -> Result<Vec<u32>> {
        self.0.into_values()
    }
}

/// Reads the samples that are in the file, and looks their shingles up in a table.
pub(super) struct InFile<'a>(pub(super) &'a Samples, pub(super) &'a ShingleFrequencies);

impl Source for InFile<'_> {
    type Value = Looked;

    fn size(&self, document: u32) -> Option<usize> {
        let InFile(samples, _) = self;
        let document = samples.owner(document);
        let is_in_file = samples.in_file().contains(&document);
        let place = samples.places.get(document).filter(|_| is_in_file)?;
        (place.shingles != NONE).then_some(HASH * place.len as usize)
    }

    fn value(&self, document: u32, _: &mut Vec<u8>) -> Result<Looked> {
        let InFile(samples, table) = self;
        let place = samples.places[samples.owner(document)];
        let range = place.begin as usize..place.end() as usize;
        let mut buffer = Vec::new();
        Ok(Looked::up(samples.file.read(range, &mut buffer)?, table))
    }
}

impl Cached for Looked {
    const GROWTH: usize = 1;

    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}
