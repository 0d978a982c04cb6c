//! Key schemes: which keys a sketch yields.

pub mod bands;
pub(super) mod prefix;
pub mod rare_keys;
pub mod search;
