/*! Candidates: from sketches to pairs of documents that may be similar.

Takes [`Sketches`](crate::sketch::Sketches); yields pairs that may be similar. A [`KeyScheme`] turns a sketch into the keys
under which a document is filed, the keys by which it is looked up, and the number of keys that must
be shared. A posting store ([`stores`]) holds the list of documents of each key. [`overlap`] is the
only loop that counts shared keys and caps lists.

| sketch | keys | exact |
|---|---|---|
| fingerprints | blocks of bits: documents within the radius share one ([`BlockKeys`](neardup_hamming::BlockKeys)) | yes |
| signatures | bands of values: similar documents share one with a known probability ([`Banding`]) | no |
| samples | a few rare keys of the sample, or all; several must be shared ([`schemes::rare_keys`]) | no |
| samples | the prefix: similar samples share at least one of its keys | yes |

Fingerprints in memory are also searched by a scan ([`stores::fingerprints`]), which works for
distances that are too large for keys.

With every scheme, the answer is the same for any number of threads.

| question | call |
|---|---|
| which documents may be similar, for any sketch | [`CandidateIndex`] |
| by which keys a store outside of memory finds similar documents | [`KeyScheme`], [`FetchedIndex`] |
| which bands does a similarity need | [`Banding::derive`] |
*/

mod candidate_index;
mod heavy_hitters;
mod key_numbers;
mod key_scheme;
pub mod overlap;
pub mod schemes;
pub mod shuffle;
mod statistics;
pub mod stores;

pub use candidate_index::CandidateIndex;
pub use heavy_hitters::{heaviest, heavy_hitters};
pub use key_scheme::KeyScheme;
pub use schemes::bands::Banding;
pub use schemes::rare_keys::MinOverlap;
pub use schemes::search::{Reach, Search};
pub use shuffle::Shuffle;
pub use shuffle::external_join::{ExternalJoin, JoinedKeys};
pub use statistics::SearchStatistics;
pub use stores::fetched::{FetchedIndex, NewEntry};
