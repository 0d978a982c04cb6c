/*! The features of one document: counting, weighing and selecting them.

An open-addressing table holds indices into a list of features, whose texts are stored
one after another in one string. All of it is reused, so a document needs no allocation
once the tables have grown. The list is in order of first occurrence.
*/

use std::cmp::Reverse;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// A distinct unit of a document.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    hash: u64,
    begin: usize,
    end: usize,
    occurrences: u32,
    characters: u32,
    tag_initial: u8,
    /// Its weight, once the document is weighed.
    pub(crate) weight: u64,
}

impl Feature {
    pub(crate) fn occurrences(&self) -> u64 {
        u64::from(self.occurrences)
    }

    /// XXH3 of 64 bits over its text.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn characters(&self) -> u64 {
        u64::from(self.characters)
    }

    /// The first byte of its tag, which identifies nouns and verbs; 0 without a tag.
    pub(super) fn tag_initial(&self) -> u8 {
        self.tag_initial
    }
}

/// The features of one document.
#[derive(Debug, Default)]
pub(crate) struct Features {
    table: HashTable<u32>,
    list: Vec<Feature>,
    words: String,
}

impl Features {
    /// Removes all features.
    pub(crate) fn clear(&mut self) {
        // Clearing takes time proportional to the size of the table: one long
        // document must not slow down all the short ones after it.
        if self.table.capacity() > 4096.max(16 * self.list.len()) {
            self.table = HashTable::new();
        }
        self.table.clear();
        self.list.clear();
        self.words.clear();
    }

    /// Counts one occurrence of `word`.
    #[inline]
    pub(crate) fn count(&mut self, word: &str, tag: &str) {
        let hash = xxh3_64(word.as_bytes());
        let (list, words) = (&mut self.list, &mut self.words);
        let entry = self.table.entry(
            hash,
            |&at| {
                let known = &list[at as usize];
                known.hash == hash && words[known.begin..known.end] == *word
            },
            |&at| list[at as usize].hash,
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(at) => {
                list[*at.get() as usize].occurrences += 1;
            }
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                vacant.insert(list.len() as u32);
                let begin = words.len();
                words.push_str(word);
                list.push(Feature {
                    hash,
                    begin,
                    end: words.len(),
                    occurrences: 1,
                    characters: word.chars().count() as u32,
                    tag_initial: tag.as_bytes().first().copied().unwrap_or(0),
                    weight: 0,
                });
            }
        }
    }

    /// How many distinct features there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The features with their texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Feature)> {
        self.list.iter().map(|feature| {
            let word = &self.words[feature.begin..feature.end];
            (word, feature)
        })
    }

    /// Sets the weight of each feature to the result of `weigh`.
    pub(super) fn weigh_each(&mut self, weigh: impl Fn(&str, &Feature) -> u64) {
        for feature in &mut self.list {
            let word = &self.words[feature.begin..feature.end];
            feature.weight = weigh(word, feature);
        }
    }

    /// Drops the features that `keep` rejects, and returns their number.
    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) -> usize {
        let before = self.list.len();
        let words = &self.words;
        self.list
            .retain(|feature| keep(&words[feature.begin..feature.end]));
        let dropped = before - self.list.len();
        if dropped > 0 {
            // The table now points at the wrong places, and nothing counts on.
            self.table.clear();
        }
        dropped
    }

    /// Keeps only the `top` features of highest weight. Ties are broken by code points
    /// ascending, which is the order of UTF-8 bytes.
    pub(super) fn keep_top(&mut self, top: usize) {
        if top < self.list.len() {
            let words = &self.words;
            self.list.select_nth_unstable_by(top, |a, b| {
                let word = |f: &Feature| &words[f.begin..f.end];
                (Reverse(a.weight), word(a)).cmp(&(Reverse(b.weight), word(b)))
            });
            self.list.truncate(top);
            // The table now points at the wrong places, and nothing counts on.
            self.table.clear();
        }
    }
}
