/*! The private module `neardup._core`: argument in, core call, result out.

Names, defaults, validation and documentation are in the Python package; the stages are in
`neardup-core`, the search for fingerprints in `neardup-hamming`, alignment in `neardup-align`, JSON
lines in `neardup-lines`. Every call that can take long releases the interpreter lock and runs on a
pool with the requested number of threads.
*/

mod align;
mod arrays;
mod arrow;
mod candidates;
mod clusterer;
mod columns;
mod corpus;
mod encoding;
mod errors;
mod external_join;
mod fetched;
mod json_lines;
mod judge;
mod memory;
mod recipe;
mod repeats;
mod shuffle;
mod threads;
mod verify;

use pyo3::prelude::*;

/// The core of neardup. Private: import `neardup` instead.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::align::{
        Aligner, Items, Library, Paper, edit_similarity, expression_fault, file_sketches, inside,
        unmask,
    };
    #[pymodule_export]
    use crate::arrays::{count_distinct, hashes_of, rows_of};
    #[pymodule_export]
    use crate::arrow::ArrowArray;
    #[pymodule_export]
    use crate::candidates::{
        Fingerprints, banding, near_pairs, plan, predicted_recall, radius, s_curve,
    };
    #[pymodule_export]
    use crate::clusterer::{Clusterer, PairSearch};
    #[pymodule_export]
    use crate::columns::{Decisions, least_similar};
    #[pymodule_export]
    use crate::corpus::{Background, Corpus, Memory};
    #[pymodule_export]
    use crate::encoding::guess_encoding;
    #[pymodule_export]
    use crate::external_join::ExternalJoin;
    #[pymodule_export]
    use crate::fetched::{FetchedIndex, KeyScheme};
    #[pymodule_export]
    use crate::json_lines::{JsonFields, count_records, cut_text, kept_records};
    #[pymodule_export]
    use crate::judge::{Rule, judge};
    #[pymodule_export]
    use crate::recipe::{Recipe, bundled_stop_words};
    #[pymodule_export]
    use crate::repeats::{Repeats, cuts};
    #[pymodule_export]
    use crate::shuffle::{
        Shuffle, common_shingles, counts_of_samples, judge_pairs, open_pairs, select_samples,
    };
    #[pymodule_export]
    use crate::threads::forbid_global_pool;
    #[pymodule_export]
    use crate::verify::content;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use neardup_core::constants::{COMMON_KEYS, RARE_KEYS};
        use pyo3::types::PyModuleMethods;
        crate::memory::keep_free();
        module.add("MAX_TEXT_BYTES", neardup_core::normalize::MAX_TEXT_BYTES)?;
        module.add("SHINGLE_BLOCK", neardup_align::BLOCK)?;
        module.add("MAX_BATCH", neardup_core::cluster::CHUNK)?;
        module.add("RARE_KEYS", RARE_KEYS)?;
        module.add("COMMON_KEYS", COMMON_KEYS)?;
        module.add(
            "MAX_BUCKETS",
            neardup_core::candidates::shuffle::MAX_BUCKETS,
        )?;
        module.add("MAX_WORKERS", crate::threads::MAX_WORKERS)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
