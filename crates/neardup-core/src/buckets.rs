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

/// How many numbers of two lists are compared at once.
const LANES: usize = 8;

/// How many numbers two lists have in common, each ascending and without repeats. About five times as fast
/// as [`in_both`], in which each step waits for the one before.
pub(crate) fn shared_count<T: Copy + Ord>(a: &[T], b: &[T]) -> usize {
    let mut shared = [0_u32; LANES];
    for_each_block(a, b, |_, hits, _| {
        for (sum, hit) in shared.iter_mut().zip(hits) {
            *sum += hit;
        }
    });
    shared.iter().sum::<u32>() as usize
}

/// Divides the numbers of a list by whether another list has them too, and replaces the content of
/// `shared` and `alone`. Both lists ascend and are without repeats.
pub(crate) fn divide<T: Copy + Ord + Default>(
    a: &[T],
    b: &[T],
    shared: &mut Vec<T>,
    alone: &mut Vec<T>,
) {
    for list in [&mut *shared, &mut *alone] {
        list.resize(list.len().max(a.len() + LANES), T::default());
    }
    let (mut both, mut one) = (0, 0);
    for_each_block(a, b, |block, hits, count| {
        let (Some(shared), Some(alone)) = (
            shared[both..].first_chunk_mut::<LANES>(),
            alone[one..].first_chunk_mut::<LANES>(),
        ) else {
            return;
        };
        let mut many = 0;
        // Written to both in any case: which is right, no processor could foresee.
        for (lane, (&number, hit)) in block.iter().zip(hits).enumerate() {
            shared[many % LANES] = number;
            alone[(lane - many) % LANES] = number;
            many += hit as usize;
        }
        both += many;
        one += count - many;
    });
    shared.truncate(both);
    alone.truncate(one);
}

/// Calls `each` with every block of the first list, with 1 for each number of it that is in the second one, and
/// with how many numbers it has. Blocks of both lists are compared, each number with all of the other block,
/// which takes a few vector instructions.
#[inline]
fn for_each_block<T: Copy + Ord>(
    a: &[T],
    b: &[T],
    mut each: impl FnMut(&[T; LANES], [u32; LANES], usize),
) {
    let mut j = 0;
    for i in (0..a.len()).step_by(LANES) {
        let (x, count) = (block(&a[i..]), (a.len() - i).min(LANES));
        let mut hits = [0; LANES];
        while j < b.len() {
            let y = block(&b[j..]);
            for other in y {
                for (hit, number) in hits.iter_mut().zip(x) {
                    *hit |= u32::from(number == other);
                }
            }
            if y[LANES - 1] > x[LANES - 1] {
                break;
            }
            j += LANES;
        }
        // The numbers that fill up the last block are not in the list.
        hits[count..].fill(0);
        each(&x, hits, count);
    }
}

/// The first numbers of a list that is not empty, the last one repeated where there are fewer.
#[inline]
fn block<T: Copy>(list: &[T]) -> [T; LANES] {
    match list.first_chunk() {
        Some(block) => *block,
        None => std::array::from_fn(|at| list[at.min(list.len() - 1)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_share_as_much_as_a_merge() {
        let list = |seed: u64, count: u64, of: u64| {
            let numbers = (0..count).map(|at| xxh3_64(&(seed << 32 | at).to_le_bytes()) % of);
            let mut numbers: Vec<u32> = numbers.map(|number| number as u32).collect();
            numbers.extend(seed.is_multiple_of(2).then_some(u32::MAX));
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        for seed in 0..60 {
            for (count, others, of) in [(0, 9, 9), (5, 200, 90), (30, 31, 50), (200, 180, 400)] {
                let (a, b) = (list(seed, count, of), list(seed / 2 + 99, others, of));
                let (mut shared, mut alone) = (Vec::new(), Vec::new());
                for (a, b) in [(&a, &b), (&b, &a), (&a, &a)] {
                    divide(a, b, &mut shared, &mut alone);
                    let (both, one): (Vec<u32>, _) = a.iter().partition(|n| b.contains(n));
                    assert_eq!((&shared, &alone), (&both, &one));
                    assert_eq!(shared.len(), shared_count(a, b));
                }
            }
        }
    }
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
