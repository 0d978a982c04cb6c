//! Verification of many pairs of one store in parallel.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::alignment::Aligned;
use super::by_samples::{BySamples, FewestShared, Ratio, SampleBounds};
use super::cache::{Cache, FromTexts, Values};
use super::contest::Contest;
use super::counted_sample::CountedSample;
use super::measure::Measure;
use super::most::Most;
use super::noise::may_be_scattered;
use super::order_bound::{OrderBound, is_long};
use super::profile::Profile;
use super::samples::{InFile, Samples};
use super::units::Units;
use super::verdict::Verdict;
use super::weighed::Scratch;
use crate::error::Result;
use crate::ids::DocId;
use crate::shingle_frequencies::ShingleFrequencies;
use crate::similar::Similar;
use crate::texts::TextStore;

/// Bytes of profiles and units kept between loads, by default.
const CACHE_BYTES: usize = 192 << 20;

/// Compares pairs of documents of a [`TextStore`] by a [`Measure`].
///
/// By content and containment, the samples of two documents decide about most pairs. For the others,
/// the profile of a text that the measure compares is cached up to a fixed budget, because a
/// document that is a candidate often will be one again. Neither affects a result.
#[derive(Debug)]
pub struct Verifier {
    verdict: Box<dyn Verdict>,
    threshold: f64,
    /// Made for the first pair of samples: a look-up in an index never needs it.
    fewest: OnceLock<FewestShared>,
    frequencies: Option<Arc<ShingleFrequencies>>,
    profiles: Cache<Profile>,
    /// Units of the texts that may be similar to others.
    units: Cache<Units>,
    /// Samples that are in a file.
    samples: Cache<Box<[u32]>>,
    /// Documents with a candidate that is not similar only because of unique text: the candidate that would be
    /// the most similar, or the first of equal ones.
    kept_by_unique_text: FxHashMap<DocId, Similar<DocId>>,
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
            verdict: measure.verdict(),
            threshold,
            fewest: OnceLock::new(),
            frequencies,
            profiles: Cache::new(CACHE_BYTES / 2),
            units: Cache::new(CACHE_BYTES / 2),
            samples: Cache::new(CACHE_BYTES / 2),
            kept_by_unique_text: FxHashMap::default(),
        }
    }

    /// The same verifier with a cache of `cache` bytes, and half as many for samples that are read from a
    /// file. At most about as many bytes are computed at once, by an upper estimate.
    pub fn with_cache(self, cache: usize) -> Self {
        Verifier {
            profiles: Cache::new(cache / 2),
            units: Cache::new(cache / 2),
            samples: Cache::new(cache / 2),
            ..self
        }
    }

    /// Bytes of the texts that were read so far. A text that was read again counts again.
    pub fn bytes_compared(&self) -> u64 {
        self.profiles.read() + self.units.read()
    }

    /// Forgets a document that [`best`](Self::best) was asked for, and returns the candidate of it that
    /// would be similar without the unique text of one of the two.
    pub fn take_kept_by_unique_text(&mut self, document: DocId) -> Option<Similar<DocId>> {
        self.kept_by_unique_text.remove(&document)
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
        pairs: &[(DocId, DocId)],
    ) -> Result<Vec<Option<f64>>> {
        let bounds = self.bounds(texts, samples, pairs)?;
        let open = pairs.iter().zip(&bounds);
        let open = open.filter_map(|(&pair, &most)| Some((pair, most?)));
        let mut aligned = self.align(texts, &open.collect::<Vec<_>>())?.into_iter();
        let all = bounds.iter();
        let all = all.map(|most| most.and_then(|_| aligned.next()?.similarity));
        Ok(all.collect())
    }

    /// The bound of each pair by its samples; by its texts, if the samples leave it open.
    fn bounds(
        &mut self,
        texts: &TextStore,
        samples: Option<&Samples>,
        pairs: &[(DocId, DocId)],
    ) -> Result<Vec<Option<Most>>> {
        let sampled = match (samples, &self.frequencies, self.verdict.ratio()) {
            (Some(samples), Some(table), Some(ratio)) => {
                let table = Arc::clone(table);
                self.by_samples((samples, &table), ratio, pairs)?
            }
            _ => vec![BySamples::Open; pairs.len()],
        };
        let all = pairs.iter().zip(&sampled);
        let open = all.filter(|(_, sampled)| matches!(sampled, BySamples::Open));
        let open: Vec<(DocId, DocId)> = open.map(|(&pair, _)| pair).collect();
        let mut open = self.compare(texts, &open)?.into_iter();
        let all = sampled.into_iter().map(|sampled| match sampled {
            BySamples::TooLow => None,
            BySamples::AtMost(most) => Some(most),
            BySamples::Open => open.next().flatten(),
        });
        Ok(all.collect())
    }

    /// For each document, its most similar candidate and their similarity; of several the first, and
    /// `None` if none is similar. `groups` are the ends of the documents' candidates in `pairs`.
    ///
    /// What [`verify`](Self::verify) says of all pairs decides, if `counts` of the pair and its
    /// similarity; but of a document only those candidates are aligned that may be better than the best
    /// so far: the most promising one first. Runs on the current rayon pool.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify).
    pub fn best(
        &mut self,
        texts: &TextStore,
        samples: Option<&Samples>,
        pairs: &[(DocId, DocId)],
        groups: &[usize],
        counts: impl Fn((DocId, DocId), f64) -> bool,
    ) -> Result<Vec<Option<Similar<usize>>>> {
        let bounds = self.bounds(texts, samples, pairs)?;
        let mut begin = 0;
        let mut contests: Vec<Contest> = Vec::with_capacity(groups.len());
        for &end in groups {
            contests.push(Contest::of(begin, &bounds[begin..end]));
            begin = end;
        }
        // The first one often wins. Where it does not, twice as many each time keep all threads busy.
        let mut many = 1;
        loop {
            let mut next = Vec::new();
            for (number, contest) in contests.iter_mut().enumerate() {
                next.extend(contest.next(many).map(|at| (number, at)));
            }
            if next.is_empty() {
                break;
            }
            let open = next
                .iter()
                .filter_map(|&(_, at)| Some((pairs[at], bounds[at]?)));
            let aligned = self.align(texts, &open.collect::<Vec<_>>())?;
            for ((number, at), alike) in next.into_iter().zip(aligned) {
                let similarity = alike.similarity;
                if let Some(similarity) = similarity.filter(|&found| counts(pairs[at], found)) {
                    contests[number].enter(at, similarity);
                }
                if let Some(similarity) = alike.without_unique_text {
                    let (document, other) = pairs[at];
                    let next = Similar {
                        of: other,
                        similarity,
                    };
                    let best = self.kept_by_unique_text.entry(document).or_insert(next);
                    if next.order(best).is_lt() {
                        *best = next;
                    }
                }
            }
            many *= 2;
        }
        Ok(contests.iter().map(Contest::best).collect())
    }

    /// Whether the texts of each pair must be compared: `false` where the samples rule out that they
    /// are similar. `sample` has that of each text, if there is one. Runs on the current rayon pool.
    pub fn are_open<'s>(
        &self,
        sample: impl Fn(DocId) -> Option<CountedSample<'s>> + Sync,
        pairs: &[(DocId, DocId)],
    ) -> Vec<bool> {
        match (&self.frequencies, self.verdict.ratio()) {
            (Some(table), Some(ratio)) => {
                let mut found = Vec::with_capacity(pairs.len());
                let bounds = SampleBounds::new(ratio, table, self.threshold, &self.fewest);
                bounds.add_bounds(pairs, sample, &mut found);
                let found = found.into_iter();
                found.map(|found| found != BySamples::TooLow).collect()
            }
            _ => vec![true; pairs.len()],
        }
    }

    /// The bound of each pair by its samples.
    fn by_samples(
        &mut self,
        (samples, table): (&Samples, &ShingleFrequencies),
        ratio: Ratio,
        pairs: &[(DocId, DocId)],
    ) -> Result<Vec<BySamples>> {
        let bounds = SampleBounds::new(ratio, table, self.threshold, &self.fewest);
        let mut found = Vec::with_capacity(pairs.len());
        let mut add = |pairs: &[(DocId, DocId)], read: &Values<Box<[u32]>>| {
            let read = |id| read.get(&samples.owner(id)).map(|numbers| &**numbers);
            bounds.add_bounds(pairs, |id| samples.get(id, read(id)), &mut found);
        };
        match samples.are_in_file() {
            true => {
                // Documents with the same text have the same numbers, which are read once.
                let owners = |&(a, b): &(DocId, DocId)| (samples.owner(a), samples.owner(b));
                self.samples
                    .for_each(&InFile(samples), pairs, owners, add)?;
            }
            false => add(pairs, &Values::default()),
        }
        Ok(found)
    }

    /// The bound of each pair by its texts, before they are aligned.
    fn compare(
        &mut self,
        texts: &TextStore,
        pairs: &[(DocId, DocId)],
    ) -> Result<Vec<Option<Most>>> {
        let (verdict, threshold) = (&*self.verdict, self.threshold);
        let frequencies = self.frequencies.as_deref();
        let mut bounds = Vec::with_capacity(pairs.len());
        let of_texts = FromTexts(texts, |text: &str| verdict.prepare(text));
        let of_pair = |&pair: &(DocId, DocId)| pair;
        self.profiles
            .for_each(&of_texts, pairs, of_pair, |pairs, profiles| {
                let all = pairs.par_iter().with_min_len(16);
                bounds.par_extend(all.map_init(Scratch::default, |scratch, (a, b)| {
                    let both = (profiles.get(a)?, profiles.get(b)?);
                    verdict.bound(both, frequencies, threshold, scratch)
                }));
            })?;
        Ok(bounds)
    }

    /// The similarity of each pair that is similar, aligned where that decides.
    fn align(&mut self, texts: &TextStore, pairs: &[((DocId, DocId), Most)]) -> Result<Vec<Alike>> {
        let (verdict, threshold) = (&*self.verdict, self.threshold);
        if !verdict.aligns() {
            let all = pairs.iter();
            let all = all.map(|(_, most)| Alike {
                similarity: at_least(threshold, most.similarity),
                without_unique_text: None,
            });
            return Ok(all.collect());
        }
        let mut found = Vec::with_capacity(pairs.len());
        let of_texts = FromTexts(texts, Units::of);
        let of_pair = |&(pair, _): &(_, Most)| pair;
        self.units
            .for_each(&of_texts, pairs, of_pair, |pairs, units| {
                let of_pair =
                    |order: &mut OrderBound, ((number, b), most): &((DocId, DocId), Most)| {
                        let (Some(a), Some(b)) = (units.get(number), units.get(b)) else {
                            return Alike::default();
                        };
                        if most.similarity < threshold && !may_be_scattered(a, b) {
                            return Alike::default();
                        }
                        let score = |most, aligned: &Aligned| {
                            at_least(threshold, verdict.finish(most, aligned))
                        };
                        let without_unique_text = most.without_unique_text();
                        if is_long(a, b)
                            && score(without_unique_text, &order.best(*number, a, b)).is_none()
                        {
                            return Alike::default();
                        }
                        let aligned = Aligned::of(a, b);
                        let similarity = score(*most, &aligned);
                        Alike {
                            similarity,
                            without_unique_text: match similarity {
                                Some(_) => None,
                                None => score(without_unique_text, &aligned),
                            },
                        }
                    };
                found.par_extend(pairs.par_iter().map_init(OrderBound::default, of_pair));
            })?;
        Ok(found)
    }
}

