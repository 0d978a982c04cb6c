//! What each stage of the recipe `general` costs, beside what the machine allows.
//!
//! `cargo bench -p neardup-core --bench budget -- FILE.jsonl` prints JSON: the operations of which
//! the stages consist ([`limits`]), each stage on one core ([`stages`]), and the stages that run on
//! several threads with 1, 2, 4 ... of them ([`threads`]). All seconds are medians and minima of
//! several runs. The texts are in a language without spaces between words, like the Chinese news
//! that `benchmarks/budget.py` passes: shingles of other texts are counted with another length.

mod clock;
mod limits;
mod recipe;
mod stages;
mod threads;

use std::collections::BTreeMap;
use std::path::Path;

use neardup_io::json_lines::{Columns, Fields, columns};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::json;

/// Bytes of a block of the input, as the command reads it.
const BLOCK: usize = 4 << 20;

/// Runs of each stage.
const REPETITIONS: usize = 7;

/// The records of a file.
struct Input {
    /// Whole lines.
    blocks: Vec<Vec<u8>>,
    /// The texts of each block.
    columns: Vec<Vec<String>>,
}

impl Input {
    fn fields() -> Fields {
        let texts = ["text", "content", "body"].map(str::to_owned);
        Fields::new(&texts, "id", false, None, &[])
    }

    fn read(path: &Path) -> Result<Self, String> {
        let content =
            std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut blocks = Vec::new();
        let mut rest = content.as_slice();
        while !rest.is_empty() {
            let least = &rest[BLOCK.min(rest.len())..];
            let more = least.iter().position(|&byte| byte == b'\n');
            let end = more.map_or(rest.len(), |more| rest.len() - least.len() + more + 1);
            let (block, later) = rest.split_at(end);
            blocks.push(block.to_vec());
            rest = later;
        }
        let read = |block: &Vec<u8>| -> Result<Vec<String>, String> {
            let Columns { texts, unclear, .. } = columns(&Self::fields(), block, "input", 1);
            match unclear.is_empty() {
                true => Ok(texts.iter().flatten().map(str::to_owned).collect()),
                false => Err(format!("{}: a record without a text", path.display())),
            }
        };
        let columns = blocks.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Input { blocks, columns })
    }

    /// All texts, in order.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().flatten().map(String::as_str)
    }

    /// Bytes of the file.
    fn bytes(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }
}

fn main() -> Result<(), String> {
    let path = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let path = path.ok_or("usage: cargo bench -p neardup-core --bench budget -- FILE.jsonl")?;
    let input = Input::read(Path::new(&path))?;
    let batches: Vec<Vec<&str>> = input
        .columns
        .iter()
        .map(|texts| texts.iter().map(String::as_str).collect())
        .collect();
    let pools = pools();
    let one = &pools[&1];
    // The first run also warms the machine up.
    let run = one.install(|| threads::run(&batches));
    let text: String = input.texts().collect();
    let limits = one.install(|| limits::measure(text.as_bytes(), REPETITIONS));
    let stages = one.install(|| stages::measure(&input, &run, REPETITIONS));
    let parallel = threads::measure(&batches, &pools, REPETITIONS);
    let found = json!({
        "documents": run.decisions.len(),
        "bytes": input.bytes(),
        "characters": text.chars().count(),
        "kept": run.decisions.iter().filter(|decision| decision.is_none()).count(),
        "candidates": run.candidates,
        "repetitions": REPETITIONS,
        "limits": limits,
        "stages": stages,
        "parallel": parallel,
    });
    println!("{found}");
    Ok(())
}

/// A pool of one thread, of two, and of each power of two up to the number of processors.
fn pools() -> BTreeMap<usize, ThreadPool> {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let sizes = (0..).map(|power| 1 << power);
    let sizes = sizes.take_while(|&threads| threads <= processors.max(2));
    let pool = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        (threads, pool.expect("threads can be started"))
    };
    sizes.map(pool).collect()
}
