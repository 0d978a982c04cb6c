/*! Stage verify: the texts of a candidate pair to a similarity.

Sketches only select documents that are worth comparing. This stage compares their
texts by one of four measures:

- `resemblance(k)`: the sets of shingles of k characters of both normalized
  texts, the size of their intersection over the size of their union (Broder,
  *On the resemblance and containment of documents*, 1997);
- `content(k)`: whether one text repeats the other, by shingles weighted by their rarity
  in the collection, and by which words or characters replace which where the two texts
  are aligned;
- `containment(k)`: how much of one text lies in the other, by the same shingles and numbers;
- `aligned`: the edit similarity of two texts by words, or characters of scripts without spaces.

A set is held as sorted hashes, so building one costs O(n log n) for a text of n characters, and
comparing two is one merge, which stops as soon as the threshold is out of reach. Resemblance is exact
except for collisions of a 64-bit hash: fewer than one pair of shingles in 10^12 for texts of a million
characters. Content and containment take the leading 32 bits, which [samples](Samples) hold: in one
pair of texts in 100,000 a shingle of 200 is taken for another.

[`Shingles`] is the set of shingles, and [`ShingleFrequencies`] counts the texts that contain
each shingle. [`Profile`] holds the properties of one text, and [`Evidence`] the comparison
of two profiles. [`Verifier`] compares many pairs at
once: by their [`Samples`] where these decide, and else by texts from a
[`TextStore`](crate::texts::TextStore).
*/

mod aligned;
mod alignment;
mod by_samples;
mod cache;
mod containment;
mod content;
mod contest;
pub mod count_bytes;
mod evidence;
mod measure;
mod noise;
mod opposed;
mod order_bound;
mod profile;
mod resemblance;
pub mod sample;
pub mod sample_bytes;
mod samples;
mod shingle_frequencies;
mod short;
mod units;
mod verdict;
mod verifier;
mod weighed;

pub use alignment::{Aligned, equal_places};
pub use containment::{Containment, Direction};
pub use evidence::Evidence;
pub use measure::Measure;
pub use noise::Noise;
pub use profile::content_sample;
pub use resemblance::{Overlap, Shingles};
pub use sample::Sample;
pub(crate) use sample::sample_text;
pub use samples::Samples;
pub use shingle_frequencies::{
    DEFAULT_ENTRIES, ShingleFrequencies, common_of_counts, counts_of, counts_of_hashes,
};
pub use short::is_short;
pub use units::Units;
pub use verifier::Verifier;
pub use weighed::{Scratch, Weighed};
