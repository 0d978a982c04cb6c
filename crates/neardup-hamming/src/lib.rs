/*! Fingerprints within a radius, in bits: all pairs of a collection, and the keys of look-ups.

There are two schemes. **scan** compares every fingerprint with every other by SIMD ([`scan`]).
It is quadratic, but compares some 30 pairs a nanosecond on each core. **blocks** uses the
pigeonhole principle: fingerprints within the radius agree on at least one of a few keys (Manku,
Jain, Das Sarma, WWW 2007). So rows are partitioned by one key after another, and only rows of
one bucket are compared ([`all_pairs`]). Both schemes find every pair and no other.

Short keys, with a SIMD scan of buckets of tens or hundreds of rows, are faster than long keys
with tiny buckets. [`plan()`](fn@plan) chooses the cheapest scheme.

| question | call |
|---|---|
| all pairs of fingerprints | [`pairs`], or [`collapsed`] where equal texts abound |
| by which keys an index finds what is near a fingerprint | [`BlockKeys`] |
| what is near a fingerprint, where it has no keys | [`scan`] |
| what will it cost | [`plan()`](fn@plan) |
| which radius does a similarity need | [`radius()`] |

No other crate of neardup is below this one, so the [`Error`] of all of them is here.
*/

pub mod all_pairs;
mod block_keys;
pub mod error;
mod fingerprints;
mod groups;
mod kernels;
mod layout;
mod lists;
mod partition;
pub mod plan;
mod radius;
pub mod scan;

pub use all_pairs::{MAX_PAIRS, collapsed, collapsed_with, pairs};
pub use block_keys::BlockKeys;
pub use error::{Category, Error, Result};
pub use fingerprints::{Fingerprints, word_count};
pub use groups::Groups;
pub use kernels::Kernel;
pub use lists::{Collapsed, Neighbours, Pairs};
pub use plan::{Plan, Scheme, plan, plan_look_ups};
pub use radius::{predicted_recall, radius};
