//! The tests of the public interface, in one program.

mod kernels;
mod pairs;
mod plan;
