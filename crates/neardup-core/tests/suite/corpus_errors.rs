//! A corpus whose texts cannot be written, or whose sketches are in a file.

use std::path::PathBuf;

use neardup_core::corpus::{Corpus, Document, Memory};
use neardup_core::recipe::{Recipe, Resources};
use serde_json::json;

fn push(corpus: &mut Corpus, texts: &[String]) -> bool {
    let document = |text| Document {
        text: Some(text),
        ..Document::default()
    };
    let documents: Vec<Document<'_>> = texts.iter().map(|text| document(text)).collect();
    corpus.push(&documents).is_ok()
}

fn recipe() -> Recipe {
    let settings = json!({"segment": {"units": "shingles", "k": 5}, "weigh": {"scheme": "once"},
        "sketch": {"kind": "sample", "size": 32}});
    let settings = serde_json::from_value(settings).unwrap();
    Recipe::new(settings, Resources::default()).unwrap()
}

#[test]
fn sketches_are_the_same_wherever_they_are_before_the_corpus_is_finished() {
    let texts: Vec<String> = (0..40)
        .map(|number| format!("ferry {number} leaves at {} o'clock", number % 7))
        .collect();
    let all = |sketches: usize| {
        let memory = Memory {
            sketches,
            ..Memory::default()
        };
        let mut corpus = Corpus::within(recipe(), true, None, memory).unwrap();
        assert!(push(&mut corpus, &texts[..25]));
        // These wait in memory if the others are in a file.
        assert!(push(&mut corpus, &texts[25..]));
        let is_outside = corpus.stored_sketches().is_some();
        let ranges = [0..40, 0..10, 20..30, 30..40, 7..7];
        (
            ranges.map(|range| corpus.sketch_bytes(range).unwrap()),
            is_outside,
        )
    };
    let (expected, _) = all(usize::MAX);
    assert_eq!(expected[0][20..30], expected[2]);
    assert_eq!(all(0), (expected, true));
}

#[test]
fn all_columns_keep_one_length_if_texts_cannot_be_stored() {
    // Texts beyond a write buffer have no place.
    let memory = Memory {
        texts: 4 << 20,
        folder: Some(PathBuf::from("no/such/folder")),
        ..Memory::default()
    };
    let mut corpus = Corpus::within(recipe(), true, Some(5), memory).unwrap();
    let short = |number: usize| vec![format!("the ferry leaves at {number} o'clock")];
    let long: Vec<String> = (0..12)
        .map(|number| format!("{number} ").repeat(400_000))
        .collect();
    assert!(push(&mut corpus, &short(1)));
    assert!(!push(&mut corpus, &long));
    assert!(push(&mut corpus, &short(2)));
    assert!(!push(&mut corpus, &long));
    let columns = [
        corpus.len(),
        corpus.texts().len(),
        corpus.sketches().len(),
        corpus.identities().len(),
        corpus.samples().unwrap().len(),
    ];
    assert_eq!(columns, [2; 5]);
    corpus.finish().unwrap();
    let mut buffer = Vec::new();
    assert_eq!(corpus.texts().text(1, &mut buffer).unwrap(), short(2)[0]);
}
