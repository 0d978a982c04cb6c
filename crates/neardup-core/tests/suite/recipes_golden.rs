//! Recipes against results that others published or that were worked out by hand.

use std::fs;
use std::path::PathBuf;

use neardup_core::recipe::{Recipe, Resources, Scratch, Settings, WeighedFeature};
use neardup_core::sketch::{self, Sketch};
use serde_json::{Value, json};

/// Units as the segmenter `external` reads them.
const UNIT_END: &str = "\u{1E}";

fn recipe(settings: Value) -> Recipe {
    let settings: Settings = serde_json::from_value(settings).expect("settings");
    Recipe::new(settings, Resources::default()).expect("recipe")
}

fn sketch(recipe: &Recipe, text: &str) -> Vec<u64> {
    let mut normalized = String::new();
    recipe.normalize_into(text, &mut normalized);
    let mut out = Sketch::default();
    recipe.sketch(&normalized, None, &mut Scratch::default(), &mut out);
    let sketch::Settings::SimHash(simhash) = recipe.sketch_settings() else {
        panic!("a fingerprint is wanted");
    };
    out.words[..simhash.words()].to_vec()
}

fn weights(features: &[WeighedFeature]) -> Vec<(&str, u64)> {
    features
        .iter()
        .map(|of| (of.word.as_str(), of.weight))
        .collect()
}

/// A file of the reference data beside the repository, if it is there.
fn golden(path: &str) -> Option<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    let read = fs::read(root.join(path)).ok();
    if read.is_none() {
        eprintln!("skipped: no reference data at ../shared/golden/{path}");
    }
    read
}

#[test]
fn news_vectors() {
    let Some(file) = golden("news/vectors.json") else {
        return;
    };
    let vectors: Value = serde_json::from_slice(&file).expect("JSON");
    let news = recipe(json!({
        "segment": {"units": "external"},
        "weigh": {"scheme": "tf", "lowercase_units": true},
        "sketch": {"kind": "simhash", "bits": 64, "hash": "news", "tie": 1},
    }));
    let mut fingerprints = Vec::new();
    for document in vectors["documents"].as_array().expect("documents") {
        let tokens: Vec<&str> = document["tokens"]
            .as_array()
            .expect("tokens")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let fingerprint = sketch(&news, &tokens.join(UNIT_END))[0];
        let bits: String = (0..64)
            .map(|j| if fingerprint >> j & 1 == 1 { '1' } else { '0' })
            .collect();
        assert_eq!(bits, document["bits_lsb_first"]);
        fingerprints.push(fingerprint);
    }
    let distance = (fingerprints[0] ^ fingerprints[1]).count_ones();
    assert_eq!(json!(distance), vectors["distance"]);
}

#[test]
fn bkdr_similarities() {
    let Some(file) = golden("bkdr/expected.json") else {
        return;
    };
    let expected: Value = serde_json::from_slice(&file).expect("JSON");
    let bkdr = recipe(json!({
        "segment": {"units": "tagged", "drop_tags": ["wn", "wd"]},
        "weigh": {"scheme": "share"},
        "sketch": {"kind": "simhash", "bits": 32, "hash": "bkdr", "tie": 0},
    }));
    for row in expected["similarity"].as_array().expect("rows") {
        let fingerprint = |i: usize| {
            let name = row[i].as_str().expect("file name");
            let bytes = golden(&format!("bkdr/{name}")).expect("golden file");
            sketch(&bkdr, &decode_gbk(&bytes))[0]
        };
        let equal = 32 - (fingerprint(0) ^ fingerprint(1)).count_ones();
        assert_eq!(json!(f64::from(equal) / 32.0), row[2]);
    }
}

fn decode_gbk(bytes: &[u8]) -> String {
    encoding_rs::GBK.decode(bytes).0.into_owned()
}

#[test]
fn improved_weights_by_hand() {
    // Four documents contain: 春 4, 市场 2, 但是 1.
    let table = [("春", 4), ("市场", 2), ("但是", 1)];
    let table = neardup_core::weigh::DocumentFrequencies::from_counts(4, table).expect("table");
    let settings = json!({
        "segment": {"units": "external"},
        "weigh": {"scheme": "improved", "idf": "corpus"},
        "sketch": {"kind": "simhash", "bits": 64},
    });
    let resources = Resources {
        markers: vec!["但是".into(), "营".into()],
        ..Resources::default()
    };
    let settings = serde_json::from_value(settings).expect("settings");
    let waiting = Recipe::new(settings, resources).expect("recipe");
    assert!(waiting.needs_document_frequencies());
    let recipe = waiting.with_document_frequencies(table);
    assert!(!recipe.needs_document_frequencies());
    let text = "市场\u{1F}n\u{1E}春\u{1F}tg\u{1E}市场\u{1F}v\u{1E}但是\u{1F}c\u{1E}经营者\u{1F}vn";
    // idf: ln(4/4 + .01) -> 652, ln(4/2 + .01) -> 45753, ln(4/1 + .01) -> 91016.
    // factor: 春 1+1+0, 市场 1+3+1/2+5 in the title, 但是 1+1+1/2+5, 经营者 1+2+1.
    let expected = [
        ("市场", 2 * 45_753 * 19 / 2),
        ("但是", 91_016 * 15 / 2),
        ("经营者", 91_016 * 4),
        ("春", 652 * 2),
    ];
    let features = recipe.features(text, Some("股票市场"));
    assert_eq!(weights(&features), expected);
    let word = &features[1];
    let factors = word.factors.expect("factors");
    assert_eq!((word.occurrences, word.idf), (1, Some(91_016)), "{word:?}");
    assert_eq!((factors.part_of_speech, factors.mark), (1, 5), "{word:?}");
}

