//! Sketches of more documents than fit into memory.

use super::sketches::Sketches;
use crate::error::{Error, Result};
use crate::sketch::Settings;
use crate::spill::Spill;

/// Sketches in a file, by document number: 8 bytes a document in memory.
#[derive(Debug)]
pub struct SketchStore {
    settings: Settings,
    ends: Vec<u64>,
    bytes: Spill,
}

impl SketchStore {
    /// None yet, in `bytes`, which are empty.
    pub fn new(settings: &Settings, bytes: Spill) -> Self {
        SketchStore {
            settings: settings.clone(),
            ends: Vec::new(),
            bytes,
        }
    }

    /// Those that an earlier run stored, and where each of them ends.
    ///
    /// # Errors
    ///
    /// If the two do not belong together.
    pub fn restored(settings: &Settings, bytes: Spill, ends: Vec<u64>) -> Result<Self> {
        if !ends.is_sorted() || ends.last().copied().unwrap_or(0) != bytes.len() {
            return Err(Error::input(
                "the stored sketches of an earlier run",
                "as they were written",
                "others",
            ));
        }
        Ok(SketchStore {
            settings: settings.clone(),
            ends,
            bytes,
        })
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where each sketch ends, and so how many bytes there are in all.
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// Completes the file, if it has a name.
    ///
    /// # Errors
    ///
    /// As [`Spill::complete`].
    pub fn complete(&mut self) -> Result<()> {
        self.bytes.complete()
    }

    /// Adds the sketches of the next documents.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn extend(&mut self, sketches: &Sketches) -> Result<()> {
        for document in 0..sketches.len() as u32 {
            self.bytes.append(&sketches.to_bytes(document))?;
            self.ends.push(self.bytes.len());
        }
        Ok(())
    }

    /// The sketches of some documents, in this order. Documents that follow each other
    /// are read at once.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn read(&self, documents: &[u32]) -> Result<Sketches> {
        let mut sketches = Sketches::new(&self.settings)?;
        let mut buffer = Vec::new();
        for run in documents.chunk_by(|a, b| a + 1 == *b) {
            let (first, last) = (run[0] as usize, run[run.len() - 1] as usize);
            let begin = first.checked_sub(1).map_or(0, |before| self.ends[before]);
            let ends = &self.ends[first..=last];
            let bytes = self.bytes.read(begin, ends[ends.len() - 1], &mut buffer)?;
            let mut from = 0;
            for end in ends {
                let to = (end - begin) as usize;
                sketches.push_bytes(&bytes[from..to])?;
                from = to;
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
                rate: 1 + document % 3,
                ..Sketch::default()
            };
            all.push(&sketch).unwrap();
        }
        let mut store = SketchStore::new(&settings, Spill::new(100));
        store.extend(&all).unwrap();
        for documents in [vec![], vec![3, 4, 5, 9, 8, 49, 0], (0..50).collect()] {
            let read = store.read(&documents).unwrap();
            assert_eq!(read.len(), documents.len());
            for (at, &document) in (0..).zip(&documents) {
                assert_eq!(read.to_bytes(at), all.to_bytes(document));
            }
        }
    }
}
