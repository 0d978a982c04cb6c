//! The samples of the texts of a corpus, and the shingles that are counted by them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::constants::SAMPLE;
use crate::error::Result;
use crate::identity::FirstByText;
use crate::ids::{DocId, Hash};
use crate::ragged::Ragged;
use crate::recipe::{Recipe, Scratch};
use crate::sketch::{Distinct, level_of};
use crate::verify::{DEFAULT_ENTRIES, Samples, ShingleFrequencies, is_short, sample_text};

/// The shingle counts, the texts that have a sample, and their samples.
#[derive(Debug)]
pub(super) struct Counted {
    k: usize,
    pub(super) texts: FirstByText,
    pub(super) frequencies: Arc<ShingleFrequencies>,
    pub(super) samples: Samples,
}

/// The settings that a thread needs to sample the shingles of a text.
#[derive(Clone, Copy)]
pub(super) struct Counting<'a> {
    counted: &'a Counted,
    identities: &'a [u128],
    /// Whether sketching samples the shingles anyway.
    are_sampled: bool,
}

/// The buffers of a thread, reused for each sample.
#[derive(Default)]
pub(super) struct Sampling {
    buffers: (Vec<u64>, Distinct),
    sample: Vec<Hash>,
}

/// The samples of some consecutive documents.
#[derive(Default)]
pub(super) struct Sampled {
    hashes: Ragged<Vec<Hash>>,
    /// The shingles of each document with a sample, and whether its text is short.
    documents: Vec<Option<(usize, bool)>>,
}

impl Sampled {
    /// The number of documents.
    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    pub(super) fn push_none(&mut self) {
        self.hashes.push(&[]);
        self.documents.push(None);
    }

    fn push(&mut self, hashes: &[Hash], shingles: usize, is_short: bool) {
        self.hashes.push(hashes);
        self.documents.push(Some((shingles, is_short)));
    }
}

impl Counting<'_> {
    /// Adds the sample of a normalized text with this identity and number of features; none if an
    /// earlier document has the same text.
    pub(super) fn sample(
        self,
        (text, identity, features): (&str, u128, usize),
        scratch: &Scratch,
        sampling: &mut Sampling,
        sampled: &mut Sampled,
    ) {
        if !self.are_sampled {
            self.sample_text((text, identity), sampling, sampled);
        } else if self.is_known(identity) {
            sampled.push_none();
        } else {
            // A sketch of all features needs all of them.
            let sample = Hash::of_level(level_of(features, SAMPLE), scratch.sample());
            sampled.push(sample, features, is_short(text));
        }
    }

    /// The same of a text that is not being sketched.
    pub(super) fn sample_text(
        self,
        (text, identity): (&str, u128),
        sampling: &mut Sampling,
        sampled: &mut Sampled,
    ) {
        if self.is_known(identity) {
            sampled.push_none();
            return;
        }
        let Sampling { buffers, sample } = sampling;
        let shingles = sample_text(text, self.counted.k, buffers, sample);
        sampled.push(sample, shingles, is_short(text));
    }

    /// Whether an earlier document has the text.
    fn is_known(self, identity: u128) -> bool {
        let texts = &self.counted.texts;
        texts.get(self.identities, identity).is_some()
    }
}

impl Counted {
    /// Counts shingles of `k` characters; at most about `most` bytes of samples stay in memory, and
    /// the others go to a file in `folder`.
    pub(super) fn new(k: usize, most: usize, folder: Option<PathBuf>) -> Self {
        Counted {
            k,
            texts: FirstByText::default(),
            frequencies: Arc::default(),
            samples: Samples::within(most, folder),
        }
    }

    /// The buffers with which a thread samples the next documents, by a recipe.
    pub(super) fn counting<'a>(&'a self, identities: &'a [u128], recipe: &Recipe) -> Counting<'a> {
        Counting {
            counted: self,
            identities,
            are_sampled: recipe.samples_shingles(self.k),
        }
    }

    /// Adds the next documents, from `first` on.
    ///
    /// # Errors
    ///
    /// If samples that do not fit into memory cannot be written.
    pub(super) fn add(
        &mut self,
        identities: &[u128],
        first: usize,
        sampled: &Sampled,
    ) -> Result<()> {
        self.samples.extend_to(first);
        let mut added = Ok(());
        let documents = sampled.hashes.iter().zip(&sampled.documents);
        for (document, (hashes, place)) in DocId::range(first..first + sampled.len()).zip(documents)
        {
            if let Some((shingles, is_short)) = *place
                && self.texts.insert(identities, document)
            {
                added = added.and(self.samples.push(hashes, shingles, is_short));
            }
            // After an error too, each document has a place.
            self.samples.extend_to(document.index() + 1);
        }
        added
    }

    /// Shares the sample of a text with all documents that have the same text.
    pub(super) fn share_samples(&mut self, identities: &[u128]) {
        let numbered = DocId::range(0..identities.len()).zip(identities);
        let first = numbered.map(|(document, &identity)| {
            let first = self.texts.get(identities, identity);
            first.unwrap_or(document)
        });
        self.samples.share(first.collect());
    }

    /// Counts all samples.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add), or if samples cannot be read from their file, or not written to it.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.samples.finish()?;
        let (counted, several) = ShingleFrequencies::of(&self.samples, DEFAULT_ENTRIES)?;
        self.samples.drop_short();
        self.samples.look_up(&counted, &several)?;
        self.frequencies = Arc::new(counted);
        Ok(())
    }
}
