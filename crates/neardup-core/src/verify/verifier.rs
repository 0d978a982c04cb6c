//! Verification of many pairs of one store in parallel.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::aligned::Aligned;
use super::content::score;
use super::measure::{Comparison, Features, Measure};
use super::samples::{BySamples, FewestShared, Ratio, Samples};
use super::shingle_frequencies::ShingleFrequencies;
use super::units::Units;
use super::weighed::Scratch;
use super::{containment, edits};
use crate::error::Result;
use crate::texts::TextStore;

/// Bytes of features kept between loads, by default.
const CACHE_BYTES: usize = 192 << 20;

/// Compares pairs of documents of a [`TextStore`] by a [`Measure`].
///
/// By content and containment, the samples of two documents decide about most pairs. For the others,
/// the features of a text that the measure compares are cached up to a fixed budget, because a
/// document that is a candidate often will be one again. Neither affects a result.
#[derive(Debug)]
pub struct Verifier {
    measure: Measure,
    threshold: f64,
    /// Made for the first pair of samples: a look-up in an index never needs it.
    fewest: OnceLock<FewestShared>,
    frequencies: Option<Arc<ShingleFrequencies>>,
    features: Cache<Features>,
    /// Units of the texts that may be similar to others.
    units: Cache<Units>,
}

