//! What holds for every recipe.

use neardup_core::recipe::{Recipe, Resources, Scratch, Settings, WeighedFeature};
use neardup_core::segment::ShingleLen;
use neardup_core::sketch::{self, Sketch};
use neardup_core::weigh::DocumentFrequencies;
use serde_json::{Value, json};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

const TEXTS: [&str; 14] = [
    "",
    "\0",
    "字",
    "。，！",
    " \n\t",
    "The cat sat on the mat, the cat did.",
    "市政府表示，新图书馆将于2025年9月开放；图书馆有三层，图书馆免费。",
    "图书馆 library ライブラリー 도서관 ห้องสมุด",
    "שלום עולם، مرحبا بالعالم",
    "e\u{301}e\u{301} か\u{3099}か\u{3099}",
    "😀😀👨\u{200D}👩\u{200D}👧 ok",
    "a/n b/v c/wd d",
    "甲\u{1F}n\u{1E}乙\u{1F}v\u{1E}甲",
    "&lt;b&gt; <p>x</p>",
];

fn recipe(settings: Value) -> Recipe {
    let settings: Settings = serde_json::from_value(settings).expect("settings");
    let resources = Resources {
        idf: DocumentFrequencies::from_counts(9, [("图书馆", 3), ("的", 9)]).ok(),
        ..Resources::default()
    };
    Recipe::new(settings, resources).expect("recipe")
}

fn all_recipes() -> Vec<Recipe> {
    let mut recipes = Vec::new();
    let units = [
        "words",
        "unicode-words",
        "shingles",
        "by-script",
        "tagged",
        "separated",
        "external",
    ];
    let weights = [
        json!({"scheme": "once"}),
        json!({"scheme": "tf"}),
        json!({"scheme": "tf", "top": 1_000_000}),
        json!({"scheme": "share", "drop_stop_words": true, "lowercase_units": true}),
        json!({"scheme": "tf-idf", "idf": "bundled", "top": 3}),
        json!({"scheme": "improved", "idf": "table", "drop_punctuation": true}),
    ];
    for units in units {
        for weigh in &weights {
            for bits in [32, 64, 128, 256] {
                recipes.push(recipe(json!({
                    "segment": {"units": units},
                    "weigh": weigh,
                    "sketch": {"kind": "simhash", "bits": bits, "tie": bits / 64 % 2},
                })));
            }
        }
    }
    recipes
}

/// The definition, one position at a time.
fn textbook(features: &[WeighedFeature], bits: u32, tie: bool) -> Vec<u64> {
    let mut out = vec![0; bits.div_ceil(64) as usize];
    for j in 0..bits {
        let mut sum = 0_i128;
        for feature in features {
            let bytes = feature.word.as_bytes();
            let one = match (bits, j) {
                (32 | 64, _) => xxh3_64(bytes) >> j & 1 == 1,
                (_, 0..128) => xxh3_128(bytes) >> j & 1 == 1,
                _ => xxh3_128_with_seed(bytes, 1) >> (j - 128) & 1 == 1,
            };
            sum += if one {
                i128::from(feature.weight)
            } else {
                -i128::from(feature.weight)
            };
        }
        if sum > 0 || (sum == 0 && tie && !features.is_empty()) {
            out[j as usize / 64] |= 1 << (j % 64);
        }
    }
    out
}

#[test]
fn fingerprints_are_the_signs_of_the_sums() {
    let mut scratch = Scratch::default();
    let long = TEXTS.concat().repeat(40);
    for recipe in all_recipes() {
        let sketch::Settings::SimHash(simhash) = recipe.sketch_settings() else {
            panic!("a fingerprint is wanted");
        };
        let bits = simhash.bits;
        for text in TEXTS.into_iter().chain([long.as_str()]) {
            let title = Some("新图书馆");
            let features = recipe.features(text, title);
            // A fingerprint must not depend on what was in `out` or `scratch`.
            let mut out = Sketch {
                words: [u64::MAX; 4],
                ..Sketch::default()
            };
            let units = recipe.sketch(text, title, &mut scratch, &mut out);
            assert_eq!(
                out.words[..simhash.words()],
                textbook(&features, bits, bits / 64 % 2 == 1),
                "{text:?} {recipe:?}"
            );
            assert_eq!(units == 0, features.is_empty());
            assert_eq!(
                units,
                recipe.count(text, &mut scratch, &mut DocumentFrequencies::default())
            );
        }
    }
}

#[test]
fn every_width_of_news_is_the_low_end_of_the_widest() {
    // One feature: the fingerprint is its hash.
    let of = |bits: u32| {
        let recipe = recipe(json!({
            "segment": {"units": "external"},
            "sketch": {"kind": "simhash", "bits": bits, "hash": "news"},
        }));
        let mut out = Sketch::default();
        recipe.sketch("灯塔停在渡口", None, &mut Scratch::default(), &mut out);
        out.words
    };
    let widest = of(256);
    for bits in 1..256 {
        for (at, word) in (0..).zip(of(bits)) {
            let kept = bits.saturating_sub(64 * at).min(64);
            let mask = u64::MAX.checked_shr(64 - kept).unwrap_or(0);
            assert_eq!(word, widest[at as usize] & mask, "{bits}");
        }
    }
}

