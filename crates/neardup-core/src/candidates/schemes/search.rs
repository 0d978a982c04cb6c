//! How candidates are found, and how long a list may become.

use super::bands::Banding;
use crate::constants::{MAX_LIST_LEN, MAX_LIST_LEN_OF_ALL, MAX_LIST_LEN_OF_KEPT};
use crate::error::{Error, Result};
use crate::sketch::Sketches;

/// Which documents are filed, under how many of their keys, and how long a list may become. For
/// searches that are not exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Kept documents, under a few keys in short lists: a template costs each document the same.
    #[default]
    Kept,
    /// All documents, under all keys in long lists.
    All,
    /// Under all keys, in lists of any length: the time is quadratic in the documents of a template.
    Exhaustive,
}

/// How candidates are found. Each method suits one kind of sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// Fingerprints that differ in at most `max_distance` bits. Exact.
    Near {
        /// The largest distance.
        max_distance: u32,
    },
    /// Signatures that agree on a band.
    Bands(Banding, Reach),
    /// Samples that share enough keys.
    Postings {
        /// The similarity threshold.
        threshold: f64,
        /// Where [`Reach::Kept`], documents are filed under keys that few documents have.
        reach: Reach,
    },
    /// Samples that share one of the prefix keys for a resemblance of `threshold`. Exact for the
    /// samples.
    Prefix {
        /// The smallest resemblance.
        threshold: f64,
    },
}

impl Search {
    /// Fails unless this method works on sketches of this kind.
    ///
    /// # Errors
    ///
    /// If the sketches are of another kind, or signatures are too short for the bands.
    pub fn check(self, sketches: &Sketches) -> Result<()> {
        match (self, sketches) {
            (Search::Near { .. }, Sketches::Fingerprints(_))
            | (Search::Postings { .. } | Search::Prefix { .. }, Sketches::Samples(_)) => Ok(()),
            (Search::Bands(banding, _), Sketches::Signatures(signatures)) => {
                let values = banding.bands() as usize * banding.rows() as usize;
                match values <= signatures.num_perm() {
                    true => Ok(()),
                    false => Err(Error::parameter(
                        "bands",
                        format!(
                            "few enough for signatures of {} values",
                            signatures.num_perm()
                        ),
                        format!("{} bands of {} values", banding.bands(), banding.rows()),
                    )),
                }
            }
            _ => Err(Error::parameter(
                "search",
                "one for the kind of sketches that the recipe makes",
                format!("{self:?}"),
            )),
        }
    }

    /// The same search, for an index in which all documents are filed.
    #[must_use]
    pub fn filing_all(self) -> Self {
        let at_least_all = |reach| match reach {
            Reach::Kept => Reach::All,
            reach => reach,
        };
        match self {
            Search::Bands(banding, reach) => Search::Bands(banding, at_least_all(reach)),
            Search::Postings { threshold, reach } => Search::Postings {
                threshold,
                reach: at_least_all(reach),
            },
            exact => exact,
        }
    }

    /// The maximum length of a key's list; `usize::MAX` if lists are not capped.
    pub fn max_list_len(self) -> usize {
        match self {
            Search::Postings { reach, .. } => match reach {
                Reach::Kept => MAX_LIST_LEN_OF_KEPT,
                Reach::All => MAX_LIST_LEN_OF_ALL,
                Reach::Exhaustive => usize::MAX,
            },
            Search::Bands(_, reach) => match reach {
                // A shorter list would break the recall that a banding guarantees.
                Reach::Kept => MAX_LIST_LEN,
                Reach::All => MAX_LIST_LEN_OF_ALL,
                Reach::Exhaustive => usize::MAX,
            },
            Search::Near { .. } | Search::Prefix { .. } => usize::MAX,
        }
    }
}
