//! Sorting of numbers that are spread evenly, as hashes are: they are dealt out into buckets first.
//!
//! One pass then does most of the work, and each bucket is small enough for the cache of one core.
//! And the merge of two sorted lists.

use rayon::prelude::*;

/// Larger buckets are sorted by themselves.
const SMALL: u32 = 16;

/// Deals values out, fewer than 2^32. Returns them bucket by bucket, and where each bucket ends.
pub fn deal<T: Copy + Default>(
    values: impl Iterator<Item = T> + Clone,
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
    let mut dealt = vec![T::default(); ends[buckets] as usize];
    for value in values {
        let next = &mut ends[bucket(value)];
        dealt[*next as usize] = value;
        *next += 1;
    }
    // Each entry has become the end of its own bucket, and the last one is too many.
    ends.pop();
    (dealt, ends)
}

/// Sorts values by the leading bits of `spread`, which must grow with the value and be spread evenly.
/// There are about as many buckets as values, so little is left to sort.
pub(crate) fn sorted<T: Copy + Default + Ord>(values: &[T], spread: impl Fn(T) -> u64) -> Vec<T> {
    let bits = values.len().max(2).ilog2() + 1;
    let bucket = |value| (spread(value) >> (64 - bits)) as usize;
    let (mut dealt, ends) = deal(values.iter().copied(), 1 << bits, bucket);
    let mut begin = 0;
    for end in ends {
        if end - begin > SMALL {
            dealt[begin as usize..end as usize].sort_unstable();
        }
        begin = end;
    }
    // Nearly all buckets hold a value or two, so all of them are sorted in one go.
    for at in 1..dealt.len() {
        let (value, mut place) = (dealt[at], at);
        while place > 0 && dealt[place - 1] > value {
            dealt[place] = dealt[place - 1];
            place -= 1;
        }
        dealt[place] = value;
    }
    dealt
}

/// The values of each bucket, of some pieces that were [dealt out](deal), in their order.
pub(crate) fn gathered<T: Copy + Send + Sync>(
    pieces: &[(Vec<T>, Vec<u32>)],
    buckets: usize,
) -> Vec<Vec<T>> {
    let of_bucket = |at: usize| {
        let parts = pieces.iter().map(|(values, ends)| {
            let begin = at.checked_sub(1).map_or(0, |before| ends[before]);
            &values[begin as usize..ends[at] as usize]
        });
        parts.collect::<Vec<_>>().concat()
    };
    (0..buckets).into_par_iter().map(of_bucket).collect()
}

/// How many values two ascending lists have in common; of a repeated one, as many as both have.
pub(crate) fn in_both<T: Copy + Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
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
            let bucket = |hash: u64| (hash >> 60) as usize;
            let pieces = hashes
                .chunks(700)
                .map(|piece| deal(piece.iter().copied(), 16, bucket));
            let pieces: Vec<_> = pieces.collect();
            let all = gathered(&pieces, 16).concat();
            assert_eq!(sorted(&all, |hash| hash), sorted(&hashes, |hash| hash));
            assert!(all.is_sorted_by_key(|&hash| bucket(hash)));
            hashes.push(match count % 4 {
                0 => u64::MAX - count,
                1 => count,
                _ => xxh3_64(&(count / 5).to_le_bytes()),
            });
        }
    }
}
