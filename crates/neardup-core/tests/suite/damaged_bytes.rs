//! Bytes of every format that crosses processes: damaged ones are refused or read, and never cause a panic
//! or memory that they do not have data for.

use neardup_core::Result;
use neardup_core::background::Background;
use neardup_core::candidates::{Reach, Search, Shuffle};
use neardup_core::corpus::{Corpus, Document};
use neardup_core::ids::DocId;
use neardup_core::recipe::{Recipe, Resources};
use neardup_core::sketch::Sketches;
use neardup_core::verify::count_bytes::{counts_in_parts, read_counts};
use neardup_core::verify::counts_of;
use neardup_core::verify::sample_bytes::{NumberedSamples, hashes_of, samples_to_bytes};
use serde_json::json;

use crate::random::Random;

const DOCUMENTS: u64 = 24;
const SEARCH: Search = Search::Postings {
    threshold: 0.4,
    reach: Reach::Kept,
};

/// A name, bytes that are in order, and what reads such bytes.
type Format<'a> = (&'static str, Vec<u8>, Box<dyn Fn(&[u8]) -> Result<()> + 'a>);

fn corpus(random: &mut Random) -> Corpus {
    let settings = json!({"segment": {"units": "shingles", "k": 5}, "weigh": {"scheme": "once"},
        "sketch": {"kind": "sample", "size": 32}});
    let settings = serde_json::from_value(settings).unwrap();
    let recipe = Recipe::new(settings, Resources::default()).unwrap();
    let letters: Vec<char> = ('\u{4E00}'..'\u{4E03}').collect();
    let texts: Vec<String> = (0..DOCUMENTS)
        .map(|_| (0..200).map(|_| letters[random.below(3)]).collect())
        .collect();
    let document = |text| Document {
        text: Some(text),
        ..Document::default()
    };
    let documents: Vec<Document<'_>> = texts.iter().map(|text| document(text)).collect();
    let mut corpus = Corpus::new(recipe, true, Some(5)).unwrap();
    corpus.push(&documents).unwrap();
    corpus
}

fn formats(corpus: &Corpus) -> Vec<Format<'_>> {
    let samples = corpus.samples().unwrap();
    let numbers = || 0..DOCUMENTS;
    let wanted: Vec<u64> = numbers().step_by(2).collect();
    let sampled = samples_to_bytes(samples, (0..).map(DocId).zip(numbers())).unwrap();
    let counts = counts_in_parts(&counts_of(samples).unwrap(), 1).unwrap();
    let background = Background::of(corpus).unwrap().to_bytes();
    let sketch = corpus.sketches().to_bytes(DocId(3));
    let empty = || Sketches::new(corpus.recipe().sketch_settings()).unwrap();
    let shuffle = || Shuffle::new(SEARCH, 0, 1).unwrap();
    let sketches = corpus.sketches();
    let keys = shuffle().keys(sketches, DOCUMENTS, |_| true).unwrap();
    let counted = shuffle().count(&keys).unwrap();
    let read = shuffle().key_counts(&counted).unwrap();
    let all: Vec<u64> = numbers().collect();
    let filed = shuffle()
        .file(sketches, &all, |_| true, &read, &[])
        .unwrap();
    let asked = keys.clone();
    vec![
        (
            "a background",
            background,
            Box::new(|bytes| Background::from_bytes(bytes).map(drop)),
        ),
        (
            "samples",
            sampled.clone(),
            Box::new(move |bytes| hashes_of(bytes, &wanted).map(drop)),
        ),
        (
            "samples by number",
            sampled,
            Box::new(|bytes| NumberedSamples::read(&[bytes], None).map(drop)),
        ),
        (
            "counts",
            counts[0].clone(),
            Box::new(|bytes| read_counts(bytes, &mut Vec::new())),
        ),
        (
            "a sketch",
            sketch,
            Box::new(move |bytes| empty().push_bytes(bytes)),
        ),
        (
            "keys",
            keys[0].clone(),
            Box::new(move |bytes| shuffle().count(&[bytes]).map(drop)),
        ),
        (
            "counts of keys",
            counted[0].clone(),
            Box::new(move |bytes| shuffle().key_counts(&[bytes]).map(drop)),
        ),
        (
            "entries",
            filed[0].clone(),
            Box::new(move |bytes| shuffle().lists(&[bytes], &asked, usize::MAX).map(drop)),
        ),
    ]
}

/// Another version of the bytes: cut, longer, with other bytes, or with a large number in them.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(damaged.len().max(1));
        match random.below(5) {
            0 => damaged.truncate(at),
            1 => damaged.extend((0..=random.below(20)).map(|_| 0xFF)),
            2 if !damaged.is_empty() => damaged[at] ^= 1 << random.below(8),
            3 => {
                let large = [u64::MAX, 1 << 62, 1 << 40, 1 << 32, 1 << 31][random.below(5)];
                let begin = if random.below(2) == 0 { at } else { at % 40 };
                let number = large.to_le_bytes();
                for (byte, large) in damaged.iter_mut().skip(begin).zip(number) {
                    *byte = large;
                }
            }
            _ => {
                damaged.drain(at..damaged.len().min(at + 4));
            }
        }
    }
    damaged
}

/// The most bytes of addresses that this process ever had, where the system tells it.
fn most_addresses() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    number.unwrap_or(0) * 1024
}

#[test]
fn damaged_bytes_cause_neither_a_panic_nor_a_large_allocation() {
    let mut random = Random(7);
    let corpus = corpus(&mut random);
    for (name, bytes, read) in formats(&corpus) {
        assert!(read(&bytes).is_ok(), "{name}");
        assert!(read(&bytes[..bytes.len() - 1]).is_err(), "{name}");
        let before = most_addresses();
        let mut refused = 0;
        for _ in 0..3000 {
            refused += usize::from(read(&damaged(&bytes, &mut random)).is_err());
        }
        assert!(refused > 300, "{name}: {refused} refused");
        let grown = most_addresses() - before;
        // Other tests run at the same time.
        assert!(grown < 4 << 30, "{name}: {grown} bytes");
    }
}
