/*! Anchors: rows of items that two texts have in common and that are found in each of them once.

Two long texts are aligned piece by piece: they are held fast at their anchors, and only what lies
between two anchors is compared item by item.
*/

use rustc_hash::{FxBuildHasher, FxHashMap};
use xxhash_rust::xxh3::xxh3_64;

/// The positions in both texts of rows of `length` equal items that occur once in each, as many as
/// follow each other in both.
///
/// They ascend in both texts; two rows may overlap. `to_bytes` gives the bytes by which an item is
/// hashed. O(n log n) for n items; 32 bytes for each distinct row of the first text.
pub fn anchors<T: Copy + Eq, const N: usize>(
    a: &[T],
    b: &[T],
    length: usize,
    to_bytes: impl Fn(T) -> [u8; N],
) -> Vec<(usize, usize)> {
    let mut rows: FxHashMap<u64, Row> = FxHashMap::with_capacity_and_hasher(a.len(), FxBuildHasher);
    for (at, hash) in hashes(a, length, &to_bytes) {
        rows.entry(hash).or_default().see(0, at);
    }
    for (at, hash) in hashes(b, length, &to_bytes) {
        if let Some(row) = rows.get_mut(&hash) {
            row.see(1, at);
        }
    }
    let mut found: Vec<(usize, usize)> = rows
        .into_values()
        .filter(|row| row.times == [1, 1])
        .map(|row| (row.first[0], row.first[1]))
        .filter(|&(in_a, in_b)| a[in_a..in_a + length] == b[in_b..in_b + length])
        .collect();
    found.sort_unstable();
    increasing(&found)
}

/// A row of items of the first text, by its hash.
#[derive(Default)]
struct Row {
    /// Where each text has it first.
    first: [usize; 2],
    /// How often each text has it, up to twice.
    times: [u8; 2],
}

impl Row {
    fn see(&mut self, text: usize, at: usize) {
        if self.times[text] == 0 {
            self.first[text] = at;
        }
        self.times[text] = (self.times[text] + 1).min(2);
    }
}

/// The position and the hash of each row of `length` items.
fn hashes<T: Copy, const N: usize>(
    text: &[T],
    length: usize,
    to_bytes: impl Fn(T) -> [u8; N],
) -> impl Iterator<Item = (usize, u64)> {
    let mut bytes = Vec::with_capacity(N * text.len());
    for &item in text {
        bytes.extend_from_slice(&to_bytes(item));
    }
    let rows = (text.len() + 1).saturating_sub(length);
    (0..rows).map(move |at| (at, xxh3_64(&bytes[N * at..N * (at + length)])))
}

/// The longest run of pairs, in ascending order of the first position, that ascends in the second
/// one too: O(n log n), by patience sorting.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best run of each length, and the pair before each pair.
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, &(_, second)) in pairs.iter().enumerate() {
        // Most pairs of similar texts go on with the longest run.
        let place = match tops.last() {
            Some(&top) if pairs[top].1 >= second => {
                tops.partition_point(|&top| pairs[top].1 < second)
            }
            _ => tops.len(),
        };
        before.push(place.checked_sub(1).map(|under| tops[under]));
        match tops.get_mut(place) {
            Some(top) => *top = at,
            None => tops.push(at),
        }
    }
    let mut run = Vec::new();
    let mut next = tops.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str, length: usize) -> Vec<(usize, usize)> {
        let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<_>>());
        anchors(&a, &b, length, |c| u32::from(c).to_le_bytes())
    }

    #[test]
    fn rows_that_occur_once_in_both_are_anchors() {
        assert_eq!(of("abcd", "xabcdy", 3), [(0, 1), (1, 2)]);
        // "ab" occurs twice in the first text, "cd" twice in the second.
        assert_eq!(of("abxabcd", "abcdycd", 2), [(4, 1)]);
        for (a, b) in [("", ""), ("ab", "ab"), ("abc", "xyz"), ("abcabc", "abc")] {
            assert_eq!(of(a, b, 3), of(b, a, 3), "{a} {b}");
        }
        assert_eq!(of("ab", "ab", 3), []);
        assert_eq!(of("abcabc", "abc", 3), []);
    }

    #[test]
    fn of_rows_in_another_order_the_longest_run_is_kept() {
        assert_eq!(
            of("12abcdefgh", "abcdefgh12", 2),
            (2..9).map(|at| (at, at - 2)).collect::<Vec<_>>()
        );
        assert_eq!(
            increasing(&[(0, 5), (1, 1), (2, 6), (3, 2), (4, 3), (5, 0)]),
            [(1, 1), (3, 2), (4, 3)]
        );
        assert_eq!(increasing(&[]), []);
    }
}
