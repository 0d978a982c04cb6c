/*! The instructions that compare fingerprints, chosen at run time.

Takes columns of fingerprints, and calls `emit(row, row, distance)` for every pair within the
radius. The kernels make the same calls: [`Kernel`] chooses AVX-512 with VPOPCNTDQ, else AVX2; else
plain Rust, which on 64-bit ARM is compiled to NEON. The cost is one comparison for each pair and no
memory.
Each kernel has its own order of calls; a caller that needs a fixed order must sort the pairs.
*/

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::fingerprints::Rows;

/// A set of instructions of this machine that can compare fingerprints.
///
/// Only kernels that run on this machine can be created, so a value of this type proves that its
/// instructions exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest kernel of this machine.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
                return Kernel(Level::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                return Kernel(Level::Avx2);
            }
        }
        Kernel::portable()
    }

    /// The kernel in plain Rust, for what every processor has.
    pub fn portable() -> Self {
        Kernel(Level::Portable)
    }

    /// All kernels of this machine, the portable one first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut kernels = vec![Kernel::portable()];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Kernel(Level::Avx2));
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
                kernels.push(Kernel(Level::Avx512));
            }
        }
        kernels
    }

    /// The name of the instructions.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512vpopcntdq",
        }
    }

    /// Emits `(row, distance)` for each row within `max_distance` of `query`.
    #[inline]
    pub(crate) fn one<const W: usize>(
        self,
        query: [u64; W],
        rows: Rows<'_, W>,
        max_distance: u32,
        mut emit: impl FnMut(usize, u32),
    ) {
        let query = query.each_ref().map(std::slice::from_ref);
        self.tile(query, rows, max_distance, |_, row, distance| {
            emit(row, distance);
        });
    }

    /// Emits `(query, row, distance)` for each pair within `max_distance`.
    #[inline]
    pub(crate) fn tile<const W: usize>(
        self,
        queries: Rows<'_, W>,
        rows: Rows<'_, W>,
        max_distance: u32,
        mut emit: impl FnMut(usize, usize, u32),
    ) {
        match self.0 {
            Level::Portable => portable::tile(queries, rows, max_distance, &mut emit),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel of this level exists only where AVX2 was detected.
            Level::Avx2 => unsafe { avx2::tile(queries, rows, max_distance, &mut emit) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel of this level exists only where AVX-512 F and
            // VPOPCNTDQ were detected.
            Level::Avx512 => unsafe { avx512::tile(queries, rows, max_distance, &mut emit) },
        }
    }

    /// Emits `(first, second, distance)`, first before second, for each pair
    /// of `rows` within `max_distance`.
    #[inline]
    pub(crate) fn triangle<const W: usize>(
        self,
        rows: Rows<'_, W>,
        max_distance: u32,
        mut emit: impl FnMut(usize, usize, u32),
    ) {
        match self.0 {
            Level::Portable => portable::triangle(rows, max_distance, &mut emit),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `tile`.
            Level::Avx2 => unsafe { avx2::triangle(rows, max_distance, &mut emit) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `tile`.
            Level::Avx512 => unsafe { avx512::triangle(rows, max_distance, &mut emit) },
        }
    }
}
