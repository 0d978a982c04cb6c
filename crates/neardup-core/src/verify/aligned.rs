/*! Two texts side by side: what stands in both, and what stands in the place of what.

The [units](super::units) of both texts are aligned: a stretch of equal units is held fast where four
of them stand once in each text, and what lies between two such stretches is compared by
its longest common subsequence (Hyyrö, *Bit-parallel LCS-length computation revisited*, 2004). Where too
much lies between, it counts as rewritten.

An equal stretch of fewer than [`SHORTEST`] units between two differences says nothing, and is one of them: any two
texts have some letters in common. What is left between the stretches are *gaps*, with units of one
text or of both. A number that stands in a gap of both texts *differs*, unless the
other text has the same number in that gap.

O(n) for n units, and O(m² / 64) for gaps of at most m = [`EXACT`] units.
*/

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::units::{Units, is_number};

/// Units in a row that stand once in both texts are held fast.
const ANCHOR: usize = 4;

/// Units of the shorter text and of the longer between two anchors that are compared exactly, at
/// most: their product is the square of this.
pub const EXACT: usize = 4096;

/// The least units of an equal stretch between two differences.
const SHORTEST: usize = 3;

/// Units of a gap that replaces a word or a number, at most.
const REPLACED: usize = 12;

/// How the units of two texts stand side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aligned {
    /// Units of the first text.
    pub a: usize,
    /// Units of the second text.
    pub b: usize,
    /// Units in equal stretches.
    pub equal: usize,
    /// Numbers that agree.
    pub agree: usize,
    /// Numbers in the place of which the other text has another one.
    pub differ: usize,
    /// Those of them in gaps of at most [`REPLACED`] units: what surrounds them is the same.
    pub replaced: usize,
}

/// Equal units: from a place in each text, so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    a: usize,
    b: usize,
    length: usize,
}

impl Aligned {
    /// Aligns two texts.
    pub fn of(a: &Units, b: &Units) -> Self {
        let (a, b) = (a.as_slice(), b.as_slice());
        let stretches = stretches(a, b);
        let mut found = Aligned {
            a: a.len(),
            b: b.len(),
            ..Aligned::default()
        };
        let (mut x, mut y) = (0, 0);
        let end = Stretch {
            a: a.len(),
            b: b.len(),
            length: 0,
        };
        for stretch in stretches.into_iter().chain([end]) {
            found.count_gap(&a[x..stretch.a], &b[y..stretch.b]);
            (x, y) = (stretch.a + stretch.length, stretch.b + stretch.length);
            found.equal += stretch.length;
            let numbers = a[stretch.a..x].iter().filter(|&&unit| is_number(unit));
            found.agree += numbers.count();
        }
        found
    }

    /// The share of the shorter text that is aligned, in \[0, 1\]; 1 for two texts without units.
    pub fn share(self) -> f64 {
        match self.shorter() {
            0 => f64::from(u8::from(self.a == self.b)),
            least => self.equal as f64 / least as f64,
        }
    }

    /// Units of the shorter text.
    pub fn shorter(self) -> usize {
        self.a.min(self.b)
    }

    fn count_gap(&mut self, a: &[u64], b: &[u64]) {
        let numbers = |gap: &[u64]| -> Vec<u64> {
            let mut found: Vec<u64> = gap.iter().copied().filter(|&u| is_number(u)).collect();
            found.sort_unstable();
            found
        };
        if a.is_empty() || b.is_empty() {
            return;
        }
        let (of_a, of_b) = (numbers(a), numbers(b));
        let agree = in_both(&of_a, &of_b);
        let differ = of_a.len().min(of_b.len()) - agree;
        self.agree += agree;
        self.differ += differ;
        if a.len().max(b.len()) <= REPLACED {
            self.replaced += differ;
        }
    }
}

/// The size of the intersection of two sorted multisets.
fn in_both(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
}

