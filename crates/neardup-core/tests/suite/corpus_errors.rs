//! A corpus whose texts cannot be written.

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

#[test]
fn all_columns_keep_one_length_if_texts_cannot_be_stored() {
    let settings = json!({"segment": {"units": "shingles", "k": 5}, "weigh": {"scheme": "once"},
        "sketch": {"kind": "sample", "size": 32}});
    let recipe = Recipe::new(
        serde_json::from_value(settings).unwrap(),
        Resources::default(),
    );
    // Texts beyond a write buffer have no place.
    let memory = Memory {
        folder: Some(PathBuf::from("no/such/folder")),
        ..Memory::default()
    };
    let mut corpus = Corpus::within(recipe.unwrap(), true, Some(5), memory).unwrap();
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
