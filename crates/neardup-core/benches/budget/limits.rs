//! What the machine allows: the operations of which the stages consist, without anything else.

use std::hint::black_box;

use serde::Serialize;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::clock::{Spent, Times, rounds, timed};

/// Bytes copied at once, and of the largest table: far more than a cache holds.
const LARGE: usize = 256 << 20;

/// Bytes of a table that only the second or third cache holds.
const MIDDLE: usize = 4 << 20;

/// Bytes of a table that the nearest cache holds.
const SMALL: usize = 16 << 10;

/// Accesses and values in one run.
const MANY: usize = 1 << 22;

/// Bytes of a shingle of five Chinese characters.
const SHINGLE: usize = 15;

/// An operation and its cost.
#[derive(Debug, Serialize)]
pub struct Limit {
    /// The name that stages refer to.
    pub name: &'static str,
    /// How often one run does it.
    pub units: usize,
    /// Seconds of a run.
    pub times: Times,
}

/// Measures all operations on the current thread; `text` is hashed.
pub fn measure(text: &[u8], repetitions: usize) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut add = |name, units, run: &mut dyn FnMut() -> Spent| {
        let times = rounds(repetitions, run);
        limits.push(Limit { name, units, times });
    };
    let from = vec![1_u8; LARGE];
    let mut to = vec![2_u8; LARGE];
    add("copy", LARGE, &mut || {
        timed(|| black_box(&mut to).copy_from_slice(black_box(&from))).1
    });
    drop((from, to));
    // Text that stays in the nearest cache, so that only the hash costs.
    let near = &text[..text.len().min(SMALL)];
    let places = (near.len() - SHINGLE).div_ceil(3);
    let passes = MANY / places;
    add("hash_15", passes * places, &mut || {
        timed(|| {
            for _ in 0..passes {
                let shingles = black_box(near).windows(SHINGLE).step_by(3);
                black_box(shingles.fold(0, |sum, shingle| sum ^ xxh3_64(shingle)));
            }
        })
        .1
    });
    add("hash_bulk", text.len(), &mut || {
        timed(|| black_box(xxh3_128(black_box(text)))).1
    });
    let values: Vec<u64> = (0..MANY as u64).map(mixed).collect();
    for (name, length) in [("sort_256", 256), ("sort_4096", 4096), ("sort_all", MANY)] {
        add(name, MANY, &mut || {
            let mut values = values.clone();
            let sort = || values.chunks_mut(length).for_each(<[u64]>::sort_unstable);
            timed(sort).1
        });
    }
    for (name, bytes) in [
        ("access_16k", SMALL),
        ("access_4m", MIDDLE),
        ("access_256m", LARGE),
    ] {
        let table: Vec<u64> = (0..bytes as u64 / 8).map(mixed).collect();
        add(name, MANY, &mut || {
            timed(|| black_box(accesses(black_box(&table)))).1
        });
    }
    let table: Vec<u64> = (0..LARGE as u64 / 8).map(mixed).collect();
    add("chain_256m", MANY / 4, &mut || {
        timed(|| black_box(chain(black_box(&table)))).1
    });
    limits
}

/// Reads places of a table, none of which depends on another: the processor reads several at once.
fn accesses(table: &[u64]) -> u64 {
    let places = (0..MANY as u64).map(|at| mixed(at) as usize & (table.len() - 1));
    places.fold(0, |sum, place| sum ^ table[place])
}

/// Reads places of a table, each of which depends on the one before.
fn chain(table: &[u64]) -> u64 {
    (0..MANY as u64 / 4).fold(0, |at, step| {
        table[(at ^ step) as usize & (table.len() - 1)]
    })
}

/// Two multiplications that spread numbers evenly.
fn mixed(number: u64) -> u64 {
    let once = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (once ^ once >> 32)
        .wrapping_mul(0xD6E8_FEB8_6659_FD93)
        .rotate_left(32)
}
