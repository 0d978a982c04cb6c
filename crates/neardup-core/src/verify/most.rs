//! The most that two texts can be alike, before they are aligned.

use super::alignment::Aligned;
use super::noise::lifted;
use super::weighed::{UniqueText, Weighed};
use crate::constants::SLOTS;

/// The most that two texts can be alike, whatever their alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Most {
    pub(super) similarity: f64,
    /// The same if their differences are scattered.
    pub(super) scattered: f64,
    /// The same without boilerplate, and which texts may have unique text.
    pub(super) unique: Option<(f64, [bool; 2])>,
    /// Whether one of the texts is [short](super::short), so that letters and digits decide.
    pub(super) is_short: bool,
}

impl Most {
    pub(super) fn of(similarity: f64) -> Self {
        Most {
            similarity,
            scattered: similarity,
            unique: None,
            is_short: false,
        }
    }

    /// By the resemblance of their shingles, which all count alike.
    pub(super) fn unweighed(resemblance: f64) -> Self {
        Most {
            scattered: lifted(resemblance),
            ..Most::of(resemblance)
        }
    }

    pub(super) fn weighed(weighed: Weighed) -> Self {
        let similarity = weighed.resemblance();
        let of = |unique: UniqueText| (unique.resemblance().min(similarity), unique.has);
        let scattered = match weighed.differs_in_unique_text() {
            true => similarity,
            false => similarity.max(lifted(weighed.unweighed())),
        };
        Most {
            similarity,
            scattered,
            unique: weighed.unique.map(of),
            is_short: false,
        }
    }

    /// The same, regardless of unique text.
    pub(super) fn without_unique_text(self) -> Self {
        Most {
            unique: None,
            ..self
        }
    }

    /// Whether a text has unique text next to boilerplate.
    pub(super) fn is_by_unique_text(self, aligned: &Aligned) -> bool {
        let has = self.unique.map_or([false; 2], |(_, has)| has);
        let has_passage = (0..2).any(|side| has[side] && aligned.passage[side]);
        let has_names = has[0] && has[1] && aligned.slots >= SLOTS;
        has_passage || has_names && !aligned.is_scattered()
    }
}
