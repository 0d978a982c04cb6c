/*! Bytes that may be moved out of memory: appended, then read at any position.

Up to a budget the bytes stay in memory. Beyond it they go to a file: either an unnamed one,
which the system removes when the process ends, or a named one, which another run can open
once it is complete. A named file ends with a digest of all bytes before it, so that damage
is detected.
*/

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};

const WRITING: &str = "writing what does not fit into memory to a file";
const READING: &str = "reading back from a file what did not fit into memory";

/// Size of the write buffer once there is a file.
const WAITING: usize = 4 << 20;

/// Bytes of the digest at the end of a complete file.
const DIGEST: usize = 16;

/// Bytes that are read at a time to check a file.
const CHECKED: usize = 1 << 20;

/// Append-only bytes, in memory or in a file.
#[derive(Debug)]
pub struct Spill {
    /// Everything, or the bytes that are not in the file yet.
    memory: Vec<u8>,
    budget: usize,
    file: Option<File>,
    /// The folder of an unnamed file; by default the system's temporary folder.
    folder: Option<PathBuf>,
    /// The final path of a named file, and the digest of its bytes so far.
    named: Option<(PathBuf, Digest)>,
    /// Bytes that are in the file.
    spilled: u64,
}

/// A digest of all bytes so far.
#[derive(Default)]
struct Digest(Box<Xxh3>);

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digest")
    }
}

impl Spill {
    /// An empty spill; more than `budget` bytes go to an unnamed file.
    pub fn new(budget: usize) -> Self {
        Spill {
            memory: Vec::new(),
            budget,
            file: None,
            folder: None,
            named: None,
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

    /// An empty spill in a new file; [`complete`](Self::complete) gives it its name.
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
            named: Some((path.to_owned(), Digest::default())),
            ..Spill::new(WAITING)
        })
    }

    /// Opens a file that an earlier run completed.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is damaged. The whole file is read to check it.
    pub fn open(path: &Path) -> Result<Self> {
        let damaged = |_| {
            let found = "other bytes";
            Error::input(path.display().to_string(), "what a run left there", found)
        };
        let file = File::open(path).map_err(damaged)?;
        let size = file.metadata().map_err(damaged)?.len();
        let size = size.checked_sub(DIGEST as u64);
        let size = size.filter(|&size| is_whole(&file, size).unwrap_or(false));
        let size = size
            .ok_or(())
            .map_err(|()| damaged(std::io::ErrorKind::InvalidData.into()))?;
        Ok(Spill {
            file: Some(file),
            spilled: size,
            ..Spill::new(0)
        })
    }

    /// Whether this is a named file that is not complete yet.
    pub fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.spilled + self.memory.len() as u64
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
        file.write_all(&self.memory)
            .map_err(|e| Error::io(WRITING, e))?;
        if let Some((_, digest)) = &mut self.named {
            digest.0.update(&self.memory);
        }
        self.spilled += self.memory.len() as u64;
        // From here on memory is only a write buffer.
        self.budget = self.budget.min(WAITING);
        self.memory.clear();
        self.memory.shrink_to(self.budget);
        Ok(())
    }

    /// Flushes a file made by [`create`](Self::create) to the disk and gives it its name.
    /// Does nothing for others.
    ///
    /// # Errors
    ///
    /// If it cannot be written or named.
    pub fn complete(&mut self) -> Result<()> {
        // The flushed bytes are part of the digest too.
        if self.named.is_some() {
            self.flush()?;
        }
        let Some((path, digest)) = self.named.take() else {
            return Ok(());
        };
        if let Some(file) = &mut self.file {
            let digest = digest.0.digest128().to_le_bytes();
            let written = file.write_all(&digest).and_then(|()| file.sync_all());
            written.map_err(|e| Error::io(WRITING, e))?;
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

fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Whether the digest of the first `size` bytes follows them.
fn is_whole(file: &File, size: u64) -> std::io::Result<bool> {
    let mut digest = Xxh3::new();
    let mut buffer = vec![0; CHECKED];
    let mut at = 0;
    while at < size {
        let some = &mut buffer[..(size - at).min(CHECKED as u64) as usize];
        read_at(file, some, at)?;
        digest.update(some);
        at += some.len() as u64;
    }
    let mut stored = [0; DIGEST];
    read_at(file, &mut stored, size)?;
    Ok(digest.digest128() == u128::from_le_bytes(stored))
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

    #[test]
    fn a_file_that_is_not_as_it_was_written_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let mut spill = Spill::create(&path).unwrap();
        check(&mut spill);
        spill.complete().unwrap();
        let written = std::fs::read(&path).unwrap();
        for at in [0, written.len() / 2, written.len() - 1] {
            let mut other = written.clone();
            other[at] ^= 1;
            std::fs::write(&path, &other).unwrap();
            assert!(Spill::open(&path).is_err(), "flipped at {at}");
            std::fs::write(&path, &written[..at]).unwrap();
            assert!(Spill::open(&path).is_err(), "cut at {at}");
        }
        std::fs::write(&path, &written).unwrap();
        assert_eq!(Spill::open(&path).unwrap().len(), spill.len());
        std::fs::remove_file(&path).unwrap();
        let error = Spill::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("keys: expected what a run left there"),
            "{error}"
        );
    }
}
