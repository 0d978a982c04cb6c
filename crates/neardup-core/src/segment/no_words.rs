//! In place of `words` in a web page, which has no dictionary.

use super::Unit;
use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub(super) enum Words {}

impl Words {
    pub(super) fn new(_: Option<&str>) -> Result<Self> {
        let expected = "units that need no dictionary of words";
        Err(Error::parameter("segment.units", expected, "words"))
    }

    pub(super) fn for_each(&self, _: &str, _: impl FnMut(Unit<'_>)) {
        match *self {}
    }
}
