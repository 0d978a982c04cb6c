/*! Candidates: sketches to pairs of documents worth a closer look.

Takes [`Sketches`]; yields pairs that may be similar. Each kind of sketch has its
schemes:

- *fingerprints*, within a radius `max_distance`, inclusive, in bits. **scan**
  compares every one with every other by SIMD ([`scan`]): quadratic, but some 30
  pairs a nanosecond and core. **blocks** uses that, by the pigeonhole principle,
  fingerprints within the radius agree on one of a few keys (Manku, Jain, Das Sarma,
  WWW 2007), so rows are partitioned by each key in turn and only compared inside
  their bucket ([`blocks`]). Both find every pair and no other. They meet in the
  middle: short keys with a SIMD scan of buckets that hold tens or hundreds of rows
  beat long keys with tiny buckets; [`plan()`](fn@plan) says which costs least;
- *signatures*: **bands** of values make keys ([`banding`]), and similar ones share
  a key with a probability that is known;
- *samples*: their features are the keys. **postings** files a document under a
  few of its keys and asks for some of them ([`rare_keys`]), **prefix** finds every pair
  whose samples resemble each other enough ([`keys`]).

Whatever the scheme, the answer is the same for any number of threads.

| question | call |
|---|---|
| all pairs of fingerprints | [`pairs`], or [`collapsed`] where equal texts abound |
| what is near this fingerprint, while more come in | [`Filed`] |
| who may be similar, whatever the sketch | [`Shelf`] |
| by which keys a store outside of memory finds it | [`Filing`], [`Stored`] |
| what will it cost | [`plan()`](fn@plan) |
| which radius, which bands does a similarity need | [`radius`], [`Banding::derive`] |
*/

pub mod banding;
pub mod blocks;
pub mod exchange;
pub mod filed;
mod filing;
mod fingerprints;
mod groups;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod kernel_avx2;
#[cfg(target_arch = "x86_64")]
mod kernel_avx512;
mod kernel_scalar;
pub mod keys;
mod layout;
mod lists;
mod numbered;
pub mod outside;
mod overlap;
mod partition;
pub mod plan;
mod radius;
pub mod rare_keys;
pub mod scan;
mod search;
mod shelf;
mod sketches;
mod stored;

pub use banding::Banding;
pub use blocks::{MAX_PAIRS, collapsed, collapsed_with, pairs};
pub use exchange::Exchange;
pub use exchange::joined::{Join, Joined};
pub use filed::Filed;
pub use filing::Filing;
pub use fingerprints::Fingerprints;
pub use groups::Groups;
pub use kernel::Kernel;
pub use keys::Keys;
pub use lists::{Collapsed, Neighbours, Pairs};
pub use numbered::InMemory;
pub use plan::{Plan, Purpose, Scheme, plan};
pub use radius::{predicted_recall, radius};
pub use rare_keys::{Frequent, MinOverlap};
pub use search::{Crowd, Found, LONGEST_OF_ALL, LONGEST_OF_KEPT, Search};
pub use shelf::Shelf;
pub use sketches::{Samples, Signatures, Sketches};
pub use stored::{NewEntry, Stored};
