/*! Stage verify: a candidate pair's texts to a similarity.

Sketches only say that two documents are worth a closer look. This stage looks,
by one of two measures:

- `resemblance(k)`: the sets of shingles of k characters of both normalized
  texts, the size of their intersection over the size of their union (Broder,
  *On the resemblance and containment of documents*, 1997);
- `content(k)`: whether one text is the other again, by shingles that weigh more the fewer
  texts of the collection carry them, and by what stands in the place of what where
  the two texts are laid side by side.

A set is held as sorted 64-bit hashes, so building one costs O(n log n) for a
text of n characters and comparing two is one merge, left as soon as the
threshold is out of reach. Exact, but for collisions of a 64-bit hash: fewer
than one pair of shingles in 10^12 for texts of a million characters.

[`Shingles`] is the set and [`ShingleFrequencies`] counts in how many texts a shingle
stands; [`Profile`] is what is looked at in a text, and [`Evidence`] what two of
them say. [`Verifier`] fetches texts from a
[`TextStore`](crate::texts::TextStore) and compares many pairs at once.
*/

mod aligned;
mod content;
pub mod frequency_bytes;
mod resemblance;
pub mod shingle_frequencies;
mod short;
mod units;
mod verifier;
mod weighed;

pub use aligned::{Aligned, EXACT};
pub use content::{Evidence, Profile, content_hashes};
pub use resemblance::{Overlap, Shingles, shingle_hashes};
pub use shingle_frequencies::{RARE, ShingleFrequencies};
pub use short::SHORT;
pub use units::{Units, is_spaced};
pub use verifier::{Measure, Verifier};
pub use weighed::{KNOWN, Scratch, Weighed};
