//! The recipe `general` and its rule, as the command compiles them.

use neardup_core::candidates::{Reach, Search};
use neardup_core::judge::{Bounds, Rule};
use neardup_core::normalize::{self, Whitespace};
use neardup_core::recipe::{Recipe, Resources, Settings};
use neardup_core::segment::{self, Units};
use neardup_core::sketch;
use neardup_core::verify::Measure;
use neardup_core::weigh::{self, Scheme};

/// Characters in a shingle.
pub const K: usize = 5;

/// The smallest similarity of two duplicates.
const THRESHOLD: f64 = 0.45;

/// The settings of `general`; `benchmarks/budget.py` checks that the decisions are those of the
/// command.
pub fn general() -> Recipe {
    let settings = Settings {
        normalize: normalize::Settings {
            nfkc: true,
            lowercase: true,
            whitespace: Whitespace::ByScript,
            strip_markup: false,
            drop_invisible: true,
        },
        segment: segment::Settings {
            units: Units::ScriptShingles,
            k: K,
            ..segment::Settings::default()
        },
        weigh: weigh::Settings {
            scheme: Scheme::Once,
            ..weigh::Settings::default()
        },
        sketch: sketch::Settings::Sample { size: 32 },
    };
    Recipe::new(settings, Resources::default()).expect("the settings are valid")
}

/// How `general` finds and decides duplicates.
pub fn rule() -> Rule {
    Rule {
        search: Search::Postings {
            threshold: THRESHOLD,
            reach: Reach::Kept,
        },
        bounds: Bounds {
            measure: Some(Measure::Content { k: K }),
            threshold: Some(THRESHOLD),
            max_distance: None,
            min_features: 5,
        },
    }
}
