/*! How many texts of a collection contain each sampled shingle.

Counting is exact. The hashes are dealt into parts by their leading bits, so small that a part is
sorted in the cache of one core. Where samples are in a file, hashes are first dealt into as many files as
are needed for one of them to fit into memory.
*/

use rayon::prelude::*;

use super::count_bytes;
use super::counted_sample::Several;
use super::samples::Samples;
use crate::buckets::{deal, gathered, sorted};
use crate::error::Result;
use crate::ids::Hash;
use crate::shingle_frequencies::{ShingleFrequencies, least_common, rare};

/// The number of leading bits of a hash that choose its part.
const PART_BITS: u32 = 10;

/// Sampled shingles dealt out at once, about. Tests have several stretches too.
const STRETCH: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

impl ShingleFrequencies {
    /// Counts texts, each given by the hashes of its [sample](super::sample), ascending and without
    /// repeats; all shingles of a text are a sample too. Callers should count a text only once, even if
    /// the collection has several copies. The table holds at most `entries` shingles.
    ///
    /// Runs on the current rayon pool.
    pub fn of_samples<S: AsRef<[Hash]> + Sync>(samples: &[S], entries: usize) -> Self {
        let texts = samples.len() as u64;
        let rests = samples.iter().map(AsRef::as_ref).collect();
        let least = least_common(rare(texts));
        let common = common_of_samples(rests, least, &Several::default());
        ShingleFrequencies::of_common(texts, common, entries)
    }

    /// Counts the texts of a collection by all of its samples, as [`of_samples`](Self::of_samples), and
    /// tells which shingles several texts have.
    ///
    /// # Errors
    ///
    /// If samples cannot be read from their file, or hashes not written to others: usually a full disk.
    pub fn of(samples: &Samples, entries: usize) -> Result<(Self, Several)> {
        let texts = samples.texts() as u64;
        let least = least_common(rare(texts));
        let (mut common, several) = (Vec::new(), samples.several());
        if samples.are_in_file() {
            for file in samples.dealt_to_files()? {
                let mut hashes = file.into_values()?;
                hashes.par_sort_unstable();
                common.extend(runs(&hashes, least, &several));
            }
        } else {
            samples.for_each_block(|block| {
                common = common_of_samples(block, least, &several);
                Ok(())
            })?;
        }
        Ok((
            ShingleFrequencies::of_common(texts, common, entries),
            several,
        ))
    }
}

/// The hashes in at least `least` samples, and in how many each is. Those in several are added to `several`.
fn common_of_samples(mut rests: Vec<&[Hash]>, least: u32, several: &Several) -> Vec<(Hash, u32)> {
    let hashes: usize = rests.iter().map(|rest| rest.len()).sum();
    let all = 1 << PART_BITS;
    let stretches = (hashes / STRETCH).next_power_of_two().min(all);
    // Two pieces per thread balance the load and still give long runs in each piece.
    let piece = rests.len().div_ceil(2 * rayon::current_num_threads());
    let parts = all / stretches;
    let mut common = Vec::new();
    for first in (0..all).step_by(parts) {
        let pieces = rests.par_chunks_mut(piece.max(1)).map(|rests| {
            let mut hashes = Vec::new();
            for rest in rests {
                let is_later = |&hash: &Hash| part_of(hash) >= first + parts;
                let end = rest.iter().position(is_later).unwrap_or(rest.len());
                // Copied at once, while they are in the cache.
                hashes.extend_from_slice(&rest[..end]);
                *rest = &rest[end..];
            }
            deal(hashes.into_iter(), parts, |hash| part_of(hash) - first)
        });
        let dealt = gathered(&pieces.collect::<Vec<_>>(), parts);
        let of_parts = dealt.par_iter().map(|part| {
            let spread = |Hash(hash)| u64::from(hash) << u32::BITS << PART_BITS;
            runs(&sorted(part, spread), least, several)
        });
        common.extend(of_parts.collect::<Vec<_>>().concat());
    }
    common
}

/// The hashes that occur at least `least` times in a sorted list, with their numbers of occurrences. Each hash
/// that occurs more than once is added to `several`.
fn runs(hashes: &[Hash], least: u32, several: &Several) -> Vec<(Hash, u32)> {
    let mut found = Vec::new();
    for run in hashes.chunk_by(|a, b| a == b) {
        if run.len() > 1 {
            several.insert(run[0]);
        }
        let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
        if count >= least {
            found.push((run[0], count));
        }
    }
    found
}

/// All hashes of samples, ascending, and how many texts have each.
///
/// # Errors
///
/// If samples cannot be read from their file.
pub fn counts_of(samples: &Samples) -> Result<Vec<(Hash, u32)>> {
    let mut counts = Vec::new();
    samples.for_each_block(|block| {
        counts.extend(common_of_samples(block, 1, &Several::default()));
        Ok(())
    })?;
    Ok(added(counts))
}

/// Hashes, ascending, and how often each is among them.
pub fn counts_of_hashes(mut hashes: Vec<Hash>) -> Vec<(Hash, u32)> {
    hashes.sort_unstable();
    runs(&hashes, 1, &Several::default())
}

/// The common shingles of a collection of `texts`, by the counts of its parts, each ascending. The counts of
/// texts that are in several parts are subtracted, once for each part too many.
pub fn common_of_counts(
    counts: Vec<(Hash, u32)>,
    subtracted: Vec<(Hash, u32)>,
    texts: u64,
) -> Vec<(Hash, u32)> {
    let mut subtracted = added(subtracted).into_iter().peekable();
    let mut counts = added(counts);
    counts.retain_mut(|(hash, count)| {
        while subtracted.next_if(|one| one.0 < *hash).is_some() {}
        if let Some((_, several)) = subtracted.next_if(|one| one.0 == *hash) {
            *count = count.saturating_sub(several);
        }
        *count >= least_common(rare(texts))
    });
    counts
}

