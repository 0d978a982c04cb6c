//! Detection of the encoding of bytes without a byte order mark.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use pyo3::prelude::*;

/// The most likely encoding other than UTF-8, by its name in the WHATWG standard.
#[pyfunction]
pub fn guess_encoding(py: Python<'_>, data: &[u8]) -> &'static str {
    py.detach(|| {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(data, true);
        detector.guess(None, Utf8Detection::Deny).name()
    })
}
