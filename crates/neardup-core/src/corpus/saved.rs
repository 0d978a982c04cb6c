/*! A finished corpus in a folder, so that another run can continue with it.

The folder keeps what only the core reads: the texts and the shingle counts. The rest of a document
(identity, features and sketch) is stored by the caller and returned as [`Restored`].
*/

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Corpus, Memory, Restored, WAITING};
use crate::error::{Error, Result};
use crate::recipe::Recipe;
use crate::spill::Spill;
use crate::texts::TextStore;
use crate::verify::frequency_bytes::{shingles_from_bytes, shingles_to_bytes};

/// The file of the texts while the corpus is built.
pub(super) fn texts(folder: &Path) -> PathBuf {
    folder.join("texts")
}

fn shingles(folder: &Path) -> PathBuf {
    folder.join("shingles")
}

impl Corpus {
    /// Completes the files in the folder of its [`Memory`], so that the corpus can be opened from
    /// it. Does nothing if there is no folder.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&mut self) -> Result<()> {
        let Some(folder) = &self.memory.folder else {
            return Ok(());
        };
        self.texts.complete()?;
        if let Some(counted) = &self.counted {
            let mut file = Spill::create(&shingles(folder))?;
            file.append(&shingles_to_bytes(&counted.frequencies))?;
            file.complete()?;
        }
        Ok(())
    }

    /// The sketches of some documents, in memory or outside, as bytes in the format of
    /// [`to_bytes`](crate::candidates::Sketches::to_bytes).
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    ///
    /// # Panics
    ///
    /// If there are no such documents.
    pub fn sketch_bytes(&self, documents: Range<u32>) -> Result<Vec<Vec<u8>>> {
        let Some(store) = &self.outside else {
            return Ok(documents.map(|at| self.sketches.to_bytes(at)).collect());
        };
        let documents: Vec<u32> = documents.collect();
        let sketches = store.read(&documents)?;
        let all = 0..documents.len() as u32;
        Ok(all.map(|at| sketches.to_bytes(at)).collect())
    }

    /// A corpus with the texts that a corpus of the same recipe saved in the folder of a
    /// [`Memory`]. Its `documents` must then be [attached](Self::attach), and after that the
    /// corpus must be [finished](Self::finish). `has_counted` says whether shingles were counted;
    /// `digest` is that of the [frequencies](Self::frequencies_digest).
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, is damaged, or holds another number of documents.
    pub fn open(
        recipe: Recipe,
        memory: Memory,
        documents: usize,
        has_counted: bool,
        digest: Option<u64>,
    ) -> Result<Self> {
        let folder = memory.folder.clone().unwrap_or_default();
        let stored = TextStore::open(&texts(&folder), recipe.needs_document_frequencies())?;
        if stored.len() != documents {
            let expected = format!("those of {documents} documents");
            let found = format!("those of {}", stored.len());
            return Err(Error::input(
                "the stored texts of an earlier run",
                expected,
                found,
            ));
        }
        let mut corpus = Corpus::with_texts(recipe, stored, memory)?;
        if has_counted {
            let file = Spill::open(&shingles(&folder))?;
            let mut buffer = Vec::new();
            let counted = shingles_from_bytes(file.read(0, file.len(), &mut buffer)?)?;
            corpus.given = Some(Arc::new(counted));
        }
        corpus.digest = digest;
        Ok(corpus)
    }

    /// Adds the next documents of a corpus that was [opened](Self::open) and has their texts.
    ///
    /// # Errors
    ///
    /// If a sketch is not of the recipe's kind, or the sketches do not fit on the disk.
    pub fn attach(&mut self, documents: &[Restored<'_>]) -> Result<()> {
        for document in documents {
            self.push_restored(document)?;
        }
        self.move_outside(WAITING)
    }
}
