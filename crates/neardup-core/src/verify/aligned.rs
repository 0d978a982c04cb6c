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
use super::most::Most;
use super::profile::Profile;
use super::units::Units;
use super::verdict::Verdict;
use super::weighed::Scratch;
use crate::buckets::in_both;
use crate::shingle_frequencies::ShingleFrequencies;

/// The measure `aligned`.
#[derive(Debug)]
pub(super) struct EditSimilarity;

impl Verdict for EditSimilarity {
    fn prepare(&self, text: &str) -> Profile {
        let units = Units::of(text);
        let mut sorted = match units.is_empty() {
            true => vec![xxh3_64(text.as_bytes())],
            false => units.as_slice().to_vec(),
        };
        sorted.sort_unstable();
        Profile {
            units: sorted.into_boxed_slice(),
            ..Profile::default()
        }
    }

    /// The longer text keeps at most as many units as both texts have, whatever their order.
    fn bound(
        &self,
        (a, b): (&Profile, &Profile),
        _: Option<&ShingleFrequencies>,
        threshold: f64,
        _: &mut Scratch,
    ) -> Option<Most> {
        let (a, b) = (&*a.units, &*b.units);
        let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()) as f64);
        let most = |common: usize| Some(common as f64 / longer).filter(|&most| most >= threshold);
        most(shorter)?;
        most(in_both(a, b)).map(Most::of)
    }

    fn finish(&self, most: Most, aligned: &Aligned) -> f64 {
        // The bound is less for two texts without units only.
        most.similarity.min(aligned.similarity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The similarity, as the verifier finds it at several thresholds.
    fn of(a: &str, b: &str) -> f64 {
        let measure = EditSimilarity;
        let [x, y] = [a, b].map(|text| measure.prepare(text));
        let units = [a, b].map(Units::of);
        let aligned = Aligned::of(&units[0], &units[1]);
        let bound = |pair, threshold| measure.bound(pair, None, threshold, &mut Scratch::default());
        let bound_of = bound((&x, &y), 0.0).unwrap();
        let (most, found) = (bound_of.similarity, measure.finish(bound_of, &aligned));
        assert!(found <= most);
        for threshold in [0.0, 0.3, found, most, most + 1e-9, 1.0] {
            let expected = (most >= threshold).then_some(bound_of);
            assert_eq!(bound((&x, &y), threshold), expected);
            assert_eq!(bound((&y, &x), threshold), expected);
        }
        found
    }

    #[test]
    fn every_edited_unit_counts() {
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
