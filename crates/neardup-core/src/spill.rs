/*! Bytes that may be moved out of memory: appended, then read at any position.

Up to a budget the bytes stay in memory. Beyond it they go to an unnamed file, which the system
removes when the process ends.
*/

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const WRITING: &str = "writing what does not fit into memory to a file";
const READING: &str = "reading back from a file what did not fit into memory";

/// Size of the write buffer once there is a file.
const WAITING: usize = 4 << 20;

/// Append-only bytes, in memory or in a file.
#[derive(Debug)]
pub struct Spill {
    /// Everything, or the bytes that are not in the file yet.
    memory: Vec<u8>,
    budget: usize,
    file: Option<File>,
    /// The folder of an unnamed file; by default the system's temporary folder.
    folder: Option<PathBuf>,
    /// Bytes that are in the file.
    spilled: u64,
}

impl Spill {
    /// An empty spill; more than `budget` bytes go to an unnamed file.
    pub fn new(budget: usize) -> Self {
        Spill {
            memory: Vec::new(),
            budget,
            file: None,
            folder: None,
            spilled: 0,
        }
    }

    /// As [`new`](Self::new), with the unnamed file in `folder`, if there is one.
    pub fn within(folder: Option<&Path>, budget: usize) -> Self {
        Spill {
            folder: folder.map(Path::to_owned),
            ..Spill::new(budget)
        }
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.spilled + self.memory.len() as u64
    }

    /// The number of bytes in the file.
    pub fn in_file(&self) -> u64 {
        self.spilled
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or written: usually a full disk.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        // Long input is appended in parts, so that memory never holds it twice.
        for part in bytes.chunks(WAITING) {
            self.memory.extend_from_slice(part);
            if self.memory.len() > self.budget {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Removes what comes after the first `len` bytes.
    pub fn truncate(&mut self, len: u64) {
        match len.checked_sub(self.spilled) {
            Some(waiting) => self.memory.truncate(waiting as usize),
            None => {
                self.memory.clear();
                self.spilled = len;
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let made = match &self.folder {
                    Some(folder) => tempfile::tempfile_in(folder),
                    None => tempfile::tempfile(),
                };
                none.insert(made.map_err(|e| Error::io(WRITING, e))?)
            }
        };
        // Reading at an offset moves the file's position on Windows, and a failed write on any system.
        file.seek(SeekFrom::Start(self.spilled))
            .and_then(|_| file.write_all(&self.memory))
            .map_err(|e| Error::io(WRITING, e))?;
        self.spilled += self.memory.len() as u64;
        // From here on memory is only a write buffer.
        self.budget = self.budget.min(WAITING);
        self.memory.clear();
        self.memory.shrink_to(self.budget);
        Ok(())
    }

    /// The bytes from `begin` to `end`; `buffer` holds them if they have to be read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    pub fn read<'a>(&'a self, begin: u64, end: u64, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        if begin >= self.spilled {
            let at = |offset: u64| (offset - self.spilled) as usize;
            return Ok(&self.memory[at(begin)..at(end)]);
        }
        buffer.resize((end - begin) as usize, 0);
        let in_file = (end.min(self.spilled) - begin) as usize;
        if let Some(file) = &self.file {
            read_at(file, &mut buffer[..in_file], begin).map_err(|e| Error::io(READING, e))?;
        }
        let waiting = buffer.len() - in_file;
        buffer[in_file..].copy_from_slice(&self.memory[..waiting]);
        Ok(buffer)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// In a web page there are no files.
#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spill: &mut Spill) {
        let parts: Vec<Vec<u8>> = (0..200_u8).map(|i| vec![i; usize::from(i) % 17]).collect();
        let all = parts.concat();
        for part in &parts {
            spill.append(part).unwrap();
        }
        assert_eq!(spill.len(), all.len() as u64);
        let mut buffer = Vec::new();
        for begin in (0..all.len()).step_by(37) {
            for end in [begin, begin + 1, (begin + 300).min(all.len()), all.len()] {
                let got = spill.read(begin as u64, end as u64, &mut buffer).unwrap();
                assert_eq!(got, &all[begin..end]);
            }
        }
    }

    #[test]
    fn what_went_in_comes_out_in_memory_and_from_the_file() {
        for budget in [0, 100, 1 << 20] {
            let mut spill = Spill::new(budget);
            check(&mut spill);
            assert_eq!(spill.file.is_some(), budget < 1 << 20);
        }
    }

    #[test]
    fn what_is_removed_is_written_over() {
        for budget in [0, 3, 100] {
            let mut spill = Spill::new(budget);
            spill.append(b"abcdef").unwrap();
            spill.append(b"gh").unwrap();
            for (len, more, expected) in [(7, "XY", "abcdefgXY"), (2, "Z", "abZ"), (0, "q", "q")] {
                spill.truncate(len);
                spill.append(more.as_bytes()).unwrap();
                let mut buffer = Vec::new();
                let all = spill.read(0, spill.len(), &mut buffer).unwrap();
                assert_eq!(all, expected.as_bytes());
            }
        }
    }
}
