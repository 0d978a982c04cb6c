/*! The texts of a run, kept out of memory.

Verification needs a candidate pair's texts again, long after the input went
by. They are appended here as they are read: in memory up to a budget, beyond
it in an unnamed temporary file that the system removes with the process. What
stays in memory is 24 bytes per document.

Records are three strings: the normalized text, the title and the units that a
caller's own segmenter made (both often empty).
*/

use std::fs::File;
use std::io::Write;

use crate::error::{Error, Result};

const WRITING: &str = "writing the texts of the run to a temporary file";
const READING: &str = "reading the texts of the run back from a temporary file";

/// Append-only texts, addressed by their number.
#[derive(Debug)]
pub struct TextStore {
    /// Where each of the three parts of a record ends; a part begins where the
    /// one before it ends.
    ends: Vec<u64>,
    /// Everything, or what is not yet in the file. A `String`, so that a part
    /// of it is known to be valid text without looking.
    memory: String,
    budget: usize,
    file: Option<File>,
    /// Bytes that are in the file.
    spilled: u64,
}

/// Text, title and units.
const PARTS: usize = 3;

impl TextStore {
    /// A store that holds up to `budget` bytes in memory.
    pub fn new(budget: usize) -> Self {
        TextStore {
            ends: Vec::new(),
            memory: String::new(),
            budget,
            file: None,
            spilled: 0,
        }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.ends.len() / PARTS
    }

    /// True before the first record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends one record.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written: usually a full disk.
    pub fn push(&mut self, text: &str, title: &str, units: &str) -> Result<()> {
        for part in [text, title, units] {
            self.memory.push_str(part);
            self.ends.push(self.spilled + self.memory.len() as u64);
        }
        if self.memory.len() > self.budget {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(|e| Error::io(WRITING, e))?),
        };
        file.write_all(self.memory.as_bytes())
            .map_err(|e| Error::io(WRITING, e))?;
        self.spilled += self.memory.len() as u64;
        // From here on memory is only a write buffer.
        self.budget = self.budget.min(4 << 20);
        self.memory.clear();
        self.memory.shrink_to(self.budget);
        Ok(())
    }

    /// The normalized text of record `id`; `buffer` holds it if it has to be read.
    ///
    /// # Errors
    ///
    /// If there is no such record, or the temporary file cannot be read.
    pub fn text<'a>(&'a self, id: usize, buffer: &'a mut Vec<u8>) -> Result<&'a str> {
        self.check(id)?;
        self.part(id * PARTS, id * PARTS + 1, buffer)
    }

    /// Bytes of the text of record `id`; 0 if there is no such record.
    pub fn size(&self, id: usize) -> usize {
        match self.ends.get(id * PARTS) {
            Some(&end) => (end - self.begin(id * PARTS)) as usize,
            None => 0,
        }
    }

    /// All of record `id`; `buffer` holds it if it has to be read.
    ///
    /// # Errors
    ///
    /// If there is no such record, or the temporary file cannot be read.
    pub fn record<'a>(&'a self, id: usize, buffer: &'a mut Vec<u8>) -> Result<Record<'a>> {
        self.check(id)?;
        let first = id * PARTS;
        let begin = self.begin(first);
        let all = self.part(first, first + PARTS, buffer)?;
        let cut = |part: usize| (self.ends[first + part] - begin) as usize;
        Ok(Record {
            text: &all[..cut(0)],
            title: &all[cut(0)..cut(1)],
            units: &all[cut(1)..],
        })
    }

    fn check(&self, id: usize) -> Result<()> {
        if id >= self.len() {
            let known = format!("less than {}", self.len());
            return Err(Error::parameter("document", known, id));
        }
        Ok(())
    }

    fn begin(&self, part: usize) -> u64 {
        part.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The bytes of parts `first..last`.
    fn part<'a>(&'a self, first: usize, last: usize, buffer: &'a mut Vec<u8>) -> Result<&'a str> {
        let (begin, end) = (self.begin(first), self.ends[last - 1]);
        if begin >= self.spilled {
            let at = |offset: u64| (offset - self.spilled) as usize;
            return Ok(&self.memory[at(begin)..at(end)]);
        }
        buffer.resize((end - begin) as usize, 0);
        if let Some(file) = &self.file {
            read_at(file, buffer, begin).map_err(|e| Error::io(READING, e))?;
        }
        std::str::from_utf8(buffer).map_err(|_| {
            Error::input(
                "the temporary file of texts",
                "what was written to it",
                "other bytes",
            )
        })
    }
}

/// One record of a [`TextStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The normalized text.
    pub text: &'a str,
    /// The title as it was given; empty if there is none.
    pub title: &'a str,
    /// Units of a caller's own segmenter, encoded; empty if there are none.
    pub units: &'a str,
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

    #[test]
    fn what_went_in_comes_out_in_memory_and_from_the_file() {
        let records: Vec<(String, String, String)> = (0..500)
            .map(|i| {
                (
                    format!("文本{i}").repeat(i % 7),
                    "题".repeat(i % 3),
                    "u\u{1f}n".repeat(i % 2),
                )
            })
            .collect();
        for budget in [0, 100, 1 << 20] {
            let mut store = TextStore::new(budget);
            for (text, title, units) in &records {
                store.push(text, title, units).unwrap();
            }
            assert_eq!(store.len(), records.len());
            assert_eq!(store.file.is_some(), budget < 1 << 20);
            let mut buffer = Vec::new();
            for (id, (text, title, units)) in records.iter().enumerate().rev() {
                let got = store.record(id, &mut buffer).unwrap();
                assert_eq!(got, Record { text, title, units });
            }
        }
    }

    #[test]
    fn a_record_that_is_not_there_is_an_error() {
        let store = TextStore::new(10);
        let error = store.text(3, &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "The 'document' parameter must be less than 0. Got 3 instead."
        );
    }
}