/// One count for each hash, ascending.
fn added(mut counts: Vec<(Hash, u32)>) -> Vec<(Hash, u32)> {
    // Stretches that ascend are merged, which takes less time than sorting.
    counts.sort_by_key(|&(hash, _)| hash);
    counts.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 = first.1.saturating_add(next.1);
        }
        is_same
    });
    counts
}

#[inline]
fn part_of(hash: Hash) -> usize {
    count_bytes::part_of(hash, 1 << PART_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::level_of;
    use std::collections::BTreeMap;
    use xxhash_rust::xxh3::xxh3_64;

    fn hash(number: u64) -> Hash {
        Hash::of(xxh3_64(&number.to_le_bytes()))
    }

    /// The sample of a text of these shingles.
    fn sample(numbers: impl Iterator<Item = u64>) -> Vec<Hash> {
        let mut hashes: Vec<Hash> = numbers.map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let level = level_of(hashes.len(), 128);
        Hash::of_level(level, &hashes).to_vec()
    }

    /// Samples of texts of 50 to 700 shingles, some of them shared.
    fn texts(count: u64) -> Vec<Vec<Hash>> {
        let text = |id: u64| {
            let unshared = (0..50 + id * 37 % 650).map(move |at| (id << 32) + at);
            sample(unshared.chain(0..id % 40))
        };
        (0..count).map(text).collect()
    }

    /// The expected content of a table.
    fn counted(texts: &[Vec<Hash>]) -> BTreeMap<Hash, u32> {
        let mut all = BTreeMap::new();
        for &hash in texts.iter().flatten() {
            *all.entry(hash).or_default() += 1;
        }
        let least = least_common(rare(texts.len() as u64));
        all.retain(|_, count| *count >= least);
        all
    }

    fn contents(table: &ShingleFrequencies) -> BTreeMap<Hash, u32> {
        let counts = table.counts();
        assert!(counts.is_sorted());
        for &(hash, count) in counts {
            assert_eq!(table.count(hash), count);
            assert_eq!(table.count(Hash(hash.0 ^ 1)), 0);
        }
        counts.iter().copied().collect()
    }

    #[test]
    fn bound_of_rare_grows_with_the_root_of_the_collection() {
        let of = |texts| ShingleFrequencies::from_counts(0, texts, []).rare();
        let sizes = [0, 1, 39_999, 40_000, 57_599, 57_600, 1_000_000];
        assert_eq!(sizes.map(of), [4, 4, 4, 5, 5, 6, 25]);
    }

    #[test]
    fn counts_are_numbers_of_texts_and_rare_ones_are_left_out() {
        let lists: Vec<Vec<Hash>> = (0..9).map(|id| sample(0..=id)).collect();
        let table = ShingleFrequencies::of_samples(&lists, 100);
        // Shingle n is in 9 - n texts, and up to RARE of them are few.
        assert_eq!([0, 5, 6].map(|at| table.count(hash(at))), [9, 4, 0]);
        assert_eq!((table.len(), table.level(), table.texts()), (6, 0, 9));
    }

    #[test]
    fn table_is_equal_wherever_samples_are() {
        let mut texts = texts(300);
        let all = counted(&texts);
        assert!(all.len() > 30);
        for entries in [1_000, 20, 1, 0] {
            let once = ShingleFrequencies::of_samples(&texts, entries);
            assert!(once.len() <= entries);
            let level = once.level();
            let held = all.iter().filter(|(hash, _)| hash.is_of(level));
            assert!(
                held.map(|(&hash, &count)| (hash, count))
                    .eq(contents(&once))
            );
            assert_eq!(level > 0, all.len() > entries);
            texts.reverse();
            for most in [usize::MAX, 40_000, 4_000, 0] {
                let mut samples = Samples::within(most, None);
                for text in &texts {
                    let is_short = text.len() < 60;
                    samples.push(text, text.len(), is_short).unwrap();
                }
                assert_eq!(samples.are_in_file(), most < usize::MAX);
                let (table, _) = ShingleFrequencies::of(&samples, entries).unwrap();
                assert_eq!((table.level(), table.texts()), (level, 300));
                assert_eq!(contents(&table), contents(&once));
            }
        }
    }

    #[test]
    fn counts_of_parts_add_up_to_those_of_all() {
        let texts = texts(300);
        let whole = ShingleFrequencies::of_samples(&texts, usize::MAX);
        let samples_of = |texts: &[Vec<Hash>]| {
            let mut samples = Samples::default();
            for text in texts {
                samples.push(text, 700, false).unwrap();
            }
            samples
        };
        // Thirty texts are in two parts, and ten of them in three.
        let parts = [
            &texts[..150],
            &texts[120..290],
            &texts[280..],
            &texts[120..130],
        ];
        let counts = parts.map(|part| counts_of(&samples_of(part)).unwrap());
        assert!(
            counts
                .iter()
                .all(|counts| counts.is_sorted_by(|a, b| a.0 < b.0))
        );
        let several = [&texts[120..150], &texts[280..290], &texts[120..130]].concat();
        let several = counts_of_hashes(several.concat());
        let common = common_of_counts(counts.concat(), several, 300);
        assert_eq!(common, whole.counts());
        assert!(common.len() > 20);
    }

    #[test]
    fn a_table_at_its_budget_keeps_its_level() {
        let text: Vec<Hash> = sample(0..40);
        let texts = vec![text; 9];
        let level_of = |entries| ShingleFrequencies::of_samples(&texts, entries).level();
        assert_eq!(level_of(40), 0);
        assert_eq!(level_of(39), 1);
    }
}
