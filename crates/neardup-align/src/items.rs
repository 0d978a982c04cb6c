//! Items: short texts, such as the questions of a test, that are looked for in many documents.
//!
//! Each shingle of a document is looked up among the winnowed shingles of all items, and where
//! enough shingles of one item are near each other, the item is aligned with that part of the
//! document. What counts is the *cover*: the share of the item's letters that the document has,
//! without edited letters. Two titles of one form align throughout and differ in the
//! words that matter.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use neardup_core::error::Result;
use neardup_core::ragged::Ragged;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::letters::{Aligner, DENSE, Letters};
use super::paper::Paper;
use super::passages::Passage;
use super::shingles::winnowed;

/// The length of the longest item that may be called short, in Chinese characters; twice as many
/// letters of an alphabet. Passages of longer items need not be longer.
const LONG_ITEM: u32 = 20;

/// One in this many of an item's shingles must be found before it is aligned: a passage with an
/// edit in every tenth letter has a third of them.
const ASKED: usize = 5;

/// A shingle that more items have tells them too little from each other.
const MOST_ITEMS: usize = 64;

/// The letters between the shingles of an item in a document: twice those of the item and these,
/// for marks and answers between its parts.
const BETWEEN: usize = 100;

/// Texts that are looked for in documents.
///
/// # Examples
///
/// ```
/// use neardup_align::{Aligner, Items};
///
/// let aligner = Aligner::new();
/// let question = "Which of these rivers flows through three capitals on its way to the sea?";
/// let items = Items::new(aligner, vec![question.to_owned()], 20)?;
/// let text = format!("Question 7\n\n{}\nAnswer: B", question.replace(' ', "\n"));
/// let found = items.find(&text, 0.8)?;
/// assert_eq!((found[0].item, found[0].cover), (0, 1.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Items {
    aligner: Aligner,
    /// The length of the shortest passage of an item, in Chinese characters. Half of an item's
    /// length at most, so that edits in its middle hide nothing.
    least: u32,
    texts: Vec<String>,
    items: Vec<Item>,
    /// The number of each winnowed shingle.
    numbers: FxHashMap<u64, u32>,
    /// A set bit for each winnowed shingle, at the upper bits of its hash.
    bits: Vec<u64>,
    shift: u32,
    /// The items that a shingle brings, by its number.
    lists: Ragged<Vec<u32>>,
    /// The number of documents that have each shingle.
    documents: Vec<AtomicU32>,
}

#[derive(Debug)]
struct Item {
    letters: u32,
    /// The shingles that bring the item which a document must have.
    asked: u32,
    /// The winnowed shingles: number and first letter.
    shingles: Vec<(u32, u32)>,
}

/// An item in a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The item's position.
    pub item: u32,
    /// The share of the item's letters that the document has, in [0, 1].
    pub cover: f64,
    /// The passages, with the item as the paper and the document as the source.
    pub passages: Vec<Passage>,
    /// The letters of the item in its passages, as disjoint spans in ascending order.
    pub covered: Vec<Range<u32>>,
    /// The number of these that were edited.
    pub edited: u32,
}

/// A shingle of an item in a document: the item, the letter where it begins, its number.
type Hit = (u32, u32, u32);

impl Items {
    /// Prepares items: O(n) for n letters. What is shorter than `shortest`, in Chinese characters or
    /// half of the letters of an alphabet, or than a shingle, is not looked for.
    ///
    /// # Errors
    ///
    /// If a text is longer than the stages accept.
    pub fn new(aligner: Aligner, texts: Vec<String>, shortest: u32) -> Result<Self> {
        let mut numbers = FxHashMap::default();
        let mut items = Vec::with_capacity(texts.len());
        let sketched: Vec<(usize, Vec<(u64, u32)>)> = texts
            .par_iter()
            .map(|text| sketched(&aligner, text, shortest))
            .collect::<Result<_>>()?;
        for (letters, chosen) in sketched {
            let shingles = chosen
                .iter()
                .map(|&(hash, at)| {
                    let next = numbers.len() as u32;
                    (*numbers.entry(hash).or_insert(next), at)
                })
                .collect();
            items.push(Item {
                letters: letters as u32,
                asked: 0,
                shingles,
            });
        }
        let lists = listed(&mut items, numbers.len());
        // One bit in sixteen is set.
        let width = (16 * numbers.len()).next_power_of_two().max(64);
        let shift = 64 - width.ilog2();
        let mut bits = vec![0_u64; width / 64];
        for &hash in numbers.keys() {
            let at = (hash >> shift) as usize;
            bits[at / 64] |= 1 << (at % 64);
        }
        Ok(Items {
            aligner,
            least: shortest.min(LONG_ITEM) / 2,
            texts,
            items,
            documents: (0..numbers.len()).map(|_| AtomicU32::new(0)).collect(),
            numbers,
            bits,
            shift,
            lists,
        })
    }

