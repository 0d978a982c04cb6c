/*! Stage verify: a candidate pair's texts to a similarity.

Sketches only say that two documents are worth a closer look. This stage looks:
it builds the set of character shingles of both normalized texts and reports
their *resemblance*, the size of the intersection over the size of the union
(Broder, *On the resemblance and containment of documents*, 1997).

A set is held as sorted 64-bit hashes, so building one costs O(n log n) for a
text of n characters and comparing two is one merge, left as soon as the
threshold is out of reach. Exact, but for collisions of a 64-bit hash: fewer
than one pair of shingles in 10^12 for texts of a million characters.

[`Shingles`] is the set, [`Verifier`] fetches texts from a
[`TextStore`](crate::texts::TextStore) and compares many pairs at once, and
[`PairSearch`] finds all pairs of a corpus.
*/

mod pairs;
mod resemblance;
mod verifier;

pub use pairs::{PairSearch, VerifiedPair};
pub use resemblance::{Overlap, Shingles};
pub use verifier::{DEFAULT_SHINGLE, Verifier};
