//! Passages: groups of pieces that belong together.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::chains::{Chain, GAP, chains, score};
use super::edits::distance;
use super::ends::continued;
use super::letters::{DENSE, Letters};
use super::paper::Paper;
use super::runs::{Run, runs};

/// A piece with a lower score is a coincidence, regardless of its context: eight Chinese
/// characters.
const LEAST_PIECE: u32 = 8 * DENSE;

/// A longer gap is part of a piece only if the two sides have something in common: eight
/// Chinese characters.
const EDITED: u32 = 8 * DENSE;

/// The largest distance between pieces of one passage in the paper: 30 Chinese characters.
const NEAR: u32 = 30 * DENSE;

/// The largest distance in the source, where sentences may have been moved: 300 Chinese
/// characters, and at most [`NEAR`] plus `MOVED` times the lower of the two scores. Otherwise
/// a piece of a few characters could add half a page of the source to a passage.
const NEAR_IN_SOURCE: u32 = 300 * DENSE;
const MOVED: u32 = 16;

/// If the total score of the pieces is this many times the minimum, they are a passage
/// without further conditions.
const MUCH: u32 = 4;

/// A piece may join only this many of the passages that began last.
const LATEST: usize = 8;

/// A stretch of the paper and the stretch of the source that it repeats: half-open
/// spans of the original texts, in code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins in the paper.
    pub begin: u32,
    /// Where it ends in the paper.
    pub end: u32,
    /// Where it begins in the source.
    pub source_begin: u32,
    /// Where it ends in the source.
    pub source_end: u32,
    /// The letters of the paper's stretch that the source's does not have, at most.
    pub edited: u32,
}

/// A part of the paper that occurs in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Where it begins in the paper, in code points.
    pub begin: u32,
    /// Where it ends in the paper.
    pub end: u32,
    /// Where it begins in the source, in code points.
    pub source_begin: u32,
    /// Where it ends in the source.
    pub source_end: u32,
    /// The share of the longer side's letters that are not edited.
    pub similarity: f64,
    /// Its pieces, in the order of the paper.
    pub pieces: Vec<Piece>,
}

impl Paper {
    /// The passages of the paper that occur in `source`, in the order of the paper.
    ///
    /// A passage shares at least `least` Chinese characters with the source, or twice as
    /// many letters of an alphabet. Each letter of the source counts once. One of three
    /// conditions must also hold: one piece alone shares `least` characters, the pieces share
    /// four times `least`, or the pieces make up half of both sides. O(n + m) for texts of n
    /// and m letters.
    pub fn passages(&self, source: &Letters, least: u32) -> Vec<Passage> {
        let letters = self.letters();
        let found = chains(letters, source, &runs(self, source));
        let least = least.saturating_mul(DENSE);
        let mut drafts = Drafts {
            paper: letters,
            source,
            all: Vec::new(),
        };
        for draft in best(letters, source, found, least.min(LEAST_PIECE)) {
            drafts.take(draft);
        }
        let mut passages: Vec<Passage> = drafts
            .all
            .iter()
            .filter(|draft| draft.score >= least && draft.holds_together(least))
            .map(|draft| draft.passage(letters, source))
            .collect();
        passages.sort_by_key(|one| (one.begin, one.end, one.source_begin));
        passages
    }
}

/// A piece, with positions in letters.
#[derive(Clone, Debug)]
struct Stretch {
    begin: usize,
    end: usize,
    source_begin: usize,
    source_end: usize,
    score: u32,
    edits: usize,
    /// The letters of the source that equal the paper's, as disjoint spans in ascending order.
    runs: Vec<(usize, usize)>,
}

/// Pieces extended at both ends, in the order of the paper. Parts of the paper that belong to
/// a better piece are left out.
fn best(paper: &Letters, source: &Letters, chains: Vec<Chain>, least: u32) -> Vec<Stretch> {
    let mut taken = vec![false; paper.len()];
    let mut found = Vec::new();
    for chain in chains {
        if chain.score < least {
            // Chains are sorted by score.
            break;
        }
        // A chain may continue beyond its own sentence into one that another chain covers.
        let is_free = |run: &&Run| {
            let place = run.paper..run.paper_end();
            2 * taken[place].iter().filter(|taken| **taken).count() <= run.length
        };
        let free: Vec<Run> = chain.runs.iter().filter(is_free).copied().collect();
        for runs in free.chunk_by(|before, run| is_edited(paper, source, before, run)) {
            let score = score(paper, source, runs);
            if score >= least {
                let stretch = stretched(paper, source, runs, score, &taken);
                taken[stretch.begin..stretch.end].fill(true);
                found.push(stretch);
            }
        }
    }
    found.sort_by_key(|one| (one.begin, Reverse(one.end), one.source_begin));
    found
}

