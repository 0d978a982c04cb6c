//! Each stage by itself, on texts from a small generator: time for each character, hash, document or pair.
//!
//! Criterion prints the time of one iteration, and its throughput in elements: characters unless the name says
//! otherwise. The inverse of the throughput is the time of one.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use neardup_core::candidates::{Reach, Search};
use neardup_core::cluster::Clusterer;
use neardup_core::corpus::{Corpus, Document};
use neardup_core::ids::DocId;
use neardup_core::judge::{Bounds, Judge, Rule};
use neardup_core::recipe::{Recipe, Resources, Scratch};
use neardup_core::segment::ShingleLen;
use neardup_core::sketch::{MinHash, Minima, Sketch, shingle_hashes};
use neardup_core::verify::Measure;
use neardup_lines::{Fields, kept_records};
use serde_json::{Value, json};

/// Characters of a text, as in a short piece of news.
const LENGTH: usize = 300;

/// A generator that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % n
    }

    /// The smaller numbers are more frequent, as words are.
    fn skewed(&mut self, n: usize) -> usize {
        self.below(n) * self.below(n) / n
    }
}

/// Sentences of Chinese characters, with marks and some numbers.
fn chinese(random: &mut Random) -> String {
    let mut text = String::new();
    for at in 1..=LENGTH {
        text.push(match at % 20 {
            0 => ['，', '。', '、', '！'][random.below(4)],
            7 if random.below(3) == 0 => ['3', '９', '七'][random.below(3)],
            _ => char::from_u32(0x4E00 + random.skewed(3000) as u32).unwrap_or('一'),
        });
    }
    text
}

/// Sentences of made-up words.
fn english(random: &mut Random) -> String {
    let mut text = String::new();
    while text.len() < LENGTH {
        let word = random.skewed(4000);
        for at in 0..2 + word % 8 {
            text.push(char::from(b'a' + ((word * 31 + at * 7) % 26) as u8));
        }
        text.push_str([" ", " ", " ", " ", " ", ", ", ". ", " 25 "][random.below(8)]);
    }
    text
}

fn texts(count: usize, one: impl Fn(&mut Random) -> String) -> Vec<String> {
    let mut random = Random(1);
    (0..count).map(|_| one(&mut random)).collect()
}

fn characters(texts: &[String]) -> Throughput {
    Throughput::Elements(texts.iter().map(|text| text.chars().count() as u64).sum())
}

/// The settings of `general`, with another sketch.
fn recipe(sketch: Value) -> Recipe {
    let settings = json!({
        "normalize": {"nfkc": true, "lowercase": true, "whitespace": "by-script",
            "drop_invisible": true, "fold": ["traditional", "points", "look-alikes"],
            "drop_punctuation": true, "drop_ends": true, "spell_numbers": true},
        "segment": {"units": "script-shingles", "k": 5},
        "weigh": {"scheme": "once"},
        "sketch": sketch,
    });
    let settings = serde_json::from_value(settings).expect("settings of a recipe");
    Recipe::new(settings, Resources::default()).expect("a recipe")
}

fn sample() -> Value {
    json!({"kind": "sample", "size": 32})
}

