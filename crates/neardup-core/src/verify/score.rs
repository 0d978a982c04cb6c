//! The similarity from how much of two texts is the same, their alignment and the numbers that they replace.

use super::alignment::Aligned;
use super::most::Most;
use crate::constants::{LEFT, MOST_NUMBERS, NEEDED, NUMBERS_FACTOR, REACH};

/// Shares are integers, in millionths.
const ONE: u64 = 1_000_000;

/// The similarity of two texts with this resemblance and this alignment.
pub(super) fn score(most: Most, aligned: &Aligned) -> f64 {
    let resemblance = match most.unique {
        Some((unique, _)) if most.is_by_unique_text(aligned) => unique,
        _ if aligned.is_scattered() => return less_numbers(most.scattered, aligned),
        _ => most.similarity,
    };
    let alike = (resemblance * ONE as f64) as u64 + alignment(aligned);
    let missing = 2 * ONE - alike + numbers(aligned);
    let needed = NEEDED[usize::from(aligned.is_spaced)];
    let lost = missing * LEFT / (200 - needed);
    resemblance.min(as_share(ONE.saturating_sub(lost)))
}

/// The similarity of two texts by their common part, without numbers.
pub(super) fn less_numbers(share: f64, aligned: &Aligned) -> f64 {
    let lost = numbers(aligned) * LEFT / (200 - NEEDED[0]);
    (share - as_share(lost)).max(0.0)
}

/// The share of the longer text that is aligned.
///
/// Of words, what the shorter text has besides counts too. Of characters it does not: a paragraph
/// that was moved counts once.
pub(super) fn alignment(aligned: &Aligned) -> u64 {
    let longer = aligned.longer();
    match longer {
        0 => ONE,
        _ if aligned.is_spaced => share(longer.saturating_sub(aligned.distance), longer),
        _ => share(aligned.equal, longer),
    }
}

/// The penalty of replaced numbers, or of words that turn the meaning.
pub(super) fn numbers(aligned: &Aligned) -> u64 {
    let by_length = |count: usize| {
        REACH * MOST_NUMBERS.min(count as u64) * ONE / (aligned.letters as u64).max(1)
    };
    let replaced = aligned.replaced;
    let of_numbers = share(replaced, replaced + aligned.agree);
    let edited = share(aligned.edited, aligned.equal + aligned.edited);
    let of_numbers = by_length(replaced).min(NUMBERS_FACTOR * of_numbers.saturating_sub(edited));
    of_numbers.max(by_length(aligned.negated))
}

fn share(part: usize, whole: usize) -> u64 {
    (part as u64 * ONE).checked_div(whole as u64).unwrap_or(0)
}

pub(super) fn as_share(millionths: u64) -> f64 {
    millionths as f64 / ONE as f64
}
