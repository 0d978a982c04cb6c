//! Wall time and processor time of a piece of work.
//!
//! Other programs on the machine lengthen the wall time, but hardly the processor time. So a stage on
//! one core is compared by its processor time, and only what several threads gain by wall time.

use std::ops::{AddAssign, Sub};
use std::time::Instant;

use serde::Serialize;

/// Seconds of one run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Spent {
    /// Time that passed.
    pub wall: f64,
    /// Time of all threads of this process on a processor; the wall time where the system does not
    /// report it.
    pub cpu: f64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Spent {
            wall: self.wall - other.wall,
            cpu: self.cpu - other.cpu,
        }
    }
}

/// The seconds of several runs of one piece of work.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// The median of each column.
    pub median: Spent,
    /// The least of each column.
    pub least: Spent,
}

impl Times {
    /// Summarizes runs, of which there must be at least one.
    pub fn of(runs: &[Spent]) -> Self {
        let sorted = |column: fn(&Spent) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(column).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (wall, cpu) = (sorted(|run| run.wall), sorted(|run| run.cpu));
        let at = |place: usize| Spent {
            wall: wall[place],
            cpu: cpu[place],
        };
        Times {
            median: at(runs.len() / 2),
            least: at(0),
        }
    }
}

/// Runs `work` once; returns its result and its time.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Spent) {
    let (begin, cpu_before) = (Instant::now(), cpu_seconds());
    let result = work();
    let cpu_after = cpu_seconds();
    let wall = begin.elapsed().as_secs_f64();
    let cpu = cpu_before
        .zip(cpu_after)
        .map(|(before, after)| after - before);
    let spent = Spent {
        wall,
        cpu: cpu.unwrap_or(wall),
    };
    (result, spent)
}

/// The times of `rounds` runs of `work`, after one that fills the caches.
pub fn rounds(rounds: usize, mut work: impl FnMut() -> Spent) -> Times {
    work();
    let runs: Vec<Spent> = (0..rounds).map(|_| work()).collect();
    Times::of(&runs)
}

/// Seconds that the threads of this process have been on a processor.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place to write to.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    (failed == 0).then(|| time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
