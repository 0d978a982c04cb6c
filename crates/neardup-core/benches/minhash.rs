//! Three ways to make MinHash signatures of 128 values, side by side.
//!
//! `cargo bench -p neardup-core --bench minhash [-- TEXTS.jsonl]` prints a line for
//! each: the root mean square error of the estimated resemblance J over that of
//! the theory, sqrt(J (1 - J) / 128), for pairs of sets of 10 to 1000 members and J
//! of .1 to .9; nanoseconds a feature, in small sets and in larger ones; and
//! megabytes of text a second and core, hashing of shingles of 5 characters
//! included, for whole texts and for their first 100 characters. Texts are the
//! `text` of JSON lines, by default the Chinese news of the reference data.
//!
//! The core has the classic permutations: their error is that of the theory, and a
//! feature costs the same, in sets of any size. One-permutation hashing does better
//! in sets well above the number of values, and worse in smaller ones, where bins
//! stay empty. C-MinHash reads a table where the classic way multiplies, which
//! takes a little longer. Only the core's has a version for AVX2, so compare times
//! on a machine with AVX-512.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use neardup_core::segment::{Segmenter, Settings, Units};
use neardup_core::sketch::{MinHash, Minima, equal_values};
use xxhash_rust::xxh3::xxh3_64;

const NUM_PERM: usize = 128;
const SIZES: [usize; 6] = [10, 20, 50, 100, 300, 1000];
/// Pairs for each size and each resemblance.
const PAIRS: usize = 1000;
const TIMED_SIZES: [usize; 2] = [30, 300];
const TEXT_BYTES: usize = 16 << 20;
/// Characters of a short text: what short news have.
const SHORT: usize = 100;

type Signature = [u32; NUM_PERM];

/// A way to make signatures of a stream of hashes.
trait Variant {
    const NAME: &'static str;
    /// Whether signatures estimate the resemblance.
    const ESTIMATES: bool = true;
    fn begin(&mut self);
    fn add(&mut self, hash: u64);
    fn finish(&mut self) -> Signature;
}

/// The variant of the core: each value has its own order.
struct Classic(MinHash, Minima);

impl Variant for Classic {
    const NAME: &'static str = "classic (core)";
    fn begin(&mut self) {
        self.0.begin(&mut self.1);
    }
    #[inline]
    fn add(&mut self, hash: u64) {
        self.0.add(&mut self.1, hash);
    }
    fn finish(&mut self) -> Signature {
        let mut signature = [0; NUM_PERM];
        self.0.finish(&mut self.1, &mut signature);
        signature
    }
}

/// One-permutation hashing: the high bits choose a bin, which keeps its least;
/// an empty bin copies the first filled one of a sequence of its own
/// (Shrivastava 2017).
struct OnePermutation(Signature);

impl Variant for OnePermutation {
    const NAME: &'static str = "one permutation, optimal densification";
    fn begin(&mut self) {
        self.0 = [u32::MAX; NUM_PERM];
    }
    #[inline]
    fn add(&mut self, hash: u64) {
        let bin = &mut self.0[(hash >> 32) as usize % NUM_PERM];
        *bin = (hash as u32).min(*bin);
    }
    fn finish(&mut self) -> Signature {
        let filled = self.0;
        if filled == [u32::MAX; NUM_PERM] {
            return filled;
        }
        std::array::from_fn(|bin| {
            let (mut from, mut state) = (bin, bin as u64 + 1);
            while filled[from] == u32::MAX {
                from = random(&mut state) as usize % NUM_PERM;
            }
            filled[from]
        })
    }
}

/// C-MinHash with two permutations: XXH3 is the first, a table read at
/// `NUM_PERM` places in a row the second (Li and Li 2021). A table that fits the
/// nearest cache cannot tell all features apart, so their other bits are mixed in.
struct Circulant {
    table: Vec<u32>,
    minima: Signature,
    waiting: Vec<u64>,
}

const TABLE: usize = 1 << 12;

