//! Reads stored little-endian numbers from bytes.

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

    /// `count` items of `N` bytes each.
    pub(crate) fn items<T, const N: usize>(
        &mut self,
        count: usize,
        of: fn([u8; N]) -> T,
    ) -> Result<Vec<T>> {
        let size = count.checked_mul(N).filter(|&size| size <= self.rest.len());
        let size = size.ok_or_else(|| self.damaged("its end too early"))?;
        let (now, rest) = self.rest.split_at(size);
        self.rest = rest;
        let (items, _) = now.as_chunks::<N>();
        Ok(items.iter().map(|&bytes| of(bytes)).collect())
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
