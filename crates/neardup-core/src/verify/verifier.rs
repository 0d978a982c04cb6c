//! Verification of many pairs of one store in parallel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::aligned::Aligned;
use super::containment::{self, Containment, Direction};
use super::content::Profile;
use super::edits::{self, UnitBag};
use super::resemblance::Shingles;
use super::shingle_frequencies::ShingleFrequencies;
use super::units::Units;
use super::weighed::Scratch;
use crate::error::Result;
use crate::texts::TextStore;

/// Bytes of profiles kept between loads, by default.
const CACHE_BYTES: usize = 192 << 20;

/// How the similarity of two texts is measured.
///
/// # Examples
///
/// ```
/// use neardup_core::verify::Measure;
///
/// assert_eq!(Measure::Content { k: 5 }.to_string(), "content(5)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The number of shared shingles of `k` characters divided by the number of all.
    Resemblance {
        /// Characters in a shingle.
        k: usize,
    },
    /// Whether one text repeats the other, by shingles that weigh more the fewer texts contain
    /// them, and by which words or characters replace which: [`Evidence`](super::Evidence).
    Content {
        /// Characters in a shingle.
        k: usize,
    },
    /// How much of one text lies in the other, by the same shingles and numbers:
    /// [`Containment`].
    Containment {
        /// Characters in a shingle.
        k: usize,
        /// Which text must lie in the other.
        direction: Direction,
    },
    /// The edit similarity by units: [`Aligned::similarity`].
    Aligned,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Resemblance { k } => write!(f, "resemblance({k})"),
            Measure::Content { k } => write!(f, "content({k})"),
            Measure::Containment { k, .. } => write!(f, "containment({k})"),
            Measure::Aligned => write!(f, "aligned"),
        }
    }
}

/// Compares pairs of documents of a [`TextStore`] by a [`Measure`].
///
/// The data that a measure needs of a text is computed at its first comparison and cached up
/// to a fixed budget, because a document that is a candidate once often is one again. The
/// budget affects only the time, never a result.
#[derive(Debug)]
pub struct Verifier {
    measure: Measure,
    threshold: f64,
    frequencies: Option<Arc<ShingleFrequencies>>,
    looked_at: HashMap<u32, LookedAt>,
    /// Units of the texts that may be similar to others.
    units: HashMap<u32, Units>,
    bytes: usize,
    cache: usize,
}

/// The result of the first comparison of two texts.
#[derive(Clone, Copy, Debug)]
enum Like {
    Similar(f64),
    /// An upper bound of the similarity.
    AtMost(f64),
}

/// The data that a measure needs of a text.
#[derive(Debug)]
enum LookedAt {
    /// Placeholder until the text has been processed.
    NotYet,
    Shingles(Shingles),
    // Boxed, since it is several times the size of the other variants.
    Profile(Box<Profile>),
    Units(UnitBag),
}

impl Verifier {
    /// Creates a verifier with a `measure` and an inclusive `threshold`.
    ///
    /// `frequencies` gives [`Measure::Content`] and [`Measure::Containment`] the number of texts
    /// that contain each shingle, counted with shingles of the measure's own length; without it no
    /// shingle is common. The other measures ignore it.
    pub fn new(
        measure: Measure,
        threshold: f64,
        frequencies: Option<Arc<ShingleFrequencies>>,
    ) -> Self {
        Verifier {
            measure,
            threshold,
            frequencies,
            looked_at: HashMap::new(),
            units: HashMap::new(),
            bytes: 0,
            cache: CACHE_BYTES,
        }
    }

    /// The same verifier with a cache of `cache` bytes. At most about as many bytes are
    /// computed at once, by an upper estimate.
    pub fn with_cache(self, cache: usize) -> Self {
        Verifier { cache, ..self }
    }

