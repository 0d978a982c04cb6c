/*! Posting stores: where the lists of filed documents are.

| store | lists |
|---|---|
| [`numbered`] | in memory, of a collection that is known from the start |
| [`fingerprints`] | the same, of fingerprints, with a scan where lists are long or there are none |
| [`fetched`] | those that a batch of documents needs, fetched from a database or a shuffle |
*/

pub mod fetched;
pub mod fingerprints;
pub mod numbered;
