//! The tests of the public interface, in one program: each further one would be linked with
//! all dependencies and dictionaries again.

mod corpus_errors;
mod damaged_bytes;
mod judge_verdicts;
mod normalize_laws;
mod posting_stores;
mod random;
mod recipes_laws;
