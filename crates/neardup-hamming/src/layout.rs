/*! Blocks and tables: the pigeonhole principle, as bit positions.

The bits of a fingerprint are cut into `blocks` parts. If two fingerprints differ in at most
`max_distance` bits, at most that many blocks differ, so they agree on at least
`blocks - max_distance` of them. There is one table for each choice of that many blocks; its key
is the bits of the chosen blocks. So every such pair shares a key in at least one table (Manku,
Jain, Das Sarma, WWW 2007).

A pair can agree in several tables. It belongs to exactly one: the table made of the *first*
blocks on which it agrees. The two fingerprints alone decide this, so no set of seen pairs is
needed. A table may use only a prefix of its key, because few documents need few buckets. The
rule still holds then, since the prefix finds a superset of the pairs.
*/

use super::fingerprints::{Rows, gather};

/// The maximum number of blocks: a word has one bit for each.
pub(crate) const MAX_BLOCKS: u32 = 64;

/// The maximum number of tables. More are never worth their cost.
pub(crate) const MAX_TABLES: u64 = 20_000;

/// The maximum length of a key prefix: 4 million buckets.
const MAX_USED_BITS: u32 = 22;

/// The average number of documents in a bucket. To compare them takes as long as to look the
/// bucket up.
const BUCKET_ROWS: usize = 16;

/// C(blocks, spoilt), the number of tables, unless there are too many.
pub(crate) fn choices(blocks: u32, spoilt: u32) -> Option<u64> {
    let mut choices: u64 = 1;
    for step in 0..u64::from(spoilt.min(blocks - spoilt)) {
        choices = choices * (u64::from(blocks) - step) / (step + 1);
        if choices > MAX_TABLES {
            return None;
        }
    }
    Some(choices)
}

/// A run of bits inside one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    word: usize,
    shift: u32,
    bits: u32,
}

impl Piece {
    fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.bits)) << self.shift
    }
}

/// All bits of a fingerprint.
pub(crate) fn all_bits(bits: u32) -> Vec<Piece> {
    (0..bits.div_ceil(64))
        .map(|word| Piece {
            word: word as usize,
            shift: 0,
            bits: (bits - 64 * word).min(64),
        })
        .collect()
}

/// The number of bits in `pieces`.
pub(super) fn count_bits(pieces: &[Piece]) -> u32 {
    pieces.iter().map(|piece| piece.bits).sum()
}

/// Takes the first `bits` bits off `pieces`.
fn take(pieces: &mut Vec<Piece>, mut bits: u32) -> Vec<Piece> {
    let mut taken = Vec::new();
    while bits > 0
        && let Some(first) = pieces.first_mut()
    {
        let piece = Piece {
            bits: first.bits.min(bits),
            ..*first
        };
        bits -= piece.bits;
        first.bits -= piece.bits;
        first.shift += piece.bits;
        if first.bits == 0 {
            pieces.remove(0);
        }
        taken.push(piece);
    }
    taken
}

/// The bits of `space` that distinguish rows: in each, at least a 32nd of a sample differs from
/// the rest. A pair within the radius is also within it on every subset of the bits. So a search
/// may leave the other bits out of its keys.
pub(super) fn distinguishing_bits<const W: usize>(
    space: &[Piece],
    rows: Rows<'_, W>,
) -> Vec<Piece> {
    const SAMPLE_ROWS: usize = 1 << 12;
    const SHARE: usize = 32;
    let stride = rows[0].len().div_ceil(SAMPLE_ROWS).max(1);
    let sampled = rows[0].len().div_ceil(stride);
    let tells = |word: usize, bit: u32| {
        let ones = rows[word]
            .iter()
            .step_by(stride)
            .filter(|&row| row >> bit & 1 == 1)
            .count();
        SHARE * ones.min(sampled - ones) >= sampled
    };
    let mut telling: Vec<Piece> = Vec::new();
    for piece in space {
        for shift in (piece.shift..piece.shift + piece.bits).filter(|&bit| tells(piece.word, bit)) {
            match telling.last_mut() {
                Some(last) if last.word == piece.word && last.shift + last.bits == shift => {
                    last.bits += 1;
                }
                _ => telling.push(Piece {
                    word: piece.word,
                    shift,
                    bits: 1,
                }),
            }
        }
    }
    telling
}

/// The number of leading key bits that are worth using for `documents` documents.
pub(super) fn used_bits(documents: usize, key_bits: u32) -> u32 {
    let worth = (documents / BUCKET_ROWS).max(1).ilog2();
    worth.min(key_bits).min(MAX_USED_BITS)
}

/// A cut of some bits into blocks, and the tables over it.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    blocks: Vec<Vec<Piece>>,
    chosen: u32,
}

/// One choice of blocks, and the key that it makes.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The chosen blocks, one bit each.
    members: u64,
    /// The places of the used bits of the key.
    key: Vec<Piece>,
    /// The length of the used key.
    pub(super) bits: u32,
}

