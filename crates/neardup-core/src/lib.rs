/*! The stages of neardup, which finds near-duplicate texts and explains each result.

A collection goes through eight stages. Each of the first seven has a module of the same name:

1. [`normalize`]: text to normalized text, and where each character came from.
2. [`segment`]: text to units: words with part of speech, or runs of characters.
3. [`weigh`]: units to features with integer weights.
4. [`sketch`]: features to a fingerprint, a signature or a sample.
5. [`candidates`]: sketches to pairs of documents that are worth comparing.
6. [`verify`]: the texts of a pair to a similarity, by which [`judge`] decides.
7. [`cluster`]: verified pairs to the kept document that each dropped one repeats.
8. keep: the documents kept, and a reason for each one removed; see [`cluster`].

The first four stages with their settings are a [`recipe::Recipe`]. This crate does not
depend on Python or on file formats: it takes slices and returns vectors.
*/

pub mod anchors;
pub mod background;
pub mod buckets;
pub mod bytes;
pub mod candidates;
mod characters;
pub mod cluster;
pub mod constants;
pub mod corpus;
pub mod groups;
pub mod identity;
pub mod ids;
pub mod judge;
pub mod normalize;
pub mod ragged;
pub mod recipe;
pub mod segment;
mod shingle_frequencies;
pub mod similar;
pub mod sketch;
pub mod spilled;
pub mod texts;
pub mod verify;
pub mod weigh;

pub use neardup_hamming::error;
pub use neardup_hamming::{Category, Error, Result};