/// What was made of some texts, up to about a number of bytes.
#[derive(Debug)]
struct Cache<T> {
    made: HashMap<u32, T, FxBuildHasher>,
    bytes: usize,
    most: usize,
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
            fewest: OnceLock::new(),
            frequencies,
            features: Cache::new(CACHE_BYTES / 2),
            units: Cache::new(CACHE_BYTES / 2),
        }
    }

    /// The same verifier with a cache of `cache` bytes. At most about as many bytes are
    /// computed at once, by an upper estimate.
    pub fn with_cache(self, cache: usize) -> Self {
        Verifier {
            features: Cache::new(cache / 2),
            units: Cache::new(cache / 2),
            ..self
        }
    }

    /// The similarity of each pair that is similar, in the order of `pairs`;
    /// `None` for the others. The order of the two texts of a pair makes a difference only for
    /// [`Direction::FirstInSecond`](super::Direction::FirstInSecond).
    ///
    /// `samples` are those of the same documents, or `None` to read all texts. Runs on the current
    /// rayon pool.
    ///
    /// # Errors
    ///
    /// If a text cannot be read back from the store.
    pub fn verify(
        &mut self,
        texts: &TextStore,
        samples: Option<&Samples>,
        pairs: &[(u32, u32)],
    ) -> Result<Vec<Option<f64>>> {
        let sampled = match (samples, &self.frequencies, Ratio::of(self.measure)) {
            (Some(samples), Some(table), Some(ratio)) => {
                self.by_samples((samples, table), ratio, pairs)
            }
            _ => vec![BySamples::Open; pairs.len()],
        };
        let of = |wanted: fn(&BySamples) -> bool| {
            let all = pairs.iter().zip(&sampled);
            let wanted = all.filter(move |(_, sampled)| wanted(sampled));
            wanted.map(|(&pair, _)| pair).collect::<Vec<_>>()
        };
        let open = of(|sampled| matches!(sampled, BySamples::Open));
        let near = of(|sampled| matches!(sampled, BySamples::AtMost(_)));
        let comparisons = sampled.iter().filter_map(|sampled| match sampled {
            BySamples::AtMost(most) => Some(Some(Comparison::AtMost(*most))),
            BySamples::TooLow | BySamples::Open => None,
        });
        let comparisons: Vec<Option<Comparison>> = comparisons.collect();
        let mut near = self.align(texts, &near, &comparisons)?.into_iter();
        let mut open = self.compare(texts, &open)?.into_iter();
        let all = sampled.into_iter().map(|sampled| match sampled {
            BySamples::TooLow => None,
            BySamples::AtMost(_) => near.next()?,
            BySamples::Open => open.next()?,
        });
        Ok(all.collect())
    }

    /// Whether the texts of each pair must be compared: `false` where the samples rule out that they
    /// are similar. Runs on the current rayon pool.
    pub fn are_open(&self, samples: &Samples, pairs: &[(u32, u32)]) -> Vec<bool> {
        match (&self.frequencies, Ratio::of(self.measure)) {
            (Some(table), Some(ratio)) => {
                let said = self.by_samples((samples, table), ratio, pairs);
                let said = said.into_iter();
                said.map(|said| said != BySamples::TooLow).collect()
            }
            _ => vec![true; pairs.len()],
        }
    }

    /// What the samples of each pair say.
    fn by_samples(
        &self,
        (samples, table): (&Samples, &ShingleFrequencies),
        ratio: Ratio,
        pairs: &[(u32, u32)],
    ) -> Vec<BySamples> {
        let fewest = self
            .fewest
            .get_or_init(|| FewestShared::new(self.threshold));
        let of_pair = |scratch: &mut Scratch, &(a, b): &(u32, u32)| {
            let (Some(a), Some(b)) = (samples.get(a), samples.get(b)) else {
                return BySamples::Open;
            };
            ratio.by_samples((a, b), table, self.threshold, fewest, scratch)
        };
        pairs
            .par_iter()
            .with_min_len(64)
            .map_init(Scratch::default, of_pair)
            .collect()
    }

    /// The similarity of each pair that is similar, by its texts.
    fn compare(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let mut similarities = Vec::with_capacity(pairs.len());
        let mut rest = pairs;
        while !rest.is_empty() {
            let (measure, frequencies) = (self.measure, self.frequencies.as_deref());
            let count = self.features.load(
                texts,
                rest.iter().map(|&pair| Some(pair)),
                |size| measure.most_bytes(size),
                |text| measure.features_of(text, frequencies),
                Features::bytes,
            )?;
            let (now, later) = rest.split_at(count);
            let (features, threshold) = (&self.features.made, self.threshold);
            let comparisons: Vec<Option<Comparison>> = now
                .par_iter()
                .with_min_len(16)
                .map_init(Scratch::default, |scratch, (a, b)| {
                    measure.compare(features.get(a)?, features.get(b)?, threshold, scratch)
                })
                .collect();
            similarities.extend(self.align(texts, now, &comparisons)?);
            rest = later;
        }
        Ok(similarities)
    }

    /// The similarity of each pair that is similar, aligned where that decides.
    fn align(
        &mut self,
        texts: &TextStore,
        pairs: &[(u32, u32)],
        comparisons: &[Option<Comparison>],
    ) -> Result<Vec<Option<f64>>> {
        let mut similarities = Vec::with_capacity(pairs.len());
        let (mut pairs, mut comparisons) = (pairs, comparisons);
        while !pairs.is_empty() {
            // Most pairs have been ruled out by now.
            let open = pairs
                .iter()
                .zip(comparisons)
                .map(|(&pair, comparison)| match comparison {
                    Some(Comparison::AtMost(_)) => Some(pair),
                    Some(Comparison::Similar(_)) | None => None,
                });
            let count = self.units.load(
                texts,
                open,
                |size| 8 * size,
                Units::of,
                |units| 8 * units.len(),
            )?;
            let ((now, later), (comparisons_now, comparisons_later)) =
                (pairs.split_at(count), comparisons.split_at(count));
            let both = now.par_iter().zip(comparisons_now);
            similarities.par_extend(both.map(|(&pair, &comparison)| match comparison? {
                Comparison::Similar(similarity) => Some(similarity),
                Comparison::AtMost(most) => self.aligned(pair, most),
            }));
            (pairs, comparisons) = (later, comparisons_later);
        }
        Ok(similarities)
    }

    /// The similarity of a pair by its alignment, if it reaches the threshold.
    fn aligned(&self, (a, b): (u32, u32), most: f64) -> Option<f64> {
        let aligned = Aligned::of(self.units.made.get(&a)?, self.units.made.get(&b)?);
        let similarity = match self.measure {
            Measure::Aligned => edits::similarity(most, &aligned),
            Measure::Containment { .. } => containment::similarity(most, &aligned),
            Measure::Resemblance { .. } | Measure::Content { .. } => {
                match (self.features.made.get(&a), self.features.made.get(&b)) {
                    (Some(Features::Profile(a)), Some(Features::Profile(b))) => {
                        a.similarity(b, most, &aligned)
                    }
                    // Decided by samples, which short texts do not have.
                    _ => score(most, &aligned),
                }
            }
        };
        (similarity >= self.threshold).then_some(similarity)
    }
}

impl<T: Send> Cache<T> {
    fn new(most: usize) -> Self {
        Cache {
            made: HashMap::default(),
            bytes: 0,
            most,
        }
    }