    /// Whether each item is long enough to be looked for.
    pub fn are_decidable(&self) -> impl Iterator<Item = bool> {
        self.items.iter().map(|item| !item.shingles.is_empty())
    }

    /// The items of which a document has at least the share `least_cover`, each as often as it
    /// has it, in the order of their positions; and counts the document for [`Items::cover`].
    ///
    /// O(n + m) for a document of n letters and candidates of m letters.
    ///
    /// # Errors
    ///
    /// If the text is longer than the stages accept.
    pub fn find(&self, text: &str, least_cover: f64) -> Result<Vec<Finding>> {
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (place, hash) in self.aligner.hashes(text)?.into_iter().enumerate() {
            let at = (hash >> self.shift) as usize;
            if self.bits[at / 64] >> (at % 64) & 1 != 0
                && let Some(&number) = self.numbers.get(&hash)
            {
                places.push((number, place as u32));
            }
        }
        if places.is_empty() {
            return Ok(Vec::new());
        }
        places.sort_unstable();
        let mut hits: Vec<Hit> = Vec::new();
        for same in places.chunk_by(|a, b| a.0 == b.0) {
            let number = same[0].0;
            self.documents[number as usize].fetch_add(1, Ordering::Relaxed);
            for &item in self.items_of(number) {
                hits.extend(same.iter().map(|&(_, place)| (item, place, number)));
            }
        }
        hits.sort_unstable();
        let mut found = Vec::new();
        let mut letters = None;
        for of_item in hits.chunk_by(|a, b| a.0 == b.0) {
            let number = of_item[0].0 as usize;
            let regions = self.items[number].regions(of_item);
            if regions.is_empty() {
                continue;
            }
            let item = Paper::new(self.aligner.letters(&self.texts[number])?);
            if letters.is_none() {
                letters = Some(self.aligner.letters(text)?);
            }
            let document = letters.as_ref().expect("set above");
            for region in regions {
                self.align(&item, document, of_item, region, least_cover, &mut found);
            }
        }
        Ok(found)
    }

    /// Aligns an item with a part of a document, and again with what is left on both sides.
    fn align(
        &self,
        item: &Paper,
        document: &Letters,
        hits: &[Hit],
        region: Range<usize>,
        least_cover: f64,
        found: &mut Vec<Finding>,
    ) {
        let number = hits[0].0;
        let asked = self.items[number as usize].asked as usize;
        let margin = item.letters().len();
        let whole = region.start.saturating_sub(margin)..(region.end + margin).min(document.len());
        let mut waiting = vec![whole];
        while let Some(part) = waiting.pop() {
            if distinct(within(hits, &part)) < asked {
                continue;
            }
            let passages = item.passages(&document.part(part.clone()), self.least);
            let covered = covered(&passages, item.letters());
            let pieces = passages.iter().flat_map(|passage| &passage.pieces);
            let edited = pieces.map(|piece| piece.edited).sum();
            let all = covered.iter().map(|span| span.end - span.start).sum();
            let cover = share(all, edited, item.letters().len() as u32);
            let Some(taken) = source_letters(&passages, document) else {
                continue;
            };
            if cover < least_cover || taken.is_empty() {
                continue;
            }
            found.push(Finding {
                item: number,
                cover,
                passages,
                covered,
                edited,
            });
            // The left part is taken next, so findings are in the order of the document.
            waiting.push(taken.end..part.end);
            waiting.push(part.start..taken.start);
        }
    }

    /// The cover of a finding without what more than `most` documents have; none if nearly all of
    /// the item is such wording. All documents must have been looked at.
    pub fn cover(&self, finding: &Finding, most: u32) -> Option<f64> {
        let item = &self.items[finding.item as usize];
        let is_common =
            |number: u32| self.documents[number as usize].load(Ordering::Relaxed) > most;
        if !item.shingles.iter().any(|&(number, _)| is_common(number)) {
            return Some(finding.cover);
        }
        let letters = self
            .aligner
            .letters(&self.texts[finding.item as usize])
            .ok()?;
        let mut is_counted = vec![true; letters.len()];
        for &(number, at) in &item.shingles {
            if is_common(number) {
                let begin = at as usize;
                let end = letters.end_of(begin, super::shingles::SHINGLE)?;
                is_counted[begin..end].fill(false);
            }
        }
        let all = is_counted.iter().filter(|counts| **counts).count() as u32;
        let weight: u32 = (0..is_counted.len())
            .filter(|&at| is_counted[at])
            .map(|at| letters.weight(at, at + 1))
            .sum();
        if weight < self.least * DENSE {
            return None;
        }
        let places = finding.covered.iter().cloned().flatten();
        let there = places.filter(|&at| is_counted[at as usize]).count() as u32;
        Some(share(there, finding.edited, all))
    }

