/*! The texts of a run, kept out of memory.

Verification needs the texts of a candidate pair again, long after the input was read.
Texts are appended here as they are read, in memory or in a file ([`Spilled`]). 8 bytes
per document stay in memory, or 24 if titles and units are kept too.

A record consists of three strings: the normalized text, the title, and the units made
by the caller's own segmenter. Title and units are often empty.
*/

use std::path::Path;

use crate::error::{Error, Result};
use crate::ragged::Ragged;
use crate::spilled::Spilled;

/// Append-only texts, addressed by number.
#[derive(Debug)]
pub struct TextStore {
    /// The parts of each record.
    parts: Ragged<Spilled<u8>>,
    /// The number of parts of a record.
    of_each: usize,
}

/// Text, title and units.
const ALL_PARTS: usize = 3;

impl TextStore {
    /// A store that holds up to `budget` bytes in memory; an unnamed file in `folder` takes what is more.
    /// `with_all` keeps titles and units too.
    pub fn new(budget: usize, folder: Option<&Path>, with_all: bool) -> Self {
        TextStore {
            parts: Ragged::new(Spilled::new(budget, folder)),
            of_each: if with_all { ALL_PARTS } else { 1 },
        }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.parts.len() / self.of_each
    }

    /// True before the first record.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Bytes in memory, and in the file.
    pub fn bytes(&self) -> (u64, u64) {
        self.parts.values().bytes()
    }

    /// Appends one record. In a store of texts only, title and units must be empty. After an error, the
    /// incomplete record must be [removed](Self::truncate).
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written: usually a full disk.
    pub fn push(&mut self, text: &str, title: &str, units: &str) -> Result<()> {
        let all = [text, title, units];
        let mut parts = all[..self.of_each].iter();
        parts.try_for_each(|part| self.parts.push(part.as_bytes()))
    }

    /// Keeps the first `len` records, and nothing of an incomplete one.
    pub fn truncate(&mut self, len: usize) {
        self.parts.truncate(len * self.of_each);
    }

    /// The normalized text of record `id`; `buffer` holds it if it has to be read.
    ///
    /// # Errors
    ///
    /// If there is no such record, or the temporary file cannot be read.
    pub fn text<'a>(&'a self, id: usize, buffer: &'a mut Vec<u8>) -> Result<&'a str> {
        self.check(id)?;
        self.part(id * self.of_each, id * self.of_each + 1, buffer)
    }

    /// Bytes of the text of record `id`; 0 if there is no such record.
    pub fn size(&self, id: usize) -> usize {
        match id < self.len() {
            true => self.parts.range(id * self.of_each).len(),
            false => 0,
        }
    }

    /// All of record `id`; `buffer` holds it if it has to be read.
    ///
    /// # Errors
    ///
    /// If there is no such record, or the temporary file cannot be read.
    pub fn record<'a>(&'a self, id: usize, buffer: &'a mut Vec<u8>) -> Result<Record<'a>> {
        self.check(id)?;
        let first = id * self.of_each;
        let begin = self.parts.range(first).start;
        let all = self.part(first, first + self.of_each, buffer)?;
        let cut = |part: usize| match part < self.of_each {
            true => self.parts.range(first + part).end - begin,
            false => all.len(),
        };
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

    /// The bytes of parts `first..last`.
    fn part<'a>(&'a self, first: usize, last: usize, buffer: &'a mut Vec<u8>) -> Result<&'a str> {
        let bytes = self.parts.read(first..last, buffer)?;
        simdutf8::basic::from_utf8(bytes).map_err(|_| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_return_unchanged_from_memory_and_file() {
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
            let mut store = TextStore::new(budget, None, true);
            for (text, title, units) in &records {
                store.push(text, title, units).unwrap();
            }
            assert_eq!(store.len(), records.len());
            let mut buffer = Vec::new();
            for (id, (text, title, units)) in records.iter().enumerate().rev() {
                let got = store.record(id, &mut buffer).unwrap();
                assert_eq!(got, Record { text, title, units });
            }
        }
    }

    #[test]
    fn missing_record_is_an_error() {
        let store = TextStore::new(10, None, false);
        let error = store.text(3, &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "The 'document' parameter must be less than 0. Got 3 instead."
        );
    }
}
