/*! Counts the ones at each position, for features that weigh 1 each.

Separate counters for 64 W positions would need 64 W additions per feature.
Here plane p holds bit p of all counters, and a full adder works on
64 counters at once. Sixteen hashes at a time go through a tree of such adders
(Harley and Seal; Warren, Hacker's Delight, ch. 5), so plane p is updated only once in
2^p features: about 5 operations per feature and word, without explicit SIMD.
*/

/// Bits per counter: a text has fewer than 2^32 units, see
/// [`crate::normalize::MAX_TEXT_BYTES`].
const PLANES: usize = 32;
const BATCH: usize = 16;

/// Counts the ones at each of the 64 W positions of hashes.
pub(crate) struct Counters<const W: usize> {
    planes: [[u64; W]; PLANES],
    batch: [[u64; W]; BATCH],
    filled: usize,
    total: u64,
}

impl<const W: usize> Counters<W> {
    pub(crate) fn new() -> Self {
        Counters {
            planes: [[0; W]; PLANES],
            batch: [[0; W]; BATCH],
            filled: 0,
            total: 0,
        }
    }

    /// The number of hashes counted.
    pub(crate) fn total(&self) -> u64 {
        self.total + self.filled as u64
    }

    /// Counts the ones of `hash` if `counts`. The hash is written in either case, which
    /// costs less than an unpredictable branch.
    #[inline]
    pub(crate) fn add_if(&mut self, counts: bool, hash: [u64; W]) {
        self.batch[self.filled] = hash;
        self.filled += usize::from(counts);
        if self.filled == BATCH {
            self.flush();
        }
    }

    /// The number of ones at each position.
    pub(crate) fn ones(&mut self) -> [[u64; 64]; W] {
        // Zeros do not count, so they may pad the last batch.
        self.batch[self.filled..].fill([0; W]);
        let rest = self.filled;
        self.flush();
        self.total = self.total + rest as u64 - BATCH as u64;
        let mut ones = [[0; 64]; W];
        for (p, plane) in self.planes.iter().enumerate() {
            for (ones, &word) in ones.iter_mut().zip(plane) {
                for (j, count) in ones.iter_mut().enumerate() {
                    *count += (word >> j & 1) << p;
                }
            }
        }
        ones
    }

    fn flush(&mut self) {
        let [mut ones, mut twos, mut fours, mut eights] = [
            self.planes[0],
            self.planes[1],
            self.planes[2],
            self.planes[3],
        ];
        let b = &self.batch;
        let quarter = |ones: &mut [u64; W], twos: &mut [u64; W], b: &[[u64; W]]| {
            let first = add(ones, b[0], b[1]);
            let second = add(ones, b[2], b[3]);
            add(twos, first, second)
        };
        let a0 = quarter(&mut ones, &mut twos, &b[0..4]);
        let a1 = quarter(&mut ones, &mut twos, &b[4..8]);
        let low = add(&mut fours, a0, a1);
        let a2 = quarter(&mut ones, &mut twos, &b[8..12]);
        let a3 = quarter(&mut ones, &mut twos, &b[12..16]);
        let high = add(&mut fours, a2, a3);
        let mut carry = add(&mut eights, low, high);
        self.planes[0] = ones;
        self.planes[1] = twos;
        self.planes[2] = fours;
        self.planes[3] = eights;
        for plane in &mut self.planes[4..] {
            if carry == [0; W] {
                break;
            }
            for (bits, carry) in plane.iter_mut().zip(&mut carry) {
                (*bits, *carry) = (*bits ^ *carry, *bits & *carry);
            }
        }
        self.total += BATCH as u64;
        self.filled = 0;
    }
}

/// A full adder: `sum` becomes the low bits of sum + a + b; the carries are returned.
#[inline]
fn add<const W: usize>(sum: &mut [u64; W], a: [u64; W], b: [u64; W]) -> [u64; W] {
    std::array::from_fn(|w| {
        let half = sum[w] ^ a[w];
        let carry = (sum[w] & a[w]) | (half & b[w]);
        sum[w] = half ^ b[w];
        carry
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_like_one_counter_a_position() {
        for n in [0, 1, 15, 16, 17, 255, 256, 1000, 70_000] {
            let mut counters = Counters::<2>::new();
            let mut expected = [[0; 64]; 2];
            let mut state = 1_u64;
            for i in 0..n {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                let hash = [
                    state ^ state >> 29,
                    if i % 3 == 0 { u64::MAX } else { state },
                ];
                counters.add_if(true, hash);
                for (counts, word) in expected.iter_mut().zip(hash) {
                    for (j, count) in counts.iter_mut().enumerate() {
                        *count += word >> j & 1;
                    }
                }
            }
            assert_eq!(counters.total(), n);
            assert_eq!(counters.ones(), expected);
            assert_eq!(counters.total(), n);
        }
    }
}
