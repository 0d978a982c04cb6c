//! The equal runs of two rows of units.

use rustc_hash::FxHashMap;

use crate::anchors::anchors;
use crate::constants::{ANCHOR, EXACT, WITHOUT_ANCHORS};

/// A run of equal units, by its positions in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) length: usize,
}

/// The equal runs of two rows of units, in order.
pub(super) fn equal_runs(a: &[u64], b: &[u64]) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    let mut add = |run: Run| {
        if run.length == 0 {
            return;
        }
        match found.last_mut() {
            Some(last) if last.a + last.length == run.a && last.b + last.length == run.b => {
                last.length += run.length;
            }
            _ => found.push(run),
        }
    };
    let begin = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[begin..], &b[begin..]);
    let both = rest_a.iter().rev().zip(rest_b.iter().rev());
    let end = both.take_while(|(x, y)| x == y).count();
    let (stop_a, stop_b) = (a.len() - end, b.len() - end);
    add(Run {
        a: 0,
        b: 0,
        length: begin,
    });
    let (mut x, mut y) = (begin, begin);
    let last = (stop_a, stop_b);
    let held = anchors_between(&a[begin..stop_a], &b[begin..stop_b]).into_iter();
    let held = held.map(|(x, y)| (begin + x as usize, begin + y as usize));
    for (here, there) in held.chain([last]) {
        // An anchor may overlap the run of the one before.
        if here < x || there < y {
            continue;
        }
        between(&a[..here], &b[..there], x, y, &mut add);
        let rest = a[here..stop_a].iter().zip(&b[there..stop_b]);
        let length = rest.take_while(|(x, y)| x == y).count();
        add(Run {
            a: here,
            b: there,
            length,
        });
        (x, y) = (here + length, there + length);
    }
    add(Run {
        a: stop_a,
        b: stop_b,
        length: end,
    });
    found
}

/// The anchors of what lies between the common begin and the common end of two rows of units; none
/// if it is so short that it is aligned at once.
fn anchors_between(a: &[u64], b: &[u64]) -> Vec<(u32, u32)> {
    if a.len().saturating_mul(b.len()) <= WITHOUT_ANCHORS * WITHOUT_ANCHORS {
        return Vec::new();
    }
    anchors(a, b, ANCHOR, u64::to_le_bytes)
}

/// Adds the equal units from `x` and `y` to the ends of both rows, by their longest common
/// subsequence; none if too many units lie there.
fn between(a: &[u64], b: &[u64], x: usize, y: usize, add: &mut impl FnMut(Run)) {
    let (rows, columns) = (&a[x..], &b[y..]);
    if rows.is_empty() || columns.is_empty() {
        return;
    }
    if rows.len().saturating_mul(columns.len()) > EXACT * EXACT {
        return;
    }
    for (i, j) in common_subsequence(rows, columns) {
        add(Run {
            a: x + i,
            b: y + j,
            length: 1,
        });
    }
}

/// The positions of a longest common subsequence, ascending in both rows.
///
/// O(xy / 64) for x and y units. The longer one is packed into words of 64 columns, so that the
/// table and the masks take at most about xy / 4 bytes.
fn common_subsequence(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    if a.len() > b.len() {
        let mut found = common_subsequence(b, a);
        for (x, y) in &mut found {
            (*x, *y) = (*y, *x);
        }
        return found;
    }
    let words = b.len().div_ceil(64);
    // A number for each unit of the rows, and for each number the columns that match.
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    numbers.reserve(a.len());
    let number = |unit: &u64| {
        let next = numbers.len();
        *numbers.entry(*unit).or_insert(next)
    };
    let rows: Vec<usize> = a.iter().map(number).collect();
    let mut masks = vec![0; words * numbers.len()];
    for (at, unit) in b.iter().enumerate() {
        if let Some(number) = numbers.get(unit) {
            masks[words * number + at / 64] |= 1 << (at % 64);
        }
    }
    // A zero bit is a column at which the subsequence of the rows so far becomes longer.
    let mut table = vec![u64::MAX; words * (a.len() + 1)];
    for (row, number) in rows.into_iter().enumerate() {
        let (before, after) = table.split_at_mut(words * (row + 1));
        let (before, after) = (&before[words * row..], &mut after[..words]);
        let mask = &masks[words * number..][..words];
        let mut carry = false;
        for ((&old, new), &mask) in before.iter().zip(after).zip(mask) {
            let matches = old & mask;
            let (sum, first) = old.overflowing_add(matches);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *new = sum | (old - matches);
        }
    }
    let is_set =
        |row: usize, column: usize| table[words * row + column / 64] >> (column % 64) & 1 == 1;
    let (mut row, mut column) = (a.len(), b.len());
    let mut found = Vec::new();
    while row > 0 && column > 0 {
        if is_set(row, column - 1) {
            column -= 1;
        } else if !is_set(row - 1, column - 1) {
            row -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            found.push((row, column));
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Units that look random and are not, none of them a number.
    pub(in super::super) fn noise(length: usize, alphabet: u64, seed: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            4 * ((state >> 33) % alphabet)
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn a_long_row_beside_a_short_one_is_aligned() {
        let long = noise(1 << 20, 1 << 30, 1);
        let at = [70, 8000, long.len() - 5];
        let short: Vec<u64> = at.map(|at| long[at]).to_vec();
        let found: Vec<usize> = common_subsequence(&long, &short)
            .into_iter()
            .map(|(x, _)| x)
            .collect();
        assert_eq!(found, at);
    }

    /// The length of a longest common subsequence, by the textbook's table.
    fn textbook(a: &[u64], b: &[u64]) -> usize {
        let mut above = vec![0; b.len() + 1];
        for x in a {
            let mut row = vec![0; b.len() + 1];
            for (at, y) in b.iter().enumerate() {
                row[at + 1] = if x == y {
                    above[at] + 1
                } else {
                    above[at + 1].max(row[at])
                };
            }
            above = row;
        }
        above[b.len()]
    }

    #[test]
    fn a_common_subsequence_is_a_longest_one() {
        for round in 0..400 {
            let alphabet = [2, 5, 40][round as usize % 3];
            let lengths = noise(2, 140, round).into_iter().map(|half| half as usize);
            let rows: Vec<Vec<u64>> = lengths
                .enumerate()
                .map(|(at, length)| noise(length, alphabet, 2 * round + at as u64 + 1000))
                .collect();
            let (a, b) = (&rows[0], &rows[1]);
            let found = common_subsequence(a, b);
            assert_eq!(found.len(), textbook(a, b), "{a:?} {b:?}");
            assert!(found.iter().all(|&(x, y)| a[x] == b[y]));
            assert!(found.is_sorted_by(|left, right| left.0 < right.0 && left.1 < right.1));
        }
    }
}
