//! The stages that run on the rayon pool, with several numbers of threads.

use std::collections::BTreeMap;

use neardup_core::cluster::{Clusterer, Decision};
use neardup_core::corpus::{Corpus, Document};
use rayon::ThreadPool;
use serde::Serialize;

use crate::clock::{Spent, Times, timed};
use crate::recipe::{K, general, rule};

/// The stages in the order in which a document passes them.
pub const STAGES: [&str; 4] = ["push", "finish", "index", "decide"];

/// A stage and its seconds by the number of threads.
#[derive(Debug, Serialize)]
pub struct Parallel {
    /// One of [`STAGES`].
    pub name: &'static str,
    /// Seconds for all documents.
    pub threads: BTreeMap<usize, Times>,
}

/// What one run made.
#[derive(Debug)]
pub struct Run {
    /// The finished corpus.
    pub corpus: Corpus,
    /// What became of each document.
    pub decisions: Vec<Option<Decision>>,
    /// Candidate pairs.
    pub candidates: u64,
    /// The time of each of [`STAGES`].
    pub spent: [Spent; STAGES.len()],
}

/// Decides all documents; a batch is what one block of the input holds.
pub fn run(batches: &[Vec<&str>]) -> Run {
    let mut corpus = Corpus::new(general(), true, Some(K)).expect("the recipe is valid");
    let mut push = Spent::default();
    for texts in batches {
        let documents: Vec<Document> = texts
            .iter()
            .map(|&text| Document {
                text: Some(text),
                ..Document::default()
            })
            .collect();
        let (pushed, spent) = timed(|| corpus.push(&documents));
        pushed.expect("the texts fit the disk");
        push += spent;
    }
    let (finished, finish) = timed(|| corpus.finish());
    finished.expect("no text is read again");
    let (clusterer, index) = timed(|| Clusterer::new(&corpus, rule()));
    let mut clusterer = clusterer.expect("the rule is for samples");
    let documents: Vec<u32> = (0..corpus.len() as u32).collect();
    let (decisions, decide) = timed(|| clusterer.decide(&corpus, &documents));
    Run {
        decisions: decisions.expect("the texts can be read back"),
        candidates: clusterer.candidates(),
        corpus,
        spent: [push, finish, index, decide],
    }
}

/// Times the stages in each pool; the pools take turns, so that a noisy minute affects all.
pub fn measure(
    batches: &[Vec<&str>],
    pools: &BTreeMap<usize, ThreadPool>,
    repetitions: usize,
) -> Vec<Parallel> {
    let mut runs: BTreeMap<usize, Vec<[Spent; STAGES.len()]>> = BTreeMap::new();
    for _ in 0..repetitions {
        for (&threads, pool) in pools {
            let spent = pool.install(|| run(batches).spent);
            runs.entry(threads).or_default().push(spent);
        }
    }
    let of = |stage: usize| {
        runs.iter().map(move |(&threads, runs)| {
            let column: Vec<Spent> = runs.iter().map(|run| run[stage]).collect();
            (threads, Times::of(&column))
        })
    };
    STAGES
        .into_iter()
        .enumerate()
        .map(|(at, name)| Parallel {
            name,
            threads: of(at).collect(),
        })
        .collect()
}
