//! Sorting of numbers that are spread evenly, as hashes are: they are dealt out into buckets first.
//!
//! One pass then does most of the work, and each bucket is small enough for the cache of one core.

use rayon::prelude::*;

/// Deals values out, fewer than 2^32. Returns them bucket by bucket, and where each bucket ends.
fn deal<T: Copy + Default>(
    values: impl ExactSizeIterator<Item = T> + Clone,
    buckets: usize,
    bucket: impl Fn(T) -> usize,
) -> (Vec<T>, Vec<u32>) {
    let mut ends = vec![0_u32; buckets + 1];
    for value in values.clone() {
        ends[bucket(value) + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut dealt = vec![T::default(); values.len()];
    for value in values {
        let next = &mut ends[bucket(value)];
        dealt[*next as usize] = value;
        *next += 1;
    }
    // Each entry has become the end of its own bucket, and the last one is too many.
    ends.pop();
    (dealt, ends)
}

/// The buckets of values that were dealt out.
fn each<'a, T>(mut dealt: &'a mut [T], ends: &[u32]) -> impl Iterator<Item = &'a mut [T]> {
    let mut begin = 0;
    ends.iter().map(move |&end| {
        let (bucket, rest) = std::mem::take(&mut dealt).split_at_mut((end - begin) as usize);
        (dealt, begin) = (rest, end);
        bucket
    })
}

/// Sorts values by the leading bits of `spread`, which must grow with the value and be spread evenly.
/// There are about as many buckets as values, so little is left to sort.
pub(crate) fn sorted<T: Copy + Default + Ord>(values: &[T], spread: impl Fn(T) -> u64) -> Vec<T> {
    let bits = values.len().max(2).ilog2();
    let bucket = |value| (spread(value) >> (64 - bits)) as usize;
    let (mut dealt, ends) = deal(values.iter().copied(), 1 << bits, bucket);
    each(&mut dealt, &ends).for_each(<[T]>::sort_unstable);
    dealt
}

/// Sorts evenly spread values by buckets of about `size` values, at most `most` of them, on the
/// current rayon pool. There must be fewer than 2^32 values.
pub(crate) fn par_sorted(
    values: impl ExactSizeIterator<Item = u64> + Clone,
    size: usize,
    most: usize,
) -> Vec<u64> {
    let bits = (values.len() / size).clamp(1, most).ilog2();
    let bucket = |value: u64| value.checked_shr(64 - bits).unwrap_or(0) as usize;
    let (mut dealt, ends) = deal(values, 1 << bits, bucket);
    let buckets: Vec<&mut [u64]> = each(&mut dealt, &ends).collect();
    buckets.into_par_iter().for_each(<[u64]>::sort_unstable);
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn dealing_out_sorts() {
        let mut hashes: Vec<u64> = Vec::new();
        for count in 0..3000_u64 {
            assert!(sorted(&hashes, |hash| hash).is_sorted());
            assert_eq!(sorted(&hashes, |hash| hash).len(), hashes.len());
            let each = hashes.iter().copied();
            assert_eq!(par_sorted(each, 16, 64), sorted(&hashes, |hash| hash));
            hashes.push(match count % 4 {
                0 => u64::MAX - count,
                1 => count,
                _ => xxh3_64(&(count / 5).to_le_bytes()),
            });
        }
    }
}
