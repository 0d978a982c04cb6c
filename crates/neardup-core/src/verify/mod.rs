/*! Stage verify: the texts of a candidate pair to a similarity.

Sketches only select documents that are worth comparing. This stage compares their texts by a [`Measure`]. Each is a
`Verdict`: it prepares a profile of each text, bounds the similarity of a pair, and finishes it once the texts are
[`Aligned`]. [`Verifier`] takes many pairs through these steps, by their [`Samples`] where these decide, and else by
texts from a [`TextStore`](crate::texts::TextStore). [`Evidence`] keeps what each step found for one pair.

A set of shingles is held as sorted hashes, so comparing two is one merge. Resemblance is exact except for collisions
of a 64-bit hash. Content and containment take the leading 32 bits, which samples hold: in one pair of texts in 100,000
a shingle of 200 is taken for another. [`ShingleFrequencies`] counts the texts that contain each shingle.
*/

mod aligned;
mod alignment;
mod by_samples;
mod cache;
mod containment;
mod content;
mod contest;
pub mod count_bytes;
mod counted_sample;
mod counting;
mod evidence;
mod measure;
mod most;
mod noise;
mod opposed;
mod order_bound;
mod profile;
mod resemblance;
mod runs;
pub mod sample;
pub mod sample_bytes;
mod samples;
mod score;
mod short;
mod units;
mod verdict;
mod verifier;
mod weighed;

pub use crate::shingle_frequencies::{DEFAULT_ENTRIES, ShingleFrequencies};
pub use alignment::{Aligned, Layout, equal_places};
pub use containment::{Containment, Direction};
pub use counted_sample::CountedSample;
pub use counting::{common_of_counts, counts_of, counts_of_hashes};
pub use evidence::Evidence;
pub use measure::Measure;
pub use noise::Noise;
pub use profile::content_sample;
pub use resemblance::{Overlap, Shingles};
pub(crate) use sample::sample_text;
pub use samples::Samples;
pub use short::is_short;
pub use verifier::Verifier;
pub use weighed::Weighed;
