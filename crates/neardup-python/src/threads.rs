//! The threads that the core works on.
//!
//! No call may use the global pool of rayon. A forked child has none of its parent's threads, so
//! it would wait for them forever. Each object has a pool of its own, and a child makes another.

use std::sync::Arc;

use neardup_core::Error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::raise;

/// More threads than this are a mistake, and could exhaust the system's.
pub const MAX_WORKERS: usize = 1024;

/// A pool of `workers` threads; 0 means one for each processor.
pub fn pool(workers: usize) -> PyResult<ThreadPool> {
    if workers > MAX_WORKERS {
        let bounds = format!("at most {MAX_WORKERS}");
        return Err(raise(Error::parameter("workers", bounds, workers)));
    }
    ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .map_err(|error| {
            raise(Error::parameter(
                "workers",
                format!("a number of threads that the system grants ({error})"),
                workers,
            ))
        })
}

/// Does a piece of work of the core on `workers` threads, without the interpreter's lock.
pub fn run<T: Send>(
    py: Python<'_>,
    workers: usize,
    work: impl FnOnce() -> neardup_core::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(workers)?;
    py.detach(|| pool.install(work)).map_err(raise)
}

/// A pool that belongs to an object, which a forked child may go on using.
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

    /// Does a piece of work of the core on the pool, without the interpreter's lock.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> neardup_core::Result<T> + Send,
    ) -> PyResult<T> {
        let pool = self.pool()?;
        py.detach(|| pool.install(work)).map_err(raise)
    }

    /// The pool, or in a forked child a new one for each call.
    pub fn pool(&self) -> PyResult<Arc<ThreadPool>> {
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
    // The error is the purpose: the pool is never built, and cannot be from now on.
    let _ = ThreadPoolBuilder::new()
        .num_threads(1)
        .spawn_handler(refuse)
        .build_global();
}
