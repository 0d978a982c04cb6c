//! The rule by which one of several similar documents is chosen: the most similar one, the first of several.

use std::cmp::Ordering;

/// Something that is similar to a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similar<T> {
    /// A number of a document, in an order in which the first one comes first.
    pub of: T,
    /// The similarity to it, in [0, 1].
    pub similarity: f64,
}

impl<T: Ord> Similar<T> {
    /// The order in which the most similar one comes first, and of several the first.
    pub fn order(&self, other: &Self) -> Ordering {
        let by_similarity = other.similarity.total_cmp(&self.similarity);
        by_similarity.then_with(|| self.of.cmp(&other.of))
    }

    /// The one that is chosen; `None` of none.
    pub fn best(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().min_by(Similar::order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_is_chosen_and_of_several_the_first() {
        let similar = |of, similarity| Similar { of, similarity };
        let all = [similar(4, 0.5), similar(9, 0.8), similar(7, 0.8)];
        assert_eq!(Similar::best(all), Some(similar(7, 0.8)));
        assert_eq!(Similar::<u32>::best([]), None);
    }
}
