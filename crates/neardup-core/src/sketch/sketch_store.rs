//! Sketches of more documents than fit into memory.

use std::path::Path;

use super::sketches::Sketches;
use crate::error::Result;
use crate::ids::DocId;
use crate::ragged::Ragged;
use crate::sketch::Settings;
use crate::spilled::Spilled;

/// Size of the write buffer in bytes.
const WAITING: usize = 4 << 20;

/// Sketches in a file, by document number. In memory they cost 8 bytes per document.
#[derive(Debug)]
pub struct SketchStore {
    settings: Settings,
    sketches: Ragged<Spilled<u8>>,
}

impl SketchStore {
    /// Bytes in memory, and in the file.
    pub fn bytes(&self) -> (u64, u64) {
        self.sketches.values().bytes()
    }

    /// An empty store in an unnamed file, in `folder` if there is one.
    pub fn new(settings: &Settings, folder: Option<&Path>) -> Self {
        SketchStore {
            settings: settings.clone(),
            sketches: Ragged::new(Spilled::new(WAITING, folder)),
        }
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.sketches.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.sketches.is_empty()
    }

    /// Bytes of all sketches.
    pub fn size(&self) -> usize {
        self.sketches.values().len()
    }

    /// Adds the sketches of the next documents, all or none.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn extend(&mut self, sketches: &Sketches) -> Result<()> {
        let before = self.len();
        DocId::range(0..sketches.len())
            .try_for_each(|document| self.sketches.push(&sketches.to_bytes(document)))
            .inspect_err(|_| self.sketches.truncate(before))
    }

    /// Reads the sketches of `documents`, in this order. Consecutive document numbers
    /// are read in one go.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn read(&self, documents: &[DocId]) -> Result<Sketches> {
        let mut sketches = Sketches::new(&self.settings)?;
        let mut buffer = Vec::new();
        for run in documents.chunk_by(|a, b| a.0 + 1 == b.0) {
            let run = run[0].index()..run[run.len() - 1].index() + 1;
            let mut rest = self.sketches.read(run.clone(), &mut buffer)?;
            for document in run {
                let (bytes, later) = rest.split_at(self.sketches.range(document).len());
                sketches.push_bytes(bytes)?;
                rest = later;
            }
        }
        Ok(sketches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;

    #[test]
    fn sketches_come_back_in_any_order() {
        let settings = Settings::Sample { size: 32 };
        let mut all = Sketches::new(&settings).unwrap();
        for document in 0..50_u32 {
            let values = (0..document % 7).map(|key| document + 10 * key).collect();
            let sketch = Sketch {
                values,
                level: document % 3,
                ..Sketch::default()
            };
            all.push(&sketch).unwrap();
        }
        let mut store = SketchStore::new(&settings, None);
        store.extend(&all).unwrap();
        for documents in [vec![], vec![3, 4, 5, 9, 8, 49, 0], (0..50).collect()] {
            let documents = DocId::all(&documents);
            let read = store.read(documents).unwrap();
            assert_eq!(read.len(), documents.len());
            for (at, &document) in (0..).map(DocId).zip(documents) {
                assert_eq!(read.to_bytes(at), all.to_bytes(document));
            }
        }
    }
}