fn at_least(threshold: f64, similarity: f64) -> Option<f64> {
    (similarity >= threshold).then_some(similarity)
}

/// The result of aligning a pair.
#[derive(Clone, Copy, Debug, Default)]
struct Alike {
    similarity: Option<f64>,
    /// The similarity that the pair would have but for what one text says of its own, if only that
    /// keeps it from being similar.
    without_unique_text: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::super::containment::Direction;
    use super::super::content::tests::text;
    use super::super::sample::sample_text;
    use super::*;
    use crate::ids::Hash;

    fn pairs<const N: usize>(pairs: [(u32, u32); N]) -> [(DocId, DocId); N] {
        pairs.map(|(a, b)| (DocId(a), DocId(b)))
    }

    fn store(all: &[&str]) -> TextStore {
        let mut texts = TextStore::new(1 << 20, None, false);
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
            .verify(&texts, None, &pairs([(0, 2), (0, 1), (1, 0), (2, 2)]))
            .unwrap();
        assert_eq!(got, [None, Some(0.5), Some(0.5), Some(1.0)]);
    }

    #[test]
    fn by_containment_the_direction_is_looked_at() {
        let part = "渡口管理处说本班船的票已经售完请旅客改乘后面的船";
        let whole = format!("今日停航夜间安排人值守复航时间另行通知{part}");
        let texts = store(&[part, &whole, &whole.replace("另行通知", "已经定下")]);
        let pairs = pairs([(0, 1), (1, 0), (1, 2), (2, 1)]);
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
        let texts = store(&["渡船早上八人开船", "渡船早上九人开船", "。。", "。", "码头"]);
        let pairs = pairs([(0, 1), (2, 2), (2, 3), (0, 4), (4, 0)]);
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
        let pairs = pairs([(0, 0), (0, 1), (2, 3), (2, 4), (0, 2)]);
        let mut verifier = Verifier::new(Measure::Content { k: 5 }, 0.5, None);
        let got = verifier.verify(&texts, None, &pairs).unwrap();
        assert_eq!(got, [Some(1.0), None, Some(1.0), None, None]);
    }

