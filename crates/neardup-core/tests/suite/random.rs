//! A small generator, the same on every platform.

pub struct Random(pub u64);

impl Random {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % n
    }

    /// Up to `most` of these pieces, joined.
    pub fn joined(&mut self, pieces: &[&str], most: usize) -> String {
        let count = self.below(most + 1);
        (0..count)
            .map(|_| pieces[self.below(pieces.len())])
            .collect()
    }
}
