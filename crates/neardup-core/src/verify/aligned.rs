/*! The measure `aligned`: edit similarity by words, or by characters of scripts without spaces.

It is 1 less the [distance](Aligned::distance) of the alignment over the units of the longer text:
the share of the longer text that remains if one text is edited into the other. Numbers and what
many texts share count like everything else.

A text costs a sort of its units, and a pair a merge of two sorted lists, which rules most pairs out:
the longer text keeps at most as many units as both texts have. Only the others are aligned.

Two texts without letters and digits have no units. They are compared by their bytes.
*/

use xxhash_rust::xxh3::xxh3_64;

use super::alignment::Aligned;
use super::units::Units;
use crate::buckets::in_both;

/// The units of a text without their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitBag {
    /// Ascending, with repeats. A text without units has one: the hash of the text.
    sorted: Box<[u64]>,
}

impl UnitBag {
    /// The units of a normalized text. O(n log n) for n characters; 8 bytes a unit.
    pub fn of(text: &str) -> Self {
        let units = Units::of(text);
        let mut sorted = match units.is_empty() {
            true => vec![xxh3_64(text.as_bytes())],
            false => units.as_slice().to_vec(),
        };
        sorted.sort_unstable();
        UnitBag {
            sorted: sorted.into_boxed_slice(),
        }
    }

    /// How many units there are; 1 for a text without units.
    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The largest edit similarity that the two can have, whatever the order of their units; `None`
    /// if it is less than `threshold`.
    pub(super) fn most_from(&self, other: &UnitBag, threshold: f64) -> Option<f64> {
        let (a, b) = (&*self.sorted, &*other.sorted);
        let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()) as f64);
        let most = |common: usize| common as f64 / longer;
        if most(shorter) < threshold {
            return None;
        }
        let most = most(in_both(a, b));
        (most >= threshold).then_some(most)
    }
}

/// The edit similarity of two texts, from [the largest](UnitBag::most_from) that it can be.
pub(super) fn similarity(most: f64, aligned: &Aligned) -> f64 {
    // It is less for two texts without units only.
    most.min(aligned.similarity())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The similarity, as the verifier finds it at several thresholds.
    fn of(a: &str, b: &str) -> f64 {
        let bags = [a, b].map(UnitBag::of);
        let units = [a, b].map(Units::of);
        let aligned = Aligned::of(&units[0], &units[1]);
        let most = bags[0].most_from(&bags[1], 0.0).unwrap();
        let found = similarity(most, &aligned);
        assert!(found <= most);
        for threshold in [0.0, 0.3, found, most, most + 1e-9, 1.0] {
            let expected = (most >= threshold).then_some(most);
            assert_eq!(bags[0].most_from(&bags[1], threshold), expected);
            assert_eq!(bags[1].most_from(&bags[0], threshold), expected);
        }
        found
    }

    #[test]
    fn every_unit_that_is_edited_counts() {
        let body = "渡口管理处说本班船的票";
        assert_eq!(of(body, body), 1.0);
        assert_eq!(
            of(&format!("{body}已经"), &format!("{body}早就")),
            11.0 / 13.0
        );
        assert_eq!(of(body, &format!("{body}已经售完")), 11.0 / 15.0);
        assert_eq!(
            of("the ferry to the island", "the boat to the island"),
            4.0 / 5.0
        );
    }

    #[test]
    fn the_order_of_units_counts() {
        let (a, b) = ("渡口管理处说", "本班船的票已经");
        assert_eq!(of(&format!("{a}{b}"), &format!("{b}{a}")), 1.0 / 13.0);
    }

    #[test]
    fn without_units_only_the_same_text_is_similar() {
        assert_eq!(of("", ""), 1.0);
        assert_eq!(of("。。！", "。。！"), 1.0);
        assert_eq!(of("。。！", "。。"), 0.0);
        assert_eq!(of("。。！", "渡"), 0.0);
    }

    #[test]
    fn more_gaps_than_units_leave_nothing() {
        assert_eq!(of("一渡口船", "船口渡二"), 0.0);
    }
}