/// Whether the text between two runs is an edited form of the text between them in the source,
/// and not the paper's own. It is edited if it has only a few letters, or if at least two
/// fifths of the longer side are unedited.
///
/// In two unrelated texts of the same alphabet, about a quarter is unedited.
fn is_edited(paper: &Letters, source: &Letters, before: &Run, run: &Run) -> bool {
    let here = (before.paper_end(), run.paper);
    let there = (before.source_end(), run.source);
    let longer = paper
        .weight(here.0, here.1)
        .max(source.weight(there.0, there.1));
    if longer <= EDITED || longer > GAP {
        // Longer than any gap: a better piece has taken the runs between these two.
        return longer <= EDITED;
    }
    let (a, b) = (
        &paper.chars[here.0..here.1],
        &source.chars[there.0..there.1],
    );
    5 * distance(a, b) <= 3 * a.len().max(b.len())
}

/// A piece made of some runs. It is extended at both ends, but not into a better piece of the
/// paper.
fn stretched(
    paper: &Letters,
    source: &Letters,
    runs: &[Run],
    score: u32,
    taken: &[bool],
) -> Stretch {
    let (first, last) = (runs[0], runs[runs.len() - 1]);
    let (a, b) = (&paper.chars, &source.chars);
    // Otherwise each piece of a repetitive text would extend through all of it.
    let free = |at: usize| (!taken.get(at)?).then(|| a[at]);
    let before = continued(
        |at| free(first.paper.checked_sub(at + 1)?),
        |at| first.source.checked_sub(at + 1).map(|at| b[at]),
    );
    let after = continued(
        |at| free(last.paper_end() + at),
        |at| b.get(last.source_end() + at).copied(),
    );
    let begin = (first.paper - before.paper, first.source - before.source);
    let end = (
        last.paper_end() + after.paper,
        last.source_end() + after.source,
    );
    let between = runs.windows(2).map(|pair| {
        let (here, there) = (pair[0].paper_end(), pair[0].source_end());
        distance(&a[here..pair[1].paper], &b[there..pair[1].source])
    });
    let edits = before.edits + between.sum::<usize>() + after.edits;
    Stretch {
        begin: begin.0,
        end: end.0,
        source_begin: begin.1,
        source_end: end.1,
        score,
        edits,
        runs: runs
            .iter()
            .map(|run| (run.source, run.source_end()))
            .collect(),
    }
}

struct Drafts<'a> {
    paper: &'a Letters,
    source: &'a Letters,
    all: Vec<Draft>,
}

impl Drafts<'_> {
    /// Adds a piece to the passage that it belongs to, or begins one.
    fn take(&mut self, piece: Stretch) {
        let (paper, source) = (self.paper, self.source);
        let from = self.all.len().saturating_sub(LATEST);
        let near = self.all[from..].iter_mut().rev().find(|draft| {
            let gap = weight_between(paper, draft.end, piece.begin);
            let gap_in_source = weight_between(source, draft.source_end, piece.source_begin)
                .max(weight_between(source, piece.source_end, draft.source_begin));
            let reach = NEAR.saturating_add(MOVED.saturating_mul(draft.score.min(piece.score)));
            gap <= NEAR && gap_in_source <= reach.min(NEAR_IN_SOURCE)
        });
        match near {
            Some(draft) => {
                draft.end = draft.end.max(piece.end);
                draft.source_begin = draft.source_begin.min(piece.source_begin);
                draft.source_end = draft.source_end.max(piece.source_end);
                draft.score += draft.counted(&piece);
                draft.pieces.push(piece);
            }
            None => self.all.push(Draft {
                end: piece.end,
                source_begin: piece.source_begin,
                source_end: piece.source_end,
                score: piece.score,
                counted: piece.runs.iter().copied().collect(),
                pieces: vec![piece],
            }),
        }
    }
}

