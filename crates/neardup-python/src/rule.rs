//! What makes two documents duplicates.

use neardup_core::Error;
use neardup_core::candidates::{Banding, Search};
use neardup_core::rule::{self, Verdict};
use neardup_core::verify::Measure;
use pyo3::prelude::*;

use crate::errors::raise;

/// How candidates are found and what decides on them.
#[pyclass(frozen, module = "neardup._core")]
pub struct Rule {
    pub(crate) inner: rule::Rule,
}

#[pymethods]
impl Rule {
    #[new]
    #[pyo3(signature = (
        *, scheme, max_distance, bands, rows, threshold, measure, shingle, min_features
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of one Python call")]
    fn new(
        scheme: &str,
        max_distance: u32,
        bands: u32,
        rows: u32,
        threshold: f64,
        measure: &str,
        shingle: usize,
        min_features: u32,
    ) -> PyResult<Self> {
        let search = match scheme {
            "bands" => Search::Bands(Banding::new(bands, rows).map_err(raise)?),
            "postings" => Search::Postings { threshold },
            "prefix" => Search::Prefix { threshold },
            "near" => Search::Near { max_distance },
            other => return Err(unknown("scheme", "near, bands, postings or prefix", other)),
        };
        let measured = match measure {
            "resemblance" => Some(Measure::Resemblance { k: shingle }),
            "content" => Some(Measure::Content { k: shingle }),
            "sketch" => None,
            other => return Err(unknown("measure", "resemblance, content or sketch", other)),
        };
        Ok(Rule {
            inner: rule::Rule {
                search,
                verdict: match measured {
                    Some(measure) => Verdict::Texts { measure, threshold },
                    None => Verdict::Sketches { threshold },
                },
                min_features,
            },
        })
    }
}

fn unknown(name: &'static str, expected: &str, got: &str) -> PyErr {
    raise(Error::parameter(name, expected, got))
}
