/*! Stages cluster and keep: which documents are kept, and which of them each other one repeats.

There is one rule. Documents are in priority order. A document is dropped if and only if it is
verified similar to an earlier document that is kept. It points at the most similar such document,
or at the earliest in a tie. A cluster is therefore a kept document with all documents that point at
it. No document is dropped because of a text that it does not resemble, and every cluster keeps a
member.

[`Judge`](crate::judge::Judge) defines *verified similar*. [`Clusterer`] applies the rule to
documents as they arrive, a chunk at a time. [`PairSearch`] does not apply it: it lists all verified
pairs.
*/

mod clusterer;
mod pairs;
mod removals;

pub use clusterer::{CHUNK, Clusterer, Decision, Reason};
pub use pairs::{PairSearch, VerifiedPair};
pub use removals::{Removals, least_similar};
