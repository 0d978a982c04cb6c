//! Blobs that go from batches to buckets or back, through a file.

use std::path::Path;

use crate::error::{Error, Result};
use crate::spill::Spill;

/// Bytes that wait in memory.
const WAITING: usize = 4 << 20;

/// A table of blobs, written row by row and read column by column: 8 bytes each in
/// memory.
#[derive(Debug)]
pub struct PartitionFile {
    bytes: Spill,
    columns: usize,
    /// Where each blob ends, row by row.
    ends: Vec<u64>,
}

impl PartitionFile {
    /// An empty table that goes to an unnamed file, in a folder if there is one.
    pub fn new(columns: usize, folder: Option<&Path>) -> Self {
        PartitionFile::of(Spill::within(folder, WAITING), columns)
    }

    /// An empty table in `bytes`, which are empty.
    pub fn of(bytes: Spill, columns: usize) -> Self {
        PartitionFile {
            bytes,
            columns,
            ends: Vec::new(),
        }
    }

    /// Adds a row of one blob for each column.
    ///
    /// # Errors
    ///
    /// If it cannot be written: usually a full disk.
    pub fn push(&mut self, row: &[impl AsRef<[u8]>]) -> Result<()> {
        for blob in row {
            self.bytes.append(blob.as_ref())?;
            self.ends.push(self.bytes.len());
        }
        Ok(())
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        // Without columns nobody can tell the rows; there is nothing in them.
        (
            self.ends.len().checked_div(self.columns).unwrap_or(0),
            self.columns,
        )
    }

    /// The blobs of one column, of each row in turn.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn column(&self, column: usize) -> Result<Vec<Vec<u8>>> {
        let blobs = (column..self.ends.len()).step_by(self.columns.max(1));
        blobs.map(|at| self.blob(at)).collect()
    }

    /// The blobs of one row.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn row(&self, row: usize) -> Result<Vec<Vec<u8>>> {
        (row * self.columns..(row + 1) * self.columns)
            .map(|at| self.blob(at))
            .collect()
    }

    fn blob(&self, at: usize) -> Result<Vec<u8>> {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut buffer = Vec::new();
        let bytes = self.bytes.read(begin, self.ends[at], &mut buffer)?;
        Ok(bytes.to_vec())
    }

    /// Bytes of all blobs.
    pub fn size(&self) -> u64 {
        self.bytes.len()
    }

    /// Completes a named file, and beside it one that says where each blob ends.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn complete(&mut self, path: &Path) -> Result<()> {
        self.bytes.complete()?;
        let mut index = Spill::create(&path.with_extension("ends"))?;
        index.append(&(self.columns as u64).to_le_bytes())?;
        for end in &self.ends {
            index.append(&end.to_le_bytes())?;
        }
        index.complete()
    }

    /// The table that was [completed](Self::complete) at a path.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let index = Spill::open(&path.with_extension("ends"))?;
        let mut buffer = Vec::new();
        let (numbers, over) = index.read(0, index.len(), &mut buffer)?.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|&bytes| u64::from_le_bytes(bytes));
        let columns = numbers.next().unwrap_or(0) as usize;
        let ends: Vec<u64> = numbers.collect();
        let bytes = Spill::open(path)?;
        let is_whole = over.is_empty()
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == bytes.len()
            && ends.len().is_multiple_of(columns.max(1));
        match is_whole {
            true => Ok(PartitionFile {
                ends,
                ..PartitionFile::of(bytes, columns)
            }),
            false => Err(Error::input(
                "the stored keys of an earlier run",
                "as they were written",
                "others",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_in_and_columns_come_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        let mut dealt = PartitionFile::of(Spill::create(&path).unwrap(), 3);
        for row in 0..5_u8 {
            let blobs: Vec<Vec<u8>> = (0..3).map(|at| vec![row; at]).collect();
            dealt.push(&blobs).unwrap();
        }
        dealt.complete(&path).unwrap();
        for table in [&dealt, &PartitionFile::open(&path).unwrap()] {
            assert_eq!(table.size(), 15);
            for column in 0..3 {
                let expected: Vec<Vec<u8>> = (0..5).map(|row| vec![row; column]).collect();
                assert_eq!(table.column(column).unwrap(), expected);
            }
        }
        assert_eq!(dealt.row(4).unwrap(), [vec![], vec![4], vec![4, 4]]);
        std::fs::write(&path, b"short").unwrap();
        assert!(PartitionFile::open(&path).is_err());
    }
}
