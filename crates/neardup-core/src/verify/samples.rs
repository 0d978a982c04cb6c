/*! The samples of the documents of a corpus: made once, to be counted, and read for every pair.

A document has no sample if it is short, or if another has the same text and it does not
[share](Samples::share) that one's: its text is read.

Samples lie one after the other, 4 bytes a hash, and 24 bytes for each document say where. Those for
which there is no room in memory go to a file, in the order of the documents.
*/

use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;

use super::cache::{Cached, Source};
use super::counted_sample::{CountedSample, Ends, Several};
use super::sample::text_level;
use crate::buckets::deal;
use crate::error::{Error, Result};
use crate::ids::{DocId, Hash};
use crate::shingle_frequencies::ShingleFrequencies;
use crate::spilled::Spilled;

/// Hashes that are read from the file at once, about. Tests have several blocks too.
const BLOCK: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// The least memory for the hashes of a file, and the most bits that choose one.
const MEMORY: usize = if cfg!(test) { 1 << 12 } else { 1 << 24 };
const MOST_FILES: u32 = 8;

/// Documents whose samples one task looks up, and whose hashes are dealt to files at once.
const TOGETHER: usize = 256;
const DEALT: usize = 1 << 14;

/// Bytes of a hash.
const HASH: usize = size_of::<u32>();

/// The samples of the documents of a corpus, by number.
#[derive(Debug)]
pub struct Samples {
    places: Vec<Place>,
    /// Hashes; and ids in the place of some, once [looked up](Self::look_up).
    numbers: Spilled<u32>,
    /// Bytes of samples in memory, and where the others are.
    most: usize,
    folder: Option<PathBuf>,
    /// Short documents, whose samples are only counted.
    short: Vec<DocId>,
    /// The document whose sample each document has; empty if no sample is shared.
    owners: Vec<DocId>,
    /// Whether ids are in the place of hashes.
    are_looked_up: bool,
}

/// Where the sample of a document is.
#[derive(Clone, Copy, Debug)]
struct Place {
    begin: u64,
    len: u32,
    /// Distinct shingles of the text; [`NONE`] for a document without a sample.
    shingles: u32,
    /// Once its shingles were looked up.
    ends: Ends,
}

