//! Keys that are shuffled between batches and buckets bring together whom keys in memory do.

use neardup_core::candidates::{Banding, CandidateIndex, Reach, Search, SearchStatistics, Shuffle};
use neardup_core::cluster::{Clusterer, Decision};
use neardup_core::corpus::{Corpus, Document, Memory};
use neardup_core::groups::Groups;
use neardup_core::identity::FirstByText;
use neardup_core::ids::DocId;
use neardup_core::judge::{Bounds, Rule};
use neardup_core::recipe::{Recipe, Resources};
use neardup_core::sketch::{Settings, Sketch, Sketches};
use neardup_core::verify::Measure;
use neardup_core::verify::sample_bytes::samples_to_bytes;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const POSTINGS: Search = Search::Postings {
    threshold: 0.4,
    reach: Reach::Kept,
};

const EXHAUSTIVE: Search = Search::Postings {
    threshold: 0.4,
    reach: Reach::Exhaustive,
};

fn draw(at: usize, what: u64) -> u64 {
    xxh3_64_with_seed(&at.to_le_bytes(), what)
}

/// Keys of a document: some of a form that most have, some of an earlier document, some
/// of a few that everything is made of, so that lists of all lengths come about.
fn keys(at: usize) -> Vec<u32> {
    // All of these are near each other, until the lists are closed.
    if at.is_multiple_of(7) {
        return (60..72).collect();
    }
    let form = (0..12).filter(|&key| !draw(at, key).is_multiple_of(5));
    let chance = (20..32).map(|key| 100 + draw(at, key) % 400);
    let own = (40..52).map(|key| match at % 3 {
        2 if !draw(at, key).is_multiple_of(4) => {
            10_000 + draw(draw(at, 1) as usize % at, key) % 1_000_000
        }
        _ => 10_000 + draw(at, key) % 1_000_000,
    });
    let mut keys: Vec<u32> = form
        .chain(chance)
        .chain(own)
        .map(|key| key as u32)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn samples(count: usize) -> Sketches {
    let mut all = Sketches::new(&Settings::Sample { size: 32 }).unwrap();
    for at in 0..count {
        let sketch = Sketch {
            values: keys(at),
            ..Sketch::default()
        };
        all.push(&sketch).unwrap();
    }
    all
}

fn signatures(count: usize) -> Sketches {
    let mut all = Sketches::new(&Settings::MinHash { num_perm: 32 }).unwrap();
    for at in 0..count {
        // The least of each of 32 hashes.
        let least = |hash| {
            keys(at)
                .iter()
                .map(|&key| draw(key as usize, hash) as u32)
                .min()
        };
        let sketch = Sketch {
            values: (0..32).filter_map(least).collect(),
            ..Sketch::default()
        };
        all.push(&sketch).unwrap();
    }
    all
}

/// Every third document repeats a text, if another has the same sketch.
fn identities(sketches: &Sketches) -> Vec<u128> {
    let same = |at: DocId| DocId::range(0..at.index()).find(|&other| sketches.are_equal(at, other));
    let text = |at: DocId| same(at).filter(|_| at.0.is_multiple_of(3)).unwrap_or(at);
    DocId::range(0..sketches.len())
        .map(|at| text(at).0.into())
        .collect()
}

/// Whether each document is the first with its text.
fn first_of_each(identities: &[u128]) -> Vec<bool> {
    let mut texts = FirstByText::default();
    let all = DocId::range(0..identities.len());
    all.map(|at| texts.insert(identities, at)).collect()
}

/// Some of all, as another collection of sketches.
fn part(of: &Sketches, settings: &Settings, begin: usize, end: usize) -> Sketches {
    let mut some = Sketches::new(settings).unwrap();
    for at in DocId::range(begin..end) {
        some.push_bytes(&of.to_bytes(at)).unwrap();
    }
    some
}

/// Later and earlier document of each candidate pair, by keys in memory.
fn in_memory(sketches: &Sketches, search: Search, is_filed: &[bool]) -> Vec<(u32, u64)> {
    let identities = identities(sketches);
    let mut index = CandidateIndex::new(sketches, &identities, &Groups::default(), search).unwrap();
    let (mut filed, mut pairs) = (Vec::new(), Vec::new());
    for document in DocId::range(0..sketches.len()) {
        let places = index.near(sketches, &[document]).unwrap().into_values();
        pairs.extend(
            places
                .iter()
                .map(|&place| (document.0, filed[place.index()])),
        );
        if is_filed[document.index()] {
            index.insert(sketches, document).unwrap();
            filed.push(u64::from(document.0));
        }
    }
    pairs
}

/// The same by shuffle.
fn shuffled(
    sketches: &Sketches,
    settings: &Settings,
    shuffle: &Shuffle,
    batch: usize,
    is_filed: &[bool],
) -> Vec<(u32, u64)> {
    let starts = (0..sketches.len()).step_by(batch);
    let batches: Vec<(u64, Sketches)> = starts
        .map(|begin| {
            let end = (begin + batch).min(sketches.len());
            (begin as u64, part(sketches, settings, begin, end))
        })
        .collect();
    let column = |table: &[Vec<Vec<u8>>], at: usize| -> Vec<Vec<u8>> {
        table.iter().map(|row| row[at].clone()).collect()
    };
    let numbers = |at: usize| -> Vec<u64> {
        let (begin, some) = &batches[at];
        (*begin..*begin + some.len() as u64).collect()
    };
    let is_first = first_of_each(&identities(sketches));
    let keys: Vec<Vec<Vec<u8>>> = (0..batches.len())
        .map(|at| {
            let (begin, some) = &batches[at];
            let is_first = |document: usize| is_first[*begin as usize + document];
            let highest = *numbers(at).last().unwrap();
            shuffle.keys(some, highest, is_first).unwrap()
        })
        .collect();
    let buckets = 0..shuffle.buckets();
    let counts: Vec<Vec<Vec<u8>>> = buckets
        .clone()
        .map(|bucket| shuffle.count(&column(&keys, bucket)).unwrap())
        .collect();
    let filed: Vec<Vec<Vec<u8>>> = (0..batches.len())
        .map(|at| {
            let counts = shuffle.key_counts(&column(&counts, at)).unwrap();
            let (begin, some) = &batches[at];
            let is_filed = |document: usize| is_filed[*begin as usize + document];
            shuffle
                .file(some, &numbers(at), is_filed, &counts, &[])
                .unwrap()
        })
        .collect();
    let lists: Vec<Vec<Vec<u8>>> = buckets
        .map(|bucket| {
            let filed = column(&filed, bucket);
            let lists = shuffle.lists(&filed, &counts[bucket], usize::MAX);
            lists.unwrap().of_batches
        })
        .collect();
    let mut pairs = Vec::new();
    for (at, (begin, some)) in batches.iter().enumerate() {
        let key_counts = shuffle.key_counts(&column(&counts, at)).unwrap();
        let lists = column(&lists, at);
        let found = shuffle.candidates(some, &numbers(at), |_| true, &key_counts, &lists);
        let found = found.unwrap();
        let later = found
            .documents
            .iter()
            .map(|&document| document.0 + *begin as u32);
        pairs.extend(later.zip(found.numbers));
    }
    pairs
}

#[test]
fn exchange_finds_the_pairs_of_keys_in_memory() {
    let count = 1500;
    let banding = Banding::new(16, 2).unwrap();
    let kinds = [
        (Settings::Sample { size: 32 }, samples(count), POSTINGS),
        (Settings::Sample { size: 32 }, samples(count), EXHAUSTIVE),
        (
            Settings::MinHash { num_perm: 32 },
            signatures(count),
            Search::Bands(banding, Reach::Kept),
        ),
    ];
    for (settings, sketches, search) in &kinds {
        let all = first_of_each(&identities(sketches));
        let is_some = |at: usize| all[at] && !draw(at, 99).is_multiple_of(3);
        let some: Vec<bool> = (0..count).map(is_some).collect();
        assert!(all.contains(&false));
        for is_filed in [&all, &some] {
            let expected = in_memory(sketches, *search, is_filed);
            assert!(expected.len() > count, "{}", expected.len());
            for (batch, buckets) in [(count, 1), (100, 7), (333, 64), (7, 3)] {
                let shuffle = Shuffle::new(*search, 0, buckets).unwrap();
                let found = shuffled(sketches, settings, &shuffle, batch, is_filed);
                assert!(
                    found == expected,
                    "{search:?}, {batch} of a batch, {buckets} buckets"
                );
            }
        }
    }
}

/// Texts of a form, of copies, of nothing.
fn texts(count: usize) -> Vec<Option<String>> {
    let word = |at: usize, what: u64| format!("w{:x} ", draw(at, what) % 5000);
    let own = |at: usize| (0..12).map(|what| word(at, what)).collect::<String>();
    (0..count)
        .map(|at| match draw(at, 70) % 12 {
            0 => None,
            1 => Some(String::new()),
            2 | 3 => Some(own(at / 9)),
            4 | 5 => Some(own(at / 9) + &word(at, 80)),
            _ => Some(format!(
                "today the office tells of water levels {}",
                own(at)
            )),
        })
        .collect()
}

/// So little memory that everything goes to files.
fn small_memory() -> Memory {
    Memory {
        texts: 1 << 10,
        sketches: 0,
        compared: 1 << 20,
        keys: 1 << 16,
        folder: None,
    }
}

fn corpus(sketch: &serde_json::Value, texts: &[Option<String>], memory: Memory) -> Corpus {
    let settings = json!({"segment": {"units": "shingles", "k": 5}, "weigh": {"scheme": "once"},
        "sketch": sketch});
    let settings = serde_json::from_value(settings).unwrap();
    let recipe = Recipe::new(settings, Resources::default()).unwrap();
    let mut corpus = Corpus::within(recipe, true, Some(5), memory).unwrap();
    let documents: Vec<Document<'_>> = texts
        .iter()
        .map(|text| Document {
            text: text.as_deref(),
            ..Document::default()
        })
        .collect();
    documents
        .chunks(700)
        .for_each(|some| corpus.push(some).unwrap());
    corpus.finish().unwrap();
    corpus
}

fn decided(
    mut clusterer: Clusterer,
    corpus: &Corpus,
    order: &[DocId],
) -> (Vec<Option<Decision>>, u64, SearchStatistics) {
    let decide = |some: &[DocId]| clusterer.decide(corpus, some).unwrap();
    let decisions = order.chunks(1024).flat_map(decide).collect();
    (decisions, clusterer.candidates(), clusterer.statistics())
}

#[test]
fn documents_are_decided_outside_of_memory_as_in_it() {
    let banding = Banding::new(16, 4).unwrap();
    let sample = json!({"kind": "sample", "size": 32});
    let kinds = [
        (4400, sample.clone(), POSTINGS, Measure::Content { k: 5 }),
        // Here each text is compared with each.
        (1100, sample, EXHAUSTIVE, Measure::Content { k: 5 }),
        (
            4400,
            json!({"kind": "minhash", "num_perm": 64}),
            Search::Bands(banding, Reach::Kept),
            Measure::Resemblance { k: 5 },
        ),
    ];
    for (count, sketch, search, measure) in kinds {
        let texts = texts(count);
        let rule = Rule {
            search,
            bounds: Bounds {
                measure: Some(measure),
                threshold: Some(0.4),
                max_distance: None,
                min_features: 1,
            },
        };
        let inside = corpus(&sketch, &texts, Memory::default());
        let memory = small_memory();
        let outside = corpus(&sketch, &texts, memory);
        let all = DocId::range(0..texts.len()).filter(|&at| texts[at.index()].is_some());
        let forward: Vec<DocId> = all.collect();
        let mut mixed = forward.clone();
        mixed.sort_by_key(|&document| draw(document.index(), 5));
        for order in [forward, mixed] {
            let clusterer = Clusterer::new(&inside, rule).unwrap();
            let expected = decided(clusterer, &inside, &order);
            let mut join = Clusterer::join(&outside, rule, &order).unwrap();
            let store = outside.stored_sketches().unwrap();
            while join.advance(store).unwrap() {}
            let joined = join.finish().unwrap();
            let clusterer = Clusterer::joined(&outside, rule, joined, &order).unwrap();
            let found = decided(clusterer, &outside, &order);
            assert!(expected.0.iter().flatten().count() > count / 9);
            assert!(found == expected, "{search:?}");
        }
    }
}

#[test]
fn documents_in_another_order_than_their_keys_are_refused() {
    let texts = texts(50);
    let memory = Memory {
        sketches: 0,
        ..Memory::default()
    };
    let corpus = corpus(&json!({"kind": "sample", "size": 32}), &texts, memory);
    let rule = Rule {
        search: POSTINGS,
        bounds: Bounds {
            measure: Some(Measure::Resemblance { k: 5 }),
            threshold: Some(0.5),
            max_distance: None,
            min_features: 1,
        },
    };
    let order: Vec<DocId> = DocId::range(0..50).collect();
    let mut join = Clusterer::join(&corpus, rule, &order).unwrap();
    assert!(
        Clusterer::join(&corpus, rule, &order)
            .unwrap()
            .finish()
            .is_err()
    );
    let store = corpus.stored_sketches().unwrap();
    while join.advance(store).unwrap() {}
    let joined = join.finish().unwrap();
    let mut clusterer = Clusterer::joined(&corpus, rule, joined, &order).unwrap();
    let error = clusterer
        .decide(&corpus, &[DocId(1), DocId(0)])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("in the order in which their keys were shuffled"),
        "{error}"
    );
}

