/*! Blobs that may be moved out of memory: appended, then read by number.

Texts, sketches, and keys on their way between batches and buckets are blobs, stored one
after the other in a [`Spill`]. The end of each blob stays in memory, 8 bytes per blob.
*/

use std::ops::Range;

use crate::error::Result;
use crate::spill::Spill;

/// Append-only blobs.
#[derive(Debug)]
pub struct BlobFile {
    bytes: Spill,
    /// Where each blob ends; it begins where the one before it ends.
    ends: Vec<u64>,
}

impl BlobFile {
    /// No blobs yet; they are written to `bytes`, which must be empty.
    pub fn new(bytes: Spill) -> Self {
        BlobFile {
            bytes,
            ends: Vec::new(),
        }
    }

    /// The number of blobs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no blobs.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The size of all blobs in bytes.
    pub fn size(&self) -> u64 {
        self.begin(self.len())
    }

    /// Where a blob begins; for the number of blobs, where the last one ends.
    ///
    /// # Panics
    ///
    /// If there is no such blob.
    pub fn begin(&self, blob: usize) -> u64 {
        blob.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The number of bytes in the file.
    pub fn in_file(&self) -> u64 {
        self.bytes.in_file()
    }

    /// Appends a blob; after an error there are as many as before.
    ///
    /// # Errors
    ///
    /// If it cannot be written: usually a full disk.
    pub fn push(&mut self, blob: &[u8]) -> Result<()> {
        let size = self.size();
        if let Err(error) = self.bytes.append(blob) {
            self.bytes.truncate(size);
            return Err(error);
        }
        self.ends.push(size + blob.len() as u64);
        Ok(())
    }

    /// Keeps the first `len` blobs.
    pub fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.bytes.truncate(self.size());
    }

    /// Reads a range of consecutive blobs; `buffer` holds them if they have to be read.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    ///
    /// # Panics
    ///
    /// If there are no such blobs.
    pub fn read<'a>(&'a self, blobs: Range<usize>, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let (begin, end) = (self.begin(blobs.start), self.begin(blobs.end));
        self.bytes.read(begin, end, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blobs() -> impl Iterator<Item = Vec<u8>> {
        (0..100_u8).map(|at| vec![at; usize::from(at) % 7])
    }

    fn check(file: &BlobFile) {
        let all: Vec<Vec<u8>> = blobs().collect();
        assert_eq!(file.len(), all.len());
        assert_eq!(file.size(), all.concat().len() as u64);
        let mut buffer = Vec::new();
        for range in [0..0, 0..1, 8..20, 99..100, 0..100] {
            let read = file.read(range.clone(), &mut buffer).unwrap();
            assert_eq!(read, all[range].concat());
        }
    }

    #[test]
    fn what_is_pushed_is_read() {
        for bytes in [Spill::new(1 << 20), Spill::new(0)] {
            let mut file = BlobFile::new(bytes);
            blobs().for_each(|blob| file.push(&blob).unwrap());
            check(&file);
        }
    }
}
