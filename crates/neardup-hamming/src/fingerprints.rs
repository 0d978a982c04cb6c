/*! Fingerprints of one width, as columns.

Takes rows of 64-bit words and stores word *w* of all rows contiguously: every consumer (radix
partition, SIMD comparison) reads one word of many rows before it reads the next word. Exact;
8 bytes per word and row.
*/

use crate::error::{Error, Result};

/// Fingerprints of one width, stored as one column per 64-bit word.
///
/// A fingerprint of at most 64 bits is the low end of one word, one of at most 128 of two,
/// one of at most 256 of four words, lowest bits first.
///
/// # Examples
/// ```
/// use neardup_hamming::Fingerprints;
///
/// let fingerprints = Fingerprints::from_rows(128, &[1, 2, 3, 4])?;
/// assert_eq!(fingerprints.len(), 2);
/// assert_eq!(fingerprints.get(1), Some(vec![3, 4]));
/// # Ok::<(), neardup_hamming::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    bits: u32,
    columns: Vec<Vec<u64>>,
}

/// The same rows of every column. Kernels and partitions read them in this form.
pub(super) type Rows<'a, const W: usize> = [&'a [u64]; W];

/// The number of rows that all columns have.
#[inline]
pub(super) fn length<const W: usize>(rows: Rows<'_, W>) -> usize {
    rows.iter().map(|column| column.len()).min().unwrap_or(0)
}

/// Rows `range` of every column.
#[inline]
pub(super) fn cut<'a, const W: usize>(
    rows: Rows<'a, W>,
    range: std::ops::Range<usize>,
) -> Rows<'a, W> {
    rows.map(|column| &column[range.clone()])
}

/// The words of row `at`, one from each column.
#[inline]
pub(super) fn gather<const W: usize>(rows: Rows<'_, W>, at: usize) -> [u64; W] {
    rows.map(|column| column[at])
}

/// 64-bit words in a fingerprint of 1 to 256 bits: 1, 2 or 4.
pub fn word_count(bits: u32) -> usize {
    bits.div_ceil(64).next_power_of_two() as usize
}

/// The number of words of a fingerprint of `bits` bits.
///
/// # Errors
/// If `bits` is not 1 to 256.
pub(crate) fn words(bits: u32) -> Result<usize> {
    match bits {
        1..=256 => Ok(word_count(bits)),
        _ => Err(Error::parameter("bits", "1 to 256", bits)),
    }
}

/// Refuses a radius that no pair of `bits`-bit fingerprints can reach.
pub(crate) fn check_distance(bits: u32, max_distance: u32) -> Result<()> {
    if max_distance > bits {
        return Err(Error::parameter(
            "max_distance",
            format!("between 0 and the {bits} bits of a fingerprint"),
            max_distance,
        ));
    }
    Ok(())
}

impl Fingerprints {
    /// No fingerprints yet, each of `bits` bits.
    ///
    /// # Errors
    /// If `bits` is not 1 to 256.
    pub fn new(bits: u32) -> Result<Self> {
        Ok(Fingerprints {
            bits,
            columns: vec![Vec::new(); words(bits)?],
        })
    }

    /// Fingerprints from row-major words: all words of the first, then the next.
    ///
    /// # Errors
    /// If `bits` is not a width, `rows` ends inside a fingerprint, a fingerprint has a bit above
    /// its width, or there are more than 2^32 - 1 rows.
    pub fn from_rows(bits: u32, rows: &[u64]) -> Result<Self> {
        let mut fingerprints = Fingerprints::new(bits)?;
        fingerprints.extend_from_rows(rows)?;
        Ok(fingerprints)
    }

    /// Appends row-major words.
    ///
    /// # Errors
    /// As [`Fingerprints::from_rows`]. After an error, nothing is appended.
    pub fn extend_from_rows(&mut self, rows: &[u64]) -> Result<()> {
        let words = self.words();
        if !rows.len().is_multiple_of(words) {
            return Err(Error::input(
                "fingerprint rows",
                format!("a multiple of {words} words"),
                format!("{} words", rows.len()),
            ));
        }
        self.check_bits(rows)?;
        let total = self.len() + rows.len() / words;
        if total > u32::MAX as usize {
            return Err(Error::input(
                "fingerprint rows",
                "fewer than 2^32 fingerprints",
                total,
            ));
        }
        for (word, column) in self.columns.iter_mut().enumerate() {
            column.extend(rows.iter().skip(word).step_by(words));
        }
        Ok(())
    }

