//! Verification of many pairs of one store in parallel.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::aligned::Aligned;
use super::measure::{Like, LookedAt, Measure};
use super::shingle_frequencies::ShingleFrequencies;
use super::units::Units;
use super::weighed::Scratch;
use super::{containment, edits};
use crate::error::Result;
use crate::texts::TextStore;

/// Bytes of profiles kept between loads, by default.
const CACHE_BYTES: usize = 192 << 20;

/// How often a text is looked up in probes before its data is made, which takes about as long.
const PROBED: u32 = 6;

/// Compares pairs of documents of a [`TextStore`] by a [`Measure`].
///
/// The data that a measure needs of a text is cached up to a fixed budget, because a document that
/// is a candidate often will be one again. At its first comparisons, its text is only looked up in
/// a table of the shingles of the other, which rules out most pairs. Neither affects a result.
#[derive(Debug)]
pub struct Verifier {
    measure: Measure,
    threshold: f64,
    frequencies: Option<Arc<ShingleFrequencies>>,
    looked_at: HashMap<u32, LookedAt, FxBuildHasher>,
    /// Units of the texts that may be similar to others.
    units: HashMap<u32, Units, FxBuildHasher>,
    bytes: usize,
    cache: usize,
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
            looked_at: HashMap::default(),
            units: HashMap::default(),
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
    /// [`Direction::FirstInSecond`](super::Direction::FirstInSecond).
    ///
    /// Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// If a text cannot be read back from the store.
    pub fn verify(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let open = self.rule_out(texts, pairs)?;
        let left = pairs.iter().zip(&open).filter(|&(_, &is_open)| is_open);
        let left: Vec<(u32, u32)> = left.map(|(&pair, _)| pair).collect();
        let mut compared = self.compare(texts, &left)?.into_iter();
        let of_each = open.into_iter();
        let of_each = of_each.map(|is_open| if is_open { compared.next()? } else { None });
        Ok(of_each.collect())
    }

    /// Whether each pair may still be similar. Only a pair whose second text was looked up fewer than
    /// [`PROBED`] times is ruled out here.
    fn rule_out(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<Vec<bool>> {
        let mut probed: Vec<(usize, (u32, u32))> = Vec::new();
        for (at, &(a, b)) in pairs.iter().enumerate() {
            if !self.measure.probes(texts.size(b as usize)) {
                continue;
            }
            let found = self.looked_at.entry(b).or_insert_with(|| {
                self.bytes += LookedAt::Few(0).bytes();
                LookedAt::Few(0)
            });
            if let LookedAt::Few(times) = found
                && *times < PROBED
            {
                *times += 1;
                probed.push((at, (a, b)));
            }
        }
        let mut open = vec![true; pairs.len()];
        let mut rest = &probed[..];
        while !rest.is_empty() {
            let count = self.load(texts, rest.iter().map(|&(_, (a, _))| [a]))?;
            let (now, later) = rest.split_at(count);
            let (looked_at, measure, threshold) = (&self.looked_at, self.measure, self.threshold);
            let may_be: Vec<bool> = now
                .par_iter()
                .with_min_len(16)
                .map_init(Default::default, |(buffer, scratch), &(_, (a, b))| {
                    let Some(own) = looked_at.get(&a) else {
                        return Ok(true);
                    };
                    let text = texts.text(b as usize, buffer)?;
                    Ok(measure.may_be_like((a, own), text, threshold, scratch))
                })
                .collect::<Result<_>>()?;
            for (&(at, _), may_be) in now.iter().zip(may_be) {
                open[at] = may_be;
            }
            rest = later;
        }
        Ok(open)
    }

    /// The similarity of each pair that is similar.
    fn compare(&mut self, texts: &TextStore, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let mut similarities = Vec::with_capacity(pairs.len());
        let mut rest = pairs;
        while !rest.is_empty() {
            let count = self.load(texts, rest.iter().map(|&(a, b)| [a, b]))?;
            let (now, later) = rest.split_at(count);
            let (looked_at, measure, threshold) = (&self.looked_at, self.measure, self.threshold);
            let alike: Vec<Option<Like>> = now
                .par_iter()
                .with_min_len(16)
                .map_init(Scratch::default, |scratch, (a, b)| {
                    measure.like(looked_at.get(a)?, looked_at.get(b)?, threshold, scratch)
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

    /// Processes the texts of the first of `groups` that are not in the cache, and returns
    /// the number of groups that are ready: at least one, and no more than the budget
    /// allows.
    fn load<const N: usize>(
        &mut self,
        texts: &TextStore,
        groups: impl Iterator<Item = [u32; N]>,
    ) -> Result<usize> {
        if self.bytes > self.cache {
            self.looked_at.clear();
            self.units.clear();
            self.bytes = 0;
        }
        let mut missing: Vec<u32> = Vec::new();
        let (mut count, mut wanted) = (0, 0);
        for group in groups {
            for id in group {
                let found = self.looked_at.entry(id).or_insert(LookedAt::Few(0));
                if matches!(found, LookedAt::Few(_)) {
                    *found = LookedAt::NotYet;
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

#[cfg(test)]
mod tests {
    use super::super::containment::Direction;
    use super::super::content::tests::text;
    use super::super::resemblance::Shingles;
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

    #[test]
    fn a_probe_rules_out_no_similar_pair() {
        // Texts of a form, of parts that many have and of parts that few have, short and long.
        let part = |number: u32| text(number * 40..number * 40 + 40);
        let all: Vec<String> = (0..32_u32)
            .map(|at| {
                let parts = (0..[1, 3, 9, 20][at as usize % 4]).map(|place| match place % 3 {
                    0 => place / 3,
                    1 => 100 + at / 8 + place,
                    _ => 200 + at / 3 + place * (at % 3),
                });
                format!("{}{at}", parts.map(part).collect::<String>())
            })
            .collect();
        let texts = store(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let mut table = ShingleFrequencies::default();
        let sets: Vec<Shingles> = all.iter().map(|text| Shingles::of(text, 2)).collect();
        table.add(&sets.iter().map(Shingles::hashes).collect::<Vec<_>>());
        let pairs: Vec<(u32, u32)> = (0..32).flat_map(|a| (0..32).map(move |b| (a, b))).collect();
        let contained = |direction| Measure::Containment { k: 2, direction };
        let table = Arc::new(table);
        let mut ruled_out = 0;
        for measure in [
            Measure::Resemblance { k: 2 },
            Measure::Content { k: 2 },
            contained(Direction::FirstInSecond),
            contained(Direction::Either),
            contained(Direction::Both),
        ] {
            for threshold in [0.0, 0.45, 0.8] {
                for frequencies in [None, Some(Arc::clone(&table))] {
                    let verifier = || Verifier::new(measure, threshold, frequencies.clone());
                    let expected = verifier().compare(&texts, &pairs).unwrap();
                    assert_eq!(verifier().verify(&texts, &pairs).unwrap(), expected);
                    // One at a time, and with hardly any memory.
                    let mut small = verifier().with_cache(1 << 12);
                    for (&pair, &expected) in pairs.iter().zip(&expected) {
                        assert_eq!(small.verify(&texts, &[pair]).unwrap(), [expected]);
                    }
                    let open = verifier().rule_out(&texts, &pairs).unwrap();
                    ruled_out += open.iter().filter(|&&is_open| !is_open).count();
                }
            }
        }
        assert!(ruled_out > 300, "{ruled_out}");
    }
}
