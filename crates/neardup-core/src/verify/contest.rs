//! The candidates of one document, of which the most similar one is wanted.

use super::measure::Comparison;

/// Candidates that may be similar, and the best one so far.
#[derive(Debug)]
pub(super) struct Contest {
    /// The most that each candidate can be, and its number: the least promising first.
    open: Vec<(f64, usize)>,
    best: Option<(usize, f64)>,
}

impl Contest {
    /// Candidates numbered from `first`.
    pub(super) fn of(first: usize, comparisons: &[Option<Comparison>]) -> Self {
        let all = (first..).zip(comparisons);
        let open = all.filter_map(|(at, comparison)| Some(((*comparison)?.most(), at)));
        let mut open: Vec<(f64, usize)> = open.collect();
        open.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        Contest { open, best: None }
    }

    /// The next candidates to be aligned, at most `many`, of those that may be better than the best.
    pub(super) fn next(&mut self, many: usize) -> impl Iterator<Item = usize> {
        // The most promising ones are last, so those that are beaten are the first.
        let beaten = self
            .open
            .partition_point(|&(most, at)| self.is_beaten(at, most));
        let next = self.open.len().saturating_sub(many).max(beaten);
        let next = self.open.split_off(next);
        next.into_iter().rev().map(|(_, at)| at)
    }

    /// Tells how similar a candidate is.
    pub(super) fn enter(&mut self, at: usize, similarity: f64) {
        if !self.is_beaten(at, similarity) {
            self.best = Some((at, similarity));
        }
    }

    /// The most similar candidate, of several the first, and its similarity.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        self.best
    }

    fn is_beaten(&self, at: usize, similarity: f64) -> bool {
        let is_better =
            |(best, found): (usize, f64)| found > similarity || found == similarity && best < at;
        self.best.is_some_and(is_better)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_win_is_aligned() {
        let most = [0.5, 0.9, 0.9, 0.6, 0.8].map(|most| Some(Comparison::at_most(most)));
        let mut contest = Contest::of(10, &most);
        assert_eq!(contest.next(1).collect::<Vec<_>>(), [11]);
        contest.enter(11, 0.7);
        assert_eq!(contest.next(2).collect::<Vec<_>>(), [12, 14]);
        contest.enter(12, 0.7);
        contest.enter(14, 0.5);
        // Of equal ones the first stays, and .6 cannot be better than .7.
        assert_eq!(contest.best(), Some((11, 0.7)));
        assert_eq!(contest.next(4).count(), 0);
    }
}