impl Circulant {
    fn new() -> Self {
        let mut state = 0;
        let mut table: Vec<u32> = (0..TABLE).map(|_| random(&mut state) as u32).collect();
        table.extend_from_within(..NUM_PERM);
        Circulant {
            table,
            minima: [0; NUM_PERM],
            waiting: Vec::new(),
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        let mut minima = self.minima;
        for hash in self.waiting.drain(..) {
            let begin = (hash >> 32) as usize % TABLE;
            let row = &self.table[begin..begin + NUM_PERM];
            for (least, value) in minima.iter_mut().zip(row) {
                *least = (value ^ hash as u32).min(*least);
            }
        }
        self.minima = minima;
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn flush_avx512(&mut self) {
        self.flush();
    }
}

impl Variant for Circulant {
    const NAME: &'static str = "C-MinHash";
    fn begin(&mut self) {
        self.minima = [u32::MAX; NUM_PERM];
    }
    #[inline]
    fn add(&mut self, hash: u64) {
        self.waiting.push(hash);
    }
    fn finish(&mut self) -> Signature {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: AVX-512F has just been detected.
            unsafe { self.flush_avx512() };
        }
        self.flush();
        self.minima
    }
}

/// No signature: what shingles and their hashes cost alone.
struct HashesAlone(u64);

impl Variant for HashesAlone {
    const NAME: &'static str = "shingles and hashes alone";
    const ESTIMATES: bool = false;
    fn begin(&mut self) {
        self.0 = 0;
    }
    #[inline]
    fn add(&mut self, hash: u64) {
        self.0 ^= hash;
    }
    fn finish(&mut self) -> Signature {
        [self.0 as u32; NUM_PERM]
    }
}

fn main() {
    let given = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let long = texts(given.map(PathBuf::from));
    let short: Vec<&str> = long.iter().map(|text| beginning(text)).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let settings = Settings {
        units: Units::Shingles,
        k: 5,
        ..Settings::default()
    };
    let minhash = MinHash::new(NUM_PERM as u32).expect("a valid number of values");
    let bench = Bench {
        segmenter: Segmenter::new(&settings, None).expect("valid settings"),
        collections: [long, short],
    };
    println!(
        "{:<39} | {:<36} | {:<13} | MB/s",
        format!("signatures of {NUM_PERM} values"),
        "error / theory, sets of",
        "ns/feature of"
    );
    print!("{:<39} |", "");
    for size in SIZES {
        print!("{size:>6}");
    }
    print!(" |");
    for size in TIMED_SIZES {
        print!("{size:>7}");
    }
    println!(" | texts, {SHORT} characters");
    bench.report(&mut Classic(minhash, Minima::default()));
    bench.report(&mut OnePermutation([0; NUM_PERM]));
    bench.report(&mut Circulant::new());
    bench.report(&mut HashesAlone(0));
}

/// What every variant is measured with.
struct Bench<'a> {
    segmenter: Segmenter,
    collections: [Vec<&'a str>; 2],
}

impl Bench<'_> {
    /// Prints one line of the table.
    fn report<V: Variant>(&self, variant: &mut V) {
        print!("{:<39} |", V::NAME);
        for size in SIZES {
            match V::ESTIMATES {
                true => print!("{:>6.2}", error_over_theory(variant, size)),
                false => print!("{:>6}", "-"),
            }
        }
        print!(" |");
        for size in TIMED_SIZES {
            print!("{:>7.2}", nanoseconds(variant, size));
        }
        print!(" |");
        for texts in &self.collections {
            print!("{:>6.0}", self.megabytes(variant, texts));
        }
        println!();
    }

    fn megabytes(&self, variant: &mut impl Variant, texts: &[&str]) -> f64 {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let seconds = best(|| {
            for text in texts {
                variant.begin();
                self.segmenter
                    .for_each(text, |unit| variant.add(xxh3_64(unit.text.as_bytes())));
                black_box(variant.finish());
            }
        });
        bytes as f64 / 1e6 / seconds
    }
}

fn sign(variant: &mut impl Variant, hashes: &[u64]) -> Signature {
    variant.begin();
    for &hash in hashes {
        variant.add(hash);
    }
    variant.finish()
}

/// The error over that of the theory, for pairs of sets of `size` members each.
fn error_over_theory(variant: &mut impl Variant, size: usize) -> f64 {
    let mut state = size as u64;
    let (mut squares, mut pairs) = (0.0, 0.0);
    for tenths in 1..=9 {
        let wanted = f64::from(tenths) / 10.0;
        let common = (2.0 * size as f64 * wanted / (1.0 + wanted)).round() as usize;
        let resemblance = common as f64 / (2 * size - common) as f64;
        for _ in 0..PAIRS {
            let union: Vec<u64> = (0..2 * size - common).map(|_| random(&mut state)).collect();
            let a = sign(variant, &union[..size]);
            let b = sign(variant, &union[size - common..]);
            let estimate = equal_values(&a, &b) as f64 / NUM_PERM as f64;
            let variance = resemblance * (1.0 - resemblance) / NUM_PERM as f64;
            squares += (estimate - resemblance).powi(2) / variance;
            pairs += 1.0;
        }
    }
    f64::sqrt(squares / pairs)
}

/// A feature, in sets of `size`: the best of some rounds.
fn nanoseconds(variant: &mut impl Variant, size: usize) -> f64 {
    let mut state = 1;
    let hashes: Vec<u64> = (0..1000 * size).map(|_| random(&mut state)).collect();
    let seconds = best(|| {
        for set in hashes.chunks(size) {
            black_box(sign(variant, black_box(set)));
        }
    });
    seconds * 1e9 / hashes.len() as f64
}

fn best(mut work: impl FnMut()) -> f64 {
    let rounds = (0..7).map(|_| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(SHORT);
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// The first texts of a file; of none if there is no such file.
fn texts(given: Option<PathBuf>) -> Vec<String> {
    let default = "../../../shared/corpora/chinanews.jsonl.zst";
    let path = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(default));
    let content = match path.extension().is_some_and(|name| name == "zst") {
        true => Command::new("zstd")
            .arg("-dcq")
            .arg(&path)
            .output()
            .map(|done| done.stdout),
        false => std::fs::read(&path),
    };
    let content = content.unwrap_or_default();
    let mut texts = Vec::new();
    let mut bytes = 0;
    for line in content.split(|&byte| byte == b'\n') {
        let record: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
        if let Some(text) = record["text"].as_str() {
            bytes += text.len();
            texts.push(text.to_owned());
        }
        if bytes > TEXT_BYTES {
            break;
        }
    }
    if texts.is_empty() {
        eprintln!(
            "no texts in {}; compressed ones need the program zstd",
            path.display()
        );
    }
    texts
}

/// The next number of SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