fn kinds() -> [(&'static str, Vec<String>); 2] {
    [("chinese", texts(200, chinese)), ("english", texts(200, english))]
}

fn normalize(c: &mut Criterion) {
    let mut group = c.benchmark_group("normalize");
    let recipe = recipe(sample());
    for (kind, texts) in kinds() {
        group.throughput(characters(&texts));
        group.bench_with_input(BenchmarkId::from_parameter(kind), &texts, |b, texts| {
            let mut out = String::new();
            b.iter(|| {
                for text in texts {
                    recipe.normalize_into(text, &mut out);
                    black_box(&out);
                }
            });
        });
    }
}

fn normalized(texts: &[String]) -> Vec<String> {
    let recipe = recipe(sample());
    let one = |text: &String| {
        let mut out = String::new();
        recipe.normalize_into(text, &mut out);
        out
    };
    texts.iter().map(one).collect()
}

/// Cutting a text into shingles and hashing them, without what follows.
fn shingles(c: &mut Criterion) {
    let mut group = c.benchmark_group("shingles");
    for (kind, texts) in kinds() {
        let texts = normalized(&texts);
        group.throughput(characters(&texts));
        group.bench_with_input(BenchmarkId::from_parameter(kind), &texts, |b, texts| {
            let mut hashes = Vec::new();
            b.iter(|| {
                for text in texts {
                    shingle_hashes(text, ShingleLen::ByScript(5), &mut hashes);
                    black_box(&hashes);
                }
            });
        });
    }
}

/// Segment, weigh and sketch of a normalized text, for each kind of sketch.
fn sketch(c: &mut Criterion) {
    let mut group = c.benchmark_group("sketch");
    let kinds = [
        ("sample", sample()),
        ("minhash", json!({"kind": "minhash", "num_perm": 128})),
        ("simhash", json!({"kind": "simhash", "bits": 64})),
    ];
    let texts = normalized(&texts(200, chinese));
    group.throughput(characters(&texts));
    for (kind, settings) in kinds {
        let recipe = recipe(settings);
        group.bench_function(kind, |b| {
            let (mut scratch, mut out) = (Scratch::default(), Sketch::default());
            b.iter(|| {
                for text in &texts {
                    black_box(recipe.sketch(text, None, &mut scratch, &mut out));
                }
            });
        });
    }
}

/// Elements are hashes. Each is mixed for all values of a signature.
fn minhash(c: &mut Criterion) {
    let mut group = c.benchmark_group("minhash");
    let mut random = Random(3);
    let hashes: Vec<u64> = (0..LENGTH).map(|_| (random.below(1 << 31) as u64) << 32 | 7).collect();
    let minhash = MinHash::new(128).expect("a number of permutations");
    group.throughput(Throughput::Elements(hashes.len() as u64));
    group.bench_function("128 values, hashes", |b| {
        let (mut minima, mut out) = (Minima::default(), vec![0; 128]);
        b.iter(|| {
            minhash.begin(&mut minima);
            for &hash in &hashes {
                minhash.add(&mut minima, hash);
            }
            minhash.finish(&mut minima, &mut out);
            black_box(&out);
        });
    });
}

fn corpus(texts: &[String], recipe: Recipe) -> Corpus {
    let document = |text| Document {
        text: Some(text),
        ..Document::default()
    };
    let documents: Vec<Document<'_>> = texts.iter().map(|text| document(text)).collect();
    let mut corpus = Corpus::new(recipe, true, Some(5)).expect("a corpus");
    corpus.push(&documents).expect("texts in memory");
    corpus.finish().expect("texts in memory");
    corpus
}

const RULE: Rule = Rule {
    search: Search::Postings {
        threshold: 0.4,
        reach: Reach::Kept,
    },
    bounds: Bounds {
        measure: Some(Measure::Content { k: 5 }),
        threshold: Some(0.4),
        max_distance: None,
        min_features: 20,
    },
};

/// Elements are documents; few of them are compared, so the walk over their lists is what takes time.
fn candidates(c: &mut Criterion) {
    let mut group = c.benchmark_group("candidates");
    group.sample_size(10);
    let texts = texts(20_000, chinese);
    let corpus = corpus(&texts, recipe(sample()));
    let order: Vec<DocId> = DocId::range(0..texts.len()).collect();
    group.throughput(Throughput::Elements(order.len() as u64));
    group.bench_function("postings, documents", |b| {
        let new = || Clusterer::new(&corpus, RULE).expect("sketches in memory");
        let decide = |mut clusterer: Clusterer| {
            for step in order.chunks(1024) {
                clusterer.decide(&corpus, step).expect("texts in memory");
            }
            clusterer
        };
        b.iter_batched(new, decide, BatchSize::PerIteration);
    });
}

/// Pairs of versions of one text, with `edits` characters replaced in each.
fn pairs(edits: usize) -> (Corpus, Vec<(DocId, DocId)>) {
    let mut random = Random(5);
    let mut all = Vec::new();
    for _ in 0..500 {
        let text: Vec<char> = chinese(&mut random).chars().collect();
        for _ in 0..2 {
            let mut version = text.clone();
            for _ in 0..edits {
                let at = random.below(version.len());
                version[at] = char::from_u32(0x4E00 + random.below(3000) as u32).unwrap_or('一');
            }
            all.push(version.into_iter().collect());
        }
    }
    let pairs = (0..500).map(|at| (DocId(2 * at), DocId(2 * at + 1))).collect();
    (corpus(&all, recipe(sample())), pairs)
}

/// Elements are pairs. Texts of which nearly all is replaced are told apart by their samples; others are
/// aligned. `explained` is the verdict with its evidence.
fn verify(c: &mut Criterion) {
    let mut group = c.benchmark_group("verify");
    for (name, edits) in [("by samples, pairs", 900), ("aligned, pairs", 6)] {
        let (corpus, pairs) = pairs(edits);
        group.throughput(Throughput::Elements(pairs.len() as u64));
        group.bench_function(name, |b| {
            let new = || Judge::new(&corpus, RULE);
            let judge = |mut judge: Judge| judge.judge_pairs(&corpus, &pairs).expect("in memory");
            b.iter_batched(new, judge, BatchSize::PerIteration);
        });
    }
    let (corpus, pairs) = pairs(6);
    group.bench_function("explained, pairs", |b| {
        b.iter(|| {
            for &(first, second) in &pairs {
                black_box(RULE.bounds.judge(&corpus, first, second, 5).expect("in memory"));
            }
        });
    });
}

/// Elements are bytes.
fn lines(c: &mut Criterion) {
    let mut group = c.benchmark_group("lines");
    let texts = texts(2000, chinese).into_iter().enumerate();
    let lines: Vec<String> = texts.map(|(id, text)| json!({"id": id, "text": text}).to_string()).collect();
    let block = lines.join("\n").into_bytes();
    let flags: Vec<u8> = (0..lines.len()).map(|at| u8::from(at % 10 > 0)).collect();
    let fields = Fields::new(vec!["text".into()], "id".into(), false, None, Vec::new());
    group.throughput(Throughput::Elements(block.len() as u64));
    group.bench_function("read, bytes", |b| b.iter(|| black_box(fields.read(&block, "in", 1))));
    group.bench_function("write, bytes", |b| b.iter(|| black_box(kept_records(&block, &flags))));
}

criterion_group!(stages, normalize, shingles, sketch, minhash, candidates, verify, lines);
criterion_main!(stages);
