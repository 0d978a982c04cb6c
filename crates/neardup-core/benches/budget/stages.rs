//! Each stage of the recipe `general` on one core, beside the operations that it cannot do without.

use std::collections::HashSet;
use std::hint::black_box;
use std::io::{Seek, Write};

use neardup_core::candidates::{CandidateIndex, Sketches};
use neardup_core::cluster::{CHUNK, Decision, Reason};
use neardup_core::corpus::Corpus;
use neardup_core::identity::FirstByText;
use neardup_core::recipe::Scratch;
use neardup_core::sketch::{Sketch, shingle_hashes};
use neardup_core::verify::{Sample, ShingleFrequencies, Verifier};
use neardup_io::{json_lines, records};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::Input;
use crate::clock::{Spent, Times, rounds, timed};
use crate::recipe::{K, general, rule};
use crate::threads::Run;

/// A stage, its cost and its work.
#[derive(Debug, Serialize)]
pub struct Stage {
    name: &'static str,
    /// What is counted.
    unit: &'static str,
    units: usize,
    /// Bytes that it takes in or puts out.
    bytes: usize,
    /// The operations without which there is no result, and how many of them: names of
    /// [`crate::limits`].
    limit: Vec<(&'static str, usize)>,
    times: Times,
}

/// What the stages work on, and what they found so far.
pub struct Stages<'a> {
    input: &'a Input,
    run: &'a Run,
    repetitions: usize,
    normalized: Vec<String>,
    characters: usize,
    shingles: usize,
    /// The distinct shingles of each text, by their hashes.
    distinct: Vec<Vec<u64>>,
    found: Vec<Stage>,
}

/// Measures all stages on the current rayon pool, which must have one thread. `run` has decided the
/// same texts.
pub fn measure(input: &Input, run: &Run, repetitions: usize) -> Vec<Stage> {
    let recipe = general();
    let normalized: Vec<String> = input
        .texts()
        .map(|text| {
            let mut normalized = String::new();
            recipe.normalize_into(text, &mut normalized);
            normalized
        })
        .collect();
    let distinct = normalized.iter().map(|text| {
        let (mut hashes, mut seen) = (Vec::new(), HashSet::new());
        shingle_hashes(text, K, &mut hashes);
        hashes.retain(|&hash| seen.insert(hash));
        hashes
    });
    let mut stages = Stages {
        distinct: distinct.collect(),
        characters: normalized.iter().map(|text| text.chars().count()).sum(),
        shingles: 0,
        normalized,
        input,
        run,
        repetitions,
        found: Vec::new(),
    };
    stages.read_and_normalize();
    stages.sketch();
    stages.count();
    stages.search();
    stages.compare();
    stages.write();
    stages.found
}