    /// Texts of a template, of common parts and of rare parts, short and long.
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
        let mut buffers = Default::default();
        let sampled = |text: &String| {
            let mut sample = Vec::new();
            (sample_text(text, 2, &mut buffers, &mut sample), sample)
        };
        let sampled: Vec<(usize, Vec<Hash>)> = all.iter().map(sampled).collect();
        let all_of = || DocId::range(0..32);
        let pairs: Vec<_> = all_of()
            .flat_map(|a| all_of().map(move |b| (a, b)))
            .collect();
        let mut decided = 0;
        for entries in [1 << 20, 100] {
            let mut table = ShingleFrequencies::default();
            // All in memory, some or all in a file.
            let every = [usize::MAX, 8_000, 0].map(|most| {
                let mut samples = Samples::within(most, None);
                for (text, (shingles, hashes)) in all.iter().zip(&sampled) {
                    let is_short = text.chars().count() < 50;
                    samples.push(hashes, *shingles, is_short).unwrap();
                }
                samples.finish().unwrap();
                let (counted, several) = ShingleFrequencies::of(&samples, entries).unwrap();
                table = counted;
                assert_eq!(table.level() > 0, entries == 100);
                samples.drop_short();
                samples.look_up(&table, &several).unwrap();
                samples
            });
            let are_in_file = every.each_ref().map(Samples::are_in_file);
            assert_eq!(are_in_file, [false, true, true]);
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
                // Of the candidates of each text the best one, the first of equal ones.
                let groups: Vec<usize> = (1..=32).map(|text| text * 32).collect();
                let best = verifier().best(&texts, Some(&every[0]), &pairs, &groups, |_, _| true);
                for (text, best) in best.unwrap().into_iter().enumerate() {
                    let of_text = text * 32..(text + 1) * 32;
                    let similar = of_text.filter_map(|of| {
                        let similarity = expected[of]?;
                        Some(Similar { of, similarity })
                    });
                    assert_eq!(best, Similar::best(similar));
                }
                let ratio = measure.verdict().ratio().unwrap();
                let by_samples = verifier().by_samples((&every[0], &table), ratio, &pairs);
                let by_samples = by_samples.unwrap();
                let open = verifier().are_open(|text| every[0].get(text, None), &pairs);
                for samples in &every {
                    let got = verifier().verify(&texts, Some(samples), &pairs).unwrap();
                    assert_eq!(got, expected);
                    // One at a time, and with hardly any memory.
                    let mut small = verifier().with_cache(1 << 12);
                    for (&pair, &expected) in pairs.iter().zip(&expected) {
                        let got = small.verify(&texts, Some(samples), &[pair]).unwrap();
                        assert_eq!(got, [expected]);
                    }
                    let found = verifier().by_samples((samples, &table), ratio, &pairs);
                    assert_eq!(found.unwrap(), by_samples);
                }
                for ((found, open), similar) in by_samples.iter().zip(open).zip(&expected) {
                    assert_eq!(open, *found != BySamples::TooLow);
                    assert!(open || similar.is_none());
                }
                let all = by_samples.into_iter();
                decided += all.filter(|&found| found != BySamples::Open).count();
            }
        }
        assert!(decided > 1000, "{decided}");
    }

    #[test]
    fn documents_with_one_text_share_a_sample_in_memory_and_in_a_file() {
        // No other text has the shingles of the second half of each.
        let unique = |at: u32| text(10_000 + at * 100..10_060 + at * 100);
        let all = (0..).zip(collection());
        let all: Vec<String> = all.map(|(at, text)| text + &unique(at)).collect();
        // Two more documents repeat the last texts, whose samples are in the file.
        let mut documents = all.clone();
        documents.extend([all[30].clone(), all[31].clone()]);
        let texts = store(&documents.iter().map(String::as_str).collect::<Vec<_>>());
        let pairs: Vec<_> = (0..32)
            .flat_map(|a| pairs([(a, 32), (33, a), (32, 33)]))
            .collect();
        for most in [usize::MAX, 8_000] {
            let mut samples = Samples::within(most, None);
            let mut buffers = Default::default();
            for text in &all {
                let mut hashes = Vec::new();
                let shingles = sample_text(text, 2, &mut buffers, &mut hashes);
                samples.push(&hashes, shingles, false).unwrap();
            }
            samples.extend_to(documents.len());
            samples.finish().unwrap();
            let (table, several) = ShingleFrequencies::of(&samples, 1 << 20).unwrap();
            samples.look_up(&table, &several).unwrap();
            samples.share((0..32).chain([30, 31]).map(DocId).collect());
            let verifier = || {
                let table = Some(Arc::new(table.clone()));
                Verifier::new(Measure::Content { k: 2 }, 0.45, table)
            };
            let expected = verifier().verify(&texts, None, &pairs).unwrap();
            assert_eq!(
                expected.iter().filter(|&&found| found == Some(1.0)).count(),
                2
            );
            let found = verifier().verify(&texts, Some(&samples), &pairs).unwrap();
            assert_eq!(found, expected);
        }
    }
}
