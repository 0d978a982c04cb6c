/*! Anchors: rows of items that two texts have in common and that are found in each of them once.

Two long texts are aligned piece by piece: they are held fast at their anchors, and only what lies
between two anchors is compared item by item.
*/

use xxhash_rust::xxh3::xxh3_64;

/// About as many rows of a text are looked at together: those whose hashes begin with the same bits.
const ROWS: usize = 1 << 21;

/// Items that are turned into bytes together.
const ITEMS: usize = 1 << 12;

/// The positions in both texts of rows of `length` equal items that occur once in each, as many as
/// follow each other in both.
///
/// They ascend in both texts; two rows may overlap. `to_bytes` gives the bytes by which an item is
/// hashed. Texts have fewer than 2^32 items. O(n log n) for n items; 16 bytes for each anchor, and at most
/// 64 MB for the rows.
pub fn anchors<T: Copy + Eq, const N: usize>(
    a: &[T],
    b: &[T],
    length: usize,
    to_bytes: impl Fn(T) -> [u8; N],
) -> Vec<(u32, u32)> {
    let bits = (a.len().max(b.len()) / ROWS + 1)
        .next_power_of_two()
        .ilog2();
    let mut found: Vec<(u32, u32)> = Vec::new();
    for share in 0..1_u64 << bits {
        let [in_a, in_b] = [a, b].map(|text| {
            let mut rows = Vec::with_capacity(if bits == 0 { text.len() } else { 0 });
            for_each_row(text, length, &to_bytes, |at, hash| {
                if bits == 0 || hash >> (u64::BITS - bits) == share {
                    rows.push((hash, at as u32));
                }
            });
            rows.sort_unstable();
            rows
        });
        let (mut rest_a, mut rest_b) = (once(&in_a), once(&in_b));
        let (mut one, mut other) = (rest_a.next(), rest_b.next());
        while let (Some((hash_a, in_a)), Some((hash_b, in_b))) = (one, other) {
            let row = |text: &[T], at: u32| at as usize..at as usize + length.min(text.len());
            if hash_a == hash_b && a[row(a, in_a)] == b[row(b, in_b)] {
                found.push((in_a, in_b));
            }
            if hash_a <= hash_b {
                one = rest_a.next();
            }
            if hash_b <= hash_a {
                other = rest_b.next();
            }
        }
    }
    found.sort_unstable();
    keep_increasing(&mut found);
    found
}

/// The hashes that occur once among sorted rows, each with its position.
fn once(rows: &[(u64, u32)]) -> impl Iterator<Item = (u64, u32)> {
    let of_one_hash = rows.chunk_by(|one, next| one.0 == next.0);
    of_one_hash
        .filter(|same| same.len() == 1)
        .map(|same| same[0])
}

/// Calls `take` with the position and the hash of each row of `length` items.
fn for_each_row<T: Copy, const N: usize>(
    text: &[T],
    length: usize,
    to_bytes: impl Fn(T) -> [u8; N],
    mut take: impl FnMut(usize, u64),
) {
    let rows = (text.len() + 1).saturating_sub(length);
    let mut bytes = Vec::with_capacity(N * (ITEMS + length).min(text.len()));
    for begin in (0..rows).step_by(ITEMS) {
        let end = rows.min(begin + ITEMS);
        bytes.clear();
        for &item in &text[begin..end + length - 1] {
            bytes.extend_from_slice(&to_bytes(item));
        }
        for at in begin..end {
            let place = N * (at - begin);
            take(at, xxh3_64(&bytes[place..place + N * length]));
        }
    }
}

/// Keeps the longest run of pairs, in ascending order of the first position, that ascends in the
/// second one too: O(n log n), by patience sorting.
fn keep_increasing(pairs: &mut Vec<(u32, u32)>) {
    const NONE: u32 = u32::MAX;
    // The last pair of the best run of each length, and the pair before each pair.
    let mut tops: Vec<u32> = Vec::new();
    let mut before: Vec<u32> = Vec::with_capacity(pairs.len());
    let second_of = |at: u32| pairs[at as usize].1;
    for (at, &(_, second)) in pairs.iter().enumerate() {
        // Most pairs of similar texts go on with the longest run.
        let place = match tops.last() {
            Some(&top) if second_of(top) >= second => {
                tops.partition_point(|&top| second_of(top) < second)
            }
            _ => tops.len(),
        };
        before.push(place.checked_sub(1).map_or(NONE, |under| tops[under]));
        match tops.get_mut(place) {
            Some(top) => *top = at as u32,
            None => tops.push(at as u32),
        }
    }
    // From the end, each pair of the run names the next one, so the list becomes the run.
    let mut next = tops.last().copied().unwrap_or(NONE);
    tops.clear();
    while next != NONE {
        tops.push(next);
        next = before[next as usize];
    }
    let mut kept = 0;
    for &at in tops.iter().rev() {
        pairs[kept] = pairs[at as usize];
        kept += 1;
    }
    pairs.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str, length: usize) -> Vec<(u32, u32)> {
        let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<_>>());
        anchors(&a, &b, length, |c| u32::from(c).to_le_bytes())
    }

    #[test]
    fn rows_once_in_both_texts_are_anchors() {
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
    fn rows_in_another_order_keep_the_longest_run() {
        assert_eq!(
            of("12abcdefgh", "abcdefgh12", 2),
            (2..9).map(|at| (at, at - 2)).collect::<Vec<_>>()
        );
        for (mut pairs, expected) in [
            (
                vec![(0, 5), (1, 1), (2, 6), (3, 2), (4, 3), (5, 0)],
                vec![(1, 1), (3, 2), (4, 3)],
            ),
            (vec![], vec![]),
        ] {
            keep_increasing(&mut pairs);
            assert_eq!(pairs, expected);
        }
    }
}
