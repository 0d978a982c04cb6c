/*! Posting stores: where the lists of filed documents are.

| store | lists |
|---|---|
| [`numbered`] | in memory, of a collection that is known from the start |
| [`fetched`] | rows fetched from a database, or from a shuffle |
| [`external`] | in files, a batch of documents at a time |
*/

pub mod external;
pub mod fetched;
pub mod numbered;
