//! One pair, judged with all its evidence, has the verdict that it has among many.

use neardup_core::candidates::Search;
use neardup_core::corpus::{Corpus, Document};
use neardup_core::ids::DocId;
use neardup_core::judge::{Bounds, Judge, Rule};
use neardup_core::recipe::{Recipe, Resources};
use neardup_core::verify::{Direction, Measure};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64_with_seed;

fn draw(at: u32, what: u64) -> u32 {
    xxh3_64_with_seed(&at.to_le_bytes(), what) as u32
}

/// Versions of a few texts with characters, numbers and ends changed; short ones and empty ones.
fn texts() -> Vec<String> {
    let version = |at: u32| -> String {
        let length = [0, 12, 30, 90, 400][at as usize % 5];
        let changed = draw(at, 1) % 8;
        let character = |place: u32| match draw(at * 1000 + place, 2) % 100 < changed {
            true => char::from_u32(0x4e00 + draw(at + place, 3) % 2000),
            false => char::from_u32(0x4e00 + draw(place, 4 + u64::from(at % 3)) % 2000),
        };
        let body: String = (0..length).filter_map(character).collect();
        match length {
            0 => "。".repeat(at as usize % 3),
            _ => format!(
                "{body}{}天{}人",
                draw(at, 9) % 10 / 9,
                draw(at, 10) % 10 / 9
            ),
        }
    };
    (0..120).map(version).collect()
}

#[test]
fn one_pair_is_judged_as_among_many() {
    let texts = texts();
    let documents: Vec<Document<'_>> = texts
        .iter()
        .map(|text| Document {
            text: Some(text),
            ..Document::default()
        })
        .collect();
    let contained = |direction| Some(Measure::Containment { k: 5, direction });
    let measures = [
        Some(Measure::Content { k: 5 }),
        Some(Measure::Resemblance { k: 5 }),
        contained(Direction::FirstInSecond),
        contained(Direction::Either),
        contained(Direction::Both),
        Some(Measure::Aligned),
        None,
    ];
    for (measure, min_features) in measures.iter().flat_map(|&of| [(of, 1), (of, 20)]) {
        let settings = json!({"segment": {"units": "shingles", "k": 3}, "weigh": {"scheme": "once"},
            "sketch": {"kind": "simhash", "bits": 64}});
        let settings = serde_json::from_value(settings).unwrap();
        let recipe = Recipe::new(settings, Resources::default()).unwrap();
        let mut corpus = Corpus::new(recipe, true, Some(5)).unwrap();
        corpus.push(&documents).unwrap();
        corpus.finish().unwrap();
        let bounds = Bounds {
            measure,
            threshold: Some(0.55),
            max_distance: Some(30),
            min_features,
        };
        let search = Search::Near { max_distance: 30 };
        let mut judge = Judge::new(&corpus, Rule { search, bounds });
        let pairs: Vec<(DocId, DocId)> = (0..texts.len())
            .flat_map(|b| DocId::range(0..b).map(move |a| (a, DocId(b as u32))))
            .filter(|&(a, b)| bounds.has_sketch(&corpus, a) && bounds.has_sketch(&corpus, b))
            .collect();
        let similarities = judge.judge_pairs(&corpus, &pairs).unwrap();
        for (&(a, b), expected) in pairs.iter().zip(&similarities) {
            let judged = bounds.judge(&corpus, a, b, 5).unwrap();
            let found = judged.is_within_bounds.then_some(judged.similarity);
            assert_eq!(found, *expected, "{measure:?} {:?}", (a, b));
        }
        let similar = similarities.iter().flatten().count();
        assert!(
            similar > 20 && similar < pairs.len() / 2,
            "{measure:?} {similar}"
        );
    }
}
