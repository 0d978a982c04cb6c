//! The most that two texts can be alike, before they are aligned.

use super::alignment::Aligned;
use super::noise::lifted;
use super::weighed::{Own, Weighed};
use crate::constants::SLOTS;

/// The most that two texts can be alike, whatever their alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Most {
    pub(super) similarity: f64,
    /// The same if their differences are scattered.
    pub(super) scattered: f64,
    /// The same by what few texts carry, and which texts may say something of their own.
    pub(super) own: Option<(f64, [bool; 2])>,
    /// Whether one of the texts is [short](super::short), so that letters and digits decide.
    pub(super) is_short: bool,
}

impl Most {
    pub(super) fn of(similarity: f64) -> Self {
        Most {
            similarity,
            scattered: similarity,
            own: None,
            is_short: false,
        }
    }

    /// By the resemblance of their shingles, of which all count alike.
    pub(super) fn unweighed(resemblance: f64) -> Self {
        Most {
            scattered: lifted(resemblance),
            ..Most::of(resemblance)
        }
    }

    pub(super) fn weighed(weighed: Weighed) -> Self {
        let similarity = weighed.resemblance();
        let of = |own: Own| (own.resemblance().min(similarity), own.says);
        let scattered = match weighed.says_other() {
            true => similarity,
            false => similarity.max(lifted(weighed.unweighed())),
        };
        Most {
            similarity,
            scattered,
            own: weighed.own.map(of),
            is_short: false,
        }
    }

    /// The same where it makes no difference what a text says of its own.
    pub(super) fn without_own(self) -> Self {
        Most { own: None, ..self }
    }

    /// Whether a text says something of its own beside text of many.
    pub(super) fn is_of_own(self, aligned: &Aligned) -> bool {
        let says = self.own.map_or([false; 2], |(_, says)| says);
        let has_passage = (0..2).any(|side| says[side] && aligned.passage[side]);
        let has_names = says[0] && says[1] && aligned.slots >= SLOTS;
        has_passage || has_names && !aligned.is_scattered()
    }
}
