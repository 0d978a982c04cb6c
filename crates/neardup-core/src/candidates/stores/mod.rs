/*! Posting stores: where the lists of filed documents are.

| store | lists |
|---|---|
| [`numbered`] | in memory, of a collection that is known from the start |
| [`fetched`] | rows fetched from a database, or from a shuffle |
*/

pub mod fetched;
pub mod numbered;