impl Stages<'_> {
    fn add(
        &mut self,
        (name, unit, units): (&'static str, &'static str, usize),
        bytes: usize,
        limit: &[(&'static str, usize)],
        times: Times,
    ) {
        self.found.push(Stage {
            name,
            unit,
            units,
            bytes,
            limit: limit.to_vec(),
            times,
        });
    }

    fn rounds(&self, work: impl FnMut() -> Spent) -> Times {
        rounds(self.repetitions, work)
    }

    fn read_and_normalize(&mut self) {
        let (input, bytes) = (self.input, self.input.bytes());
        let fields = Input::fields();
        let times = self.rounds(|| {
            timed(|| {
                for block in &input.blocks {
                    black_box(json_lines::columns(&fields, block, "input", 1));
                }
            })
            .1
        });
        let characters = self.characters;
        self.add(
            ("read", "character", characters),
            bytes,
            &[("copy", bytes)],
            times,
        );
        let (recipe, mut out) = (general(), String::new());
        let times = self.rounds(|| {
            timed(|| {
                for text in input.texts() {
                    recipe.normalize_into(text, &mut out);
                    black_box(&out);
                }
            })
            .1
        });
        let bytes = input.texts().map(str::len).sum();
        self.add(
            ("normalize", "character", characters),
            bytes,
            &[("copy", bytes)],
            times,
        );
    }

    fn sketch(&mut self) {
        let (recipe, mut scratch, mut sketch) = (general(), Scratch::default(), Sketch::default());
        let mut hashes = Vec::new();
        let normalized = std::mem::take(&mut self.normalized);
        let mut shingles = 0;
        let mut hash_all = || {
            shingles = 0;
            for text in &normalized {
                hashes.clear();
                shingle_hashes(text, K, &mut hashes);
                shingles += black_box(&hashes).len();
            }
        };
        // A sketch hashes the shingles first; what it takes beyond that is the next stage.
        let mut beyond = Vec::new();
        let times = self.rounds(|| {
            let ((), hashing) = timed(&mut hash_all);
            let sketch_all = || {
                for text in &normalized {
                    black_box(recipe.sketch(text, None, &mut scratch, &mut sketch));
                }
            };
            beyond.push(timed(sketch_all).1 - hashing);
            hashing
        });
        let bytes = normalized.iter().map(String::len).sum();
        self.shingles = shingles;
        let name = ("hash shingles", "shingle", shingles);
        self.add(name, bytes, &[("hash_15", shingles)], times);
        let times = Times::of(&beyond[1..]);
        let name = ("distinct and sample", "shingle", shingles);
        self.add(name, bytes, &[("access_16k", shingles)], times);
        let times = self.rounds(|| {
            timed(|| {
                for text in &normalized {
                    black_box(xxh3_128(text.as_bytes()));
                }
            })
            .1
        });
        let name = ("identity", "character", self.characters);
        self.add(name, bytes, &[("hash_bulk", bytes)], times);
        self.normalized = normalized;
    }

    fn count(&mut self) {
        let distinct = std::mem::take(&mut self.distinct);
        let sample_all = || {
            distinct
                .iter()
                .map(|hashes| Sample::of_distinct(hashes, 0))
                .collect()
        };
        let samples: Vec<Sample> = sample_all();
        let of_each: usize = distinct.iter().map(Vec::len).sum();
        let counted: usize = samples.iter().map(|sample| sample.hashes().len()).sum();
        let times = self.rounds(|| timed(|| black_box::<Vec<Sample>>(sample_all())).1);
        let name = ("sample shingles to count", "shingle", of_each);
        self.add(name, 8 * of_each, &[("copy", 8 * of_each)], times);
        let times = self.rounds(|| {
            let mut table = ShingleFrequencies::default();
            timed(|| table.finish(&samples)).1
        });
        let name = ("count shingles", "counted shingle", counted);
        self.add(name, 8 * counted, &[("access_4m", counted)], times);
        self.distinct = distinct;
    }

    /// Numbers the keys, then looks up and files the documents as they were decided.
    fn search(&mut self) {
        let (corpus, run) = (&self.run.corpus, self.run);
        let Sketches::Samples(samples) = corpus.sketches() else {
            unreachable!("the recipe makes samples");
        };
        let keys_of = |&document: &u32| samples.of(document).len();
        let sum = |documents: &[u32]| -> usize { documents.iter().map(keys_of).sum() };
        let all: Vec<u32> = (0..corpus.len() as u32).collect();
        let keys: usize = sum(&all);
        let times = self.rounds(|| timed(|| black_box(index_of(corpus))).1);
        let name = ("number keys", "key", keys);
        let build = (name, 4 * keys, [("sort_4096", keys)], times);
        let mut replayed = Replayed::default();
        let mut filing = Vec::new();
        let times = self.rounds(|| {
            replayed = replay(index_of(corpus), corpus, &run.decisions);
            filing.push(replayed.file);
            replayed.look_up
        });
        let looked_up = sum(&replayed.searched);
        let (name, bytes, limit, built) = build;
        self.add(name, bytes, &limit, built);
        let name = ("look up", "key", looked_up);
        self.add(name, 4 * looked_up, &[("access_4m", looked_up)], times);
        let times = Times::of(&filing[1..]);
        let name = ("file", "key", looked_up);
        self.add(name, 4 * looked_up, &[("access_16k", looked_up)], times);
    }

    /// The profiles of all candidates, and their comparison.
    fn compare(&mut self) {
        let corpus = &self.run.corpus;
        let chunks = replay(index_of(corpus), corpus, &self.run.decisions).pairs;
        let both = chunks.iter().flatten().flat_map(|&(a, b)| [a, b]);
        let shingles_of = |document: u32| self.distinct[document as usize].len();
        let bytes_compared = both.clone().map(|document| 8 * shingles_of(document)).sum();
        let mut compared: Vec<u32> = both.collect();
        compared.sort_unstable();
        compared.dedup();
        let texts = compared
            .iter()
            .map(|&document| &self.normalized[document as usize]);
        let (bytes, characters) = texts.fold((0, 0), |(bytes, characters), text| {
            (bytes + text.len(), characters + text.chars().count())
        });
        let shingles = compared.iter().copied().map(shingles_of).sum();
        let bounds = rule().bounds;
        let measure = bounds.measure.expect("texts decide");
        let threshold = bounds.threshold.expect("texts decide");
        let mut preparing = Vec::new();
        let times = self.rounds(|| {
            let frequencies = corpus.shingle_frequencies().cloned();
            // A cache that holds all profiles, so that the second pass only compares.
            let mut verifier = Verifier::new(measure, threshold, frequencies).with_cache(1 << 40);
            let mut verify_all = || {
                for pairs in &chunks {
                    let similar = verifier.verify(corpus.texts(), corpus.samples(), pairs);
                    black_box(similar.expect("the texts can be read back"));
                }
            };
            let ((), first) = timed(&mut verify_all);
            let ((), second) = timed(&mut verify_all);
            preparing.push(first - second);
            second
        });
        let pairs = chunks.iter().map(Vec::len).sum();
        let name = ("profiles", "character", characters);
        let limit = [("hash_15", shingles), ("sort_256", shingles)];
        self.add(name, bytes, &limit, Times::of(&preparing[1..]));
        let name = ("compare", "pair", pairs);
        self.add(name, bytes_compared, &[("copy", bytes_compared)], times);
    }

    fn write(&mut self) {
        let decisions = &self.run.decisions;
        let flags: Vec<bool> = decisions.iter().map(Option::is_none).collect();
        let mut file = tempfile::tempfile().expect("a temporary file can be made");
        let mut written = 0;
        let times = self.rounds(|| {
            written = 0;
            let mut rest = flags.as_slice();
            timed(|| {
                file.rewind().expect("a file can be rewound");
                for (block, columns) in self.input.blocks.iter().zip(&self.input.columns) {
                    let (now, later) = rest.split_at(columns.len());
                    let kept = records::kept(block, now).expect("there is a flag for each record");
                    file.write_all(&kept).expect("the disk has room");
                    written += kept.len();
                    rest = later;
                }
            })
            .1
        });
        // Once to the kept records, and once to the file.
        let name = ("write", "character", self.characters);
        self.add(name, written, &[("copy", 2 * written)], times);
    }
}

/// The search of a run, done again without judging.
#[derive(Default)]
struct Replayed {
    look_up: Spent,
    file: Spent,
    searched: Vec<u32>,
    /// The candidate pairs of each chunk.
    pairs: Vec<Vec<(u32, u32)>>,
}

/// An empty index for the documents of a corpus.
fn index_of(corpus: &Corpus) -> CandidateIndex {
    let (sketches, identities) = (corpus.sketches(), corpus.identities());
    CandidateIndex::new(sketches, identities, rule().search, corpus.len() as u64)
        .expect("the search is for samples")
}

/// Looks up and files documents as a run did that made these decisions.
fn replay(mut index: CandidateIndex, corpus: &Corpus, decisions: &[Option<Decision>]) -> Replayed {
    let mut found = Replayed::default();
    let (sketches, bounds) = (corpus.sketches(), rule().bounds);
    let (mut kept, mut identical) = (Vec::new(), FirstByText::default());
    let all: Vec<u32> = (0..decisions.len() as u32).collect();
    for chunk in all.chunks(CHUNK) {
        let identities = corpus.identities();
        let is_searched = |&document: &u32| {
            let identity = corpus.identity(document as usize);
            bounds.has_sketch(corpus, document) && identical.get(identities, identity).is_none()
        };
        let searched: Vec<u32> = chunk.iter().copied().filter(is_searched).collect();
        let snapshot = index.snapshot();
        let (near, spent) = timed(|| index.near(sketches, &searched));
        found.look_up += spent;
        let near = near.expect("the sketches are samples");
        let mut pairs: Vec<(u32, u32)> = near.pairs(&searched).collect();
        let ((), spent) = timed(|| {
            for &document in &searched {
                let decision = &decisions[document as usize];
                if decision.is_some_and(|decision| decision.reason == Reason::Identical) {
                    continue;
                }
                let since = index.near_since(sketches, document, snapshot);
                let places = since.expect("the sketches are samples").places;
                pairs.extend(places.into_iter().map(|place| (document, place)));
                if decision.is_none() {
                    index
                        .insert(sketches, document)
                        .expect("the sketches are samples");
                    kept.push(document);
                }
            }
        });
        found.file += spent;
        for &document in chunk {
            if decisions[document as usize].is_none() {
                identical.insert(identities, document);
            }
        }
        let of_kept = |(document, place): (u32, u32)| (document, kept[place as usize]);
        found.pairs.push(pairs.into_iter().map(of_kept).collect());
        found.searched.extend(searched);
    }
    found
}
