/*! Candidates: sketches to pairs of documents worth a closer look.

Takes [`Sketches`]; yields pairs that may be similar. A [`KeyScheme`] turns a sketch into keys:
those under which a document is filed, those by which it is looked up, and how many must be
shared. A posting store ([`stores`]) holds the lists of documents by key, and [`overlap`] is the
only loop that counts shared keys and caps lists.

| sketch | keys | exact |
|---|---|---|
| fingerprints | blocks of bits: documents within the radius share one ([`hamming`]) | yes |
| signatures | bands of values: similar documents share one with a known probability ([`Banding`]) | no |
| samples | a few rare keys of the sample; several must be shared ([`schemes::rare_keys`]) | no |
| samples | the prefix that a resemblance cannot do without | yes |

Where fingerprints are in memory they are searched by distance ([`HammingIndex`]), which also
serves distances that leave no keys.

Whatever the scheme, the answer is the same for any number of threads.

| question | call |
|---|---|
| all pairs of fingerprints | [`pairs`], or [`collapsed`] where equal texts abound |
| what is near this fingerprint, while more come in | [`HammingIndex`] |
| which documents may be similar, whatever the sketch | [`CandidateIndex`] |
| by which keys a store outside of memory finds it | [`KeyScheme`], [`FetchedIndex`] |
| what will it cost | [`plan()`](fn@plan) |
| which radius, which bands does a similarity need | [`radius`], [`Banding::derive`] |
*/

mod candidate_index;
pub mod hamming;
mod key_numbers;
mod key_scheme;
pub mod overlap;
pub mod schemes;
mod search;
pub mod shuffle;
mod sketch_store;
mod sketches;
pub mod stores;

pub use candidate_index::CandidateIndex;
pub use hamming::{
    Collapsed, Fingerprints, Groups, HammingIndex, Kernel, MAX_PAIRS, Neighbours, Pairs, Plan,
    Purpose, Scheme, collapsed, collapsed_with, pairs, plan, predicted_recall, radius, scan,
};
pub use key_scheme::KeyScheme;
pub use schemes::bands::Banding;
pub use schemes::rare_keys::{HeavyHitters, MinOverlap};
pub use search::{Found, MAX_LIST_LEN, MAX_LIST_LEN_OF_KEPT, Search, SkewStatistics};
pub use shuffle::Shuffle;
pub use shuffle::external_join::{ExternalJoin, JoinedKeys};
pub use sketch_store::SketchStore;
pub use sketches::{Samples, Signatures, Sketches};
pub use stores::external::ExternalPostings;
pub use stores::fetched::{FetchedIndex, NewEntry};
