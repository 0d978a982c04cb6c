/*! Candidates: fingerprints to pairs of documents worth a closer look.

Takes [`Fingerprints`] and a radius `max_distance`, inclusive, in bits; yields
every pair within it, exactly: none is missed and none is in excess. Widths are
32, 64, 128 and 256 bits, and the radius may be anything up to the width.

Two schemes find the same pairs:

- **scan**: every fingerprint is compared with every other by SIMD
  ([`scan`]): quadratic, but some 30 pairs a nanosecond and core;
- **blocks**: by the pigeonhole principle, fingerprints within the radius agree
  on one of a few keys (Manku, Jain, Das Sarma, WWW 2007), so rows are
  partitioned by each key in turn and only compared inside their bucket
  ([`blocks`]).

The two meet in the middle: short keys with a SIMD scan of buckets that hold
tens or hundreds of rows beat long keys with tiny buckets. [`plan()`](fn@plan)
says which scheme, and with how many blocks, costs least; whatever it says, the
answer is the same, for any number of threads.

| question | call |
|---|---|
| all pairs of a collection | [`pairs`], or [`collapsed`] where equal texts abound |
| what is near this document, while documents come in | [`Filed`] |
| what will it cost | [`plan()`](fn@plan) |
| which radius does a similarity need | [`radius`] |
*/

pub mod blocks;
pub mod filed;
mod fingerprints;
mod groups;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod kernel_avx2;
#[cfg(target_arch = "x86_64")]
mod kernel_avx512;
mod kernel_scalar;
mod layout;
mod lists;
mod partition;
pub mod plan;
mod radius;
pub mod scan;

pub use blocks::{MAX_PAIRS, collapsed, collapsed_with, pairs};
pub use filed::Filed;
pub use fingerprints::Fingerprints;
pub use groups::Groups;
pub use kernel::Kernel;
pub use lists::{Collapsed, Neighbours, Pairs};
pub use plan::{Plan, Purpose, Scheme, plan};
pub use radius::{predicted_recall, radius};
