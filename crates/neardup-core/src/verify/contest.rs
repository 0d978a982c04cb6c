//! The search for the most similar one among the candidates of a document.

use super::most::Most;
use crate::similar::Similar;

/// Candidates that may be similar, and the best one so far.
#[derive(Debug)]
pub(super) struct Contest {
    /// The most similar that each candidate can be: the least promising first.
    open: Vec<Similar<usize>>,
    best: Option<Similar<usize>>,
}

impl Contest {
    /// Candidates numbered from `first`.
    pub(super) fn of(first: usize, bounds: &[Option<Most>]) -> Self {
        let all = (first..).zip(bounds);
        let open = all.filter_map(|(of, most)| {
            let similarity = (*most)?.scattered;
            Some(Similar { of, similarity })
        });
        let mut open: Vec<Similar<usize>> = open.collect();
        open.sort_unstable_by(|a, b| b.order(a));
        Contest { open, best: None }
    }

    /// The next candidates to be aligned, at most `many`, of those that may be better than the best.
    pub(super) fn next(&mut self, many: usize) -> impl Iterator<Item = usize> {
        // The most promising ones are last, so those that are beaten are the first.
        let beaten = self.open.partition_point(|candidate| {
            self.best.is_some_and(|best| best.order(candidate).is_lt())
        });
        let next = self.open.len().saturating_sub(many).max(beaten);
        let next = self.open.split_off(next);
        next.into_iter().rev().map(|candidate| candidate.of)
    }

    /// Tells how similar a candidate is.
    pub(super) fn enter(&mut self, of: usize, similarity: f64) {
        let next = Similar { of, similarity };
        self.best = Similar::best(self.best.into_iter().chain([next]));
    }

    /// The most similar candidate, of several the first.
    pub(super) fn best(&self) -> Option<Similar<usize>> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_possible_winners_are_aligned() {
        let most = [0.5, 0.9, 0.9, 0.6, 0.8].map(|most| Some(Most::of(most)));
        let mut contest = Contest::of(10, &most);
        assert_eq!(contest.next(1).collect::<Vec<_>>(), [11]);
        contest.enter(11, 0.7);
        assert_eq!(contest.next(2).collect::<Vec<_>>(), [12, 14]);
        contest.enter(12, 0.7);
        contest.enter(14, 0.5);
        // Of equal ones the first stays, and .6 cannot be better than .7.
        assert_eq!(
            contest.best(),
            Some(Similar {
                of: 11,
                similarity: 0.7
            })
        );
        assert_eq!(contest.next(4).count(), 0);
    }
}
