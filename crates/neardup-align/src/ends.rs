//! Extension of a piece letter by letter, beyond its first and last run.

/// Letters aligned in one step.
const STRIDE: usize = 64;

/// The largest shift between the two sides in one step.
const BAND: usize = 6;

/// A continuation ends where its score falls this far below its best.
const DROP: i32 = 6;

/// The number of letters on both sides that continue a piece, and the edits among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Continuation {
    pub paper: usize,
    pub source: usize,
    pub edits: usize,
}

/// The best continuation of a piece by the letters of `paper` and `source` that follow it.
///
/// A common letter counts 1, an edit -1; the continuation with the highest score wins,
/// on a tie the shortest (the X-drop of Zhang, Schwartz, Wagner and Miller, *A greedy
/// algorithm for aligning DNA sequences*, 2000). O(n) for a continuation of n letters.
pub(super) fn continued<A, B>(paper: A, source: B) -> Continuation
where
    A: Fn(usize) -> Option<char>,
    B: Fn(usize) -> Option<char>,
{
    let mut all = Continuation::default();
    loop {
        let more = one_stride(&paper, &source, all.paper, all.source);
        all.paper += more.paper;
        all.source += more.source;
        all.edits += more.edits;
        if more.paper < STRIDE / 2 {
            return all;
        }
    }
}

/// A cell of the alignment table: its score, and the edits on the path to it.
#[derive(Clone, Copy)]
struct Cell {
    score: i32,
    edits: usize,
}

impl Cell {
    const NONE: Cell = Cell {
        score: i32::MIN / 2,
        edits: 0,
    };

    fn edited(self) -> Cell {
        Cell {
            score: self.score - 1,
            edits: self.edits + 1,
        }
    }

    fn same(self) -> Cell {
        Cell {
            score: self.score + 1,
            ..self
        }
    }

    fn or(self, other: Cell) -> Cell {
        match other.score > self.score {
            true => other,
            false => self,
        }
    }
}

fn one_stride<A, B>(paper: &A, source: &B, here: usize, there: usize) -> Continuation
where
    A: Fn(usize) -> Option<char>,
    B: Fn(usize) -> Option<char>,
{
    const WIDTH: usize = 2 * BAND + 1;
    let (mut best, mut reached) = (0, Continuation::default());
    // Column c of row i is the cell (i, i + c - BAND).
    let mut row = [Cell::NONE; WIDTH];
    for (edits, cell) in row[BAND..].iter_mut().enumerate() {
        let score = -(edits as i32);
        *cell = Cell { score, edits };
    }
    for i in 1..=STRIDE {
        let Some(letter) = paper(here + i - 1) else {
            break;
        };
        let mut next = [Cell::NONE; WIDTH];
        let mut highest = Cell::NONE.score;
        for column in 0..WIDTH {
            let Some(j) = (i + column).checked_sub(BAND) else {
                continue;
            };
            let mut cell = Cell::NONE;
            if column + 1 < WIDTH {
                cell = row[column + 1].edited();
            }
            if column > 0 {
                cell = cell.or(next[column - 1].edited());
            }
            if j > 0 {
                match source(there + j - 1) {
                    Some(other) if other == letter => cell = cell.or(row[column].same()),
                    Some(_) => cell = cell.or(row[column].edited()),
                    None => continue,
                }
            }
            next[column] = cell;
            highest = highest.max(cell.score);
            if cell.score > best {
                best = cell.score;
                reached = Continuation {
                    paper: i,
                    source: j,
                    edits: cell.edits,
                };
            }
        }
        if highest < best - DROP {
            break;
        }
        row = next;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paper: &str, source: &str) -> (usize, usize, usize) {
        let (a, b): (Vec<char>, Vec<char>) = (paper.chars().collect(), source.chars().collect());
        let found = continued(|at| a.get(at).copied(), |at| b.get(at).copied());
        (found.paper, found.source, found.edits)
    }

    #[test]
    fn continuations() {
        // (paper, source, how far)
        let table = [
            ("", "", (0, 0, 0)),
            ("甲", "", (0, 0, 0)),
            ("甲乙丙丁", "甲乙丙丁", (4, 4, 0)),
            ("甲乙丙丁戊", "甲乙丁戊己", (5, 4, 1)),
            ("甲乙戊丁己庚", "甲乙丙丁己庚", (6, 6, 1)),
            ("丙甲乙丁", "甲乙丁", (4, 3, 1)),
            ("甲乙子丑寅卯辰巳午未", "甲乙一二三四五六七八", (2, 2, 0)),
            // Six edits in a row are beyond reach, five are not.
            (
                "甲乙子丑寅卯辰己庚辛壬癸子丑",
                "甲乙一二三四五己庚辛壬癸子丑",
                (14, 14, 5),
            ),
            (
                "甲乙子丑寅卯辰巳午己庚辛壬癸子丑",
                "甲乙一二三四五六七己庚辛壬癸子丑",
                (2, 2, 0),
            ),
        ];
        for (paper, source, expected) in table {
            assert_eq!(of(paper, source), expected, "{paper} {source}");
        }
    }

    #[test]
    fn long_continuations_go_on() {
        let text = "春江潮水连海平".repeat(100);
        assert_eq!(of(&text, &text), (700, 700, 0));
    }
}
