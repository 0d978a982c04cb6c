/*! Blobs that may be moved out of memory: appended, then read by number.

Texts, sketches, and keys on their way between batches and buckets are blobs, stored one
after the other in a [`Spill`]. The end of each blob stays in memory, 8 bytes per blob. When
a named file is completed, the ends are written after the blobs, so that another run can
open it.
*/

use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};
use crate::spill::Spill;

/// Bytes of a stored number.
const NUMBER: u64 = 8;

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

    /// The blobs of a file that an earlier run [completed](Self::complete).
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = Spill::open(path)?;
        let ends = stored_ends(&bytes)?.ok_or_else(|| {
            let found = "other bytes";
            Error::input(path.display().to_string(), "what a run left there", found)
        })?;
        Ok(BlobFile { bytes, ends })
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

    /// Appends a blob.
    ///
    /// # Errors
    ///
    /// If it cannot be written: usually a full disk.
    pub fn push(&mut self, blob: &[u8]) -> Result<()> {
        self.bytes.append(blob)?;
        self.ends.push(self.size() + blob.len() as u64);
        Ok(())
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

    /// Flushes a named file to the disk and gives it its name. Does nothing for others.
    ///
    /// # Errors
    ///
    /// If it cannot be written or named.
    pub fn complete(&mut self) -> Result<()> {
        if self.bytes.is_named() {
            for number in self.ends.iter().chain([&(self.ends.len() as u64)]) {
                self.bytes.append(&number.to_le_bytes())?;
            }
        }
        self.bytes.complete()
    }
}

/// Where the blobs of a complete file end; `None` if `bytes` is not a complete file.
fn stored_ends(bytes: &Spill) -> Result<Option<Vec<u64>>> {
    let mut buffer = Vec::new();
    let Some(behind) = bytes.len().checked_sub(NUMBER) else {
        return Ok(None);
    };
    let mut numbers = |begin: u64, end: u64| -> Result<Vec<u64>> {
        let numbers = bytes.read(begin, end, &mut buffer)?.as_chunks().0;
        Ok(numbers.iter().map(|&n| u64::from_le_bytes(n)).collect())
    };
    let count = numbers(behind, behind + NUMBER)?[0];
    let size = count.checked_mul(NUMBER);
    let Some(size) = size.and_then(|size| behind.checked_sub(size)) else {
        return Ok(None);
    };
    let ends = numbers(size, behind)?;
    let is_whole = ends.is_sorted() && ends.last().copied().unwrap_or(0) == size;
    Ok(is_whole.then_some(ends))
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
    fn what_is_pushed_is_read_before_and_after_it_is_complete_and_in_another_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blobs");
        let named = Spill::create(&path).unwrap();
        for bytes in [Spill::new(1 << 20), Spill::new(0), named] {
            let mut file = BlobFile::new(bytes);
            blobs().for_each(|blob| file.push(&blob).unwrap());
            check(&file);
            file.complete().unwrap();
            check(&file);
        }
        check(&BlobFile::open(&path).unwrap());
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blobs");
        for numbers in [
            &[][..],
            &[1],
            &[u64::MAX],
            &[3, 1],
            &[9, 8, 2],
            &[0, 0, 1, 2],
        ] {
            let mut bytes = Spill::create(&path).unwrap();
            for number in numbers {
                bytes.append(&number.to_le_bytes()).unwrap();
            }
            bytes.complete().unwrap();
            assert!(BlobFile::open(&path).is_err(), "{numbers:?}");
        }
    }
}
