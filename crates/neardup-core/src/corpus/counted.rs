//! The shingle counts of a corpus while documents are added, and the samples that are counted.

use std::sync::Arc;

use super::document::Sketched;
use crate::identity::FirstByText;
use crate::recipe::Scratch;
use crate::segment::shingle_len;
use crate::sketch::{Distinct, is_long};
use crate::verify::{Sample, Samples, ShingleFrequencies, content_hashes, is_short};

/// The shingle counts, the texts that have a sample, and their samples.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) k: usize,
    pub(super) texts: FirstByText,
    pub(super) frequencies: Arc<ShingleFrequencies>,
    pub(super) samples: Samples,
    /// The first document whose sample is not counted yet.
    uncounted: usize,
    /// Shingles of those samples.
    waiting: usize,
}

/// The settings that a thread needs to sample the shingles of a text.
#[derive(Clone, Copy)]
pub(super) struct Counting<'a> {
    counted: &'a Counted,
    identities: &'a [u128],
    /// Whether sketching computes the shingles anyway.
    are_hashed: bool,
}

/// Scratch space of a thread that samples the shingles of a text.
#[derive(Default)]
pub(super) struct Buffers {
    hashes: Vec<u64>,
    distinct: Distinct,
}

impl Counting<'_> {
    /// The sample of a document, and whether its text is short; none if it has no features, or an
    /// earlier one has the same text.
    pub(super) fn of(
        self,
        made: &Sketched,
        scratch: &Scratch,
        buffers: &mut Buffers,
    ) -> Option<(Sample, bool)> {
        let Counted { k, texts, .. } = self.counted;
        if !made.has_features || texts.get(self.identities, made.identity).is_some() {
            return None;
        }
        let level = self.counted.frequencies.level();
        let Buffers { hashes, distinct } = buffers;
        let sample = if is_long(&made.text) {
            Sample::of_long(&made.text, shingle_len(&made.text, *k), level, hashes)
        } else if self.are_hashed {
            Sample::of_distinct(scratch.hashes(), level)
        } else {
            hashes.clear();
            content_hashes(&made.text, *k, hashes);
            Sample::of(hashes, level, distinct)
        };
        Some((sample, is_short(&made.text)))
    }
}

impl Counted {
    pub(super) fn new(k: usize) -> Self {
        Counted {
            k,
            texts: FirstByText::default(),
            frequencies: Arc::default(),
            samples: Samples::default(),
            uncounted: 0,
            waiting: 0,
        }
    }

    /// What a thread needs to sample the next documents.
    pub(super) fn counting<'a>(&'a self, identities: &'a [u128], are_hashed: bool) -> Counting<'a> {
        Counting {
            counted: self,
            identities,
            are_hashed,
        }
    }

    /// Adds the next documents, from `first` on. At most about `most` bytes of samples stay.
    pub(super) fn add(
        &mut self,
        identities: &[u128],
        first: u32,
        documents: &mut [Sketched],
        most: usize,
    ) {
        self.samples.extend_to(first as usize);
        for (document, made) in (first..).zip(documents) {
            let sample = made.sample.take();
            let sample = sample.filter(|_| self.texts.insert(identities, document));
            self.waiting += sample
                .as_ref()
                .map_or(0, |(sample, _)| sample.hashes().len());
            self.samples.push(sample);
        }
        // Counted at once if their samples will stay.
        if 10 * self.waiting >= most {
            self.count(most);
        }
    }

    /// Counts the samples that wait for it.
    pub(super) fn count(&mut self, most: usize) {
        if self.uncounted < self.samples.len() {
            // The corpus is the only owner until it is finished.
            let table = Arc::make_mut(&mut self.frequencies);
            table.add_samples(&self.samples.since(self.uncounted));
            self.keep_samples(most);
        }
    }

    /// Ends the counting.
    pub(super) fn finish(&mut self, most: usize) {
        let table = Arc::make_mut(&mut self.frequencies);
        table.finish(&self.samples.since(self.uncounted));
        self.keep_samples(most);
    }

    /// Keeps as many samples as there is room for, once they are counted.
    fn keep_samples(&mut self, most: usize) {
        let level = self.frequencies.level();
        self.samples.fit(level, self.uncounted, most);
        self.uncounted = self.samples.len();
        self.waiting = 0;
    }
}
