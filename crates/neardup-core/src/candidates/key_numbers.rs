/*! Numbers for keys, from the rarest key to the most frequent.

Takes some 32-bit keys for each text, of its bands or of its sample; documents with the same text
have the same keys. Numbers the keys from 0; the keys of the fewest texts come first. All keys of a
single text get the same number, since they cannot lead to a candidate; in ordinary text these are
three out of four. Later look-ups then use an array instead of a hash table.

Keys are sorted a stretch at a time: O(K log K) for K keys in all, 4 bytes per key and 16 per key of
a stretch.
*/

use rayon::prelude::*;

use crate::buckets::{deal, gathered};
use crate::candidates::key_scheme::KeyScheme;
use crate::error::{Error, Result};
use crate::identity::DistinctTexts;
use crate::ids::DocId;
use crate::ragged::Ragged;
use crate::sketch::Sketches;

/// The number of a key that only one text has.
pub(super) const SINGLE: u32 = u32::MAX;

/// Texts whose keys are made together, and how many such parts at once.
const TOGETHER: usize = 1 << 10;
const PARTS: usize = 64;

/// Keys that are sorted at once, about. Tests have several stretches too.
const STRETCH: usize = if cfg!(test) { 1 << 4 } else { 1 << 22 };

/// The number of keys that a bucket of a small collection holds on average.
const BUCKET: usize = 1 << 12;

/// More buckets would not be written into one after the other from a core's cache.
const MOST_BUCKETS: usize = 1 << 10;

/// A number for each key, the rarest first; [`SINGLE`] where only one text has it.
#[derive(Clone, Debug, Default)]
pub(in crate::candidates) struct Numbering {
    /// The number of each key, in input order.
    pub(in crate::candidates) numbers: Vec<u32>,
    /// How many texts have each key, by its number; ascending.
    pub(in crate::candidates) lengths: Vec<u32>,
}

/// The keys of some documents, numbered from the rarest. Documents with the same text share them.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The text of each document.
    texts: Vec<u32>,
    /// In the order of a text's keys, or rarest first if a prefix is enough.
    numbers: Ragged<Vec<u32>>,
    /// How many texts have each key, by its number; ascending.
    pub(super) lengths: Vec<u32>,
}

impl Keys {
    /// The keys of distinct texts.
    ///
    /// # Errors
    /// If there are 2^32 keys or more.
    pub fn of(scheme: &KeyScheme, sketches: &Sketches, distinct: DistinctTexts) -> Result<Self> {
        let of_part = |documents: &[DocId]| {
            let (mut of_one, mut of_all) = (Vec::new(), Ragged::<Vec<u32>>::default());
            for &document in documents {
                scheme.keys(sketches, document, &mut of_one);
                of_all.push_with(|keys| keys.extend(of_one.iter().map(|&key| key as u32)));
            }
            of_all
        };
        let mut keys = Ragged::<Vec<u32>>::default();
        // Some parts at a time, so that memory holds few keys twice.
        for some in distinct.firsts.chunks(PARTS * TOGETHER) {
            let parts: Vec<_> = some.par_chunks(TOGETHER).map(of_part).collect();
            parts.iter().for_each(|part| keys.append(part));
        }
        let Numbering { numbers, lengths } = Numbering::of(keys.values())?;
        let mut numbers = keys.with_values(numbers);
        if scheme.has_prefix() {
            // By rarity; keys of a single text come first.
            let lists = numbers.lists_mut().into_par_iter().with_min_len(256);
            lists.for_each(|keys| keys.sort_unstable_by_key(|number| number.wrapping_add(1)));
        }
        Ok(Keys {
            texts: distinct.texts,
            numbers,
            lengths,
        })
    }

    /// The numbers of all keys of a document.
    pub fn all(&self, document: DocId) -> &[u32] {
        self.numbers.list(self.texts[document.index()] as usize)
    }
}

impl Numbering {
    /// Numbers keys by the number of documents that have them; equally frequent ones in an order
    /// that depends only on their values.
    pub(in crate::candidates) fn of(keys: &[u32]) -> Result<Self> {
        if keys.len() > u32::MAX as usize {
            return Err(Error::input(
                "the keys of this collection",
                "fewer than 2^32 in all; a smaller sample or signature makes fewer",
                keys.len(),
            ));
        }
        // A number for each key that several documents have, first in the order of the keys.
        let mut numbers = vec![SINGLE; keys.len()];
        let mut lengths: Vec<u32> = Vec::new();
        let stretches = (keys.len() / STRETCH).next_power_of_two();
        for stretch in 0..stretches {
            for bucket in grouped(keys, stretch, stretches) {
                // Samples never have a key twice and bands hardly ever, so the length of a run is
                // the number of documents that have the key.
                for run in bucket.chunk_by(|a, b| a >> 32 == b >> 32) {
                    if run.len() > 1 {
                        let number = lengths.len() as u32;
                        lengths.push(run.len() as u32);
                        for &entry in run {
                            numbers[entry as u32 as usize] = number;
                        }
                    }
                }
            }
        }
        let mut order: Vec<u32> = (0..lengths.len() as u32).collect();
        order.par_sort_unstable_by_key(|&number| (lengths[number as usize], number));
        let mut ranks = vec![0; lengths.len()];
        for (rank, &number) in order.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        numbers
            .par_iter_mut()
            .with_min_len(1 << 12)
            .for_each(|number| {
                if *number != SINGLE {
                    *number = ranks[*number as usize];
                }
            });
        lengths.par_sort_unstable();
        Ok(Numbering { numbers, lengths })
    }
}