impl Place {
    fn range(&self) -> Range<usize> {
        self.begin as usize..self.begin as usize + self.len as usize
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
            numbers: Spilled::new(most, folder.as_deref()),
            most,
            folder,
            short: Vec::new(),
            owners: Vec::new(),
            are_looked_up: false,
        }
    }

    /// The number of documents, with a sample or without.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes in memory, and in the file.
    pub fn bytes(&self) -> (u64, u64) {
        self.numbers.bytes()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Extends the list to `documents` documents; the added ones have no sample.
    pub fn extend_to(&mut self, documents: usize) {
        let none = Place {
            begin: self.numbers.len() as u64,
            len: 0,
            shingles: NONE,
            ends: Ends::default(),
        };
        self.places.resize(documents.max(self.len()), none);
    }

    /// Adds the next document: the hashes of its sample and the number of its shingles, and whether its
    /// text is short. The sample of a short one is only counted, and is [dropped](Self::drop_short) then.
    ///
    /// # Errors
    ///
    /// If memory is full and the file cannot be written: usually a full disk. The document is not added.
    pub fn push(&mut self, hashes: &[Hash], shingles: usize, is_short: bool) -> Result<()> {
        let begin = self.numbers.len() as u64;
        self.numbers.append(Hash::numbers(hashes))?;
        if is_short {
            self.short.push(DocId(self.len() as u32));
        }
        self.places.push(Place {
            begin,
            len: hashes.len() as u32,
            shingles: u32::try_from(shingles).unwrap_or(NONE - 1).min(NONE - 1),
            ends: Ends::default(),
        });
        Ok(())
    }

    /// Ends the list: what waits for the file is written, if there is one.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn finish(&mut self) -> Result<()> {
        self.numbers.flush()
    }

    /// The number of documents with a sample.
    pub fn texts(&self) -> usize {
        let sampled = self.places.iter().filter(|place| place.shingles != NONE);
        sampled.count()
    }

    /// The number of hashes, in memory and in the file.
    pub fn hashes(&self) -> u64 {
        self.numbers.len() as u64
    }

    /// Passes all samples on, in blocks: the samples in memory are one block, and the others are read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn for_each_block(&self, mut each: impl FnMut(Vec<&[Hash]>) -> Result<()>) -> Result<()> {
        self.check_hashes()?;
        let with_hashes = || self.places.iter().filter(|place| place.len > 0);
        let in_memory = with_hashes().filter_map(|place| self.numbers.get(place.range()));
        each(in_memory.map(Hash::all).collect())?;
        let is_in_file = |place: &&Place| self.numbers.get(place.range()).is_none();
        let in_file: Vec<&Place> = with_hashes().filter(is_in_file).collect();
        let (mut rest, mut buffer) = (&in_file[..], Vec::new());
        while let Some(first) = rest.first() {
            let begin = first.range().start;
            let is_near = |place: &&Place| place.range().start < begin + BLOCK;
            let (block, later) = rest.split_at(rest.partition_point(is_near));
            rest = later;
            let end = block.last().map_or(begin, |place| place.range().end);
            let hashes = Hash::all(self.numbers.read(begin..end, &mut buffer)?);
            let within = |place: &&Place| {
                let range = place.range();
                &hashes[range.start - begin..range.end - begin]
            };
            each(block.iter().map(within).collect())?;
        }
        Ok(())
    }

    /// Deals the hashes of all samples by their leading bits into files. Each file fits into memory.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or others not be written.
    pub(super) fn dealt_to_files(&self) -> Result<Vec<Spilled<Hash>>> {
        let memory = (self.most / 2).max(MEMORY) as u64;
        let files = (HASH as u64 * self.hashes() / memory).next_power_of_two();
        // So many that the hashes of one have a leading bit in common.
        let bits = files.ilog2().clamp(1, MOST_FILES);
        let file = |_| Spilled::new(0, self.folder.as_deref());
        let mut files: Vec<_> = (0..1 << bits).map(file).collect();
        self.for_each_block(|block| {
            // The samples in memory are one block, of any size.
            for some in block.chunks(DEALT) {
                let hashes = some.iter().flat_map(|sample| sample.iter().copied());
                let file_of = |Hash(hash)| (hash >> (u32::BITS - bits)) as usize;
                let (dealt, ends) = deal(hashes, files.len(), file_of);
                let mut begin = 0;
                for (file, end) in files.iter_mut().zip(ends) {
                    file.append(&dealt[begin..end as usize])?;
                    begin = end as usize;
                }
            }
            Ok(())
        })?;
        Ok(files)
    }

    /// Whether the text of a document is short, before these are [dropped](Self::drop_short).
    pub fn is_short(&self, document: DocId) -> bool {
        self.short.binary_search(&document).is_ok()
    }

    /// Drops the samples of short documents.
    pub fn drop_short(&mut self) {
        for document in std::mem::take(&mut self.short) {
            self.places[document.index()].shingles = NONE;
        }
    }

    /// From now on, each document has the sample of its owner, which may be itself.
    pub fn share(&mut self, owners: Vec<DocId>) {
        self.owners = owners;
    }

    /// The document whose sample a document has.
    #[inline]
    pub(super) fn owner(&self, document: DocId) -> DocId {
        let owner = self.owners.get(document.index());
        owner.copied().unwrap_or(document)
    }

    /// The place of the sample of a document, if it has one.
    #[inline]
    fn place(&self, document: DocId) -> Option<&Place> {
        let place = self.places.get(self.owner(document).index());
        place.filter(|place| place.shingles != NONE)
    }

    /// Whether some samples must be read from the file.
    pub fn are_in_file(&self) -> bool {
        self.numbers.has_file()
    }

    /// Shingles that several texts have, none yet: within the budget of the samples.
    pub(super) fn several(&self) -> Several {
        Several::among((self.hashes() as usize).min(self.most / HASH))
    }

    /// Looks the shingles of all samples up in the table of their collection, once the list is
    /// [finished](Self::finish). From then on no sample has its hashes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub fn look_up(&mut self, table: &ShingleFrequencies, several: &Several) -> Result<()> {
        self.are_looked_up = true;
        let mut places = &mut self.places[..];
        for (begin, numbers) in self.numbers.blocks_mut() {
            let end = begin + numbers.len();
            let count = places.partition_point(|place| place.range().end <= end);
            let of_block = places.split_off_mut(..count).unwrap_or_default();
            look_up_block(of_block, numbers, table, several);
        }
        let mut buffer = Vec::new();
        while let Some(first) = places.first() {
            let begin = first.range().start;
            let count = places.partition_point(|place| place.range().start < begin + BLOCK);
            let of_block = places.split_off_mut(..count.max(1)).unwrap_or_default();
            let end = of_block.last().map_or(begin, |place| place.range().end);
            self.numbers.read(begin..end, &mut buffer)?;
            look_up_block(of_block, &mut buffer, table, several);
            self.numbers.replace_in_file(begin, &buffer)?;
        }
        Ok(())
    }

    /// The hashes of the sample of a document, ascending, and the number of shingles of the text.
    ///
    /// # Errors
    ///
    /// If they cannot be read from the file, or were looked up.
    pub(super) fn hashes_of(&self, document: DocId) -> Result<Option<(Vec<Hash>, usize)>> {
        self.check_hashes()?;
        let Some(place) = self.place(document) else {
            return Ok(None);
        };
        let mut buffer = Vec::new();
        let hashes = Hash::all(self.numbers.read(place.range(), &mut buffer)?);
        Ok(Some((hashes.to_vec(), place.shingles as usize)))
    }

    /// The sample of a document whose shingles were looked up; of one in the file, by what was `read`.
    pub(super) fn get<'a>(
        &'a self,
        document: DocId,
        read: Option<&'a [u32]>,
    ) -> Option<CountedSample<'a>> {
        let place = self.place(document)?;
        let numbers = read.or_else(|| self.numbers.get(place.range()))?;
        let shingles = place.shingles as usize;
        Some(place.ends.sample(numbers, text_level(shingles), shingles))
    }

    fn check_hashes(&self) -> Result<()> {
        match self.are_looked_up {
            true => Err(Error::input(
                "samples",
                "not looked up yet",
                "of a finished corpus",
            )),
            false => Ok(()),
        }
    }

    /// Whether a document has a sample.
    pub fn has(&self, document: DocId) -> bool {
        self.place(document).is_some()
    }
}

