//! The tests of the public interface, in one program.

mod index;
mod kernels;
mod pairs;
mod plan;
