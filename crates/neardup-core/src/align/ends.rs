//! Where a piece ends: letter by letter, beyond the last run.

/// Letters that are looked at in one go.
const STRIDE: usize = 64;

/// How far the two sides may shift against each other in one go.
const BAND: usize = 6;

/// A continuation ends where edits outweigh letters in common by so many.
const DROP: i32 = 6;

/// How many letters of `paper` and of `source` continue a piece, from the first ones on.
///
/// A letter in common counts 1, an edit -1; the continuation with the highest count wins,
/// the shortest if they tie (the X-drop of Zhang, Schwartz, Wagner and Miller, *A greedy
/// algorithm for aligning DNA sequences*, 2000). O(n) for a continuation of n letters.
pub(super) fn continued<A, B>(paper: A, source: B) -> (usize, usize)
where
    A: Fn(usize) -> Option<char>,
    B: Fn(usize) -> Option<char>,
{
    let (mut here, mut there) = (0, 0);
    loop {
        let (more_here, more_there) = one_stride(&paper, &source, here, there);
        here += more_here;
        there += more_there;
        if more_here < STRIDE / 2 {
            return (here, there);
        }
    }
}

fn one_stride<A, B>(paper: &A, source: &B, here: usize, there: usize) -> (usize, usize)
where
    A: Fn(usize) -> Option<char>,
    B: Fn(usize) -> Option<char>,
{
    const WIDTH: usize = 2 * BAND + 1;
    const NONE: i32 = i32::MIN / 2;
    let (mut best, mut reached) = (0, (0, 0));
    // Column c of row i stands for the cell (i, i + c - BAND).
    let mut row = [NONE; WIDTH];
    for (column, cell) in row.iter_mut().enumerate().skip(BAND) {
        *cell = -((column - BAND) as i32);
    }
    for i in 1..=STRIDE {
        let Some(letter) = paper(here + i - 1) else {
            break;
        };
        let mut next = [NONE; WIDTH];
        let mut highest = NONE;
        for column in 0..WIDTH {
            let Some(j) = (i + column).checked_sub(BAND) else {
                continue;
            };
            let mut score = NONE;
            if column + 1 < WIDTH {
                score = row[column + 1] - 1;
            }
            if column > 0 {
                score = score.max(next[column - 1] - 1);
            }
            if j > 0 {
                match source(there + j - 1) {
                    Some(other) => {
                        score = score.max(row[column] + if other == letter { 1 } else { -1 });
                    }
                    None => continue,
                }
            }
            next[column] = score;
            highest = highest.max(score);
            if score > best {
                best = score;
                reached = (i, j);
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

    fn of(paper: &str, source: &str) -> (usize, usize) {
        let (a, b): (Vec<char>, Vec<char>) = (paper.chars().collect(), source.chars().collect());
        continued(|at| a.get(at).copied(), |at| b.get(at).copied())
    }

    #[test]
    fn continuations() {
        // (paper, source, how far)
        let table = [
            ("", "", (0, 0)),
            ("甲", "", (0, 0)),
            ("甲乙丙丁", "甲乙丙丁", (4, 4)),
            ("甲乙丙丁戊", "甲乙丁戊己", (5, 4)),
            ("甲乙戊丁己庚", "甲乙丙丁己庚", (6, 6)),
            ("丙甲乙丁", "甲乙丁", (4, 3)),
            ("甲乙子丑寅卯辰巳午未", "甲乙一二三四五六七八", (2, 2)),
        ];
        for (paper, source, expected) in table {
            assert_eq!(of(paper, source), expected, "{paper} {source}");
        }
    }

    #[test]
    fn long_continuations_go_on() {
        let text = "春江潮水连海平".repeat(100);
        assert_eq!(of(&text, &text), (700, 700));
    }
}
