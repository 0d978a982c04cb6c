/*! The messages between batches and buckets, as little-endian bytes.

There are two kinds. *Counted* keys: the highest number of a batch in 8 bytes, then for each
key 4 bytes of the key and 4 of its count, sorted by key. *Entries*: 4 bytes of the key, 2
of the minimum overlap and 8 of the document's number, sorted by key and number.
*/

use crate::candidates::MinOverlap;
use crate::error::{Error, Result};

/// Size in bytes of the highest number, of a counted key, and of an entry.
const HEAD: usize = 8;
const COUNTED: usize = 8;
const ENTRY: usize = 14;

/// A key, and the number of texts that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The key.
    pub key: u32,
    /// The number of texts that have it.
    pub texts: u32,
}

/// A document in the list of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: u32,
    /// The minimum overlap that the document requires.
    pub min_overlap: MinOverlap,
    /// The number of the document.
    pub number: u64,
}

/// Writes the counted keys of a batch whose largest document number is `highest`. Empty if
/// there are no keys.
pub fn write_counted(highest: u64, counted: impl Iterator<Item = Counted>) -> Vec<u8> {
    let mut bytes = highest.to_le_bytes().to_vec();
    for one in counted {
        bytes.extend(one.key.to_le_bytes());
        bytes.extend(one.texts.to_le_bytes());
    }
    match bytes.len() {
        HEAD => Vec::new(),
        _ => bytes,
    }
}

/// Reads what [`write_counted`] wrote.
///
/// # Errors
///
/// If the bytes do not consist of whole records.
pub fn read_counted(bytes: &[u8]) -> Result<(u64, impl ExactSizeIterator<Item = Counted>)> {
    let (highest, rest) = match bytes.split_first_chunk::<HEAD>() {
        Some((highest, rest)) => (u64::from_le_bytes(*highest), rest),
        None => (0, bytes),
    };
    let (records, over) = rest.as_chunks::<COUNTED>();
    check(over, "counted keys")?;
    let counted = records.iter().map(|[a, b, c, d, e, f, g, h]| Counted {
        key: u32::from_le_bytes([*a, *b, *c, *d]),
        texts: u32::from_le_bytes([*e, *f, *g, *h]),
    });
    Ok((highest, counted))
}

/// Writes entries of some lists.
pub fn write_entries(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ENTRY * entries.len());
    for entry in entries {
        bytes.extend(entry.key.to_le_bytes());
        bytes.extend(entry.min_overlap.to_bits().to_le_bytes());
        bytes.extend(entry.number.to_le_bytes());
    }
    bytes
}

/// Reads what [`write_entries`] wrote.
///
/// # Errors
///
/// If the bytes do not consist of whole records.
pub fn read_entries(bytes: &[u8]) -> Result<impl ExactSizeIterator<Item = Entry>> {
    let (records, over) = bytes.as_chunks::<ENTRY>();
    check(over, "entries of lists")?;
    Ok(records.iter().map(|record| {
        let [a, b, c, d, e, f, number @ ..] = *record;
        Entry {
            key: u32::from_le_bytes([a, b, c, d]),
            min_overlap: MinOverlap::from_bits(u16::from_le_bytes([e, f])),
            number: u64::from_le_bytes(number),
        }
    }))
}

fn check(over: &[u8], what: &str) -> Result<()> {
    match over {
        [] => Ok(()),
        _ => {
            let what = format!("a blob of {what}");
            let found = format!("{} bytes too many", over.len());
            Err(Error::input(what, "of whole records", found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let keys = [(1, 2), (u32::MAX, 7)].map(|(key, texts)| Counted { key, texts });
        let bytes = write_counted(1 << 40, keys.into_iter());
        let (highest, counted) = read_counted(&bytes).unwrap();
        assert_eq!(highest, 1 << 40);
        assert_eq!(counted.collect::<Vec<_>>(), keys);
        assert!(write_counted(5, std::iter::empty()).is_empty());
        assert_eq!(read_counted(&[]).unwrap().1.len(), 0);

        let min_overlap = MinOverlap {
            is_common: true,
            rare: 2,
            any: 8,
        };
        let entries = [
            Entry {
                key: 7,
                min_overlap,
                number: 9,
            },
            Entry {
                key: u32::MAX,
                min_overlap: MinOverlap::ONE,
                number: u64::MAX,
            },
        ];
        let bytes = write_entries(&entries);
        assert_eq!(read_entries(&bytes).unwrap().collect::<Vec<_>>(), entries);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for size in [1, 7, 9, 15, 17] {
            assert!(read_counted(&vec![0; size]).is_err(), "{size}");
        }
        for size in [1, 13, 15, 27] {
            assert!(read_entries(&vec![0; size]).is_err(), "{size}");
        }
    }
}
