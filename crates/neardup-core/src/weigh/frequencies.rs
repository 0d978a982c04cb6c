/*! Document frequencies: the number of documents that contain each word. */

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::Xxh3;

use super::improved::fixed_point;
use crate::error::{Error, Result};

/// Document frequencies of a collection: its size, and for each word the number
/// of documents that contain it.
///
/// # Examples
///
/// ```
/// use neardup_core::weigh::DocumentFrequencies;
///
/// let mut counted = DocumentFrequencies::default();
/// counted.add_document(["雨", "雪"]);
/// counted.add_document(["雨"]);
/// assert_eq!(counted.documents(), 2);
/// assert_eq!(counted.sorted(), [("雨".to_owned(), 2), ("雪".to_owned(), 1)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFrequencies {
    documents: u64,
    counts: FxHashMap<Box<str>, u64>,
}

impl DocumentFrequencies {
    /// Restores a table from the number of `documents` and the document frequency of each
    /// word.
    ///
    /// # Errors
    ///
    /// If a frequency is 0 or more than `documents`, or a word occurs twice in the table.
    pub fn from_counts<W: Into<Box<str>>>(
        documents: u64,
        counts: impl IntoIterator<Item = (W, u64)>,
    ) -> Result<Self> {
        let counts = counts.into_iter();
        let mut table = FxHashMap::default();
        table.reserve(counts.size_hint().0);
        for (word, count) in counts {
            let word = word.into();
            if count == 0 || count > documents {
                return Err(Error::input(
                    format!("document frequency of '{word}'"),
                    format!("1 to {documents}, the number of documents"),
                    count,
                ));
            }
            if table.contains_key(&word) {
                return Err(Error::input("document frequencies", "each word once", word));
            }
            table.insert(word, count);
        }
        Ok(DocumentFrequencies {
            documents,
            counts: table,
        })
    }

    /// Counts a document by its words, which the caller must have made distinct.
    pub fn add_document<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.documents += 1;
        for word in words {
            match self.counts.get_mut(word) {
                Some(count) => *count += 1,
                None => {
                    self.counts.insert(word.into(), 1);
                }
            }
        }
    }

    /// Adds the counts of another table over other documents.
    pub fn merge(&mut self, mut other: Self) {
        // Moving the smaller table into the larger is faster.
        if other.counts.len() > self.counts.len() {
            std::mem::swap(self, &mut other);
        }
        self.documents += other.documents;
        for (word, count) in other.counts {
            *self.counts.entry(word).or_insert(0) += count;
        }
    }

    /// The number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of documents that contain `word`.
    pub fn count(&self, word: &str) -> u64 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True if no word was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All words with their counts, sorted by code points.
    pub fn sorted(&self) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self
            .counts
            .iter()
            .map(|(word, &count)| (word.to_string(), count))
            .collect();
        all.sort_unstable();
        all
    }

    /// A digest of the whole table, the same on every machine.
    pub fn digest(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&self.documents.to_le_bytes());
        for (word, count) in self.sorted() {
            hash.update(&(word.len() as u64).to_le_bytes());
            hash.update(word.as_bytes());
            hash.update(&count.to_le_bytes());
        }
        hash.digest()
    }

    /// ln(documents / count + 0.01), rounded to a multiple of 2^-16, in units of 2^-16.
    /// An unknown word counts as seen once, and an empty collection as one document, so
    /// the result is at least ln(1.01).
    pub(super) fn idf(&self, word: &str) -> u64 {
        let count = self.count(word).max(1);
        let documents = self.documents.max(1);
        fixed_point(libm::log(documents as f64 / count as f64 + 0.01))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idf_by_hand() -> Result<()> {
        let table = DocumentFrequencies::from_counts(100, [("a", 100), ("b", 10), ("c", 1)])?;
        // ln 1.01 = 0.00995033085, ln 10.01 = 2.30358459, ln 100.01 = 4.60527018
        assert_eq!(table.idf("a"), 652);
        assert_eq!(table.idf("b"), 150_968);
        assert_eq!(table.idf("c"), 301_811);
        assert_eq!(table.idf("never seen"), 301_811);
        assert_eq!(DocumentFrequencies::default().idf("a"), 652);
        Ok(())
    }

    #[test]
    fn merging_is_counting_together() {
        let texts = [vec!["a", "b"], vec!["b"], vec!["c", "b"], vec![]];
        let mut whole = DocumentFrequencies::default();
        texts
            .iter()
            .for_each(|words| whole.add_document(words.iter().copied()));
        for cut in 0..=texts.len() {
            let mut parts = [
                DocumentFrequencies::default(),
                DocumentFrequencies::default(),
            ];
            for (i, words) in texts.iter().enumerate() {
                parts[usize::from(i >= cut)].add_document(words.iter().copied());
            }
            let [mut left, right] = parts;
            left.merge(right);
            assert_eq!(left, whole);
        }
    }

    #[test]
    fn impossible_tables_are_refused() {
        assert!(DocumentFrequencies::from_counts(2, [("a", 2)]).is_ok());
        for table in [vec![("a", 3)], vec![("a", 0)], vec![("a", 1), ("a", 1)]] {
            assert!(DocumentFrequencies::from_counts(2, table).is_err());
        }
    }
}