/// Looks the shingles of some documents up, whose numbers lie one after the other.
fn look_up_block(
    places: &mut [Place],
    mut numbers: &mut [u32],
    table: &ShingleFrequencies,
    several: &Several,
) {
    let mut parts = Vec::new();
    for of_task in places.chunks_mut(TOGETHER) {
        let count = of_task.iter().map(|place| place.len as usize).sum();
        let (of_places, rest) = numbers.split_at_mut(count);
        parts.push((of_task, of_places));
        numbers = rest;
    }
    let all = parts.into_par_iter();
    all.for_each_init(Default::default, |buffers, (places, mut numbers)| {
        for place in places {
            let (of_text, rest) = numbers.split_at_mut(place.len as usize);
            let is_single = |hash| !several.may_have(hash);
            place.ends = Ends::look_up(of_text, table, is_single, buffers);
            numbers = rest;
        }
    });
}

/// Reads the samples that are in the file.
pub(super) struct InFile<'a>(pub(super) &'a Samples);

impl Source for InFile<'_> {
    type Value = Box<[u32]>;

    fn size(&self, document: DocId) -> Option<usize> {
        let InFile(samples) = self;
        let place = samples.place(document)?;
        let is_in_file = samples.numbers.get(place.range()).is_none();
        is_in_file.then_some(HASH * place.len as usize)
    }

    fn value(&self, document: DocId, _: &mut Vec<u8>) -> Result<Box<[u32]>> {
        let InFile(samples) = self;
        let range = samples.place(document).map_or(0..0, Place::range);
        let mut buffer = Vec::new();
        Ok(samples.numbers.read(range, &mut buffer)?.into())
    }
}

impl Cached for Box<[u32]> {
    const GROWTH: usize = 1;

    fn heap_bytes(&self) -> usize {
        size_of_val(&**self)
    }
}
