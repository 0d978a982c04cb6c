//! Runs of equal letters: dots of the dot plot that follow each other on a diagonal.

use super::letters::Letters;
use super::paper::Paper;
use super::shingles::{SHINGLE, hashes};

/// A shingle with more places in the paper begins runs only if no run is open: a
/// repeated phrase must not displace the runs that are already being followed.
const FEW_PLACES: usize = 16;

/// The largest number of runs followed at once. Only a highly repetitive text has more.
const MOST_AT_ONCE: usize = 64;

/// `length` letters of the paper from `paper` on equal the letters of the source from `source` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub paper: usize,
    pub source: usize,
    pub length: usize,
}

impl Run {
    pub(super) fn paper_end(&self) -> usize {
        self.paper + self.length
    }

    pub(super) fn source_end(&self) -> usize {
        self.source + self.length
    }
}

/// All runs of at least one shingle, in the order of the source.
pub(super) fn runs(paper: &Paper, source: &Letters) -> Vec<Run> {
    let end_of = |paper_begin: usize, source_begin: usize, next: usize| {
        let letters = paper.letters();
        let end = letters.end_of(next - 1, SHINGLE).unwrap_or(letters.len());
        // The source ends earlier only if two shingles have the same hash.
        (end - paper_begin).min(source.len() - source_begin)
    };
    let mut found = Vec::new();
    // The runs that may continue, each with the paper's shingle that would continue it.
    let mut open: Vec<(Run, usize)> = Vec::new();
    for (at, &hash) in hashes(source).iter().enumerate() {
        open.retain_mut(|(run, next)| {
            let goes_on = paper.hashes().get(*next) == Some(&hash);
            if goes_on {
                *next += 1;
            } else {
                run.length = end_of(run.paper, run.source, *next);
                found.push(*run);
            }
            goes_on
        });
        let places = paper.places(hash);
        if places.len() > FEW_PLACES && !open.is_empty() {
            continue;
        }
        for &place in places {
            let next = place as usize + 1;
            if open.len() < MOST_AT_ONCE && open.iter().all(|(_, other)| *other != next) {
                let run = Run {
                    paper: place as usize,
                    source: at,
                    length: 0,
                };
                open.push((run, next));
            }
        }
    }
    for (mut run, next) in open {
        run.length = end_of(run.paper, run.source, next);
        found.push(run);
    }
    found.sort_unstable_by_key(|run| (run.source, run.paper));
    found
}
