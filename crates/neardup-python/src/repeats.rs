//! Repeats: sentences or paragraphs that occur in several documents.

use std::path::PathBuf;

use arrow_array::LargeStringArray;
use neardup_align::Aligner;
use neardup_align::repeats::{self, Kind, Place, Units};
use neardup_core::Error;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::arrays::strings;
use crate::arrow::ArrowArray;
use crate::errors::raise;
use crate::threads::Threads;

/// The names of the kinds of units.
const KINDS: [(&str, Kind); 2] = [("sentence", Kind::Sentence), ("paragraph", Kind::Paragraph)];

/// Collects the units of documents, and then returns the places of units that several have.
#[pyclass(module = "neardup._core")]
pub struct Repeats {
    state: State,
    threads: Threads,
}

enum State {
    Collecting(Box<repeats::Repeats>),
    RepeatedPlaces(repeats::RepeatedPlaces),
    /// After an error.
    Over,
}

/// Places: documents, begins and ends, hashes as hexadecimal text, counts and numbers of documents.
type Columns<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    ArrowArray,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
);

#[pymethods]
impl Repeats {
    #[new]
    #[pyo3(signature = (*, unit, least, memory, folder, workers))]
    fn new(
        unit: &str,
        least: u32,
        memory: usize,
        folder: Option<PathBuf>,
        workers: usize,
    ) -> PyResult<Self> {
        let kind = KINDS.iter().find(|(name, _)| *name == unit);
        let &(_, kind) =
            kind.ok_or_else(|| raise(Error::parameter("unit", "sentence or paragraph", unit)))?;
        let aligner = Aligner::new();
        let units = Units::new(aligner, kind, least);
        Ok(Repeats {
            state: State::Collecting(Box::new(repeats::Repeats::new(units, memory, folder))),
            threads: Threads::new(workers)?,
        })
    }

    /// Takes the units of the next documents.
    fn push(&mut self, py: Python<'_>, texts: ArrowArray) -> PyResult<()> {
        let texts = strings(texts.array())?;
        let State::Collecting(all) = &mut self.state else {
            return Err(out_of_order("units"));
        };
        self.threads.run(py, || all.push(&texts))
    }

    /// Finds the units that at least `documents` documents have; returns the number of all units.
    fn finish(&mut self, py: Python<'_>, documents: u32) -> PyResult<u64> {
        let State::Collecting(all) = std::mem::replace(&mut self.state, State::Over) else {
            return Err(out_of_order("units"));
        };
        let found = self.threads.run(py, || all.finish(documents))?;
        let units = found.units;
        self.state = State::RepeatedPlaces(found);
        Ok(units)
    }

    /// The next places, of documents before `document`.
    fn before<'py>(&mut self, py: Python<'py>, document: u32) -> PyResult<Columns<'py>> {
        let State::RepeatedPlaces(found) = &mut self.state else {
            return Err(out_of_order("places"));
        };
        let places = self.threads.run(py, || found.before(document))?;
        let column = |of: fn(&Place) -> u32| -> Bound<'py, PyArray1<u32>> {
            places.iter().map(of).collect::<Vec<u32>>().into_pyarray(py)
        };
        let hashes = places
            .iter()
            .map(|place| format!("{:032x}", { place.hash }));
        let hashes = LargeStringArray::from_iter_values(hashes);
        Ok((
            column(|place| place.document),
            column(|place| place.begin),
            column(|place| place.end),
            hashes.into(),
            column(|place| place.count),
            column(|place| place.documents),
        ))
    }
}

fn out_of_order(what: &str) -> PyErr {
    raise(Error::input(what, "before the repeats are found", "after"))
}

/// The spans to cut out of a text, given the units to drop.
#[pyfunction]
pub fn cuts(text: &str, units: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    repeats::cuts(text, &units)
}
