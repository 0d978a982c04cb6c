//! The documents that were dropped, read off the decisions on all documents.

use rustc_hash::FxHashMap;

/// The dropped documents of a run, ascending, and the columns of their decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removals {
    /// The dropped documents.
    pub documents: Vec<i64>,
    /// For each the document that was kept.
    pub kept_for: Vec<i64>,
    /// How many documents the kept one represents, itself included.
    pub cluster_sizes: Vec<i64>,
}

impl Removals {
    /// The decisions on all documents, from the kept document of each; -1 for one that is kept. O(n).
    pub fn of(kept_for: &[i64]) -> Self {
        let is_dropped = |&(_, kept): &(i64, &i64)| *kept >= 0;
        let dropped = (0..).zip(kept_for).filter(is_dropped);
        let (documents, kept_for): (Vec<i64>, Vec<i64>) =
            dropped.map(|(document, &kept)| (document, kept)).unzip();
        let mut sizes: FxHashMap<i64, i64> = FxHashMap::default();
        for &kept in &kept_for {
            *sizes.entry(kept).or_insert(1) += 1;
        }
        let cluster_sizes = kept_for.iter().map(|kept| sizes[kept]).collect();
        Removals {
            documents,
            kept_for,
            cluster_sizes,
        }
    }
}

/// The places of the lowest similarities below 1, the lowest first and at most `count`; ties are in order.
pub fn least_similar(similarities: &[f64], count: usize) -> Vec<usize> {
    let all = similarities.iter().enumerate();
    let mut near: Vec<(f64, usize)> = all
        .filter(|&(_, &similarity)| similarity < 1.0)
        .map(|(place, &similarity)| (similarity, place))
        .collect();
    let is_less = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if count > 0 && count < near.len() {
        near.select_nth_unstable_by(count - 1, is_less);
    }
    near.truncate(count);
    near.sort_unstable_by(is_less);
    near.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_have_the_size_of_their_cluster() {
        let removals = Removals::of(&[-1, 0, -1, 2, 0, -1]);
        assert_eq!(removals.documents, [1, 3, 4]);
        assert_eq!(removals.kept_for, [0, 2, 0]);
        assert_eq!(removals.cluster_sizes, [3, 2, 3]);
        assert_eq!(Removals::of(&[-1, -1]), Removals::default());
    }

    #[test]
    fn least_similar_come_first_and_ties_in_order() {
        let similarities = [0.9, 1.0, 0.5, 0.9, 0.7, 0.5];
        assert_eq!(least_similar(&similarities, 3), [2, 5, 4]);
        assert_eq!(least_similar(&similarities, 9), [2, 5, 4, 0, 3]);
        assert!(least_similar(&similarities, 0).is_empty());
    }
}
