//! What happens when no memory is left.
//!
//! After a failed allocation Rust ends the process: no stable mechanism makes an error of it. So each
//! call of the core first makes sure that there is room for it, and raises `MemoryError` if not. If an
//! allocation fails all the same, the command is asked for its last words.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// The system's allocator, watched.
pub struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Smaller blocks are not counted: the data of a run is in large ones.
const LARGE: usize = 1 << 20;

/// Bytes for what a call needs beside the growth of its data, such as the texts of a batch; of a limited
/// address space at most a sixteenth, so that a small look-up works in a small one.
const ROOM: usize = 64 << 20;

/// Bytes for the last words of the command.
const LAST_ROOM: usize = 4 << 20;

/// Bytes in large blocks.
static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every method forwards to the system's allocator, and none unwinds.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        forget(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let grown = counted(unsafe { System.realloc(block, layout, size) }, size);
        if !grown.is_null() {
            forget(layout.size());
        }
        grown
    }
}

fn counted(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        end_command();
    } else if size >= LARGE {
        HELD.fetch_add(size, Ordering::Relaxed);
    }
    block
}

fn forget(size: usize) {
    if size >= LARGE {
        HELD.fetch_sub(size, Ordering::Relaxed);
    }
}

/// Raises `MemoryError` unless the data of the core can grow by half, and a call has room to work.
pub fn check() -> PyResult<()> {
    let size = ROOM.min(address_space() / 16) + HELD.load(Ordering::Relaxed) / 2;
    let layout = Layout::from_size_align(size, 1).map_err(|_| PyMemoryError::new_err(()))?;
    // SAFETY: the size is not zero, and the block is only freed. Not the allocator above, since a
    // failure is not the end here.
    // The compiler removes an allocation that nobody uses.
    let block = black_box(unsafe { System.alloc(layout) });
    if block.is_null() {
        return Err(PyMemoryError::new_err(()));
    }
    // SAFETY: allocated two lines above.
    unsafe { System.dealloc(block, layout) };
    Ok(())
}

/// The limit of the process's address space in bytes; `usize::MAX` if it has none or it is not known.
fn address_space() -> usize {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let mut limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: it only writes to `limit`.
        unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
        usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    usize::MAX
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

/// Memory for the last words, given back when they are due.
static KEPT_FREE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Keeps memory for the last words.
pub fn keep_free() {
    if let Ok(mut kept) = KEPT_FREE.lock() {
        *kept = Vec::with_capacity(LAST_ROOM);
    }
}

/// Ends the process if it is the command; returns in other programs, or if memory ran out again.
fn end_command() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    thread_local!(static ENDS: Cell<bool> = const { Cell::new(false) });
    if ENDS.get() {
        return;
    }
    while BEGUN.swap(true, Ordering::AcqRel) {
        // Another thread ends the process; to return would abort it before.
        std::thread::sleep(Duration::from_secs(1));
    }
    ENDS.set(true);
    if let Ok(mut kept) = KEPT_FREE.try_lock() {
        *kept = Vec::new();
    }
    // The interpreter lock is free, or this thread's: no call of the core waits for its threads
    // while it holds the lock.
    let end = || Python::attach(|py| last_words(py).map(drop));
    let _ = catch_unwind(AssertUnwindSafe(end));
}

fn last_words(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let module = py.import("neardup.base.interrupt")?;
    Ok(module.call_method0("out_of_memory")?.unbind())
}
