//! One document: what a caller passes in, and what the first four stages make of it.

use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use crate::recipe::Recipe;
use crate::sketch::Sketch;
use crate::verify::Sample;

/// One document, as a caller passes it in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// The text; `None` for a record that could not be read.
    pub text: Option<&'a str>,
    /// The title, where the recipe looks at it.
    pub title: Option<&'a str>,
    /// Units of the caller's own segmenter, encoded as
    /// [`segment`](crate::segment) says.
    pub units: Option<&'a str>,
}

/// The number of features of a document that could not be read.
pub const UNREADABLE: u32 = u32::MAX;

/// The output of the first four stages for one document.
pub(super) struct Sketched {
    pub(super) text: String,
    pub(super) identity: u128,
    pub(super) features: u32,
    /// Whether it has a feature, including rare ones that are left out.
    pub(super) has_features: bool,
    pub(super) sketch: Sketch,
    /// The shingles that are counted for the collection, and whether the text is short.
    pub(super) sample: Option<(Sample, bool)>,
}

impl Sketched {
    /// Normalizes a document and lets `sketch` make a sketch of the text to be segmented. `sketch`
    /// returns the number of features and of those left out as rare.
    pub(super) fn new(
        recipe: &Recipe,
        document: &Document<'_>,
        sketch: impl FnOnce(&str, &mut Sketch) -> (usize, usize),
    ) -> Self {
        let mut made = Sketched {
            text: String::new(),
            identity: 0,
            features: UNREADABLE,
            has_features: false,
            sketch: Sketch::default(),
            sample: None,
        };
        let Some(text) = document.text else {
            return made;
        };
        recipe.normalize_into(text, &mut made.text);
        let units = document.units.unwrap_or(&made.text);
        let (features, rare) = sketch(units, &mut made.sketch);
        made.features = number_of(features);
        made.has_features = features + rare > 0;
        made.identity = match features + rare {
            // A separate seed, so that identities of the two kinds never coincide.
            0 => xxh3_128_with_seed(text.as_bytes(), 1),
            _ => xxh3_128(made.text.as_bytes()),
        };
        made
    }
}

/// A number of features, as it is stored.
pub(super) fn number_of(features: usize) -> u32 {
    u32::try_from(features)
        .unwrap_or(UNREADABLE)
        .min(UNREADABLE - 1)
}
