/*! The measure `content(k)`: whether two texts are the same text again.

Resemblance counts every shingle alike. In a collection with forms, of weather
bulletins or court notices, two texts of one form so resemble each other whatever
they say. Here a verdict rests on two kinds of evidence beside the sets of shingles.

**What is shared, weighed**: a shingle that many texts of the collection carry
says little; see [`Weighed`].

**What replaces what**: the texts are laid side by side, see [`Aligned`]. Two texts of one
form align nearly everywhere and have little in common that is rare; and where one has a number, the
other has another.

```text
similarity = resemblance − numbers, at least 0
numbers = min(1, 200 r / n) · min(1, 3 max(0, r / (r + s) − 1.5 (1 − a)))
```

Here r is how many numbers another number replaces, and s how many stand in both; n is how
many units the shorter text has and a is the share of them that is aligned. A number in a
long text says less than one in a bulletin of two lines, and a text that was edited
throughout loses numbers with the rest: that many are not counted. The factors are fitted to pairs that people
read; they are few and round so that they fit other collections too.

**Short texts.** In less than [`SHORT`] letters and digits one changed word is
all. There the letters and digits of one text must be those of the other or a
piece of it, at least 3/4 as long, and no number may differ; the share is the similarity. A text without
letters and digits equals itself only.

What a pair costs is a merge of two samples of some 200 hashes each, and one alignment if
these do not rule the pair out.
*/

use super::aligned::Aligned;
use super::resemblance::{Overlap, Shingles, shingle_hashes};
use super::shingle_frequencies::{RARE, ShingleFrequencies, text_level};
use super::short::{Letters, SHORT};
use super::units::{Units, is_spaced};
use super::weighed::{Sample, Scratch, Weighed, Weighing, sampled, weight};

/// One replaced number in so many units has its full weight.
const MUCH: f64 = 200.0;

/// How much of the similarity the share of replaced numbers takes.
const FACTOR: f64 = 3.0;

/// The share of numbers that edits replace, for each share of the text that they replace.
const EXPECTED: f64 = 1.5;

/// What comparing a text by content needs of it.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    shingles: Shingles,
    /// In how many texts each of the first shingles stands: those of `level`.
    counts: Box<[u32]>,
    /// What each of them weighs.
    weights: Box<[u16]>,
    level: u32,
    /// Texts that carry a shingle, at most, for it to be rare.
    rare: u32,
    letters: Letters,
}

/// Everything that decides about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Sizes of the sets of shingles and of their intersection.
    pub overlap: Overlap,
    /// What was weighed; `None` where all shingles count alike.
    pub weighed: Option<Weighed>,
    /// How the texts stand side by side.
    pub aligned: Aligned,
    /// Whether a text is so short that letters and digits decide.
    pub short: bool,
    /// The content or, for short texts, the share of letters and digits.
    pub similarity: f64,
}

/// Appends the hashes of the shingles by which `content(k)` compares a normalized text: of `k`
/// characters, or of 8/5 as many in a script with spaces between words.
///
/// Five letters are one word and five Chinese characters are three: what stands
/// in a few texts of one stands in hundreds of the other.
pub fn content_hashes(text: &str, k: usize, hashes: &mut Vec<u64>) {
    let k = if is_spaced(text) {
        (8 * k).div_ceil(5)
    } else {
        k
    };
    shingle_hashes(text, k, hashes);
}

impl Profile {
    /// Looks at a normalized text by its [shingles](content_hashes).
    ///
    /// `frequencies` must have been counted with the same `k`, and be the same
    /// for both profiles of a pair. O(n log n) for n characters; 8 bytes for
    /// each distinct shingle.
    pub fn of(text: &str, k: usize, frequencies: Option<&ShingleFrequencies>) -> Self {
        let mut hashes = Vec::new();
        content_hashes(text, k, &mut hashes);
        let shingles = Shingles::of_hashes(&hashes);
        let (mut level, mut counts, mut rare) = (0, Box::<[u32]>::default(), RARE);
        if let Some(table) = frequencies {
            rare = table.rare();
            level = text_level(shingles.len()).max(table.level());
            let sample = sampled(shingles.hashes(), level);
            counts = sample.iter().map(|&hash| table.count(hash)).collect();
        }
        Profile {
            shingles,
            weights: counts.iter().map(|&count| weight(count, rare)).collect(),
            counts,
            level,
            rare,
            letters: Letters::of(text),
        }
    }

    /// Bytes that the profile takes beside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        8 * self.shingles.len() + 6 * self.counts.len() + self.letters.heap_bytes()
    }

    /// The largest similarity that the two can have, whatever their alignment, if it is at least `threshold`.
    pub fn most_from(&self, other: &Profile, threshold: f64, scratch: &mut Scratch) -> Option<f64> {
        let most = if self.is_short_beside(other) {
            self.letters.similarity(&other.letters)
        } else {
            match self.weigh(other, threshold, scratch) {
                Weighing::TooLow => return None,
                Weighing::Done(weighed) => weighed.resemblance(),
                Weighing::AllAlike => self.shingles.resemblance_from(&other.shingles, threshold)?,
            }
        };
        (most >= threshold).then_some(most)
    }

    /// The similarity, from the largest that it can be.
    pub(super) fn similarity(&self, other: &Profile, most: f64, aligned: &Aligned) -> f64 {
        if !self.is_short_beside(other) {
            score(most, aligned)
        } else if aligned.differ == 0 {
            most
        } else {
            0.0
        }
    }

    fn is_short_beside(&self, other: &Profile) -> bool {
        self.letters.len().min(other.letters.len()) < SHORT
    }

    /// Weighs the sampled shingles of both texts.
    fn weigh(&self, other: &Profile, threshold: f64, scratch: &mut Scratch) -> Weighing {
        let level = self.level.max(other.level);
        scratch.weigh(&self.sample(level), &other.sample(level), level, threshold)
    }

    fn sample(&self, level: u32) -> Sample<'_> {
        // A text whose profile was made without a table has no counts.
        let hashes = sampled(&self.shingles.hashes()[..self.counts.len()], level);
        Sample {
            hashes,
            counts: &self.counts[..hashes.len()],
            weights: &self.weights[..hashes.len()],
            rare: self.rare,
        }
    }
}

/// The similarity of two texts that resemble each other so much and stand so side by side.
fn score(resemblance: f64, aligned: &Aligned) -> f64 {
    if aligned.replaced == 0 {
        return resemblance;
    }
    let (replaced, agree) = (aligned.replaced as f64, aligned.agree as f64);
    let weight = MUCH * replaced / aligned.shorter() as f64;
    let beyond = replaced / (replaced + agree) - EXPECTED * (1.0 - aligned.share());
    let numbers = weight.min(1.0) * (FACTOR * beyond.max(0.0)).min(1.0);
    (resemblance - numbers).max(0.0)
}

impl Evidence {
    /// Compares two texts in full, by their profiles and their units.
    pub fn of(a: (&Profile, &Units), b: (&Profile, &Units)) -> Self {
        let mut scratch = Scratch::default();
        let short = a.0.is_short_beside(b.0);
        let most = a.0.most_from(b.0, 0.0, &mut scratch).unwrap_or(0.0);
        let weighed = match a.0.weigh(b.0, 0.0, &mut scratch) {
            Weighing::Done(weighed) if !short => Some(weighed),
            _ => None,
        };
        let aligned = Aligned::of(a.1, b.1);
        Evidence {
            overlap: a.0.shingles.overlap(&b.0.shingles),
            weighed,
            aligned,
            short,
            similarity: a.0.similarity(b.0, most, &aligned),
        }
    }
}