    fn items_of(&self, number: u32) -> &[u32] {
        self.lists.list(number as usize)
    }
}

impl Item {
    /// The parts of a document in which enough of the item's shingles are near each other.
    fn regions(&self, hits: &[Hit]) -> Vec<Range<usize>> {
        let asked = self.asked as usize;
        let mut regions: Vec<Range<usize>> = Vec::new();
        if distinct(hits) < asked {
            return regions;
        }
        let reach = 2 * self.letters as usize + BETWEEN;
        let mut last = 0;
        for first in 0..hits.len() {
            let begin = hits[first].1 as usize;
            last = last.max(first);
            while last + 1 < hits.len() && hits[last + 1].1 as usize - begin <= reach {
                last += 1;
            }
            if last - first + 1 < asked {
                continue;
            }
            let end = hits[last].1 as usize + 1;
            match regions.last_mut() {
                // Parts that are searched on both sides of two regions would overlap.
                Some(before) if begin <= before.end + 2 * self.letters as usize => {
                    before.end = before.end.max(end);
                }
                _ => regions.push(begin..end),
            }
        }
        regions
    }
}

/// The number of an item's letters, and its winnowed shingles with their places; none if it is too
/// short.
fn sketched(aligner: &Aligner, text: &str, shortest: u32) -> Result<(usize, Vec<(u64, u32)>)> {
    let letters = aligner.letters(text)?;
    if letters.weight(0, letters.len()) < shortest * DENSE {
        return Ok((letters.len(), Vec::new()));
    }
    let all = super::shingles::hashes(&letters);
    let chosen = winnowed(&all).map(|at| (all[at], at as u32)).collect();
    Ok((letters.len(), chosen))
}

/// The items that each shingle brings. Sets what items ask for.
fn listed(items: &mut [Item], shingles: usize) -> Ragged<Vec<u32>> {
    let distinct = |item: &Item| {
        let mut numbers: Vec<u32> = item.shingles.iter().map(|&(number, _)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    let mut having = vec![0_usize; shingles];
    for number in items.iter().flat_map(distinct) {
        having[number as usize] += 1;
    }
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (at, item) in items.iter_mut().enumerate() {
        let all = distinct(item);
        let rare = |number: &u32| having[*number as usize] <= MOST_ITEMS;
        let some: Vec<u32> = all.iter().copied().filter(rare).collect();
        // An item that has only what many items have is brought by all of it.
        let chosen = if some.len() > 1 { some } else { all };
        item.asked = chosen.len().div_ceil(ASKED).max(chosen.len().min(2)) as u32;
        pairs.extend(chosen.into_iter().map(|number| (number, at as u32)));
    }
    pairs.sort_unstable();
    let mut pairs = pairs.into_iter().peekable();
    let mut lists = Ragged::default();
    for number in 0..shingles as u32 {
        let items = std::iter::from_fn(|| pairs.next_if(|&(of, _)| of == number));
        lists.push_with(|all: &mut Vec<u32>| all.extend(items.map(|(_, item)| item)));
    }
    lists
}

/// The number of different shingles.
fn distinct(hits: &[Hit]) -> usize {
    let mut numbers: Vec<u32> = hits.iter().map(|&(_, _, number)| number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len()
}

/// The hits that begin in a region; hits are sorted by place.
fn within<'a>(hits: &'a [Hit], region: &Range<usize>) -> &'a [Hit] {
    let begin = hits.partition_point(|hit| (hit.1 as usize) < region.start);
    let end = hits.partition_point(|hit| (hit.1 as usize) < region.end);
    &hits[begin..end.max(begin)]
}

/// The letters of the document from the first to the last passage; none without passages.
fn source_letters(passages: &[Passage], document: &Letters) -> Option<Range<usize>> {
    let begin = passages.iter().map(|one| one.source_begin).min()?;
    let end = passages.iter().map(|one| one.source_end).max()?;
    Some(document.within(begin, end))
}

/// The letters of the item that some passages cover: disjoint spans in ascending order.
fn covered(passages: &[Passage], item: &Letters) -> Vec<Range<u32>> {
    let mut spans: Vec<Range<usize>> = passages
        .iter()
        .flat_map(|passage| &passage.pieces)
        .map(|piece| item.within(piece.begin, piece.end))
        .collect();
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<u32>> = Vec::new();
    for span in spans {
        let span = span.start as u32..span.end as u32;
        match joined.last_mut() {
            Some(before) if span.start <= before.end => before.end = before.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// The share of `all` letters that are `covered` and not `edited`.
fn share(covered: u32, edited: u32, all: u32) -> f64 {
    f64::from(covered.saturating_sub(edited)) / f64::from(all.max(1))
}
