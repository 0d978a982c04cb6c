//! A finished corpus in files, for another run to go on with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Corpus, Memory};
use crate::bytes::Bytes;
use crate::candidates::{SketchStore, Sketches};
use crate::error::Result;
use crate::recipe::Recipe;
use crate::spill::Spill;
use crate::texts::TextStore;
use crate::verify::frequency_bytes::{shingles_from_bytes, shingles_to_bytes};

/// Changes whenever what is saved does.
const FORMAT: u64 = 2;

/// Documents whose sketches are read at a time where they belong into memory.
const TOGETHER: usize = 1 << 16;

/// Where texts and sketches wait while a corpus is made.
pub(super) fn texts(folder: &Path) -> PathBuf {
    folder.join("texts")
}

pub(super) fn sketches(folder: &Path) -> PathBuf {
    folder.join("sketches")
}

fn documents(folder: &Path) -> PathBuf {
    folder.join("documents")
}

fn shingles(folder: &Path) -> PathBuf {
    folder.join("shingles")
}

impl Corpus {
    /// Completes what is in the folder of its [`Memory`], from which it can be opened then.
    /// Without effect where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&mut self) -> Result<()> {
        let Some(folder) = self.memory.folder.clone() else {
            return Ok(());
        };
        let mut in_memory = None;
        if self.outside.is_none() {
            let bytes = Spill::create(&sketches(&folder))?;
            let mut store = SketchStore::new(self.recipe.sketch_settings(), bytes);
            store.extend(&self.sketches)?;
            store.complete()?;
            in_memory = Some(store);
        }
        if let Some(outside) = &mut self.outside {
            outside.complete()?;
        }
        self.texts.complete()?;
        if let Some(counted) = &self.counted {
            let mut file = Spill::create(&shingles(&folder))?;
            file.append(&shingles_to_bytes(&counted.frequencies))?;
            file.complete()?;
        }
        let ends = match (&self.outside, &in_memory) {
            (Some(store), _) | (None, Some(store)) => store.ends(),
            (None, None) => &[],
        };
        let mut file = Spill::create(&documents(&folder))?;
        let head = [
            FORMAT,
            self.len() as u64,
            self.texts.ends().len() as u64,
            u64::from(self.digest.is_some()),
            self.digest.unwrap_or(0),
            u64::from(self.counted.is_some()),
        ];
        for number in head.iter().chain(self.texts.ends()).chain(ends) {
            file.append(&number.to_le_bytes())?;
        }
        for identity in &self.identity {
            file.append(&identity.to_le_bytes())?;
        }
        for features in &self.features {
            file.append(&features.to_le_bytes())?;
        }
        file.complete()
    }

    /// The corpus that was saved in the folder of a [`Memory`], by the same recipe.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn open(recipe: Recipe, memory: Memory) -> Result<Self> {
        let folder = memory.folder.clone().unwrap_or_default();
        let file = Spill::open(&documents(&folder))?;
        let mut buffer = Vec::new();
        let stored = file.read(0, file.len(), &mut buffer)?;
        let mut rest = Bytes::new("the stored documents of an earlier run", stored);
        if rest.u64()? != FORMAT {
            return Err(rest.damaged("another version"));
        }
        let head = rest.items(5, u64::from_le_bytes)?;
        let (count, parts) = (head[0] as usize, head[1] as usize);
        let text_ends = rest.items(parts, u64::from_le_bytes)?;
        let sketch_ends = rest.items(count, u64::from_le_bytes)?;
        let identity = rest.items(count, u128::from_le_bytes)?;
        let features = rest.items(count, u32::from_le_bytes)?;
        rest.end()?;
        let settings = recipe.sketch_settings();
        let bytes = Spill::open(&sketches(&folder))?;
        let store = SketchStore::restored(settings, bytes, sketch_ends)?;
        let mut in_memory = Sketches::new(settings)?;
        let outside = if memory.lets_out(&in_memory) {
            Some(store)
        } else {
            let numbers: Vec<u32> = (0..count as u32).collect();
            for some in numbers.chunks(TOGETHER) {
                let read = store.read(some)?;
                for at in 0..some.len() as u32 {
                    in_memory.push_bytes(&read.to_bytes(at))?;
                }
            }
            None
        };
        let given = if head[4] == 1 {
            let file = Spill::open(&shingles(&folder))?;
            let mut buffer = Vec::new();
            let counted = shingles_from_bytes(file.read(0, file.len(), &mut buffer)?)?;
            Some(Arc::new(counted))
        } else {
            None
        };
        Ok(Corpus {
            texts: TextStore::restored(Spill::open(&texts(&folder))?, text_ends, parts > count)?,
            sketches: in_memory,
            outside,
            memory,
            identity,
            features,
            frequencies: None,
            digest: (head[2] == 1).then_some(head[3]),
            keeps_texts: true,
            counted: None,
            given,
            recipe,
        })
    }
}