impl Layout {
    /// Cuts `space` into `blocks` parts whose lengths differ by at most one bit.
    ///
    /// Expects `max_distance < blocks <= MAX_BLOCKS` and at least one bit for each block. A
    /// checked plan guarantees both.
    pub(crate) fn new(space: &[Piece], blocks: u32, max_distance: u32) -> Self {
        debug_assert!(max_distance < blocks && blocks <= MAX_BLOCKS);
        let bits = count_bits(space);
        let mut rest = space.to_vec();
        let blocks_of = |block: u32| {
            let (begin, end) = (bits * block / blocks, bits * (block + 1) / blocks);
            end - begin
        };
        Layout {
            blocks: (0..blocks)
                .map(|block| take(&mut rest, blocks_of(block)))
                .collect(),
            chosen: blocks - max_distance,
        }
    }

    /// Every table, with keys cut to the bits that are worth using for `documents`.
    pub(super) fn tables(&self, documents: usize) -> impl Iterator<Item = Table> + '_ {
        self.cut_tables(move |bits| used_bits(documents, bits))
    }

    /// Every table, with keys of at most `most` bits.
    pub(crate) fn long_tables(&self, most: u32) -> impl Iterator<Item = Table> + '_ {
        self.cut_tables(move |bits| bits.min(most))
    }

    fn cut_tables(&self, used: impl Fn(u32) -> u32) -> impl Iterator<Item = Table> {
        let count = self.blocks.len() as u32;
        let last = u64::MAX >> (64 - count);
        let mut next = Some(u64::MAX >> (64 - self.chosen));
        std::iter::from_fn(move || {
            let members = next?;
            next = following(members).filter(|&members| members <= last);
            Some(self.table(members, &used))
        })
    }

    fn table(&self, members: u64, used: &impl Fn(u32) -> u32) -> Table {
        let mut pieces: Vec<Piece> = Vec::new();
        for (block, of_block) in self.blocks.iter().enumerate() {
            if members >> block & 1 == 1 {
                for &piece in of_block {
                    match pieces.last_mut() {
                        Some(last)
                            if last.word == piece.word && last.shift + last.bits == piece.shift =>
                        {
                            last.bits += piece.bits;
                        }
                        _ => pieces.push(piece),
                    }
                }
            }
        }
        let bits = used(count_bits(&pieces));
        Table {
            members,
            key: take(&mut pieces, bits),
            bits,
        }
    }

    /// Whether a pair that differs in `differing` belongs to `table`.
    pub(super) fn owns<const W: usize>(&self, table: &Table, differing: &[u64; W]) -> bool {
        let mut missing = self.chosen;
        for (block, pieces) in self.blocks.iter().enumerate() {
            let agrees = pieces
                .iter()
                .all(|piece| differing[piece.word] & piece.mask() == 0);
            if agrees {
                if table.members >> block & 1 == 0 {
                    return false;
                }
                missing -= 1;
                if missing == 0 {
                    return true;
                }
            }
        }
        false
    }
}

/// The next larger word with the same number of ones (Gosper's hack), if there is one.
fn following(members: u64) -> Option<u64> {
    let lowest = members & members.wrapping_neg();
    let ripple = members.checked_add(lowest)?;
    Some(ripple | (((members ^ ripple) >> 2) / lowest))
}

impl Table {
    /// The used bits of the fingerprint's key.
    #[inline]
    pub(crate) fn key<const W: usize>(&self, row: &[u64; W]) -> usize {
        let mut key = 0;
        for piece in &self.key {
            let part = (row[piece.word] >> piece.shift) & (u64::MAX >> (64 - piece.bits));
            key = key << piece.bits | part;
        }
        key as usize
    }

    /// `space` without the used bits of the key. Two fingerprints of one bucket can differ only
    /// in these bits.
    pub(super) fn rest(&self, space: &[Piece]) -> Vec<Piece> {
        let mut rest = space.to_vec();
        for used in &self.key {
            rest = rest
                .into_iter()
                .flat_map(|piece| without(piece, *used))
                .collect();
        }
        rest
    }

    /// The number of pairs of rows that share a key, estimated from every `stride`-th row.
    pub(super) fn comparisons<const W: usize>(&self, rows: Rows<'_, W>, stride: usize) -> f64 {
        let mut counts = vec![0_u32; 1 << self.bits];
        for at in (0..rows[0].len()).step_by(stride) {
            counts[self.key(&gather(rows, at))] += 1;
        }
        let pairs: u64 = counts
            .iter()
            .map(|&count| u64::from(count) * u64::from(count.saturating_sub(1)) / 2)
            .sum();
        pairs as f64 * (stride * stride) as f64
    }
}

/// The parts of `piece` that remain without the bits of `used`.
fn without(piece: Piece, used: Piece) -> impl Iterator<Item = Piece> {
    let end = piece.shift + piece.bits;
    let parts = if used.word != piece.word {
        [(piece.shift, end), (end, end)]
    } else {
        [
            (piece.shift, used.shift.clamp(piece.shift, end)),
            ((used.shift + used.bits).clamp(piece.shift, end), end),
        ]
    };
    parts
        .into_iter()
        .filter(|(begin, end)| begin < end)
        .map(move |(begin, end)| Piece {
            word: piece.word,
            shift: begin,
            bits: end - begin,
        })
}
