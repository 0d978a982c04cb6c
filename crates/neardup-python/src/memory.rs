//! Room for a call, and memory that is given back.

use std::hint::black_box;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Bytes for what a call needs at once, such as the texts of a batch.
const ROOM: usize = 64 << 20;

/// Raises `MemoryError` unless a call has room to work: a failed allocation would end the process.
pub fn check() -> PyResult<()> {
    let mut room = Vec::<u8>::new();
    // The compiler removes an allocation that nobody uses.
    match black_box(&mut room).try_reserve_exact(ROOM) {
        Ok(()) => Ok(()),
        Err(_) => Err(PyMemoryError::new_err(())),
    }
}

/// Gives memory that nothing holds back to the system.
///
/// The allocator of the GNU C library keeps it for each thread: after the batches of a run were read,
/// what they needed.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, and by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
