//! Reads stored little-endian numbers from bytes.

use std::borrow::Cow;

use zerocopy::FromBytes;

use crate::error::{Error, Result};

/// The bytes that have not been read yet.
pub(crate) struct Bytes<'a> {
    /// What the bytes contain, for error messages.
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

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(self.items(1, u32::from_le_bytes)?[0])
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(self.items(1, u64::from_le_bytes)?[0])
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

    /// `count` items of `N` bytes each.
    pub(crate) fn items<T, const N: usize>(
        &mut self,
        count: usize,
        of: fn([u8; N]) -> T,
    ) -> Result<Vec<T>> {
        let (items, _) = self.take(count, N)?.as_chunks::<N>();
        Ok(items.iter().map(|&bytes| of(bytes)).collect())
    }

    /// `count` numbers, not copied if they lie as in memory.
    pub(crate) fn numbers(&mut self, count: usize) -> Result<Cow<'a, [u32]>> {
        let bytes = self.take(count, size_of::<u32>())?;
        match <[u32]>::ref_from_bytes(bytes) {
            Ok(numbers) if cfg!(target_endian = "little") => Ok(Cow::Borrowed(numbers)),
            _ => {
                let numbers = bytes.as_chunks().0.iter();
                Ok(numbers.map(|&number| u32::from_le_bytes(number)).collect())
            }
        }
    }

    fn take(&mut self, count: usize, size: usize) -> Result<&'a [u8]> {
        let size = count
            .checked_mul(size)
            .filter(|&size| size <= self.rest.len());
        let size = size.ok_or_else(|| self.damaged("its end too early"))?;
        let (now, rest) = self.rest.split_at(size);
        self.rest = rest;
        Ok(now)
    }

    /// Fails unless the bytes have this format.
    pub(crate) fn format(&mut self, format: u32) -> Result<()> {
        match self.u32()? {
            found if found == format => Ok(()),
            found => {
                let expected = format!("of format {format}");
                Err(Error::input(self.what, expected, found))
            }
        }
    }

    /// Reads the number of items of `size` bytes each, and checks that this many bytes
    /// remain.
    pub(crate) fn count(&mut self, size: u64) -> Result<u64> {
        let count = self.u64()?;
        match count.checked_mul(size) {
            Some(bytes) if bytes <= self.rest.len() as u64 => Ok(count),
            _ => Err(self.damaged("its end too early")),
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
    fn numbers_are_the_same_wherever_they_lie() {
        let expected = [1, 1 << 31, 7];
        let bytes: Vec<u8> = expected
            .iter()
            .flat_map(|&one: &u32| one.to_le_bytes())
            .collect();
        // Some of these places in memory are not a multiple of four.
        for moved in 0..4 {
            let all = [&vec![0; moved], bytes.as_slice()].concat();
            let mut rest = Bytes::new("numbers", &all[moved..]);
            assert_eq!(*rest.numbers(3).unwrap(), expected);
            assert!(rest.numbers(1).is_err());
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
