/*! Serialized counts of hashes, which a cluster adds up.

A machine counts the hashes of its expected texts, and only these counts are moved. Hashes ascend, so each is
stored as its distance from the one before, twice that and one more if several texts have it: then their
number follows. All numbers are stored in 7 bits a byte, the lowest first; the highest bit of a byte says
that more follow. Most hashes take two bytes.
*/

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::ids::Hash;

/// The most parts that hashes are dealt into.
const MOST_PARTS: usize = 1 << 16;

const WHAT: &str = "stored counts";

/// The part of a hash, of some that hashes are dealt into by their leading bits.
#[inline]
pub fn part_of(Hash(hash): Hash, parts: usize) -> usize {
    ((u64::from(hash) * parts as u64) >> u32::BITS) as usize
}

/// Serializes hashes, ascending, and how many texts have each, at least one, in parts.
///
/// # Errors
///
/// If there are more than 2^16 parts or none.
pub fn counts_in_parts(mut counts: &[(Hash, u32)], parts: usize) -> Result<Vec<Vec<u8>>> {
    if !(1..=MOST_PARTS).contains(&parts) {
        let bounds = format!("1 to {MOST_PARTS}");
        return Err(Error::parameter("parts", bounds, parts));
    }
    let of_parts = (0..parts).map(|part| {
        let end = counts.partition_point(|&(hash, _)| part_of(hash, parts) <= part);
        let (now, rest) = counts.split_at(end);
        counts = rest;
        counts_to_bytes(now)
    });
    Ok(of_parts.collect())
}

fn counts_to_bytes(counts: &[(Hash, u32)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * counts.len());
    let mut before = 0;
    for &(Hash(hash), texts) in counts {
        let is_shared = texts > 1;
        write(
            u64::from(hash - before) << 1 | u64::from(is_shared),
            &mut bytes,
        );
        if is_shared {
            write(texts.into(), &mut bytes);
        }
        before = hash;
    }
    bytes
}

fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 1 << 7 {
        bytes.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends the hashes of a part to `counts`, and how many texts have each.
///
/// # Errors
///
/// If the bytes are damaged.
pub fn read_counts(bytes: &[u8], counts: &mut Vec<(Hash, u32)>) -> Result<()> {
    let mut rest = Bytes::new(WHAT, bytes);
    let mut hash = 0;
    while !rest.is_empty() {
        let number = rest.varint()?;
        hash += number >> 1;
        let texts = match number & 1 {
            0 => 1,
            _ => rest.varint()?,
        };
        match (u32::try_from(hash), u32::try_from(texts)) {
            (Ok(hash), Ok(texts)) => counts.push((Hash(hash), texts)),
            _ => return Err(rest.damaged("a number of more than 32 bits")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed((hash, texts): (u32, u32)) -> (Hash, u32) {
        (Hash(hash), texts)
    }

    fn read(bytes: &[u8]) -> Result<Vec<(Hash, u32)>> {
        let mut counts = Vec::new();
        read_counts(bytes, &mut counts)?;
        Ok(counts)
    }

    #[test]
    fn bytes_return_unchanged() {
        let counts = [
            (0, 3),
            (1, 1),
            (2, u32::MAX),
            (65, 1),
            (1 << 20, 128),
            (u32::MAX, 1),
        ]
        .map(hashed);
        assert_eq!(read(&counts_to_bytes(&counts)).unwrap(), counts);
        assert!(read(&[]).unwrap().is_empty());
        // Nearby hashes that one text has take a byte each.
        assert_eq!(
            counts_to_bytes(&[(5, 1), (60, 1), (100, 1)].map(hashed)).len(),
            3
        );
    }

    #[test]
    fn parts_are_by_leading_bits() {
        let counts = [(0, 1), (3, 2), (u32::MAX / 2, 1), (u32::MAX, 7)].map(hashed);
        for parts in [0, MOST_PARTS + 1, usize::MAX] {
            assert!(counts_in_parts(&counts, parts).is_err());
        }
        for parts in [1, 2, 5, 256] {
            let all = counts_in_parts(&counts, parts).unwrap();
            assert_eq!(all.len(), parts);
            for (part, bytes) in all.iter().enumerate() {
                let expected = counts.iter().copied();
                let expected: Vec<_> = expected
                    .filter(|&(hash, _)| part_of(hash, parts) == part)
                    .collect();
                assert_eq!(read(bytes).unwrap(), expected);
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = counts_to_bytes(&[(1 << 20, 128), (u32::MAX, 1)].map(hashed));
        for end in [1, 2, 4, bytes.len() - 1] {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        for damaged in [vec![0xFF; 12], [bytes.as_slice(), &[0x7E]].concat()] {
            assert!(read(&damaged).is_err());
        }
    }
}
