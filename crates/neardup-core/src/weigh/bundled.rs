/*! The general inverse document frequencies that come with jieba-rs.

270,000 words with their IDF in jieba's reference collection, for streams
that have no collection of their own yet. A word outside the table gets the table's
median, as in jieba.

jieba-rs does not expose the table: its fields are private and no method looks up a
word. But the `Debug` output of the extractor contains the whole table, so it is parsed
here, once per process. The alternatives were a second copy of six megabytes of data, or
a keyword extraction for every lookup. The version is pinned in Cargo.toml, an incomplete
table is an error, and a test compares the table with the results of the extractor.
*/

use std::fmt::{self, Write};
use std::sync::LazyLock;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::improved::fixed_point;
use crate::error::{Error, Result};

/// Words in the table of the pinned version.
const WORDS: usize = 270_132;

/// Inverse document frequencies in units of 2^-16.
///
/// Compact (8 bytes per word, and its text), because every feature of every document is
/// looked up here and jieba needs the processor caches too.
#[derive(Debug)]
pub(crate) struct Bundled {
    table: HashTable<Entry>,
    /// The words, each preceded by one byte with its length.
    words: Vec<u8>,
    median: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u32,
    idf: u32,
}

impl Bundled {
    /// The table, parsed by the first caller.
    pub(crate) fn get() -> Result<&'static Self> {
        static TABLE: LazyLock<Bundled> = LazyLock::new(Bundled::read);
        match TABLE.table.len() {
            WORDS => Ok(&TABLE),
            other => Err(Error::input(
                "the IDF table of jieba-rs",
                format!("{WORDS} words"),
                other,
            )),
        }
    }

    /// The IDF of `word`, whose 64-bit XXH3 is `hash`.
    #[inline]
    pub(super) fn idf(&self, word: &str, hash: u64) -> u64 {
        let (words, word) = (&self.words, word.as_bytes());
        self.table
            .find(hash, |entry| text(words, entry.at) == word)
            .map_or(self.median, |entry| u64::from(entry.idf))
    }

    fn read() -> Self {
        let mut reader = Reader {
            table: HashTable::with_capacity(WORDS),
            words: Vec::new(),
            pending: String::new(),
        };
        // Writing into the reader cannot fail; `get` detects words that it could not parse.
        let _ = write!(reader, "{:?}", table());
        let mut values: Vec<u32> = reader.table.iter().map(|entry| entry.idf).collect();
        let middle = values.len().saturating_sub(1) / 2;
        let median = match values.is_empty() {
            true => 0,
            false => u64::from(*values.select_nth_unstable(middle).1),
        };
        Bundled {
            table: reader.table,
            words: reader.words,
            median,
        }
    }
}

#[cfg(not(target_family = "wasm"))]
fn table() -> impl fmt::Debug {
    jieba_rs::TfIdf::default()
}

/// A web page has no table, which [`Bundled::get`] refuses.
#[cfg(target_family = "wasm")]
fn table() -> impl fmt::Debug {}

/// The word whose length byte is at `at`.
#[inline]
fn text(words: &[u8], at: u32) -> &[u8] {
    let at = at as usize;
    &words[at + 1..=at + usize::from(words[at])]
}

/// Parses entries `"word": number` from a stream of pieces; a string or a number may be
/// split into several pieces.
struct Reader {
    table: HashTable<Entry>,
    words: Vec<u8>,
    pending: String,
}

impl Reader {
    fn insert(&mut self, word: &str, idf: u32) {
        // No word is that long. A skipped word would make the table incomplete, which is
        // an error.
        let Ok(length) = u8::try_from(word.len()) else {
            return;
        };
        let at = self.words.len() as u32;
        self.words.push(length);
        self.words.extend_from_slice(word.as_bytes());
        let words = &self.words;
        self.table
            .insert_unique(xxh3_64(word.as_bytes()), Entry { at, idf }, |entry| {
                xxh3_64(text(words, entry.at))
            });
    }
}

impl Write for Reader {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.pending.push_str(piece);
        // An entry ends with a comma or the closing brace of the map.
        if piece.contains([',', '}']) {
            let entry = self.pending.trim_end_matches([',', ' ', '}']);
            if let Some((word, number)) = entry.rsplit_once("\": ")
                && let Some((_, word)) = word.rsplit_once('"')
                && let Ok(idf) = number.parse::<f64>()
            {
                let (word, idf) = (word.to_owned(), fixed_point(idf) as u32);
                self.insert(&word, idf);
            }
            self.pending.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jieba_rs::{Jieba, KeywordExtract, TfIdf};

    use super::*;

    fn idf(bundled: &Bundled, word: &str) -> u64 {
        bundled.idf(word, xxh3_64(word.as_bytes()))
    }

    #[test]
    fn bundled_table_equals_that_of_the_extractor() -> Result<()> {
        let bundled = Bundled::get()?;
        let (jieba, extractor) = (Jieba::new(), TfIdf::default());
        for word in [
            "劳动防护",
            "中国",
            "城市",
            "火车",
            "北京烤鸭",
            "魑魅魍魉",
            "阿布拉卡达布",
        ] {
            // In a text of one word the weight of the word is its IDF.
            let keywords = extractor.extract_keywords(&jieba, word, 1, Vec::new());
            let [keyword] = &keywords[..] else {
                panic!("{word}: {keywords:?}");
            };
            if keyword.keyword == word {
                assert_eq!(idf(bundled, word), fixed_point(keyword.weight), "{word}");
            }
        }
        Ok(())
    }

    #[test]
    fn an_unknown_word_has_the_median() -> Result<()> {
        let bundled = Bundled::get()?;
        let unknown = idf(bundled, "\u{0}");
        let below = bundled
            .table
            .iter()
            .filter(|e| u64::from(e.idf) < unknown)
            .count();
        let above = bundled
            .table
            .iter()
            .filter(|e| u64::from(e.idf) > unknown)
            .count();
        assert!(below <= WORDS / 2 && above <= WORDS / 2);
        Ok(())
    }
}