    /// Makes what the texts of the first of `pairs` need and the cache does not have, and returns the
    /// number of pairs that are ready: at least one, and no more than there is room for.
    /// `estimate` is of the bytes that a text of some size needs, at most.
    fn load(
        &mut self,
        texts: &TextStore,
        pairs: impl Iterator<Item = Option<(u32, u32)>>,
        estimate: impl Fn(usize) -> usize,
        make: impl Fn(&str) -> T + Sync,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<usize> {
        if self.bytes > self.most {
            self.made.clear();
            self.bytes = 0;
        }
        let mut missing: HashSet<u32, FxBuildHasher> = HashSet::default();
        let (mut count, mut wanted) = (0, 0);
        for pair in pairs {
            for id in pair.into_iter().flat_map(|(a, b)| [a, b]) {
                if !self.made.contains_key(&id) && missing.insert(id) {
                    wanted += estimate(texts.size(id as usize));
                }
            }
            count += 1;
            if wanted > self.most + self.most / 3 {
                break;
            }
        }
        let missing: Vec<u32> = missing.into_iter().collect();
        let made: Vec<(u32, T)> = missing
            .par_iter()
            .with_min_len(4)
            .map_init(Vec::new, |buffer, &id| {
                Ok((id, make(texts.text(id as usize, buffer)?)))
            })
            .collect::<Result<_>>()?;
        for (id, made) in made {
            self.bytes += 64 + bytes(&made);
            self.made.insert(id, made);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::containment::Direction;
    use super::super::content::tests::text;
    use super::super::resemblance::Shingles;
    use super::super::sample::Sample;
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
            .verify(&texts, None, &[(0, 2), (0, 1), (1, 0), (2, 2)])
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
            let found = Verifier::new(measure, 0.8, None).verify(&texts, None, &pairs);
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
        let found = Verifier::new(Measure::Aligned, 0.5, None).verify(&texts, None, &pairs);
        assert_eq!(
            found.unwrap(),
            [Some(7.0 / 8.0), Some(1.0), None, None, None]
        );
        let least =
            Verifier::new(Measure::Aligned, 7.0 / 8.0, None).verify(&texts, None, &pairs[..1]);
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
        let got = verifier.verify(&texts, None, &pairs).unwrap();
        assert_eq!(got, [Some(1.0), None, Some(1.0), None, None]);
    }

    /// Texts of a form, of parts that many have and of parts that few have, short and long.
    fn collection() -> Vec<String> {
        let part = |number: u32| text(number * 40..number * 40 + 40);
        let text = |at: u32| {
            let parts = (0..[1, 3, 9, 20][at as usize % 4]).map(|place| match place % 3 {
                0 => place / 3,
                1 => 100 + at / 8 + place,
                _ => 200 + at / 3 + place * (at % 3),
            });
            format!("{}{at}", parts.map(part).collect::<String>())
        };
        (0..32).map(text).collect()
    }

    #[test]
    fn samples_and_texts_say_the_same() {
        let all = collection();
        let texts = store(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let sets: Vec<Shingles> = all.iter().map(|text| Shingles::of(text, 2)).collect();
        let sets: Vec<&[u64]> = sets.iter().map(Shingles::hashes).collect();
        let pairs: Vec<(u32, u32)> = (0..32).flat_map(|a| (0..32).map(move |b| (a, b))).collect();
        let mut decided = 0;
        for entries in [1 << 20, 2000] {
            let mut table = ShingleFrequencies::new(entries);
            table.add(&sets);
            let mut samples = Samples::default();
            for (text, set) in all.iter().zip(&sets) {
                let is_long = text.chars().count() >= 50;
                samples.push(Some((Sample::of_distinct(set, table.level()), !is_long)));
            }
            samples.fit(table.level(), 0, usize::MAX);
            let table = Arc::new(table);
            let contained = |direction| Measure::Containment { k: 2, direction };
            let measures = [
                Measure::Content { k: 2 },
                contained(Direction::FirstInSecond),
                contained(Direction::Either),
                contained(Direction::Both),
            ];
            for (measure, threshold) in measures.map(|measure| (measure, 0.45)).into_iter().chain([
                (Measure::Content { k: 2 }, 0.0),
                (contained(Direction::Either), 0.8),
            ]) {
                let verifier = || Verifier::new(measure, threshold, Some(Arc::clone(&table)));
                let expected = verifier().verify(&texts, None, &pairs).unwrap();
                let got = verifier().verify(&texts, Some(&samples), &pairs).unwrap();
                assert_eq!(got, expected);
                // One at a time, and with hardly any memory.
                let mut small = verifier().with_cache(1 << 12);
                for (&pair, &expected) in pairs.iter().zip(&expected) {
                    let got = small.verify(&texts, Some(&samples), &[pair]).unwrap();
                    assert_eq!(got, [expected]);
                }
                let ratio = Ratio::of(measure).unwrap();
                let by_samples = verifier().by_samples((&samples, &table), ratio, &pairs);
                let open = verifier().are_open(&samples, &pairs);
                for ((said, open), similar) in by_samples.iter().zip(open).zip(&expected) {
                    assert_eq!(open, *said != BySamples::TooLow);
                    assert!(open || similar.is_none());
                }
                let all = by_samples.into_iter();
                decided += all.filter(|&said| said != BySamples::Open).count();
            }
        }
        assert!(decided > 1000, "{decided}");
    }
}
