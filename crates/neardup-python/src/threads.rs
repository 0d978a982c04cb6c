//! The threads that the core works on.
//!
//! No call may use the global pool of rayon: a forked child has none of its parent's threads and
//! would wait for them forever. Each object has its own pool, and a forked child creates another.

use std::sync::Arc;

use neardup_core::Error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::raise;
use crate::memory;

/// The maximum number of threads. More are a mistake and could exhaust the system's limit.
pub const MAX_WORKERS: usize = 1024;

/// A pool of `workers` threads; 0 means one for each processor.
pub fn pool(workers: usize) -> PyResult<ThreadPool> {
    if workers > MAX_WORKERS {
        let bounds = format!("at most {MAX_WORKERS}");
        return Err(raise(Error::parameter("workers", bounds, workers)));
    }
    memory::check()?;
    let build = |count| ThreadPoolBuilder::new().num_threads(count).build();
    build(workers)
        // With a limit of memory there may be no room for a second stack.
        .or_else(|error| if workers == 0 { build(1) } else { Err(error) })
        .map_err(|error| {
            raise(Error::parameter(
                "workers",
                format!("a number of threads that the system grants ({error})"),
                workers,
            ))
        })
}

/// Runs a call of the core on `workers` threads, with the interpreter lock released.
pub fn run<T: Send>(
    py: Python<'_>,
    workers: usize,
    work: impl FnOnce() -> neardup_core::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(workers)?;
    py.detach(|| pool.install(work)).map_err(raise)
}

/// The thread pool of an object; the object stays usable in a forked child.
#[derive(Clone)]
pub struct Threads {
    workers: usize,
    process: u32,
    pool: Arc<ThreadPool>,
}

impl Threads {
    /// Starts `workers` threads; 0 means one for each processor.
    pub fn new(workers: usize) -> PyResult<Self> {
        Ok(Threads {
            workers,
            process: std::process::id(),
            pool: Arc::new(pool(workers)?),
        })
    }

    /// Runs a call of the core on the pool, with the interpreter lock released.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> neardup_core::Result<T> + Send,
    ) -> PyResult<T> {
        let pool = self.pool()?;
        py.detach(|| pool.install(work)).map_err(raise)
    }

    /// The pool, or a new one for each call in a forked child.
    pub fn pool(&self) -> PyResult<Arc<ThreadPool>> {
        memory::check()?;
        match std::process::id() == self.process {
            true => Ok(Arc::clone(&self.pool)),
            false => Ok(Arc::new(pool(self.workers)?)),
        }
    }
}

/// Makes every later use of the global pool panic in this process, so that tests find it.
#[pyfunction]
pub fn forbid_global_pool() {
    let refuse = |_| Err(std::io::Error::other("the global pool is not to be used"));
    // The error is intended: the pool is not built, and cannot be built later.
    let _ = ThreadPoolBuilder::new()
        .num_threads(1)
        .spawn_handler(refuse)
        .build_global();
}
