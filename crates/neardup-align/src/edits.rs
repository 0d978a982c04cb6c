//! Edit similarity of two texts.

use neardup_core::anchors::anchors;
use neardup_core::error::Result;
use neardup_core::normalize::check_length;
use rapidfuzz::distance::levenshtein;

/// Two texts are compared exactly if the product of their lengths is at most this.
const EXACT_EDITS: usize = 4_000_000_000;

/// The number of consecutive common characters that make an anchor between two longer texts; and
/// the smallest such number, used where the text between anchors is too long.
const ANCHOR: usize = 32;
const SHORTEST_ANCHOR: usize = 8;

/// The smallest number of insertions, deletions and substitutions that turn one text into the
/// other.
pub(super) fn distance(a: &[char], b: &[char]) -> usize {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.len(),
        (_, true) => a.len(),
        _ => levenshtein::distance(a.iter().copied(), b.iter().copied()),
    }
}

/// The edit similarity of two texts without their white space: 1 - edits / longer length.
///
/// 1 for two texts of only white space. Exact if the product of their lengths is at
/// most 4,000,000,000 (Myers, *A fast bit-vector algorithm for approximate string
/// matching*, 1999; O(n d / 64) for n characters and d edits). Longer texts are anchored at
/// long common stretches, and the text between the anchors is compared: the
/// true similarity may be higher.
///
/// # Errors
///
/// If a text is longer than the stages accept.
///
/// # Examples
///
/// ```
/// use neardup_align::edit_similarity;
///
/// assert_eq!(edit_similarity("春 江潮水", "春江湖水")?, 0.75);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn edit_similarity(a: &str, b: &str) -> Result<f64> {
    check_length(a)?;
    check_length(b)?;
    let [first, second] =
        [a, b].map(|text| -> Vec<char> { text.chars().filter(|c| !c.is_whitespace()).collect() });
    let longer = first.len().max(second.len());
    if longer == 0 {
        return Ok(1.0);
    }
    let begin = first
        .iter()
        .zip(&second)
        .take_while(|(x, y)| x == y)
        .count();
    let (x, y) = (&first[begin..], &second[begin..]);
    let end = x
        .iter()
        .rev()
        .zip(y.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (x, y) = (&x[..x.len() - end], &y[..y.len() - end]);
    let edits = match x.len().checked_mul(y.len()) {
        Some(product) if product <= EXACT_EDITS => distance(x, y),
        _ => held_fast(x, y, ANCHOR),
    };
    Ok(1.0 - edits.min(longer) as f64 / longer as f64)
}

/// The number of edits between two long texts that leave common stretches of `anchor` characters
/// unchanged.
fn held_fast(a: &[char], b: &[char], anchor: usize) -> usize {
    let (mut x, mut y, mut edits) = (0, 0, 0);
    let found = anchors(a, b, anchor, |c| u32::from(c).to_le_bytes());
    let found = found.into_iter();
    let stretches = found.map(|(here, there)| (here as usize, there as usize, anchor));
    for (here, there, length) in stretches.chain([(a.len(), b.len(), 0)]) {
        if here < x || there < y {
            // It overlaps the stretch before it.
            continue;
        }
        let (left, right) = (&a[x..here], &b[y..there]);
        edits += match left.len().checked_mul(right.len()) {
            Some(product) if product <= EXACT_EDITS => distance(left, right),
            _ if anchor > SHORTEST_ANCHOR => held_fast(left, right, anchor / 2),
            _ => left.len().max(right.len()),
        };
        (x, y) = (here + length, there + length);
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities() {
        // (one, other, similarity)
        let table = [
            ("", "", 1.0),
            (" \n", "\u{3000}", 1.0),
            ("", "春", 0.0),
            ("春江", "春江", 1.0),
            ("春江潮水", "春潮水江", 0.5),
            ("ab cd", "abcd", 1.0),
            ("春江潮水连海平", "春江潮水", 4.0 / 7.0),
        ];
        for (a, b, expected) in table {
            assert_eq!(edit_similarity(a, b).unwrap(), expected, "{a} {b}");
            assert_eq!(edit_similarity(b, a).unwrap(), expected, "{b} {a}");
        }
    }

    /// Pseudo-random characters.
    fn noise(length: u32, seed: u32) -> Vec<char> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from_u32(0x4E00 + (state >> 16) % 3000).unwrap_or('一')
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn texts_held_fast_are_judged_as_exactly() {
        let text = noise(3000, 1);
        let mut other = text.clone();
        other.splice(700..720, noise(35, 2));
        other.splice(2000..2000, noise(11, 3));
        other.remove(100);
        assert_eq!(held_fast(&text, &other, ANCHOR), distance(&text, &other));
        assert_eq!(
            held_fast(&text, &noise(2000, 4), ANCHOR),
            distance(&text, &noise(2000, 4))
        );
    }

    #[test]
    fn long_texts_with_many_edits_are_held_fast_by_shorter_stretches() {
        let text = noise(100_000, 1);
        let mut other = text.clone();
        for at in (3..other.len()).step_by(11) {
            other[at] = '\u{3400}';
        }
        let edits = text.len().div_ceil(11) - 1;
        let whole: [String; 2] = [text, other].map(|text| text.into_iter().collect());
        let found = edit_similarity(&whole[0], &whole[1]).unwrap();
        assert!(
            (found - (1.0 - edits as f64 / 100_000.0)).abs() < 0.001,
            "{found}"
        );
    }

    #[test]
    fn moved_text_is_matched_once() {
        let (first, second) = (noise(500, 1), noise(900, 2));
        let (one, other) = (
            [&first[..], &second].concat(),
            [&second[..], &first].concat(),
        );
        assert_eq!(held_fast(&one, &other, ANCHOR), 1000);
    }
}