#[test]
fn stop_words_meet_normalized_text() {
    let settings = json!({
        "normalize": {"nfkc": true, "lowercase": true},
        "segment": {"units": "unicode-words"},
        "weigh": {"drop_stop_words": true},
    });
    let settings: Settings = serde_json::from_value(settings).expect("settings");
    let own = Resources {
        stop_words: Some(vec!["ＣＡＴ".into()]),
        ..Resources::default()
    };
    for (resources, expected) in [(own, "the"), (Resources::default(), "cat")] {
        let recipe = Recipe::new(settings.clone(), resources).expect("recipe");
        let mut text = String::new();
        recipe.normalize_into("The Cat", &mut text);
        let features = recipe.features(&text, None);
        assert_eq!(features.len(), 1);
        assert_eq!(features[0].word, expected);
    }
}

#[test]
fn settings_without_meaning_are_refused() {
    for (settings, name) in [
        (json!({"sketch": {"kind": "simhash", "bits": 65}}), "bits"),
        (json!({"sketch": {"kind": "simhash", "bits": 8}}), "bits"),
        (
            json!({"sketch": {"kind": "simhash", "bits": 0, "hash": "bkdr"}}),
            "bits",
        ),
        (
            json!({"weigh": {"min_document_frequency": 2}}),
            "min_document_frequency",
        ),
        (
            json!({"weigh": {"scheme": "tf-idf", "idf": "bundled", "min_document_frequency": 2}}),
            "min_document_frequency",
        ),
        (
            json!({"sketch": {"kind": "simhash", "bits": 128, "hash": "bkdr"}}),
            "bits",
        ),
        (json!({"sketch": {"kind": "simhash", "tie": 2}}), "tie"),
        (json!({"segment": {"k": 0}}), "k"),
        (json!({"weigh": {"top": 0}}), "top"),
        (json!({"weigh": {"scheme": "tf-idf"}}), "idf"),
        (json!({"weigh": {"scheme": "tf", "idf": "bundled"}}), "idf"),
        (
            json!({"weigh": {"scheme": "improved", "idf": "table"}}),
            "idf",
        ),
    ] {
        let settings: Settings = serde_json::from_value(settings).expect("settings");
        let error = Recipe::new(settings, Resources::default())
            .expect_err(name)
            .to_string();
        assert!(
            error.starts_with(&format!("The '{name}' parameter must be ")),
            "{error}"
        );
    }
    for unknown in [
        json!({"sketch": {"kind": "simhash", "bit": 64}}),
        json!({"segment": {"units": "bytes"}}),
    ] {
        assert!(serde_json::from_value::<Settings>(unknown).is_err());
    }
}

#[test]
fn one_line_of_a_megabyte() {
    let mut scratch = Scratch::default();
    for units in ["words", "by-script", "shingles", "unicode-words"] {
        let recipe = recipe(json!({"segment": {"units": units}, "weigh": {"scheme": "once"}}));
        let mut out = Sketch::default();
        for part in ["新图书馆开放，", "a", "字"] {
            let text = part.repeat(1_000_000 / part.len());
            assert!(recipe.sketch(&text, None, &mut scratch, &mut out) > 0);
        }
    }
}

#[test]
fn a_long_text_is_sketched_in_several_passes_as_in_one() {
    let text: String = (0..800_000)
        .map(|at| format!("{} ", at % 600_000))
        .collect();
    assert!(text.len() > 5 << 20);
    let mut hashes = Vec::new();
    sketch::shingle_hashes(&text, ShingleLen::Chars(9), &mut hashes);
    hashes.sort_unstable();
    hashes.dedup();
    let segment = json!({"units": "shingles", "k": 9});
    let made = |kind: Value| {
        let recipe = recipe(json!({
            "segment": segment, "weigh": {"scheme": "once"}, "sketch": kind,
        }));
        let (mut scratch, mut sketch) = (Scratch::default(), Sketch::default());
        let features = recipe.sketch(&text, None, &mut scratch, &mut sketch);
        assert_eq!(features, hashes.len());
        sketch
    };
    let sample = made(json!({"kind": "sample", "size": 32}));
    let mut keys: Vec<u32> = hashes.iter().map(|&hash| (hash >> 32) as u32).collect();
    keys.retain(|&key| key.leading_zeros() >= sample.level);
    keys.sort_unstable();
    keys.dedup();
    assert!(sample.values == keys);
    let fingerprint = made(json!({"kind": "simhash", "hash": "xxh3", "bits": 64})).words[0];
    for bit in 0..64 {
        let ones = hashes.iter().filter(|&&hash| hash >> bit & 1 == 1).count();
        assert_eq!(
            fingerprint >> bit & 1 == 1,
            2 * ones > hashes.len(),
            "{bit}"
        );
    }
}