    /// The similarity of each pair that is similar, in the order of `pairs`;
    /// `None` for the others. The order of the two texts of a pair makes a difference only for
    /// [`Direction::FirstInSecond`].
    ///
    /// Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a text cannot be read back from the store.
    pub fn verify(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let mut similarities = Vec::with_capacity(pairs.len());
        let mut rest = pairs;
        while !rest.is_empty() {
            let count = self.load(texts, rest)?;
            let (now, later) = rest.split_at(count);
            let (looked_at, measure, threshold) = (&self.looked_at, self.measure, self.threshold);
            let alike: Vec<Option<Like>> = now
                .par_iter()
                .with_min_len(16)
                .map_init(Scratch::default, |scratch, (a, b)| {
                    match (looked_at.get(a)?, looked_at.get(b)?) {
                        (LookedAt::Shingles(a), LookedAt::Shingles(b)) => {
                            a.resemblance_from(b, threshold).map(Like::Similar)
                        }
                        (LookedAt::Profile(a), LookedAt::Profile(b)) => match measure {
                            Measure::Containment { direction, .. } => {
                                Containment::at_least(a, b, direction, threshold, scratch)
                            }
                            _ => a.most_from(b, threshold, scratch),
                        }
                        .map(Like::AtMost),
                        (LookedAt::Units(a), LookedAt::Units(b)) => {
                            a.most_from(b, threshold).map(Like::AtMost)
                        }
                        _ => None,
                    }
                })
                .collect();
            self.load_units(texts, now, &alike)?;
            let pairs = now.par_iter().zip(&alike);
            similarities.par_extend(pairs.map(|(&pair, &alike)| match alike? {
                Like::Similar(similarity) => Some(similarity),
                Like::AtMost(most) => self.align(pair, most),
            }));
            rest = later;
        }
        Ok(similarities)
    }

    /// Splits the texts to be aligned into units. Most pairs have been ruled out by then.
    fn load_units(
        &mut self,
        texts: &TextStore,
        pairs: &[(u32, u32)],
        alike: &[Option<Like>],
    ) -> Result<()> {
        let of_pairs = pairs.iter().zip(alike);
        let mut missing: Vec<u32> = of_pairs
            .filter(|(_, alike)| matches!(alike, Some(Like::AtMost(_))))
            .flat_map(|(&(a, b), _)| [a, b])
            .filter(|id| !self.units.contains_key(id))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let found: Vec<(u32, Units)> = missing
            .par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, &id| {
                Ok((id, Units::of(texts.text(id as usize, buffer)?)))
            })
            .collect::<Result<_>>()?;
        for (id, found) in found {
            self.bytes += 64 + 8 * found.len();
            self.units.insert(id, found);
        }
        Ok(())
    }

    /// The similarity of a pair by its alignment, if it reaches the threshold.
    fn align(&self, (a, b): (u32, u32), most: f64) -> Option<f64> {
        let aligned = Aligned::of(self.units.get(&a)?, self.units.get(&b)?);
        let similarity = match self.measure {
            Measure::Aligned => edits::similarity(most, &aligned),
            Measure::Containment { .. } => containment::similarity(most, &aligned),
            Measure::Resemblance { .. } | Measure::Content { .. } => {
                let of = (self.looked_at.get(&a)?, self.looked_at.get(&b)?);
                let (LookedAt::Profile(own), LookedAt::Profile(other)) = of else {
                    return None;
                };
                own.similarity(other, most, &aligned)
            }
        };
        (similarity >= self.threshold).then_some(similarity)
    }

    /// Processes the texts of the first of `pairs` that are not in the cache, and returns
    /// the number of pairs that are ready: at least one, and no more than the budget
    /// allows.
    fn load(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<usize> {
        if self.bytes > self.cache {
            self.looked_at.clear();
            self.units.clear();
            self.bytes = 0;
        }
        let mut missing: Vec<u32> = Vec::new();
        let (mut count, mut wanted) = (0, 0);
        for &(a, b) in pairs {
            for id in [a, b] {
                if let Entry::Vacant(vacant) = self.looked_at.entry(id) {
                    vacant.insert(LookedAt::NotYet);
                    missing.push(id);
                    wanted += self.measure.most_bytes(texts.size(id as usize));
                }
            }
            count += 1;
            if wanted > self.cache + self.cache / 3 {
                break;
            }
        }
        let (measure, frequencies) = (self.measure, self.frequencies.as_deref());
        let made: Result<Vec<(u32, LookedAt)>> = missing
            .par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, &id| {
                let text = texts.text(id as usize, buffer)?;
                Ok((id, measure.look_at(text, frequencies)))
            })
            .collect();
        let made = made.inspect_err(|_| {
            for id in &missing {
                self.looked_at.remove(id);
            }
        })?;
        for (id, found) in made {
            self.bytes += found.bytes();
            self.looked_at.insert(id, found);
        }
        Ok(count)
    }
}

