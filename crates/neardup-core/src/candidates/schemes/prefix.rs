//! Prefixes: the keys of a sample that a resemblance cannot do without.

/// How many keys of a set of `size` a resemblance of `threshold` cannot do without.
///
/// A similar enough set has at least `threshold * size` of them, so it has one of any
/// size - ceil(threshold * size) + 1 (Chaudhuri, Ganti and Kaushik, ICDE 2006;
/// Bayardo, Ma and Srikant, WWW 2007).
pub(in crate::candidates) fn prefix_length(size: usize, threshold: f64) -> usize {
    // Rounding must not shorten the prefix.
    let needed = (threshold * size as f64 - 1e-9).ceil().max(1.0) as usize;
    (size + 1 - needed.min(size)).min(size)
}
