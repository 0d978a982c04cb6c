/*! Stages cluster and keep: which document stands for which.

There is one rule. Documents stand in priority order. A document is dropped if
and only if it is verified similar to a document before it that is kept; it
points at the most similar such document, the earliest if they tie. A cluster
is therefore a kept document with all that point at it: nothing is dropped for
a text that it does not resemble, and no cluster loses all its members.

[`Judge`](crate::judge::Judge) says what *verified similar* means, [`Clusterer`] applies it to documents
as they come, a chunk at a time.
*/

mod clusterer;
mod pairs;

pub use clusterer::{CHUNK, Clusterer, Decision, Reason};
pub use pairs::{PairSearch, VerifiedPair};