/// The keys of one of `stretches` parts of all keys, each with its place, in sorted buckets: all
/// places of a key are in one of them.
fn grouped(keys: &[u32], stretch: usize, stretches: usize) -> Vec<Vec<u64>> {
    let fixed = stretches.ilog2();
    let buckets = (keys.len() / stretches / BUCKET).clamp(1, MOST_BUCKETS);
    let bits = (buckets.ilog2()).max(1);
    let leading = |entry: u64, bits: u32| entry.checked_shr(64 - bits).unwrap_or(0) as usize;
    let bucket = |entry: u64| leading(entry, fixed + bits) & ((1 << bits) - 1);
    let piece = keys.len().div_ceil(2 * rayon::current_num_threads()).max(1);
    let pieces = keys.par_chunks(piece).enumerate().map(|(number, part)| {
        let places = (number * piece) as u64..;
        // Keys of samples are small numbers. Multiplication by an odd number spreads them evenly,
        // and keeps them distinct.
        let spread = |key: u32| u64::from(key.wrapping_mul(0x9E37_79B1)) << 32;
        let all = part
            .iter()
            .zip(places)
            .map(|(&key, place)| spread(key) | place);
        let of_stretch = all.filter(|&entry| leading(entry, fixed) == stretch);
        deal(of_stretch, 1 << bits, bucket)
    });
    let mut buckets = gathered(&pieces.collect::<Vec<_>>(), 1 << bits);
    buckets
        .par_iter_mut()
        .for_each(|bucket| bucket.sort_unstable());
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::schemes::search::{Reach, Search};
    use crate::sketch::{Settings, Sketch};

    /// The numbers of keys, of which each document has these.
    fn numbers(documents: &[&[u32]], search: Search) -> (Vec<Vec<u32>>, Vec<u32>) {
        let settings = Settings::Sample { size: 32 };
        let mut sketches = Sketches::new(&settings).unwrap();
        for keys in documents {
            let sketch = Sketch {
                values: keys.to_vec(),
                ..Sketch::default()
            };
            sketches.push(&sketch).unwrap();
        }
        let identities: Vec<u128> = (0..documents.len() as u128).collect();
        let texts = DistinctTexts::of(&identities, |_, _| true);
        let keys = Keys::of(&KeyScheme::new(search, 0).unwrap(), &sketches, texts).unwrap();
        let all = DocId::range(0..documents.len());
        (all.map(|at| keys.all(at).to_vec()).collect(), keys.lengths)
    }

    #[test]
    fn rare_keys_have_lower_numbers_and_keys_of_a_single_text_have_none() {
        // Four documents have 7, three have 9 and two have 5; the other keys are single.
        let documents: [&[u32]; 5] = [&[7, 5, 1], &[2, 7, 9], &[9, 5, 7], &[], &[9, 3, 7]];
        let (threshold, reach) = (0.5, Reach::Kept);
        let (as_given, lengths) = numbers(&documents, Search::Postings { threshold, reach });
        assert_eq!(lengths, [2, 3, 4]);
        assert_eq!(as_given[0], [2, 0, SINGLE]);
        let (by_rarity, _) = numbers(&documents, Search::Prefix { threshold });
        let expected: [&[u32]; 5] = [
            &[SINGLE, 0, 2],
            &[SINGLE, 1, 2],
            &[0, 1, 2],
            &[],
            &[SINGLE, 1, 2],
        ];
        assert_eq!(by_rarity, expected);
    }

    #[test]
    fn any_number_of_keys_is_numbered_by_how_many_documents_have_them() {
        let mut state = 3_u64;
        let mut next = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % bound) as u32
        };
        for (count, distinct) in [
            (0, 1),
            (1, 1),
            (1000, 300),
            (40_000, 9_000),
            (40_000, 1 << 31),
        ] {
            let keys: Vec<u32> = (0..count).map(|_| next(distinct)).collect();
            let mut documents = std::collections::HashMap::<u32, u32>::new();
            for &key in &keys {
                *documents.entry(key).or_default() += 1;
            }
            let found = Numbering::of(&keys).unwrap();
            assert!(found.lengths.is_sorted());
            let mut key_of = std::collections::HashMap::new();
            for (&key, &number) in keys.iter().zip(&found.numbers) {
                assert_eq!(number == SINGLE, documents[&key] == 1);
                if number != SINGLE {
                    assert_eq!(found.lengths[number as usize], documents[&key]);
                    assert_eq!(*key_of.entry(number).or_insert(key), key);
                }
            }
            assert_eq!(key_of.len(), found.lengths.len());
        }
    }
}
