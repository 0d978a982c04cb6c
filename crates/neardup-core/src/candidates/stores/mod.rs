/*! Posting stores: where the lists of filed documents are.

| store | lists |
|---|---|
| [`numbered`] | in memory, of a collection that is known from the start |
| [`fingerprints`] | the same, of fingerprints, with a scan where lists are long or there are none |
<<<<<<< HEAD
| [`fetched`] | those that a batch of documents needs, fetched from a database or a shuffle |
=======
| [`fetched`] | rows fetched from a database, or from a shuffle |
>>>>>>> 27090704488c099af8dc78bcd06d8296e924918e
*/

pub mod fetched;
pub mod fingerprints;
pub mod numbered;
