/*! Values that may move out of memory: appended, then read at any position.

Up to a budget the values stay in memory, in blocks that are never moved; only the first one grows. Beyond it the
first half stays, and all others go to an unnamed file, which the system removes when the process ends.
*/

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::error::{Error, Result};

const WRITING: &str = "writing what does not fit into memory to a file";
const READING: &str = "reading back from a file what did not fit into memory";

/// A budget in bytes for what is in a file but for a write buffer.
pub const WRITE_BUFFER: usize = 4 << 20;

/// Largest size of a block in memory, and of the write buffer once there is a file.
const BLOCK: usize = 4 << 20;

/// Append-only values, in memory or in a file.
#[derive(Debug)]
pub struct Spilled<T> {
    /// The first values. Values that were appended at once lie in one block.
    blocks: Vec<Vec<T>>,
    /// Where each block begins.
    begins: Vec<usize>,
    /// The number of values in the blocks.
    in_blocks: usize,
    /// The number of values in the file: those after the blocks.
    in_file: usize,
    /// The last values, which are not in the file yet.
    waiting: Vec<T>,
    budget: usize,
    file: Option<File>,
    /// The folder of an unnamed file; by default the system's temporary folder.
    folder: Option<PathBuf>,
}

impl<T> Spilled<T> {
    /// No values yet. If they exceed `budget` bytes, an unnamed file in `folder` takes them.
    pub fn new(budget: usize, folder: Option<&Path>) -> Self {
        Spilled {
            blocks: Vec::new(),
            begins: Vec::new(),
            in_blocks: 0,
            in_file: 0,
            waiting: Vec::new(),
            budget,
            file: None,
            folder: folder.map(Path::to_owned),
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.in_blocks + self.in_file + self.waiting.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some values moved to a file.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes in memory, and in the file.
    pub fn bytes(&self) -> (u64, u64) {
        let bytes = |values: usize| (values * size_of::<T>()) as u64;
        (bytes(self.len() - self.in_file), bytes(self.in_file))
    }

    /// The values of a range, if they lie together in memory. Values that were appended at once do,
    /// unless they are in the file.
    ///
    /// # Panics
    ///
    /// If there are fewer values.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> Option<&[T]> {
        if range.end <= self.in_blocks {
            let after = self.begins.partition_point(|&begin| begin <= range.start);
            let Some(block) = after.checked_sub(1) else {
                return Some(&[]);
            };
            let begin = self.begins[block];
            return self.blocks[block].get(range.start - begin..range.end - begin);
        }
        let waiting = self.in_blocks + self.in_file;
        (range.start >= waiting).then(|| &self.waiting[range.start - waiting..range.end - waiting])
    }

    /// The blocks in memory, and where each begins.
    pub(crate) fn blocks_mut(&mut self) -> impl Iterator<Item = (usize, &mut [T])> {
        let blocks = self.blocks.iter_mut().map(Vec::as_mut_slice);
        self.begins.iter().copied().zip(blocks)
    }

    /// Removes what comes after the first `len` values.
    pub fn truncate(&mut self, len: usize) {
        let after_blocks = len.saturating_sub(self.in_blocks);
        self.waiting
            .truncate(after_blocks.saturating_sub(self.in_file));
        self.in_file = self.in_file.min(after_blocks);
        while let (Some(block), Some(&begin)) = (self.blocks.last_mut(), self.begins.last()) {
            block.truncate(len.saturating_sub(begin));
            if !block.is_empty() {
                break;
            }
            self.blocks.pop();
            self.begins.pop();
        }
        self.in_blocks = self.in_blocks.min(len);
    }
}

impl<T: Copy + FromBytes + IntoBytes + Immutable> Spilled<T> {
    /// Appends values; after an error there are as many as before.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or written: usually a full disk.
    pub fn append(&mut self, values: &[T]) -> Result<()> {
        let before = self.len();
        let appended = match self.file {
            Some(_) => self.append_to_file(values),
            None => self.append_to_memory(values),
        };
        appended.inspect_err(|_| self.truncate(before))
    }