    /// Appends one fingerprint.
    ///
    /// # Errors
    /// If `row` has not exactly [`Fingerprints::words`] words, and as
    /// [`Fingerprints::from_rows`].
    pub fn push(&mut self, row: &[u64]) -> Result<()> {
        self.check_row(row)?;
        self.extend_from_rows(row)
    }

    /// Appends all of `others`.
    ///
    /// # Errors
    /// If `others` has another width, or there would be more than 2^32 - 1 rows.
    pub fn append(&mut self, others: &Fingerprints) -> Result<()> {
        self.check_width(others)?;
        if self.len() + others.len() > u32::MAX as usize {
            return Err(Error::input(
                "fingerprint rows",
                "fewer than 2^32 fingerprints",
                self.len() + others.len(),
            ));
        }
        for (column, more) in self.columns.iter_mut().zip(&others.columns) {
            column.extend_from_slice(more);
        }
        Ok(())
    }

    /// The bits of each fingerprint.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The 64-bit words of each fingerprint.
    pub fn words(&self) -> usize {
        self.columns.len()
    }

    /// The number of fingerprints.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words of fingerprint `at`, or `None` beyond the last.
    pub fn get(&self, at: usize) -> Option<Vec<u64>> {
        self.columns
            .iter()
            .map(|column| column.get(at).copied())
            .collect()
    }

    /// Word `word` of all fingerprints, or `None` if they have fewer words.
    pub fn column(&self, word: usize) -> Option<&[u64]> {
        self.columns.get(word).map(Vec::as_slice)
    }

    /// The number of bits in which fingerprints `a` and `b` differ, or `None`
    /// if either does not exist.
    pub fn distance(&self, a: usize, b: usize) -> Option<u32> {
        self.columns
            .iter()
            .map(|column| Some((column.get(a)? ^ column.get(b)?).count_ones()))
            .sum()
    }

    /// The number of bits in which fingerprint `at` differs from the words of another one.
    #[inline]
    pub fn distance_to(&self, at: usize, row: &[u64]) -> u32 {
        let words = self.columns.iter().zip(row);
        words
            .map(|(column, word)| (column[at] ^ word).count_ones())
            .sum()
    }

    /// All rows, with the number of words as a constant. The caller must first dispatch on
    /// [`Fingerprints::words`].
    pub(super) fn rows<const W: usize>(&self) -> Rows<'_, W> {
        debug_assert_eq!(W, self.words());
        std::array::from_fn(|word| self.columns[word].as_slice())
    }

    /// Refuses fingerprints that have a bit above their width.
    fn check_bits(&self, rows: &[u64]) -> Result<()> {
        if self.bits as usize == 64 * self.words() {
            return Ok(());
        }
        let words = self.words();
        // A word is shifted twice, since a shift by all 64 bits would overflow.
        let above = |word: usize| match self.bits.saturating_sub(64 * word as u32) {
            0 => u64::MAX,
            bits => u64::MAX << (bits.min(64) - 1) << 1,
        };
        let mut numbered = rows.iter().enumerate();
        match numbered.find(|&(at, row)| row & above(at % words) != 0) {
            None => Ok(()),
            Some((_, row)) => Err(Error::input(
                "fingerprint row",
                format!("at most {} bits", self.bits),
                format!("{row:#x}"),
            )),
        }
    }

    /// Refuses a row that is not one fingerprint of this width.
    pub(super) fn check_row(&self, row: &[u64]) -> Result<()> {
        if row.len() != self.words() {
            return Err(Error::input(
                "fingerprint row",
                format!("{} words", self.words()),
                format!("{} words", row.len()),
            ));
        }
        self.check_bits(row)
    }

    /// Refuses fingerprints of another width than this one.
    pub(super) fn check_width(&self, others: &Fingerprints) -> Result<()> {
        if self.bits != others.bits {
            return Err(Error::input(
                "fingerprints",
                format!("{} bits", self.bits),
                format!("{} bits", others.bits),
            ));
        }
        Ok(())
    }
}

/// Runs `$body` with `$W` the constant number of words of `$words`.
macro_rules! with_words {
    ($words:expr, $W:ident => $body:expr) => {
        match $words {
            1 => {
                const $W: usize = 1;
                $body
            }
            2 => {
                const $W: usize = 2;
                $body
            }
            _ => {
                const $W: usize = 4;
                $body
            }
        }
    };
}
pub(super) use with_words;
