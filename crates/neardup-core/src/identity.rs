//! Documents with the same text, found by a hash of the text.

use crate::ids::DocId;
use hashbrown::HashTable;

/// A set of documents with distinct texts: 5 to 11 bytes per document.
#[derive(Clone, Debug, Default)]
pub struct FirstByText(HashTable<DocId>);

impl FirstByText {
    /// The document of the set whose text has this identity. `identities` holds the
    /// identity of each document, by number.
    pub fn get(&self, identities: &[u128], identity: u128) -> Option<DocId> {
        let is_same = |&document: &DocId| identities[document.index()] == identity;
        self.0.find(hash(identity), is_same).copied()
    }

    /// Adds a document, unless the set has one with the same text. Returns whether it
    /// was added.
    pub fn insert(&mut self, identities: &[u128], document: DocId) -> bool {
        let identity = identities[document.index()];
        if self.get(identities, identity).is_some() {
            return false;
        }
        let of = |&document: &DocId| hash(identities[document.index()]);
        self.0.insert_unique(hash(identity), document, of);
        true
    }
}

/// An identity is already a hash.
fn hash(identity: u128) -> u64 {
    identity as u64
}

/// The distinct texts of a collection.
#[derive(Clone, Debug, Default)]
pub struct DistinctTexts {
    /// The first document with each text, ascending.
    pub firsts: Vec<DocId>,
    /// The text of each document, as its place in `firsts`.
    pub texts: Vec<u32>,
}

impl DistinctTexts {
    /// The distinct texts of the documents with these identities. A document counts as another
    /// text if its sketch, which text decides, is not equal to that of the first.
    pub fn of(identities: &[u128], are_equal: impl Fn(DocId, DocId) -> bool) -> Self {
        let mut first = FirstByText::default();
        let mut distinct = DistinctTexts::default();
        for (document, &identity) in DocId::range(0..identities.len()).zip(identities) {
            let DistinctTexts { firsts, texts } = &mut distinct;
            let same = first.get(identities, identity);
            let same = same.filter(|&first| are_equal(first, document));
            texts.push(same.map_or(firsts.len() as u32, |first| texts[first.index()]));
            if same.is_none() {
                first.insert(identities, document);
                firsts.push(document);
            }
        }
        distinct
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_text_stays() {
        // The low halves of the last two are equal.
        let identities = [5, 6, 5, 5 << 64 | 6, 6];
        let mut first = FirstByText::default();
        let added = [0, 1, 2, 3, 4].map(|document| first.insert(&identities, DocId(document)));
        assert_eq!(added, [true, true, false, true, false]);
        assert_eq!(first.get(&identities, 5), Some(DocId(0)));
        assert_eq!(first.get(&identities, 5 << 64 | 6), Some(DocId(3)));
        assert_eq!(first.get(&identities, 7), None);
    }
}
