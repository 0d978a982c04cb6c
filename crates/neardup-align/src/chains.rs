//! Chains of runs: a local alignment, over runs instead of letters.

use std::cmp::Reverse;

use super::letters::Letters;
use super::runs::Run;

/// The largest gap within a chain: 40 Chinese characters, or 80 letters.
pub(super) const GAP: u32 = 80;

/// The largest difference between the two sides of a gap: a larger one is an insertion, not an edit.
const SHIFT: u32 = 40;

/// The number of preceding runs to which a run may be chained.
const LOOK_BACK: usize = 64;

/// Runs that follow each other in both texts, none overlapping another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub runs: Vec<Run>,
    /// The weight of common letters, minus half the weight of gaps.
    pub score: u32,
}

/// The chains of some runs, the best first. Each run is in at most one chain.
///
/// `runs` must be in the order of the source. O(n) for n runs.
pub(super) fn chains(paper: &Letters, source: &Letters, runs: &[Run]) -> Vec<Chain> {
    // The best chain that ends with each run: its score, the run before, and the part of the run
    // that the run before does not cover.
    let mut ends: Vec<End> = Vec::with_capacity(runs.len());
    for (at, run) in runs.iter().enumerate() {
        let whole = paper.weight(run.paper, run.paper_end());
        let mut best = End {
            score: whole,
            before: None,
            run: *run,
        };
        for before in (at.saturating_sub(LOOK_BACK)..at).rev() {
            let Some((rest, cost)) = joined(paper, source, &ends[before].run, run) else {
                continue;
            };
            let gained = paper.weight(rest.paper, rest.paper_end());
            let score = (ends[before].score + gained).saturating_sub(cost);
            if score > best.score {
                best = End {
                    score,
                    before: Some(before),
                    run: rest,
                };
            }
        }
        ends.push(best);
    }
    traced(&ends)
}

/// The score of some runs as a chain, without checking that they may be chained.
pub(super) fn score(paper: &Letters, source: &Letters, runs: &[Run]) -> u32 {
    let all: u32 = runs
        .iter()
        .map(|run| paper.weight(run.paper, run.paper_end()))
        .sum();
    let gaps = runs
        .windows(2)
        .map(|pair| gap(paper, source, &pair[0], &pair[1]).1);
    all.saturating_sub(gaps.sum())
}

/// The gap between two runs, by weight: the difference of its two sides, and its cost.
fn gap(paper: &Letters, source: &Letters, before: &Run, run: &Run) -> (u32, u32) {
    let here = paper.weight(before.paper_end(), run.paper);
    let there = source.weight(before.source_end(), run.source);
    (here.abs_diff(there), here.max(there).div_ceil(2))
}

struct End {
    score: u32,
    before: Option<usize>,
    run: Run,
}

/// The part of `run` after `before`, and the cost of the gap between them; None if `run` cannot
/// follow `before`.
fn joined(paper: &Letters, source: &Letters, before: &Run, run: &Run) -> Option<(Run, u32)> {
    let overlap = before
        .paper_end()
        .saturating_sub(run.paper)
        .max(before.source_end().saturating_sub(run.source));
    if run.paper <= before.paper || run.source <= before.source || overlap >= run.length {
        return None;
    }
    let rest = Run {
        paper: run.paper + overlap,
        source: run.source + overlap,
        length: run.length - overlap,
    };
    let (shift, cost) = gap(paper, source, before, &rest);
    (cost <= GAP / 2 && shift <= SHIFT).then_some((rest, cost))
}

fn traced(ends: &[End]) -> Vec<Chain> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by_key(|&at| Reverse(ends[at].score));
    let mut used = vec![false; ends.len()];
    let mut found = Vec::new();
    for last in order {
        let mut runs = Vec::new();
        let mut at = Some(last);
        let mut taken = 0;
        while let Some(here) = at {
            if used[here] {
                // A better chain already has this run and those before it.
                taken = ends[here].score;
                break;
            }
            used[here] = true;
            runs.push(ends[here].run);
            at = ends[here].before;
        }
        if !runs.is_empty() {
            runs.reverse();
            let score = ends[last].score.saturating_sub(taken);
            found.push(Chain { runs, score });
        }
    }
    // A chain whose beginning belongs to a better chain has lost the score of that beginning.
    found.sort_by_key(|chain| Reverse(chain.score));
    found
}