#[test]
fn five_weighted_letters_of_five_bits() {
    // The low five bits of a letter are its place in the alphabet.
    let bkdr = recipe(json!({
        "segment": {"units": "external"},
        "sketch": {"kind": "simhash", "bits": 5, "hash": "bkdr", "tie": 0},
    }));
    let text = "E YY FFF UUUU KKKKK".replace(' ', "");
    let units: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(sketch(&bkdr, &units.join(UNIT_END)), [0b00111]);
}

#[test]
fn every_width_of_news_is_the_low_end_of_the_widest() {
    // One feature: the fingerprint is its hash.
    let of = |bits: u32| {
        let settings = json!({
            "segment": {"units": "external"},
            "sketch": {"kind": "simhash", "bits": bits, "hash": "news"},
        });
        sketch(&recipe(settings), "灯塔停在渡口")
    };
    let widest = of(256);
    for bits in 1..256 {
        let words = of(bits);
        for (at, &word) in words.iter().enumerate() {
            let kept = bits.saturating_sub(64 * at as u32).min(64);
            let mask = u64::MAX.checked_shr(64 - kept).unwrap_or(0);
            assert_eq!(word, widest[at] & mask, "{bits}");
        }
    }
}

#[test]
fn rare_words_are_left_out() {
    // Four documents contain: 春 4, 市场 2; 经营者 is not in the table, and counts as in one.
    let table = [("春", 4), ("市场", 2)];
    let left = |least: u64| {
        let table = neardup_core::weigh::DocumentFrequencies::from_counts(4, table).expect("table");
        let settings = json!({
            "segment": {"units": "external"},
            "weigh": {"scheme": "tf-idf", "idf": "table", "min_document_frequency": least},
            "sketch": {"kind": "simhash", "bits": 64},
        });
        let settings = serde_json::from_value(settings).expect("settings");
        let resources = Resources {
            idf: Some(table),
            ..Resources::default()
        };
        let recipe = Recipe::new(settings, resources).expect("recipe");
        let text = ["市场", "春", "经营者", "市场"].join(UNIT_END);
        let words: Vec<_> = recipe
            .features(&text, None)
            .into_iter()
            .map(|feature| feature.word)
            .collect();
        let mut out = Sketch::default();
        let found = recipe.sketch(&text, None, &mut Scratch::default(), &mut out);
        assert_eq!(found, words.len());
        assert_eq!(out.words == [0; 4], words.is_empty());
        words
    };
    for least in [0, 1] {
        assert_eq!(left(least), ["市场", "经营者", "春"]);
    }
    assert_eq!(left(2), ["市场", "春"]);
    assert_eq!(left(3), ["春"]);
    assert_eq!(left(4), ["春"]);
    assert!(left(5).is_empty());
}

#[test]
fn ties_and_empty_texts() {
    for tie in [0, 1] {
        let settings = json!({
            "segment": {"units": "external"},
            "sketch": {"kind": "simhash", "bits": 64, "hash": "bkdr", "tie": tie},
        });
        let bkdr = recipe(settings);
        // 'A' = 65 = 1000001 and 'B' = 66 = 1000010 differ in two bits.
        let both = sketch(&bkdr, "A\u{1E}B");
        assert_eq!(both, [if tie == 1 { 0b100_0011 } else { 0b100_0000 }]);
        assert_eq!(sketch(&bkdr, "A\u{1E}B\u{1E}A"), [65]);
        assert_eq!(sketch(&bkdr, ""), [0]);
    }
}

#[test]
fn top_breaks_ties_by_code_points() {
    let settings = json!({
        "segment": {"units": "external"},
        "weigh": {"scheme": "tf", "top": 3},
    });
    let top = recipe(settings);
    let text = ["丙", "乙", "甲", "乙", "𠀀", "a", "ｚ"].join(UNIT_END);
    let features = top.features(&text, None);
    assert_eq!(weights(&features), [("乙", 2), ("a", 1), ("丙", 1)]);
}
