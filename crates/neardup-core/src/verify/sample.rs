/*! The sample of a text: a share of its shingles, chosen by their hashes and therefore the same in
every text.

The sample of a text of n distinct shingles has those of the largest [level](crate::sketch) l with
n / 2^l >= [`SAMPLE`]: 128 to 255 shingles on average, and all of a text with fewer.
*/

use crate::constants::SAMPLE;
use crate::ids::Hash;
use crate::segment::ShingleLen;
use crate::sketch::{Distinct, Sampler, Share, drop_repeats, level_of, shingle_hashes_in};

/// Writes the sample of a normalized text with its shingles of `k` characters, ascending, into
/// `sample`, and returns the number of all distinct ones. Of a long text, memory is a share of its
/// hashes.
pub(crate) fn sample_text(
    text: &str,
    k: usize,
    (hashes, distinct): &mut (Vec<u64>, Distinct),
    sample: &mut Vec<Hash>,
) -> usize {
    let mut sampler = Sampler::new(SAMPLE, sample);
    for share in Share::all_of(text) {
        shingle_hashes_in(share, text, ShingleLen::ByScript(k), hashes);
        drop_repeats(text, hashes, distinct);
        sampler.add(hashes);
    }
    sampler.finish()
}

/// The largest level at which a text with this many distinct shingles still has a sample of
/// [`SAMPLE`] on average; 0 if it has fewer shingles than that.
pub(super) fn text_level(shingles: usize) -> u32 {
    level_of(shingles, SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::shingle_hashes;

    #[test]
    fn the_level_of_a_text_goes_up_where_its_size_doubles() {
        for (shingles, expected) in [
            (0, 0),
            (127, 0),
            (255, 0),
            (256, 1),
            (511, 1),
            (512, 2),
            (128 << 9, 9),
            ((128 << 9) - 1, 8),
        ] {
            assert_eq!(text_level(shingles), expected, "{shingles}");
        }
    }

    #[test]
    fn a_sample_is_the_beginning_of_the_sorted_set_without_repeats() {
        let mut buffers = Default::default();
        for size in [0, 1, 127, 255, 256, 700, 5000, 700_000] {
            let text: String = (0..size).map(|at| format!("{} ", at % 500_000)).collect();
            let mut set = Vec::new();
            shingle_hashes(&text, ShingleLen::ByScript(5), &mut set);
            set.sort_unstable();
            set.dedup();
            let mut sample = Vec::new();
            let shingles = sample_text(&text, 5, &mut buffers, &mut sample);
            assert_eq!(shingles, set.len());
            let mut expected: Vec<Hash> = set.into_iter().map(Hash::of).collect();
            expected.dedup();
            assert_eq!(sample, Hash::of_level(text_level(shingles), &expected));
        }
    }
}
