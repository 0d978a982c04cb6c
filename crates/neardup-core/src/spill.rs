/*! Bytes that may leave memory: appended, then read anywhere.

Up to a budget they stay in memory. Beyond it they go to a file, unnamed and removed by
the system with the process, or one with a name that another run can open again once it
is complete.
*/

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const WRITING: &str = "writing what does not fit into memory to a file";
const READING: &str = "reading back from a file what did not fit into memory";

/// Bytes that wait in memory once there is a file.
const WAITING: usize = 4 << 20;

/// Append-only bytes, in memory or in a file.
#[derive(Debug)]
pub struct Spill {
    /// Everything, or what is not yet in the file.
    memory: Vec<u8>,
    budget: usize,
    file: Option<File>,
    /// Where the file will stand when it is complete.
    path: Option<PathBuf>,
    /// Bytes that are in the file.
    spilled: u64,
}

impl Spill {
    /// Nothing yet; more than `budget` bytes go to an unnamed file.
    pub fn new(budget: usize) -> Self {
        Spill {
            memory: Vec::new(),
            budget,
            file: None,
            path: None,
            spilled: 0,
        }
    }

    /// Nothing yet, in a new file that [`complete`](Self::complete) gives its name.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(unfinished(path))
            .map_err(|e| Error::io(WRITING, e))?;
        Ok(Spill {
            file: Some(file),
            path: Some(path.to_owned()),
            ..Spill::new(WAITING)
        })
    }

    /// What an earlier run has completed.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(READING, e))?;
        let size = file.metadata().map_err(|e| Error::io(READING, e))?.len();
        Ok(Spill {
            file: Some(file),
            spilled: size,
            ..Spill::new(0)
        })
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.spilled + self.memory.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or written: usually a full disk.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > self.budget {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(|e| Error::io(WRITING, e))?),
        };
        file.write_all(&self.memory)
            .map_err(|e| Error::io(WRITING, e))?;
        self.spilled += self.memory.len() as u64;
        // From here on memory is only a write buffer.
        self.budget = self.budget.min(WAITING);
        self.memory.clear();
        self.memory.shrink_to(self.budget);
        Ok(())
    }

    /// Gives a file made by [`create`](Self::create) its name, with all in it on the disk.
    /// Without effect for others.
    ///
    /// # Errors
    ///
    /// If it cannot be written or named.
    pub fn complete(&mut self) -> Result<()> {
        let Some(path) = self.path.take() else {
            return Ok(());
        };
        self.flush()?;
        if let Some(file) = &self.file {
            file.sync_all().map_err(|e| Error::io(WRITING, e))?;
        }
        std::fs::rename(unfinished(&path), &path).map_err(|e| Error::io(WRITING, e))
    }

    /// The bytes from `begin` to `end`; `buffer` holds them if they have to be read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    ///
    /// # Panics
    ///
    /// If there are not so many bytes.
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

fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
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
    fn a_named_file_is_there_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("texts");
        let mut spill = Spill::create(&path).unwrap();
        check(&mut spill);
        assert!(!path.exists());
        spill.complete().unwrap();
        let size = spill.len();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let again = Spill::open(&path).unwrap();
        assert_eq!(
            again.read(0, size, &mut a).unwrap(),
            spill.read(0, size, &mut b).unwrap()
        );
    }
}