#[test]
fn documents_of_a_group_are_decided_as_if_they_were_alone() {
    let texts = texts(1200);
    let sample = json!({"kind": "sample", "size": 32});
    let whole = json!({"kind": "sample", "size": 0});
    let minhash = json!({"kind": "minhash", "num_perm": 64});
    let banding = Banding::new(16, 4).unwrap();
    // So narrow that salted fingerprints of many groups are near each other.
    let narrow = json!({"kind": "simhash", "bits": 32});
    let near = |max_distance| Search::Near { max_distance };
    let kinds = [
        (&sample, POSTINGS, Some(Measure::Resemblance { k: 5 })),
        (&sample, EXHAUSTIVE, Some(Measure::Resemblance { k: 5 })),
        (&whole, Search::Prefix { threshold: 0.4 }, None),
        (
            &minhash,
            Search::Bands(banding, Reach::Kept),
            Some(Measure::Resemblance { k: 5 }),
        ),
        (&narrow, near(8), None),
        (&narrow, near(8), Some(Measure::Resemblance { k: 5 })),
    ];
    for (sketch, search, measure) in kinds {
        let rule = Rule {
            search,
            bounds: Bounds {
                measure,
                threshold: Some(0.4),
                max_distance: matches!(search, Search::Near { .. }).then_some(8),
                min_features: 1,
            },
        };
        for groups in [7, 120] {
            let group_of = |at: usize| draw(at, 50) % groups;
            let mut expected = vec![None; texts.len()];
            for group in 0..groups {
                let own: Vec<usize> = (0..texts.len())
                    .filter(|&at| group_of(at) == group)
                    .collect();
                let alone: Vec<_> = own.iter().map(|&at| texts[at].clone()).collect();
                let alone = corpus(sketch, &alone, Memory::default());
                let order: Vec<DocId> = DocId::range(0..own.len()).collect();
                let clusterer = Clusterer::new(&alone, rule).unwrap();
                for (&at, decision) in own.iter().zip(decided(clusterer, &alone, &order).0) {
                    expected[at] = decision.map(|decision| Decision {
                        kept: DocId(own[decision.kept.index()] as u32),
                        ..decision
                    });
                }
            }
            let order: Vec<DocId> = DocId::range(0..texts.len()).collect();
            let hashes = || {
                (0..texts.len())
                    .map(|at| draw(group_of(at) as usize, 60))
                    .collect()
            };
            let mut inside = corpus(sketch, &texts, Memory::default());
            inside.divide(hashes()).unwrap();
            let clusterer = Clusterer::new(&inside, rule).unwrap();
            assert!(
                decided(clusterer, &inside, &order).0 == expected,
                "{search:?}, {groups}"
            );
            let memory = small_memory();
            let mut outside = corpus(sketch, &texts, memory);
            outside.divide(hashes()).unwrap();
            if outside.stored_sketches().is_none() || measure.is_none() {
                continue;
            }
            let mut join = Clusterer::join(&outside, rule, &order).unwrap();
            while join.advance(outside.stored_sketches().unwrap()).unwrap() {}
            let joined = join.finish().unwrap();
            let clusterer = Clusterer::joined(&outside, rule, joined, &order).unwrap();
            assert!(
                decided(clusterer, &outside, &order).0 == expected,
                "{search:?}, {groups}"
            );
        }
    }
}

#[test]
fn a_text_of_several_groups_has_one_sample_and_is_counted_once() {
    let sketch = json!({"kind": "sample", "size": 32});
    let long = |at: usize| {
        (0..40)
            .map(|what| format!("w{:x} ", draw(at, what)))
            .collect()
    };
    let texts: Vec<Option<String>> = (0..90).map(|at| Some(long(at % 30))).collect();
    let mut corpus = corpus(&sketch, &texts, Memory::default());
    let counted = corpus.shingle_frequencies().unwrap().texts();
    assert!(!corpus.samples().unwrap().has(DocId(40)));
    assert!(corpus.divide(vec![1; 89]).is_err());
    corpus.divide((0..90).map(|at| at / 30).collect()).unwrap();
    assert_eq!(
        (counted, corpus.shingle_frequencies().unwrap().texts()),
        (30, 30)
    );
    let samples = corpus.samples().unwrap();
    assert!(DocId::range(0..90).all(|at| samples.has(at)));
    // Their hashes were looked up.
    assert!(samples_to_bytes(samples, DocId::range(0..9).zip(0..9)).is_err());
    assert!(corpus.identity(DocId(0)) != corpus.identity(DocId(30)));
}