/// The weight of the letters from `end` to `begin`; 0 if the spans overlap.
fn weight_between(letters: &Letters, end: usize, begin: usize) -> u32 {
    match end < begin {
        true => letters.weight(end, begin),
        false => 0,
    }
}

struct Draft {
    end: usize,
    source_begin: usize,
    source_end: usize,
    score: u32,
    /// The letters of the source that the score counts, as disjoint spans: begin to end.
    counted: BTreeMap<usize, usize>,
    /// In the order of the paper; at least one.
    pieces: Vec<Stretch>,
}

impl Draft {
    /// The amount that a piece adds to the score. Each letter of the source counts once, so a
    /// phrase does not count again each time the paper repeats it.
    fn counted(&mut self, piece: &Stretch) -> u32 {
        let (mut all, mut new) = (0, 0);
        for &(begin, end) in &piece.runs {
            all += end - begin;
            new += count_once(&mut self.counted, begin, end);
        }
        (u64::from(piece.score) * new as u64 / all as u64) as u32
    }

    /// Whether one piece scores enough, the pieces make up half of both sides, or they have a
    /// high total score. Scattered phrases that two texts on one subject share are not a
    /// passage.
    fn holds_together(&self, least: u32) -> bool {
        if self.score >= MUCH.saturating_mul(least)
            || self.pieces.iter().any(|one| one.score >= least)
        {
            return true;
        }
        let (here, there) = self.covered();
        2 * here >= self.end - self.pieces[0].begin
            && 2 * there >= self.source_end - self.source_begin
    }

    /// The number of letters of the paper and of the source that its pieces cover.
    fn covered(&self) -> (usize, usize) {
        let here = covered(self.pieces.iter().map(|one| (one.begin, one.end)));
        let mut there: Vec<_> = self.pieces.iter().map(|one| one.source()).collect();
        there.sort_unstable();
        (here, covered(there.into_iter()))
    }

    fn passage(&self, paper: &Letters, source: &Letters) -> Passage {
        let begin = self.pieces[0].begin;
        let (all, all_there) = (self.end - begin, self.source_end - self.source_begin);
        let (here, there) = self.covered();
        let beside = (all - here).max(all_there - there);
        let edits = beside + self.pieces.iter().map(|one| one.edits).sum::<usize>();
        let longer = all.max(all_there);
        let span = paper.span(begin, self.end);
        let source_span = source.span(self.source_begin, self.source_end);
        Passage {
            begin: span.0,
            end: span.1,
            source_begin: source_span.0,
            source_end: source_span.1,
            similarity: 1.0 - edits.min(longer) as f64 / longer as f64,
            pieces: self
                .pieces
                .iter()
                .map(|one| one.piece(paper, source))
                .collect(),
        }
    }
}

impl Stretch {
    fn source(&self) -> (usize, usize) {
        (self.source_begin, self.source_end)
    }

    fn piece(&self, paper: &Letters, source: &Letters) -> Piece {
        let (begin, end) = paper.span(self.begin, self.end);
        let (source_begin, source_end) = source.span(self.source_begin, self.source_end);
        let (here, there) = (self.end - self.begin, self.source_end - self.source_begin);
        Piece {
            begin,
            end,
            source_begin,
            source_end,
            edited: (here + self.edits)
                .saturating_sub(here.max(there))
                .min(here) as u32,
        }
    }
}

/// Adds a span to disjoint spans (begin to end); returns the number of its letters that are new.
fn count_once(spans: &mut BTreeMap<usize, usize>, mut begin: usize, mut end: usize) -> usize {
    let mut new = end - begin;
    // Merges the spans that overlap the new one, from the last one on.
    while let Some((&other, &other_end)) = spans.range(..end).next_back() {
        if other_end <= begin {
            break;
        }
        new -= other_end.min(end) - other.max(begin);
        spans.remove(&other);
        (begin, end) = (begin.min(other), end.max(other_end));
    }
    spans.insert(begin, end);
    new
}

/// The number of letters that some spans cover; the spans must be sorted by begin.
fn covered(spans: impl Iterator<Item = (usize, usize)>) -> usize {
    let (mut total, mut done) = (0, 0);
    for (begin, end) in spans {
        total += end.saturating_sub(begin.max(done));
        done = done.max(end);
    }
    total
}
