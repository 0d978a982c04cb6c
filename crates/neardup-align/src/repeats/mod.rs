/*! Repeats: sentences or paragraphs that occur in several documents.

[`Units`] finds the sentences or paragraphs of a text and hashes the letters of each. [`Repeats`]
takes the units of all documents, sorts them by hash, and returns the places of units that
enough documents have, in the order of the documents; what does not fit into memory is in files, in parts. [`cuts`]
says what to cut out of a text so that what is left is whole sentences.
*/

mod cuts;
mod places;
mod units;

pub use cuts::cuts;
pub use places::{Place, RepeatedPlaces, Repeats};
pub use units::{Kind, Unit, Units};