/// The equal stretches of two rows of units, in order; those between two differences that are
/// too short are left out.
fn stretches(a: &[u64], b: &[u64]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut add = |stretch: Stretch| {
        if stretch.length == 0 {
            return;
        }
        match found.last_mut() {
            Some(last)
                if last.a + last.length == stretch.a && last.b + last.length == stretch.b =>
            {
                last.length += stretch.length;
            }
            _ => found.push(stretch),
        }
    };
    let begin = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[begin..], &b[begin..]);
    let both = rest_a.iter().rev().zip(rest_b.iter().rev());
    let end = both.take_while(|(x, y)| x == y).count();
    let (stop_a, stop_b) = (a.len() - end, b.len() - end);
    add(Stretch {
        a: 0,
        b: 0,
        length: begin,
    });
    let (mut x, mut y) = (begin, begin);
    let last = (stop_a, stop_b);
    for (here, there) in anchors(a, b, begin, last).into_iter().chain([last]) {
        // An anchor may lie inside the stretch of the one before.
        if here < x || there < y {
            continue;
        }
        between(&a[..here], &b[..there], x, y, &mut add);
        let rest = a[here..stop_a].iter().zip(&b[there..stop_b]);
        let length = rest.take_while(|(x, y)| x == y).count();
        add(Stretch {
            a: here,
            b: there,
            length,
        });
        (x, y) = (here + length, there + length);
    }
    add(Stretch {
        a: stop_a,
        b: stop_b,
        length: end,
    });
    found.retain(|stretch| {
        let is_begin = stretch.a == 0 && stretch.b == 0;
        let is_end = stretch.a + stretch.length == a.len() && stretch.b + stretch.length == b.len();
        stretch.length >= SHORTEST || is_begin || is_end
    });
    found
}

/// Where [`ANCHOR`] units that stand once in both texts stand, as long as they go forward in both.
fn anchors(
    a: &[u64],
    b: &[u64],
    begin: usize,
    (stop_a, stop_b): (usize, usize),
) -> Vec<(usize, usize)> {
    let gap = (stop_a - begin).saturating_mul(stop_b - begin);
    if gap <= EXACT * 16 {
        // So little is compared exactly at once.
        return Vec::new();
    }
    let [once_a, once_b] = [&a[begin..stop_a], &b[begin..stop_b]].map(once);
    let mut found: Vec<(usize, usize)> = once_a
        .into_iter()
        .filter_map(|(hash, here)| Some((here?, (*once_b.get(&hash)?)?)))
        .map(|(here, there)| (begin + here, begin + there))
        .collect();
    found.sort_unstable();
    increasing(&found)
}

/// Where each row of [`ANCHOR`] units stands; `None` where it stands twice.
fn once(row: &[u64]) -> FxHashMap<u64, Option<usize>> {
    let mut places = FxHashMap::default();
    let mut bytes = Vec::with_capacity(8 * ANCHOR);
    for (at, units) in row.windows(ANCHOR).enumerate() {
        bytes.clear();
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        places
            .entry(xxh3_64(&bytes))
            .and_modify(|place| *place = None)
            .or_insert(Some(at));
    }
    places
}

/// The equal stretches from `x` and `y` to the ends of both rows, by their longest common
/// subsequence; none if too much lies there.
fn between(a: &[u64], b: &[u64], x: usize, y: usize, add: &mut impl FnMut(Stretch)) {
    let (rows, columns) = (&a[x..], &b[y..]);
    if rows.is_empty() || columns.is_empty() {
        return;
    }
    if rows.len().saturating_mul(columns.len()) > EXACT * EXACT {
        return;
    }
    for (i, j) in common_subsequence(rows, columns) {
        add(Stretch {
            a: x + i,
            b: y + j,
            length: 1,
        });
    }
}

/// The places of a longest common subsequence.
fn common_subsequence(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let words = b.len().div_ceil(64);
    let mut places: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
    for (at, &unit) in b.iter().enumerate() {
        let bits = places.entry(unit).or_insert_with(|| vec![0; words]);
        bits[at / 64] |= 1 << (at % 64);
    }
    // A zero bit is a column at which the subsequence of the rows so far becomes longer.
    let mut table = vec![u64::MAX; words * (a.len() + 1)];
    for (row, unit) in a.iter().enumerate() {
        let (before, after) = table.split_at_mut(words * (row + 1));
        let (before, after) = (&before[words * row..], &mut after[..words]);
        let Some(bits) = places.get(unit) else {
            after.copy_from_slice(before);
            continue;
        };
        let mut carry = false;
        for ((&old, new), &bits) in before.iter().zip(after).zip(bits) {
            let matches = old & bits;
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

/// The longest run of anchors that go forward in both texts: O(n log n), as patience sorting finds it.
fn increasing(anchors: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last anchor of the best run of each length, and what comes before each anchor.
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(anchors.len());
    for (at, &(_, there)) in anchors.iter().enumerate() {
        let place = tops.partition_point(|&top| anchors[top].1 < there);
        before.push(place.checked_sub(1).map(|under| tops[under]));
        match tops.get_mut(place) {
            Some(top) => *top = at,
            None => tops.push(at),
        }
    }
    let mut run = Vec::new();
    let mut next = tops.last().copied();
    while let Some(at) = next {
        run.push(anchors[at]);
        next = before[at];
    }
    run.reverse();
    run
}