impl Measure {
    fn look_at(self, text: &str, frequencies: Option<&ShingleFrequencies>) -> LookedAt {
        match self {
            Measure::Resemblance { k } => LookedAt::Shingles(Shingles::of(text, k)),
            Measure::Content { k } => {
                let profile = Profile::of(text, k, frequencies);
                LookedAt::Profile(Box::new(profile))
            }
            Measure::Containment { k, .. } => {
                let profile = Profile::whole(text, k, frequencies);
                LookedAt::Profile(Box::new(profile))
            }
            Measure::Aligned => LookedAt::Units(UnitBag::of(text)),
        }
    }

    /// An estimate of the most memory that the data of a text of `size` bytes takes.
    ///
    /// A character has at least one byte and at most one shingle of 8 bytes,
    /// with 4 for its count if the text is short, or 6 for the count and weight of each shingle,
    /// and at most one unit of 8, kept once or twice.
    fn most_bytes(self, size: usize) -> usize {
        match self {
            Measure::Resemblance { .. } => 8 * size,
            Measure::Content { .. } => size_of::<Profile>() + 20 * size,
            Measure::Containment { .. } => size_of::<Profile>() + 22 * size,
            Measure::Aligned => 16 * size,
        }
    }
}

impl LookedAt {
    /// The memory it takes, including its entry in the table.
    fn bytes(&self) -> usize {
        64 + match self {
            LookedAt::NotYet => 0,
            LookedAt::Shingles(set) => 8 * set.len(),
            LookedAt::Units(units) => 8 * units.len(),
            LookedAt::Profile(profile) => size_of::<Profile>() + profile.heap_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(all: &[&str]) -> TextStore {
        let mut texts = TextStore::new(1 << 20);
        for text in all {
            texts.push(text, "", "").unwrap();
        }
        texts
    }

    #[test]
    fn pairs_keep_their_order_and_the_threshold_is_inclusive() {
        let texts = store(&["abcd", "bcde", "wxyz"]);
        let mut verifier = Verifier::new(Measure::Resemblance { k: 2 }, 0.5, None);
        let got = verifier
            .verify(&texts, &[(0, 2), (0, 1), (1, 0), (2, 2)])
            .unwrap();
        assert_eq!(got, [None, Some(0.5), Some(0.5), Some(1.0)]);
    }

    #[test]
    fn by_containment_the_direction_is_looked_at() {
        let part = "渡口管理处说本班船的票已经售完请旅客改乘后面的船";
        let whole = format!("今日停航夜间安排人值守复航时间另行通知{part}");
        let texts = store(&[part, &whole, &whole.replace("另行通知", "已经定下")]);
        let pairs = [(0, 1), (1, 0), (1, 2), (2, 1)];
        let similar = |direction| {
            let measure = Measure::Containment { k: 2, direction };
            let found = Verifier::new(measure, 0.8, None).verify(&texts, &pairs);
            found
                .unwrap()
                .iter()
                .map(Option::is_some)
                .collect::<Vec<_>>()
        };
        assert_eq!(similar(Direction::FirstInSecond), [true, false, true, true]);
        assert_eq!(similar(Direction::Either), [true; 4]);
        assert_eq!(similar(Direction::Both), [false, false, true, true]);
    }

    #[test]
    fn by_edits_pairs_are_aligned() {
        let texts = store(&["渡船早上八点开船", "渡船早上九点开船", "。。", "。", "码头"]);
        let pairs = [(0, 1), (2, 2), (2, 3), (0, 4), (4, 0)];
        let found = Verifier::new(Measure::Aligned, 0.5, None).verify(&texts, &pairs);
        assert_eq!(
            found.unwrap(),
            [Some(7.0 / 8.0), Some(1.0), None, None, None]
        );
        let least = Verifier::new(Measure::Aligned, 7.0 / 8.0, None).verify(&texts, &pairs[..1]);
        assert_eq!(least.unwrap(), [Some(7.0 / 8.0)]);
    }

    #[test]
    fn by_content_numbers_and_short_texts_are_looked_at() {
        let body = "渡口管理处说本班船的票已经售完请旅客改乘后面的船";
        let long = |number| format!("{body}{body}，余票{number}张。");
        let (five, six) = (long(5), long(6));
        let texts = store(&[
            &five,
            &six,
            "渡口停航三天",
            "渡口停航三天。",
            "渡口停航四天",
        ]);
        let pairs = [(0, 0), (0, 1), (2, 3), (2, 4), (0, 2)];
        let mut verifier = Verifier::new(Measure::Content { k: 5 }, 0.5, None);
        let got = verifier.verify(&texts, &pairs).unwrap();
        assert_eq!(got, [Some(1.0), None, Some(1.0), None, None]);
    }
}
