//! Blobs exchanged between batches and buckets through a file.

use std::path::Path;

use crate::error::Result;
use crate::ragged::Ragged;
use crate::spilled::{Spilled, WRITE_BUFFER};

/// A table of blobs, written row by row and read column by column. In memory it costs 8
/// bytes per blob.
#[derive(Debug)]
pub struct PartitionFile {
    blobs: Ragged<Spilled<u8>>,
    columns: usize,
}

impl PartitionFile {
    /// An empty table in an unnamed file, in `folder` if there is one.
    pub fn new(columns: usize, folder: Option<&Path>) -> Self {
        PartitionFile {
            blobs: Ragged::new(Spilled::new(WRITE_BUFFER, folder)),
            columns,
        }
    }

    /// Adds a row of one blob for each column.
    ///
    /// # Errors
    ///
    /// If it cannot be written: usually a full disk.
    pub fn push(&mut self, row: &[impl AsRef<[u8]>]) -> Result<()> {
        row.iter()
            .try_for_each(|blob| self.blobs.push(blob.as_ref()))
    }

    /// Whether the table has this many rows and columns. A table without columns has no
    /// blobs, so it matches any number of rows.
    pub fn has_shape(&self, rows: usize, columns: usize) -> bool {
        self.columns == columns && self.blobs.len() == rows * columns
    }

    /// The blobs of one column, in the order of rows.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn column(&self, column: usize) -> Result<Vec<Vec<u8>>> {
        let blobs = (column..self.blobs.len()).step_by(self.columns.max(1));
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
        let mut buffer = Vec::new();
        Ok(self.blobs.read(at..at + 1, &mut buffer)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_in_and_columns_come_out() {
        let mut table = PartitionFile::new(3, None);
        for row in 0..5_u8 {
            let blobs: Vec<Vec<u8>> = (0..3).map(|at| vec![row; at]).collect();
            table.push(&blobs).unwrap();
        }
        assert!(table.has_shape(5, 3) && !table.has_shape(3, 5));
        for column in 0..3 {
            let expected: Vec<Vec<u8>> = (0..5).map(|row| vec![row; column]).collect();
            assert_eq!(table.column(column).unwrap(), expected);
        }
        assert_eq!(table.row(4).unwrap(), [vec![], vec![4], vec![4, 4]]);
    }
}
