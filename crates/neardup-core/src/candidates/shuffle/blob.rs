//! The messages between batches and buckets, in the [layout](crate::bytes) of all bytes.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub use crate::bytes::Counted;
use crate::bytes::{Bytes, put, put_part};
use crate::candidates::MinOverlap;
use crate::error::Result;

/// A document in the list of a key.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Entry {
    /// The key.
    pub key: U32,
    min_overlap: U16,
    /// The number of the document.
    pub number: U64,
}

impl Entry {
    /// The entry of a document that requires this minimum overlap.
    pub fn new(key: u32, min_overlap: MinOverlap, number: u64) -> Self {
        Entry {
            key: key.into(),
            min_overlap: min_overlap.to_bits().into(),
            number: number.into(),
        }
    }

    /// The minimum overlap that the document requires.
    pub fn min_overlap(&self) -> MinOverlap {
        MinOverlap::from_bits(self.min_overlap.get())
    }
}

/// Writes the counted keys of a batch whose largest document number is `highest`. Empty if
/// there are no keys.
pub fn write_counted(highest: u64, counted: &[Counted]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !counted.is_empty() {
        put(&U64::new(highest), &mut bytes);
        put_part(counted, &mut bytes);
    }
    bytes
}

/// Reads what [`write_counted`] wrote.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn read_counted(bytes: &[u8]) -> Result<(u64, &[Counted])> {
    if bytes.is_empty() {
        return Ok((0, &[]));
    }
    let mut rest = Bytes::new("a blob of counted keys", bytes);
    let read = (rest.record::<U64>()?.get(), rest.part()?);
    rest.end().map(|()| read)
}

/// Writes entries of some lists. Empty if there are none.
pub fn write_entries(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !entries.is_empty() {
        put_part(entries, &mut bytes);
    }
    bytes
}

/// Reads what [`write_entries`] wrote.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn read_entries(bytes: &[u8]) -> Result<&[Entry]> {
    if bytes.is_empty() {
        return Ok(&[]);
    }
    let mut rest = Bytes::new("a blob of entries of lists", bytes);
    let entries = rest.part()?;
    rest.end().map(|()| entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_read_back_and_damaged_ones_refused() {
        let keys = [(1, 2), (u32::MAX, 7)].map(Counted::from);
        let bytes = write_counted(1 << 40, &keys);
        assert_eq!(read_counted(&bytes).unwrap(), (1 << 40, &keys[..]));
        let is_refused = |end: usize| read_counted(&bytes[..end]).is_err();
        assert!((1..bytes.len()).all(is_refused));
        assert!(write_counted(5, &[]).is_empty() && read_counted(&[]).unwrap().1.is_empty());

        let min_overlap = MinOverlap {
            is_common: true,
            rare: 2,
            any: 8,
        };
        let entries = [
            Entry::new(7, min_overlap, 9),
            Entry::new(u32::MAX, MinOverlap::ONE, u64::MAX),
        ];
        let bytes = write_entries(&entries);
        assert_eq!(read_entries(&bytes).unwrap(), entries);
        assert_eq!(entries[0].min_overlap(), min_overlap);
        assert!((1..bytes.len()).all(|end| read_entries(&bytes[..end]).is_err()));
        assert!(write_entries(&[]).is_empty() && read_entries(&[]).unwrap().is_empty());
    }
}