    fn append_to_memory(&mut self, values: &[T]) -> Result<()> {
        // Small budgets have small blocks, so that half of the values can stay.
        let size = (self.budget / 8).min(BLOCK) / size_of::<T>();
        match self.blocks.last_mut() {
            // The first block grows, since most collections are small.
            Some(block) if block.len() + values.len() <= block.capacity().max(size) => {
                block.extend_from_slice(values);
            }
            last => {
                let size = if last.is_some() { size } else { 0 };
                let mut block = Vec::with_capacity(size.max(values.len()));
                block.extend_from_slice(values);
                self.blocks.push(block);
                self.begins.push(self.in_blocks);
            }
        }
        self.in_blocks += values.len();
        match self.in_blocks * size_of::<T>() > self.budget {
            true => self.move_to_file(),
            false => Ok(()),
        }
    }

    /// Makes a file, and moves the second half of the memory to it.
    fn move_to_file(&mut self) -> Result<()> {
        let made = match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let file = self.file.insert(made.map_err(writing)?);
        let most = self.budget / 2 / size_of::<T>();
        let ends = self.begins[1..].iter().chain([&self.in_blocks]);
        let kept = ends.take_while(|&&end| end <= most).count();
        for block in &self.blocks[kept..] {
            file.write_all(block.as_bytes()).map_err(writing)?;
        }
        self.begins.truncate(kept + 1);
        let in_blocks = self.begins.pop().unwrap_or(0);
        self.in_file = self.in_blocks - in_blocks;
        self.in_blocks = in_blocks;
        self.blocks.truncate(kept);
        Ok(())
    }

    fn append_to_file(&mut self, values: &[T]) -> Result<()> {
        let most = self.budget.min(BLOCK) / size_of::<T>();
        // Long input is appended in parts, so that memory never holds it twice.
        for part in values.chunks(BLOCK / size_of::<T>()) {
            self.waiting.extend_from_slice(part);
            if self.waiting.len() > most {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the last values to the file, if there is one.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub fn flush(&mut self) -> Result<()> {
        if let Some(file) = &mut self.file {
            // Reading at an offset moves the file's position on Windows, and a failed write on any system.
            let end = (self.in_file * size_of::<T>()) as u64;
            file.seek(SeekFrom::Start(end))
                .and_then(|_| file.write_all(self.waiting.as_bytes()))
                .map_err(writing)?;
        }
        self.in_file += self.waiting.len();
        self.waiting.clear();
        self.waiting.shrink_to(BLOCK / size_of::<T>());
        Ok(())
    }

    /// Replaces as many values in the file, from `begin` on.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn replace_in_file(&mut self, begin: usize, values: &[T]) -> Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let begin = ((begin - self.in_blocks) * size_of::<T>()) as u64;
        file.seek(SeekFrom::Start(begin))
            .and_then(|_| file.write_all(values.as_bytes()))
            .map_err(writing)
    }

    /// The values of a range; `buffer` holds them if they do not [lie together](Self::get) in memory.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    ///
    /// # Panics
    ///
    /// If there are fewer values.
    pub fn read<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<T>) -> Result<&'a [T]> {
        if let Some(values) = self.get(range.clone()) {
            return Ok(values);
        }
        buffer.clear();
        if range.start < self.in_blocks {
            for (block, &begin) in self.blocks.iter().zip(&self.begins) {
                buffer.extend_from_slice(&block[part_of(&range, begin, block.len())]);
            }
        }
        if let Some(file) = &self.file {
            let part = part_of(&range, self.in_blocks, self.in_file);
            let held = buffer.len();
            buffer.resize(held + part.len(), T::new_zeroed());
            let begin = (part.start * size_of::<T>()) as u64;
            read_at(file, buffer[held..].as_mut_bytes(), begin)
                .map_err(|e| Error::io(READING, e))?;
        }
        let waiting = self.in_blocks + self.in_file;
        let part = part_of(&range, waiting, self.waiting.len());
        buffer.extend_from_slice(&self.waiting[part]);
        Ok(buffer)
    }

