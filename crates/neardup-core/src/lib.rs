/*! The stages of neardup: near-duplicate texts, found and explained.

A collection goes through eight stages, and each has one module of its name:

1. [`normalize`]: text to text, and where each character came from.
2. [`segment`]: text to units: words with part of speech, or runs of characters.
3. [`weigh`]: units to features with integer weights.
4. [`sketch`]: features to a fingerprint, a signature or a sample.
5. [`candidates`]: sketches to pairs of documents worth a closer look.
6. [`verify`]: a pair's texts to a similarity, and a yes or no.
7. [`cluster`]: verified pairs to which document stands for which.
8. keep: what is left, and the reason for each that is not; see [`cluster`].

Beside them stands [`align`]: which stretches of one text stand in another, and where.

The first four, with their settings, are a [`recipe::Recipe`]. This crate knows
nothing of Python, of files or of formats: it takes slices and yields vectors.
*/

pub mod align;
mod anchors;
pub mod background;
pub mod blob_file;
mod bytes;
pub mod candidates;
pub mod cluster;
pub mod corpus;
pub mod error;
pub mod judge;
pub mod normalize;
pub mod recipe;
pub mod segment;
pub mod sketch;
pub mod spill;
pub mod texts;
pub mod verify;
pub mod weigh;

pub use error::{Category, Error, Result};
