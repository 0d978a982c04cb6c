/*! The one layout of bytes that go to a file, an index or another machine.

A message is some single records, then *parts*: the number of records in 8 bytes, and the records. Records
have a fixed size and no padding, and all numbers are little-endian. What is stored for longer than a run
begins with the number of its format.

| message | single records | parts |
|---|---|---|
| [background](crate::background) | format, documents; level, texts | counted keys; counted shingles |
| [counted keys](crate::candidates::shuffle::blob) of a batch | highest number | counted keys |
| [entries](crate::candidates::shuffle::blob) of lists | | entries |
| [samples](crate::verify::sample_bytes), for each document | number, shingles | hashes |
| [sketch](crate::sketch::Sketches::to_bytes) of a document | | its values, without their number |
| [counts](crate::verify::count_bytes) of hashes | | none: 7 bits a byte, since these are most of what a cluster moves |
*/

use std::borrow::Cow;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{Error, Result};
use crate::ids::Hash;

/// The values in a part.
pub(crate) trait Record:
    FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned
{
}

impl<R: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned> Record for R {}

/// A key or hash, and the number of texts that have it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Counted {
    /// The key or hash.
    pub key: U32,
    /// The number of texts that have it.
    pub texts: U32,
}

impl From<(u32, u32)> for Counted {
    fn from((key, texts): (u32, u32)) -> Self {
        Counted {
            key: key.into(),
            texts: texts.into(),
        }
    }
}

impl From<Counted> for (u32, u32) {
    fn from(counted: Counted) -> Self {
        (counted.key.get(), counted.texts.get())
    }
}

/// Appends a single record.
pub(crate) fn put<R: IntoBytes + Immutable + ?Sized>(record: &R, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(record.as_bytes());
}

/// Appends a part.
pub(crate) fn put_part<R: Record>(records: &[R], bytes: &mut Vec<u8>) {
    put(&U64::new(records.len() as u64), bytes);
    put(records, bytes);
}

/// The bytes that have not been read yet.
pub(crate) struct Bytes<'a> {
    /// The name of the content, for error messages.
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Bytes { what, rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// A single record.
    pub(crate) fn record<R: Record>(&mut self) -> Result<R> {
        let (record, rest) = R::read_from_prefix(self.rest).map_err(|_| self.too_short())?;
        self.rest = rest;
        Ok(record)
    }

    /// The records of a part.
    pub(crate) fn part<R: Record>(&mut self) -> Result<&'a [R]> {
        let count = self.record::<U64>()?.get();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let (records, rest) =
            <[R]>::ref_from_prefix_with_elems(self.rest, count).map_err(|_| self.too_short())?;
        self.rest = rest;
        Ok(records)
    }

    fn too_short(&self) -> Error {
        self.damaged("its end too early")
    }

    /// A part of hashes, not copied if they lie as in memory.
    pub(crate) fn hashes(&mut self) -> Result<Cow<'a, [Hash]>> {
        let numbers = self.part::<U32>()?;
        Ok(match <[Hash]>::ref_from_bytes(numbers.as_bytes()) {
            Ok(hashes) if cfg!(target_endian = "little") => Cow::Borrowed(hashes),
            _ => numbers.iter().map(|number| Hash(number.get())).collect(),
        })
    }

    /// A number in 7 bits a byte, the lowest first.
    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for (shift, &byte) in (0..u64::BITS).step_by(7).zip(self.rest) {
            let bits = u64::from(byte & 0x7F);
            if bits.leading_zeros() < shift {
                break;
            }
            number |= bits << shift;
            if byte < 1 << 7 {
                self.rest = &self.rest[shift as usize / 7 + 1..];
                return Ok(number);
            }
        }
        Err(self.damaged("a number without an end, or of more than 64 bits"))
    }

    /// Fails unless the bytes have this format.
    pub(crate) fn format(&mut self, format: u32) -> Result<()> {
        match self.record::<U32>()?.get() {
            found if found == format => Ok(()),
            found => {
                let expected = format!("of format {format}");
                Err(Error::input(self.what, expected, found))
            }
        }
    }

    /// Fails if bytes are left over.
    pub(crate) fn end(&self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(self.damaged(format!("{left} bytes too many"))),
        }
    }

    pub(crate) fn damaged(&self, found: impl std::fmt::Display) -> Error {
        Error::input(self.what, "whole", found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_another_length_is_refused() {
        let counted = [(1, 2), (u32::MAX, 7)].map(Counted::from);
        let mut bytes = Vec::new();
        put(&U32::new(9), &mut bytes);
        put_part(&counted, &mut bytes);
        let read = |bytes: &[u8]| {
            let mut rest = Bytes::new("counts", bytes);
            rest.format(9)?;
            let read = rest.part::<Counted>()?.to_vec();
            rest.end().map(|()| read)
        };
        assert_eq!(read(&bytes).unwrap(), counted);
        assert!((0..bytes.len()).all(|end| read(&bytes[..end]).is_err()));
        bytes.push(0);
        assert!(read(&bytes).is_err());
        // More records than there can be.
        bytes[11] = 0xFF;
        assert!(read(&bytes).is_err());
    }

    #[test]
    fn hashes_are_the_same_wherever_they_lie() {
        let expected = [1, 1 << 31, 7];
        // Some of these places in memory are not a multiple of four.
        for moved in 0..4 {
            let mut bytes = vec![0; moved];
            put_part(&expected.map(U32::new), &mut bytes);
            let mut rest = Bytes::new("hashes", &bytes[moved..]);
            assert_eq!(*rest.hashes().unwrap(), expected.map(Hash));
        }
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let largest = [[0xFF; 9].as_slice(), &[1]].concat();
        assert_eq!(Bytes::new("number", &largest).varint().unwrap(), u64::MAX);
        for last in [2, 0x7F, 0x81] {
            let damaged = [[0xFF; 9].as_slice(), &[last]].concat();
            assert!(Bytes::new("number", &damaged).varint().is_err());
        }
    }
}