    /// All values.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn into_values(mut self) -> Result<Vec<T>> {
        if let (None, [block]) = (&self.file, &mut self.blocks[..]) {
            return Ok(std::mem::take(block));
        }
        let mut values = Vec::new();
        match self.get(0..self.len()) {
            Some(together) => values.extend_from_slice(together),
            None => drop(self.read(0..self.len(), &mut values)?),
        }
        Ok(values)
    }
}

/// The part of a range that lies in `len` values from `begin` on.
fn part_of(range: &Range<usize>, begin: usize, len: usize) -> Range<usize> {
    let within = |at: usize| at.saturating_sub(begin).min(len);
    within(range.start)..within(range.end)
}

fn writing(error: std::io::Error) -> Error {
    Error::io(WRITING, error)
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

    const BUDGETS: [usize; 5] = [0, 3, 100, 5_000, 1 << 20];

    fn check<T>(of: impl Fn(u32) -> T)
    where
        T: Copy + FromBytes + IntoBytes + Immutable + PartialEq + std::fmt::Debug,
    {
        let parts: Vec<Vec<T>> = (0..200).map(|i| vec![of(i); i as usize % 17]).collect();
        let all = parts.concat();
        for budget in BUDGETS {
            let mut spilled = Spilled::new(budget, None);
            for part in &parts {
                spilled.append(part).unwrap();
            }
            assert_eq!(spilled.len(), all.len());
            let bytes = size_of_val(all.as_slice());
            assert_eq!(spilled.has_file(), bytes > budget);
            let (in_memory, in_file) = spilled.bytes();
            assert_eq!(in_memory + in_file, bytes as u64);
            assert!(in_memory as usize <= budget + budget / 2);
            let mut buffer = Vec::new();
            for begin in (0..all.len()).step_by(37) {
                for end in [begin, begin + 1, (begin + 300).min(all.len()), all.len()] {
                    let read = spilled.read(begin..end, &mut buffer).unwrap();
                    assert_eq!(read, &all[begin..end]);
                }
            }
        }
    }

    #[test]
    fn values_are_read_back_from_memory_and_from_the_file() {
        check(|i| i as u8);
        check(|i| i << 20);
        check(|i| [i as u8; 28]);
    }

    #[test]
    fn values_appended_at_once_lie_together() {
        let parts: Vec<Vec<u32>> = (0..300).map(|i| vec![i; 50]).collect();
        let mut spilled = Spilled::new(usize::MAX, None);
        for part in &parts {
            spilled.append(part).unwrap();
        }
        // One is longer than a block.
        spilled.append(&vec![7; BLOCK / 4 + 1]).unwrap();
        for (at, part) in parts.iter().enumerate() {
            assert_eq!(spilled.get(50 * at..50 * at + 50), Some(part.as_slice()));
        }
        let long = 50 * parts.len()..spilled.len();
        assert_eq!(spilled.get(long.clone()).unwrap().len(), long.len());
        assert_eq!(spilled.get(long.start - 1..long.end), None);
    }

    #[test]
    fn removed_values_are_written_over() {
        for budget in BUDGETS {
            let mut spilled = Spilled::new(budget, None);
            spilled.append(b"abcdef").unwrap();
            spilled.append(b"gh").unwrap();
            for (len, more, expected) in [(7, "XY", "abcdefgXY"), (2, "Z", "abZ"), (0, "q", "q")] {
                spilled.truncate(len);
                spilled.append(more.as_bytes()).unwrap();
                let mut buffer = Vec::new();
                let all = spilled.read(0..spilled.len(), &mut buffer).unwrap();
                assert_eq!(all, expected.as_bytes());
            }
        }
    }
}
