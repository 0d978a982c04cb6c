/*! Fingerprints within a radius, in bits: all pairs, and look-ups while more come in.

**scan** compares every fingerprint with every other by SIMD ([`scan`]): quadratic, but some 30
pairs a nanosecond and core. **blocks** uses that, by the pigeonhole principle, fingerprints
within the radius agree on one of a few keys (Manku, Jain, Das Sarma, WWW 2007), so rows are
partitioned by each key in turn and only compared inside their bucket ([`all_pairs`]). Both find
every pair and no other. They meet in the middle: short keys with a SIMD scan of buckets that
hold tens or hundreds of rows beat long keys with tiny buckets; [`plan()`](fn@plan) says which
costs least.
*/

pub mod all_pairs;
pub(super) mod fingerprints;
mod groups;
mod index;
mod kernels;
pub(super) mod layout;
mod lists;
mod partition;
pub mod plan;
mod radius;
pub mod scan;

pub use all_pairs::{MAX_PAIRS, collapsed, collapsed_with, pairs};
pub use fingerprints::Fingerprints;
pub use groups::Groups;
pub use index::HammingIndex;
pub use kernels::Kernel;
pub use lists::{Collapsed, Neighbours, Pairs};
pub use plan::{Plan, Purpose, Scheme, plan};
pub use radius::{predicted_recall, radius};
